"""Replay: events in, rows out.

Two passes over sorted batches, each a plain generator, so that any engine can drive them:

``fold``   events of one source after the other (program order inside a stream) -> facts
``judge``  facts of one replica group after the other -> rows of the gold tables

Both keep their state across batches, so batches may end anywhere.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, repeat
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.members import named_speaker
from election_replay.election_core.fold.process_runs import Segment
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import LINE_FIELDS, FoldEvent
from election_replay.election_core.model.inventory import NO_ENTRY, NO_INVENTORY, Inventory
from election_replay.election_core.model.rows import Row
from election_replay.election_core.replay import group_judge
from election_replay.election_core.replay.checkpoint import (
    FAILED,
    FROM_CHECKPOINT,
    LIVED,
    CheckpointWriter,
    NewRows,
    SourceEnds,
)
from election_replay.election_core.replay.columns import texts
from election_replay.election_core.replay.fact_rows import facts_in
from election_replay.election_core.replay.failures import error_text, failed
from election_replay.election_core.replay.group_judge import Judged
from election_replay.election_core.replay.prefilter import FILE, PassedOver, pass_over, times
from election_replay.election_core.replay.source_fold import INTERESTING, SourceLog

NEEDED_COLUMNS: tuple[str, ...] = (
    "cluster",
    "source_node",
    "stream",
    "file_time",
    "fingerprint",
    "line_no",
    "clock_bound_ms",
    "event_time",
    "time_resolution_ms",
    "event_id",
    "kind",
    "node",
    "setting",
)
"""The columns of ``silver.events`` that the fold needs even if no row has a value."""

FOLD_COLUMNS: tuple[str, ...] = (*NEEDED_COLUMNS, *(name for name in LINE_FIELDS if name not in NEEDED_COLUMNS))
"""The columns of ``silver.events`` that the fold reads."""

CHECKPOINT_COLUMNS: tuple[str, ...] = (*FOLD_COLUMNS, "until", "until_by", "until_event")
"""The columns of a checkpoint; see :mod:`election_core.replay.checkpoint`."""


Output: TypeAlias = "Fact | pa.RecordBatch | SourceEnds"
"""What :func:`fold` yields."""


def fold(batches: Iterable[pa.RecordBatch], inventory: Inventory = NO_INVENTORY) -> Iterator[Output]:
    """Yield the facts of all sources in ``batches``; ``inventory`` decides where a source's log does not.

    The batches hold :data:`FOLD_COLUMNS`; all but :data:`NEEDED_COLUMNS` may be missing where no row has a value. They
    are sorted by cluster, source_node, whether the stream is a metadata snapshot (its name holds a slash), stream,
    file_time (nulls first), fingerprint and line_no, so that all events of a source are together.

    With :data:`CHECKPOINT_COLUMNS` and :data:`FROM_CHECKPOINT` they also hold the checkpoints of former folds. Record
    batches then come between the facts: the whole new checkpoint of each source, which replaces its former one, and
    where the sources ended.

    A protocol that fails on a source yields one ``REPLAY_FAILED`` fact and nothing else; so does a source that fails as
    a whole. Neither stops the others.
    """
    current: _Folding | None = None
    for every in batches:
        passed = pass_over(every, current.highest(every) if current is not None else None)
        batch, lines, added = passed.read, _lines(passed), NewRows()
        for cluster, source_node, rows in _sources(batch):
            if current is None or not current.is_of(cluster, source_node):
                if current is not None:
                    yield from current.finish(added)
                listed = inventory.listed.get((cluster, source_node), NO_ENTRY)
                introduced = inventory.introduced.get((cluster, source_node), {})
                source = SourceLog(
                    *(cluster, source_node, 0, listed), timing_rules=inventory.timing, introduced=introduced
                )
                current = _Folding(source, keeps_checkpoint=lines.old is not None)
            current.feed(lines, rows)
        if current is not None:
            current.turn(batch)
        yield from added.batches(batch)
    if current is not None:
        added = NewRows()
        yield from current.finish(added)
        yield from added.batches(None)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The rows of a batch to be read, as Python values: each column is converted once, for all sources in it.

    ``passed`` describes the skipped rows. ``events`` holds an event where a protocol reads the row, else ``None``.
    ``old`` marks rows of checkpoints; it is ``None`` where there are no checkpoints. ``signs`` maps the numbers of
    ``LIVED`` rows to their segments and members.
    """

    batch: pa.RecordBatch
    passed: PassedOver
    kinds: list[str]
    streams: list[str]
    files: list[str]
    times: list[int]
    latest: list[int]
    ids: list[str]
    bounds: list[int]
    events: list[FoldEvent | None]
    old: list[bool] | None
    signs: dict[int, tuple[Segment, str | None]]


class _Folding:
    """The fold of one source; its failure does not concern other sources."""

    def __init__(self, source: SourceLog, *, keeps_checkpoint: bool) -> None:
        self._source = source
        self._checkpoint = CheckpointWriter() if keeps_checkpoint else None
        self._error: str | None = None

    def highest(self, batch: pa.RecordBatch) -> int | None:
        """Return the latest time read so far in the file of the batch's first row; ``None`` if that file is new."""
        if not batch.num_rows:
            return None
        cluster, source_node, stream, file = (batch.column(name)[0].as_py() or "" for name in FILE)
        return self._source.order.highest(stream, file) if self.is_of(cluster, source_node) else None

    def is_of(self, cluster: str, source_node: str) -> bool:
        return self._source.source_node == source_node and self._source.cluster == cluster

    def feed(self, lines: _Lines, rows: range) -> None:
        """Take the source's rows of a batch."""
        if self._error is None:
            try:
                self._feed(lines, rows)
            except Exception as error:  # noqa: BLE001 - a fault in one source must not stop the night
                self._error = error_text(error)

    def turn(self, batch: pa.RecordBatch) -> None:
        """End a batch; the source may go on in the next one."""
        if self._checkpoint is not None:
            self._checkpoint.turn(batch)

    def finish(self, added: NewRows) -> Iterator[Fact]:
        """Yield the facts of the source, and add its checkpoint to ``added``."""
        facts: list[Fact] = []
        if self._error is None:
            try:
                facts = list(self._source.facts())
            except Exception as error:  # noqa: BLE001 - the same
                self._error = error_text(error)
        cluster, source_node = self._source.cluster, self._source.source_node
        if self._error is not None:
            yield failed(cluster, UNIDENTIFIED, source_node, self._error, since=self._source.first_seen)
        yield from facts
        if self._checkpoint is not None and self._error is None:
            source = self._source
            self._checkpoint.give_up(source.given_up)
            steps, digest = source.was_set, source.digest()
            added.take(self._checkpoint, cluster, source_node, source.bound_ms, digest, steps)
            for protocol, reason in sorted(source.failed.items()):
                added.failure(cluster, source_node, reason, protocol)
        elif self._checkpoint is not None and self._error is not None:
            added.failure(cluster, source_node, self._error)

    def _feed(self, lines: _Lines, rows: range) -> None:
        """Take rows in order, with the skipped rows between them as signs of life."""
        source, checkpoint = self._source, self._checkpoint
        source.bound_ms = max(source.bound_ms, *lines.bounds[rows.start : rows.stop])
        kinds, streams, files, times, ids = lines.kinds, lines.streams, lines.files, lines.times, lines.ids
        old, events, latest, before = lines.old, lines.events, lines.latest, lines.passed.before
        done = before[rows.start]  # the first row of a source here is read
        for number in rows:
            stream, file, time, event = streams[number], files[number], times[number], events[number]
            if before[number] != done:
                self._pass_over(lines.passed, stream, done, before[number])
                done = before[number]
            by = latest[number]
            if old is not None and old[number]:
                if kinds[number] in _OF_CHECKPOINT:
                    self._recall(lines, number)
                    continue
                steady = source.recall_line(stream, time, by, ids[number], file)
            else:
                steady = source.seen(stream, time, by, ids[number], file)
            if checkpoint is not None:
                checkpoint.line(number, stream, time, event, steady=steady)
            if event is not None:
                source.on(event)

    def _pass_over(self, passed: PassedOver, stream: str, begin: int, end: int) -> None:
        """Take skipped rows as signs of life. Only lines of interest name a member."""
        if not self._source.several:
            self._source.lived(stream, passed.signs.part(begin, end))
            return
        kinds, nodes = (passed.rows.column(name).slice(begin, end - begin).to_pylist() for name in ("kind", "node"))
        for number, kind, node in zip(range(begin, end), kinds, nodes, strict=True):
            speaker = named_speaker(kind, node) if kind in INTERESTING else None
            self._source.lived(stream, passed.signs.part(number, number + 1), speaker)

    def _recall(self, lines: _Lines, number: int) -> None:
        """Take a row of the checkpoint that is no event."""
        if lines.kinds[number] == FAILED:
            error, protocol = (lines.batch.column(name)[number].as_py() for name in ("value", "node"))
            if protocol is None:
                self._error = error
            else:
                self._source.recall_failure(protocol, error)
        else:
            self._source.recall_segment(lines.streams[number], *lines.signs[number])


_OF_CHECKPOINT = frozenset({LIVED, FAILED})


def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Yield the gold rows of all groups in ``batches``, as :func:`judge_groups` returns them."""
    for group in judge_groups(batches):
        yield from group.judged.rows


@dataclass(frozen=True, slots=True)
class JudgedGroup:
    """One replica group and its judgement."""

    cluster: str
    replica_group: str
    judged: Judged


def judge_groups(batches: Iterable[pa.RecordBatch]) -> Iterator[JudgedGroup]:
    """Yield the judgement of each group in ``batches``.

    The batches hold rows of :mod:`election_core.replay.fact_rows`, sorted by cluster and replica_group. The result does
    not depend on the order of facts inside a group. A protocol whose rules fail yields one ``NOT_JUDGED`` finding and
    no other row; so does a group that fails as a whole. Neither stops the others.
    """
    for (cluster, group), facts in groupby(facts_in(batches), key=lambda fact: (fact.cluster, fact.replica_group)):
        of_group = list(facts)
        try:
            judged = group_judge.judged(of_group)
        except Exception as error:  # noqa: BLE001 - a fault in one group must not stop the night
            since = min(fact.since for fact in of_group)
            judged = group_judge.judged([failed(cluster, group, "", error_text(error), since=since)])
        yield JudgedGroup(cluster, group, judged)


def _sources(batch: pa.RecordBatch) -> Iterator[tuple[str, str, range]]:
    """Yield (cluster, source_node, range of rows) for each source in a batch."""
    keys = list(zip(_texts(batch, "cluster"), _texts(batch, "source_node"), strict=True))
    begin = 0
    for (cluster, source_node), run in groupby(keys):
        end = begin + sum(1 for _ in run)
        yield cluster, source_node, range(begin, end)
        begin = end


def _lines(passed: PassedOver) -> _Lines:
    """Return the rows to read of a batch, converted to Python values."""
    batch = passed.read
    kinds, streams = _texts(batch, "kind"), _texts(batch, "stream")
    since, latest = (values.tolist() for values in times(batch))
    wanted = [number for number, kind in enumerate(kinds) if kind in INTERESTING]
    events: list[FoldEvent | None] = [None] * len(kinds)
    for number, event in zip(wanted, _fold_events(batch, wanted, kinds, streams, (since, latest)), strict=True):
        events[number] = event
    ids = batch.column("event_id").to_pylist()
    return _Lines(
        batch=batch,
        passed=passed,
        kinds=kinds,
        streams=streams,
        files=_texts(batch, "fingerprint"),
        times=since,
        latest=latest,
        ids=ids,
        bounds=pc.fill_null(batch.column("clock_bound_ms"), 0).to_pylist(),
        events=events,
        old=batch.column(FROM_CHECKPOINT).to_pylist() if FROM_CHECKPOINT in batch.schema.names else None,
        signs=dict(_signs(batch, kinds, (since, latest), ids)),
    )


def _signs(
    batch: pa.RecordBatch, kinds: list[str], times: tuple[list[int], list[int]], ids: list[str]
) -> Iterator[tuple[int, tuple[Segment, str | None]]]:
    """Yield the numbers of the ``LIVED`` rows with their segments and members."""
    numbers = [number for number, kind in enumerate(kinds) if kind == LIVED]
    if numbers:
        chosen = batch.select(("until", "until_by", "until_event", "node")).take(pa.array(numbers))
        ends = zip(
            chosen.column("until").cast(pa.int64()).to_pylist(),
            chosen.column("until_by").cast(pa.int64()).to_pylist(),
            chosen.column("until_event").to_pylist(),
            chosen.column("node").to_pylist(),
            strict=True,
        )
        for number, (until, until_by, last_event, member) in zip(numbers, ends, strict=True):
            begin = times[0][number], times[1][number]
            yield number, (Segment(*begin, until, until_by, ids[number] or None, last_event or None), member)


def _fold_events(
    batch: pa.RecordBatch,
    wanted: list[int],
    kinds: list[str],
    streams: list[str],
    times: tuple[list[int], list[int]],
) -> Iterator[FoldEvent]:
    """Return the rows of these numbers as events."""
    here = [name for name in ("event_id", *LINE_FIELDS) if name in batch.schema.names]
    chosen = batch.select(here).take(pa.array(wanted, pa.int64()))
    ids = chosen.column("event_id").to_pylist()
    at, by = ([of_line[number] for number in wanted] for of_line in times)
    more = [_plain(chosen, name) for name in LINE_FIELDS]
    return map(FoldEvent, ids, (streams[n] for n in wanted), (kinds[n] for n in wanted), at, by, *more)


def _plain(batch: pa.RecordBatch, name: str) -> Iterable[Any]:
    """Return a column as immutable Python values; nulls where the batch lacks the column."""
    if name not in batch.schema.names:
        return repeat(None)
    column = batch.column(name)
    if not pa.types.is_list(column.type) or column.null_count == len(column):
        values: list[Any] = column.to_pylist()
        return values
    if name == "epoch_entries":
        return (
            None if entries is None else tuple((e["epoch"], e["start_offset"], e["end_offset"]) for e in entries)
            for entries in column.to_pylist()
        )
    return (None if value is None else tuple(value) for value in column.to_pylist())


def _texts(batch: pa.RecordBatch, name: str) -> list[str]:
    """Return a column of strings as Python values, null as the empty string."""
    return [text or "" for text in texts(batch.column(name))]
