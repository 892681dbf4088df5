"""The facts that only the nodes of Bully groups and rings tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact

ELECTION, RESULT = "election", "result"
"""What goes from member to member in a message."""


@dataclass(slots=True, unsafe_hash=True)
class StillLeads(Fact):
    """``node``, which led already, announced itself again."""


@dataclass(slots=True, unsafe_hash=True)
class LowerLeaderNamed(Fact):
    """``node`` made a leader of one that is lower than another id in its own message of the election ``term``;
    ``claim`` says whom, for a sentence."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int | None
    claim: str
