"""What a replay reads: the states of former nights and the events that are new to them.

A state is worth what :mod:`election_core.memory` says: together with newer events it gives the facts that all events
give. It holds under the rules that made it. Where there is none, and where a late event asks for more than it holds,
the events themselves are read.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_core import RULES_VERSION
from election_core import replay as core
from jobs.news import SOURCE
from jobs.warehouse import Warehouse, any_of
from jobs.work import Work
from schemas import TABLES

STATES = TABLES["replay_states"]


@dataclass(frozen=True, slots=True)
class Folding:
    """What is to be folded: rows as :func:`election_core.replay.fold` wants them, and what is then new in the states.

    ``replaces`` is the condition of the rows of states that the new ones replace; ``None``: of all.
    """

    rows: DataFrame
    replaces: str | None


def states_of(spark: SparkSession, warehouse: Warehouse) -> DataFrame:
    """All states, as far as they hold under these rules."""
    rows = warehouse.read(spark, STATES.name, warehouse.version(STATES.name))
    return rows.where(F.col("rules_version") == RULES_VERSION)


def to_fold(work: Work, states: DataFrame) -> Folding:
    """The rows of all clusters of ``work``; where it does not judge them whole, of the sources touched alone."""
    going_on = sorted({*work.clusters} & {*work.extent.folded})
    from_events = sorted({*work.clusters} - {*work.extent.folded})
    parts = [
        remembered(states.where(F.col("cluster").isin(going_on)), old=True),
        remembered(newer(work.landed, {cluster: work.extent.folded[cluster] for cluster in going_on}), old=False),
    ]
    if work.extent.anew:
        anew = work.named(work.extent.anew)
        parts = [part.join(anew, SOURCE, "left_anti") for part in parts]
        parts.append(remembered(work.landed.join(anew, SOURCE, "left_semi"), old=False))
    if from_events:
        parts.append(remembered(work.landed.where(F.col("cluster").isin(from_events)), old=False))
    rows = reduce(DataFrame.unionByName, parts if going_on else parts[-1:])
    if work.extent.partly:
        whole = rows.where(F.col("cluster").isin(list(work.extent.whole)))
        rows = rows.join(work.named(work.extent.touched), SOURCE, "left_semi").unionByName(whole)
    if work.everything and not going_on:
        return Folding(rows, None)
    return Folding(rows, replaced(from_events, work.extent.anew, going_on, work))


def newer(landed: DataFrame, since: Mapping[str, int]) -> DataFrame:
    """The events of each cluster that were landed after a landing of its own."""
    by_batch: dict[int, list[str]] = {}
    for cluster, batch in since.items():
        by_batch.setdefault(batch, []).append(cluster)
    chosen = F.lit(False)
    for batch, clusters in sorted(by_batch.items()):
        chosen = chosen | ((F.col("batch") > batch) & F.col("cluster").isin(clusters))
    return landed.where(F.col("batch") > min(by_batch, default=0)).where(chosen)


def remembered(rows: DataFrame, *, old: bool) -> DataFrame:
    """Rows of states (``old``) or events, in the columns that the fold reads."""
    ends = (
        () if old else (F.lit(None).cast("timestamp").alias("until"), F.lit(None).cast("string").alias("until_event"))
    )
    names = core.STATE_COLUMNS if old else core.FOLD_COLUMNS
    return rows.select(*names, *ends, F.lit(old).alias(core.REMEMBERED))


def replaced(from_events: Collection[str], anew: Iterable[tuple[str, str]], going_on: Iterable[str], work: Work) -> str:
    """The condition of the rows of states that are written anew, or that a killed replay may have left."""
    conditions = ["false"]
    if from_events:
        conditions.append(any_of("cluster", from_events))
    if growing := [one for one in going_on if work.extent.folded[one] < work.last_batch]:
        conditions.append(f"(batch = {work.last_batch} AND {any_of('cluster', growing)})")
    for cluster, source_node in anew:
        conditions.append(f"({any_of('cluster', [cluster])} AND {any_of('source_node', [source_node])})")
    return " OR ".join(conditions)
