"""A night with nothing new costs what it must: hardly anything is imported for it, and each table is opened once."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.warehouse import warehouse as tables
from tests.jobs.zone import Zone, leads, noise

ROOT = Path(__file__).parents[3]

NEVER_NEEDED = (
    "election_replay.election_core.dialects",
    "election_replay.election_core.fold",
    "election_replay.election_core.protocols",
    "election_replay.election_core.replay",
    "election_replay.jobs.engines",
    "election_replay.jobs.gates",
    "election_replay.jobs.landing.one_file",
    "great_expectations",
    "pandas._libs",
    "polars",
    "pyspark",
)
"""What reads logs, judges, or moves batches; each costs from a tenth of a second to one."""


@pytest.fixture
def night(zone: Zone, tmp_path: Path) -> tuple[str, ...]:
    """The command of a night whose predecessor has left nothing to do."""
    zone.write("broker_default.log", leads(0) + noise(1))
    both = ("--landing", str(zone.root), "--warehouse", str(tmp_path / "w"))
    command = ("run", *both, "--engine", "local", "--config", "none")
    assert main([*command]) == 0
    return command


def test_it_imports_nothing_that_reads_or_judges(night: tuple[str, ...]) -> None:
    program = [sys.executable, "-X", "importtime", "-m", "election_replay.jobs.cli.app", *night]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "Nothing new has come since the last run" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "deltalake" in imported
    assert [name for name in NEVER_NEEDED if name in imported] == []


def test_it_opens_each_table_once(
    night: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: Counter[str] = Counter()

    class Counting(tables.DeltaTable):
        def __init__(self, location: str, *more: Any, **named: Any) -> None:
            opened[location.rpartition("/")[2]] += 1
            super().__init__(location, *more, **named)

    monkeypatch.setattr(tables, "DeltaTable", Counting)
    assert main([*night]) == 0
    assert "Nothing new has come since the last run" in capsys.readouterr().out
    assert {name for name, times in opened.items() if times > 1} == set()
    assert not {"log_lines", "fold_checkpoints", "reviews", "validations"} & {*opened}, "nobody asks for their rows"
