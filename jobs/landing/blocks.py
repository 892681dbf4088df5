"""Reads the bytes of a log file, decompressed and in UTF-8, in blocks of whole lines, with bounded memory.

What can be read is given out; :attr:`Blocks.problem` then says what is wrong with the rest. Either its content is
damaged, which is final, or the file system or the object store failed (:attr:`Blocks.unread`), and what the rest holds
is not known yet.
"""

import bz2
import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any, BinaryIO, NamedTuple, Union

import numpy as np
import pyarrow as pa

from election_replay.election_core.envelopes.encodings import as_lines
from election_replay.election_core.model.streams import PACKED
from election_replay.jobs.landing.landing_zone import READ_FAILURES, LandingZone, first_line
from election_replay.jobs.landing.listing import Beginning
from election_replay.jobs.landing.repeats import LOOKBACK_BYTES

CHUNK_BYTES = 4 << 20
"""How many bytes are read at a time: more would cost fewer calls into polars, but hold more of a decompression bomb at
once."""

LINE_BYTES = 64 << 10
"""A line of more bytes than this is no log line; it is cut and quarantined."""

PIECE_BYTES = 64 << 10
"""How many bytes are decompressed at a time; damage costs no more than the piece that it is in."""

DAMAGE = (EOFError, OSError, zlib.error, pa.ArrowException)
"""The exceptions that decoders raise where a file cannot be read on; a failing file system raises some of them too."""

HELD_BYTES = 8 << 20
"""The most bytes of a line without end that are held in memory."""


NEWLINE = ord("\n")

Places = np.ndarray[Any, np.dtype[np.int64]]
"""Offsets in bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its line end. ``length`` is their length in the file; it exceeds ``len(data)`` where one
    giant line was shortened.

    ``ends`` are the offsets in ``data`` just behind each line feed; None if they are not known yet.
    """

    data: bytes
    length: int
    ends: Places | None = None


def line_feeds(data: bytes | memoryview) -> int:
    """Return the number of line feeds; ``bytes.count`` would take three times as long."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE))


def line_ends(data: bytes | memoryview) -> Places:
    """Return the offset just behind each line feed."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE) + 1


def end_of_line(data: bytes | memoryview, number: int) -> int:
    """Return the offset just behind the ``number``-th line feed, counted from 1. Raises IndexError if there are
    fewer."""
    for begin in range(0, len(data), PIECE_BYTES):
        piece = data[begin : begin + PIECE_BYTES]
        feeds = line_feeds(piece)
        if number <= feeds:
            return begin + int(line_ends(piece)[number - 1])
        number -= feeds
    raise IndexError(f"{number} line feeds more than there are")


MARKS = 32
"""The most marks that are kept of what one landing read of a file."""

MARK_DIGITS = 12
"""The hex digits of a hash that are kept: of 2**48 files that go on differently, one looks the same."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The end of a line in a file: the bytes and lines up to it, and the first digits of the SHA-256 of those bytes."""

    position: int
    lines: int
    digest: str


LONGEST_HOLE = 64 << 20
"""After so many zero bytes at the beginning of a compressed file no more of it is read."""

NOTHING_BUT_ZEROS = (
    f"its first {LONGEST_HOLE >> 20} MiB are zero bytes, and no more is read: ask for the log again, or take them off "
    "(tr -d '\\000')"
)


class Marks:
    """Collects marks of a file at line ends that are evenly spread, however long the file becomes."""

    def __init__(self) -> None:
        self._lines = 0
        self._every = 1
        self._kept: list[Mark] = []
        self._last: Mark | None = None

    def all(self) -> list[Mark]:
        """Return the marks in their order, with one where reading ended; their lines are counted from where reading
        began."""
        return [*self._kept, *([self._last] if self._last and self._last not in self._kept[-1:] else [])]

    def add(self, sha: "Sha", position: int, data: bytes | memoryview, feeds: int, ends: Places | None = None) -> None:
        """Take ``feeds`` whole lines that begin at ``position``, and bring ``sha`` up to their end.

        ``ends`` are the offsets of their ends in ``data``; None: they are computed where a mark is due.
        """
        done, at = 0, 0
        while (at := at + self._every - (self._lines + at) % self._every) <= feeds:
            end = end_of_line(data, at) if ends is None else int(ends[at - 1])
            sha.update(memoryview(data)[done:end])
            self._keep(Mark(position + end, self._lines + at, sha.hexdigest()[:MARK_DIGITS]))
            done = end
        sha.update(memoryview(data)[done:])
        self.ended(sha, position + len(data), feeds)

    def ended(self, sha: "Sha", position: int, lines: int) -> None:
        """Count ``lines`` more lines, which end at ``position``, and put the last mark there."""
        self._lines += lines
        self._last = Mark(position, self._lines, sha.hexdigest()[:MARK_DIGITS])

    def _keep(self, mark: Mark) -> None:
        self._kept.append(mark)
        if len(self._kept) > MARKS:
            self._every *= 2
            self._kept = [mark for mark in self._kept if mark.lines % self._every == 0]


class Unhashed:
    """Stands in for a SHA-256 where no hash is needed."""

    def update(self, data: bytes | memoryview) -> None:
        """Do nothing."""

    def copy(self) -> "Unhashed":
        """Return the object itself: it has no state."""
        return self

    def hexdigest(self) -> str:
        """Return the empty string."""
        return ""


Sha = Union["hashlib._Hash", Unhashed]


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """How far a file was read; :class:`Blocks` explains the fields, which have the same names there."""

    position: int
    digest: str
    marks: tuple[Mark, ...]
    waiting: int
    problem: str | None
    unread: bool
    missing: bool


class Blocks:
    """The blocks of one file, or, where ``begin`` is given, of its raw bytes from there on, neither decompressed nor
    hashed.

    ``position`` is the offset up to which bytes were given out or skipped, and ``digest`` is their SHA-256. Once the
    file has been read, ``rest`` is what follows the last line end, and ``waiting`` its full length, also where ``rest``
    was shortened. ``passed`` are the last of the bytes that :meth:`skip` passed over. ``problem`` says why the file was
    not read to its end: it is damaged, or ``unread``, which the next attempt may mend. ``missing`` is True when the
    file is gone: it was moved after it was listed, or another one, without the ``beginning`` that it had, is in its
    place. ``marks`` are those of what was given out as blocks; with ``begin``, they bear no hash.
    """

    def __init__(
        self, zone: LandingZone, path: str, size: int, beginning: Beginning | None = None, begin: int | None = None
    ) -> None:
        self.problem: str | None = None
        self.unread = False
        self.missing = False
        self.position = begin or 0
        self.passed = b""
        self.rest = b""
        self.waiting = 0
        self.marks = Marks()
        self._passing = False
        self._sha: Sha = hashlib.sha256() if begin is None else Unhashed()
        chunks = self._read(zone, path, size, begin)
        self._chunks = as_lines(chunks) if begin is None else chunks
        if beginning and Beginning.of(self.peek(beginning.length)) != beginning:
            self._chunks, self.rest, self.missing = iter(()), b"", not self.unread

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes given out or skipped so far, in hex; empty where the file is read from ``begin``
        on."""
        return self._sha.hexdigest()

    @property
    def so_far(self) -> ReadSoFar:
        """How far the file was read up to now."""
        marks = tuple(self.marks.all())
        return ReadSoFar(self.position, self.digest, marks, self.waiting, self.problem, self.unread, self.missing)

    def skip(self, length: int) -> bool:
        """Pass over the bytes up to offset ``length`` of the file; return False if there are fewer."""
        while self.position < length:
            chunk = self.rest or next(self._chunks, b"")
            if not chunk:
                return False
            wanted = length - self.position
            taken = chunk[:wanted]
            self._sha.update(taken)
            self.position += len(taken)
            self.passed = (self.passed + taken[-LOOKBACK_BYTES:])[-LOOKBACK_BYTES:]
            self.rest = chunk[wanted:]
        return True

    def read_through(self) -> None:
        """Read all blocks that are left for their hash and marks alone; their data is not kept."""
        self._passing = True
        for _ in self:
            pass

    def peek(self, length: int) -> bytes:
        """Return the next ``length`` bytes, or as many as there are, without passing over them."""
        held, size = [self.rest], len(self.rest)
        while size < length and (chunk := next(self._chunks, b"")):
            held.append(chunk)
            size += len(chunk)
        self.rest = b"".join(held)
        return self.rest[:length]

    def length(self) -> int:
        """Return how many bytes are left; they are read for it, and not given out any more."""
        return len(self.rest) + sum(map(len, self._chunks))

    def whole(self) -> bytes:
        """Return all that is left of the log, its unfinished last line too; for logs that fit into memory."""
        return b"".join([block.data for block in self]) + self.rest

    def __iter__(self) -> Iterator[Block]:
        while True:
            if end := self.rest.rfind(b"\n") + 1:
                yield self._cut(b"", self.rest, end)
            elif len(self.rest) > HELD_BYTES:
                if (block := self._giant_line()) is None:
                    return
                yield block
            elif not (chunk := next(self._chunks, b"")):
                self.waiting = len(self.rest)
                return
            elif end := chunk.rfind(b"\n") + 1:
                yield self._cut(self.rest, chunk, end)
            else:
                self.rest += chunk

    def _cut(self, before: bytes, chunk: bytes, end: int) -> Block:
        """Return ``before`` and ``chunk`` up to ``end`` as a block, copied once; the rest of ``chunk`` becomes
        :attr:`rest`."""
        self.rest, lines = chunk[end:], memoryview(chunk)[:end]
        if self._passing:
            self._sha.update(before)
            self.position += len(before)
            self.marks.add(self._sha, self.position, lines, line_feeds(lines))
            self.position += end
            return Block(b"", len(before) + end)
        data = b"".join((before, lines))
        ends = line_ends(data)
        self.marks.add(self._sha, self.position, data, len(ends), ends)
        self.position += len(data)
        return Block(data, len(data), ends)

    def _giant_line(self) -> Block | None:
        """Pass over a line too long to be held and return its beginning as a block; None when the file ends within the
        line."""
        sha, length = self._sha.copy(), len(self.rest)
        sha.update(self.rest)
        kept = self.rest[: LINE_BYTES + 1]
        for chunk in self._chunks:
            end = chunk.find(b"\n") + 1
            part = chunk[:end] if end else chunk
            sha.update(part)
            length += len(part)
            if end:
                self._sha, self.rest = sha, chunk[end:]
                self.position += length
                self.marks.ended(sha, self.position, 1)
                return Block(kept + b"\n", length)
        self.rest, self.waiting = kept, length
        return None

    def take_rest(self) -> Block:
        """Return the last line, which has no line end, as a block."""
        block = Block(self.rest, self.waiting)
        self._sha.update(self.rest)
        self.position += self.waiting
        self.marks.ended(self._sha, self.position, 1)
        self.rest, self.waiting = b"", 0
        return block

    def _read(self, zone: LandingZone, path: str, size: int, begin: int | None) -> Iterator[bytes]:
        try:
            if begin is not None:
                yield from bytes_at(zone, path, begin, size)
                return
            with zone.open(path) as file:
                yield from self._decompressed(Raw(file), path, size)
        except FileNotFoundError:
            self.missing = True
        except READ_FAILURES as error:
            self._failed(error)

    def _decompressed(self, raw: "Raw", path: str, size: int) -> Iterator[bytes]:
        try:
            yield from self._behind_hole(decompressed(raw, path, size), size)
        except DAMAGE as error:
            if raw.failure is None:
                self.problem = str(error) or type(error).__name__
            else:
                self._failed(raw.failure)

    def _behind_hole(self, chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
        """Yield the chunks of a file of ``size`` bytes, unless it is compressed and holds nothing but zeros."""
        zeros = 0
        for chunk in chunks:
            if chunk.lstrip(b"\0"):
                yield chunk
                break
            zeros += len(chunk)
            if zeros > max(LONGEST_HOLE, size):
                self.problem, self.unread = NOTHING_BUT_ZEROS, True
                return
            yield chunk
        yield from chunks

    def _failed(self, error: BaseException) -> None:
        self.problem, self.unread = f"could not be read: {first_line(error)}", True


class Raw(io.RawIOBase):
    """The bytes of a file as they are stored. ``failure`` is the error of the file system that kept them from being
    read.

    It tells a failed read from damage: decoders raise the same kinds of errors for bytes that make no sense.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` with the next bytes and return their number, which is 0 at the end of the file."""
        view = memoryview(buffer)
        try:
            data = self._file.read(len(view))
        except READ_FAILURES as error:
            self.failure = error
            raise
        view[: len(data)] = data
        return len(data)


def decompressed(raw: Raw, path: str, size: int) -> Iterator[bytes]:
    """Yield the bytes of a file after decompression, by its name's ending or else by its first bytes.

    Of a file that is not compressed no more than ``size`` bytes are given.
    """
    file = io.BufferedReader(raw, CHUNK_BYTES)
    codec = next(filter(path.endswith, UNPACKING), None) or codec_of(file.peek(4))
    if codec:
        yield from in_batches(pieces(UNPACKING[codec](file)))
    else:
        yield from up_to(size, pieces(file.read1, CHUNK_BYTES))


UNPACKING: Mapping[str, Callable[[BinaryIO], Callable[[int], bytes]]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file).read1,
    ".bz2": lambda file: bz2.BZ2File(file).read1,
    ".zst": lambda file: pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd").read,
}
"""By the ending of a file's name: opens the file for decompression and gives its ``read`` function."""

COMPRESSED = {b"\x1f\x8b\x08": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
"""The first bytes of compressed files, and the ending that the name of such a file should bear."""


def codec_of(first: bytes) -> str | None:
    """Return the name's ending for the compression that ``first``, the first bytes of a file, shows; None if it shows
    none."""
    return next((codec for magic, codec in COMPRESSED.items() if first.startswith(magic)), None)


def pieces(read: Callable[[int], bytes], size: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yield what ``read`` gives, ``size`` bytes at most at a time, until it gives nothing."""
    while piece := read(size):
        yield piece


def bytes_at(zone: LandingZone, path: str, begin: int, end: int) -> Iterator[bytes]:
    """Yield the raw bytes of a file from offset ``begin`` up to ``end``. Raises what opening and reading the file
    raises."""
    with zone.open(path, begin) as file:
        yield from up_to(end - begin, pieces(file.read, CHUNK_BYTES))


def read_at(zone: LandingZone, path: str, begin: int, length: int) -> bytes:
    """Return ``length`` raw bytes of a file from offset ``begin``, or as many as there are. Raises as :func:`bytes_at`
    does."""
    with zone.open(path, begin) as file:
        return b"".join(up_to(length, pieces(file.read, length)))


def in_batches(small: Iterator[bytes]) -> Iterator[bytes]:
    """Join small pieces into chunks. What came before damage is given out before the error is raised."""
    held: list[bytes] = []
    damage: BaseException | None = None
    try:
        for piece in small:
            held.append(piece)
            if sum(map(len, held)) >= CHUNK_BYTES:
                yield b"".join(held)
                held.clear()
    except DAMAGE as error:
        damage = error
    if held:
        yield b"".join(held)
    if damage is not None:
        raise damage


def up_to(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield at most ``size`` bytes of the chunks: what a live file gains meanwhile waits for the next landing."""
    left = size
    for chunk in chunks:
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


class FirstBytes(NamedTuple):
    """The first bytes of a file after decompression, or as many as there are.

    ``problem`` says why they could not be read, None if they could; ``damaged`` is True when something is wrong behind
    them.
    """

    data: bytes
    problem: str | None = None
    damaged: bool = False


def head(zone: LandingZone, path: str, size: int, length: int) -> FirstBytes:
    """Return the first ``length`` bytes of a file, decompressed."""
    blocks = Blocks(zone, path, min(size, length) if not path.endswith(PACKED) else size)
    data = blocks.peek(length)
    return FirstBytes(data, blocks.problem if blocks.unread else None, bool(blocks.problem))
