"""docs/operations.md: every command runs as it is written, one after the other, in the folder of a checkout."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.duckdb_rows import DRIVER_ROWS
from election_replay.jobs.settings.in_force import in_force
from election_replay.jobs.warehouse.warehouse import Warehouse

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "operations.md"
PROGRAMS = ("election-replay", "spark-submit", "cp", "export", ".", "airflow", "make")
ELSEWHERE = {
    ". .venv/bin/activate": "the tests run in that environment",
    "export PYSPARK_PYTHON=$PWD/.venv/bin/python SPARK_LOCAL_IP=127.0.0.1": "so do their workers",
    'airflow pools set election_replay 1 "one step at a time"': "tests/airflow_dags, by airflow_dags/environment.sh",
    "make airflow-up": "tests/airflow_dags: the same command with its scheduler",
    "election-replay forget --warehouse warehouse --cluster payments": "tests/jobs/test_forgetting.py erases a cluster",
    (
        "election-replay notify --warehouse W --to slack://TOKEN --dashboard https://ops.example.com/elections --picture"
    ): "tests/jobs/test_notify.py",
    **dict.fromkeys(
        (
            "election-replay incident --warehouse W --finding 7ba16a76 --lines --landing logs",
            "election-replay incident --warehouse W --finding 7ba16a76 --new --landing logs",
            "election-replay export lnav seen --warehouse W --finding 7ba16a76 --landing logs",
        ),
        "tests/jobs/reading/test_raw_lines.py: its warehouse holds the cluster of that finding",
    ),
    (
        "election-replay incident --warehouse warehouse --cluster payments --group broker-a --format trace"
        " > incident.json"
    ): "tests/jobs/showing/test_trace.py",
    **dict.fromkeys(
        (
            "election-replay dashboard --warehouse warehouse",
            "election-replay dashboard --warehouse warehouse --base-path /elections --allow-host ops.example.com",
            (
                "election-replay dashboard --warehouse warehouse --base-path /elections --allow-host ops.example.com"
                " --allow-review --user-header X-Forwarded-User"
            ),
        ),
        "tests/jobs/showing/test_dashboard.py and test_marks.py: they serve until somebody stops them",
    ),
}
"""Commands that other tests run, and which."""


def commands() -> list[str]:
    """The indented lines of the page that are commands, in its order; one that goes on in the next line is one."""
    page = re.sub(r" \\\n +", " ", PAGE.read_text(encoding="utf-8"))
    lines = re.findall(r"(?m)^ {4,}(\S.*)$", re.sub(r"(?s)```.*?```", "", page))
    return [line for line in lines if line.split()[0] in PROGRAMS]


def test_the_page_has_commands() -> None:
    assert set(ELSEWHERE) < set(commands())
    assert {shlex.split(line)[1] for line in commands() if line.startswith("election-replay")} >= {
        *("inspect", "config", "run", "validate", "land", "replay", "publish", "metrics", "sql", "upkeep")
    }


@pytest.fixture
def spark_as_users_have_it(spark: "SparkEngine") -> "Iterator[None]":
    """The session of the suite, whose driver does little work itself, as it does where nobody sets anything."""
    from election_replay.jobs.engines.spark_engine import LITTLE_SETTING

    spark.session.conf.set(LITTLE_SETTING, DRIVER_ROWS)
    yield
    spark.session.conf.set(LITTLE_SETTING, 0)


@pytest.mark.slow
@pytest.mark.usefixtures("spark_as_users_have_it")
def test_every_command_runs_as_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("conf", "jobs"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    shutil.copytree(ROOT / "examples/landing/kill-leader-533", tmp_path / "examples/landing/kill-leader-533")
    monkeypatch.chdir(tmp_path)
    for line in commands():
        words = shlex.split(line)
        if line in ELSEWHERE:
            continue
        if words[0] == "election-replay":
            assert main(words[1:]) == 0, f"{line}\n{capsys.readouterr()}"
        else:
            ran = subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)
            assert ran.returncode == 0, f"{line}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    assert "published_timestamp_seconds" in Path("election_replay.prom").read_text(encoding="utf-8")
    assert Path("warehouse/data_docs/index.html").is_file()
    settings = {run["settings"] for run in Warehouse("warehouse").runs()}
    assert settings == {in_force("conf/pipeline.yaml").source}, "the row of each run says what was in force"


def environment() -> dict[str, str]:
    """What the page sets at its beginning."""
    path = f"{Path(pyspark.__file__).parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    return {**os.environ, **python, "PATH": path, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1"}
