"""What etcd measured of the difference of two clocks ties them from both sides."""

import pytest

from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.raft.causality import causal_pairs
from tests.election_core import story

BOOT = """
02:00:00.000000 I | etcdmain: etcd Version: 3.3.27
02:00:00.001000 I | embed: election = 1000ms
02:00:00.002000 I | etcdserver: starting member {node} in cluster cafe
02:00:00.003000 I | raft: {node} became follower at term 0
"""
JSON = (
    '{{"level":"warn","ts":"2026-03-01T02:00:30.000Z","caller":"rafthttp/probing_status.go:86",'
    '"msg":"prober found high clock drift","round-tripper-name":"ROUND_TRIPPER_RAFT_MESSAGE","remote-peer-id":"b2",'
    '"clock-drift":"{drift}","rtt":"{rtt}"}}'
)
TEXT = "02:00:30.000000 W | rafthttp: the clock difference against peer b2 is too high [{drift} > 1s]"


def facts_of(line: str) -> list[Fact]:
    """What a member a1 that logs this line measured, beside a member b2 that logs nothing of it."""
    logs = "".join(
        f"[{node} etcd.log]{BOOT.format(node=node)}{line if node == 'a1' else ''}\n\n" for node in ("a1", "b2")
    )
    return story.facts_of(story.parse(f"A member measures.\n\n{logs}"))


def apart(line: str) -> tuple[int, int]:
    """How far the clock of a1 is ahead of that of b2 at least and at most, in seconds, with bounds of an hour."""
    facts = facts_of(line)
    clocks = Clocks({"a1": 3600 * SECOND, "b2": 3600 * SECOND}, causal_pairs(facts))
    at = 1_772_330_430 * SECOND
    least, most = clocks.elapsed(Moment(at, at, "b2"), Moment(at, at, "a1"))
    return -most // SECOND, -least // SECOND


@pytest.mark.parametrize(
    "line",
    [
        JSON.format(drift="1m2.5s", rtt="1.2ms"),
        JSON.format(drift="1.2ms", rtt="1m2.5s"),
    ],
    ids=["as it is meant", "releases up to 3.4: each in the other's place"],
)
def test_a_measured_difference_bounds_the_clocks_from_both_sides(line: str) -> None:
    assert apart(line) == (62, 62)


def test_without_the_time_of_a_round_trip_it_is_as_wide_as_a_probe_can_take() -> None:
    least, most = apart(TEXT.format(drift="1m2.5s"))
    assert (least, most) == (57, 67)


@pytest.mark.parametrize(
    "line",
    [JSON.format(drift="3s", rtt="2.9s"), "02:00:30.000000 I | raft: a1 became follower at term 1"],
    ids=["nobody can tell which is which", "nothing is measured"],
)
def test_nothing_follows_from_what_is_not_clear(line: str) -> None:
    least, most = apart(line)
    assert least < -3600 < 3600 < most
