"""The facts that only etcd members tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_core.model.facts import Fact, LineBrokeRule


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


KINDS: tuple[type[Fact], ...] = (RaftRuleBroken,)
"""All of them."""
