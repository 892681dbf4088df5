"""Raft as a machine that runs: one etcd member, one function a message.

Source: etcd-io/raft ``raft.go``, ``node.go``; etcd ``etcdserver``, ``rafthttp``, 3.4 and 3.5. A member's rules of
voting are in :mod:`election_core.protocols.raft.tables`. All messages are notices: an answer is a message of its own.
Left out are the bytes of entries: an append carries the whole log as stretches, and comparing, cutting and appending
are one step.

Members keep connections to each other. A connection is lost after five seconds of silence, or when the other end closes
it; a peer without a connection receives only attempts to connect.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.protocols.raft.tables import (
    ELECTION_MS,
    HEARTBEAT_MS,
    LOST,
    PENDING,
    PRE_VOTE,
    VOTE,
    WON,
    Ballot,
    count,
    is_granted,
)
from election_replay.election_core.simulate.ledger import (
    Ledger,
    Stretch,
    appended,
    committed_index,
    common_end,
    end_of,
    term_at,
)
from election_replay.election_core.simulate.machine import (
    Act,
    Asked,
    Closed,
    Fired,
    Heard,
    Input,
    Store,
    Transfer,
    Turn,
    Write,
)

FOLLOWER, PRE_CANDIDATE, CANDIDATE, LEADER = "FOLLOWER", "PRE_CANDIDATE", "CANDIDATE", "LEADER"

READ_TIMEOUT_MS = 5000
LINK_MS = 1667
"""The interval at which rafthttp uses an idle connection: a third of the time-out that gives it up."""
BOOT_TICKS = 8
"""The number of the ten election ticks that a starting member skips (``advanceTicks``)."""

ELECTION, BEAT, CHECK, LINK, READ = "election", "beat", "check", "link", "read"
"""Timers: election time-out, next heartbeats, check for a quorum, idle traffic, silent connections."""

STATE_FILE, LOG_FILE, CHANGES_FILE = "hardstate", "log", "changes"
BOOTSTRAP = "bootstrap"
"""The author of the first entries, which add the members, in term 1."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A member's rules of decision; a faulty member has one changed. The defaults are etcd's. ``lease_ms``: how long
    after a heartbeat no other leader may be elected (None: an election time-out)."""

    granted: Callable[[Ballot], bool] = is_granted
    count: Callable[[Iterable[bool], int], str] = count
    pre_vote: bool = True
    check_quorum: bool = True
    heartbeat_ms: int = HEARTBEAT_MS
    election_ms: int = ELECTION_MS
    lease_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a cluster founded by ``peers``. Without ``connections`` every message is sent, and silence goes
    unnoticed."""

    name: str
    peers: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)
    connections: bool = True

    @property
    def others(self) -> tuple[str, ...]:
        """All members but this one."""
        return tuple(peer for peer in self.peers if peer != self.name)


# -- messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Vote:
    """``MsgVote`` or ``MsgPreVote``; ``end`` is the end of the candidate's log, ``transfer`` overrides leases."""

    request: str
    term: int
    end: tuple[int, int]
    transfer: bool = False


@dataclass(frozen=True, slots=True)
class VoteAnswer:
    """``MsgVoteResp`` or ``MsgPreVoteResp``; ``request`` is the request's type."""

    request: str
    term: int
    granted: bool


@dataclass(frozen=True, slots=True)
class Append:
    """``MsgApp``: the leader's log and commit index."""

    term: int
    log: Ledger
    committed: int
    changes: tuple["Change", ...] = ()


@dataclass(frozen=True, slots=True)
class AppendAnswer:
    """``MsgAppResp``: the last index at which the follower's log equals the leader's; None gives only the term."""

    term: int
    last: int | None


@dataclass(frozen=True, slots=True)
class Beat:
    """``MsgHeartbeat``."""

    term: int
    committed: int


@dataclass(frozen=True, slots=True)
class BeatAnswer:
    """``MsgHeartbeatResp``."""

    term: int


@dataclass(frozen=True, slots=True)
class TimeoutNow:
    """``MsgTimeoutNow``: the leader asks a member that has its log to stand for election at once."""

    term: int


@dataclass(frozen=True, slots=True)
class Link:
    """Traffic that keeps an idle connection alive, or makes a new one."""


@dataclass(frozen=True, slots=True)
class Change:
    """The members from the entry ``index`` on, once it is committed; the leader sets the index."""

    voters: tuple[str, ...]
    learners: tuple[str, ...] = ()
    index: int = -1

    @property
    def everybody(self) -> tuple[str, ...]:
        """Voters and learners."""
        return (*self.voters, *self.learners)


@dataclass(frozen=True, slots=True)
class Leave:
    """The process was told to stop: a leader hands over first."""


_TYPES: dict[type, str] = {
    Append: "MsgApp", AppendAnswer: "MsgAppResp", Beat: "MsgHeartbeat", BeatAnswer: "MsgHeartbeatResp",
    TimeoutNow: "MsgTimeoutNow",
}  # fmt: skip


def type_of(message: Any) -> str:
    """Return the type of a message as etcd prints it."""
    if isinstance(message, Vote):
        return message.request
    return f"{message.request}Resp" if isinstance(message, VoteAnswer) else _TYPES[type(message)]


# -- state ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class State:
    """A member's state. ``term``, ``vote``, ``committed``, ``log`` and the ``changes`` of members are on disk.

    ``reset_ms`` is when the election timer was reset; ``marks`` are the peers' match indexes; ``active`` are peers that
    the leader heard since its last check; ``heard`` are the connections with the time of their last use.
    """

    term: int = 0
    vote: str | None = None
    log: Ledger = ()
    committed: int = -1
    changes: tuple[Change, ...] = ()
    role: str = FOLLOWER
    leader: str | None = None
    reset_ms: int = 0
    votes: tuple[tuple[str, bool], ...] = ()
    marks: tuple[tuple[str, int], ...] = ()
    active: frozenset[str] = frozenset()
    beat_ms: int = 0
    handing_to: str | None = None
    heard: tuple[tuple[str, int], ...] = ()
    reading: bool = False
    named: bool = False

    @property
    def end(self) -> tuple[int, int]:
        """Term and index of the last entry."""
        return end_of(self.log)

    def members(self, founders: tuple[str, ...]) -> Change:
        """Return the committed voters and learners; the first entries add the founders."""
        known = (Change(founders, index=len(founders) - 1), *self.changes)
        return next((change for change in reversed(known) if change.index <= self.committed), Change(()))


Step = tuple[State, tuple[Act, ...]]


class _Turn(Turn[Member, State]):
    """One step of a member."""

    jitter_ms = 10
    names_itself = True

    def __init__(self, member: Member, state: State, now_ms: int) -> None:
        super().__init__(member, state, now_ms, "raft")
        self.before = state

    @property
    def voters(self) -> tuple[str, ...]:
        """The voters of the present membership."""
        return self.state.members(self.member.peers).voters

    @property
    def others(self) -> tuple[str, ...]:
        """All members but this one; without a membership, the founders."""
        everybody = self.state.members(self.member.peers).everybody or self.member.peers
        return tuple(peer for peer in everybody if peer != self.member.name)

    def is_removed(self, peer: str) -> bool:
        """Return True when the peer was a member and no longer is."""
        now = self.state.members(self.member.peers)
        were = (Change(self.member.peers), *self.state.changes)
        return peer not in now.everybody and any(peer in each.everybody for each in were if each.index < now.index)

    def send(self, to: str, message: Hashable, answer_within_ms: int | None = None) -> None:
        connected = any(peer == to for peer, _ in self.state.heard)
        if connected or isinstance(message, Link) or not self.member.connections:
            super().send(to, message, answer_within_ms)

    def done(self) -> Step:
        self._tell_leader()
        self._tell_members()
        return self.state, (*self._stores(), *self.acts)

    def _stores(self) -> Iterable[Store]:
        """Yield the writes of log and vote, which precede any message that depends on them."""
        now, before = self.state, self.before
        if now.log != before.log:
            yield Store(LOG_FILE, now.log)
        if now.changes != before.changes:
            yield Store(CHANGES_FILE, now.changes)
        if (now.term, now.vote, now.committed) != (before.term, before.vote, before.committed):
            yield Store(STATE_FILE, (now.term, now.vote, now.committed))

    def _tell_members(self) -> None:
        """Print a change of members once it is committed; a removed member prints that and ends."""
        now, before = (state.members(self.member.peers) for state in (self.state, self.before))
        if now == before:
            return
        self.say("RAFT_MEMBERS", members=now.voters, learners=now.learners)
        for peer in sorted({*now.everybody} - {*before.everybody}):
            self.say("ETCD_MEMBER_ADDED", peer=peer)
        for peer in sorted({*before.everybody} - {*now.everybody}):
            self.say("ETCD_MEMBER_REMOVED", peer=peer)
            if peer == self.member.name:
                self.say("ETCD_REMOVED")
        if self.state.role == LEADER:
            known = dict(self.state.marks)
            self.change(marks=tuple((peer, known.get(peer, -1)) for peer in now.everybody))

    def _tell_leader(self) -> None:
        """Print a change of the known leader, once per turn (``node.run``)."""
        now, before = self.state, self.before.leader
        if now.leader == before:
            return
        if now.leader is None:
            self.say("RAFT_LEADER_LOST", peer=before, term=now.term)
        elif before is None:
            self.say("RAFT_LEADER_KNOWN", peer=now.leader, term=now.term)
        else:
            self.say("RAFT_LEADER_CHANGED", value_before=before, peer=now.leader, term=now.term)
        if now.leader is not None and not now.named:
            self.change(named=True)
            self.say("ETCD_MEMBER_NAMED")


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start a member's process: always as follower; a new member begins with the entries that add all members."""
    term, vote, committed = stored.get(STATE_FILE, (0, None, -1))
    log, changes = stored.get(LOG_FILE, ()), stored.get(CHANGES_FILE, ())
    known = State(term=term, vote=vote, committed=committed, log=log, changes=changes, reset_ms=now_ms)
    turn = _Turn(member, known, now_ms)
    if LOG_FILE in stored:
        turn.say("ETCD_MEMBER_RESTARTS", committed=committed + 1)
    else:
        turn.say("ETCD_MEMBER_STARTS")
    turn.say("RAFT_MEMBERS", members=(), learners=())
    turn.say("RAFT_TO_FOLLOWER", term=term)
    last_term, last = end_of(log)
    turn.say(
        "RAFT_START", members=(), term=term, committed=committed + 1, raft_index=0, ledger_end=last + 1,
        ledger_end_term=max(last_term, 0),
    )  # fmt: skip
    if LOG_FILE not in stored and member.name in member.peers:
        first = (Stretch(1, BOOTSTRAP, len(member.peers) - 1),)
        turn.change(term=1, log=first, committed=len(member.peers) - 1)
        turn.say("RAFT_TO_FOLLOWER", term=1)
    if turn.voters:
        for number, peer in enumerate(member.peers, 1):
            turn.say("RAFT_MEMBERS", members=member.peers[:number], learners=())
            turn.say("ETCD_MEMBER_ADDED", peer=peer)
        turn.before = replace(turn.before, committed=len(member.peers) - 1)
    _wait_for_a_leader(turn, BOOT_TICKS * member.rules.heartbeat_ms)
    turn.wait(LINK, 0, 50)
    return turn.done()


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a member."""
    turn = _Turn(member, state, now_ms)
    match incoming:
        case Heard(sender) if turn.is_removed(sender):
            pass
        case Heard(sender, message):
            _heard_of(turn, sender)
            if not isinstance(message, Link):
                _on_message(turn, sender, message)
        case Fired(timer):
            _FIRED[timer](turn)
        case Closed(peer):
            _lost(turn, peer, "unexpected EOF")
        case Asked(request):
            _ASKED[type(request)](turn, request)
    return turn.done()


# -- roles --------------------------------------------------------------------------------------------------------


def _wait_for_a_leader(turn: _Turn, waited_ms: int = 0) -> None:
    """Start the election timer of one to two time-outs, of which ``waited_ms`` are over."""
    least_ms = turn.member.rules.election_ms
    turn.wait(ELECTION, least_ms - waited_ms, 2 * least_ms - waited_ms)


def _reset(turn: _Turn, role: str, term: int) -> None:
    """Reset what every change of role forgets (``reset``); only a new term forgets the vote."""
    vote = turn.state.vote if term == turn.state.term else None
    turn.change(role=role, term=term, vote=vote, leader=None, votes=(), handing_to=None, reset_ms=turn.now_ms)
    _wait_for_a_leader(turn)


def _become_follower(turn: _Turn, term: int, leader: str | None) -> None:
    _reset(turn, FOLLOWER, term)
    turn.change(leader=leader)
    turn.say("RAFT_TO_FOLLOWER", term=term)


def _become_leader(turn: _Turn) -> None:
    """Become leader, with an empty entry of the new term, as only entries of its own term are committed
    (``becomeLeader``)."""
    term, name = turn.state.term, turn.member.name
    _reset(turn, LEADER, term)
    log = appended(turn.state.log, term, name, 1)
    marks = ((name, end_of(log)[1]), *((peer, -1) for peer in turn.others))
    turn.change(leader=name, log=log, marks=marks, active=frozenset(turn.voters), beat_ms=turn.now_ms)
    turn.say("RAFT_TO_LEADER", term=term)
    turn.wait(BEAT, turn.member.rules.heartbeat_ms)
    turn.wait(CHECK, turn.member.rules.election_ms)
    _send_log(turn)
    _commit(turn)


# -- candidates ---------------------------------------------------------------------------------------------------


def _on_election(turn: _Turn) -> None:
    """Start an election: no leader was heard for too long (``hup``)."""
    if turn.state.role == LEADER:
        return
    _wait_for_a_leader(turn)
    if turn.member.name not in turn.voters:
        return  # only voters may be candidates
    turn.say("RAFT_ELECTION", term=turn.state.term)
    turn.change(reset_ms=turn.now_ms)
    _campaign(turn, PRE_VOTE if turn.member.rules.pre_vote else VOTE)


def _campaign(turn: _Turn, request: str, *, transfer: bool = False) -> None:
    """Ask for votes; a pre-vote leaves the term unchanged."""
    if request == PRE_VOTE:
        turn.change(role=PRE_CANDIDATE, leader=None, votes=())
        turn.say("RAFT_TO_PRE_CANDIDATE", term=turn.state.term)
    else:
        _reset(turn, CANDIDATE, turn.state.term + 1)
        turn.change(vote=turn.member.name)
        turn.say("RAFT_TO_CANDIDATE", term=turn.state.term)
    result = _counted(turn, turn.member.name, request, granted=True)
    if result == WON:
        _won(turn, request)
        return
    term, end = turn.state.term, turn.state.end
    asked = Vote(request, term + (request == PRE_VOTE), end, transfer)
    for peer in turn.voters:
        if peer == turn.member.name:
            continue
        turn.say("RAFT_VOTE_SENT", request=request, peer=peer, term=term, **_end(end))
        turn.send(peer, asked)


def _counted(turn: _Turn, voter: str, request: str, *, granted: bool) -> str:
    """Count an answer, the first one of each voter (``poll``); return the result so far."""
    kind = "RAFT_VOTE_GRANTED" if granted else "RAFT_VOTE_REFUSED"
    turn.say(kind, request=f"{request}Resp", peer=voter, term=turn.state.term)
    if voter not in dict(turn.state.votes):
        turn.change(votes=tuple(sorted((*turn.state.votes, (voter, granted)))))
    return turn.member.rules.count((vote for _, vote in turn.state.votes), len(turn.voters))


def _won(turn: _Turn, request: str) -> None:
    if request == PRE_VOTE:
        _campaign(turn, VOTE)
    else:
        _become_leader(turn)


def _on_vote_answer(turn: _Turn, voter: str, answer: VoteAnswer) -> None:
    asks = {PRE_CANDIDATE: PRE_VOTE, CANDIDATE: VOTE}.get(turn.state.role)
    if asks != answer.request:
        return
    result = _counted(turn, voter, answer.request, granted=answer.granted)
    votes = [vote for _, vote in turn.state.votes]
    turn.say("RAFT_TALLY", request=f"{answer.request}Resp", accepted=sum(votes), count=len(votes) - sum(votes))
    if result == WON:
        _won(turn, answer.request)
    elif result == LOST:
        _become_follower(turn, turn.state.term, None)


# -- terms and votes ----------------------------------------------------------------------------------------------


def _on_message(turn: _Turn, sender: str, message: Any) -> None:
    """Settle the terms, then handle the message (``Step``)."""
    if message.term > turn.state.term and not _enter(turn, sender, message):
        return
    if message.term < turn.state.term:
        _on_old_term(turn, sender, message)
    else:
        _HEARD[type(message)](turn, sender, message)


def _enter(turn: _Turn, sender: str, message: Any) -> bool:
    """Adopt a message's larger term, unless the leader's lease protects the present one; return False to drop the
    message."""
    state = turn.state
    if isinstance(message, Vote):
        if not message.transfer and _has_lease(turn):
            left_ms = turn.member.rules.election_ms - (turn.now_ms - state.reset_ms)
            _say_vote(
                turn, "RAFT_VOTE_IGNORED", sender, message, count=max(left_ms // turn.member.rules.heartbeat_ms, 0)
            )
            return False
        if message.request == PRE_VOTE:
            return True
    if isinstance(message, VoteAnswer) and message.request == PRE_VOTE and message.granted:
        return True
    kind = type_of(message)
    turn.say("RAFT_TERM_HIGHER", from_term=state.term, request=kind, peer=sender, term=message.term)
    _become_follower(turn, message.term, sender if isinstance(message, Append | Beat) else None)
    return True


def _has_lease(turn: _Turn) -> bool:
    """Return True when the member leads, or has heard its leader, within an election time-out."""
    rules, state = turn.member.rules, turn.state
    return (
        rules.check_quorum
        and state.leader is not None
        and turn.now_ms - state.reset_ms < (rules.election_ms if rules.lease_ms is None else rules.lease_ms)
    )


def _on_old_term(turn: _Turn, sender: str, message: Any) -> None:
    """Handle a message of an older term; a granted pre-vote carries the next term, so it does not come here."""
    state, rules = turn.state, turn.member.rules
    if isinstance(message, Append | Beat) and (rules.check_quorum or rules.pre_vote):
        turn.send(sender, AppendAnswer(state.term, None))
    elif isinstance(message, Vote) and message.request == PRE_VOTE:
        _say_vote(turn, "RAFT_VOTE_REJECTED", sender, message)
        turn.send(sender, VoteAnswer(PRE_VOTE, state.term, granted=False))
    else:
        kind = type_of(message)
        turn.say("RAFT_TERM_LOWER", term=state.term, request=kind, peer=sender, from_term=message.term)


def _on_vote(turn: _Turn, candidate: str, asked: Vote) -> None:
    state = turn.state
    ballot = Ballot(
        *(asked.request, candidate, asked.term, asked.end, state.term, state.end, state.vote, state.leader)
    )  # fmt: skip
    if not turn.member.rules.granted(ballot):
        _say_vote(turn, "RAFT_VOTE_REJECTED", candidate, asked)
        turn.send(candidate, VoteAnswer(asked.request, state.term, granted=False))
        return
    _say_vote(turn, "RAFT_VOTE_CAST", candidate, asked)
    turn.send(candidate, VoteAnswer(asked.request, asked.term, granted=True))
    if asked.request == VOTE:
        turn.change(vote=candidate, reset_ms=turn.now_ms)
        _wait_for_a_leader(turn)


def _say_vote(turn: _Turn, kind: str, candidate: str, asked: Vote, **more: Any) -> None:
    state = turn.state
    theirs = {f"peer_{name}": value for name, value in _end(asked.end).items()}
    turn.say(
        kind, **_end(state.end), value_before=state.vote, request=asked.request, peer=candidate, **theirs,
        term=state.term, **more,
    )  # fmt: skip


def _end(end: tuple[int, int]) -> dict[str, Any]:
    """Return the end of a log as etcd prints it, whose first entry has index 1."""
    return {"ledger_end_term": max(end[0], 0), "ledger_end": end[1] + 1}


# -- followers ----------------------------------------------------------------------------------------------------


def _follow(turn: _Turn, leader: str) -> bool:
    """Take a sign of life of the leader of the present term; return False if the member leads that term itself."""
    if turn.state.role == LEADER:
        return False
    if turn.state.role != FOLLOWER:
        _become_follower(turn, turn.state.term, leader)
        return True
    turn.change(leader=leader, reset_ms=turn.now_ms)
    _wait_for_a_leader(turn)
    return True


def _on_beat(turn: _Turn, sender: str, beat: Beat) -> None:
    if _follow(turn, sender):
        _note_committed(turn, beat.committed)
        turn.send(sender, BeatAnswer(turn.state.term))


def _on_append(turn: _Turn, sender: str, append: Append) -> None:
    """Take over the leader's entries; only conflicting entries are cut off."""
    if not _follow(turn, sender):
        return
    common, (_, last) = common_end(turn.state.log, append.log), end_of(append.log)
    if common < last:
        if common < turn.state.end[1]:
            existing = term_at(turn.state.log, common + 1)
            conflicting = term_at(append.log, common + 1)
            turn.say("RAFT_CONFLICT", raft_index=common + 2, from_term=existing, term=conflicting)
        turn.change(log=append.log, changes=append.changes)
    _note_committed(turn, min(append.committed, last))
    turn.send(sender, AppendAnswer(turn.state.term, last))


def _note_committed(turn: _Turn, committed: int) -> None:
    known = min(committed, turn.state.end[1])
    if known > turn.state.committed:
        turn.change(committed=known)


# -- leaders ------------------------------------------------------------------------------------------------------


def _on_beat_time(turn: _Turn) -> None:
    """Send heartbeats; a leader that did not run for a while prints that."""
    state = turn.state
    if state.role != LEADER:
        return
    late_ms = turn.now_ms - state.beat_ms - 2 * turn.member.rules.heartbeat_ms
    for peer in turn.others:
        if late_ms > 0:
            turn.say("ETCD_HEARTBEAT_LATE", peer=peer, duration_ms=late_ms)
        mark = dict(state.marks)[peer]
        turn.send(peer, Beat(state.term, min(mark, state.committed)))
    turn.change(beat_ms=turn.now_ms)
    turn.wait(BEAT, turn.member.rules.heartbeat_ms)


def _on_check(turn: _Turn) -> None:
    """Check the quorum (``MsgCheckQuorum``): a majority must be heard within an election time-out."""
    state = turn.state
    if state.role != LEADER:
        return
    active = {*turn.voters} & {*state.active, turn.member.name}
    if turn.member.rules.check_quorum and len(active) < majority(len(turn.voters)):
        turn.say("RAFT_NO_QUORUM")
        _become_follower(turn, state.term, None)
        return
    turn.change(active=frozenset(), handing_to=None, reset_ms=turn.now_ms)
    turn.wait(CHECK, turn.member.rules.election_ms)


def _on_beat_answer(turn: _Turn, sender: str, _: BeatAnswer) -> None:
    if turn.state.role != LEADER or sender not in turn.others:
        return
    turn.change(active=turn.state.active | {sender})
    if dict(turn.state.marks)[sender] < turn.state.end[1]:
        turn.send(sender, _append(turn.state))


def _on_append_answer(turn: _Turn, sender: str, answer: AppendAnswer) -> None:
    state = turn.state
    if state.role != LEADER or sender not in turn.others:
        return
    turn.change(active=state.active | {sender})
    if answer.last is None or answer.last <= dict(state.marks)[sender]:
        return
    turn.change(marks=_marked(state.marks, sender, answer.last))
    _commit(turn)
    if state.handing_to == sender and answer.last >= turn.state.end[1]:
        turn.send(sender, TimeoutNow(state.term))


def _marked(marks: tuple[tuple[str, int], ...], name: str, last: int) -> tuple[tuple[str, int], ...]:
    return tuple((peer, last if peer == name else mark) for peer, mark in marks)


def _append(state: State) -> Append:
    return Append(state.term, state.log, state.committed, state.changes)


def _send_log(turn: _Turn) -> None:
    for peer in turn.others:
        turn.send(peer, _append(turn.state))


def _commit(turn: _Turn) -> None:
    """Commit the entries of the present term that a majority holds."""
    state = turn.state
    index = committed_index((mark for peer, mark in state.marks if peer in turn.voters), majority(len(turn.voters)))
    if index > state.committed and term_at(state.log, index) == state.term:
        turn.change(committed=index)


def _on_write(turn: _Turn, write: Write) -> None:
    state, name = turn.state, turn.member.name
    if state.role == LEADER and state.handing_to is None:
        log = appended(state.log, state.term, name, write.count)
        turn.change(log=log, marks=_marked(state.marks, name, end_of(log)[1]))
        _send_log(turn)
        _commit(turn)


def _on_change(turn: _Turn, change: Change) -> None:
    """Append an entry that changes the members, one at a time."""
    state = turn.state
    if state.role == LEADER and all(earlier.index <= state.committed for earlier in state.changes):
        turn.change(changes=(*state.changes, replace(change, index=state.end[1] + 1)))
        _on_write(turn, Write(1))


# -- handing over -------------------------------------------------------------------------------------------------


def _on_transfer(turn: _Turn, request: Transfer) -> None:
    """Begin a transfer (``MsgTransferLeader``): from now on the leader accepts no entries."""
    state, to = turn.state, request.to
    if state.role != LEADER or state.handing_to is not None or to not in turn.voters:
        return
    turn.say("RAFT_TRANSFER", term=state.term, peer=to)
    turn.change(handing_to=to, reset_ms=turn.now_ms)
    if dict(state.marks)[to] == state.end[1]:
        turn.send(to, TimeoutNow(state.term))
    else:
        turn.send(to, _append(state))


def _on_leave(turn: _Turn, _: Leave) -> None:
    """Hand over at a stop (``TransferLeadership``), to a member with a connection."""
    connected = [peer for peer, _ in turn.state.heard if peer in turn.voters]
    if turn.state.role == LEADER and connected:
        _on_transfer(turn, Transfer(min(connected)))
    else:
        turn.say("ETCD_TRANSFER_SKIPPED", value_before=turn.state.leader)


def _on_timeout_now(turn: _Turn, sender: str, _: TimeoutNow) -> None:
    if turn.state.role == FOLLOWER:
        turn.say("RAFT_TRANSFER_TAKEN", term=turn.state.term, peer=sender)
        _campaign(turn, VOTE, transfer=True)


# -- connections --------------------------------------------------------------------------------------------------


def _heard_of(turn: _Turn, sender: str) -> None:
    """Note that a connection works, as something arrived."""
    if not turn.member.connections:
        return
    rest = tuple(heard for heard in turn.state.heard if heard[0] != sender)
    if len(rest) == len(turn.state.heard):
        turn.say("ETCD_PEER_ACTIVE", peer=sender)
        turn.send(sender, Link())
    if not turn.state.reading:
        turn.wait(READ, READ_TIMEOUT_MS)
    turn.change(heard=(*rest, (sender, turn.now_ms)), reading=True)


def _on_read(turn: _Turn) -> None:
    """Give up connections that were silent for too long."""
    for peer, heard_ms in turn.state.heard:
        if turn.now_ms - heard_ms >= READ_TIMEOUT_MS:
            _lost(turn, peer, "i/o timeout")
    left = [READ_TIMEOUT_MS - (turn.now_ms - heard_ms) for _, heard_ms in turn.state.heard]
    turn.change(reading=bool(left))
    if left:
        turn.wait(READ, max(min(left), 0))


def _lost(turn: _Turn, peer: str, why: str) -> None:
    rest = tuple(heard for heard in turn.state.heard if heard[0] != peer)
    if len(rest) < len(turn.state.heard):
        turn.change(heard=rest)
        turn.say("ETCD_PEER_LOST", peer=peer, result=why)
        turn.say("ETCD_PEER_INACTIVE", peer=peer, result=why)


def _on_link(turn: _Turn) -> None:
    """Keep idle connections alive, and try to make missing ones."""
    busy = {turn.state.leader} if turn.state.role == FOLLOWER else set()
    connected = {peer for peer, _ in turn.state.heard}
    for peer in turn.others:
        leads_here = turn.state.role == LEADER or peer in busy
        if peer not in connected or not leads_here:
            turn.send(peer, Link())
    turn.wait(LINK, LINK_MS)


_HEARD: dict[type, Callable[[_Turn, str, Any], None]] = {
    Vote: _on_vote,
    VoteAnswer: _on_vote_answer,
    Append: _on_append,
    AppendAnswer: _on_append_answer,
    Beat: _on_beat,
    BeatAnswer: _on_beat_answer,
    TimeoutNow: _on_timeout_now,
}

_FIRED: dict[str, Callable[[_Turn], None]] = {
    ELECTION: _on_election,
    BEAT: _on_beat_time,
    CHECK: _on_check,
    LINK: _on_link,
    READ: _on_read,
}

_ASKED: dict[type, Callable[[_Turn, Any], None]] = {
    Write: _on_write,
    Change: _on_change,
    Transfer: _on_transfer,
    Leave: _on_leave,
}

__all__ = ["CANDIDATE", "FOLLOWER", "LEADER", "PENDING", "PRE_CANDIDATE", "Member", "Rules", "State", "start", "step"]
