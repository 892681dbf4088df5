"""What a landing has to do: which files are new, how far each is landed, and how they are dealt to executors."""

from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from heapq import heapreplace
from typing import Any

from election_core.dialects import CANONICAL, NAMED, Dialect
from jobs.landing.blocks import head
from jobs.landing.evidence import HEAD_BYTES, Head, dialect_of, head_of
from jobs.landing.landing_zone import open_landing
from jobs.landing.listing import LogFile
from jobs.landing.one_file import LANDED, LANDED_STATES, Known, Task, joined
from jobs.landing.privacy_mark import remember_privacy
from jobs.landing.pseudonyms import pseudonyms_of
from jobs.settings.config import Config
from jobs.warehouse.warehouse import Warehouse

EVIDENCE = ("log_lines", "quarantine", "events")
"""The tables that a landing writes before ``landed_files``."""

SEEN_COLUMNS = (
    *("batch", "cluster", "source_node", "stream", "path"),
    *("file_bytes", "modified_at", "bytes_waiting", "problem", "unread"),
)
"""The columns of ``landed_files`` that tell a file that was seen."""

STATE_COLUMNS = ("batch", "cluster", "source_node", "stream", "status", "head", *(one.name for one in fields(Known)))
"""Its columns that tell how far a file is landed."""

HEADS_AT_ONCE = 16

HANDS_PER_CORE = 4
"""So many that a slow one holds nobody up; each writes one file a table."""

HAND_LEAST_BYTES = 64 << 20
"""Fewer of them where they would hold less: a tenth of a second goes by before a hand reads its first byte."""

HAND_BYTES = 256 << 20
"""So much, at most: progress shows, and a repeated hand costs little."""

FILE_WEIGHT = 256 << 10
"""What opening a file costs, in bytes read meanwhile."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Begun:
    """A landing that has begun: its number, the versions of the tables that it writes, in the order of its commits,
    and the rows of ``landed_files`` that say how far each file is landed.
    """

    batch: int
    versions: dict[str, int | None]
    landed: list[dict[str, Any]]


def begin(warehouse: Warehouse, config: Config) -> Begun:
    """Begin a landing, in a warehouse that has all tables and knows what is hashed."""
    warehouse.create()
    remember_privacy(warehouse, pseudonyms_of(config.privacy))
    versions = {table: warehouse.version(table) for table in (*EVIDENCE, LANDED.name)}
    landed = warehouse.rows(LANDED.name, STATE_COLUMNS)
    return Begun(1 + max((row["batch"] for row in landed), default=0), versions, landed)


def unseen(files: Iterable[LogFile], landed: Iterable[dict[str, Any]]) -> list[LogFile]:
    """The files to look into: those of which no landing saw a file of the same stream, size and time of change.

    A rolled file that was only renamed keeps all three. A file whose last line waits is looked into once more, one that
    could not be read to its end again and again: by its path too, as others may be like it in all three.
    """
    last: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in sorted(landed, key=lambda row: row["batch"]):
        known = row["cluster"], row["source_node"], row["stream"], row["file_bytes"], micros(row["modified_at"])
        last[known][row["path"]] = row
    found = []
    for file in files:
        rows = last.get((file.cluster, file.source_node, file.stream, file.size, file.modified), {})
        unread = rows.get(file.path) or next((row for row in rows.values() if row["unread"]), None)
        if not rows or file.modified is None:
            found.append(file)
        elif unread and unread["unread"]:
            found.append(replace(file, unread=unread["problem"]))
        elif all(row["bytes_waiting"] > 0 for row in rows.values() if not row["unread"]):
            found.append(replace(file, settled=True))
    return found


def tasks_of(
    files: list[LogFile], landed: list[dict[str, Any]], landing: str, config: Config, batch: int
) -> list[Task]:
    """The files grouped by their beginning, each group with what is landed of it; the largest first."""
    zone = open_landing(landing)
    states, pseudonyms = landed_states(landed), pseudonyms_of(config.privacy)

    def identify(file: LogFile) -> Head:
        data, problem = head(zone, file.path, file.size, HEAD_BYTES)
        if problem:
            return Head("", None, None, problem)
        dialect = dialect_of(file.stream, data)
        return identity(data, file, dialect, zone_of(file, dialect, config), states)

    with ThreadPoolExecutor(HEADS_AT_ONCE) as pool:
        heads = list(pool.map(identify, files))
    alike: dict[tuple[str, str, str, Head], list[LogFile]] = defaultdict(list)
    for file, found in zip(files, heads, strict=True):
        alike[file.cluster, file.source_node, file.stream, found].append(file)
    tasks = [
        Task(
            cluster=cluster,
            source_node=node,
            stream=stream,
            head=found.fingerprint,
            file_time=found.file_time,
            clock_bound_ms=config.bound_of(cluster, node),
            dialect=found.dialect,
            **zone_fields(zone_of(group[0], NAMED.get(found.dialect), config)),
            batch=batch,
            files=tuple(group),
            known=tuple(states[cluster, node, stream].get(found.fingerprint, {}).values()),
            pseudonyms=pseudonyms,
            problem=found.problem,
        )
        for (cluster, node, stream, found), group in alike.items()
    ]
    return sorted(tasks, key=lambda task: (-sum(file.size for file in task.files), task.files[0].path))


States = defaultdict[tuple[str, str, str], dict[str, dict[str, Known]]]
"""Cluster, node and stream -> head -> fingerprint -> how far that file is landed."""


def landed_states(landed: Iterable[dict[str, Any]]) -> States:
    """How far each file is landed: its last row in ``landed_files``."""
    states: States = defaultdict(dict)
    for row in sorted(landed, key=lambda row: row["batch"]):
        if row["status"] in LANDED_STATES:
            known = Known(
                **{field.name: row[field.name] for field in fields(Known)} | {"file_time": micros(row["file_time"])}
            )
            variants = states[row["cluster"], row["source_node"], row["stream"]].setdefault(row["head"], {})
            variants[known.fingerprint] = joined(variants.get(known.fingerprint), known)
    return states


def identity(data: bytes, file: LogFile, dialect: Dialect | None, zone: int | str, states: States) -> Head:
    """The head of a file that begins with ``data``.

    A file that was landed before its first dated line was written is known by what was landed then.
    """
    found = head_of(data, dialect, zone)
    heads = states[file.cluster, file.source_node, file.stream]
    if found.fingerprint in heads:
        return found
    for known_head, variants in sorted(heads.items()):
        if any(begins_with(data, known) for known in variants.values()):
            return replace(found, fingerprint=known_head)
    return found


def begins_with(data: bytes, known: Known) -> bool:
    """Whether a file that begins with ``data`` is a known one that was landed while it was shorter than that."""
    length = known.bytes_landed
    return 0 < length <= len(data) and sha256(data[:length]).hexdigest() == known.content_hash


def zone_of(file: LogFile, dialect: Dialect | None, config: Config) -> int | str:
    """The zone of a file's times: minutes east of UTC or an IANA name; canonical events and envelopes say their own."""
    found = config.zone_of(file.cluster, file.source_node, dialect.utc_offset_minutes if dialect else 0)
    return 0 if dialect is CANONICAL and isinstance(found, str) else found


def zone_fields(zone: int | str) -> dict[str, Any]:
    """A zone as a task carries it."""
    named = isinstance(zone, str)
    return {"utc_offset_minutes": 0 if named else zone, "time_zone": zone if named else None}


def dealt(tasks: list[Task], cores: int) -> list[list[Task]]:
    """The tasks in hands of about as many bytes, some for each core; ``tasks`` come with the largest first."""
    size = sum(map(weight, tasks))
    each = min(HANDS_PER_CORE, max(1, size // (HAND_LEAST_BYTES * cores)))
    count = min(len(tasks), max(each * cores, size // HAND_BYTES))
    lightest = [(0, number) for number in range(count)]
    hands: list[list[Task]] = [[] for _ in lightest]
    for task in tasks:
        held, number = lightest[0]
        hands[number].append(task)
        heapreplace(lightest, (held + weight(task), number))
    return hands


def weight(task: Task) -> int:
    """How much work a task is, in bytes: opening a file costs something too."""
    return sum(FILE_WEIGHT + file.size for file in task.files)


def micros(time: datetime | None) -> int | None:
    """Microseconds since 1970."""
    return None if time is None else (time - EPOCH) // timedelta(microseconds=1)
