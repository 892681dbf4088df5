"""What the fold of a source must keep of its events to go on another night: its state.

The state is rows of the same form as events: those events that a later fold still reads, word for word, and ``LIVED``
rows that sum up the signs of life of all others. It is gathered night by night and never rewritten: a fold of the rows
of all nights, together with the events of a new one, gives exactly the facts that a fold of all events gives.

One thing cannot be said from the state: where a process began that an event of a later landing shows to have been
started long before (:data:`~election_core.lives.LATE`). Such a source is folded from its events again.
"""

from collections.abc import Iterator, Sequence

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
        self._batches: list[pa.RecordBatch] = []
        self._part: pa.RecordBatch | None = None
        self._chosen: list[int] = []
        self._open: int | None = None
        self._waiting: pa.RecordBatch | None = None
        self._file: tuple[str | None, str | None] = (None, None)
        self._time = 0

    def begin(self, part: pa.RecordBatch) -> None:
        """The next lines are the rows of ``part``."""
        self._part, self._chosen, self._open = part, [], None

    def line(self, number: int, file: tuple[str | None, str | None], time: int, *, keep: bool) -> None:
        """The row ``number`` of the part is a new line of ``file``; whether it must be kept whatever follows."""
        self._resolve(file, time)
        if keep:
            self._chosen.append(number)
        else:
            self._open, self._file, self._time = number, file, time

    def end(self) -> None:
        """The part ends; a line that waits for the next one of its file waits for the next part."""
        if self._part is None:
            return
        if self._chosen:
            self._batches.append(self._part.take(pa.array(self._chosen)))
        if self._open is not None:
            self._waiting = self._part.slice(self._open, 1)
        self._part, self._open = None, None

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Everything that is kept, after the last part."""
        if self._waiting is not None:
            self._batches.append(self._waiting)
            self._waiting = None
        yield from self._batches

    def _resolve(self, file: tuple[str | None, str | None], time: int) -> None:
        """Forget the line that waits, if this one is the next of its file and later; else keep it."""
        if self._open is None and self._waiting is None:
            return
        forget = file == self._file and time >= self._time
        if self._waiting is not None:
            if not forget:
                self._batches.append(self._waiting)
            self._waiting = None
        elif self._open is not None and not forget:
            self._chosen.append(self._open)
        self._open = None


def lived(cluster: str, source_node: str, bound_ms: int, digest: Sequence[tuple[str, Segment]]) -> pa.RecordBatch:
    """``LIVED`` rows of a source."""
    length = len(digest)
    return pa.RecordBatch.from_pydict(
        {
            "cluster": [cluster] * length,
            "source_node": [source_node] * length,
            "stream": [stream for stream, _ in digest],
            "fingerprint": [""] * length,
            "line_no": pa.array([0] * length, pa.int64()),
            "clock_bound_ms": pa.array([bound_ms] * length, pa.int64()),
            "event_time": pa.array([segment.first for _, segment in digest], pa.int64()),
            "time_resolution_ms": pa.array([0] * length, pa.int64()),
            "event_id": [segment.first_event or "" for _, segment in digest],
            "kind": [LIVED] * length,
            "until": pa.array([segment.last for _, segment in digest], pa.int64()),
            "until_event": [segment.last_event or "" for _, segment in digest],
        }
    )


def failure(cluster: str, source_node: str, error: str) -> pa.RecordBatch:
    """The ``FAILED`` row of a source."""
    row = {
        "cluster": cluster,
        "source_node": source_node,
        "stream": "",
        "fingerprint": "",
        "line_no": 0,
        "clock_bound_ms": 0,
        "event_time": 0,
        "time_resolution_ms": 0,
        "event_id": "",
        "kind": FAILED,
        "value": error,
    }
    return pa.RecordBatch.from_pylist([row])
