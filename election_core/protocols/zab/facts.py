"""Facts that only ZooKeeper servers state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact

A_CLIENT = "a client"
"""The name that stands for a client that had seen a committed entry."""


@dataclass(slots=True, unsafe_hash=True)
class Ballot(Fact):
    """``node`` entered an election with ``own_epoch`` and its last zxid ``own_zxid``, and left it under ``leader``.
    ``term`` is the epoch of that leader, where a line prints it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "leader", "own_epoch")

    term: int | None
    leader: str | None
    own_epoch: int
    own_zxid: int


@dataclass(slots=True, unsafe_hash=True)
class Truncated(Fact):
    """``node`` cut its log from ``from_index`` back to ``to_index`` (zxids), on the order of its leader ``peer``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    from_index: int | None
    to_index: int


@dataclass(slots=True, unsafe_hash=True)
class LearnerCompared(Fact):
    """The leader ``node`` found that the log of ``peer`` ends at ``from_index``, and brings it to ``to_index``
    (zxids)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "from_index", "to_index")

    peer: str | None
    from_index: int
    to_index: int


@dataclass(slots=True, unsafe_hash=True)
class DiffSkips(Fact):
    """A diff that ends at ``to_index`` brought ``node`` the entry ``after``, next to ``before`` (zxids); ``before`` is
    None for the first entry of the diff."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("before", "after", "to_index")

    before: int | None
    after: int
    to_index: int
