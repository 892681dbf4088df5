"""README.md shows what `make demo` ends with."""

from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main

ROOT = Path(__file__).parents[3]


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but the run, and the name of the warehouse."""
    shown = (ROOT / "README.md").read_text("utf-8").partition("    Published: run ")[2].partition("        ...")[0]
    warehouse = str(tmp_path / "demo-warehouse")
    run = ["run", "--engine", "local", "--landing", str(ROOT / "examples" / "landing"), "--warehouse", warehouse]
    assert main(run) == 0
    printed = iter(capsys.readouterr().out.replace(warehouse, "demo-warehouse").splitlines())
    lines = [line.removeprefix("    ") for line in shown.splitlines()[1:]]
    assert len(lines) > 8
    for line in lines:
        assert line in printed, f"README.md says {line!r}"  # in this order: `in` consumes the iterator
