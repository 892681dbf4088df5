"""Lines that stand in a file already: delivered again, or written twice.

    A B C D | B C D E      a shipper that got no answer sends the last lines again: times go back, to the same lines
    A A B B C C            two appenders of one logger write each line

Shippers deliver *at least once*. Read as new lines, such a file says that a clock went back, and a term with it. Lines
whose times lie behind others come again where they are the same, times included: at least :data:`RUN` of them in the
same order, or any whose time tells fractions of a second. Every line that stands twice is one where nearly all do. They
are counted as ignored, with the lines that go on with their records.

A clock that is put back, by hand or by the end of summer time, makes an idle process write the same lines at the same
times once more. So at least one line in :data:`PERIODIC` says what no line says at any other time.
Busy processes write two lines alike in one second, where times do not go back: those are two.
"""

from collections import deque
from typing import Any

import numpy as np
import polars as pl

from election_replay.jobs.landing.ticks import NO_BUCKET

RUN = 3
"""So many lines in the same order are no chance."""

PERIODIC = 10
"""Of so many lines that come again at least one says what is said at no other time; else a clock was put back."""

LOOKBACK_BYTES = 64 << 10
"""A line of an earlier landing is known to come again if it lies no further back, in bytes."""

_LINES_KEPT = 20_000
"""A line of the same landing is known to come again if no more lines lie between."""

_DOUBLED = 0.9
"""Where so many of the lines stand twice, of 1, something writes each line twice."""

_FEWEST = 20
"""Of fewer lines nobody knows whether each is written twice."""

_SECOND = r"(\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d)"
"""The second of a line: threads that share a log write some milliseconds out of order."""
_TIME = r"\d+:\d\d:\d\d(?:[.,]\d+)?"
"""A time of day; what a line says besides, it says."""
_EXACT = r"\d+:\d\d:\d\d[.,]\d"
"""A time of day with a fraction of its second."""

_COLUMNS = ("text", "wanted", "bucket")

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class Repeats:
    """Takes the lines of a file in their order and leaves out those that stood there before."""

    def __init__(self) -> None:
        self._before: deque[pl.DataFrame] = deque()
        self._highest = NO_BUCKET
        self._open = False  # the last record came again, and what goes on with it

    def remember(self, lines: pl.DataFrame) -> None:
        """Take lines that an earlier landing read, :func:`~jobs.landing.lines.marked`."""
        buckets = lines["bucket"].to_numpy()[lines["begins"].to_numpy()]
        self._before.append(lines)
        while sum(map(len, self._before)) - len(self._before[0]) >= _LINES_KEPT:
            self._before.popleft()
        self._highest = max(self._highest, int(buckets.max(initial=NO_BUCKET)))

    def once(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Marked lines without those that came again."""
        begins = lines["begins"].to_numpy()
        again = self._again(lines) if self._suspicious(lines) else None
        self.remember(lines)
        if not self._open and (again is None or not again.any()):
            return lines
        if again is None:
            again = np.zeros(int(begins.sum()), dtype=bool)
        of_record = np.concatenate(([self._open], again))[np.cumsum(begins)]
        self._open = bool(of_record[-1]) if lines.height else self._open
        return lines.filter(~of_record)

    def _suspicious(self, lines: pl.DataFrame) -> bool:
        """Whether dated lines lie ten seconds behind others, or behind others where two of interest are alike.

        Most blocks of lines are neither, and this alone is what they cost.
        """
        buckets = lines["bucket"].to_numpy()[lines["begins"].to_numpy()]
        if not len(buckets) or _behind(buckets, self._highest, NO_BUCKET).any():
            return bool(len(buckets))
        alike = self._near(lines, int(buckets.min()), pl.col("wanted")).filter(pl.col("text").is_duplicated())
        if not alike.height:
            return False
        near = self._near(lines, int(buckets.min()), pl.col("bucket").is_in(alike["bucket"].unique().implode()))
        return bool(_behind(_seconds(near["text"]), 0, 0).any()) or _seem_doubled(lines)

    def _near(self, lines: pl.DataFrame, bucket: int, which: pl.Expr) -> pl.DataFrame:
        """Dated lines of these, and of those before that reach into ``bucket``."""
        before = () if bucket > self._highest else self._before
        chosen = pl.col("begins") & (pl.col("bucket") >= bucket) & which
        found: pl.DataFrame = pl.concat([block.filter(chosen).select("text", "bucket") for block in (*before, lines)])
        return found

    def _again(self, lines: pl.DataFrame) -> Flags:
        """Which of the dated lines came again."""
        dated = [block.filter(pl.col("begins")).select(_COLUMNS) for block in (*self._before, lines)]
        known = pl.concat(dated)
        texts = known["text"].hash().to_numpy()
        again = _doubled(texts) | _delivered_again(known, texts)
        found: Flags = again[len(again) - dated[-1].height :]
        return found


def _doubled(texts: Hashes) -> Flags:
    """Which lines, by the hashes of their texts, are the second of two where nearly all stand twice."""
    behind_itself = np.concatenate(([False], texts[1:] == texts[:-1]))
    second_of_two = behind_itself & ~np.concatenate(([False], behind_itself[:-1]))
    if len(texts) < _FEWEST or 2 * second_of_two.sum() < _DOUBLED * len(texts):
        return np.zeros(len(texts), dtype=bool)
    return second_of_two


def _seem_doubled(lines: pl.DataFrame) -> bool:
    """Whether so many dated lines are as the one before that each may be written twice."""
    texts = lines.filter(pl.col("begins"))["text"]
    return 2 * int((texts == texts.shift()).sum()) >= _DOUBLED * len(texts)


def _seconds(texts: pl.Series) -> Numbers:
    """The seconds of some lines as numbers in their order; 0: it tells none."""
    found: Numbers = texts.str.extract(_SECOND).rank("dense").fill_null(0).cast(pl.Int64).to_numpy()
    return found


def _delivered_again(known: pl.DataFrame, texts: Hashes) -> Flags:
    """Which lines lie behind others and stood further up already, in runs that matter; ``texts`` are their hashes."""
    buckets = known["bucket"].to_numpy()
    exact = known["text"].str.contains(_EXACT).to_numpy()
    late = _behind(_seconds(known["text"]), 0, 0)
    again = _in_runs(texts) | (exact & _stood_before(texts, late))
    run = np.cumsum(np.diff(again, prepend=False) != 0)

    def in_run(flags: Flags) -> Numbers:
        return np.bincount(run[again & flags], minlength=run[-1] + 1)

    telling = in_run(_said_once(known["text"]))
    mattering = in_run(known["wanted"].to_numpy() | _behind(buckets, NO_BUCKET, NO_BUCKET))
    sure = (telling * PERIODIC >= in_run(again)) & (in_run(late) > 0) & (mattering > 0)
    found: Flags = again & sure[run]
    return found


def _stood_before(texts: Hashes, late: Flags) -> Flags:
    """Which lines, by the hashes of their texts, stand further up already, where times had not gone back yet."""
    _, first, which = np.unique(texts, return_index=True, return_inverse=True)
    before: Flags = (first[which] < np.arange(len(texts))) & ~late[first[which]]
    return before


def _in_runs(texts: Hashes) -> Flags:
    """Which lines, by the hashes of their texts, belong to a run that stands further up already."""
    again = np.zeros(len(texts), dtype=bool)
    if len(texts) < 2 * RUN:
        return again
    runs = np.zeros(len(texts) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):  # hashes of hashes: wrapping around is what they are for
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + texts[place : place + len(runs)]
    _, first, which = np.unique(runs, return_index=True, return_inverse=True)
    begins = np.flatnonzero(first[which] <= np.arange(len(runs)) - RUN)
    for place in range(RUN):
        again[begins + place] = True
    return again


def _said_once(texts: pl.Series) -> Flags:
    """Of which lines no other one says the same at another time."""
    sayings = pl.DataFrame({"text": texts, "said": texts.str.replace_all(_TIME, "")})
    once: Flags = sayings.select(pl.col("text").n_unique().over("said") == 1).to_series().to_numpy()
    return once


def _behind(times: Numbers, highest: int, none: int) -> Flags:
    """Which lines lie behind others by their times, where they have one."""
    known = np.maximum.accumulate(np.concatenate(([highest], times)))
    behind: Flags = (times < known[:-1]) & (times != none)
    return behind
