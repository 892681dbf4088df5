"""Lines of HashiCorp's Raft library become the events that they are: of Consul, Nomad and Vault, of old and new ones."""

import random
import re

import pytest

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.hashicorp.system import SYSTEM, TABLE, line_of
from election_replay.election_core.model.events import Unparsable
from tests.election_core.dialects.lines import entries, mutated
from tests.election_core.dialects.rocketmq_fixture import written

ENTRIES = list(entries("hashicorp_lines.txt"))
HASHICORP = SYSTEM.dialect


@pytest.mark.parametrize(
    ("record", "expected"), ENTRIES, ids=lambda one: one.split()[0] if isinstance(one, str) else ""
)
def test_a_line_becomes_its_event(record: Record, expected: str) -> None:
    event = HASHICORP.parse(record)
    assert event is not None
    assert written(event) == expected


def test_every_text_has_a_line_in_the_table() -> None:
    lines = [line_of(record.text) for record, _ in ENTRIES]
    messages = {line.message for line in lines if line is not None}
    assert [row.text.template for row in TABLE.table.patterns if not any(map(row.regex.match, messages))] == []


def test_every_event_line_contains_a_needle_and_begins_a_record() -> None:
    for record, _ in ENTRIES:
        assert any(needle in record.text for needle in HASHICORP.needles), record.text
        assert re.match(HASHICORP.record_start, record.text), record.text
        event = HASHICORP.parse(record)
        assert event is not None
        assert HASHICORP.time_of(record.text, 0) == (event.event_time, event.time_resolution_ms)


def test_a_line_of_another_part_of_the_program_is_none() -> None:
    for logger in ("agent.server", "agent.server.serf.lan", "core"):
        text = f"2026-11-26T18:08:41.160Z [INFO]  {logger}: election won: term=5 tally=2"
        assert HASHICORP.parse(Record(text, (), "consul.log", 0)) is None


def test_nothing_but_unparsable_comes_of_a_line_gone_wrong() -> None:
    chance = random.Random(8)
    for record, _ in ENTRIES * 40:
        broken = mutated(record, chance)
        try:
            HASHICORP.parse(broken)
        except Unparsable:
            continue
