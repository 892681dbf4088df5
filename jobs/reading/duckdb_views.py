"""Creates the views over published tables in DuckDB."""

import re
from collections.abc import Collection

import duckdb

from election_replay.jobs.reading.given_rows import with_rows
from election_replay.schemas import TABLES
from election_replay.schemas.model import View, sql_text
from election_replay.schemas.views import BEFORE, DUCKDB_MACROS, VIEWS

NAMES = frozenset((*TABLES, *BEFORE, *VIEWS))
"""All names of tables and views."""

WORD = re.compile(r"\w+")
ALIAS = re.compile(r"\bas\s+\w+")
"""A name that a query gives; it may be that of a view."""


def create_macros(database: duckdb.DuckDBPyConnection) -> None:
    """Create the functions of the shared SQL that DuckDB has under other names than Spark."""
    for macro in DUCKDB_MACROS:
        database.execute(macro)


def create_views(
    database: duckdb.DuckDBPyConnection, names: Collection[str], *, lasting: bool = False, compared: bool = True
) -> None:
    """Create views and table functions, with their comments, over tables registered in ``database``.

    ``lasting``: store them in the database file. Unless ``compared``, views that read the run before are left out.
    """
    views = (view for view in VIEWS.values() if view.name in names and view.name not in BEFORE)
    kind = "" if lasting else "TEMPORARY "
    for view in (with_rows(view, sql_text) for view in views if compared or not compares(view)):
        if view.parameters:
            given = ", ".join(
                parameter.name + (f" := {parameter.default}" if parameter.default else "")
                for parameter in view.parameters
            )
            database.execute(f"CREATE {kind}MACRO {view.name}({given}) AS TABLE {view.sql}")
            continue
        database.execute(f"CREATE {kind}VIEW {view.name} AS {view.sql}")
        database.execute(f"COMMENT ON VIEW {view.name} IS {sql_text(view.comment)}")
        for column in view.columns:
            database.execute(f"COMMENT ON COLUMN {view.name}.{column.name} IS {sql_text(column.remark)}")


def read_by(sql: str) -> set[str]:
    """Return the tables and views that a query may read: those that it names, and those that these views name."""
    found: set[str] = set()
    unread = [sql]
    while unread:
        new = NAMES.intersection(WORD.findall(ALIAS.sub("", unread.pop().lower()))) - found
        found |= new
        unread += [VIEWS[name].sql for name in new if name in VIEWS]
    return found


def compares(view: View | None) -> bool:
    """Return True for a view that reads tables of the run before."""
    return view is not None and any(before in view.sql for before in BEFORE)
