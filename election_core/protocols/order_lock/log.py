"""One broker's table of order locks, by its log.

Source: RocketMQ ``RebalanceLockManager`` (the table, per consumer group and queue) and
``AdminBrokerProcessor#lockBatchMQ`` (the quorum of the strict mode).

| asked for             | table                          | result            | printed            |
|-----------------------|--------------------------------|-------------------|--------------------|
| lock                  | held by the same, not expired  | renewed           | **nothing**        |
| lock                  | no entry                       | granted           | LOCK_NEW           |
| lock                  | expired, of any client         | granted           | LOCK_TAKEN_EXPIRED |
| lock                  | held by another, not expired   | refused           | LOCK_REFUSED       |
| unlock                | own entry, also an expired one | removed           | LOCK_RELEASED      |
| unlock                | another's entry                | kept              | LOCK_RELEASE_REFUSED |
| unlock                | no entry                       | nothing           | LOCK_RELEASE_NONE  |
| unlock                | no table of the consumer group | nothing           | LOCK_RELEASE_NO_GROUP |

Clients renew every 20 s without a line, an expiry prints nothing, and the whole table vanishes with the process. A lock
lives 60 s from its last renewal (``rocketmq.broker.rebalance.lockMaxLiveTime``, a system property that no log shows; a
lock that expires earlier shows that somebody made it shorter). So a lock surely lived for 60 s after its grant, and up
to every later moment at which another client was refused because of it: its own client would have taken an expired lock
with a line. A refusal proves nothing about the time after it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import BROKER
from election_replay.election_core.fold.process_runs import SILENCE, Incarnation, incarnation_at
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.order_lock.facts import LockGivenUp, LockHeld, LockLate

PROTOCOL = "order_lock"

NO_GROUP = "LOCK_RELEASE_NO_GROUP"
NEW, TAKEN, SEEN = "new", "taken_expired", "seen"
RELEASED, EXPIRED, PROCESS_ENDED, UNSEEN = "released", "expired", "process_ended", "unseen"

_MODE, _REPLICAS, _MEMBERS = "lockInStrictMode", "totalReplicas", "enableSlaveActingMaster"

Queue = tuple[str, str, str, int]
"""Broker set, consumer group, topic, queue number."""


@dataclass(slots=True)
class Entry:
    """One entry of the table; times in us. ``sign`` is the last moment at which a line showed it alive, ``sure`` the
    last one at which it cannot have expired."""

    queue: Queue
    client: str
    start: FoldEvent
    cause: str
    sign: int
    sure: int


@dataclass(frozen=True, slots=True)
class Mode:
    """How one process run of the broker grants locks; ``None``: its log does not show it."""

    strict: bool | None
    needed: int | None
    replicas: int | None = None


@dataclass(slots=True)
class LockLog:
    """All lock lines of one broker, and the settings that decide about them."""

    lines: list[FoldEvent] = field(default_factory=list)
    settings: list[FoldEvent] = field(default_factory=list)
    peer_errors: list[FoldEvent] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line; lines of one stream come in program order."""
        if event.kind in PEER_KINDS:
            self.peer_errors.append(event)
        elif event.kind in QUEUE_KINDS or event.kind == NO_GROUP:
            self.lines.append(event)
        elif event.setting in (_MODE, _REPLICAS, _MEMBERS):
            self.settings.append(event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this broker proves about the locks of its broker set."""
        incarnations = speaker.incarnations.get(BROKER, [])
        if not self.lines or not incarnations:
            return
        emit_about = _writers(speaker, stream, incarnations)
        self.peer_errors.sort(key=attrgetter("at"))
        groups = sorted({line.replica_group for line in self.lines if line.replica_group})
        if not groups:  # a line without a broker set names no queue
            return
        least_life = min(emit_about(group).timing.shortest_us(Timeout.LOCK_LIFE) for group in groups)
        yield from self._holds(incarnations, emit_about, least_life)
        for group in groups:
            emit = emit_about(group)
            yield from emit.alive()
            yield from emit.silences()

    def _holds(
        self, incarnations: list[Incarnation], emit_about: Callable[[str], FactWriter], least_life: int
    ) -> list[Fact]:
        """Return all facts about locks; if locks expire early, no lock counts as alive after its line."""
        # An upgrade moved the lines from lock.log to filter.log, so with a new process run; within a run the order of
        # the file holds.
        lines = sorted(self.lines, key=lambda event: incarnation_at(incarnations, event.at))
        for lock_life in (least_life, 0):
            table = Table(self, incarnations, emit_about, lock_life)
            found = [fact for event in lines for fact in table.take(event)]
            found += table.close()
            if not table.expires_early:
                break
        return found

    def mode(self, number: int, incarnations: list[Incarnation]) -> Mode:
        """Return the mode of one process run, by its configuration dump or by lines that only strict mode prints. A
        broker knows its peers only with slave acting master. Without it the broker asks nobody, or itself under a
        former id and counts twice, so that its quorum proves nothing (``BrokerController#syncBrokerMemberGroup``)."""
        settings = {
            event.setting: event.value
            for event in self.settings
            if event.value and incarnation_at(incarnations, event.at) == number
        }
        asked_peers = any(incarnation_at(incarnations, event.at) == number for event in self.peer_errors)
        strict = settings[_MODE] == "true" if _MODE in settings else (True if asked_peers else None)
        replicas = digits.number(settings.get(_REPLICAS))
        if strict is False:
            return Mode(False, 1)
        if not strict or replicas is None:
            return Mode(strict, None)
        needed = majority(replicas)
        knows_peers = needed == 1 or settings.get(_MEMBERS) != "false"
        return Mode(True, needed if knows_peers else None, replicas)

    def silent_peers(self, start: FoldEvent) -> list[FoldEvent]:
        """Return the first failure of each peer right after a lock was granted here."""
        found: dict[str, FoldEvent] = {}
        first = bisect_left(self.peer_errors, start.at, key=attrgetter("at"))
        last = bisect_right(self.peer_errors, start.by + Timeout.LOCK_PEERS_ANSWER.us, key=attrgetter("at"))
        for event in self.peer_errors[first:last]:
            if event.peer_address is not None:
                found.setdefault(event.peer_address, event)
        return [found[address] for address in sorted(found)]


def _writers(speaker: Speaker, stream: str, incarnations: list[Incarnation]) -> Callable[[str], FactWriter]:
    def emit_about(group: str) -> FactWriter:
        return speaker.about(
            group,
            PROTOCOL,
            stream,
            lambda time: speaker.broker_id_at(time, incarnations) or speaker.source_node,
        )

    return emit_about


def _queue_of(event: FoldEvent) -> Queue | None:
    """Return the queue that a line is about; ``None`` where it does not name one completely."""
    if not (event.replica_group and event.topic) or event.consumer_group is None or event.queue_id is None:
        return None
    return event.replica_group, event.consumer_group, event.topic, event.queue_id


@dataclass(slots=True)
class Table:
    """The lock table of one broker through all its process runs. A lock is assumed to live ``lock_life`` us at least;
    ``expires_early``: a line shows that it lives shorter."""

    log: LockLog
    incarnations: list[Incarnation]
    emit_about: Callable[[str], FactWriter]
    lock_life: int
    expires_early: bool = False
    entries: dict[Queue, Entry] = field(default_factory=dict)
    taken: dict[Queue, tuple[str, str]] = field(default_factory=dict)
    number: int = -1
    mode: Mode = field(default_factory=lambda: Mode(None, None))

    def take(self, event: FoldEvent) -> Iterator[Fact]:
        """Take the next line, and yield the entries that it ends."""
        if event.consumer_group is None or event.client_id is None:
            return
        if incarnation_at(self.incarnations, event.at) != self.number:
            yield from self.close()
            self.number = incarnation_at(self.incarnations, event.at)
            self.mode = self.log.mode(self.number, self.incarnations)
        queue = _queue_of(event)
        if event.kind == NO_GROUP:
            yield from self.on_no_group(event)
        elif queue is not None:
            yield from QUEUE_KINDS[event.kind](self, queue, event)

    def close(self) -> Iterator[Fact]:
        """Yield the entries at the end of a process or of the log: nothing tells what became of them."""
        for entry in self.entries.values():
            run = self.incarnations[self.number]
            if run.next_start is None and run.stop is None:
                yield self._hold(entry, None, None, None, None)
                continue
            # The landing keeps a sign of life every 10 s: the process may have run for as much longer.
            ended = max(run.stop if run.stop is not None else run.last_seen, entry.start.at)
            by = max(min(ended + SILENCE, run.next_start or ended + SILENCE), ended)
            yield self._hold(entry, ended, by, run.stop_event or run.next_start_event, PROCESS_ENDED)
        self.entries.clear()
        self.taken.clear()

    # -- one function a line ----------------------------------------------------------------------------------

    def on_new(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take a grant without a former entry: if one is known, the line of its end is lost."""
        yield from self._end_unseen(queue, event)
        self._begin(queue, event.client_id or "", event, NEW)

    def on_taken(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take a grant over an expired entry, of another client or of the same one."""
        entry = self.entries.get(queue)
        if entry is not None and entry.client == event.peer_client_id:
            del self.entries[queue]
            self.expires_early |= entry.cause != SEEN and event.by - entry.start.at <= self.lock_life
            yield self._hold(entry, min(entry.sure, event.at), event.by, event.event_id, EXPIRED)
        else:
            yield from self._end_unseen(queue, event)
        if event.peer_client_id is not None and event.peer_client_id != event.client_id:
            self.taken[queue] = (event.peer_client_id, event.event_id)
        self._begin(queue, event.client_id or "", event, TAKEN)

    def on_refused(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take a refusal because another client's lock is not expired: a sign of life of that lock."""
        holder = event.peer_client_id
        if holder is None:
            return
        entry = self.entries.get(queue)
        if entry is not None and entry.client == holder:
            entry.sign = event.at
            entry.sure = max(entry.sure, event.at)
            return
        yield from self._end_unseen(queue, event)
        self._begin(queue, holder, event, SEEN)

    def on_released(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take the removal of a client's own entry, which may have expired before."""
        entry = self.entries.get(queue)
        if entry is not None and entry.client == event.client_id:
            del self.entries[queue]
            yield self._hold(entry, event.at, event.by, event.event_id, RELEASED)
        else:
            yield from self._end_unseen(queue, event)
        yield self._given_up(queue, event, RELEASED)

    def on_release_none(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take a release without any entry."""
        yield from self._end_unseen(queue, event)
        yield self._given_up(queue, event, "none")

    def on_release_refused(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        """Take a release while another client has the entry, perhaps an expired one: no sign of life of that lock."""
        old, taken_event = self.taken.get(queue, (None, ""))
        if old is not None and old == event.client_id:
            group, consumers, topic, number = queue
            yield LockLate(
                *self.emit_about(group).at(event),
                client=old,
                holder=event.peer_client_id,
                consumer_group=consumers,
                topic=topic,
                queue_id=number,
                evidence=(taken_event, event.event_id),
            )
        yield self._given_up(queue, event, "refused")

    def on_no_group(self, event: FoldEvent) -> Iterator[Fact]:
        """Take a release without a table of the group: known entries ended with another process."""
        for queue in [queue for queue in self.entries if queue[1] == event.consumer_group]:
            yield from self._end_unseen(queue, event)
        for member in event.members or ():
            topic, _, printed = member.rpartition(":")
            queue_id = digits.number(printed)
            if event.replica_group and queue_id is not None:
                key = (event.replica_group, event.consumer_group or "", topic, queue_id)
                yield self._given_up(key, event, "no_group")

    # -- facts ------------------------------------------------------------------------------------------------

    def _begin(self, queue: Queue, client: str, event: FoldEvent, cause: str) -> None:
        sure = event.at if cause == SEEN else event.at + self.lock_life
        self.entries[queue] = Entry(queue, client, event, cause, event.at, sure)

    def _end_unseen(self, queue: Queue, event: FoldEvent) -> Iterator[Fact]:
        entry = self.entries.pop(queue, None)
        if entry is not None:
            yield self._hold(entry, entry.sign, event.by, event.event_id, UNSEEN)

    def _given_up(self, queue: Queue, event: FoldEvent, found: str) -> LockGivenUp:
        group, consumers, topic, number = queue
        return LockGivenUp(
            *self.emit_about(group).at(event),
            client=event.client_id or "",
            found=found,
            consumer_group=consumers,
            topic=topic,
            queue_id=number,
        )

    def _hold(
        self, entry: Entry, until: int | None, until_by: int | None, until_event: str | None, end_cause: str | None
    ) -> LockHeld:
        group, consumers, topic, number = entry.queue
        emit, start, sure = self.emit_about(group), entry.start, entry.sure
        silent = self.log.silent_peers(start) if self.mode.strict else []
        node, end = emit.node_at(start.at), (until, until_by, until_event)
        return LockHeld(
            *emit.during(node, start.at, start.by, start.event_id, *end),
            client=entry.client,
            end_cause=end_cause,
            cause=entry.cause,
            silent_peers=tuple(event.peer_address or "" for event in silent),
            needed=self.mode.needed,
            replicas=self.mode.replicas,
            strict=self.mode.strict,
            consumer_group=consumers,
            topic=topic,
            queue_id=number,
            sure_until=max(min(sure, until) if until is not None else sure, start.at),
            evidence=tuple(event.event_id for event in silent),
        )


QUEUE_KINDS: dict[str, Callable[[Table, Queue, FoldEvent], Iterator[Fact]]] = {
    "LOCK_NEW": Table.on_new,
    "LOCK1_NEW": Table.on_new,
    "LOCK_TAKEN_EXPIRED": Table.on_taken,
    "LOCK1_TAKEN_EXPIRED": Table.on_taken,
    "LOCK_REFUSED": Table.on_refused,
    "LOCK1_REFUSED": Table.on_refused,
    "LOCK_RELEASED": Table.on_released,
    "LOCK_RELEASE_NONE": Table.on_release_none,
    "LOCK_RELEASE_REFUSED": Table.on_release_refused,
}
"""The effect of each kind of line about one queue."""

PEER_KINDS = frozenset({"LOCK_PEER_ERR", "LOCK_WAIT_ERR", "LOCK_RELEASE_PEER_ERR"})
"""Kinds of lines that only strict mode prints."""

KINDS = frozenset(QUEUE_KINDS) | PEER_KINDS | {NO_GROUP} | {"CFG_ITEM", "CFG_REPLACE"}
"""The kinds of events that the fold reads."""
