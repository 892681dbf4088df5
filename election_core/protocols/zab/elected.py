"""The elections that one ZooKeeper server won, by its own lines; only some of them end in its establishment."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Candidacy, Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.zab.stated_voters import StatedVoters

NEVER_ESTABLISHED = "never_established"
"""The outcome of an election whose winner could not get a quorum in sync (``Leader#lead``)."""


@dataclass(slots=True)
class Win:
    """An established leader: its epoch, the supporters that accepted it, and the voters in its election."""

    epoch: int
    supporters: tuple[str, ...] | None
    attempts: int
    voters: frozenset[str]
    began: FoldEvent
    event: FoldEvent


@dataclass(slots=True)
class Elected:
    """The elections that the server won, those that failed with the line that ended each, and the stated voters."""

    voters: StatedVoters = field(default_factory=StatedVoters)
    wins: list[Win] = field(default_factory=list)
    failed_elections: list[tuple[FoldEvent, FoldEvent]] = field(default_factory=list)

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield a candidacy for each election won, and what the lines state about the voters."""
        yield from self.voters.facts(emit)
        for win in self.wins:
            yield Candidacy(
                *emit.at(win.began, until=win.event),
                term=win.epoch,
                outcome="won",
                cause=None,
                voters=tuple(sorted(win.supporters or ())),
                granted=len(win.supporters) if win.supporters else None,
                rounds=win.attempts,
                electorate=tuple(sorted(win.voters)),
            )
        for leading, gave_up in self.failed_elections:
            yield Candidacy(
                *emit.at(leading, until=gave_up),
                term=None,
                outcome=NEVER_ESTABLISHED,
                cause=None,
                majority_answered=True,
            )
