"""The parts that logs of Raft and DLedger members have in common: votes, campaigns, last heartbeats, transfers."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.fold.own_term import OwnTerm
from election_replay.election_core.fold.role_log import RoleLog
from election_replay.election_core.model.facts import Fact, VoteGranted
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


@dataclass(slots=True)
class VotingLog(RoleLog):
    """The lines of a member whose group votes: its roles and candidacies, votes, and its own term."""

    grants: dict[tuple[int, str, str], Grant] = field(default_factory=dict)
    own_term: OwnTerm = field(default_factory=OwnTerm)

    def grant(self, event: FoldEvent, voter: str | None, candidate: str | None, term: int | None) -> None:
        """Note a vote, if the line names voter, candidate and term; the first line of each counts."""
        if voter is not None and candidate is not None and term is not None:
            grant = Grant(voter, candidate, term, event.at, event.by, event.event_id)
            self.grants.setdefault((term, voter, candidate), grant)

    def vote_facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield the votes and campaigns in this log."""
        for grant in self.grants.values():
            yield VoteGranted(*emit.about(grant.candidate, grant), term=grant.term, voter=grant.voter)
        for campaign in self.campaigns:
            granted = max(campaign.granted, len(campaign.voters))
            answered = campaign.majority_answered
            yield campaign.fact(
                emit, campaign.node, granted=granted, needed=campaign.needed, majority_answered=answered
            )
