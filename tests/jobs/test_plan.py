"""``plan``: what new settings or a new judgement would change, told before anything is changed."""

import json
import shutil
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main


@pytest.fixture
def warehouse(cut_off: str, tmp_path: Path) -> Path:
    return Path(shutil.copytree(cut_off, tmp_path / "warehouse"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def planned(warehouse: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    capsys.readouterr()
    assert main(["plan", "--warehouse", str(warehouse), *options]) == 0
    return capsys.readouterr().out


def test_where_nothing_is_new_a_replay_would_do_nothing(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert planned(warehouse, capsys, "--config", "none").startswith("A replay would do nothing")


def test_the_same_rules_give_the_same_verdict(warehouse: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(warehouse)
    text = planned(warehouse, capsys, "--config", "none", "--cluster", "master-cut-off")
    assert "Findings: 0 appeared, 0 vanished, 0 changed" in text
    assert contents(warehouse) == before
    assert [path.name for path in warehouse.parent.iterdir()] == ["warehouse"]


def test_what_a_new_inventory_changes_is_told_first(
    warehouse: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, before = tmp_path / "new.yaml", contents(warehouse)
    entry = '{cluster: "master-cut-off", node: "broker-1", replica_group: "bs-orders", member: "7"}'
    settings.write_text(f"inventory:\n  - {entry}\n", encoding="utf-8")
    found = json.loads(planned(warehouse, capsys, "--config", str(settings), "--format", "json"))
    appeared = {row["rule"] for row in found["findings"] if row["change"] == "appeared"}
    assert appeared == {"IDENTITY_CONTRADICTION"}
    assert contents(warehouse) == before


def test_what_is_no_warehouse_of_this_machine_is_refused(tmp_path: Path) -> None:
    assert main(["plan", "--warehouse", str(tmp_path / "none")]) == 1
