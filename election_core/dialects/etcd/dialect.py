"""The etcd dialect: what members print about their Raft group, 2.x to 3.7.

Layouts of a line, of which two may share one file::

    {"level":"info","ts":"2026-03-01T10:00:00.123Z","caller":"raft/raft.go:771","msg":"1a became leader at term 2"}
    2026-03-01 10:00:00.123456 I | raft: 1a became leader at term 2
    raft2026/03/01 10:00:00 INFO: 1a became leader at term 2
    2026/03/01 10:00:00 raft: 1a became leader at term 2

The time of a JSON line says its zone, or is in seconds since 1970; that of the others is local.
"""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from election_core.dialects.dialect import Dialect, Record, Table, Unparsable, moment
from election_core.dialects.etcd.shapes import ETCD_SHAPES, FIELDS
from election_core.dialects.etcd.texts import TEXTS
from election_core.model.events import Event

STREAMS = ("etcd*.log",)
"""The files in which the standard error of a member is kept."""

LONGEST_JSON = 64 << 10
"""A longer line, in characters, is not parsed."""

RECORD_START = (
    r'^(?:\{"|(?:raft|[A-Z]+: )\d{4}/\d{2}/\d{2} \d{2}:\d{2}:\d{2}'
    r"|\d{4}[-/]\d{2}[-/]\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,9})? (?:[A-Z] \| |[\w./-]+: ))"
)

TABLE = Table(TEXTS, ETCD_SHAPES, before="")

_TIME = r"(\d{4}[-/]\d{2}[-/]\d{2} \d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?"
_LIBRARY = re.compile(rf"raft{_TIME} ([A-Z]+): (.*)", re.DOTALL | re.ASCII)
_PACKAGE = re.compile(rf"{_TIME} (?:([A-Z]) \| )?[\w./-]+: (.*)", re.DOTALL | re.ASCII)
_DATED = re.compile(rf"(?:raft|[A-Z]+: )?{_TIME}", re.ASCII)
_DATED_JSON = re.compile(r'"ts":(?:"([^"]{1,40})"|(\d{1,12}(?:\.\d{1,12})?))', re.ASCII)
_ZONED = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)", re.ASCII)
_HEAD = 300


class Line(NamedTuple):
    """A line in any layout; ``time`` is asked for only once the message is known, and raises ``ValueError``."""

    time: Callable[[], tuple[int, int]]
    level: str | None
    message: str
    fields: Mapping[str, Any]


def parse(record: Record) -> Event | None:
    """The event that ``record`` is, or ``None``. Raises :class:`Unparsable` for a known text gone wrong."""
    try:
        line = _json_line(record.text) if record.text.startswith("{") else _text_line(record)
    except (ValueError, RecursionError) as error:
        raise Unparsable(f"not a line of etcd: {error}") from None
    return None if line is None else _event(line)


def _event(line: Line) -> Event | None:
    for pattern in TABLE.candidates(line.message):
        kind = pattern.text.kind
        try:
            columns = pattern.read(line.message, "", "")
            if columns is None:
                continue
            beside = _fields(line.fields)
            columns |= {column: value for column, value in beside.items() if columns.get(column) is None}
            time, resolution = line.time()
            return Event(kind=kind, event_time=time, time_resolution_ms=resolution, level=line.level, **columns)
        except ValueError as error:
            raise Unparsable(f"{kind}: {error}") from None
    return None


def time_of(text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
    """Microseconds UTC and resolution in milliseconds of a first line, or ``None`` where it bears no time."""
    try:
        if text.startswith("{"):
            found = _DATED_JSON.search(text[:_HEAD])
            return None if found is None else _zoned(found.group(1) or float(found.group(2)))
        dated = _DATED.match(text)
        return None if dated is None else _local(dated.group(1), dated.group(2), utc_offset_minutes)
    except ValueError:
        return None


def _json_line(text: str) -> Line | None:
    """A line of the zap logger, or ``None`` for other JSON. Raises ``ValueError`` for what is not JSON."""
    if len(text) > LONGEST_JSON:
        raise ValueError(f"JSON of {len(text)} characters, longer than {LONGEST_JSON}")
    found = json.loads(text)
    message, level = found.pop("msg", None), found.pop("level", None)
    if not isinstance(message, str) or not (level is None or isinstance(level, str)):
        return None
    (message + (level or "")).encode()  # half a character, such as \\ud800, cannot be stored
    return Line(partial(_zoned, found.get("ts")), level, message.rstrip(), found)


def _text_line(record: Record) -> Line | None:
    if found := _LIBRARY.match(record.text) or _PACKAGE.match(record.text):
        time, fraction, level, message = found.groups()
        return Line(partial(_local, time, fraction, record.utc_offset_minutes), level, message.rstrip(), {})
    return None


def _fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that stand beside the message."""
    columns: dict[str, Any] = {}
    for key, (column, read) in FIELDS.items():
        if key in fields:
            value = read(fields[key])
            columns |= {column: value} if column else value or {}
    return columns


def _zoned(printed: Any) -> tuple[int, int]:
    """The time of a JSON line. Raises ``ValueError`` for no possible time."""
    if type(printed) in (int, float) and 0 <= printed < 32_503_680_000:
        return round(printed * 1_000_000), 1
    found = _ZONED.fullmatch(printed) if isinstance(printed, str) else None
    if found is None:
        raise ValueError(f"not a time: {str(printed)[:40]!r}")
    local, fraction, zone = found.groups()
    offset = datetime.strptime(zone, "%z").utcoffset()
    return moment(local, fraction, int(offset.total_seconds()) // 60 if offset else 0)


def _local(printed: str, fraction: str | None, utc_offset_minutes: int) -> tuple[int, int]:
    return moment(printed.replace("/", "-"), fraction, utc_offset_minutes)


ETCD = Dialect(
    name="etcd",
    record_start=RECORD_START,
    needles=TABLE.needles(),
    utc_offset_minutes=0,
    parse=parse,
    time_of=time_of,
)
