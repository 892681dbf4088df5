"""The metadata rules on real clusters: what each run's ``expected`` says of offsets, topics and groups."""

import random
from functools import cache
from pathlib import Path

import pytest

from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.rows import Finding, MetadataVersion, Row
from election_replay.election_core.protocols.metadata.log import PROTOCOL, MetadataLog
from election_replay.election_core.replay.source_fold import SourceLog
from tests.election_core import story

SYSTEM = "rocketmq-acting-master"

ROLLBACK, SKIPPED, STALE = "METADATA_ROLLBACK", "PRE_ONLINE_SKIPPED", "STALE_REVERSE_SYNC"

FOUND = {
    # run: rule, severity, words of the sentence, messages repeated
    "failover-preonline-default-step": [
        (ROLLBACK, "warning", "of billing-group on OrderEvents", "0: 106 to 66, queue 1: 106 to 65", 161),
        (ROLLBACK, "warning", "of order-group on OrderEvents", "0: 124 to 66, queue 1: 124 to 66", 239),
    ],
    "failover-preonline-clean": [],
    "skip-preonline-consumed-twice": [
        (SKIPPED, "warning", "0 (broker-a-0) came back", "1 (broker-a-1) acted", None),
        (ROLLBACK, "warning", "of billing-group on OrderEvents", "0: 107 to 67", 159),
        (ROLLBACK, "info", "of order-group on OrderEvents", "0: 113 to 67", 184),
        (ROLLBACK, "warning", "LateTopic", "dropped", None),
        (ROLLBACK, "warning", "late-group", "dropped", None),
    ],
    "skip-preonline-no-repeat": [
        (SKIPPED, "warning", "0 (broker-a-0) came back", "1 (broker-a-1) acted", None),
        (ROLLBACK, "warning", "of billing-group on OrderEvents", "0: 101 to 63", 152),
        (ROLLBACK, "warning", "of order-group on OrderEvents", "0: 111 to 62", 195),
        (ROLLBACK, "warning", "LateTopic", "drops", None),
        (ROLLBACK, "warning", "late-group", "drops", None),
    ],
    "failover-skip-preonline": [
        (SKIPPED, "warning", "0 (broker-a-0) came back", "1 (broker-a-1) acted", None),
        (
            ROLLBACK,
            "info",
            "of order-group on OrderEvents",
            "0: 5 to none, queue 1: 0 to none, queue 2: 3 to none",
            None,
        ),
        (ROLLBACK, "warning", "LateTopic", "drops", None),
        (ROLLBACK, "warning", "late-group", "drops", None),
        # the third acting period, of a master that lives
        (ROLLBACK, "info", "of billing-group on OrderEvents", "0: 48 to 36, queue 1: 28 to 21", 33),
        (ROLLBACK, "info", "of order-group on OrderEvents", "0: 92 to 81", 44),
    ],
    "zombie-master-pause": [
        (ROLLBACK, "warning", "of billing-group on OrderEvents", "0: 103 to 79, queue 1: 103 to 79", 96),
    ],
    "chain-two-down": [
        (ROLLBACK, "info", "of billing-group on OrderEvents", "0: 102 to 77", 101),
        (ROLLBACK, "info", "of order-group on OrderEvents", "0: 102 to 79", 92),
    ],
    "delay-escape": [],
    "preonline-never-ends": [],
    "healthy-rebalance": [],
    "no-fault-slow-start": [],
    "locks-nonstrict-cut": [],
    "locks-strict-consumers": [],
    "locks-strict-cut": [],
}
"""What is found in each run; a run's ``expected`` says which of it must be, and what must not be claimed."""


@cache
def rows_of(run: Path) -> tuple[Row, ...]:
    """The rows of this protocol for all groups of a run."""
    return tuple(row for row in story.run_rows(run) if row.protocol == PROTOCOL)


def findings(run: Path) -> list[Finding]:
    return [row for row in rows_of(run) if isinstance(row, Finding)]


@pytest.mark.parametrize("run", FOUND)
def test_what_went_back_is_found_with_its_size_and_nothing_else(corpora: Path, run: str) -> None:
    left = findings(corpora / SYSTEM / run)
    for rule, severity, about, numbers, repeated in FOUND[run]:
        fitting = [
            one
            for one in left
            if (one.rule, one.severity, one.messages_repeated) == (rule, severity, repeated)
            and about in one.summary
            and numbers in one.summary
        ]
        assert len(fitting) == 1, (run, rule, about, [one.summary for one in left])
        left.remove(fitting[0])
    assert not left


@pytest.mark.parametrize("run", FOUND)
def test_one_cause_is_one_alarm(corpora: Path, run: str) -> None:
    alarms = [one for one in findings(corpora / SYSTEM / run) if one.severity != INFO and one.implied_by is None]
    hand_overs = {(one.replica_group, one.start_time) for one in alarms}
    assert len(hand_overs) == (1 if any(severity != INFO for _, severity, *_ in FOUND[run]) else 0)


@pytest.mark.parametrize("run", FOUND)
def test_what_one_hand_over_lost_is_no_echo_of_each_other(corpora: Path, run: str) -> None:
    rules = {one.finding_id: one.rule for one in findings(corpora / SYSTEM / run)}
    for one in findings(corpora / SYSTEM / run):
        assert one.implied_by is None or rules[one.implied_by] != one.rule


@pytest.mark.parametrize("run", [run for run in FOUND if run.startswith(("failover", "skip", "chain"))])
def test_lost_lines_make_no_alarm(corpora: Path, run: str) -> None:
    """Brokers drop INFO lines in bursts; what is then missing proves nothing."""
    known = {(one.rule, one.summary.partition(" went back")[0]) for one in findings(corpora / SYSTEM / run)}
    for seed in range(6):
        chance = random.Random(seed)
        facts = story.run_facts(corpora / SYSTEM / run, lambda line: line.level != "INFO" or chance.random() > 0.3)  # noqa: B023
        rows = story.judge(fact for fact in facts if fact.protocol == PROTOCOL)
        loud = [one for one in rows if isinstance(one, Finding) and one.severity != INFO]
        assert {(one.rule, one.summary.partition(" went back")[0]) for one in loud} <= known, seed


@pytest.mark.parametrize("run", ["failover-skip-preonline", "chain-two-down"])
def test_only_tables_around_what_happened_are_held(corpora: Path, run: str) -> None:
    """A source that knows its logs before its snapshots holds a part of them, and says the same."""
    for node, lines in story.run_lines(corpora / SYSTEM / run).items():
        lean, whole = SourceLog(run, node, 500), SourceLog(run, node, 500)
        whole._snapshots = True  # as if it had been told already, with nothing known
        for source in (lean, whole):
            for line in lines:
                source.seen(line.stream, line.time, line.by)
                if line.event is not None:
                    source.on(line.event)
        assert _offsets_held(lean) <= _offsets_held(whole)
        if node == "broker-a-0":
            assert _offsets_held(lean) < _offsets_held(whole) * 0.8
        assert list(lean.facts()) == list(whole.facts())


def _offsets_held(source: SourceLog) -> int:
    logs = [log for log in source.logs.values() if isinstance(log, MetadataLog)]
    return sum(len(snapshot.entries) for log in logs for snapshot in log.snapshots.values())


@pytest.mark.parametrize(
    "run", ["rocketmq-controller/healthy", "rocketmq-controller/master-killed", "rocketmq-dledger/healthy-497"]
)
def test_brokers_without_acting_masters_have_versions_and_no_findings(corpora: Path, run: str) -> None:
    rows = rows_of(corpora / run)
    kinds = {row.kind for row in rows if isinstance(row, MetadataVersion)}
    assert {"consumer_offset", "delay_offset", "topic_config", "subscription_group"} <= kinds
    assert not [row for row in rows if isinstance(row, Finding)]


def test_versions_are_those_in_the_files(corpora: Path) -> None:
    rows = rows_of(corpora / SYSTEM / "failover-preonline-default-step")
    counters = [
        (row.node, row.counter)
        for row in rows
        if isinstance(row, MetadataVersion) and row.kind == "consumer_offset" and row.replica_group == "broker-a"
    ]
    assert max(counter or 0 for node, counter in counters if node == "0") == 2
    assert max(counter or 0 for node, counter in counters if node in {"1", "2"}) == 1
