"""What a replay reads: the states of former nights and the events that are new to them.

A state is worth what :mod:`election_core.replay.checkpoint` says: together with newer events it gives the facts that
all events
give. It holds under the rules that made it. Where there is none, and where a late event asks for more than it holds,
the events themselves are read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_core import RULES_VERSION
from election_core.replay import arrow_passes as core
from jobs.engines.spark_tables import read, replace_where
from jobs.replaying.news import SOURCE
from jobs.replaying.work import Work
from jobs.warehouse.data_files import DataFile
from jobs.warehouse.warehouse import Warehouse, any_of
from schemas import TABLES

STATES = TABLES["replay_states"]


@dataclass(frozen=True, slots=True)
class Folding:
    """What is to be folded: rows as :func:`election_core.replay.arrow_passes.fold` wants them, and what is then new in
    the states.

    ``replaces`` is the condition of the rows of states that the new ones replace; ``None``: of all. Where it is empty,
    they come in addition: what a killed replay left is a state as good as any.
    """

    rows: DataFrame
    replaces: str | None


def checkpoints_of(spark: SparkSession, warehouse: Warehouse) -> DataFrame:
    """All states, as far as they hold under these rules."""
    rows = read(spark, warehouse, STATES.name, warehouse.version(STATES.name))
    return rows.where(F.col("rules_version") == RULES_VERSION)


def to_fold(work: Work, states: DataFrame) -> Folding:
    """The rows of all clusters of ``work``; where it does not judge them whole, of the sources touched alone."""
    going_on = sorted({*work.clusters} & {*work.extent.folded})
    from_events = sorted({*work.clusters} - {*work.extent.folded})
    parts = [
        in_fold_columns(states.where(F.col("cluster").isin(going_on)), old=True),
        in_fold_columns(newer(work.landed, {cluster: work.extent.folded[cluster] for cluster in going_on}), old=False),
    ]
    if work.extent.anew:
        anew = work.named(work.extent.anew)
        parts = [part.join(anew, SOURCE, "left_anti") for part in parts]
        parts.append(in_fold_columns(work.landed.join(anew, SOURCE, "left_semi"), old=False))
    if from_events:
        parts.append(in_fold_columns(work.landed.where(F.col("cluster").isin(from_events)), old=False))
    rows = reduce(DataFrame.unionByName, parts if going_on else parts[-1:])
    if work.extent.partly:
        whole = rows.where(F.col("cluster").isin(list(work.extent.whole)))
        rows = rows.join(work.named(work.extent.touched), SOURCE, "left_semi").unionByName(whole)
    if work.everything and not going_on:
        return Folding(rows, None)
    return Folding(rows, replaced(there(work.warehouse, from_events), from_events, going_on, work))


def write_states(files: Iterable[DataFile], folding: Folding, work: Work) -> None:
    """Add what is new to the states."""
    if folding.replaces:
        replace_where(work.spark, work.warehouse, files, STATES.name, folding.replaces, work.run_id)
    else:
        partitions = None if folding.replaces is None else ()
        work.warehouse.replace(files, STATES.name, partitions, work.run_id)


def newer(landed: DataFrame, since: Mapping[str, int]) -> DataFrame:
    """The events of each cluster that were landed after a landing of its own."""
    by_batch: dict[int, list[str]] = {}
    for cluster, batch in since.items():
        by_batch.setdefault(batch, []).append(cluster)
    chosen = F.lit(False)
    for batch, clusters in sorted(by_batch.items()):
        chosen = chosen | ((F.col("batch") > batch) & F.col("cluster").isin(clusters))
    return landed.where(F.col("batch") > min(by_batch, default=0)).where(chosen)


def in_fold_columns(rows: DataFrame, *, old: bool) -> DataFrame:
    """Rows of states (``old``) or events, in the columns that the fold reads."""
    ends = (
        () if old else (F.lit(None).cast("timestamp").alias("until"), F.lit(None).cast("string").alias("until_event"))
    )
    names = core.CHECKPOINT_COLUMNS if old else core.FOLD_COLUMNS
    return rows.select(*names, *ends, F.lit(old).alias(core.FROM_CHECKPOINT))


def there(warehouse: Warehouse, clusters: Collection[str]) -> set[str]:
    """Those of ``clusters`` that have states, of whatever rules."""
    chosen = pc.field("cluster").isin(sorted(clusters))
    batches = warehouse.dataset(STATES.name).to_batches(["cluster"], filter=chosen) if clusters else ()
    return {cluster for batch in batches for cluster in pc.unique(batch.column(0)).to_pylist()}


def replaced(outdated: Collection[str], from_events: Collection[str], going_on: Iterable[str], work: Work) -> str:
    """The condition of the rows of states that are written anew; it fits all new rows. Empty where none is."""
    if not outdated and not work.extent.anew:
        return ""
    growing = [one for one in going_on if work.extent.folded[one] < work.last_batch]
    conditions = [any_of("cluster", from_events)] if from_events else []
    conditions += [f"(batch = {work.last_batch} AND {any_of('cluster', growing)})"] if growing else []
    for cluster, source_node in work.extent.anew:
        conditions.append(f"({any_of('cluster', [cluster])} AND {any_of('source_node', [source_node])})")
    return " OR ".join(conditions)
