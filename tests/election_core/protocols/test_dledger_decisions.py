"""DLedger's decision tables, row by row, and the machine that runs on them."""

from dataclasses import replace
from functools import reduce
from itertools import combinations_with_replacement
from typing import Any

import pytest

from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.dledger.checks import Answers, round_result
from election_replay.election_core.protocols.dledger.tables import (
    ACCEPT,
    ALREADY_HAS_LEADER,
    ALREADY_VOTED,
    ANSWERS,
    EXPIRED_TERM,
    LARGER,
    LATE_ROWS,
    ROUND_RESULTS,
    SAME,
    SHORTER_LEDGER,
    SMALLER,
    TERM_NOT_READY,
    UNEXPECTED_LEADER,
    UNKNOWN,
    VOTE_CHECKS,
    Ballot,
    Beat,
    Tally,
    beat_answer,
    round_outcome,
    vote_answer,
)
from election_replay.election_core.simulate.dledger import machine
from election_replay.election_core.simulate.dledger.machine import (
    Heartbeat,
    HeartbeatReply,
    Member,
    Push,
    State,
    VoteReply,
    VoteRequest,
)
from election_replay.election_core.simulate.ledger import appended, committed_index, common_end, end_of, term_at
from election_replay.election_core.simulate.machine import Answer, Fired, Heard, Input, Say, Send, Store, Unanswered

FREE = Ballot("n1", "n0", ("n0", "n1", "n2"), 3, (2, 9), 3, (2, 9), None, None, taking_over=False)
"""n0 asks n1 for its vote in term 3, in which n1 is and has not voted; their ledgers are equal."""


@pytest.mark.parametrize(
    ("answer", "ballot"),
    [
        ("ACCEPT", FREE),
        ("ACCEPT", replace(FREE, vote="n0")),
        ("ACCEPT", replace(FREE, leader="n2")),  # a follower that has not voted is free
        ("ACCEPT", replace(FREE, end=(2, 12))),
        ("REJECT_UNKNOWN_LEADER", replace(FREE, candidate="n9")),
        ("REJECT_EXPIRED_LEDGER_TERM", replace(FREE, end=(1, 99), term=9)),  # a short log first, whatever the term
        ("REJECT_SMALL_LEDGER_END_INDEX", replace(FREE, end=(2, 8), term=9)),
        ("REJECT_EXPIRED_VOTE_TERM", replace(FREE, term=2)),
        ("REJECT_ALREADY_HAS_LEADER", replace(FREE, vote="n2", leader="n2")),
        ("REJECT_ALREADY_VOTED", replace(FREE, vote="n2")),
        ("REJECT_TERM_NOT_READY", replace(FREE, term=4)),
        ("REJECT_TERM_NOT_READY", replace(FREE, term=4, vote="n2", leader="n2")),
        ("REJECT_TERM_SMALL_THAN_LEDGER", replace(FREE, end=(4, 9), own_end=(4, 9))),
        ("REJECT_TAKING_LEADERSHIP", replace(FREE, taking_over=True)),
        ("ACCEPT", replace(FREE, taking_over=True, candidate="n1", voter="n1")),
    ],
)
def test_votes(answer: str, ballot: Ballot) -> None:
    assert vote_answer(VOTE_CHECKS, ballot) == answer


@pytest.mark.parametrize(
    ("answer", "terms", "from_itself", "for_another"),
    [
        ("ACCEPT", {SAME}, True, False),
        ("REJECT_UNKNOWN_LEADER", {SMALLER, SAME, LARGER}, False, False),
        ("REJECT_EXPIRED_LEDGER_TERM", {SMALLER, SAME, LARGER}, True, False),  # its log may grow while it asks
        ("REJECT_SMALL_LEDGER_END_INDEX", {SMALLER, SAME, LARGER}, True, False),
        ("REJECT_EXPIRED_VOTE_TERM", {LARGER}, False, False),
        ("REJECT_ALREADY_HAS_LEADER", {SAME}, True, True),
        ("REJECT_ALREADY_VOTED", {SAME}, True, True),
        ("REJECT_TERM_NOT_READY", {SMALLER}, False, False),
        ("REJECT_TERM_SMALL_THAN_LEDGER", {LARGER}, True, False),
        ("REJECT_TAKING_LEADERSHIP", {SAME}, False, False),
    ],
)
def test_what_an_answer_says(answer: str, terms: set[int], from_itself: bool, for_another: bool) -> None:
    """The judge holds printed answers against this: it follows from the rows that the machine runs on."""
    possible = ANSWERS[answer]
    assert (possible.terms, possible.from_itself, possible.for_another) == (terms, from_itself, for_another)


def test_every_answer_of_a_row_is_possible() -> None:
    assert set(ANSWERS) == {"ACCEPT", *(check.answer for check in VOTE_CHECKS)}
    assert UNEXPECTED_LEADER not in ANSWERS


ALL = Tally(members=3, term=3, max_term=3, answered=3, valid=3)


@pytest.mark.parametrize(
    ("result", "more_pause_ms", "tally"),
    [
        ("WAIT_TO_VOTE_NEXT", 0, replace(ALL, accepted=3, max_term=4, has_leader=True)),
        ("WAIT_TO_REVOTE", 6000, replace(ALL, accepted=2, has_leader=True)),
        ("WAIT_TO_REVOTE", 0, replace(ALL, valid=1, accepted=1)),
        ("WAIT_TO_REVOTE", 1000, replace(ALL, bigger_ledger=2, accepted=1)),
        ("PASSED", None, replace(ALL, accepted=2, not_ready=1)),
        ("REVOTE_IMMEDIATELY", None, replace(ALL, accepted=1, not_ready=1)),
        ("WAIT_TO_VOTE_NEXT", 0, replace(ALL, accepted=1)),
    ],
)
def test_rounds(result: str, more_pause_ms: int | None, tally: Tally) -> None:
    row = round_outcome(ROUND_RESULTS, tally, quorum=2)
    assert (row.result, row.more_pause_ms) == (result, more_pause_ms)


ANSWERED = (ACCEPT, UNKNOWN, TERM_NOT_READY, ALREADY_HAS_LEADER, ALREADY_VOTED, EXPIRED_TERM, *sorted(SHORTER_LEDGER))


def judged(tally: Tally, result: str, milliseconds: int) -> list[str]:
    """What the judge says of a round that printed this tally, with all its answers, and this result."""
    line = FoldEvent(
        *("e", "dledger.log", "DL_VOTE_RESULT", 0, 0),
        term=tally.term,
        max_term=tally.max_term,
        member_count=tally.members,
        answered=tally.answered,
        accepted=tally.accepted,
        not_ready=tally.not_ready,
        bigger_ledger=tally.bigger_ledger,
        has_leader=tally.has_leader,
        result=result,
        duration_ms=milliseconds,
    )
    verdicts = round_result(line, Answers(tally.valid, tally.bigger_ledger))
    return [verdict.says for verdict in verdicts if verdict.rule == RuleId.WRONG_ROUND_RESULT]


@pytest.mark.parametrize("answers", [*combinations_with_replacement(ANSWERED, 3)], ids=",".join)
def test_the_judge_reads_the_table_of_rounds(answers: tuple[str, ...]) -> None:
    """What the table gives conforms; a result that no answer before can have given is refused."""
    tally = reduce(lambda so_far, answer: so_far.counting(answer, 4), answers, Tally(members=3, term=3, max_term=3))
    given = round_outcome(ROUND_RESULTS, tally, quorum=2).result
    assert judged(tally, given, 20) == ["conforms"]
    if tally.accepted + tally.not_ready < 2:
        assert judged(tally, "REVOTE_IMMEDIATELY", 20) == ["violates"]
    if given == "PASSED":
        assert judged(tally, "WAIT_TO_REVOTE", 20) == ["violates"]


def test_the_rows_that_an_answer_can_bring_about() -> None:
    assert [number for number, row in enumerate(ROUND_RESULTS) if row in LATE_ROWS] == [0, 1, 4, 5]


@pytest.mark.parametrize(
    ("code", "beat"),
    [
        (200, Beat("n0", ("n0", "n1"), 3, 3, None)),
        (200, Beat("n0", ("n0", "n1"), 3, 3, "n0")),
        (401, Beat("n9", ("n0", "n1"), 3, 3, None)),
        (403, Beat("n0", ("n0", "n1"), 2, 3, "n0")),
        (409, Beat("n0", ("n0", "n1"), 3, 3, "n1")),
        (416, Beat("n0", ("n0", "n1"), 4, 3, "n1")),
    ],
)
def test_heartbeats(code: int, beat: Beat) -> None:
    assert beat_answer(beat) == code


def test_ledgers() -> None:
    """Two leaders of one term write different entries: their ledgers part where the second begins."""
    first = appended(appended((), 1, "n0", 5), 1, "n0", 3)
    ours, theirs = appended(first, 2, "n1", 2), appended(first, 2, "n2", 4)
    assert end_of(first) == (1, 7)
    assert [common_end(ours, theirs), common_end(ours, ours), common_end(first, ours)] == [7, 9, 7]
    assert [term_at(ours, 7), term_at(ours, 8), term_at(ours, 10), term_at((), 0)] == [1, 2, -1, -1]
    assert committed_index([9, 7, -1], 2) == 7


# -- the machine --------------------------------------------------------------------------------------------------

MEMBER = Member("n1", "G", ("n0", "n1", "n2"))
FOLLOWER = State(term=3, role="FOLLOWER", leader="n0", vote="n0", heard_ms=1000)


def told(state: State, what: Input, now_ms: int = 1500) -> tuple[State, tuple[Any, ...]]:
    return machine.step(MEMBER, state, now_ms, what)


def kinds(acts: tuple[Any, ...]) -> list[str]:
    return [act.kind for act in acts if isinstance(act, Say)]


def test_a_step_is_pure() -> None:
    """The same step from the same state gives the same, and leaves the state as it was."""
    state, ask = replace(FOLLOWER, leader=None, role="CANDIDATE", vote=None), Heard("n0", VoteRequest(3, (-1, -1), 1))
    before = hash(state)
    assert told(state, ask) == told(state, ask)
    assert hash(state) == before


def test_a_vote_is_stored_before_it_is_answered() -> None:
    state, acts = told(replace(FOLLOWER, vote=None), Heard("n2", VoteRequest(3, (-1, -1), 1)))
    assert state.vote == "n2"
    assert [type(act) for act in acts] == [Store, Answer]


def test_a_larger_term_is_first_refused_and_then_taken() -> None:
    """The voter becomes candidate at once; its term grows in its own loop, and no vote goes with it."""
    state, acts = told(FOLLOWER, Heard("n2", VoteRequest(4, (-1, -1), 1)))
    assert (state.role, state.term, state.raise_at_once) == ("CANDIDATE", 3, True)
    assert acts[-1] == Answer(VoteReply(3, "REJECT_TERM_NOT_READY", 1))
    state, acts = told(state, Fired("maintain"))
    assert (state.term, state.vote) == (4, None)
    assert kinds(acts) == ["DL_TERM_UP"]


def test_a_follower_waits_for_its_leader() -> None:
    """Silence counts from the last heartbeat by the own clock; a timer that goes off too early is set anew."""
    state, acts = told(FOLLOWER, Fired("silence"), now_ms=6000)
    assert (state.role, kinds(acts)) == ("FOLLOWER", [])
    state, acts = told(FOLLOWER, Fired("silence"), now_ms=7001)
    assert (state.role, kinds(acts)) == ("CANDIDATE", ["DL_HB_TIMEOUT", "DL_TO_CANDIDATE"])


def test_a_candidate_asks_in_its_old_term_first() -> None:
    state, acts = told(replace(FOLLOWER, role="CANDIDATE", leader=None), Fired("maintain"))
    assert [act.message.term for act in acts if isinstance(act, Send)] == [3, 3]
    assert state.term == 3
    state, _ = told(replace(state, voting=None, last_result="WAIT_TO_VOTE_NEXT"), Fired("maintain"))
    assert state.term == 4


def test_answers_count_once_and_in_their_round() -> None:
    """A failed call counts as an answer that says nothing; an answer to an earlier round does not count."""
    state, _ = told(replace(FOLLOWER, role="CANDIDATE", leader=None, vote=None, rounds=4), Fired("maintain"))
    for late in (Heard("n0", VoteReply(3, "ACCEPT", 4)), Heard("n1", VoteReply(3, "ACCEPT", 5))):
        assert told(state, late)[0].voting == state.voting
    failed, _ = told(state, Unanswered("n0", VoteRequest(3, (-1, -1), 5), refused=True))
    assert failed.voting is not None
    assert (failed.voting.tally.answered, failed.voting.tally.valid) == (2, 1)
    elected, acts = told(state, Heard("n0", VoteReply(3, "ACCEPT", 5)))
    assert elected.role == "LEADER"
    assert kinds(acts)[:3] == ["DL_VOTE_REPLY", "DL_VOTE_PARSED", "DL_ELECTED"]


def test_a_leader_without_quorum_gives_up_after_six_seconds() -> None:
    leading = State(term=3, role="LEADER", leader="n1", quorum_ms=1000, beats=1)
    asking, _ = told(leading, Fired("beat"), now_ms=5000)
    stays, acts = told(asking, Fired("beats"), now_ms=7000)
    assert (stays.role, kinds(acts)) == ("LEADER", ["DL_HB_PARSED"])
    gone, acts = told(asking, Fired("beats"), now_ms=7001)
    assert (gone.role, gone.term, kinds(acts)) == ("CANDIDATE", 3, ["DL_HB_PARSED", "DL_TO_CANDIDATE"])


def test_a_quorum_hides_a_larger_term() -> None:
    """0.3.1.2 looks at nothing else when a quorum answers."""
    leading = State(term=3, role="LEADER", leader="n1", quorum_ms=1000)
    asking, _ = told(leading, Fired("beat"))
    one, _ = told(asking, Heard("n0", HeartbeatReply(403, 9, 1)))
    both, acts = told(one, Heard("n2", HeartbeatReply(200, 3, 1)))
    assert (both.role, both.quorum_ms, kinds(acts)) == ("LEADER", 1500, [])


def test_two_leaders_of_a_term_are_cried_out() -> None:
    state, acts = told(FOLLOWER, Heard("n2", Heartbeat(3, 1)))
    assert state == FOLLOWER
    assert kinds(acts) == ["DL_TWO_LEADERS"]


def test_a_follower_cuts_off_what_its_leader_does_not_have() -> None:
    own, leaders = appended(appended((), 1, "n1", 8), 2, "n1", 4), appended(appended((), 1, "n1", 8), 3, "n0", 1)
    state, acts = told(replace(FOLLOWER, ledger=own, committed=7), Heard("n0", Push(3, leaders, 8)))
    assert (state.ledger, state.committed) == (leaders, 8)
    assert kinds(acts) == ["DL_STORE_TRUNCATE"]
