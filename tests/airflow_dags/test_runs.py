"""Real runs: Airflow starts spark-submit, and at the end there are published tables, or rows that say why not."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv/bin/python"
CLUSTERS = ("kill-leader-533", "old-copy-497")

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

    def run(self, dag: str, night: str, **params: Any) -> subprocess.CompletedProcess[str]:
        """Run a DAG as its scheduler would, without one."""
        places = {"ELECTION_REPLAY_LANDING": self.landing, "ELECTION_REPLAY_WAREHOUSE": self.warehouse}
        command = ["airflow", "dags", "test", f"election_replay_{dag}", f"{night}T02:00:00+00:00"]
        return subprocess.run(
            [*command, "-c", json.dumps(params)],
            env={**os.environ, **{name: str(path) for name, path in places.items()}},
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


def test_a_backfill_of_parts_is_one_run_of_all(tmp_path: Path) -> None:
    parts, whole = Pipeline(tmp_path / "parts", *CLUSTERS), Pipeline(tmp_path / "whole", *CLUSTERS)
    for cluster in CLUSTERS:
        days = {"from": "2026-11-21", "to": "2026-11-21"}
        done = parts.run("backfill", "2026-11-24", clusters=[cluster], **days)
        assert done.returncode == 0, done.stdout[-5000:]
    assert whole.run("backfill", "2026-11-24").returncode == 0
    assert parts.terms() == whole.terms() != []
