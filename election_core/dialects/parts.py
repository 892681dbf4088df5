"""The parts of a line, whatever its layout."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

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
"""The levels that loggers print, and how a row names them."""


class Line(NamedTuple):
    """A line in any layout. ``time`` takes the zone, in minutes east of UTC, of a time that does not say its own.

    It answers microseconds UTC and the resolution in milliseconds, and raises ``ValueError`` for no possible time.
    ``logger`` is the class or category that prints, ``node`` the member that the layout names (``%X{myid}``), and
    ``fields`` are what a line of JSON says beside its message.
    """

    time: Callable[[int], tuple[int, int]]
    level: str | None
    thread: str | None
    logger: str | None
    node: str | None
    message: str
    fields: Mapping[str, Any] = {}


def time_in(line: Line | None, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Microseconds UTC and resolution in milliseconds of a line, or ``None`` where it bears no possible time."""
    try:
        return None if line is None else line.time(utc_offset_minutes)
    except ValueError:
        return None
