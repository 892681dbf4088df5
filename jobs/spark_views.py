"""The published tables and the views over them, in any Spark session; for DuckDB see :mod:`jobs.reading`.

    from election_replay.jobs.spark_views import register
    register(spark, "/data/warehouse")
    spark.sql("SELECT * FROM current").show()

Every table is read at the version that the last published run names, so that one session never sees half a night.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_replay.jobs.engines.spark_engine import read
from election_replay.jobs.faults import Damaged
from election_replay.jobs.reading.given_rows import with_rows
from election_replay.jobs.reading.published import KeptNoLongerError
from election_replay.jobs.warehouse.pointer import PUBLISHED, current_rows_sql, pointer_of
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES, Table
from election_replay.schemas.model import Column, Parameter, View, spark_text
from election_replay.schemas.views import BEFORE, VIEWS


def register(spark: SparkSession, warehouse: str) -> dict[str, Any]:
    """Register temporary tables, views and functions in a Spark session, and return the published run that they show.

    Call it again to see a newer run. Raises :class:`~jobs.JobError` if nothing is published in ``warehouse``.
    """
    tables = Warehouse(warehouse)
    run = tables.last_run()
    register_run(spark, tables, run)
    return run


def register_run(spark: SparkSession, tables: Warehouse, run: Mapping[str, Any]) -> None:
    """Register tables, views and functions of a published run in a Spark session."""
    from election_replay.jobs.engines.spark_session import OLD_VERSIONS

    for name, value in OLD_VERSIONS.items():
        spark.conf.set(name, value)
    for name, table in TABLES.items():
        as_published(spark, tables, table, run).createOrReplaceTempView(name)
    before = tables.run_before(run)
    for view in VIEWS.values():
        if source := BEFORE.get(view.name):
            of_run(spark, tables, TABLES[source], before).createOrReplaceTempView(view.name)
            continue
        spark.sql(in_spark(with_rows(view, spark_text)))


def of_run(spark: SparkSession, tables: Warehouse, table: Table, run: Mapping[str, Any] | None) -> DataFrame:
    """Return a table as a former run left it; empty without a run.

    Reading a run that upkeep has erased fails with :class:`KeptNoLongerError`'s message.
    """
    if run is None or table.name not in run["versions"]:
        return empty(spark, table)
    try:
        tables.dataset(table.name, run["versions"][table.name])
        if table.by_run:
            tables.dataset(PUBLISHED, pointer_of(tables, run))
    except Damaged:
        refusal = F.raise_error(F.lit(str(KeptNoLongerError(run["run_id"]))))
        nulls = [F.lit(None).cast(column.type.sql).alias(column.name) for column in table.columns]
        return spark.range(1).where(refusal.isNull()).select(*nulls)
    return as_published(spark, tables, table, run)


def as_published(spark: SparkSession, tables: Warehouse, table: Table, run: Mapping[str, Any]) -> DataFrame:
    """Return a table as a run published it; of a judged table the rows that the run's pointer names."""
    version = tables.published_version(run, table.name)
    if version is None:
        return empty(spark, table)
    if not table.by_run:
        return read(spark, tables, table.name, version)
    pointer = read(spark, tables, PUBLISHED, pointer_of(tables, run))
    every = read(spark, tables, table.name)
    return spark.sql(current_rows_sql(table, "{every}", "{pointer}"), every=every, pointer=pointer)


def empty(spark: SparkSession, table: Table) -> DataFrame:
    """Return a table without rows."""
    return spark.createDataFrame([], table.ddl())


def in_spark(view: View, *, temporary: bool = True) -> str:
    """Return the statement that creates a view or function, temporary or in the current schema."""
    create = f"CREATE OR REPLACE {'TEMPORARY ' if temporary else ''}"
    comment = f"COMMENT {spark_text(view.comment)}"
    if not view.parameters:
        return f"{create}VIEW {view.name} ({comments_of(view.columns)}) {comment} AS {view.sql}"
    parameters = ", ".join(map(_spark_parameter, view.parameters))
    columns = ", ".join(map(_spark_column, view.columns))
    return f"{create}FUNCTION {view.name}({parameters}) RETURNS TABLE({columns}) {comment} RETURN {view.sql}"


def comments_of(columns: Iterable[Column]) -> str:
    """Return the SQL of a view's columns with their comments."""
    return ", ".join(f"`{column.name}` COMMENT {spark_text(column.remark)}" for column in columns)


def _spark_parameter(parameter: Parameter) -> str:
    default = f" DEFAULT CAST({parameter.default} AS {parameter.type.sql})" if parameter.default else ""
    return f"{parameter.name} {parameter.type.sql}{default} COMMENT {spark_text(parameter.comment)}"


def _spark_column(column: Column) -> str:
    return f"`{column.name}` {column.type.sql} COMMENT {spark_text(column.remark)}"
