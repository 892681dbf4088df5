"""Turn the files of the landing zone into rows; this code runs on an executor.

A file is known by the fingerprint of its beginning inside its cluster, node and stream, not by its name; see
:mod:`jobs.landing.known_files`. Where several files share a beginning, the longest is landed first; a file that goes on
differently is a file of its own.

A last line without a line end may be half of a line, and half a line may read like a whole one: ``term: 1`` of
``term: 12``. In a compressed file the last line is complete. Otherwise it waits, uncounted, for the next landing, which
takes it as it is if the file has not changed by then. A rolled file waits too: it may be a copy under way.
"""

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cache
from hashlib import sha256
from itertools import chain
from typing import Any

from election_replay.election_core.dialects import named
from election_replay.election_core.dialects.rocketmq.metadata import LARGEST_FILE, is_known, snapshot_time
from election_replay.election_core.envelopes import chain_in
from election_replay.jobs.landing.as_written import GREW, AsWritten, Disorder, as_written, disorder_of, export_of
from election_replay.jobs.landing.blocks import Block, Blocks, ReadSoFar
from election_replay.jobs.landing.enveloped import Enveloped, Part, head_in_envelopes
from election_replay.jobs.landing.event_lines import Place, in_batches
from election_replay.jobs.landing.evidence import HEAD_BYTES, Counts, Evidence, Found, Progress, head_of
from election_replay.jobs.landing.heads import head_found, zone_fields, zone_of
from election_replay.jobs.landing.in_place import in_place
from election_replay.jobs.landing.known_files import (
    NOTHING,
    Known,
    NotReadError,
    as_text,
    begun,
    blocks_of,
    joined,
    marks_of,
    new_fingerprint,
    recognised,
    skipped,
)
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.listing import LogFile, Writer
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.landing.recognising import looked_at
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import DataFile, Row, Rows, write_data_files
from election_replay.schemas import TABLES
from election_replay.schemas.landed_files import NOT_READ, OLDER, PART

LANDED = TABLES["landed_files"]

LARGE_BYTES = 64 << 20
"""From this size on a thread reads blocks ahead; of smaller files there are enough to keep all cores busy."""

HELD_MEMORY = {-3: 32 << 20, -1: 128 << 20}
"""Settings of glibc's ``mallopt``: blocks up to 32 MiB come from the heap (``M_MMAP_THRESHOLD``), and up to 128 MiB of
free memory at its end stay with the process (``M_TRIM_THRESHOLD``)."""

SUMMED = {
    name: LANDED.names.index(name)
    for name in ("lines_total", "lines_event", "lines_ignored", "lines_quarantined", "lines_repeated")
}
"""The columns of ``landed_files`` that a landing sums up, each with its index in a row."""

PATH, PROBLEM, UNREAD = (LANDED.names.index(name) for name in ("path", "problem", "unread"))


@dataclass(frozen=True, slots=True)
class Task:
    """Files that begin alike, with all that is known of files with this beginning. ``file_time`` is in us UTC.

    ``dialect`` names the dialect of the files, None if they have none. ``envelope`` names the envelopes around their
    lines, None if there are none; ``config`` holds the settings of the nodes that envelopes may name. ``problem`` says
    why the beginnings could not be read: nothing of the files is landed then. ``beside``: another node has a file of
    their name.
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
    config: Config = field(default_factory=Config)
    problem: str | None = None
    beside: bool = False

    @property
    def enveloped(self) -> bool:
        """True when lines of the files come in envelopes, or came in some."""
        return self.envelope is not None or any(known.envelope for known in self.known)


@dataclass(frozen=True, slots=True)
class Landed:
    """The result of some tasks: data files, the sums of :data:`SUMMED`, and (path, problem) of each unread file."""

    data_files: list[DataFile]
    sums: Counter[str]
    unread: list[tuple[str, str]]


def land_tasks(tasks: Sequence[Task], landing: str, warehouse: str) -> Landed:
    """Land the tasks into data files below ``warehouse`` and return what was written."""
    return written(chain.from_iterable(land_task(task, landing) for task in tasks), warehouse)


def written(rows: Iterable[Found], warehouse: str) -> Landed:
    """Write the rows into data files below ``warehouse`` and return these, with the sums over ``landed_files``."""
    sums: Counter[str] = Counter()
    unread: list[tuple[str, str]] = []

    def found() -> Iterator[Row | Rows]:
        for table, values in in_batches(rows):
            if table == LANDED.name:
                sums.update({name: values[at] for name, at in SUMMED.items()})
                if values[UNREAD]:
                    unread.append((values[PATH], values[PROBLEM]))
            yield table, values

    hold_memory()
    return Landed(write_data_files(found(), warehouse), sums, unread)


@cache
def hold_memory() -> None:
    """Make glibc keep freed memory, once a process: a tenth of all CPU went into new pages for each block of lines.

    Other C libraries do not give so much memory back at once, and do not know this setting.
    """
    with suppress(AttributeError, OSError, TypeError):
        for setting, size in HELD_MEMORY.items():
            ctypes.CDLL(None).mallopt(setting, size)


def land_task(task: Task, landing: str) -> Iterator[Found]:
    """Yield the rows of ``quarantine`` and ``landed_files`` of the task's files, and the lines that are kept."""
    zone = open_landing(landing)
    known = list(task.known)
    if task.problem:
        for file in task.files:
            yield not_read(task, file, task.problem)
        return
    for file in longest_first(task.files, zone):
        rows = land_file(task, file, known, zone)
        yield from rows if file.of_table is None else in_place(rows, file.of_table, zone)


def longest_first(files: tuple[LogFile, ...], zone: LandingZone) -> list[LogFile]:
    """Return the files in descending order of their length after decompression, then by path."""
    if len(files) == 1:
        return list(files)
    return sorted(files, key=lambda file: (-blocks_of(file, zone).length(), file.path))


def land_file(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Iterator[Found]:
    """Yield the rows of one file and bring ``known`` up to date with it."""
    if file.below:
        yield from land_snapshot(task, file, known, zone)
        return
    try:
        begin = begun_at(task, file, known, zone)
        if (disorder := disorder_in(begin, task, file, zone)) and (written := as_written(begin.blocks, disorder)):
            task, begin = with_head_of(task, file, written), replace(begin, written=written)
    except NotReadError as error:
        yield not_read(task, file, str(error))
        return
    if begin.continued and begin.continued.put_right and begin.blocks.peek(1):
        yield not_read(task, file, GREW)
        return
    yield from land_log(task, file, known, begin)


def disorder_in(begin: "Begin", task: Task, file: LogFile, zone: LandingZone) -> Disorder | None:
    """Return what is wrong with the order or the writers of the lines of a new file; None if nothing seems to be."""
    if begin.older or begin.continued:
        return None
    dialect = named(task.dialect)
    if export := export_of(begin.blocks, file, zone, dialect, task.config, beside=task.beside):
        return export
    return disorder_of(begin.blocks, file, zone, dialect, task.envelope, beside=task.beside)


def with_head_of(task: Task, file: LogFile, written: AsWritten) -> Task:
    """Return a task for lines that were put right, with what their beginning shows."""
    beginning = next(written.blocks(looked_at(file.stream)), Block(b"", 0)).data
    found = head_found(file, beginning, task.config)
    zone = zone_of(file, named(found.dialect), task.config)
    envelope = found.envelope if written.enveloped or not written.writers else None
    dialect = found.dialect or task.dialect
    return replace(task, file_time=found.file_time, dialect=dialect, envelope=envelope, **zone_fields(zone))


@dataclass(frozen=True, slots=True)
class Begin:
    """The place from which a landing reads a file; ``blocks`` are the blocks from there on.

    ``before`` is the known file that this file continues, or the part that it shares with one; None for a new file.
    ``reread`` is set when the lines of ``before`` are read again: it is ``before`` as it was without them. ``older`` is
    set when this file holds nothing beyond that known file: nothing is read then. ``written`` are the lines from there
    on as they were written, where they do not stand so.
    """

    blocks: Blocks
    before: Known | None = None
    older: Known | None = None
    reread: Known | None = None
    written: AsWritten | None = None

    @property
    def continued(self) -> Known | None:
        """The known file whose next lines are read; None where a file is read from its beginning, or not at all."""
        return self.before if self.reread is None and self.older is None else None


def land_log(task: Task, file: LogFile, known: list[Known], begin: Begin) -> Iterator[Found]:
    """Yield the rows of all lines from ``begin`` on, then those of ``landed_files``; bring ``known`` up to date.

    Nothing is yielded for ``landed_files`` when the file was moved after it was listed.
    """
    before, blocks, since = begin.before, begin.blocks, begin.reread or begin.before
    if before and before.lines_shared is not None:
        task = replace(task, file_time=before.file_time if before in known else time_of_next_line(task, blocks))
    place = place_of(task, file.path, before.fingerprint if before else new_fingerprint(task.head, len(known)))
    writers = begin.written.writers if begin.written else ()
    evidence, start = evidence_of(task, place, since, file, writers), blocks.position
    if before and begin.reread:  # the lines read again were counted by an earlier landing, as ignored ones
        evidence.counts.total = begin.reread.lines_landed - before.lines_landed
    if begin.older is None:
        if isinstance(evidence, Evidence):
            passed = blocks.passed
            evidence.passed(lambda: passed)
        yield from tail_rows(evidence, blocks, file, begin.written, read_ahead=file.size >= LARGE_BYTES)
    if blocks.missing:  # moved since it was listed: the next landing finds it under its new name
        return
    if blocks.unread and blocks.position == start:
        yield not_read(task, file, blocks.problem)
        return
    status, read = status_of(begin, evidence, known), blocks.so_far
    if begin.older:
        after = replace(begin.older, marks=None)
    else:
        after = known_after(evidence, read, since, begin.written)
        known[:] = [*(former for former in known if former != before), joined(before, after)]
    yield LANDED.name, landed_values(task, file, evidence, read, after, status)
    if isinstance(evidence, Enveloped):
        for part in evidence.parts():
            of_this_landing = replace(after, lines_landed=0, envelope_state=None, marks=None, lines_shared=None)
            yield (
                LANDED.name,
                landed_values(replace(task, source_node=part.source_node), file, part, read, of_this_landing, PART),
            )


def status_of(begin: Begin, evidence: Evidence | Enveloped, known: Sequence[Known]) -> str:
    """Return the status of a file for ``landed_files``; ``known`` must not be brought up to date yet."""
    if begin.older:
        return OLDER if begin.blocks.position < begin.older.bytes_landed else "seen_before"
    if begin.before not in known:
        return "landed"
    return "grown" if evidence.counts.total or evidence.counts.event or begin.reread else "seen_before"


def begun_at(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Begin:
    """Return where to begin to read a file.

    Raises :class:`NotReadError` when the part that was landed earlier cannot be read.
    """
    before, blocks, older = recognised(task.head, file, known, zone)
    reread = read_anew(task, before) if before in known and older is None else None
    if reread:
        blocks = blocks_of(file, zone)
        skipped(blocks, reread.bytes_landed)
    return Begin(blocks, before, older, reread)


def read_anew(task: Task, before: Known | None) -> Known | None:
    """Return a known file as it was before its lines were landed; None unless it must be read again from there.

    It must when none of its lines was understood and the task names another dialect. The place is the beginning of the
    file, or where it parted from another file; None also when no mark remembers that place.
    """
    if before is None or not before.misread(task.dialect):
        return None
    shared = before.lines_shared or 0
    begin = next((mark for mark in marks_of(before) if mark.lines == shared), NOTHING)
    if begin.lines != shared:
        return None
    return replace(begun(before, begin, "", before.fingerprint), lines_shared=before.lines_shared)


def reading_on(before: Known | None, dialect: str | None) -> str | None:
    """Return the name of the dialect for the rest of a file: ``dialect`` unless it is of another system than before."""
    if before is None or before.tick_bucket is None or before.read_as is None:
        return dialect
    return dialect if (dialect or "").partition(" ")[0] == before.read_as.partition(" ")[0] else before.read_as


def evidence_of(
    task: Task, place: Place, before: Known | None, file: LogFile, writers: Sequence[Writer | None] = ()
) -> Evidence | Enveloped:
    """Return the reader of a file's lines; ``writers`` are those who wrote them, where no line names its own.

    It takes the lines out of the envelopes of the earlier landing if that had any, or read a dated line; otherwise out
    of those of the task.
    """
    dialect, progress = named(reading_on(before, task.dialect)), before.progress() if before else Progress()
    envelope, state = task.envelope, None
    if before and (before.envelope is not None or before.last_line_no is not None):
        envelope, state = before.envelope, before.envelope_state
    if envelope is None and not writers:
        return Evidence(place, dialect, progress, task.pseudonyms)
    return Enveloped(
        place,
        chain_in(envelope) if envelope else (),
        dialect,
        progress,
        task.config,
        state=state,
        complete=file.complete,
        pseudonyms=task.pseudonyms,
        writers=writers,
        nodes=file.nodes,
    )


def land_snapshot(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Iterator[Found]:
    """Yield the rows of one metadata snapshot, which is read as a whole, and only once.

    Its fingerprint is the hash of its content, so that the same file with other content is another snapshot of the same
    time. Of a file of no interest no content is taken; its fingerprint is that of its beginning.
    """
    blocks, of_interest = blocks_of(file, zone), is_known(task.stream)
    data = blocks.peek(LARGEST_FILE + 1) if of_interest else b""
    if blocks.missing:
        return
    if blocks.unread:
        yield not_read(task, file, blocks.problem)
        return
    content_hash = sha256(data).hexdigest()
    task = replace(task, file_time=snapshot_time(task.stream))
    fingerprint = content_hash[:32] if of_interest else task.head
    evidence = Evidence(place_of(task, file.path, fingerprint), None, Progress(), task.pseudonyms)
    seen = any(former.content_hash == content_hash for former in known)
    if not seen:
        yield from evidence.take_snapshot(data, blocks.problem)
    after = Known(evidence.place.fingerprint, len(data), content_hash, evidence.counts.total, None, None, None)
    known.append(after)
    status = "seen_before" if seen else "landed"
    yield LANDED.name, landed_values(task, file, evidence, blocks.so_far, after, status)


def time_of_next_line(task: Task, blocks: Blocks) -> int | None:
    """Return the time of the next dated line in us UTC; ``task.file_time`` if the next bytes hold no dated line."""
    data, dialect = blocks.peek(HEAD_BYTES), named(task.dialect)
    if task.envelope:
        chain = chain_in(task.envelope)
        found = head_in_envelopes(data, chain, dialect, task.config, task.cluster, task.source_node)
    else:
        zone = task.utc_offset_minutes if task.time_zone is None else task.time_zone
        found = head_of(data, dialect, zone)
    return task.file_time if found.file_time is None else found.file_time


def place_of(task: Task, path: str, fingerprint: str) -> Place:
    """Return the place that all lines of a file share, made of the task's fields."""
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


def tail_rows(
    evidence: Evidence | Enveloped,
    blocks: Blocks,
    file: LogFile,
    written: AsWritten | None = None,
    *,
    read_ahead: bool = False,
) -> Iterator[Found]:
    """Yield the rows of all blocks, of a last line without end if it is whole, and of damage that ended the reading.
    ``written`` are the lines of the file as they were written, where they do not stand so: they are read instead."""
    for block in written.blocks() if written else ahead(blocks) if read_ahead else blocks:
        yield from evidence.take(block)
    if last_line_stands(blocks, file):
        yield from evidence.take(blocks.take_rest())
    yield from evidence.finish()
    if blocks.problem and not blocks.unread:
        yield evidence.broken_off(blocks.problem, blocks.rest, blocks.waiting)


def last_line_stands(blocks: Blocks, file: LogFile) -> bool:
    """Return True when there is a last line without end and it is whole; valid once all blocks are read."""
    return bool(blocks.rest) and file.complete and not blocks.problem


def ahead(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the same blocks; a thread reads, unpacks and hashes the next one while the caller works on this one.

    This gains time because reading, unpacking and hashing release Python's global lock.
    """
    coming = iter(blocks)
    with ThreadPoolExecutor(1) as thread:
        block = thread.submit(next, coming, None)
        while (read := block.result()) is not None:
            block = thread.submit(next, coming, None)
            yield read


def known_after(
    evidence: Evidence | Enveloped, read: ReadSoFar, before: Known | None, written: AsWritten | None = None
) -> Known:
    """Return how far the file is landed now, with the marks of this landing; ``written`` as in :class:`Begin`.

    The marks before them are added where ``before`` is the beginning that the file shares with another one.
    """
    at = evidence.progress
    since = before.lines_landed if before else 0
    marks = [replace(mark, lines=since + mark.lines) for mark in read.marks]
    shared, order = before.lines_shared if before else None, written or before
    if before and shared == before.lines_landed:
        marks = [*marks_of(before), *marks]
    return Known(
        fingerprint=evidence.place.fingerprint,
        bytes_landed=read.position,
        content_hash=read.digest,
        lines_landed=at.lines,
        tick_bucket=at.tick_bucket,
        last_line_no=at.last_line_no,
        last_line=at.last_line,
        zone_state=at.zone_state,
        flood=at.flood,
        path=evidence.place.path,
        marks=as_text(marks) or None,
        lines_shared=shared,
        file_time=evidence.place.file_time,
        read_as=evidence.dialect.name if evidence.dialect else None,
        envelope=evidence.envelope,
        envelope_state=evidence.state,
        put_right=order.put_right if order else None,
        order_lost=order.order_lost if order else None,
    )


def landed_values(
    task: Task, file: LogFile, evidence: Evidence | Enveloped | Part, read: ReadSoFar, after: Known, status: str
) -> tuple[Any, ...]:
    """Return the row of ``landed_files`` for what this landing read of a file."""
    return row_of(
        task,
        file,
        evidence.counts,
        after,
        status=status,
        bytes_waiting=0 if read.problem else read.waiting + evidence.waiting,
        last_line_time=evidence.last_line_time,
        problem=read.problem or evidence.misunderstood,
        unread=read.unread and status != PART,
    )


def not_read(task: Task, file: LogFile, problem: str | None) -> Row:
    """Return the row of ``landed_files`` for a file of which nothing could be read this time."""
    nothing = Known("", 0, "", 0, None, None, None, path=file.path)
    rest = {"status": NOT_READ, "bytes_waiting": 0, "last_line_time": None, "problem": problem, "unread": True}
    return LANDED.name, row_of(task, file, Counts(), nothing, **rest)


def row_of(task: Task, file: LogFile, counts: Counts, after: Known, **rest: Any) -> tuple[Any, ...]:
    """Return a row of ``landed_files``; ``rest`` gives the columns that no argument holds, or overrides them."""
    values = {
        **{field.name: getattr(after, field.name) for field in fields(Known)},
        "batch": task.batch,
        "cluster": task.cluster,
        "source_node": task.source_node,
        "stream": task.stream,
        "path": file.path,
        "head": task.head,
        "file_bytes": file.size,
        "modified_at": file.modified,
        "file_time": task.file_time,
        "lines_total": counts.total,
        "lines_event": counts.event,
        "lines_ignored": counts.ignored,
        "lines_quarantined": counts.quarantined,
        "lines_repeated": counts.repeated,
        "hashed": task.pseudonyms.mark if task.pseudonyms else None,
        "table_id": file.of_table.table_id if file.of_table else None,
        "table_version": file.of_table.version if file.of_table else None,
        **rest,
    }
    return tuple(values[name] for name in LANDED.names)
