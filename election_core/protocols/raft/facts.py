"""The facts that only etcd members tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule


@dataclass(slots=True, unsafe_hash=True)
class RaftRuleBroken(LineBrokeRule):
    """A line of ``node`` breaks the ``rule``, since ``why``: in ``term``, with a vote for ``peer``, or with
    ``refusals`` among the ``voters_in_force``."""

    kind: ClassVar[str] = "RAFT_RULE_BROKEN"
    SAID_AT_ONCE: ClassVar[tuple[str, ...]] = ("term", "peer", "rule")

    peer: str | None
    why: str | None
    voters_in_force: int | None
    refusals: int | None


@dataclass(slots=True, unsafe_hash=True)
class ClockMeasured(Fact):
    """The source measured that its clock is ``ahead_ms`` ahead of that of ``peer``, by probes that took ``rtt_ms``
    there and back (smoothed; null: not printed)."""

    kind: ClassVar[str] = "CLOCK_MEASURED"
    SAID_AT_ONCE: ClassVar[tuple[str, ...]] = ("peer", "ahead_ms")

    peer: str
    ahead_ms: int
    rtt_ms: int | None


KINDS: tuple[type[Fact], ...] = (ClockMeasured, RaftRuleBroken)
"""All of them."""
