"""Real runs: Airflow starts spark-submit, and at the end there are published tables, or rows that say why not."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/bin/python"
CLUSTERS = ("kill-leader-533", "old-copy-497")
DAY = date(2026, 11, 21)
"""The day of all lines of these clusters."""

pytestmark = pytest.mark.slow


class Pipeline:
    """A landing zone and a warehouse, and Airflow over them."""

    def __init__(self, root: Path, *clusters: str) -> None:
        self.landing, self.warehouse = root / "landing", root / "warehouse"
        self.add(*clusters)

    def add(self, *clusters: str) -> None:
        """Let logs come in."""
        for cluster in clusters:
            shutil.copytree(ROOT / "examples/landing" / cluster, self.landing / cluster)

    def add_nights(self, cluster: str, count: int) -> None:
        """Let the logs of one cluster come in as if the same had happened in ``count`` nights, one after the other."""
        source = ROOT / "examples/landing" / cluster
        for path in (path for path in source.rglob("*") if path.is_file()):
            text = path.read_bytes()
            days = [str(DAY + timedelta(days=number)).encode() for number in range(count)]
            target = self.landing / path.relative_to(source.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(b"".join(text.replace(str(DAY).encode(), day) for day in days))

    @property
    def environment(self) -> dict[str, str]:
        """What the DAGs want to know."""
        places = {"ELECTION_REPLAY_LANDING": self.landing, "ELECTION_REPLAY_WAREHOUSE": self.warehouse}
        return {**os.environ, **{name: str(path) for name, path in places.items()}}

    def run(self, dag: str, night: str, **params: Any) -> subprocess.CompletedProcess[str]:
        """Run a DAG as its scheduler would, without one."""
        command = ["airflow", "dags", "test", f"election_replay_{dag}", f"{night}T02:00:00+00:00"]
        return subprocess.run(
            [*command, "-c", json.dumps(params)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """What is published."""
        command = [PYTHON, "-m", "jobs.cli", "sql", "--warehouse", self.warehouse, sql, "--format", "json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    def terms(self) -> list[dict[str, Any]]:
        """All published terms."""
        return self.ask("SELECT * FROM terms ORDER BY ALL")

    def land_twice(self, cluster: str) -> None:
        """A defect: one event of a cluster is there twice."""
        code = (
            "import sys, pyarrow.compute as pc; from deltalake import DeltaTable, write_deltalake\n"
            "rows = DeltaTable(sys.argv[1]).to_pyarrow_table().filter(pc.field('cluster') == sys.argv[2])\n"
            "write_deltalake(sys.argv[1], rows.slice(0, 1), mode='append')"
        )
        subprocess.run([PYTHON, "-c", code, self.warehouse / "silver/events", cluster], check=True)


def test_nights_are_published_and_a_failing_gate_names_the_rows(tmp_path: Path) -> None:
    nights = Pipeline(tmp_path, CLUSTERS[0])
    first = nights.run("nightly", "2026-11-22")
    assert first.returncode == 0, first.stdout[-5000:]
    published = nights.terms()
    assert {row["cluster"] for row in published} == {CLUSTERS[0]}

    nights.land_twice(CLUSTERS[0])
    nights.add(CLUSTERS[1])
    second = nights.run("nightly", "2026-11-23")
    assert second.returncode != 0
    assert f"failed silver/events one_row_a_key, cluster {CLUSTERS[0]}: 1 rows" in second.stdout
    assert '"source_file": "kill-leader-533/nodes/' in second.stdout
    assert [row for row in nights.terms() if row["cluster"] == CLUSTERS[0]] == published
    assert {row["cluster"] for row in nights.terms()} == set(CLUSTERS)


def test_a_backfill_of_three_nights_is_one_run_of_all(tmp_path: Path) -> None:
    parts, whole = Pipeline(tmp_path / "parts"), Pipeline(tmp_path / "whole")
    for pipeline in (parts, whole):
        pipeline.add_nights(CLUSTERS[1], 3)
    for number in range(3):
        night = str(DAY + timedelta(days=number))
        done = parts.run("backfill", "2026-11-24", **{"from": night, "to": night})
        assert done.returncode == 0, done.stdout[-5000:]
    done = whole.run("nightly", "2026-11-24")
    assert done.returncode == 0, done.stdout[-5000:]
    for table in ("terms", "role_intervals", "elections", "findings", "rule_coverage"):
        sql = f"SELECT * FROM {table} ORDER BY ALL"  # noqa: S608 - our own names
        assert parts.ask(sql) == whole.ask(sql) != []
    assert len(whole.ask("SELECT DISTINCT CAST(event_time AS DATE) AS night FROM events")) == 3


def test_a_scheduler_runs_the_night_and_starts_who_waits_for_its_findings(tmp_path: Path) -> None:
    pipeline = Pipeline(tmp_path, CLUSTERS[0])
    folder = tmp_path / "dags"
    folder.mkdir()
    shutil.copy(ROOT / "airflow_dags/election_replay.py", folder)
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    consumer = re.search(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert consumer
    (folder / "tell_reviewers.py").write_text(consumer[1], encoding="utf-8")
    with scheduler(pipeline, folder, tmp_path / "airflow") as airflow:
        for dag in ("tell_reviewers", "election_replay_nightly"):
            until(lambda dag=dag: dag in airflow("dags", "list", "-o", "plain").stdout)
            airflow("dags", "unpause", "-y", dag)
        until(lambda: runs_of(airflow, "tell_reviewers") not in (["queued"], ["running"], []))
        assert runs_of(airflow, "tell_reviewers") == ["success"]
        assert runs_of(airflow, "election_replay_nightly") in (["running"], ["success"])
        until(lambda: runs_of(airflow, "election_replay_nightly") != ["running"])
        assert runs_of(airflow, "election_replay_nightly") == ["success"]
    assert {row["cluster"] for row in pipeline.terms()} == {CLUSTERS[0]}


@contextmanager
def scheduler(pipeline: Pipeline, folder: Path, home: Path) -> Iterator[Any]:
    """A whole Airflow, as ``make airflow-up`` starts it; gives its command line."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = pipeline.environment | {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder),
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": f"http://127.0.0.1:{port}",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
    }

    def airflow(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["airflow", *command], env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    airflow("db", "migrate")
    airflow("pools", "set", "election_replay", "1", "one step at a time")
    with (home / "standalone.log").open("w") as log:
        process = subprocess.Popen(
            ["airflow", "standalone"], env=environment, stdout=log, stderr=log, start_new_session=True
        )
    try:
        yield airflow
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def until(done: Any, seconds: int = 900) -> None:
    """Wait for something that Airflow does."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(3)


def runs_of(airflow: Any, dag: str) -> list[str]:
    """The states of all runs of a DAG."""
    listed = airflow("dags", "list-runs", dag, "-o", "json").stdout
    found = re.search(r"(?m)^\[\{.*", listed, flags=re.DOTALL)
    return [run["state"] for run in json.JSONDecoder().raw_decode(found[0])[0]] if found else []
