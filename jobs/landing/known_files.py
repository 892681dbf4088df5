"""Recognises which file of the landing zone is known already, under whatever name, and how far it is landed.

What was landed of a file is kept as a length and a hash. So a grown file lands only its tail, and the same file under
another name, or compressed, lands nothing. A file that holds less than is landed of it may be a copy under way; it
waits, unless something says that this is all it will hold.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from election_replay.jobs.landing.blocks import Blocks, Mark
from election_replay.jobs.landing.enveloped import says_nothing
from election_replay.jobs.landing.event_lines import digest
from election_replay.jobs.landing.evidence import Progress
from election_replay.jobs.landing.landing_zone import LandingZone
from election_replay.jobs.landing.listing import LogFile

MOST_MARKS = 512
"""The most marks that are kept of a file with many landings."""


@dataclass(frozen=True, slots=True)
class Known:
    """How far a file is landed, and where it was last seen; the fields are columns of ``landed_files``.

    ``marks`` are those of all its landings. ``file_time`` counts only where ``lines_shared`` is set: the file went on
    from the middle of another file.
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
    put_right: str | None = None
    order_lost: bool | None = None

    def misread(self, dialect: str | None) -> bool:
        """Return True when no line was understood as the file was read then, and ``dialect`` reads it in another
        way."""
        nothing = says_nothing(self.envelope_state) if self.envelope_state else self.tick_bucket is None
        return nothing and self.lines_landed > 0 and self.read_as != dialect

    def progress(self) -> Progress:
        """Return the progress from which the next landing goes on."""
        return Progress(
            lines=self.lines_landed,
            tick_bucket=self.tick_bucket,
            last_line_no=self.last_line_no,
            last_line=self.last_line,
            zone_state=self.zone_state,
            flood=self.flood,
        )


class NotReadError(Exception):
    """Raised when the part of a file, or of its copy, that tells what is landed of it cannot be read."""


def blocks_of(file: LogFile, zone: LandingZone) -> Blocks:
    """Return the blocks of a file from its beginning; they are missing where another file is in its place by now."""
    return Blocks(zone, file.path, file.size, file.beginning)


def skipped(blocks: Blocks, length: int) -> bool:
    """Pass over the bytes up to offset ``length``; return False if there are fewer. Raises :class:`NotReadError`."""
    if blocks.skip(length):
        return True
    if blocks.unread:
        raise NotReadError(blocks.problem)
    return False


def recognised(
    head: str, file: LogFile, known: list[Known], zone: LandingZone
) -> tuple[Known | None, Blocks, Known | None]:
    """Return the known file that this one goes on from, its blocks from there on, and the known file of which it is
    only an older copy.

    The first and the last are None where there is no such file. A file may have gone back to a beginning of itself and
    go on differently, as on a machine that was restored: it goes on from there, as a file of its own. ``head`` is the
    fingerprint of its beginning. Raises :class:`NotReadError`.
    """
    older = None
    parted: list[tuple[Mark, Known, Blocks]] = []
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
            parted.append((shared, candidate, blocks))
    if older:
        return older[0], older[1], older[0]
    shared, parent, passed = max(parted, key=lambda found: found[0].position, default=(NOTHING, None, None))
    if parent and passed and under_way(file, parent, shared, passed.position):
        passed.waiting = passed.position - shared.position
        return parent, passed, parent
    blocks = blocks_of(file, zone)
    if parent is None or not shared.position or not skipped(blocks, shared.position):
        return None, blocks, None
    return begun(parent, shared, blocks.digest, new_fingerprint(head, len(known))), blocks, None


def under_way(file: LogFile, parent: Known, shared: Mark, length: int) -> bool:
    """Return True when a file of ``length`` bytes may be a copy of a known one that is not written to its end yet.

    All that can be compared, up to the ``shared`` mark, is the same; what follows shows at the next landing, which
    takes the file as it is then.
    """
    may_change = file.modified is not None and not (file.settled or file.held)
    compared = not any(shared.position < mark.position <= length for mark in marks_of(parent))
    return may_change and compared and 0 < shared.position < length < parent.bytes_landed


NOTHING = Mark(0, 0, "")


def shared_with(candidate: Known, file: LogFile, blocks: Blocks, zone: LandingZone, *, shorter: bool) -> Mark:
    """Return the last mark at which a file is known to be the same as the known ``candidate``, which it does not hold
    whole.

    ``blocks`` of the file were passed over. Files that begin alike may go on differently. One that is ``shorter`` is
    compared with the known one where that is there under another name. Otherwise, and where a file is no longer what it
    was, the marks decide: lines after the last one that fits are taken for new, so that none is lost. Where no mark was
    made, nothing contradicts that a shorter file is the other's beginning.
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


def begun(parent: Known, shared: Mark, content_hash: str, fingerprint: str) -> Known:
    """Return what is known of a file that goes on differently from the middle of ``parent``, before its own lines are
    landed."""
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


def new_fingerprint(head: str, namesakes: int) -> str:
    """Return the identity of a new file: its head, hashed with its number if other files begin alike."""
    return digest(f"{head}|{namesakes}".encode()) if namesakes else head


def marks_of(known: Known) -> list[Mark]:
    """Return the marks of a file in their order."""
    parts = (printed.split(":") for printed in (known.marks or "").split())
    return sorted({Mark(int(at), int(lines), begin) for at, lines, begin in parts}, key=lambda mark: mark.position)


def as_text(marks: Iterable[Mark]) -> str:
    """Return marks as text for the table."""
    return " ".join(f"{mark.position}:{mark.lines}:{mark.digest}" for mark in marks)


def joined(before: Known | None, after: Known) -> Known:
    """Return what is known of a file after one more landing, with the marks of all its landings.

    Every second mark is dropped when there are more than :data:`MOST_MARKS`.
    """
    if before is None or before.fingerprint != after.fingerprint or not before.marks:
        return after
    marks = [*marks_of(before), *marks_of(after)]
    return replace(after, marks=as_text(marks if len(marks) <= MOST_MARKS else marks[1::2]))
