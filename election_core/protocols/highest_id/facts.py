"""Facts that only the nodes of Bully groups and rings state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact

ELECTION, RESULT = "election", "result"
"""Kinds of messages between members."""


@dataclass(slots=True, unsafe_hash=True)
class StillLeads(Fact):
    """``node``, which already led, announced itself again."""


@dataclass(slots=True, unsafe_hash=True)
class LowerLeaderNamed(Fact):
    """``node`` named a leader that is lower than another id in its own message of the election ``term``. ``claim`` is a
    clause for a sentence."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int | None
    claim: str
