"""The facts that only ZooKeeper servers tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule

A_CLIENT = "a client"
"""Who had seen an entry that a server does not have, where a fact tells what was committed."""


@dataclass(slots=True, unsafe_hash=True)
class Ballot(Fact):
    """``node`` went into an election with its ``own_epoch`` and its last zxid ``own_zxid``, and left it under
    ``leader``, in the epoch ``term`` where it says so."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "leader", "own_epoch")

    term: int | None
    leader: str | None
    own_epoch: int
    own_zxid: int


@dataclass(slots=True, unsafe_hash=True)
class ZabRuleBroken(LineBrokeRule):
    """A line of ``node`` breaks the ``rule``, since ``why``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "rule")

    why: str | None
    rule: str


@dataclass(slots=True, unsafe_hash=True)
class Truncated(Fact):
    """``node`` cut its log, which had ended at ``from_index``, after ``to_index`` (zxids), as its leader ``peer``
    wanted."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    from_index: int | None
    to_index: int
