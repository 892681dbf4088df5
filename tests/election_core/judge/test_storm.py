"""Storms: what somebody wanted is no disturbance, nor are the elections that nobody won just before it."""

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.storm import storm
from election_replay.election_core.protocols.zab.rules import _unplanned
from tests.election_core.judge.test_leaderless import SECOND, group


def test_votes_split_before_a_planned_change_are_no_storm() -> None:
    restarts = group([(node, 100, 99, 0, "stopped") for node in "abca"], [], 0)
    split = [Moment(tenure.begin.at - 2 * SECOND, tenure.begin.by, "b") for tenure in restarts.tenures[1:]]
    assert not list(storm(restarts, [], split))
    early = [Moment(moment.at - 60 * SECOND, moment.by, "b") for moment in split]
    assert [found.rounds for found in storm(restarts, [], early)] == [3]


def test_leaders_that_a_reconfiguration_takes_the_lead_from_are_no_storm() -> None:
    asked = group([(node, 100, 99, 0, "leadership_transfer") for node in "abca"], [], 0)
    assert not list(storm(asked, _unplanned(asked, set())))
    died = group([(node, 100, 99, 0, "died") for node in "abca"], [], 0)
    assert [found.rounds for found in storm(died, _unplanned(died, set()))] == [3]
