"""The rows that a replay folds: checkpoints of former nights, and newer events.

A checkpoint and newer events together give the same facts as all events (:mod:`election_core.replay.checkpoint`). It is
valid only under the rules that made it. Without one, or if a late event needs lines that it does not hold, all events
are read.
"""

from dataclasses import replace

from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import FROM_CHECKPOINT
from election_replay.jobs.engines.duckdb_rows import without_null_columns
from election_replay.jobs.engines.engine import AfterOwn, Among, Condition, OneOf, Rows, null_of
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.replaying.source_delta import SOURCE

NEEDED = (*core.NEEDED_COLUMNS, FROM_CHECKPOINT)
"""Columns that the fold reads even if they are null in all rows."""


def rows_to_fold(work: Work) -> tuple[Rows, ...]:
    """Return the rows to fold: all of clusters that are judged whole, only those of touched sources of the others.

    They are input of :func:`election_core.replay.arrow_passes.fold`, without columns that are null in all rows.
    """
    extent, landed = work.extent, work.plan.landed
    going_on = tuple(sorted({*work.clusters} & {*extent.folded}))
    from_events = tuple(sorted({*work.clusters} - {*extent.folded}))
    reread = Among(SOURCE, frozenset(extent.reread))
    parts: list[Rows] = []
    if going_on:
        since = {cluster: extent.folded[cluster] for cluster in going_on}
        parts = [
            in_fold_columns(work.plan.checkpoints.where(OneOf("cluster", going_on)), old=True),
            in_fold_columns(landed.where(AfterOwn("batch", "cluster", since)), old=False),
        ]
    if extent.reread:
        parts = [part.where(replace(reread, wanted=False)) for part in parts]
        parts.append(in_fold_columns(landed.where(reread), old=False))
    if from_events or not parts:
        parts.append(in_fold_columns(landed.where(OneOf("cluster", from_events)), old=False))
    if extent.partly:
        asked: list[Condition] = [work.of_sources(), *([OneOf("cluster", extent.whole)] if extent.whole else [])]
        parts = [part.where(condition) for part in parts for condition in asked]
    return without_null_columns(work.warehouse, parts, NEEDED)


def in_fold_columns(rows: Rows, *, old: bool) -> Rows:
    """Return rows of checkpoints (``old``) or of events, with the columns that the fold reads."""
    if old:
        return rows.select(core.CHECKPOINT_COLUMNS, {FROM_CHECKPOINT: "true"})
    of_lived = {"until": "TIMESTAMP", "until_by": "TIMESTAMP", "until_event": "STRING"}
    ends = {name: null_of(kind) for name, kind in of_lived.items()}
    return rows.select(core.FOLD_COLUMNS, {**ends, FROM_CHECKPOINT: "false"})
