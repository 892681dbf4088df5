"""Rules that one node's own lines decide: votes, rounds, terms, heartbeats, transfers.

Each check looks at one line (and what the log said before it) and answers *conforms*, *violates* or *undecidable*.
The counters of a printed round are read when the line is formatted: late answers may have made them larger than
the decision used, never smaller (``DLedgerLeaderElector#maintainAsCandidate``).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES, Verdict, either, undecidable
from election_replay.election_core.model import digits
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.dledger.tables import (
    ANSWERS,
    EXPIRED,
    HEARTBEAT_INTERVAL_MS,
    INTERNAL_ERROR,
    LARGER,
    LATE_ROWS,
    MAX_HEARTBEAT_LEAK,
    PASSED,
    ROUND_RESULTS,
    SAME,
    SHORTER_LEDGER,
    SMALLER,
    SUCCESS,
    TAKE_LEADERSHIP_FAILED,
    UNEXPECTED_LEADER,
    UNKNOWN,
    UNKNOWN_GROUP,
    UNKNOWN_MEMBER,
    WAIT_TO_VOTE_NEXT,
    Tally,
)

LATE_ANSWER = "an answer may have come between decision and printing"
EARLIER_ROUND = "the answer may belong to an earlier round"

_NOT_PASSED = tuple(row for row in ROUND_RESULTS if row.result != PASSED)
_LATE_BEFORE_VOTES = [row for row in takewhile(lambda row: row.result != PASSED, ROUND_RESULTS) if row in LATE_ROWS]
"""The rows that an answer can bring about, of those that are asked before the votes are counted."""

_MILLISECOND = 1000


# -- rounds of votes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of one round, each printed before the round's result: what the decision counted is no more."""

    valid: int
    bigger_ledger: int

    @property
    def level(self) -> int:
        """Valid answers of members whose log is not ahead of the candidate's."""
        return self.valid - self.bigger_ledger


def answers_of(parsed: FoldEvent, replies: Sequence[FoldEvent], owed: int) -> Answers | None:
    """The answers to a round, where every member's is printed; ``None`` where one is missing.

    ``replies`` are the answers printed since the last round ended, ``owed`` how many of that round's were still to
    come. Answers that were printed before the round began are of earlier ones. A failed call names no member.
    """
    if parsed.duration_ms is None:
        return None
    began = parsed.at - parsed.duration_ms * _MILLISECOND
    of_round = [reply for reply in replies if reply.by >= began]
    if owed > len(replies) - len(of_round) or len(of_round) != parsed.member_count:
        return None
    named = [reply.peer for reply in of_round if reply.peer is not None]
    if len(set(named)) != len(named):
        return None
    return Answers(
        sum(1 for reply in of_round if reply.result != UNKNOWN),
        sum(1 for reply in of_round if reply.result in SHORTER_LEDGER),
    )


def still_owed(parsed: FoldEvent, replies: Sequence[FoldEvent], owed: int) -> int | None:
    """How many answers have been asked for and not been printed when a round ends; ``None`` if nobody knows."""
    return None if parsed.member_count is None else max(owed + parsed.member_count - len(replies), 0)


def round_result(event: FoldEvent, answers: Answers | None) -> Iterator[Verdict]:
    """The result of a round of votes, held against :data:`ROUND_RESULTS`.

    Whether enough members voted for who passed is a rule of its own.
    """
    if event.term is None or not event.member_count:
        return
    tally, quorum = _printed(event, event.term, event.member_count), majority(event.member_count)
    if tally is None:
        yield undecidable(RuleId.WRONG_ROUND_RESULT, "the answers of the round are not counted in its line")
    elif event.result == PASSED:
        yield either(RuleId.LEADER_WITHOUT_QUORUM, tally.accepted >= quorum)
        doubtful = any(row.fits(tally, quorum) for row in _LATE_BEFORE_VOTES)
        yield Verdict(RuleId.WRONG_ROUND_RESULT, *((UNDECIDABLE, LATE_ANSWER) if doubtful else (CONFORMS,)))
    elif any(row.result == event.result for row in ROUND_RESULTS):
        decided = replace(tally, valid=answers.valid, bigger_ledger=answers.bigger_ledger) if answers else None
        verdict = _by_the_table(event.result, tally, decided, quorum, ended_early=_ended_early(event))
        yield Verdict(RuleId.WRONG_ROUND_RESULT, *verdict)
    else:
        yield undecidable(RuleId.WRONG_ROUND_RESULT, "the result of the round is not a known one")


def _printed(event: FoldEvent, term: int, members: int) -> Tally | None:
    """The tally of a round's line: no counter was larger at the decision. Valid answers are not counted in it."""
    accepted, not_ready, answered, bigger_ledger = event.accepted, event.not_ready, event.answered, event.bigger_ledger
    if accepted is None or not_ready is None or answered is None or bigger_ledger is None:
        return None
    return Tally(
        members=members,
        term=term,
        max_term=term if event.max_term is None else event.max_term,
        answered=answered,
        valid=answered,
        accepted=accepted,
        not_ready=not_ready,
        bigger_ledger=bigger_ledger,
        has_leader=bool(event.has_leader),
    )


def _by_the_table(
    result: str | None, printed: Tally, decided: Tally | None, quorum: int, *, ended_early: bool
) -> tuple[str] | tuple[str, str]:
    """What the rows say of a result that is not :data:`PASSED`, read from the top, down to the last that gives it.

    ``decided`` counts valid answers by the lines of the answers themselves, ``None`` where one is missing. Nothing can
    have come between them and the decision where the round ``ended_early``.
    """
    giving = [row for row in _NOT_PASSED if row.result == result]
    if all(row in LATE_ROWS and not row.fits(printed, quorum) for row in giving):
        return (VIOLATES,)
    for row in _NOT_PASSED[: _NOT_PASSED.index(giving[-1]) + 1]:
        fits, fitted = row.fits(printed, quorum), decided is not None and row.fits(decided, quorum)
        if row in giving:
            if fits or fitted:
                return (CONFORMS,)
        elif row in LATE_ROWS:
            if fits:
                return UNDECIDABLE, LATE_ANSWER
        elif fitted and ended_early:
            return (VIOLATES,)
    if decided is None:
        return UNDECIDABLE, "valid answers are not counted, and not all are printed"
    return (VIOLATES,) if ended_early else (UNDECIDABLE, LATE_ANSWER)


def _ended_early(event: FoldEvent) -> bool:
    """Whether the round did not wait for its time to be over: then all that it waited for was counted."""
    return event.duration_ms is not None and event.duration_ms * _MILLISECOND < Timeout.DLEDGER_ROUND.us


# -- answers of voters -------------------------------------------------------------------------------------------

FOR_ANOTHER = frozenset(answer for answer, possible in ANSWERS.items() if possible.for_another)
"""The voter's vote of this term is another's: judged where the answers to all candidates come together."""

_IN_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {SAME})
"""Answers that a voter gives in the very term that it is asked for."""

_ABOVE_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {LARGER})
"""Answers that carry a larger term than the one that was asked for."""

_BELOW_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {SMALLER})
"""Answers that carry a smaller one: the voter has yet to come to the term."""

_NEVER_FROM_ITSELF = {UNEXPECTED_LEADER} | {answer for answer, possible in ANSWERS.items() if not possible.from_itself}

_NOT_FOR_THIS_NODE = frozenset({UNKNOWN_GROUP, UNKNOWN_MEMBER})
"""Refused by the server, before anybody looked at the vote."""


def vote_reply(event: FoldEvent, current_term: int | None) -> Verdict | None:
    """One answer as the candidate printed it, against the candidate's own term then.

    Source: ``DLedgerLeaderElector#handleVote``. The answer's term is the voter's, after its checks; with
    TERM_NOT_READY it is the voter's old one. Answers of earlier rounds come late, so a smaller term proves nothing.
    A larger one only seems wrong: the line that raised the candidate's term may have been dropped, so it counts
    when :func:`is_impossible` confirms it. ``None`` where this line alone does not tell.
    """
    if event.peer is None or event.term is None:
        return None
    from_itself = event.peer == event.node
    if from_itself and event.result in _NEVER_FROM_ITSELF:
        return Verdict(RuleId.WRONG_VOTE_RESULT, VIOLATES)
    if event.result == UNEXPECTED_LEADER:
        return Verdict(RuleId.WRONG_VOTE_RESULT, CONFORMS)
    if event.code in _NOT_FOR_THIS_NODE:
        return either(RuleId.WRONG_VOTE_RESULT, event.result == UNKNOWN)
    return None if current_term is None else _against_own_term(event, event.term, current_term, from_itself)


def _against_own_term(event: FoldEvent, term: int, current_term: int, from_itself: bool) -> Verdict | None:
    if event.result in _ABOVE_THE_TERM:
        if from_itself or term > current_term:
            return either(RuleId.WRONG_VOTE_RESULT, term > current_term)
        return Verdict(RuleId.WRONG_VOTE_RESULT, UNDECIDABLE, EARLIER_ROUND)
    if event.result in _BELOW_THE_TERM:
        return Verdict(RuleId.WRONG_VOTE_RESULT, CONFORMS) if term < current_term else None
    if event.result not in _IN_THE_TERM:
        return Verdict(RuleId.WRONG_VOTE_RESULT, UNDECIDABLE, "the voter's log and its list of members are not printed")
    if term > current_term or event.result in FOR_ANOTHER:
        return None
    if term < current_term and not from_itself:
        return Verdict(RuleId.WRONG_VOTE_RESULT, UNDECIDABLE, EARLIER_ROUND)
    return Verdict(RuleId.WRONG_VOTE_RESULT, CONFORMS)


def is_doubtful(event: FoldEvent, current_term: int | None) -> bool:
    """Whether an answer may not fit the candidate's own term, which the next own line will tell."""
    if event.peer is None or event.term is None or current_term is None:
        return False
    if event.result in _BELOW_THE_TERM:
        return event.term >= current_term
    return event.result in _IN_THE_TERM and event.term > current_term


def is_impossible(answer: FoldEvent, later_term: int) -> bool:
    """Whether an answer breaks the rules, given the candidate's own term on a later line of the same life.

    Terms only grow, so the candidate asked in a term no larger than ``later_term``. A vote is given or refused in the
    term that was asked for, and a voter is "not ready" only below it.
    """
    term = answer.term
    if term is None:
        return False
    return term >= later_term if answer.result in _BELOW_THE_TERM else term > later_term


# -- roles and terms ---------------------------------------------------------------------------------------------


def role_change(event: FoldEvent) -> Verdict | None:
    """A role is taken in the node's own term; candidate also for a larger one, which it has yet to take.

    Source: ``DLedgerLeaderElector#changeRoleToLeader``, ``#changeRoleToCandidate``, ``MemberState#changeToFollower``.
    The lines hold both terms, and are printed under the lock that guards them.
    """
    if event.term is None or event.from_term is None:
        return None
    return either(RuleId.TERM_RULE, _ALLOWED[event.kind](event.from_term, event.term))


_ALLOWED = {
    "DL_TO_CANDIDATE": lambda wanted, current: wanted >= current,
    "DL_TO_CANDIDATE_SKIPPED": lambda wanted, current: wanted < current,
    "DL_TO_LEADER": lambda wanted, current: wanted == current,
    "DL_TO_LEADER_SKIPPED": lambda wanted, current: wanted != current,
    "DL_TO_FOLLOWER": lambda wanted, current: wanted == current,
}
ROLE_CHANGES = frozenset(_ALLOWED)


def term_raised(event: FoldEvent, heard: int) -> Verdict | None:
    """A candidate raises its term to the largest one that it heard of, else by one (``MemberState#nextTerm``).

    ``heard`` is the largest term for which a line of this life made the node candidate.
    """
    if event.term is None or event.from_term is None:
        return None
    if event.term <= event.from_term or event.term < heard:
        return Verdict(RuleId.TERM_RULE, VIOLATES)
    if event.term in (event.from_term + 1, heard):
        return Verdict(RuleId.TERM_RULE, CONFORMS)
    return Verdict(RuleId.TERM_RULE, UNDECIDABLE, "the line that named the larger term is missing")


def next_round(before: FoldEvent, event: FoldEvent, interval_ms: int) -> Verdict | None:
    """After WAIT_TO_VOTE_NEXT the next round is held in a larger term (``maintainAsCandidate``).

    Not after a leader was followed and lost again, which takes two heartbeat intervals at least.
    """
    if before.result != WAIT_TO_VOTE_NEXT or before.term is None or event.term is None:
        return None
    if event.term != before.term:
        return Verdict(RuleId.TERM_RULE, CONFORMS) if event.term > before.term else None
    if event.by - before.at < 2 * interval_ms * _MILLISECOND:
        return Verdict(RuleId.TERM_RULE, VIOLATES)
    return Verdict(RuleId.TERM_RULE, UNDECIDABLE, "a leader may have been followed and lost in between")


# -- heartbeats --------------------------------------------------------------------------------------------------


def follower_timeout(event: FoldEvent, last_heard: int | None, line_before: int | None) -> Verdict | None:
    """A follower gives its leader up only after maxHeartBeatLeak (default 3) intervals without heartbeat.

    Source: ``DLedgerLeaderElector#maintainAsFollower``: it looks only after two intervals, then compares with the
    leak, which is not printed. The time of the last heartbeat is read again for the line, so one that came just then
    shows in it. ``line_before`` is when the log's line before this one was written.
    """
    if last_heard is None or not event.duration_ms:
        return None
    interval = event.duration_ms * _MILLISECOND
    most = event.by - last_heard
    if most >= MAX_HEARTBEAT_LEAK * interval:
        return Verdict(RuleId.HEARTBEAT_RULE, CONFORMS)
    if most >= 2 * interval:
        return Verdict(RuleId.HEARTBEAT_RULE, UNDECIDABLE, "maxHeartBeatLeak is not printed")
    if event.at <= last_heard:
        return Verdict(RuleId.HEARTBEAT_RULE, UNDECIDABLE, "a heartbeat may have come while the line was written")
    if line_before is None or event.at - line_before > Timeout.UNAMBIGUOUS.us:
        return Verdict(RuleId.HEARTBEAT_RULE, UNDECIDABLE, "the time zone of the last heartbeat is not printed")
    return Verdict(RuleId.HEARTBEAT_RULE, VIOLATES)


def leader_gives_up(parsed: FoldEvent, last_quorum: int | None, event: FoldEvent) -> Verdict | None:
    """A leader becomes candidate after a round of heartbeats without quorum, for one of three reasons.

    Source: ``DLedgerLeaderElector#sendHeartbeats``: a member has a larger term, a member knows another leader, or the
    last quorum is longer ago than maxHeartBeatLeak intervals. That time is not reset by an election: who led an hour
    ago gives up after its first failed round.
    """
    if event.at - parsed.at > Timeout.DLEDGER_AGREES.us or event.term != parsed.term:
        return None
    if event.from_term != event.term:
        return Verdict(RuleId.HEARTBEAT_RULE, CONFORMS) if event.from_term == parsed.max_term else None
    if parsed.has_leader or last_quorum is None:
        return Verdict(RuleId.HEARTBEAT_RULE, CONFORMS)
    if parsed.by - last_quorum > MAX_HEARTBEAT_LEAK * HEARTBEAT_INTERVAL_MS * _MILLISECOND:
        return Verdict(RuleId.HEARTBEAT_RULE, CONFORMS)
    return Verdict(
        RuleId.HEARTBEAT_RULE, UNDECIDABLE, "maxHeartBeatLeak and the zone of the last quorum's time are not printed"
    )


# -- leadership transfer and the broker above ------------------------------------------------------------------------


def transfer_refused(event: FoldEvent) -> Verdict | None:
    """A transfer is refused for its term only where the terms differ (``handleLeadershipTransfer``, 407 and 403)."""
    if event.term is None or event.from_term is None:
        return None
    return either(RuleId.TRANSFER_RULE, event.term != event.from_term)


def take_over(event: FoldEvent) -> Verdict | None:
    """How a take-over ended, by the role that the transferee took and its term.

    Source: ``DLedgerLeaderElector.TakeLeadershipTask#check``; ``from_term`` is the term of the request, whose
    successor the transferee wants to lead.
    """
    if event.term is None or event.from_term is None or event.code is None:
        return None
    target = event.from_term + 1
    if event.term > target:
        code = EXPIRED
    elif event.role == "FOLLOWER":
        code = TAKE_LEADERSHIP_FAILED
    else:
        code = SUCCESS if event.term == target else INTERNAL_ERROR
    return either(RuleId.TRANSFER_RULE, event.code == code)


def broker_role(event: FoldEvent) -> Verdict | None:
    """The role of a broker's store after it followed a change of its member's role.

    Source: RocketMQ ``DLedgerRoleChangeHandler``: a leader's broker becomes master once everything is committed and
    dispatched, unless it leads no more; every other member's broker is slave.
    """
    if event.role is None or event.value_before is None or event.flag is None:
        return None
    if not event.flag:
        return Verdict(RuleId.BROKER_ROLE_RULE, UNDECIDABLE, "the change was given up; the role is that of before")
    return either(RuleId.BROKER_ROLE_RULE, (event.value_before != "SLAVE") == (event.role == "LEADER"))


def broker_id(event: FoldEvent, member: str | None) -> Verdict | None:
    """The id of a slave is the number after its member's: ``n0`` gives 1 (``DLedgerCommitLog#getId``)."""
    number = digits.number(member[1:]) if member is not None else None
    if number is None or event.broker_id is None:
        return None
    return either(RuleId.BROKER_ROLE_RULE, event.broker_id == str(number + 1))
