"""One file that any tool opens that knows DuckDB, and three lines of a notebook."""

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

import election_replay
from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.reading.database_file import write_database
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import VIEWS
from tests.jobs.tables import blank, finding, log_line, publish, put, role, term


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two leaders at once, with the line that proves it, and a line that proves nothing."""
    tables = blank(tmp_path_factory.mktemp("w"))
    told = finding("f1", "SPLIT_BRAIN_OVERLAP", 20, 30, evidence=["e1"], nodes=["n1", "n2"], first_seen_run="r1")
    put(tables, "findings", told)
    put(tables, "terms", term(1, "n1", 0, 30, start_event_id="e2"), term(2, "n2", 20, None))
    put(tables, "role_intervals", role("n1", "leader", 0, 30, term=1), role("n2", "leader", 20, None, term=2))
    lines = [log_line(f"e{n}", "c1/nodes/n1/logs/broker.log", n, f"line {n} <script>") for n in (1, 2, 3)]
    put(tables, "log_lines", *lines)
    publish(tables)
    return tables.root


def test_the_file_says_what_is_published_wherever_it_is_opened(warehouse: str, tmp_path: Path) -> None:
    published, file = Published(Warehouse(warehouse)), tmp_path / "election_replay.duckdb"
    assert write_database(published, file) > 0
    assert [one.name for one in tmp_path.iterdir()] == [file.name]
    with duckdb.connect(str(file), read_only=True) as opened:
        opened.execute("SET TimeZone = 'UTC'")
        for name, view in VIEWS.items():
            if not view.parameters:
                query = f"SELECT * FROM {name} ORDER BY ALL"  # noqa: S608 - our own names
                assert opened.sql(query).to_arrow_table().to_pylist() == published.query(query).to_pylist(), name
        shown = opened.sql("SELECT text FROM log_lines ORDER BY 1").fetchall()
        assert shown == [("line 1 <script>",), ("line 2 <script>",)], "what proves something"
        assert opened.sql("SELECT count(*) FROM findings_new('2020-01-01')").fetchall() == [(1,)]
        assert opened.sql("SELECT node FROM leader_at('c1', 'g1', '2026-03-01T12:00:25Z')").fetchall()
        listed = {name for (name,) in opened.sql("SELECT table_name FROM information_schema.tables").fetchall()}
        assert listed == {*TABLES, *(name for name, view in VIEWS.items() if not view.parameters)}
        described = "SELECT comment, data_type FROM duckdb_columns() WHERE column_name = 'start_time' "
        [(comment, kind)] = opened.sql(described + "AND table_name = 'findings'").fetchall()
        assert (comment, kind) == ("When it began. [UTC]", "TIMESTAMP WITH TIME ZONE")


def test_a_newer_file_takes_the_place_of_the_older_one(warehouse: str, tmp_path: Path) -> None:
    file = tmp_path / "e.duckdb"
    file.write_text("something else")
    write_database(Published(Warehouse(warehouse)), file)
    with duckdb.connect(str(file), read_only=True) as opened:
        assert opened.sql("SELECT count(*) FROM findings").fetchall() == [(1,)]


def test_the_command_writes_it(warehouse: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "e.duckdb"
    assert main(["export", "duckdb", str(file), "--warehouse", warehouse]) == 0
    assert "Wrote" in "".join(capsys.readouterr())
    with duckdb.connect(str(file), read_only=True) as opened:
        assert opened.sql("SELECT rule FROM findings").fetchall() == [("SPLIT_BRAIN_OVERLAP",)]


def test_a_file_that_cannot_be_written_is_told_in_a_line(warehouse: str, tmp_path: Path) -> None:
    with pytest.raises(JobError, match="cannot write"):
        write_database(Published(Warehouse(warehouse)), tmp_path / "no" / "such" / "folder.duckdb")


def test_three_lines_of_a_notebook(warehouse: str) -> None:
    found = election_replay.open(warehouse)
    frame = found.sql("SELECT * FROM findings ORDER BY start_time").df()
    assert list(frame["rule"]) == ["SPLIT_BRAIN_OVERLAP"]
    assert frame["start_time"][0].to_pydatetime() == datetime(2026, 3, 1, 12, 0, 20, tzinfo=UTC)
    assert found.sql("SELECT 1 AS one").arrow().to_pylist() == [{"one": 1}]
    assert found.run["run_id"] == "r1"
    with pytest.raises(JobError, match="give one SELECT"):
        found.sql("DROP TABLE findings")


def test_rich_output_shows_and_runs_nothing(warehouse: str) -> None:
    found = election_replay.open(warehouse, run="r1")
    shown = found.sql("SELECT text FROM log_lines ORDER BY text")._repr_html_()
    assert "3 of 3 rows" in shown
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown
    picture = found.incident("c1", "g1")
    assert picture._repr_html_().startswith('<iframe srcdoc="')
    assert 'sandbox=""' in picture._repr_html_()
    assert "SPLIT_BRAIN_OVERLAP" in picture.html
    assert "What to do next" in found.explain("f1")
    assert found.explain("f1")._repr_html_().startswith("<pre>")


def test_where_only_text_is_shown_it_says_what_there_is(warehouse: str) -> None:
    found = election_replay.open(warehouse)
    assert repr(found) == f"{warehouse}, run r1, published 2026-03-01 12:00 UTC: sql(), incident(), explain()"
    assert repr(found.sql("SELECT 1 AS a, 2 AS b")) == "1 row of a, b: df() and arrow() give them"
    assert repr(found.incident("c1", "g1")).splitlines() == [
        "c1 / g1",
        "2026-03-01 12:00:00 to 12:00:30 UTC, by the clocks of the nodes that logged it",
        "warning (definite) SPLIT_BRAIN_OVERLAP: SPLIT_BRAIN_OVERLAP.",
        "Findings: 1 warning; 2 members; 5 moments.",
        "html holds the report as a page, incident its data.",
    ]
    assert "Nothing went wrong" in repr(found.incident("c1", "g1", "2026-03-01T11:00:00Z", "2026-03-01T12:00:10Z"))
