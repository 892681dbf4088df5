"""Find the ten seconds in which each line was written, and the lines that begin another ten seconds.

A bucket stands for ten seconds of a day, as the number yyyymmddhhmms. A line without a valid time has no bucket.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from election_replay.election_core.dialects import Dialect
from election_replay.election_core.dialects.dialect import seconds

Buckets = np.ndarray[Any, np.dtype[np.int64]]
Indices = np.ndarray[Any, np.dtype[np.int64]]
"""Indices of lines."""

NO_BUCKET = -1
"""The value for a line that has no bucket."""

STEP = 20
"""From so many seconds behind the lines before it on, a line shows a clock that was put back, and ticks begin anew."""

_SECONDS = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d", re.ASCII)
"""The pattern of a line's time."""

_TENS = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d", re.ASCII)
"""The pattern of a line's time without its last digit."""

TENS_LENGTH = len("2026-03-01 10:00:0")


def local_seconds(text: str, dialect: Dialect) -> int | None:
    """Return the time of a line as seconds since 1970, read as if it were UTC; None if it has no valid time."""
    if not dialect.plain:
        time = dialect.time_of(text, 0)
        return time[0] // 1_000_000 if time else None
    found = _SECONDS.search(text)
    try:
        return seconds(found.group().replace("/", "-")) if found else None
    except ValueError:
        return None


def bucket_at(utc: int) -> int:
    """Return the bucket of a time in seconds since 1970 UTC."""
    return int(f"{datetime.fromtimestamp(utc, UTC):%Y%m%d%H%M%S}") // 10


def buckets_in(texts: pl.Series, places: Indices, found: Buckets, dialect: Dialect) -> Buckets:
    """Return the buckets of the lines at ``places``: those of ``found``, or else of the time that the dialect reads,
    in UTC where the time tells its zone."""
    buckets = found[places]
    for number in np.flatnonzero(buckets == NO_BUCKET).tolist():
        time = dialect.time_of(texts[int(places[number])], 0)
        buckets[number] = bucket_at(time[0] // 1_000_000) if time else NO_BUCKET
    return buckets


def buckets_of(texts: pl.Series) -> tuple[Buckets, bool]:
    """Return the buckets of lines by their times as written, and True when every line begins with its time.

    Most lines begin with their time and share it with their neighbours, so it is read once for each run of equal times.
    """
    heads = pl.col(texts.name).str.head(TENS_LENGTH)
    runs = texts.to_frame().select_seq(heads.rle()).to_series().struct.unnest()
    found = [bucket_of(head) for head in runs["value"].to_list()]
    if None in found:
        return np.array([written_in(text) for text in texts], dtype=np.int64), False
    return np.repeat(np.array(found, dtype=np.int64), runs["len"].to_numpy()), True


@lru_cache(maxsize=4096)
def bucket_of(head: str) -> int | None:
    """Return the bucket of a line that begins with ``head``; None if ``head`` is no time without its last digit."""
    if not _TENS.fullmatch(head):
        return None
    return int(f"{head[:4]}{head[5:7]}{head[8:10]}{head[11:13]}{head[14:16]}{head[17]}")


def written_in(text: str) -> int:
    """Return the bucket of the first time in a line, wherever it stands; NO_BUCKET if there is none."""
    found = _SECONDS.search(text)
    return (bucket_of(found.group()[:TENS_LENGTH]) if found else None) or NO_BUCKET


def behind(low: int, high: int) -> bool:
    """Return True when the bucket ``low`` is at least STEP seconds before ``high``; False if one is no valid time."""
    try:
        first, last = (datetime.strptime(f"{bucket}0", "%Y%m%d%H%M%S").replace(tzinfo=UTC) for bucket in (low, high))
    except ValueError:
        return False
    return (last - first).total_seconds() >= STEP


def newly_begun(buckets: Buckets, before: int | None) -> tuple[list[int], int | None]:
    """Return the indices of lines that begin another ten seconds, and the bucket with which the next call goes on.

    ``before`` is the bucket that the call before this one returned; None at the beginning of a file.
    """
    known = np.maximum.accumulate(np.concatenate(([NO_BUCKET if before is None else before], buckets)))
    late = (buckets < known[:-1]) & (buckets != NO_BUCKET)
    if late.any() and any(
        behind(*pair) for pair in set(zip(buckets[late].tolist(), known[:-1][late].tolist(), strict=True))
    ):
        return begun_after_steps(buckets.tolist(), before)
    new = np.flatnonzero(buckets > known[:-1]).tolist()
    return new, int(known[-1]) if new else before


def begun_after_steps(buckets: Sequence[int], high: int | None) -> tuple[list[int], int | None]:
    """Return what :func:`newly_begun` returns, for lines between which the clock was put back."""
    new = []
    for at, bucket in enumerate(buckets):
        if bucket != NO_BUCKET and (high is None or bucket > high or behind(bucket, high)):
            new.append(at)
            high = bucket
    return new, high
