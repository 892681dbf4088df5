"""Identity: which process writes a file, and what a source says about itself.

Few lines name the replica group and member that wrote them, but others of the same log do: votes name the group,
registrations name broker set and broker id. What a log says about itself anywhere is used for all its lines, process
run by process run, since a process may come back under another id.
"""

from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from typing import NamedTuple

from election_replay.election_core.fold.declared import system_that_writes
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.model.fold_event import FoldEvent

UNIDENTIFIED = "unidentified"
"""The replica group of a node whose log never names its group."""

BROKER = "broker"
CONTROLLER = "controller"
NAMESERVER = "nameserver"
ETCD = "etcd"
ZOOKEEPER = "zookeeper"
SNAPSHOTS = "snapshots"
"""The "process" of copied metadata files: the collector that copied them, even while their owner was dead."""


@lru_cache(maxsize=4096)
def process_of(stream: str) -> str:
    """Return the process of a machine that writes a file, by the file's name; a file of canonical events is its own. A
    broker writes all files that no system claims."""
    if "/" in stream:  # only a snapshot has a folder in its name
        return SNAPSHOTS
    if stream.endswith(".events.jsonl"):
        return stream
    system = system_that_writes(stream)
    return BROKER if system is None else system.process_of(stream)


def is_snapshot(stream: str) -> bool:
    """Return True when a stream is a copy of a metadata file."""
    return process_of(stream) == SNAPSHOTS


NAMES_BROKER_SET = frozenset(
    {
        "BRK_BOOT",
        "BRK_MASTER_BEGIN",
        "BRK_REG_APPLIED",
        "BRK_REG_TEMP",
        "BRK_SLAVE_BEGIN",
        "DLB_MASTER_BEGIN",
        "DLB_SLAVE_BEGIN",
    }
)
"""Kinds of lines in which a broker names its own broker set."""
NAMES_BROKER_ID = frozenset({"BRK_REG_APPLIED", "BRK_ROLE_DONE", "BRK_SLAVE_BEGIN"})
"""Kinds of lines in which a broker in controller mode names its own persistent id."""
TAKES_ROLE = frozenset({"BRK_MASTER_BEGIN", "BRK_SLAVE_BEGIN"})
"""Kinds of lines with a broker's role in controller mode: a master names its address, a slave its master's."""
NAMES_CONTROLLER = frozenset({"JR_NODE_LEADER", "JR_STARTED"})
"""Kinds of lines in which a controller on JRaft names itself."""
NAMES_CONFIGURED_ID = frozenset({"BRK_SERVICE_OFF", "BRK_SERVICE_ON", "BRK_SERVICE_ON_MIN", "PRE_NOT_NEEDED"})
"""Kinds of lines with a broker's configured id; an elected broker has another id while it is master."""
ELECTED_MODE_SETTINGS = ("enableControllerMode", "enableDLegerCommitLog")
"""Settings of a broker whose master is elected, by controllers or by DLedger."""
IDENTITY_KINDS = (
    NAMES_BROKER_SET | NAMES_BROKER_ID | NAMES_CONTROLLER | NAMES_CONFIGURED_ID | {"CFG_ITEM", "CFG_REPLACE"}
)


class NamedId(NamedTuple):
    """A line in which a process names itself; the time is by its own clock, in us UTC."""

    at: int
    by: int
    node: str
    event_id: str


@dataclass(slots=True)
class Identity:
    """What a source says about itself: broker set, ids, addresses, roles over time, settings."""

    broker_set: str | None = None
    ids: list[NamedId] = field(default_factory=list)
    configured_ids: list[NamedId] = field(default_factory=list)
    boots: list[NamedId] = field(default_factory=list)
    controllers: list[NamedId] = field(default_factory=list)
    roles: list[FoldEvent] = field(default_factory=list)
    settings: dict[str, FoldEvent] = field(default_factory=dict)
    _by_life: tuple[list[Incarnation], int, dict[int, list[NamedId]]] | None = None

    def on(self, event: FoldEvent) -> None:
        """Take an event of one of :data:`IDENTITY_KINDS`."""
        if event.kind in NAMES_BROKER_SET and event.replica_group is not None:
            self.broker_set = event.replica_group
        if event.kind in NAMES_BROKER_ID and event.node is not None:
            self.ids.append(NamedId(event.at, event.by, event.node, event.event_id))
        if event.kind in NAMES_CONFIGURED_ID and event.broker_id is not None:
            self.configured_ids.append(NamedId(event.at, event.by, event.broker_id, event.event_id))
        if event.kind == "BRK_BOOT" and event.address is not None:
            self.boots.append(NamedId(event.at, event.by, event.address, event.event_id))
        if event.kind in TAKES_ROLE:
            self.roles.append(event)
        if event.kind in NAMES_CONTROLLER and event.node is not None:
            self.controllers.append(NamedId(event.at, event.by, event.node, event.event_id))
        if event.setting is not None and event.value:
            self.settings[event.setting] = event

    def setting(self, name: str) -> str | None:
        """Return the last value of a setting; ``None``: not in the log, which does not imply the default."""
        found = self.settings.get(name)
        return found.value if found is not None else None

    def broker_id_at(self, time: int, incarnations: list[Incarnation]) -> str | None:
        """Return the broker id at a time: the last one logged in its process run, else the next one of that run."""
        in_this_life = self._ids_of(incarnations).get(incarnation_at(incarnations, time))
        before = bisect_right(in_this_life or self.ids, time, key=attrgetter("at"))
        if in_this_life:
            return in_this_life[max(before - 1, 0)].node
        return self.ids[before - 1].node if before else None

    def _ids_of(self, incarnations: list[Incarnation]) -> dict[int, list[NamedId]]:
        """Return the lines that name an id, by process run; cached for these runs."""
        made = self._by_life
        if made is None or made[0] is not incarnations or made[1] != len(self.ids):
            found: dict[int, list[NamedId]] = {}
            for line in self.ids:
                found.setdefault(incarnation_at(incarnations, line.at), []).append(line)
            made = self._by_life = incarnations, len(self.ids), found
        return made[2]
