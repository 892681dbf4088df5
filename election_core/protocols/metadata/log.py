"""The state machine of a broker's offsets, topics and groups, by its logs and the copies of its metadata files.

Sources: RocketMQ ``BrokerPreOnlineService`` (how a returning master takes over what happened meanwhile),
``BrokerController#startService`` and ``#updateMinBroker`` (who serves), ``SlaveSynchronize`` (how slaves copy),
``ConsumerOffsetManager`` and ``ScheduleMessageService`` (offsets), ``DataVersion``.

Tables are large and change all the time; a switch is rare. So facts hold the version of every snapshot, but its offsets
only around events of the broker: the last snapshot before and the first two after. When the logs come before the
snapshots (:meth:`MetadataLog.after_logs`), no other table is held in memory, and tables more than a day older than the
logs' end are ``given_up``: no later night reads them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import BROKER, UNIDENTIFIED, Identity
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import DIED, STOPPED
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.metadata.facts import (
    ActedAsMaster,
    BeganToServe,
    NameDropped,
    OffsetCopied,
    ReverseSynced,
    TableCopied,
    VersionSeen,
)

PROTOCOL = "metadata"

MASTER_ID = "0"

PRE_ONLINE = "pre_online"
SKIPPED = "skipped"
NO_MASTER = "no_master"
ALONE = "alone"
NOT_NEEDED = "not_needed"
SMALLER_ID = "smaller_id"

_BEFORE_SERVING = {
    "PRE_MASTER_DONE": PRE_ONLINE,
    "PRE_SLAVE_DONE": PRE_ONLINE,
    "PRE_NO_HA_ADDR": NO_MASTER,
    "PRE_NO_MASTER": NO_MASTER,
    "PRE_ALONE": ALONE,
    "PRE_NOT_NEEDED": NOT_NEEDED,
}
"""How a broker came to serve, by the last line of BrokerPreOnlineService#prepareForBrokerOnline."""

_TAKEN = {
    "PRE_REVERSE_CONSUMER": "consumer_offset",
    "PRE_REVERSE_DELAY": "delay_offset",
    "PRE_REVERSE_TIMER": "timer_checkpoint",
}

AFTER = 2
"""The number of snapshots after an event that are read."""


SETTLES = Timeout.TABLES_SETTLE.us

Table: TypeAlias = tuple[str, str]
"""The stream of a snapshot, and the table that it holds."""


@dataclass(slots=True)
class Snapshot:
    """One metadata file as it was at ``at``; ``entries`` are the events of its offsets. ``wanted`` counts the files of
    its kind, this one included, that still follow an event closely enough to be read."""

    key: Table
    head: FoldEvent
    entries: list[FoldEvent] = field(default_factory=list)
    wanted: int = 0

    @property
    def kind(self) -> str:
        """Return the name of the table."""
        return self.key[1]

    @property
    def at(self) -> int:
        """Return when it was taken, in us UTC."""
        return self.head.at


@dataclass(slots=True)
class MetadataLog:
    """The state machine of one broker's logs and snapshots."""

    snapshots: dict[Table, Snapshot] = field(default_factory=dict)
    given_up: set[Table] = field(default_factory=set)
    serving: list[FoldEvent] = field(default_factory=list)
    smallest: list[FoldEvent] = field(default_factory=list)
    before_online: list[FoldEvent] = field(default_factory=list)
    troubles: list[int] = field(default_factory=list)
    dropped: list[FoldEvent] = field(default_factory=list)
    identity_file: FoldEvent | None = None
    _happened: list[int] | None = None
    _settled: int | None = None
    _newest: dict[str, Snapshot] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next line or the next record of a snapshot."""
        _HANDLERS[event.kind](self, event)

    def after_logs(self, incarnations: list[Incarnation]) -> None:
        """Take the end of the logs: all events are known; snapshots follow, each kind in order of time."""
        events = (*self.serving, *self.smallest, *self.before_online)
        self._happened = sorted(_marks(incarnations, []) | {event.at for event in events} | set(self.troubles))
        self._settled = incarnations[-1].last_seen - SETTLES if incarnations else None

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this broker proves about its metadata."""
        del stream  # one state machine reads all logs and snapshots of the broker
        if not (self.snapshots or self.smallest or self.before_online):
            return
        incarnations = speaker.incarnations.get(BROKER, [])
        emit = speaker.about(
            self._group(speaker), PROTOCOL, "broker.log", lambda time: self._node(speaker, incarnations, time)
        )
        for snapshot in self.snapshots.values():
            head = snapshot.head
            yield VersionSeen(
                *emit.at(head),
                table_name=snapshot.kind,
                state_version=head.state_version,
                version_timestamp=head.version_timestamp,
                counter=head.counter,
            )
        if not self._acting_mode(speaker.identity):
            return
        yield from emit.alive()
        yield from emit.silences()
        acting = list(self._acting(emit))
        returns = list(self._returns(emit, speaker.identity))
        yield from acting
        yield from returns
        yield from self._reversed(emit)
        for event in self.dropped:
            yield NameDropped(*emit.at(event), consumer_group=event.consumer_group, topic=event.topic)
        yield from self._tables(emit, _marks(incarnations, [*acting, *returns]) | set(self.troubles))

    # -- who ----------------------------------------------------------------------------------------------

    def _group(self, speaker: Speaker) -> str:
        identity = speaker.identity
        if identity.setting("enableDLegerCommitLog") == "true" and (group := identity.setting("dLegerGroup")):
            return group
        from_file = self.identity_file.replica_group if self.identity_file else None
        return identity.broker_set or identity.setting("brokerName") or from_file or speaker.broker_set or UNIDENTIFIED

    def _node(self, speaker: Speaker, incarnations: list[Incarnation], time: int) -> str:
        """Return the member's name: its elected or proposed id, else the id it serves under, else the folder's name."""
        identity = speaker.identity
        member = identity.setting("dLegerSelfId") if identity.setting("enableDLegerCommitLog") == "true" else None
        if found := member or identity.broker_id_at(time, incarnations):
            return found
        if self.identity_file is not None and self.identity_file.node:
            return self.identity_file.node
        broker_id = self._served_as() or identity.setting("brokerId")
        return broker_id or speaker.listed.member or speaker.source_node

    def _served_as(self) -> str | None:
        return next((event.broker_id for event in self.serving if event.broker_id), None)

    def _acting_mode(self, identity: Identity) -> bool:
        """Return True when the log shows the mode of slave acting masters: in other modes nobody hands over."""
        return bool(self.smallest or self.before_online) or identity.setting("enableSlaveActingMaster") == "true"

    # -- who served ---------------------------------------------------------------------------------------

    def _acting(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield periods in which this slave had the smallest id (BrokerController#onMinBrokerChange)."""
        for number, incarnation in enumerate(emit.incarnations):
            begun: FoldEvent | None = None
            for event in (e for e in self.smallest if incarnation_at(emit.incarnations, e.at) == number):
                node = emit.node_at(event.at)
                if event.peer == node and node != MASTER_ID:
                    unseen = begun is not None and event.value_before not in (None, node)  # the end was not printed
                    begun = event if unseen else begun or event
                elif begun is not None and event.peer != node:
                    end = (event.at, max(event.by, begun.at), event.event_id)
                    yield _period(emit, begun, end, SMALLER_ID, event.peer)
                    begun = None
            if begun is not None:
                yield _period(emit, begun, *_end_of(incarnation))

    def _returns(self, emit: FactWriter, identity: Identity) -> Iterator[Fact]:
        """Yield the moments from which on this broker served, with what it had done before."""
        switched_on = {incarnation_at(emit.incarnations, e.at) for e in self.serving if e.kind != "PRE_NOT_NEEDED"}
        for event in self.serving:
            incarnation = incarnation_at(emit.incarnations, event.at)
            if event.kind == "PRE_NOT_NEEDED" and incarnation in switched_on:
                continue  # another line of this run shows when its isolation ended
            causes = [
                e
                for e in self.before_online
                if incarnation_at(emit.incarnations, e.at) == incarnation and _explains(e, event)
            ]
            cause = _BEFORE_SERVING[causes[-1].kind] if causes else None
            if cause is None and event.kind == "BRK_SERVICE_ON" and (event.thread or "").rpartition("#")[2] == "main":
                cause = SKIPPED  # BrokerController#start serves by itself only with skipPreOnline or without the mode
            evidence = (event.event_id, *(e.event_id for e in causes[-1:]))
            yield BeganToServe(
                *emit.at(event),
                skip_pre_online=identity.setting("skipPreOnline"),
                cause=cause,
                evidence=evidence,
            )

    def _reversed(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield what each reverse sync took over (BrokerPreOnlineService#syncMetadataReverse). Its first line may be
        lost; the lines about tables name the member too."""
        current: FoldEvent | None = None
        taken: list[FoldEvent] = []
        for event in [*self.before_online, None]:
            took = event is not None and event.kind in _TAKEN
            if took and event is not None and current is not None and current.peer_address == event.peer_address:
                taken.append(event)
            elif event is None or took or event.kind == "PRE_REVERSE":
                if current is not None:
                    yield ReverseSynced(
                        *emit.at(current),
                        address=current.peer_address,
                        tables=tuple(sorted({_TAKEN[e.kind] for e in taken})),
                        evidence=tuple(dict.fromkeys((current.event_id, *(e.event_id for e in taken)))),
                    )
                current, taken = event, [event] if took and event is not None else []

    # -- tables -------------------------------------------------------------------------------------------

    def _tables(self, emit: FactWriter, marks: set[int]) -> Iterator[Fact]:
        """Yield the tables around ``marks``, and the last one of each kind."""
        by_kind: dict[str, list[Snapshot]] = {}
        for snapshot in self.snapshots.values():
            by_kind.setdefault(snapshot.kind, []).append(snapshot)
        for _, copies in sorted(by_kind.items()):
            copies.sort(key=lambda copy: (copy.at, copy.head.event_id))
            times = [copy.at for copy in copies]
            places = {bisect_right(times, mark) + step for mark in marks for step in range(-1, AFTER)}
            places.add(len(copies) - 1)
            for place in sorted(places & set(range(len(copies)))):
                yield from _table(emit, copies[place])

    # -- lines --------------------------------------------------------------------------------------------

    def _on_version(self, event: FoldEvent) -> None:
        """Take the head of a snapshot, and drop the former one of its kind if no event is near it."""
        snapshot = Snapshot((event.stream, event.setting or ""), event)
        before = self._newest.get(snapshot.kind)
        if before is not None and self._happened is not None:
            since_before = bisect_left(self._happened, event.at) - bisect_left(self._happened, before.at)
            snapshot.wanted = AFTER if since_before else max(before.wanted - 1, 0)
            if not since_before and not before.wanted:
                before.entries.clear()
                before.head = replace(before.head, members=None)
                if self._settled is not None and event.at < self._settled:
                    self.given_up.add(before.key)
        elif self._happened is not None:
            snapshot.wanted = AFTER
        self._newest[snapshot.kind] = snapshot
        self.snapshots[snapshot.key] = snapshot

    def _on_entry(self, event: FoldEvent) -> None:
        snapshot = self.snapshots.get((event.stream, event.setting or ""))
        if snapshot is not None:
            snapshot.entries.append(event)

    def _on_identity(self, event: FoldEvent) -> None:
        if not event.flag:
            self.identity_file = event

    def _on_serving(self, event: FoldEvent) -> None:
        self.serving.append(event)
        if event.peer is not None:
            self.smallest.append(event)

    def _on_not_needed(self, event: FoldEvent) -> None:
        """Take a broker that is the only replica by configuration: it is never isolated, so it logs no service."""
        self.before_online.append(event)
        self.serving.append(event)

    def _on_smallest(self, event: FoldEvent) -> None:
        self.smallest.append(event)

    def _on_before_online(self, event: FoldEvent) -> None:
        self.before_online.append(event)

    def _on_trouble(self, event: FoldEvent) -> None:
        """Take a sign that the name servers lost this master: it does not stop, so only these lines show it."""
        self.troubles.append(event.at)

    def _on_dropped(self, event: FoldEvent) -> None:
        self.dropped.append(event)


def _explains(claim: FoldEvent, serving: FoldEvent) -> bool:
    """Return True when a line tells how the broker came to serve; PRE_NOT_NEEDED tells it only about itself."""
    return claim.kind in _BEFORE_SERVING and (claim.kind != "PRE_NOT_NEEDED" or claim is serving)


def _table(emit: FactWriter, snapshot: Snapshot) -> Iterator[Fact]:
    """Yield one fact for the table of a snapshot, and one for each of its offsets."""
    head = snapshot.head
    yield TableCopied(
        *emit.at(head),
        names=head.members,
        table_name=snapshot.kind,
        state_version=head.state_version,
        version_timestamp=head.version_timestamp,
        counter=head.counter,
    )
    for entry in snapshot.entries:
        if entry.queue_offset is None:
            continue
        yield OffsetCopied(
            *emit.at(entry),
            offset=entry.queue_offset,
            table_name=snapshot.kind,
            consumer_group=entry.consumer_group,
            topic=entry.topic,
            queue_id=entry.queue_id,
        )


def _marks(incarnations: list[Incarnation], periods: list[Fact]) -> set[int]:
    """Return the times in us of the broker's events: starts, silences, last signs, serving and acting."""
    marks = {
        time
        for incarnation in incarnations
        for time in (
            incarnation.first_seen,
            incarnation.last_seen,
            *(t for gap in incarnation.silences for t in (gap.begin, gap.end)),
        )
    }
    return marks | {time for fact in periods for time in (fact.since, fact.until) if time is not None}


def _end_of(incarnation: Incarnation) -> tuple[tuple[int | None, int | None, str | None], str | None, None]:
    """Return how an acting period ends with its process run: (time, latest, line), cause, no peer."""
    if incarnation.stop is not None:
        return (
            (incarnation.stop, max(incarnation.stop, incarnation.last_by), incarnation.stop_event),
            STOPPED,
            None,
        )
    if incarnation.next_start is not None:
        return (incarnation.last_seen, incarnation.next_start, incarnation.next_start_event), DIED, None
    return (None, None, None), None, None


def _period(
    emit: FactWriter,
    begun: FoldEvent,
    end: tuple[int | None, int | None, str | None],
    end_cause: str | None,
    peer: str | None,
) -> ActedAsMaster:
    return ActedAsMaster(
        *emit.during(emit.node_at(begun.at), begun.at, begun.by, begun.event_id, *end),
        peer=peer,
        address=begun.peer_address,
        end_cause=end_cause,
    )


_HANDLERS: dict[str, Callable[[MetadataLog, FoldEvent], None]] = {
    "META_SNAPSHOT_VERSION": MetadataLog._on_version,
    "META_SNAPSHOT_OFFSET": MetadataLog._on_entry,
    "META_SNAPSHOT_DELAY": MetadataLog._on_entry,
    "META_SNAPSHOT_IDENTITY": MetadataLog._on_identity,
    "BRK_SERVICE_ON": MetadataLog._on_serving,
    "BRK_SERVICE_ON_MIN": MetadataLog._on_serving,
    "BRK_MIN_CHANGED": MetadataLog._on_smallest,
    "BRK_MEMBERS_ERR": MetadataLog._on_trouble,
    "XHA_CONN_NEW": MetadataLog._on_trouble,
    "META_TOPIC_DELETE_NONE": MetadataLog._on_dropped,
    "META_GROUP_DELETE_NONE": MetadataLog._on_dropped,
    "PRE_REVERSE": MetadataLog._on_before_online,
    **dict.fromkeys([*_BEFORE_SERVING, *_TAKEN], MetadataLog._on_before_online),
    "PRE_NOT_NEEDED": MetadataLog._on_not_needed,
}

ENTRIES = frozenset({"META_SNAPSHOT_OFFSET", "META_SNAPSHOT_DELAY"})
"""The kinds of events of table entries."""

KINDS = frozenset(_HANDLERS)
"""The kinds of events that the fold reads."""
