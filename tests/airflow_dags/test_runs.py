"""Real runs: Airflow starts spark-submit, and at the end there are published tables, or rows that say why not."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/bin/python"
CLUSTERS = ("kill-leader-533", "old-copy-497")
DAY = date(2026, 11, 21)
"""The day of all lines of these clusters."""

SHORT_LIVES = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"}
"""Each step is a JVM of its own: it compiles only as much as a short life needs."""

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
        return {**os.environ, **{name: str(path) for name, path in places.items()}, **SHORT_LIVES}

    def run(self, dag: str, night: str, **params: Any) -> tuple[int, str]:
        """Run a DAG as its scheduler would, without one: its exit code and what it wrote.

        A step that is to be tried again ends it: what failed once must be looked at.
        """
        command = ["airflow", "dags", "test", f"election_replay_{dag}", f"{night}T02:00:00+00:00"]
        process = subprocess.Popen(
            [*command, "-c", json.dumps(params)],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = []
        assert process.stdout
        for line in process.stdout:
            said.append(line)
            if "new_state=up_for_retry" in line:
                process.kill()
        return process.wait(), "".join(said)

    def by_hand(self, command: str, *words: str) -> str:
        """What a command of ours says, without Airflow."""
        whole = [PYTHON, "-m", "election_replay.jobs.cli.app", command, "--warehouse", self.warehouse, *words]
        return subprocess.run(
            whole, env=self.environment, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """What is published."""
        return json.loads(self.by_hand("sql", sql, "--format", "json"))

    def terms(self) -> list[dict[str, Any]]:
        """All published terms."""
        return self.ask("SELECT * FROM terms ORDER BY ALL")

    def land_twice(self, cluster: str) -> None:
        """A defect: the second landing has one event of the first one twice more. What is published has passed."""
        code = (
            "import sys, pyarrow as pa, pyarrow.compute as pc; from deltalake import DeltaTable, write_deltalake\n"
            "rows = DeltaTable(sys.argv[1]).to_pyarrow_table().filter(pc.field('cluster') == sys.argv[2]).slice(0, 1)\n"
            "place = rows.schema.get_field_index('batch')\n"
            "row = rows.set_column(place, rows.schema.field(place), pc.add(rows['batch'], 1))\n"
            "write_deltalake(sys.argv[1], pa.concat_tables([row, row]), mode='append')"
        )
        subprocess.run([PYTHON, "-c", code, self.warehouse / "silver/events", cluster], check=True)


def test_a_scheduler_runs_the_night_and_starts_who_waits_for_its_findings(tmp_path: Path) -> None:
    pipeline = Pipeline(tmp_path, CLUSTERS[0])
    folder = tmp_path / "dags"
    folder.mkdir()
    shutil.copy(ROOT / "airflow_dags/election_replay.py", folder)
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    [consumer] = (code for code in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL) if "airflow" in code)
    (folder / "tell_reviewers.py").write_text(consumer, encoding="utf-8")
    with scheduler(pipeline, folder, tmp_path / "airflow.log") as ask:
        for dag in ("tell_reviewers", "election_replay_nightly"):
            until(lambda dag=dag: dag in [one["dag_id"] for one in ask("GET", "dags")["dags"]])
            ask("PATCH", f"dags/{dag}", is_paused=False)
        until(lambda: runs_of(ask, "tell_reviewers") not in (["queued"], ["running"], []))
        assert runs_of(ask, "tell_reviewers") == ["success"]
        until(lambda: runs_of(ask, "election_replay_nightly") != ["running"])
        assert runs_of(ask, "election_replay_nightly") == ["success"]
    assert {row["cluster"] for row in pipeline.terms()} == {CLUSTERS[0]}


def test_a_backfill_of_three_nights_is_one_run_of_all(tmp_path: Path) -> None:
    parts, whole = Pipeline(tmp_path / "parts"), Pipeline(tmp_path / "whole")
    for pipeline in (parts, whole):
        pipeline.add_nights(CLUSTERS[1], 3)
    nights = {"from": str(DAY), "to": str(DAY + timedelta(days=2))}
    for dag, pipeline, params in (("backfill", parts, nights), ("nightly", whole, {})):
        code, said = pipeline.run(dag, "2026-11-24", **params)
        assert code == 0, said[-5000:]
    for table in ("terms", "role_intervals", "elections", "findings", "rule_coverage"):
        of_runs = ", first_seen_run, first_seen_at, last_seen_at" if table == "findings" else ""
        sql = f"SELECT * EXCLUDE (run_id{of_runs}) FROM {table} ORDER BY ALL"  # noqa: S608 - our own names
        assert parts.ask(sql) == whole.ask(sql) != []
    assert len(whole.ask("SELECT DISTINCT CAST(event_time AS DATE) AS night FROM events")) == 3


def test_a_failing_gate_names_the_rows_and_the_other_clusters_are_published(tmp_path: Path) -> None:
    nights = Pipeline(tmp_path, CLUSTERS[0])
    nights.by_hand("run", "--landing", str(nights.landing))
    published = nights.terms()
    nights.add(CLUSTERS[1])
    nights.by_hand("land", "--landing", str(nights.landing))
    nights.land_twice(CLUSTERS[0])
    code, said = nights.run("nightly", "2026-11-23")
    assert code != 0
    [failure] = re.findall(r"AirflowFailException: Cannot execute: (.*?)(?=\n20\d\d-)", said, flags=re.DOTALL)
    assert "validate.py" in failure
    assert f"failed silver/events one_row_a_key, cluster {CLUSTERS[0]}: 1 rows" in failure
    assert '"source_file": "kill-leader-533/nodes/' in failure
    assert {row["cluster"] for row in nights.terms()} == set(CLUSTERS)
    assert [row for row in nights.terms() if row["cluster"] == CLUSTERS[0]] == published


Ask = Callable[..., dict[str, Any]]
"""``ask(method, path, **values)``: what Airflow's REST API answers."""


@contextmanager
def scheduler(pipeline: Pipeline, folder: Path, log: Path) -> Iterator[Ask]:
    """A whole Airflow, as ``make airflow-up`` starts it, over the DAGs of a folder; gives its REST API."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    environment = pipeline.environment | {
        "AIRFLOW__CORE__DAGS_FOLDER": str(folder),
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__BASE_URL": address,
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{address}/execution/",
    }

    def ask(method: str, path: str, **values: Any) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        with urlopen(f"{address}/auth/token", timeout=60) as answer:  # noqa: S310 - our own server
            headers["Authorization"] = f"Bearer {json.load(answer)['access_token']}"
        request = Request(f"{address}/api/v2/{path}", json.dumps(values).encode(), headers, method=method)  # noqa: S310
        with urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.load(answer)

    with log.open("w") as file:
        process = subprocess.Popen(
            ["airflow", "standalone"], env=environment, stdout=file, stderr=file, start_new_session=True
        )
    try:
        until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
        yield ask
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def until(done: Callable[[], bool], seconds: int = 900) -> None:
    """Wait for something that Airflow does."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(2)


def runs_of(ask: Ask, dag: str) -> list[str]:
    """The states of all runs of a DAG."""
    return [run["state"] for run in ask("GET", f"dags/{dag}/dagRuns")["dag_runs"]]
