"""Lines that hold a record after a torn one: its writer died, or the disk was full, before the line feed.

The next record is then on the same line. Nothing else puts the begin of a record into the middle of a line.
"""

import json
import re
from collections.abc import Callable
from functools import lru_cache

from election_replay.election_core.dialects.dialect import SIGN, Dialect, Record
from election_replay.election_core.model.events import Event, Unparsable

_STAMP = re.compile(r"(\[|raft|[A-Z]+: )?\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d", re.ASCII)
"""A date with what layouts write before it; a record begins there only if the dialect's pattern matches."""

_DATE = re.compile(r":(?<=\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:)", re.ASCII)
"""A second date, which most lines lack; it is searched by its colon, as colons are rare."""

SECOND_DATE = 10 + len("2026-03-01 10")
"""The first possible position of that colon: no second date begins within the ten characters of the first."""

LONGEST_BEGINNING = 400
"""The characters after a date in which a record's begin is recognised; a bound for lines full of dates."""

_LEVEL = re.compile(r"TRACE|DEBUG|INFO|WARN|ERROR|FATAL")


def parse_record(dialect: Dialect, record: Record) -> Event | None:
    """Return the event of ``record``, or the one that its first line holds after a torn record; None for none.

    A torn record that reads as a mere sign of life counts for none. Raises :class:`Unparsable` for a known text with an
    impossible value, and for two events on one line, which could only be stored as one.
    """
    parts = records_in(record.text, dialect)
    if len(parts) == 1:  # nearly always
        return dialect.parse(record)
    before = [_torn(dialect, record._replace(text=part, continuation=())) for part in parts[:-1]]
    last = dialect.parse(record._replace(text=parts[-1]))  # a stack trace belongs to what ends the line
    found = [event for event in before if event is not None and not event.kind.endswith(SIGN)]
    found += [last] if last is not None else []
    if len(found) > 1:
        kinds = ", ".join(event.kind for event in found)
        raise Unparsable(f"{len(found)} records on one line, no line feed stands between them: {kinds}")
    return found[0] if found else None


def _torn(dialect: Dialect, record: Record) -> Event | None:
    """Return the event of a record that another one follows on its line; None if it is torn."""
    try:
        return dialect.parse(record)
    except Unparsable:
        return None


def records_in(text: str, dialect: Dialect) -> list[str]:
    """Return the records on a line that begins one, in order: mostly the line itself."""
    places = _in_json(text) if text.startswith("{") else _in_text(text, dialect)
    if len(places) == 1:
        return [text]
    return [text[begin:end] for begin, end in zip(places, [*places[1:], len(text)], strict=True)]


def _in_json(text: str) -> list[int]:
    """Return where the objects on a line begin, which all have the same first key; a whole object may contain
    others."""
    first, colon, _ = text.partition('":')
    places = [found.start() for found in re.finditer(re.escape(first + colon), text)] or [0]
    if len(places) > 1:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return places
    return [0]


def _in_text(text: str, dialect: Dialect) -> list[int]:
    if _DATE.search(text, SECOND_DATE) is None:
        return [0]
    begins = _begins(dialect.record_start)
    itself = begins(text)
    places = [0]
    for stamp in _STAMP.finditer(text, itself.end() if itself else 0):
        for place in (stamp.start(), stamp.end(1))[: 1 + bool(stamp[1])]:
            found = begins(text[place : place + LONGEST_BEGINNING])
            # Without a level the time may be part of a message.
            if found and (not dialect.in_layout or _LEVEL.search(found.group())):
                places.append(place)
                break
    return places


@lru_cache(maxsize=64)
def _begins(record_start: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(record_start).match
