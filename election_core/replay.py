"""Replay: events in, rows out. The one place where Arrow meets the core.

Two passes, each over sorted batches and each a plain generator, so that any engine can drive them:

``fold``   events of one source after the other (program order inside a stream) -> facts
``judge``  facts of one replica group after the other -> rows of the gold tables

Both carry their state across batches: a batch boundary falls wherever it likes.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_core import judge as _judge
from election_core.facts import Fact
from election_core.judge import failed
from election_core.lives import Segment
from election_core.logged import Logged
from election_core.memory import FAILED, LIVED, Memory, failure, lived
from election_core.rows import Row
from election_core.source import INTERESTING, SourceLog
from election_core.witness import NOT_LISTED, UNIDENTIFIED, Listed

_LOGGED_ONLY = tuple(
    name for name in Logged.__dataclass_fields__ if name not in {"event_id", "stream", "kind", "at", "by"}
)

FOLD_COLUMNS: tuple[str, ...] = (
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
    *_LOGGED_ONLY,
)
"""The columns of ``silver.events`` that the fold needs, in the order in which it reads them."""


STATE_COLUMNS: tuple[str, ...] = (*FOLD_COLUMNS, "until", "until_event")
"""The columns of a state, see :mod:`election_core.memory`."""
REMEMBERED = "remembered"
"""The column that tells rows of the state (true) from new events."""

Inventory = Mapping[tuple[str, str], Listed]
"""What the inventory says of a source, by cluster and source node."""


def fold(batches: Iterable[pa.RecordBatch], inventory: Inventory | None = None) -> Iterator[Fact | pa.RecordBatch]:
    """Facts of all sources in ``batches``; ``inventory`` decides whom a source speaks for where its log does not say.

    The batches hold at least :data:`FOLD_COLUMNS`, sorted by cluster, source_node, whether the stream is a metadata
    snapshot (its name holds a slash), stream, file_time (nulls first), fingerprint and line_no; all events of a source
    stand together. With the columns :data:`STATE_COLUMNS` and :data:`REMEMBERED` they also hold the states that former
    folds gave; then the facts of a source are followed by record batches of the rows that its new events add to its
    state. A source on which the fold fails gives one ``FAILED`` fact; it does not stop the others.
    """
    current: _Folding | None = None
    for batch in batches:
        for cluster, source_node, rows in _sources(batch):
            if current is None or not current.is_of(cluster, source_node):
                if current is not None:
                    yield from current.told()
                listed = (inventory or {}).get((cluster, source_node), NOT_LISTED)
                current = _Folding(SourceLog(cluster, source_node, 0, listed), REMEMBERED in batch.schema.names)
            current.feed(batch.slice(rows.start, len(rows)))
    if current is not None:
        yield from current.told()


class _Folding:
    """The fold of one source, which may fail on its own."""

    def __init__(self, source: SourceLog, remembers: bool) -> None:
        self._source = source
        self._memory = Memory() if remembers else None
        self._error: str | None = None
        self._failed_before = False

    def is_of(self, cluster: str, source_node: str) -> bool:
        return (self._source.cluster, self._source.source_node) == (cluster, source_node)

    def feed(self, part: pa.RecordBatch) -> None:
        if self._error is None:
            try:
                self._feed(part)
            except Exception as error:  # noqa: BLE001 - a fault in one source must not stop the night
                self._error = said(error)

    def told(self) -> Iterator[Fact | pa.RecordBatch]:
        """The facts of the source, and what is new in its state."""
        facts: list[Fact] = []
        if self._error is None:
            try:
                facts = list(self._source.facts())
            except Exception as error:  # noqa: BLE001 - the same
                self._error = said(error)
        cluster, source_node = self._source.cluster, self._source.source_node
        if self._error is not None:
            yield failed(cluster, UNIDENTIFIED, source_node, self._error)
        yield from facts
        if self._memory is not None and self._error is None:
            yield lived(cluster, source_node, self._source.bound_ms, list(self._source.digest()))
            yield from self._memory.batches()
        elif self._memory is not None and self._error is not None and not self._failed_before:
            yield failure(cluster, source_node, self._error)

    def _feed(self, part: pa.RecordBatch) -> None:
        kinds = _texts(part, "kind")
        times = part.column("event_time").cast(pa.int64()).to_pylist()
        self._source.bound_ms = max(self._source.bound_ms, pc.max(part.column("clock_bound_ms")).as_py() or 0)
        wanted = self._new(part, kinds, times) if self._memory is None else self._both(part, kinds, times)
        for event in _logged(part, kinds, times, wanted):
            self._source.on(event)

    def _new(self, part: pa.RecordBatch, kinds: list[str | None], times: list[int]) -> list[int]:
        """Take the lines of new events; the numbers of those that the protocols read."""
        streams, files, ids = _texts(part, "stream"), _texts(part, "fingerprint"), part.column("event_id").to_pylist()
        for stream, time, event_id, file in zip(streams, times, ids, files, strict=True):
            self._source.seen(stream or "", time, event_id, file or "")
        return [number for number, kind in enumerate(kinds) if kind in INTERESTING]

    def _both(self, part: pa.RecordBatch, kinds: list[str | None], times: list[int]) -> list[int]:
        """The same with rows of the state among them; the memory hears of every new line."""
        streams, files, ids = _texts(part, "stream"), _texts(part, "fingerprint"), part.column("event_id").to_pylist()
        old, memory = part.column(REMEMBERED).to_pylist(), self._memory or Memory()
        wanted: list[int] = []
        memory.begin(part)
        for number, kind in enumerate(kinds):
            stream, file, time = streams[number] or "", files[number] or "", times[number]
            if old[number] and kind in _OF_STATE:
                self._recall(part, number, stream, time, ids[number])
                continue
            if kind in INTERESTING:
                wanted.append(number)
            if old[number]:
                self._source.remembered(stream, time, ids[number], file)
            else:
                steady = self._source.seen(stream, time, ids[number], file)
                memory.line(number, (stream, file), time, keep=not steady or kind in INTERESTING)
        memory.end()
        return wanted

    def _recall(self, part: pa.RecordBatch, number: int, stream: str, time: int, event_id: str) -> None:
        """A row of the state that is no event."""
        if part.column("kind")[number].as_py() == FAILED:
            self._failed_before = True
            self._error = part.column("value")[number].as_py()
            return
        until = part.column("until")[number].cast(pa.int64()).as_py()
        last_event = part.column("until_event")[number].as_py()
        self._source.lived(stream, Segment(time, until, event_id or None, last_event or None))


_OF_STATE = frozenset({LIVED, FAILED})


def said(error: Exception) -> str:
    """A fault of this software in words."""
    return f"{type(error).__name__}: {error}"[:200]


def judge(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Rows of all gold tables for all groups in ``batches``.

    The batches hold the columns of :class:`~election_core.facts.Fact`, sorted by cluster and replica_group.
    The rows do not depend on the order of facts inside a group. A group on which a rule fails gives one
    ``NOT_JUDGED`` finding; it does not stop the others.
    """
    for (cluster, group), facts in groupby(_facts(batches), key=lambda fact: (fact.cluster, fact.replica_group)):
        own = list(facts)
        try:
            rows = list(_judge.rows_of_group(own))
        except Exception as error:  # noqa: BLE001 - a fault in one group must not stop the night
            rows = list(_judge.rows_of_group([failed(cluster, group, "", said(error))]))
        yield from rows


def _sources(batch: pa.RecordBatch) -> Iterator[tuple[str, str, range]]:
    """The runs of rows of one source in a batch."""
    keys = list(zip(_texts(batch, "cluster"), _texts(batch, "source_node"), strict=True))
    begin = 0
    for number in range(1, len(keys) + 1):
        if number == len(keys) or keys[number] != keys[begin]:
            cluster, source_node = keys[begin]
            yield cluster or "", source_node or "", range(begin, number)
            begin = number


def _logged(part: pa.RecordBatch, kinds: list[str | None], times: list[int], wanted: list[int]) -> Iterator[Logged]:
    """The rows of these numbers as events."""
    if not wanted:
        return
    names = [name for name in ("event_id", "stream", "time_resolution_ms", *_LOGGED_ONLY) if name in part.schema.names]
    chosen = part.select(names).take(pa.array(wanted))
    columns = {name: chosen.column(name).to_pylist() for name in names}
    ids, streams = columns.pop("event_id"), columns.pop("stream")
    resolutions = columns.pop("time_resolution_ms")
    for place, number in enumerate(wanted):
        yield Logged(
            event_id=ids[place],
            stream=streams[place] or "",
            kind=kinds[number] or "",
            at=times[number],
            by=times[number] + (resolutions[place] or 0) * 1000,
            **{name: _plain(name, values[place]) for name, values in columns.items()},
        )


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, list):
        if name == "epoch_entries":
            return tuple((e["epoch"], e["start_offset"], e["end_offset"]) for e in value)
        return tuple(value)
    return value


def _texts(batch: pa.RecordBatch, name: str) -> list[str | None]:
    """A column of strings as Python values; each distinct string is made once."""
    encoded = batch.column(name).dictionary_encode()
    words = encoded.dictionary.to_pylist()
    return [None if i is None else words[i] for i in encoded.indices.to_pylist()]


_TIMES = ("since", "since_by", "until", "until_by", "sure_until")
_TUPLES = ("members", "evidence")


def _facts(batches: Iterable[pa.RecordBatch]) -> Iterator[Fact]:
    names = tuple(Fact.__dataclass_fields__)
    for batch in batches:
        columns = []
        for name in names:
            column = batch.column(name)
            if name in _TIMES and not pa.types.is_integer(column.type):
                column = column.cast(pa.int64())
            values = column.to_pylist()
            if name in _TUPLES:
                values = [None if v is None else tuple(v) for v in values]
            columns.append(values)
        for row in zip(*columns, strict=True):
            yield Fact(**dict(zip(names, row, strict=True)))
