"""The published tables and the views over them, in duckdb and in any Spark session.

    from jobs.views import register
    register(spark, "/data/warehouse")
    spark.sql("SELECT * FROM current").show()

Every table is read at the version that the last published run names, so that one session never sees half a night.
"""

from typing import TYPE_CHECKING, Any

from jobs.warehouse import Warehouse
from schemas.model import Column, Parameter, View, sql_text
from schemas.views import DUCKDB_MACROS, VIEWS

if TYPE_CHECKING:
    import duckdb
    from pyspark.sql import SparkSession


def register(spark: "SparkSession", warehouse: str) -> dict[str, Any]:
    """Make tables, views and functions known to a Spark session, as temporary ones; the published run that they show.

    Call it again to see a newer run. Raises :class:`~jobs.JobError` when nothing is published in ``warehouse``.
    """
    from jobs.session import OLD_VERSIONS

    for name, value in OLD_VERSIONS.items():
        spark.conf.set(name, value)
    tables = Warehouse(warehouse)
    run = tables.last_run()
    for name, version in tables.published_versions(run).items():
        tables.read(spark, name, version).createOrReplaceTempView(name)
    for view in VIEWS.values():
        spark.sql(in_spark(view))
    return run


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


def _spark_parameter(one: Parameter) -> str:
    default = f" DEFAULT CAST({one.default} AS {one.type.sql})" if one.default else ""
    return f"{one.name} {one.type.sql}{default} COMMENT {sql_text(one.comment)}"


def _spark_column(column: Column) -> str:
    return f"`{column.name}` {column.type.sql} COMMENT {sql_text(column.remark)}"


def create_in_duckdb(database: "duckdb.DuckDBPyConnection") -> None:
    """Create all views and functions, with their comments, over tables that ``database`` knows by name."""
    for macro in DUCKDB_MACROS:
        database.execute(macro)
    for view in VIEWS.values():
        if view.parameters:
            given = ", ".join(one.name + (f" := {one.default}" if one.default else "") for one in view.parameters)
            database.execute(f"CREATE MACRO {view.name}({given}) AS TABLE {view.sql}")
            continue
        database.execute(f"CREATE TEMPORARY VIEW {view.name} AS {view.sql}")
        database.execute(f"COMMENT ON VIEW {view.name} IS {_quoted(view.comment)}")
        for column in view.columns:
            database.execute(f"COMMENT ON COLUMN {view.name}.{column.name} IS {_quoted(column.remark)}")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
