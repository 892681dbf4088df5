"""Unusual encodings and line ends of logs: UTF-16, by its byte order mark or evident, and a lone CR.

A file may begin with zero bytes: truncating a log that is not opened for append leaves a hole of its former length.

The first bytes decide for the whole file, and must decide the same when it has grown: so only the first characters are
required.
"""

import codecs
import re
from collections.abc import Iterator

FIRST = 16
"""The number of bytes from which UTF-16 without a mark is evident: eight characters of ASCII."""

LOOKED_AT = 64 << 10
"""A file with no line feed in this many bytes, and with dated lines ended by CR, has no other line ends."""

_HOLE = bytes(FIRST)
_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DATED_AFTER_CR = re.compile(rb"[^\n]*?\r[^\r\n]{0,200}\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d[^\n]*?\r[^\n]")
UNREADABLE = b"\xff"
"""Stands for an invalid character: a byte that no line may hold, so the line is known to be damaged."""


def encoding_of(first: bytes) -> str | None:
    """Return the encoding of a file that begins with ``first``; None if its lines are to be decoded one by one."""
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return encoding
    low, high = first[:FIRST:2], first[1:FIRST:2]
    if len(first) >= FIRST and not any(high) and all(0x09 <= byte < 0x7F for byte in low):
        return "utf-16-le"
    if len(first) >= FIRST and not any(low) and all(0x09 <= byte < 0x7F for byte in high):
        return "utf-16-be"
    return None


def ends_in_cr(first: bytes) -> bool:
    """Return True when lines end in a lone CR: two dated ones do before the first line feed."""
    line = first[:LOOKED_AT]
    if b"\r" not in line or b"\n" in line[: line.find(b"\r") + 2]:
        return False
    return _DATED_AFTER_CR.match(line.partition(b"\n")[0]) is not None


def as_it_lies(first: bytes) -> bool:
    """Return True when :func:`as_lines` passes a file that begins with ``first`` through unchanged."""
    return len(first) >= FIRST and first[:FIRST] != _HOLE and encoding_of(first) is None and not ends_in_cr(first)


def as_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a file's bytes as UTF-8 with LF or CRLF line ends; such a file passes through unchanged."""
    first = b""
    for chunk in chunks:
        first += chunk
        if first[:FIRST] == _HOLE:
            first = first.lstrip(b"\0")
            chunks = _behind_hole(first, chunks)
            first = next(chunks, b"")
            break
        if len(first) >= FIRST:
            break
    if (encoding := encoding_of(first)) is not None:
        chunks, first = _in_utf8(first, chunks, encoding), b""
        first = next(chunks, b"")
    if ends_in_cr(first):
        first = first.replace(b"\r", b"\n")
        chunks = (chunk.replace(b"\r", b"\n") for chunk in chunks)
    if first:
        yield first
    yield from chunks


def _behind_hole(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the bytes after a hole; with the hole if they are no text, so that the file is not taken for one."""
    while not first and (chunk := next(chunks, b"")):
        first = chunk.lstrip(b"\0")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(first[: 16 * FIRST])
    except UnicodeDecodeError:
        first = _HOLE * 16 + first
    yield first
    yield from chunks


def _in_utf8(first: bytes, chunks: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    yield _encoded(decoder.decode(first).removeprefix("\ufeff"))
    for chunk in chunks:
        yield _encoded(decoder.decode(chunk))
    yield _encoded(decoder.decode(b"", final=True))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace("\ufffd".encode(), UNREADABLE)
