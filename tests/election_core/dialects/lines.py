"""Tables of log lines such as ``zookeeper_lines.txt``, lines gone wrong, and records of the real logs.

A table is plain text: ``# stream`` names the file the next lines are from, a record stands as it was written (undated
lines behind ``| ``), and ``=>`` names its kind and the columns it fills.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import pairwise
from pathlib import Path

from election_replay.election_core.dialects import Dialect, Record
from election_replay.election_core.model.events import EpochEntry, Event

SHOWN = [
    column.name
    for column in fields(Event)
    if column.name not in ("kind", "event_time", "time_resolution_ms", "level", "thread")
]
"""The columns that a table tells of."""

LETTERS = "0129 -_,.:;'\"[]{}()<>=/#@\\\t\0é中\ud800nulltrue"


ZONES = {"rocketmq_lines.txt": 480}
"""In minutes east of UTC, where a system's own is not UTC."""


def entries(table: str) -> Iterator[tuple[Record, str]]:
    """Each record of a table in this folder with what is expected of it."""
    zone = ZONES.get(table, 0)
    stream, text, continuation = "", "", []
    for line in (Path(__file__).parent / table).read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            stream = line[2:]
        elif line.startswith("=> "):
            yield Record(text, tuple(continuation), stream, zone), line[3:]
        elif line.startswith("| "):
            continuation.append(line[2:])
        elif line:
            text, continuation = line, []


def mutated(record: Record, chance: random.Random) -> Record:
    """The record with up to six characters or stretches changed, repeated, cut or joined."""
    text = list(record.text)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(text)) if text else 0
        match chance.randrange(4):
            case 0:
                text[place : place + 1] = [chance.choice(LETTERS)]
            case 1:
                text[place:place] = chance.choice(LETTERS) * chance.randint(1, 40)
            case 2:
                del text[place : place + chance.randint(1, 30)]
            case _:
                text[place:place] = text[: chance.randint(0, len(text))]
    more = record.continuation or tuple(chance.choices(LETTERS, k=3))
    return record._replace(text="".join(text), continuation=more)


def records(path: Path, dialect: Dialect, stream: str) -> Iterator[tuple[int, Record]]:
    """The records of a file with their line numbers."""
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [at for at, line in enumerate(lines) if re.match(dialect.record_start, line)]
    for start, end in pairwise([*starts, len(lines)]):
        yield start + 1, Record(lines[start], tuple(lines[start + 1 : end][:20]), stream, 0)


def proofs_in_real_logs(
    runs: Iterable[Path], dialect: Dialect, stream: str | None, note: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], Event | None]]:
    """Each note of some runs that quotes a line as proof (groups ``path`` and ``line``), with the event of that line.

    Each event's line has a needle. A compressed file is left out.
    """
    for run in sorted(runs):
        events: dict[tuple[str, int], Event] = {}
        files = {path.relative_to(run.parent).as_posix(): path for path in sorted(run.parent.glob("nodes/*/logs/*"))}
        for name, path in files.items():
            for number, record in records(path, dialect, stream or path.name) if path.suffix != ".gz" else ():
                if event := dialect.parse(record):
                    events[name, number] = event
                    assert any(needle in record.text for needle in dialect.needles)
        for text in json.loads(run.read_text(encoding="utf-8"))["notes"]:
            if (proof := note.match(text)) and proof["path"] in files and not proof["path"].endswith(".gz"):
                yield proof, events.get((proof["path"], int(proof["line"])))


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
