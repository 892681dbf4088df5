"""What a Raft member decides: whom it votes for, what a count of votes comes to.

Source: etcd-io/raft ``raft.go`` (``Step``, ``poll``), ``quorum/majority.go``; Raft sections 5.2 and 5.4.1. The machine
runs on these rules, and a broken world bends one; the judge compares logs by the same one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.timing import Timeout

HEARTBEAT_MS = 5 * Timeout.ETCD_HEARTBEAT.value.ms
ELECTION_MS = 5 * Timeout.ETCD_ELECTION.value.ms
"""As etcd's tuning guide sets them for members that are far apart; the defaults are a fifth and less of that."""

VOTE, PRE_VOTE = "MsgVote", "MsgPreVote"

WON, LOST, PENDING = "won", "lost", "pending"

End = tuple[int, int]
"""The term and the index of the last entry of a log."""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A request for a vote, and what the voter knows; ``request`` tells a vote from a round before it."""

    request: str
    candidate: str
    term: int
    end: End
    own_term: int
    own_end: End
    vote: str | None
    leader: str | None


def is_behind(candidate: End, voter: End) -> bool:
    """Whether a candidate's log lacks entries that may be committed: the later term is ahead, then the longer log."""
    return candidate < voter


def may_vote(ballot: Ballot) -> bool:
    """Whether the voter is still free: one vote a term, none against a leader; a round before a vote binds nobody."""
    repeats = ballot.vote == ballot.candidate
    free = ballot.vote is None and ballot.leader is None
    return repeats or free or (ballot.request == PRE_VOTE and ballot.term > ballot.own_term)


def is_granted(ballot: Ballot) -> bool:
    """Whether the voter votes for the candidate."""
    return may_vote(ballot) and not is_behind(ballot.end, ballot.own_end)


def count(answers: Iterable[bool], voters: int) -> str:
    """What the answers so far come to: won with a majority of grants, lost when none can come together any more."""
    answers = list(answers)
    granted, refused = sum(answers), len(answers) - sum(answers)
    if granted >= majority(voters):
        return WON
    return LOST if voters - refused < majority(voters) else PENDING
