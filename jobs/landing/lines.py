"""The lines of a block: their texts, their lengths as written, and whether they could be decoded."""

import numpy as np
import polars as pl
import pyarrow as pa

from election_replay.election_core.dialects import Dialect
from election_replay.jobs.landing.blocks import Block, line_ends
from election_replay.jobs.landing.literals import containing
from election_replay.jobs.landing.time_buckets import NO_BUCKET, TENS_LENGTH, Indices, buckets_of

BYTE_ORDER_MARK = "\ufeff"


def lines_of(block: Block, first: int) -> pl.DataFrame:
    """Return the lines of a block: ``text`` without line end, ``length`` in bytes as written, ``unreadable`` where a
    line could not be decoded, and ``line_no`` in the file, from ``first`` on.

    Zero bytes in front of a line are no part of it: a machine that loses its power leaves them in a log. Neither is a
    byte order mark, which stands in the middle where files were put together.
    """
    data, unreadable = decoded(block.data)
    as_written = line_offsets(block.data, block.ends)
    offsets = as_written if data is block.data else line_offsets(data)
    count = len(offsets) - 1
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    texts = pl.Series(pa.Array.from_buffers(pa.large_string(), count, buffers), dtype=pl.String)
    shortened = block.length - len(block.data)  # only a block of one line is ever shortened
    lengths = np.diff(as_written) + shortened
    if b"\0" in data:
        written, texts = texts.str.len_bytes(), texts.str.strip_chars_start("\0")
        lengths -= (written - texts.str.len_bytes()).to_numpy()
    flags = np.zeros(count, dtype=bool)
    flags[unreadable] = True
    plainly = data.endswith(b"\n") and b"\r" not in data  # then nothing is copied, which is five times as fast
    texts = texts.str.head(-1) if plainly else texts.str.strip_chars_end("\r\n")
    if not data.isascii() and BYTE_ORDER_MARK.encode() in data:
        texts = texts.str.strip_prefix(BYTE_ORDER_MARK)
    numbers = np.arange(first, first + count)
    return pl.DataFrame({"text": texts, "length": lengths, "unreadable": flags, "line_no": numbers})


def marked(lines: pl.DataFrame, dialect: Dialect) -> pl.DataFrame:
    """Return the lines with what each shows by itself.

    ``begins``: it begins a record; ``wanted``: that record may be of interest; ``bucket``: the ten seconds of its time
    as written, or ``NO_BUCKET`` where it has no plain time.
    """
    begins = lines["text"].str.contains(dialect.record_start).alias("begins")
    places = np.flatnonzero(begins.to_numpy())
    records = lines["text"][places]
    wanted, buckets = np.zeros(lines.height, dtype=bool), np.full(lines.height, NO_BUCKET)
    begin_with_time = False
    if dialect.plain:
        buckets[places], begin_with_time = buckets_of(records)
    behind = TENS_LENGTH if begin_with_time else 0  # no needle has a part of a time
    wanted[places] = containing(records, dialect.needles, behind).to_numpy()
    return lines.hstack([begins, pl.Series("wanted", wanted), pl.Series("bucket", buckets)])


def line_offsets(data: bytes, ends: Indices | None = None) -> Indices:
    """Return the offset of each line, and that of the end of the last one.

    ``ends`` are the offsets just behind the line feeds; None: they are found here.
    """
    ends = line_ends(data) if ends is None else ends
    tail = [len(data)] if data and not data.endswith(b"\n") else []
    return np.concatenate([[0], ends, tail]).astype(np.int64)


def decoded(data: bytes) -> tuple[bytes, list[int]]:
    """Return the same lines in UTF-8, and the numbers, from 0, of those that are neither UTF-8 nor GBK."""
    try:
        if not data.isascii():
            data.decode()
    except UnicodeDecodeError:
        return decoded_by_line(data)
    return data, []


def decoded_by_line(data: bytes) -> tuple[bytes, list[int]]:
    """Return the same as :func:`decoded`, slowly, line by line, for blocks with other bytes than UTF-8."""
    lines, unreadable = [], []
    for number, line in enumerate(data.split(b"\n")):
        for encoding in ("utf-8", "gbk"):
            try:
                lines.append(line.decode(encoding))
                break
            except UnicodeDecodeError:
                continue
        else:
            lines.append(line.decode("utf-8", "replace"))
            unreadable.append(number)
    return "\n".join(lines).encode(), unreadable
