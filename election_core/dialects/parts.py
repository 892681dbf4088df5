"""The parts of a line in any layout, and the events that the texts of a system make of them."""

from collections.abc import Callable, Mapping
from re import Pattern
from typing import Any, NamedTuple

from election_replay.election_core.dialects.dialect import Record, Table, moment
from election_replay.election_core.model.events import Event, Unparsable, saying

LEVELS = {
    **{name: name for name in ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL")},
    "WARNING": "WARN",
    "NOTICE": "INFO",
    "SEVERE": "ERROR",
    "CRITICAL": "FATAL",
    "PANIC": "FATAL",
    "T": "TRACE",
    "D": "DEBUG",
    "I": "INFO",
    "N": "INFO",
    "W": "WARN",
    "E": "ERROR",
    "F": "FATAL",
    "C": "FATAL",
}
"""The levels that loggers print, mapped to those in rows."""


class Line(NamedTuple):
    """A line in any layout.

    ``time`` takes the zone (minutes east of UTC) for a time without one, and returns (us UTC, resolution in ms); it
    raises ``ValueError`` for no possible time. ``logger`` is the class or category that prints, ``node`` the member
    that the layout names (``%X{myid}``), and ``fields`` the other fields of a line of JSON.
    """

    time: Callable[[int], tuple[int, int]]
    level: str | None
    thread: str | None
    logger: str | None
    node: str | None
    message: str
    fields: Mapping[str, Any] = {}


def time_in(line: Line | None, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Return (us UTC, resolution in ms) of a line, or None if it has no possible time."""
    try:
        return None if line is None else line.time(utc_offset_minutes)
    except ValueError:
        return None


def time_by(pattern: Pattern[str]) -> Callable[[str, int], tuple[int, int] | None]:
    """Return the ``time_of`` of a dialect: time and fraction of a second are the first groups of a pattern."""

    def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
        found = pattern.match(text)
        try:
            return None if found is None else moment(found[1], found[2], utc_offset_minutes)
        except ValueError:
            return None

    return time_of


def parse_by(
    line_of: Callable[[str], Line | None], parse_line: Callable[[Line, Record], Event | None]
) -> Callable[[Record], Event | None]:
    """Return the ``parse`` of a dialect whose layouts take a record's first line apart."""

    def parse(record: Record) -> Event | None:
        line = line_of(record.text)
        return None if line is None else parse_line(line, record)

    return parse


More = Callable[[str, dict[str, Any]], dict[str, Any] | None]


def event_of(table: Table, line: Line, record: Record, by: str = "", more: More | None = None) -> Event | None:
    """Return the event of a line by the texts of a system, or None; ``by`` is the class or thread that prints.

    ``more`` takes a text's kind and columns, and returns them completed, or None if the line is not that text after
    all. Raises :class:`Unparsable` for a known text with an impossible value.
    """
    for pattern in table.candidates(line.message):
        kind = pattern.text.kind
        try:
            columns = pattern.read(line.message, by, record.stream)
            if columns is not None and more is not None:
                columns = more(kind, columns)
            if columns is None:
                continue
            time, resolution = line.time(record.utc_offset_minutes)
        except ValueError as error:
            raise Unparsable(f"{kind}: {error}") from None
        dated = {"kind": kind, "event_time": time, "time_resolution_ms": resolution}
        return saying({**dated, "level": line.level, "thread": line.thread, **columns})
    return None
