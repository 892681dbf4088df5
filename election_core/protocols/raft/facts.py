"""The facts that only etcd members tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule


@dataclass(slots=True, unsafe_hash=True)
class RaftRuleBroken(LineBrokeRule):
    """A line of ``node`` breaks the ``rule``, since ``why``: in ``term``, with a vote for ``peer``, or with
    ``refusals`` among the ``voters_in_force``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "rule")

    peer: str | None = None
    why: str | None = None
    voters_in_force: int | None = None
    refusals: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class ClockMeasured(Fact):
    """The source measured that its clock is ``ahead_ms`` ahead of that of ``peer``, by probes that took ``rtt_ms``
    there and back (smoothed; null: not printed)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "ahead_ms")

    peer: str
    ahead_ms: int
    rtt_ms: int | None


@dataclass(slots=True, unsafe_hash=True)
class ForcedRestart(Fact):
    """``node`` made a cluster of itself alone, as it was told to, and dropped so many entries that were not committed
    (``count``, null: not said); ``evidence``: the line that says it."""

    count: int | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class ClusterReplaced(Fact):
    """``node`` starts as a member of this cluster from a folder that was one of the cluster ``other`` before.

    Its data began at the revision ``after`` (null: not printed), where those of the other cluster had reached at least
    the revision ``before`` (null: not printed); ``evidence``: the lines that say so.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("other",)

    other: str
    before: int | None
    after: int | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class StoresDiffered(Fact):
    """``node`` found ``count`` times, from ``since`` to ``until``, that ``peer`` (null: not said who) holds other data
    than itself."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    count: int
