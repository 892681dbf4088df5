"""The order lock rules on real clusters: what each run's ``expected`` says about locks, and what it rules out."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random

import pytest

from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.rows import Finding, LockHold, Row
from election_replay.election_core.protocols.order_lock.log import PROTOCOL
from tests.election_core import story

Check = Callable[["Run"], bool]


@dataclass(frozen=True)
class Run:
    """The rows of this protocol for all broker sets of a run."""

    rows: tuple[Row, ...]

    def findings(self, rule: str) -> list[str]:
        """``certainty clock summary`` of each finding of a rule, by time."""
        found = [row for row in self.rows if isinstance(row, Finding) and row.rule == rule]
        return [f"{f.certainty} {clock(f.start_time)} {f.summary}" for f in sorted(found, key=lambda f: f.start_time)]

    def holds(self, source: str, consumers: str, client: str, topic: str = "OrderEvents") -> list[str]:
        """``queue start-end end_cause`` of each hold of a client at a broker."""
        return [
            f"{hold.queue_id} {clock(hold.start_time)}-{clock(hold.end_time)} {hold.end_cause}"
            for hold in self.rows
            if isinstance(hold, LockHold)
            and (hold.source_node, hold.consumer_group, hold.topic) == (source, consumers, topic)
            and hold.client_id.endswith(f"@{client}")
        ]


@cache
def judged(run: Path) -> Run:
    """The verdict on all lines of a run."""
    return Run(tuple(row for row in story.run_rows(run) if row.protocol == PROTOCOL))


def clock(us: int | None) -> str:
    return "..." if us is None else datetime.fromtimestamp(us / 1_000_000, UTC).strftime("%H:%M:%S")


def double(certainty: str, *words: str) -> Check:
    """Exactly one double hold is described by all of the words."""
    return lambda run: (
        sum(
            found.startswith(certainty) and all(word in found for word in words)
            for found in run.findings("LOCK_DOUBLE_HOLD")
        )
        == 1
    )


def only(rule: str, count: int) -> Check:
    return lambda run: len(run.findings(rule)) == count


def alarms(count: int) -> Check:
    return lambda run: sum(isinstance(row, Finding) and row.severity != INFO for row in run.rows) == count


def held(*holds: str, source: str, consumers: str, client: str) -> Check:
    return lambda run: set(holds) <= set(run.holds(source, consumers, client))


def one_hold_of_three(run: Run) -> bool:
    """Each entry of the first grants in strict mode is known to stand at all three brokers."""
    first = [
        row
        for row in run.rows
        if isinstance(row, LockHold) and row.replica_group == "broker-a" and clock(row.start_time) == "10:44:03"
    ]
    return len(first) > 0 and all(row.granted == 3 and row.lock_mode == "strict" for row in first)


SAID: tuple[tuple[str, str, Check], ...] = (
    (
        "healthy-rebalance",
        "Order locks of order-group on broker-a",
        held(
            "3 10:20:55-10:22:19 released",
            "3 10:22:50-10:23:15 released",
            source="broker-a-0",
            consumers="order-group",
            client="consumer-1",
        ),
    ),
    (
        "healthy-rebalance",
        "Order locks of order-group on broker-a",
        held("3 10:22:19-10:22:49 released", source="broker-a-0", consumers="order-group", client="consumer-2"),
    ),
    ("healthy-rebalance", "NOT to be claimed", alarms(0)),
    (
        "locks-nonstrict-cut",
        "LOCK_DOUBLE_HOLD, consumers",
        double("definite", "09:28:10", "@consumer-1", "@consumer-2", "OrderEvents queues 0, 2 of order-group"),
    ),
    (
        "locks-nonstrict-cut",
        "LOCK_DOUBLE_HOLD, direct lock clients",
        double("definite", "09:28:04", "@L1", "@L2", "OrderEvents queues 0, 1, 2, 3 of lock-probe"),
    ),
    (
        "locks-nonstrict-cut",
        "From the broker logs alone",
        double("possible", "09:28:46", "OrderEvents queue 1 of order-group"),
    ),
    ("locks-nonstrict-cut", "LOCK_DOUBLE_HOLD, consumers", only("LOCK_DOUBLE_HOLD", 3)),
    ("locks-nonstrict-cut", "NOT to be claimed", only("LOCK_WITHOUT_QUORUM", 0)),
    ("locks-strict-cut", "So there is NO double hold", only("LOCK_DOUBLE_HOLD", 0)),
    (
        "locks-strict-cut",
        "Group lock-probe, queues 0 to 3",
        lambda run: ["@L1" in found for found in run.findings("LOCK_WITHOUT_QUORUM")] == [True],
    ),
    ("locks-strict-cut", "NOT to be claimed", alarms(0)),
    ("locks-strict-consumers", "lockInStrictMode=true", one_hold_of_three),
    ("locks-strict-consumers", "NOT to be claimed", only("LOCK_DOUBLE_HOLD", 0)),
    ("locks-strict-consumers", "NOT to be claimed", only("LOCK_WITHOUT_QUORUM", 0)),
    (
        "locks-strict-consumers",
        "broker-b: consumer-1 cannot renew",
        lambda run: [hold[-7:] for hold in run.holds("broker-b-0", "order-group", "consumer-1")][:2] == ["expired"] * 2,
    ),
    (
        "chain-two-down",
        "LOCK_DOUBLE_HOLD (lockInStrictMode=false)",
        double("definite", "10:48:20", "broker-a-2", "broker-a-1", "queues 0, 1, 2, 3 of order-group"),
    ),
    (
        "chain-two-down",
        "LOCK_DOUBLE_HOLD (lockInStrictMode=false)",
        double("definite", "10:48:55", "broker-a-1", "broker-a-0", "queues 0, 1, 2, 3 of order-group"),
    ),
    ("chain-two-down", "LOCK_DOUBLE_HOLD (lockInStrictMode=false)", only("LOCK_DOUBLE_HOLD", 2)),
    (
        "delay-escape",
        "LOCK_DOUBLE_HOLD (non-strict)",
        double("definite", "10:51:36", "@consumer-1", "@consumer-2", "RemindLater queues 0, 1 of order-group"),
    ),
    ("delay-escape", "LOCK_DOUBLE_HOLD (non-strict)", only("LOCK_DOUBLE_HOLD", 1)),
    *(
        (run, "", alarms(0))
        for run in (
            "failover-preonline-clean",
            "failover-preonline-default-step",
            "failover-skip-preonline",
            "no-fault-slow-start",
            "preonline-never-ends",
            "skip-preonline-consumed-twice",
            "skip-preonline-no-repeat",
            "zombie-master-pause",
        )
    ),
)
"""``(run, how the sentence of expected begins, what must hold)``; no sentence: expected says nothing about locks."""


@pytest.mark.parametrize(("run", "sentence", "holds"), SAID, ids=[f"{run}: {text}" for run, text, _ in SAID])
def test_expected(corpora: Path, run: str, sentence: str, holds: Check) -> None:
    """The verdict says what ``expected`` says."""
    path = corpora / "rocketmq-acting-master" / run
    assert any(said.startswith(sentence) for said in json.loads((path / "run.json").read_text())["expected"])
    verdict = judged(path)
    assert holds(verdict), [row for row in verdict.rows if isinstance(row, Finding)]


def dropping(random: Random) -> story.Keep:
    """Drops some of the INFO lines."""
    return lambda line: line.level != "INFO" or random.random() > 0.03


@pytest.mark.parametrize("run", ["chain-two-down", "healthy-rebalance", "locks-nonstrict-cut", "locks-strict-cut"])
def test_dropped_info_lines_raise_no_alarm(corpora: Path, run: str) -> None:
    """Appenders drop INFO lines: that may hide an alarm and never makes one."""
    path = corpora / "rocketmq-acting-master" / run
    known = _alarms(judged(path))
    for seed in range(2):
        facts = story.run_facts(path, keep=dropping(Random(seed)))
        assert _alarms(Run(tuple(story.judge(fact for fact in facts if fact.protocol == PROTOCOL)))) <= known


def _alarms(run: Run) -> set[tuple[str, tuple[str, ...]]]:
    return {(row.rule, row.nodes) for row in run.rows if isinstance(row, Finding) and row.severity != INFO}
