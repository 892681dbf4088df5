"""DLedger as a machine that runs: the elector of one member, one function a message.

Source: openmessaging/dledger 0.3.1.2, ``DLedgerLeaderElector``; its decisions stand in
:mod:`election_core.protocols.dledger.tables`.

One loop does the member's work every 10 ms (``StateMaintainer``); other threads answer requests at once. Here the loop
is a timer that is set when there is something to do. Left out are the bytes of entries: a push carries the whole ledger
as stretches, and comparing, cutting and appending are one step. A round of heartbeats that is open when its leader
steps down is dropped.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.protocols.dledger.tables import (
    ACCEPT,
    EXPIRED,
    HEARTBEAT_INTERVAL_MS,
    NOT_READY,
    OTHER_LEADER,
    PASSED,
    ROUND_RESULTS,
    SILENCE_MS,
    SUCCESS,
    TAKE_LEADERSHIP_FAILED,
    TERM_NOT_READY,
    UNKNOWN,
    VOTE_CHECKS,
    WAIT_TO_REVOTE,
    WAIT_TO_VOTE_NEXT,
    Ballot,
    Beat,
    RoundResult,
    Tally,
    VoteCheck,
    answered_term,
    beat_answer,
    round_outcome,
    vote_answer,
)
from election_replay.election_core.simulate.ledger import (
    ENTRY_BYTES,
    Ledger,
    appended,
    committed_index,
    common_end,
    end_of,
    term_at,
)
from election_replay.election_core.simulate.machine import (
    Act,
    Asked,
    Fired,
    Heard,
    Input,
    Transfer,
    Turn,
    Unanswered,
    Write,
)

CANDIDATE, LEADER, FOLLOWER = "CANDIDATE", "LEADER", "FOLLOWER"

RPC_TIMEOUT_MS = 3000
ROUND_WAIT_MS = (2000, 3000)
PAUSE_MS = (300, 1000)
TAKING_PAUSE_MS = (30, 100)
LOOP_MS = (0, 10)
PUSH_MS = 1000
STATUS_MS = 3000

MAINTAIN, PAUSE, ROUND, SILENCE, BEAT, BEATS, PUSH, STATUS = (
    *("maintain", "pause", "round", "silence", "beat", "beats", "push", "status"),
)
"""Timers: the loop, the pause between rounds, the wait for votes, the follower's time-out, the next round of heartbeats
and the wait for it, the next push of entries, the status line."""

TERM_FILE, LEDGER_FILE = "currterm", "ledger"


@dataclass(frozen=True, slots=True)
class Rules:
    """A member's rules of decision; a faulty member has one changed. The defaults are DLedger's.

    ``next_term(own, largest heard)``: the term after a raise. ``taken_over``: the code that a transferee reports at the
    end of a transfer.
    """

    vote_checks: tuple[VoteCheck, ...] = VOTE_CHECKS
    round_results: tuple[RoundResult, ...] = ROUND_RESULTS
    quorum: Callable[[int], int] = majority
    commit_quorum: Callable[[int], int] = majority
    silence_ms: int = SILENCE_MS
    leader_gives_up: bool = True
    next_term: Callable[[int, int], int] = lambda current, heard: max(current + 1, heard)
    taken_over: Callable[[int], int] = lambda code: code


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a group, as its configuration says."""

    name: str
    group: str
    peers: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)

    @property
    def others(self) -> tuple[str, ...]:
        """All members but this one."""
        return tuple(peer for peer in self.peers if peer != self.name)


# -- messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VoteRequest:
    """``end`` is the end of the candidate's ledger, ``round`` the number of its round."""

    term: int
    end: tuple[int, int]
    round: int


@dataclass(frozen=True, slots=True)
class VoteReply:
    """``term`` is the voter's."""

    term: int
    answer: str
    round: int


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A heartbeat of the leader of ``term``; ``beat`` is the number of its round."""

    term: int
    beat: int


@dataclass(frozen=True, slots=True)
class HeartbeatReply:
    """``term`` is the receiver's."""

    code: int
    term: int
    beat: int


@dataclass(frozen=True, slots=True)
class Push:
    """The leader's ledger and commit index."""

    term: int
    ledger: Ledger
    committed: int


@dataclass(frozen=True, slots=True)
class PushReply:
    """The last index at which the follower's ledger equals the leader's; None: it does not follow."""

    term: int
    last: int | None


@dataclass(frozen=True, slots=True)
class TakeLeadership:
    """The leader asks a member that holds its ledger up to ``last`` to stand for the next term."""

    term: int
    last: int


@dataclass(frozen=True, slots=True)
class TakeReply:
    """200, or the code of a refusal."""

    code: int


# -- state ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Voting:
    """The present round of voting; ``waiting`` are the members that have not answered."""

    number: int
    tally: Tally
    began_ms: int
    waiting: frozenset[str]


@dataclass(frozen=True, slots=True)
class Beating:
    """The present round of heartbeats; the leader counts itself as one success."""

    number: int
    began_ms: int
    waiting: frozenset[str]
    answered: int = 1
    succeeded: int = 1
    not_ready: int = 0
    max_term: int = -1
    other_leader: bool = False


@dataclass(frozen=True, slots=True)
class State:
    """A member's state. ``term``, ``vote`` and ``ledger`` are on disk."""

    term: int = 0
    vote: str | None = None
    ledger: Ledger = ()
    role: str = CANDIDATE
    leader: str | None = None
    largest_heard: int = -1
    raise_at_once: bool = False
    last_result: str = WAIT_TO_REVOTE
    pausing: bool = False
    rounds: int = 0
    voting: Voting | None = None
    beats: int = 0
    beating: Beating | None = None
    heard_ms: int = -1
    quorum_ms: int = -1
    committed: int = -1
    watermarks: tuple[tuple[str, int], ...] = ()
    taking_term: int | None = None
    handing_to: str | None = None


Step = tuple[State, tuple[Act, ...]]


class _Turn(Turn[Member, State]):
    """One step of a member."""

    by_clock = True
    names_itself = True

    def store_term(self) -> None:
        self.store(TERM_FILE, (self.state.term, self.state.vote))

    def store_ledger(self) -> None:
        self.store(LEDGER_FILE, self.state.ledger)

    @property
    def quorum(self) -> int:
        return self.member.rules.quorum(len(self.member.peers))


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start a member's process: always as candidate, in the term of its file."""
    term, vote = stored.get(TERM_FILE, (0, None))
    ledger = stored.get(LEDGER_FILE, ())
    turn = _Turn(member, State(term=term, vote=vote, ledger=ledger), now_ms, "main")
    turn.say("DL_LISTEN")
    turn.wait(STATUS, 0, 1000)
    _maintain(turn)
    return turn.done()


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a member."""
    turn = _Turn(member, state, now_ms, _speaker(incoming))
    match incoming:
        case Heard(sender, message):
            _HEARD[type(message)](turn, sender, message)
        case Unanswered(to, message, refused):
            _unanswered(turn, to, message, refused)
        case Fired(timer):
            _FIRED[timer](turn)
        case Asked(request):
            _ASKED[type(request)](turn, request)
    return turn.done()


def _speaker(incoming: Input) -> str:
    """Return the thread that handles an input; the log prints its name."""
    if isinstance(incoming, Heard) and isinstance(incoming.message, VoteReply | HeartbeatReply | PushReply | TakeReply):
        return "client"
    return "maintainer" if isinstance(incoming, Fired) else "client" if isinstance(incoming, Unanswered) else "server"


# -- changes of role ----------------------------------------------------------------------------------------------


def _become_candidate(turn: _Turn, term: int) -> None:
    """Become candidate; term and vote stay unchanged (``changeRoleToCandidate``)."""
    if term < turn.state.term:
        turn.say("DL_TO_CANDIDATE_SKIPPED", from_term=term, term=turn.state.term)
        return
    turn.change(role=CANDIDATE, leader=None, beating=None, handing_to=None)
    turn.change(largest_heard=max(turn.state.largest_heard, term))
    turn.say("DL_TO_CANDIDATE", from_term=term, term=turn.state.term)
    _maintain(turn)


def _become_leader(turn: _Turn, term: int) -> None:
    """Become leader, unless the term has moved on since the votes were counted (``changeRoleToLeader``)."""
    if term != turn.state.term:
        turn.say("DL_TO_LEADER_SKIPPED", from_term=term, term=turn.state.term)
        return
    name = turn.member.name
    watermarks = tuple((peer, end_of(turn.state.ledger)[1] if peer == name else -1) for peer in turn.member.peers)
    _took_leadership(turn, SUCCESS)
    turn.change(role=LEADER, leader=name, watermarks=watermarks, taking_term=None)
    turn.say("DL_TO_LEADER", from_term=term, term=term)
    turn.wait(BEAT, *LOOP_MS)
    turn.wait(PUSH, *LOOP_MS)


def _become_follower(turn: _Turn, leader: str) -> None:
    """Become follower on the first heartbeat of the present term's leader (``changeRoleToFollower``)."""
    term = turn.state.term
    turn.say("DL_TO_FOLLOWER", from_term=term, peer=leader, term=term)
    if turn.state.taking_term is not None and turn.state.taking_term <= term:
        _took_leadership(turn, TAKE_LEADERSHIP_FAILED)
    turn.change(role=FOLLOWER, leader=leader, beating=None, last_result=WAIT_TO_REVOTE)


# -- candidates ---------------------------------------------------------------------------------------------------


def _maintain(turn: _Turn) -> None:
    """Schedule the loop for a candidate that has something to do."""
    state = turn.state
    if state.role == CANDIDATE and state.voting is None and (state.raise_at_once or not state.pausing):
        turn.wait(MAINTAIN, *LOOP_MS)


def _on_maintain(turn: _Turn) -> None:
    """Raise the term if that is due, then ask for votes (``maintainAsCandidate``)."""
    state = turn.state
    if state.role != CANDIDATE or state.voting is not None or (state.pausing and not state.raise_at_once):
        return
    heard_larger = state.raise_at_once
    if state.last_result == WAIT_TO_VOTE_NEXT or heard_larger:
        _raise_term(turn)
    if heard_larger:
        # No vote in this pass: the member that raised the larger term asks first.
        turn.change(raise_at_once=False)
        _pause(turn, 0)
    else:
        _ask_for_votes(turn)


def _raise_term(turn: _Turn) -> None:
    """Raise the term (``MemberState#nextTerm``), the only place where a term grows and a vote is forgotten."""
    before = turn.state.term
    term = turn.member.rules.next_term(before, turn.state.largest_heard)
    turn.change(term=term, vote=None, largest_heard=-1, last_result=WAIT_TO_REVOTE)
    turn.say("DL_TERM_UP", from_term=before, term=term)
    turn.store_term()


def _pause(turn: _Turn, more_ms: int) -> None:
    """Wait for a random time before the next round, shorter while taking over leadership."""
    taking = turn.state.taking_term is not None and turn.state.taking_term == turn.state.term
    at_least, below = TAKING_PAUSE_MS if taking else PAUSE_MS
    turn.change(pausing=True)
    turn.wait(PAUSE, at_least + more_ms, below + more_ms)


def _on_pause(turn: _Turn) -> None:
    turn.change(pausing=False)
    _maintain(turn)


def _ask_for_votes(turn: _Turn) -> None:
    """Begin a round of voting in the present term, which may be an old one."""
    state, member = turn.state, turn.member
    request = VoteRequest(state.term, end_of(state.ledger), state.rounds + 1)
    tally = Tally(len(member.peers), state.term, state.term)
    voting = Voting(request.round, tally, turn.now_ms, frozenset(member.peers))
    turn.change(rounds=request.round, voting=voting)
    turn.wait(ROUND, *ROUND_WAIT_MS)
    reply = _vote(turn, member.name, request)
    _say_reply(turn, member.name, reply)
    for peer in member.others:
        turn.send(peer, request, RPC_TIMEOUT_MS)
    _count_vote(turn, member.name, reply)


def _on_vote_request(turn: _Turn, candidate: str, request: VoteRequest) -> None:
    turn.answer(_vote(turn, candidate, request))


def _vote(turn: _Turn, candidate: str, request: VoteRequest) -> VoteReply:
    """Answer a vote request of another member or of the candidate itself (``handleVote``)."""
    state, member = turn.state, turn.member
    taking_over = state.taking_term is not None and state.taking_term == state.term
    ballot = Ballot(
        *(member.name, candidate, member.peers, request.term, request.end),
        *(state.term, end_of(state.ledger), state.vote, state.leader, taking_over),
    )
    answer = vote_answer(member.rules.vote_checks, ballot)
    if answer == ACCEPT:
        turn.change(vote=candidate)
        turn.store_term()
    elif answer == TERM_NOT_READY:
        turn.change(raise_at_once=True)
        _become_candidate(turn, request.term)
    return VoteReply(answered_term(answer, ballot), answer, request.round)


def _on_vote_reply(turn: _Turn, voter: str, reply: VoteReply) -> None:
    _say_reply(turn, voter, reply)
    _count_vote(turn, voter, reply)


def _say_reply(turn: _Turn, voter: str, reply: VoteReply) -> None:
    turn.say(
        "DL_VOTE_REPLY", group=turn.member.group, candidate=turn.member.name, voter=voter, term=reply.term,
        answer=reply.answer,
    )  # fmt: skip


def _count_vote(turn: _Turn, voter: str, reply: VoteReply) -> None:
    """Count an answer once, in the round that requested it."""
    voting = turn.state.voting
    if voting is None or voting.number != reply.round or voter not in voting.waiting:
        return
    tally = voting.tally.counting(reply.answer, reply.term)
    turn.change(voting=replace(voting, tally=tally, waiting=voting.waiting - {voter}))
    if tally.is_over(turn.quorum):
        _close_round(turn)


def _on_round_over(turn: _Turn) -> None:
    if turn.state.voting is not None:
        _close_round(turn)


def _close_round(turn: _Turn) -> None:
    """Store the result of a round, even if the member has become follower meanwhile."""
    voting = turn.state.voting
    if voting is None:
        return
    tally = voting.tally
    row = round_outcome(turn.member.rules.round_results, tally, turn.quorum)
    turn.change(voting=None, last_result=row.result)
    if row.more_pause_ms is not None:
        _pause(turn, row.more_pause_ms)
    if tally.max_term > tally.term:
        _become_candidate(turn, tally.max_term)
    turn.by = "maintainer"
    turn.say(
        "DL_VOTE_PARSED", duration_ms=turn.now_ms - voting.began_ms, term=tally.term, member_count=tally.members,
        answered=tally.answered, accepted=tally.accepted, not_ready=tally.not_ready,
        bigger_ledger=tally.bigger_ledger, has_leader=tally.has_leader, max_term=tally.max_term, result=row.result,
    )  # fmt: skip
    if row.result == PASSED:
        turn.say("DL_ELECTED", term=tally.term)
        _become_leader(turn, tally.term)
    _maintain(turn)


# -- followers ---------------------------------------------------------------------------------------------------


def _on_heartbeat(turn: _Turn, sender: str, beat: Heartbeat) -> None:
    """``handleHeartBeat``."""
    state = turn.state
    code = beat_answer(Beat(sender, turn.member.peers, beat.term, state.term, state.leader))
    if code == SUCCESS:
        if state.leader is None:
            _become_follower(turn, sender)
        turn.change(heard_ms=turn.now_ms)
        silence_ms = turn.member.rules.silence_ms
        turn.wait(SILENCE, silence_ms, silence_ms + LOOP_MS[1])
    elif code == OTHER_LEADER:
        turn.say("DL_TWO_LEADERS", term=state.term, value=state.leader, peer=sender)
    elif code == NOT_READY:
        turn.change(raise_at_once=True)
        _become_candidate(turn, beat.term)
    turn.answer(HeartbeatReply(code, state.term, beat.beat))


def _on_silence(turn: _Turn) -> None:
    """Give up the leader after too long a silence, by its own clock (``maintainAsFollower``)."""
    state = turn.state
    if state.role != FOLLOWER:
        return
    left_ms = state.heard_ms + turn.member.rules.silence_ms - turn.now_ms
    if left_ms >= 0:
        turn.wait(SILENCE, left_ms, left_ms + LOOP_MS[1])
        return
    turn.say("DL_HB_TIMEOUT", last_heartbeat_ms=state.heard_ms, duration_ms=HEARTBEAT_INTERVAL_MS, peer=state.leader)
    _become_candidate(turn, state.term)


# -- leaders -------------------------------------------------------------------------------------------------------


def _on_beat(turn: _Turn) -> None:
    """Begin a round of heartbeats (``maintainAsLeader``)."""
    state = turn.state
    if state.role != LEADER or state.beating is not None:
        return
    number = state.beats + 1
    turn.change(beats=number, beating=Beating(number, turn.now_ms, frozenset(turn.member.others)))
    turn.wait(BEATS, HEARTBEAT_INTERVAL_MS, HEARTBEAT_INTERVAL_MS + LOOP_MS[1])
    turn.wait(BEAT, HEARTBEAT_INTERVAL_MS, HEARTBEAT_INTERVAL_MS + LOOP_MS[1])
    for peer in turn.member.others:
        turn.send(peer, Heartbeat(state.term, number), RPC_TIMEOUT_MS)
    _close_beats_if_over(turn)


def _on_heartbeat_reply(turn: _Turn, sender: str, reply: HeartbeatReply) -> None:
    beating = turn.state.beating
    if beating is None or beating.number != reply.beat or sender not in beating.waiting:
        return
    counted = replace(
        beating,
        waiting=beating.waiting - {sender},
        answered=beating.answered + 1,
        succeeded=beating.succeeded + (reply.code == SUCCESS),
        not_ready=beating.not_ready + (reply.code == NOT_READY),
        max_term=reply.term if reply.code == EXPIRED else beating.max_term,
        other_leader=beating.other_leader or reply.code == OTHER_LEADER,
    )
    turn.change(beating=counted)
    _close_beats_if_over(turn)


def _close_beats_if_over(turn: _Turn) -> None:
    beating, quorum = turn.state.beating, turn.quorum
    if beating is None:
        return
    enough = beating.succeeded >= quorum or beating.succeeded + beating.not_ready >= quorum
    if enough or beating.answered == len(turn.member.peers):
        _close_beats(turn, beating)


def _on_beats_over(turn: _Turn) -> None:
    if turn.state.beating is not None:
        _close_beats(turn, turn.state.beating)


def _close_beats(turn: _Turn, beating: Beating) -> None:
    """End a round of heartbeats (``sendHeartbeats``); with a quorum nothing else is checked, not even a larger term."""
    state, quorum = turn.state, turn.quorum
    turn.change(beating=None)
    turn.by = "maintainer"
    if turn.now_ms - beating.began_ms >= HEARTBEAT_INTERVAL_MS:
        turn.wait(BEAT, *LOOP_MS)
    if beating.succeeded >= quorum:
        turn.change(quorum_ms=turn.now_ms)
        return
    turn.say(
        "DL_HB_PARSED", duration_ms=turn.now_ms - beating.began_ms, term=state.term, answered=beating.answered,
        accepted=beating.succeeded, not_ready=beating.not_ready, has_leader=beating.other_leader,
        max_term=beating.max_term, member_count=len(turn.member.peers), last_heartbeat_ms=state.quorum_ms,
    )  # fmt: skip
    if beating.succeeded + beating.not_ready >= quorum:
        turn.wait(BEAT, *LOOP_MS)
    elif beating.max_term > state.term:
        _become_candidate(turn, beating.max_term)
    elif turn.member.rules.leader_gives_up and (
        beating.other_leader or turn.now_ms - state.quorum_ms > turn.member.rules.silence_ms
    ):
        _become_candidate(turn, state.term)


# -- entries -----------------------------------------------------------------------------------------------------


def _on_push_time(turn: _Turn) -> None:
    state = turn.state
    if state.role == LEADER:
        for peer in turn.member.others:
            turn.send(peer, Push(state.term, state.ledger, state.committed))
        turn.wait(PUSH, PUSH_MS, PUSH_MS + LOOP_MS[1])


def _on_push(turn: _Turn, sender: str, push: Push) -> None:
    """Adopt the leader's ledger, and cut off what the leader lacks."""
    state = turn.state
    if (state.role, state.leader, state.term) != (FOLLOWER, sender, push.term):
        turn.answer(PushReply(state.term, None))
        return
    common, end = common_end(state.ledger, push.ledger), end_of(state.ledger)[1]
    if common < end:
        turn.say(
            "DL_STORE_TRUNCATE", "entries", peer=sender, ledger_end=common + 1,
            start_offset=(common + 1) * ENTRY_BYTES, max_offset=(end + 1) * ENTRY_BYTES,
        )  # fmt: skip
    last = end_of(push.ledger)[1]
    if state.ledger != push.ledger:
        turn.change(ledger=push.ledger)
        turn.store_ledger()
    turn.change(committed=max(min(push.committed, last), min(state.committed, common)))
    turn.answer(PushReply(state.term, last))


def _on_push_reply(turn: _Turn, sender: str, reply: PushReply) -> None:
    state = turn.state
    if state.role != LEADER or reply.term != state.term or reply.last is None:
        return
    watermarks = tuple((peer, reply.last if peer == sender else last) for peer, last in state.watermarks)
    turn.change(watermarks=watermarks)
    _commit(turn)


def _on_write(turn: _Turn, write: Write) -> None:
    state, name = turn.state, turn.member.name
    if state.role != LEADER or state.handing_to is not None:
        return
    ledger = appended(state.ledger, state.term, name, write.count)
    last = end_of(ledger)[1]
    watermarks = tuple((peer, last if peer == name else mark) for peer, mark in state.watermarks)
    turn.change(ledger=ledger, watermarks=watermarks)
    turn.store_ledger()
    _commit(turn)


def _commit(turn: _Turn) -> None:
    """Commit the entries of the present term that a quorum holds."""
    state = turn.state
    quorum = turn.member.rules.commit_quorum(len(turn.member.peers))
    index = committed_index((last for _, last in state.watermarks), quorum)
    if index > state.committed and term_at(state.ledger, index) == state.term:
        turn.change(committed=index)


def _on_status(turn: _Turn) -> None:
    state = turn.state
    marks = state.watermarks if state.role == LEADER else ()
    turn.say(
        "DL_STATUS", "acks", role=state.role, term=state.term, ledger_begin=0 if state.ledger else -1,
        ledger_end=end_of(state.ledger)[1], committed=state.committed, watermarks=marks,
    )  # fmt: skip
    turn.wait(STATUS, STATUS_MS, STATUS_MS + LOOP_MS[1])


# -- handing over --------------------------------------------------------------------------------------------------


def _on_transfer(turn: _Turn, request: Transfer) -> None:
    """Begin a transfer (``handleLeadershipTransfer``): from now on the leader accepts no entries."""
    state = turn.state
    if state.role != LEADER or state.handing_to is not None or request.to not in turn.member.others:
        return
    last = end_of(state.ledger)[1]
    turn.say("DL_TRANSFER_REQ", transfer=_transfer(turn, request.to, turn.member.name, state.term, last))
    turn.change(handing_to=request.to)
    turn.send(request.to, TakeLeadership(state.term, last), RPC_TIMEOUT_MS)


def _transfer(turn: _Turn, to: str, leader: str, term: int, last: int) -> tuple[tuple[str, Any], ...]:
    return (("group", turn.member.group), ("leader", leader), ("to", to), ("term", term), ("last", last))


def _on_take_leadership(turn: _Turn, sender: str, request: TakeLeadership) -> None:
    """Stand for the next term as the transferee, with short pauses (``handleTakeLeadership``)."""
    state = turn.state
    follows = (state.role, state.leader, state.term) == (FOLLOWER, sender, request.term)
    if not follows or end_of(state.ledger)[1] < request.last:
        turn.answer(TakeReply(TAKE_LEADERSHIP_FAILED))
        return
    turn.change(taking_term=state.term + 1, handing_to=sender, raise_at_once=True)
    _become_candidate(turn, state.term + 1)
    turn.change(handing_to=sender)
    turn.answer(TakeReply(SUCCESS))


def _took_leadership(turn: _Turn, code: int) -> None:
    """End a transfer at the transferee."""
    state = turn.state
    if state.taking_term is None or state.handing_to is None:
        return
    last = end_of(state.ledger)[1]
    turn.say(
        "DL_TAKE_DONE", code=turn.member.rules.taken_over(code), term=state.term, role=state.role,
        transfer=_transfer(turn, turn.member.name, state.handing_to, state.taking_term - 1, last),
    )  # fmt: skip
    turn.change(taking_term=None, handing_to=None)


def _on_take_reply(turn: _Turn, _: str, reply: TakeReply) -> None:
    if reply.code != SUCCESS and turn.state.handing_to is not None and turn.state.role == LEADER:
        turn.change(handing_to=None)


# -- no answer -----------------------------------------------------------------------------------------------------


def _unanswered(turn: _Turn, to: str, message: Hashable, refused: bool) -> None:
    """Count a failed call as an answer without content."""
    if isinstance(message, VoteRequest):
        kind = "DL_RPC_VOTE_SEND_ERR" if refused else "DL_RPC_VOTE_TIMEOUT"
        _say_failed(turn, kind, to, message.term)
        turn.say("DL_VOTE_REPLY", term=-1, answer=UNKNOWN)
        _count_vote(turn, to, VoteReply(-1, UNKNOWN, message.round))
    elif isinstance(message, Heartbeat):
        _say_failed(turn, "DL_RPC_HB_SEND_ERR" if refused else "DL_RPC_HB_TIMEOUT", to, message.term)
        _on_heartbeat_reply(turn, to, HeartbeatReply(302, -1, message.beat))
    elif isinstance(message, TakeLeadership):
        _on_take_reply(turn, to, TakeReply(302))


def _say_failed(turn: _Turn, kind: str, to: str, term: int) -> None:
    turn.say(kind, group=turn.member.group, term=term, peer=to)


_HEARD: dict[type, Callable[[_Turn, str, Any], None]] = {
    VoteRequest: _on_vote_request,
    VoteReply: _on_vote_reply,
    Heartbeat: _on_heartbeat,
    HeartbeatReply: _on_heartbeat_reply,
    Push: _on_push,
    PushReply: _on_push_reply,
    TakeLeadership: _on_take_leadership,
    TakeReply: _on_take_reply,
}

_FIRED: dict[str, Callable[[_Turn], None]] = {
    MAINTAIN: _on_maintain,
    PAUSE: _on_pause,
    ROUND: _on_round_over,
    SILENCE: _on_silence,
    BEAT: _on_beat,
    BEATS: _on_beats_over,
    PUSH: _on_push_time,
    STATUS: _on_status,
}

_ASKED: dict[type, Callable[[_Turn, Any], None]] = {Write: _on_write, Transfer: _on_transfer}
