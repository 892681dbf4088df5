"""Prefilter: rows that the fold skips; it takes their times as signs of life and makes no Python object of them.

Most lines of a usual night are skipped: lines that no protocol reads, and periodic ones that repeat their content. The
decision is made on whole columns. Skipped rows lie within a run of :mod:`election_core.fold.periodic`, of which the
fold reads the first lines, the last growth of the count and the last line; so facts and checkpoint are those of all
lines.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.fold.process_runs import Numbers, Signs
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.replay.checkpoint import FROM_CHECKPOINT
from election_replay.election_core.replay.registry import PERIODIC, PERIODIC_FIELDS
from election_replay.election_core.replay.source_fold import INTERESTING

Flags: TypeAlias = npt.NDArray[np.bool_]
"""One flag for each row of a batch."""

FILE = ("cluster", "source_node", "stream", "fingerprint")
"""The columns that identify a file."""
_CLOCK = ("clock_bound_ms", "time_resolution_ms")
"""The columns with the accuracy of a clock's times."""

_SIGNS = ("event_time", "time_resolution_ms", "event_id", "kind", "node")
"""The columns that are kept of a skipped row."""
_COUNTS = {periodic.counts for periodic in PERIODIC.values() if periodic.counts is not None}


@dataclass(frozen=True, slots=True)
class PassedOver:
    """The rows of a batch to ``read``, and the skipped ``rows`` with their ``signs`` of life. ``before`` holds, for
    each row to read, how many skipped rows precede it in the batch; they belong to its file."""

    read: pa.RecordBatch
    rows: pa.RecordBatch
    signs: Signs
    before: list[int]


def pass_over(batch: pa.RecordBatch, high: int | None) -> PassedOver:
    """Split the rows of a batch, sorted as the fold takes them, into rows to read and rows to skip. ``high`` is the
    latest time read before in the file of the first row."""
    over = _skipped(batch, high)
    read, rows = batch.filter(pa.array(~over)), _columns(batch, _SIGNS).filter(pa.array(over))
    signs = Signs(*times(rows), rows.column("event_id"))
    return PassedOver(read, rows, signs, np.cumsum(over)[~over].tolist())


def times(batch: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """Return the (earliest, latest) times in us UTC at which the rows were written."""
    since = batch.column("event_time").cast(pa.int64()).to_numpy(zero_copy_only=False)
    width = pc.fill_null(batch.column("time_resolution_ms"), 0).to_numpy(zero_copy_only=False)
    return since, since + width * US_PER_MS


def _columns(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Return the given columns as far as the batch has them."""
    return batch.select([name for name in names if name in batch.schema.names])


def _skipped(batch: pa.RecordBatch, high: int | None) -> Flags:
    """Return which rows the fold skips: rows that continue from the row before and are continued by the next one. All
    three are in one file and by one clock. Rows of checkpoints are never skipped."""
    at, _ = times(batch)
    begins = np.logical_or.reduce([_changed(batch.column(name).fill_null("")) for name in FILE])
    files = np.cumsum(begins)
    ranks = np.unique(at, return_inverse=True)[1] + files * len(at)
    steady = ranks == np.maximum.accumulate(ranks)
    if high is not None:
        steady &= (files > 1) | (at >= high)
    rises = ~begins & (np.diff(at, prepend=at[:1]) > 0)
    kinds = batch.column("kind").fill_null("").dictionary_encode()
    interesting, periodic = _among(kinds, INTERESTING), _among(kinds, PERIODIC)
    old = np.zeros(len(at), bool)
    if FROM_CHECKPOINT in batch.schema.names:
        old = batch.column(FROM_CHECKPOINT).to_numpy(zero_copy_only=False)
    another_clock = np.logical_or.reduce([_changed(batch.column(name).fill_null(0)) for name in _CLOCK])
    behind_unsteady = np.append(False, ~steady[:-1])[: len(at)]  # a row that is out of order breaks a run
    over: Flags = steady & ~behind_unsteady & rises & ~another_clock & ~old & (periodic | ~interesting)
    over[:-1] &= rises[1:]
    over[-1:] = False
    runs = np.cumsum(begins | old | ~steady | behind_unsteady | (interesting & ~periodic))
    numbers = np.flatnonzero(periodic)
    if len(numbers):
        rows = _columns(batch, PERIODIC_FIELDS).take(pa.array(numbers))
        over[numbers] &= _repeat(rows, kinds.take(pa.array(numbers)), at[numbers], runs[numbers])
    return over


def _changed(column: pa.Array) -> Flags:
    """Return whether each value differs from the one before it; True for the first. No value may be null."""
    differs = pc.not_equal(column.slice(1), column.slice(0, max(len(column) - 1, 0)))
    flags: Flags = np.append(True, differs.to_numpy(zero_copy_only=False))
    return flags[: len(column)]


def _among(kinds: pa.DictionaryArray, wanted: Collection[str]) -> Flags:
    """Return whether the kind of each row is wanted."""
    wanted_words = np.array([kind in wanted for kind in kinds.dictionary.to_pylist()], bool)
    flags: Flags = wanted_words[kinds.indices.to_numpy(zero_copy_only=False)]
    return flags


def _repeat(rows: pa.RecordBatch, kinds: pa.DictionaryArray, at: Numbers, runs: Numbers) -> Flags:
    """Return which periodic rows the fold can do without. ``runs`` numbers the runs between lines of other kinds. A run
    also ends where a kind changes its content, or may do so as the first of its kind in the batch."""
    kind = kinds.indices.to_numpy(zero_copy_only=False)
    order, first = _grouped(kind, runs)
    says_else = np.empty(len(kind), bool)
    says_else[order] = ~first & _differs(rows, order)
    says_else[np.unique(kind, return_index=True)[1]] = True  # its content before the batch is unknown
    order, first = _grouped(kind, runs + np.cumsum(says_else))
    named = kinds.dictionary.to_pylist()
    unstable_for = np.array([PERIODIC[name].unstable_for_us if name in PERIODIC else 0 for name in named])
    since = at[order][first][np.cumsum(first) - 1]
    unstable = np.append(0, at[order][:-1]) - since < unstable_for[kind[order]]
    last = np.append(first[1:], True)
    needed = first | last | unstable
    for name in _COUNTS.intersection(rows.schema.names):
        needed |= _last_growth(rows.column(name).take(pa.array(order)), first)
    repeat = np.empty(len(kind), bool)
    repeat[order] = ~needed
    return repeat


def _grouped(kind: Numbers, runs: Numbers) -> tuple[Numbers, Flags]:
    """Return an order that groups the rows of one kind and run, and flags for the first row of each group."""
    order = np.lexsort((kind, runs))
    later = (np.diff(runs[order]) != 0) | (np.diff(kind[order]) != 0)
    return order, np.append(True, later)


def _differs(rows: pa.RecordBatch, order: Numbers) -> Flags:
    """Return whether each row, in this order, differs from the one before it, apart from the count."""
    differs = np.zeros(rows.num_rows, bool)
    for name in rows.schema.names:
        column = rows.column(name).is_null() if name in _COUNTS else rows.column(name).dictionary_encode("encode")
        codes = column.to_numpy(zero_copy_only=False) if name in _COUNTS else column.indices.to_numpy()
        differs[1:] |= np.diff(codes[order]) != 0
    return differs


def _last_growth(counts: pa.Array, first: Flags) -> Flags:
    """Return flags for the last row of each group whose count exceeds that of the row before it, and for that row.
    ``first`` flags the first row of each group."""
    known, count = counts.is_valid().to_numpy(zero_copy_only=False), counts.fill_null(0).to_numpy(zero_copy_only=False)
    grew = np.zeros(len(first), bool)
    grew[1:] = ~first[1:] & known[1:] & known[:-1] & (count[1:] > count[:-1])
    last = np.maximum.reduceat(np.where(grew, np.arange(len(grew)), -1), np.flatnonzero(first))
    last = last[last >= 0]
    marked = np.zeros(len(first), bool)
    marked[last] = marked[last - 1] = True
    return marked
