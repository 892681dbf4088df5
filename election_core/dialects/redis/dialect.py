"""The Redis dialect: what servers, sentinels and nodes of a cluster print, 6.2 to 8.0, and Valkey's.

Layouts of a line, of which the last two are Valkey's::

    8773:M 26 Nov 2026 12:15:07.613 * Ready to accept connections
    8773:signal-handler (1795695307) Received SIGTERM scheduling shutdown...
    8773:M 2026-11-26T12:15:07.613+01:00 * Ready to accept connections tcp
    pid=8773 role=primary timestamp="26 Nov 2026 12:15:07.613" level=notice message="Ready to accept connections tcp"

The first time is local, without a zone. The letter is the role at that moment: ``M`` master, ``S`` replica, ``X``
sentinel, ``C`` a child of the process, or the process itself before it has read its configuration.
"""

import re
from datetime import datetime
from functools import lru_cache, partial

from election_replay.election_core.dialects.dialect import Dialect, Record, Table, moment
from election_replay.election_core.dialects.parts import Line, event_of, parse_by, time_in
from election_replay.election_core.dialects.redis.shapes import REDIS_SHAPES
from election_replay.election_core.dialects.redis.texts import TEXTS
from election_replay.election_core.model.digits import number
from election_replay.election_core.model.events import Event, Unparsable, saying

STREAMS = ("redis*.log*", "sentinel*.log*", "valkey*.log*", "redis*.out", "sentinel*.out", "valkey*.out")
"""The files of servers and sentinels, as Debian, containers and most people name them."""

LOCAL = r"\d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d\.\d{1,6}"
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}[+-]\d\d:\d\d"
SINCE_1970 = r"\d{13}"
STAMP = rf"(?:{LOCAL}|{ISO}|{SINCE_1970})"
LETTERS = "XCSM"
ROLES = {"sentinel": "X", "RDB/AOF": "C", "RDB/AOF child": "C", "replica": "S", "primary": "M"}
LEVELS = {".": "DEBUG", "-": "DEBUG", "*": "INFO", "#": "WARN", "debug": "DEBUG", "verbose": "DEBUG", "notice": "INFO"}

RECORD_START = (
    rf'^(?:\d+:[{LETTERS}] {STAMP} [.*#-] |\d+:signal-handler \(\d+\) |pid=\d+ role=[A-Za-z/ ]+ timestamp="{STAMP}" )'
)

_LEGACY = re.compile(rf"\d+:([{LETTERS}]) ({STAMP}) ([.*#-]) (.*)", re.DOTALL | re.ASCII)
_SIGNAL = re.compile(r"\d+:signal-handler \((\d{1,12})\) (.*)", re.DOTALL | re.ASCII)
_LOGFMT = re.compile(
    rf'pid=\d+ role=([A-Za-z/ ]+) timestamp="({STAMP})" level=(\w+) message="(.*)"\s*\Z', re.DOTALL | re.ASCII
)
_TOLD_TO_STOP = re.compile(r"Received (?:SIGINT|SIGTERM|shutdown signal).*")
_MONTHS = {
    name: number
    for number, name in enumerate(
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"], 1
    )
}

TABLE = Table(TEXTS, REDIS_SHAPES, before=" ")
SIGNALS = ("scheduling shutdown", "during loading, exiting now")


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` for a known text with an impossible
    value."""
    message = line.message
    if _TOLD_TO_STOP.fullmatch(message):
        return _dated("RD_STOPPING", line, record, {"protocol": "process"})
    return event_of(TABLE, line._replace(thread=None), record, more=lambda _, columns: {"role": line.thread, **columns})


def _dated(kind: str, line: Line, record: Record, columns: dict[str, object]) -> Event:
    try:
        time, resolution = line.time(record.utc_offset_minutes)
    except ValueError as error:
        raise Unparsable(f"{kind}: {error}") from None
    dated = {"kind": kind, "event_time": time, "time_resolution_ms": resolution, "level": line.level}
    return saying({**dated, "role": line.thread, **columns})


def line_of(text: str) -> Line | None:
    """Return the parts of a line in one of Redis's own layouts; the role letter takes the place of the thread."""
    if found := _LEGACY.match(text):
        letter, stamp, level, message = found.groups()
    elif found := _LOGFMT.match(text):
        role, stamp, level, message = found.groups()
        letter = ROLES.get(role)
    elif found := _SIGNAL.match(text):
        return Line(partial(_second, found[1]), "WARN", None, None, None, found[2].rstrip())
    else:
        return None
    return Line(partial(time_at, stamp), LEVELS.get(level, "WARN"), letter, None, None, message.rstrip())


def _second(printed: str, _: int) -> tuple[int, int]:
    return int(printed) * 1_000_000, 1000


def time_at(stamp: str, utc_offset_minutes: int) -> tuple[int, int]:
    """Return (us UTC, resolution in ms). Raises ``ValueError`` for no possible time."""
    if (milliseconds := number(stamp)) is not None:
        return milliseconds * 1000, 1
    if "T" in stamp:
        zone = datetime.strptime(stamp[-6:], "%z").utcoffset()
        offset = int(zone.total_seconds()) // 60 if zone else 0
        local, _, fraction = stamp[:-6].partition(".")
        return moment(local.replace("T", " "), fraction, offset)
    day, _, rest = stamp.rpartition(" ")
    clock, _, fraction = rest.partition(".")
    return moment(f"{_day(day)} {clock}", fraction, utc_offset_minutes)


@lru_cache(maxsize=64)
def _day(printed: str) -> str:
    day, month, year = printed.split(" ")
    if month not in _MONTHS:
        raise ValueError(f"no month: {month}")
    return f"{year}-{_MONTHS[month]:02d}-{int(day):02d}"


def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Return (us UTC, resolution in ms) of a first line, or None if it has no possible time."""
    return time_in(line_of(text), utc_offset_minutes)


REDIS = Dialect(
    name="redis",
    record_start=RECORD_START,
    needles=(*TABLE.needles(), *SIGNALS),
    utc_offset_minutes=0,
    parse=parse_by(line_of, parse_line),
    time_of=time_of,
    parse_line=parse_line,
    reads=lambda text: line_of(text) is not None,
    anchors=(*TABLE.anchors(), *SIGNALS),
    plain=False,
)
