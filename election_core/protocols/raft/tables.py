"""What a Raft member decides: which candidate it votes for, and the result of a count of votes.

Source: etcd-io/raft ``raft.go`` (``Step``, ``poll``), ``quorum/majority.go``; Raft sections 5.2 and 5.4.1. The
simulated member runs on these rules, and faulty ones have one changed; the judge compares logs by the same rule.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.timing import Timeout

HEARTBEAT_MS = 5 * Timeout.ETCD_HEARTBEAT.value.ms
ELECTION_MS = 5 * Timeout.ETCD_ELECTION.value.ms
"""Values of etcd's tuning guide for distant members: five times the defaults."""

VOTE, PRE_VOTE = "MsgVote", "MsgPreVote"

WON, LOST, PENDING = "won", "lost", "pending"

End = tuple[int, int]
"""The term and index of a log's last entry."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A request for a vote, and the voter's state; ``request`` is a vote or a pre-vote."""

    request: str
    candidate: str
    term: int
    end: End
    own_term: int
    own_end: End
    vote: str | None
    leader: str | None


def is_behind(candidate: End, voter: End) -> bool:
    """Return True when a candidate's log lacks entries that may be committed: compared by last term, then by length."""
    return candidate < voter


def may_vote(ballot: Ballot) -> bool:
    """Return True when the voter is free: one vote per term, none against a known leader; pre-votes of larger terms
    bind nobody."""
    repeats = ballot.vote == ballot.candidate
    free = ballot.vote is None and ballot.leader is None
    return repeats or free or (ballot.request == PRE_VOTE and ballot.term > ballot.own_term)


def is_granted(ballot: Ballot) -> bool:
    """Return True when the voter votes for the candidate."""
    return may_vote(ballot) and not is_behind(ballot.end, ballot.own_end)


def count(answers: Iterable[bool], voters: int) -> str:
    """Return the result of the answers so far: won with a majority of grants, lost once no majority is possible."""
    answers = list(answers)
    granted, refused = sum(answers), len(answers) - sum(answers)
    if granted >= majority(voters):
        return WON
    return LOST if voters - refused < majority(voters) else PENDING
