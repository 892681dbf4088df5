"""The controller mode as a machine that runs: a controller and the brokers of one set.

Source: apache/rocketmq 5.3.3; the rules stand in :mod:`election_core.protocols.controller.tables`, the controller in
:mod:`.controller_machine`, the broker in :mod:`.broker_machine`, its registration in
:mod:`election_core.simulate.broker_identity.machine`.
"""

from collections.abc import Mapping
from typing import Any

from election_replay.election_core.simulate.controller import broker_machine as replica
from election_replay.election_core.simulate.controller import controller_machine as deciding
from election_replay.election_core.simulate.controller.messages import Broker, Controller
from election_replay.election_core.simulate.machine import Act, Input

Member = Broker | Controller
State = replica.State | deciding.State


def start(member: Member, stored: Mapping[str, Any], now_ms: int) -> tuple[State, tuple[Act, ...]]:
    """Start a process."""
    if isinstance(member, Controller):
        return deciding.start(member, stored, now_ms)
    return replica.start(member, stored, now_ms)


def step(member: Member, state: State, now_ms: int, incoming: Input) -> tuple[State, tuple[Act, ...]]:
    """Handle one input of a process."""
    if isinstance(member, Controller) and isinstance(state, deciding.State):
        return deciding.step(member, state, now_ms, incoming)
    if isinstance(member, Broker) and isinstance(state, replica.State):
        return replica.step(member, state, now_ms, incoming)
    raise TypeError(f"{member.name} cannot be in the state {state}")
