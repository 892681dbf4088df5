"""Brokers of a set with a configured master, and their name servers, as a machine that runs.

Sources: RocketMQ 5.3 ``BrokerController``, ``BrokerPreOnlineService``, ``SlaveSynchronize``, ``RouteInfoManager``;
the rules that judge logs stand in :mod:`election_core.protocols.acting_master.tables`.

Consumers that lock queues are its clients (:mod:`election_core.simulate.order_lock.machine`).

There is no election: each broker asks a name server every second for the living members, and serves if its id is the
smallest. A member is identified here by its name instead of its address. Left out are the messages; consumers' offsets
are in the tables of :mod:`election_core.simulate.metadata.machine`.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.acting_master.tables import MASTER_ID, serves
from election_replay.election_core.simulate.machine import Act, Asked, Closed, Fired, Heard, Input, Turn, Unanswered
from election_replay.election_core.simulate.metadata.machine import (
    CONSUMER_FILE,
    DELAY_FILE,
    GROUP_FILE,
    TOPIC_FILE,
    Names,
    Place,
    TableRules,
    Tables,
    as_slave,
    committed,
    loaded,
    named,
    taken_over,
)
from election_replay.election_core.simulate.order_lock import machine as client
from election_replay.election_core.simulate.order_lock.machine import (
    PEER_TIMEOUT_MS,
    Client,
    ClientState,
    Granted,
    Key,
    Lock,
    LockRules,
    LockTable,
    Route,
    Unlock,
    WhoIsMaster,
    locked,
    unlocked,
)

TIMEOUT_MS = Timeout.NAME_SERVER_BROKER_SILENT.value.ms
SCAN_MS = Timeout.NAME_SERVER_SCAN.value.ms
RPC_TIMEOUT_MS = 3000
HEARTBEAT_MS, POLL_MS, REGISTER_MS, RETRY_MS = 1000, 1000, 30_000, 1000
FIRST_REGISTER_MS = 10_000
HANDSHAKE_MS = 10_000
CONNECT_MS = (0, 5000)
COPY_MS = 60_000
FLUSH_MS, DELAY_FLUSH_MS = 5_000, 10_000
MONITOR_MS = 5_000
JITTER_MS = 10

HEARTBEAT, POLL, REGISTER, PREPARE, CONNECT, HANDSHAKE, COPY, FLUSH, DELAY_FLUSH, MONITOR, SCAN = (
    *("heartbeat", "poll", "register", "prepare", "connect", "handshake", "copy", "flush", "delay flush", "monitor"),
    "scan",
)
"""The timers of a broker, and of a name server the last: heartbeats, the question who lives, the next registration,
the next try of pre-online, the next try to replicate, the patience with one who should, the copy of the master's
tables, the writing of two files, the look of a monitor, the look for silent brokers."""

READ, WRITE = 4, 2
_TOPICS = ("OrderEvents", "broker-a")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of brokers and name servers; a faulty one has one changed. The defaults are RocketMQ's.

    ``takes_write_away``: a name server shows the topics of a set without master as read only. ``silent_ms`` is
    brokerNotActiveTimeoutMillis, ``scan_ms`` scanNotActiveBrokerInterval.
    """

    serves: Callable[[str, str | None], bool] = serves
    takes_write_away: bool = True
    skip_pre_online: bool = False
    tables: TableRules = field(default_factory=TableRules)
    locks: LockRules = field(default_factory=LockRules)
    silent_ms: int = TIMEOUT_MS
    scan_ms: int = SCAN_MS


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker by its configuration; ``number`` is its id, ``servers`` the name servers that it knows."""

    name: str
    number: str
    servers: tuple[str, ...]
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True, slots=True)
class NameServer:
    """A name server."""

    name: str
    rules: Rules = field(default_factory=Rules)


Member = Broker | NameServer | Client
Members = tuple[tuple[str, str], ...]
"""Ids and names of the live members of the set, by id."""


# -- messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    """A broker registers at a name server, with the ``topics`` of its own table."""

    number: str
    topics: Names


@dataclass(frozen=True, slots=True)
class Registered:
    """The master that the name server knows, for a slave."""

    master: str | None


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A broker's heartbeat."""


@dataclass(frozen=True, slots=True)
class WhoLives:
    """A broker asks for the living members of its set; ``before_online``: before it serves."""

    before_online: bool


@dataclass(frozen=True, slots=True)
class LivingMembers:
    """The members that a name server knows."""

    members: Members
    before_online: bool


@dataclass(frozen=True, slots=True)
class FromMe:
    """A returning master tells a slave to replicate from it."""


@dataclass(frozen=True, slots=True)
class WhereFrom:
    """A slave that starts asks the master from where to replicate."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """The answer to ``FromMe`` and ``WhereFrom``."""


@dataclass(frozen=True, slots=True)
class Replicate:
    """A slave connects for replication."""


@dataclass(frozen=True, slots=True)
class Connected:
    """The replication connection is established."""


@dataclass(frozen=True, slots=True)
class ReadTables:
    """A slave reads its master's tables; with ``reverse``, a returning master reads a member's."""

    reverse: bool


@dataclass(frozen=True, slots=True)
class TablesRead:
    """The tables."""

    tables: Tables
    reverse: bool


@dataclass(frozen=True, slots=True)
class Commit:
    """Consumers commit their offsets."""

    offsets: tuple[tuple[Place, int], ...]


@dataclass(frozen=True, slots=True)
class Deliver:
    """Delayed messages became due: the delivered offset of each level."""

    offsets: tuple[tuple[Place, int], ...]


@dataclass(frozen=True, slots=True)
class MakeTopic:
    """An operator makes a topic."""

    topic: str


@dataclass(frozen=True, slots=True)
class Unlocked:
    """A peer has released a lock on request."""


# -- state ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Count:
    """The grants of a request in strict mode, counted until no answer is ``waiting``; ``request`` is its number."""

    number: int
    client: str
    request: int
    grants: tuple[tuple[Key, int], ...]
    waiting: int


@dataclass(frozen=True, slots=True)
class BrokerState:
    """A broker's state. ``server`` is the number of the name server that it asks, ``greeted`` the count of members
    finished in pre-online; ``waits_for`` is the member whose connection it awaits, ``connects_to`` the one it connects
    to."""

    number: str
    isolated: bool = True
    serving: bool = False
    minimum: tuple[str, str | None] = (MASTER_ID, None)
    members: Members = ()
    server: int = 0
    round: int = 0
    master: str | None = None
    greeted: int = 0
    waits_for: str | None = None
    connects_to: str | None = None
    tables: Tables = field(default_factory=Tables)
    locks: LockTable = field(default_factory=LockTable)
    counts: tuple[Count, ...] = ()
    counts_made: int = 0


@dataclass(frozen=True, slots=True)
class Live:
    """A broker in a name server's table."""

    name: str
    number: str
    heard_ms: int
    topics: Names


@dataclass(frozen=True, slots=True)
class ServerState:
    """A name server's table: live brokers, and the permission of each topic."""

    live: tuple[Live, ...] = ()
    topics: tuple[tuple[str, int], ...] = ()


State = BrokerState | ServerState | ClientState
Step = tuple[State, tuple[Act, ...]]


class _BrokerTurn(Turn[Broker, BrokerState]):
    """One step of a broker."""

    jitter_ms = JITTER_MS

    def have(self, tables: Tables) -> None:
        """Replace the metadata, which no line prints."""
        self.change(tables=tables)
        self.say("TABLES", "tables", tables=tables)

    def tables(self, **values: Any) -> None:
        self.have(replace(self.state.tables, **values))

    def write_file(self, file: str) -> None:
        """Write one of the tables to its file."""
        tables = self.state.tables
        content = {
            CONSUMER_FILE: tables.consumer,
            DELAY_FILE: tables.delay,
            TOPIC_FILE: tables.topics,
            GROUP_FILE: tables.groups,
        }
        self.store(file, content[file])

    @property
    def server(self) -> str:
        return self.member.servers[self.state.server % len(self.member.servers)]


class _ServerTurn(Turn[NameServer, ServerState]):
    """One step of a name server."""

    jitter_ms = JITTER_MS


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start a process; a broker is isolated until it is ready to serve."""
    if isinstance(member, Client):
        return client.start(member, stored, now_ms)
    if isinstance(member, NameServer):
        server = _ServerTurn(member, ServerState(), now_ms, "requests")
        server.wait(SCAN, member.rules.scan_ms)
        return server.done()
    first = Tables(topics=Names((0, now_ms, 1), _TOPICS), groups=Names((0, now_ms, 1), ("order-group",)))
    state = BrokerState(member.number, server=int(member.number), tables=loaded(stored, first))
    turn = _BrokerTurn(member, state, now_ms, "main")
    turn.have(state.tables)
    for file in (TOPIC_FILE, GROUP_FILE):
        turn.write_file(file)
    for timer, after_ms in _FIRST.items():
        turn.wait(timer, after_ms)
    if member.rules.skip_pre_online:
        _serve(turn, None)
    else:
        turn.say("PRE_BEGIN", "pre-online")
        turn.wait(PREPARE, 0)
    return turn.done()


_FIRST = {
    HEARTBEAT: HEARTBEAT_MS,
    POLL: POLL_MS,
    REGISTER: FIRST_REGISTER_MS,
    COPY: COPY_MS,
    FLUSH: FLUSH_MS,
    DELAY_FLUSH: DELAY_FLUSH_MS,
    MONITOR: MONITOR_MS,
}


def step(member: Member, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a broker, name server or client."""
    if isinstance(member, Client) and isinstance(state, ClientState):
        return client.step(member, state, now_ms, incoming)
    if isinstance(member, NameServer) and isinstance(state, ServerState):
        server = _ServerTurn(member, state, now_ms, "requests")
        _on_server(server, incoming)
        return server.done()
    if isinstance(member, Broker) and isinstance(state, BrokerState):
        turn = _BrokerTurn(member, state, now_ms, "main")
        _on_broker(turn, incoming)
        return turn.done()
    raise TypeError(f"{member.name} is no {type(state).__name__}")


def _on_server(turn: _ServerTurn, incoming: Input) -> None:
    match incoming:
        case Heard(sender, Register() as message):
            _register(turn, sender, message)
        case Heard(sender, Heartbeat()):
            _heard_of(turn, sender)
        case Heard(_, WhoLives(before_online)):
            turn.answer(LivingMembers(_members(turn), before_online))
        case Heard(_, WhoIsMaster()):
            members = _members(turn)
            turn.answer(Route(members[0][1] if members else None))
        case Closed(peer) if any(entry.name == peer for entry in turn.state.live):
            turn.say("NS_CHANNEL_CLOSED", "scan")
            _drop(turn, [peer])
        case Fired():
            _scan(turn)


def _on_broker(turn: _BrokerTurn, incoming: Input) -> None:
    match incoming:
        case Heard(sender, message):
            _HEARD[type(message)](turn, sender, message)
        case Unanswered(to, message, refused):
            _UNANSWERED[type(message)](turn, to, message, refused)
        case Fired(timer):
            _FIRED[timer](turn)
        case Asked(request):
            _ASKED[type(request)](turn, request)


# -- name servers -------------------------------------------------------------------------------------------------


def _members(turn: _ServerTurn) -> Members:
    return tuple(sorted((entry.number, entry.name) for entry in turn.state.live))


def _register(turn: _ServerTurn, sender: str, message: Register) -> None:
    """``RouteInfoManager#registerBroker``: the topics of the master, or of the smallest slave, are the set's."""
    known = {entry.name: entry for entry in turn.state.live}
    before = known.get(sender)
    first = not any(entry.number == message.number for entry in turn.state.live)
    kept = tuple(
        registered
        for registered in turn.state.live
        if registered.name != sender and registered.number != message.number
    )
    live = (*kept, Live(sender, message.number, turn.now_ms, message.topics))
    smallest = min(entry.number for entry in live) == message.number
    if smallest and (first or before is None or before.topics.version != message.topics.version):
        writable = message.number == MASTER_ID or not turn.member.rules.takes_write_away
        for topic in message.topics.names:
            _show(turn, topic, READ | WRITE if writable else READ, message.number)
    turn.change(live=live)
    if before is None:
        turn.say("NS_BROKER_NEW", "requests", address=sender)
    turn.answer(Registered(dict(_members(turn)).get(MASTER_ID) if message.number != MASTER_ID else None))


def _show(turn: _ServerTurn, topic: str, permission: int, number: str) -> None:
    """Set a topic's permission for the broker with this id (``createAndUpdateQueueData``)."""
    topics = dict(turn.state.topics)
    if topic not in topics:
        turn.say("NS_TOPIC_NEW", "requests", topic=topic, permission=permission, number=number)
    elif topics[topic] != permission:
        before = topics[topic]
        turn.say("NS_TOPIC_CHANGED", "requests", topic=topic, permission=permission, number=number, before=before)
    turn.change(topics=tuple(sorted({**topics, topic: permission}.items())))


def _heard_of(turn: _ServerTurn, sender: str) -> None:
    """Renew an entry by a heartbeat, which never creates one."""
    live = tuple(replace(entry, heard_ms=turn.now_ms) if entry.name == sender else entry for entry in turn.state.live)
    turn.change(live=live)


def _scan(turn: _ServerTurn) -> None:
    rules = turn.member.rules
    turn.wait(SCAN, rules.scan_ms)
    turn.say("NS_SCAN", "scan")
    silent = [entry.name for entry in turn.state.live if entry.heard_ms + rules.silent_ms < turn.now_ms]
    for name in silent:
        turn.say("NS_BROKER_EXPIRED", "scan", address=name, duration_ms=rules.silent_ms)
    _drop(turn, silent)


def _drop(turn: _ServerTurn, names: list[str]) -> None:
    """Remove brokers (``RouteInfoManager#unRegisterBroker``); without a master, write permission goes without a
    line."""
    for name in names:
        known = any(entry.name == name for entry in turn.state.live)
        result = "OK" if known else "Failed"
        turn.say("NS_UNREG_LIVE", "unregistration", result=result, address=name)
        turn.change(live=tuple(entry for entry in turn.state.live if entry.name != name))
        turn.say("NS_UNREG_ADDR", "unregistration", result=result, address=name)
        if known and not turn.state.live:
            turn.say("NS_UNREG_NAME", "unregistration")
            turn.change(topics=())
    if names and MASTER_ID not in dict(_members(turn)) and turn.member.rules.takes_write_away:
        turn.change(topics=tuple((topic, permission & ~WRITE) for topic, permission in turn.state.topics))


# -- brokers: heartbeats and registrations ------------------------------------------------------------------------


def _on_heartbeat_time(turn: _BrokerTurn) -> None:
    turn.wait(HEARTBEAT, HEARTBEAT_MS)
    if not turn.state.isolated:
        for server in turn.member.servers:
            turn.send(server, Heartbeat())


def _on_register_time(turn: _BrokerTurn) -> None:
    turn.wait(REGISTER, REGISTER_MS)
    if not turn.state.isolated:
        _register_everywhere(turn)


def _register_everywhere(turn: _BrokerTurn) -> None:
    turn.change(round=0)
    for server in turn.member.servers:
        turn.send(server, Register(turn.member.number, turn.state.tables.topics), RPC_TIMEOUT_MS)


def _on_registered(turn: _BrokerTurn, server: str, reply: Registered) -> None:
    """The first answer of a round tells from whom to copy (``handleRegisterBrokerResult``)."""
    turn.say("BRK_REG_NS_OK", "requests out", peer_address=server)
    if turn.state.round == 0:
        _copy_from(turn, reply.master, "requests out")
    turn.change(round=turn.state.round + 1)


def _not_registered(turn: _BrokerTurn, server: str, _message: Hashable, _refused: bool) -> None:
    turn.say("BRK_REG_NS_FAILED", "requests out", peer_address=server)


def _copy_from(turn: _BrokerTurn, master: str | None, by: str) -> None:
    """``SlaveSynchronize#setMasterAddr``."""
    if master != turn.state.master:
        turn.say("SYNC_MASTER", by, address=turn.state.master, peer_address=master)
        turn.change(master=master)


# -- brokers: who serves -------------------------------------------------------------------------------------------


def _on_poll_time(turn: _BrokerTurn) -> None:
    turn.send(turn.server, WhoLives(before_online=False), RPC_TIMEOUT_MS)


def _on_living_members(turn: _BrokerTurn, _: str, reply: LivingMembers) -> None:
    if reply.before_online:
        _prepare_among(turn, reply.members)
        return
    turn.wait(POLL, POLL_MS)
    if not reply.members:
        return
    if reply.members != turn.state.members:
        turn.change(members=reply.members)
    if not turn.state.isolated:
        _learn(turn, reply.members[0])


def _who_lives_failed(turn: _BrokerTurn, _to: str, message: WhoLives, _refused: bool) -> None:
    """The connection is closed; the next question goes to the next name server."""
    turn.change(server=turn.state.server + 1)
    if message.before_online:
        turn.say("PRE_NS_ERR", "pre-online")
        _try_again(turn)
    else:
        turn.say("BRK_MEMBERS_ERR", "poll")
        turn.wait(POLL, POLL_MS)


def _learn(turn: _BrokerTurn, minimum: tuple[str, str]) -> None:
    """``updateMinBroker`` and ``onMinBrokerChange``: a master does not care."""
    number, name = minimum
    before = turn.state.minimum
    if turn.member.number == MASTER_ID or number == before[0]:
        return
    turn.say("BRK_MIN_CHANGED", "poll", before=before, after=minimum)
    turn.change(minimum=minimum)
    _set_services(turn, turn.member.rules.serves(turn.member.number, number), "poll")
    if int(number) > int(before[0]) and before[1] == turn.state.master:
        _copy_from(turn, None, "poll")
    if number == MASTER_ID:
        _connect_to(turn, name)


def _set_services(turn: _BrokerTurn, on: bool, by: str) -> None:
    """``changeSpecialServiceStatus``: the last line comes whether anything changes or not."""
    if on != turn.state.serving:
        turn.say("BRK_SCHEDULE", by, flag=on)
        turn.say("BRK_TX_CHECK", by, flag=on)
    turn.say("BRK_POP_REVIVE", by, flag=on)
    turn.change(serving=on)


def _serve(turn: _BrokerTurn, minimum: tuple[str, str] | None) -> None:
    """``startService``, or ``startServiceWithoutCondition`` where nothing was prepared."""
    by = "main" if minimum is None else "pre-online"
    number = turn.member.number
    if minimum is None:
        turn.say("BRK_SERVICE_ON", by, number=number)
        _set_services(turn, number == MASTER_ID, by)
    else:
        turn.say("BRK_SERVICE_ON_MIN", by, number=number, minimum=minimum)
        turn.change(minimum=minimum)
        _set_services(turn, turn.member.rules.serves(number, minimum[0]), by)
    turn.change(isolated=False)
    _register_everywhere(turn)


# -- brokers: pre-online -------------------------------------------------------------------------------------------


def _on_prepare_time(turn: _BrokerTurn) -> None:
    turn.send(turn.server, WhoLives(before_online=True), RPC_TIMEOUT_MS)


def _try_again(turn: _BrokerTurn) -> None:
    turn.change(waits_for=None)
    turn.wait(PREPARE, RETRY_MS)


def _prepare_among(turn: _BrokerTurn, members: Members) -> None:
    """``prepareForBrokerOnline``."""
    turn.change(members=members)
    if not members:
        turn.say("PRE_ALONE", "pre-online")
        _serve(turn, (turn.member.number, turn.member.name))
    elif turn.member.number == MASTER_ID:
        _greet_next(turn)
    elif members[0][0] == MASTER_ID:
        turn.send(members[0][1], WhereFrom(), RPC_TIMEOUT_MS)
    else:
        turn.say("PRE_NO_MASTER", "pre-online")
        _serve(turn, _smallest_other(turn))


def _smallest_other(turn: _BrokerTurn) -> tuple[str, str]:
    """Return the smallest other member; the broker itself if there is none (``getMinBrokerId``)."""
    itself = (turn.member.number, turn.member.name)
    return min((member for member in turn.state.members if member[0] != itself[0]), default=itself)


def _greet_next(turn: _BrokerTurn) -> None:
    """``prepareForMasterOnline``: one member after the other replicates from here and gives its tables back."""
    members = turn.state.members
    if turn.state.greeted >= len(members):
        turn.say("PRE_MASTER_DONE", "pre-online")
        _serve(turn, (turn.member.number, turn.member.name))
    else:
        turn.send(members[turn.state.greeted][1], FromMe(), RPC_TIMEOUT_MS)


def _on_from_me(turn: _BrokerTurn, master: str, _: FromMe) -> None:
    turn.answer(Agreed())
    _connect_to(turn, master)


def _on_where_from(turn: _BrokerTurn, _: str, __: WhereFrom) -> None:
    turn.answer(Agreed())


def _on_agreed(turn: _BrokerTurn, peer: str, _: Agreed) -> None:
    """Wait for the member's connection; a slave makes it itself."""
    turn.change(waits_for=peer)
    turn.wait(HANDSHAKE, HANDSHAKE_MS)
    if turn.member.number != MASTER_ID:
        _connect_to(turn, peer)


def _connect_to(turn: _BrokerTurn, master: str) -> None:
    turn.change(connects_to=master)
    turn.wait(CONNECT, *CONNECT_MS)


def _on_connect_time(turn: _BrokerTurn) -> None:
    if turn.state.connects_to is not None:
        turn.send(turn.state.connects_to, Replicate(), RPC_TIMEOUT_MS)


def _on_replicate(turn: _BrokerTurn, slave: str, _: Replicate) -> None:
    turn.say("XHA_CONN_NEW", "replication", peer_address=slave)
    turn.answer(Connected())
    if turn.state.waits_for == slave:
        turn.change(waits_for=None)
        turn.say("PRE_REVERSE", "pre-online", peer_address=slave)
        turn.send(slave, ReadTables(reverse=True), RPC_TIMEOUT_MS)


def _on_connected(turn: _BrokerTurn, master: str, _: Connected) -> None:
    if turn.state.isolated and turn.state.waits_for == master:
        turn.change(waits_for=None)
        turn.say("PRE_SLAVE_DONE", "pre-online")
        _serve(turn, _smallest_other(turn))


def _on_handshake_over(turn: _BrokerTurn) -> None:
    if turn.state.waits_for is not None:
        turn.say("PRE_WAIT_LOST", "pre-online")
        _try_again(turn)


def _from_me_failed(turn: _BrokerTurn, to: str, _message: Hashable, _refused: bool) -> None:
    turn.say("PRE_SEND_ERR", "pre-online", peer_address=to)
    _try_again(turn)


def _where_from_failed(turn: _BrokerTurn, _to: str, _message: Hashable, _refused: bool) -> None:
    turn.say("PRE_HA_INFO_ERR", "pre-online")
    _try_again(turn)


def _replicate_failed(turn: _BrokerTurn, to: str, _message: Hashable, _refused: bool) -> None:
    if turn.state.connects_to == to:
        turn.wait(CONNECT, CONNECT_MS[1])


# -- brokers: tables ------------------------------------------------------------------------------------------------


def _on_copy_time(turn: _BrokerTurn) -> None:
    turn.wait(COPY, COPY_MS)
    if turn.member.number != MASTER_ID and turn.state.master is not None:
        turn.send(turn.state.master, ReadTables(reverse=False), RPC_TIMEOUT_MS)


def _on_read_tables(turn: _BrokerTurn, _: str, request: ReadTables) -> None:
    turn.answer(TablesRead(turn.state.tables, request.reverse))


def _on_tables(turn: _BrokerTurn, peer: str, reply: TablesRead) -> None:
    if reply.reverse:
        _on_reverse(turn, peer, reply.tables)
    elif turn.state.master == peer:
        _on_copy(turn, peer, reply.tables)


def _on_reverse(turn: _BrokerTurn, peer: str, tables: Tables) -> None:
    """``syncMetadataReverse``, and on to the next member."""
    if not turn.state.isolated:
        return
    tables_then, taken = taken_over(turn.state.tables, tables, turn.member.rules.tables)
    before = turn.state.tables.consumer.version
    turn.have(tables_then)
    turn.change(greeted=turn.state.greeted + 1)
    turn.say("REVERSED", "tables", taken=taken, own=before, read=tables.consumer.version)
    for file in taken:
        turn.say(_TAKEN[file], "pre-online", peer_address=peer)
        turn.write_file(file)
    _greet_next(turn)


_TAKEN = {CONSUMER_FILE: "PRE_REVERSE_CONSUMER", DELAY_FILE: "PRE_REVERSE_DELAY"}


def _on_copy(turn: _BrokerTurn, master: str, tables: Tables) -> None:
    """``SlaveSynchronize#syncAll``."""
    tables_then, topics, groups = as_slave(turn.state.tables, tables, turn.now_ms)
    for topic in topics:
        turn.say("META_TOPIC_DELETE_NONE", "scheduled", topic=topic)
    for group in groups:
        turn.say("META_GROUP_DELETE_NONE", "scheduled", consumer_group=group)
    turn.have(tables_then)
    for file in (CONSUMER_FILE, DELAY_FILE, TOPIC_FILE, GROUP_FILE):
        turn.write_file(file)
    for kind in ("SYNC_TOPIC", "SYNC_CONSUMER", "SYNC_DELAY", "SYNC_GROUP"):
        turn.say(kind, "scheduled", peer_address=master)


def _tables_failed(turn: _BrokerTurn, _to: str, message: ReadTables, _refused: bool) -> None:
    if message.reverse:
        turn.say("PRE_REVERSE_ERR", "pre-online")
        _try_again(turn)


def _on_commit(turn: _BrokerTurn, commit: Commit) -> None:
    rules = turn.member.rules.tables
    turn.tables(consumer=committed(turn.state.tables.consumer, commit.offsets, turn.now_ms, rules.version_step))


def _on_deliver(turn: _BrokerTurn, deliver: Deliver) -> None:
    rules = turn.member.rules.tables
    turn.tables(delay=committed(turn.state.tables.delay, deliver.offsets, turn.now_ms, rules.delay_step))


def _on_make_topic(turn: _BrokerTurn, request: MakeTopic) -> None:
    """Create a topic with a group that reads it; name servers are told of topics at once."""
    tables = turn.state.tables
    topics, groups = (named(table, request.topic, turn.now_ms) for table in (tables.topics, tables.groups))
    turn.tables(topics=topics, groups=groups)
    for file in (TOPIC_FILE, GROUP_FILE):
        turn.write_file(file)
    _register_everywhere(turn)


def _on_flush_time(turn: _BrokerTurn) -> None:
    turn.wait(FLUSH, FLUSH_MS)
    turn.write_file(CONSUMER_FILE)


def _on_delay_flush_time(turn: _BrokerTurn) -> None:
    turn.wait(DELAY_FLUSH, DELAY_FLUSH_MS)
    if turn.state.serving:
        turn.write_file(DELAY_FILE)


def _on_monitor_time(turn: _BrokerTurn) -> None:
    """Print a monitor's connection, so that the log is never silent for long."""
    turn.wait(MONITOR, MONITOR_MS)
    turn.say("NET_SERVER_OPEN", "network")


# -- brokers: locks --------------------------------------------------------------------------------------------------


def _say_locks(turn: _BrokerTurn, lines: Iterable[tuple[str, dict[str, Any]]]) -> None:
    for kind, of in lines:
        turn.say(kind, "admin", **of)


def _on_lock(turn: _BrokerTurn, sender: str, request: Lock) -> None:
    """Lock in its own table, and in strict mode in those of all living members (``lockBatchMQ``)."""
    table, granted, lines = locked(turn.state.locks, request.keys, request.client, turn.now_ms)
    turn.change(locks=table)
    _say_locks(turn, lines)
    rules, peers = turn.member.rules.locks, _peers(turn)
    if request.only_this:
        turn.answer(Granted(granted, request.number))
    elif rules.quorum <= 1:
        turn.send(sender, Granted(granted, request.number))
    else:
        count = Count(
            turn.state.counts_made + 1, sender, request.number, tuple((key, 1) for key in granted), len(peers)
        )
        turn.change(counts_made=count.number, counts=(*turn.state.counts, count))
        for peer in peers:
            turn.send(peer, Lock(granted, request.client, count.number, only_this=True), PEER_TIMEOUT_MS)
        _close_counts(turn)


def _peers(turn: _BrokerTurn) -> list[str]:
    return [name for number, name in turn.state.members if number != turn.member.number]


def _on_granted(turn: _BrokerTurn, _: str, reply: Granted) -> None:
    _counted(turn, reply.number, reply.keys)


def _lock_failed(turn: _BrokerTurn, to: str, request: Lock, _refused: bool) -> None:
    turn.say("LOCK_PEER_ERR", "answers", peer_address=to)
    _counted(turn, request.number, ())


def _counted(turn: _BrokerTurn, number: int, keys: tuple[Key, ...]) -> None:
    """Count the answer of one peer, or its absence."""
    counts = tuple(
        replace(count, waiting=count.waiting - 1, grants=tuple((key, n + (key in keys)) for key, n in count.grants))
        if count.number == number
        else count
        for count in turn.state.counts
    )
    turn.change(counts=counts)
    _close_counts(turn)


def _close_counts(turn: _BrokerTurn) -> None:
    """Answer a client once all peers have answered; grants below the quorum stay in place."""
    quorum = turn.member.rules.locks.quorum
    for count in turn.state.counts:
        if count.waiting == 0:
            turn.send(count.client, Granted(tuple(key for key, n in count.grants if n >= quorum), count.request))
    turn.change(counts=tuple(count for count in turn.state.counts if count.waiting))


def _on_unlock(turn: _BrokerTurn, _: str, request: Unlock) -> None:
    """``unlockBatchMQ``."""
    table, lines = unlocked(turn.state.locks, request.keys, request.client)
    turn.change(locks=table)
    _say_locks(turn, lines)
    if request.only_this:
        turn.answer(Unlocked())
    elif turn.member.rules.locks.strict:
        for peer in _peers(turn):
            turn.send(peer, replace(request, only_this=True), PEER_TIMEOUT_MS)


def _unlock_failed(turn: _BrokerTurn, to: str, _message: Unlock, _refused: bool) -> None:
    turn.say("LOCK_RELEASE_PEER_ERR", "answers", peer_address=to)


def _ignored(_turn: _BrokerTurn, _to: str, _message: Hashable, _refused: bool) -> None:
    """Ignore a failed call that is repeated anyway."""


_HEARD: dict[type, Callable[[_BrokerTurn, str, Any], None]] = {
    Registered: _on_registered,
    LivingMembers: _on_living_members,
    FromMe: _on_from_me,
    WhereFrom: _on_where_from,
    Agreed: _on_agreed,
    Replicate: _on_replicate,
    Connected: _on_connected,
    ReadTables: _on_read_tables,
    TablesRead: _on_tables,
    Lock: _on_lock,
    Granted: _on_granted,
    Unlock: _on_unlock,
    Unlocked: lambda _turn, _peer, _message: None,
}

_UNANSWERED: dict[type, Callable[[_BrokerTurn, str, Any, bool], None]] = {
    Register: _not_registered,
    WhoLives: _who_lives_failed,
    FromMe: _from_me_failed,
    WhereFrom: _where_from_failed,
    Replicate: _replicate_failed,
    ReadTables: _tables_failed,
    Heartbeat: _ignored,
    Granted: _ignored,
    Lock: _lock_failed,
    Unlock: _unlock_failed,
}

_FIRED: dict[str, Callable[[_BrokerTurn], None]] = {
    HEARTBEAT: _on_heartbeat_time,
    POLL: _on_poll_time,
    REGISTER: _on_register_time,
    PREPARE: _on_prepare_time,
    CONNECT: _on_connect_time,
    HANDSHAKE: _on_handshake_over,
    COPY: _on_copy_time,
    FLUSH: _on_flush_time,
    DELAY_FLUSH: _on_delay_flush_time,
    MONITOR: _on_monitor_time,
}

_ASKED: dict[type, Callable[[_BrokerTurn, Any], None]] = {
    Commit: _on_commit,
    Deliver: _on_deliver,
    MakeTopic: _on_make_topic,
}
