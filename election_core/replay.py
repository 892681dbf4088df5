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

from election_core import judge as _judge
from election_core.facts import Fact
from election_core.judge import failed
from election_core.logged import Logged
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


Inventory = Mapping[tuple[str, str], Listed]
"""What the inventory says of a source, by cluster and source node."""


def fold(batches: Iterable[pa.RecordBatch], inventory: Inventory | None = None) -> Iterator[Fact]:
    """Facts of all sources in ``batches``; ``inventory`` decides whom a source speaks for where its log does not say.

    The batches hold at least :data:`FOLD_COLUMNS`, sorted by cluster, source_node, whether the stream is a metadata
    snapshot (its name holds a slash), stream, file_time, fingerprint and line_no; all events of a source stand
    together. A source on which the fold fails gives one ``FAILED`` fact; it does not stop the others.
    """
    current: _Folding | None = None
    for batch in batches:
        for cluster, source_node, bound_ms, rows in _sources(batch):
            if current is None or not current.is_of(cluster, source_node):
                if current is not None:
                    yield from current.facts()
                listed = (inventory or {}).get((cluster, source_node), NOT_LISTED)
                current = _Folding(SourceLog(cluster, source_node, bound_ms, listed))
            current.feed(batch, rows)
    if current is not None:
        yield from current.facts()


class _Folding:
    """The fold of one source, which may fail on its own."""

    def __init__(self, source: SourceLog) -> None:
        self._source = source
        self._error: Exception | None = None

    def is_of(self, cluster: str, source_node: str) -> bool:
        return (self._source.cluster, self._source.source_node) == (cluster, source_node)

    def feed(self, batch: pa.RecordBatch, rows: range) -> None:
        if self._error is None:
            try:
                _feed(self._source, batch, rows)
            except Exception as error:  # noqa: BLE001 - a fault in one source must not stop the night
                self._error = error

    def facts(self) -> Iterator[Fact]:
        if self._error is None:
            try:
                yield from list(self._source.facts())
                return
            except Exception as error:  # noqa: BLE001 - the same
                self._error = error
        yield failed(self._source.cluster, UNIDENTIFIED, self._source.source_node, self._error)


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
            rows = list(_judge.rows_of_group([failed(cluster, group, "", error)]))
        yield from rows


def _sources(batch: pa.RecordBatch) -> Iterator[tuple[str, str, int, range]]:
    """The runs of rows of one source in a batch."""
    keys = list(zip(_texts(batch, "cluster"), _texts(batch, "source_node"), strict=True))
    bounds = batch.column("clock_bound_ms").to_pylist()
    begin = 0
    for number in range(1, len(keys) + 1):
        if number == len(keys) or keys[number] != keys[begin]:
            cluster, source_node = keys[begin]
            yield cluster or "", source_node or "", bounds[begin] or 0, range(begin, number)
            begin = number


def _feed(source: SourceLog, batch: pa.RecordBatch, rows: range) -> None:
    part = batch.slice(rows.start, len(rows))
    kinds = _texts(part, "kind")
    times = part.column("event_time").cast(pa.int64()).to_pylist()
    resolutions = part.column("time_resolution_ms").to_pylist()
    streams = _texts(part, "stream")
    files = _texts(part, "fingerprint")
    ids = part.column("event_id").to_pylist()
    wanted: list[int] = []
    lines = zip(kinds, times, streams, ids, files, strict=True)
    for number, (kind, time, stream, event_id, file) in enumerate(lines):
        source.seen(stream or "", time, event_id, file or "")
        if kind in INTERESTING:
            wanted.append(number)
    if not wanted:
        return
    chosen = part.select([name for name in _LOGGED_ONLY if name in part.schema.names]).take(pa.array(wanted))
    columns = {name: chosen.column(name).to_pylist() for name in chosen.schema.names}
    for place, number in enumerate(wanted):
        at = times[number]
        source.on(
            Logged(
                event_id=ids[number],
                stream=streams[number] or "",
                kind=kinds[number] or "",
                at=at,
                by=at + (resolutions[number] or 0) * 1000,
                **{name: _plain(name, values[place]) for name, values in columns.items()},
            )
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
