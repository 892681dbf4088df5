"""How exactly a verdict tells a time follows from the stamps of the lines: milliseconds here, whole seconds there."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from election_replay.election_core.model.facts import Alive, Fact, Role, Silence
from election_replay.election_core.model.rows import Finding, RoleInterval, Row
from election_replay.election_core.model.timing import MS_PER_SECOND, SECOND
from tests.election_core import story

RUNS = (
    *("etcd/kill-leader-35", "etcd/pause-leader-34", "etcd/isolate-leader-34"),
    *("zookeeper/kill-leader-384", "zookeeper/pause-leader-384", "zookeeper/chaos-372"),
)


def in_whole_seconds(line: story.Seen) -> story.Seen:
    """The line as a logger prints it that cuts the fraction of a second off."""

    def wide(at: int) -> tuple[int, int]:
        return at // SECOND * SECOND, at // SECOND * SECOND + SECOND

    event = line.event and replace(line.event, at=wide(line.event.at)[0], by=wide(line.event.at)[1])
    return replace(line, time=wide(line.time)[0], by=wide(line.time)[1], event=event)


def facts_of(run: Path, coarse: Iterable[str] | None = ()) -> list[Fact]:
    """The facts of a run; the nodes in ``coarse`` print whole seconds (``None``: all do)."""
    facts: list[Fact] = []
    for node, lines in story.run_lines(run).items():
        cut = coarse is None or node in coarse
        facts += story.folder_facts(run.name, node, [in_whole_seconds(line) if cut else line for line in lines])
    return facts


def leaderless(rows: Iterable[Row]) -> list[Finding]:
    return [row for row in rows if isinstance(row, Finding) and row.rule == "LEADERLESS"]


@pytest.mark.parametrize("name", RUNS)
def test_lines_of_milliseconds_give_intervals_of_milliseconds(corpora: Path, name: str) -> None:
    for fact in facts_of(corpora / name):
        if isinstance(fact, (Role, Alive)) and fact.since_event is not None and fact.since_by - fact.since < SECOND:
            assert fact.since_by - fact.since <= MS_PER_SECOND, fact
        if isinstance(fact, Silence) and not fact.noticed:
            assert fact.since_by - fact.since <= MS_PER_SECOND, fact


@pytest.mark.parametrize("name", RUNS)
def test_lines_of_whole_seconds_give_no_sharper_interval(corpora: Path, name: str) -> None:
    """Whatever whole seconds make sure, milliseconds make sure too; they never leave more open."""
    fine, coarse = story.judge(facts_of(corpora / name)), story.judge(facts_of(corpora / name, None))
    for row in coarse:
        if isinstance(row, RoleInterval) and row.source_node is not None and row.start_event_id is not None:
            assert row.start_uncertainty_ms >= MS_PER_SECOND, row
    exact = leaderless(fine)
    for finding in leaderless(coarse):
        if finding.certainty != "definite":
            continue
        (same,) = (other for other in exact if other.terms == finding.terms)
        assert (finding.duration_min_ms or 0) <= (same.duration_min_ms or 0)
        assert (finding.duration_max_ms or 0) >= (same.duration_max_ms or 0)


def test_each_source_of_a_group_has_its_own_width(corpora: Path) -> None:
    run = corpora / "etcd/kill-leader-35"
    coarse = min(story.run_lines(run))
    rows = story.judge(facts_of(run, [coarse]))
    starts = [row for row in rows if isinstance(row, RoleInterval) and row.start_cause == "start"]
    widths = {row.source_node: row.start_uncertainty_ms for row in starts}
    assert widths.pop(coarse) == MS_PER_SECOND
    assert set(widths.values()) <= {0, 1}
