"""Compressed bytes under the name of a plain file: known by how they begin."""

import bz2
import gzip
import io
from collections.abc import Callable
from typing import Any, BinaryIO, cast

import pyarrow as pa

COMPRESSED = {b"\x1f\x8b\x08": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
"""How compressed bytes begin, and with what."""

Read = Callable[[int], bytes]


class Joined(io.RawIOBase):
    """What was read of a file already, and what is left of it."""

    def __init__(self, first: bytes, rest: Any) -> None:
        super().__init__()
        self._first = memoryview(first)
        self._rest = rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill ``buffer`` with the next bytes; how many they are."""
        view = memoryview(buffer)
        data = self._first[: len(view)] or self._rest.read(len(view))
        self._first = self._first[len(data) :] if self._first else self._first
        view[: len(data)] = data
        return len(data)


def codec_of(first: bytes) -> str | None:
    """With what a file is compressed that begins with ``first``, if it is."""
    return next((codec for magic, codec in COMPRESSED.items() if first.startswith(magic)), None)


def unpacking(first: bytes, rest: Any) -> Read | None:
    """What reads on a file that begins with ``first``, decompressed; ``None`` where it is not compressed."""
    codec = codec_of(first)
    joined = cast("BinaryIO", Joined(first, rest))
    if codec == "gzip":
        return gzip.GzipFile(fileobj=joined).read1
    if codec == "bz2":
        return bz2.BZ2File(joined).read1
    if codec == "zstd":
        return cast("Read", pa.CompressedInputStream(pa.PythonFile(joined, mode="r"), "zstd").read)
    return None
