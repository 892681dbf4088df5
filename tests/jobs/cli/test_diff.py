"""Two runs compared, the state of a former one, and answers that are cut or read only in part."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from election_replay.jobs.cli import output
from election_replay.jobs.cli.app import GROUPS, cli, main
from election_replay.jobs.reading.database_file import write_database
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import end_moment
from election_replay.jobs.upkeep import upkeep
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.tables import NOON, blank, copied, finding, name_published, publish, put, term


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two published runs, r1 and r2: one finding stayed, one went, one came and one is graver than before."""
    tables = blank(tmp_path_factory.mktemp("two-runs") / "w")
    stays, worse = finding("aaa", "LEADERLESS", 0, 5), finding("bbb", "LEADERLESS", 10, 15)
    put(tables, "findings", stays, worse, finding("ccc", "LOG_GAP", 1, 2))
    put(tables, "terms", term(1, "n1", 0, None))
    publish(tables)
    by = {"run_id": "r2"}
    put(tables, "findings", stays | by, worse | {"severity": "critical", "summary": "Worse."} | by)
    put(tables, "findings", finding("ddd", "DOUBLE_VOTE", 20, 21) | by)
    put(tables, "terms", term(1, "n1", 0, None) | by, term(2, "n2", 9, None) | by)
    name_published(tables, "r2")
    later: dict[str, Any] = {"run_id": "r2", "published_at": NOON + timedelta(hours=1)}
    [row] = [one for one in tables.runs() if one["run_id"] == "r1"]
    versions = [(name, version) for name, version in tables.versions().items() if name != "runs"]
    tables.append([row | later | {"versions": versions, "counts": []}], "runs")
    return tables.root


@pytest.fixture
def warehouse(two_runs: str, tmp_path: Path) -> str:
    """The same for one test."""
    return copied(two_runs, tmp_path / "w").root


def said(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    """What a command prints."""
    assert main(args) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_what_appeared_vanished_and_changed(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "diff", "--warehouse", warehouse, "r1", "r2", "--format", "json"))
    assert [(row["change"], row["finding_id"], row["columns"]) for row in found["findings"]] == [
        ("appeared", "ddd", None),
        ("changed", "bbb", ["severity", "summary"]),
        ("vanished", "ccc", None),
    ]
    assert found["rows"]["terms"] == {"only_before": 0, "only_after": 1}
    text = said(capsys, "diff", "--warehouse", warehouse)
    assert "Findings: 1 appeared, 1 vanished, 1 changed" in text
    assert "~ CRITICAL LEADERLESS  c1 / g1  bbb" in text
    assert "severity before: warning" in text
    assert "- WARNING LOG_GAP" in text


def test_the_other_way_round_it_is_the_contrary(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "diff", "--warehouse", warehouse, "r2", "r1", "--format", "json"))
    assert {row["finding_id"]: row["change"] for row in found["findings"]} == {
        "ccc": "appeared",
        "bbb": "changed",
        "ddd": "vanished",
    }


def test_a_run_and_itself_do_not_differ(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "diff", "--warehouse", warehouse, "r2", "last")
    assert "Findings: 0 appeared, 0 vanished, 0 changed" in text
    assert "All other rows of the gold tables are the same." in text


def test_a_former_run_can_be_asked(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    ask = ("sql", "--warehouse", warehouse, "SELECT finding_id FROM findings ORDER BY 1", "--format", "json")
    ids = {run: [row["finding_id"] for row in json.loads(said(capsys, *ask, "--run", run))] for run in ("r1", "last")}
    assert ids == {"r1": ["aaa", "bbb", "ccc"], "last": ["aaa", "bbb", "ddd"]}
    assert "several runs begin with r" in said(capsys, *ask, "--run", "r", code=1)
    assert "no run is called x" in said(capsys, *ask, "--run", "x", code=1)


def changed(capsys: pytest.CaptureFixture[str], warehouse: str, *options: str) -> list[tuple[str, str, str | None]]:
    """What one line of SQL says of two runs."""
    query = "SELECT change, finding_id, columns_changed FROM findings_changed ORDER BY finding_id"
    rows = json.loads(said(capsys, "sql", "--warehouse", warehouse, query, "--format", "json", *options))
    return [(row["change"], row["finding_id"], row["columns_changed"]) for row in rows]


BETTER_AND_WORSE = [("changed", "bbb", "severity, summary"), ("vanished", "ccc", None), ("appeared", "ddd", None)]


def test_one_line_of_sql_compares_two_runs(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert changed(capsys, warehouse) == BETTER_AND_WORSE
    assert changed(capsys, warehouse, "--before", "r2") == []
    back = [("changed", "bbb", "severity, summary"), ("appeared", "ccc", None), ("vanished", "ddd", None)]
    assert changed(capsys, warehouse, "--run", "r1", "--before", "r2") == back
    first = [("appeared", name, None) for name in ("aaa", "bbb", "ccc")]
    assert changed(capsys, warehouse, "--run", "r1") == first, "nothing was before the first run"


def test_a_run_that_only_tidied_is_not_the_run_before(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    upkeep(Warehouse(warehouse), keep_days=3650, grace_hours=0)
    assert len(Warehouse(warehouse).runs()) == 3
    assert changed(capsys, warehouse) == BETTER_AND_WORSE
    assert "1 appeared, 1 vanished, 1 changed" in said(capsys, "diff", "--warehouse", warehouse)


def files_gone(tables: Warehouse) -> None:
    """Only what the newest run names is kept."""
    upkeep(tables, keep_days=0, grace_hours=0)


def log_gone(tables: Warehouse) -> None:
    """The log of the pointer begins after the versions of former runs."""
    table = DeltaTable(tables.location("published"))
    table.create_checkpoint()
    for commit in range(table.version()):
        Path(tables.location("published"), "_delta_log", f"{commit:020}.json").unlink()


@pytest.mark.parametrize("gone", [files_gone, log_gone])
def test_a_run_before_that_is_gone_is_told_only_to_who_asks(
    warehouse: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], gone: Callable[[Warehouse], None]
) -> None:
    gone(Warehouse(warehouse))
    ask = ("sql", "--warehouse", warehouse)
    assert "(3 rows)" in said(capsys, *ask, "SELECT * FROM findings")
    for name in ("findings_before", "findings_changed"):
        assert "run r1 is kept no longer" in said(capsys, *ask, f"SELECT * FROM {name}", code=1)  # noqa: S608
    query = "SELECT * FROM findings_changed"
    assert "run r1 is kept no longer" in said(capsys, *ask, query, "--before", "r1", code=1)
    write_database(Published(Warehouse(warehouse)), tmp_path / "file.duckdb")


def test_a_run_whose_files_are_gone_is_kept_no_longer(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    for commit in Path(Warehouse(warehouse).location("published"), "_delta_log").glob("0*1.json"):
        commit.unlink()
    assert "run r1 is kept no longer" in said(capsys, "diff", "--warehouse", warehouse, code=1)


def test_a_table_is_cut_and_says_so(
    warehouse: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "TABLE_ROWS", 10)
    ask = ("sql", "--warehouse", warehouse, "SELECT range AS number FROM range(30)")
    assert "(10 rows; there are more: --limit 0 shows all)" in said(capsys, *ask)
    assert "(30 rows)" in said(capsys, *ask, "--limit", "0")
    assert "(20 rows; there are more" in said(capsys, *ask, "--limit", "20")
    assert len(json.loads(said(capsys, *ask, "--format", "json"))) == 30
    assert len(said(capsys, *ask, "--format", "csv", "--limit", "7").splitlines()) == 8
    assert (
        said(capsys, *ask, "--format", "json", "--limit", "2")
        == json.dumps([{"number": 0}, {"number": 1}], indent=1) + "\n"
    )
    assert said(capsys, *ask[:-1], "SELECT 1 AS a WHERE false", "--format", "json") == "[]\n"


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_whoever_stops_reading_has_what_they_wanted(warehouse: str, form: str) -> None:
    code = "import sys; from election_replay.jobs.cli.app import main; sys.exit(main(sys.argv[1:]))"
    query = "SELECT range AS number, repeat('x', 100) AS text FROM range(20000)"
    command = [sys.executable, "-c", code, "sql", "--warehouse", warehouse, query, "--format", form, "--limit", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as asked:
        assert asked.stdout
        assert asked.stderr
        assert asked.stdout.readline()
        asked.stdout.close()
        assert asked.stderr.read() == ""
    assert asked.returncode == 0


def test_a_narrow_terminal_gets_records(
    warehouse: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(type(output.OUT), "is_terminal", True)
    monkeypatch.setattr(output.OUT, "_width", 20)
    text = said(capsys, "sql", "--warehouse", warehouse, "SELECT 'one' AS a, 'a long word of text' AS bc")
    assert text.splitlines() == ["-- 1 ", "a   one", "bc  a long word of text", "(1 rows)"]


def test_places_may_come_from_the_environment(
    warehouse: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ELECTION_REPLAY_WAREHOUSE", warehouse)
    assert "(1 rows)" in said(capsys, "sql", "SELECT 1 AS one")


def test_help_lists_every_command_in_one_group(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [command.name for commands in GROUPS.values() for command in commands]
    assert sorted(listed, key=str) == sorted(cli.commands)
    text = said(capsys, "--help")
    assert [title for title in GROUPS if f"\n{title}:\n" in text] == list(GROUPS)


def test_what_is_called_nearly_so_comes_first(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Did you mean sql?" in said(capsys, "slq", code=2)
    text = said(capsys, "sql", "--warehouse", warehouse, "SELECT * FROM finding", code=1)
    assert "The tables and views are: findings, " in text


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("2026-03-01", "2026-03-01T23:59:59.999999+00:00"),
        ("20260301", "2026-03-01T23:59:59.999999+00:00"),
        ("2026-03-01T05:00", "2026-03-01T05:00:00+00:00"),
        ("2026-03-01T05:00+08:00", "2026-03-01T05:00:00+08:00"),
    ],
)
def test_a_day_lasts_to_its_end_as_a_night_does(typed: str, meant: str) -> None:
    found = end_moment(typed)
    assert found
    assert found == datetime.fromisoformat(meant)
    assert end_moment(None) is None
