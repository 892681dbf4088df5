"""The small state files of RocketMQ brokers and controllers, as collected snapshots: file in, events out.

A file is recognised by its name below a folder named after its time: ``20261121T103148Z/consumerOffset.json``. It is
read as a whole or not at all, as half a table proves nothing. Each record becomes one event, so a ``line`` of a snapshot
is a record: its DataVersion, one queue's or one delay level's offset, or a file without entries.

Sources: BrokerPathConfigHelper, StorePathConfigHelper, ConsumerOffsetManager, DelayOffsetSerializeWrapper,
TopicConfigManager, SubscriptionGroupManager, TimerCheckpoint, BrokerMetadata, TempBrokerMetadata, EpochFileCache,
StoreCheckpoint, DataVersion; DLedger MemberState and DLedgerStore (``currterm``, ``checkpoint``).
"""

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from election_replay.election_core.dialects.dialect import integer, seconds, words
from election_replay.election_core.model import digits
from election_replay.election_core.model.events import EpochEntry, Event, Unparsable

PROTOCOL = "metadata"
LARGEST_FILE = 16 << 20
"""Larger files, in bytes, are not read: this size holds a million queues."""
DEEPEST = 32
"""The most levels of brackets; RocketMQ's files need five."""

CONSUMER_OFFSET = "consumer_offset"
DELAY_OFFSET = "delay_offset"
TOPIC_CONFIG = "topic_config"
SUBSCRIPTION_GROUP = "subscription_group"
TIMER_CHECKPOINT = "timer_checkpoint"

KINDS: Mapping[str, str] = {
    "META_SNAPSHOT_VERSION": "the DataVersion of a metadata file; setting names the table, count its entries, "
    "members the names in a table of topics or groups",
    "META_SNAPSHOT_OFFSET": "how far a consumer group had come in a queue, by a metadata file",
    "META_SNAPSHOT_DELAY": "how far a delay level had been delivered, by a metadata file; queue_id is the level",
    "META_SNAPSHOT_IDENTITY": "the identity file of a broker; flag: the one that is only proposed",
    "META_SNAPSHOT_EPOCHS": "the epoch file of a broker",
    "META_SNAPSHOT_TERM": "the term file of a DLedger node; peer is whom it voted for",
    "META_SNAPSHOT_LEDGER": "the checkpoint of a DLedger store",
    "META_SNAPSHOT_STORE": "the checkpoint of a commit log",
}

_STREAM = re.compile(r"(\d{8}T\d{6}Z)/(?:.*/)?([^/]+)", re.DOTALL)
_SCALAR = r'(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^\s{}\[\],:"]++)'
_TOKEN = re.compile(
    rf"\s*+(?:(?P<open>[{{\[])|(?P<close>[}}\]])|(?P<comma>,)|(?P<key>{_SCALAR})\s*+:|(?P<scalar>{_SCALAR}))", re.DOTALL
)
_MAY_FOLLOW = {
    "begin": {"open"},
    "value": {"open", "scalar"},
    "value or end": {"open", "scalar", "close"},
    "key": {"key"},
    "key or end": {"key", "close"},
    "next": {"comma", "close"},
    "end": set[str](),
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One record of a file: its text, and its event."""

    text: str
    event: Event


Columns = Iterator[tuple[str, str, dict[str, Any]]]
"""Text, kind and columns of each record."""


def snapshot_time(stream: str) -> int | None:
    """Return when the file ``stream`` was taken, in us UTC; None if it is no snapshot, or of an impossible year."""
    found = _STREAM.fullmatch(stream)
    if found is None:
        return None
    try:
        return seconds(found[1].removesuffix("Z")) * 1_000_000
    except ValueError:
        return None


def is_known(stream: str) -> bool:
    """Return True when this dialect reads the file."""
    found = _STREAM.fullmatch(stream)
    return found is not None and found[2] in _READERS


def entries(stream: str, data: bytes) -> Iterator[Entry]:
    """Yield the records in the content ``data`` of the file ``stream``. Raises :class:`Unparsable` before the first
    record if the file is broken anywhere, and nothing else."""
    found, time = _STREAM.fullmatch(stream), snapshot_time(stream)
    if found is None or time is None:
        raise Unparsable(f"{stream.partition('/')[0][:40]} is no possible time")
    if len(data) > LARGEST_FILE:
        raise Unparsable(f"metadata file of {len(data)} bytes: more than {LARGEST_FILE} are not read")
    if not data.strip():
        raise Unparsable("empty: the file was being replaced when it was taken")
    try:
        records = _READERS[found[2]](data)
        first = next(records)  # a reader checks everything before it gives its first record
    except (ValueError, struct.error) as error:
        raise Unparsable(f"broken {found[2]}: {error}") from None
    return (
        Entry(text, Event(kind=kind, event_time=time, time_resolution_ms=1000, protocol=PROTOCOL, **columns))
        for text, kind, columns in chain([first], records)
    )


# -- JSON as fastjson writes it ----------------------------------------------------------------------------------


def leaves(text: str) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Yield path and printed value of everything in ``text`` that is neither object nor list, in order.

    Integer keys have no quotes (``{0:100}``), so this is not strict JSON. An empty object or list gives its path with
    None. Raises ``ValueError`` for unclosed brackets, too deep nesting, or text after the end.
    """
    path: list[str] = []
    closing: list[str] = []
    position, wanted, empty = 0, "begin", False
    while match := _TOKEN.match(text, position):
        part, position = match.lastgroup or "", match.end()
        printed = match[part]
        if part not in _MAY_FOLLOW[wanted] or (part == "close" and printed != closing[-1]):
            raise ValueError(f"not as expected at character {position}")
        if part == "open":
            closing.append("}" if printed == "{" else "]")
            wanted, empty = ("key or end" if printed == "{" else "value or end"), True
            if len(closing) > DEEPEST:
                raise ValueError(f"nested deeper than {DEEPEST} at character {position}")
        elif part == "comma":
            wanted = "key" if closing[-1] == "}" else "value"
        elif part == "key":
            path.append(_plain(printed))
            wanted, empty = "value", False
        else:
            if part == "scalar" or empty:
                yield tuple(path), _plain(printed) if part == "scalar" else None
            closing, path, wanted, empty = *_ended(part, closing, path), False
    if text[position:].strip() or wanted != "end":
        raise ValueError(f"breaks off at character {position}")


def _ended(part: str, closing: list[str], path: list[str]) -> tuple[list[str], list[str], str]:
    """Return brackets, path and the expected token after a value; in an object its key is removed from the path."""
    left = closing[:-1] if part == "close" else closing
    if not left:
        return left, path, "end"
    return left, path[:-1] if left[-1] == "}" else path, "next"


def _plain(printed: str) -> str:
    """Return a key or value without its quotes."""
    if not printed.startswith('"'):
        return printed
    return str(json.loads(printed, strict=False)) if "\\" in printed else printed[1:-1]


def _number(printed: str | None) -> int:
    found = integer(printed or "")
    if found is None:
        raise ValueError(f"not a whole number: {printed!r}")
    return found


@dataclass(slots=True)
class _Table:
    """A JSON file with a DataVersion: the version's columns, and the leaves below its table."""

    version: dict[str, int]
    below: list[tuple[tuple[str, ...], str | None]]


def _table(data: bytes, name: str) -> _Table:
    """Return the parts of a file. ``stateVersion`` is missing before 5.0.0, and the whole version in old files."""
    columns = {"stateVersion": "state_version", "timestamp": "version_timestamp", "counter": "counter"}
    version: dict[str, int] = {}
    below = []
    for path, value in leaves(data.decode("utf-8-sig")):
        if len(path) == 2 and path[0] == "dataVersion" and path[1] in columns:
            version[columns[path[1]]] = _number(value)
        elif len(path) > 1 and path[0] == name:
            below.append((path[1:], value))
    if version:
        version.setdefault("state_version", 0)
    return _Table(version, below)


def _header(setting: str, table: _Table, count: int, **more: Any) -> tuple[str, str, dict[str, Any]]:
    printed = ", ".join(f"{name}={table.version[name]}" for name in sorted(table.version)) or "none"
    text = f"{setting} dataVersion {printed}; {count} entries"
    return text, "META_SNAPSHOT_VERSION", {"setting": setting, "count": count, **table.version, **more}


def _consumer_offsets(data: bytes) -> Columns:
    table = _table(data, "offsetTable")
    rows = [(path[0], _number(path[1]), _number(value)) for path, value in table.below if len(path) == 2]
    yield _header(CONSUMER_OFFSET, table, len(rows))
    for key, queue, value in rows:
        topic, _, group = key.rpartition("@")
        yield (
            f"offsetTable {key} queue {queue} = {value}",
            "META_SNAPSHOT_OFFSET",
            {
                "setting": CONSUMER_OFFSET,
                "topic": words(topic),
                "consumer_group": words(group),
                "queue_id": queue,
                "queue_offset": value,
                **table.version,
            },
        )


def _delay_offsets(data: bytes) -> Columns:
    table = _table(data, "offsetTable")
    rows = [(_number(path[0]), _number(value)) for path, value in table.below if len(path) == 1]
    yield _header(DELAY_OFFSET, table, len(rows))
    for level, value in rows:
        columns = {"setting": DELAY_OFFSET, "queue_id": level, "queue_offset": value}
        yield f"offsetTable level {level} = {value}", "META_SNAPSHOT_DELAY", {**columns, **table.version}


def _names(setting: str, name: str) -> Callable[[bytes], Columns]:
    """Return the reader of a table whose names matter: topics, subscription groups."""

    def read(data: bytes) -> Columns:
        table = _table(data, name)
        found = tuple(sorted({path[0] for path, _ in table.below}))
        text, kind, columns = _header(setting, table, len(found), members=found)
        yield f"{text}: {', '.join(found)}", kind, columns

    return read


# -- other files -------------------------------------------------------------------------------------------------


def _timer(data: bytes) -> Columns:
    """Read seven 8-byte numbers; a file of older versions ends before the DataVersion."""
    _, _, _, master_queue, *version = struct.unpack_from(">7q" if len(data) >= 56 else ">4q", data)
    table = _Table(dict(zip(("state_version", "version_timestamp", "counter"), version, strict=False)), [])
    yield _header(TIMER_CHECKPOINT, table, 0, queue_offset=master_queue)


def _identity(*, temporary: bool) -> Callable[[bytes], Columns]:
    """Read ``cluster#broker#id``, and ``#code`` in the temporary file; names may contain ``#`` themselves."""

    def read(data: bytes) -> Columns:
        text = data.decode().strip()
        parts = text.rsplit("#", 3 if temporary else 2)
        if len(parts) != (4 if temporary else 3) or digits.number(parts[2]) is None:
            raise ValueError(f"not an identity: {text[:80]!r}")
        columns: dict[str, Any] = {
            "cluster_name": words(parts[0]),
            "replica_group": words(parts[1]),
            "broker_id": parts[2],
            "node": parts[2],
            "register_code": parts[3] if temporary else None,
            "flag": temporary,
        }
        yield text, "META_SNAPSHOT_IDENTITY", columns

    return read


def _epochs(data: bytes) -> Columns:
    """Read the number of entries, the checksum, then ``epoch-startOffset``; an entry ends where the next begins."""
    lines = data.decode().split()
    starts = [tuple(map(_number, line.split("-", 1))) for line in lines[2:]]
    if len(lines) < 2 or _number(lines[0]) != len(starts):
        raise ValueError(f"{lines[0] if lines else 0} entries announced, {len(starts)} there")
    ends = [start for _, start in starts[1:]] + [None]
    found = tuple(EpochEntry(epoch, start, end) for (epoch, start), end in zip(starts, ends, strict=True))
    columns = {"epoch_entries": found, "term": found[-1].epoch if found else None, "count": len(found)}
    yield " ".join(lines), "META_SNAPSHOT_EPOCHS", columns


def _properties(data: bytes) -> dict[str, str]:
    pairs = (line.partition("=") for line in data.decode().splitlines() if line and line[0] not in "#!")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _term(data: bytes) -> Columns:
    found = _properties(data)
    term = _number(found.get("currTerm"))
    columns = {"term": term, "peer": words(found.get("voteLeader", ""))}
    yield f"currTerm={term} voteLeader={found.get('voteLeader', '')}", "META_SNAPSHOT_TERM", columns


def _checkpoint(data: bytes) -> Columns:
    """Read one of two files of this name: DLedger's properties, or the commit log's 8-byte numbers."""
    if b"Index" in data[:200]:
        found = _properties(data)
        columns = {"ledger_end": _number(found.get("endIndex")), "committed": _number(found.get("committedIndex"))}
        text = f"endIndex={columns['ledger_end']} committedIndex={columns['committed']}"
        yield text, "META_SNAPSHOT_LEDGER", columns
        return
    flushed, confirmed = struct.unpack_from(">2q", data, 24)
    text = f"masterFlushedOffset={flushed} confirmPhyOffset={confirmed}"
    yield text, "META_SNAPSHOT_STORE", {"max_offset": flushed, "confirm_offset": confirmed}


_READERS: Mapping[str, Callable[[bytes], Columns]] = {
    "consumerOffset.json": _consumer_offsets,
    "delayOffset.json": _delay_offsets,
    "topics.json": _names(TOPIC_CONFIG, "topicConfigTable"),
    "subscriptionGroup.json": _names(SUBSCRIPTION_GROUP, "subscriptionGroupTable"),
    "timercheck": _timer,
    "brokerIdentity": _identity(temporary=False),
    "brokerIdentity-temp": _identity(temporary=True),
    "epochFileCheckpoint": _epochs,
    "currterm": _term,
    "checkpoint": _checkpoint,
}
"""The reader of each file, by its name; all other files of a snapshot are ignored."""
