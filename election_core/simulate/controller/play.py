"""The controller mode in a world: its members, and the steps that its scenarios share."""

from collections.abc import Callable, Generator
from typing import Any

from election_replay.election_core.simulate.broker_identity.machine import IDENTITY_FILE
from election_replay.election_core.simulate.controller import broker_machine as replica
from election_replay.election_core.simulate.controller import machine
from election_replay.election_core.simulate.controller.machine import Member, State
from election_replay.election_core.simulate.controller.messages import (
    MASTER,
    Broker,
    Controller,
    Rules,
)
from election_replay.election_core.simulate.controller.voice import ControllerModeVoice
from election_replay.election_core.simulate.machine import Write
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.world import Play

GROUP, CLUSTER = "bs-orders", "lab-main"
CONTROLLER = "ctl-1"
BROKERS = ("broker-1", "broker-2", "broker-3")
_CONTROLLER_ADDRESS = "10.84.1.11:9878"


def _address(number: int) -> str:
    return f"10.84.1.{21 + number}:10911"


def other_address(number: int) -> str:
    """Return a broker's address after its move."""
    return f"10.84.1.{121 + number}:10911"


def members(rules: Rules) -> dict[str, Member]:
    """Return a controller and the brokers of one set, by name."""
    homes = tuple((_address(number), name) for number, name in enumerate(BROKERS))
    hosts = (*homes, *((other_address(number), name) for number, name in enumerate(BROKERS)))
    cast: dict[str, Member] = {CONTROLLER: Controller(CONTROLLER, GROUP, CLUSTER, _CONTROLLER_ADDRESS, rules)}
    for address, name in homes:
        cast[name] = Broker(name, GROUP, CLUSTER, address, CONTROLLER, _CONTROLLER_ADDRESS, hosts, rules)
    return cast


def scenario(
    protocol: str,
    name: str,
    meaning: str,
    script: Callable[[Stage], Script],
    *,
    rules: Rules = Rules(),  # noqa: B008 - frozen
    **more: Any,
) -> Scenario:
    """Return a scenario of these processes; ``protocol`` is the one that it is about."""
    cast = members(rules)
    # Replication and heartbeats keep their connections open, so the end of a process is noticed.
    play = Play(machine, lambda rng: ControllerModeVoice(cast, rng), _leads, _acknowledged, Write, connected=True)
    return Scenario(name, protocol, meaning, script, play, cast, **more)


def _leads(state: State) -> int | None:
    """Return the master epoch of a broker that is master; None for others."""
    return state.epoch if isinstance(state, replica.State) and state.role == MASTER else None


def _acknowledged(state: State) -> int:
    """Return the confirm offset of a master."""
    return state.confirmed if isinstance(state, replica.State) else 0


def in_sync(stage: Stage, brokers: int = 3, within: float = 40) -> Script:
    """Wait until the recorded SyncStateSet has this many members."""
    for _ in range(int(within * 10)):
        state = stage.world.processes[CONTROLLER].state
        if state is not None and len(state.recorded.members) >= brokers:
            break
        yield 100


def slaves(stage: Stage) -> list[str]:
    """Return the brokers that are up and not master."""
    return [name for name in stage.followers() if name != CONTROLLER]


def a_slave(stage: Stage) -> str:
    """Return any broker that is up and not master."""
    return stage.rng.choice(slaves(stage))


def up(stage: Stage) -> Generator[int, None, str | None]:
    """Start everything, and wait until all are in sync; return the master, or None without one."""
    yield from stage.start_all()
    yield from stage.until_led()
    yield from in_sync(stage)
    yield from stage.seconds(4, 12)
    return stage.leader()


def cut_off(stage: Stage, name: str, *others: str) -> None:
    """Cut the network between a process and these others."""
    stage.world.note("cut off", name, f"from {' and '.join(others)}")
    stage.world.network.cut_between([name], others)


def broker_id(stage: Stage, name: str) -> int:
    """Return the id of a registered broker."""
    identity = stage.world.processes[name].files[IDENTITY_FILE]
    return int(identity.broker_id)
