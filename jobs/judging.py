"""The work of a replay: events -> facts of every node -> verdicts of every group -> gold tables.

Two passes go through the core, both by :func:`~jobs.map_partitions.map_partitions`. The fold sees the log of one node,
in program order: the state of the nights before and what is new. The judge sees the facts of one replica group. Of a
cluster that is not done whole, only the nodes with new events are folded, and only the groups of which they speak are
judged; the rows of all others are taken over as they are.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from operator import attrgetter

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from election_core import RULES_VERSION
from election_core import replay as core
from election_core.facts import Fact
from election_core.rows import TABLE_OF
from jobs.map_partitions import Row, map_partitions, rows_of
from jobs.news import SOURCE
from jobs.states import STATES, to_fold
from jobs.work import NO_INVENTORY, Work
from schemas import TABLES

FACTS = TABLES["facts"]
GOLD = tuple(TABLE_OF.values())
GROUP = ["cluster", "replica_group"]
PROGRAM_ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_time", "fingerprint", "line_no")
KEPT = StorageLevel.DISK_ONLY
"""Where the rows of many tables wait to be written: memory is for sorting, and a small lot stays in the cache."""
WRITERS = 3
"""Tables written at once: their commits cost more than their rows."""


def judge_all(work: Work, states: DataFrame) -> None:
    """Fold, judge, and write facts, states and gold tables."""
    folding = to_fold(work, states)
    told = folded(folding.rows, work.inventory).persist(KEPT)
    try:
        write_facts(told, work)
        # Last: Spark forgets what it keeps of a plan as soon as a table that the plan reads is written.
        write_states(told, folding.replaces, work)
    finally:
        told.unpersist()
    write_gold(work)


def write_facts(told: DataFrame, work: Work) -> None:
    """Write the facts of what was folded; those of the other nodes stay as they are."""
    facts = rows_of(told, FACTS.name)
    if work.extent.partly:
        facts = facts.unionByName(work.old(FACTS.name).join(work.named(work.extent.touched), SOURCE, "left_anti"))
    work.warehouse.replace(facts.sort(*GROUP, "source_node"), FACTS.name, work.where, work.run_id)


def write_states(told: DataFrame, replaces: str | None, work: Work) -> None:
    """Add what is new to the states."""
    rows = rows_of(told, STATES.name)
    rows = rows.withColumns({"batch": F.lit(work.last_batch).cast("bigint"), "rules_version": F.lit(RULES_VERSION)})
    work.warehouse.replace(rows.sortWithinPartitions(*SOURCE), STATES.name, replaces, work.run_id)


def write_gold(work: Work) -> None:
    """Judge the facts and write the gold tables."""
    facts, groups = work.newest(FACTS.name), None
    if work.extent.partly:
        partly = facts.where(F.col("cluster").isin(list(work.extent.partly)))
        spoken_of = partly.unionByName(work.old(FACTS.name))
        spoken_of = spoken_of.join(work.named(work.extent.touched), SOURCE, "left_semi")
        groups = spoken_of.select(*GROUP).distinct().persist(StorageLevel.MEMORY_AND_DISK)
        whole = facts.where(F.col("cluster").isin(list(work.extent.whole)))
        facts = partly.join(F.broadcast(groups), GROUP, "left_semi").unionByName(whole)
    verdicts = judged(facts).persist(KEPT)
    try:
        rows = verdicts.agg(*(F.count(table).alias(table) for table in GOLD)).first()
        to_write = [table for table in GOLD if (rows and rows[table]) or work.warehouse.count(table)]
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(lambda table: write_table(verdicts, groups, work, table), to_write))
    finally:
        verdicts.unpersist()


def write_table(verdicts: DataFrame, groups: DataFrame | None, work: Work, table: str) -> None:
    """Write one gold table, sorted by its key."""
    key = ("cluster", *(name for name in TABLES[table].key if name != "cluster"))
    rows = rows_of(verdicts, table).select(*TABLES[table].names)
    if groups is not None:
        rows = rows.unionByName(work.old(table).join(F.broadcast(groups), GROUP, "left_anti"))
    work.warehouse.replace(rows.repartition("cluster").sortWithinPartitions(*key), table, work.where, work.run_id)


def folded(rows: DataFrame, inventory: core.Inventory = NO_INVENTORY) -> DataFrame:
    """The facts that each node's own log proves, and what is new in its state: from the rows of :mod:`jobs.states`."""
    work = partial(fold, inventory=inventory)
    return map_partitions(in_program_order(rows), work, (FACTS.name, STATES.name))


def in_program_order(rows: DataFrame) -> DataFrame:
    """The rows of each node together and in the order in which it wrote them, its snapshots last."""
    return (
        rows.withColumn("is_snapshot", F.col("stream").contains("/"))
        .repartition(*SOURCE)
        .sortWithinPartitions(*PROGRAM_ORDER)
        .drop("is_snapshot")
    )


def judged(facts: DataFrame) -> DataFrame:
    """The verdicts on each replica group: one struct column for each gold table."""
    return map_partitions(in_group_order(facts), judge, GOLD)


def in_group_order(facts: DataFrame) -> DataFrame:
    """The facts of each replica group together; the judge brings them into an order of its own."""
    return facts.select(*FACTS.names).repartition(*GROUP).sortWithinPartitions(*GROUP)


fact_values = attrgetter(*FACTS.names)
row_values = {kind: attrgetter(*TABLES[table].names) for kind, table in TABLE_OF.items()}


def fold(batches: Iterator[pa.RecordBatch], inventory: core.Inventory) -> Iterator[Row]:
    """The core's fold, its facts and states as rows."""
    for told in core.fold(batches, inventory):
        if isinstance(told, Fact):
            yield FACTS.name, fact_values(told)
        else:
            yield STATES.name, told


def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
    """The core's judge, its verdicts as rows."""
    for row in core.judge(batches):
        yield TABLE_OF[type(row)], row_values[type(row)](row)
