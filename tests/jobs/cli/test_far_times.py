"""Times and days that are further away than a calendar goes: an answer or a clear error, never a fault."""

from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from tests.jobs.tables import blank, publish, put, role


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    tables = blank(tmp_path_factory.mktemp("far") / "w")
    put(tables, "role_intervals", role("n1", "leader", 1, 0))
    publish(tables)
    return tables.root


WINDOWS = (
    ["--to", "9999-12-31"],
    ["--from", "0001-01-01", "--to", "9999-12-31"],
    ["--from", "0001-01-01T00:00+14:00"],
    ["--to", "9999-12-31T23:59-12:00"],
    ["--from", "9999-12-31"],
)


@pytest.mark.parametrize("window", WINDOWS, ids=" ".join)
@pytest.mark.parametrize("command", ["incident", "report"])
def test_a_window_of_any_width_is_answered(
    warehouse: str, command: str, window: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    into = ["-o", str(tmp_path / "r.html")] if command == "report" else []
    code = main([command, "--warehouse", warehouse, "--cluster", "c1", "--group", "g1", *window, *into])
    said = "".join(capsys.readouterr())
    assert "fault of the pipeline" not in said
    assert code == 0 or "in UTC" in said


@pytest.mark.parametrize("option", ["--keep-days", "--forget-bronze-after"])
def test_so_many_days_are_refused_in_words(warehouse: str, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    for days in ("9999999", "99999999999999"):
        assert main(["upkeep", "--warehouse", warehouse, option, days]) != 0
        assert f"{days} is not in the range 0<=x<=36500" in capsys.readouterr().err
    assert main(["upkeep", "--warehouse", warehouse, option, "36500"]) == 0


def test_a_moment_that_is_in_no_calendar_is_refused_in_words(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["validate", "--warehouse", warehouse, "--as-of", "9999-12-31T23:59-12:00", "--no-docs"]) == 1
    assert "after the year 9999 in UTC" in capsys.readouterr().err
