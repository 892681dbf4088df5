"""Which servers form a group: by the addresses that sentinels announce, and by which server copies from which.

A server prints neither the name under which it is watched nor, unless it was told, its own address. It prints the
addresses of its master and of its replicas, and the ids of data histories, which both ends print:

    redis-1   Replication backlog created, my new replication IDs are '2671..' and '0000..'
    redis-2   Connecting to MASTER 10.0.0.1:6379
    redis-2   Full resync from master: 2671..:0          so 10.0.0.1:6379 is redis-1
    sentinel  +monitor master orders 10.0.0.1 6379       so both are of the group orders

In a cluster the servers that copy from each other are a shard, named after its first source in sort order. A replica
belongs to another shard from then on if it prints that it migrates, or copies a history of that shard. An address alone
proves nothing: it may belong to another server by now, or its server, if its log is missing, may itself have migrated.
A master that had a replica has a shard, even if the replica's log is missing.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from election_replay.election_core.model.introductions import Introduced, Introduction, Place

KINDS = frozenset(
    {
        *("RD_MODE", "RD_CONNECTS", "RD_REPLICA", "RD_MASTER", "RD_ASKED", "RD_FULL", "RD_HISTORY", "RD_BACKLOG"),
        *("RD_PROMOTED", "RC_ID", "RC_NEW_ID", "RC_RESET_ID", "RC_ADDRESS", "RC_FOLLOWS", "RC_MIGRATES", "RC_WON"),
        *("SN_MONITOR", "SN_REPLICA", "SN_SWITCH", "SN_SDOWN", "SN_CONVERT", "RC_MANUAL"),
    }
)
"""The lines from which servers' names, addresses and histories are read."""

CLUSTER_MODE = "cluster"
SHARD = "shard-"
CLUSTER_ID = re.compile(r"[0-9a-f]{40}")
"""The id of a node of a cluster."""

_AT_OWN_ADDRESS = re.compile(r"\bladdr=(\S+)")
_BY_CLIENT = frozenset({"RD_MASTER", "RD_REPLICA", "RC_MANUAL"})
_FOLLOWS = frozenset({"RD_CONNECTS", "RD_REPLICA"})
_COPIES = frozenset({"RD_FULL", "RD_HISTORY"})
_MAKES = frozenset({"RD_BACKLOG", "RD_PROMOTED"})
_NAMES_OWN = frozenset({"RC_ID", "RC_NEW_ID", "RC_RESET_ID"})


def is_shard(group: str, nodes: Iterable[str]) -> bool:
    """Return True if a group with these members is a shard of a cluster: sentinels may watch a group of such a name."""
    return group.startswith(SHARD) and any(CLUSTER_ID.fullmatch(node) for node in nodes)


@dataclass(slots=True)
class Copy:
    """A server began to copy from an address: whether it migrates (``moves``), and the histories that it got."""

    at: int
    place: Place
    master: str
    moves: bool
    histories: set[str] = field(default_factory=set)


@dataclass(eq=False, slots=True)
class Shard:
    """The servers that ``began`` in a shard, addresses of those without a log, and the histories copied there.
    ``part_of``: the shard that this one turned out to be part of."""

    began: set[Place] = field(default_factory=set)
    addresses: set[str] = field(default_factory=set)
    histories: set[str] = field(default_factory=set)
    part_of: "Shard | None" = None

    @property
    def whole(self) -> "Shard":
        """The shard after all joins."""
        return self if self.part_of is None else self.part_of.whole

    @property
    def name(self) -> str:
        """The name, after its first source in sort order."""
        return f"{SHARD}{min(self.began)[0] if self.began else min(self.addresses)}"

    def join(self, other: "Shard") -> None:
        """Join the other shard into this one."""
        self.began |= other.began
        self.addresses |= other.addresses
        self.histories |= other.histories
        other.part_of = self


@dataclass(slots=True)
class Server:
    """One log's lines about its server, and about others."""

    place: Place
    port: int = 6379
    host: str | None = None
    cluster: bool = False
    node_id: str | None = None
    addresses_told: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    copies: list[Copy] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    had_replica: int | None = None
    won: bool = False
    _moves: bool = False

    def on(self, line: Introduction) -> None:
        """Take its next line."""
        kind, other = line.kind, line.peer_address
        if found := _AT_OWN_ADDRESS.search(line.value or "") if kind in _BY_CLIENT else None:
            self.addresses_told.add(found[1])
        if other is not None:
            self.named.add(other)
            if kind in _FOLLOWS:
                self.copies.append(Copy(line.at, self.place, other, self._moves))
        if line.value and kind in _COPIES and self.copies:
            self.copies[-1].histories.add(line.value)
        if line.value and kind in _MAKES:
            self.made.add(line.value)
        if kind == "RD_BACKLOG" and self.had_replica is None:
            self.had_replica = line.at
        self._of_cluster(line)

    def _of_cluster(self, line: Introduction) -> None:
        kind = line.kind
        if kind == "RD_MODE":
            self.port, self.cluster = line.count or self.port, line.setting == CLUSTER_MODE
        elif kind in _NAMES_OWN:
            self.node_id, self.cluster = line.node, True
        elif kind == "RC_ADDRESS":
            self.host = line.address
        elif kind in {"RC_FOLLOWS", "RC_MIGRATES"}:
            self._moves = kind == "RC_MIGRATES"
        elif kind in {"RC_WON", "RC_MANUAL"}:
            self.won = True

    @property
    def own_addresses(self) -> set[str]:
        """Its addresses, by its own lines."""
        return self.addresses_told | ({f"{self.host}:{self.port}"} if self.host else set())


def introduce(lines: Iterable[Introduction]) -> Mapping[Place, Introduced]:
    """Return the group, name and moves of each server. Sentinels name their groups themselves."""
    servers: dict[Place, Server] = {}
    watched: dict[str, set[str]] = {}
    for line in sorted(lines, key=lambda line: (line.source_node, line.stream, line.at)):
        if line.kind.startswith("SN_"):
            if line.replica_group is not None:
                watched.setdefault(line.replica_group, set()).update(
                    found for found in (line.address, line.peer_address) if found
                )
            continue
        place = line.source_node, line.stream
        servers.setdefault(place, Server(place)).on(line)
    sentinels = {place for place, server in servers.items() if not (server.named or server.made or server.node_id)}
    known = [server for place, server in sorted(servers.items()) if place not in sentinels or server.own_addresses]
    addresses = _addresses(known)
    groups, moved = _groups(known, addresses, watched)
    _last_one(known, addresses, groups, watched)
    ids = {
        address: server.node_id
        for server in known
        if server.node_id is not None and (address := addresses.get(server.place)) is not None
    }
    shards = {server.node_id: groups[server.place] for server in known if server.node_id and server.place in groups}
    moves = {server.node_id: moved[server.place] for server in known if server.node_id and server.place in moved}
    return {
        server.place: Introduced(
            groups[server.place],
            server.node_id or addresses.get(server.place),
            *((ids, shards, moves) if server.cluster else ({}, {}, {})),
        )
        for server in known
        if server.place in groups
    }


def _addresses(servers: list[Server]) -> dict[Place, str]:
    """Return the address of each server that prints one, or whose history was copied from one."""
    found = {server.place: min(server.own_addresses) for server in servers if server.own_addresses}
    makers: dict[str, list[Server]] = {}
    for server in servers:
        for history in server.made:
            makers.setdefault(history, []).append(server)
    by_history: dict[Place, set[str]] = {}
    for server in servers:
        for copy in server.copies:
            for made_by in (makers.get(history, []) for history in copy.histories):
                if len(made_by) == 1 and made_by[0] is not server:
                    by_history.setdefault(made_by[0].place, set()).add(copy.master)
    taken = set(found.values())
    for place, addresses in sorted(by_history.items()):
        if place not in found and len(addresses - taken) == 1:
            found[place] = next(iter(addresses - taken))
    return found


Moves = dict[Place, list[tuple[int, str]]]
"""The moves of servers to other shards: (time in us, shard) by server."""


def _groups(
    servers: list[Server], addresses: Mapping[Place, str], watched: Mapping[str, set[str]]
) -> tuple[dict[Place, str], Moves]:
    """Return the group of each server: of its address, of the addresses it names, or its shard; and the moves."""
    found: dict[Place, str] = {}
    for server in servers:
        for about in ({addresses.get(server.place)}, server.named):
            names = {group for group, members in watched.items() if members & about}
            if len(names) == 1 and not server.cluster:
                found.setdefault(server.place, next(iter(names)))
    shards = _Shards([server for server in servers if server.place not in found], addresses)
    return found | shards.home, shards.moves


class _Shards:
    """Servers that copy from each other, and those that moved between shards."""

    def __init__(self, servers: list[Server], addresses: Mapping[Place, str]) -> None:
        self._servers = {server.place: server for server in servers}
        self._at = {address: place for place, address in addresses.items()}
        self._first = {server.place: Shard({server.place}) for server in servers}
        self._now = dict(self._first)
        self._unlogged: dict[str, Shard] = {}
        self._moved: dict[Place, list[tuple[int, Shard]]] = {}
        for copy in sorted((copy for of in servers for copy in of.copies), key=lambda copy: (copy.at, copy.place)):
            self._on(copy)
        self.home = {place: shard.whole.name for place, shard in self._first.items()}
        self.moves: Moves = {}
        for place, moved in self._moved.items():
            last = self.home[place]
            for at, shard in moved:
                if shard.whole.name != last:
                    last = shard.whole.name
                    self.moves.setdefault(place, []).append((at, last))

    def _on(self, copy: Copy) -> None:
        target = self._at.get(copy.master)
        if target is not None and target not in self._now:
            return
        here, there = self._now[copy.place].whole, self._shard_at(copy, target)
        known = copy.histories & (there.histories if target is None else self._servers[target].made)
        if here is there:
            here.histories |= copy.histories
        elif not copy.moves and self._may_be_one(copy, here, there, target):
            here.join(there)
            here.histories |= copy.histories
        elif (copy.moves or known or (target is None and not there.began)) and self._servers[copy.place].cluster:
            there.histories |= copy.histories
            self._now[copy.place] = there
            self._moved.setdefault(copy.place, []).append((copy.at, there))

    def _shard_at(self, copy: Copy, target: Place | None) -> Shard:
        """Return the shard at an address; without a log there, the shard that has the history copied from it."""
        if target is not None:
            return self._now[target].whole
        shards = (shard.whole for shard in (*self._first.values(), *self._unlogged.values()))
        unlogged = self._unlogged.setdefault(copy.master, Shard(addresses={copy.master})).whole
        return next((shard for shard in shards if shard.histories & copy.histories), unlogged)

    def _may_be_one(self, copy: Copy, here: Shard, there: Shard, target: Place | None) -> bool:
        """Return True when two shards are one, of which a log is missing."""
        if not self._settled(here, copy.at):
            return True
        if self._settled(there, copy.at):
            return False
        if target is not None:
            return len(here.began) == 1 or self._servers[target].won
        was_master = self._servers[copy.place].copies[0] is copy
        return not copy.histories or bool(there.histories & copy.histories) or (was_master and not there.histories)

    def _settled(self, shard: Shard, at: int) -> bool:
        """Return True when a shard is known to have a master and a replica by ``at``."""
        had = (self._servers[place].had_replica for place in shard.began)
        return len(shard.began) + len(shard.addresses) > 1 or any(time is not None and time < at for time in had)


def _last_one(
    servers: list[Server], addresses: dict[Place, str], groups: Mapping[Place, str], watched: Mapping[str, set[str]]
) -> None:
    """Give the last unused address of a group to its only server without a known address."""
    for group, members in watched.items():
        of_group = [server.place for server in servers if groups.get(server.place) == group]
        unknown = [place for place in of_group if place not in addresses]
        left = members - {addresses[place] for place in of_group if place in addresses}
        if len(unknown) == 1 and len(left) == 1:
            addresses[unknown[0]] = next(iter(left))
