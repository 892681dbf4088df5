"""Lines that the fold passes over: it takes their times as signs of life, and makes no Python object of them.

Most lines of a usual night are such: lines that no protocol reads, and periodic ones that repeat what was said. Whole
columns decide which. What is passed over lies within a run of :mod:`election_core.fold.periodic`, of which the fold
reads the first lines, the last growth of the count and the last line: so the facts, and the checkpoint, are those of
all lines.
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
"""One for each row of a batch."""

FILE = ("cluster", "source_node", "stream", "fingerprint")
"""What tells files apart."""
_CLOCK = ("clock_bound_ms", "time_resolution_ms")
"""What a clock's times are worth."""

_SIGNS = ("event_time", "time_resolution_ms", "event_id", "kind", "node")
"""What is known of a row that is passed over."""
_COUNTS = {periodic.counts for periodic in PERIODIC.values() if periodic.counts is not None}


@dataclass(frozen=True, slots=True)
class PassedOver:
    """The rows of a batch that are ``read``, and ``signs`` of those that are not.

    ``before`` says of each row that is read how many of the ``rows`` that are passed over stand before it. They belong
    to its file.
    """

    read: pa.RecordBatch
    rows: pa.RecordBatch
    signs: Signs
    before: list[int]


def pass_over(batch: pa.RecordBatch, high: int | None) -> PassedOver:
    """Part the rows of a batch, sorted as the fold takes them, into those that the fold reads and all others.

    The latest time that was read before in the file of the first row is ``high``.
    """
    over = _passed_over(batch, high)
    read, rows = batch.filter(pa.array(~over)), _columns(batch, _SIGNS).filter(pa.array(over))
    signs = Signs(*times(rows), rows.column("event_id"))
    return PassedOver(read, rows, signs, np.cumsum(over)[~over].tolist())


def times(batch: pa.RecordBatch) -> tuple[Numbers, Numbers]:
    """When each row was written, microseconds UTC: not before the first time, and not after the second one."""
    since = batch.column("event_time").cast(pa.int64()).to_numpy(zero_copy_only=False)
    width = pc.fill_null(batch.column("time_resolution_ms"), 0).to_numpy(zero_copy_only=False)
    return since, since + width * US_PER_MS


def _columns(batch: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """Those of these columns that the batch has."""
    return batch.select([name for name in names if name in batch.schema.names])


def _passed_over(batch: pa.RecordBatch, high: int | None) -> Flags:
    """Which rows the fold passes over: each goes on from the row before it, and the next one from it, in one file and
    by one clock. Rows of checkpoints are read."""
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
    behind_unsteady = np.append(False, ~steady[:-1])[: len(at)]  # what is read out of order is no part of a run
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
    """Whether each value differs from the one before it; the first one does. No value is null."""
    differs = pc.not_equal(column.slice(1), column.slice(0, max(len(column) - 1, 0)))
    flags: Flags = np.append(True, differs.to_numpy(zero_copy_only=False))
    return flags[: len(column)]


def _among(kinds: pa.DictionaryArray, wanted: Collection[str]) -> Flags:
    """Whether the kind of each row is wanted."""
    wanted_words = np.array([kind in wanted for kind in kinds.dictionary.to_pylist()], bool)
    flags: Flags = wanted_words[kinds.indices.to_numpy(zero_copy_only=False)]
    return flags


def _repeat(rows: pa.RecordBatch, kinds: pa.DictionaryArray, at: Numbers, runs: Numbers) -> Flags:
    """Which periodic rows the fold can do without. ``runs`` are those of lines of other kinds; a run also ends where a
    kind says something else than before, or may do so as the first of its kind in the batch."""
    kind = kinds.indices.to_numpy(zero_copy_only=False)
    order, first = _grouped(kind, runs)
    says_else = np.empty(len(kind), bool)
    says_else[order] = ~first & _differs(rows, order)
    says_else[np.unique(kind, return_index=True)[1]] = True  # nobody knows here what it said before the batch
    order, first = _grouped(kind, runs + np.cumsum(says_else))
    settles = np.array([PERIODIC[name].settles if name in PERIODIC else 0 for name in kinds.dictionary.to_pylist()])
    since = at[order][first][np.cumsum(first) - 1]
    unsettled = np.append(0, at[order][:-1]) - since < settles[kind[order]]
    last = np.append(first[1:], True)
    needed = first | last | unsettled
    for name in _COUNTS.intersection(rows.schema.names):
        needed |= _last_growth(rows.column(name).take(pa.array(order)), first)
    repeat = np.empty(len(kind), bool)
    repeat[order] = ~needed
    return repeat


def _grouped(kind: Numbers, runs: Numbers) -> tuple[Numbers, Flags]:
    """An order in which the rows of one kind in one run stand together, and which of them is the first of each."""
    order = np.lexsort((kind, runs))
    later = (np.diff(runs[order]) != 0) | (np.diff(kind[order]) != 0)
    return order, np.append(True, later)


def _differs(rows: pa.RecordBatch, order: Numbers) -> Flags:
    """Whether each row, in this order, says something else than the one before it, but for the count."""
    differs = np.zeros(rows.num_rows, bool)
    for name in rows.schema.names:
        column = rows.column(name).is_null() if name in _COUNTS else rows.column(name).dictionary_encode("encode")
        codes = column.to_numpy(zero_copy_only=False) if name in _COUNTS else column.indices.to_numpy()
        differs[1:] |= np.diff(codes[order]) != 0
    return differs


def _last_growth(counts: pa.Array, first: Flags) -> Flags:
    """In each group, of which ``first`` marks the first row: the last whose count is larger than that of the row before
    it, and that row."""
    known, count = counts.is_valid().to_numpy(zero_copy_only=False), counts.fill_null(0).to_numpy(zero_copy_only=False)
    grew = np.zeros(len(first), bool)
    grew[1:] = ~first[1:] & known[1:] & known[:-1] & (count[1:] > count[:-1])
    last = np.maximum.reduceat(np.where(grew, np.arange(len(grew)), -1), np.flatnonzero(first))
    last = last[last >= 0]
    marked = np.zeros(len(first), bool)
    marked[last] = marked[last - 1] = True
    return marked
