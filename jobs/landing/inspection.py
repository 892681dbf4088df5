"""What the pipeline makes of a log file, line by line: to find out why a line was not understood.

Reads the file as the landing does, without Spark and without a warehouse. Lines that are not events are gathered by
their *shape*: the text with its numbers, ids and names in brackets taken out. A frequent shape that speaks about
leadership is a text that the dialect does not know yet.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path

import polars as pl

from election_core.dialects import KINDS, Dialect, Record, Unparsable, dialect_for
from election_core.dialects.streams import stream_of
from election_core.model.events import Event
from jobs import JobError
from jobs.landing.blocks import Blocks
from jobs.landing.evidence import CONTINUATION_LINES, TEXT_CHARACTERS, decoded
from jobs.landing.landing_zone import LocalZone
from jobs.landing.masking import without_secrets

MANY_SHAPES = 20_000
"""A file with more shapes than this is no log; further ones are counted together."""
OTHER = "(more shapes than can be told apart)"

_PREFIX = re.compile(r"^\S+[ T]\S+ +(?:\[?[A-Z]{4,5}\]? +)?(?:.{1,80}? - )?")
_VALUES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)*|'[^']*'|\"[^\"]*\"|\{[^{}]*\}|\[[^\[\]]*\]")
_COLUMNS = tuple(
    one.name for one in fields(Event) if one.name not in {"kind", "event_time", "time_resolution_ms", "thread"}
)


@dataclass(frozen=True, slots=True)
class Seen:
    """One record of the file and what became of it: an event, the reason of its quarantine, or neither."""

    line_no: int
    text: str
    event: Event | None
    reason: str | None


@dataclass(slots=True)
class Inspection:
    """What a whole file holds. Times are microseconds UTC."""

    path: str
    stream: str
    dialect: Dialect | None
    lines: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    first_of_kind: dict[str, int] = field(default_factory=dict)
    shapes: Counter[str] = field(default_factory=Counter)
    example: dict[str, tuple[int, str]] = field(default_factory=dict)
    quarantined: list[Seen] = field(default_factory=list)
    events: list[Seen] = field(default_factory=list)
    problem: str | None = None

    def add(self, seen: Seen) -> None:
        """Take one record."""
        if seen.reason is not None:
            self.quarantined.append(seen)
        elif seen.event is not None:
            self.kinds[seen.event.kind] += 1
            self.first_of_kind.setdefault(seen.event.kind, seen.line_no)
            self.events.append(seen)
        else:
            self._add_shape(seen)

    def _add_shape(self, seen: Seen) -> None:
        shape = shape_of(seen.text)
        if shape not in self.shapes and len(self.shapes) >= MANY_SHAPES:
            shape = OTHER
        self.shapes[shape] += 1
        self.example.setdefault(shape, (seen.line_no, seen.text))


def shape_of(text: str) -> str:
    """A text without what changes from line to line."""
    return _VALUES.sub("#", _PREFIX.sub("", text))[:160].strip()


def inspect(path: str, utc_offset_minutes: int | None = None) -> Inspection:
    """Read a log file. Raises :class:`JobError` when there is no such file."""
    file = Path(path)
    if not file.is_file():
        raise JobError(f"there is no file {path}")
    stream = stream_of(file.name)
    file = file.resolve()
    blocks = Blocks(LocalZone(str(file.parent)), file.name, file.stat().st_size)
    found = Inspection(path, stream, dialect_for(stream))
    for seen in _records(found, _lines(blocks), utc_offset_minutes):
        found.add(seen)
    found.problem = blocks.problem if blocks.unread or not blocks.problem else f"damaged: {blocks.problem}"
    return found


def _lines(blocks: Blocks) -> Iterator[str]:
    for block in blocks:
        yield from _texts(block.data)
    if blocks.rest:
        yield from _texts(blocks.rest)


def _texts(data: bytes) -> list[str]:
    """The lines of a block, without the secrets in them: what landing would not keep is not shown either."""
    text = decoded(data)[0].decode("utf-8", "replace")
    lines = [line.rstrip("\r").removeprefix("\ufeff") for line in text.removesuffix("\n").split("\n")]
    return without_secrets(pl.Series(lines, dtype=pl.String)).to_list()


def _records(found: Inspection, lines: Iterator[str], utc_offset_minutes: int | None) -> Iterator[Seen]:
    """The records of a file: each dated line with the undated lines after it."""
    begin: tuple[int, str] | None = None
    more: list[str] = []
    start: re.Pattern[str] | None = None
    for number, line in enumerate(lines, 1):
        found.lines = number
        if found.dialect is None:
            found.dialect = dialect_for(found.stream, line)
        if found.dialect is None:
            yield Seen(number, line, None, None)
            continue
        start = start or re.compile(found.dialect.record_start)
        if start.search(line):
            if begin is not None:
                yield _seen(found.dialect, found.stream, begin, more, utc_offset_minutes)
            begin, more = (number, line), []
        elif begin is None:
            yield Seen(number, line, None, None)
        elif len(more) < CONTINUATION_LINES:
            more.append(line[:TEXT_CHARACTERS])
    if begin is not None and found.dialect is not None:
        yield _seen(found.dialect, found.stream, begin, more, utc_offset_minutes)


def _seen(
    dialect: Dialect, stream: str, begin: tuple[int, str], more: list[str], utc_offset_minutes: int | None
) -> Seen:
    number, text = begin
    if not any(needle in text for needle in dialect.needles):
        return Seen(number, text, None, None)
    zone = dialect.utc_offset_minutes if utc_offset_minutes is None else utc_offset_minutes
    try:
        return Seen(number, text, dialect.parse(Record(text, tuple(more), stream, zone)), None)
    except Unparsable as error:
        return Seen(number, text, None, str(error))


def render(event: Event) -> str:
    """What an event says, as ``name=value`` pairs."""
    values = ((name, getattr(event, name)) for name in _COLUMNS)
    return " ".join(f"{name}={_short(value)}" for name, value in values if value is not None)


def _short(value: object) -> str:
    text = "{" + ", ".join(map(str, value)) + "}" if isinstance(value, tuple) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def meaning(kind: str) -> str:
    """The one-line meaning of a kind."""
    return KINDS.get(kind, "")
