"""Both engines write the same tables of all real runs, row by row."""

import json
from pathlib import Path
from typing import Any

import pytest

from schemas import TABLES
from schemas.findings import OF_RUNS
from tests.acceptance.published import Warehouse, replay
from tests.conftest import Landing

OWN = {"runs", "validations", "landed_files"}
"""Tables that tell of one run, and of when files were made."""


def rows(warehouse: Warehouse, table: str) -> list[str]:
    """All rows of a table, in an order of their own."""
    found: list[dict[str, Any]] = warehouse.rows(TABLES[table].path)
    of_logs = [{name: value for name, value in row.items() if name not in OF_RUNS} for row in found]
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in of_logs)


@pytest.mark.slow
def test_the_local_engine_without_java_writes_what_spark_writes(
    gold: Warehouse, runs: dict[str, Path], landing: Landing, tmp_path: Path
) -> None:
    zone = landing(f"{path.parent.name}/{name}" for name, path in runs.items())
    nothing = {"PATH": str(tmp_path), "JAVA_HOME": str(tmp_path)}
    local = replay(zone, tmp_path / "local", "--engine", "local", env=nothing)
    assert len(local.rows(TABLES["findings"].path)) > 100
    for table in [*(name for name in TABLES if name not in OWN), "replay_states"]:
        assert rows(local, table) == rows(gold, table), table
