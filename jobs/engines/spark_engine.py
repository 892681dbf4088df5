"""The engine over a Spark session: executors of a cluster, or of this machine.

Only here does Spark hand rows to Python. It carries the record batches of a partition to a plain generator. Rows of
judged tables go on to Delta's own writer; executors write all others into data files
(:mod:`jobs.warehouse.data_files`), and only the files' names go to the driver.
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

from election_replay.jobs.engines.duckdb_rows import (
    DRIVER_ANSWER_ROWS,
    DRIVER_ROWS,
    MEMORY,
    answer,
    are_few,
    database_in,
    in_order,
)
from election_replay.jobs.engines.engine import (
    NOTHING,
    Adding,
    After,
    AfterOwn,
    Among,
    Answer,
    BatchFunction,
    Condition,
    Item,
    NamedBy,
    OneOf,
    Partitioning,
    Rows,
    Simple,
    UpTo,
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
"""Characters that make Hadoop read a path as a glob. For a path of a file that cannot be switched off."""

NO_GLOB = {"__globPaths__": "false", "recursiveFileLookup": "true"}
"""Options by which Spark takes a single path literally. It would read each of several such paths several times."""


def read(spark: SparkSession, warehouse: Warehouse, table: str, version: int | None = None) -> DataFrame:
    """Return ``table`` at ``version``, by default the newest; a column that an older release did not write is null."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    found = reader.load(warehouse.location(table))
    newer = [column for column in TABLES[table].columns if column.name not in found.columns]
    nulls = {column.name: F.lit(None).cast(column.type.sql) for column in newer}
    return found.withColumns(nulls) if nulls else found


def read_files(spark: SparkSession, warehouse: Warehouse, table: str, paths: Sequence[str]) -> DataFrame:
    """Return the rows of data files of ``table`` that no commit names yet."""
    spark.conf.set("spark.databricks.delta.formatCheck.enabled", "false")
    location, reader = warehouse.location(table), spark.read.schema(TABLES[table].ddl())
    if not PATTERN.search(location):
        return reader.parquet(*(f"{location}/{path}" for path in paths))
    every = reader.options(**NO_GLOB).parquet(location)
    return every.where(F.col("_metadata.file_name").isin([PurePosixPath(path).name for path in paths]))


MAX_IN_LIST = 1_000
"""Lists of more texts than this are joined instead of put into the plan."""

LITTLE_SETTING = "spark.electionReplay.little"
"""The session's setting of the most rows that the driver folds or judges itself."""

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
"""The output column with the data files that executors wrote."""


class SparkEngine:
    """Moves batches with a Spark session."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._driver_rows = int(session.conf.get(LITTLE_SETTING, None) or DRIVER_ROWS)

    @property
    def title(self) -> str:
        """Return Spark's version and master, for a line of progress."""
        return f"{self.session.version} on {self.session.sparkContext.master}"

    @property
    def tasks(self) -> int:
        """Return the number of partitions of a shuffle."""
        return int(self.session.conf.get("spark.sql.shuffle.partitions") or 1)

    @property
    def one_machine(self) -> bool:
        """Return False."""
        return False

    def cores_for(self, size: int) -> int:  # noqa: ARG002 - a cluster is already running
        """Return all cores of the cluster."""
        return self.session.sparkContext.defaultParallelism

    def prewarm(self, size: int) -> None:
        """Do nothing: the cluster is already running."""

    def progress(self) -> tuple[int, int] | None:
        """Return (completed tasks, tasks) of the running stages; ``None`` if none runs."""
        tracker = self.session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        running = [stage for stage in stages if stage is not None]
        if not running:
            return None
        return sum(stage.numCompletedTasks for stage in running), sum(stage.numTasks for stage in running)

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Apply ``work`` to each item in a task of its own."""
        if not items:
            return []

        def on_executor(item: Item) -> Answer:
            prepare_worker()
            return work(item)

        return self.session.sparkContext.parallelize(items, len(items)).map(on_executor).collect()

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:  # noqa: ARG002 - Spark partitions rows itself
        """Return the result of Spark SQL, or of DuckDB on the driver where the rows are so few that it is faster.

        All columns are nullable, as in DuckDB's results, so that both kinds can be concatenated.
        """
        if are_few(warehouse, [rows], DRIVER_ANSWER_ROWS):
            return answer(warehouse, sql, rows)
        found = self.session.sql(sql, rows=self.frame(warehouse, [rows])).toArrow()
        return found.cast(pa.schema([field.with_nullable(True) for field in found.schema]))

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: BatchFunction,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """Shuffle and sort once and run ``work`` on executors; few rows the driver does itself, which is faster."""
        if are_few(warehouse, parts, self._driver_rows):
            with database_in(MEMORY, 1) as (database, scratch):
                read = in_order(database, scratch, warehouse, parts, by)
                return adding.commit(warehouse, write_data_files(work(read), warehouse.root))
        frame = partitioned_and_sorted(self.frame(warehouse, parts), by)
        return written(frame, work, warehouse, adding)

    def frame(self, warehouse: Warehouse, parts: Sequence[Rows]) -> DataFrame:
        """Return the rows of all ``parts``."""
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


def written(frame: DataFrame, work: BatchFunction, warehouse: Warehouse, adding: Adding) -> list[DataFile]:
    """Run ``work`` on each partition; Delta's own writer adds its rows of the tables of ``adding``.

    Executors write all other rows below the warehouse; return their data files.
    """
    root, tables = warehouse.root, adding.tables
    shape = pa.schema({FILES: pa.struct(list(DATA_FILE))} | {name: struct_of(name) for name in tables})

    def on_executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        apart: dict[str, list[tuple[Any, ...]]] = {name: [] for name in tables}
        files = write_data_files(without_tables(work(iter(batches)), apart), root)
        if files:
            yield as_struct_column(
                shape, FILES, pa.RecordBatch.from_pylist([asdict(file) for file in files], DATA_FILE)
            )
        for name, rows in apart.items():
            for begin in range(0, len(rows), ROW_GROUP):
                yield as_struct_column(shape, name, record_batch(TABLES[name], rows[begin : begin + ROW_GROUP]))

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
    """Append rows to a table by Delta's own writer: one commit, files of about ``FILE_ROWS`` rows, sorted by group.

    Liquid clustering would let readers skip no more, and delta-rs, and so the local engine, could not write to it.
    """
    tasks = 1 + count // FILE_ROWS
    in_parts = rows.coalesce(1) if tasks == 1 else rows.repartitionByRange(tasks, *GROUP)
    in_parts.sortWithinPartitions(*GROUP).write.format("delta").mode("append").option("userMetadata", note).save(
        warehouse.location(table)
    )
    warehouse.unpin(table)


def without_tables(output: Iterable[Row | Batch], apart: Mapping[str, list[tuple[Any, ...]]]) -> Iterator[Row | Batch]:
    """Yield ``output`` without single rows of the tables in ``apart``, and append those to ``apart``."""
    for name, rows in output:
        if name in apart and isinstance(rows, tuple):
            apart[name].append(rows)
        else:
            yield name, rows


def struct_of(table: str) -> pa.StructType:
    """Return the struct type of a row of ``table``, with all fields nullable."""
    return pa.struct([field.with_nullable(True) for field in TABLES[table].arrow_schema()])


def as_struct_column(shape: pa.Schema, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch of ``shape`` with ``rows`` as structs in the column ``name``; all other columns are null."""
    fields = [field.with_nullable(True) for field in rows.schema]
    values = pa.StructArray.from_arrays(rows.columns, fields=fields)
    columns = [values if field.name == name else pa.nulls(rows.num_rows, field.type) for field in shape]
    return pa.RecordBatch.from_arrays(columns, schema=shape)


def partitioned_and_sorted(frame: DataFrame, by: Partitioning) -> DataFrame:
    """Return the rows partitioned to tasks, and sorted within each."""
    return frame.repartition(*partitioned(by)).sortWithinPartitions(*(F.expr(column) for column in by.order))


def as_keys(condition: Condition) -> Condition:
    """Turn a condition on very many texts into a join, as each text would be part of Spark's plan."""
    if isinstance(condition, OneOf) and len(condition.values) > MAX_IN_LIST and isinstance(condition.values[0], str):
        return Among((condition.column,), frozenset((str(value),) for value in condition.values))
    return condition


def fits(condition: Simple) -> Column:
    """Convert a condition to a Spark column."""
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
    """Return the columns to partition by; rows of one key come to one task."""
    cluster, *rest = (F.col(name) for name in by.key)
    if by.splits_by_cluster is None or not rest:
        return [cluster, *rest]
    return [cluster, F.coalesce(F.pmod(F.hash(*rest), number_of(cluster, by.splits_by_cluster)), F.lit(0))]


def number_of(text: Column, numbers: Mapping[str, int]) -> Column:
    """Return the number of a text in ``numbers``, null for other texts.

    It is one flat CASE with a branch for each number: nested branches for each text would overflow the stack of
    Spark's planner from some hundred texts on.
    """
    texts_of: dict[int, list[str]] = defaultdict(list)
    for name, number in sorted(numbers.items()):
        texts_of[number].append(name)
    chosen = F.when(F.lit(col=False), 0)
    for number, texts in sorted(texts_of.items()):
        chosen = chosen.when(text.isin(texts), number)
    return chosen
