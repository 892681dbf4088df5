"""ZAB as a machine that runs: one ZooKeeper server, one function a message.

Source: apache/zookeeper 3.8 ``FastLeaderElection``, ``QuorumPeer``, ``Leader``, ``LearnerHandler``, ``Follower``. The
rules of voting are in :mod:`election_core.protocols.zab.tables`. All messages are notices. Left out are the bytes of
entries (a proposal carries the whole log as stretches), election connections, which any server may open to any other,
and observers.

A learner's connection to its leader is a session with a number from each of them; messages of older sessions are
ignored.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.protocols.zab.tables import (
    INIT_LIMIT,
    SYNC_LIMIT,
    TICK_MS,
    Vote,
    is_ahead,
    is_better,
    zxid_of,
)
from election_replay.election_core.simulate.ledger import Ledger, appended, committed_index, common_end, end_of, term_at
from election_replay.election_core.simulate.machine import Act, Closed, Fired, Heard, Input, Store, Turn, Write
from election_replay.election_core.simulate.machine import Asked as AskedFor

LOOKING, FOLLOWING, LEADING = "LOOKING", "FOLLOWING", "LEADING"
DISCOVERY, SYNCHRONIZATION, BROADCAST = "discovery", "synchronization", "broadcast"

FIRST_WAIT_MS, LONGEST_WAIT_MS = 200, 60_000
FINALIZE_MS = 200
RETRY_MS = 200

NOTIFY, FINALIZE, RETRY, LIMIT, SILENCE, PING = "notify", "finalize", "retry", "limit", "silence", "ping"
"""Timers: no vote heard, no better vote came, next try to reach the leader, initLimit of a leader not yet established,
a learner's time-out for its leader, the leader's next ping."""

EPOCH_FILE, LOG_FILE = "epochs", "log"


@dataclass(frozen=True, slots=True)
class Rules:
    """A server's rules of decision; a faulty server has one changed. The defaults are ZooKeeper's."""

    better: Callable[[Vote, Vote], bool] = is_better
    ahead: Callable[[tuple[int, int], tuple[int, int]], bool] = is_ahead
    quorum: Callable[[int], int] = majority
    gives_up: bool = True
    tick_ms: int = TICK_MS

    @property
    def init_ms(self) -> int:
        """The time in ms for a new leader and its followers to synchronise."""
        return INIT_LIMIT * self.tick_ms

    @property
    def sync_ms(self) -> int:
        """The silence in ms that an established leader and its followers tolerate."""
        return SYNC_LIMIT * self.tick_ms


@dataclass(frozen=True, slots=True)
class Member:
    """One server of an ensemble; its id is its position among the peers, from 1. Without ``connections`` it does not
    notice when another's process ends."""

    name: str
    peers: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)
    connections: bool = True

    @property
    def sid(self) -> int:
        """The server's id."""
        return self.peers.index(self.name) + 1

    @property
    def others(self) -> tuple[str, ...]:
        """All servers but this one."""
        return tuple(peer for peer in self.peers if peer != self.name)

    @property
    def quorum(self) -> int:
        """The number of servers in a quorum."""
        return self.rules.quorum(len(self.peers))


# -- messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notification:
    """A vote, its round, and the sender's state."""

    vote: Vote
    round: int
    state: str


Session = tuple[int, int]
"""(the learner's count of followed leaders, the leader's count of elections won)."""


@dataclass(frozen=True, slots=True)
class FollowerInfo:
    """A learner connects; ``accepted`` is the largest epoch that it promised."""

    session: int
    accepted: int


@dataclass(frozen=True, slots=True)
class LeaderInfo:
    """The winner proposes an epoch."""

    session: Session
    epoch: int


@dataclass(frozen=True, slots=True)
class AckEpoch:
    """A learner promises the epoch and sends its own (epoch, zxid); None if it had promised the epoch before."""

    session: Session
    has: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class NewLeader:
    """The leader's log, to be adopted before its epoch."""

    session: Session
    epoch: int
    log: Ledger


@dataclass(frozen=True, slots=True)
class AckNewLeader:
    """The learner has the leader's log and its epoch."""

    session: Session


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The leader is established."""

    session: Session


@dataclass(frozen=True, slots=True)
class Proposal:
    """The leader's log and commit index; without new entries it is a ping."""

    session: Session
    log: Ledger
    committed: int


@dataclass(frozen=True, slots=True)
class Ack:
    """The end of the learner's log."""

    session: Session
    last: int


@dataclass(frozen=True, slots=True)
class Bye:
    """One end of a session closes the connection."""

    session: Session


# -- state ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ballot:
    """The last notification of a server."""

    vote: Vote
    round: int
    state: str


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner, as known to its leader."""

    session: Session
    accepted: int
    heard_ms: int
    asked: bool = False
    answered: bool = False
    promised: bool = False
    synced: bool = False
    last: int = -1


Ballots = tuple[tuple[str, Ballot], ...]
Learners = tuple[tuple[str, Learner], ...]


NO_VOTE = Vote(0, 0, 0)


@dataclass(frozen=True, slots=True)
class State:
    """A server's state. ``accepted``, ``current`` and ``log`` are on disk."""

    accepted: int = 0
    current: int = 0
    log: Ledger = ()
    role: str = LOOKING
    round: int = 0
    vote: Vote = NO_VOTE
    initial: Vote = NO_VOTE
    heard: Ballots = ()
    established: Ballots = ()
    wait_ms: int = FIRST_WAIT_MS
    began_ms: int = 0
    finalizing: bool = False
    leader: str | None = None
    phase: str | None = None
    epoch: int | None = None
    session: int = 0
    wins: int = 0
    joined: Session | None = None
    proposed: bool = False
    heard_ms: int = 0
    learners: Learners = ()
    committed: int = -1
    connected: frozenset[str] = frozenset()


Step = tuple[State, tuple[Act, ...]]


def last_zxid(log: Ledger) -> int:
    """Return the zxid of the last entry: its epoch, and its position in the epoch."""
    if not log:
        return 0
    before = log[-2].last if len(log) > 1 else -1
    return zxid_of(log[-1].term, log[-1].last - before)


class _Turn(Turn[Member, State]):
    """One step of a server."""

    jitter_ms = 10
    names_itself = True

    def __init__(self, member: Member, state: State, now_ms: int) -> None:
        super().__init__(member, state, now_ms, "peer")
        self.before = state

    def learner(self, name: str, **values: Any) -> Learner:
        """Replace values of a learner; return it."""
        known = replace(dict(self.state.learners)[name], **values)
        rest = (entry for entry in self.state.learners if entry[0] != name)
        self.change(learners=tuple(sorted((*rest, (name, known)), key=lambda entry: entry[0])))
        return known

    def done(self) -> Step:
        return self.state, (*self._stores(), *self.acts)

    def _stores(self) -> Iterable[Store]:
        """Yield the writes of epochs and entries, which precede any message that depends on them."""
        now, before = self.state, self.before
        if now.log != before.log:
            yield Store(LOG_FILE, now.log)
        if (now.accepted, now.current) != (before.accepted, before.current):
            yield Store(EPOCH_FILE, (now.accepted, now.current))


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start a server's process: it looks for a leader, in round 1."""
    accepted, current = stored.get(EPOCH_FILE, (0, 0))
    turn = _Turn(member, State(accepted=accepted, current=current, log=stored.get(LOG_FILE, ())), now_ms)
    turn.say("ZK_START", by="main")
    for setting, value in (("tickTime", member.rules.tick_ms), ("initLimit", INIT_LIMIT), ("syncLimit", SYNC_LIMIT)):
        turn.say("ZK_SETTING", by="settings", setting=setting, value=value)
    _look(turn)
    return turn.done()


def decided(member: Member, state: State, now_ms: int, leader: str) -> Step:
    """End an election for a server: it leads, or follows ``leader``."""
    turn = _Turn(member, state, now_ms)
    _decide(turn, replace(state.initial, leader=member.peers.index(leader) + 1))
    return turn.done()


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a server."""
    turn = _Turn(member, state, now_ms)
    match incoming:
        case Heard(sender, Notification() as notification):
            if member.connections:
                turn.change(connected=turn.state.connected | {sender})
            _on_notification(turn, sender, notification)
        case Heard(sender, message):
            _heard(turn, sender, message)
        case Fired(timer):
            _FIRED[timer](turn)
        case Closed(peer):
            _closed(turn, peer)
        case AskedFor(Write() as write):
            _on_write(turn, write)
    return turn.done()


# -- looking for a leader -------------------------------------------------------------------------------------------


def _look(turn: _Turn) -> None:
    """Begin a new round with a vote for itself (``lookForLeader``)."""
    state = turn.state
    initial = Vote(state.current, last_zxid(state.log), turn.member.sid)
    turn.change(
        role=LOOKING, round=state.round + 1, vote=initial, initial=initial, heard=(), established=(), finalizing=False,
        wait_ms=FIRST_WAIT_MS, began_ms=turn.now_ms, leader=None, phase=None, epoch=None, learners=(),
    )  # fmt: skip
    turn.say("ZK_LOOKING")
    turn.say("ZK_ELECTION", zxid=initial.zxid)
    turn.wait(NOTIFY, FIRST_WAIT_MS)
    _send_votes(turn)


def _send_votes(turn: _Turn) -> None:
    """Send the vote to all servers, itself included."""
    notification = Notification(turn.state.vote, turn.state.round, LOOKING)
    for peer in turn.member.others:
        turn.send(peer, notification)
    _say_vote(turn, turn.member.name, notification)
    _count(turn, turn.member.name, notification)


def _say_vote(turn: _Turn, sender: str, heard: Notification) -> None:
    turn.say(
        "ZK_VOTE", by="votes", role=turn.state.role, peer=sender, result=heard.state, value=heard.vote.leader,
        count=heard.round, term=heard.vote.epoch, zxid=heard.vote.zxid,
    )  # fmt: skip


def _on_notification(turn: _Turn, sender: str, heard: Notification) -> None:
    """Take a vote: a server that looks for a leader weighs it; any other server answers if the sender is looking."""
    state = turn.state
    _say_vote(turn, sender, heard)
    if state.role != LOOKING:
        if heard.state == LOOKING:
            turn.send(sender, Notification(state.vote, state.round, state.role))
        return
    turn.wait(NOTIFY, state.wait_ms)
    if heard.state == LOOKING:
        if heard.round < state.round:
            turn.send(sender, Notification(state.vote, state.round, LOOKING))
        else:
            _weigh(turn, sender, heard)
    else:
        _join(turn, sender, heard)


def _weigh(turn: _Turn, sender: str, heard: Notification) -> None:
    """Weigh a vote of this round, or of a later one, which restarts the election for this server."""
    state, better = turn.state, turn.member.rules.better
    if heard.round > state.round:
        vote = heard.vote if better(heard.vote, state.initial) else state.initial
        turn.change(round=heard.round, heard=(), vote=vote, finalizing=False)
        _send_votes(turn)
    elif better(heard.vote, state.vote):
        turn.change(vote=heard.vote, finalizing=False)
        _send_votes(turn)
    _count(turn, sender, heard)


def _put(ballots: Ballots, sender: str, heard: Notification) -> Ballots:
    rest = (entry for entry in ballots if entry[0] != sender)
    return tuple(sorted((*rest, (sender, Ballot(heard.vote, heard.round, heard.state))), key=lambda entry: entry[0]))


def _count(turn: _Turn, sender: str, heard: Notification) -> None:
    """Count a vote; with a quorum for its own vote the server waits a moment for a better one."""
    turn.change(heard=_put(turn.state.heard, sender, heard))
    if _has_quorum(turn) and not turn.state.finalizing:
        turn.change(finalizing=True)
        turn.wait(FINALIZE, FINALIZE_MS)


def _has_quorum(turn: _Turn) -> bool:
    state = turn.state
    same = sum(1 for _, ballot in state.heard if (ballot.vote, ballot.round) == (state.vote, state.round))
    return same >= turn.member.quorum


def _on_finalize(turn: _Turn) -> None:
    if turn.state.role == LOOKING and turn.state.finalizing:
        turn.change(finalizing=False)
        if _has_quorum(turn):
            _decide(turn, turn.state.vote)


def _on_notify(turn: _Turn) -> None:
    """Send the vote again after a time without votes, and double that time."""
    if turn.state.role != LOOKING:
        return
    wait_ms = min(2 * turn.state.wait_ms, LONGEST_WAIT_MS)
    turn.change(wait_ms=wait_ms)
    turn.say("ZK_VOTE_TIMEOUT", by="election", duration_ms=wait_ms)
    turn.wait(NOTIFY, wait_ms)
    _send_votes(turn)


def _join(turn: _Turn, sender: str, heard: Notification) -> None:
    """Join a leader that others follow, if a quorum follows it and it says itself that it leads."""
    state = turn.state
    if heard.round == state.round:
        turn.change(heard=_put(state.heard, sender, heard))
        if _follows(turn, turn.state.heard, heard):
            _decide(turn, heard.vote)
            return
    turn.change(established=_put(turn.state.established, sender, heard))
    if _follows(turn, turn.state.established, heard):
        turn.change(round=heard.round)
        _decide(turn, heard.vote)


def _follows(turn: _Turn, ballots: Ballots, heard: Notification) -> bool:
    """Return True when a quorum is for the same leader and epoch, and that leader leads (``checkLeader``)."""
    leader = turn.member.peers[heard.vote.leader - 1]
    same = [name for name, ballot in ballots if _alike(ballot, heard)]
    if leader == turn.member.name:
        leads = heard.round == turn.state.round
    else:
        leads = any(name == leader and ballot.state == LEADING for name, ballot in ballots)
    return leads and len(same) >= turn.member.quorum


def _alike(ballot: Ballot, heard: Notification) -> bool:
    """Return True when two votes are equal; by leader and epoch alone, if neither server is looking for a leader."""
    if LOOKING in (ballot.state, heard.state):
        return (ballot.vote, ballot.round) == (heard.vote, heard.round)
    return (ballot.vote.leader, ballot.vote.epoch) == (heard.vote.leader, heard.vote.epoch)


def _decide(turn: _Turn, vote: Vote) -> None:
    """End the election for this server."""
    turn.change(vote=vote, finalizing=False)
    took_ms = turn.now_ms - turn.state.began_ms
    if vote.leader == turn.member.sid:
        _lead(turn, took_ms)
    else:
        _follow(turn, turn.member.peers[vote.leader - 1], took_ms)


# -- leading ------------------------------------------------------------------------------------------------------


def _lead(turn: _Turn, took_ms: int) -> None:
    """Take the role of the elected server, which leads nobody until a quorum has promised its epoch and has its log."""
    turn.change(role=LEADING, leader=turn.member.name, learners=(), epoch=None, wins=turn.state.wins + 1)
    turn.say("ZK_LEADING")
    turn.say("ZK_ELECTED", by="leader", duration_ms=took_ms)
    _enter(turn, DISCOVERY)
    turn.wait(LIMIT, turn.member.rules.init_ms)
    turn.wait(PING, turn.member.rules.tick_ms // 2)
    _propose_epoch(turn)


def _enter(turn: _Turn, phase: str) -> None:
    turn.change(phase=phase)
    turn.say("ZK_STATE", role=turn.state.role, phase=phase)


def _on_follower_info(turn: _Turn, sender: str, info: FollowerInfo) -> None:
    if turn.state.role != LEADING:
        return
    known = dict(turn.state.learners).get(sender)
    if known is not None and known.session[0] >= info.session:
        return
    rest = (entry for entry in turn.state.learners if entry[0] != sender)
    learner = Learner((info.session, turn.state.wins), info.accepted, turn.now_ms)
    turn.change(learners=tuple(sorted((*rest, (sender, learner)), key=lambda entry: entry[0])))
    _propose_epoch(turn)


def _propose_epoch(turn: _Turn) -> None:
    """Propose an epoch one above all that a quorum has promised (``getEpochToPropose``); later learners get the
    same."""
    state = turn.state
    if state.epoch is None:
        if len(state.learners) + 1 < turn.member.quorum:
            return
        epoch = max(state.accepted, *(known.accepted for _, known in state.learners), -1) + 1
        turn.change(epoch=epoch, accepted=epoch)
        _check_promises(turn)
    for name, learner in turn.state.learners:
        if not learner.asked:
            turn.learner(name, asked=True)
            turn.send(name, LeaderInfo(learner.session, turn.state.epoch or 0))


def _on_ack_epoch(turn: _Turn, sender: str, ack: AckEpoch) -> None:
    state = turn.state
    if state.phase != DISCOVERY:
        _synchronize(turn, sender)
    elif ack.has is not None and turn.member.rules.ahead(ack.has, (state.current, last_zxid(state.log))):
        _drop(turn, sender)
    else:
        turn.learner(sender, answered=True, promised=ack.has is not None)
        _check_promises(turn)


def _check_promises(turn: _Turn) -> None:
    state = turn.state
    promised = sum(1 for _, learner in state.learners if learner.promised)
    if state.phase == DISCOVERY and state.epoch is not None and promised + 1 >= turn.member.quorum:
        turn.change(current=state.epoch, vote=replace(state.vote, epoch=state.epoch))
        _enter(turn, SYNCHRONIZATION)
        for name, learner in state.learners:
            if learner.answered:
                _synchronize(turn, name)
        _check_established(turn)


def _synchronize(turn: _Turn, name: str) -> None:
    learner = dict(turn.state.learners)[name]
    turn.send(name, NewLeader(learner.session, turn.state.epoch or 0, turn.state.log))


def _on_ack_new_leader(turn: _Turn, sender: str, _: AckNewLeader) -> None:
    learner = turn.learner(sender, synced=True, last=end_of(turn.state.log)[1])
    if turn.state.phase == BROADCAST:
        turn.send(sender, UpToDate(learner.session))
    else:
        _check_established(turn)


def _check_established(turn: _Turn) -> None:
    """Establish the leader once a quorum has its log and epoch (``startZkServer``)."""
    state = turn.state
    supporters = _in_sync(turn)
    if state.phase != SYNCHRONIZATION or len(supporters) < turn.member.quorum:
        return
    turn.say("ZK_ESTABLISHED", by="leader", members=supporters, zxid=zxid_of(state.epoch or 0, 0))
    _enter(turn, BROADCAST)
    for name, learner in state.learners:
        if learner.synced:
            turn.send(name, UpToDate(learner.session))


def _on_limit(turn: _Turn) -> None:
    """Start a new election if no quorum joined the winner in time."""
    state = turn.state
    if state.role != LEADING or state.phase == BROADCAST:
        return
    if state.phase == DISCOVERY:
        turn.say("ZK_ROLE_ERROR", decision="DISCOVERY_TIMEOUT" if state.epoch is None else "EPOCH_ACK_TIMEOUT")
        _give_up(turn, "FORCED")
    else:
        _give_up(turn, "NO_QUORUM_IN_SYNC", members=_in_sync(turn))


def _on_ping(turn: _Turn) -> None:
    """Ping all learners in sync, twice a tick; a leader without a quorum of answers shuts down."""
    state = turn.state
    if state.role != LEADING:
        return
    turn.wait(PING, turn.member.rules.tick_ms // 2)
    for name, learner in state.learners:
        if turn.now_ms - learner.heard_ms > turn.member.rules.sync_ms and learner.synced:
            _drop(turn, name, "SocketTimeoutException: Read timed out")
        elif learner.synced:
            turn.send(name, Proposal(learner.session, state.log, state.committed))
    synced = _in_sync(turn)
    if state.phase == BROADCAST and turn.member.rules.gives_up and len(synced) < turn.member.quorum:
        _give_up(turn, "QUORUM_LOST", members=synced)


def _in_sync(turn: _Turn) -> tuple[str, ...]:
    """Return the leader and the learners that have its log."""
    synced = (name for name, learner in turn.state.learners if learner.synced)
    return tuple(sorted((turn.member.name, *synced)))


def _drop(turn: _Turn, name: str, why: str = "EOFException") -> None:
    """Close the connection to a silent learner, or note that a learner closed it (``LearnerHandler#run``)."""
    turn.say("ZK_LEARNER_ERROR", by="learner handler", peer=name, exception=why)
    turn.send(name, Bye(dict(turn.state.learners)[name].session))
    turn.change(learners=tuple(entry for entry in turn.state.learners if entry[0] != name))


def _give_up(turn: _Turn, decision: str, **values: Any) -> None:
    turn.say("ZK_LEADER_SHUTDOWN", by="leader", decision=decision, **values)
    for name, learner in turn.state.learners:
        turn.send(name, Bye(learner.session))
    turn.say("ZK_TO_LOOKING")
    _look(turn)


def _on_write(turn: _Turn, write: Write) -> None:
    state, name = turn.state, turn.member.name
    if state.role == LEADING and state.phase == BROADCAST:
        turn.change(log=appended(state.log, state.epoch or 0, name, write.count))
        for peer, learner in state.learners:
            if learner.synced:
                turn.send(peer, Proposal(learner.session, turn.state.log, state.committed))
        _commit(turn)


def _on_ack(turn: _Turn, sender: str, ack: Ack) -> None:
    turn.learner(sender, last=ack.last)
    _commit(turn)


def _commit(turn: _Turn) -> None:
    """Commit what a quorum has, in the leader's own epoch."""
    state = turn.state
    ends = (end_of(state.log)[1], *(learner.last for _, learner in state.learners if learner.synced))
    index = committed_index(ends, turn.member.quorum)
    if index > state.committed and term_at(state.log, index) == state.epoch:
        turn.change(committed=index)


# -- following ----------------------------------------------------------------------------------------------------


def _follow(turn: _Turn, leader: str, took_ms: int) -> None:
    turn.change(role=FOLLOWING, leader=leader, session=turn.state.session + 1, joined=None, proposed=False)
    turn.change(heard_ms=turn.now_ms)
    turn.say("ZK_FOLLOWING")
    turn.say("ZK_FOLLOWS", by="follower", duration_ms=took_ms)
    _enter(turn, DISCOVERY)
    turn.wait(SILENCE, turn.member.rules.init_ms)
    turn.send(leader, FollowerInfo(turn.state.session, turn.state.accepted))
    turn.wait(RETRY, RETRY_MS)


def _on_retry(turn: _Turn) -> None:
    """Connect again: the leader may not know yet that it was elected."""
    state = turn.state
    if state.role == FOLLOWING and state.joined is None and state.leader is not None:
        turn.send(state.leader, FollowerInfo(state.session, state.accepted))
        turn.wait(RETRY, RETRY_MS)


def _on_leader_info(turn: _Turn, sender: str, info: LeaderInfo) -> None:
    """Promise a larger epoch; an epoch promised before does not count again, a smaller one is refused."""
    state = turn.state
    if state.joined is not None:
        return
    turn.change(joined=info.session)
    turn.say("ZK_LEADER_REACHED", by="connector", peer=sender)
    if info.epoch < state.accepted:
        turn.say("ZK_EPOCH_REFUSED", by="follower", from_term=info.epoch, term=state.accepted)
        _leave(turn, None)
        return
    has = (state.current, last_zxid(state.log)) if info.epoch > state.accepted else None
    turn.change(accepted=info.epoch, epoch=info.epoch)
    _enter(turn, SYNCHRONIZATION)
    turn.send(sender, AckEpoch(info.session, has))


def _on_new_leader(turn: _Turn, sender: str, new: NewLeader) -> None:
    """Adopt the leader's log; what the leader lacks is cut off."""
    state = turn.state
    zxid = last_zxid(new.log)
    if common_end(state.log, new.log) < end_of(state.log)[1]:
        turn.say("ZK_TRUNCATED", by="learner", zxid=zxid)
    else:
        turn.say("ZK_SYNC_RECEIVED", by="learner", zxid=zxid)
    turn.change(log=new.log, current=new.epoch, vote=replace(state.vote, epoch=new.epoch))
    turn.send(sender, AckNewLeader(new.session))


def _on_up_to_date(turn: _Turn, _sender: str, _: UpToDate) -> None:
    _enter(turn, BROADCAST)


def _on_proposal(turn: _Turn, sender: str, proposal: Proposal) -> None:
    state = turn.state
    last = end_of(proposal.log)[1]
    if common_end(state.log, proposal.log) < last:
        if not state.proposed:
            turn.change(proposed=True)
            turn.say("ZK_PROPOSAL_GAP", by="follower", zxid=last_zxid(proposal.log))
        turn.change(log=proposal.log)
    turn.change(committed=max(state.committed, min(proposal.committed, last)))
    turn.send(sender, Ack(proposal.session, last))


def _on_silence(turn: _Turn) -> None:
    """Leave a silent leader; the time-out is longer before it is established."""
    state = turn.state
    if state.role != FOLLOWING:
        return
    limit_ms = turn.member.rules.sync_ms if state.phase == BROADCAST else turn.member.rules.init_ms
    left_ms = state.heard_ms + limit_ms - turn.now_ms
    if left_ms > 0:
        turn.wait(SILENCE, left_ms)
    else:
        _leave(turn, "SocketTimeoutException: Read timed out")


def _leave(turn: _Turn, why: str | None) -> None:
    """Leave the leader (``Follower#shutdown``); ``why`` is the exception that ended it, None without one."""
    state = turn.state
    if state.leader is None:
        return
    turn.send(state.leader, Bye(state.joined or (state.session, 0)))
    if why is not None:
        turn.say("ZK_LEADER_LOST", by="follower", exception=why)
    turn.say("ZK_ROLE_END", by="follower")
    turn.say("ZK_TO_LOOKING")
    _look(turn)


# -- sessions -----------------------------------------------------------------------------------------------------


def _heard(turn: _Turn, sender: str, message: Any) -> None:
    """Handle a message of a session that still lasts."""
    if isinstance(message, FollowerInfo):
        _on_follower_info(turn, sender, message)
    elif turn.state.role == LEADING and isinstance(message, AckEpoch | AckNewLeader | Ack | Bye):
        learner = dict(turn.state.learners).get(sender)
        if learner is not None and learner.session == message.session:
            turn.learner(sender, heard_ms=turn.now_ms)
            _BY_LEARNERS[type(message)](turn, sender, message)
    elif type(message) in _BY_LEADERS and _is_own_session(turn.state, sender, message):
        turn.change(heard_ms=turn.now_ms)
        turn.wait(SILENCE, turn.member.rules.sync_ms if turn.state.phase == BROADCAST else turn.member.rules.init_ms)
        _BY_LEADERS[type(message)](turn, sender, message)


def _is_own_session(state: State, sender: str, message: Any) -> bool:
    """Return True for a message of the present session; the leader's first message completes the session's number."""
    if (state.role, state.leader, state.session) != (FOLLOWING, sender, message.session[0]):
        return False
    return state.joined == message.session or (state.joined is None and isinstance(message, LeaderInfo | Bye))


def _closed(turn: _Turn, peer: str) -> None:
    """Note the end of a peer's process: its election connection breaks, and with it a session."""
    if peer in turn.state.connected:
        turn.change(connected=turn.state.connected - {peer})
        turn.say("ZK_PEER_LOST", by="connection", peer=peer)
    if turn.state.role == FOLLOWING and turn.state.leader == peer:
        _leave(turn, "EOFException")
    elif turn.state.role == LEADING and peer in dict(turn.state.learners):
        _drop(turn, peer)


def _on_bye_of_learner(turn: _Turn, sender: str, _: Bye) -> None:
    _drop(turn, sender)


def _on_bye_of_leader(turn: _Turn, _sender: str, _: Bye) -> None:
    _leave(turn, "EOFException")


_BY_LEARNERS: dict[type, Callable[[_Turn, str, Any], None]] = {
    AckEpoch: _on_ack_epoch,
    AckNewLeader: _on_ack_new_leader,
    Ack: _on_ack,
    Bye: _on_bye_of_learner,
}

_BY_LEADERS: dict[type, Callable[[_Turn, str, Any], None]] = {
    LeaderInfo: _on_leader_info,
    NewLeader: _on_new_leader,
    UpToDate: _on_up_to_date,
    Proposal: _on_proposal,
    Bye: _on_bye_of_leader,
}

_FIRED: dict[str, Callable[[_Turn], None]] = {
    NOTIFY: _on_notify,
    FINALIZE: _on_finalize,
    RETRY: _on_retry,
    LIMIT: _on_limit,
    SILENCE: _on_silence,
    PING: _on_ping,
}
