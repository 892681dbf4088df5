"""Landing: log files -> ``bronze.log_lines``, ``bronze.quarantine``, ``silver.events`` and ``bronze.landed_files``.

Every landing has a number. Executors write its rows into data files, once; then the driver commits them table by
table in place of whatever an earlier, killed attempt at the same number left. ``landed_files`` comes last, and only
with it the landing counts. A landing that finds nothing new writes nothing. Of two landings that run beside each other
one stops at its first commit, as the tables are no longer what it began with.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from heapq import heapreplace
from pathlib import PurePosixPath
from typing import Any

from pyspark.sql import SparkSession

from election_core.dialects import CANONICAL, Dialect, named
from election_core.dialects.rocketmq_metadata import snapshot_time
from jobs import JobError
from jobs.blocks import head
from jobs.config import Config
from jobs.enveloped import chain_of, head_in_envelopes, opened_by
from jobs.evidence import HEAD_BYTES, Head, head_of
from jobs.landing import LANDED, LANDED_STATES, Known, Task, land_tasks
from jobs.listing import LogFile, log_files, open_landing
from jobs.pseudonyms import Pseudonyms, pseudonyms_of
from jobs.recognising import dialect_of, looked_at
from jobs.stores import absolute
from jobs.warehouse import Warehouse

EVIDENCE = ("log_lines", "quarantine", "events")
"""The tables that a landing writes before ``landed_files``."""

SEEN_COLUMNS = ("cluster", "source_node", "stream", "file_bytes", "modified_at", "bytes_waiting")
"""The columns of ``landed_files`` that tell a file that was seen."""

READ_COLUMNS = ("path", "tick_bucket", "lines_landed", "read_as")
"""Its columns that tell how a file was read."""

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
class Landing:
    """What one landing did; ``batch`` is ``None`` when there was nothing new."""

    batch: int | None = None
    files: int = 0
    bytes_read: int = 0
    lines_total: int = 0
    lines_event: int = 0
    lines_ignored: int = 0
    lines_quarantined: int = 0


def new_files(landing: str, warehouse: Warehouse, config: Config) -> list[LogFile]:
    """The files that no landing has seen as they are now.

    Raises :class:`~jobs.JobError` for a landing zone or a warehouse that cannot be used.
    """
    warehouse.refuse_foreign_folder()
    pseudonyms = pseudonyms_of(config.privacy)
    files = log_files(landing, config.layout, config.metadata_layout)
    landed = warehouse.rows(LANDED.name, (*SEEN_COLUMNS, *READ_COLUMNS, "hashed"))
    refuse_other_names(landed, pseudonyms, warehouse)
    return unseen(files, (row for row in landed if not read_otherwise(row, config)))


def read_otherwise(row: dict[str, Any], config: Config) -> bool:
    """Whether nothing was understood of a file, and the settings say now how to read it."""
    if row["tick_bucket"] is not None or not row["lines_landed"] or snapshot_time(row["stream"]) is not None:
        return False
    names = (PurePosixPath(row["path"]).name, row["stream"])
    setting = config.dialect_of(row["cluster"], row["source_node"], names)
    return setting is not None and setting != row["read_as"]


def refuse_other_names(landed: Iterable[dict[str, Any]], pseudonyms: Pseudonyms | None, warehouse: Warehouse) -> None:
    """Raise :class:`JobError` when what is landed already has other names for addresses and clients, or none."""
    now = pseudonyms.mark if pseudonyms else None
    for other in {row["hashed"] for row in landed} - {now}:
        raise JobError(
            f"{warehouse.root} was landed with {hashed(other)}, and the settings ask for {hashed(now)}: one machine "
            "would have two names. Land with the settings and the key of before, or into a new warehouse"
        )


def hashed(mark: str | None) -> str:
    """What was hashed, for a person."""
    return f"a hash of {mark}" if mark else "nothing hashed"


def land(spark: SparkSession, files: list[LogFile], landing: str, warehouse: Warehouse, config: Config) -> Landing:
    """Land ``files``, as :func:`new_files` found them."""
    if not files:
        return Landing()
    warehouse.create()
    versions = {table: warehouse.version(table) for table in (*EVIDENCE, LANDED.name)}
    landed = warehouse.rows(LANDED.name, STATE_COLUMNS)
    batch = 1 + max((row["batch"] for row in landed), default=0)
    landing, root = absolute(landing), warehouse.root
    hands = dealt(tasks_of(files, landed, landing, config, batch), spark.sparkContext.defaultParallelism)
    done = spark.sparkContext.parallelize(hands, len(hands)).map(lambda hand: land_tasks(hand, landing, root)).collect()
    written = [file for data_files, _ in done for file in data_files]
    for table, version in versions.items():
        warehouse.replace(written, table, [str(batch)], f"landing {batch}", version)
    sums: Counter[str] = Counter()
    for _, counted in done:
        sums.update(counted)
    return Landing(batch, len(files), sum(file.size for file in files), **sums)


def unseen(files: Iterable[LogFile], landed: Iterable[dict[str, Any]]) -> list[LogFile]:
    """The files to look into: those of which no landing saw a file of the same stream, size and time of change.

    A rolled file that was only renamed keeps all three. A file whose last line waits is looked into once more.
    """
    waiting: dict[tuple[Any, ...], bool] = {}
    for row in landed:
        known = row["cluster"], row["source_node"], row["stream"], row["file_bytes"], micros(row["modified_at"])
        waiting[known] = waiting.get(known, True) and row["bytes_waiting"] > 0
    found = []
    for file in files:
        known = file.cluster, file.source_node, file.stream, file.size, file.modified
        if known not in waiting or file.modified is None:
            found.append(file)
        elif waiting[known]:
            found.append(replace(file, settled=True))
    return found


def tasks_of(
    files: list[LogFile], landed: list[dict[str, Any]], landing: str, config: Config, batch: int
) -> list[Task]:
    """The files grouped by their beginning, each group with what is landed of it; the largest first."""
    system, root = open_landing(landing)
    states, pseudonyms = landed_states(landed), pseudonyms_of(config.privacy)

    def identify(file: LogFile) -> Head:
        data = head(system, f"{root}/{file.path}", file.size, HEAD_BYTES if file.below else looked_at(file.stream))
        first = data[:HEAD_BYTES]
        if file.below:
            return identity(first, file, head_of(first, None, 0), states)
        setting = config.dialect_of(file.cluster, file.source_node, (file.name, file.stream))
        if chain := chain_of(file.stream, first):
            inside = dialect_of(file.stream, opened_by(chain, data), setting)
            found = head_in_envelopes(first, chain, inside, config, file.cluster, file.source_node)
            return identity(first, file, found, states)
        dialect = dialect_of(file.stream, data, setting)
        return identity(first, file, head_of(first, dialect, zone_of(file, dialect, config)), states)

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
            **zone_fields(zone_of(group[0], named(found.dialect), config)),
            batch=batch,
            files=tuple(group),
            known=tuple(states[cluster, node, stream].get(found.fingerprint, {}).values()),
            pseudonyms=pseudonyms,
            envelope=found.envelope,
            config=config if found.envelope else None,
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
            known = Known(**{field.name: row[field.name] for field in fields(Known)})
            heads = states[row["cluster"], row["source_node"], row["stream"]]
            heads.setdefault(row["head"], {})[known.fingerprint] = known
    return states


def identity(data: bytes, file: LogFile, found: Head, states: States) -> Head:
    """The head of a file that begins with ``data``: what is ``found`` in it, or that of a known file.

    A file that was landed before its first dated line was written is known by what was landed then.
    """
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


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/land.py --landing DIR --warehouse DIR``."""
    from jobs.cli import main as command_line

    sys.exit(command_line(["land", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
