"""Parsers of each system's log: text of a record in, :class:`~election_core.model.events.Event` out.

A dialect is a module of literal tables. To teach a new text, add a row to the table of the system that prints it;
to teach a new system, add its folder with a row (:class:`~.system.System`) to :data:`~.systems.SYSTEMS`. ``docs/dialects.md`` shows how.
"""

import copyreg
import re
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

from election_replay.election_core.dialects.canonical import dialect as canonical
from election_replay.election_core.dialects.described import dialect as described
from election_replay.election_core.dialects.dialect import Dialect, Record
from election_replay.election_core.dialects.etcd import dialect as etcd
from election_replay.election_core.dialects.layouts import any_layout
from election_replay.election_core.dialects.readings import in_layout, is_event
from election_replay.election_core.dialects.rocketmq import metadata as rocketmq_metadata
from election_replay.election_core.dialects.systems import SYSTEMS
from election_replay.election_core.model.events import Event, saying

__all__ = [
    "DIALECTS",
    "FLOODS",
    "KINDS",
    "NAMED",
    "SHARED",
    "STREAMS",
    "SYSTEMS",
    "TICK",
    "Dialect",
    "Record",
    "dialect_for",
    "is_other",
    "named",
    "speaker_of",
    "stream_in_system",
    "tick",
]

TICK = "TICK"

KINDS: dict[str, str] = {
    TICK: "this log was being written then; made of lines that are otherwise not of interest",
    **rocketmq_metadata.KINDS,
    **{kind: meaning for system in SYSTEMS for kind, meaning in system.table.kinds.items()},
    **canonical.KINDS,
}
"""Every kind of event and its meaning: the closed enumeration."""

FLOODS = frozenset[str]().union(*(system.table.floods for system in SYSTEMS))
"""Kinds of which one event in ten seconds, for each consumer group and topic, is enough; no rule reads them."""

LOGS: Mapping[str, Dialect] = {stream: system.dialect for system in SYSTEMS for stream in system.streams}

SHARED: Mapping[str, tuple[Dialect, ...]] = {
    stream: tuple(system.dialect for system in SYSTEMS if stream in system.shared_streams)
    for stream in sorted({stream for system in SYSTEMS for stream in system.shared_streams})
}
"""File names that several systems use, with the systems beside the one in :data:`LOGS`."""

CONSOLES = "*.out"
"""Console files of any system, named by a start script: their first dated line decides the dialect."""

OTHERS = (
    *("*gc.log*", "gc*.log*", "*-gc-*", "*_gc_*", "gc.*", "*.hprof", "*.pid", "hs_err*"),
    *("zookeeper_trace.log*", "zookeeper_audit.log*", "kafka-request.log*", "kafka-authorizer.log*"),
)
"""Files beside the logs that hold nothing of use: garbage collection and dumps of the JVM, traces, audits."""


@lru_cache(maxsize=1024)
def _log_dialect(stream: str) -> Dialect | None:
    return dialect_for(stream, streams=LOGS)


CANONICAL = canonical.dialect(KINDS, _log_dialect)

STREAMS: Mapping[str, Dialect] = {**dict.fromkeys(canonical.STREAMS, CANONICAL), **LOGS}
"""The dialect of a file by its name or a pattern; the first that fits counts."""

DIALECTS: tuple[Dialect, ...] = (
    *(system.dialect for system in SYSTEMS),
    CANONICAL,
)
NAMED: Mapping[str | None, Dialect] = {dialect.name: dialect for dialect in DIALECTS}
"""The dialects by their names."""


def dialect_for(stream: str, first_line: str = "", streams: Mapping[str, Dialect] | None = None) -> Dialect | None:
    """Return the dialect of a file by its name without suffixes of rolling and compression; None if the name does not
    tell. For a console file, ``first_line``, the first dated line of the file, decides."""
    if is_other(stream):
        return None
    if (dialect := _of_name(stream) if streams is None else _among(streams, stream)) is not None:
        return dialect
    return _that_begins(first_line) if first_line and fnmatchcase(stream, CONSOLES) else None


def stream_in_system(stream: str, dialect: str | None) -> str:
    """Return the stream name of a file, prefixed with its system's name where another system uses the same file name,
    or where no process of the system uses it, unless it ``keeps_names``. ``dialect`` is its dialect by name, with or
    without a layout."""
    spoken = (dialect or "").partition(" ")[0]
    system = next((system for system in SYSTEMS if system.name == spoken and not system.keeps_names), None)
    shared = any(sharer.name == spoken for sharer in SHARED.get(stream, ()))
    return f"{spoken}-{stream}" if system is not None and (shared or not system.writes(stream)) else stream


def _among(streams: Mapping[str, Dialect], stream: str) -> Dialect | None:
    return next((dialect for pattern, dialect in streams.items() if fnmatchcase(stream, pattern)), None)


@lru_cache(maxsize=1024)
def _of_name(stream: str) -> Dialect | None:
    return _among(STREAMS, stream)


@lru_cache(maxsize=1024)
def is_other(stream: str) -> bool:
    """Return True when a file is known to be no log of a system."""
    return any(fnmatchcase(stream, pattern) for pattern in OTHERS)


@lru_cache(maxsize=256)
def named(name: str | None) -> Dialect | None:
    """Return a dialect by its name, which a layout may follow; None for no name. Raises ``ValueError`` for a layout
    that cannot be compiled."""
    base, _, pattern = (name or "").partition(" ")
    if base == described.NAME and pattern:
        return described.described(pattern)
    found = NAMED.get(base)
    return in_layout(found, any_layout(pattern)) if found and pattern else found


def _sent(name: str) -> Dialect:
    """Return the dialect that another process named."""
    if (found := named(name)) is None:
        raise ValueError(name)
    return found


copyreg.pickle(Dialect, lambda dialect: (_sent, (dialect.name,)))
"""Other processes have the same tables, so a dialect is pickled as its name."""

_JSON_OF_ETCD = re.compile(r'\{"(?:level|ts|caller|msg)":')
"""An object with one of these fields first, and a ``msg``, is a line of etcd."""


def speaker_of(line: str, preferred: Dialect | None = None) -> Dialect | None:
    """Return the dialect whose record begins with ``line``, trying the ``preferred`` one first; None if there is
    none."""
    if preferred is not None and preferred.in_layout and preferred.reads(line):
        return preferred
    if line.startswith("{"):
        if preferred is CANONICAL and '"kind"' in line:
            return CANONICAL
        of_etcd = _JSON_OF_ETCD.match(line) and '"msg":' in line and '"rawmsg":' not in line  # rawmsg: rsyslog's JSON
        return etcd.ETCD if of_etcd else None
    if preferred is not None and preferred is not CANONICAL and _begins(preferred.record_start)(line):
        return preferred
    return _that_begins(line)


def _that_begins(line: str) -> Dialect | None:
    """Return the dialect whose records begin as this line does; of several, the one with the text, or that reads it."""
    begins = [dialect for dialect in DIALECTS if dialect is not CANONICAL and _begins(dialect.record_start)(line)]
    if len(begins) > 1 and (speaks := next((dialect for dialect in begins if is_event(dialect, line, "")), None)):
        return speaks
    return next((dialect for dialect in begins if dialect.reads(line)), begins[0] if begins else None)


@lru_cache(maxsize=64)
def _begins(record_start: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(record_start).match


def tick(event_time: int, resolution_ms: int) -> Event:
    """Return a sign of life of a log at ``event_time`` (us UTC)."""
    dated = {"kind": TICK, "event_time": event_time, "time_resolution_ms": resolution_ms}
    return saying({**dated, "protocol": "process"})
