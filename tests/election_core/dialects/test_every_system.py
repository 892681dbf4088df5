"""The lines of each system become the events that they are: each text has one, and none is read in two ways."""

import contextlib
import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from election_replay.election_core.dialects import Dialect, Record
from election_replay.election_core.dialects.dialect import Pattern, Table
from election_replay.election_core.dialects.etcd import dialect as etcd
from election_replay.election_core.dialects.hashicorp import system as hashicorp
from election_replay.election_core.dialects.kafka import dialect as kafka
from election_replay.election_core.dialects.redis import dialect as redis
from election_replay.election_core.dialects.rocketmq import dialect as rocketmq
from election_replay.election_core.dialects.zookeeper import dialect as zookeeper
from election_replay.election_core.model.events import Unparsable
from tests.election_core.dialects.lines import entries, mutated, written


@dataclass(frozen=True, slots=True)
class Speech:
    """A system's dialect and texts; ``message`` takes the message out of a record, and who says it."""

    dialect: Dialect
    table: Table
    message: Callable[[Record], tuple[str, str]]

    def reads(self, pattern: Pattern, record: Record) -> bool:
        """Whether a text reads a record, or would if the values in it were possible."""
        try:
            return pattern.read(*self.message(record), record.stream) is not None
        except ValueError:
            return True

    def reader(self, record: Record) -> Pattern | None:
        """The text that reads a record: the first that does of those that are tried."""
        message, _ = self.message(record)
        return next((one for one in self.table.candidates(message) if self.reads(one, record)), None)


def of_etcd(record: Record) -> tuple[str, str]:
    if record.text.startswith("{"):
        return str(json.loads(record.text)["msg"]), ""
    return re.split(r"INFO: | \| [\w/]+: | raft: ", record.text, maxsplit=1)[1], ""


def of_rocketmq(record: Record) -> tuple[str, str]:
    thread, _, message = record.text.split(" ", 3)[3].partition(" - ")
    return message.rstrip(), thread


def of_zookeeper(record: Record) -> tuple[str, str]:
    line = zookeeper.line_of(record.text)
    assert line is not None
    return line.message, (line.logger or "").rpartition(".")[2]


def by(line_of: Callable[[str], object]) -> Callable[[Record], tuple[str, str]]:
    """Of a system whose texts are told apart by nothing but themselves."""
    return lambda record: (line_of(record.text).message, "")  # type: ignore[attr-defined]


SYSTEMS = {
    "rocketmq": Speech(rocketmq.ROCKETMQ, rocketmq.TABLE, of_rocketmq),
    "etcd": Speech(etcd.ETCD, etcd.TABLE, of_etcd),
    "zookeeper": Speech(zookeeper.ZOOKEEPER, zookeeper.TABLE, of_zookeeper),
    "kafka": Speech(kafka.KAFKA, kafka.TABLE, by(kafka.line_of)),
    "redis": Speech(redis.REDIS, redis.TABLE, by(redis.line_of)),
    "hashicorp": Speech(hashicorp.SYSTEM.dialect, hashicorp.TABLE.table, by(hashicorp.line_of)),
}
ENTRIES = {name: list(entries(f"{name}_lines.txt")) for name in SYSTEMS}
READ_OTHERWISE = {"kafka", "redis"}
"""Where the dialect puts another message in the place of some, before it looks for a text."""

each_system = pytest.mark.parametrize("name", SYSTEMS)


@pytest.mark.parametrize(
    ("name", "record", "expected"),
    [(name, record, expected) for name, lines in ENTRIES.items() for record, expected in lines],
    ids=lambda one: one.split()[0] if isinstance(one, str) else "",
)
def test_a_line_becomes_its_event(name: str, record: Record, expected: str) -> None:
    event = SYSTEMS[name].dialect.parse(record)
    assert event is not None
    assert written(event) == expected


@each_system
def test_every_text_has_a_line_in_the_table(name: str) -> None:
    readers = [SYSTEMS[name].reader(record) for record, _ in ENTRIES[name]]
    seen = {(one.text.kind, one.text.template) for one in readers if one is not None}
    assert {(one.text.kind, one.text.template) for one in SYSTEMS[name].table.patterns} - seen == set()


@each_system
def test_no_line_is_claimed_by_two_kinds(name: str) -> None:
    """Whatever the order in which texts are tried."""
    speech, least = SYSTEMS[name], 0 if name in READ_OTHERWISE else 1
    for record, _ in ENTRIES[name]:
        readers = [one for one in speech.table.patterns if speech.reads(one, record)]
        assert least <= len({one.text.kind for one in readers}) <= 1, record.text
        assert name != "etcd" or len(readers) == 1, record.text


@each_system
def test_every_event_line_contains_a_needle_and_begins_a_record(name: str) -> None:
    """Even when blanks at its end were cut."""
    dialect = SYSTEMS[name].dialect
    for record, _ in ENTRIES[name]:
        assert any(needle in record.text.rstrip() for needle in dialect.needles), record.text
        assert re.match(dialect.record_start, record.text), record.text
        event = dialect.parse(record)
        assert event is not None
        assert dialect.time_of(record.text, record.utc_offset_minutes) == (event.event_time, event.time_resolution_ms)


@each_system
def test_mutated_lines_raise_nothing_but_unparsable(name: str) -> None:
    dialect, chance = SYSTEMS[name].dialect, random.Random(20260301)
    for _ in range(6000):
        record = mutated(chance.choice(ENTRIES[name])[0], chance)
        with contextlib.suppress(Unparsable):
            dialect.parse(record)
        dialect.time_of(record.text, record.utc_offset_minutes)
