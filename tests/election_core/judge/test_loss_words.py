"""Whom a sentence names as lost to a leader that gave up without a majority."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.judge.loss_words import lost_before
from election_replay.election_core.judge.quorum_contact import FollowerLost, QuorumLoss


def at(us: int) -> Moment:
    return Moment(us, us, "n1")


def elapsed(begin: Moment, end: Moment) -> tuple[int, int]:
    return end.at - begin.at, end.at - begin.at


@pytest.mark.parametrize(
    ("end_cause", "enough", "named"),
    [
        ("quorum_lost", False, ["early"]),  # frozen members print nothing: who follows on misses it when it has ended
        ("quorum_lost", True, ["early", "late"]),
        ("died", False, ["early", "late"]),
    ],
)
def test_who_may_only_have_missed_it_since_it_led_no_more_is_no_reason(
    end_cause: str, enough: bool, named: list[str]
) -> None:
    lefts = (FollowerLost("early", at(5), at(8), False), FollowerLost("late", at(9), at(12), False))
    clocks, electorates = SimpleNamespace(elapsed=elapsed), SimpleNamespace(lost=lambda *_: enough)
    group = cast("Group", SimpleNamespace(clocks=clocks, electorates=electorates))
    leader = cast("Tenure", SimpleNamespace(end_cause=end_cause, end=at(10)))
    lost = cast("QuorumLoss", SimpleNamespace(left=lefts, latest=at(10)))
    assert [left.member for left in cast("list[Any]", lost_before(group, leader, lost))] == named
