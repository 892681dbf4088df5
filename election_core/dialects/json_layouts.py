"""Log lines in JSON, with time, level, thread, class and message under keys.

Such a layout is written ``json time=@timestamp level=log.level thread=process.thread.name message=message``. A key with
dots is looked up as a whole first, then object by object. The forms of common encoders are known without settings.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from election_replay.election_core.dialects.dialect import moment
from election_replay.election_core.dialects.parts import Line
from election_replay.election_core.dialects.stamps import BadLayout

PREFIX = "json "
"""The prefix of the pattern of such a layout."""

PARTS = ("time", "level", "thread", "logger", "node", "message")

LONGEST_LINE = 64 << 10
"""Longer lines, in characters, are not parsed."""

KNOWN = (
    "json time=@timestamp level=log.level thread=process.thread.name logger=log.logger message=message",
    "json time=@timestamp level=level thread=thread_name logger=logger_name message=message",
    "json time=@timestamp level=level thread=thread logger=logger message=message",
    "json time=timestamp level=level thread=thread logger=logger message=message",
    "json time=timestamp level=level thread=thread logger=loggerName message=message",
    "json time=timeMillis level=level thread=thread logger=loggerName message=message",
    "json time=instant level=level thread=thread logger=loggerName message=message",
    "json time=time level=level thread=thread logger=logger message=message",
    "json time=time level=level thread=thread logger=logger message=msg",
    "json time=ts level=level thread=thread logger=logger message=msg",
    "json time=timestamp level=level thread=_thread logger=_logger message=short_message",
)
"""The encoders of Elastic (ECS), logstash, log4j2 and logback, and common home-made forms."""

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))? ?(Z|UTC|GMT|[+-]\d\d:?\d\d|[+-]\d\d)?", re.ASCII
)
_UNITS = (1, 1_000, 1_000_000, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """The keys of a line of JSON; used like :class:`~election_core.dialects.layouts.Layout`."""

    pattern: str
    keys: Mapping[str, str] = field(hash=False)
    record_start: str = r'^\{ ?"'
    plain: bool = False

    @property
    def names_class(self) -> bool:
        """True when a line names the class that prints it."""
        return "logger" in self.keys

    def line(self, text: str) -> Line | None:
        """Return the parts of a line, or None if it is no JSON with a time and a message."""
        if not text.startswith("{") or len(text) > LONGEST_LINE:
            return None
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return None
        parts = {part: value_of(found, key) for part, key in self.keys.items()}
        time, message = parts["time"], parts["message"]
        if time is None or not isinstance(message, str) or not storable(message):
            return None
        texts = {part: value if isinstance(value, str) and storable(value) else None for part, value in parts.items()}
        return Line(
            time=partial(time_of, time),
            level=texts.get("level"),
            thread=texts.get("thread"),
            logger=texts.get("logger"),
            node=texts.get("node"),
            message=message.rstrip(),
            fields=found,
        )

    def fits(self, text: str) -> bool:
        """Return True when a line has a value under every key."""
        line = self.line(text)
        return line is not None and all(value_of(line.fields, key) is not None for key in self.keys.values())

    def time_of(self, text: str, utc_offset_minutes: int) -> tuple[int, int] | None:
        """Return (us UTC, resolution in ms) of a line, or None if it has no possible time."""
        line = self.line(text)
        try:
            return line.time(utc_offset_minutes) if line else None
        except ValueError:
            return None


def json_layout(pattern: str) -> JsonLayout:
    """Return the reader of such a layout. Raises :class:`BadLayout` for an unknown or missing part."""
    keys: dict[str, str] = {}
    for word in pattern.removeprefix(PREFIX).split():
        part, equals, key = word.partition("=")
        if part not in PARTS or not equals or not key:
            raise BadLayout(f"{word} does not say where one of {', '.join(PARTS)} stands, as time=ts does")
        keys[part] = key
    for needed in ("time", "message"):
        if needed not in keys:
            raise BadLayout(f"it does not say under which key the {needed} stands")
    return JsonLayout(pattern, keys)


def value_of(found: Any, key: str) -> Any:
    """Return the value under a key, or under the keys between its dots; None without one."""
    if not isinstance(found, dict):
        return None
    if key in found:
        return found[key]
    first, dot, rest = key.partition(".")
    return value_of(found.get(first), rest) if dot else None


def storable(text: str) -> bool:
    """Return True when a text holds whole characters only: JSON can encode half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def time_of(printed: Any, utc_offset_minutes: int) -> tuple[int, int]:
    """Return (us UTC, resolution in ms) of a time. Raises ``ValueError`` for no possible time. A number without a unit
    is in the largest unit that gives a year before 3000: seconds to nanoseconds."""
    if isinstance(printed, dict) and type(printed.get("epochSecond")) is int:  # log4j2
        nanoseconds = printed.get("nanoOfSecond")
        return time_of(printed["epochSecond"], 0)[0] + (nanoseconds if type(nanoseconds) is int else 0) // 1_000, 1
    if isinstance(printed, str) and re.fullmatch(r"\d{9,19}(?:\.\d{1,12})?", printed, re.ASCII):
        printed = float(printed) if "." in printed else int(printed)
    if type(printed) in (int, float):
        for per_second in _UNITS:
            if 0 <= printed < 32_503_680_000 * per_second:
                return round(printed * 1_000_000 / per_second), 1000 if type(printed) is int and per_second == 1 else 1
    found = _TIME.fullmatch(printed.strip()) if isinstance(printed, str) else None
    if found is None:
        raise ValueError(f"not a time: {str(printed)[:40]!r}")
    day, clock, fraction, zone = found.groups()
    if zone is None:
        offset = utc_offset_minutes
    elif zone in ("Z", "UTC", "GMT"):
        offset = 0
    else:
        shift = datetime.strptime(f"{zone}00" if len(zone) == 3 else zone, "%z").utcoffset()
        offset = int(shift.total_seconds()) // 60 if shift else 0
    return moment(f"{day} {clock}", fraction, offset)
