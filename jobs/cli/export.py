"""``export``: writes what is published for other tools."""

from pathlib import Path
from shlex import quote

import click

from election_replay.jobs.cli.ending import published
from election_replay.jobs.cli.log import log_event
from election_replay.jobs.cli.options import (
    catalog_options,
    landing_option,
    run_option,
    settings_in_force,
    spark_options,
    warehouse_option,
)
from election_replay.jobs.cli.output import print_line
from election_replay.jobs.cli.read import chosen_incident
from election_replay.jobs.cli.stages import catalog_stage, started_spark


@click.group()
def export() -> None:
    """Write the published state in a form that other tools open.

    \b
    Examples
      election-replay export duckdb election_replay.duckdb --warehouse W
      election-replay export lnav FOLDER --warehouse W --finding 7ba16a76
    """


@export.command("duckdb")
@click.argument("file")
@warehouse_option
@run_option
def export_duckdb(file: str, warehouse: str, run_id: str | None) -> None:
    """Write the published tables and views to a DuckDB database; it replaces an older FILE.

    It has all gold tables, views and table functions, and the log lines and events that prove something. DuckDB,
    DBeaver, Superset and notebooks open it without a warehouse, Spark or Java.

    \b
    Examples
      election-replay export duckdb election_replay.duckdb --warehouse W
      duckdb -readonly election_replay.duckdb "SELECT * FROM findings"
    """
    from election_replay.jobs.reading.database_file import write_database

    size = write_database(published(warehouse, run_id), Path(file))
    log_event(f"Wrote {file}: {size:,} bytes", database=file, bytes=size)


@export.command("lnav")
@click.argument("folder")
@warehouse_option
@click.option("--finding", required=True, metavar="ID", help="The finding around which to write lines.")
@landing_option(required=False)
def export_lnav(folder: str, warehouse: str, finding: str, landing: str | None) -> None:
    """Write the log lines around a finding to a FOLDER for lnav, together with lnav formats.

    One file has the lines of all members, in common time: the lines that the warehouse keeps, or with --landing all
    lines. The formats also read the logs of RocketMQ, etcd, ZooKeeper, Redis, Kafka, Consul, Nomad and Vault directly.

    \b
    Examples
      election-replay export lnav seen --warehouse W --finding 7ba16a76 --landing logs
      lnav -I seen rocketmqlogs/broker.log
    """
    from election_replay.jobs.showing.raw_lines import raw_lines, write_lnav

    tables, shown = chosen_incident(warehouse, finding=finding)
    found = raw_lines(tables, shown, landing)
    write_lnav(found, Path(folder))
    for problem in found.problems:
        print_line(f"Not read: {problem}")
    [at] = [row["start_time"] for row in shown.findings if row["finding_id"].startswith(finding.strip().lower())]
    print_line(f"Wrote {len(found.lines):,} lines. Open them:")
    print_line(f"  lnav -I {quote(folder)} -c ':goto {at:%Y-%m-%dT%H:%M:%S}' {quote(f'{folder}/lines.jsonl')}")


@export.command("catalog")
@warehouse_option
@catalog_options(required=True)
@spark_options
@click.pass_obj
def export_catalog(
    debug: bool, warehouse: str, catalog: str, schema: str, config: str | None, master: str | None
) -> None:
    """Register the tables, and views of what is published, in a schema of Spark's catalogue.

    The tables stay where they are. A judged table is registered as NAME_of_all_runs; NAME is a view of its published
    rows. Spark's settings configure the catalogue: spark.sql.catalog.NAME, or the Hive metastore.

    \b
    Example
      election-replay export catalog --warehouse W --catalog main --schema election_replay
    """
    engine = started_spark(settings_in_force(config, master).config, master, debug)
    catalog_stage(engine, warehouse, catalog, schema)
