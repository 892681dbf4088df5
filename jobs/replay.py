"""Replay: silver events -> facts of every node -> verdicts of every group -> gold tables, then one row in ``runs``.

That row publishes them: it names the version of every table; see :mod:`jobs.publish`. Two passes go through the core,
both by :func:`~jobs.map_partitions.map_partitions`. The fold sees the whole log of one node, in program order; the
judge sees the facts of one replica group. Only clusters with new events are replayed, and all of them when the rules
have changed.
"""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime
from operator import attrgetter
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from election_core import RULES_VERSION
from election_core import replay as core
from election_core.rows import TABLE_OF
from jobs import JobError
from jobs.map_partitions import Row, map_partitions, rows_of
from jobs.publish import Judged, hold_back, publish, stands, waits, write_run
from jobs.validate import LANDED, Check, check, record, stopped
from jobs.warehouse import Warehouse, any_of
from schemas import TABLES

FACTS = TABLES["facts"]
GOLD = tuple(TABLE_OF.values())
PROGRAM_ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_time", "fingerprint", "line_no")
WRITERS = 3
"""Tables written at once: their commits cost more than their rows."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clusters to judge: those named, and of them those with events of the nights (days UTC, both included).

    ``None`` is no limit. A cluster is always judged whole. What is selected is judged anew, whether it is new or not.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None


EVERYTHING = Selection()
NOTHING_SELECTED = "no event is landed of the clusters and nights that were asked for"


@dataclass(frozen=True, slots=True)
class Replay:
    """What one replay did; ``run_id`` is ``None`` when it published nothing.

    ``held`` are the clusters whose newest events are not published, ``checks`` what the gates found.
    """

    run_id: str | None
    clusters: tuple[str, ...] = ()
    events: int = 0
    held: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


NO_INVENTORY: core.Inventory = {}


def nothing_new(warehouse: Warehouse, inventory: core.Inventory = NO_INVENTORY) -> bool:
    """Whether what is published is all that there is to say, with this inventory.

    Raises :class:`~jobs.JobError` when nothing was ever landed.
    """
    if not (last_batch := warehouse.last_batch()):
        raise JobError(f"nothing is landed in {warehouse.root}: run `election-replay land` first")
    published = warehouse.published()
    return batch_published(warehouse, published, inventory) == last_batch and not held_by(published)


def replay(
    spark: SparkSession,
    warehouse: Warehouse,
    inventory: core.Inventory = NO_INVENTORY,
    selection: Selection = EVERYTHING,
    *,
    publishing: bool = True,
) -> Replay:
    """Replay what is new, or what is selected, and publish it as far as its gates hold.

    With ``publishing`` false the tables are written and their run is noted as judged; readers see nothing of it.
    """
    if selection == EVERYTHING and nothing_new(warehouse, inventory):
        return Replay(None)
    started, last_batch, before = datetime.now(UTC), warehouse.last_batch(), warehouse.published()
    since = batch_published(warehouse, before, inventory)
    if selection != EVERYTHING and waits(warehouse):
        raise JobError("a replay of everything waits to be published: publish it first, then judge a part anew")
    warehouse.create()
    landed = warehouse.landed(spark, "events", last_batch)
    pending = {*clusters_in(landed.where(F.col("batch") > since)), *held_by(before)}
    asked = pending if selection == EVERYTHING else set(selected(landed, selection))
    checks = check(warehouse, LANDED, asked)
    record(warehouse, checks)
    clusters = sorted(asked - stopped(checks, asked))
    held = sorted((pending | asked).difference(clusters))
    if not clusters and since == last_batch and held == held_by(before):
        return Replay(None, held=tuple(held), checks=tuple(checks))
    run_id = f"{started:%Y%m%dT%H%M%S.%fZ}-{last_batch}"
    events = landed.where(F.col("cluster").isin(clusters))
    everything = not since and not held
    if clusters or everything:
        write_gold(spark, events, warehouse, None if everything else any_of("cluster", clusters), run_id, inventory)
    if not since:
        hold_back(warehouse, held)
    nights = tuple(nights_of(events.where(F.col("batch") > since)))
    judged = Judged(run_id, started, last_batch, nights, tuple(clusters), inventory_version(inventory), tuple(held))
    if not publishing:
        write_run(warehouse, judged, "judged", held)
        return Replay(None, judged.clusters, events.count(), judged.held, tuple(checks))
    done = publish(warehouse, judged)
    return Replay(done.run_id, judged.clusters, events.count(), done.held, (*checks, *done.checks))


def held_by(published: Mapping[str, Any] | None) -> list[str]:
    """The clusters that have newer events than a run shows."""
    return sorted(published["held"] or ()) if published else []


def clusters_in(events: DataFrame) -> list[str]:
    """The clusters that events are of."""
    return sorted(row["cluster"] for row in events.select("cluster").distinct().collect())


def selected(events: DataFrame, selection: Selection) -> list[str]:
    """The clusters that a selection names, of those that have events. Raises :class:`JobError` if there are none."""
    if selection.clusters is not None:
        events = events.where(F.col("cluster").isin(list(selection.clusters)))
    if selection.since is not None:
        events = events.where(F.to_date("event_time") >= F.lit(selection.since))
    if selection.until is not None:
        events = events.where(F.to_date("event_time") <= F.lit(selection.until))
    found = clusters_in(events)
    if not found:
        raise JobError(NOTHING_SELECTED)
    return found


def batch_published(warehouse: Warehouse, published: Mapping[str, Any] | None, inventory: core.Inventory) -> int:
    """The last landing whose verdicts stand; 0 when everything must be judged anew.

    That is so under new rules, with another inventory, and when a replay was killed after it had written some tables.
    """
    if published is None or published["rules_version"] != RULES_VERSION:
        return 0
    if published["inventory_version"] != inventory_version(inventory):
        return 0
    return int(published["batch"]) if stands(warehouse, published) else 0


def inventory_version(inventory: core.Inventory) -> str:
    """A name for what an inventory says."""
    said = sorted((*source, listed.replica_group, listed.member or "") for source, listed in inventory.items())
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def write_gold(
    spark: SparkSession,
    events: DataFrame,
    warehouse: Warehouse,
    where: str | None,
    run_id: str,
    inventory: core.Inventory,
) -> None:
    """Fold, judge, and write all their tables."""
    facts = rows_of(folded(events, inventory), FACTS.name).sort(*FACTS.names)
    warehouse.replace(facts, FACTS.name, where, run_id)
    written = warehouse.read(spark, FACTS.name)
    verdicts = judged(written if where is None else written.where(where)).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        rows = verdicts.agg(*(F.count(table).alias(table) for table in GOLD)).first()
        to_write = [table for table in GOLD if (rows and rows[table]) or warehouse.count(table)]
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda table: write_table(verdicts, warehouse, table, where, run_id), to_write))
    finally:
        verdicts.unpersist()


def write_table(verdicts: DataFrame, warehouse: Warehouse, table: str, where: str | None, run_id: str) -> None:
    """Write one gold table, sorted by its key."""
    key = ("cluster", *(name for name in TABLES[table].key if name != "cluster"))
    rows = rows_of(verdicts, table).repartition("cluster").sortWithinPartitions(*key)
    warehouse.replace(rows, table, where, run_id)


def folded(events: DataFrame, inventory: core.Inventory = NO_INVENTORY) -> DataFrame:
    """The facts that each node's own log proves."""
    ordered = (
        events.select(*core.FOLD_COLUMNS, F.col("stream").contains("/").alias("is_snapshot"))
        .repartition("cluster", "source_node")
        .sortWithinPartitions(*PROGRAM_ORDER)
        .drop("is_snapshot")
    )
    return map_partitions(ordered, lambda batches: fold(batches, inventory), (FACTS.name,))


def judged(facts: DataFrame) -> DataFrame:
    """The verdicts on each replica group: one struct column for each gold table."""
    names = FACTS.names
    order = ("cluster", "replica_group", *(name for name in names if name not in {"cluster", "replica_group"}))
    grouped = facts.select(*names).repartition("cluster", "replica_group").sortWithinPartitions(*order)
    return map_partitions(grouped, judge, GOLD)


fact_values = attrgetter(*FACTS.names)
row_values = {kind: attrgetter(*TABLES[table].names) for kind, table in TABLE_OF.items()}


def fold(batches: Iterator[pa.RecordBatch], inventory: core.Inventory) -> Iterator[Row]:
    """The core's fold, its facts as rows."""
    for fact in core.fold(batches, inventory):
        yield FACTS.name, fact_values(fact)


def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
    """The core's judge, its verdicts as rows."""
    for row in core.judge(batches):
        yield TABLE_OF[type(row)], row_values[type(row)](row)


def nights_of(events: DataFrame) -> list[Any]:
    """The days of the events, UTC."""
    days = events.select(F.to_date("event_time").alias("day")).distinct().sort("day")
    return [row["day"] for row in days.collect()]


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/replay.py --warehouse DIR``."""
    from jobs.cli import main as command_line

    sys.exit(command_line(["replay", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
