"""Canonical events and shippers' envelopes: what is understood, and what is refused with which reason."""

import contextlib
import json
import random
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.dialects import KINDS, Record, dialect_for
from election_replay.election_core.dialects.canonical.dialect import FIELDS, stream_at
from election_replay.election_core.dialects.canonical.schema import render, schema
from election_replay.election_core.model.events import EpochEntry, Event, Unparsable
from tests.election_core.dialects.lines import mutated

STREAM = "ring.events.jsonl"
CANONICAL = dialect_for(STREAM)
DOCS = Path(__file__).parents[3] / "docs"
TIME = "2026-03-01T10:00:07.123Z"
TERM_UP = "2026-03-01 18:00:07 INFO StateMaintainer - n2_[INCREASE_TERM] from 3 to 4"


def parse(line: str, offset: int = 0) -> Event | None:
    assert CANONICAL is not None
    return CANONICAL.parse(Record(line, (), STREAM, offset))


def said(**values: Any) -> Event:
    event = parse(json.dumps({"kind": "RAFT_TO_LEADER", "event_time": TIME, **values}))
    assert event is not None
    return event


def examples() -> list[str]:
    page = (DOCS / "dialects.md").read_text(encoding="utf-8")
    return [line for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]


def test_the_schema_in_the_documentation_is_current() -> None:
    assert (DOCS / "event.schema.json").read_text(encoding="utf-8") == render()


def test_the_schema_knows_every_field_and_kind() -> None:
    found = schema()
    assert set(found["properties"]) == {column.name for column in fields(Event)}
    assert found["properties"]["kind"]["enum"] == sorted(KINDS)
    assert found["additionalProperties"] is False


def test_every_field_is_read_as_it_is_named() -> None:
    values: dict[str, Any] = {}
    for column in fields(Event):
        plain = str(column.type).split(" | ")[0]
        values[column.name] = {"str": "a", "int": 7, "bool": True, "tuple[str, ...]": ["a"]}.get(plain)
    values |= {"kind": "TICK", "event_time": TIME, "time_resolution_ms": 7}
    values["epoch_entries"] = [{"epoch": 1, "start_offset": 0, "end_offset": None}]
    event = parse(json.dumps(values))
    assert event is not None
    assert event.epoch_entries == (EpochEntry(1, 0, None),)
    for name in values.keys() - {"event_time", "epoch_entries"}:
        expected = tuple(values[name]) if isinstance(values[name], list) else values[name]
        assert getattr(event, name) == expected
    assert values.keys() == FIELDS.keys()


@pytest.mark.parametrize(
    ("time", "expected", "resolution"),
    [
        ("2026-03-01T10:00:07Z", 1_772_359_207_000_000, 1000),
        ("2026-03-01T10:00:07.123456Z", 1_772_359_207_123_456, 1),
        ("2026-03-01t18:00:07.5+08:00", 1_772_359_207_500_000, 1),
        (1_772_359_207_123, 1_772_359_207_123_000, 1),
    ],
)
def test_times(time: object, expected: int, resolution: int) -> None:
    event = said(event_time=time)
    assert (event.event_time, event.time_resolution_ms) == (expected, resolution)
    assert said(event_time=time, time_resolution_ms=50).time_resolution_ms == 50
    assert CANONICAL is not None
    line = json.dumps({"kind": "TICK", "event_time": time})
    assert CANONICAL.time_of(line, 480) == (expected, resolution)


def test_the_protocol_follows_from_the_kind_where_it_is_not_said() -> None:
    assert said(kind="BULLY_OK_SENT").protocol == "bully"
    assert said(kind="RING_START").protocol == "token_ring"
    assert said(kind="BULLY_OK_SENT", protocol="own").protocol == "own"
    assert said().protocol is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"kind": "TICK", "event_time": 1, "colour": "red"}', "unknown field 'colour'"),
        ('{"kind": "NO_SUCH", "event_time": 1}', "kind: there is no kind 'NO_SUCH'"),
        ('{"kind": null, "event_time": 1}', "kind: not a text"),
        ('{"kind": "TICK"}', "event_time: neither"),
        ('{"kind": "TICK", "event_time": true}', "event_time: neither"),
        ('{"kind": "TICK", "event_time": -1}', "event_time: neither"),
        ('{"kind": "TICK", "event_time": 1.5}', "event_time: neither"),
        ('{"kind": "TICK", "event_time": "2026-03-01T10:00:07"}', "event_time: neither"),
        ('{"kind": "TICK", "event_time": "2026-03-01T25:00:07Z"}', "hour"),
        ('{"kind": "TICK", "event_time": 1, "time_resolution_ms": 0}', "time_resolution_ms: less than 1"),
        ('{"kind": "TICK", "event_time": 1, "term": "4"}', "term: not a whole number"),
        ('{"kind": "TICK", "event_time": 1, "term": true}', "term: not a whole number"),
        ('{"kind": "TICK", "event_time": 1, "term": 4.0}', "term: not a whole number"),
        ('{"kind": "TICK", "event_time": 1, "term": 9223372036854775808}', "term: a number beyond 64 bits"),
        ('{"kind": "TICK", "event_time": 1, "node": 4}', "node: not a text"),
        ('{"kind": "TICK", "event_time": 1, "node": "\\ud800"}', "node: .*surrogates"),
        ('{"kind": "TICK", "event_time": 1, "flag": 1}', "flag: neither true nor false"),
        ('{"kind": "TICK", "event_time": 1, "members": "1"}', "members: not a list"),
        ('{"kind": "TICK", "event_time": 1, "members": [1]}', "members: not a text"),
        ('{"kind": "TICK", "event_time": 1, "epoch_entries": [{"epoch": 1}]}', "epoch_entries: not an object"),
        ('{"kind": "TICK", "event_time": ' + "9" * 5000 + "}", "not JSON"),
        ("[" * 50_000, "not JSON"),
        ('{"kind": "TICK"', "not JSON"),
        ("7", "not a JSON object"),
        ('{"message": "x"}', "neither an event nor an envelope: fields 'message'"),
        ("{}", "neither an event nor an envelope: no fields"),
        ('{"kind": "' + "x" * 70_000 + '"}', "longer than"),
        ('{"file": "/logs/broker.log", "message": "x", "utc_offset_minutes": 9999}', "no such zone"),
        ('{"file": "/logs/dledger.log", "message": "2026-13-01 10:00:07 INFO x - n2_[INCREASE_TERM] from 3 to 4"}', "month"),
    ],
    ids=range(29),
)  # fmt: skip
def test_what_is_wrong_goes_to_quarantine_with_its_field(line: str, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        parse(line)
    assert CANONICAL is not None
    CANONICAL.time_of(line, 0)


def test_every_example_of_the_documentation_is_an_event() -> None:
    events = [parse(line) for line in examples()]
    assert [event.kind for event in events if event] == [
        *("BULLY_ELECTION_SENT", "BULLY_OK_RECEIVED", "RING_ELECTION_SENT", "RAFT_TO_LEADER"),
        *("DL_TERM_UP", "ZK_LOOKING", "RAFT_TO_LEADER"),
    ]


def envelope(**more: Any) -> str:
    return json.dumps({"file": "/logs/dledger.log.1", "message": TERM_UP, **more})


@pytest.mark.parametrize(
    ("line", "offset", "hour"),
    [
        (envelope(), 0, 10),  # the zone of RocketMQ
        (envelope(), 60, 17),  # the zone of the source
        (envelope(utc_offset_minutes=0), 60, 18),  # the zone that the envelope says
    ],
)
def test_the_zone_of_a_line_in_an_envelope(line: str, offset: int, hour: int) -> None:
    event = parse(line, offset)
    assert event is not None
    assert event.kind == "DL_TERM_UP"
    assert event.event_time // 3_600_000_000 % 24 == hour
    assert CANONICAL is not None
    assert CANONICAL.time_of(line, offset) == (event.event_time, 1000)


def test_lines_of_other_files_and_of_no_interest_are_ignored() -> None:
    assert parse(envelope(file="/logs/gc.log")) is None
    assert parse(envelope(message="hello")) is None
    assert parse(envelope(file="/logs/x.events.jsonl")) is None  # an envelope holds no envelope


def test_a_stack_trace_comes_joined() -> None:
    line = "2026-03-01 10:00:07,123 - WARN  [x:QuorumPeer@1] - Unexpected exception\njava.io.IOException: Error: Epoch of leader is lower\n"
    event = parse(envelope(file="C:\\logs\\zookeeper.log", message=line))
    assert event is not None
    assert event.decision == "STALE_LEADER"


@pytest.mark.parametrize(
    ("file", "stream"),
    [
        ("/logs/broker.3.log", "broker.log"),
        ("C:\\logs\\etcd.log", "etcd.log"),
        ("zookeeper.log.1", "zookeeper.log"),
        ("", ""),
    ],
)
def test_the_stream_of_a_path(file: str, stream: str) -> None:
    assert stream_at(file) == stream


def test_every_line_reaches_the_parser() -> None:
    assert CANONICAL is not None
    for line in (*examples(), "x", "7", "}"):
        assert re.match(CANONICAL.record_start, line)
        assert any(needle in line for needle in CANONICAL.needles)


def test_mutated_lines_raise_nothing_but_unparsable() -> None:
    chance = random.Random(20260301)
    assert CANONICAL is not None
    lines = [Record(line, (), STREAM, 0) for line in examples()]
    for _ in range(6000):
        record = mutated(chance.choice(lines), chance)
        with contextlib.suppress(Unparsable):
            CANONICAL.parse(record)
        CANONICAL.time_of(record.text, 0)
