"""ZooKeeper lines become the events that they are."""

import re
from pathlib import Path

import pytest

from election_replay.election_core.dialects import Record
from election_replay.election_core.dialects.zookeeper.dialect import REASON_TABLE, ZOOKEEPER
from election_replay.election_core.model.events import Event, Unparsable
from tests.election_core.dialects.lines import entries, proofs_in_real_logs

ENTRIES = list(entries("zookeeper_lines.txt"))
LINE = "2026-11-21 09:25:40,221 [myid:{}] - INFO  [{}:o.a.z.s.q.{}@1] - {}"


def parsed(line: str, *continuation: str, offset: int = 0) -> Event | None:
    return ZOOKEEPER.parse(Record(line, continuation, "zookeeper.log", offset))


def test_every_reason_has_a_line_in_the_table() -> None:
    said = [event.result or "" for event in (ZOOKEEPER.parse(record) for record, _ in ENTRIES) if event]
    unseen = [one.text.template for one in REASON_TABLE.patterns if not any(map(one.regex.match, said))]
    assert not unseen


@pytest.mark.parametrize(
    ("myid", "thread", "node"),
    [
        ("3", "main", "3"),
        ("", "QuorumPeer[myid=2](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled)", "2"),
        ("", "QuorumPeer[myid=2]/0:0:0:0:0:0:0:0:2181", "2"),
        ("", "WorkerReceiver[myid=1]", "1"),
        ("", "QuorumConnectionThread-[myid=4]-2", "4"),
        ("", "SendWorker:7", None),  # 7 is the other server
        ("", "LearnerHandler-/10.83.2.11:40430", None),
    ],
)
def test_the_server_is_named_by_its_block_or_its_thread(myid: str, thread: str, node: str | None) -> None:
    event = parsed(LINE.format(myid, thread, "QuorumPeer", "LOOKING"))
    assert event is not None
    assert event.node == node


def test_short_texts_are_told_apart_by_their_class() -> None:
    assert parsed(LINE.format("", "x", "Leader", "Shutting down")) is not None
    for name in ("RequestThrottler", "CommitProcessor", "SessionTrackerImpl"):
        assert parsed(LINE.format("", "x", name, "Shutting down")) is None
    assert parsed(LINE.format("", "x", "LearnerHandler", "Unexpected exception")) is None
    assert parsed(LINE.format("", "x", "Other", "tickTime set to 7")) is None


def test_times_are_local_and_in_milliseconds() -> None:
    first = parsed(LINE.format("", "x", "QuorumPeer", "LOOKING"))
    later = parsed(LINE.format("", "x", "QuorumPeer", "LOOKING"), offset=120)
    whole = parsed("2026-11-21 09:25:40 - INFO  [x:QuorumPeer@1] - LOOKING")
    assert first
    assert later
    assert whole
    assert (first.event_time, first.time_resolution_ms) == (1_795_253_140_221_000, 1)
    assert later.event_time == first.event_time - 120 * 60 * 1_000_000
    assert (whole.event_time, whole.time_resolution_ms) == (1_795_253_140_000_000, 1000)
    assert ZOOKEEPER.time_of("java.net.ConnectException: Connection refused", 0) is None
    assert ZOOKEEPER.time_of("2026-13-21 09:25:40,221 - INFO  [x:QuorumPeer@1] - LOOKING", 0) is None


def test_the_first_known_exception_says_why() -> None:
    line = LINE.format("1", "x", "QuorumPeer", "Unexpected exception")
    trace = (
        "java.lang.RuntimeException: outside",
        "\tat x.Y(Z.java:1)",
        "Caused by: java.io.IOException: Error: Epoch of leader is lower",
    )
    event = parsed(line, *trace)
    assert event is not None
    assert (event.decision, event.result) == ("STALE_LEADER", "Error: Epoch of leader is lower")
    bare = parsed(line, "java.io.EOFException")
    assert bare is not None
    assert (bare.decision, bare.result) == (None, "java.io.EOFException")


@pytest.mark.parametrize(
    ("name", "message", "reason"),
    [
        ("QuorumPeer", "Peer state changed: dancing", "not a state"),
        ("Leader", "Have quorum of supporters, sids: [[one]]; starting up and setting last processed zxid: 0x1", "server ids"),
        ("Leader", "Have quorum of supporters; starting up and setting last processed zxid: 0xfffffffffffffffff", "hexadecimal"),
        ("FastLeaderElection", "Notification time out: 99999999999999999999 ms", "whole number"),
        ("FastLeaderElection", "New election. My id = one, proposed zxid=0x0", "whole number"),
        ("Leader", "Shutdown called. For the reason Only many followers, need 2", "whole number"),
    ],
)  # fmt: skip
def test_absurd_values_of_a_known_text_go_to_quarantine_with_a_reason(name: str, message: str, reason: str) -> None:
    with pytest.raises(Unparsable, match=reason):
        parsed(LINE.format("", "x", name, message))


QUOTED = {
    "leader": {"ZK_ESTABLISHED"},
    "election": {"ZK_ELECTION"},
    "result": {"ZK_FOLLOWS", "ZK_ELECTED"},
    "learner": {"ZK_SIGN"},
    "leader serves": {"ZK_STATE"},
    "leader shut down": {"ZK_LEADER_SHUTDOWN"},
    "leader gives up": {"ZK_LEADER_STOPPING"},
    "leader of": {"ZK_ESTABLISHED"},
    "witness": {
        *("ZK_ELECTION", "ZK_FOLLOWS", "ZK_ELECTED"),
        *("ZK_LEADER_LOST", "ZK_SIGN", "ZK_LEARNER_ERROR"),
    },
}
"""What the proofs of the real runs are, by their headings."""


def test_real_logs_parse_and_the_lines_that_prove_something_are_understood(corpora: Path) -> None:
    note = re.compile(r"(?P<what>[\w ]+), \S+: (?P<path>nodes/\S+):(?P<line>\d+): ")
    proofs = [*proofs_in_real_logs(corpora.glob("zookeeper/*/run.json"), ZOOKEEPER, "zookeeper.log", note)]
    for proof, event in proofs:
        assert event is not None, proof.string
        assert event.kind in QUOTED[proof["what"].rstrip(" 0123456789")], proof.string
    assert len(proofs) > 50
