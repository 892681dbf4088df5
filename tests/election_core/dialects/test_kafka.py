"""Kafka's lines become the events that they are."""

import re
from pathlib import Path

import pytest

from election_replay.election_core.dialects import NAMED, Record, speaker_of, stream_in_system
from election_replay.election_core.dialects.kafka.dialect import KAFKA
from election_replay.election_core.dialects.kafka.shapes import transition
from election_replay.election_core.model.events import Event, Unparsable
from election_replay.jobs.landing.recognising import dialect_of
from tests.election_core.dialects.lines import entries, proofs_in_real_logs

ENTRIES = list(entries("kafka_lines.txt"))
TELLING = "Completed transition|Becoming the active|Renouncing|starts at leader epoch|UNCLEAN|Fencing broker"
"""What a line says that proves who led, or that somebody did no more."""
LINE = "[2026-11-26 12:45:26,306] INFO {} (org.apache.kafka.raft.QuorumState)"


def parsed(line: str, offset: int = 0) -> Event | None:
    return KAFKA.parse(Record(line, (), "server.log", offset))


def test_the_parts_of_former_releases_had_other_names() -> None:
    for former, now in (("RaftManager nodeId=3", "RaftManager id=3"), ("Controller 3", "QuorumController id=3")):
        text = "Become candidate due to fetch timeout" if "Raft" in former else "In the new epoch 2, the leader is 1."
        old, new = parsed(LINE.format(f"[{former}] {text}")), parsed(LINE.format(f"[{now}] {text}"))
        assert old is not None
        assert old == new


def test_a_thread_may_stand_behind_the_logger() -> None:
    line = LINE.format("[RaftManager id=1] Become candidate due to fetch timeout")
    event = parsed(f"{line} [kafka-1-raft-io-thread]")
    assert event is not None
    assert (event.kind, event.thread) == ("KAFKA_FETCH_TIMEOUT", "kafka-1-raft-io-thread")


def test_times_are_local_and_in_milliseconds() -> None:
    line = LINE.format("[RaftManager id=1] Become candidate due to fetch timeout")
    first, later = parsed(line), parsed(line, offset=120)
    assert first is not None
    assert later is not None
    assert (first.event_time, first.time_resolution_ms) == (1_795_697_126_306_000, 1)
    assert later.event_time == first.event_time - 120 * 60 * 1_000_000
    assert KAFKA.time_of("[2026-13-26 12:45:26,306] INFO x (y)", 0) is None
    assert KAFKA.time_of("\tat org.apache.kafka.x.Y(Z.java:1)", 0) is None


def test_what_is_no_state_goes_to_quarantine_with_a_reason() -> None:
    with pytest.raises(Unparsable, match="not a state of the quorum"):
        parsed(LINE.format("[RaftManager id=1] Completed transition to Dancing(epoch=1) from null"))


def test_the_epoch_of_a_state_is_its_own_and_not_that_of_a_candidate_before_it() -> None:
    fields = transition("UnattachedState(epoch=3, votedKey=Optional.empty, voters=[1]) from CandidateState(epoch=2)")
    assert (fields["term"], fields["from_term"]) == (3, 2)


def test_a_file_whose_name_other_systems_give_too_speaks_as_its_lines_do() -> None:
    kafka = LINE.format("[QuorumController id=1] In the new epoch 1, the leader is (none).").encode() + b"\n"
    rocketmq = b"2026-03-01 10:00:07 INFO StateMaintainer - [n1] [ChangeRoleToCandidate] from term: 1\n"
    for data, system in ((kafka, "kafka"), (rocketmq, "rocketmq")):
        found = dialect_of("controller.log", data)
        assert found is not None
        assert found.system == system
    assert stream_in_system("controller.log", "kafka") == "kafka-controller.log"
    assert stream_in_system("controller.log", "rocketmq") == "controller.log"
    assert stream_in_system("server.log", "kafka") == "server.log"


def test_zookeeper_in_the_layout_of_a_kafka_release_is_zookeeper() -> None:
    of_zookeeper = "[2026-03-01 10:00:00,123] INFO LOOKING (org.apache.zookeeper.server.quorum.QuorumPeer)"
    assert speaker_of(of_zookeeper) is NAMED["zookeeper"]
    assert speaker_of(LINE.format("[RaftManager id=1] Become candidate due to fetch timeout")) is KAFKA


def test_the_lines_that_prove_something_in_real_logs_are_understood(corpora: Path) -> None:
    note = re.compile(rf"witness, \S+: (?P<path>nodes/\S+\.log):(?P<line>\d+): .*(?:{TELLING})")
    proofs = [*proofs_in_real_logs(corpora.glob("kafka-kraft/*/run.json"), KAFKA, None, note)]
    assert [proof.string for proof, event in proofs if event is None] == []
    assert len(proofs) > 20
