"""The views over the published tables, in duckdb."""

import duckdb

from jobs.reading.given_rows import with_rows
from schemas.views import DUCKDB_MACROS, VIEWS


def create_in_duckdb(database: duckdb.DuckDBPyConnection) -> None:
    """Create all views and functions, with their comments, over tables that ``database`` knows by name."""
    for macro in DUCKDB_MACROS:
        database.execute(macro)
    for view in (with_rows(one, _quoted) for one in VIEWS.values()):
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
