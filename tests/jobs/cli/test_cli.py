"""What a person sees who types a command: answers, and one line with what to do next where there is none."""

import csv
import io
import json
import logging
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.cli.log import Text
from election_replay.jobs.cli.output import print_json, rows_in
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import COLUMNS
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import VIEWS
from tests.jobs.tables import GROUP, NOON, blank, publish, put


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A small published warehouse, with one row in ``terms`` that is newer than what is published."""
    tables = blank(tmp_path_factory.mktemp("cli") / "w")
    term = GROUP | {"term": 1, "leader": "n1", "start_time": NOON, "certainty": "proven", "start_event_id": "e1"}
    put(tables, "terms", term)
    put(
        tables,
        "findings",
        GROUP
        | {
            "finding_id": "f1",
            "rule": "LEADERLESS",
            "severity": "warning",
            "certainty": "definite",
            "nodes": ["n1", "n2"],
            "terms": [1],
            "start_time": NOON,
            "summary": "Nobody led for 2 s.",
            "evidence": ["e1"],
        },
    )
    put(
        tables,
        "log_lines",
        {
            "event_id": "e1",
            "cluster": "c1",
            "source_node": "n1",
            "stream": "broker.log",
            "fingerprint": "f",
            "path": "c1/nodes/n1/logs/broker.log",
            "line_no": 7,
            "text": "2026-03-01 20:00:00 INFO x - [n1] leads \x1b[31m",
            "batch": 1,
        },
    )
    publish(tables)
    put(tables, "terms", term | {"run_id": "r2", "term": 2, "start_time": NOON + timedelta(hours=1)})
    return tables.root


def said(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    """What a command prints; its exit code is checked."""
    assert main(args) == code
    out, err = capsys.readouterr()
    return out if code == 0 else err


def test_sql_reads_what_is_published_and_not_what_is_newer(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = "SELECT term, leader, start_time, end_time FROM terms"
    rows = json.loads(said(capsys, "sql", "--warehouse", warehouse, query, "--format", "json"))
    assert rows == [{"term": 1, "leader": "n1", "start_time": "2026-03-01 12:00:00Z", "end_time": None}]
    (names, row) = csv.reader(io.StringIO(said(capsys, "sql", "--warehouse", warehouse, query, "--format", "csv")))
    assert (names[0], row) == ("term", ["1", "n1", "2026-03-01 12:00:00Z", ""])
    assert "(1 rows)" in said(capsys, "sql", "--warehouse", warehouse, query)


def test_every_table_and_view_can_be_asked(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As ``sql --format json`` does."""
    published = Published(Warehouse(warehouse))
    for table in (*TABLES, *(name for name, view in VIEWS.items() if not view.parameters)):
        answer = published.query(f"SELECT * FROM {table}")  # noqa: S608
        print_json(answer.column_names, rows_in(answer))
        assert len(json.loads(capsys.readouterr().out)) == answer.num_rows, table


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE terms",
        "CREATE TABLE t (a INT)",
        "COPY terms TO 'x.csv'",
        "ATTACH 'x.db'",
        "SET threads = 1",
        "SELECT 1; SELECT 2",
        "",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_text('pyproject.toml')",
        "SELECT nix FROM terms",
        "SELEC 1",
    ],
)
def test_sql_reads_tables_and_nothing_else(warehouse: str, capsys: pytest.CaptureFixture[str], query: str) -> None:
    assert said(capsys, "sql", "--warehouse", warehouse, query, code=1).startswith("error: ")


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("incident", "--cluster", "c2", "--group", "g1"), "no cluster c2; there is c1"),
        (("incident", "--cluster", "c1", "--group", "g2"), "no group g2 in c1; there is g1"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    warehouse: str, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], expected: str
) -> None:
    assert expected in said(capsys, *args, "--warehouse", warehouse, code=1)


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (("sql", "--warehouse", "nix", "SELECT 1"), "nothing is published"),
        (("replay", "--warehouse", "nix"), "nothing is landed"),
        (("run", "--landing", "nix", "--warehouse", "w"), "there is no landing zone nix"),
        (("run", "--landing", "empty", "--warehouse", "w"), "no log file in empty"),
        (("land", "--landing", "file", "--warehouse", "w"), "file is not a folder"),
        (("run", "--landing", "empty", "--warehouse", "full"), "is no warehouse"),
    ],
)
def test_errors_are_one_line_that_helps(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    args: tuple[str, ...],
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    (tmp_path / "file").write_text("")
    text = said(capsys, *args, code=1)
    assert text.startswith("error: ")
    assert expected in text
    assert text.count("\n") == 1


def test_a_fault_is_one_line_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr("election_replay.jobs.cli.read.published", broken)
    assert said(capsys, "sql", "--warehouse", "w", "SELECT 1", code=1).startswith("error: oops")
    with pytest.raises(ZeroDivisionError):
        main(["sql", "--warehouse", "w", "SELECT 1", "--debug"])


def test_machines_get_an_object_a_line_and_answers_stay_answers(
    warehouse: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ELECTION_REPLAY_LOG_FORMAT", "json")
    assert main(["sql", "--warehouse", warehouse, "SELECT 1 AS one", "--format", "csv"]) == 0
    assert capsys.readouterr() == ("one\n1\n", "")
    assert main(["sql", "--warehouse", str(tmp_path / "nix"), "SELECT 1"]) == 1
    told = json.loads(capsys.readouterr().err)
    assert (told["level"], told["command"]) == ("error", "sql")
    assert main(["replay", "--warehouse", warehouse, "--log-format=text"]) == 1
    assert capsys.readouterr().err.startswith("error: nothing is landed")


def test_a_wrong_command_line_is_told_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--landing" in said(capsys, "run", code=2)


@pytest.mark.parametrize("command", ["run", "land", "replay", "sql", "incident", "explain", "report", "rules"])
def test_help_teaches_by_example(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert f"election-replay {command}" in said(capsys, command, "--help")


def test_rules_names_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    from election_replay.jobs.runbook.rules import catalogue

    text = said(capsys, "rules").splitlines()
    assert {rule.rule for rule in catalogue().values()} <= set(text)
    assert max(map(len, text)) <= COLUMNS


EVIL = "c\x1b]0;owned\x07\x9b31m\u202egro\u2066\n=cmd"
"""What would set a terminal's title and colour, turn its line around, and begin another line."""


BOTH = f"SELECT text AS \"{EVIL}\", '{EVIL}' FROM log_lines"  # noqa: S608 - our own


class Terminal(io.StringIO):
    """What somebody looks at."""

    def isatty(self) -> bool:
        return True


def harms(text: str) -> list[str]:
    return [one for one in text if not one.isprintable() and one not in "\n\t"]


def on_terminal(monkeypatch: pytest.MonkeyPatch, *args: str) -> str:
    """What a command shows on a terminal, output and errors."""
    monkeypatch.setenv("TERM", "dumb")  # our own colours are commands too
    shown = Terminal()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, shown)
    main(args)
    return shown.getvalue()


@pytest.mark.parametrize(
    "args",
    [
        ("incident", "--cluster", EVIL, "--group", EVIL),
        ("explain", EVIL),
        ("sql", BOTH, "--format", "csv"),
        ("sql", BOTH, "--format", "json"),
        ("sql", BOTH, "--safe-csv"),
        ("sql", f"SELECT {EVIL}"),
        ("explain", "f1"),
        ("explain", "f1", "--format", "json"),
        ("sql", "SELECT 1", EVIL),
    ],
)
def test_nothing_commands_a_terminal(warehouse: str, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]) -> None:
    shown = on_terminal(monkeypatch, args[0], "--warehouse", warehouse, *args[1:])
    assert shown
    assert not harms(shown)


def test_a_message_of_several_lines_is_told_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Its further lines are set in; a name with a line end in it begins no line of ours."""
    record = logging.makeLogRecord({"msg": "failed events\n    a row\nPublished: all\x1b[2J"})
    Text().emit(record)
    assert capsys.readouterr().out == "failed events\n    a row\\nPublished: all\\x1b[2J\n"


@pytest.mark.parametrize("args", [("inspect", "--lines"), ("run", "--warehouse", "w", "--landing")])
def test_no_file_name_commands_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / f"broker{EVIL.replace('/', '')}.log"
    file.write_text(f"2026-03-01 20:00:00 INFO x - [n1] {EVIL}\n")
    for name in (str(file), f"{file}.missing"):
        shown = on_terminal(monkeypatch, *args, name)
        assert shown
        assert not harms(shown)


def test_json_for_programs_means_what_it_meant(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "sql", "--warehouse", warehouse, "SELECT '\x1b\x9b\u202e\U0001f600é' AS a", "--format", "json")
    assert json.loads(told) == [{"a": "\x1b\x9b\u202e\U0001f600é"}]


def test_csv_for_programs_is_exact_and_for_spreadsheets_holds_no_formula(
    warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    query = "SELECT '=1+1' AS a, '+x' AS b, '-x' AS c, '@x' AS d, -5 AS e, 'x=1' AS f, ['=1'] AS g, '' AS h, -2.5 AS i"
    exact = said(capsys, "sql", "--warehouse", warehouse, query, "--format", "csv").splitlines()[1]
    assert exact == "=1+1,+x,-x,@x,-5,x=1,=1,,-2.5"
    safe = said(capsys, "sql", "--warehouse", warehouse, query, "--safe-csv").splitlines()[1]
    assert safe == "'=1+1,'+x,'-x,'@x,-5,x=1,'=1,,-2.5"


def test_what_looks_like_an_emoji_stays_a_port(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "10.0.0.1:100:2" in said(capsys, "sql", "--warehouse", warehouse, "SELECT '10.0.0.1:100:2'")


def test_a_query_may_compose_names_and_ask_for_them(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Only the tables that stand in a query are opened, but for these two."""
    ask = ("sql", "--warehouse", warehouse)
    assert "(1 rows)" in said(capsys, *ask, "SELECT * FROM query_table('ter' || 'ms')")
    assert {*TABLES} < {*said(capsys, *ask, "SHOW TABLES", "--limit", "0", "--format", "csv").split()}


@pytest.mark.parametrize("command", ["sql", "whois", "explain"])
def test_what_is_no_utf_8_is_no_fault_of_the_pipeline(
    warehouse: str, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """As a shell gives ``$'\\xff'``."""
    assert main([command, "--warehouse", warehouse, "\udcff"]) == 1
    answer = capsys.readouterr().err
    assert "no UTF-8 text" in answer
    assert "fault of the pipeline" not in answer
