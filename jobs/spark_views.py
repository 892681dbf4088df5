"""The published tables and the views over them, in any Spark session; in duckdb see :mod:`jobs.reading`.

    from jobs.spark_views import register
    register(spark, "/data/warehouse")
    spark.sql("SELECT * FROM current").show()

Every table is read at the version that the last published run names, so that one session never sees half a night.
"""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from jobs.engines.spark_tables import read
from jobs.reading.given_rows import with_rows
from jobs.warehouse.warehouse import Warehouse
from schemas import TABLES, Table
from schemas.model import Column, Parameter, View, sql_text
from schemas.views import VIEWS


def register(spark: SparkSession, warehouse: str) -> dict[str, Any]:
    """Make tables, views and functions known to a Spark session, as temporary ones; the published run that they show.

    Call it again to see a newer run. Raises :class:`~jobs.JobError` when nothing is published in ``warehouse``.
    """
    from jobs.engines.spark_session import OLD_VERSIONS

    for name, value in OLD_VERSIONS.items():
        spark.conf.set(name, value)
    tables = Warehouse(warehouse)
    run = tables.last_run()
    versions = tables.published_versions(run)
    for name, table in TABLES.items():
        rows = read(spark, tables, name, versions[name]) if name in versions else empty(spark, table)
        rows.createOrReplaceTempView(name)
    for view in VIEWS.values():
        spark.sql(in_spark(with_rows(view, sql_text)))
    return run


def empty(spark: SparkSession, table: Table) -> DataFrame:
    """A table of which an older release knew nothing."""
    return spark.createDataFrame([], table.ddl())


def in_spark(view: View) -> str:
    """The statement that creates a view or function in a Spark session."""
    if view.parameters:
        parameters = ", ".join(map(_spark_parameter, view.parameters))
        columns = ", ".join(map(_spark_column, view.columns))
        return (
            f"CREATE OR REPLACE TEMPORARY FUNCTION {view.name}({parameters}) RETURNS TABLE({columns}) "
            f"COMMENT {sql_text(view.comment)} RETURN {view.sql}"
        )
    columns = ", ".join(f"`{column.name}` COMMENT {sql_text(column.remark)}" for column in view.columns)
    return f"CREATE OR REPLACE TEMPORARY VIEW {view.name} ({columns}) COMMENT {sql_text(view.comment)} AS {view.sql}"


def _spark_parameter(parameter: Parameter) -> str:
    default = f" DEFAULT CAST({parameter.default} AS {parameter.type.sql})" if parameter.default else ""
    return f"{parameter.name} {parameter.type.sql}{default} COMMENT {sql_text(parameter.comment)}"


def _spark_column(column: Column) -> str:
    return f"`{column.name}` {column.type.sql} COMMENT {sql_text(column.remark)}"
