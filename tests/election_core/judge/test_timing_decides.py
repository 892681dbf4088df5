"""The same lines under other settings: a verdict that rests on a time-out follows what the cluster has."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout, TimingRule
from election_replay.election_core.replay.source_fold import SourceLog
from tests.election_core import story

STORIES = Path(__file__).parents[2] / "scenarios"

START = r" - (?:rocketmqHome|brokerConfigPath)=.*"
"""The line with which a dump of settings begins."""

Logs = dict[tuple[str, str], list[str]]


def logs_of(name: str) -> Logs:
    return story.parse((STORIES / f"{name}.txt").read_text())


def with_settings(logs: Logs, **settings: int) -> Logs:
    """The logs of brokers that print these settings with the others of their dump."""
    told: Logs = {}
    for (node, stream), lines in logs.items():
        told[node, stream] = []
        for line in lines:
            told[node, stream].append(line)
            if re.search(START, line):
                told[node, stream] += [re.sub(START, f" - {key}={ms}", line) for key, ms in settings.items()]
    return told


def verdicts(logs: Logs, rule: str) -> list[tuple[str, str]]:
    """Severity and summary of each finding of a rule."""
    rows = story.judge(story.facts_of(logs))
    return [(row.severity, row.summary) for row in rows if isinstance(row, Finding) and row.rule == rule]


def severities(logs: Logs, rule: str) -> list[str]:
    return [severity for severity, _ in verdicts(logs, rule)]


def test_a_slow_poll_makes_two_that_act_at_once_an_ordinary_change() -> None:
    """``syncBrokerMemberGroupPeriod``: 40 s in which a slave has not asked again are no alarm where it asks each 60."""
    logs = logs_of("acting_master/larger_id_acts_on")
    assert severities(with_settings(logs, syncBrokerMemberGroupPeriod=1_000), "ACTING_MASTER_OVERLAP") == ["warning"]
    assert severities(with_settings(logs, syncBrokerMemberGroupPeriod=60_000), "ACTING_MASTER_OVERLAP") == ["info"]


def test_patient_name_servers_make_a_long_gap_an_ordinary_one() -> None:
    """``brokerNotActiveTimeoutMillis``: nobody acts before the name servers give the master up, as their lines say."""
    for silent_ms, expected in ((10_000, "warning"), (120_000, "info")):
        logs = with_settings(logs_of("acting_master/nobody_acts_after_a_crash"), brokerNotActiveTimeoutMillis=silent_ms)
        told = {place: [re.sub("10000ms$", f"{silent_ms}ms", line) for line in lines] for place, lines in logs.items()}
        assert severities(told, "SPECIAL_SERVICE_GAP") == [expected]


def test_a_shorter_time_is_no_excuse() -> None:
    """A poll twice as quick leaves the alarm."""
    logs = logs_of("acting_master/larger_id_acts_on")
    assert severities(with_settings(logs, syncBrokerMemberGroupPeriod=500), "ACTING_MASTER_OVERLAP") == ["warning"]


def test_members_that_differ_are_judged_by_the_slowest() -> None:
    logs = logs_of("acting_master/larger_id_acts_on")
    [one, *others] = sorted({node for node, _ in logs})
    mixed = {
        **with_settings(
            {place: lines for place, lines in logs.items() if place[0] == one}, syncBrokerMemberGroupPeriod=60_000
        ),
        **{place: lines for place, lines in logs.items() if place[0] in others},
    }
    assert severities(mixed, "ACTING_MASTER_OVERLAP") == ["info"]


def facts_with(logs: Logs, rule: TimingRule) -> list[Fact]:
    """Facts of the nodes where the settings of the pipeline give times."""
    facts: list[Fact] = []
    for node in sorted({node for node, _ in logs}):
        source = SourceLog(story.CLUSTER, node, story.BOUND_MS, timing_rules=(rule,))
        for (_, stream), lines in sorted(item for item in logs.items() if item[0][0] == node):
            story._feed(source, stream, lines, 0)
        facts += source.facts()
    return facts


@pytest.mark.parametrize(("lock_life_ms", "sure"), [(60_000, True), (10_000, False)])
def test_a_lock_that_lives_shorter_is_not_surely_held_twice(lock_life_ms: int, sure: bool) -> None:
    """The life of a lock is a property of the process that no log prints: ``timing`` in the settings says it."""
    rule = TimingRule("*", "*", ((Timeout.LOCK_LIFE, lock_life_ms),))
    rows = story.judge(facts_with(logs_of("order_lock/group_unknown_at_new_master"), rule))
    found = [row for row in rows if isinstance(row, Finding) and row.rule == "LOCK_DOUBLE_HOLD"]
    assert any(row.certainty == "definite" for row in found) == sure


Told = Mapping[str, float]
"""By how much to multiply the values of printed settings."""

REAL = (
    (
        *("rocketmq-controller/master-cut-off", "SPLIT_BRAIN_OVERLAP", "took 52,544 bytes"),
        *({"syncBrokerMetadataPeriod": 10}, ["critical"], ["warning"]),
    ),
    (
        *("rocketmq-acting-master/failover-skip-preonline", "ACTING_MASTER_OVERLAP", ""),
        *({"syncBrokerMemberGroupPeriod": 20}, ["info", "info", "warning"], ["info", "info", "info"]),
    ),
    (
        *("rocketmq-acting-master/failover-skip-preonline", "METADATA_ROLLBACK", "(it had never stopped)"),
        *({"flushConsumerOffsetInterval": 10}, ["info", "info"], []),
    ),
    (
        *("zookeeper/pause-leader-384", "LEADERLESS", "was frozen"),
        *({"syncLimit": 0.1}, ["warning"], ["info"]),
    ),
)
"""Run, rule, a part of its sentence, settings, and the severities before and after."""


@pytest.mark.parametrize(("name", "rule", "about", "settings", "before", "after"), REAL)
def test_real_logs_under_other_settings(
    corpora: Path, name: str, rule: str, about: str, settings: Told, before: list[str], after: list[str]
) -> None:
    """A printed time-out that is longer makes what happened an ordinary change; one that is shorter, an early one."""
    assert _severities(corpora / name, rule, about, {}) == before
    assert _severities(corpora / name, rule, about, settings) == after


def _severities(run: Path, rule: str, about: str, settings: Told) -> list[str]:
    found = _judged(run, settings, 1)
    return sorted(one.severity for one in found if one.rule == rule and about in one.summary)


STRETCHED = (
    ("rocketmq-controller/master-cut-off", "SPLIT_BRAIN_OVERLAP", {"syncBrokerMetadataPeriod": 2}),
    ("zookeeper/isolate-leader-372-tick3000", "LEADERLESS", {"tickTime": 2}),
)


@pytest.mark.parametrize(("name", "rule", "settings"), STRETCHED)
def test_slower_clusters_are_judged_alike(corpora: Path, name: str, rule: str, settings: Told) -> None:
    """All times twice as long, the printed settings too: the same verdict, and lengths twice as long."""
    [of_run] = [one for one in _judged(corpora / name, {}, 1) if one.rule == rule]
    [slower] = [one for one in _judged(corpora / name, settings, 2) if one.rule == rule]
    assert (slower.severity, slower.certainty) == (of_run.severity, of_run.certainty)
    for shorter, longer in zip(_lengths(of_run), _lengths(slower), strict=True):
        assert longer == pytest.approx(2 * shorter, rel=0.1)


def _lengths(found: Finding) -> list[int]:
    lengths = (found.overlap_min_ms, found.overlap_max_ms, found.duration_min_ms, found.duration_max_ms)
    return [length for length in lengths if length is not None]


def _judged(run: Path, settings: Told, times: int) -> list[Finding]:
    """What is told of a real run, its printed settings multiplied, and all its times so many times as long."""
    lines_of = story.run_lines(run)
    begin = min(line.time for lines in lines_of.values() for line in lines)
    facts: list[Fact] = []
    for node, lines in lines_of.items():
        changed = [_stretched(_with_settings(line, settings), begin, times) for line in lines]
        facts += story.folder_facts(run.name, node, changed)
    return [row for row in story.judge(facts) if isinstance(row, Finding)]


def _with_settings(line: story.Seen, settings: Told) -> story.Seen:
    event = line.event
    if event is None or event.setting not in settings:
        return line
    value = str(max(round(int(event.value or 0) * settings[event.setting]), 1))
    return replace(line, event=replace(event, value=value))


def _stretched(line: story.Seen, begin: int, times: int) -> story.Seen:
    def later(at: int) -> int:
        return begin + (at - begin) * times

    event = line.event and replace(line.event, at=later(line.event.at), by=later(line.event.by))
    return replace(line, time=later(line.time), by=later(line.by), event=event)
