"""Which servers belong together: by the addresses that sentinels announce, and by who copies from whom.

A server does not print the name under which it is watched, nor its own address before somebody tells it one. It prints
its master's address, those of its replicas, and the ids of histories of data, which both ends print:

    redis-1   Replication backlog created, my new replication IDs are '2671..' and '0000..'
    redis-2   Connecting to MASTER 10.0.0.1:6379
    redis-2   Full resync from master: 2671..:0          so 10.0.0.1:6379 is redis-1
    sentinel  +monitor master orders 10.0.0.1 6379       so both are of the group orders

In a cluster the servers that copy from each other are a shard. It bears the name of the first of its sources, as they
are sorted. A replica that goes over to another shard is of that one from then on, if it says that it migrates, or
copies a history that the other shard's master has made: an address alone may be another server's by now.
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
"""The lines that introduce somebody."""

CLUSTER_MODE = "cluster"
SHARD = "shard-"
_AT_OWN_ADDRESS = re.compile(r"\bladdr=(\S+)")
_BY_CLIENT = frozenset({"RD_MASTER", "RD_REPLICA", "RC_MANUAL"})
_FOLLOWS = frozenset({"RD_CONNECTS", "RD_REPLICA"})
_COPIES = frozenset({"RD_FULL", "RD_HISTORY"})
_MAKES = frozenset({"RD_BACKLOG", "RD_PROMOTED"})
_NAMES_OWN = frozenset({"RC_ID", "RC_NEW_ID", "RC_RESET_ID"})


@dataclass(slots=True)
class Server:
    """What one log says of its server, and of others."""

    place: Place
    port: int = 6379
    host: str | None = None
    cluster: bool = False
    node_id: str | None = None
    addresses_told: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    masters: list[tuple[int, str, bool]] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    copied: set[tuple[str, str]] = field(default_factory=set)
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
                self.masters.append((line.at, other, self._moves))
        if line.value and kind in _COPIES and self.masters:
            self.copied.add((self.masters[-1][1], line.value))
        if line.value and kind in _MAKES:
            self.made.add(line.value)
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
        """Its addresses, by its own word."""
        return self.addresses_told | ({f"{self.host}:{self.port}"} if self.host else set())


def introduce(lines: Iterable[Introduction]) -> Mapping[Place, Introduced]:
    """Whom each server of a cluster speaks for. Sentinels name their groups themselves."""
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
    groups = _groups(known, addresses, watched)
    _last_one(known, addresses, groups, watched)
    ids = {
        address: server.node_id
        for server in known
        if server.node_id is not None and (address := addresses.get(server.place)) is not None
    }
    shards = {server.node_id: groups[server.place] for server in known if server.node_id and server.place in groups}
    moved = _moves(known, addresses, groups)
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
    """The address of each server that says one, or whose history somebody copied from there."""
    found = {server.place: min(server.own_addresses) for server in servers if server.own_addresses}
    makers: dict[str, list[Server]] = {}
    for server in servers:
        for history in server.made:
            makers.setdefault(history, []).append(server)
    by_history: dict[Place, set[str]] = {}
    for server in servers:
        for address, history in server.copied:
            if len(made_by := makers.get(history, [])) == 1 and made_by[0] is not server:
                by_history.setdefault(made_by[0].place, set()).add(address)
    taken = set(found.values())
    for place, addresses in sorted(by_history.items()):
        if place not in found and len(addresses - taken) == 1:
            found[place] = next(iter(addresses - taken))
    return found


def _groups(servers: list[Server], addresses: Mapping[Place, str], watched: Mapping[str, set[str]]) -> dict[Place, str]:
    """The group of each server: that of its address, of those that it names, or the shard that it belongs to."""
    found: dict[Place, str] = {}
    for server in servers:
        for about in ({addresses.get(server.place)}, server.named):
            names = {group for group, members in watched.items() if members & about}
            if len(names) == 1 and not server.cluster:
                found.setdefault(server.place, next(iter(names)))
    rest = [server for server in servers if server.place not in found]
    return found | _shards(rest, addresses)


def _copies(servers: Iterable[Server]) -> list[tuple[int, Place, str, bool]]:
    """When each server began to copy from which address, in order, and whether it says that it migrates."""
    return sorted((when, server.place, master, moves) for server in servers for when, master, moves in server.masters)


def _shards(servers: list[Server], addresses: Mapping[Place, str]) -> dict[Place, str]:
    """Servers that copy from each other, under the name of the first source."""
    at = {address: place for place, address in addresses.items()}
    of = {server.place: {server.place} for server in servers}
    by_address: dict[str, set[Place]] = {}
    won = {server.place: server.won for server in servers}
    for _, place, master, moves in _copies(servers):
        target = at.get(master)
        shard = of[place]
        other = of.get(target) if target is not None else by_address.setdefault(master, set())
        if other is None or moves or shard is other:
            continue
        both_settled = len(shard) > 1 and len(other) > 1
        if both_settled or (len(shard) > 1 and target is not None and not won[target]):
            continue
        joined = shard | other
        for member in joined:
            of[member] = joined
        if target is None:
            by_address[master] = joined
    return {place: f"{SHARD}{min(shard)[0]}" for place, shard in of.items()}


def _moves(
    servers: Iterable[Server], addresses: Mapping[Place, str], groups: Mapping[Place, str]
) -> dict[Place, list[tuple[int, str]]]:
    """When each node of a cluster went over to another shard."""
    of_cluster = {server.place: server for server in servers if server.cluster}
    at = {addresses[place]: server for place, server in of_cluster.items() if place in addresses}
    now, found = dict(groups), dict[Place, list[tuple[int, str]]]()
    for when, place, address, migrates in _copies(of_cluster.values()):
        master = at.get(address)
        if master is None or now[master.place] == now[place]:
            continue
        if migrates or any((address, history) in of_cluster[place].copied for history in master.made):
            now[place] = now[master.place]
            found.setdefault(place, []).append((when, now[place]))
    return found


def _last_one(
    servers: list[Server], addresses: dict[Place, str], groups: Mapping[Place, str], watched: Mapping[str, set[str]]
) -> None:
    """Of a group of which all servers but one are known by their addresses, the last one has the last address."""
    for group, members in watched.items():
        of_group = [server.place for server in servers if groups.get(server.place) == group]
        unknown = [place for place in of_group if place not in addresses]
        left = members - {addresses[place] for place in of_group if place in addresses}
        if len(unknown) == 1 and len(left) == 1:
            addresses[unknown[0]] = next(iter(left))
