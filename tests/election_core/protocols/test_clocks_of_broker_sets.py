"""A wrong clock in a set with a configured master is told as what it is, and nothing worse is told because of it."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.acting_master.causality import causal_pairs
from tests.election_core import story

RUNS = "rocketmq-acting-master"
CHAIN = f"{RUNS}/chain-two-down"
"""The master of broker-a dies, then the slave that acted for it; both come back. Two name servers tell of them."""


@cache
def of_run(run: Path, node: str = "", seconds: int = 0) -> tuple[Fact, ...]:
    """The facts of a run where the clock of one machine is ahead all the time."""
    return tuple(
        fact
        for name, lines in story.run_lines(run).items()
        for fact in story.folder_facts(
            run.name, name, [_later(line, seconds * SECOND if name == node else 0) for line in lines]
        )
    )


def _later(line: story.Seen, us: int) -> story.Seen:
    event = line.event and replace(line.event, at=line.event.at + us, by=line.event.by + us)
    return replace(line, time=line.time + us, by=line.by + us, event=event)


def alarms(facts: tuple[Fact, ...]) -> set[tuple[str, str, tuple[str, ...]]]:
    """What is told above info, of whom."""
    found = (row for row in story.judge(facts) if isinstance(row, Finding))
    return {(row.rule, row.severity, tuple(sorted(row.nodes))) for row in found if row.severity != "info"}


@pytest.mark.parametrize(
    ("node", "seconds"),
    [("broker-a-0", 25), ("broker-a-0", 70), ("broker-a-0", -70), ("broker-a-1", -70), ("broker-a-2", 25)],
)
def test_the_wrong_clock_is_named_and_nothing_else_is_told(corpora: Path, node: str, seconds: int) -> None:
    new = alarms(of_run(corpora / CHAIN, node, seconds)) - alarms(of_run(corpora / CHAIN))
    assert ("CLOCK_SKEW", "warning", (node,)) in new
    assert {(rule, severity) for rule, severity, _ in new if rule != "LOCK_DOUBLE_HOLD"} == {("CLOCK_SKEW", "warning")}
    assert "critical" not in {severity for _, severity, _ in new}


@pytest.mark.parametrize("seconds", [25, -70])
def test_no_wrong_clock_makes_a_lock_held_twice(corpora: Path, seconds: int) -> None:
    for run in sorted((corpora / RUNS).iterdir()):
        if not (run / "run.json").exists():
            continue
        true = {alarm for alarm in alarms(of_run(run)) if alarm[1] == "critical"}
        for node in story.run_lines(run):
            told = {alarm for alarm in alarms(of_run(run, node, seconds)) if alarm[1] == "critical"}
            assert told <= true, (run.name, node)


def test_true_clocks_are_found_wrong_nowhere(corpora: Path) -> None:
    for run in sorted((corpora / RUNS).iterdir()):
        if (run / "run.json").exists():
            assert "CLOCK_SKEW" not in {rule for rule, _, _ in alarms(of_run(run))}, run.name


def test_one_registration_more_than_lives_ties_nothing(corpora: Path) -> None:
    """A connection that broke while the broker lived looks like a death; the rows do not agree then."""
    facts = [fact for fact in of_run(corpora / CHAIN) if fact.replica_group == "broker-a"]
    told = [fact for fact in facts if fact.kind == "BROKER_REGISTERED" and fact.source_node == "ns-1"]
    ties = {pair.cause.source for pair in causal_pairs(facts)}
    assert ties == {"broker-a-0", "broker-a-1", "broker-a-2", "ns-1", "ns-2"}
    first = min((fact for fact in told if str(fact.address).startswith("10.82.1.20:")), key=lambda fact: fact.since)
    again = replace(first, since=first.since + 9 * SECOND, since_by=first.since_by + 9 * SECOND)
    assert "broker-a-0" not in {pair.cause.source for pair in causal_pairs([*facts, again])}
