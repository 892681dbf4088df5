"""Files of any name that hold little of a system, or write it in a layout of their own, are known by that little."""

import pytest

from election_replay.election_core.dialects import Record
from election_replay.jobs.landing.recognising import dialect_of
from election_replay.jobs.landing.understanding import Understanding

SOLR = "2026-03-01 10:00:00.123 INFO  (QuorumPeer[myid=1](plain=0.0.0.0:9983)(secure=disabled)) [c: s: r: x: t:] "
WON = "LEADING - LEADER ELECTION TOOK - 201 MS"
LOGBACK = "10:00:00,123 |-INFO in ch.qos.logback.classic.util.ContextInitializer@1b9e1916 - No custom configurators"


def kind(line: str) -> str | None:
    """The kind of a line in a file of which nothing is known but this line."""
    dialect = dialect_of("attachment.txt", f"{line}\n".encode())
    event = dialect.parse(Record(line, (), "attachment.txt", 0)) if dialect else None
    return event and event.kind


@pytest.mark.parametrize(
    "line",
    [
        f"{SOLR}o.a.z.s.q.Leader {WON}",
        f"2026-03-01 10:00:00,123 [myid:1] - INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:Leader@345] - {WON}",
        f"[2026-03-01 10:00:00,123] INFO {WON} (org.apache.zookeeper.server.quorum.Leader)",
    ],
)
def test_one_line_of_an_election_makes_a_zookeeper(line: str) -> None:
    assert kind(line) == "ZK_ELECTED"


def test_what_logback_says_of_itself_is_no_line_that_nobody_understands() -> None:
    dialect = dialect_of("zookeeper.log", f"{SOLR}o.a.z.s.q.Leader {WON}\n".encode())
    looks = Understanding("zookeeper.log", dialect)
    looks.take_all([LOGBACK] * 24)
    assert looks.problem(str) is None
    looks.take_all([f"{number}:00:00 something else {number}" for number in range(10, 60)])
    assert looks.problem(str) is not None


def test_solr_puts_the_exception_behind_the_message() -> None:
    line = f"{SOLR}o.a.z.s.q.Learner Exception when following the leader => java.io.EOFException".replace(
        "INFO", "WARN"
    )
    dialect = dialect_of("attachment.txt", f"{line}\n".encode())
    event = dialect.parse(Record(line, (), "attachment.txt", 0)) if dialect else None
    assert event is not None
    assert (event.kind, event.node, event.result) == ("ZK_LEADER_LOST", "1", "java.io.EOFException")
