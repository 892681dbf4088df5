"""A broker may die at every point of its registration, and comes back with one id that is its own."""

import pytest

from election_replay.election_core.simulate.broker_identity.machine import IDENTITY_FILE, TEMP_FILE
from election_replay.election_core.simulate.broker_identity.scenarios import POINTS
from election_replay.election_core.simulate.catalogue import SCENARIOS
from election_replay.election_core.simulate.controller.play import BROKERS, CONTROLLER
from election_replay.election_core.simulate.controller.record import APPLIED, decisions
from election_replay.election_core.simulate.scenario import played

FOUND = {
    "asking": "INITIAL",
    "temporary-file": "CREATE_TEMP_METADATA_FILE_DONE",
    "accepted": "CREATE_TEMP_METADATA_FILE_DONE",
    "answered": "CREATE_TEMP_METADATA_FILE_DONE",
    "both-files": "CREATE_METADATA_FILE_DONE",
    "registered": "CREATE_METADATA_FILE_DONE",
}
"""What the broker finds on its disk when it comes back."""

TWICE = {"accepted", "answered"}
"""Where the broker applies again with the same code, and is accepted again."""


@pytest.mark.parametrize("point", POINTS)
def test_a_crash_costs_no_id(point: str) -> None:
    for seed in range(3):
        world = played(SCENARIOS[f"identity-crash-{point}"], seed)
        killed = next(fault for fault in world.faults if fault.action == "kill")
        states = [
            line for line in world.lines if line.node == killed.node and line.say and line.true_us > killed.true_us
        ]
        first = next(line for line in states if line.say and line.say.kind == "BRK_REG_STATE")
        assert FOUND[point] in first.text, (point, seed)
        codes = [one.event["registerCheckCode"] for one in decisions(world) if one.outcome == APPLIED]
        assert len(codes) - len(set(codes)) == (point in TWICE), (point, seed)


def test_everybody_ends_with_an_id_of_its_own() -> None:
    """Three ids for three brokers, whatever they died of; a temporary file may stay behind the identity file."""
    for point in POINTS:
        world = played(SCENARIOS[f"identity-crash-{point}"], 4)
        files = [world.processes[name].files for name in BROKERS]
        assert sorted(file[IDENTITY_FILE].broker_id for file in files) == [1, 2, 3]
        assert world.processes[CONTROLLER].state.ids.registered == {1, 2, 3}
        left = [file for file in files if file.get(TEMP_FILE) is not None]
        assert len(left) <= (point == "both-files")
