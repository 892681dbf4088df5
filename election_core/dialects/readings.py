"""Detection of a file's dialect and layout from its lines.

Thousands of programs share the layouts of loggers, so a layout alone does not identify the system: a file has a dialect
only if one of its lines *is* one of the dialect's texts. If the file's name identifies the system, the layout that reads
most lines counts.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from election_replay.election_core.dialects.dialect import Dialect, Record, fewest
from election_replay.election_core.dialects.json_layouts import JsonLayout
from election_replay.election_core.dialects.known_layouts import layouts_of
from election_replay.election_core.dialects.layouts import AnyLayout
from election_replay.election_core.model.events import Event, Unparsable

MOST_LINES = 200
"""The most lines that are tried in each layout: rare texts are found by their literals before, and others are alike."""

FIRST_LINES = 20
"""The number of first dated lines that decide whether the system's own layout is used."""

CLASS = "the class that prints (%c): some texts that several classes print are left out"
"""The ``missing`` of a layout that does not print the class."""

DATED = re.compile(r"^.{0,120}?\d[:h]?[0-5]\d:?[0-5]\d|^.{0,80}?\d{10}|^\{")
"""A line that may begin a record, whatever its layout."""


@lru_cache(maxsize=512)
def in_layout(dialect: Dialect, layout: AnyLayout) -> Dialect:
    """Return the dialect for a file in one layout; lines in the system's own layouts are still read."""
    parse_line = dialect.parse_line
    if parse_line is None:
        raise ValueError(f"{dialect.name} has no layout of its own")

    def parse(record: Record) -> Event | None:
        line = layout.line(record.text)
        return dialect.parse(record) if line is None else parse_line(line, record)

    def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
        return layout.time_of(text, utc_offset_minutes) or dialect.time_of(text, utc_offset_minutes)

    return replace(
        dialect,
        name=f"{dialect.name} {layout.pattern}",
        record_start=f"{layout.record_start}|{dialect.record_start}",
        needles=in_json(dialect.anchors) if isinstance(layout, JsonLayout) else dialect.anchors,
        parse=parse,
        time_of=time_of,
        reads=lambda text: layout.line(text) is not None or dialect.reads(text),
        plain=layout.plain and dialect.plain,
        missing=CLASS if dialect.by_class and not layout.names_class else None,
    )


def in_json(literals: Iterable[str]) -> tuple[str, ...]:
    """Return the literals as JSON may hold them, whichever characters its writer escapes."""
    return fewest({max(re.split(r"[^\w .,:()\[\]{}=-]+", literal, flags=re.ASCII), key=len) for literal in literals})


@dataclass(frozen=True, slots=True, order=True)
class Score:
    """The fit of a reading to the lines; the best one is the largest."""

    events: int
    read: int


def reading(dialect: Dialect, lines: Sequence[str], stream: str) -> Dialect:
    """Return the dialect in the layout that reads most of ``lines``; its own if that reads at least half."""
    dated = [line for line in lines if DATED.match(line)]
    first = dated[:FIRST_LINES]
    if dialect.parse_line is None or not dated or 2 * sum(map(dialect.reads, first)) >= len(first):
        return dialect
    chosen = spread(dated, MOST_LINES)
    found = max(readings(dialect, chosen), key=lambda dialect_read: score(dialect_read, chosen, stream))
    return found if 10 * sum(map(found.reads, chosen)) >= len(chosen) else dialect


def spoken(dialects: Iterable[Dialect], lines: Sequence[str], stream: str) -> Dialect | None:
    """Return the dialect, in its layout, that most of ``lines`` are texts of; None if no line is."""
    chosen = spread([line for line in lines if DATED.match(line)], MOST_LINES)
    found: list[tuple[Score, Dialect]] = []
    for dialect in dialects:
        if dialect.parse_line is None:
            continue
        spoken_lines = [line for line in chosen if any(needle in line for needle in dialect.distinguishing_lines)]
        scored = [(score(read_as, spoken_lines, stream), read_as) for read_as in readings(dialect, spoken_lines)]
        native, most = scored[0], max(scored, key=lambda pair: pair[0])
        # lines of other programs in the same file may have another layout: it counts only if it brings more events
        found.append(native if native[0].events == most[0].events else most)
    best_score, best_dialect = max(found, key=lambda pair: pair[0], default=(Score(0, 0), None))
    return best_dialect if best_score.events else None


def readings(dialect: Dialect, lines: Iterable[str]) -> Iterator[Dialect]:
    """Yield the dialect in its own layouts, then in each known layout that reads a line."""
    yield dialect
    seen: dict[str, AnyLayout] = {}
    for line in lines:
        if len(seen) < MOST_LINES:
            seen.update((layout.pattern, layout) for layout in layouts_of(line))
    yield from (in_layout(dialect, layout) for layout in seen.values())


def score(dialect: Dialect, lines: Iterable[str], stream: str) -> Score:
    """Count the ``lines`` that are events of the dialect, and those that it reads at all."""
    events = read = 0
    for line in lines:
        events += is_event(dialect, line, stream)
        read += dialect.reads(line)
    return Score(events, read)


def is_event(dialect: Dialect, line: str, stream: str) -> bool:
    """Return True when a line is a text of the dialect."""
    try:
        return dialect.parse(Record(line, (), stream, 0)) is not None
    except Unparsable:  # raised too for lines that are not of the dialect at all
        return False


def spread(lines: Sequence[Any], count: int) -> list[Any]:
    """Return at most ``count`` of the lines, evenly spaced."""
    step = max(1, -(-len(lines) // count))
    return list(lines[::step])
