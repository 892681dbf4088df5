"""All scenarios of all protocols; a new protocol adds its lines here."""

from collections.abc import Callable
from dataclasses import dataclass

from election_replay.election_core.simulate.acting_master import scenarios as acting_master
from election_replay.election_core.simulate.acting_master import truth as acting_master_truth
from election_replay.election_core.simulate.broker_identity import scenarios as broker_identity
from election_replay.election_core.simulate.controller import scenarios as controller
from election_replay.election_core.simulate.controller import truth as controller_truth
from election_replay.election_core.simulate.dledger import scenarios as dledger
from election_replay.election_core.simulate.dledger import truth as dledger_truth
from election_replay.election_core.simulate.metadata import scenarios as metadata
from election_replay.election_core.simulate.metadata import truth as metadata_truth
from election_replay.election_core.simulate.nemesis import wild
from election_replay.election_core.simulate.order_lock import scenarios as order_lock
from election_replay.election_core.simulate.order_lock import truth as order_lock_truth
from election_replay.election_core.simulate.raft import scenarios as raft
from election_replay.election_core.simulate.raft import truth as raft_truth
from election_replay.election_core.simulate.scenario import Scenario
from election_replay.election_core.simulate.truth import Truth
from election_replay.election_core.simulate.world import World
from election_replay.election_core.simulate.zab import scenarios as zab
from election_replay.election_core.simulate.zab import truth as zab_truth


@dataclass(frozen=True, slots=True)
class SimulatedSystem:
    """The scenarios of a protocol, and the truths of its worlds."""

    scenarios: tuple[Scenario, ...]
    truths: Callable[[World], list[Truth]]


PROTOCOLS: dict[str, SimulatedSystem] = {
    "dledger": SimulatedSystem(dledger.SCENARIOS, dledger_truth.truths),
    "controller": SimulatedSystem(controller.SCENARIOS, controller_truth.truths),
    "broker_identity": SimulatedSystem(broker_identity.SCENARIOS, controller_truth.truths),
    "acting_master": SimulatedSystem(acting_master.SCENARIOS, acting_master_truth.truths),
    "raft": SimulatedSystem(raft.SCENARIOS, raft_truth.truths),
    "order_lock": SimulatedSystem(order_lock.SCENARIOS, order_lock_truth.truths),
    "metadata": SimulatedSystem(metadata.SCENARIOS, metadata_truth.truths),
    "zab": SimulatedSystem(zab.SCENARIOS, zab_truth.truths),
}

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario for protocol in PROTOCOLS.values() for scenario in protocol.scenarios
}


WILD: dict[str, Scenario] = {
    scenario.name: scenario
    for system in ("dledger", "raft", "zab", "controller", "acting")
    for scenario in wild(SCENARIOS[f"{system}-any-faults"])
}
"""Scenarios with many faults at once, kept apart: their outcome is not known in advance."""

ELECTORATES: dict[str, Scenario] = {
    scenario.name: scenario
    for of_size in (dledger.of_size, raft.of_size, zab.of_size)
    for voters in (2, 4, 5, 7)
    for scenario in wild(of_size(voters))[:1]
} | {raft.moving().name: raft.moving()}
"""The same faults in groups of other sizes than three, and while members come and go."""


def truths(scenario: Scenario, world: World) -> list[Truth]:
    """Return everything that a reviewer should be told about a world."""
    return PROTOCOLS[scenario.protocol].truths(world)
