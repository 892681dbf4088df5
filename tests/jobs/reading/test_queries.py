"""docs/queries.md: every question is asked of real clusters, in duckdb and in Spark."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.cli.output import rows_in
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import cell
from election_replay.jobs.runbook.causes import CAUSE_OF_STATE
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.acceptance.published import replay_in
from tests.conftest import Landing
from tests.jobs.showing.test_dashboards_of_others import DATASETS
from tests.jobs.tables import blank, publish
from tests.proving import amount

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from election_replay.jobs.engines.spark_engine import SparkEngine

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "queries.md"
README, CASES = ROOT / "README.md", ROOT / "docs" / "cases.md"
RUNS = (
    *("rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497", "rocketmq-dledger/flapping-533"),
    *("rocketmq-dledger/preferred-leader-533", "rocketmq-acting-master/locks-nonstrict-cut"),
    *("rocketmq-controller/master-cut-off", "rocketmq-controller/unclean-election"),
    *("rocketmq-controller/master-by-hand", "rocketmq-controller/incidents-in-a-row"),
    *("rocketmq-acting-master/failover-preonline-default-step", "zookeeper/chaos-372"),
)
"""The clusters of the page."""

LATE = ("old-copy-497/nodes/n0", "kill-leader-533/nodes/n0")
"""Nodes whose logs came a night later than all others."""

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Question:
    """One section of the page; ``answer`` is what stands below the query."""

    title: str
    query: str
    answer: str


def sections() -> list[str]:
    """The page, cut before each question."""
    return re.split(r"(?m)^(?=## )", PAGE.read_text(encoding="utf-8"))


def question(section: str) -> Question:
    """The parts of a section."""
    before, query, answer = re.split(r"```(?:sql\n)?", section)
    return Question(before.splitlines()[0].removeprefix("## "), query, answer.strip())


QUESTIONS = [question(section) for section in sections()[1:]]
EVERY = pytest.mark.parametrize("asked", QUESTIONS, ids=lambda asked: asked.title)


@pytest.fixture(scope="module")
def warehouse(local: LocalEngine, landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The real clusters, landed, replayed and published, in two nights."""
    path, zone = tmp_path_factory.mktemp("queries"), landing(RUNS)
    late = {zone / node: path / f"late-{number}" for number, node in enumerate(LATE)}
    for there, aside in late.items():
        there.rename(aside)
    replay_in(local, zone, path / "warehouse")
    for there, aside in late.items():
        aside.rename(there)
    replay_in(local, zone, path / "warehouse")
    return str(path / "warehouse")


@pytest.fixture(scope="module")
def published(warehouse: str) -> Published:
    """Without Spark."""
    return Published(Warehouse(warehouse))


@pytest.fixture(scope="module")
def registered(spark: "SparkEngine", warehouse: str) -> "SparkSession":
    """With Spark."""
    from election_replay.jobs.spark_views import register

    register(spark.session, warehouse)
    return spark.session


def shown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An answer as the page has it."""
    body = ["| " + " | ".join(in_a_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(names) + " |", "|" + "---|" * len(names), *body])


def in_a_cell(value: Any) -> str:
    """A value inside a table of Markdown; log lines stay whole."""
    return "" if value is None else cell(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")


def test_there_are_thirty_five_questions() -> None:
    assert [int(asked.title.split(".")[0]) for asked in QUESTIONS] == list(range(1, 36))
    assert all("\n" not in asked.query.strip() for asked in QUESTIONS[20:]), "the last fifteen are one line each"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A warehouse in which nothing was ever found."""
    warehouse = blank(tmp_path_factory.mktemp("empty") / "warehouse")
    publish(warehouse)
    return Published(warehouse)


@EVERY
def test_a_question_can_be_asked_of_any_warehouse(asked: Question, empty: Published) -> None:
    assert empty.query(asked.query).num_rows in {0, len(catalogue())}


@EVERY
def test_the_page_says_what_duckdb_answers(
    asked: Question, published: Published, request: pytest.FixtureRequest
) -> None:
    answer = published.query(asked.query)
    text = shown(answer.column_names, rows_in(answer))
    if request.config.getoption("--rewrite"):
        rewrite(asked, text)
        return
    assert answer.num_rows > 0, "a question without an answer teaches nothing"
    assert text == asked.answer, (
        "look at the difference, then rewrite the page: pytest tests/jobs/reading/test_queries.py --rewrite"
    )


def test_the_cause_of_a_finding_is_what_the_view_says_of_the_old_leader(published: Published) -> None:
    rows = published.rows(
        "SELECT loss.old_leader_state AS state, found.cause FROM recoveries AS loss "
        "JOIN findings AS found ON found.finding_id = loss.finding_id AND found.former_leader = loss.old_leader "
        "AND found.next_leader = loss.new_leader WHERE found.cause <> 'lost'"
    )
    assert len({row["cause"] for row in rows}) > 1
    for row in rows:
        assert row["cause"] == CAUSE_OF_STATE.get(row["state"], "any")


@pytest.mark.parametrize("asked", QUESTIONS[:: amount(8, 1)], ids=lambda asked: asked.title)
def test_spark_answers_the_same(asked: Question, published: Published, registered: "SparkSession") -> None:
    answer = published.query(asked.query)
    found = registered.sql(asked.query).toArrow()
    assert found.column_names == answer.column_names
    assert shown(found.column_names, rows_in(found)) == shown(answer.column_names, rows_in(answer))


@pytest.mark.parametrize("dataset", DATASETS[:: amount(3, 1)], ids=lambda dataset: dataset["table_name"])
def test_datasets_of_superset_are_answered_alike(
    dataset: dict[str, Any], published: Published, registered: "SparkSession"
) -> None:
    answer, found = published.query(dataset["sql"]), registered.sql(dataset["sql"]).toArrow()
    assert found.column_names == answer.column_names == [column["column_name"] for column in dataset["columns"]]
    told, said = ([tuple(map(in_a_cell, row)) for row in rows_in(one)] for one in (answer, found))
    assert sorted(said) == sorted(told)


def stories() -> Iterator[tuple[str, str, list[str]]]:
    """Cluster, group and lines of every story of this warehouse on the two pages; ``...`` leaves lines out."""
    for page in (README, CASES):
        parts = re.split(
            r"    election-replay incident --warehouse (?:W|demo-warehouse) --cluster (\S+) --group (\S+)\n",
            page.read_text("utf-8"),
        )
        for cluster, group, rest in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            block = re.match(r"\n((?:    .*\n|\n)*)", rest)
            assert block
            lines = [line.removeprefix("    ") for line in block[1].splitlines()]
            yield cluster, group, [line for line in lines if line.strip() not in {"", "..."}]


@pytest.mark.parametrize(("cluster", "group", "told"), stories())
def test_stories_on_our_pages_are_what_incident_prints(
    cluster: str, group: str, told: list[str], warehouse: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["incident", "--warehouse", warehouse, "--cluster", cluster, "--group", group]) == 0
    printed = iter(capsys.readouterr().out.splitlines())
    assert len(told) > 5
    for line in told:
        assert line in printed, f"the page says {line!r}"  # in this order: `in` consumes the iterator


def test_the_other_commands_of_the_cases_answer(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"(?m)^    election-replay ((?:sql|explain) .*)$", CASES.read_text("utf-8"))
    assert len(commands) == 6
    for command in commands:
        assert main([warehouse if word == "W" else word for word in shlex.split(command)]) == 0, command
        assert "(0 rows)" not in capsys.readouterr().out, command


def rewrite(asked: Question, answer: str) -> None:
    """Put ``answer`` below the query."""
    page = [
        f"{section.split('```')[0]}```sql\n{asked.query}```\n\n{answer}\n\n"
        if section.startswith(f"## {asked.title}\n")
        else section
        for section in sections()
    ]
    PAGE.write_text("".join(page).rstrip() + "\n", encoding="utf-8")
