"""docs/queries.md: every question is asked of real clusters, in duckdb and in Spark, and answers what the page says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jobs.cli import cell, main, rows_in
from jobs.published import Published
from jobs.warehouse import Warehouse
from tests.acceptance.published import replay_in
from tests.conftest import Landing

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "queries.md"
README = ROOT / "README.md"
RUNS = (
    *("rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497", "rocketmq-dledger/flapping-533"),
    *("rocketmq-dledger/preferred-leader-533", "rocketmq-acting-master/locks-nonstrict-cut"),
    *("rocketmq-controller/master-cut-off", "rocketmq-controller/unclean-election"),
    *("rocketmq-controller/master-by-hand", "rocketmq-controller/incidents-in-a-row"),
    "rocketmq-acting-master/failover-preonline-default-step",
)
"""The clusters of the page."""

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
def warehouse(spark: "SparkSession", landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The real clusters, landed, replayed and published."""
    path = tmp_path_factory.mktemp("queries") / "warehouse"
    replay_in(spark, landing(RUNS), path)
    return str(path)


@pytest.fixture(scope="module")
def published(warehouse: str) -> Published:
    """Without Spark."""
    return Published(Warehouse(warehouse))


@pytest.fixture(scope="module")
def registered(spark: "SparkSession", warehouse: str) -> "SparkSession":
    """With Spark."""
    from jobs.views import register

    register(spark, warehouse)
    return spark


def shown(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """An answer as the page has it."""
    body = ["| " + " | ".join(in_a_cell(value) for value in row) + " |" for row in rows]
    return "\n".join(["| " + " | ".join(names) + " |", "|" + "---|" * len(names), *body])


def in_a_cell(value: Any) -> str:
    """A value inside a table of Markdown; log lines stay whole."""
    return "" if value is None else cell(value).replace("|", "\\|").replace("<", "&lt;").replace("\n", "<br>")


def test_there_are_twenty_questions() -> None:
    assert len(QUESTIONS) == 20
    assert [int(asked.title.split(".")[0]) for asked in QUESTIONS] == list(range(1, 21))


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
        "look at the difference, then rewrite the page: pytest tests/jobs/test_queries.py --rewrite"
    )


@EVERY
def test_spark_answers_the_same(asked: Question, published: Published, registered: "SparkSession") -> None:
    answer = published.query(asked.query)
    found = registered.sql(asked.query).toArrow()
    assert found.column_names == answer.column_names
    assert shown(found.column_names, rows_in(found)) == shown(answer.column_names, rows_in(answer))


def test_the_story_in_the_readme_is_what_incident_prints(warehouse: str, capsys: pytest.CaptureFixture[str]) -> None:
    command = "    election-replay incident --warehouse demo-warehouse --cluster master-cut-off --group bs-orders\n\n"
    block = README.read_text(encoding="utf-8").split(command)[1].split("\n\nThen come")[0]
    told = [line.removeprefix("    ") for line in block.splitlines() if line.strip() not in {"", "..."}]
    assert main(["incident", "--warehouse", warehouse, "--cluster", "master-cut-off", "--group", "bs-orders"]) == 0
    printed = iter(capsys.readouterr().out.splitlines())
    for line in told:
        assert line in printed, f"the README says {line!r}"  # in this order: `in` consumes the iterator


def rewrite(asked: Question, answer: str) -> None:
    """Put ``answer`` below the query."""
    page = [
        f"{section.split('```')[0]}```sql\n{asked.query}```\n\n{answer}\n\n"
        if section.startswith(f"## {asked.title}\n")
        else section
        for section in sections()
    ]
    PAGE.write_text("".join(page).rstrip() + "\n", encoding="utf-8")
