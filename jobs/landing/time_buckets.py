"""In which ten seconds lines were written, and which lines begin another ten seconds.

A bucket is ten seconds of a day, as a number: yyyymmddhhmms. A line without a possible time has none.
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
"""Numbers of lines."""

NO_BUCKET = -1
"""What stands in the place of a bucket where there is none."""

STEP = 20
"""Where a line is so many seconds behind those before it, ticks begin anew: its clock was put back."""

_SECONDS = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d", re.ASCII)
"""The time of a line."""

_TENS = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d", re.ASCII)
"""The time of a line but for its last digit."""

TENS_LENGTH = len("2026-03-01 10:00:0")


def local_seconds(text: str, dialect: Dialect) -> int | None:
    """The time of a line, in seconds since 1970 as if it were UTC; ``None`` where there is no possible one."""
    if not dialect.plain:
        time = dialect.time_of(text, 0)
        return time[0] // 1_000_000 if time else None
    found = _SECONDS.search(text)
    try:
        return seconds(found.group().replace("/", "-")) if found else None
    except ValueError:
        return None


def bucket_at(utc: int) -> int:
    """The bucket of a time in seconds since 1970."""
    return int(f"{datetime.fromtimestamp(utc, UTC):%Y%m%d%H%M%S}") // 10


def buckets_in(texts: pl.Series, places: Indices, found: Buckets, dialect: Dialect) -> Buckets:
    """The buckets of the lines at some places: those that were ``found`` as written, or in UTC where a time says its
    zone."""
    buckets = found[places]
    for number in np.flatnonzero(buckets == NO_BUCKET).tolist():
        time = dialect.time_of(texts[int(places[number])], 0)
        buckets[number] = bucket_at(time[0] // 1_000_000) if time else NO_BUCKET
    return buckets


def buckets_of(texts: pl.Series) -> tuple[Buckets, bool]:
    """The buckets of lines, as written, and whether each line begins with its time.

    Most lines begin with their time, which they share with their neighbours: it is read once for all of these.
    """
    heads = pl.col(texts.name).str.head(TENS_LENGTH)
    runs = texts.to_frame().select_seq(heads.rle()).to_series().struct.unnest()
    found = [bucket_of(head) for head in runs["value"].to_list()]
    if None in found:
        return np.array([written_in(text) for text in texts], dtype=np.int64), False
    return np.repeat(np.array(found, dtype=np.int64), runs["len"].to_numpy()), True


@lru_cache(maxsize=4096)
def bucket_of(head: str) -> int | None:
    """The bucket of a line that begins so; ``None``: it does not begin with its time."""
    if not _TENS.fullmatch(head):
        return None
    return int(f"{head[:4]}{head[5:7]}{head[8:10]}{head[11:13]}{head[14:16]}{head[17]}")


def written_in(text: str) -> int:
    """The bucket of a line, wherever its time stands."""
    found = _SECONDS.search(text)
    return (bucket_of(found.group()[:TENS_LENGTH]) if found else None) or NO_BUCKET


def behind(low: int, high: int) -> bool:
    """Whether a bucket is so far behind another that the clock was put back; no impossible time is."""
    try:
        first, last = (datetime.strptime(f"{bucket}0", "%Y%m%d%H%M%S").replace(tzinfo=UTC) for bucket in (low, high))
    except ValueError:
        return False
    return (last - first).total_seconds() >= STEP


def newly_begun(buckets: Buckets, before: int | None) -> tuple[list[int], int | None]:
    """The places of lines that begin another ten seconds, and the bucket to go on from; they follow ``before``."""
    known = np.maximum.accumulate(np.concatenate(([NO_BUCKET if before is None else before], buckets)))
    late = (buckets < known[:-1]) & (buckets != NO_BUCKET)
    if late.any() and any(
        behind(*pair) for pair in set(zip(buckets[late].tolist(), known[:-1][late].tolist(), strict=True))
    ):
        return begun_after_steps(buckets.tolist(), before)
    new = np.flatnonzero(buckets > known[:-1]).tolist()
    return new, int(known[-1]) if new else before


def begun_after_steps(buckets: Sequence[int], high: int | None) -> tuple[list[int], int | None]:
    """The same where the clock was put back."""
    new = []
    for at, bucket in enumerate(buckets):
        if bucket != NO_BUCKET and (high is None or bucket > high or behind(bucket, high)):
            new.append(at)
            high = bucket
    return new, high
