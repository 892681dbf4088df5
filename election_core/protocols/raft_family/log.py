"""What the logs of Raft and DLedger members tell in the same way: votes, campaigns, last heartbeats, transfers."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import Fact, VoteGranted
from election_replay.election_core.model.timing import Timeout

TRANSFER_LASTS = Timeout.DLEDGER_TRANSFER.us
"""A transfer that takes longer has failed: the transferee gives up after seconds (``handleTakeLeadership``)."""


NO_WINNER = "no_winner"
"""How a campaign ended after which its candidate led nothing, and nobody is known to have won."""


@dataclass(frozen=True, slots=True)
class Grant:
    """``voter`` voted for ``candidate`` in ``term``; heard by the candidate, which may be the voter itself."""

    voter: str
    candidate: str
    term: int
    at: int
    by: int
    event_id: str


@dataclass(frozen=True, slots=True)
class HeardLast:
    """A follower that timed out heard its leader last in ``[at, by]``; DLedger's next heartbeat was due at ``by``."""

    leader: str
    at: int
    by: int
    event_id: str


def vote_facts(emit: FactWriter, grants: Iterable[Grant], campaigns: Iterable[Campaign]) -> Iterator[Fact]:
    """Votes and campaigns as one node's log tells them."""
    for grant in grants:
        yield VoteGranted(*emit.about(grant.candidate, grant), term=grant.term, voter=grant.voter)
    for campaign in campaigns:
        granted = max(campaign.granted, len(campaign.voters))
        answered = campaign.majority_answered
        yield campaign.fact(emit, campaign.node, granted=granted, needed=campaign.needed, majority_answered=answered)
