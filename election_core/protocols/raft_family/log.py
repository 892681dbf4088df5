"""The parts that logs of voting members have in common: votes, campaigns, terms, lost quorums, last heartbeats."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from election_replay.election_core.fold.checks import Checked
from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.fold.own_term import OwnTerm
from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.fold.role_log import RoleLog
from election_replay.election_core.model.facts import (
    Fact,
    KnownCommitted,
    LeaderLog,
    QuorumLost,
    TermRaised,
    VoteGranted,
)
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout

TRANSFER_LASTS = Timeout.DLEDGER_TRANSFER.us
"""A transfer that takes longer (us) has failed: the transferee gives up after seconds (``handleTakeLeadership``)."""


NO_WINNER = "no_winner"
"""The outcome of a campaign whose candidate did not lead and of which no winner is known."""


@dataclass(frozen=True, slots=True)
class Grant:
    """``voter`` voted for ``candidate`` in ``term``; the candidate logged it, or the voter itself."""

    voter: str
    candidate: str
    term: int
    at: int
    by: int
    event_id: str


@dataclass(frozen=True, slots=True)
class HeardLast:
    """A follower that timed out heard its leader last in ``[at, by]`` (us); DLedger's next heartbeat was due at
    ``by``."""

    leader: str
    at: int
    by: int
    event_id: str


class GaveUp(NamedTuple):
    """A leader of ``term`` that gives up with the line ``event`` lost its quorum in ``[at, by]`` (us). ``closed``: some
    followers had closed their connections."""

    term: int
    at: int
    by: int
    event: FoldEvent
    closed: bool = False


@dataclass(slots=True)
class VotingLog(RoleLog):
    """The lines of a member whose group votes: its roles and candidacies, votes, and its own term.

    ``raised`` are larger terms with the peer that the member heard of them from; None: it raised the term itself.
    ``committed`` and ``led_with`` are ends of a log as (term, index, line): those known to be committed, and those with
    which the member became leader.
    """

    grants: dict[tuple[int, str, str], Grant] = field(default_factory=dict)
    own_term: OwnTerm = field(default_factory=OwnTerm)
    raised: list[tuple[int, str | None, FoldEvent]] = field(default_factory=list)
    gave_up: list[GaveUp] = field(default_factory=list)
    committed: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    led_with: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    checked: Checked = field(default_factory=Checked)

    def grant(self, event: FoldEvent, voter: str | None, candidate: str | None, term: int | None) -> None:
        """Note a vote, if the line names voter, candidate and term; the first line of each counts."""
        if voter is not None and candidate is not None and term is not None:
            grant = Grant(voter, candidate, term, event.at, event.by, event.event_id)
            self.grants.setdefault((term, voter, candidate), grant)

    def vote_facts(self, emit: FactWriter, how: Callable[[str, FoldEvent], str] | None = None) -> Iterator[Fact]:
        """Yield the votes and campaigns in this log, and what it shows of terms, quorums and checks; ``how`` as in
        :meth:`Checked.broken`."""
        for grant in self.grants.values():
            yield VoteGranted(*emit.about(grant.candidate, grant), term=grant.term, voter=grant.voter)
        for campaign in self.campaigns:
            granted = max(campaign.granted, len(campaign.voters))
            answered = campaign.majority_answered
            yield campaign.fact(
                emit, campaign.node, granted=granted, needed=campaign.needed, majority_answered=answered
            )
        for term, peer, event in self.raised:
            yield TermRaised(*emit.at(event), term=term, peer=peer)
        for lost in self.gave_up:
            line = lost.event
            at = _since_its_silence(lost.at, emit.incarnations) if lost.closed else lost.at
            during = emit.during(self.node, at, lost.by, line.event_id, line.at, line.by, line.event_id)
            yield QuorumLost(*during, term=lost.term, rounds=None, regained=False, closed=lost.closed)
        for term, index, event in self.committed:
            yield KnownCommitted(*emit.at(event), term=term, to_index=index)
        for term, index, event in self.led_with:
            yield LeaderLog(*emit.at(event), term=term, to_index=index)
        yield from self.checked.tallied(emit, self.node)
        yield from self.checked.broken(emit, how)
        yield from self.own_term.facts(emit)


def _since_its_silence(at: int, runs: Iterable[Incarnation]) -> int:
    """Return since when the connections may have been closed that a leader found closed at ``at`` (us): if its log was
    silent just before, it may have been frozen, and found out when it went on."""
    silent = (gap.begin for run in runs for gap in run.silences if gap.end <= at <= gap.end + Timeout.BLURRED_END.us)
    return min(silent, default=at)
