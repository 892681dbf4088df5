"""Bytes of a log file, decompressed, in UTF-8 and cut into blocks of whole lines, with bounded memory.

What can be read is given out; :attr:`Blocks.problem` then says what is wrong with the rest. Either its content is
damaged, which is final, or it could not be read (:attr:`Blocks.unread`): the file system or the object store failed,
and what it holds is not known yet.
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
"""How much is read at a time: more would cost fewer calls into polars, and hold more of a bomb at once."""

LINE_BYTES = 64 << 10
"""A line longer than this is no log line; it is cut and quarantined."""

PIECE_BYTES = 64 << 10
"""How much is decompressed at a time; damage costs no more than the piece it is in."""

DAMAGE = (EOFError, OSError, zlib.error, pa.ArrowException)
"""What decoders raise when a file cannot be read on; some of it a failing file system raises too."""

HELD_BYTES = 8 << 20
"""Of a line without end no more than this is held in memory."""


NEWLINE = ord("\n")

Places = np.ndarray[Any, np.dtype[np.int64]]
"""Places in some bytes."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its line end. ``length`` exceeds ``len(data)`` where one giant line was shortened.

    ``ends`` says where in ``data`` each line feed's next byte stands, where that is known already.
    """

    data: bytes
    length: int
    ends: Places | None = None


def line_feeds(data: bytes | memoryview) -> int:
    """How many line feeds there are; bytes would count them one by one, at three times the cost."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == NEWLINE))


def line_ends(data: bytes | memoryview) -> Places:
    """Where the next byte behind each line feed stands."""
    return np.flatnonzero(np.frombuffer(data, np.uint8) == NEWLINE) + 1


def end_of_line(data: bytes | memoryview, number: int) -> int:
    """Where the next byte behind the ``number``-th line feed stands, which there is."""
    for begin in range(0, len(data), PIECE_BYTES):
        piece = data[begin : begin + PIECE_BYTES]
        feeds = line_feeds(piece)
        if number <= feeds:
            return begin + int(line_ends(piece)[number - 1])
        number -= feeds
    raise IndexError(f"{number} line feeds more than there are")


MARKS = 32
"""So many places of what a landing read of a file are remembered, at most."""

MARK_DIGITS = 12
"""Digits of a hash that are remembered: of 2**48 files that go on differently one looks the same."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line's end in a file: the bytes and lines up to there, and how their SHA-256 begins."""

    position: int
    lines: int
    digest: str


class Marks:
    """Remembers the file's beginnings up to some line ends, evenly spread however long it becomes."""

    def __init__(self) -> None:
        self._lines = 0
        self._every = 1
        self._kept: list[Mark] = []
        self._last: Mark | None = None

    def all(self) -> list[Mark]:
        """The marks in their order, with one where reading ended; lines are counted from where it began."""
        return [*self._kept, *([self._last] if self._last and self._last not in self._kept[-1:] else [])]

    def add(self, sha: "Sha", position: int, data: bytes | memoryview, feeds: int, ends: Places | None = None) -> None:
        """Take so many whole lines that begin at ``position``, and bring ``sha`` up to their end.

        ``ends`` says where each ends, if that is known; else it is found out for those where a mark is due.
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
        """So many more lines were read up to ``position``."""
        self._lines += lines
        self._last = Mark(position, self._lines, sha.hexdigest()[:MARK_DIGITS])

    def _keep(self, mark: Mark) -> None:
        self._kept.append(mark)
        if len(self._kept) > MARKS:
            self._every *= 2
            self._kept = [mark for mark in self._kept if mark.lines % self._every == 0]


class Unhashed:
    """What stands for a SHA-256 that nobody asks for."""

    def update(self, data: bytes | memoryview) -> None:
        """Nothing."""

    def copy(self) -> "Unhashed":
        """It has nothing to keep apart."""
        return self

    def hexdigest(self) -> str:
        """Nothing."""
        return ""


Sha = Union["hashlib._Hash", Unhashed]


@dataclass(frozen=True, slots=True)
class ReadSoFar:
    """How far a file was read: see the fields of the same names in :class:`Blocks`."""

    position: int
    digest: str
    marks: tuple[Mark, ...]
    waiting: int
    problem: str | None
    unread: bool
    missing: bool


class Blocks:
    """The blocks of one file, or of a stretch of one that is read as it lies there, from ``begin`` on.

    ``position`` and ``digest`` are the bytes given out so far and their SHA-256; ``rest`` is what follows the
    last line end once the file has been read, ``waiting`` its full length; ``passed`` are the last bytes passed over.
    ``problem`` says why it was not read to its end: it is damaged, or ``unread``, which the next attempt may mend.
    ``missing`` says that the file is gone: it was moved after it was listed, or another one, without the ``beginning``
    that it had, is in its place. ``marks`` are of what was given out as blocks; of a stretch there are none, and no
    hash.
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
        """SHA-256 of the bytes given out so far."""
        return self._sha.hexdigest()

    @property
    def so_far(self) -> ReadSoFar:
        """How far it was read."""
        marks = tuple(self.marks.all())
        return ReadSoFar(self.position, self.digest, marks, self.waiting, self.problem, self.unread, self.missing)

    def skip(self, length: int) -> bool:
        """Pass over the first ``length`` bytes; false if there are fewer."""
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
        """Read all blocks that are left, for nothing but their hash and their marks; they hold nothing then."""
        self._passing = True
        for _ in self:
            pass

    def peek(self, length: int) -> bytes:
        """The next ``length`` bytes, or as many as there are, without passing over them."""
        while len(self.rest) < length and (chunk := next(self._chunks, b"")):
            self.rest += chunk
        return self.rest[:length]

    def length(self) -> int:
        """How many bytes there are; nothing is given out then."""
        return len(self.rest) + sum(map(len, self._chunks))

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
        """``before`` and ``chunk`` up to ``end`` as a block, copied once; what follows is the rest."""
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
        """Pass over a line too long to be held, keeping its beginning; ``None`` when the file ends in it."""
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
        """The last line, which has no end, as a block."""
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
            yield from decompressed(raw, path, size)
        except DAMAGE as error:
            if raw.failure is None:
                self.problem = str(error) or type(error).__name__
            else:
                self._failed(raw.failure)

    def _failed(self, error: BaseException) -> None:
        self.problem, self.unread = f"could not be read: {first_line(error)}", True


class Raw(io.RawIOBase):
    """The bytes of a file as they lie there; ``failure`` is what kept them from being read.

    Decoders raise the same kinds of errors for bytes that make no sense.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self.failure: BaseException | None = None

    def readable(self) -> bool:
        """That it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` with the next bytes; how many they are: none at the end of the file."""
        view = memoryview(buffer)
        try:
            data = self._file.read(len(view))
        except READ_FAILURES as error:
            self.failure = error
            raise
        view[: len(data)] = data
        return len(data)


def decompressed(raw: Raw, path: str, size: int) -> Iterator[bytes]:
    """The bytes of a file after decompression, whatever its name; of one that is not packed no more than ``size``."""
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
"""What gives the bytes in a file, by the ending of its name."""

COMPRESSED = {b"\x1f\x8b\x08": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
"""How compressed bytes begin, under whatever name, and which ending they should bear."""


def codec_of(first: bytes) -> str | None:
    """The ending that a file should bear that begins with ``first``, if it is compressed."""
    return next((codec for magic, codec in COMPRESSED.items() if first.startswith(magic)), None)


def pieces(read: Callable[[int], bytes], size: int = PIECE_BYTES) -> Iterator[bytes]:
    """What ``read`` gives until it gives nothing."""
    while piece := read(size):
        yield piece


def bytes_at(zone: LandingZone, path: str, begin: int, end: int) -> Iterator[bytes]:
    """The bytes of a file as they lie there, between two places. Raises what opening and reading it does."""
    with zone.open(path, begin) as file:
        yield from up_to(end - begin, pieces(file.read, CHUNK_BYTES))


def read_at(zone: LandingZone, path: str, begin: int, length: int) -> bytes:
    """So many bytes of a file as they lie there, or as many as there are. Raises as :func:`bytes_at` does."""
    with zone.open(path, begin) as file:
        return b"".join(up_to(length, pieces(file.read, length)))


def in_batches(small: Iterator[bytes]) -> Iterator[bytes]:
    """Small pieces joined into chunks. What came before the damage is given out before the error is raised."""
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
    """At most ``size`` bytes: what a live file gains meanwhile waits for the next landing."""
    left = size
    for chunk in chunks:
        yield chunk[:left]
        left -= len(chunk)
        if left <= 0:
            return


class FirstBytes(NamedTuple):
    """The first bytes of a file after decompression, or as many as there are.

    ``problem``: why they were not read; ``damaged``: their content makes no sense from there on.
    """

    data: bytes
    problem: str | None = None
    damaged: bool = False


def head(zone: LandingZone, path: str, size: int, length: int) -> FirstBytes:
    """The first ``length`` bytes of a file."""
    blocks = Blocks(zone, path, min(size, length) if not path.endswith(PACKED) else size)
    data = blocks.peek(length)
    return FirstBytes(data, blocks.problem if blocks.unread else None, bool(blocks.problem))
