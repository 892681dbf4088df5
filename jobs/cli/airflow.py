"""What Airflow needs of an installation."""

from pathlib import Path

import click

DAGS = Path(__file__).parents[2] / "airflow_dags" / "election_replay.py"
"""The file with the DAGs, in a checkout and in an installation."""


@click.group()
def airflow() -> None:
    """What Airflow needs of this installation."""


@airflow.command("dag-path")
def dag_path() -> None:
    """Say where the file with the DAGs is, to be copied or linked into Airflow's folder of DAGs.

    \b
    Example
      ln -s "$(election-replay airflow dag-path)" ~/airflow/dags/
    """
    click.echo(DAGS)
