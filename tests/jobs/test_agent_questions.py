"""Questions about real clusters are answered by few and short answers of the tools."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from election_replay.jobs.cli.app import cli
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.mcp_server import BUDGET, SIGNS_A_TOKEN, server
from election_replay.schemas import TABLES
from election_replay.schemas.views import VIEWS
from tests.acceptance.published import replay_in
from tests.conftest import Landing
from tests.jobs.agent_questions import FOUND, QUESTIONS, Question

pytestmark = pytest.mark.slow

MOST_CALLS = 4
LEAST_QUESTIONS = 30


@pytest.fixture(scope="module")
def warehouse(corpora: Path, landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    about = {question.about for question in QUESTIONS}
    runs = sorted(f"{run.parent.name}/{run.name}" for run in corpora.glob("*/*") if run.name in about)
    with closing(LocalEngine(cores=1)) as engine:
        yield str(replay_in(engine, landing(runs), tmp_path_factory.mktemp("asked") / "warehouse").path)


def test_there_are_many_questions() -> None:
    assert len({(question.about, question.text) for question in QUESTIONS}) >= LEAST_QUESTIONS
    assert all(len(question.calls) <= MOST_CALLS for question in QUESTIONS)


def in_a_table() -> str:
    """The questions as docs/agents.md lists them."""
    rows = (
        f"| {question.about} | {question.text} | {', then '.join(f'`{tool}`' for tool, _ in question.calls)} |"
        for question in QUESTIONS
    )
    return "\n".join(("| cluster | question | calls |", "|---|---|---|", *rows))


def test_the_page_lists_them() -> None:
    page = (Path(__file__).parents[2] / "docs" / "agents.md").read_text("utf-8")
    assert in_a_table() in page, f"docs/agents.md should hold:\n{in_a_table()}"


def test_the_skill_names_tools_commands_and_tables_that_are_there() -> None:
    skill = Path(__file__).parents[2] / "examples" / "skills" / "election-replay" / "SKILL.md"
    named = set(re.findall(r"`(?:election-replay )?([a-z_]+)[^`]*`", skill.read_text("utf-8")))
    tools = {tool for question in QUESTIONS for tool, _ in question.calls}
    assert named >= {"findings", "incident", "explain"}
    assert named - tools - set(cli.commands) - set(TABLES) - set(VIEWS) == set()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: f"{question.about}: {question.text}")
def test_a_question_is_answered(question: Question, warehouse: str) -> None:
    answers = asyncio.run(asked(warehouse, question))
    assert re.search(question.answer, "\n§\n".join(answers)), answers
    assert sum(map(len, answers)) <= BUDGET * SIGNS_A_TOKEN


async def asked(warehouse: str, question: Question) -> list[str]:
    answers: list[str] = []
    async with Client(server(warehouse)) as client:
        for tool, values in question.calls:
            answer: Any = await client.call_tool(tool, with_finding(values, answers))
            answers.append(answer.content[0].text)
    return answers


def with_finding(values: dict[str, Any], answers: list[str]) -> dict[str, Any]:
    """The values of a call, with the id of the first finding that was listed where it is meant."""
    return {name: answers[-1].splitlines()[1].split()[0] if value == FOUND else value for name, value in values.items()}
