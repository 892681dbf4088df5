"""One file of the landing zone into rows: what runs on an executor.

A file is known by the fingerprint of its beginning inside its cluster, node and stream, not by its name. What was
landed of it is kept as a length and a hash, so that a grown file lands only its tail, and the same file met again
under another name, or compressed, lands nothing. Where several files share a beginning, the longest is landed first;
one that goes on differently is a file of its own.

A last line without a line end may be half of a line, and half a line may read like a whole one: ``term: 1`` of
``term: 12``. In a rolled or compressed file it is complete. In a live file it waits, uncounted, for the next landing;
if the file has not changed by then, it is taken as it is.
"""

import gc
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any

from election_replay.election_core.dialects import named
from election_replay.election_core.dialects.rocketmq.metadata import LARGEST_FILE, is_known, snapshot_time
from election_replay.election_core.envelopes import chain_in
from election_replay.jobs.landing.blocks import Blocks, Mark
from election_replay.jobs.landing.enveloped import Enveloped, Part, head_in_envelopes, says_nothing
from election_replay.jobs.landing.evidence import HEAD_BYTES, Counts, Evidence, Place, Progress, Row, digest, head_of
from election_replay.jobs.landing.landing_zone import LandingZone, open_landing
from election_replay.jobs.landing.lines import Seen
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.pseudonyms import Pseudonyms
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.data_files import DataFile, write_data_files
from election_replay.schemas import TABLES

LANDED = TABLES["landed_files"]
LANDED_STATES = ("landed", "grown")
"""The kinds of rows in ``landed_files`` that say how far a file is landed."""

MOST_MARKS = 512
"""Marks that are kept in mind of a file with many landings."""

NOT_READ = "not_read"
"""The kind of those that say that nothing could be read this time."""

AHEAD_BYTES = 64 << 20
"""A file of such a size is worth a thread that reads ahead: of smaller ones there are enough for all cores."""

HANDED_OVER = 0.0005
"""After so many seconds a thread gives Python's lock to another."""

COLLECTED = 100_000
"""So many new objects are looked through for garbage at once."""

PART = "part"
"""The kind of those that tell of a node whose lines stand in a shared file."""

SUMMED = {
    name: LANDED.names.index(name)
    for name in ("lines_total", "lines_event", "lines_ignored", "lines_quarantined", "lines_repeated")
}
"""The columns of ``landed_files`` that a landing sums up, and their places."""

PATH, PROBLEM, UNREAD = (LANDED.names.index(name) for name in ("path", "problem", "unread"))


@dataclass(frozen=True, slots=True)
class Known:
    """How far a file is landed, and where it was last seen; the fields are columns of ``landed_files``.

    ``marks`` are those of all its landings. ``file_time`` counts where ``lines_shared`` says that it went on from the
    middle of another file.
    """

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
    marks: str | None = None
    lines_shared: int | None = None
    file_time: int | None = None
    read_as: str | None = None
    envelope: str | None = None
    envelope_state: str | None = None

    def misread(self, dialect: str | None) -> bool:
        """Whether no line was understood, as the file was read then, and ``dialect`` is another reading."""
        nothing = self.tick_bucket is None if self.envelope is None else says_nothing(self.envelope_state)
        return nothing and self.lines_landed > 0 and self.read_as != dialect

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
    anything, and then ``config`` holds the settings of the nodes that may be named there. ``problem`` says why their
    beginnings could not be read: what they are is not known then, and nothing of them is landed.
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
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Landed:
    """What came of some tasks: data files, the sums of :data:`SUMMED`, and which files could not be read, and why."""

    data_files: list[DataFile]
    sums: Counter[str]
    unread: list[tuple[str, str]]


def land_tasks(tasks: Sequence[Task], landing: str, warehouse: str) -> Landed:
    """Land the tasks of one batch into data files below ``warehouse``."""
    sums: Counter[str] = Counter()
    unread: list[tuple[str, str]] = []

    def rows() -> Iterator[Row]:
        for task in tasks:
            for table, values in land_task(task, landing):
                if table == LANDED.name:
                    sums.update({name: values[at] for name, at in SUMMED.items()})
                    if values[UNREAD]:
                        unread.append((values[PATH], values[PROBLEM]))
                yield table, values

    with seldom_collected():
        return Landed(write_data_files(rows(), warehouse), sums, unread)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look for garbage in circles seldom: rows hold none, and thousands of them wait to be written."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def land_task(task: Task, landing: str) -> Iterator[Row]:
    """Rows of ``log_lines``, ``quarantine``, ``events`` and ``landed_files`` of the task's files."""
    zone = open_landing(landing)
    known = list(task.known)
    if task.problem:
        for file in task.files:
            yield not_read(task, file, task.problem)
        return
    for file in longest_first(task.files, zone):
        yield from land_file(task, file, known, zone)


def longest_first(files: tuple[LogFile, ...], zone: LandingZone) -> list[LogFile]:
    """Files that begin alike, the longest after decompression first."""
    if len(files) == 1:
        return list(files)
    return sorted(files, key=lambda file: (-length_of(zone, file), file.path))


def blocks_of(file: LogFile, zone: LandingZone) -> Blocks:
    """The blocks of a file from its beginning; it is missing where another one is in its place by now."""
    return Blocks(zone, file.path, file.size, file.beginning)


def length_of(zone: LandingZone, file: LogFile) -> int:
    """How many bytes can be read of a file."""
    blocks = blocks_of(file, zone)
    return sum(block.length for block in blocks) + blocks.waiting


def land_file(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Iterator[Row]:
    """The rows of one file; ``known`` is brought up to date."""
    if file.below:
        yield from land_snapshot(task, file, known, zone)
        return
    try:
        begin = begun_at(task, file, known, zone)
    except NotReadError as error:
        yield not_read(task, file, str(error))
        return
    yield from land_log(task, file, known, begin)


@dataclass(frozen=True, slots=True)
class Begin:
    """Where a landing begins to read a file: ``blocks`` are what comes then.

    ``before`` is the known file that it goes on from, ``anew`` that file before any line of it was landed, where all of
    them are read again. It is only a copy of ``older``, or has nothing new, and nothing is read then.
    """

    blocks: Blocks
    before: Known | None = None
    older: Known | None = None
    anew: Known | None = None


def land_log(task: Task, file: LogFile, known: list[Known], begin: Begin) -> Iterator[Row]:
    """The rows of all lines from ``begin`` on."""
    before, blocks, since = begin.before, begin.blocks, begin.anew or begin.before
    if before and before.lines_shared is not None:
        task = replace(task, file_time=before.file_time if before in known else time_of_next_line(task, blocks))
    place = place_of(task, file.path, before.fingerprint if before else new_fingerprint(task.head, len(known)))
    evidence, start = evidence_of(task, place, since, complete=file.complete), blocks.position
    if before and begin.anew:  # its lines were counted already, as ignored ones
        evidence.counts.total = begin.anew.lines_landed - before.lines_landed
    if begin.older is None:
        if isinstance(evidence, Evidence):
            evidence.passed(blocks.passed)
        yield from tail_rows(evidence, blocks, file)
    if blocks.missing:  # moved since it was listed: the next landing finds it under its new name
        return
    if blocks.unread and blocks.position == start:
        yield not_read(task, file, blocks.problem)
        return
    status = status_of(begin, evidence, known)
    if begin.older:
        after = replace(begin.older, marks=None)
    else:
        after = known_after(evidence, blocks, since)
        known[:] = [*(former for former in known if former != before), joined(before, after)]
    yield LANDED.name, landed_values(task, file, evidence, blocks, after, status)
    if isinstance(evidence, Enveloped):
        for part in evidence.parts():
            of_this_landing = replace(after, lines_landed=0, envelope_state=None, marks=None, lines_shared=None)
            yield (
                LANDED.name,
                landed_values(replace(task, source_node=part.source_node), file, part, blocks, of_this_landing, PART),
            )


def status_of(begin: Begin, evidence: Evidence | Enveloped, known: Sequence[Known]) -> str:
    """What became of a file, before ``known`` is brought up to date."""
    if begin.older:
        return "older_copy" if begin.blocks.position < begin.older.bytes_landed else "seen_before"
    if begin.before not in known:
        return "landed"
    return "grown" if evidence.counts.total or evidence.counts.event or begin.anew else "seen_before"


def begun_at(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Begin:
    """Where reading a file begins. Raises :class:`NotReadError`."""
    before, blocks, older = recognised(task, file, known, zone)
    anew = read_anew(task, before) if before in known and older is None else None
    if anew:
        blocks = blocks_of(file, zone)
        skipped(blocks, anew.bytes_landed)
    return Begin(blocks, before, older, anew)


def read_anew(task: Task, before: Known | None) -> Known | None:
    """A known file as it was before any line of it was landed, if none was understood and it is read otherwise now.

    That is its beginning, or where it parted from another file.
    """
    if before is None or not before.misread(task.dialect):
        return None
    shared = before.lines_shared or 0
    begin = next((mark for mark in marks_of(before) if mark.lines == shared), NOTHING)
    if begin.lines != shared:  # the place is not remembered any more
        return None
    return replace(begun(before, begin, "", before.fingerprint), lines_shared=before.lines_shared)


def reading_on(before: Known | None, dialect: str | None) -> str | None:
    """The name of the dialect in which a file is read on: no file changes its system."""
    if before is None or before.tick_bucket is None or before.read_as is None:
        return dialect
    return dialect if (dialect or "").partition(" ")[0] == before.read_as.partition(" ")[0] else before.read_as


def evidence_of(task: Task, place: Place, before: Known | None, *, complete: bool) -> Evidence | Enveloped:
    """What reads a file's lines: in the envelopes that it was read with ``before``, if it had a dated line then."""
    dialect, progress = named(reading_on(before, task.dialect)), before.progress() if before else Progress()
    envelope, state = task.envelope, None
    if before and (before.envelope is not None or before.last_line_no is not None):
        envelope, state = before.envelope, before.envelope_state
    if envelope is None or task.config is None:
        return Evidence(place, dialect, progress, task.pseudonyms)
    return Enveloped(
        place,
        chain_in(envelope),
        dialect,
        progress,
        task.config,
        state=state,
        complete=complete,
        pseudonyms=task.pseudonyms,
    )


def land_snapshot(task: Task, file: LogFile, known: list[Known], zone: LandingZone) -> Iterator[Row]:
    """The rows of one metadata snapshot: read as a whole, once; a file of no interest is not even opened.

    The same file with other content is another snapshot of the same time.
    """
    blocks = blocks_of(file, zone)
    data = blocks.peek(LARGEST_FILE + 1) if is_known(task.stream) else b""
    if blocks.missing:
        return
    if blocks.unread:
        yield not_read(task, file, blocks.problem)
        return
    content_hash = sha256(data).hexdigest()
    task = replace(task, file_time=snapshot_time(task.stream))
    evidence = Evidence(place_of(task, file.path, content_hash[:32]), None, Progress(), task.pseudonyms)
    seen = any(former.content_hash == content_hash for former in known)
    if not seen:
        yield from evidence.take_snapshot(data, blocks.problem)
    after = Known(evidence.place.fingerprint, len(data), content_hash, evidence.counts.total, None, None, None)
    known.append(after)
    yield LANDED.name, landed_values(task, file, evidence, blocks, after, "seen_before" if seen else "landed")


class NotReadError(Exception):
    """What is landed of a file cannot be told, because that part of it, or of its copy, could not be read."""


def recognised(
    task: Task, file: LogFile, known: list[Known], zone: LandingZone
) -> tuple[Known | None, Blocks, Known | None]:
    """Which known file this one goes on from, its blocks from there on, and of which it is only an older copy.

    A file may have gone back to a beginning of itself and go on differently, as on a machine that was restored: it goes
    on from there, as a file of its own. Raises :class:`NotReadError`.
    """
    older = None
    parted: list[tuple[Mark, Known]] = []
    for candidate in sorted(known, key=lambda candidate: -candidate.bytes_landed):
        blocks = blocks_of(file, zone)
        shorter = not skipped(blocks, candidate.bytes_landed)
        if blocks.missing:
            return None, blocks, None
        if not shorter and blocks.digest == candidate.content_hash:
            return candidate, blocks, None
        if older is None:
            shared = shared_with(candidate, file, blocks, zone, shorter=shorter)
            older = (candidate, blocks) if shorter and shared.position == blocks.position else None
            parted.append((shared, candidate))
    if older:
        return older[0], older[1], older[0]
    blocks = blocks_of(file, zone)
    shared, parent = max(parted, key=lambda found: found[0].position, default=(NOTHING, None))
    if parent is None or not shared.position or not skipped(blocks, shared.position):
        return None, blocks, None
    return begun(parent, shared, blocks.digest, new_fingerprint(task.head, len(known))), blocks, None


def begun(parent: Known, shared: Mark, content_hash: str, fingerprint: str) -> Known:
    """A file that goes on differently from the middle of another, before it does."""
    marks = as_text(mark for mark in marks_of(parent) if mark.position <= shared.position)
    return Known(
        fingerprint=fingerprint,
        bytes_landed=shared.position,
        content_hash=content_hash,
        lines_landed=shared.lines,
        tick_bucket=None,
        last_line_no=None,
        last_line=None,
        marks=marks,
        lines_shared=shared.lines,
    )


NOTHING = Mark(0, 0, "")


def shared_with(candidate: Known, file: LogFile, blocks: Blocks, zone: LandingZone, *, shorter: bool) -> Mark:
    """How far a file is known to begin as a known one does, which it does not hold whole; ``blocks`` were passed over.

    Files that begin alike may go on differently. One that is ``shorter`` is compared with the known one where that is
    there under another name. Otherwise, and where a file is no longer what it was, the marks decide: lines after the
    last one that fits are taken for new, so that none is lost. Where no mark was made nothing contradicts that a
    shorter file is the other's beginning.
    """
    whole = Mark(blocks.position, 0, "")
    if candidate.path != file.path:
        other = Blocks(zone, candidate.path, blocks.position)
        if not shorter or skipped(other, blocks.position):
            return whole if shorter and other.digest == blocks.digest else NOTHING
    if shorter and not candidate.marks:
        return whole
    again, shared = blocks_of(file, zone), NOTHING
    for mark in marks_of(candidate):
        if mark.position > blocks.position or not skipped(again, mark.position):
            break
        if not again.digest.startswith(mark.digest):
            break
        shared = mark
    return shared


def marks_of(known: Known) -> list[Mark]:
    """The marks of a file, in their order."""
    parts = (printed.split(":") for printed in (known.marks or "").split())
    return sorted({Mark(int(at), int(lines), begin) for at, lines, begin in parts}, key=lambda mark: mark.position)


def as_text(marks: Iterable[Mark]) -> str:
    """Marks as they are stored."""
    return " ".join(f"{mark.position}:{mark.lines}:{mark.digest}" for mark in marks)


def joined(before: Known | None, after: Known) -> Known:
    """What is known of a file after one more landing: its marks are those of all."""
    if before is None or before.fingerprint != after.fingerprint or not before.marks:
        return after
    marks = [*marks_of(before), *marks_of(after)]
    return replace(after, marks=as_text(marks if len(marks) <= MOST_MARKS else marks[1::2]))


def time_of_next_line(task: Task, blocks: Blocks) -> int | None:
    """When the next dated line was written, microseconds UTC; if none is in sight, the first one of the file."""
    data, dialect = blocks.peek(HEAD_BYTES), named(task.dialect)
    if task.envelope and task.config:
        chain = chain_in(task.envelope)
        found = head_in_envelopes(data, chain, dialect, task.config, task.cluster, task.source_node)
    else:
        zone = task.utc_offset_minutes if task.time_zone is None else task.time_zone
        found = head_of(data, dialect, zone)
    return task.file_time if found.file_time is None else found.file_time


def skipped(blocks: Blocks, length: int) -> bool:
    """Pass over ``length`` bytes; false if there are fewer. Raises :class:`NotReadError`."""
    if blocks.skip(length):
        return True
    if blocks.unread:
        raise NotReadError(blocks.problem)
    return False


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
    seen = map(evidence.seen, blocks)
    for of_block in ahead(seen) if file.size >= AHEAD_BYTES else seen:
        yield from evidence.take(of_block)
    if blocks.rest and file.complete and not blocks.problem:
        yield from evidence.take(evidence.seen(blocks.take_rest()))
    yield from evidence.finish()
    if blocks.problem and not blocks.unread:
        yield evidence.broken_off(blocks.problem, blocks.rest, blocks.waiting)


def ahead(seen: Iterator[Seen]) -> Iterator[Seen]:
    """Blocks, each read and looked through by another thread while rows are made of the one before.

    What that thread calls does without Python's lock but for moments, which it should not have to wait for.
    """
    interval = sys.getswitchinterval()
    sys.setswitchinterval(HANDED_OVER)
    try:
        with ThreadPoolExecutor(1) as thread:
            coming = thread.submit(next, seen, None)
            while (of_block := coming.result()) is not None:
                coming = thread.submit(next, seen, None)
                yield of_block
    finally:
        sys.setswitchinterval(interval)


def known_after(evidence: Evidence | Enveloped, blocks: Blocks, before: Known | None) -> Known:
    """How far the file is landed now; its marks are those of this landing, and those that it shares."""
    at = evidence.progress
    since = before.lines_landed if before else 0
    marks = [replace(mark, lines=since + mark.lines) for mark in blocks.marks.all()]
    shared = before.lines_shared if before else None
    if before and shared == before.lines_landed:
        marks = [*marks_of(before), *marks]
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
        marks=as_text(marks) or None,
        lines_shared=shared,
        file_time=evidence.place.file_time,
        read_as=evidence.dialect.name if evidence.dialect else None,
        envelope=evidence.envelope,
        envelope_state=evidence.state,
    )


def landed_values(
    task: Task, file: LogFile, evidence: Evidence | Enveloped | Part, blocks: Blocks, after: Known, status: str
) -> tuple[Any, ...]:
    """The row of ``landed_files``."""
    return row_of(
        task,
        file,
        evidence.counts,
        after,
        status=status,
        bytes_waiting=0 if blocks.problem else blocks.waiting + evidence.waiting,
        last_line_time=evidence.last_line_time,
        problem=blocks.problem or evidence.problem or evidence.misunderstood,
        unread=blocks.unread and status != PART,
    )


def not_read(task: Task, file: LogFile, problem: str | None) -> Row:
    """The row of a file of which nothing could be read this time."""
    nothing = Known("", 0, "", 0, None, None, None, path=file.path)
    rest = {"status": NOT_READ, "bytes_waiting": 0, "last_line_time": None, "problem": problem, "unread": True}
    return LANDED.name, row_of(task, file, Counts(), nothing, **rest)


def row_of(task: Task, file: LogFile, counts: Counts, after: Known, **rest: Any) -> tuple[Any, ...]:
    """A row of ``landed_files``."""
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
        **rest,
    }
    return tuple(values[name] for name in LANDED.names)
