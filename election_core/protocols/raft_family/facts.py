"""The facts that members of the Raft family tell; today only DLedger's logs print them."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class VoteRefused(Fact):
    """``voter`` told ``node`` ``count`` times that its vote of ``term`` is another's, by this ``answer``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "voter")

    term: int
    voter: str
    answer: str
    count: int


@dataclass(slots=True, unsafe_hash=True)
class LeaderKeptRole(Fact):
    """As leader of ``term`` a node printed ``rounds`` of heartbeats without quorum and stayed leader, the last of them
    ``without_quorum_ms`` after its last quorum."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int | None
    without_quorum_ms: int
    rounds: int


@dataclass(slots=True, unsafe_hash=True)
class TwoLeaders(Fact):
    """``node`` heard of the leader ``other`` (null: of one that it was not told) while it knew the leader ``known`` in
    the same ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "other")

    term: int
    other: str | None
    known: str | None
