"""A slave follows before it is added to the SyncStateSet: that ties its clock to the controllers' from both sides."""

import pytest

from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.controller.causality import causal_pairs
from tests.election_core import story

QUEUE = "INFO org.apache.rocketmq.controller.impl.DLedgerController$EventScheduler - Event queue run event "
APPLIED = "INFO io.openmessaging.storage.dledger.statemachine.StateMachineCaller - Apply 1 events index from"
ELECTED = (
    QUEUE + "electMaster, get the result ControllerResult{{events=[ElectMasterEvent{{newMasterElected=true, "
    "brokerName='b', newMasterBrokerId=1}}], response=ElectMasterResponseHeader{{masterBrokerId=1, "
    "masterAddress='10.0.0.1:10911', masterEpoch=1, syncStateSetEpoch={number}}}}}"
)
CHANGED = (
    QUEUE + "alterSyncStateSet, get the result ControllerResult{{events=[AlterSyncStateSetEvent{{brokerName='b', "
    "newSyncStateSet=[{members}]}}], response=AlterSyncStateSetResponseHeader{{newSyncStateSetEpoch={number}}}}}"
)
FOLLOWS = (
    "INFO main - Begin to change to slave, brokerName=b, brokerId=2, newMasterBrokerId=1, "
    "newMasterAddress=10.0.0.1:10911, newMasterEpoch=1"
)
START = "INFO main - The broker[b, 10.0.0.2:10911] boot success. serializeType=JSON"


def apart(decided: dict[str, str], followed: tuple[str, ...]) -> tuple[int, int]:
    """How far the slave's clock is ahead of the controller's at least and at most, in seconds, with bounds of an hour.

    ``decided``: the sets by their times, ``followed``: when the slave began to follow, each on its own clock.
    """
    decisions = [f"10:00:05 {ELECTED.format(number=1)}", f"10:00:05 {APPLIED} 1 to 1 on controller controllers#n0"]
    for number, (at, members) in enumerate(decided.items(), 2):
        decisions.append(f"{at} {CHANGED.format(number=number, members=members)}")
        decisions.append(f"{at} {APPLIED} {number} to {number} on controller controllers#n0")
    slave = [f"{at} {line}" for at in followed for line in (START, FOLLOWS)]
    logs = "\n".join(["[ctl controller.log]", *decisions, "", "[y broker.log]", *slave])
    facts = story.facts_of(story.parse(f"A slave follows.\n\n{logs}\n"))
    clocks = Clocks({"ctl": 3600 * SECOND, "y": 3600 * SECOND}, causal_pairs(facts))
    at = 1_772_359_230 * SECOND
    least, most = clocks.elapsed(Moment(at, at, "ctl"), Moment(at, at, "y"))
    return -most // SECOND, -least // SECOND


def test_who_is_added_had_begun_to_follow_and_follows_who_was_elected() -> None:
    least, most = apart({"10:00:12": "1, 2"}, ("10:20:07",))
    assert 1200 - 6 <= least < most <= 1200 + 3


@pytest.mark.parametrize(
    ("decided", "followed"),
    [
        ({"10:00:12": "1, 2"}, ("10:20:07", "10:25:00")),
        ({"10:00:12": "1, 2", "10:05:00": "1", "10:05:30": "1, 2"}, ("10:20:07",)),
    ],
    ids=["it came twice and was added once", "it was added twice, and one time it came is not in the log"],
)
def test_who_came_more_or_less_often_than_it_was_added_ties_nothing(
    decided: dict[str, str], followed: tuple[str, ...]
) -> None:
    assert apart(decided, followed)[0] < 0


def test_who_was_frozen_is_added_again_without_a_line_of_its_own() -> None:
    decided = {"10:00:12": "1, 2", "10:05:00": "1", "10:05:30": "1, 2"}
    least, most = apart(decided, ("10:00:07", "10:10:00"))
    assert -3600 < least <= 0 <= most < 3600
