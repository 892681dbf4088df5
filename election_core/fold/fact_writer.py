"""A source as a witness: who it is, when it lived, and how what it saw becomes a fact.

A line rarely says for which replica group and member it speaks. The log itself does, elsewhere: votes name the
group, registrations name broker set and broker id. What the whole log says about itself is used for all its lines,
life by life, since a process may come back under another id.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

from election_core.fold.process_runs import SECOND, Incarnation, incarnation_at
from election_core.fold.roles import Span
from election_core.model import facts
from election_core.model.facts import Fact
from election_core.model.fold_event import FoldEvent

CONTROLLER_GROUP = "controller"
"""The replica group that the controllers themselves form."""
UNIDENTIFIED = "unidentified"
"""The replica group of a node whose log never says to which group it belongs."""

BROKER = "broker"
CONTROLLER = "controller"
NAMESERVER = "nameserver"
ETCD = "etcd"
ZOOKEEPER = "zookeeper"
SNAPSHOTS = "snapshots"
"""No process of the system: the collector that took copies of metadata files, also while their owner was dead."""


_PROCESSES = (
    ("namesrv", NAMESERVER),
    ("controller", CONTROLLER),
    ("dledger", CONTROLLER),
    ("jraft", CONTROLLER),
    ("etcd", ETCD),
    ("zookeeper", ZOOKEEPER),
)
"""How the names of a process's files begin; all others are a broker's."""


@lru_cache(maxsize=4096)
def process_of(stream: str) -> str:
    """Which process of a machine writes a file, by the file's name; canonical events tell of themselves alone."""
    if "/" in stream:  # only a snapshot has a folder in its name
        return SNAPSHOTS
    if stream.endswith(".events.jsonl"):
        return stream
    return next((process for beginning, process in _PROCESSES if stream.startswith(beginning)), BROKER)


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
"""Lines in which a broker names its own broker set."""
NAMES_BROKER_ID = frozenset({"BRK_REG_APPLIED", "BRK_ROLE_DONE", "BRK_SLAVE_BEGIN"})
"""Lines in which a broker of the controller mode names its own persistent id."""
IDENTITY_KINDS = NAMES_BROKER_SET | NAMES_BROKER_ID | {"CFG_ITEM", "CFG_REPLACE"}


@dataclass(slots=True)
class Identity:
    """What a source says about itself: broker set, broker ids over time, settings of its configuration dump."""

    broker_set: str | None = None
    ids: list[tuple[int, str]] = field(default_factory=list)
    settings: dict[str, FoldEvent] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take an event of one of :data:`IDENTITY_KINDS`."""
        if event.kind in NAMES_BROKER_SET and event.replica_group is not None:
            self.broker_set = event.replica_group
        if event.kind in NAMES_BROKER_ID and event.node is not None:
            self.ids.append((event.at, event.node))
        if event.setting is not None and event.value:
            self.settings[event.setting] = event

    def setting(self, name: str) -> str | None:
        """The last value of a setting; ``None`` where the log does not show it, which does not mean the default."""
        found = self.settings.get(name)
        return found.value if found is not None else None

    def broker_id_at(self, time: int, incarnations: list[Incarnation]) -> str | None:
        """The broker id that the process had: the last one said in the life of ``time``, else the next one."""
        life = incarnation_at(incarnations, time)
        own = [(at, node) for at, node in self.ids if incarnation_at(incarnations, at) == life]
        before = [node for at, node in own if at <= time]
        if before:
            return before[-1]
        if own:
            return own[0][1]
        earlier = [node for at, node in self.ids if at <= time]
        return earlier[-1] if earlier else None


@dataclass(frozen=True, slots=True)
class Listed:
    """Whom the inventory says that a source speaks for; it counts only where the log does not say."""

    replica_group: str | None = None
    member: str | None = None


NOT_LISTED = Listed()


@dataclass(frozen=True, slots=True)
class Speaker:
    """One source after its last event: identity and lives, by process."""

    cluster: str
    source_node: str
    bound_ms: int
    identity: Identity
    incarnations: dict[str, list[Incarnation]]
    listed: Listed = NOT_LISTED

    @property
    def broker_set(self) -> str | None:
        """The broker set, by its own lines, else by the inventory."""
        return self.identity.broker_set or self.listed.replica_group

    def broker_id_at(self, time: int, incarnations: list[Incarnation]) -> str | None:
        """The broker id that the process had, by its own lines, else by the inventory."""
        return self.identity.broker_id_at(time, incarnations) or self.listed.member

    def about(self, group: str, protocol: str, stream: str, node_at: Callable[[int], str | None]) -> "FactWriter":
        """Facts of one protocol about one group, from the process that writes ``stream``."""
        return FactWriter(self, group, protocol, self.incarnations.get(process_of(stream), []), node_at)


class Noted(Protocol):
    """Anything that a log noted with a time: an event, a decision, a grant."""

    @property
    def at(self) -> int:
        """Not before this, in microseconds UTC on the own clock."""

    @property
    def by(self) -> int:
        """Not after this."""

    @property
    def event_id(self) -> str:
        """The line."""


@dataclass(frozen=True, slots=True)
class FactWriter:
    """Makes facts of one protocol about one group. ``node_at`` names the node that speaks, at a time."""

    speaker: Speaker
    group: str
    protocol: str
    incarnations: list[Incarnation]
    node_at: Callable[[int], str | None]

    def saw(self, kind: str, noted: Noted, **more: Any) -> Fact:
        """A fact at the time of what was noted; ``node`` is the speaker unless given."""
        if "node" not in more:
            more["node"] = self.node_at(noted.at)
        return self.fact(kind, noted.at, noted.by, noted.event_id, **more)

    def fact(self, kind: str, since: int, since_by: int, since_event: str | None, **more: Any) -> Fact:
        """A fact with all its parts given; where the clock was put back, an interval still ends after it begins."""
        if more.get("until") is not None and more.get("until_by") is not None:
            more["until_by"] = max(more["until"], more["until_by"])
        return Fact(
            cluster=self.speaker.cluster,
            replica_group=self.group,
            protocol=self.protocol,
            kind=kind,
            source_node=self.speaker.source_node,
            since=since,
            since_by=max(since, since_by),
            since_event=since_event,
            bound_ms=self.speaker.bound_ms,
            **more,
        )

    def roles(self, spans: Iterable[Span]) -> Iterator[Fact]:
        """``ROLE`` facts of role spans."""
        for span in spans:
            step = span.step
            yield self.fact(
                facts.ROLE,
                step.at,
                step.by,
                step.event_id,
                node=step.node or self.node_at(step.at),
                until=span.until,
                until_by=span.until_by,
                until_event=span.until_event,
                role=step.role,
                term=step.term,
                peer=step.leader,
                cause=step.cause,
                result=span.end_cause,
                address=step.address,
            )

    def life(self) -> Iterator[Fact]:
        """``ALIVE`` and ``SILENCE`` facts of the process."""
        for life in self.incarnations:
            yield self.fact(
                facts.ALIVE,
                life.first_seen,
                life.first_seen,
                life.start_event,
                node=self.node_at(life.first_seen),
                until=life.last_seen,
                until_by=life.last_seen + SECOND,
                until_event=life.stop_event,
                flag=life.stop is not None,
            )
            for hole in life.silences:
                yield self.fact(
                    facts.SILENCE,
                    hole.begin,
                    hole.begin + SECOND,
                    hole.begin_event,
                    node=self.node_at(hole.begin),
                    until=hole.end,
                    until_by=hole.end + SECOND,
                    until_event=hole.end_event,
                )
