"""The options that commands share."""

import os
from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from election_replay.jobs import JobError
from election_replay.jobs.cli.log import log_event

if TYPE_CHECKING:
    from election_replay.jobs.settings.in_force import InForce


Command = Callable[..., Any]


def landing_option(*, required: bool = True) -> Callable[[Command], Command]:
    """``--landing``."""
    return click.option(
        "--landing",
        required=required,
        metavar="DIR",
        envvar="ELECTION_REPLAY_LANDING",
        help="Folder that holds the clusters' folders (path or URI); or ELECTION_REPLAY_LANDING.",
    )


warehouse_option = click.option(
    "--warehouse",
    required=True,
    metavar="DIR",
    envvar="ELECTION_REPLAY_WAREHOUSE",
    help="Folder of the Delta tables; or ELECTION_REPLAY_WAREHOUSE.",
)
database_option = click.option(
    "--database",
    metavar="FILE",
    envvar="ELECTION_REPLAY_DATABASE",
    help="Also write the published state to this DuckDB file; or ELECTION_REPLAY_DATABASE.",
)
run_option = click.option(
    "--run",
    "run_id",
    metavar="ID",
    help="Read the state of this published run: its id or the beginning of one, or `before`.",
)
engine_option = click.option(
    "--engine",
    type=click.Choice(["spark", "local"]),
    default="spark",
    show_default=True,
    help="local: on this machine alone, without Spark and Java. Both engines write the same tables.",
)
dry_run_option = click.option("--dry-run", is_flag=True, help="Show what would be done, and change nothing.")
cluster_option = click.option("--cluster", multiple=True, metavar="NAME", help="Only this cluster; may be repeated.")
form_option = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)


def config_option(*names: str) -> Callable[[Command], Command]:
    """``--config``."""
    return click.option(
        "--config",
        *names,
        metavar="FILE",
        help="Settings; or ELECTION_REPLAY_CONFIG. Default, but for clusters, containers and Airflow: "
        "conf/pipeline.yaml if it is there. none: the defaults.",
    )


def spark_options(command: Command) -> Command:
    """``--config`` and ``--master``."""
    command = config_option()(command)
    return click.option("--master", metavar="URL", help="Spark master, unless one is configured; default local[*].")(
        command
    )


def catalog_options(*, required: bool = False) -> Callable[[Command], Command]:
    """``--catalog`` and ``--schema``."""

    def given(command: Command) -> Command:
        command = click.option(
            "--schema",
            required=required,
            metavar="NAME",
            help="Register the tables, and views of what is published, in this schema of Spark's catalogue.",
        )(command)
        return click.option(
            "--catalog",
            default="spark_catalog",
            show_default=True,
            metavar="NAME",
            help="The catalogue of that schema, by its name in spark.sql.catalog.",
        )(command)

    return given


def settings_in_force(named: str | None, master: str | None = None) -> "InForce":
    """Return the settings of a command, and log where they come from."""
    from election_replay.jobs.settings.in_force import in_force

    if submitted := "PYSPARK_GATEWAY_PORT" in os.environ:
        from election_replay.jobs.engines.spark_session import master_of
    found = in_force(named, master_of(master) if submitted else master)
    log_event(found.line, settings=found.source)
    return found


def day(text: str | None) -> date | None:
    """Parse a day as typed, such as 2026-03-01. Raises :class:`JobError` for other text."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise JobError(f"{text} is no day: write it like 2026-03-01") from None
