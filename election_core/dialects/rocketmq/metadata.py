"""The small state files of RocketMQ brokers and controllers, as a collector found them: file in, events out.

A file is known by its name below a folder that says when it was taken: ``20261121T103148Z/consumerOffset.json``. It
is read as a whole or not at all: half a table proves nothing. What one record says becomes one event, so that a
``line`` of a snapshot is a record: its DataVersion, one queue's or one delay level's offset, one file without entries.

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
"""A file larger than this, in bytes, is not read: this one would hold a million queues."""
DEEPEST = 32
"""How deep brackets may nest; RocketMQ's files need five."""

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
    """One record of a file: what it reads like, and the event that it is."""

    text: str
    event: Event


Columns = Iterator[tuple[str, str, dict[str, Any]]]
"""Text, kind and columns of each record."""


def snapshot_time(stream: str) -> int | None:
    """When the file ``stream`` was taken, microseconds UTC; ``None`` where it is no snapshot, or of an absurd year."""
    found = _STREAM.fullmatch(stream)
    if found is None:
        return None
    try:
        return seconds(found[1].removesuffix("Z")) * 1_000_000
    except ValueError:
        return None


def is_known(stream: str) -> bool:
    """Whether the file is one of those that this dialect reads."""
    found = _STREAM.fullmatch(stream)
    return found is not None and found[2] in _READERS


def entries(stream: str, data: bytes) -> Iterator[Entry]:
    """The records of the file ``stream`` with the content ``data``; events are made as they are taken.

    Raises :class:`Unparsable` for a file that is broken anywhere, nothing else, and before it gives the first record.
    """
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
    """Path and printed value of everything in ``text`` that is neither object nor list, in the order of the file.

    Integer keys stand without quotes (``{0:100}``), so this is no strict JSON. An empty object or list gives its
    path with ``None``. Raises ``ValueError`` for what does not close, nests too deep or goes on after its end.
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
    """Brackets, path and what may follow after the end of a value; the key of a value in an object is done with it."""
    left = closing[:-1] if part == "close" else closing
    if not left:
        return left, path, "end"
    return left, path[:-1] if left[-1] == "}" else path, "next"


def _plain(printed: str) -> str:
    """A key or value without its quotes."""
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
    """The parts of a file. ``stateVersion`` is absent before 5.0.0, and so is the whole version in old files."""
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
    """Reader of a table of which the names matter: topics, subscription groups."""

    def read(data: bytes) -> Columns:
        table = _table(data, name)
        found = tuple(sorted({path[0] for path, _ in table.below}))
        text, kind, columns = _header(setting, table, len(found), members=found)
        yield f"{text}: {', '.join(found)}", kind, columns

    return read


# -- other files -------------------------------------------------------------------------------------------------


def _timer(data: bytes) -> Columns:
    """Seven 8-byte numbers; a file of older versions ends before the DataVersion."""
    _, _, _, master_queue, *version = struct.unpack_from(">7q" if len(data) >= 56 else ">4q", data)
    table = _Table(dict(zip(("state_version", "version_timestamp", "counter"), version, strict=False)), [])
    yield _header(TIMER_CHECKPOINT, table, 0, queue_offset=master_queue)


def _identity(*, temporary: bool) -> Callable[[bytes], Columns]:
    """``cluster#broker#id``, and ``#code`` in the file that only proposes; names may hold the mark themselves."""

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
    """Number of entries, checksum, then ``epoch-startOffset``; an entry ends where the next begins."""
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
    """Two files bear this name: DLedger's properties, and the commit log's 8-byte numbers."""
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
"""How each file is read, by its name. Everything else in a snapshot is of no interest."""
