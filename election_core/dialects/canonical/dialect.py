"""Canonical events as JSON lines: the input of Bully, Token Ring and systems without a dialect.

One object per line, with only the fields of :class:`~election_core.model.events.Event` as keys::

    {"kind": "BULLY_OK_SENT", "event_time": "2026-03-01T10:00:00.123Z", "node": "3", "peer": "1"}

``docs/event.schema.json`` describes it. ``event_time`` is a text with a zone (RFC 3339) or a whole number of
milliseconds since 1970; ``time_resolution_ms`` follows from it where it is missing.

A line may also be the envelope in which a log shipper delivers a line of another file. Then the line inside is
parsed by the dialect of the file that the envelope names; the envelope's other fields are ignored.
"""

import json
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from types import NoneType
from typing import Any, get_args, get_type_hints

from election_replay.election_core.dialects.dialect import Dialect, Record, moment
from election_replay.election_core.envelopes.objects import opened
from election_replay.election_core.model import digits
from election_replay.election_core.model.events import EpochEntry, Event, Unparsable
from election_replay.election_core.model.streams import stream_at

STREAMS = ("*.events.jsonl",)
"""The files that hold canonical events or envelopes."""

LONGEST_LINE = 64 << 10
"""Longer lines, in characters, are not parsed."""

KINDS: Mapping[str, str] = {
    "BULLY_START": "a node of a Bully group started",
    "BULLY_STOP": "a node of a Bully group stopped",
    "BULLY_SUSPECT": "the leader, peer, did not answer the node",
    "BULLY_ELECTION_SENT": "the node asked the higher peer whether it lives",
    "BULLY_ELECTION_RECEIVED": "the lower peer asked whether the node lives",
    "BULLY_OK_SENT": "the node told the lower peer to give up",
    "BULLY_OK_RECEIVED": "the higher peer told the node to give up",
    "BULLY_COORDINATOR_SENT": "the node told peer that it leads",
    "BULLY_COORDINATOR_RECEIVED": "peer told the node that it leads",
    "BULLY_OK_TIMEOUT": "no higher node answered in time: the node wins",
    "BULLY_COORDINATOR_TIMEOUT": "no leader made itself known in time after an answer",
    "RING_START": "a node of a ring started",
    "RING_STOP": "a node of a ring stopped",
    "RING_SUSPECT": "the leader, peer, did not answer the node",
    "RING_ELECTION_SENT": "the node passed the election on to peer; value is the id in it, or members the ids",
    "RING_ELECTION_RECEIVED": "the election came from peer; value is the id in it, or members the ids",
    "RING_ELECTION_DROPPED": "the node passed on a smaller id, value, no further",
    "RING_ELECTED_SENT": "the node passed on to peer that value leads",
    "RING_ELECTED_RECEIVED": "peer passed on that value leads",
    "RING_SKIPPED": "the successor, peer, did not answer and was passed over",
}
"""Events of systems without a log of their own; every other kind may be used too."""

PROTOCOLS = {"BULLY": "bully", "RING": "token_ring"}
"""The protocol by the first word of a kind, for lines without one."""

_RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def text(value: Any) -> str:
    """Return ``value`` if it is a text that can be stored; raise ``ValueError`` otherwise."""
    if not isinstance(value, str):
        raise ValueError("not a text")
    value.encode()  # raises for half a character, such as \ud800
    return value


def whole(value: Any) -> int:
    """Return ``value`` if it is a whole number of at most 64 bits; raise ``ValueError`` otherwise."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    if abs(value) > digits.LARGEST:
        raise ValueError("a number beyond 64 bits")
    return value


def flag(value: Any) -> bool:
    """Return ``value`` if it is true or false; raise ``ValueError`` otherwise."""
    if not isinstance(value, bool):
        raise ValueError("neither true nor false")
    return value


def texts(value: Any) -> tuple[str, ...]:
    """Return ``value`` if it is a list of texts; raise ``ValueError`` otherwise."""
    if not isinstance(value, list):
        raise ValueError("not a list")
    return tuple(map(text, value))


def epochs(value: Any) -> tuple[EpochEntry, ...]:
    """Return ``value`` if it is a list of epoch entries; raise ``ValueError`` otherwise."""
    if not isinstance(value, list):
        raise ValueError("not a list")
    return tuple(map(_epoch, value))


def _epoch(value: Any) -> EpochEntry:
    if not isinstance(value, dict) or value.keys() != {"epoch", "start_offset", "end_offset"}:
        raise ValueError("not an object of epoch, start_offset and end_offset")
    end = value["end_offset"]
    return EpochEntry(whole(value["epoch"]), whole(value["start_offset"]), None if end is None else whole(end))


INTEGER = {"type": "integer", "minimum": -digits.LARGEST, "maximum": digits.LARGEST}
EPOCH_ENTRY = {
    "type": "object",
    "properties": {"epoch": INTEGER, "start_offset": INTEGER, "end_offset": {"anyOf": [INTEGER, {"type": "null"}]}},
    "required": ["epoch", "start_offset", "end_offset"],
    "additionalProperties": False,
}

TYPES: Mapping[Any, tuple[Callable[[Any], Any], Mapping[str, Any]]] = {
    str: (text, {"type": "string"}),
    int: (whole, INTEGER),
    bool: (flag, {"type": "boolean"}),
    tuple[str, ...]: (texts, {"type": "array", "items": {"type": "string"}}),
    tuple[EpochEntry, ...]: (epochs, {"type": "array", "items": EPOCH_ENTRY}),
}
"""The reader and the JSON Schema of each type of field."""


def _type_of(hint: Any) -> Any:
    """Return the type of a field without its ``None``."""
    return (
        next((option for option in get_args(hint) if option is not NoneType), hint)
        if NoneType in get_args(hint)
        else hint
    )


_HINTS = get_type_hints(Event)
FIELDS: Mapping[str, tuple[Callable[[Any], Any], Mapping[str, Any]]] = {
    column.name: TYPES[_type_of(_HINTS[column.name])] for column in fields(Event)
}
"""The reader and the JSON Schema of each field of an event."""


@dataclass(frozen=True, slots=True)
class Canonical:
    """Reads canonical lines with these ``kinds``; ``dialect_of`` gives the dialect of a file that an envelope names."""

    kinds: Mapping[str, str]
    dialect_of: Callable[[str], Dialect | None]

    def parse(self, record: Record) -> Event | None:
        """Return the event that a line is or holds, or None. Raises :class:`Unparsable` for anything else."""
        try:
            found = _object(record.text)
            if "kind" in found:
                return self._event(found)
            inner, dialect = self._raw(found, record.utc_offset_minutes)
        except ValueError as error:
            raise Unparsable(str(error)) from None
        return dialect.parse(inner) if dialect else None

    def time_of(self, line: str, utc_offset_minutes: int) -> tuple[int, int] | None:
        """Return (us UTC, resolution in ms) of a line, or None if it has no time."""
        try:
            found = _object(line)
            if "kind" in found:
                return time(found.get("event_time"))
            inner, dialect = self._raw(found, utc_offset_minutes)
        except ValueError:
            return None
        return dialect.time_of(inner.text, inner.utc_offset_minutes) if dialect else None

    def _event(self, found: Mapping[str, Any]) -> Event:
        columns = {name: _read(name, value) for name, value in found.items() if name != "event_time"}
        kind = columns["kind"]
        if kind not in self.kinds:
            raise ValueError(f"kind: there is no kind {str(kind)[:80]!r}")
        moment_of, resolution = time(found.get("event_time"))
        if columns.get("time_resolution_ms") is None:
            columns["time_resolution_ms"] = resolution
        if columns["time_resolution_ms"] < 1:
            raise ValueError("time_resolution_ms: less than 1")
        if columns.get("protocol") is None:
            columns["protocol"] = PROTOCOLS.get(kind.partition("_")[0])
        return Event(event_time=moment_of, **columns)

    def _raw(self, found: Mapping[str, Any], utc_offset_minutes: int) -> tuple[Record, Dialect | None]:
        """Return the line inside of an envelope, and the dialect of its file."""
        held = opened(found)
        if held is None or held[1].file is None:
            raise ValueError(f"neither an event nor an envelope: {_names(found)}")
        inner = held[1]
        stream = stream_at(held[1].file)
        dialect = self.dialect_of(stream)
        east = utc_offset_minutes or None if inner.utc_offset_minutes is None else inner.utc_offset_minutes
        offset = east if east is not None else dialect.utc_offset_minutes if dialect else 0
        first, *more = inner.text.split("\n")
        return Record(first, tuple(more), stream, offset), dialect


def dialect(kinds: Mapping[str, str], dialect_of: Callable[[str], Dialect | None]) -> Dialect:
    """Return the dialect of canonical events, for these kinds and the dialects of files that envelopes name."""
    canonical = Canonical(kinds, dialect_of)
    return Dialect(
        name="canonical",
        record_start=r"^.",
        needles=tuple(string.printable.strip()),  # every line that is not blank is an event or an error
        utc_offset_minutes=0,
        parse=canonical.parse,
        time_of=canonical.time_of,
    )


def time(value: Any) -> tuple[int, int]:
    """Return (us UTC, resolution in ms) of an ``event_time``. Raises ``ValueError`` for no possible time."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 32_503_680_000_000:
        return value * 1000, 1
    found = _RFC_3339.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            "event_time: neither milliseconds since 1970 nor a time with a zone such as 2026-03-01T10:00:00Z"
        )
    local, fraction, zone = found.groups()
    offset = datetime.strptime(zone.upper(), "%z").utcoffset()
    return moment(local.upper(), fraction, int(offset.total_seconds()) // 60 if offset else 0)


def _object(line: str) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise ValueError(f"a line of {len(line)} characters, longer than {LONGEST_LINE}")
    try:
        found = json.loads(line)
    except RecursionError:
        raise ValueError("not JSON: too many levels") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


def _read(name: str, value: Any) -> Any:
    if name not in FIELDS:
        raise ValueError(f"unknown field {name[:80]!r}")
    return _checked(name, value, FIELDS[name][0])


def _checked(name: str, value: Any, check: Callable[[Any], Any]) -> Any:
    """Return ``check(value)``, or raise an error that names the field; only a kind must not be null."""
    try:
        return None if value is None and name != "kind" else check(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _names(found: Mapping[str, Any]) -> str:
    return "fields " + ", ".join(repr(name[:40]) for name in sorted(found)[:5]) if found else "no fields"
