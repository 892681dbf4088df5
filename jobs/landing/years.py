"""Add the year to times without one, as syslog, journalctl and Redis up to release 5 write them, and the date to mere
times of day, so that a look can read them.

    Apr 29 15:54:38 master-1 etcd[1167]: 2a09651707aaaaaa became leader at term 12283
    [30728] 03 Jun 10:26:07.291 # +switch-master mymaster 192.168.20.242 6379 192.168.20.230 6379
    15:54:38,102 INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@784] - LEADING

No line tells the year. The last time of a file gets the latest year, or day, with which it is no later than the file
itself, or than the end of the day that the user gives. Every other time gets the year or day that puts it nearest to
the line before it.
"""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta

from election_replay.election_core.dialects.stamps import MONTHS

_MONTH = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_BEFORE = r"([>|\s]*|\[?[\w./@~-]+\]?(?::\d{1,9})?(?: - | *[:|>] ?| ))"
"""The pattern of what stands before a line that was quoted, or came from one of several containers."""

_OUTSIDE = rf"((?:\d{{4}}-\d\d-\d\d[T ][\d:.,]{{8,18}}(?:Z|[+-]\d\d:?\d\d)?[ \t]+)|{_BEFORE[1:]}"
"""The same, or the full time at which an engine or a log store took the line over."""

_SYSLOG = re.compile(
    rf"{_BEFORE}(?:<\d{{1,3}}>)?{_MONTH} ([ \d]\d) (\d\d:\d\d:\d\d)(\.\d{{1,9}})? (?=[\w.:-]+ [^\s:\[]+(?:\[\d+\])?: )",
    re.ASCII,
)
_REDIS = re.compile(
    rf"{_OUTSIDE}(?:(\d+):([XCSM])|\[(\d+)\]) (\d\d) {_MONTH} (\d\d:\d\d:\d\d)(\.\d{{1,6}}) (?=[.*#-] )", re.ASCII
)
_DATED = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|\b\d\d [A-Z][a-z]{2} \d{4} \d\d:")
_OF_SENTINEL = re.compile(r" [#*] [+-](?:[a-z]+-)*[a-z]+ ", re.ASCII)

_IN_WORDS = re.compile(rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) {_MONTH} [ \d]?\d \d\d:\d\d:\d\d (\d{{4}})\b", re.ASCII)
"""A full time in the words of a line, as sentinels write when they may try again."""

LATER = timedelta(days=1)
"""How much older than its last line a file may seem, as the two times may be in different zones."""


def without_year(lines: Sequence[str]) -> bool:
    """Return True when some lines have a time without a year, more than half as many as have a full date."""
    found = [line for line in lines if _time_of(line) is not None]
    return bool(found) and 2 * len(found) > len([line for line in lines if _DATED.search(line[:200])])


def latest_of(modified: int | None, day: date | None) -> tuple[datetime, str]:
    """Return the latest time at which the last line of a file can have been written, and the reason in words.

    ``modified`` is the time of the file's last change in us UTC; ``day``, if the user gives one, counts instead.
    """
    if day is not None:
        return datetime(day.year, day.month, day.day, 23, 59, 59, tzinfo=UTC), f"since --date says {day}"
    written = datetime.fromtimestamp((modified or 0) / 1_000_000, UTC)
    return written, f"since the file was written last on {written:%Y-%m-%d} (--date changes that)"


def with_years(lines: Sequence[str], modified: int | None, day: date | None = None) -> tuple[list[str], str]:
    """Return the lines with years in their times, and a sentence that names the years.

    ``modified`` and ``day`` are those of :func:`latest_of`.
    """
    latest, since = latest_of(modified, day)
    times = [_time_of(line) for line in lines]
    printed = {int(year) for line in lines for year in _year_in(line)}
    if len(printed) == 1 and day is None:
        latest, since = datetime(printed.pop(), 12, 30, tzinfo=UTC), "since its lines name that year"
    years = _years(times, latest)
    letter = "X" if any(map(_OF_SENTINEL.search, lines)) else "C"
    dated = [
        line if time is None else _dated(line, year, letter)
        for line, time, year in zip(lines, times, years, strict=True)
    ]
    first, last = min(years, default=latest.year), max(years, default=latest.year)
    named = f"{first}" if first == last else f"{first} to {last}"
    return dated, f"its times have no year: taken for {named}, {since}"


def _year_in(line: str) -> list[str]:
    """Return the years of the full times in a line: those in its words, and that of an engine that took it over."""
    found = _REDIS.match(line)
    outside = [found[1][:4]] if found and found[1][:4].isdigit() else []
    return outside + [year for _, year in _IN_WORDS.findall(line)]


Time = tuple[int, int, str]
"""(month, day, time of day)."""


def _time_of(line: str) -> Time | None:
    """Return the time of a line if it has no year; else None, as for a syslog line with a full date or ``{`` behind."""
    if found := _SYSLOG.match(line):
        rest = line[found.end() : found.end() + 120]
        return None if _DATED.search(rest) or "{" in rest else (_month(found[2]), int(found[3]), found[4])
    found = _REDIS.match(line)
    return None if found is None else (_month(found[6]), int(found[5]), found[7])


def _month(name: str) -> int:
    return MONTHS.index(name.lower()) + 1


def _years(times: Sequence[Time | None], latest: datetime) -> list[int]:
    """Return the year of each line; the newest time is at most LATER after ``latest``, and less than a year before."""
    turns, turn, before = [], 0, None
    for time in times:
        if time is not None:
            months = 0 if before is None else time[0] - before
            turn += (months < -HALF_A_YEAR) - (months > HALF_A_YEAR)
            before = time[0]
        turns.append(turn)
    newest, time = max(((turn, time) for turn, time in zip(turns, times, strict=True) if time), default=(0, (1, 1, "")))
    limit = latest + LATER
    year = limit.year if (time[0], time[1]) <= (limit.month, limit.day) else limit.year - 1
    return [year + turn - newest for turn in turns]


HALF_A_YEAR = 6
"""The months that two lines can be apart in one year; with more between them the year has turned."""


_CLOCK = re.compile(rf"{_BEFORE}?(\[?)(\d\d):(\d\d):(\d\d)(?=[.,]\d{{1,9}}\b|[ \]])", re.ASCII)
HALF_A_DAY = 12
"""The hours that two lines can be apart on one day; with more between them midnight has passed."""


def without_day(lines: Sequence[str]) -> bool:
    """Return True when most lines begin with a time of day and have no date, and no line begins with a date."""
    found = [line for line in lines if _CLOCK.match(line) and not _DATED.search(line[:200])]
    return 2 * len(found) > len(lines) and not any(_DATED.search(line[:40]) for line in lines)


def with_days(lines: Sequence[str], modified: int | None, day: date | None = None) -> tuple[list[str], str]:
    """Return the lines with dates before their times of day, and a sentence that names the days.

    ``modified`` and ``day`` are those of :func:`latest_of`.
    """
    written, since = latest_of(modified, day)
    turns, turn, before = [], 0, None
    clocks = [_CLOCK.match(line) for line in lines]
    for found in clocks:
        if found is not None:
            hours = 0 if before is None else int(found[3]) - before
            turn += (hours < -HALF_A_DAY) - (hours > HALF_A_DAY)
            before = int(found[3])
        turns.append(turn)
    newest, clock = max((turn, found.group(3, 4, 5)) for turn, found in zip(turns, clocks, strict=True) if found)
    last = written - timedelta(days=clock > (f"{written:%H}", f"{written:%M}", f"{written:%S}"))
    days = [last + timedelta(days=turn - newest) for turn in turns]
    dated = [
        f"{line[: found.start(3)]}{on:%Y-%m-%d} {line[found.start(3) :]}" if found else line
        for line, found, on in zip(lines, clocks, days, strict=True)
    ]
    first = f"{min(days):%Y-%m-%d}"
    named = first if first == f"{last:%Y-%m-%d}" else f"{first} to {last:%Y-%m-%d}"
    return dated, f"its times have no day: taken for {named}, {since}"


def _dated(line: str, year: int, letter: str) -> str:
    if found := _SYSLOG.match(line):
        month = _month(found[2])
        stamp = f"{year}-{month:02d}-{int(found[3]):02d}T{found[4]}{found[5] or ''}+00:00 "
        return f"{found[1]}{stamp}{line[found.end() :]}"
    found = _REDIS.match(line)
    if found is None:
        return line
    process = found[2] or found[4]
    stamp = f"{process}:{found[3] or letter} {found[5]} {found[6]} {year} {found[7]}{found[8]} "
    return f"{found[1]}{stamp}{line[found.end() :]}"
