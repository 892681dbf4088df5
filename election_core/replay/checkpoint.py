"""Checkpoints: what the fold of a source must keep of its events to continue on another night.

A checkpoint is rows of the same form as events: the events that a later fold still reads, unchanged, and ``LIVED`` rows
that sum up the signs of life of all others. Each fold writes it anew from the former one and the new events, so it does
not grow where nothing happens. A fold of the checkpoint and newer events gives exactly the facts that a fold of all
events gives.

A source is folded from its events again where the checkpoint cannot tell (:meth:`NewRows.take`, and
:data:`~election_core.fold.process_runs.LATE`):

- an event of a later landing shows that a process started long before
- a file has new lines that belong before the last line of its stream
- a source with snapshots has new lines long before its end, of whose tables few are kept
  (:data:`~election_core.protocols.metadata.log.SETTLES`)
- the clock was put back, so the order between the lines of two files is needed
"""

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.fold.identity import is_snapshot
from election_replay.election_core.fold.periodic import Periodic
from election_replay.election_core.fold.process_runs import Segment
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.protocols.metadata.log import ENTRIES
from election_replay.election_core.replay.registry import PERIODIC

LIVED = "LIVED"
"""The kind of a row that stands for lines of one process without a silence between them: the first in an interval from
``event_time`` (``event_id``), the last in ``[until, until_by]`` (``until_event``). ``count``: how often the clock was
put back."""
FAILED = "FAILED"
"""The kind of a row for a failed source, or its failed protocol ``node``, with the error ``value``."""

FROM_CHECKPOINT = "from_checkpoint"
"""The column that is true for rows of a checkpoint and false for new events."""


@dataclass(slots=True)
class _Row:
    """A line that may still be kept: row ``number`` of the present batch, or the only row of ``former``."""

    number: int
    former: pa.RecordBatch | None = None
    kept: bool = False


@dataclass(slots=True)
class _Run:
    """Periodic lines of one kind with the same content; all are kept up to the first at ``stable_from`` or later."""

    saying: Hashable
    stable_from: int | None
    count: int | None
    last: _Row
    grew: tuple[_Row, ...] = ()

    def open_rows(self) -> tuple[_Row, ...]:
        """Return the rows that are kept if the run ends here."""
        return *self.grew, self.last


class CheckpointWriter:
    """Chooses, line by line, which events of one source its checkpoint keeps. It keeps lines that a protocol reads (few
    of the periodic ones), lines around clock anomalies, and the first and last line of each stream, which show how far
    its file goes. Entries of tables in snapshots are kept until they are given up."""

    def __init__(self) -> None:
        self._former: list[pa.RecordBatch] = []
        self._chosen: list[int] = []
        self._sign: _Row | None = None
        self._runs: dict[str, _Run] = {}
        self._stream = ""
        self._begun: set[str] = set()
        self._time = 0
        self._last: _Row | None = None
        self._ends: list[_Row] = []
        self._snapshot_ends: list[_Row] = []
        self._tables: dict[int, tuple[str, str | None]] = {}

    def line(self, number: int, stream: str, time: int, event: FoldEvent | None, *, steady: bool) -> None:
        """Take row ``number`` of the batch as the next line of ``stream``, new or from a checkpoint. ``event`` is
        ``None`` when no protocol reads the line. ``steady``: the clock just went on."""
        in_order = time >= self._time and stream == self._stream
        if stream != self._stream:
            self._end_stream()
        begins = stream not in self._begun and not is_snapshot(stream)
        self._stream, self._time = stream, time
        if self._sign is not None:
            if not in_order:
                self._keep(self._sign)
            self._sign = None
        periodic = PERIODIC.get(event.kind) if event is not None else None
        if self._runs and not (in_order and steady and (event is None or periodic is not None)):
            self._end_runs()
        row = self._last = _Row(number)
        if begins:
            self._begun.add(stream)
            self._keep(row)
        if not steady or (event is not None and periodic is None):
            self._keep(row)
            if event is not None and event.kind in ENTRIES:
                self._tables[number] = stream, event.setting
        elif event is None or periodic is None:
            self._sign = row
        else:
            self._again(row, time, event, periodic)

    def turn(self, batch: pa.RecordBatch) -> None:
        """End a batch: chosen and undecided rows are copied out of it."""
        if self._chosen:
            self._former.append(batch.take(pa.array(self._chosen)))
            self._chosen, self._tables = [], {}
        waiting = [row for run in self._runs.values() for row in run.open_rows()]
        if self._last is not None:
            waiting.append(self._last)
        for row in (*waiting, *self._ends, *self._snapshot_ends):
            if row.former is None:
                row.former = batch.take(pa.array([row.number]))

    def give_up(self, tables: Collection[tuple[str, str]]) -> None:
        """Drop the entries of these ``tables`` of snapshots after the last line: no later fold will read them."""
        if tables:
            self._chosen = [number for number in self._chosen if self._tables.get(number) not in tables]
            self._former = [without_entries(batch, tables) for batch in self._former]

    def kept(self) -> tuple[list[pa.RecordBatch], list[int]]:
        """Return all rows kept, after the last line: from former batches, and row numbers of this one."""
        if self._sign is not None:
            self._keep(self._sign)
            self._sign = None
        self._end_stream()
        self._end_runs()
        return self._former, self._chosen

    def ends(self) -> tuple[list[pa.RecordBatch], list[int]]:
        """Return the last line of each stream after the last line: from former batches, and row numbers of this one.
        Each snapshot is a stream of its own; of all snapshots only the last line is returned."""
        ends = [*self._ends, *self._snapshot_ends]
        former = [row.former for row in ends if row.former is not None]
        return former, [row.number for row in ends if row.former is None]

    def _end_stream(self) -> None:
        """End a stream: the next line belongs to another one."""
        if self._last is None:
            return
        if is_snapshot(self._stream):
            self._snapshot_ends = [self._last]
        else:
            self._ends.append(self._last)
        self._last = None

    def _again(self, row: _Row, time: int, event: FoldEvent, periodic: Periodic) -> None:
        """Take a periodic line."""
        saying, count = periodic.says(event), periodic.count(event)
        run = self._runs.get(event.kind)
        if run is None or run.saying != saying:
            if run is not None:
                self._end_runs()
            self._keep(row)
            stable_from = time + periodic.unstable_for_us if periodic.unstable_for_us else None
            self._runs[event.kind] = _Run(saying, stable_from, count, row)
            return
        if run.count is not None and count is not None and count > run.count:
            run.grew = (run.last, row)
        if run.stable_from is not None:
            self._keep(row)
            run.stable_from = run.stable_from if time < run.stable_from else None
        run.count, run.last = count, row

    def _end_runs(self) -> None:
        """End all runs: the next line is something else, or unknown."""
        for run in self._runs.values():
            for row in run.open_rows():
                self._keep(row)
        self._runs.clear()

    def _keep(self, row: _Row) -> None:
        """Keep a line, once."""
        if row.kept:
            return
        row.kept = True
        if row.former is None:
            self._chosen.append(row.number)
        else:
            self._former.append(row.former)


def without_entries(batch: pa.RecordBatch, tables: Collection[tuple[str, str]]) -> pa.RecordBatch:
    """Return the rows without the entries of these tables."""
    named = pc.binary_join_element_wise(batch.column("stream"), batch.column("setting").fill_null(""), "\0")
    of_tables = pc.is_in(named, pa.array(["\0".join(table) for table in tables], pa.string()))
    entries = pc.is_in(batch.column("kind"), pa.array(sorted(ENTRIES), pa.string()))
    return batch.filter(pc.invert(pc.and_(of_tables, entries)))


class _Gathered:
    """Rows of finished sources: of former batches, of this one by their numbers, and signs of life."""

    def __init__(self) -> None:
        self.former: list[pa.RecordBatch] = []
        self.numbers: list[int] = []
        self.signs: list[tuple[str | int | None, ...]] = []

    def batches(self, batch: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
        """Yield all rows; ``batch`` is the one whose rows are numbered, ``None`` after the last."""
        yield from self.former
        if batch is not None and self.numbers:
            yield batch.take(pa.array(self.numbers))
        if self.signs:
            yield as_rows(self.signs)


@dataclass(frozen=True, slots=True)
class SourceEnds:
    """Where sources ended: the last line of each of their streams, and their last sign of life."""

    rows: pa.RecordBatch


class NewRows:
    """The checkpoints of finished sources, gathered so that many short ones make one batch."""

    def __init__(self) -> None:
        self._kept = _Gathered()
        self._ended = _Gathered()

    def take(
        self,
        checkpoint: CheckpointWriter,
        cluster: str,
        source_node: str,
        bound_ms: int,
        digest: Iterable[tuple[str, Segment, str | None]],
        steps: int,
    ) -> None:
        """Add the rows that ``checkpoint`` kept, ``LIVED`` rows of the ``digest`` (stream, segment, member), and the
        ends. ``steps`` is how often the clock was put back; a source with any is folded from its events again."""
        former, numbers = checkpoint.kept()
        self._kept.former.extend(former)
        self._kept.numbers.extend(numbers)
        signs = [lived_row((cluster, source_node), *lived, steps, bound_ms) for lived in digest]
        self._kept.signs.extend(signs)
        ended, ends = self._ended, checkpoint.ends()
        ended.former.extend(ends[0])
        ended.numbers.extend(ends[1])
        ended.signs.extend(sorted(signs, key=itemgetter(_UNTIL))[-1:])

    def failure(self, cluster: str, source_node: str, error: str, protocol: str | None = None) -> None:
        """Add the ``FAILED`` row of a source, or of one ``protocol`` in it."""
        row = (cluster, source_node, "", "", 0, 0, 0, 0, "", FAILED, protocol, error, None, None, None, None)
        self._kept.signs.append(row)
        self._ended.signs.append(row)

    def batches(self, batch: pa.RecordBatch | None) -> Iterator[pa.RecordBatch | SourceEnds]:
        """Yield all rows; ``batch`` is the one whose rows were numbered last, ``None`` after the last."""
        yield from self._kept.batches(batch)
        yield from map(SourceEnds, self._ended.batches(batch))


def lived_row(
    source: tuple[str, str], stream: str, lived: Segment, member: str | None, steps: int, bound_ms: int
) -> tuple[str | int | None, ...]:
    """Return a ``LIVED`` row in the columns of :func:`as_rows`."""
    first, last = lived.first_event or "", lived.last_event or ""
    return (
        *(*source, stream, "", 0, bound_ms, lived.first),
        *((lived.first_by - lived.first) // US_PER_MS, first, LIVED),
        *(member, None, lived.last, lived.last_by, last, steps),
    )


def as_rows(signs: Iterable[tuple[str | int | None, ...]]) -> pa.RecordBatch:
    """Return rows of :func:`lived_row` as a record batch."""
    columns = zip(zip(*signs, strict=True), _SIGN, strict=True)
    return pa.RecordBatch.from_arrays([pa.array(values, column.type) for values, column in columns], schema=_SIGN)


_SIGN = pa.schema(
    {
        "cluster": pa.string(),
        "source_node": pa.string(),
        "stream": pa.string(),
        "fingerprint": pa.string(),
        "line_no": pa.int64(),
        "clock_bound_ms": pa.int64(),
        "event_time": pa.int64(),
        "time_resolution_ms": pa.int64(),
        "event_id": pa.string(),
        "kind": pa.string(),
        "node": pa.string(),
        "value": pa.string(),
        "until": pa.int64(),
        "until_by": pa.int64(),
        "until_event": pa.string(),
        "count": pa.int64(),
    }
)

_UNTIL = _SIGN.names.index("until")
"""The index of the time of the last line in a ``LIVED`` row."""
