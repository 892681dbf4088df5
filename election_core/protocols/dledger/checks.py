"""Rules that one node's own lines decide: votes, rounds, terms, heartbeats, transfers.

Each check looks at one line and the lines before it, and answers *conforms*, *violates* or *undecidable*. The counters
of a printed round are read when the line is formatted: late answers may have made them larger than at the decision,
never smaller (``DLedgerLeaderElector#maintainAsCandidate``).
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
"""Rows checked before the votes are counted which a late answer can make fit."""

_MILLISECOND = 1000


# -- rounds of votes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answers:
    """Upper bounds for what a round's decision counted: all answers printed before its result."""

    valid: int
    bigger_ledger: int

    @property
    def level(self) -> int:
        """The number of valid answers from members whose log is not ahead of the candidate's."""
        return self.valid - self.bigger_ledger


def answers_of(parsed: FoldEvent, replies: Sequence[FoldEvent], owed: int) -> Answers | None:
    """Return the answers to a round; None unless every member's answer is printed.

    ``replies`` are the answers printed since the last round ended, ``owed`` the number of that round's answers still to
    come. Answers printed before the round began belong to earlier rounds. A failed call names no member.
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
    """Return how many requested answers are not printed yet when a round ends; None if that is unknown."""
    return None if parsed.member_count is None else max(owed + parsed.member_count - len(replies), 0)


def round_result(event: FoldEvent, answers: Answers | None) -> Iterator[Verdict]:
    """Yield verdicts on the result of a round of votes, by :data:`ROUND_RESULTS`. Whether a passed round had enough
    votes is a rule of its own."""
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
    """Return the tally of a round's line, an upper bound of every counter at the decision; None if one is missing. The
    line does not count valid answers: all that answered stand for them."""
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
    """Return the verdict on a result other than :data:`PASSED`, by the rows down to the last with that result.

    ``decided`` counts valid answers by the answers' own lines; None if one is missing. Nothing can have come between
    them and the decision where the round ``ended_early``.
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
    """Return True when the round ended before its time was up: then all that it waited for was counted."""
    return event.duration_ms is not None and event.duration_ms * _MILLISECOND < Timeout.DLEDGER_ROUND.us


# -- answers of voters -------------------------------------------------------------------------------------------

FOR_ANOTHER = frozenset(answer for answer, possible in ANSWERS.items() if possible.for_another)
"""Answers that the vote of this term was given to another: judged over all candidates' answers together."""

_IN_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {SAME})
"""Answers that a voter gives in the requested term only."""

_ABOVE_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {LARGER})
"""Answers that carry a larger term than the requested one."""

_BELOW_THE_TERM = frozenset(answer for answer, possible in ANSWERS.items() if possible.terms == {SMALLER})
"""Answers that carry a smaller term: the voter has yet to reach the requested one."""

_NEVER_FROM_ITSELF = {UNEXPECTED_LEADER} | {answer for answer, possible in ANSWERS.items() if not possible.from_itself}

_NOT_FOR_THIS_NODE = frozenset({UNKNOWN_GROUP, UNKNOWN_MEMBER})
"""Codes with which the server refuses a request before the vote is looked at."""


def vote_reply(event: FoldEvent, current_term: int | None) -> Verdict | None:
    """Judge one answer, as the candidate printed it, against the candidate's own term; None if undecided by this line.

    Source: ``DLedgerLeaderElector#handleVote``. The answer's term is the voter's, after its checks; with TERM_NOT_READY
    it is the voter's old one. Answers of earlier rounds come late, so a smaller term proves nothing. A larger one need
    not be wrong, as the line that raised the candidate's term may have been dropped: it counts when
    :func:`is_impossible` confirms it.
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
    """Return True when an answer does not fit the candidate's last known term, so that its next own line must
    decide."""
    if event.peer is None or event.term is None or current_term is None:
        return False
    if event.result in _BELOW_THE_TERM:
        return event.term >= current_term
    return event.result in _IN_THE_TERM and event.term > current_term


def is_impossible(answer: FoldEvent, later_term: int) -> bool:
    """Return True when an answer breaks the rules, given the candidate's own term on a later line of the same process.

    Terms only grow, so the candidate asked in a term no larger than ``later_term``. A vote is given or refused in the
    requested term, and a voter is "not ready" only below it.
    """
    term = answer.term
    if term is None:
        return False
    return term >= later_term if answer.result in _BELOW_THE_TERM else term > later_term


# -- roles and terms ---------------------------------------------------------------------------------------------


def role_change(event: FoldEvent) -> Verdict | None:
    """Judge the term of a role change: the node's own; for a candidate also a larger one, which it takes next.

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
    """Judge a raise of the term: to the largest one heard of, else by one (``MemberState#nextTerm``). ``heard`` is the
    largest term for which a line of this process made the node candidate."""
    if event.term is None or event.from_term is None:
        return None
    if event.term <= event.from_term or event.term < heard:
        return Verdict(RuleId.TERM_RULE, VIOLATES)
    if event.term in (event.from_term + 1, heard):
        return Verdict(RuleId.TERM_RULE, CONFORMS)
    return Verdict(RuleId.TERM_RULE, UNDECIDABLE, "the line that named the larger term is missing")


def next_round(before: FoldEvent, event: FoldEvent, interval_ms: int) -> Verdict | None:
    """Judge the round after WAIT_TO_VOTE_NEXT, which is held in a larger term (``maintainAsCandidate``); None for
    others.

    The term may stay if a leader was followed and lost in between, which takes two heartbeat intervals at least.
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
    """Judge a follower's time-out: maxHeartBeatLeak (default 3) intervals without heartbeat; None without a time.

    Source: ``DLedgerLeaderElector#maintainAsFollower``: it looks only after two intervals, then compares with the leak,
    which is not printed. The time of the last heartbeat is read again for the line, so one that came just then shows in
    it. ``line_before``: when the log's previous line was written (us).
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
    """Judge a leader's change to candidate after a heartbeat round without quorum; None if they do not belong together.

    Source: ``DLedgerLeaderElector#sendHeartbeats``: a member has a larger term, a member knows another leader, or the
    last quorum is longer ago than maxHeartBeatLeak intervals. An election does not reset that time: a node that led an
    hour ago gives up after its first failed round.
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
    """Judge a transfer refused for its term: the terms must differ (``handleLeadershipTransfer``, 407 and 403)."""
    if event.term is None or event.from_term is None:
        return None
    return either(RuleId.TRANSFER_RULE, event.term != event.from_term)


def take_over(event: FoldEvent) -> Verdict | None:
    """Judge the code with which a take-over ended, by the transferee's role and term.

    Source: ``DLedgerLeaderElector.TakeLeadershipTask#check``; ``from_term`` is the term of the request, and the
    transferee wants to lead the next one.
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
    """Judge the role of a broker's store after it followed a change of its member's role.

    Source: RocketMQ ``DLedgerRoleChangeHandler``: a leader's broker becomes master once everything is committed and
    dispatched, unless the member ceased to lead; every other member's broker is slave.
    """
    if event.role is None or event.value_before is None or event.flag is None:
        return None
    if not event.flag:
        return Verdict(RuleId.BROKER_ROLE_RULE, UNDECIDABLE, "the change was given up; the role is that of before")
    return either(RuleId.BROKER_ROLE_RULE, (event.value_before != "SLAVE") == (event.role == "LEADER"))


def broker_id(event: FoldEvent, member: str | None) -> Verdict | None:
    """Judge a slave's broker id: one more than its member's number, so ``n0`` gives 1 (``DLedgerCommitLog#getId``)."""
    number = digits.number(member[1:]) if member is not None else None
    if number is None or event.broker_id is None:
        return None
    return either(RuleId.BROKER_ROLE_RULE, event.broker_id == str(number + 1))


# -- sentences ---------------------------------------------------------------------------------------------------------

_BROKEN = {
    RuleId.LEADER_WITHOUT_QUORUM: "called its round of term {term} passed with {granted} of {needed} votes",
    RuleId.WRONG_VOTE_RESULT: "was answered {answer} by {peer} in term {term}, which the rules of voting do not allow",
    RuleId.HEARTBEAT_RULE: "gave its leader up before two heartbeat intervals without a heartbeat had passed",
    RuleId.TRANSFER_RULE: "ended a transfer of leadership in term {term} (asked in term {before}) with an answer "
    "that does not follow from role and term",
    "DLB_ROLE_END": "followed its member's change to {role} in term {term} with a store of another role",
    "DLB_SLAVE_BEGIN": "became slave with another broker id than the one after its member's number",
    "PASSED": "called its round of term {term} passed, which does not follow from its answers",
    "REVOTE_IMMEDIATELY": "asked again at once in term {term}, although it needs {needed} and had {granted} granted "
    "and {not_ready} from voters that were not ready, or too few answers that count",
    "WAIT_TO_VOTE_NEXT": "went on to the term after {term}, although too few answers counted for that",
    "WAIT_TO_REVOTE": "held to term {term}, although enough answers counted and nobody had a leader",
    "DL_TERM_UP": "raised its term from {before} to {term}, not to the largest that it had heard of",
    "DL_VOTE_PARSED": "held one more round in term {term} after a round in which nobody could win",
    "DL_TO_CANDIDATE": "became candidate of term {before} in the larger term {term}",
    "DL_TO_CANDIDATE_SKIPPED": "did not become candidate of term {before} in term {term}",
    "DL_TO_LEADER": "became leader of term {before} in term {term}",
    "DL_TO_LEADER_SKIPPED": "did not become leader of term {before} in term {term}",
    "DL_TO_FOLLOWER": "followed a leader of term {before} in term {term}",
}
"""The clause about a line: by its rule, else by its result, else by its kind."""


def clause(rule: str, line: FoldEvent) -> str:
    """Return the clause that says how a line breaks a rule."""
    answer = line.result or line.kind
    words = _BROKEN.get(rule) or _BROKEN.get(answer if rule == RuleId.WRONG_ROUND_RESULT else line.kind)
    needed = majority(line.member_count) if line.member_count else None
    return (words or "broke the rule {rule}").format(
        rule=rule,
        term=line.term,
        before=line.from_term,
        peer=line.peer,
        role=line.role,
        answer=answer,
        granted=line.accepted,
        not_ready=line.not_ready,
        needed=needed,
    )
