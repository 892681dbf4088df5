"""Writes what is published as one DuckDB file, for tools without a warehouse, Spark or network.

The file has the gold tables, the reviews and the ledger of files, with the types and comments of :mod:`schemas`, and
all views and table functions. Of lines and events it has only those that prove something, so that its size does not
grow with the logs.
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

EMPTY = ("open_facts", "quarantine", *CARRIED)
"""Tables that are empty in the file."""

WHOLE = tuple(table.name for table in TABLES.values() if table.layer in {"gold", "side"} and table.name not in EMPTY)
"""Tables that are complete in the file."""

OF_PROOFS = {"events": "event_id", "log_lines": "event_id"}
"""Tables of which only rows that prove something are in the file: name -> column that proofs refer to."""

FILTERED = {
    "landed_files": "true",
    "facts": "kind = 'MEMBER_ADDRESS'",
    **dict.fromkeys(EMPTY, "false"),
}
"""Tables of which only rows that match a SQL condition are in the file: name -> condition."""


def write_database(published: Published, file: Path) -> int:
    """Write ``file`` atomically, in place of an older one, and return its size in bytes.

    Raises :class:`~jobs.JobError` if it cannot be written.
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
    """Create the database."""
    with duckdb.connect(str(file)) as database:
        database.execute("SET TimeZone = 'UTC'")
        for name in WHOLE:
            create_table(published, database, TABLES[name], f"SELECT * FROM {name}")
        proofs = " UNION ".join(proofs_sql(TABLES[name]) for name in WHOLE if [*proof_columns(TABLES[name])])
        for name, column in OF_PROOFS.items():
            sql = f"SELECT * FROM {name} WHERE {column} IN ({proofs})"
            create_table(published, database, TABLES[name], sql)
        for name, condition in FILTERED.items():
            create_table(published, database, TABLES[name], f"SELECT * FROM {name} WHERE {condition}")
        create_macros(database)
        create_views(database, VIEWS, lasting=True, compared=create_former_tables(published, database))


def create_former_tables(published: Published, database: duckdb.DuckDBPyConnection) -> bool:
    """Create the tables of the run before; return False if it is kept no longer."""
    try:
        for name in BEFORE:
            create_table(published, database, VIEWS[name], f"SELECT * FROM {name}")
    except KeptNoLongerError:
        for name in BEFORE:
            database.execute(f"DROP TABLE IF EXISTS {name}")
        return False
    return True


def create_table(published: Published, database: duckdb.DuckDBPyConnection, table: Table | View, sql: str) -> None:
    """Create a table with the rows of ``sql``, types and comments."""
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
    """Return the columns of a table that name events."""
    return (name for name in table.names if name == "evidence" or name.endswith("event_id"))


def proofs_sql(table: Table) -> str:
    """Return a SELECT of the events that a table names, as one column."""
    parts = [
        f"SELECT {'unnest(evidence)' if name == 'evidence' else name} FROM {table.name}"
        for name in proof_columns(table)
    ]
    return " UNION ".join(parts)
