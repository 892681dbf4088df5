"""The table of log lines in ``rocketmq_lines.txt`` and how an event is written there.

The table is plain text: ``# stream`` names the file the next lines are from, a record stands as it was written
(undated lines behind ``| ``), and ``=>`` names its kind and the columns it fills.
"""

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from election_replay.election_core.dialects import Record
from election_replay.election_core.model.events import EpochEntry, Event

TABLE = Path(__file__).parent / "rocketmq_lines.txt"
SHOWN = [
    column.name
    for column in fields(Event)
    if column.name not in ("kind", "event_time", "time_resolution_ms", "level", "thread")
]


def entries() -> Iterator[tuple[Record, str]]:
    """Each record of the table with what is expected of it."""
    stream, text, continuation = "", "", []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            stream = line[2:]
        elif line.startswith("=> "):
            yield Record(text, tuple(continuation), stream, 480), line[3:]
        elif line.startswith("| "):
            continuation.append(line[2:])
        elif line:
            text, continuation = line, []


def written(event: Event) -> str:
    """An event as the table writes it: kind, then ``column=value`` of what is known."""
    known = ((name, getattr(event, name)) for name in SHOWN)
    return " ".join([event.kind, *(f"{name}={_value(value)}" for name, value in known if value is not None)])


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ",".join(_value(one) for one in value) + "]"
    if isinstance(value, EpochEntry):
        return f"{value.epoch}:{value.start_offset}-{'' if value.end_offset is None else value.end_offset}"
    return str(value)
