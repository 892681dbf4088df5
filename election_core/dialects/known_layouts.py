"""Layouts that are recognised without settings: the parts before the message, and the forms of dates.

Each is the pattern string of a logger's configuration; ``%d`` stands for any of :data:`DATES`. Paddings are omitted
where a field may be padded in any way.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from election_replay.election_core.dialects.json_layouts import KNOWN, JsonLayout, json_layout
from election_replay.election_core.dialects.layouts import AnyLayout, Layout, layout
from election_replay.election_core.dialects.stamps import stamp

_DAYS = ("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd'T'HH:mm:ss", "yyyy/MM/dd HH:mm:ss", "yyyy.MM.dd HH:mm:ss")
_OTHER_DAYS = (
    *("dd MMM yyyy HH:mm:ss", "dd-MMM-yyyy HH:mm:ss", "dd/MMM/yyyy HH:mm:ss", "dd/MMM/yyyy:HH:mm:ss"),
    *("yyyyMMdd HH:mm:ss", "yyyyMMdd-HH:mm:ss", "yyyyMMdd'T'HHmmss", "yyyyMMddHHmmss"),
)
_FRACTIONS = ("", ",SSS", ".SSS", ":SSS", ",SSSSSS", ".SSSSSS", ",SSSSSSSSS", ".SSSSSSSSS")

DATES: Mapping[str, tuple[str, ...]] = {
    **{
        day: tuple(day + fraction + zone for fraction in _FRACTIONS for zone in ("", "XXX", " XXX", " z"))
        for day in _DAYS
    },
    **{
        day: tuple(day + fraction + zone for fraction in _FRACTIONS[:4] for zone in ("", " XXX")) for day in _OTHER_DAYS
    },
    **{
        date: (date,)
        for date in ("EEE MMM dd HH:mm:ss z yyyy", "MMM dd, yyyy h:mm:ss a", "yyyyMMddHHmmssSSS", "UNIX_MILLIS", "UNIX")
    },
}
"""Date patterns by their common first part. Each has only one reading: ``03/01/2026`` could be the third of January or
the first of March, and is never guessed."""

HEADERS = (
    "%d [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
    "%d - %-5p [%t:%C{1}@%L] - %m%n",
    "%d [myid:%X{myid}] %-5p [%t] %c - %m%n",
    "%d %-5p [%t:%c{1}@%L] - %m%n",
    "%d %-5p %m (%c) [%t]%n",
    "%d %-5p %m (%c:%L) [%t]%n",
    "[%d] %-5p %m (%c)%n",
    "[%d] %-5p %m (%c) [%t]%n",
    "[%d] %-5p [%t] %m (%c)%n",
    "[%d] %-5p [%t]: %m (%c)%n",
    "%d %-5p [%t] %m (%c)%n",
    "%d %-5p %m (%c)%n",
    "[%d] [%-5p] [%t] %c - %m%n",
    "[%d] [%-5p] [%t] [%c] - %m%n",
    "[%d] [%-5p] [%t] [%c] %m%n",
    "[%d] [%-5p] [%c] [%t] %m%n",
    "[%d] [%t] [%-5p] %c - %m%n",
    "[%d] [%t] [%-5p] [%c] - %m%n",
    "[%d] [%t] %-5p %c - %m%n",
    "[%d] %-5p [%t] %c - %m%n",
    "[%d] %-5p %c - %m%n",
    "[%d] %-5p %c: %m%n",
    "[%d] [%-5p] %c - %m%n",
    "[%d] [%-5p] %c: %m%n",
    "[%d] [%-5p] %m%n",
    "[%d][%-5p][%t][%c] - %m%n",
    "[%d][%-5p][%t][%c] %m%n",
    "[%d][%-5p][%c][%t] %m%n",
    "[%d][%t][%-5p][%c] %m%n",
    "[%d][%-5p] %m%n",
    "%d [%t] %-5p %c - %m%n",
    "%d [%t] %-5p %c: %m%n",
    "%d [%t] %-5p %c : %m%n",
    "%d [%t] %-5p %c:%L - %m%n",
    "%d [%t] %-5p %c(%L) - %m%n",
    "%d [%t] %-5p %c (%F:%L) - %m%n",
    "%d [%t] %-5p %c %x - %m%n",
    "%d [%t] %-5p %c [%X] - %m%n",
    "%d [%t] %-5p %c %m%n",
    "%d [%t] [%-5p] %c - %m%n",
    "%d [%t] [%-5p] [%c] - %m%n",
    "%d [%t] [%-5p] %c: %m%n",
    "%d [%t] %-5p - %m%n",
    "%d [%t] %-5p %m%n",
    "%d [%t] [%X] %-5p %c - %m%n",
    "%d [%X] [%t] %-5p %c - %m%n",
    "%d [%X] [%t] %-5p %c: %m%n",
    "%d [%X] [%-5p] [%t] %c - %m%n",
    "%d %-5p [%X] [%t] %c - %m%n",
    "%d %-5p [%X] [%t] %-40c : %m%n",
    "%d %-5p [%X] %pid --- [%t] %-40c : %m%n",
    "%d %-5p %pid --- [%t] %-40c : %m%n",
    "%d %-5p %pid --- [%X] [%t] %-40c : %m%n",
    "%d %-5p [%t] %c{1}:%L - %m%n",
    "%d %-5p [%t] (%F:%L) - %m%n",
    "%d %-5p [%t] [%c] - %m%n",
    "%d %-5p [%t] [%c] %m%n",
    "%d %-5p [%t] %c - %m%n",
    "%d %-5p [%t] %c: %m%n",
    "%d %-5p [%t] %-40c : %m%n",
    "%d %-5p [%t] %c %m%n",
    "%d %-5p [%t] - %m%n",
    "%d %-5p [%t]: %m%n",
    "%d %-5p [%c] (%t) %m%n",
    "%d %-5p [%c] [%t] %m%n",
    "%d %-5p [%c] - %m%n",
    "%d %-5p (%t) [%c] %m%n",
    "%d %-5p (%t) [%X] %c %m%n",
    "%d %-5p %c{1}:%L - %m%n",
    "%d %-5p %c:%L: %m%n",
    "%d %-5p %c (%F:%M(%L)) - %m%n",
    "%d %-5p %c [%t] - %m%n",
    "%d %-5p %c [%t] %m%n",
    "%d %-5p %c - %m%n",
    "%d %-5p %c: %m%n",
    "%d %-5p %c : %m%n",
    "%d [%-5p] [%t] [%c] - %m%n",
    "%d [%-5p] [%t] [%c] %m%n",
    "%d [%-5p] [%t] %c - %m%n",
    "%d [%-5p] [%t] %c: %m%n",
    "%d [%-5p] [%t] %m%n",
    "%d [%-5p] [%c] [%t] %m%n",
    "%d [%-5p] [%c] %m%n",
    "%d [%-5p] %c - %m%n",
    "%d [%-5p] %c: %m%n",
    "%d [%-5p] %t - %m%n",
    "%d [%-5p] - %m%n",
    "%d [%-5p] %m%n",
    "%d | %-5p | %t | %c | %m%n",
    "%d | %t | %-5p | %c | %m%n",
    "%d|%-5p|%t|%c|%m%n",
    "%d|%t|%-5p|%c|%m%n",
    "%d\t%-5p\t%t\t%c\t%m%n",
    "%d\t[%t]\t%-5p\t%c\t%m%n",
    "%d - %-5p - [%t] - %c - %m%n",
    "%d - %-5p - %c - %m%n",
    "%d - [%t] - %-5p - %c - %m%n",
    "%d - %-5p [%t] - %m%n",
    "%d - %-5p - %m%n",
    "%d %t %-5p %c - %m%n",
    "%d %t %-5p - %m%n",
    "[%t] %d %-5p %c - %m%n",
    "[%t] %d [%-5p] %c - %m%n",
    "[%t] [%d] [%-5p] %c - %m%n",
    "[%t] %-5p %d %c - %m%n",
    "[%t] %-5p %c %d - %m%n",
    "%t %d %-5p %c - %m%n",
    "%-5p [%d] [%t] %c: %m%n",
    "%-5p [%d] [%t] %c - %m%n",
    "%-5p [%d] %c: %m%n",
    "%-5p [%d] %c - %m%n",
    "%-5p %d [%t] %c - %m%n",
    "%-5p %d [%t] %c: %m%n",
    "%-5p %d %t %c - %m%n",
    "%-5p %d [%t] - %m%n",
    "%-5p %d %c - %m%n",
    "%-5p %d %c: %m%n",
    "%-5p %d - %m%n",
    "%-5p [%t] %d %c - %m%n",
    "%-5p [%t] %c %d - %m%n",
    "%-5p - %d - %m%n",
    "%-5p|%d|%t|%c|%m%n",
    "[%-5p] %d [%t] %c - %m%n",
    "[%-5p] %d [%t] %c: %m%n",
    "[%-5p] %d %c - %m%n",
    "[%-5p] [%d] [%t] %c - %m%n",
    "[%-5p] [%d] [%t] [%c] %m%n",
    "[%-5p][%d][%t][%c] %m%n",
    "%d %-5p %t - %m%n",
    "%d %-5p %m%n",
)
"""If several of them read a line, the one whose messages are known counts, then the first one here."""

WITHIN = 120
"""The most characters before the date of a line."""


@lru_cache(maxsize=1)
def _begins() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return the first part of each form of :data:`DATES`, with its pattern."""
    return tuple((begin, re.compile(stamp(begin).regex, re.ASCII)) for begin in DATES)


@lru_cache(maxsize=len(DATES))
def _dates(begin: str) -> Mapping[str, re.Pattern[str]]:
    """Return the dates of one form, by their patterns."""
    return {date: re.compile(rf"(?<![\w.:]){stamp(date).regex}(?![\d:]|[.,]\d)", re.ASCII) for date in DATES[begin]}


def dates_in(text: str) -> list[str]:
    """Return the date patterns that a line may have been written with: those that match the longest text."""
    head = text[: WITHIN + 40]
    lengths = {
        date: len(found.group())
        for begin, begins in _begins()
        if begins.search(head)
        for date, regex in _dates(begin).items()
        if (found := regex.search(head)) and found.start() <= WITHIN
    }
    longest = max(lengths.values(), default=0)
    return [date for date, length in lengths.items() if length == longest]


@lru_cache(maxsize=64)
def layouts_with(date: str) -> tuple[Layout, ...]:
    """Return the known layouts with dates of one form."""
    return tuple(layout(header.replace("%d", f"%d{{{date}}}")) for header in HEADERS)


@lru_cache(maxsize=1)
def _json() -> tuple[JsonLayout, ...]:
    return tuple(map(json_layout, KNOWN))


def layouts_of(text: str) -> Iterator[AnyLayout]:
    """Yield the known layouts that read a line."""
    if text.startswith("{"):
        yield from [layout for layout in _json() if layout.fits(text)] or [
            layout for layout in _json() if layout.line(text)
        ]
        return
    for date in dates_in(text):
        yield from (layout for layout in layouts_with(date) if layout.regex.match(text))
