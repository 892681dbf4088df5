"""Facts that members of the Raft family state; today only DLedger's logs print them."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class VoteRefused(Fact):
    """``voter`` told ``node`` ``count`` times, by this ``answer``, that its vote of ``term`` was given to another."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "voter")

    term: int
    voter: str
    answer: str
    count: int


@dataclass(slots=True, unsafe_hash=True)
class LeaderKeptRole(Fact):
    """``node`` stayed leader of ``term`` after ``rounds`` of heartbeats without quorum. The last of them came
    ``without_quorum_ms`` after its last quorum."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int | None
    without_quorum_ms: int
    rounds: int


@dataclass(slots=True, unsafe_hash=True)
class TwoLeaders(Fact):
    """``node`` heard of the leader ``other`` while it knew the leader ``known`` in the same ``term``. ``other`` is None
    if no line names it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "other")

    term: int
    other: str | None
    known: str | None
