"""Changes of members are told once, by whomever at once, and not again by a start that reads its log."""

from datetime import UTC, datetime, timedelta
from typing import Any

from election_replay.jobs.reading.notices import merged_notices, without_repeats
from election_replay.jobs.runbook import notices

BEGIN = datetime(2026, 3, 1, 2, tzinfo=UTC)
NOTHING = dict.fromkeys(
    ("value", "code", "flag", "role", "peer", "peer_address", "duration_ms", "count", "result", "term")
)


def line(second: float, source: str, kind: str, **said: Any) -> dict[str, Any]:
    return {
        **NOTHING,
        "event_time": BEGIN + timedelta(seconds=second),
        "source_node": source,
        "node": source,
        "kind": kind,
        **said,
    }


def told(*lines: dict[str, Any]) -> list[tuple[float, str, str]]:
    found = sorted(
        merged_notices(without_repeats(list(lines), notices.ALWAYS), notices.ALWAYS), key=lambda notice: notice.at
    )
    return [
        ((notice.at - BEGIN).total_seconds(), "+".join(source for _, source in notice.speakers), notice.text)
        for notice in found
    ]


def test_a_member_that_is_added_soon_after_a_start_is_told() -> None:
    assert told(
        line(0, "a", "RAFT_START"),
        line(0.1, "a", "ETCD_MEMBER_ADDED", peer="b1"),  # of its log
        line(1, "a", "RAFT_LEADER_KNOWN"),
        line(20, "a", "ETCD_MEMBER_ADDED", peer="d4", flag=True),
        line(30, "a", "ETCD_MEMBER_PROMOTED", peer="d4"),
    ) == [
        (20, "a", "member d4 is added to the cluster as a learner, without a vote"),
        (30, "a", "learner d4 becomes a voter"),
    ]


def test_a_start_that_applies_an_old_change_late_does_not_tell_it_again() -> None:
    assert told(
        line(20, "a", "ETCD_MEMBER_ADDED", peer="d4"),
        line(100, "b", "RAFT_START"),
        line(101, "b", "RAFT_LEADER_KNOWN"),
        line(102, "b", "ETCD_MEMBER_ADDED", peer="d4"),
    ) == [(20, "a", "member d4 is added to the cluster")]


def test_members_that_say_the_same_of_themselves_at_other_times_are_told_apart() -> None:
    ends = notices.ALWAYS["ETCD_REMOVED"]
    assert told(
        line(0, "a", "ETCD_REMOVED"),
        line(2, "b", "ETCD_REMOVED"),
        line(60, "c", "ETCD_REMOVED"),
        line(70, "a", "ETCD_REMOVED"),
    ) == [(0, "a+b", ends), (60, "c", ends)]


def test_voters_are_told_where_they_change() -> None:
    assert told(
        line(0, "a", "KAFKA_VOTERS", members=[]),
        line(1, "a", "KAFKA_VOTERS", members=["1", "2", "3"]),
        line(2, "b", "KAFKA_VOTERS", members=["1", "2", "3"]),
        line(60, "a", "KAFKA_VOTERS", members=[]),
        line(61, "a", "KAFKA_VOTERS", members=["1", "2", "3"]),
        line(90, "a", "KAFKA_VOTERS", members=["1", "2", "3", "4"]),
        line(91, "b", "KAFKA_VOTERS", members=["1", "2", "3", "4"]),
    ) == [(90, "a+b", "knows the voters: 1, 2, 3, 4")]
