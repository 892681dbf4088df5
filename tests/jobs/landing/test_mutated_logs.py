"""A hundred thousand broken lines of each dialect: nothing crashes, every line is accounted for."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from election_replay.election_core.dialects import dialect_for
from election_replay.jobs.warehouse.data_files import record_batch
from election_replay.schemas import TABLES
from tests.election_core.dialects.lines import entries
from tests.jobs.zone import Zone
from tests.proving import amount

pytestmark = pytest.mark.slow

LINES = amount(12_000, 100_000)
CONTROL = bytes([*range(9), *range(11, 32), 127, 128, 255])
HUGE = (b"9" * 25, b"-1", b"1e999", b"0x" + b"f" * 40, b"18446744073709551616", b"9" * 5_000, b"NaN")

CANONICAL = (
    b'{"kind": "BULLY_OK_SENT", "event_time": "2026-03-01T10:00:00.123Z", "node": "3", "peer": "1", "term": 7}',
    b'{"kind": "RING_ELECTION_SENT", "event_time": 1772359200123, "members": ["1", "2"], "flag": true}',
    b'{"file": "/logs/broker.log", "message": "2026-03-01 18:00:07 INFO x - n2_[INCREASE_TERM] from 3 to 4"}',
    b'{"log": {"file": {"path": "/l/etcd.log"}}, "message": "{\\"msg\\": \\"1a became leader at term 2\\"}"}',
)


def lines_of(table: str) -> list[bytes]:
    """The real lines of a dialect."""
    if table == "canonical":
        return list(CANONICAL)
    records = entries(f"{table}_lines.txt")
    return ["\n".join((record.text, *record.continuation)).encode() for record, _ in records]


def flipped(line: bytes, chance: random.Random) -> bytes:
    changed = bytearray(line)
    for _ in range(chance.randint(1, 8)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def cut(line: bytes, chance: random.Random) -> bytes:
    begin, end = sorted((chance.randint(0, len(line)), chance.randint(0, len(line))))
    return line[:begin] + line[end:]


def joined(line: bytes, chance: random.Random) -> bytes:
    return line[: chance.randint(0, len(line))] + line[chance.randint(0, len(line)) :] + line


def enlarged(line: bytes, chance: random.Random) -> bytes:
    digits = [at for at, byte in enumerate(line) if 48 <= byte <= 57]
    at = chance.choice(digits or [0])
    return line[:at] + chance.choice(HUGE) + line[at + 1 :]


def controlled(line: bytes, chance: random.Random) -> bytes:
    at = chance.randint(0, len(line))
    return line[:at] + bytes(chance.choices(CONTROL, k=chance.randint(1, 5))) + line[at:]


MUTATIONS: tuple[Callable[[bytes, random.Random], bytes], ...] = (flipped, cut, joined, enlarged, controlled)


@pytest.mark.parametrize(
    ("table", "name"),
    [
        ("rocketmq", "broker.log"),
        ("zookeeper", "zookeeper.log"),
        ("etcd", "etcd.log"),
        ("canonical", "ring.events.jsonl"),
    ],
)
def test_every_broken_line_is_accounted_for(
    tmp_path: Path, table: str, name: str, record_property: Callable[[str, object], None]
) -> None:
    assert dialect_for(name) is not None
    chance = random.Random(20260301)
    whole = lines_of(table)
    broken = []
    for _ in range(LINES):
        line = chance.choice(whole)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            line = chance.choice(MUTATIONS)(line or b"x", chance)
        broken.append(line)
    text = b"\n".join(broken) + b"\n"
    zone = Zone(tmp_path)
    zone.write(name, text)
    made = zone.land()
    (row,) = made["landed_files"]
    record_property("broken lines", row["lines_total"])
    assert row["lines_total"] == text.count(b"\n") >= LINES
    assert row["lines_total"] == row["lines_event"] + row["lines_ignored"] + row["lines_quarantined"]
    assert row["lines_event"] == len(made["events"]) == len(made["log_lines"]) > LINES // 100
    assert row["lines_quarantined"] == len(made["quarantine"]) > LINES // 100
    assert all(one["reason"] for one in made["quarantine"])
    for name_of, rows in made.items():
        assert len(record_batch(TABLES[name_of], [tuple(one.values()) for one in rows])) == len(rows), (
            "cannot be stored"
        )
    numbers = [one["line_no"] for table in ("events", "quarantine") for one in made[table]]
    assert len(numbers) == len(set(numbers)), "a line is an event and in quarantine"
    assert 1 <= min(numbers) <= max(numbers) <= row["lines_total"]
