"""Rows that a table can hold, whatever became of the logs: a gate before publishing holds a cluster back otherwise."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from election_replay.election_core.model.rows import (
    KEYS,
    TABLE_OF,
    Election,
    Finding,
    LockHold,
    MetadataVersion,
    RoleInterval,
    Row,
    SyncStateSet,
    Term,
    deduplicated,
)
from election_replay.election_core.protocols.metadata.facts import VersionSeen
from election_replay.schemas import TABLES
from tests.election_core import story

RUNS = (
    "rocketmq-dledger/flapping-533",
    "rocketmq-controller/deaf-master",
    "rocketmq-acting-master/locks-nonstrict-cut",
    "zookeeper/kill-leader-384",
    "etcd/members-34",
)
Lines = dict[str, list[story.Seen]]


def test_keys_are_those_of_the_tables() -> None:
    assert {TABLE_OF[kind]: set(names) for kind, names in KEYS.items()} == {
        table: set(TABLES[table].key) for table in TABLE_OF.values()
    }


def term(**values: object) -> Term:
    whole = Term(
        cluster="c",
        replica_group="g",
        protocol="dledger",
        term=1,
        leader="n0",
        start_time=100,
        end_time=200,
        cause=None,
        certainty="proven",
        start_event_id=None,
        end_event_id=None,
    )
    return replace(whole, **values)  # type: ignore[arg-type]


def test_of_rows_with_one_key_the_longest_stands_for_all() -> None:
    rows = [term(end_time=150), term(end_time=None), term(end_time=180), term(term=2)]
    assert list(deduplicated(rows)) == [term(end_time=None), term(term=2)]


def test_nothing_ends_before_it_begins() -> None:
    assert list(deduplicated([term(end_time=50)])) == [term(end_time=100)]


@pytest.mark.parametrize("run", RUNS)
def test_rows_of_damaged_logs_are_rows_of_the_tables(corpora: Path, run: str) -> None:
    for name, logs in damaged(story.run_lines(corpora / run)):
        facts = [fact for node, lines in logs.items() for fact in story.folder_facts("c", node, lines)]
        assert all(f.since <= f.since_by and (f.until or 0) <= (f.until_by or f.until or 0) for f in facts), name
        assert list(wrong(list(story.judge(facts)))) == [], name


def damaged(logs: Lines) -> Iterator[tuple[str, Lines]]:
    """Logs with lines lost, a clock set back or forth, the end or the beginning missing, two members in one folder."""
    times = sorted(line.time for lines in logs.values() for line in lines)
    middle = times[len(times) // 2]
    for part in (0.9, 0.5):
        source = random.Random(part)
        yield f"{part} of the lines", {n: [line for line in own if source.random() < part] for n, own in logs.items()}
    for node, own in logs.items():
        for seconds in (-25, 40):
            yield f"{node} {seconds} s", logs | {node: [moved(line, middle, seconds * 1_000_000) for line in own]}
        yield f"{node} begins late", logs | {node: [line for line in own if line.time >= middle]}
        yield f"{node} ends early", logs | {node: [line for line in own if line.time < middle]}
    one, other, *_ = logs
    both = sorted(logs[one] + logs[other], key=lambda line: line.stream)
    yield f"{one} and {other} in one folder", {n: own for n, own in logs.items() if n != other} | {one: both}


def moved(line: story.Seen, since: int, by: int) -> story.Seen:
    """The line as it is when the clock is set at ``since``."""
    if line.time < since:
        return line
    event = line.event and replace(line.event, at=line.event.at + by, by=line.event.by + by)
    return replace(line, time=line.time + by, by=line.by + by, event=event)


def wrong(rows: list[Row]) -> Iterator[object]:
    """Rows that a gate would stop."""
    keys = Counter((type(row), *(getattr(row, name) for name in KEYS[type(row)])) for row in rows)
    yield from (key for key, count in keys.items() if count > 1)
    for row in rows:
        lasting = isinstance(row, RoleInterval | Term | Election | SyncStateSet | LockHold | Finding)
        if lasting and row.end_time is not None and row.end_time < row.start_time:
            yield row
        for least, most in (("overlap_min_ms", "overlap_max_ms"), ("duration_min_ms", "duration_max_ms")):
            bounds = getattr(row, least, None), getattr(row, most, None)
            if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
                yield row
    if not any(isinstance(row, Finding) and row.rule in DOUBT for row in rows):
        yield from out_of_turn(rows)


DOUBT = {"CLOCK_SKEW", "IDENTITY_CONTRADICTION"}


def out_of_turn(rows: list[Row]) -> Iterator[object]:
    """Roles of one node, by its own log, that overlap."""
    spoken = [row for row in rows if isinstance(row, RoleInterval) and row.source_node is not None]
    endless = float("inf")
    spoken.sort(key=lambda row: (*whose(row), row.start_time, row.end_time or endless))
    for before, after in pairwise(spoken):
        if whose(before) == whose(after) and (before.end_time or endless) > after.start_time:
            yield before, after


def whose(row: RoleInterval) -> tuple[str, ...]:
    return row.replica_group, row.protocol, row.node, row.source_node or ""


STORIES = sorted((Path(__file__).parents[2] / "scenarios").glob("*/*.txt"))
A_DAY_MS = 24 * 3600 * 1000


def test_durations_of_findings_are_milliseconds_and_lie_in_their_time() -> None:
    """What lasted may be longer, by some uncertainty, than from begin to end, and never a thousand times as long."""
    measured = 0
    for path in STORIES:
        for row in story.scenario_rows(path):
            if isinstance(row, Finding) and row.end_time is not None and row.duration_max_ms is not None:
                whole_ms = (row.end_time - row.start_time) / 1000
                assert 0 <= (row.duration_min_ms or 0) <= row.duration_max_ms <= whole_ms + A_DAY_MS, (path.name, row)
                assert row.duration_max_ms >= whole_ms / 100 - 60_000, (path.name, row)
                measured += 1
    assert measured > 20


def test_times_of_data_versions_are_microseconds() -> None:
    found = 0
    for path in STORIES:
        facts = story.scenario_facts(path)
        printed = {fact.version_timestamp for fact in facts if isinstance(fact, VersionSeen)}
        for row in story.scenario_rows(path):
            if isinstance(row, MetadataVersion) and row.timestamp is not None:
                assert row.timestamp % 1000 == 0
                assert row.timestamp // 1000 in printed, (path.name, row)
                found += 1
    assert found > 5
