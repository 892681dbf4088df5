"""Lands large files on many cores: splits of a file are landed beside each other, as if nights had ended between them.

The next landing of a file needs to know little of the lines before it: a :class:`~jobs.landing.evidence.Progress`. For
a split the lines before it are counted, and the rest is guessed: it is what the last lines before it would leave if
nothing stood before them. When all splits are landed, each guess is compared with the state that the split before
reached. If one was wrong, or the file changed meanwhile, no split counts, and the file is landed in one go. So a file
gives the same rows, whether it is cut or not.

The file's hash and its marks are one more task beside the splits.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from election_replay.election_core.dialects import Dialect, named
from election_replay.election_core.envelopes.encodings import LOOKED_AT, as_it_lies
from election_replay.election_core.model.streams import PACKED
from election_replay.jobs.landing.as_written import as_written
from election_replay.jobs.landing.blocks import Block, Blocks, ReadSoFar, bytes_at, codec_of, line_feeds, read_at
from election_replay.jobs.landing.event_lines import Place
from election_replay.jobs.landing.evidence import Evidence, Progress, Reached
from election_replay.jobs.landing.known_files import Known, NotReadError, blocks_of, new_fingerprint
from election_replay.jobs.landing.landing_zone import READ_FAILURES, LandingZone, open_landing
from election_replay.jobs.landing.lines import line_offsets, lines_of, marked
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.one_file import (
    LANDED,
    Landed,
    Task,
    begun_at,
    disorder_in,
    hold_memory,
    known_after,
    landed_values,
    last_line_stands,
    place_of,
    reading_on,
    tail_rows,
    written,
)
from election_replay.jobs.landing.repeats import LOOKBACK_BYTES
from election_replay.jobs.landing.time_buckets import newly_begun
from election_replay.jobs.warehouse.data_files import Row

SPLIT_BYTES = 32 << 20
"""The size of the last splits of a file, so short that all cores end at about the same time: a quarter of a second of
work. Each split costs a fortieth of a second more than its lines."""

MAX_SPLITS = 128
"""About the most splits of a file, however large: each writes one file a table."""

WINDOW_BYTES = 64 << 10
"""How many bytes before and behind the intended beginning of a split are looked at, to find out where it can begin and
what the lines before it leave."""

BEFORE_BYTES = 4 << 20
"""How far back a line may lie, in bytes, to be known as one that comes again in a split; within one landing it is
20,000 lines."""

HASHED = 8
"""What is landed of a file already is hashed once more if the file is cut; that is not worth it if it is more than so
many times what is new."""


@dataclass(frozen=True, slots=True)
class Large:
    """A large file that is landed from offset ``begin`` on, behind what is known of it ``before``; None: nothing is."""

    task: Task
    begin: int
    before: Known | None

    @property
    def file(self) -> LogFile:
        """The only file of its task."""
        return self.task.files[0]

    @property
    def place(self) -> Place:
        """The place of its lines."""
        namesakes = len(self.task.known)
        fingerprint = self.before.fingerprint if self.before else new_fingerprint(self.task.head, namesakes)
        return place_of(self.task, self.file.path, fingerprint)

    @property
    def progress(self) -> Progress:
        """The progress that earlier landings left; that of a new file if there were none."""
        return self.before.progress() if self.before else Progress()

    @property
    def dialect(self) -> Dialect | None:
        """The dialect of its lines."""
        return named(reading_on(self.before, self.task.dialect))

    def evidence(self, progress: Progress) -> Evidence:
        """Return an evidence for lines of the file, from a copy of ``progress`` on."""
        return Evidence(self.place, self.dialect, replace(progress), self.task.pseudonyms)


@dataclass(frozen=True, slots=True)
class Range:
    """Bytes of a large file, of which a split will be made: it begins with a record at ``begin`` or soon behind it."""

    large: Large
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class RangeScan:
    """What a scan of a range found: its line feeds, the offset in the file where a split can begin in it (None:
    nowhere), and the line feeds in it before that. ``guess`` is what the lines just before would leave, if nothing
    stood before them."""

    feeds: int
    begin: int | None
    feeds_before: int = 0
    guess: Progress | None = None


@dataclass(frozen=True, slots=True)
class FileSplit:
    """Bytes of a large file that begin with a record, and what is known, or guessed, of the lines before them."""

    large: Large
    begin: int
    end: int
    progress: Progress


@dataclass(frozen=True, slots=True)
class LandedSplit:
    """What landing a split wrote, how far the split was read, and the state after its lines."""

    landed: Landed
    read: ReadSoFar
    reached: Reached


def may_be_split(task: Task, share: int) -> bool:
    """Return True when a task is one large file of plain lines, of which more than a core's ``share`` of the bytes is
    new."""
    if len(task.files) != 1 or task.dialect is None or task.problem or task.enveloped:
        return False
    [file], landed = task.files, max((known.bytes_landed for known in task.known), default=0)
    plain = not file.below and not file.path.endswith(PACKED)
    return plain and file.of_table is None and file.size - landed >= max(2 * SPLIT_BYTES, share, landed // HASHED)


def large_of(task: Task, landing: str) -> Large | None:
    """Return the file of a task, if it may be cut; None where it is to be landed in one go."""
    zone, [file] = open_landing(landing), task.files
    try:
        first = read_at(zone, file.path, 0, LOOKED_AT)
        begin = begun_at(task, file, list(task.known), zone)
        disorder = disorder_in(begin, task, file, zone)
        written = as_written(begin.blocks, disorder) if disorder else None
    except (NotReadError, *READ_FAILURES):
        return None
    if written or (begin.before and begin.before.put_right):
        return None
    parted = begin.before is not None and (begin.before not in task.known or begin.before.lines_shared is not None)
    if parted or begin.older or begin.reread or begin.blocks.missing or not as_it_lies(first) or codec_of(first):
        return None
    return Large(task, begin.blocks.position, begin.before)


def ranges_of(large: Large, cores: int) -> list[Range]:
    """Return the new bytes of a file in ranges: each is half a core's share of what is left, or about
    :data:`SPLIT_BYTES` if that is more."""
    bounds, end = [large.begin], large.file.size
    least = max(SPLIT_BYTES, (end - large.begin) // MAX_SPLITS)
    while 2 * (left := end - bounds[-1]) >= 3 * least:
        bounds.append(bounds[-1] + max(least, left // (2 * cores)))
    return [Range(large, begin, after) for begin, after in pairwise([*bounds, end])]


def scan_range(part: Range, landing: str) -> RangeScan | None:
    """Scan a range; return None where it cannot be read."""
    zone, large = open_landing(landing), part.large
    hold_memory()
    try:
        feeds = sum(map(line_feeds, bytes_at(zone, large.file.path, part.begin, part.end)))
        if part.begin == large.begin:
            return RangeScan(feeds, part.begin)
        back = min(WINDOW_BYTES, part.begin - large.begin)
        around = read_at(zone, large.file.path, part.begin - back, back + min(WINDOW_BYTES, part.end - part.begin))
    except READ_FAILURES:
        return None
    if (at := first_record(around[back:], large.dialect)) is None:
        return RangeScan(feeds, None)
    behind = back + at
    guess = left_by(around[around.find(b"\n") + 1 : behind], large)
    if guess.last_line_no is None:  # nothing is dated before it
        return RangeScan(feeds, None)
    return RangeScan(feeds, part.begin + at, around.count(b"\n", back, behind), guess)


def first_record(data: bytes, dialect: Dialect | None) -> int | None:
    """Return the offset of the first whole record, if possible of one that begins another ten seconds; None if there is
    none.

    Lines before the beginning of another ten seconds say little about what follows.
    """
    lines = data[data.find(b"\n") + 1 : data.rfind(b"\n") + 1]
    if dialect is None or not lines:
        return None
    found = marked(lines_of(Block(lines, len(lines)), 1), dialect)
    begins = np.flatnonzero(found["begins"].to_numpy())
    new, _ = newly_begun(found["bucket"].to_numpy()[begins], None)
    if not len(begins):
        return None
    line = begins[new[1]] if len(new) > 1 else begins[0]
    return data.find(b"\n") + 1 + int(line_offsets(lines)[line])


def left_by(data: bytes, large: Large) -> Progress:
    """Return the progress that some lines of a file would leave, if nothing stood before them."""
    evidence = large.evidence(Progress())
    for _ in (*evidence.take(Block(data, len(data))), *evidence.finish()):
        pass
    return evidence.progress


def splits_of(large: Large, scans: Sequence[RangeScan | None]) -> list[FileSplit]:
    """Return the splits of a file by the scans of its ranges; none where the file cannot be cut."""
    begins: list[tuple[int, Progress]] = []
    lines = large.progress.lines
    for scan in scans:
        if scan is None:
            return []
        if scan.begin is not None:
            guess = numbered(scan.guess, lines + scan.feeds_before) if scan.guess else large.progress
            begins.append((scan.begin, guess))
        lines += scan.feeds
    ends = [*(begin for begin, _ in begins[1:]), large.file.size]
    found = [FileSplit(large, begin, end, guess) for (begin, guess), end in zip(begins, ends, strict=True)]
    return found if len(found) > 1 else []


def numbered(guess: Progress, lines: int) -> Progress:
    """Return a guess with its lines numbered as they are behind ``lines`` lines of the file."""
    return replace(guess, lines=lines, last_line_no=lines - guess.lines + (guess.last_line_no or 0), flood=None)


def read_through(large: Large, landing: str) -> ReadSoFar:
    """Return how far a file is read, with its hash and its marks."""
    file = large.file
    hold_memory()
    blocks = blocks_of(file, open_landing(landing))
    if blocks.skip(large.begin):
        blocks.read_through()
        if last_line_stands(blocks, file):
            blocks.take_rest()
    return blocks.so_far


def land_split(split: FileSplit, landing: str, warehouse: str) -> LandedSplit:
    """Land a split into data files below ``warehouse``."""
    large, zone = split.large, open_landing(landing)
    evidence = large.evidence(split.progress)
    blocks = Blocks(zone, large.file.path, split.end, begin=split.begin)
    evidence.passed(partial(bytes_before, split, zone))
    landed, read = written(tail_rows(evidence, blocks, large.file), warehouse), blocks.so_far
    now = blocks_of(large.file, zone)  # knows whether the file still begins as it did when it was listed
    return LandedSplit(landed, replace(read, missing=read.missing or now.missing or now.unread), evidence.reached)


def bytes_before(split: FileSplit, zone: LandingZone) -> bytes:
    """Return the bytes before a split, as far back as lines of them may come again; none where they cannot be read."""
    back = LOOKBACK_BYTES if split.begin == split.large.begin else BEFORE_BYTES
    begin = max(0, split.begin - back)
    try:
        return read_at(zone, split.large.file.path, begin, split.begin - begin)
    except READ_FAILURES:  # reading the split itself fails as well, and says so
        return b""


def row_of_splits(splits: Sequence[FileSplit], read: ReadSoFar, ended: Sequence[LandedSplit]) -> Row | None:
    """Return the row of ``landed_files`` of a file whose splits were landed; None where the splits do not count."""
    large = splits[0].large
    evidence = large.evidence(large.progress)
    if read.problem or read.missing:
        return None
    for split, end in zip(splits, ended, strict=True):
        if end.read.problem or end.read.missing or not follows(split.progress, evidence.progress, end.reached):
            return None
        evidence.add(end.reached)
    reached = [end.read.position for end in ended]
    lines = read.marks[-1].lines if read.marks else 0
    if reached != [*(split.begin for split in splits[1:]), read.position]:
        return None
    if (ended[-1].read.waiting, evidence.progress.lines) != (read.waiting, large.progress.lines + lines):
        return None
    status = "grown" if large.before else "landed"
    return LANDED.name, landed_values(
        large.task, large.file, evidence, read, known_after(evidence, read, large.before), status
    )


def follows(guess: Progress, before: Progress, reached: Reached) -> bool:
    """Return True when lines that were landed behind a guess came to the same as behind ``before``, the state they
    follow.

    It is False where lines may have come again, since more of the file than a split decides about these. It is False
    too where the split's first event of a kind in ``FLOODS`` lies in the ten seconds of ``before.flood``, which might
    have left it out.
    """
    if reached.doubtful:
        return False
    if guess == before:
        return True
    flood = json.loads(before.flood)[0] if before.flood else None
    return guess == replace(before, flood=None) and (flood is None or flood != reached.flooding)
