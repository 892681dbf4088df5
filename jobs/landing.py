"""One file of the landing zone into rows: what runs on an executor.

A file is known by the fingerprint of its beginning inside its cluster, node and stream, not by its name. What was
landed of it is kept as a length and a hash, so that a grown file lands only its tail, and the same file met again
under another name, or compressed, lands nothing. Where several files share a beginning, the longest is landed first;
one that goes on differently is a file of its own.

A last line without a line end may be half of a line, and half a line may read like a whole one: ``term: 1`` of
``term: 12``. In a rolled or compressed file it is complete. In a live file it waits, uncounted, for the next landing;
if the file has not changed by then, it is taken as it is.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any

from pyarrow import fs

from election_core.dialects import named
from election_core.dialects.rocketmq_metadata import LARGEST_FILE, is_known, snapshot_time
from election_core.envelopes import chain_told
from jobs.blocks import Blocks
from jobs.config import Config
from jobs.data_files import DataFile, write_data_files
from jobs.enveloped import Enveloped, Part
from jobs.evidence import Evidence, Place, Progress, Row, digest
from jobs.listing import LogFile, open_landing
from jobs.map_partitions import prepare_worker
from jobs.pseudonyms import Pseudonyms
from schemas import TABLES

LANDED = TABLES["landed_files"]
LANDED_STATES = ("landed", "grown")
"""The kinds of rows in ``landed_files`` that say how far a file is landed."""

PART = "part"
"""The kind of those that tell of a node whose lines stand in a shared file."""

SUMMED = {
    name: LANDED.names.index(name) for name in ("lines_total", "lines_event", "lines_ignored", "lines_quarantined")
}
"""The columns of ``landed_files`` that a landing sums up, and their places."""


@dataclass(frozen=True, slots=True)
class Known:
    """How far a file is landed, and where it was last seen; the fields are columns of ``landed_files``."""

    fingerprint: str
    bytes_landed: int
    content_hash: str
    lines_landed: int
    tick_bucket: int | None
    last_line_no: int | None
    last_line: str | None
    zone_state: str | None = None
    flood: str | None = None
    path: str = ""
    read_as: str | None = None

    def misread(self, dialect: str | None) -> bool:
        """Whether no line was understood, as the file was read then, and ``dialect`` is another reading."""
        unread = self.envelope is None and self.tick_bucket is None and self.lines_landed > 0
        return unread and self.read_as != dialect

    envelope: str | None = None
    envelope_state: str | None = None

    def progress(self) -> Progress:
        """Where the next landing goes on."""
        return Progress(
            lines=self.lines_landed,
            tick_bucket=self.tick_bucket,
            last_line_no=self.last_line_no,
            last_line=self.last_line,
            zone_state=self.zone_state,
            flood=self.flood,
        )


@dataclass(frozen=True, slots=True)
class Task:
    """The files that begin alike, and what is known of such files. ``file_time`` is microseconds UTC.

    ``dialect`` is the name of the dialect that they speak, if any; ``envelope`` names what their lines came in, if
    anything, and then ``config`` holds the settings of the nodes that may be named there.
    """

    cluster: str
    source_node: str
    stream: str
    head: str
    dialect: str | None
    file_time: int | None
    clock_bound_ms: int
    utc_offset_minutes: int
    time_zone: str | None
    batch: int
    files: tuple[LogFile, ...]
    known: tuple[Known, ...]
    pseudonyms: Pseudonyms | None = None
    envelope: str | None = None
    config: Config | None = None


def land_tasks(tasks: Sequence[Task], landing: str, warehouse: str) -> tuple[list[DataFile], Counter[str]]:
    """Land the tasks of one batch into data files below ``warehouse``; the files, and the sums of :data:`SUMMED`."""
    prepare_worker()
    sums: Counter[str] = Counter()

    def rows() -> Iterator[Row]:
        for task in tasks:
            for table, values in land_task(task, landing):
                if table == LANDED.name:
                    sums.update({name: values[at] for name, at in SUMMED.items()})
                yield table, values

    return write_data_files(rows(), warehouse), sums


def land_task(task: Task, landing: str) -> Iterator[Row]:
    """Rows of ``log_lines``, ``quarantine``, ``events`` and ``landed_files`` of the task's files."""
    system, root = open_landing(landing)
    known = list(task.known)
    for file in longest_first(task.files, system, root):
        yield from land_file(task, file, known, system, f"{root}/{file.path}")


def longest_first(files: tuple[LogFile, ...], system: fs.FileSystem, root: str) -> list[LogFile]:
    """Files that begin alike, the longest after decompression first."""
    if len(files) == 1:
        return list(files)
    return sorted(files, key=lambda file: (-length_of(system, f"{root}/{file.path}", file.size), file.path))


def length_of(system: fs.FileSystem, path: str, size: int) -> int:
    """How many bytes can be read of a file."""
    blocks = Blocks(system, path, size)
    return sum(block.length for block in blocks) + blocks.waiting


def land_file(task: Task, file: LogFile, known: list[Known], system: fs.FileSystem, path: str) -> Iterator[Row]:
    """The rows of one file; ``known`` is brought up to date."""
    if file.below:
        yield from land_snapshot(task, file, known, system, path)
        return
    before, blocks, older = recognised(file, known, system, path)
    place = place_of(task, file.path, before.fingerprint if before else new_fingerprint(task.head, len(known)))
    misread = before is not None and before.misread(task.dialect)
    evidence = evidence_of(task, place, None if misread else before, complete=file.complete)
    if before and misread:  # its lines were counted, as ignored ones, and are read again
        blocks, evidence.counts.total = Blocks(system, path, file.size), -before.lines_landed
    if older is None:
        yield from tail_rows(evidence, blocks, file)
    if blocks.missing:  # moved since it was listed: the next landing finds it under its new name
        return
    after = older or known_after(evidence, blocks)
    if older:
        status = "older_copy" if blocks.position < older.bytes_landed else "seen_before"
    elif before:
        known.remove(before)
        status = "grown" if evidence.counts.total or evidence.counts.event or misread else "seen_before"
    else:
        status = "landed"
    if not older:
        known.append(after)
    yield LANDED.name, landed_values(task, file, evidence, blocks, after, status)
    if isinstance(evidence, Enveloped):
        for part in evidence.parts():
            own = replace(after, lines_landed=0, envelope_state=None)
            yield LANDED.name, landed_values(replace(task, source_node=part.source_node), file, part, blocks, own, PART)


def reading_on(before: Known | None, dialect: str | None) -> str | None:
    """The name of the dialect in which a file is read on: no file changes its system."""
    if before is None or before.tick_bucket is None or before.read_as is None:
        return dialect
    return dialect if (dialect or "").partition(" ")[0] == before.read_as.partition(" ")[0] else before.read_as


def evidence_of(task: Task, place: Place, before: Known | None, *, complete: bool) -> Evidence | Enveloped:
    """What reads a file's lines: in the envelopes that it was read with ``before``, if it had a dated line then."""
    dialect, progress = named(reading_on(before, task.dialect)), before.progress() if before else Progress()
    told, state = task.envelope, None
    if before and (before.envelope is not None or before.last_line_no is not None):
        told, state = before.envelope, before.envelope_state
    if told is None or task.config is None:
        return Evidence(place, dialect, progress, task.pseudonyms)
    return Enveloped(
        place,
        chain_told(told),
        dialect,
        progress,
        task.config,
        state=state,
        complete=complete,
        pseudonyms=task.pseudonyms,
    )


def land_snapshot(task: Task, file: LogFile, known: list[Known], system: fs.FileSystem, path: str) -> Iterator[Row]:
    """The rows of one metadata snapshot: read as a whole, once; a file of no interest is not even opened.

    The same file with other content is another snapshot of the same time.
    """
    blocks = Blocks(system, path, file.size)
    data = blocks.peek(LARGEST_FILE + 1) if is_known(task.stream) else b""
    if blocks.missing:
        return
    content_hash = sha256(data).hexdigest()
    task = replace(task, file_time=snapshot_time(task.stream))
    evidence = Evidence(place_of(task, file.path, content_hash[:32]), None, Progress(), task.pseudonyms)
    seen = any(one.content_hash == content_hash for one in known)
    if not seen:
        yield from evidence.take_snapshot(data, blocks.problem)
    after = Known(evidence.place.fingerprint, len(data), content_hash, evidence.counts.total, None, None, None)
    known.append(after)
    yield LANDED.name, landed_values(task, file, evidence, blocks, after, "seen_before" if seen else "landed")


def recognised(
    file: LogFile, known: list[Known], system: fs.FileSystem, path: str
) -> tuple[Known | None, Blocks, Known | None]:
    """Which known file this one goes on from, its blocks from there on, and of which it is only an older copy."""
    older = None
    root = path.removesuffix(file.path)
    for one in sorted(known, key=lambda one: -one.bytes_landed):
        blocks = Blocks(system, path, file.size)
        if not blocks.skip(one.bytes_landed):
            older = older or ((one, blocks) if is_beginning(blocks, system, f"{root}{one.path}") else None)
        elif blocks.digest == one.content_hash:
            return one, blocks, None
    if older:
        return older[0], older[1], older[0]
    return None, Blocks(system, path, file.size), None


def is_beginning(shorter: Blocks, system: fs.FileSystem, path: str) -> bool:
    """Whether a file that was read to its end is the beginning of the longer one at ``path``.

    Files that begin alike may go on differently. Where the longer one is gone nothing contradicts that it is.
    """
    longer = Blocks(system, path, shorter.position)
    return not longer.skip(shorter.position) or longer.digest == shorter.digest


def new_fingerprint(head: str, namesakes: int) -> str:
    """The identity of a new file: its head, and its number among files that begin alike."""
    return digest(f"{head}|{namesakes}".encode()) if namesakes else head


def place_of(task: Task, path: str, fingerprint: str) -> Place:
    """Where the lines of a file stand."""
    return Place(
        cluster=task.cluster,
        source_node=task.source_node,
        stream=task.stream,
        fingerprint=fingerprint,
        path=path,
        batch=task.batch,
        file_time=task.file_time,
        clock_bound_ms=task.clock_bound_ms,
        utc_offset_minutes=task.utc_offset_minutes,
        time_zone=task.time_zone,
    )


def tail_rows(evidence: Evidence | Enveloped, blocks: Blocks, file: LogFile) -> Iterator[Row]:
    """The rows of all that follows what is landed already."""
    for block in blocks:
        yield from evidence.take(block)
    if blocks.rest and file.complete and not blocks.problem:
        yield from evidence.take(blocks.take_rest())
    yield from evidence.finish()
    if blocks.problem:
        yield evidence.broken_off(blocks.problem, blocks.rest, blocks.waiting)


def known_after(evidence: Evidence | Enveloped, blocks: Blocks) -> Known:
    """How far the file is landed now."""
    at = evidence.progress
    return Known(
        fingerprint=evidence.place.fingerprint,
        bytes_landed=blocks.position,
        content_hash=blocks.digest,
        lines_landed=at.lines,
        tick_bucket=at.tick_bucket,
        last_line_no=at.last_line_no,
        last_line=at.last_line,
        zone_state=at.zone_state,
        flood=at.flood,
        path=evidence.place.path,
        read_as=evidence.dialect.name if evidence.dialect else None,
        envelope=evidence.envelope,
        envelope_state=evidence.state,
    )


def landed_values(
    task: Task, file: LogFile, evidence: Evidence | Enveloped | Part, blocks: Blocks, after: Known, status: str
) -> tuple[Any, ...]:
    """The row of ``landed_files``."""
    counts = evidence.counts
    values = {
        **{field.name: getattr(after, field.name) for field in fields(Known)},
        "batch": task.batch,
        "cluster": task.cluster,
        "source_node": task.source_node,
        "stream": task.stream,
        "path": file.path,
        "head": task.head,
        "status": status,
        "file_bytes": file.size,
        "modified_at": file.modified,
        "file_time": task.file_time,
        "lines_total": counts.total,
        "lines_event": counts.event,
        "lines_ignored": counts.ignored,
        "lines_quarantined": counts.quarantined,
        "bytes_waiting": 0 if blocks.problem else blocks.waiting + evidence.waiting,
        "last_line_time": evidence.last_line_time,
        "problem": blocks.problem or evidence.problem or evidence.misunderstood,
        "hashed": task.pseudonyms.mark if task.pseudonyms else None,
    }
    return tuple(values[name] for name in LANDED.names)
