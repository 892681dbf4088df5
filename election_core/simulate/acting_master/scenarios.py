"""Scenarios of broker sets with acting masters: faults that they must survive, and those that RIP-32 cannot."""

from collections.abc import Callable
from functools import partial
from typing import Any

from election_replay.election_core.protocols.acting_master.tables import serves
from election_replay.election_core.simulate.acting_master.machine import MakeTopic, Rules
from election_replay.election_core.simulate.acting_master.play import (
    BROKERS,
    MASTER,
    SERVERS,
    brokers_of,
    scenario,
    set_up,
    slaves_of,
)
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import drifting_clocks, lost_lines
from election_replay.election_core.simulate.world import World

_PATIENT, _HASTY = Rules(silent_ms=40_000, scan_ms=10_000), Rules(silent_ms=3_000, scan_ms=1_000)


def _story(name: str, meaning: str, script: Callable[[Stage], Script], **more: Any) -> Scenario:
    return scenario("acting_master", f"acting-{name}", meaning, script, **more)


# -- safe: faults that a set must survive ----------------------------------------------------------------------------


def _healthy(stage: Stage) -> Script:
    yield from set_up(stage)
    yield from stage.seconds(30, 60)


def _kill_master(stage: Stage) -> Script:
    yield from set_up(stage)
    yield from stage.killed_for(MASTER, 20, 50)
    yield from stage.seconds(40, 55)


def _master_gone(stage: Stage) -> Script:
    yield from set_up(stage)
    stage.kill(MASTER)
    yield from stage.seconds(30, 60)


def _frozen_master(stage: Stage, least: float = 31, most: float = 45) -> Script:
    yield from set_up(stage)
    stage.freeze(MASTER)
    # Longer than the time between registrations: so one is overdue when it goes on, and the slave hears of it at once.
    yield from stage.seconds(least, most)
    stage.thaw(MASTER)
    yield from stage.seconds(35, 45)


def _long_frozen_master(stage: Stage) -> Script:
    """The master is frozen for longer than patient name servers wait."""
    yield from _frozen_master(stage, 70, 100)


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


def _server_restarts(stage: Stage) -> Script:
    yield from set_up(stage)
    name = stage.rng.choice(SERVERS)
    yield from stage.killed_for(name, 5, 20)
    yield from stage.seconds(35, 50)


def _server_cut_off(stage: Stage) -> Script:
    yield from set_up(stage)
    stage.isolate(stage.rng.choice(SERVERS))
    yield from stage.healed_after(20, 40)
    yield from stage.seconds(35, 45)


def _slave_cut_off(stage: Stage) -> Script:
    yield from set_up(stage)
    stage.isolate(stage.rng.choice(slaves_of(stage)))
    yield from stage.healed_after(15, 40)
    yield from stage.seconds(35, 45)


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


def _topic_meanwhile(stage: Stage) -> Script:
    """A topic is made while a slave acts."""
    yield from set_up(stage)
    stage.kill(MASTER)
    yield from stage.seconds(14, 20)
    stage.ask(BROKERS[1], MakeTopic("LateTopic"), "make the topic LateTopic")
    yield from stage.seconds(14, 20)
    stage.start(MASTER)
    yield from stage.seconds(35, 45)


def _bad_network(world: World) -> None:
    world.network.lost = 0.02


SAFE: tuple[Scenario, ...] = (
    _story("healthy", "a master, two slaves and two name servers, nothing broken", _healthy),
    _story("kill-master", "kill -9 of the master; a slave acts until it is back", _kill_master),
    _story("one-slave", "the same in a set with one slave", _kill_master, brokers=BROKERS[:2]),
    _story("master-gone", "kill -9 of the master, which does not come back", _master_gone),
    _story("frozen-master", "the master gets no time for half a minute, then goes on", _frozen_master),
    _story("chain", "the master dies, then the slave that acts for it", _chain),
    _story("new-topic", "a topic is made while a slave acts: it is shown as read only", _topic_meanwhile),
    _story("rolling-restart", "an operator stops and starts one after the other", _rolling_restart),
    _story("name-server-restarts", "a name server is killed and comes back with an empty table", _server_restarts),
    _story("name-server-cut-off", "a name server is cut off from all brokers", _server_cut_off),
    _story("slave-cut-off", "a slave is cut off from all others", _slave_cut_off),
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
        _long_frozen_master,
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


def _master_cut_off(stage: Stage) -> Script:
    """The master reaches nobody and serves on, as it does not know that."""
    yield from set_up(stage)
    stage.isolate(MASTER)
    yield from stage.healed_after(35, 60)
    yield from stage.seconds(40, 50)


def _acting_cut_off(stage: Stage) -> Script:
    """The master is dead; the slave that acts for it is cut off, and the next one acts too."""
    yield from set_up(stage)
    stage.kill(MASTER)
    yield from stage.seconds(12, 20)
    stage.isolate(BROKERS[1])
    yield from stage.healed_after(30, 50)
    yield from stage.seconds(40, 50)


def _short_freeze(stage: Stage) -> Script:
    """The master goes on before its next registration is due: until then it and the slave both serve."""
    yield from set_up(stage)
    yield from stage.frozen_for(MASTER, 17, 26)
    yield from stage.seconds(40, 50)


def _seen_by_half(stage: Stage) -> Script:
    """The master comes back, but the name server that the acting slave asks does not hear of it."""
    yield from set_up(stage)
    stage.kill(MASTER)
    yield from stage.seconds(15, 25)
    stage.cut([MASTER], [SERVERS[1]])
    stage.start(MASTER)
    yield from stage.healed_after(30, 45)
    yield from stage.seconds(40, 50)


def _lost_by_half(stage: Stage) -> Script:
    """One name server loses a running master, and the slave that asks this one acts."""
    yield from set_up(stage)
    stage.cut([MASTER], [SERVERS[1]])
    yield from stage.healed_after(35, 50)
    yield from stage.seconds(40, 50)


def _stuck(stage: Stage) -> Script:
    """The master comes back and reaches the name servers, but not the slave that acts."""
    yield from set_up(stage)
    stage.kill(MASTER)
    yield from stage.seconds(10, 20)
    stage.cut([MASTER], [BROKERS[1]])
    stage.start(MASTER)
    yield from stage.healed_after(45, 70)
    yield from stage.seconds(35, 45)


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
    _broken("master-cut-off", "the master is cut off from all others, and serves on", _master_cut_off),
    _broken("acting-cut-off", "the acting slave is cut off, and the next one acts too", _acting_cut_off),
    _broken("short-freeze", "the master is frozen, and goes on before it registers again", _short_freeze),
    _broken("seen-by-half", "one of two name servers does not hear that the master is back", _seen_by_half),
    _broken("lost-by-half", "one of two name servers loses the living master", _lost_by_half),
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
    _broken("stuck", "the master is back but does not reach the slave that acts", _stuck),
    _broken("clock-steps", "a broker's clock is set while all are running", _clock_steps),
    _broken("any-cuts", "links are cut at random", _any_cuts),
    _broken("any-cuts-lost-lines", "the same, and lines are lost", _any_cuts, prepare=lost_lines),
)

SCENARIOS = (*SAFE, *BROKEN)
