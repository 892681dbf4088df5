"""Spark as an engine: over the executors of a cluster, or of this machine.

The one place where Spark hands rows to Python. Spark carries record batches of a partition to a plain generator. What
that tells of judged tables goes on to Delta's own writer; all else goes from its executor into data files
(:mod:`jobs.warehouse.data_files`), and only their names go on to the driver.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from election_replay.jobs.engines.duckdb_rows import FEW, LITTLE, MEMORY, answer, are_few, database_in, in_order
from election_replay.jobs.engines.engine import (
    NOTHING,
    Adding,
    After,
    AfterOwn,
    Among,
    Answer,
    Condition,
    Item,
    NamedBy,
    OneOf,
    Partitioning,
    Rows,
    Simple,
    UpTo,
    Work,
)
from election_replay.jobs.engines.python_worker import prepare_worker
from election_replay.jobs.warehouse.data_files import (
    FILE_ROWS,
    ROW_GROUP,
    DataFile,
    Row,
    record_batch,
    write_data_files,
)
from election_replay.jobs.warehouse.data_files import Rows as Batch
from election_replay.jobs.warehouse.pointer import GROUP
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

PATTERN = re.compile(r"[*?{}\[\]\\]")
"""What makes Hadoop take a path for a pattern; of a file it cannot be told otherwise, ``a:b`` stands in no pattern."""

WORD_FOR_WORD = {"__globPaths__": "false", "recursiveFileLookup": "true"}
"""Options of Spark by which a single path is none. Of several such paths it would read each several times."""


def read(spark: SparkSession, warehouse: Warehouse, table: str, version: int | None = None) -> DataFrame:
    """The rows of ``table``, the newest by default. A column that an older release did not write is null."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    found = reader.load(warehouse.location(table))
    newer = [column for column in TABLES[table].columns if column.name not in found.columns]
    nulls = {column.name: F.lit(None).cast(column.type.sql) for column in newer}
    return found.withColumns(nulls) if nulls else found


def read_files(spark: SparkSession, warehouse: Warehouse, table: str, paths: Sequence[str]) -> DataFrame:
    """The rows of data files of ``table`` that no commit names yet."""
    spark.conf.set("spark.databricks.delta.formatCheck.enabled", "false")
    location, reader = warehouse.location(table), spark.read.schema(TABLES[table].ddl())
    if not PATTERN.search(location):
        return reader.parquet(*(f"{location}/{path}" for path in paths))
    every = reader.options(**WORD_FOR_WORD).parquet(location)
    return every.where(F.col("_metadata.file_name").isin([PurePosixPath(path).name for path in paths]))


MANY = 1_000
"""More texts than these are joined with the rows that they choose."""

LITTLE_SETTING = "spark.electionReplay.little"
"""The setting of a session that says how many rows, at most, its driver folds or judges by itself."""

DATA_FILE = pa.schema(
    {
        "table": pa.string(),
        "partition": pa.string(),
        "path": pa.string(),
        "size": pa.int64(),
        "rows": pa.int64(),
        "stats": pa.string(),
    }
)


FILES = "data_file"
"""The column of what executors have written themselves."""


class SparkEngine:
    """Moves batches by a Spark session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._little = int(session.conf.get(LITTLE_SETTING, None) or LITTLE)

    @property
    def title(self) -> str:
        """Spark's version and master."""
        return f"{self.session.version} on {self.session.sparkContext.master}"

    @property
    def tasks(self) -> int:
        """The partitions of a shuffle."""
        return int(self.session.conf.get("spark.sql.shuffle.partitions") or 1)

    @property
    def one_machine(self) -> bool:
        """A cluster has more."""
        return False

    def cores_for(self, size: int) -> int:  # noqa: ARG002 - a cluster is there, however little there is to do
        """All cores of the cluster."""
        return self.session.sparkContext.defaultParallelism

    def prewarm(self, size: int) -> None:
        """Nothing: a cluster is there."""

    def progress(self) -> tuple[int, int] | None:
        """The tasks of the running stages."""
        tracker = self.session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        running = [stage for stage in stages if stage is not None]
        if not running:
            return None
        return sum(stage.numCompletedTasks for stage in running), sum(stage.numTasks for stage in running)

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """A task for each item."""
        if not items:
            return []

        def on_executor(item: Item) -> Answer:
            prepare_worker()
            return work(item)

        return self.session.sparkContext.parallelize(items, len(items)).map(on_executor).collect()

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:  # noqa: ARG002 - Spark deals rows itself
        """By Spark SQL; what is so little that Spark would take longer to begin, by the driver itself.

        DuckDB's answers may hold nulls in every column, and so that either may stand behind the other, do Spark's.
        """
        if are_few(warehouse, [rows], FEW):
            return answer(warehouse, sql, rows)
        found = self.session.sql(sql, rows=self.frame(warehouse, [rows])).toArrow()
        return found.cast(pa.schema([field.with_nullable(True) for field in found.schema]))

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: Work,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """One shuffle, one sort within partitions; what is so little that Spark would take longer, by the driver."""
        if are_few(warehouse, parts, self._little):
            with database_in(MEMORY, 1) as (database, scratch):
                read = in_order(database, scratch, warehouse, parts, by)
                return adding.commit(warehouse, write_data_files(work(read), warehouse.root))
        frame = dealt_and_sorted(self.frame(warehouse, parts), by)
        return written(frame, work, warehouse, adding)

    def frame(self, warehouse: Warehouse, parts: Sequence[Rows]) -> DataFrame:
        """The rows of all ``parts``."""
        return reduce(DataFrame.unionByName, (self._part(warehouse, part) for part in parts))

    def _part(self, warehouse: Warehouse, rows: Rows) -> DataFrame:
        if rows.files:
            frame = read_files(self.session, warehouse, rows.table, rows.files)
        else:
            version = warehouse.version(rows.table) if rows.version is None else rows.version
            frame = read(self.session, warehouse, rows.table, version)
        for condition in map(as_keys, rows.conditions):
            match condition:
                case Among():
                    frame = self._among(frame, condition)
                case NamedBy(columns, others):
                    frame = frame.join(self._part(warehouse, others.select(columns)), list(columns), "left_semi")
                case _:
                    frame = frame.where(fits(condition))
        also = [F.expr(sql).alias(name) for name, sql in rows.also.items()]
        return frame.select(*(rows.columns or frame.columns), *also)

    def _among(self, frame: DataFrame, condition: Among) -> DataFrame:
        ddl = ", ".join(f"`{name}` STRING" for name in condition.columns)
        keys = F.broadcast(self.session.createDataFrame(sorted(condition.keys), ddl))
        return frame.join(keys, list(condition.columns), "left_semi" if condition.wanted else "left_anti")


def written(frame: DataFrame, work: Work, warehouse: Warehouse, adding: Adding) -> list[DataFile]:
    """What ``work`` makes of the rows of each partition: Delta's own writer adds it to the tables of ``adding``.

    The rest executors write below the warehouse themselves; the answer are its files.
    """
    root, tables = warehouse.root, adding.tables
    shape = pa.schema({FILES: pa.struct(list(DATA_FILE))} | {name: struct_of(name) for name in tables})

    def on_executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        apart: dict[str, list[tuple[Any, ...]]] = {name: [] for name in tables}
        files = write_data_files(kept_apart(work(iter(batches)), apart), root)
        if files:
            yield in_shape_of(shape, FILES, pa.RecordBatch.from_pylist([asdict(file) for file in files], DATA_FILE))
        for name, rows in apart.items():
            for begin in range(0, len(rows), ROW_GROUP):
                yield in_shape_of(shape, name, record_batch(TABLES[name], rows[begin : begin + ROW_GROUP]))

    output = frame.mapInArrow(on_executor, from_arrow_schema(shape)).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        counts = output.agg(*(F.count(name).alias(name) for name in shape.names)).toArrow().to_pylist()[0]
        for name in tables:
            if counts[name]:
                add(
                    output.where(F.col(name).isNotNull()).select(f"{name}.*"),
                    warehouse,
                    name,
                    counts[name],
                    adding.note,
                )
        files = output.where(F.col(FILES).isNotNull()).select(f"{FILES}.*").toArrow().to_pylist()
    finally:
        output.unpersist()
    return [DataFile(**row) for row in files]


def add(rows: DataFrame, warehouse: Warehouse, table: str, count: int, note: str) -> None:
    """Add rows to a table by Delta's own writer: one commit, in files of about so many rows, each of some groups.

    Liquid clustering would say no more, and then delta-rs could not write to the table, which the local engine does.
    """
    tasks = 1 + count // FILE_ROWS
    in_parts = rows.coalesce(1) if tasks == 1 else rows.repartitionByRange(tasks, *GROUP)
    in_parts.sortWithinPartitions(*GROUP).write.format("delta").mode("append").option("userMetadata", note).save(
        warehouse.location(table)
    )
    warehouse.changed(table)


def kept_apart(output: Iterable[Row | Batch], apart: Mapping[str, list[tuple[Any, ...]]]) -> Iterator[Row | Batch]:
    """What is told, but for the rows of some tables, which come into ``apart``."""
    for name, rows in output:
        if name in apart and isinstance(rows, tuple):
            apart[name].append(rows)
        else:
            yield name, rows


def struct_of(table: str) -> pa.StructType:
    """A row of a table as one value."""
    return pa.struct([field.with_nullable(True) for field in TABLES[table].arrow_schema()])


def in_shape_of(shape: pa.Schema, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as the values of one column of ``shape``; all others are null."""
    fields = [field.with_nullable(True) for field in rows.schema]
    values = pa.StructArray.from_arrays(rows.columns, fields=fields)
    columns = [values if field.name == name else pa.nulls(rows.num_rows, field.type) for field in shape]
    return pa.RecordBatch.from_arrays(columns, schema=shape)


def dealt_and_sorted(frame: DataFrame, by: Partitioning) -> DataFrame:
    """Rows dealt to tasks, and sorted there."""
    return frame.repartition(*partitioned(by)).sortWithinPartitions(*(F.expr(column) for column in by.order))


def as_keys(condition: Condition) -> Condition:
    """A condition with very many texts as one that Spark joins: each of them would be a part of its plan."""
    if isinstance(condition, OneOf) and len(condition.values) > MANY and isinstance(condition.values[0], str):
        return Among((condition.column,), frozenset((str(value),) for value in condition.values))
    return condition


def fits(condition: Simple) -> Column:
    """A condition as Spark's."""
    match condition:
        case OneOf(column, values):
            return F.col(column).isin(list(values))
        case After(column, number):
            return F.col(column) > number
        case UpTo(column, number):
            return F.col(column) <= number
        case AfterOwn(column, by, numbers):
            least = min(numbers.values(), default=0)
            return (F.col(column) > least) & (F.col(column) > number_of(F.col(by), numbers))


def partitioned(by: Partitioning) -> list[Column]:
    """By what rows are dealt to tasks: those of one key come to one task."""
    cluster, *rest = (F.col(name) for name in by.key)
    if by.splits_by_cluster is None or not rest:
        return [cluster, *rest]
    return [cluster, F.coalesce(F.pmod(F.hash(*rest), number_of(cluster, by.splits_by_cluster)), F.lit(0))]


def number_of(text: Column, numbers: Mapping[str, int]) -> Column:
    """The number that belongs to a text; null where none does.

    It is one flat CASE with a branch for each number: a branch inside a branch for each text would overflow the stack
    of Spark's planner from some hundred texts on.
    """
    texts_of: dict[int, list[str]] = defaultdict(list)
    for name, number in sorted(numbers.items()):
        texts_of[number].append(name)
    chosen = F.when(F.lit(col=False), 0)
    for number, texts in sorted(texts_of.items()):
        chosen = chosen.when(text.isin(texts), number)
    return chosen
