"""Scenarios of order locks: consumers come and go, masters change, networks are cut."""

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.acting_master.machine import Rules
from election_replay.election_core.simulate.acting_master.play import (
    BROKERS,
    brokers_of,
    scenario,
    set_up,
)
from election_replay.election_core.simulate.acting_master.voice import LOCKS
from election_replay.election_core.simulate.order_lock.machine import Assign, Key, LockRules
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import Act, drifting_clocks, healed, killed, once_led, to
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


def _gets(client: str, *keys: Key) -> Act:
    """Return the act that assigns these queues to a client."""
    return lambda stage, _: _assign(stage, client, keys)


def _shared(stage: Stage) -> Generator[int, None, str]:
    """Each client gets two queues; return the master."""
    master = yield from set_up(stage)
    for client, keys in zip(CLIENTS, (QUEUES[:2], QUEUES[2:]), strict=True):
        _assign(stage, client, keys)
        yield from stage.seconds(0, 2)
    return master


# -- safe --------------------------------------------------------------------------------------------------------------


def _hand_over(stage: Stage) -> Script:
    """Queues go from one client to the other and back; the releasing client is a little faster, or a little slower."""
    yield from _shared(stage)
    for giver, taker in (CLIENTS, CLIENTS[::-1], CLIENTS):
        yield from stage.seconds(15, 35)
        for client, keys in stage.rng.sample([(giver, ()), (taker, QUEUES)], 2):
            _assign(stage, client, keys)
            yield from stage.seconds(0.01, 1)
    yield from stage.seconds(25, 40)


_client_dies = once_led(
    _shared, (20, 40), to(CLIENTS[0], Stage.kill), (1, 5), _gets(CLIENTS[1], *QUEUES), then=(90, 100)
)
"""A client dies with its locks; the other one is refused until they have expired."""
_kill_master = once_led(_shared, (25, 40), killed(55, 75), then=(60, 80))
"""The master dies with its table; the clients lock at the acting slave, and again at the master."""


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
    _story("renewals", "two consumers hold two queues each, and renew their locks", once_led(_shared, then=(90, 140))),
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


def _cut_side(stage: Stage, master: str) -> None:
    """Cut the master and one consumer off from all others: each side serves, and gives out locks."""
    side = [master, CLIENTS[0]]
    stage.cut(side, [name for name in stage.names if name not in side])


_cut = once_led(
    _shared,
    *((20, 40), _cut_side, (20, 30), _gets(CLIENTS[1], *QUEUES), (3, 12), _gets(CLIENTS[0], *QUEUES), healed(40, 70)),
    *(_gets(CLIENTS[0], *QUEUES[:2]), _gets(CLIENTS[1], *QUEUES[2:])),
    then=(50, 70),
)


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
    _broken(
        "table-lost",
        "the locks of a dead master go to another consumer at once",
        once_led(
            _shared,
            *((20, 40), Stage.kill, to(CLIENTS[0], Stage.isolate), (12, 16), _gets(CLIENTS[1], *QUEUES)),
            then=(50, 70),
        ),
    ),
    _broken(
        "frozen-client",
        "a frozen consumer gives its locks back after another has them",
        once_led(
            _shared,
            *((20, 40), to(CLIENTS[0], Stage.freeze), _gets(CLIENTS[1], *QUEUES), (85, 100)),
            *(to(CLIENTS[0], Stage.thaw), (0.5, 3), _gets(CLIENTS[0])),
            then=(20, 30),
        ),
    ),
    _broken("any-faults", "faults and rebalancing at random", _any_faults),
    _broken("strict-any-faults", "strict mode: the same", _any_faults, strict=True),
    _broken("any-faults-lost-lines", "the same, and lines are lost", _any_faults, prepare=_lost_lines),
)

SCENARIOS = (*SAFE, *BROKEN)
