"""Rules that one node's own lines decide: votes, rounds, heartbeats.

Each check looks at one line (and what the log said before it) and answers *conforms*, *violates* or *undecidable*.
The counters of a printed round are read when the line is formatted: late answers may have made them larger than
the decision used, never smaller (``DLedgerLeaderElector#maintainAsCandidate``).
"""

from dataclasses import dataclass

from election_core.logged import Logged
from election_core.quorum import majority

CONFORMS = "conforms"
VIOLATES = "violates"
UNDECIDABLE = "undecidable"

LEADER_WITHOUT_QUORUM = "LEADER_WITHOUT_QUORUM"
WRONG_ROUND_RESULT = "WRONG_ROUND_RESULT"
WRONG_VOTE_RESULT = "WRONG_VOTE_RESULT"
HEARTBEAT_RULE = "HEARTBEAT_RULE"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check says; ``why`` is the reason where it cannot tell."""

    rule: str
    says: str
    why: str | None = None


def round_result(event: Logged) -> Verdict | None:
    """The seven outcomes of a voting round (``DLedgerLeaderElector#maintainAsCandidate``, in its own order)."""
    if event.term is None or not event.member_count:
        return None
    quorum = majority(event.member_count)
    accepted, not_ready = event.accepted or 0, event.not_ready or 0
    if event.result == "PASSED":
        return Verdict(LEADER_WITHOUT_QUORUM, CONFORMS if accepted >= quorum else VIOLATES)
    if event.result == "REVOTE_IMMEDIATELY":
        return Verdict(WRONG_ROUND_RESULT, CONFORMS if accepted + not_ready >= quorum else VIOLATES)
    if event.result == "WAIT_TO_VOTE_NEXT":
        return _wait_to_vote_next(event, accepted, quorum)
    if event.result == "WAIT_TO_REVOTE":
        return _wait_to_revote(event, quorum)
    return Verdict(WRONG_ROUND_RESULT, UNDECIDABLE, "the result of the round is not a known one")


def _wait_to_vote_next(event: Logged, accepted: int, quorum: int) -> Verdict:
    """A larger term was heard, or nobody could win."""
    larger = (event.max_term or 0) > (event.term or 0)
    if larger or (accepted < quorum and not event.has_leader):
        return Verdict(WRONG_ROUND_RESULT, CONFORMS)
    return Verdict(WRONG_ROUND_RESULT, UNDECIDABLE, "an answer may have come between decision and printing")


def _wait_to_revote(event: Logged, quorum: int) -> Verdict:
    """Somebody has a leader, too few answered, or too many have the longer log."""
    if (event.max_term or 0) > (event.term or 0):
        return Verdict(WRONG_ROUND_RESULT, UNDECIDABLE, "an answer may have come between decision and printing")
    answered = event.answered or 0
    if event.has_leader or answered - (event.bigger_ledger or 0) < quorum:
        return Verdict(WRONG_ROUND_RESULT, CONFORMS)
    return Verdict(WRONG_ROUND_RESULT, UNDECIDABLE, "the number of valid answers is not printed")


_NEVER_FROM_ITSELF = frozenset(
    {"REJECT_ALREADY_HAS_LEADER", "REJECT_TERM_NOT_READY", "REJECT_UNEXPECTED_LEADER", "REJECT_TAKING_LEADERSHIP"}
)
"""Answers that a candidate cannot give to itself: it has no leader and is in the term that it asks for."""


def vote_reply(event: Logged, current_term: int | None) -> Verdict | None:
    """One answer as the candidate printed it, against the candidate's own term then.

    Source: ``DLedgerLeaderElector#handleVote``. The answer's term is the voter's, after its checks; with
    TERM_NOT_READY it is the voter's old one. Answers of earlier rounds come late, so a smaller term proves nothing.
    A larger one only seems wrong: the line that raised the candidate's term may have been dropped, so it counts
    when :func:`is_impossible` confirms it.
    """
    if event.peer is None or event.term is None or current_term is None:
        return None
    if event.peer == event.node and event.result in _NEVER_FROM_ITSELF:
        return Verdict(WRONG_VOTE_RESULT, VIOLATES)
    if event.result == "ACCEPT":
        if event.term < current_term:
            return Verdict(WRONG_VOTE_RESULT, UNDECIDABLE, "the answer belongs to an earlier round")
        return Verdict(WRONG_VOTE_RESULT, CONFORMS) if event.term == current_term else None
    if event.result == "REJECT_TERM_NOT_READY":
        return Verdict(WRONG_VOTE_RESULT, CONFORMS) if event.term < current_term else None
    return Verdict(WRONG_VOTE_RESULT, UNDECIDABLE, "what the voter knew then is not printed")


def is_impossible(answer: Logged, later_term: int) -> bool:
    """Whether an answer breaks the rules, given the candidate's own term on a later line of the same life.

    Terms only grow, so the candidate asked in a term no larger than ``later_term``. A vote counts only in the term
    that was asked for, and a voter is "not ready" only below it.
    """
    term = answer.term or 0
    return term > later_term if answer.result == "ACCEPT" else term >= later_term


def follower_timeout(event: Logged, last_heard: int | None) -> Verdict | None:
    """A follower gives its leader up only after maxHeartBeatLeak (default 3) intervals without heartbeat.

    Source: ``DLedgerLeaderElector#maintainAsFollower``: it looks only after two intervals, then compares with the
    leak, which is not printed.
    """
    if last_heard is None or not event.duration_ms:
        return None
    interval = event.duration_ms * 1000
    most = event.by - last_heard
    if most < 2 * interval:
        return Verdict(HEARTBEAT_RULE, VIOLATES)
    if most < 3 * interval:
        return Verdict(HEARTBEAT_RULE, UNDECIDABLE, "maxHeartBeatLeak is not printed")
    return Verdict(HEARTBEAT_RULE, CONFORMS)
