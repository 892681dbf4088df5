"""Lines of etcd and its Raft library become the events that they are."""

import re
from pathlib import Path

import pytest

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.etcd.dialect import ETCD
from election_replay.election_core.model.events import Event, Unparsable
from tests.election_core.dialects.lines import entries, proofs_in_real_logs

ENTRIES = list(entries("etcd_lines.txt"))
JSON = '{{"level":"info","ts":{},"caller":"raft/raft.go:1","msg":{}{}}}'
LEADS = '"1a became leader at term 2"'


def parsed(line: str, offset: int = 0) -> Event | None:
    return ETCD.parse(Record(line, (), "etcd.log", offset))


@pytest.mark.parametrize(
    ("line", "time", "resolution"),
    [
        (JSON.format('"2026-11-21T09:43:11.707Z"', LEADS, ""), 1_795_254_191_707_000, 1),
        (JSON.format('"2026-11-21T09:43:11.707036Z"', LEADS, ""), 1_795_254_191_707_036, 1),
        (JSON.format('"2026-11-21T09:43:11.707+0800"', LEADS, ""), 1_795_225_391_707_000, 1),
        (JSON.format("1714557600.1234", LEADS, ""), 1_714_557_600_123_400, 1),
        ("2026-11-21 09:43:11.707036 I | raft: 1a became leader at term 2", 1_795_250_591_707_036, 1),
        ("raft2026/11/21 09:43:11 INFO: 1a became leader at term 2", 1_795_250_591_000_000, 1000),
        ("2026/11/21 09:43:11 raft: 1a became leader at term 2", 1_795_250_591_000_000, 1000),
    ],
)
def test_json_says_its_zone_and_text_is_local(line: str, time: int, resolution: int) -> None:
    event = parsed(line, offset=60)
    assert event is not None
    assert (event.event_time, event.time_resolution_ms) == (time, resolution)
    assert ETCD.time_of(line, 60) == (time, resolution)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (JSON.format("null", LEADS, ""), "not a time"),
        (JSON.format("true", LEADS, ""), "not a time"),
        (JSON.format("NaN", LEADS, ""), "not a time"),
        (JSON.format("1e999", LEADS, ""), "not a time"),
        (JSON.format('"2026-13-21T09:43:11.707Z"', LEADS, ""), "month"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"1a became leader at term 99999999999999999999"', ""), "whole number"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"12345678901234567 became leader at term 2"', ""), "id of a member"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', LEADS, "")[:-1], "not a line of etcd"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', LEADS, "") * 2, "Extra data"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"1a switched to configuration voters=(1 99999999999999999999)"', ""), "ids of members"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"1a became leader at term 2 \\ud800"', ""), "surrogates"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"peer became active"', ',"peer-id":true'), "not a text"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"peer became active"', ',"peer-id":18446744073709551616'), "id of a member"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"server error"', ',"error":"\\ud800"'), "surrogates"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"closed etcd server"', ',"took":"yesterday"'), "duration"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"closed etcd server"', ',"took":"99999999999999999999h"'), "64 bits"),
        (JSON.format('"2026-11-21T09:43:11.707Z"', '"added member"', ',"added-peer-peer-urls":"x"'), "not a list"),
        ('{"msg":' + "[" * 60_000, "not a line of etcd"),
        ('{"msg":"' + "x" * 70_000 + '"}', "longer than"),
    ],
    ids=range(19),
)  # fmt: skip
def test_absurd_lines_go_to_quarantine_with_a_reason(line: str, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        parsed(line)
    ETCD.time_of(line, 0)


def test_other_json_is_not_of_interest() -> None:
    assert parsed('{"level":"info","msg":7}') is None
    assert parsed('{"level":"info","msg":"compacted at term 2"}') is None


def test_a_clock_may_be_behind() -> None:
    event = parsed(
        JSON.format('"2026-11-21T09:43:11.707Z"', '"prober found high clock drift"', ',"clock-drift":"-1m2.5s"')
    )
    assert event is not None
    assert event.duration_ms == -62_500


QUOTED = {
    "became leader": "RAFT_TO_LEADER",
    "became follower": "RAFT_TO_FOLLOWER",
    "became candidate": "RAFT_TO_CANDIDATE",
    "became pre-candidate": "RAFT_TO_PRE_CANDIDATE",
    "stepped down": "RAFT_NO_QUORUM",
    "lost leader": "RAFT_LEADER_LOST",
    "changed leader": "RAFT_LEADER_CHANGED",
    "elected leader": "RAFT_LEADER_KNOWN",
    "became inactive": "ETCD_PEER_INACTIVE",
    "became active": "ETCD_PEER_ACTIVE",
    "lost the TCP streaming": "ETCD_PEER_LOST",
    "new election": "RAFT_ELECTION",
    "higher term": "RAFT_TERM_HIGHER",
    "lower term": "RAFT_TERM_LOWER",
    "rejected stream": "ETCD_PEER_REFUSED",
    "] rejected": "RAFT_VOTE_REJECTED",
    "ignored Msg": "RAFT_VOTE_IGNORED",
    "transfer leadership": "RAFT_TRANSFER",
    "received MsgTimeoutNow": "RAFT_TRANSFER_TAKEN",
    "MsgTimeoutNow": "RAFT_SIGN",
    "conflict": "RAFT_CONFLICT",
    "configuration": "RAFT_MEMBERS",
}
"""What the proofs of the real runs are, by their words."""


def test_real_logs_parse_and_the_lines_that_prove_something_are_understood(corpora: Path) -> None:
    note = re.compile(r"[\w ]+, \S+: (?P<path>nodes/\S+):(?P<line>\d+): (?P<words>.*)")
    proofs = [*proofs_in_real_logs(corpora.glob("etcd/*/run.json"), ETCD, "etcd.log", note)]
    for proof, event in proofs:
        kind = next(kind for words, kind in QUOTED.items() if words in proof["words"])
        assert event is not None, proof.string
        assert event.kind.startswith(kind), proof.string
    assert len(proofs) > 100
