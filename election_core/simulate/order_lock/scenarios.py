"""Scenarios of order locks: consumers come and go, masters change, networks are cut."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.acting_master.machine import Rules
from election_replay.election_core.simulate.acting_master.play import (
    BROKERS,
    MASTER,
    brokers_of,
    scenario,
    set_up,
)
from election_replay.election_core.simulate.acting_master.voice import LOCKS
from election_replay.election_core.simulate.order_lock.machine import Assign, Key, LockRules
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import drifting_clocks
from election_replay.election_core.simulate.world import World

CLIENTS = ("client-1", "client-2")
QUEUES: tuple[Key, ...] = tuple(("order-group", "OrderEvents", number) for number in range(4))


def _story(
    name: str, meaning: str, script: Callable[[Stage], Script], *, strict: bool = False, **more: Any
) -> Scenario:
    rules = Rules(locks=LockRules(strict))
    return scenario("order_lock", f"lock-{name}", meaning, script, rules=rules, clients=CLIENTS, **more)


# -- words of the stories --------------------------------------------------------------------------------------------


def _assign(stage: Stage, client: str, keys: tuple[Key, ...]) -> None:
    """Rebalancing gives a client these queues."""
    if client in stage.up():
        numbers = ", ".join(str(number) for _, _, number in keys) or "none"
        stage.ask(client, Assign(keys), f"its queues are {numbers}")


def _shared(stage: Stage) -> Script:
    """Each client gets two queues."""
    yield from set_up(stage)
    for client, keys in zip(CLIENTS, (QUEUES[:2], QUEUES[2:]), strict=True):
        _assign(stage, client, keys)
        yield from stage.seconds(0, 2)


# -- safe --------------------------------------------------------------------------------------------------------------


def _renewals(stage: Stage) -> Script:
    yield from _shared(stage)
    yield from stage.seconds(90, 140)


def _hand_over(stage: Stage) -> Script:
    """Queues go from one client to the other and back; the releasing client is a little faster, or a little slower."""
    yield from _shared(stage)
    for giver, taker in (CLIENTS, CLIENTS[::-1], CLIENTS):
        yield from stage.seconds(15, 35)
        for client, keys in stage.rng.sample([(giver, ()), (taker, QUEUES)], 2):
            _assign(stage, client, keys)
            yield from stage.seconds(0.01, 1)
    yield from stage.seconds(25, 40)


def _client_dies(stage: Stage) -> Script:
    """A client dies with its locks; the other one is refused until they have expired."""
    yield from _shared(stage)
    yield from stage.seconds(20, 40)
    stage.kill(CLIENTS[0])
    yield from stage.seconds(1, 5)
    _assign(stage, CLIENTS[1], QUEUES)
    yield from stage.seconds(90, 100)


def _kill_master(stage: Stage) -> Script:
    """The master dies with its table; the clients lock at the acting slave, and again at the master."""
    yield from _shared(stage)
    yield from stage.seconds(25, 40)
    yield from stage.killed_for(MASTER, 55, 75)
    yield from stage.seconds(60, 80)


def _rolling_restart(stage: Stage) -> Script:
    yield from _shared(stage)
    for name in brokers_of(stage):
        yield from stage.seconds(15, 25)
        yield from stage.stopped_for(name, 5, 8)
    yield from stage.seconds(40, 50)


def _lost_lines(world: World) -> None:
    """INFO lines are lost, but not those about locks, which are few and have a file of their own."""
    scripts.lost_lines(world)
    world.seldom_written = frozenset({LOCKS})


SAFE: tuple[Scenario, ...] = (
    _story("renewals", "two consumers hold two queues each, and renew their locks", _renewals),
    _story("hand-over", "queues go from one consumer to the other and back", _hand_over),
    _story("client-dies", "a consumer dies; its locks expire after a minute", _client_dies),
    _story("kill-master", "the master dies with its table of locks", _kill_master),
    _story("rolling-restart", "an operator stops and starts one broker after the other", _rolling_restart),
    _story("strict-hand-over", "strict mode: queues change hands", _hand_over, strict=True),
    _story("strict-client-dies", "strict mode: a consumer dies", _client_dies, strict=True),
    _story("strict-kill-master", "strict mode: the master dies", _kill_master, strict=True),
    _story("lost-lines", "queues change hands, and INFO lines are lost", _hand_over, prepare=_lost_lines),
    _story(
        "strict-lost-lines",
        "strict mode: the master dies, and INFO lines are lost",
        _kill_master,
        strict=True,
        prepare=_lost_lines,
    ),
    _story(
        "drifting-clocks", "clocks differ within their bounds; the master dies", _kill_master, prepare=drifting_clocks
    ),
)

# -- broken ------------------------------------------------------------------------------------------------------------


def _cut(stage: Stage) -> Script:
    """The master and one consumer are cut off from all others: each side serves, and gives out locks."""
    yield from _shared(stage)
    yield from stage.seconds(20, 40)
    side = [MASTER, CLIENTS[0]]
    stage.cut(side, [name for name in stage.names if name not in side])
    yield from stage.seconds(20, 30)
    _assign(stage, CLIENTS[1], QUEUES)
    yield from stage.seconds(3, 12)
    _assign(stage, CLIENTS[0], QUEUES)
    yield from stage.healed_after(40, 70)
    _assign(stage, CLIENTS[0], QUEUES[:2])
    _assign(stage, CLIENTS[1], QUEUES[2:])
    yield from stage.seconds(50, 70)


def _table_lost(stage: Stage) -> Script:
    """The master dies with its table and a consumer loses its network: the other one gets its queues at the slave that
    acts, while the first may still believe in its locks."""
    yield from _shared(stage)
    yield from stage.seconds(20, 40)
    stage.kill(MASTER)
    stage.isolate(CLIENTS[0])
    yield from stage.seconds(12, 16)
    _assign(stage, CLIENTS[1], QUEUES)
    yield from stage.seconds(50, 70)


def _frozen_client(stage: Stage) -> Script:
    """A consumer is frozen for more than a minute: its locks go to another, and it releases them too late."""
    yield from _shared(stage)
    yield from stage.seconds(20, 40)
    stage.freeze(CLIENTS[0])
    _assign(stage, CLIENTS[1], QUEUES)
    yield from stage.seconds(85, 100)
    stage.thaw(CLIENTS[0])
    yield from stage.seconds(0.5, 3)
    _assign(stage, CLIENTS[0], ())
    yield from stage.seconds(20, 30)


def _any_faults(stage: Stage) -> Script:
    """Brokers die and are cut off while queues change hands at random."""
    yield from _shared(stage)
    for _ in range(stage.rng.randint(2, 3)):
        yield from stage.seconds(10, 30)
        name = stage.rng.choice(BROKERS)
        if stage.rng.random() < 0.5:
            stage.kill(name)
        else:
            stage.isolate(name)
        for client in CLIENTS:
            yield from stage.seconds(5, 20)
            _assign(stage, client, tuple(sorted(stage.rng.sample(QUEUES, stage.rng.randint(0, 4)))))
        stage.heal()
        if name in stage.down():
            stage.start(name)
    yield from stage.seconds(30, 50)


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken("cut", "the master and one consumer are cut off: two consumers lock one queue", _cut),
    _broken("strict-cut", "strict mode: the same cut, where only one side has a quorum", _cut, strict=True),
    _broken("table-lost", "the locks of a dead master go to another consumer at once", _table_lost),
    _broken("frozen-client", "a frozen consumer gives its locks back after another has them", _frozen_client),
    _broken("any-faults", "faults and rebalancing at random", _any_faults),
    _broken("strict-any-faults", "strict mode: the same", _any_faults, strict=True),
    _broken("any-faults-lost-lines", "the same, and lines are lost", _any_faults, prepare=_lost_lines),
)

SCENARIOS = (*SAFE, *BROKEN)
