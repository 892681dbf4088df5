"""The time stamps of loggers: a Java date pattern, such as ``yyyy-MM-dd HH:mm:ss,SSS``, compiled into a reader.

The digits after the second decide the resolution: three of them are a millisecond, none are a second.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from election_replay.election_core.dialects.dialect import seconds
from election_replay.election_core.model import digits


class BadLayout(ValueError):
    """A pattern string that cannot be compiled; ``str(error)`` is the reason."""


MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_FLEXIBLE = "yyyy-MM-dd'\x00'HH:mm:ss'\x01'SSS"
NAMED = {
    "": _FLEXIBLE,
    "DEFAULT": _FLEXIBLE,
    "DEFAULT_PERIOD": _FLEXIBLE,
    "ISO8601": _FLEXIBLE,
    "ISO8601_PERIOD": _FLEXIBLE,
    "STRICT": _FLEXIBLE,
    "DEFAULT_MICROS": "yyyy-MM-dd HH:mm:ss,SSSSSS",
    "DEFAULT_NANOS": "yyyy-MM-dd HH:mm:ss,SSSSSSSSS",
    "ISO8601_PERIOD_MICROS": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
    "ISO8601_OFFSET_DATE_TIME_HH": "yyyy-MM-dd'T'HH:mm:ss,SSSX",
    "ISO8601_OFFSET_DATE_TIME_HHMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXX",
    "ISO8601_OFFSET_DATE_TIME_HHCMM": "yyyy-MM-dd'T'HH:mm:ss,SSSXXX",
    "ISO8601_BASIC": "yyyyMMdd'T'HHmmss,SSS",
    "ISO8601_BASIC_PERIOD": "yyyyMMdd'T'HHmmss.SSS",
    "COMPACT": "yyyyMMddHHmmssSSS",
    "DATE": "dd MMM yyyy HH:mm:ss,SSS",
    "DATE_PERIOD": "dd MMM yyyy HH:mm:ss.SSS",
}
"""The patterns that have a name in log4j and logback."""

NO_DAY = ("ABSOLUTE", "ABSOLUTE_MICROS", "ABSOLUTE_NANOS", "ABSOLUTE_PERIOD")

EPOCHS = {"UNIX": (r"\d{9,11}", 1), "UNIX_MILLIS": (r"\d{12,14}", 1_000)}
"""Seconds or milliseconds since 1970: their form, and how many of the unit are a second."""

_SPECIAL = {"\x00": "[ T]", "\x01": "[.,]"}
_ZONE = r"(?:Z|(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2})?)"
_ZONE_NAME = r"(?:(?:GMT|UTC|UT|Z)(?:[+-]\d{1,2}(?::?\d{2})?)?|[A-Z]{2,4}T|[+-]\d{1,2}(?::?\d{2})?)"
_LETTERS = {
    "y": ("year", {2: r"\d{2}"}, r"\d{4}"),
    "u": ("year", {2: r"\d{2}"}, r"\d{4}"),
    "Y": ("year", {2: r"\d{2}"}, r"\d{4}"),
    "M": ("month", {1: r"\d{1,2}", 2: r"\d{2}"}, r"[A-Za-z]{3,9}\.?"),
    "L": ("month", {1: r"\d{1,2}", 2: r"\d{2}"}, r"[A-Za-z]{3,9}\.?"),
    "d": ("day", {1: r" ?\d{1,2}"}, r"\d{2}"),
    "H": ("hour", {1: r"\d{1,2}"}, r"\d{2}"),
    "k": ("hour", {1: r"\d{1,2}"}, r"\d{2}"),
    "h": ("half", {1: r"\d{1,2}"}, r"\d{2}"),
    "K": ("half", {1: r"\d{1,2}"}, r"\d{2}"),
    "m": ("minute", {1: r"\d{1,2}"}, r"\d{2}"),
    "s": ("second", {1: r"\d{1,2}"}, r"\d{2}"),
    "a": ("noon", {}, r"[AaPp]\.?[Mm]\.?"),
    "X": ("zone", {}, _ZONE),
    "x": ("zone", {}, _ZONE),
    "Z": ("zone", {}, _ZONE),
    "O": ("zone", {}, _ZONE),
    "z": ("zone", {}, _ZONE_NAME),
    "V": ("zone", {}, _ZONE_NAME),
    "E": ("", {}, r"[A-Za-z]{2,9}"),
    "e": ("", {}, r"\w{1,9}"),
    "G": ("", {}, r"[A-Z]{2}"),
}
"""The letters of a Java date pattern: field, form by number of repetitions, and form otherwise."""

_PIECES = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|([^A-Za-z'])", re.DOTALL)
_FIXED = re.compile(r"(?:(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?|GMT|UTC|UT|Z|Etc/UTC|Etc/GMT)\Z")
_A_ZONE = re.compile(r"(?:GMT|UTC|[A-Z][A-Za-z]+/[A-Za-z_/+-]+|[+-]\d{2}:?\d{2}|Z\Z)")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A compiled date pattern. ``regex`` has no groups; ``plain``: local, and like ``2026-03-01 10:00:00``."""

    pattern: str
    regex: str
    reader: re.Pattern[str]
    offset: int | None
    per_second: int
    plain: bool

    def read(self, printed: str, utc_offset_minutes: int) -> tuple[int, int]:
        """Return (us UTC, resolution in ms); the given zone applies to a stamp without one.

        Loggers truncate times: the line was written within the second, or millisecond, that begins here. Raises
        ``ValueError`` for no possible time.
        """
        if self.per_second:
            return _epoch(int(printed), self.per_second)
        found = self.reader.fullmatch(printed)
        if found is None:
            raise ValueError(f"not a time: {printed[:40]!r}")
        fields = found.groupdict()
        whole = seconds(_iso(fields))
        zone = _offset(fields["zone"]) if fields.get("zone") else self.offset
        utc = (whole - 60 * (utc_offset_minutes if zone is None else zone)) * 1_000_000
        fraction = fields.get("fraction") or ""
        return utc + int(fraction[:6].ljust(6, "0")), resolution(fraction) if fields.get("second") else 60_000


def resolution(fraction: str) -> int:
    """Return the resolution in ms of a time with these digits after its second."""
    return (1000, 100, 10, 1)[min(len(fraction), 3)]


def _epoch(printed: int, per_second: int) -> tuple[int, int]:
    if printed >= 32_503_680_000 * per_second:
        raise ValueError(f"absurd time {printed}")
    return printed * 1_000_000 // per_second, 1000 // per_second


def _iso(fields: dict[str, str]) -> str:
    """Return the time as ISO 8601 writes it."""
    year = fields["year"] if len(fields["year"]) == 4 else f"20{fields['year']}"
    printed = fields["month"].strip().lower()
    month = digits.number(printed) or 1 + MONTHS.index(printed[:3])
    if fields.get("half"):
        afternoon = fields["noon"][0] in "pP"
        hour = int(fields["half"]) % 12 + 12 * afternoon
    else:
        hour = int(fields["hour"]) % 24 if fields["hour"] == "24" else int(fields["hour"])
    return f"{year}-{month:02}-{int(fields['day']):02} {hour:02}:{int(fields['minute']):02}:{int(fields.get('second') or 0):02}"


def _offset(printed: str) -> int | None:
    """Return a zone in minutes east of UTC; None for an abbreviation, since CST is the name of four zones."""
    found = _FIXED.match(printed)
    if found is None:
        return None
    sign, hours, minutes = found.groups()
    offset = 60 * int(hours or 0) + int(minutes or 0)
    if offset > 18 * 60:
        raise ValueError(f"absurd zone {printed}")
    return -offset if sign == "-" else offset


@lru_cache(maxsize=512)
def stamp(pattern: str = "", zone: str | None = None, *_: str) -> Stamp:
    """Return the reader of a date pattern and of the zone after it. Raises :class:`BadLayout` for a pattern without a
    day, or one that cannot be compiled."""
    given = pattern
    pattern = pattern.strip()
    quoted = re.fullmatch(r'"(.*?)"(?:\s*,\s*(.*))?', pattern)
    if quoted:
        pattern, zone = quoted.group(1), zone or quoted.group(2)
    else:  # logback: a zone, and perhaps a language, behind commas
        head, comma, last = pattern.rpartition(",")
        if comma and re.fullmatch(r"\s*[a-z]{2}(?:[_-][A-Z]{2})?\s*", last):
            pattern, comma, last = head, *head.rpartition(",")[1:]
            head = pattern.rpartition(",")[0]
        if comma and _A_ZONE.match(last.strip()):
            pattern, zone = head, zone or last.strip()
    offset = None
    if zone:
        offset = _offset(zone.strip())
        if offset is None:
            raise BadLayout(f"the zone {zone} changes its clocks, or may: say it as time_zone in sources")
    if pattern in EPOCHS:
        regex, per_second = EPOCHS[pattern]
        return Stamp(given, regex, re.compile(regex), 0, per_second, plain=False)
    if pattern in NO_DAY:
        raise BadLayout(f"%d{{{pattern}}} says no day")
    regex, reader, names = _compiled(NAMED.get(pattern, pattern))
    missing = {"year", "month", "day", "minute"} - names
    if missing or not names & {"hour", "half"} or ("half" in names) > ("noon" in names):
        raise BadLayout(f"%d{{{given}}} does not say {' and '.join(sorted(missing)) or 'the hour'}")
    plain = offset is None and "zone" not in names and bool(_PLAIN.match(NAMED.get(pattern, pattern)))
    return Stamp(given, regex, re.compile(reader, re.ASCII), offset, 0, plain)


_PLAIN = re.compile(r"y{3,4}[-/]MM[-/]dd(?: |'T'|'\x00'|'T')HH:mm:ss")


def _compiled(pattern: str) -> tuple[str, str, set[str]]:
    """Return the pattern as a regular expression without and with groups, and the names of its fields."""
    regex = reader = ""
    names: set[str] = set()
    at = 0
    while at < len(pattern):
        found = _PIECES.match(pattern, at)
        if found is None:
            raise BadLayout(f"%d{{{pattern}}}: a quotation mark is never closed")
        at = found.end()
        quoted, letter, literal = found.groups()
        name = ""
        if letter is None:
            text = literal if quoted is None else quoted.replace("''", "'") or "'"
            piece = _literal(text)
        elif letter == "S" or letter == "n":
            name, count = "fraction", len(found.group())
            piece = rf"\d{{{min(count, 9)}}}" if letter == "S" else r"\d{1,9}"
        elif letter in _LETTERS:
            name, widths, other = _LETTERS[letter]
            piece = widths.get(len(found.group()), other)
        else:
            raise BadLayout(f"%d{{{pattern}}}: the letter {letter} is not known")
        regex += piece
        reader += f"(?P<{name}>{piece})" if name and name not in names else piece
        names.add(name)
    return regex, reader, names


def _literal(text: str) -> str:
    return _SPECIAL.get(text) or re.escape(text).replace(r"\ ", " ").replace(r"\-", "-")
