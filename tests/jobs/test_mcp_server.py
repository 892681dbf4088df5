"""``mcp``: the official client lists and calls every tool, and no answer is longer than its budget."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client

from election_replay.jobs.mcp_server import BUDGET, SIGNS_A_TOKEN, Tools, answering, server, within

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "landing" / "master-cut-off")
GROUP = {"cluster": "master-cut-off", "group": "bs-orders"}


def text(answer: Any) -> str:
    assert not answer.is_error, answer
    [part] = answer.content
    assert len(part.text) <= BUDGET * SIGNS_A_TOKEN
    return str(part.text)


def asked(warehouse: str | None, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """The answers to calls of tools, one after the other, by one client."""

    async def ask() -> list[str]:
        async with Client(server(warehouse)) as client:
            return [text(await client.call_tool(name, values)) for name, values in calls]

    return asyncio.run(ask())


def test_every_tool_answers(cut_off: str) -> None:
    [found] = asked(cut_off, ("findings", {"severity": "critical"}))
    assert found.startswith("1 findings\n")
    finding = found.splitlines()[1].split()[0]
    story, why, steps, who, rows, looked = asked(
        cut_off,
        ("incident", GROUP),
        ("explain", {"finding_id": finding}),
        ("runbook", {"finding_id": finding}),
        ("whois", {"name": "broker-1"}),
        ("sql", {"query": "SELECT rule, count(*) AS n FROM findings GROUP BY ALL ORDER BY ALL"}),
        ("look", {"folder": EXAMPLE}),
    )
    assert "becomes master" in story
    assert "broker-1/logs" in why
    assert "election-replay sql" in steps
    assert who.startswith("1 is a member of bs-orders")
    assert rows.splitlines()[0] == "rule\tn"
    assert "SPLIT_BRAIN_OVERLAP" in looked


def test_errors_are_answers(cut_off: str) -> None:
    unknown, write, none = asked(
        cut_off,
        ("incident", GROUP | {"group": "nobody"}),
        ("sql", {"query": "DROP TABLE findings"}),
        ("explain", {"finding_id": "ffffffffffff"}),
    )
    assert unknown.startswith("error: no group nobody in master-cut-off")
    assert write.startswith("error: give one SELECT")
    assert none.startswith("error: ")
    [closed] = asked(None, ("findings", {}))
    assert closed.startswith("error: no warehouse is open")


def test_what_no_tool_can_take_is_answered(cut_off: str) -> None:
    """A name that is too long for a path, and a text that is no UTF-8, as JSON may carry."""
    tools = Tools(cut_off)
    assert answering(tools.look)("x" * 3000).startswith("error: ")
    for tool in (tools.whois, tools.explain, tools.runbook, tools.sql):
        assert answering(tool)("\udcff").startswith("error: what is asked for is no UTF-8 text")


def test_a_long_answer_is_cut_and_says_so(cut_off: str) -> None:
    [rows] = asked(cut_off, ("sql", {"query": "SELECT * FROM events"}))
    assert rows.endswith("ask for less, for example a shorter time)")


def test_a_budget_is_kept_for_any_line() -> None:
    cut = within(["x" * 100_000, "y"], 100)
    assert cut.startswith("x")
    assert cut.endswith("(cut: 1 more lines; ask for less, for example a shorter time)")
    assert len(cut) <= 100 * SIGNS_A_TOKEN
    assert within(["a", "b"]) == "a\nb"


def test_the_command_serves_by_standard_input_and_output(cut_off: str) -> None:
    command = ["-m", "election_replay.jobs.cli", "mcp", "--warehouse", cut_off]

    async def ask() -> Iterator[str]:
        place = StdioServerParameters(command=sys.executable, args=command)
        async with Client(stdio_client(place)) as client:
            tools = (await client.list_tools()).tools
            rule = await client.read_resource("rules://LEADERLESS")
        assert "LEADERLESS" in rule.contents[0].text
        assert all(tool.description for tool in tools)
        return iter(sorted(tool.name for tool in tools))

    assert [*asyncio.run(ask())] == ["explain", "findings", "incident", "look", "runbook", "sql", "whois"]
