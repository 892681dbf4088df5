"""What the fold of a source must keep of its events to go on another night: its state.

The state is rows of the same form as events: those events that a later fold still reads, word for word, and ``LIVED``
rows that sum up the signs of life of all others. It is gathered night by night and never rewritten: a fold of the rows
of all nights, together with the events of a new one, gives exactly the facts that a fold of all events gives.

One thing cannot be said from the state: where a process began that an event of a later landing shows to have been
started long before (:data:`~election_core.lives.LATE`). Such a source is folded from its events again.
"""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from election_core.lives import Segment

LIVED = "LIVED"
"""A row that stands for lines of one process: the first at ``event_time`` (``event_id``), the last at ``until``
(``until_event``), with no silence between them."""
FAILED = "FAILED"
"""A row that says that the fold of this source failed, by the error ``value``; it stays failed under these rules."""


class Memory:
    """Chooses, line by line, which events of one source its state keeps.

    Kept is what a protocol reads, and what shows a clock that does not just go on: a line may be forgotten where the
    lines of its file before and after it are in order.
    """

    def __init__(self) -> None:
        self._former: list[pa.RecordBatch] = []
        self._chosen: list[int] = []
        self._open: int | None = None
        self._waiting: pa.RecordBatch | None = None
        self._file = ("", "")
        self._time = 0

    def line(self, number: int, file: tuple[str, str], time: int, *, keep: bool) -> None:
        """The row ``number`` of the batch is a new line of ``file``; whether it must be kept whatever follows."""
        if self._open is not None or self._waiting is not None:
            self._resolve(forget=time >= self._time and file == self._file)
        if keep:
            self._chosen.append(number)
        else:
            self._open, self._file, self._time = number, file, time

    def turn(self, batch: pa.RecordBatch) -> None:
        """The batch ends; a line that waits for the next one of its file waits for the next batch."""
        if self._chosen:
            self._former.append(batch.take(pa.array(self._chosen)))
            self._chosen = []
        if self._open is not None:
            self._waiting = batch.take(pa.array([self._open]))
            self._open = None

    def kept(self) -> tuple[list[pa.RecordBatch], list[int]]:
        """All that is kept after the last line: rows of former batches, and the numbers of rows of this one."""
        if self._open is not None or self._waiting is not None:
            self._resolve(forget=False)
        return self._former, self._chosen

    def _resolve(self, *, forget: bool) -> None:
        """Forget the line that waits, or keep it."""
        if not forget and self._waiting is not None:
            self._former.append(self._waiting)
        elif not forget and self._open is not None:
            self._chosen.append(self._open)
        self._open = self._waiting = None


class Added:
    """What the sources that are done add to their states, gathered for many short ones at once."""

    def __init__(self) -> None:
        self._former: list[pa.RecordBatch] = []
        self._numbers: list[int] = []
        self._signs: list[tuple[str | int | None, ...]] = []

    def take(
        self, memory: Memory, cluster: str, source_node: str, bound_ms: int, digest: Iterable[tuple[str, Segment]]
    ) -> None:
        """The rows that ``memory`` kept, and ``LIVED`` rows of the ``digest``: streams, and when they were written."""
        former, numbers = memory.kept()
        self._former.extend(former)
        self._numbers.extend(numbers)
        for stream, lived in digest:
            first, last = lived.first_event or "", lived.last_event or ""
            self._signs.append(
                (cluster, source_node, stream, "", 0, bound_ms, lived.first, 0, first, LIVED, None, lived.last, last)
            )

    def failure(self, cluster: str, source_node: str, error: str) -> None:
        """The ``FAILED`` row of a source."""
        self._signs.append((cluster, source_node, "", "", 0, 0, 0, 0, "", FAILED, error, None, None))

    def batches(self, batch: pa.RecordBatch | None) -> Iterator[pa.RecordBatch]:
        """All of it; ``batch`` is the one whose rows the memories numbered last, ``None`` after the last."""
        yield from self._former
        if batch is not None and self._numbers:
            yield batch.take(pa.array(self._numbers))
        if self._signs:
            columns = zip(zip(*self._signs, strict=True), _SIGN, strict=True)
            yield pa.RecordBatch.from_arrays([pa.array(values, one.type) for values, one in columns], schema=_SIGN)


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
        "value": pa.string(),
        "until": pa.int64(),
        "until_event": pa.string(),
    }
)
