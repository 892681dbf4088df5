"""Campaigns: the rounds of one candidate in one election, by its log."""

from dataclasses import dataclass, field
from typing import Any

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Candidacy
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class Campaign:
    """The rounds of one candidate in one term, from its first answer to its end."""

    node: str | None
    term: int | None
    at: int
    by: int
    event_id: str
    cause: str | None
    rounds: int = 0
    granted: int = 0
    needed: int | None = None
    voters: set[str] = field(default_factory=set)
    last_result: str | None = None
    ended_at: int | None = None
    ended_by: int | None = None
    last_event: str | None = None
    outcome: str = "open"
    majority_answered: bool = False

    @property
    def end(self) -> tuple[int | None, int | None, str | None]:
        """Return the time (at, by) and the line of the campaign's end."""
        return self.ended_at, self.ended_by, self.last_event

    @property
    def how_ended(self) -> str:
        """Return how the campaign ended, in one word; an open one is described by its last round."""
        return (self.last_result or self.outcome).lower() if self.outcome == "open" else self.outcome

    def fact(self, emit: FactWriter, node: str | None, **columns: Any) -> Candidacy:
        """Return the campaign as a fact about ``node``; ``columns`` are those that only its protocol knows."""
        return Candidacy(
            *emit.during(node, self.at, self.by, self.event_id, *self.end),
            term=self.term,
            outcome=self.how_ended,
            cause=self.cause,
            voters=tuple(sorted(self.voters)),
            rounds=self.rounds,
            **columns,
        )

    def close(self, event: FoldEvent, outcome: str) -> None:
        """End the campaign with the line ``event``."""
        self.ended_at, self.ended_by, self.last_event = event.at, event.by, event.event_id
        self.outcome = outcome
