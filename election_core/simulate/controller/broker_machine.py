"""A broker of the controller mode as a machine: it registers, takes the role given by the controller, and replicates.

The log of messages is a length in bytes and the epochs that begin in it. A slave fetches its master's log over a
connection that begins with a handshake, in which it cuts off what its master never had. Left out are the bytes
themselves, and consumers' metadata.

Source: RocketMQ ``ReplicasManager``, ``AutoSwitchHAService``, ``AutoSwitchHAClient``, ``AutoSwitchHAConnection``.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.protocols.controller.tables import (
    ACK_TIMEOUT_MS,
    HEARTBEAT_MS,
    MASTER_STILL_EXISTS,
    SET_NOT_KNOWN,
    SUCCESS,
    Wanted,
    is_beyond,
)
from election_replay.election_core.simulate.broker_identity import machine as identity
from election_replay.election_core.simulate.broker_identity.machine import (
    APPLY,
    IDENTITY_FILE,
    REGISTERED,
    REQUEST_MS,
    TELL,
    TEMP_FILE,
    TRY,
    WRITE,
    ApplyId,
    ApplyReply,
    NextId,
    NextIdReply,
    Register,
    RegisterReply,
    Registration,
)
from election_replay.election_core.simulate.controller.messages import (
    MASTER,
    SLAVE,
    Altered,
    AlterSet,
    Broker,
    Data,
    Elect,
    Elected,
    Fetch,
    GetReplicaInfo,
    Handshake,
    Heartbeat,
    Leads,
    Mastery,
    Notice,
    NotServed,
    WhoLeads,
)
from election_replay.election_core.simulate.machine import (
    Act,
    Asked,
    Closed,
    Fired,
    Heard,
    Input,
    Turn,
    Unanswered,
    Write,
)

MESSAGE_BYTES = 254
EPOCH_FILE, LOG_FILE = "epochFileCheckpoint", "commitlog"

INITIAL = "INITIAL"
SYNCED = "FIRST_TIME_SYNC_CONTROLLER_METADATA_DONE"
REGISTER_DONE = "REGISTER_TO_CONTROLLER_DONE"
RUNNING = "RUNNING"

BEGIN, RETRY, ELECT, WHO, BEAT, POLL, CHECK_SET, FETCH, NAME_SERVER = (
    *("begin", "retry", "elect", "who leads", "heartbeat", "poll", "check set", "fetch", "name server"),
)
"""The timers."""
BEGIN_MS, RETRY_MS, WHO_MS, NAME_SERVER_MS = (800, 2500), 5000, 10_000, 10_000
FETCH_MS, ACK_MS = (1450, 1550), (10, 40)
RECONNECT_MS = (3000, 5000)
SYNC_TRIES = 3
HOUSEKEEPING_MS = 20_000
"""``haHousekeepingInterval``: a replication connection that is silent for longer is closed."""

MAIN, SCHEDULED, EXECUTOR, NOTICED, SETS, READER, CLIENT, SENDER, NAMES = (
    *("main", "scheduled", "executor", "noticed", "sets", "reader", "client", "sender", "names"),
)
"""The parts of the process that speak."""


@dataclass(frozen=True, slots=True)
class Slave:
    """A slave, as known to its master: ``end`` is the end of its log, ``sent`` the end of the last transfer to it."""

    broker_id: int
    name: str
    address: str
    heard_ms: int
    end: int = 0
    sent: int = -1
    sent_ms: int = 0
    caught_ms: int = 0
    connected: bool = True


@dataclass(frozen=True, slots=True)
class State:
    """A broker's state. The files of the registration, ``epochs`` and ``end`` are on disk.

    ``epoch`` is the masterEpoch that the broker has heard of; ``epochs`` are those of its log, with their starts.
    ``wanted`` is a SyncStateSet that was requested and not granted: until then both sets must acknowledge.
    ``unacknowledged`` are ends of messages with the time of their arrival.
    """

    registration: Registration = field(default_factory=Registration)
    epochs: tuple[tuple[int, int], ...] = ()
    end: int = 0
    phase: str = INITIAL
    sync_tries: int = 0
    retries: int = 0
    booted: bool = False
    role: str | None = None
    master: int | None = None
    master_address: str | None = None
    epoch: int = 0
    members: tuple[int, ...] = ()
    set_epoch: int = 0
    wanted: tuple[int, ...] = ()
    reporting: bool = False
    slaves: tuple[Slave, ...] = ()
    confirmed: int = 0
    unacknowledged: tuple[tuple[int, int], ...] = ()
    replicates: bool = False
    connected: bool = False
    heard_ms: int = 0

    @property
    def broker_id(self) -> int | None:
        """The id that the broker owns."""
        return self.registration.identity.broker_id if self.registration.identity else None

    @property
    def last_epoch(self) -> tuple[int, int]:
        """The last entry of the epoch file."""
        return self.epochs[-1] if self.epochs else (-1, -1)


Replica = Turn[Broker, State]
Step = tuple[State, tuple[Act, ...]]


def start(member: Broker, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start the process with the content of its disk; an identity file makes the temporary one void."""
    identity = stored.get(IDENTITY_FILE)
    registration = Registration(identity, None if identity else stored.get(TEMP_FILE))
    state = State(registration, stored.get(EPOCH_FILE, ()), stored.get(LOG_FILE, 0))
    turn = Turn(member, state, now_ms, MAIN)
    turn.wait(BEGIN, *BEGIN_MS)
    return turn.done()


def step(member: Broker, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a broker."""
    turn = Turn(member, state, now_ms, EXECUTOR if state.booted else MAIN)
    match incoming:
        case Heard(sender, Fetch() as fetch):
            _on_fetch(turn, sender, fetch)
        case Heard(sender, message):
            _HEARD[type(message)](turn, sender, message)
        case Unanswered(_, message, refused):
            if type(message) in _UNANSWERED:
                _UNANSWERED[type(message)](turn, message, refused)
        case Fired(timer):
            _FIRED[timer](turn)
        case Asked(Write(count)):
            _on_write(turn, count)
        case Closed(peer):
            _on_closed(turn, peer)
    return turn.done()


# -- coming up -----------------------------------------------------------------------------------------------------


def _on_begin(turn: Replica) -> None:
    turn.send(turn.member.controller, WhoLeads(), REQUEST_MS)


def _on_who(turn: Replica) -> None:
    _on_begin(turn)
    turn.wait(WHO, WHO_MS)


def _on_leads(turn: Replica, _: str, reply: Leads) -> None:
    first = turn.state.phase == INITIAL
    turn.say("BRK_CTL_LEADER", MAIN if first else SCHEDULED, peer_address=reply.address)
    if first:
        turn.change(phase=SYNCED)
        turn.say("BRK_STATE_SYNCED", value=SYNCED)
        _try_to_register(turn)
        turn.wait(WHO, 3000)
        turn.wait(NAME_SERVER, NAME_SERVER_MS)


def _who_unanswered(turn: Replica, _: WhoLeads, __: bool) -> None:
    turn.say("BRK_CTL_POLL_ERR", MAIN if turn.state.phase == INITIAL else SCHEDULED, code=None)
    if turn.state.phase != INITIAL:
        return
    turn.change(sync_tries=(turn.state.sync_tries + 1) % SYNC_TRIES)
    if turn.state.sync_tries:
        turn.wait(BEGIN, 1000)
    else:
        turn.say("BRK_CTL_NONE")
        _start_failed(turn)


def _start_failed(turn: Replica) -> None:
    """Go on after a failed ``startBasicService``: the process is up, and tries again every five seconds."""
    if not turn.state.booted:
        turn.say("BRK_START_FAILED")
        _boot(turn)
    turn.wait(RETRY, RETRY_MS)


def _boot(turn: Replica) -> None:
    turn.change(booted=True)
    turn.say("BRK_BOOT", MAIN, replica_group=turn.member.group, address=turn.member.address)


def _on_retry(turn: Replica) -> None:
    turn.change(retries=turn.state.retries + 1)
    turn.say("BRK_START_RETRY", count=turn.state.retries, value=turn.state.phase)
    if turn.state.phase == INITIAL:
        _on_begin(turn)
    elif turn.state.phase == SYNCED:
        _try_to_register(turn)
    else:
        _beat(turn)
        turn.wait(ELECT, 20, 60)


def _try_to_register(turn: Replica) -> None:
    if not identity.attempt(turn):
        _try_failed(turn)


def _try_failed(turn: Replica) -> None:
    if not identity.failed(turn):
        _start_failed(turn)


def _on_next_id(turn: Replica, _: str, reply: NextIdReply) -> None:
    if not identity.on_next_id(turn, reply):
        _try_failed(turn)


def _next_id_unanswered(turn: Replica, _: NextId, __: bool) -> None:
    turn.say("BRK_REG_NEXT_ERR", code=None)
    _try_failed(turn)


def _on_applied(turn: Replica, _: str, reply: ApplyReply) -> None:
    if not identity.on_applied(turn, reply.code):
        _try_failed(turn)


def _apply_unanswered(turn: Replica, _: ApplyId, __: bool) -> None:
    identity.on_applied(turn, None)
    _try_failed(turn)


def _register_unanswered(turn: Replica, _: Register, __: bool) -> None:
    identity.on_registered(turn, None)
    if turn.state.phase == SYNCED:
        _try_failed(turn)


def _on_registered(turn: Replica, _: str, reply: RegisterReply) -> None:
    if not identity.on_registered(turn, reply):
        if turn.state.phase == SYNCED:
            _try_failed(turn)
        return
    _take_role(turn, Mastery(0, reply.master, reply.master_address, reply.epoch, reply.members, reply.set_epoch))
    if turn.state.phase != SYNCED:
        return
    state = turn.state
    turn.say("BRK_REG_DONE", value=REGISTERED, peer=state.master, peer_address=state.master_address or "")
    turn.change(phase=REGISTER_DONE)
    turn.say("BRK_STATE_REGISTERED", value=REGISTER_DONE)
    _beat(turn)
    turn.wait(ELECT, 20, 60)


def _on_elect(turn: Replica) -> None:
    """Go on with the known master after the heartbeat, or ask for an election."""
    if turn.state.master is not None:
        _running(turn)
    else:
        turn.send(turn.member.controller, Elect(turn.state.broker_id or 0), REQUEST_MS)


def _on_elected(turn: Replica, _: str, reply: Elected) -> None:
    if reply.mastery.code not in (SUCCESS, MASTER_STILL_EXISTS):
        turn.say("BRK_ELECT_FAILED", code=reply.mastery.code)
        _elect_failed(turn)
        return
    _take_role(turn, reply.mastery)
    if turn.state.phase == REGISTER_DONE:
        _running(turn)


def _elect_unanswered(turn: Replica, _: Elect, __: bool) -> None:
    turn.say("BRK_ELECT_FAILED", code=None)
    _elect_failed(turn)


def _elect_failed(turn: Replica) -> None:
    if turn.state.phase == REGISTER_DONE:
        _start_failed(turn)


def _running(turn: Replica) -> None:
    state = turn.state
    turn.change(phase=RUNNING)
    if not state.booted:
        _boot(turn)
    turn.say("BRK_REG_NS_OK", NAMES)
    turn.wait(POLL, 3000)
    turn.wait(BEAT, HEARTBEAT_MS)


# -- controller ----------------------------------------------------------------------------------------------------


def _on_beat(turn: Replica) -> None:
    _beat(turn)
    turn.wait(BEAT, HEARTBEAT_MS)


def _beat(turn: Replica) -> None:
    state = turn.state
    beat = Heartbeat(state.broker_id or 0, turn.member.address, state.last_epoch[0], state.end)
    turn.send(turn.member.controller, beat)


def _on_name_server(turn: Replica) -> None:
    if turn.state.phase == RUNNING:
        turn.say("BRK_REG_NS_OK", NAMES)
    turn.wait(NAME_SERVER, NAME_SERVER_MS)


def _on_poll(turn: Replica) -> None:
    turn.send(turn.member.controller, GetReplicaInfo(), REQUEST_MS)


def _poll_unanswered(turn: Replica, _: GetReplicaInfo, __: bool) -> None:
    turn.say("BRK_META_POLL_ERR", SCHEDULED, replica_group=turn.member.group, code=None)
    turn.wait(POLL, max(turn.member.rules.periods.poll - REQUEST_MS, 0))


def _on_mastery(turn: Replica, _: str, mastery: Mastery) -> None:
    """Take the answer to a poll."""
    if mastery.code == SET_NOT_KNOWN:
        turn.say("BRK_META_POLL_ERR", SCHEDULED, replica_group=turn.member.group, code=mastery.code)
        turn.send(turn.member.controller, Register(turn.state.broker_id or 0, turn.member.address), REQUEST_MS)
    elif turn.member.rules.takes(mastery.epoch, turn.state.epoch):
        turn.by = SCHEDULED
        if mastery.master is None:
            turn.send(turn.member.controller, Elect(turn.state.broker_id or 0), REQUEST_MS)
        _take_role(turn, mastery)
    elif mastery.epoch == turn.state.epoch and turn.state.role == MASTER:
        _adopt(turn, SCHEDULED, mastery.members, mastery.set_epoch)
    turn.wait(POLL, turn.member.rules.periods.poll)


def _on_notice(turn: Replica, _: str, notice: Notice) -> None:
    turn.by = NOTICED
    _take_role(turn, notice.mastery)


# -- roles ---------------------------------------------------------------------------------------------------------


def _take_role(turn: Replica, mastery: Mastery) -> None:
    """Take a role (``changeBrokerRole``), only of an epoch larger than its own."""
    if mastery.master is None or not turn.member.rules.takes(mastery.epoch, turn.state.epoch):
        return
    if mastery.master == turn.state.broker_id:
        _become_master(turn, mastery)
    else:
        _become_slave(turn, mastery)
    state = turn.state
    turn.say(
        "BRK_ROLE_DONE", EXECUTOR, node=state.broker_id, address=turn.member.address, role=state.role,
        peer=state.master, peer_address=state.master_address, term=state.epoch, sync_state_set_epoch=state.set_epoch,
    )  # fmt: skip


def _become_master(turn: Replica, mastery: Mastery) -> None:
    state = turn.state
    again = state.role == MASTER
    turn.say("BRK_MASTER_BEGIN", replica_group=turn.member.group, address=turn.member.address, term=mastery.epoch)
    turn.change(epoch=mastery.epoch, role=MASTER, master=state.broker_id, master_address=turn.member.address)
    if not again:
        turn.change(members=(), set_epoch=0, slaves=(), replicates=False, connected=False, confirmed=state.end)
    turn.change(wanted=(), reporting=False)
    _adopt(turn, turn.by, mastery.members, mastery.set_epoch)
    if state.last_epoch[0] > mastery.epoch:
        turn.say("HA_MASTER_STALE", term=mastery.epoch, max_term=state.last_epoch[0])
    else:
        _lead_log(turn, mastery.epoch, again=again)
    turn.wait(CHECK_SET, 3000)


def _lead_log(turn: Replica, epoch: int, *, again: bool) -> None:
    state = turn.state
    kept = tuple(entry for entry in state.epochs if entry[0] < epoch)
    _append_epoch(turn, kept, (epoch, state.end))
    turn.say("HA_MASTER_AGAIN" if again else "HA_MASTER", term=epoch, start_offset=state.end)


def _append_epoch(turn: Replica, kept: tuple[tuple[int, int], ...], entry: tuple[int, int]) -> None:
    last = kept[-1] if kept else (-1, -1)
    if not is_beyond(*entry, *last):
        turn.say("EPOCH_APPEND_ERR", entry=entry, last=last)
        turn.change(epochs=kept)
    else:
        turn.change(epochs=(*kept, entry))
    turn.store(EPOCH_FILE, turn.state.epochs)


def _become_slave(turn: Replica, mastery: Mastery) -> None:
    state = turn.state
    same = state.role == SLAVE and state.master == mastery.master
    turn.say(
        "BRK_SLAVE_BEGIN", replica_group=turn.member.group, node=state.broker_id, peer=mastery.master,
        peer_address=mastery.address, term=mastery.epoch,
    )  # fmt: skip
    turn.change(epoch=mastery.epoch, role=SLAVE, master=mastery.master, master_address=mastery.address)
    turn.change(slaves=(), unacknowledged=(), wanted=(), reporting=False)
    if same:
        turn.say("HA_SLAVE_AGAIN", peer_address=mastery.address, term=mastery.epoch)
        return
    if state.last_epoch[0] > mastery.epoch:
        turn.say("HA_SLAVE_STALE", term=mastery.epoch, max_term=state.last_epoch[0])
        turn.change(replicates=False)
        return
    turn.say("HA_STATE", value="READY")
    turn.say("HA_SLAVE", peer_address=mastery.address, term=mastery.epoch)
    turn.change(replicates=True, connected=False)
    turn.wait(FETCH, 200, 1000)


# -- the SyncStateSet of a master ------------------------------------------------------------------------------------


def _adopt(turn: Replica, by: str, members: tuple[int, ...], set_epoch: int) -> None:
    """Adopt a set (``changeSyncStateSet``), only of a larger epoch."""
    if set_epoch > turn.state.set_epoch:
        turn.say("BRK_SSS_CHANGED", by, members_before=turn.state.members, members=members)
        turn.change(members=members, set_epoch=set_epoch, wanted=())
        _confirm(turn)


def _on_check_set(turn: Replica) -> None:
    """Drop members that are behind for too long, or never connected (``checkSyncStateSetAndDoReport``)."""
    state = turn.state
    if state.role != MASTER:
        return
    for slave in state.slaves:
        if slave.connected and turn.now_ms - slave.heard_ms > HOUSEKEEPING_MS:
            turn.say("HA_CONN_EXPIRED", READER, address=slave.address, duration_ms=turn.now_ms - slave.heard_ms)
            _disconnect(turn, slave)
    too_late = turn.now_ms - turn.member.rules.periods.not_caught_up
    caught = {slave.broker_id for slave in state.slaves if slave.caught_ms >= too_late}
    kept = {member_id for member_id in turn.state.members if member_id in caught} | {state.broker_id}
    wanted = turn.member.rules.wants(tuple(sorted(member_id for member_id in kept if member_id)), state.broker_id or 0)
    if wanted != turn.state.members or turn.member.rules.repeats_set:
        _report(turn, wanted)
    turn.wait(CHECK_SET, turn.member.rules.periods.check_set)


def _report(turn: Replica, members: tuple[int, ...]) -> None:
    if not turn.state.reporting:
        turn.change(wanted=members, reporting=True)
        wanted = Wanted(turn.state.broker_id or 0, turn.state.epoch, turn.state.set_epoch, members)
        turn.send(turn.member.controller, AlterSet(wanted), REQUEST_MS)


def _on_altered(turn: Replica, _: str, reply: Altered) -> None:
    turn.change(reporting=False)
    if reply.code == SUCCESS:
        if turn.state.role == MASTER:
            _adopt(turn, SETS, reply.members, reply.set_epoch)
    else:
        _not_altered(turn, reply.code, reply.why)


def _alter_unanswered(turn: Replica, _: AlterSet, __: bool) -> None:
    turn.change(reporting=False)
    _not_altered(turn, None, None)


def _not_altered(turn: Replica, code: int | None, why: object) -> None:
    state = turn.state
    turn.say(
        "BRK_SSS_ALTER_ERR", SETS, replica_group=turn.member.group, address=state.master_address, term=state.epoch,
        members_before=state.members, members=state.wanted or state.members, sync_state_set_epoch=state.set_epoch,
        code=code, why=why,
    )  # fmt: skip


# -- replication: the master's side ------------------------------------------------------------------------------------


def _on_fetch(turn: Replica, sender: str, fetch: Fetch) -> None:
    state = turn.state
    slave = next((known for known in state.slaves if known.broker_id == fetch.broker_id and known.name == sender), None)
    if state.role != MASTER or (not fetch.fresh and (slave is None or not slave.connected)):
        turn.answer(NotServed())
        return
    address = next(where for where, name in turn.member.hosts if name == sender)
    if fetch.fresh:
        caught_ms = slave.caught_ms if slave else 0
        now_ms = turn.now_ms
        _keep(turn, Slave(fetch.broker_id, sender, address, now_ms, fetch.end, sent_ms=now_ms, caught_ms=caught_ms))
        turn.answer(Handshake(state.epochs, state.end))
        return
    if slave is not None:
        _transfer(turn, slave, fetch)


def _transfer(turn: Replica, slave: Slave, fetch: Fetch) -> None:
    """Note the slave's end, perhaps request its entry into the set, and send it what it lacks."""
    state = turn.state
    caught_ms = slave.caught_ms
    if fetch.end >= slave.sent:
        caught_ms = max(caught_ms, turn.now_ms if fetch.end == state.end else slave.sent_ms)
    _keep(
        turn, replace(slave, end=fetch.end, heard_ms=turn.now_ms, caught_ms=caught_ms, sent=state.end,
                      sent_ms=turn.now_ms)
    )  # fmt: skip
    _confirm(turn)
    _maybe_expand(turn, slave.broker_id, fetch.end)
    turn.answer(Data(state.epochs, state.end))


def _maybe_expand(turn: Replica, broker_id: int, reached: int) -> None:
    """``maybeExpandInSyncStateSet``."""
    state = turn.state
    epoch, begin = state.last_epoch
    if broker_id in state.members or state.reporting or not state.members:
        return
    if not turn.member.rules.caught_up(reached, state.confirmed, begin):
        return
    turn.say(
        "HA_CAUGHT_UP", READER, peer=broker_id, max_offset=reached, confirm_offset=state.confirmed, term=epoch,
        start_offset=begin,
    )  # fmt: skip
    _want(turn, {*state.members, broker_id})


def _want(turn: Replica, members: set[int]) -> None:
    wanted = turn.member.rules.wants(tuple(sorted(members)), turn.state.broker_id or 0)
    turn.say("HA_SSS_WANTED", READER, members=wanted)
    _report(turn, wanted)


def _keep(turn: Replica, slave: Slave) -> None:
    others = (known for known in turn.state.slaves if known.broker_id != slave.broker_id)
    turn.change(slaves=(*others, slave))


def _disconnect(turn: Replica, slave: Slave) -> None:
    """Note the end of a slave's connection; a member of the set leaves it at once."""
    _keep(turn, replace(slave, connected=False, sent=-1))
    if slave.broker_id in turn.state.members and not turn.state.reporting:
        _want(turn, set(turn.state.members) - {slave.broker_id})


def _confirm(turn: Replica) -> None:
    """Compute the confirm offset: what all of the set hold; unchanged while a member is not connected."""
    state = turn.state
    both = {*state.members, *state.wanted} - {state.broker_id}
    if not both or not turn.member.rules.all_ack:
        confirmed = state.end
    else:
        ends = {slave.broker_id: slave.end for slave in state.slaves if slave.connected}
        if not both <= ends.keys():
            return
        confirmed = max(state.confirmed, min(state.end, *(ends[item] for item in both)))
    waiting = tuple(item for item in state.unacknowledged if item[0] > confirmed)
    turn.change(confirmed=confirmed, unacknowledged=waiting)


def _on_write(turn: Replica, count: int) -> None:
    """Store messages at once; they are acknowledged when the set has them, or time out."""
    state = turn.state
    if state.role != MASTER or state.phase != RUNNING:
        return
    end = state.end + count * MESSAGE_BYTES
    waiting = state.unacknowledged
    for late, since_ms in waiting:
        if turn.now_ms - since_ms > ACK_TIMEOUT_MS:
            needed = turn.member.rules.acks(turn.member.rules.all_ack)
            turn.say("HA_ACK_TIMEOUT", SENDER, max_offset=late, count=needed)
    waiting = tuple(write for write in waiting if turn.now_ms - write[1] <= ACK_TIMEOUT_MS)
    turn.change(end=end, unacknowledged=(*waiting, (end, turn.now_ms)))
    turn.store(LOG_FILE, end)
    _confirm(turn)


# -- replication: the slave's side -------------------------------------------------------------------------------------


def _on_fetch_timer(turn: Replica) -> None:
    state = turn.state
    if state.role == SLAVE and state.replicates:
        turn.send(_master(turn), Fetch(state.broker_id or 0, state.end, not state.connected), REQUEST_MS)


def _master(turn: Replica) -> str:
    """Return the process at the master's address."""
    return next(name for address, name in turn.member.hosts if address == turn.state.master_address)


def _on_not_served(turn: Replica, sender: str, _: NotServed) -> None:
    if turn.state.role == SLAVE and sender == _master(turn):
        turn.change(connected=False)
        turn.wait(FETCH, *RECONNECT_MS)


def _fetch_unanswered(turn: Replica, _: Fetch, refused: bool) -> None:
    state = turn.state
    if state.role != SLAVE:
        return
    turn.by = CLIENT
    silent_ms = turn.now_ms - state.heard_ms
    if state.connected and silent_ms > HOUSEKEEPING_MS:
        turn.say("HA_CLIENT_EXPIRED", peer_address=_ha(state.master_address), duration_ms=silent_ms)
        turn.change(connected=False)
    elif refused or not state.connected:
        turn.say("HA_CLIENT_CONNECT_ERR", peer_address=_ha(state.master_address))
    turn.wait(FETCH, *RECONNECT_MS)


def _ha(address: str | None) -> str:
    """Return the address of replication: the next port."""
    host, _, port = (address or ":0").rpartition(":")
    return f"{host}:{int(port) + 1}"


def _on_handshake(turn: Replica, sender: str, shake: Handshake) -> None:
    """Find where the logs diverge, and cut its own log there (``doTruncate``)."""
    state = turn.state
    if state.role != SLAVE or sender != _master(turn):
        return
    turn.by = CLIENT
    turn.say("HA_STATE", value="HANDSHAKE")
    if state.epochs and not _cut(turn, shake):
        turn.wait(FETCH, *RECONNECT_MS)
        return
    turn.say("HA_STATE", value="TRANSFER")
    turn.change(connected=True, heard_ms=turn.now_ms)
    turn.wait(FETCH, 20, 100)


def _cut(turn: Replica, shake: Handshake) -> bool:
    state = turn.state
    theirs, mine = closed(shake.epochs, shake.end), closed(state.epochs, state.end)
    turn.say("HA_CLIENT_EPOCHS_MASTER", entries=theirs)
    turn.say("HA_CLIENT_EPOCHS_LOCAL", entries=mine)
    at = turn.member.rules.cut_at(theirs, mine)
    turn.say("HA_CLIENT_CUT_AT", start_offset=at)
    if at is None or at < 0:
        turn.say("HA_CLIENT_CUT_FAILED")
        return False
    turn.say("HA_CLIENT_CUT", start_offset=at, lost=max(state.end - at, 0))
    turn.change(end=min(state.end, at), epochs=tuple(entry for entry in state.epochs if entry[1] < at))
    turn.store(LOG_FILE, turn.state.end)
    turn.store(EPOCH_FILE, turn.state.epochs)
    return True


def closed(epochs: tuple[tuple[int, int], ...], end: int) -> tuple[tuple[int, int, int], ...]:
    """Return (epoch, start, end) of each epoch: it ends where the next begins, the last one with the log."""
    starts = [start for _, start in epochs[1:]]
    return tuple((*entry, stop) for entry, stop in zip(epochs, [*starts, end], strict=False))


def _on_data(turn: Replica, sender: str, data: Data) -> None:
    state = turn.state
    if state.role != SLAVE or sender != _master(turn) or not state.connected:
        return
    turn.by = CLIENT
    for entry in data.epochs:
        if entry[0] > turn.state.last_epoch[0]:
            _append_epoch(turn, turn.state.epochs, entry)
    turn.change(end=max(state.end, data.end), heard_ms=turn.now_ms)
    if turn.state.end != state.end:
        turn.store(LOG_FILE, turn.state.end)
    # The next fetch reports the slave's end: at once if it has grown.
    turn.wait(FETCH, *(FETCH_MS if turn.state.end == state.end else ACK_MS))


def _on_closed(turn: Replica, peer: str) -> None:
    state = turn.state
    if state.role == MASTER:
        for slave in [known for known in state.slaves if known.name == peer and known.connected]:
            _disconnect(turn, slave)
    elif state.role == SLAVE and state.connected and peer == _master(turn):
        turn.by = CLIENT
        turn.say("HA_CLIENT_CLOSED", peer_address=_ha(state.master_address))
        turn.change(connected=False)


_HEARD: dict[type[Hashable], Callable[[Replica, str, Any], None]] = {
    Leads: _on_leads,
    NextIdReply: _on_next_id,
    ApplyReply: _on_applied,
    RegisterReply: _on_registered,
    Elected: _on_elected,
    Mastery: _on_mastery,
    Notice: _on_notice,
    Altered: _on_altered,
    Handshake: _on_handshake,
    Data: _on_data,
    NotServed: _on_not_served,
}
_UNANSWERED: dict[type[Hashable], Callable[[Replica, Any, bool], None]] = {
    WhoLeads: _who_unanswered,
    NextId: _next_id_unanswered,
    ApplyId: _apply_unanswered,
    Register: _register_unanswered,
    Elect: _elect_unanswered,
    GetReplicaInfo: _poll_unanswered,
    AlterSet: _alter_unanswered,
    Fetch: _fetch_unanswered,
}
_FIRED: dict[str, Callable[[Replica], None]] = {
    BEGIN: _on_begin,
    RETRY: _on_retry,
    TRY: _try_to_register,
    APPLY: identity.on_apply,
    WRITE: identity.on_own,
    TELL: identity.on_tell,
    ELECT: _on_elect,
    WHO: _on_who,
    BEAT: _on_beat,
    POLL: _on_poll,
    CHECK_SET: _on_check_set,
    FETCH: _on_fetch_timer,
    NAME_SERVER: _on_name_server,
}
