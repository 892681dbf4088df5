"""Order locks as a machine: the table of one broker as pure functions, and a consumer that asks for locks.

Sources: RocketMQ ``RebalanceLockManager`` (the table), ``RebalanceImpl`` and ``ConsumeMessageOrderlyService`` (the
client).
A broker's handling of requests, alone or with a quorum, is in :mod:`election_core.simulate.acting_master.machine`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.simulate.machine import Act, Asked, Fired, Heard, Input, Turn, Unanswered

RENEW_MS, ROUTE_MS = 20_000, 30_000
FIRST_MS = 1000
RPC_TIMEOUT_MS = 3000
PEER_TIMEOUT_MS = 1000
_LIFE_MS = Timeout.LOCK_LIFE.value.ms

RENEW, ROUTE = "renew", "route"
"""Timers of a client: the next request for all its locks, the next request for the master."""

Key = tuple[str, str, int]
"""Consumer group, topic, queue."""


@dataclass(frozen=True, slots=True)
class LockRules:
    """``strict``: a majority of all ``replicas`` must grant (``lockInStrictMode``, ``totalReplicas``)."""

    strict: bool = False
    replicas: int = 3

    @property
    def quorum(self) -> int:
        """The number of brokers that must grant."""
        return majority(self.replicas) if self.strict else 1


@dataclass(frozen=True, slots=True)
class Entry:
    """One lock: its holder, and when it was last renewed (ms of the broker's clock)."""

    client: str
    renewed_ms: int

    def is_expired(self, now_ms: int) -> bool:
        """Return True when any client may take it."""
        return now_ms - self.renewed_ms > _LIFE_MS


@dataclass(frozen=True, slots=True)
class LockTable:
    """All locks of one broker, and the consumer groups that ever asked its process for one."""

    entries: tuple[tuple[Key, Entry], ...] = ()
    groups: tuple[str, ...] = ()


Line = tuple[str, dict[str, Any]]
"""The kind and values of a log line."""


def locked(
    table: LockTable, keys: Iterable[Key], client: str, now_ms: int
) -> tuple[LockTable, tuple[Key, ...], list[Line]]:
    """Return the table after ``tryLockBatch``, what was granted or renewed, and the lines; a renewal prints none."""
    entries, granted = dict(table.entries), []
    lines: list[Line] = []
    groups = set(table.groups)
    for key in keys:
        groups.add(key[0])
        entry = entries.get(key)
        of = {"key": key, "client_id": client}
        if entry is None:
            lines.append(("LOCK_NEW", of))
        elif entry.client == client and not entry.is_expired(now_ms):
            lines.append(("LOCK_RENEWED", of))
        elif entry.is_expired(now_ms):
            lines.append(("LOCK_TAKEN_EXPIRED", {**of, "peer_client_id": entry.client}))
        else:
            lines.append(("LOCK_REFUSED", {**of, "peer_client_id": entry.client}))
            continue
        entries[key] = Entry(client, now_ms)
        granted.append(key)
    return LockTable(tuple(sorted(entries.items())), tuple(sorted(groups))), tuple(granted), lines


def unlocked(table: LockTable, keys: tuple[Key, ...], client: str) -> tuple[LockTable, list[Line]]:
    """Return the table after ``unlockBatch``, without the client's entries, expired or not, and the lines."""
    entries = dict(table.entries)
    lines: list[Line] = []
    if keys and keys[0][0] not in table.groups:
        return table, [("LOCK_RELEASE_NO_GROUP", {"keys": keys, "client_id": client})]
    for key in keys:
        entry = entries.get(key)
        of = {"key": key, "client_id": client}
        if entry is None:
            lines.append(("LOCK_RELEASE_NONE", of))
        elif entry.client == client:
            lines.append(("LOCK_RELEASED", of))
            del entries[key]
        else:
            lines.append(("LOCK_RELEASE_REFUSED", {**of, "peer_client_id": entry.client}))
    return replace(table, entries=tuple(sorted(entries.items()))), lines


# -- messages ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lock:
    """A client requests locks; ``only_this``: the requester is another broker that counts the grants."""

    keys: tuple[Key, ...]
    client: str
    number: int
    only_this: bool = False


@dataclass(frozen=True, slots=True)
class Granted:
    """The locks granted of the request with this number."""

    keys: tuple[Key, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Unlock:
    """A client releases locks; ``only_this`` as in :class:`Lock`."""

    keys: tuple[Key, ...]
    client: str
    only_this: bool = False


@dataclass(frozen=True, slots=True)
class WhoIsMaster:
    """A client asks a name server for its broker."""


@dataclass(frozen=True, slots=True)
class Route:
    """The master, or the slave that acts for it; None without either."""

    broker: str | None


@dataclass(frozen=True, slots=True)
class Assign:
    """Rebalancing assigns these queues to the client."""

    keys: tuple[Key, ...]


# -- clients ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Client:
    """A consumer that reads in order; ``servers`` are the name servers that it knows."""

    name: str
    servers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClientState:
    """``broker`` is the assumed master; ``held`` are the locks that the client believes it holds, with their time."""

    assigned: tuple[Key, ...] = ()
    broker: str | None = None
    server: int = 0
    number: int = 0
    held: tuple[tuple[Key, int], ...] = ()


Step = tuple[ClientState, tuple[Act, ...]]


class _Turn(Turn[Client, ClientState]):
    """One step of a client."""

    jitter_ms = 10


def start(member: Client, _: Mapping[str, Any], now_ms: int) -> Step:
    """Start a client: it asks for the master, then for the locks of its queues."""
    turn = _Turn(member, ClientState(), now_ms, "client")
    _look(turn)
    turn.wait(RENEW, FIRST_MS)
    return turn.done()


def step(member: Client, state: ClientState, now_ms: int, incoming: Input) -> Step:
    """Handle one input of a client."""
    turn = _Turn(member, state, now_ms, "client")
    match incoming:
        case Fired(timer):
            _renew(turn) if timer == RENEW else _look(turn)
        case Heard(_, Route(broker)):
            turn.change(broker=broker)
        case Heard(_, Granted(keys)):
            _believe(turn, keys)
        case Unanswered(_, WhoIsMaster(), _):
            turn.change(server=state.server + 1)
        case Asked(Assign(keys)):
            _rebalance(turn, keys)
    return turn.done()


def _look(turn: _Turn) -> None:
    server = turn.member.servers[turn.state.server % len(turn.member.servers)]
    turn.send(server, WhoIsMaster(), RPC_TIMEOUT_MS)
    turn.wait(ROUTE, ROUTE_MS)


def _renew(turn: _Turn) -> None:
    """Request the locks of all queues, held or not (``lockMQPeriodically``)."""
    turn.wait(RENEW, RENEW_MS)
    _ask(turn, turn.state.assigned)


def _ask(turn: _Turn, keys: tuple[Key, ...]) -> None:
    if keys and turn.state.broker is not None:
        turn.change(number=turn.state.number + 1)
        turn.send(turn.state.broker, Lock(keys, turn.member.name, turn.state.number))


def _believe(turn: _Turn, keys: tuple[Key, ...]) -> None:
    held = {**dict(turn.state.held), **dict.fromkeys(keys, turn.now_ms)}
    believed = tuple(sorted((key, since) for key, since in held.items() if key in turn.state.assigned))
    turn.change(held=believed)
    turn.say("CLIENT_HOLDS", keys=tuple(key for key, _ in believed))


def _rebalance(turn: _Turn, keys: tuple[Key, ...]) -> None:
    """Release lost queues and lock new ones (``updateProcessQueueTableInRebalance``)."""
    gone = tuple(key for key in turn.state.assigned if key not in keys)
    new = tuple(key for key in keys if key not in turn.state.assigned)
    turn.change(assigned=keys, held=tuple(item for item in turn.state.held if item[0] in keys))
    if gone and turn.state.broker is not None:
        turn.send(turn.state.broker, Unlock(gone, turn.member.name))
    _ask(turn, new)
