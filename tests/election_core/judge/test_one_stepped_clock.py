"""A clock that is set costs what compares with that clock, and nothing that others tell of themselves."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from election_replay.election_core.model.timing import SECOND
from tests.election_core import story

RUN = "zookeeper/kill-majority-384"
"""Five servers; zk5 leads, loses its majority for 40 s, and leads again."""
STEP = 40 * SECOND


@cache
def rows(run: Path, server: str = "", back: int = 0) -> tuple[Row, ...]:
    """The verdict where the clock of one server was put back in the middle of its log."""
    facts: list[Fact] = []
    for name, lines in story.run_lines(run).items():
        middle = sorted(line.time for line in lines)[len(lines) // 2]
        facts += story.folder_facts(
            run.name, name, [_earlier(line, back if name == server and line.time >= middle else 0) for line in lines]
        )
    return tuple(story.judge(facts))


def _earlier(line: story.Seen, us: int) -> story.Seen:
    event = line.event and replace(line.event, at=line.event.at - us, by=line.event.by - us)
    return replace(line, time=line.time - us, by=line.by - us, event=event)


def outages(told: tuple[Row, ...]) -> dict[tuple[int, ...], Finding]:
    return {row.terms: row for row in told if isinstance(row, Finding) and row.rule == "LEADERLESS"}


@pytest.mark.parametrize("back", [STEP, -STEP], ids=["back", "forward"])
@pytest.mark.parametrize("server", ["zk1", "zk2", "zk3", "zk4"])
def test_the_outage_stays_as_sharp_where_a_follower_is_set(corpora: Path, server: str, back: int) -> None:
    before, after = outages(rows(corpora / RUN)), outages(rows(corpora / RUN, server, back))
    assert before.keys() == after.keys() == {(1, 2)}
    known, still = before[1, 2], after[1, 2]
    assert (still.severity, still.certainty) == (known.severity, known.certainty) == ("warning", "definite")
    assert still.duration_min_ms == known.duration_min_ms
    assert still.duration_max_ms is not None
    assert still.duration_max_ms <= (known.duration_max_ms or 0) + 500


@pytest.mark.parametrize("server", ["zk1", "zk4", "zk5"])
def test_the_roles_of_the_others_stay_as_they_were(corpora: Path, server: str) -> None:
    def of_others(told: tuple[Row, ...]) -> list[RoleInterval]:
        return [
            replace(row, term=None, end_time=None, end_uncertainty_ms=None, end_event_id=None, end_cause=None)
            for row in told
            if isinstance(row, RoleInterval) and row.source_node not in (server, None) and row.role != "down"
        ]

    assert of_others(rows(corpora / RUN, server, STEP)) == of_others(rows(corpora / RUN))


STEPS = (
    ("etcd/chaos-36", "etcd1", 1_795_332_661_501_323, 25),
    ("zookeeper/chaos-372", "zk3", 1_795_332_540_310_000, -3),
    ("zookeeper/chaos-372", "zk3", 1_795_332_732_887_000, -60),
    ("rocketmq-dledger/chaos-533", "n1", 1_795_333_500_000_000, 60),
    ("rocketmq-controller/chaos", "broker-2", 1_795_333_700_000_000, -25),
    ("rocketmq-controller/master-killed", "broker-3", 1_795_256_463_000_000, -25),
    ("rocketmq-controller/unclean-election", "broker-1", 1_795_254_371_791_986, 40),
    ("rocketmq-controller/jraft", "ctl-1", 1_795_257_632_028_313, -40),
    ("rocketmq-dledger/kill-leader-480", "n2", 1_795_333_137_705_500, -90),
)
"""Run, node, the reading at which its clock is set, and by how many seconds: some of those that random deeds found."""


@pytest.mark.parametrize(("run", "node", "reading", "seconds"), STEPS)
def test_no_step_makes_an_alarm_worse(corpora: Path, run: str, node: str, reading: int, seconds: int) -> None:
    """Clocks that leave the order of two losses open took the judge its words; a step is never a split brain."""
    facts: list[Fact] = []
    for name, lines in story.run_lines(corpora / run).items():
        by = -seconds * SECOND if name == node else 0
        changed = [_earlier(line, by if line.time >= reading else 0) for line in lines]
        facts += story.folder_facts(run, name, changed)
    found = [row for row in story.judge(facts) if isinstance(row, Finding)]
    known = [row for row in rows(corpora / run) if isinstance(row, Finding)]
    assert any(row.rule == "CLOCK_SKEW" for row in found)
    assert _alarms(found) <= _alarms(known)
    for outage in (row for row in found if row.rule == "LEADERLESS" and row.certainty == "definite"):
        as_known = [row.duration_max_ms for row in known if (row.rule, row.terms) == (outage.rule, outage.terms)]
        assert any(most is None or (outage.duration_min_ms or 0) <= most for most in as_known), outage.summary


def _alarms(found: list[Finding]) -> set[tuple[str, tuple[int, ...]]]:
    return {(row.rule, row.terms) for row in found if row.severity != "info" and row.rule != "CLOCK_SKEW"}
