"""Metadata files become events, whole or not at all."""

import json
import random
import struct

import pytest

from election_replay.election_core.dialects import KINDS
from election_replay.election_core.dialects.rocketmq.metadata import (
    DEEPEST,
    LARGEST_FILE,
    Entry,
    entries,
    is_known,
    leaves,
    snapshot_time,
)
from election_replay.election_core.dialects.rocketmq.metadata import KINDS as OWN_KINDS
from election_replay.election_core.model.events import EpochEntry, Unparsable

TAKEN = "20260301T020000Z"
AT = 1_772_330_400_000_000

CONSUMER = b"""{
	"dataVersion":{
		"counter":12,
		"stateVersion":3,
		"timestamp":1709258400123
	},
	"groupTopicMap":{"g":["t"]},
	"offsetTable":{
		"t@g":{0:100,1:98
		},
		"a@b@c":{0:7},
		"empty@g":{}
	}
}"""
VERSION = b'{"dataVersion":{"counter":2,"timestamp":5},'


def read(name: str, data: bytes) -> list[Entry]:
    return list(entries(f"{TAKEN}/{name}", data))


def said(entry: Entry, *names: str) -> tuple[object, ...]:
    return tuple(getattr(entry.event, name) for name in names)


def test_consumer_offsets_are_one_event_a_queue() -> None:
    head, *rows = read("consumerOffset.json", CONSUMER)
    names = ("kind", "setting", "count", "state_version", "version_timestamp", "counter", "event_time")
    assert said(head, *names) == ("META_SNAPSHOT_VERSION", "consumer_offset", 3, 3, 1709258400123, 12, AT)
    assert [said(row, "topic", "consumer_group", "queue_id", "queue_offset", "counter") for row in rows] == [
        ("t", "g", 0, 100, 12),
        ("t", "g", 1, 98, 12),
        ("a@b", "c", 0, 7, 12),
    ]
    assert rows[0].text == "offsetTable t@g queue 0 = 100"
    assert {entry.event.time_resolution_ms for entry in (head, *rows)} == {1000}


def test_delay_offsets_on_one_line_as_a_slave_has_them() -> None:
    head, *rows = read("delayOffset.json", VERSION + b'"offsetTable":{3:12,4:0}}')
    assert said(head, "setting", "count", "state_version") == ("delay_offset", 2, 0)
    assert [said(row, "kind", "queue_id", "queue_offset") for row in rows] == [
        ("META_SNAPSHOT_DELAY", 3, 12),
        ("META_SNAPSHOT_DELAY", 4, 0),
    ]


@pytest.mark.parametrize(
    ("name", "table", "setting"),
    [
        ("topics.json", b"topicConfigTable", "topic_config"),
        ("subscriptionGroup.json", b"subscriptionGroupTable", "subscription_group"),
    ],
)
def test_topics_and_groups_are_named_in_one_event(name: str, table: bytes, setting: str) -> None:
    (head,) = read(name, VERSION + b'"' + table + b'":{"x":{"attributes":{},"perm":6},"a":{"attributes":{"k":[1,2]}}}}')
    assert said(head, "setting", "members", "count", "counter") == (setting, ("a", "x"), 2, 2)


def test_a_file_without_a_version_or_a_table() -> None:
    assert said(read("topics.json", b"{}")[0], "members", "counter", "state_version") == ((), None, None)


def test_timer_checkpoint_with_and_without_a_version() -> None:
    (whole,) = read("timercheck", struct.pack(">7q", 1, 2, 3, 44, 5, 6, 7))
    assert said(whole, "setting", "queue_offset", "state_version", "version_timestamp", "counter") == (
        *("timer_checkpoint", 44),
        *(5, 6, 7),
    )
    assert said(read("timercheck", struct.pack(">4q", 1, 2, 3, 44))[0], "queue_offset", "counter") == (44, None)


def test_identity_files_are_split_from_the_right() -> None:
    (own,) = read("brokerIdentity", b"c#1#broker-a#3")
    assert said(own, "cluster_name", "replica_group", "broker_id", "flag") == ("c#1", "broker-a", "3", False)
    (proposed,) = read("brokerIdentity-temp", b"c#b#3#10.0.0.1:10911;1795254797751")
    assert said(proposed, "broker_id", "register_code", "flag") == ("3", "10.0.0.1:10911;1795254797751", True)


def test_epoch_and_term_files_and_both_checkpoints() -> None:
    (epochs,) = read("epochFileCheckpoint", b"2\n773307083\n7-7000\n8-8000\n")
    assert epochs.event.epoch_entries == (EpochEntry(7, 7000, 8000), EpochEntry(8, 8000, None))
    assert said(read("currterm", b"voteLeader=n2\ncurrTerm=5\n")[0], "term", "peer") == (5, "n2")
    assert said(read("currterm", b"currTerm=5\nvoteLeader=\n")[0], "term", "peer") == (5, None)
    (ledger,) = read("checkpoint", b"committedIndex=118\nendIndex=120\n")
    assert said(ledger, "kind", "ledger_end", "committed") == ("META_SNAPSHOT_LEDGER", 120, 118)
    (store,) = read("checkpoint", struct.pack(">5q", 1, 2, 3, 400, 500))
    assert said(store, "kind", "max_offset", "confirm_offset") == ("META_SNAPSHOT_STORE", 400, 500)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("consumerOffset.json", b"", "empty"),
        ("consumerOffset.json", CONSUMER[:-30], "breaks off"),
        ("consumerOffset.json", CONSUMER + b"}", "not as expected"),
        ("consumerOffset.json", CONSUMER.replace(b"100", b"1" * 30), "not a whole number"),
        ("consumerOffset.json", CONSUMER.replace(b"100", b"null"), "not a whole number"),
        ("consumerOffset.json", b'{"offsetTable":' + b"[" * 100_000, "nested deeper"),
        ("consumerOffset.json", b"\xff\xfe", "broken consumerOffset.json"),
        ("topics.json", b'{"topicConfigTable" {}}', "not as expected"),
        ("timercheck", b"short", "broken timercheck"),
        ("brokerIdentity", b"c#b", "not an identity"),
        ("epochFileCheckpoint", b"2\n0\n7-7000\n", "2 entries announced, 1 there"),
        ("epochFileCheckpoint", b"x", "x entries announced"),
        ("currterm", b"voteLeader=n1", "not a whole number"),
        ("checkpoint", b"endIndex=x\ncommittedIndex=1", "not a whole number"),
        ("consumerOffset.json", b" " * (LARGEST_FILE + 1), "are not read"),
    ],
)
def test_a_broken_file_says_why(name: str, data: bytes, why: str) -> None:
    with pytest.raises(Unparsable, match=why):
        read(name, data)


@pytest.mark.parametrize(
    ("stream", "time", "known"),
    [
        (f"{TAKEN}/topics.json", AT, True),
        (f"{TAKEN}/dledger-n0/currterm", AT, True),
        (f"{TAKEN}/topics.json.bak", AT, False),
        ("topics.json", None, False),
        ("20261399T020000Z/topics.json", None, True),
        ("99991231T235959Z/topics.json", None, True),
        ("30000101T000000Z/topics.json", None, True),
        ("19691231T235959Z/topics.json", None, True),
        ("00010101T000000Z/topics.json", None, True),
        ("broker.log", None, False),
    ],
)
def test_a_snapshot_is_known_by_its_folder_and_name(stream: str, time: int | None, known: bool) -> None:
    assert (snapshot_time(stream), is_known(stream)) == (time, known)


def test_an_impossible_time_is_quarantined() -> None:
    with pytest.raises(Unparsable, match="no possible time"):
        list(entries("20261399T020000Z/topics.json", b"{}"))


def test_leaves_agree_with_a_json_parser() -> None:
    random.seed(7)
    for _ in range(300):
        value = {f"k{i}": _random_value(3) for i in range(random.randrange(4))}
        assert list(leaves(json.dumps(value, indent=random.choice((None, 1))))) == list(_leaves_of(value, ()))


def _random_value(depth: int) -> object:
    kind = random.randrange(5 if depth else 2)
    if kind == 0:
        return random.randrange(-9, 10**9)
    if kind == 1:
        return "".join(random.choices('ab"\\{}[]:, é\n', k=random.randrange(6)))
    if kind == 2:
        return [_random_value(depth - 1) for _ in range(random.randrange(3))]
    return {str(i) + random.choice(("", '"x')): _random_value(depth - 1) for i in range(random.randrange(3))}


def _leaves_of(value: object, path: tuple[str, ...]) -> object:
    if isinstance(value, dict | list) and not value:
        yield path, None
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves_of(inner, (*path, key))
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves_of(inner, path)
    else:
        yield path, str(value)


def test_mutated_files_never_crash() -> None:
    random.seed(3)
    for _ in range(2000):
        data = bytearray(CONSUMER)
        for _ in range(random.randrange(1, 6)):
            data[random.randrange(len(data))] = random.randrange(256)
        try:
            for entry in read("consumerOffset.json", bytes(data)):
                assert all(-(2**63) < value < 2**63 for value in said(entry, "queue_id", "queue_offset") if value)
        except Unparsable:
            pass


def test_kinds_are_part_of_the_enumeration() -> None:
    assert OWN_KINDS.items() <= KINDS.items()
    assert DEEPEST < 100
