"""Envelopes: what a program between a system and its log file put around every line."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC_3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?\s?(Z|z|UTC|GMT|[+-]\d\d:?\d\d)", re.ASCII
)


class Broken(ValueError):
    """A line that should be an envelope and cannot be opened; ``str(error)`` is the reason for the quarantine."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The content of an envelope, and what the envelope tells about it.

    ``text`` is the line as its system wrote it; it holds more lines if a shipper joined a record. ``node`` is the
    machine, pod or container that wrote it, ``program`` the process there, ``file`` the path of its file, ``channel``
    is ``stdout`` or ``stderr``. ``time`` is when the line was collected (us UTC). A ``partial`` line continues in the
    next one. ``utc_offset_minutes`` is the zone of the line's own time, where something noted it. Unknown values are
    None.
    """

    text: str
    node: str | None = None
    program: str | None = None
    file: str | None = None
    channel: str | None = None
    time: int | None = None
    partial: bool = False
    utc_offset_minutes: int | None = None


@dataclass(frozen=True, slots=True)
class Envelope:
    """One form of envelope.

    ``opens`` returns the content of a line, or None if it is no such envelope; it raises only :class:`Broken`. A
    ``loose`` form looks like ordinary text: it counts only with a known line inside. ``whole``: every line of such a
    file is an envelope, so any other line is damage, not a continuation.
    """

    name: str
    opens: Callable[[str], Opened | None]
    loose: bool = False
    whole: bool = False


def instant(printed: str) -> int | None:
    """Return the us UTC of a time with a zone, such as ``2026-03-01T10:00:00.123456789Z``; None for no such time."""
    found = _RFC_3339.fullmatch(printed)
    if found is None:
        return None
    day, clock, fraction, zone = found.groups()
    second = _second(day, clock, "+0000" if zone in {"Z", "z", "UTC", "GMT"} else zone)
    return None if second is None else second + int((fraction or "")[:6].ljust(6, "0"))


@lru_cache(maxsize=4096)
def _second(day: str, clock: str, offset: str) -> int | None:
    """Return the us UTC of a whole second (cached, as many lines share it); None for no such time."""
    try:
        moment = datetime.strptime(f"{day} {clock}{offset}", "%Y-%m-%d %H:%M:%S%z")
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1)
