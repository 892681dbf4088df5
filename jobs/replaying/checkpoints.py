"""What a replay reads: the checkpoints of former nights and the events that are new to them.

A checkpoint is worth what :mod:`election_core.replay.checkpoint` says: together with newer events it gives the facts
that all events give. It holds under the rules that made it. Where there is none, and where a late event asks for more
than it holds, the events themselves are read.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa

from election_core import RULES_VERSION
from election_core.replay import arrow_passes as core
from jobs.engines.engine import AfterOwn, Among, Condition, Dealing, OneOf, Rows
from jobs.replaying.news import SOURCE
from jobs.replaying.work import Work
from jobs.warehouse.data_files import DataFile
from jobs.warehouse.data_files import Rows as Batch
from schemas import TABLES

CHECKPOINTS = TABLES["replay_states"]


@dataclass(frozen=True, slots=True)
class Folding:
    """What is to be folded: rows as :func:`election_core.replay.arrow_passes.fold` wants them, and what is then new in
    the checkpoints.

    ``everything``: the new rows replace all. Otherwise those replace the ones of the clusters and sources that were
    read ``from_events``; all others come in addition: what a killed replay left is a checkpoint as good as any.
    """

    parts: tuple[Rows, ...]
    everything: bool
    from_events: tuple[Among, ...]


def checkpoints_of(version: int) -> Rows:
    """All checkpoints at a version of their table, as far as they hold under these rules."""
    return Rows(CHECKPOINTS.name, version).where(OneOf("rules_version", (RULES_VERSION,)))


def to_fold(work: Work, checkpoints: Rows) -> Folding:
    """The rows of all clusters of ``work``; where it does not judge them whole, of the sources touched alone."""
    extent, landed = work.extent, work.landed
    going_on = tuple(sorted({*work.clusters} & {*extent.folded}))
    from_events = tuple(sorted({*work.clusters} - {*extent.folded}))
    anew = Among(SOURCE, frozenset(extent.anew))
    parts: list[Rows] = []
    if going_on:
        since = {cluster: extent.folded[cluster] for cluster in going_on}
        parts = [
            in_fold_columns(checkpoints.where(OneOf("cluster", going_on)), old=True),
            in_fold_columns(landed.where(AfterOwn("batch", "cluster", since)), old=False),
        ]
    if extent.anew:
        parts = [part.where(replace(anew, wanted=False)) for part in parts]
        parts.append(in_fold_columns(landed.where(anew), old=False))
    if from_events or not parts:
        parts.append(in_fold_columns(landed.where(OneOf("cluster", from_events)), old=False))
    if extent.partly:
        asked: list[Condition] = [work.of_sources(), *([OneOf("cluster", extent.whole)] if extent.whole else [])]
        parts = [part.where(one) for part in parts for one in asked]
    clusters = Among(("cluster",), frozenset((cluster,) for cluster in from_events))
    gone = tuple(one for one in (clusters, anew) if one.keys)
    return Folding(tuple(parts), work.everything and not going_on, gone)


def in_fold_columns(rows: Rows, *, old: bool) -> Rows:
    """Rows of checkpoints (``old``) or events, in the columns that the fold reads."""
    if old:
        return rows.select(core.CHECKPOINT_COLUMNS, {core.FROM_CHECKPOINT: "true"})
    ends = {"until": "CAST(NULL AS TIMESTAMP)", "until_event": "CAST(NULL AS STRING)"}
    return rows.select(core.FOLD_COLUMNS, {**ends, core.FROM_CHECKPOINT: "false"})


def write_checkpoints(files: Iterable[DataFile], folding: Folding, work: Work) -> None:
    """Add what is new to the checkpoints, in place of what was read from its first event."""
    warehouse = work.warehouse
    version = warehouse.version(CHECKPOINTS.name)
    here = Rows(CHECKPOINTS.name, version)
    landings: tuple[str, ...] | None = None
    if not folding.everything:
        landings = landings_of(here, folding.from_events, work)
    if landings:
        files = [*files, *kept(here, landings, folding.from_events, work)]
    warehouse.replace(files, CHECKPOINTS.name, landings, work.run_id, version)


def landings_of(checkpoints: Rows, gone: Iterable[Among], work: Work) -> tuple[str, ...]:
    """The landings, which partition the table, of whose rows some are ``gone``."""
    if not work.warehouse.count(CHECKPOINTS.name):
        return ()
    sql = "SELECT DISTINCT batch FROM {rows}"
    answers = (work.engine.answer(work.warehouse, sql, checkpoints.where(one).select(("batch",))) for one in gone)
    return tuple(sorted({str(batch) for answer in answers for batch in answer.column("batch").to_pylist()}))


def kept(checkpoints: Rows, landings: Iterable[str], gone: Iterable[Among], work: Work) -> list[DataFile]:
    """The rows of those landings that stay, in files of their own."""
    rows = checkpoints.where(OneOf("batch", tuple(map(int, landings))), *(replace(one, wanted=False) for one in gone))
    dealing = Dealing(("batch",), ("batch",))
    rows = rows.select(CHECKPOINTS.names)
    return work.engine.map_partitions(work.warehouse, [rows], dealing, partial(as_they_are, table=CHECKPOINTS.name))


def as_they_are(batches: Iterator[pa.RecordBatch], table: str) -> Iterator[Batch]:
    """Rows of ``table``."""
    return ((table, batch) for batch in batches)
