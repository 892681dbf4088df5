"""Plan a landing: which files are new, how far each one is landed, and how the work is divided among executors."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from heapq import heapreplace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from election_replay.election_core.dialects import STREAMS, named, stream_in_system
from election_replay.jobs.landing.blocks import FirstBytes, head
from election_replay.jobs.landing.evidence import HEAD_BYTES, Head
from election_replay.jobs.landing.heads import head_found, zone_fields, zone_of
from election_replay.jobs.landing.known_files import Known, joined
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.ledger import Heads, Ledger, Opening
from election_replay.jobs.landing.listing import Beginning, LogFile
from election_replay.jobs.landing.new_files import micros
from election_replay.jobs.landing.one_file import LANDED, Task
from election_replay.jobs.landing.privacy_mark import remember_privacy
from election_replay.jobs.landing.pseudonyms import pseudonyms_of
from election_replay.jobs.landing.recognising import looked_at
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.landed_files import LANDED_STATES

EVIDENCE = ("log_lines", "quarantine", "events")
"""The tables that a landing writes before ``landed_files``."""

STATE_COLUMNS = (
    "batch",
    "cluster",
    "source_node",
    "stream",
    "status",
    "head",
    *(field.name for field in fields(Known)),
)
"""The columns of ``landed_files`` that say how far a file is landed."""

HEADS_AT_ONCE = 16
"""Beginnings of files that are read in parallel, as an object store answers each request slowly."""

HEADS_AHEAD = 64
"""Beginnings that may be read ahead: finding out what they are takes longer than reading them from a disk."""

HANDS_PER_CORE = 4
"""Batches of tasks per core: enough that a slow one delays nobody; each batch writes one file a table."""

HAND_LEAST_BYTES = 64 << 20
"""There are fewer batches where they would be smaller: each takes a tenth of a second until it reads its first byte."""

HAND_BYTES = 256 << 20
"""There are more batches where they would be larger, so that progress shows and repeating a batch costs little."""

FILE_WEIGHT = 256 << 10
"""The cost of opening a file, in bytes that could be read meanwhile."""

UTF_16 = 3
"""A file that still has its listed size yields more than a third of it as bytes, whatever its encoding."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A landing that has begun: its number, and the version of each table it writes, in the order of its commits."""

    batch: int
    versions: dict[str, int]


def begin(warehouse: Warehouse, config: Config) -> Begun:
    """Create the tables of a landing, record in the warehouse what is hashed, and return the landing that begins.

    Raises :class:`~jobs.JobError` when earlier landings hashed something else, or another landing writes just now.
    """
    written = (*EVIDENCE, LANDED.name)
    warehouse.create(written)
    remember_privacy(warehouse, pseudonyms_of(config.privacy))
    versions = {table: warehouse.opened(table).version() for table in written}
    return Begun(1 + warehouse.last_batch(), versions)


def tasks_of(
    files: list[LogFile], landed: ds.Dataset | pa.Table, landing: str, config: Config, batch: int
) -> list[Task]:
    """Return a task for each group of files with the same beginning, those with the most bytes first.

    ``landed`` are the rows of ``landed_files``; only the rows of files that begin alike are taken from them.
    """
    zone, pseudonyms = open_landing(landing), pseudonyms_of(config.privacy)
    ledger = Ledger(landed, files, HEAD_BYTES)
    lengths = ledger.lengths()

    def look(file: LogFile, read: FirstBytes) -> Looked:
        if read.problem:
            return Looked(file, Head("", None, None, problem=read.problem))
        first = read.data[:HEAD_BYTES]
        if not read.damaged and b"\n" not in first and UTF_16 * len(first) < min(file.size, HEAD_BYTES):
            file = replace(file, size=0)  # rolled since it was listed: the next landing takes what is there now
        hashes = hashes_at(lengths.get((file.cluster, file.source_node, file.stream), ()), first)
        found = head_found(file, read.data, config)
        counts_as = stream_in_system(file.stream, found.dialect)
        known_as = file.known_as if counts_as == file.stream else counts_as
        return Looked(replace(file, beginning=Beginning.of(first), known_as=known_as), found, hashes)

    looked = [look(file, read) for file, read in first_bytes(files, zone)]
    openings = [of_file.opening for of_file in looked]
    states, heads = landed_states(ledger.rows(openings, STATE_COLUMNS)), ledger.heads(openings)
    identified = [(of_file.file, identity(of_file, states, heads)) for of_file in looked]
    originals = originals_of(identified, states)
    alike: dict[tuple[str, str, str, Head], list[LogFile]] = defaultdict(list)
    for file, found in identified:
        itself = file.stream, found
        original = originals.get((file.cluster, file.source_node, file.stream, found.fingerprint), itself)
        alike[file.cluster, file.source_node, *original].append(file)
    nodes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file in files:
        nodes[file.cluster, file.name].add(file.source_node)
    tasks = []
    for (cluster, node, stream, found), group in alike.items():
        known = tuple(states[cluster, node, stream].get(found.fingerprint, {}).values())
        task = Task(
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
            known=known,
            pseudonyms=pseudonyms,
            envelope=found.envelope,
            config=config,
            problem=found.problem,
            beside=len(nodes[cluster, group[0].name]) > 1,
        )
        tasks.append(task)
    return sorted(tasks, key=lambda task: (-sum(file.size for file in task.files), task.files[0].path))


def first_bytes(files: Iterable[LogFile], zone: LandingZone) -> Iterator[tuple[LogFile, FirstBytes]]:
    """Yield each file, in order, with its first bytes; threads read those of the next files meanwhile."""

    def begins(file: LogFile) -> FirstBytes:
        return head(zone, file.path, file.size, HEAD_BYTES if file.below else looked_at(file.stream))

    ahead: deque[tuple[LogFile, Future[FirstBytes]]] = deque()
    with ThreadPoolExecutor(HEADS_AT_ONCE) as threads:
        for file in files:
            ahead.append((file, threads.submit(begins, file)))
            if len(ahead) > HEADS_AHEAD:
                first, read = ahead.popleft()
                yield first, read.result()
        for first, read in ahead:
            yield first, read.result()


States = defaultdict[tuple[str, str, str], dict[str, dict[str, Known]]]
"""(cluster, node, stream) -> head -> fingerprint -> how far the file with this fingerprint is landed."""


@dataclass(frozen=True, slots=True)
class Looked:
    """The result of a look at the beginning of a file: its head, and SHA-256 of its first bytes by their length."""

    file: LogFile
    found: Head
    hashes: Mapping[int, str] = field(default_factory=dict)

    @property
    def opening(self) -> Opening:
        """Return the beginning of the file in the form in which the ledger is searched."""
        file = self.file
        return Opening(file.cluster, file.source_node, file.stream, self.found.fingerprint, self.hashes)


def landed_states(landed: Iterable[dict[str, Any]]) -> States:
    """Return how far each file is landed, by its last row; ``landed`` are rows in the order of landings."""
    states: States = defaultdict(dict)
    for row in landed:
        if row["status"] in LANDED_STATES:
            known = Known(
                **{field.name: row[field.name] for field in fields(Known)} | {"file_time": micros(row["file_time"])}
            )
            variants = states[row["cluster"], row["source_node"], row["stream"]].setdefault(row["head"], {})
            variants[known.fingerprint] = joined(variants.get(known.fingerprint), known)
    return states


def identity(looked: Looked, states: States, heads: Heads) -> Head:
    """Return the head of a file, with the fingerprint of the known file that it continues, if there is one.

    A file that was landed before its first dated line was written is recognised by the bytes that were landed then,
    however much it has grown since. Among several known files the one that matches the most bytes counts.
    """
    file, found = looked.file, looked.found
    stream = file.cluster, file.source_node, file.stream
    if found.problem or found.fingerprint in states[stream]:
        return found
    for length, digest in sorted(looked.hashes.items(), reverse=True):
        if known_head := heads.get((*stream, length, digest)):
            return replace(found, fingerprint=known_head)
    return found


Original = tuple[str, Head]
"""The stream of a file and its head."""


def originals_of(found: Iterable[tuple[LogFile, Head]], states: States) -> dict[tuple[str, str, str, str], Original]:
    """Return (cluster, node, stream, fingerprint) of each copy -> the stream and head of the log that it is a copy of.

    A copy begins as another log of its node does: ``broker.log.bak``, or a shipper's temporary file, holds the lines of
    ``broker.log``, and all of them would count twice if it were read as a log of its own. The original is the stream
    that was landed first, otherwise the one with a known name. Two streams with known names are never copies.
    """
    begun: dict[tuple[str, str, str], dict[str, Head]] = defaultdict(dict)
    for file, beginning in found:
        if beginning.file_time is not None and not file.below:
            begun[file.cluster, file.source_node, beginning.fingerprint][file.stream] = beginning
    landed: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for (cluster, node, stream), heads in states.items():
        for fingerprint in heads:
            landed[cluster, node, fingerprint].append(stream)
    copies: dict[tuple[str, str, str, str], Original] = {}
    for (cluster, node, fingerprint), streams in begun.items():
        known = landed.get((cluster, node, fingerprint), [])
        original = next(iter(known), None) or min(streams, key=lambda name: (name not in STREAMS, len(name), name))
        for stream, beginning in streams.items():
            named_both = stream in STREAMS and original in STREAMS
            if stream != original and not named_both and stream not in known:
                copies[cluster, node, stream, fingerprint] = original, streams.get(original, beginning)
    return copies


def hashes_at(lengths: Sequence[int], data: bytes) -> dict[int, str]:
    """Return length -> SHA-256 of so many first bytes of ``data``, for ascending ``lengths`` up to that of ``data``."""
    so_far, at, hashes = sha256(), 0, dict[int, str]()
    for length in lengths:
        if length <= len(data):
            so_far.update(data[at:length])
            at, hashes[length] = length, so_far.hexdigest()
    return hashes


def partitioned(tasks: list[Task], cores: int) -> list[list[Task]]:
    """Divide the tasks into batches of about equal :func:`weight`; ``tasks`` must have the largest first."""
    size = sum(map(weight, tasks))
    each = min(HANDS_PER_CORE, max(1, size // (HAND_LEAST_BYTES * cores)))
    count = min(len(tasks), max(each * cores, size // HAND_BYTES))
    lightest = [(0, number) for number in range(count)]
    batches: list[list[Task]] = [[] for _ in lightest]
    for task in tasks:
        held, number = lightest[0]
        batches[number].append(task)
        heapreplace(lightest, (held + weight(task), number))
    return batches


def weight(task: Task) -> int:
    """Return the work of a task in bytes: the sizes of its files and :data:`FILE_WEIGHT` for opening each."""
    return sum(FILE_WEIGHT + file.size for file in task.files)
