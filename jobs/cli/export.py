"""``export``: what is published, in a form that other tools open."""

from pathlib import Path

import click

from election_replay.jobs.cli.ending import published
from election_replay.jobs.cli.log import tell
from election_replay.jobs.cli.options import run_option, warehouse_option


@click.group()
def export() -> None:
    """Write what is published in a form that other tools open.

    \b
    Example
      election-replay export duckdb election_replay.duckdb --warehouse W
    """


@export.command("duckdb")
@click.argument("file")
@warehouse_option
@run_option
def export_duckdb(file: str, warehouse: str, run_id: str | None) -> None:
    """Write the published tables and views as a DuckDB database, in place of an older FILE.

    It has all gold tables, views and table functions, and of log lines and events those that prove something. DuckDB,
    DBeaver, Superset and notebooks open it without a warehouse, Spark or Java.

    \b
    Examples
      election-replay export duckdb election_replay.duckdb --warehouse W
      duckdb -readonly election_replay.duckdb "SELECT * FROM findings"
    """
    from election_replay.jobs.reading.database_file import write_database

    size = write_database(published(warehouse, run_id), Path(file))
    tell(f"Wrote {file}: {size:,} bytes", database=file, bytes=size)
