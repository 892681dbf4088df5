"""A record that begins behind a torn one, on the same line, is read or told: it is never lost in silence."""

import random
from collections.abc import Iterator

import pytest

from election_replay.election_core.dialects import Dialect, Event, Record
from election_replay.election_core.dialects.etcd.dialect import ETCD
from election_replay.election_core.dialects.rocketmq.dialect import ROCKETMQ
from election_replay.election_core.dialects.torn import parse_record, records_in
from election_replay.election_core.dialects.zookeeper.dialect import ZOOKEEPER
from election_replay.election_core.model.events import Unparsable
from tests.election_core.dialects.lines import entries

TABLES = {
    "rocketmq": (ROCKETMQ, [record for record, _ in entries("rocketmq_lines.txt")]),
    "zookeeper": (ZOOKEEPER, [record for record, _ in entries("zookeeper_lines.txt")]),
    "etcd": (ETCD, [record for record, _ in entries("etcd_lines.txt")]),
}
LEVEL_ENDS = 34
"""A line that is torn before its level is no beginning of a record."""


def glued(records: list[Record], seed: int) -> Iterator[tuple[Record, Record]]:
    """Each dated record, and the same behind some other one that was torn."""
    chance = random.Random(seed)
    dated = [record for record in records if record.text[:4].isdigit() or record.text[:2] == '{"']
    for whole in dated:
        other = chance.choice([one.text for one in dated if one.text[0] == whole.text[0]])
        torn = other[: chance.randint(LEVEL_ENDS, len(other) - 1)]
        yield whole, whole._replace(text=torn + whole.text)


def outcome(dialect: Dialect, record: Record) -> Event | str | None:
    try:
        return parse_record(dialect, record)
    except Unparsable as error:
        return str(error)


@pytest.mark.parametrize("system", TABLES)
def test_a_record_behind_a_torn_one_is_read_or_told(system: str) -> None:
    dialect, records = TABLES[system]
    read = told = 0
    for whole, line in glued(records, seed=20260305):
        expected, found = outcome(dialect, whole), outcome(dialect, line)
        if isinstance(expected, Event):
            assert found == expected or isinstance(found, str), line.text
            read += found == expected
            told += isinstance(found, str)
    assert read > 10
    assert read > 5 * told


@pytest.mark.parametrize("system", TABLES)
def test_whole_lines_are_one_record(system: str) -> None:
    dialect, records = TABLES[system]
    for record in records:
        assert records_in(record.text, dialect) == [record.text]


def test_two_events_on_one_line_are_told() -> None:
    line = "2026-03-01 10:00:07 INFO StateMaintainer - n0_[INCREASE_TERM] from 3 to 4"
    assert outcome(ROCKETMQ, Record(line, (), "dledger.log", 480)) is not None
    found = outcome(ROCKETMQ, Record(line + line, (), "dledger.log", 480))
    assert isinstance(found, str)
    assert found.startswith("2 records on one line")


def test_a_time_inside_a_message_begins_no_record() -> None:
    texts = (
        "2026-03-01 10:00:07 INFO main - The broker started at 2026-03-01 10:00:06 INFO",
        "2026-03-01 10:00:07 INFO main - checkpoint of 2026-03-01 10:00:06",
    )
    for text in texts:
        assert records_in(text, ROCKETMQ) == [text]
