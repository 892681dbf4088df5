"""Bytes of a log file, decompressed, in UTF-8 and cut into blocks of whole lines, with bounded memory.

A damaged archive yields what can be read; :attr:`Blocks.problem` then says what is wrong with the rest.
"""

import bz2
import gzip
import hashlib
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain

import pyarrow as pa
from pyarrow import fs

from election_core.dialects.streams import PACKED
from election_core.envelopes.encodings import as_lines
from jobs.codecs import unpacking

CHUNK_BYTES = 4 << 20
"""How much is read at a time."""

LINE_BYTES = 64 << 10
"""A line longer than this is no log line; it is cut and quarantined."""

PIECE_BYTES = 64 << 10
"""How much is decompressed at a time; damage costs no more than the piece it is in."""

DAMAGE = (EOFError, OSError, zlib.error, pa.ArrowException)
"""What the readers raise when a file cannot be read on."""

HELD_BYTES = 8 << 20
"""Of a line without end no more than this is held in memory."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines, each with its line end. ``length`` exceeds ``len(data)`` where one giant line was shortened."""

    data: bytes
    length: int


class Blocks:
    """The blocks of one file.

    ``position`` and ``digest`` are the bytes given out so far and their SHA-256; ``rest`` is what follows the
    last line end once the file has been read, ``waiting`` its full length. ``missing`` says that the file is gone:
    it was moved after it was listed.
    """

    def __init__(self, system: fs.FileSystem, path: str, size: int) -> None:
        self.problem: str | None = None
        self.missing = False
        self.position = 0
        self.rest = b""
        self.waiting = 0
        self._sha = hashlib.sha256()
        self._chunks = as_lines(self._read(system, path, size))

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes given out so far."""
        return self._sha.hexdigest()

    def skip(self, length: int) -> bool:
        """Pass over the first ``length`` bytes; false if there are fewer."""
        while self.position < length:
            chunk = self.rest or next(self._chunks, b"")
            if not chunk:
                return False
            wanted = length - self.position
            self._advance(chunk[:wanted], len(chunk[:wanted]))
            self.rest = chunk[wanted:]
        return True

    def peek(self, length: int) -> bytes:
        """The next ``length`` bytes, or as many as there are, without passing over them."""
        while len(self.rest) < length and (chunk := next(self._chunks, b"")):
            self.rest += chunk
        return self.rest[:length]

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
        self.rest = chunk[end:]
        data = b"".join((before, memoryview(chunk)[:end]))
        return self._advance(data, len(data))

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
                return Block(kept + b"\n", length)
        self.rest, self.waiting = kept, length
        return None

    def take_rest(self) -> Block:
        """The last line, which has no end, as a block."""
        block = Block(self.rest, self.waiting)
        self._advance(self.rest, self.waiting)
        self.rest, self.waiting = b"", 0
        return block

    def _advance(self, data: bytes, length: int) -> Block:
        self._sha.update(data)
        self.position += length
        return Block(data, length)

    def _read(self, system: fs.FileSystem, path: str, size: int) -> Iterator[bytes]:
        try:
            with system.open_input_stream(path, compression=None) as raw:
                if path.endswith(".gz"):
                    yield from gathered(pieces(gzip.GzipFile(fileobj=raw).read1))
                elif path.endswith(".bz2"):
                    yield from gathered(pieces(bz2.BZ2File(raw).read1))
                elif path.endswith(".zst"):
                    yield from gathered(pieces(pa.CompressedInputStream(raw, "zstd").read))
                else:
                    first = raw.read(CHUNK_BYTES)
                    if unpacked := unpacking(first, raw):
                        yield from gathered(pieces(unpacked))
                    else:
                        yield from up_to(size, chain((first,), pieces(raw.read, CHUNK_BYTES)))
        except FileNotFoundError:
            self.missing = True
        except DAMAGE as error:
            self.problem = str(error) or type(error).__name__


def pieces(read: Callable[[int], bytes], size: int = PIECE_BYTES) -> Iterator[bytes]:
    """What ``read`` gives until it gives nothing."""
    while piece := read(size):
        yield piece


def gathered(small: Iterator[bytes]) -> Iterator[bytes]:
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


def head(system: fs.FileSystem, path: str, size: int, length: int) -> bytes:
    """The first ``length`` bytes of a file after decompression, or as many as can be read."""
    blocks = Blocks(system, path, min(size, length) if not path.endswith(PACKED) else size)
    return blocks.peek(length)
