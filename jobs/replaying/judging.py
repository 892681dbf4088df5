"""The work of a replay: events -> facts of every node -> verdicts of every group -> gold tables.

Two passes go through the core, both by :func:`~jobs.engines.map_partitions.map_partitions`. The fold sees the log of
one node,
in program order: the state of the nights before and what is new. The judge sees the facts of one replica group. Of a
cluster that is not done whole, only the nodes with new events are folded, and only the groups of which they speak are
judged; the rows of all others are taken over as they are.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from operator import attrgetter

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from election_core import RULES_VERSION
from election_core.model.facts import Fact
from election_core.model.rows import TABLE_OF
from election_core.replay import arrow_passes as core
from election_core.replay.fact_rows import values_of
from jobs.engines.map_partitions import map_partitions
from jobs.replaying.checkpoints import CHECKPOINTS, to_fold, write_checkpoints
from jobs.replaying.news import SOURCE
from jobs.replaying.work import Work
from jobs.warehouse.data_files import DataFile, Row, Rows
from schemas import TABLES

FACTS = TABLES["facts"]
GOLD = tuple(TABLE_OF.values())
GROUP = ["cluster", "replica_group"]
PROGRAM_ORDER = ("cluster", "source_node", "is_snapshot", "stream", "file_time", "fingerprint", "line_no")

Pieces = Mapping[str, int]
"""Over how many tasks a cluster is dealt; one that is not named stays together, so that its rows come into one file."""


def judge_all(work: Work, checkpoints: DataFrame) -> None:
    """Fold, judge, and write facts, checkpoints and gold tables."""
    folding = to_fold(work, checkpoints)
    files = folded(folding.rows, work.warehouse.root, work.last_batch, work.inventory, work.pieces)
    write_facts(files, work)
    write_checkpoints(files, folding, work)
    write_gold(work)


def write_facts(files: list[DataFile], work: Work) -> None:
    """Write the facts of what was folded; those of the other nodes stay as they are."""
    if work.extent.partly:
        others = work.old(FACTS.name).join(work.named(work.extent.touched), SOURCE, "left_anti")
        files = [*files, *taken_over(others, FACTS.name, work)]
    work.warehouse.replace(files, FACTS.name, work.partitions, work.run_id)


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
    files = judged(facts, work.warehouse.root, work.pieces)
    tables = {file.table for file in files}
    for table in GOLD:
        if table in tables or work.warehouse.count(table):
            write_table(files, groups, work, table)
    if groups is not None:
        groups.unpersist()


def write_table(files: list[DataFile], groups: DataFrame | None, work: Work, table: str) -> None:
    """Write one gold table."""
    if groups is not None:
        others = work.old(table).join(F.broadcast(groups), GROUP, "left_anti")
        files = [*files, *taken_over(others, table, work)]
    work.warehouse.replace(files, table, work.partitions, work.run_id)


def taken_over(rows: DataFrame, table: str, work: Work) -> list[DataFile]:
    """Rows that stay as they are, in files of their own."""
    together = rows.select(*TABLES[table].names).repartition("cluster").sortWithinPartitions(*GROUP)
    return map_partitions(together, partial(as_they_are, table=table), work.warehouse.root)


def as_they_are(batches: Iterator[pa.RecordBatch], table: str) -> Iterator[Rows]:
    """Rows of ``table``."""
    return ((table, batch) for batch in batches)


def folded(
    rows: DataFrame, root: str, batch: int, inventory: core.Inventory = core.NO_INVENTORY, pieces: Pieces | None = None
) -> list[DataFile]:
    """The facts that each node's own log proves, and what is new in its checkpoint: from the rows of
    :mod:`jobs.replaying.checkpoints`.

    ``batch`` is the last landing of whose events some are in ``rows``.
    """
    work = partial(fold, inventory=inventory, batch=batch)
    return map_partitions(in_program_order(rows, pieces), work, root)


def in_program_order(rows: DataFrame, pieces: Pieces | None = None) -> DataFrame:
    """The rows of each node together and in the order in which it wrote them, its snapshots last."""
    return (
        rows.withColumn("is_snapshot", F.col("stream").contains("/"))
        .repartition(*dealt("source_node", pieces))
        .sortWithinPartitions(*PROGRAM_ORDER)
        .drop("is_snapshot")
    )


def judged(facts: DataFrame, root: str, pieces: Pieces | None = None) -> list[DataFile]:
    """The verdicts on each replica group, in files of the gold tables."""
    return map_partitions(in_group_order(facts, pieces), judge, root)


def in_group_order(facts: DataFrame, pieces: Pieces | None = None) -> DataFrame:
    """The facts of each replica group together; the judge brings them into an order of its own."""
    return facts.select(*FACTS.names).repartition(*dealt("replica_group", pieces)).sortWithinPartitions(*GROUP)


def dealt(by: str, pieces: Pieces | None) -> list[Column]:
    """By what rows are dealt to tasks: those of a cluster and one value of the column ``by`` come to one task."""
    if pieces is None:
        return [F.col("cluster"), F.col(by)]
    piece = F.lit(0)
    for cluster, number in sorted(pieces.items()):
        piece = F.when(F.col("cluster") == cluster, F.pmod(F.hash(by), F.lit(number))).otherwise(piece)
    return [F.col("cluster"), piece]


fact_values = values_of(FACTS.names)
row_values = {kind: attrgetter(*TABLES[table].names) for kind, table in TABLE_OF.items()}


def fold(batches: Iterator[pa.RecordBatch], inventory: core.Inventory, batch: int) -> Iterator[Row | Rows]:
    """The core's fold, its facts and checkpoints as rows."""
    for output in core.fold(batches, inventory):
        if isinstance(output, Fact):
            yield FACTS.name, fact_values(output)
        else:
            yield CHECKPOINTS.name, stamped(output, batch)


def stamped(rows: pa.RecordBatch, batch: int) -> pa.RecordBatch:
    """Rows of checkpoints, with what they hold for."""
    count = rows.num_rows
    stamps = {"batch": pa.repeat(batch, count), "rules_version": pa.repeat(RULES_VERSION, count)}
    return pa.RecordBatch.from_arrays([*rows.columns, *stamps.values()], names=[*rows.schema.names, *stamps])


def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[Row]:
    """The core's judge, its verdicts as rows."""
    for row in core.judge(batches):
        yield TABLE_OF[type(row)], row_values[type(row)](row)
