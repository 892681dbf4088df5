"""The etcd dialect: what members print about their Raft group, 2.x to 3.7.

Layouts of a line, of which two may share one file::

    {"level":"info","ts":"2026-03-01T10:00:00.123Z","caller":"raft/raft.go:771","msg":"1a became leader at term 2"}
    2026-03-01 10:00:00.123456 I | raft: 1a became leader at term 2
    raft2026/03/01 10:00:00 INFO: 1a became leader at term 2
    2026/03/01 10:00:00 raft: 1a became leader at term 2
    2026-03-01T10:00:00.123Z<tab>info<tab>raft/raft.go:771<tab>1a became leader at term 2<tab>{"name": "etcd1"}

The time of a JSON line says its zone, or is in seconds since 1970; that of the others is local.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from election_replay.election_core.dialects.dialect import Dialect, Record, Table, moment
from election_replay.election_core.dialects.etcd.shapes import ETCD_SHAPES, FIELDS
from election_replay.election_core.dialects.etcd.texts import TEXTS
from election_replay.election_core.dialects.parts import Line, event_of
from election_replay.election_core.model.events import Event, Unparsable

STREAMS = ("etcd*.log*", "etcd*.txt", "etcd*.out", "etcd*.json")
"""The files that hold a member's standard error."""

LONGEST_JSON = 64 << 10
"""Longer lines, in characters, are not parsed."""

MESSAGE_KEYS = ("msg", "message", "M", "@message")
LEVEL_KEYS = ("level", "lvl", "L", "severity", "@level")
TIME_KEYS = ("ts", "time", "timestamp", "@timestamp", "T")
"""The keys of a JSON line, by default or custom configuration of the zap logger; the first one present counts."""

CONSOLE_TIME = (
    r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)|\d\.\d{1,20}e\+\d\d|\d{10}\.\d{1,9})"
)
CONSOLE_LEVEL = "(?:debug|info|warn|error|dpanic|panic|fatal|DEBUG|INFO|WARN|ERROR|DPANIC|PANIC|FATAL)"
"""The begin of a line in the zap logger's console encoding, whose parts are separated by tabs."""

RECORD_START = (
    r'^(?:\{ ?"|(?:raft|[A-Z]+: )\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}'
    r"|\d{4}[-/]\d{2}[-/]\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,9})? (?:[A-Z] \| |[\w./-]+(?:\.go:\d+)?: )"
    rf"|{CONSOLE_TIME}\t{CONSOLE_LEVEL}\t)"
)

TABLE = Table(TEXTS, ETCD_SHAPES, before="")

_TIME = r"(\d{4}[-/]\d{2}[-/]\d{2} \d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?"
_LIBRARY = re.compile(rf"raft{_TIME} ([A-Z]+): (.*)", re.DOTALL | re.ASCII)
_PACKAGE = re.compile(rf"{_TIME} (?:([A-Z]) \| )?(?:[\w./-]+\.go:\d+: )?[\w./-]+: (.*)", re.DOTALL | re.ASCII)
_DATED = re.compile(rf"(?:raft|[A-Z]+: )?{_TIME}", re.ASCII)
_DATED_JSON = re.compile(
    rf'"(?:{"|".join(TIME_KEYS)})" ?: ?(?:"([^"]{{1,40}})"|(\d{{1,19}}(?:\.\d{{1,12}})?(?:[eE]\+?\d\d)?))', re.ASCII
)
_ZONED = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_EPOCH = re.compile(r"\d{1,19}(?:\.\d{1,20})?(?:[eE]\+?\d\d)?", re.ASCII)
_CONSOLE_TIME = re.compile(rf"({CONSOLE_TIME})\t", re.ASCII)
_CONSOLE = re.compile(
    rf"({CONSOLE_TIME})\t({CONSOLE_LEVEL})\t(?:[\w.-]{{1,80}}\t)?(?:[\w./@-]{{1,120}}:\d+\t)?([^\t]*)(?:\t(\{{.*\}}))?\s*\Z",
    re.DOTALL | re.ASCII,
)
EPOCH_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)
"""Units of a number per second; the largest unit that gives a year before 3000 is taken."""
_HEAD = 300


def parse(record: Record) -> Event | None:
    """Return the event of ``record``, or None. Raises :class:`Unparsable` for a known text with an impossible value."""
    try:
        line = _json_line(record.text) if record.text.startswith("{") else _text_line(record.text)
    except (ValueError, RecursionError) as error:
        raise Unparsable(f"not a line of etcd: {error}") from None
    return None if line is None else parse_line(line, record)


def reads(text: str) -> bool:
    """Return True when a line has one of etcd's own layouts."""
    try:
        return (_json_line(text) if text.startswith("{") else _text_line(text)) is not None
    except (ValueError, RecursionError):
        return False


def parse_line(line: Line, record: Record) -> Event | None:
    """Return the event of a line in any layout. Raises :class:`Unparsable` as ``parse`` does."""

    def more(_kind: str, columns: dict[str, Any]) -> dict[str, Any]:
        beside = _fields(line.fields)
        return columns | {column: value for column, value in beside.items() if columns.get(column) is None}

    return event_of(TABLE, line, record, more=more)


def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Return (us UTC, resolution in ms) of a first line, or None if it has no time."""
    try:
        if text.startswith("{"):
            found = _DATED_JSON.search(text[:_HEAD])
            return None if found is None else _zoned(found.group(1) or float(found.group(2)), utc_offset_minutes)
        if console := _CONSOLE_TIME.match(text):
            return _zoned(console.group(1))
        dated = _DATED.match(text)
        return None if dated is None else _local(dated.group(1), dated.group(2), utc_offset_minutes)
    except ValueError:
        return None


def _json_line(text: str) -> Line | None:
    """Return a line of the zap logger, or None for other JSON. Raises ``ValueError`` if it is no JSON."""
    if len(text) > LONGEST_JSON:
        raise ValueError(f"JSON of {len(text)} characters, longer than {LONGEST_JSON}")
    found = json.loads(text)
    message, level, time = (_first(found, names) for names in (MESSAGE_KEYS, LEVEL_KEYS, TIME_KEYS))
    if not isinstance(message, str) or not (level is None or isinstance(level, str)):
        return None
    (message + (level or "")).encode()  # half a character, such as \\ud800, cannot be stored
    return Line(partial(_zoned, time), level, None, None, None, message.rstrip(), found)


def _first(found: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Remove and return the value under the first of these names that is present."""
    return next((found.pop(name) for name in names if name in found), None)


def _text_line(text: str) -> Line | None:
    if found := _CONSOLE.match(text):
        time, level, message, fields = found.groups()
        beside = json.loads(fields) if fields else {}
        return Line(partial(_zoned, time), level.lower(), None, None, None, message.rstrip(), beside)
    if found := _LIBRARY.match(text) or _PACKAGE.match(text):
        time, fraction, level, message = found.groups()
        return Line(partial(_local, time, fraction), level, None, None, None, message.rstrip())
    return None


def _fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of the fields beside the message."""
    columns: dict[str, Any] = {}
    for key, (column, read) in FIELDS.items():
        if key in fields:
            value = read(fields[key])
            columns |= {column: value} if column else value or {}
    return columns


def _zoned(printed: Any, utc_offset_minutes: int = 0) -> tuple[int, int]:
    """Return ``moment`` of a JSON line's time, in the given zone if it names none. Raises ``ValueError`` for others."""
    if isinstance(printed, str) and _EPOCH.fullmatch(printed):
        printed = float(printed)
    if type(printed) in (int, float):
        for per_second in EPOCH_UNITS:
            if 0 <= printed < 32_503_680_000 * per_second:
                return round(printed * 1_000_000 / per_second), 1
    found = _ZONED.fullmatch(printed) if isinstance(printed, str) else None
    if found is None:
        raise ValueError(f"not a time: {str(printed)[:40]!r}")
    local, fraction, zone = found.groups()
    offset = datetime.strptime(zone, "%z").utcoffset() if zone else None
    return moment(local, fraction, int(offset.total_seconds()) // 60 if offset else 0 if zone else utc_offset_minutes)


def _local(printed: str, fraction: str | None, utc_offset_minutes: int) -> tuple[int, int]:
    return moment(printed.replace("/", "-"), fraction, utc_offset_minutes)


ETCD = Dialect(
    name="etcd",
    record_start=RECORD_START,
    needles=TABLE.needles(),
    utc_offset_minutes=0,
    parse=parse,
    time_of=time_of,
    parse_line=parse_line,
    reads=reads,
    anchors=TABLE.anchors(),
    telling=TABLE.telling(),
)
