"""Scenarios of broker sets with acting masters: faults that they must survive, and those that RIP-32 cannot."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.acting_master.tables import serves
from election_replay.election_core.simulate.acting_master.machine import MakeTopic, Rules
from election_replay.election_core.simulate.acting_master.play import (
    BROKERS,
    SERVERS,
    brokers_of,
    scenario,
    set_up,
    slaves_of,
)
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import (
    Act,
    drifting_clocks,
    frozen,
    healed,
    killed,
    lost_lines,
    once_led,
    to,
)
from election_replay.election_core.simulate.world import World

_PATIENT, _HASTY = Rules(silent_ms=40_000, scan_ms=10_000), Rules(silent_ms=3_000, scan_ms=1_000)


def _story(name: str, meaning: str, script: Callable[[Stage], Script], **more: Any) -> Scenario:
    return scenario("acting_master", f"acting-{name}", meaning, script, **more)


# -- safe: faults that a set must survive ----------------------------------------------------------------------------


def _a_server(stage: Stage) -> str:
    return stage.rng.choice(SERVERS)


def _a_slave(stage: Stage) -> str:
    return stage.rng.choice(slaves_of(stage))


def _off(other: str) -> Act:
    """Return the act that cuts all links between two processes."""
    return lambda stage, name: stage.cut([name], [other])


def _late_topic(stage: Stage, name: str) -> None:
    stage.ask(name, MakeTopic("LateTopic"), "make the topic LateTopic")


_kill_master = once_led(set_up, killed(20, 50), then=(40, 55))
# Longer than the time between registrations: so one is overdue when it goes on, and the slave hears of it at once.
_frozen_master = once_led(set_up, frozen(31, 45), then=(35, 45))
_topic_meanwhile = once_led(
    set_up, Stage.kill, (14, 20), to(BROKERS[1], _late_topic), (14, 20), Stage.start, then=(35, 45)
)


def _chain(stage: Stage) -> Script:
    """The master dies, then the slave that acts for it; both come back, in the same order."""
    yield from set_up(stage)
    for name in BROKERS[:2]:
        stage.kill(name)
        yield from stage.seconds(15, 25)
    for name in reversed(BROKERS[:2]):
        stage.start(name)
        yield from stage.seconds(25, 35)


def _rolling_restart(stage: Stage) -> Script:
    yield from set_up(stage)
    for name in (*SERVERS, *brokers_of(stage)):
        yield from stage.stopped_for(name, 4, 8)
        yield from stage.seconds(20, 35)


def _power_cut(stage: Stage) -> Script:
    """All are killed and come back."""
    yield from set_up(stage)
    for name in stage.names:
        stage.kill(name)
    yield from stage.seconds(5, 30)
    for name in stage.names:
        stage.start(name)
        yield from stage.seconds(0, 1)
    yield from stage.seconds(35, 45)


def _no_name_server(stage: Stage) -> Script:
    """All are killed; the brokers are back long before a name server is, so none may serve."""
    yield from set_up(stage)
    for name in stage.names:
        stage.kill(name)
    yield from stage.seconds(2, 5)
    for name in brokers_of(stage):
        stage.start(name)
    yield from stage.seconds(35, 60)
    for name in SERVERS:
        stage.start(name)
    yield from stage.seconds(35, 45)


def _any_faults(stage: Stage) -> Script:
    """Processes end and freeze, one after the other; nothing is cut."""
    yield from set_up(stage)
    for _ in range(stage.rng.randint(2, 4)):
        name = stage.rng.choice(stage.up())
        fault = stage.rng.choice(("kill", "stop", "freeze") if name in brokers_of(stage) else ("kill", "stop"))
        if fault == "freeze":
            yield from stage.frozen_for(name, 31, 40)
        else:
            (stage.kill if fault == "kill" else stage.stop)(name)
            yield from stage.seconds(2, 30)
            stage.start(name)
        yield from stage.seconds(20, 35)


def _bad_network(world: World) -> None:
    world.network.lost = 0.02


SAFE: tuple[Scenario, ...] = (
    _story("healthy", "a master, two slaves and two name servers, nothing broken", once_led(set_up, then=(30, 60))),
    _story("kill-master", "kill -9 of the master; a slave acts until it is back", _kill_master),
    _story("one-slave", "the same in a set with one slave", _kill_master, brokers=BROKERS[:2]),
    _story(
        "master-gone", "kill -9 of the master, which does not come back", once_led(set_up, Stage.kill, then=(30, 60))
    ),
    _story("frozen-master", "the master gets no time for half a minute, then goes on", _frozen_master),
    _story("chain", "the master dies, then the slave that acts for it", _chain),
    _story("new-topic", "a topic is made while a slave acts: it is shown as read only", _topic_meanwhile),
    _story("rolling-restart", "an operator stops and starts one after the other", _rolling_restart),
    _story(
        "name-server-restarts",
        "a name server is killed and comes back with an empty table",
        once_led(set_up, to(_a_server, killed(5, 20)), then=(35, 50)),
    ),
    _story(
        "name-server-cut-off",
        "a name server is cut off from all brokers",
        once_led(set_up, to(_a_server, Stage.isolate), healed(20, 40), then=(35, 45)),
    ),
    _story(
        "slave-cut-off",
        "a slave is cut off from all others",
        once_led(set_up, to(_a_slave, Stage.isolate), healed(15, 40), then=(35, 45)),
    ),
    _story("power-cut", "all are killed and come back", _power_cut),
    _story("no-name-server", "after a power cut no name server is there for a minute", _no_name_server),
    _story(
        "lost-lines",
        "the loggers drop INFO lines in bursts, and the master is killed",
        _kill_master,
        prepare=lost_lines,
    ),
    _story(
        "drifting-clocks",
        "clocks differ within their bounds; the master is killed",
        _kill_master,
        prepare=drifting_clocks,
    ),
    _story("bad-network", "packets are lost, and the master is killed", _kill_master, prepare=_bad_network),
    _story("any-faults", "processes end and freeze at random", _any_faults),
    _story(
        "patient-frozen-master",
        "a broker may be silent for 40 s, and the master gets no time for longer",
        once_led(set_up, frozen(70, 100), then=(35, 45)),
        server_rules=_PATIENT,
    ),
    _story("patient-any-faults", "the same, and faults drawn at random", _any_faults, server_rules=_PATIENT),
    _story(
        "hasty-frozen-master",
        "a broker may be silent for 3 s, and the master gets no time for longer",
        _frozen_master,
        server_rules=_HASTY,
    ),
    _story("hasty-any-faults", "the same, and faults drawn at random", _any_faults, server_rules=_HASTY),
    _story("any-faults-lost-lines", "the same, and lines are lost", _any_faults, prepare=lost_lines),
)

# -- broken: what RIP-32 does not survive, a bug, or an operator's error ---------------------------------------------


def _clock_steps(stage: Stage) -> Script:
    """A broker's clock is set, forward or back; nothing else happens."""
    yield from set_up(stage)
    stage.step_clock(
        stage.rng.choice(brokers_of(stage)), stage.rng.choice((-1, 1)) * stage.rng.randrange(5_000, 90_000)
    )
    yield from stage.seconds(40, 60)


def _any_cuts(stage: Stage) -> Script:
    """Links are cut at random, and processes die."""
    yield from set_up(stage)
    for _ in range(stage.rng.randint(2, 3)):
        here, there = stage.rng.sample(stage.names, 2)
        fault = stage.rng.choice(("isolate", "link", "one way", "kill"))
        if fault == "isolate":
            stage.isolate(here)
        elif fault == "link":
            stage.cut([here], [there])
        elif fault == "one way":
            stage.cut_one_way(here, there)
        else:
            stage.kill(here)
        yield from stage.healed_after(8, 40)
        for name in stage.down():
            stage.start(name)
        yield from stage.seconds(20, 35)


def _two_act(broker_id: str, minimum: str | None) -> bool:
    """A bug: the larger slave acts as well while the smaller one does."""
    return serves(broker_id, minimum) or (broker_id == "2" and minimum == "1")


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken(
        "master-cut-off",
        "the master is cut off from all others, and serves on",
        once_led(set_up, Stage.isolate, healed(35, 60), then=(40, 50)),
    ),
    _broken(
        "acting-cut-off",
        "the acting slave is cut off, and the next one acts too",
        once_led(set_up, Stage.kill, (12, 20), to(BROKERS[1], Stage.isolate), healed(30, 50), then=(40, 50)),
    ),
    _broken(
        "short-freeze",
        "the master is frozen, and goes on before it registers again",
        once_led(set_up, frozen(17, 26), then=(40, 50)),
    ),
    _broken(
        "seen-by-half",
        "one of two name servers does not hear that the master is back",
        once_led(set_up, Stage.kill, (15, 25), _off(SERVERS[1]), Stage.start, healed(30, 45), then=(40, 50)),
    ),
    _broken(
        "lost-by-half",
        "one of two name servers loses the living master",
        once_led(set_up, _off(SERVERS[1]), healed(35, 50), then=(40, 50)),
    ),
    _broken(
        "two-act",
        "a bug: a slave acts although it knows that a smaller one does",
        _kill_master,
        rules=Rules(serves=_two_act),
    ),
    _broken(
        "writable",
        "a bug: name servers leave the topics of a set without master writable",
        _topic_meanwhile,
        server_rules=Rules(takes_write_away=False),
    ),
    _broken(
        "stuck",
        "the master is back but does not reach the slave that acts",
        once_led(set_up, Stage.kill, (10, 20), _off(BROKERS[1]), Stage.start, healed(45, 70), then=(35, 45)),
    ),
    _broken("clock-steps", "a broker's clock is set while all are running", _clock_steps),
    _broken("any-cuts", "links are cut at random", _any_cuts),
    _broken("any-cuts-lost-lines", "the same, and lines are lost", _any_cuts, prepare=lost_lines),
)

SCENARIOS = (*SAFE, *BROKEN)
