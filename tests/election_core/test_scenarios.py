"""Each scenario file tells one story; the verdict below its rule is what the core must say of it."""

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from election_replay.election_core.model.rows import Finding, Row
from tests.election_core import story
from tests.proving import amount

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios").glob("*/*.txt"))

CLASSICS = ("raft", "zab", "bully", "token_ring")
STARTS_OR_STOPS = ("_START", "_STOP", "etcd Version", "newRaft", "signal", "Reading configuration", "Starting quorum")


def _id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", SCENARIOS, ids=_id)
def test_verdict_is_the_one_in_the_file(path: Path, request: pytest.FixtureRequest) -> None:
    """The rows of the story read as the file says; ``--rewrite`` writes what they say now."""
    text = path.read_text()
    rows = story.scenario_rows(path)
    told = story.tell(rows, of_sources=path.parent.name == "log_quality")
    assert all((row.rule == "LEADERLESS") == bool(row.scope) for row in rows if isinstance(row, Finding))
    if request.config.getoption("--rewrite"):
        path.write_text(f"{text.split(story.RULE)[0]}{story.RULE}\n{told}")
        return
    assert story.RULE in text, "the scenario has no verdict yet: run pytest --rewrite and read the diff"
    assert told == text.split(f"{story.RULE}\n")[1]


@pytest.mark.parametrize("path", SCENARIOS, ids=_id)
def test_order_of_facts_does_not_matter(path: Path) -> None:
    """Facts are merged as sets: whatever order they come in, the rows are the same."""
    facts, expected = [*story.scenario_facts(path)], [*story.scenario_rows(path)]
    for seed in range(amount(1, 5)):
        shuffled = facts * 2
        random.Random(seed).shuffle(shuffled)
        assert story.judge(shuffled) == expected


@pytest.mark.parametrize("path", SCENARIOS, ids=_id)
def test_clocks_inside_their_bounds_change_no_certain_finding(path: Path) -> None:
    """A clock that is off by up to its bound changes no proven or definite finding above info.

    `make prove` moves each clock both ways, `make test` every other one ahead and the rest behind.
    """
    logs, expected = story.parse(path.read_text()), _certain(story.scenario_rows(path))
    shifts = (-story.BOUND_MS, story.BOUND_MS)
    for number, node in enumerate(story.nodes_of(logs), len(path.stem)):
        for shift_ms in amount((shifts[number % 2],), shifts):
            assert _certain(story.judge(story.facts_of(logs, {node: shift_ms}))) == expected, (node, shift_ms)


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in SCENARIOS if p.parent.name in CLASSICS], ids=_id)
def test_a_missing_line_breaks_no_rule(path: Path) -> None:
    """Any line may be lost but those that say that a process starts or stops; no rule is broken because of it.

    `make prove` tries all lines, `make test` every fourth one.
    """
    logs, expected = story.parse(path.read_text()), _rules_broken(story.scenario_rows(path))
    if "SPLIT_BRAIN_SAME_TERM" in expected:
        expected |= {"LEADERLESS"}  # that nobody led between two terms follows from one leader a term
    for log, lines in logs.items():
        for number, line in [*enumerate(lines)][len(lines) % amount(4, 1) :: amount(4, 1)]:
            if not any(mark in line for mark in STARTS_OR_STOPS):
                without = {**logs, log: lines[:number] + lines[number + 1 :]}
                assert _rules_broken(story.judge(story.facts_of(without))) <= expected, (log, line)


def _rules_broken(rows: Iterable[Row]) -> set[str]:
    """The rules of all findings above info."""
    return {row.rule for row in rows if isinstance(row, story.Finding) and row.severity != "info"}


def _certain(rows: Iterable[Row]) -> set[tuple[str, tuple[str, ...], tuple[int, ...]]]:
    return {
        (row.rule, row.nodes, row.terms)
        for row in rows
        if isinstance(row, story.Finding) and row.certainty in ("proven", "definite") and row.severity != "info"
    }
