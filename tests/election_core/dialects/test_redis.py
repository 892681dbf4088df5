"""Lines of Redis and Valkey become the events that they are."""

import random
import re

import pytest

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.redis.dialect import REDIS, TABLE, line_of
from election_replay.election_core.model.events import Event, Unparsable
from tests.election_core.dialects.lines import entries, mutated
from tests.election_core.dialects.rocketmq_fixture import written

ENTRIES = list(entries("redis_lines.txt"))
READY = "Ready to accept connections tcp"
AT = 1_795_695_307_613_000


def parsed(line: str, offset: int = 0) -> Event | None:
    return REDIS.parse(Record(line, (), "redis.log", offset))


def readers(record: Record) -> set[tuple[str, str]]:
    line = line_of(record.text)
    assert line is not None
    return {(one.text.kind, one.text.template) for one in TABLE.patterns if one.regex.match(line.message)}


@pytest.mark.parametrize(
    ("record", "expected"), ENTRIES, ids=lambda one: one.split()[0] if isinstance(one, str) else ""
)
def test_a_line_becomes_its_event(record: Record, expected: str) -> None:
    event = REDIS.parse(record)
    assert event is not None
    assert written(event) == expected


def test_every_text_has_a_line_in_the_table() -> None:
    seen = {one for record, _ in ENTRIES for one in readers(record)}
    assert {(one.text.kind, one.text.template) for one in TABLE.patterns} == seen


def test_no_line_is_claimed_by_two_kinds() -> None:
    several = {record.text: {kind for kind, _ in readers(record)} for record, _ in ENTRIES}
    assert {text: kinds for text, kinds in several.items() if len(kinds) > 1} == {}


def test_every_event_line_contains_a_needle_and_begins_a_record() -> None:
    for record, _ in ENTRIES:
        assert any(needle in record.text.rstrip() for needle in REDIS.needles), record.text
        assert re.match(REDIS.record_start, record.text), record.text
        event = REDIS.parse(record)
        assert event is not None
        assert REDIS.time_of(record.text, 0) == (event.event_time, event.time_resolution_ms)


@pytest.mark.parametrize(
    ("line", "time", "resolution", "role"),
    [
        (f"12:M 26 Nov 2026 13:15:07.613 * {READY}", AT, 1, "M"),
        (f"12:S 2026-11-26T13:15:07.613+01:00 * {READY}", AT, 1, "S"),
        (f"12:X 1795695307613 * {READY}", AT, 1, "X"),
        (f'pid=12 role=replica timestamp="26 Nov 2026 13:15:07.613" level=notice message="{READY}"', AT, 1, "S"),
        (f'pid=12 role=RDB/AOF timestamp="1795695307613" level=notice message="{READY}"', AT, 1, "C"),
        ("12:signal-handler (1795695307) Received SIGTERM scheduling shutdown...", AT - 613_000, 1000, None),
    ],
)
def test_a_layout_tells_time_and_role(line: str, time: int, resolution: int, role: str | None) -> None:
    event = parsed(line, offset=60)
    assert event is not None
    assert (event.event_time, event.time_resolution_ms, event.role) == (time, resolution, role)
    assert event.kind == ("RD_READY" if role else "RD_STOPPING")


@pytest.mark.parametrize(
    "line",
    [
        "12:M 31 Feb 2026 13:15:07.613 * Ready to accept connections",
        "12:M 26 Foo 2026 13:15:07.613 * Ready to accept connections",
        "12:X 26 Nov 2026 13:15:07.613 # +new-epoch 99999999999999999999",
        "12:X 26 Nov 2026 13:15:07.613 # +switch-master m 10.0.0.1 6379 10.0.0.2 99999",
    ],
)
def test_an_impossible_value_goes_to_quarantine(line: str) -> None:
    with pytest.raises(Unparsable):
        parsed(line)


def test_lines_gone_wrong_raise_nothing_else() -> None:
    chance = random.Random(7)
    for record, _ in ENTRIES:
        for _ in range(20):
            broken = mutated(record, chance)
            try:
                REDIS.parse(broken)
                REDIS.time_of(broken.text, 0)
            except Unparsable:
                pass
