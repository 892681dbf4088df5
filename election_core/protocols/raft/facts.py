"""Facts that only etcd members state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class ClockMeasured(Fact):
    """The source measured that its clock is ``ahead_ms`` ahead of that of ``peer``. Its probes took ``rtt_ms`` there
    and back (smoothed; None: not printed)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "ahead_ms")

    peer: str
    ahead_ms: int
    rtt_ms: int | None


@dataclass(slots=True, unsafe_hash=True)
class ForcedRestart(Fact):
    """``node`` was told to make a cluster of itself alone, and dropped ``count`` uncommitted entries (None: not
    printed). ``evidence``: the line about the dropped entries."""

    count: int | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class ClusterReplaced(Fact):
    """``node`` starts as a member of this cluster from a folder that belonged to the cluster ``other`` before.

    Its data begins at the revision ``after``; the other cluster's had reached at least the revision ``before`` (None:
    not printed). ``evidence``: the lines that print them.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("other",)

    other: str
    before: int | None
    after: int | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class StoresDiffered(Fact):
    """``node`` found ``count`` times, from ``since`` to ``until``, that ``peer`` (None: not named) holds other data."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    count: int
