"""What a landing has to do: which files are new, how far each is landed, and how they are dealt to executors."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from heapq import heapreplace
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds

from election_replay.election_core.dialects import CANONICAL, STREAMS, Dialect, named, stream_in_system
from election_replay.jobs.landing.blocks import FirstBytes, head
from election_replay.jobs.landing.enveloped import chain_of, head_in_envelopes, opened_by
from election_replay.jobs.landing.evidence import HEAD_BYTES, Head, head_of
from election_replay.jobs.landing.known_files import Known, joined
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.ledger import Heads, Ledger, Opening
from election_replay.jobs.landing.listing import Beginning, LogFile
from election_replay.jobs.landing.new_files import micros
from election_replay.jobs.landing.one_file import LANDED, Task
from election_replay.jobs.landing.privacy_mark import remember_privacy
from election_replay.jobs.landing.pseudonyms import pseudonyms_of
from election_replay.jobs.landing.recognising import dialect_of, looked_at
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
"""The columns of ``landed_files`` that tell how far a file is landed."""

HEADS_AT_ONCE = 16
"""Beginnings of files that are read at once: a store takes its time for each."""

HEADS_AHEAD = 64
"""So many may wait to be understood, which takes longer than reading them from a disk does."""

HANDS_PER_CORE = 4
"""So many that a slow one holds nobody up; each writes one file a table."""

HAND_LEAST_BYTES = 64 << 20
"""Fewer of them where they would hold less: a tenth of a second goes by before a hand reads its first byte."""

HAND_BYTES = 256 << 20
"""So much, at most: progress shows, and a repeated hand costs little."""

FILE_WEIGHT = 256 << 10
"""What opening a file costs, in bytes read meanwhile."""

UTF_16 = 3
"""A file that was as long when it was listed has more bytes than a third of its size, whatever their encoding."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A landing that has begun: its number, and the versions of the tables it writes, in the order of its commits."""

    batch: int
    versions: dict[str, int]


def begin(warehouse: Warehouse, config: Config) -> Begun:
    """Begin a landing, in a warehouse that has the tables of landings and knows what is hashed."""
    written = (*EVIDENCE, LANDED.name)
    warehouse.create(written)
    remember_privacy(warehouse, pseudonyms_of(config.privacy))
    versions = {table: warehouse.opened(table).version() for table in written}
    return Begun(1 + warehouse.last_batch(), versions)


def tasks_of(
    files: list[LogFile], landed: ds.Dataset | pa.Table, landing: str, config: Config, batch: int
) -> list[Task]:
    """The files grouped by their beginning, each group with what is landed of it; the largest first.

    ``landed`` are the rows of ``landed_files``. They are asked for what begins as these files do, once that is known.
    """
    zone, pseudonyms = open_landing(landing), pseudonyms_of(config.privacy)
    ledger = Ledger(landed, files, HEAD_BYTES)
    lengths = ledger.lengths()

    def look(file: LogFile, read: FirstBytes) -> Looked:
        if read.problem:
            return Looked(file, Head("", None, None, problem=read.problem))
        first = read.data[:HEAD_BYTES]
        if not read.damaged and b"\n" not in first and UTF_16 * len(first) < min(file.size, HEAD_BYTES):
            file = replace(file, size=0)  # it was rolled since: what comes in its place now is the next landing's
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
    tasks = []
    for (cluster, node, stream, found), group in alike.items():
        known = tuple(states[cluster, node, stream].get(found.fingerprint, {}).values())
        enveloped = found.envelope or any(landed.envelope for landed in known)
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
            config=config if enveloped else None,
            problem=found.problem,
        )
        tasks.append(task)
    return sorted(tasks, key=lambda task: (-sum(file.size for file in task.files), task.files[0].path))


def first_bytes(files: Iterable[LogFile], zone: LandingZone) -> Iterator[tuple[LogFile, FirstBytes]]:
    """The beginning of each file; those of the next ones are read meanwhile."""

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
"""Cluster, node and stream -> head -> fingerprint -> how far that file is landed."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What a look at the beginning of a file found: its head, and the hashes of its first bytes at some lengths."""

    file: LogFile
    found: Head
    hashes: Mapping[int, str] = field(default_factory=dict)

    @property
    def opening(self) -> Opening:
        """How it begins, as the ledger is asked."""
        file = self.file
        return Opening(file.cluster, file.source_node, file.stream, self.found.fingerprint, self.hashes)


def landed_states(landed: Iterable[dict[str, Any]]) -> States:
    """How far each file is landed: its last row in ``landed_files``, of rows in the order of landings."""
    states: States = defaultdict(dict)
    for row in landed:
        if row["status"] in LANDED_STATES:
            known = Known(
                **{field.name: row[field.name] for field in fields(Known)} | {"file_time": micros(row["file_time"])}
            )
            variants = states[row["cluster"], row["source_node"], row["stream"]].setdefault(row["head"], {})
            variants[known.fingerprint] = joined(variants.get(known.fingerprint), known)
    return states


def head_found(file: LogFile, data: bytes, config: Config) -> Head:
    """The head of a file that begins with ``data``, by itself; a metadata snapshot has no dialect."""
    first = data[:HEAD_BYTES]
    if file.below:
        return head_of(first, None, 0)
    setting = config.dialect_of(file.cluster, file.source_node, (file.name, file.stream))
    if chain := chain_of(file.stream, first, setting):
        inside = dialect_of(file.stream, opened_by(chain, data), setting)
        return head_in_envelopes(first, chain, inside, config, file.cluster, file.source_node)
    dialect = dialect_of(file.stream, data, setting)
    return head_of(first, dialect, zone_of(file, dialect, config))


def identity(looked: Looked, states: States, heads: Heads) -> Head:
    """The head of a file that was looked at, by itself, or that of a known file.

    A file that was landed before its first dated line was written is known by what was landed then, however much it has
    grown since. Of several such files it is the one that it goes on from furthest.
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
"""The stream of a file, and what its beginning says."""


def originals_of(found: Iterable[tuple[LogFile, Head]], states: States) -> dict[tuple[str, str, str, str], Original]:
    """Whose copies those files are that begin as another log of their node does, under a name that is no log's own.

    ``broker.log.bak``, or what a shipper calls a file while it copies, says what ``broker.log`` says: read as a log of
    its own it would say everything twice. Two logs whose very names are known stay apart, however they begin; else a
    file is of the stream that was landed first, or of the one with a known name.
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
    """The SHA-256 of the first bytes of ``data``, at those of some ascending ``lengths`` that it has."""
    so_far, at, hashes = sha256(), 0, dict[int, str]()
    for length in lengths:
        if length <= len(data):
            so_far.update(data[at:length])
            at, hashes[length] = length, so_far.hexdigest()
    return hashes


def zone_of(file: LogFile, dialect: Dialect | None, config: Config) -> int | str:
    """The zone of a file's times: minutes east of UTC or an IANA name; canonical events and envelopes say their own."""
    found = config.zone_of(file.cluster, file.source_node, dialect.utc_offset_minutes if dialect else 0)
    return 0 if dialect is CANONICAL and isinstance(found, str) else found


def zone_fields(zone: int | str) -> dict[str, Any]:
    """A zone as a task carries it."""
    named = isinstance(zone, str)
    return {"utc_offset_minutes": 0 if named else zone, "time_zone": zone if named else None}


def partitioned(tasks: list[Task], cores: int) -> list[list[Task]]:
    """The tasks in hands of about as many bytes, some for each core; ``tasks`` come with the largest first."""
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
    """How much work a task is, in bytes: opening a file costs something too."""
    return sum(FILE_WEIGHT + file.size for file in task.files)
