"""Leave out lines that a file holds already, because they were delivered again or written twice.

    A B C D | B C D E      a shipper that got no answer sends the last lines again: times go back, to the same lines
    A A B B C C            two appenders of one logger write each line

Shippers deliver *at least once*. If repeated lines counted as new, a clock would seem to have gone back, and a term
with it. Lines whose times lie behind others are repeats when they equal earlier lines, times included: at least
:data:`RUN` of them in the same order, or any line whose time has fractions of a second. Where nearly all lines stand
twice, the second of each two is a repeat. Repeats are counted as ignored, with the lines that continue their records.

A clock that is put back, by hand or by the end of summer time, makes an idle process write the same lines at the same
times once more. Therefore at least one in :data:`PERIODIC` repeated lines must say what no line says at another time.
Busy processes write two equal lines in one second while times do not go back: both count.
"""

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow.compute as pc

from election_replay.jobs.landing.time_buckets import NO_BUCKET

RUN = 3
"""The number of equal lines in the same order that is no longer taken for chance."""

PERIODIC = 10
"""At least one in so many repeated lines must say what no line says at another time; else a clock was put back."""

LOOKBACK_BYTES = 64 << 10
"""How far back, in bytes, lines of an earlier landing are compared with new ones."""

_LINES_KEPT = 20_000
"""How many lines of the same landing, at least, are kept for comparison with new ones."""

_DOUBLED = 0.9
"""The share of lines that stand twice from which on each line is taken to be written twice."""

_FEWEST = 20
"""The fewest lines by which it can be told that each is written twice."""

_SECOND = r"(?P<second>\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d)"
"""The time of a line down to the second: threads that share a log write some milliseconds out of order."""
_TIME = r"\d+:\d\d:\d\d(?:[.,]\d+)?"
"""The pattern of a time of day, which is removed to compare what lines say."""
_EXACT = r"\d+:\d\d:\d\d[.,]\d"
"""The pattern of a time of day with a fraction of a second."""

_COLUMNS = ("text", "wanted", "bucket")

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Hashes = np.ndarray[Any, np.dtype[np.uint64]]
Numbers = np.ndarray[Any, np.dtype[np.int64]]


class Repeats:
    """Takes the lines of a file in their order and leaves out those that stood there before.

    ``doubtful`` is True once a block had candidates for repeats: lines far from them may have decided about them.
    """

    def __init__(self) -> None:
        self.doubtful = False
        self._before: deque[pl.DataFrame] = deque()
        self._highest = NO_BUCKET
        self._open = False  # the last record was a repeat: lines that continue it are left out too

    def remember(self, lines: pl.DataFrame) -> None:
        """Take lines of an earlier landing, in the form of :func:`~jobs.landing.lines.marked`, for comparison."""
        self._remember(lines, lines["bucket"].to_numpy()[lines["begins"].to_numpy()])

    def once(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the marked lines without repeats and the lines that continue these."""
        begins = lines["begins"].to_numpy()
        buckets = lines["bucket"].to_numpy()[begins]
        again = self._again(lines) if self._suspicious(lines, buckets) else None
        self._remember(lines, buckets)
        if not self._open and (again is None or not again.any()):
            return lines
        if again is None:
            again = np.zeros(int(begins.sum()), dtype=bool)
        of_record = np.concatenate(([self._open], again))[np.cumsum(begins)]
        self._open = bool(of_record[-1]) if lines.height else self._open
        return lines.filter(~of_record)

    def _remember(self, lines: pl.DataFrame, buckets: Numbers) -> None:
        self._before.append(lines)
        while sum(map(len, self._before)) - len(self._before[0]) >= _LINES_KEPT:
            self._before.popleft()
        self._highest = max(self._highest, int(buckets.max(initial=NO_BUCKET)))

    def _suspicious(self, lines: pl.DataFrame, buckets: Numbers) -> bool:
        """Return True when the lines may hold repeats, so that the costly comparison is needed; most blocks do not.

        They may when a dated line, of ``buckets``, lies in an earlier ten seconds than a line before it; or when two
        lines of interest are equal, and either times go back in those ten seconds or nearly all lines stand twice.
        """
        if not len(buckets) or _behind(buckets, self._highest, NO_BUCKET).any():
            return bool(len(buckets))
        least = buckets.min()
        near = *(() if least > self._highest else self._before), lines
        wanted = [block["wanted"].to_numpy() & (block["bucket"].to_numpy() >= least) for block in near]
        _, which, count = np.unique(_chosen("text", near, wanted).hash(), return_inverse=True, return_counts=True)
        if count.max(initial=0) < 2:
            return False
        tens = np.unique(_chosen("bucket", near, wanted).to_numpy()[count[which] > 1])
        at_that_time = [block["begins"].to_numpy() & np.isin(block["bucket"].to_numpy(), tens) for block in near]
        return bool(_behind(_seconds(_chosen("text", near, at_that_time)), 0, 0).any()) or _seem_doubled(lines)

    def _again(self, lines: pl.DataFrame) -> Flags:
        """Return for each dated line of ``lines`` whether it is a repeat."""
        dated = [block.filter(pl.col("begins")).select(_COLUMNS) for block in (*self._before, lines)]
        known = pl.concat(dated)
        texts = known["text"].hash().to_numpy()
        late = _behind(_seconds(known["text"]), 0, 0)
        exact = known["text"].str.contains(_EXACT).to_numpy()
        stood_before = _in_runs(texts) | (exact & _stood_before(texts, late))
        doubled = _doubled(texts)
        self.doubtful |= bool(doubled.any() or (stood_before & late).any())
        again = doubled | _delivered_again(known, stood_before, late)
        found: Flags = again[len(again) - dated[-1].height :]
        return found


def _doubled(texts: Hashes) -> Flags:
    """Return, by hashes of the texts, which lines are the second of two equal ones; none if few lines stand twice."""
    behind_itself = np.concatenate(([False], texts[1:] == texts[:-1]))
    second_of_two = behind_itself & ~np.concatenate(([False], behind_itself[:-1]))
    if len(texts) < _FEWEST or 2 * second_of_two.sum() < _DOUBLED * len(texts):
        return np.zeros(len(texts), dtype=bool)
    return second_of_two


def _chosen(column: str, blocks: Sequence[pl.DataFrame], flags: Sequence[Flags]) -> pl.Series:
    """Return one column of the flagged lines of all blocks."""
    return pl.concat([block[column][np.flatnonzero(which)] for block, which in zip(blocks, flags, strict=True)])


def _seem_doubled(lines: pl.DataFrame) -> bool:
    """Return True when so many dated lines equal the line before them that each may be written twice."""
    texts = _chosen("text", [lines], [lines["begins"].to_numpy()])
    return 2 * int((texts[1:] == texts[:-1]).sum()) >= _DOUBLED * len(texts)


def _seconds(texts: pl.Series) -> Numbers:
    """Return the rank of each line's time among all of them, to the second; 0 for a line without a time."""
    seconds = pc.struct_field(pc.extract_regex(texts.to_arrow(), _SECOND), 0)
    found: Numbers = pc.if_else(seconds.is_valid(), pc.rank(seconds, tiebreaker="dense"), 0).to_numpy()
    return found.astype(np.int64)


def _delivered_again(known: pl.DataFrame, again: Flags, late: Flags) -> Flags:
    """Return which of the lines that stood further up, ``again``, are repeats: they are in a run that passes all tests.

    A run passes when it holds a ``late`` line, a line that is of interest or of an earlier ten seconds than one before
    it, and at least one in PERIODIC lines that say what no line says at another time.
    """
    buckets = known["bucket"].to_numpy()
    run = np.cumsum(np.diff(again, prepend=False) != 0)

    def in_run(flags: Flags) -> Numbers:
        return np.bincount(run[again & flags], minlength=run[-1] + 1)

    telling = in_run(_said_once(known["text"]))
    mattering = in_run(known["wanted"].to_numpy() | _behind(buckets, NO_BUCKET, NO_BUCKET))
    sure = (telling * PERIODIC >= in_run(again)) & (in_run(late) > 0) & (mattering > 0)
    found: Flags = again & sure[run]
    return found


def _stood_before(texts: Hashes, late: Flags) -> Flags:
    """Return, by the hashes of the texts, which lines stand further up already and were not ``late`` the first time."""
    _, first, which = np.unique(texts, return_index=True, return_inverse=True)
    before: Flags = (first[which] < np.arange(len(texts))) & ~late[first[which]]
    return before


def _in_runs(texts: Hashes) -> Flags:
    """Return, by the hashes of the texts, which lines belong to a run of RUN lines that stands further up already."""
    again = np.zeros(len(texts), dtype=bool)
    if len(texts) < 2 * RUN:
        return again
    runs = np.zeros(len(texts) - RUN + 1, dtype=np.uint64)
    for place in range(RUN):  # hashes of hashes: overflow wraps around, as it should
        runs = runs * np.uint64(0x9E3779B97F4A7C15) + texts[place : place + len(runs)]
    _, first, which = np.unique(runs, return_index=True, return_inverse=True)
    begins = np.flatnonzero(first[which] <= np.arange(len(runs)) - RUN)
    for place in range(RUN):
        again[begins + place] = True
    return again


def _said_once(texts: pl.Series) -> Flags:
    """Return which lines say what no line says at another time of day."""
    sayings = pl.DataFrame({"text": texts, "said": texts.str.replace_all(_TIME, "")})
    once: Flags = sayings.select(pl.col("text").n_unique().over("said") == 1).to_series().to_numpy()
    return once


def _behind(times: Numbers, highest: int, none: int) -> Flags:
    """Return which lines have an earlier time than ``highest`` or a line before them; ``none`` stands for no time."""
    known = np.maximum.accumulate(np.concatenate(([highest], times)))
    behind: Flags = (times < known[:-1]) & (times != none)
    return behind
