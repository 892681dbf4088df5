"""What is published as one DuckDB file, which any tool opens that knows DuckDB: no warehouse, no Spark, no network.

It holds the gold tables, the reviews and what was read of which file whole, with the types and comments of
:mod:`schemas`, and all views and table functions. Of lines, events and facts it holds those that a verdict names as
proof: a file for a person is not to grow with the logs.
"""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import duckdb

from election_replay.jobs import JobError
from election_replay.jobs.reading.duckdb_views import create_macros, create_views
from election_replay.jobs.reading.published import KeptNoLongerError, Published
from election_replay.jobs.warehouse.table_sets import CARRIED
from election_replay.schemas import TABLES, Table
from election_replay.schemas.model import View, sql_text
from election_replay.schemas.views import BEFORE, VIEWS

NOT_TOLD = ("open_facts", "quarantine", *CARRIED)
"""Those of which no row is in it."""

WHOLE = tuple(table.name for table in TABLES.values() if table.layer in {"gold", "side"} and table.name not in NOT_TOLD)
"""The tables that are in it whole."""

OF_PROOFS = {"events": "event_id", "log_lines": "event_id"}
"""Those of which the rows are that prove something: name -> the column that the proofs name."""

SOME = {
    "landed_files": "true",
    "facts": "kind = 'MEMBER_ADDRESS'",
    **dict.fromkeys(NOT_TOLD, "false"),
}
"""Those of which the rows are that a view reads, or that tell what was read."""


def write_database(published: Published, file: Path) -> int:
    """Write ``file`` all at once, in place of an older one; its size in bytes.

    Raises :class:`~jobs.JobError` where it cannot be written.
    """
    scratch = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        fill(published, scratch)
        scratch.replace(file)
    except OSError as error:
        raise JobError(f"cannot write {file}: {error.strerror}") from error
    except duckdb.IOException as error:
        raise JobError(f"cannot write {file}: {str(error).splitlines()[0]}") from error
    finally:
        scratch.unlink(missing_ok=True)
    return file.stat().st_size


def fill(published: Published, file: Path) -> None:
    """Make a new database of what is published."""
    with duckdb.connect(str(file)) as database:
        database.execute("SET TimeZone = 'UTC'")
        for name in WHOLE:
            make(published, database, TABLES[name], f"SELECT * FROM {name}")
        proofs = " UNION ".join(proving(TABLES[name]) for name in WHOLE if [*proof_columns(TABLES[name])])
        for name, column in OF_PROOFS.items():
            sql = f"SELECT * FROM {name} WHERE {column} IN ({proofs})"
            make(published, database, TABLES[name], sql)
        for name, condition in SOME.items():
            make(published, database, TABLES[name], f"SELECT * FROM {name} WHERE {condition}")
        create_macros(database)
        create_views(database, VIEWS, lasting=True, compared=compared(published, database))


def compared(published: Published, database: duckdb.DuckDBPyConnection) -> bool:
    """Make the tables of the run before, unless it is kept no longer."""
    try:
        for name in BEFORE:
            make(published, database, VIEWS[name], f"SELECT * FROM {name}")
    except KeptNoLongerError:
        for name in BEFORE:
            database.execute(f"DROP TABLE IF EXISTS {name}")
        return False
    return True


def make(published: Published, database: duckdb.DuckDBPyConnection, table: Table | View, sql: str) -> None:
    """One table with its rows, types and comments."""
    schema, batches = published.stream(sql)
    names = ", ".join(f'"{name}"' for name in table.names)
    database.register("given_rows", schema.empty_table())
    database.execute(f"CREATE TABLE {table.name} AS SELECT {names} FROM given_rows")
    for batch in batches:
        database.register("given_rows", batch)
        database.execute(f"INSERT INTO {table.name} SELECT {names} FROM given_rows")
    database.unregister("given_rows")
    only = " Here: what a verdict names as proof." if table.name in OF_PROOFS else ""
    database.execute(f"COMMENT ON TABLE {table.name} IS {sql_text(table.comment + only)}")
    for column in table.columns:
        database.execute(f'COMMENT ON COLUMN {table.name}."{column.name}" IS {sql_text(column.remark)}')


def proof_columns(table: Table) -> Iterator[str]:
    """The columns of a table that name events."""
    return (name for name in table.names if name == "evidence" or name.endswith("event_id"))


def proving(table: Table) -> str:
    """The events that a table names, as one column."""
    parts = [
        f"SELECT {'unnest(evidence)' if name == 'evidence' else name} FROM {table.name}"
        for name in proof_columns(table)
    ]
    return " UNION ".join(parts)
