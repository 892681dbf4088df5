"""Lines of a file that are kept, and the rows of ``silver.events`` and ``bronze.log_lines`` that they become.

The lines wait as plain lists, and become columns in thousands, across files. An event fills ten of a hundred columns, a
tick four, so a row by itself would be mostly empty, and none is ever made.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from election_replay.election_core.model.events import Event
from election_replay.jobs.warehouse.data_files import ROW_GROUP, Row, Rows
from election_replay.schemas import TABLES
from election_replay.schemas.events import MEANING

EVENTS, LOG_LINES = TABLES["events"], TABLES["log_lines"]
TYPES = {column.name: column.type.arrow for column in MEANING}
OF_PLACE = ("cluster", "source_node", "stream", "fingerprint", "path", "batch", "file_time", "clock_bound_ms")
"""The fields of a place that are columns of one or both tables."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The origin of the lines of one file; ``file_time`` is us UTC. ``file`` stands for the file in event ids, None:
    the id is made of cluster, node, stream and fingerprint."""

    cluster: str
    source_node: str
    stream: str
    fingerprint: str
    path: str
    batch: int
    file_time: int | None
    clock_bound_ms: int
    utc_offset_minutes: int
    time_zone: str | None = None
    file: str | None = None

    def event_ids(self, line_nos: Iterable[int]) -> list[str]:
        """Return the stable ids of the events on the given lines.

        Where a file holds several sources, ``file`` makes the ids those of the shared file.
        """
        file = self.file or f"{self.cluster}|{self.source_node}|{self.stream}|{self.fingerprint}"
        return [digest(f"{file}|{line_no}".encode()) for line_no in line_nos]


@dataclass(frozen=True, slots=True)
class EventLines:
    """Lines of one place: for each its number, the fields of the event that it is, and its text."""

    place: Place
    lines: list[tuple[int, Mapping[str, Any], str]] = field(default_factory=list)

    def add(self, line_no: int, event: Event, text: str) -> None:
        """Keep one more line."""
        self.lines.append((line_no, vars(event), text))

    def sort(self) -> None:
        """Sort the lines by their numbers."""
        self.lines.sort(key=itemgetter(0))


def digest(data: bytes) -> str:
    """Return a stable 128-bit name for ``data``, as 32 hex digits."""
    return hashlib.sha256(data).hexdigest()[:32]


def in_batches(found: Iterable[Row | EventLines]) -> Iterator[Row | Rows]:
    """Yield rows as they come, and the lines that are kept as record batches of both tables, thousands of rows at a
    time."""
    waiting: list[EventLines] = []
    count = 0
    for item in found:
        if not isinstance(item, EventLines):
            yield item
            continue
        waiting.append(item)
        count += len(item.lines)
        if count >= ROW_GROUP:
            yield from batches(waiting)
            waiting, count = [], 0
    if waiting:
        yield from batches(waiting)


def batches(kept: Sequence[EventLines]) -> tuple[Rows, Rows]:
    """Return the lines that are kept as one batch of rows of ``events`` and one of ``log_lines``."""
    places = [lines.place for lines in kept]
    which = pa.array(np.repeat(np.arange(len(kept)), [len(lines.lines) for lines in kept]))
    line_nos, meanings, texts = zip(*chain.from_iterable(lines.lines for lines in kept), strict=True)
    ids = chain.from_iterable(lines.place.event_ids(line_no for line_no, _, _ in lines.lines) for lines in kept)
    at = {name: pa.array([getattr(place, name) for place in places]).take(which) for name in OF_PLACE}
    at |= {"event_id": pa.array([*ids]), "line_no": pa.array(line_nos), "source_file": at["path"]}
    return (
        (EVENTS.name, pa.RecordBatch.from_pydict(at | columns_of(meanings))),
        (LOG_LINES.name, pa.RecordBatch.from_pydict(at | {"text": pa.array(texts)})),
    )


def columns_of(meanings: Sequence[Mapping[str, Any]]) -> dict[str, pa.Array]:
    """Return, by name, the columns in which at least one of the events has a value."""
    columns: dict[str, list[Any]] = {}
    for at, event in enumerate(meanings):
        for name, value in event.items():
            if name in columns:
                columns[name][at] = value
            elif value is not None:
                columns[name] = [None] * len(meanings)
                columns[name][at] = value
    if entries := columns.get("epoch_entries"):
        columns["epoch_entries"] = [None if row is None else [*map(astuple, row)] for row in entries]
    return {name: pa.array(values, TYPES[name]) for name, values in columns.items()}
