"""One log in two folders is judged once; two processes under one name are not one log."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.protocols.log_quality.duplicate_logs import deduplicate_logs
from election_replay.election_core.protocols.log_quality.facts import LogCopied
from tests.election_core import story

RUNS = ("rocketmq-dledger/old-copy-497", "rocketmq-controller/deaf-master", "rocketmq-acting-master/healthy-rebalance")


def alarms(facts: Iterable[Fact]) -> list[str]:
    found = [row for row in story.judge(facts) if isinstance(row, Finding) and row.severity != "info"]
    return sorted(f"{row.replica_group} {row.rule} {row.summary}" for row in found)


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_a_copy_of_any_log_changes_no_alarm(corpora: Path, run: str) -> None:
    """A host shipped under two names, one after the other and both at once."""
    facts = story.run_facts(corpora / run)
    expected = alarms(facts)
    for folder, lines in story.run_lines(corpora / run).items():
        assert alarms([*facts, *story.folder_facts(facts[0].cluster, "zz-copy", lines)]) == expected, folder


def test_a_host_that_was_renamed_goes_on_under_its_new_name(corpora: Path) -> None:
    """The old folder ends, the new one holds the last files of the old and goes on: one log."""
    run = corpora / "rocketmq-dledger/flapping-533"
    lines = story.run_lines(run)["n0"]
    times = sorted(line.time for line in lines)
    early, late = times[int(len(times) * 0.3)], times[int(len(times) * 0.6)]
    old = story.run_facts(run, lambda line: line.time < late, "n0")
    new = story.folder_facts(run.name, "new-name", (line for line in lines if line.time >= early))
    kept = deduplicate_logs(fact for fact in [*old, *new] if fact.protocol == "dledger")
    assert [(fact.source_node, fact.original) for fact in kept if isinstance(fact, LogCopied)] == [("new-name", "n0")]
    assert alarms(kept) == alarms(fact for fact in story.run_facts(run) if fact.protocol == "dledger")


def test_two_processes_under_one_name_stay_two(corpora: Path) -> None:
    """Their logs differ by seconds: two members that both believe to be the same one."""
    run = corpora / "rocketmq-controller/deaf-master"
    facts = story.run_facts(run)
    twin = [
        replace(fact, source_node="twin", since=fact.since + 3_000_000, since_by=fact.since_by + 3_000_000)
        for fact in facts
        if fact.source_node == "broker-1"
    ]
    assert not any(isinstance(fact, LogCopied) for fact in deduplicate_logs([*facts, *twin]))
