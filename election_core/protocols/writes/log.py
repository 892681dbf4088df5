"""Writes that a broker stored and answered when the client no longer waited.

    a put that took 2.6 s    [==========]
    answers to writers                      x      x         the connection was closed: the client had given up
    an episode               |<----------------->|

A broker without CPU, disk or memory to work with, or with slow slaves, keeps its role and its connections for long,
while clients see their writes fail. A late answer that refuses a write makes no episode, since a leader without a
majority sends it too; episodes count such answers. Late answers after a freeze make no episode either: ``LOG_GAP``
reports that. Sources: RocketMQ ``NettyRemotingAbstract#writeResponse``, ``DefaultMessageStore#asyncPutMessage`` (a put
of more than 500 ms is logged).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.identity import BROKER
from election_replay.election_core.fold.process_runs import Incarnation, Segment
from election_replay.election_core.model.facts import RefusedWrites
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.writes.facts import AnsweredTooLate

PROTOCOL = "writes"

UNANSWERED, SLOW = "BRK_WRITE_UNANSWERED", "STORE_PUT_SLOW"
DISK, APPEND, TRANSFER, ACKS = "STORE_DISK_FULL", "DL_APPEND_FAILED", "DL_TRANSFER_REQ", "HA_ACK_TIMEOUT"
CLEANS, DELETED = "STORE_CLEANS", "STORE_LOG_DELETED"
KINDS = frozenset({UNANSWERED, SLOW, DISK, APPEND, TRANSFER, ACKS, CLEANS, DELETED})
"""The kinds of events that this fold reads."""

_STORED = frozenset({0, 10, 11, 12})
"""Codes of a stored message: SUCCESS, FLUSH_DISK_TIMEOUT, SLAVE_NOT_AVAILABLE, FLUSH_SLAVE_TIMEOUT
(``ResponseCode``)."""
_UNCONFIRMED = _STORED - {0}
"""The codes of :data:`_STORED` for a flush, or slaves, that did not confirm in time."""


@dataclass(slots=True)
class Episode:
    """Lines that follow each other closely, from ``begin`` to ``last``: ``count`` late answers, and slow puts.
    ``begin`` is when the first put began or the first answer was given."""

    begin: int
    begin_by: int
    begin_event: str
    last: FoldEvent
    count: int = 0
    unconfirmed: int = 0
    slowest: FoldEvent | None = None

    def goes_on_with(self, other: "Episode") -> bool:
        """Return True when an episode that begins no earlier is not surely later than this one."""
        return other.begin - self.last.by <= Timeout.WRITE_EPISODE.us

    def absorb(self, other: "Episode") -> None:
        """Merge an episode that begins no earlier into this one."""
        self.count += other.count
        self.unconfirmed += other.unconfirmed
        self.last = max(self.last, other.last, key=_when)
        some = [event for event in (self.slowest, other.slowest) if event is not None]
        self.slowest = max(some, key=lambda event: (event.duration_ms or 0, *_when(event)), default=None)


def _when(event: FoldEvent) -> tuple[int, str]:
    return event.at, event.event_id


def _episode_of(event: FoldEvent) -> Episode | None:
    """Return the episode of one line, or ``None``. A put longer than a whole episode waited for something else."""
    if event.kind == UNANSWERED and event.code not in _STORED:
        return None
    if event.kind == SLOW:
        took = (event.duration_ms or 0) * US_PER_MS
        if took > Timeout.WRITE_EPISODE.us:
            return None
        return Episode(event.at - took, event.by - took, event.event_id, event, slowest=event)
    return Episode(event.at, event.by, event.event_id, event, count=1, unconfirmed=int(event.code in _UNCONFIRMED))


def _joined(episodes: Iterable[Episode]) -> list[Episode]:
    joined: list[Episode] = []
    for episode in sorted(episodes, key=lambda known: (known.begin, known.begin_event)):
        if joined and joined[-1].goes_on_with(episode):
            joined[-1].absorb(episode)
        else:
            joined.append(replace(episode))
    return joined


@dataclass(slots=True)
class Refused:
    """A time in which a broker refused writes: its ``first`` and ``last`` line, and the line that ended it, if any.
    ``deleted`` is the last file of its commit log that it deleted then, whatever its age."""

    why: Refusal
    first: FoldEvent
    last: FoldEvent
    end: FoldEvent | None = None
    count: int = 1
    asked: FoldEvent | None = None
    deleted: FoldEvent | None = None

    def goes_on_with(self, event: FoldEvent) -> bool:
        """Return True when a line of the same kind belongs to this time."""
        return event.kind == self.last.kind and event.at - self.last.by <= Timeout.WRITE_EPISODE.us


@dataclass(slots=True)
class WritesLog:
    """The state machine of one broker's answers to writes; its kinds of lines come from several files."""

    episodes: list[Episode] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    _asked: FoldEvent | None = None
    _whatever_age: bool = False

    def on(self, event: FoldEvent) -> None:
        """Take the next line."""
        if event.kind == TRANSFER:
            self._asked = event
        elif event.kind == DISK:
            self._on_disk(event)
        elif event.kind == CLEANS:
            self._whatever_age = event.flag is True
        elif event.kind == DELETED:
            self._on_deleted(event)
        elif event.kind in (APPEND, ACKS):
            self._on_failed(event)
        else:
            self._on_answer(event)

    def _on_disk(self, event: FoldEvent) -> None:
        """Take a line that the disk is too full for writes, or no longer (``DefaultMessageStore#isSpaceToDelete``)."""
        if event.flag is False:
            for refusal in self._full():
                refusal.end = event
        else:
            self.refused.append(Refused(Refusal.DISK_FULL, event, event))

    def _full(self) -> list[Refused]:
        """Return the refusals for a full disk that have not ended."""
        return [refusal for refusal in self.refused if refusal.why == Refusal.DISK_FULL and refusal.end is None]

    def _on_deleted(self, event: FoldEvent) -> None:
        """Take a deleted file of the commit log. Files are deleted from the oldest on
        (``MappedFileQueue#deleteExpiredFileByTime``); those younger than ``fileReservedTime`` only for want of
        space."""
        if self._whatever_age:
            for refusal in self._full():
                refusal.deleted = event

    def _on_failed(self, event: FoldEvent) -> None:
        """Take a failed write: the leader hands over (``DLedgerServer#handleAppend``), or acknowledgements are
        missing."""
        why = Refusal.UNACKNOWLEDGED if event.kind == ACKS else Refusal.TRANSFERRING
        last = next((refusal for refusal in reversed(self.refused) if refusal.why == why), None)
        if last is not None and last.goes_on_with(event):
            last.last, last.count = event, last.count + 1
        elif event.kind == ACKS or (self._asked is not None and event.at - self._asked.by <= Timeout.WRITE_EPISODE.us):
            asked = None if event.kind == ACKS else self._asked
            self.refused.append(Refused(why, event, event, asked=asked))

    def _on_answer(self, event: FoldEvent) -> None:
        line = _episode_of(event)
        if line is None:
            if event.kind == UNANSWERED:
                self.refusals.append(event.at)
            return
        last = self.episodes[-1] if self.episodes else None
        if last is not None and last.begin <= line.begin and last.goes_on_with(line):
            last.absorb(line)
        else:
            self.episodes.append(line)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[AnsweredTooLate | RefusedWrites]:
        """Yield the episodes of late answers, and the times in which the broker refused writes. A refusal for want of
        acknowledgements is logged after the wait for them, so it begins that much earlier."""
        group = speaker.broker_set
        if group is None:
            return
        incarnations = speaker.incarnations.get(BROKER, [])
        emit = speaker.about(group, PROTOCOL, stream, lambda time: speaker.broker_id_at(time, incarnations))
        acknowledged_in = speaker.timing_of(group).us(Timeout.CONTROLLER_ACK)
        for refusal in _once_a_run(self.refused, incarnations):
            ends = _end_of_refusal(refusal, incarnations, speaker.written)
            first, waited = refusal.first, acknowledged_in if refusal.why == Refusal.UNACKNOWLEDGED else 0
            begin = first.at - waited, first.by - waited, first.event_id
            yield RefusedWrites(
                *emit.during(emit.node_at(first.at), *begin, *ends),
                why=refusal.why.value,
                count=refusal.count,
                peer=refusal.asked.peer if refusal.asked is not None else None,
                evidence=tuple(line.event_id for line in (refusal.asked, refusal.deleted) if line is not None),
                end_offset=_end_of(refusal.deleted),
            )
        refusals = sorted(self.refusals)
        for episode in _joined(self.episodes):
            if episode.count and not _after_a_gap(episode, incarnations):
                last = episode.last
                during = (episode.begin, episode.begin_by, episode.begin_event, last.at, last.by, last.event_id)
                yield AnsweredTooLate(
                    *emit.during(emit.node_at(last.at), *during),
                    count=episode.count,
                    slowest_ms=episode.slowest.duration_ms if episode.slowest else None,
                    unconfirmed=episode.unconfirmed,
                    refused=bisect_right(refusals, last.by) - bisect_left(refusals, episode.begin),
                    evidence=(episode.slowest.event_id,) if episode.slowest else (),
                )


def _run_of(event: FoldEvent, incarnations: Iterable[Incarnation]) -> Incarnation | None:
    """Return the run of the process that wrote a line."""
    later = (run for run in incarnations if run.next_start is None or event.at < run.next_start)
    return min(later, key=lambda run: run.first_seen, default=None)


def _once_a_run(refused: Iterable[Refused], incarnations: Sequence[Incarnation]) -> Iterator[Refused]:
    """Yield refusals in order, of those for a full disk the first of each run: a disk stays full until a line says that
    it is not, and a process that starts marks it anew (``RunningFlags``)."""
    full: Incarnation | None = None
    for refusal in refused:
        run = _run_of(refusal.first, incarnations) if refusal.why == Refusal.DISK_FULL else None
        if run is None or run != full:
            yield refusal
        if run is not None:
            full = None if refusal.end is not None and _run_of(refusal.end, incarnations) == run else run


def _end_of_refusal(
    refusal: Refused, incarnations: Iterable[Incarnation], written: Mapping[str, Segment]
) -> tuple[int, int | None, str | None] | tuple[None, None, None]:
    """Return the end of a refusal and its line; for a full disk that ends with its process, between the last sign of
    life, or of the file that would tell, and the next start. A process that ended refuses nothing, and no line says
    that its disk has room again."""
    run = _run_of(refusal.first, incarnations)
    last = refusal.end if refusal.why == Refusal.DISK_FULL else refusal.last
    if last is not None and (run is None or run.next_start is None or last.at < run.next_start):
        return last.at, last.by, last.event_id
    if run is None or run.goes_on:
        return None, None, None
    ends = [written[refusal.first.stream].last] if refusal.first.stream in written else []
    over = run.last_seen if run.stop is None else run.stop
    by, line = (run.ended_by, run.next_start_event) if run.stop is None else (run.last_by, run.stop_event)
    return max(min([over, *ends]), refusal.first.at), by, line


def _end_of(deleted: FoldEvent | None) -> int | None:
    """Return the offset (bytes) at which a deleted file of the commit log ended; its name is where it began."""
    if deleted is None or deleted.start_offset is None or deleted.count is None:
        return None
    return deleted.start_offset + deleted.count


def _after_a_gap(episode: Episode, incarnations: Iterable[Incarnation]) -> bool:
    """Return True when the process was frozen or silent just before an episode or at its beginning. Where its log
    begins amid its run, that may be."""
    gaps = [(gap.begin, gap.end) for run in incarnations for gap in run.silences]
    gaps += [(episode.begin, run.first_seen) for run in incarnations if run.start is None]
    return any(begin <= episode.begin <= end + Timeout.WRITE_EPISODE.us for begin, end in gaps)
