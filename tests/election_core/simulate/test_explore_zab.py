"""Every interleaving of three ZooKeeper servers: one established leader an epoch, whatever their elections say."""

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from election_replay.election_core.simulate.machine import Act, Fired, Input, Send, Wait
from election_replay.election_core.simulate.zab import machine
from election_replay.election_core.simulate.zab.machine import (
    BROADCAST,
    FINALIZE,
    LEADING,
    LOOKING,
    NOTIFY,
    PING,
    FollowerInfo,
    LeaderInfo,
    Member,
    NewLeader,
    Notification,
    Rules,
    State,
)
from tests.election_core.simulate.explore import Model, search, told

NAMES = ("n0", "n1", "n2")
Step = tuple[State, tuple[Act, ...]]


class AnyWinner:
    """A server whose elections end at any moment, with any winner: what keeps epochs apart must not rest on votes."""

    def start(self, member: Member, stored: Mapping[str, Any], now_ms: int) -> Step:
        return self._without_votes(*machine.start(member, stored, now_ms))

    def step(self, member: Member, state: State, now_ms: int, told: Input) -> Step:
        if not isinstance(told, Fired) or told.timer not in NAMES:
            return self._without_votes(*machine.step(member, state, now_ms, told))
        if state.role != LOOKING:
            return state, ()
        return self._without_votes(*machine.decided(member, state, now_ms, told.timer))

    def _without_votes(self, state: State, acts: tuple[Act, ...]) -> Step:
        kept = tuple(act for act in acts if not (isinstance(act, Send) and isinstance(act.message, Notification)))
        if state.role == LOOKING:
            kept = (*kept, *(Wait(name, 0, 1) for name in NAMES))
        return replace(state, heard=(), established=(), finalizing=False), kept


def model(rules: Rules = Rules(), effort: int = 4) -> Model[Member, State]:  # noqa: B008 - frozen
    """Three servers and two epochs; ``effort`` bounds how often servers elect again and follow somebody, together."""
    return Model(
        machine=AnyWinner(),
        members={name: Member(name, NAMES, rules, connections=False) for name in NAMES},
        within=lambda state: state.accepted <= 2,
        remember=lambda name, state: (state.epoch, name) if (state.role, state.phase) == (LEADING, BROADCAST) else None,
        broken=two_leaders,
        spent=spent,
        effort=lambda state: state.round - 1 + state.session,
        most_effort=effort,
        ignored=frozenset({NOTIFY, FINALIZE, PING}),
        symmetric=False,
    )


def two_leaders(led: frozenset[Hashable]) -> str | None:
    epochs = [epoch for epoch, _ in led]  # type: ignore[misc]
    return next((f"two leaders in epoch {epoch}" for epoch in sorted(epochs) if epochs.count(epoch) > 1), None)


def spent(state: State, sender: str, message: Any) -> bool:
    """What belongs to a session that is over means nothing any more; who is established sends nothing that matters."""
    known = dict(state.learners).get(sender)
    if isinstance(message, FollowerInfo):
        return known is not None and known.session[0] >= message.session
    if isinstance(message, LeaderInfo | NewLeader):
        return message.session[0] < state.session or state.role == LOOKING
    if isinstance(message, machine.AckEpoch | machine.AckNewLeader):
        return state.role != LEADING or known is None or known.session != message.session
    return isinstance(message, machine.UpToDate | machine.Proposal | machine.Ack)


def test_one_established_leader_an_epoch() -> None:
    found = search(model(effort=3))
    assert found.broken is None, told(found)
    assert found.moments > 8_000, "the search must not have been cut short"


@pytest.mark.slow
def test_one_established_leader_an_epoch_with_more_elections() -> None:
    """It was here that a leader once took answers to an earlier election of its own for answers to this one."""
    found = search(model(effort=4))
    assert found.broken is None, told(found)
    assert found.moments > 50_000


def test_a_quorum_of_one_is_found() -> None:
    found = search(model(Rules(quorum=lambda _: 1)))
    print(told(found))
    assert found.broken == "two leaders in epoch 1"
    assert found.trace == ("n0: n0", "n1: n1")
