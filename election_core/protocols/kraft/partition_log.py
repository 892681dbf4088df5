"""Partitions: their leaders and the ends of their logs, by one node's log.

Source: apache/kafka ``core/.../Partition`` (a broker's own lines: it leads, it follows), ``metadata/.../
ReplicationControlManager``, ``PartitionRegistration`` (what controllers record; they do not print ordinary changes of
leaders). A partition is a replica group of its own, named as in Kafka: ``topic-0``. Its terms are leader epochs, and
its SyncStateSet is the ISR. A broker leads until it is told otherwise, however long it is cut off; meanwhile it cannot
commit what its in-sync replicas lack.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import FOLLOWER, LEADER, REMOVED, UNKNOWN, Step, spans
from election_replay.election_core.model.facts import Fact, LastHeard, QuietLog, RefusedWrites, Serving
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.kraft.facts import (
    TOLD_ONE_BY_ONE,
    HeartbeatsCeased,
    InSync,
    ReplicaCut,
    ReplicaLog,
    UncleanLeader,
)
from election_replay.election_core.protocols.kraft.quorum_log import PROTOCOL as OF_QUORUM
from election_replay.election_core.protocols.kraft.quorum_log import QUORUM
from election_replay.election_core.protocols.raft_family.log import HeardLast

PROTOCOL = "partition"

METADATA = "__cluster_metadata-"
"""The prefix of the quorum's own log, which is no partition that a broker leads."""
OF_BROKERS = "__"
"""The prefix of internal topics: consumer offsets, transactions."""


@dataclass(slots=True)
class Replica:
    """The lines of one log about one partition: its node's replica, and controllers' records."""

    steps: list[Step] = field(default_factory=list)
    taken: list[tuple[FoldEvent, str | None, int]] = field(default_factory=list)
    in_sync: dict[tuple[str, int, int], tuple[FoldEvent, str | None, tuple[str, ...]]] = field(default_factory=dict)
    sets: list[FoldEvent] = field(default_factory=list)
    cuts: list[FoldEvent] = field(default_factory=list)
    refused: list[list[FoldEvent]] = field(default_factory=list)
    unclean: list[FoldEvent] = field(default_factory=list)
    deleted: list[FoldEvent] = field(default_factory=list)
    reopened: list[tuple[Step, int, FoldEvent]] = field(default_factory=list)
    last_at: int = 0
    members: frozenset[str] = frozenset()
    topic_id: str | None = None

    def step_at(self, at: int) -> Step | None:
        """Return the last role that its node had taken by ``at``; None without one. Files of one node share only a
        clock."""
        return next((step for step in reversed(self.steps) if step.at <= at), None)

    def short_of_replicas(self, refused: Sequence[FoldEvent]) -> tuple[FoldEvent, FoldEvent]:
        """Return the lines between which too few replicas were in sync, at least around the refused writes."""
        first, last, needed = refused[0], refused[-1], refused[0].count or 0
        before = next((change for change in reversed(self.sets) if change.at <= first.at), first)
        after = next((change for change in self.sets if change.at >= last.at), last)
        shrunk = before is not first and len(before.members or ()) < needed
        return before if shrunk else first, after if len(after.members or ()) >= needed else last

    def note_set(self, event: FoldEvent, term: int | None, leader: str | None, topic_id: str | None) -> None:
        """Note the in-sync replicas from a partition epoch on, as first logged."""
        if term is None or event.sync_state_set_epoch is None or event.members is None:
            return
        key = (topic_id or "", term, event.sync_state_set_epoch)
        known = self.in_sync.get(key)
        if known is None or event.at < known[0].at:
            self.in_sync[key] = (event, leader, event.members)


@dataclass(slots=True)
class PartitionLog:
    """The state machine of one node's logs about all partitions; ``on`` takes the lines of each file in order."""

    node: str | None = None
    replicas: dict[str, Replica] = field(default_factory=dict)
    fenced: list[tuple[FoldEvent, int, int | None]] = field(default_factory=list)
    """Each fenced broker's line, of how many partitions it holds replicas, and since when (us) the controller was
    active."""
    gone: list[FoldEvent] = field(default_factory=list)
    _active_since: int | None = None
    _registering: list[list[FoldEvent]] = field(default_factory=list)
    """For each start of the broker the line that it registers, and the one that it is registered and runs."""
    _stream: str | None = None
    _stopped: set[str] = field(default_factory=set)
    _holds: Counter[str] = field(default_factory=Counter)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of one of this node's files."""
        if event.node is not None:
            self.node = event.node
        self._stream = self._stream or event.stream
        _HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this node proves about each partition."""
        for topic, replica in sorted(self.replicas.items()):
            emit = speaker.about(topic, PROTOCOL, self._stream or stream, self.node)
            yield from self._of_replica(emit, replica)
            yield from self._of_record(emit, replica)
            yield from self._ceased(emit, replica.members)
        emit = speaker.about(speaker.listed.replica_group or QUORUM, OF_QUORUM, self._stream or stream, self.node)
        many = {broker for broker, count in self._holds.items() if count > TOLD_ONE_BY_ONE}
        yield from (fact for fact in self._ceased(emit, many) if isinstance(fact, HeartbeatsCeased))

    def _of_replica(self, emit: FactWriter, replica: Replica) -> Iterator[Fact]:
        if not replica.steps:
            return
        first = replica.steps[0]
        yield QuietLog(*emit.during(self.node, first.at, first.at, None))
        ends = [
            Step(event.at, event.by, UNKNOWN, None, None, event.event_id, REMOVED, self.node, step.address)
            for event in replica.deleted
            if (step := replica.step_at(event.at)) is not None
        ]
        ends += _starts_unseen(replica, emit.incarnations)
        steps = sorted([*replica.steps, *ends], key=attrgetter("at")) if ends else replica.steps
        yield from emit.roles(spans(steps, emit.incarnations, UNKNOWN))
        yield from emit.alive()
        for hole in emit.silences():
            led = replica.step_at(hole.since)
            if led is not None and led.role == LEADER:
                yield hole
        yield from self._served_late(replica, emit)
        for heard in self._heard(replica, emit):
            yield LastHeard(*emit.about(heard.leader, heard))
        for event, topic_id, known in replica.taken:
            yield ReplicaLog(
                *emit.at(event),
                topic_id=topic_id,
                role=LEADER if event.kind == "KAFKA_LEADS" else FOLLOWER,
                term=event.term or 0,
                term_before=known,
                log_end=event.ledger_end or 0,
                high_watermark=event.committed or 0,
            )
        for refused in replica.refused:
            (fell, rose), opening, closing = replica.short_of_replicas(refused), refused[0], refused[-1]
            yield RefusedWrites(
                *emit.during(self.node, fell.at, opening.by, opening.event_id, closing.at, rose.by, closing.event_id),
                why=Refusal.FEW_IN_SYNC.value,
                count=len(refused),
                peer=None,
                evidence=tuple(line.event_id for line in (fell, rose) if line not in (opening, closing)),
            )
        for event, begun, topic_id in _cuts(replica):
            yield ReplicaCut(
                *emit.at(event),
                topic_id=topic_id,
                leader=begun.peer,
                term=begun.term or 0,
                log_end=begun.ledger_end or 0,
                cut_to=event.start_offset or 0,
                high_watermark=begun.committed or 0,
                evidence=(begun.event_id, event.event_id),
            )

    def _served_late(self, replica: Replica, emit: FactWriter) -> Iterator[Fact]:
        """Yield when a leader served that was elected before its broker was registered: a broker lets clients in only
        then (``BrokerServer#startup``), or not at all, if its process ended first."""
        for registers, *runs in self._registering if emit.incarnations else ():
            process = emit.incarnations[incarnation_at(emit.incarnations, registers.at)]
            over = runs[0].at if runs else process.stop or process.next_start
            for step in replica.steps if over is not None else ():
                if step.role == LEADER and registers.at <= step.at < (over or step.at):
                    end = (runs[0].at, runs[0].by, runs[0].event_id) if runs else ()
                    yield Serving(*emit.during(self.node, step.at, step.by, step.event_id, *end), term=step.term or 0)

    def _of_record(self, emit: FactWriter, replica: Replica) -> Iterator[Fact]:
        for event in replica.sets:  # another set was granted to the leader, in its leader epoch at that time
            led = replica.step_at(event.at)
            if led is not None and led.role == LEADER:
                replica.note_set(event, led.term, self.node, led.address)
        for (topic_id, term, set_epoch), (event, leader, members) in sorted(replica.in_sync.items()):
            yield InSync(
                *emit.at(event),
                topic_id=topic_id or None,
                term=term,
                leader=leader,
                set_epoch=set_epoch,
                members=members,
            )
        for event in replica.unclean:
            yield UncleanLeader(
                *emit.at(event),
                topic_id=event.value,
                term=event.term or 0,
                leader=event.peer,
                known=event.value_before,
                members=event.members_before or (),
            )

    def _ceased(self, emit: FactWriter, brokers: Collection[str]) -> Iterator[Fact]:
        """Yield when fenced brokers, among ``brokers``, were heard last. A new active controller counts all sessions
        from its beginning, whenever it or another one heard the broker (``QuorumController#claim``): one that it fences
        within that time may have been silent for long."""
        for event, count, active_since in self.fenced:
            waited = emit.timing.us(Timeout.KAFKA_SESSION)
            # Sessions are checked every eighth of a session.
            since, by = event.at - waited * 9 // 8, event.by - waited
            if event.peer in brokers and (active_since is None or active_since < since):
                end = (event.at, event.by, event.event_id)
                yield HeartbeatsCeased(*emit.during(event.peer, since, by, event.event_id, *end), count=count)
                yield LastHeard(*emit.during(event.peer, since, by, event.event_id))

    def _replica(self, event: FoldEvent) -> Replica:
        return self.replicas.setdefault(event.topic or "", Replica())

    # -- a broker's own word -----------------------------------------------------------------------------

    def _on_leads(self, event: FoldEvent) -> None:
        self._take(event, LEADER, self.node, "elected")
        self._replica(event).note_set(event, event.term, self.node, event.value)

    def _on_follows(self, event: FoldEvent) -> None:
        self._take(event, FOLLOWER, event.peer, "told" if event.peer is not None else "no_leader")

    def _take(self, event: FoldEvent, role: str, leader: str | None, cause: str) -> None:
        """Take a role. Followers print the epoch that they enter as the one before it: their own lines give the real
        one."""
        replica = self._replica(event)
        before = replica.steps[-1].term if replica.steps else None
        known = before if before is not None and event.term is not None and before < event.term else event.term
        if event.value is not None:
            replica.topic_id = event.value
        if event.ledger_end is not None and event.committed is not None:
            replica.taken.append((event, replica.topic_id, known or 0))
        replica.steps.append(
            Step(event.at, event.by, role, event.term, leader, event.event_id, cause, self.node, replica.topic_id)
        )

    def _on_kept(self, event: FoldEvent) -> None:
        replica = self._replica(event)
        if replica.steps and replica.topic_id == event.value:
            replica.reopened.append((replica.steps[-1], replica.last_at, event))
        replica.topic_id, replica.last_at = event.value, event.at

    def _on_deleted(self, event: FoldEvent) -> None:
        """Take that the replica is gone: its topic was deleted, or it was moved to another broker."""
        self._replica(event).deleted.append(event)

    def _on_state(self, event: FoldEvent) -> None:
        replica = self._replica(event)
        replica.last_at = event.at
        replica.note_set(event, event.term, event.peer, event.value)

    def _on_in_sync(self, event: FoldEvent) -> None:
        self._replica(event).sets.append(event)

    def _on_few_in_sync(self, event: FoldEvent) -> None:
        refused = self._replica(event).refused
        if refused and event.at - refused[-1][-1].by <= Timeout.WRITE_EPISODE.us:
            refused[-1].append(event)
        else:
            refused.append([event])

    def _on_cut(self, event: FoldEvent) -> None:
        if not (event.topic or "").startswith(METADATA):
            self._replica(event).cuts.append(event)

    # -- contact -----------------------------------------------------------------------------------------

    def _on_leader_gone(self, event: FoldEvent) -> None:
        self.gone.append(event)

    def _heard(self, replica: Replica, emit: FactWriter) -> Iterator[HeardLast]:
        """Yield, once per following, when the connection to the followed leader was closed. A follower that was frozen
        sees that when it goes on."""
        last: Step | None = None
        holes = [(hole.since, hole.until) for hole in emit.silences() if hole.until is not None]
        for event in self.gone:
            followed = replica.step_at(event.at)
            if followed is None or followed is last or followed.role != FOLLOWER or followed.leader != event.peer:
                continue
            last = followed
            frozen = (begin for begin, end in holes if 0 <= event.at - end <= Timeout.MAX_INFO_GAP.us)
            since = min(event.at - Timeout.CLOSE_ON_ITS_WAY.us, *frozen, event.at)
            yield HeardLast(event.peer or "", since, event.by, event.event_id)

    # -- what controllers record -------------------------------------------------------------------------

    def _on_recorded(self, event: FoldEvent) -> None:
        """Take a record of a partition: when it is created, with all replicas in sync, and again at each start."""
        replica = self._replica(event)
        if not (event.topic or "").startswith(OF_BROKERS):
            self._holds.update(frozenset(event.members or ()) - replica.members)
        replica.members |= frozenset(event.members or ())
        replica.topic_id = replica.topic_id or event.value

    def _on_unclean(self, event: FoldEvent) -> None:
        if not event.flag:
            self._replica(event).unclean.append(event)

    def _on_fenced(self, event: FoldEvent) -> None:
        """Take a fenced broker, unless it was stopped: then its session ends too, without silence."""
        if event.peer in self._stopped:
            self._stopped.discard(event.peer)
        else:
            self.fenced.append((event, self._holds[event.peer or ""], self._active_since))

    def _on_stops(self, event: FoldEvent) -> None:
        if event.peer is not None:
            self._stopped.add(event.peer)

    def _on_unfenced(self, event: FoldEvent) -> None:
        self._stopped.discard(event.peer or "")

    def _on_renounced(self, event: FoldEvent) -> None:
        """Take that a controller was frozen: it fenced brokers for lack of contact, and takes that back on a new
        leader."""
        self.fenced = [fenced for fenced in self.fenced if event.at - fenced[0].at > Timeout.KRAFT_VOID.us]
        self._active_since = None

    def _on_registers(self, event: FoldEvent) -> None:
        self._registering.append([event])

    def _on_runs(self, event: FoldEvent) -> None:
        if self._registering and len(self._registering[-1]) == 1:
            self._registering[-1].append(event)

    def _on_active(self, event: FoldEvent) -> None:
        self._active_since = event.at


def _starts_unseen(replica: Replica, incarnations: Sequence[Incarnation]) -> Iterator[Step]:
    """Yield the end of a role where a replica is opened again without a start in its broker's other files."""
    for before, last_at, event in replica.reopened:
        if any(before.at < end.at <= event.at for end in replica.deleted):
            continue
        if incarnation_at(incarnations, before.by - 1) == incarnation_at(incarnations, event.by - 1):
            yield Step(
                max(last_at, before.at),
                event.by,
                UNKNOWN,
                None,
                None,
                event.event_id,
                "start",
                before.node,
                before.address,
            )


def _cuts(replica: Replica) -> Iterator[tuple[FoldEvent, FoldEvent, str | None]]:
    """Yield each cut with the line of the role that it began: a follower is cut at the end that it printed there."""
    done = set[str]()
    for cut in replica.cuts:
        before = ((event, topic_id) for event, topic_id, _ in reversed(replica.taken) if event.at <= cut.at)
        taken, topic_id = next(before, (None, None))
        if taken is None or taken.kind != "KAFKA_FOLLOWS" or taken.event_id in done:
            continue
        done.add(taken.event_id)
        if (cut.start_offset or 0) < (taken.ledger_end or 0):
            yield cut, taken, topic_id


_HANDLERS: dict[str, Callable[[PartitionLog, FoldEvent], None]] = {
    "KAFKA_LEADS": PartitionLog._on_leads,
    "KAFKA_FOLLOWS": PartitionLog._on_follows,
    "KAFKA_PARTITION_KEPT": PartitionLog._on_kept,
    "KAFKA_PARTITION_STATE": PartitionLog._on_state,
    "KAFKA_REPLICA_DELETED": PartitionLog._on_deleted,
    "KAFKA_ISR": PartitionLog._on_in_sync,
    "KAFKA_CUT": PartitionLog._on_cut,
    "KAFKA_FEW_IN_SYNC": PartitionLog._on_few_in_sync,
    "KAFKA_LEADER_GONE": PartitionLog._on_leader_gone,
    "KAFKA_PARTITION_RECORDED": PartitionLog._on_recorded,
    "KAFKA_UNCLEAN": PartitionLog._on_unclean,
    "KAFKA_BROKER_FENCED": PartitionLog._on_fenced,
    "KAFKA_BROKER_STOPS": PartitionLog._on_stops,
    "KAFKA_BROKER_UNFENCED": PartitionLog._on_unfenced,
    "KAFKA_ACTIVE": PartitionLog._on_active,
    "KAFKA_REGISTERS": PartitionLog._on_registers,
    "KAFKA_RUNNING": PartitionLog._on_runs,
    "KAFKA_RENOUNCED": PartitionLog._on_renounced,
}

KINDS = frozenset(_HANDLERS)
"""The events that the fold of partitions reads."""
TELLS_ROLES = frozenset({"KAFKA_FOLLOWS", "KAFKA_LEADS", "KAFKA_PARTITION_STATE"})
"""Lines in which a broker states its own role."""
