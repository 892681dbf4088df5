"""Scenarios of brokers under a controller: faults that they must survive, and bugs and errors that break them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from election_replay.election_core.protocols.controller.tables import SET_CHECKS, EpochEntries, SetCheck, common_point
from election_replay.election_core.simulate.controller.controller_machine import RECORD_FILE
from election_replay.election_core.simulate.controller.messages import (
    ElectMaster,
    Periods,
    Rules,
)
from election_replay.election_core.simulate.controller.play import (
    BROKERS,
    CONTROLLER,
    a_slave,
    broker_id,
    cut_off,
    in_sync,
    scenario,
    slaves,
    up,
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
from election_replay.election_core.simulate.world import SECOND, World


def _story(name: str, meaning: str, script: Callable[[Stage], Script], **more: Any) -> Scenario:
    return scenario("controller", f"controller-{name}", meaning, script, **more)


# -- safe: faults that the protocol must survive --------------------------------------------------------------------


def _off_the_controller(stage: Stage, name: str) -> None:
    """Cut controller and broker off from each other; the slaves hear a master until they get another one."""
    cut_off(stage, name, CONTROLLER)


def _off_a_slave(stage: Stage, master: str) -> None:
    """Cut master and slave off from each other; the controller hears both: the set shrinks, and grows again."""
    cut_off(stage, master, a_slave(stage))


def _off_all_slaves(stage: Stage, master: str) -> None:
    cut_off(stage, master, *slaves(stage))


def _elected(by: str) -> Act:
    """Return the act of an operator that names a broker as master."""
    return lambda stage, name: stage.ask(CONTROLLER, ElectMaster(broker_id(stage, name)), f"make {name} {by}")


_healthy = once_led(up, then=(20, 30))
_kill_master = once_led(up, killed(12, 20), then=(25, 35))
_isolated_master = once_led(up, Stage.isolate, healed(25, 40), then=(30, 40))
_long_isolated_master = once_led(up, Stage.isolate, healed(55, 90), then=(30, 40))
_cut_off_slave = once_led(up, _off_a_slave, healed(30, 40), then=(20, 30))


def _kill_slaves(stage: Stage) -> Script:
    yield from up(stage)
    gone = slaves(stage)
    for name in gone:
        stage.kill(name)
        yield from stage.seconds(0, 3)
    yield from stage.seconds(10, 20)
    for name in gone:
        stage.start(name)
        yield from stage.seconds(0, 8)
    yield from stage.seconds(20, 30)


def _frozen_slaves(stage: Stage) -> Script:
    """Both slaves are frozen for a while: nothing is acknowledged, and the set may shrink."""
    yield from up(stage)
    frozen = slaves(stage)
    for name in frozen:
        stage.freeze(name)
    yield from stage.seconds(7, 25)
    for name in frozen:
        stage.thaw(name)
    yield from stage.seconds(20, 30)


def _rolling_restart(stage: Stage) -> Script:
    yield from up(stage)
    for name in BROKERS:
        yield from stage.stopped_for(name, 4, 8)
        yield from in_sync(stage)
        yield from stage.seconds(4, 8)
    yield from stage.seconds(10, 20)


def _all_down(stage: Stage) -> Script:
    """All brokers are killed, and come back in any order: only one that was in sync to the end may lead."""
    yield from up(stage)
    order = stage.rng.sample(BROKERS, k=len(BROKERS))
    for name in order:
        stage.kill(name)
        yield from stage.seconds(0, 12)
    yield from stage.seconds(5, 10)
    for name in stage.rng.sample(BROKERS, k=len(BROKERS)):
        stage.start(name)
        yield from stage.seconds(0, 15)
    yield from stage.seconds(25, 35)


def _flapping_master(stage: Stage) -> Script:
    yield from up(stage)
    for _ in range(4):
        master = stage.leader()
        if master is None:
            break
        yield from stage.killed_for(master, 15, 22)
        yield from stage.seconds(15, 22)
    yield from stage.seconds(15, 25)


def _any_faults(stage: Stage) -> Script:
    """Faults drawn at random, one after the other, of the controller too."""
    yield from up(stage)
    for _ in range(stage.rng.randint(2, 4)):
        yield from stage.seconds(8, 25)
        name = stage.rng.choice((*BROKERS, *BROKERS, CONTROLLER))
        fault = stage.rng.choice(("kill", "stop", "freeze", "isolate", "cut off"))
        if fault in ("kill", "stop") and name in stage.up():
            (stage.kill if fault == "kill" else stage.stop)(name)
            yield from stage.seconds(2, 30)
            if name in stage.down():
                stage.start(name)
        elif fault == "freeze" and name in stage.up():
            yield from stage.frozen_for(name, 3, 35)
        elif fault in ("isolate", "cut off"):
            others = [other for other in stage.names if other != name]
            cut_off(stage, name, *(others if fault == "isolate" else [stage.rng.choice(others)]))
            yield from stage.healed_after(3, 35)
    yield from stage.seconds(30, 40)


def _bad_network(world: World) -> None:
    world.network.lost = 0.1
    world.network.doubled = 0.1


def _losing_lines(script: Callable[[Stage], Script]) -> Callable[[Stage], Script]:
    """The loggers drop lines once there is traffic, so the brokers' settings are not lost."""

    def played(stage: Stage) -> Script:
        for wait_ms in script(stage):
            stage.world.drops = 0.02 if stage.world.tenures else 0.0
            yield wait_ms

    return played


def _anything(world: World) -> None:
    _bad_network(world)
    lost_lines(world)
    drifting_clocks(world)


_PATIENT = Rules(periods=Periods(poll=30_000, check_set=10_000, not_caught_up=40_000, silent=30_000, scan=15_000))
_HASTY = Rules(periods=Periods(poll=1_000, check_set=1_000, not_caught_up=4_000, silent=2_500, scan=1_000))

SAFE: tuple[Scenario, ...] = (
    _story("healthy", "three brokers under a controller, nothing broken", _healthy),
    _story("kill-master", "kill -9 of the master, back a quarter of a minute later", _kill_master),
    _story("frozen-master", "the master gets no time for half a minute, then goes on",
        once_led(up, frozen(20, 35), then=(30, 40)),
    ),
    _story("deaf-master", "the master and the controller do not hear each other",
        once_led(up, _off_the_controller, healed(25, 35), then=(25, 35)),
    ),
    _story("isolated-master", "the master is cut off from all but its clients", _isolated_master),
    _story("cut-off-slave", "master and slave do not hear each other: the SyncStateSet shrinks", _cut_off_slave),
    _story("long-cut-off-slave", "a slave does not hear its master for minutes",
        once_led(up, _off_a_slave, healed(120, 150), then=(20, 30)),
    ),
    _story("kill-slaves", "both slaves are killed and come back", _kill_slaves),
    _story("frozen-slaves", "both slaves get no time: the master acknowledges nothing", _frozen_slaves),
    _story("elect-by-hand", "an operator names another master",
        once_led(up, to(a_slave, _elected("the master")), then=(30, 40)),
    ),
    _story("rolling-restart", "an operator stops and starts one after the other", _rolling_restart),
    _story("all-down", "all brokers are killed, and come back in any order", _all_down),
    _story("restart-controller", "the controller is killed and comes back, then the master",
        once_led(up, to(CONTROLLER, killed(8, 20)), (15, 25), to(Stage.leader, killed(10, 15)), then=(20, 30)),
    ),
    _story("frozen-controller", "the controller gets no time, and then takes all for dead",
        once_led(up, to(CONTROLLER, frozen(14, 30)), then=(30, 40)),
    ),
    _story("flapping-master", "four times the master is killed", _flapping_master),
    _story(
        "bad-network", "packets are lost or arrive twice, and the master is killed", _kill_master,
        prepare=_bad_network,
    ),
    _story("lost-lines", "the loggers drop lines in bursts, and the master is killed", _losing_lines(_kill_master)),
    _story(
        "drifting-clocks", "clocks differ within their bounds, and the master is cut off", _isolated_master,
        prepare=drifting_clocks,
    ),
    _story("any-faults", "faults drawn at random", _any_faults),
    _story(
        "patient-killed", "a poll takes 30 s, a broker may be silent for 30 s, and the master is killed", _kill_master,
        rules=_PATIENT,
    ),
    _story(
        "patient-isolated", "the same, and the master is cut off from all but its clients",
        _long_isolated_master,
        rules=_PATIENT,
    ),
    _story("patient-any-faults", "the same, and faults drawn at random", _any_faults, rules=_PATIENT),
    _story(
        "hasty-isolated", "everything takes a second or two, and the master is cut off", _isolated_master, rules=_HASTY
    ),
    _story(
        "hasty-any-faults", "everything takes a second or two, and faults are drawn at random", _any_faults,
        rules=_HASTY,
    ),
    _story("any-faults-lost-lines", "faults drawn at random, and lines are lost", _losing_lines(_any_faults)),
)  # fmt: skip

# -- broken: a bug, or an operator's error ---------------------------------------------------------------------------


def _old_record(stage: Stage) -> Script:
    """Restore the controller's record from before an election: it gives epochs for a second time."""
    yield from up(stage)
    copy = stage.copy_of_disk(CONTROLLER)
    master = stage.leader()
    if master is None:
        return
    yield from stage.killed_for(master, 6, 10)
    yield from in_sync(stage)
    yield from stage.seconds(8, 12)
    stage.kill(CONTROLLER)
    stage.put_back(CONTROLLER, copy)
    yield from stage.seconds(1, 2)
    stage.start(CONTROLLER)
    yield from stage.seconds(15, 25)
    second = stage.leader()
    if second is not None:
        yield from stage.killed_for(second, 10, 20)
    yield from stage.seconds(30, 40)


def _same_epoch(stage: Stage) -> Script:
    """After an old record is restored, a broker that knows no epoch is elected for one that already has a master."""
    yield from up(stage)
    copy = stage.copy_of_disk(CONTROLLER)
    first = stage.leader()
    if first is None:
        return
    yield from stage.killed_for(first, 6, 10)
    yield from in_sync(stage)
    yield from stage.seconds(4, 8)
    second = stage.leader()
    if second is None or second == first:
        return
    third = next(name for name in BROKERS if name not in (first, second))
    for name in (CONTROLLER, third):
        stage.kill(name)
    stage.put_back(CONTROLLER, copy)
    cut_off(stage, second, CONTROLLER)
    stage.start(CONTROLLER)
    stage.start(third)
    yield from stage.seconds(12, 18)
    stage.kill(first)
    yield from stage.healed_after(20, 30)
    yield from stage.seconds(20, 30)


def _lost_record(stage: Stage) -> Script:
    """The controller loses its record: all brokers must register again, with identities that it does not know."""
    yield from up(stage)
    for _ in range(2):
        master = stage.leader()
        if master is None:
            return
        yield from stage.killed_for(master, 10, 15)
        yield from in_sync(stage)
    stage.kill(CONTROLLER)
    stage.lose(CONTROLLER, RECORD_FILE)
    yield from stage.seconds(1, 2)
    stage.start(CONTROLLER)
    yield from stage.seconds(40, 50)


def _wrong_clock(world: World) -> None:
    name = world.rng.choice(BROKERS)
    world.processes[name].clock.offset_us = world.rng.choice((-1, 1)) * world.rng.randrange(5, 60) * SECOND


def _clock_steps(stage: Stage) -> Script:
    yield from up(stage)
    name = stage.rng.choice(stage.names)
    stage.step_clock(name, stage.rng.choice((-1, 1)) * stage.rng.randrange(5_000, 60_000))
    yield from stage.seconds(15, 25)
    master = stage.leader()
    if master is not None and master != name:
        yield from stage.killed_for(master, 10, 15)
    yield from stage.seconds(20, 30)


def _without(*kinds: str) -> tuple[SetCheck, ...]:
    return tuple(check for check in SET_CHECKS if check.kind not in kinds)


def _always(kind: str) -> tuple[SetCheck, ...]:
    """Return the checks of a set with one that refuses any set at every third epoch."""
    wrong = next(check for check in SET_CHECKS if check.kind == kind)
    return (SET_CHECKS[0], replace(wrong, fails=lambda wanted, *_: wanted.set_epoch % 3 == 2), *SET_CHECKS[1:])


def _cuts_too_deep(theirs: EpochEntries, mine: EpochEntries) -> int | None:
    at = common_point(theirs, mine)
    return None if at is None else max(at - 508, 0)


BROKEN: tuple[Scenario, ...] = (
    _story(
        "unsafe-acknowledgements", "allAckInSyncStateSet is off, and the master is killed", _kill_master, broken=True,
        rules=Rules(all_ack=False),
    ),
    _story(
        "split-brain", "allAckInSyncStateSet is off, and the master is cut off with its clients", _isolated_master,
        broken=True, rules=Rules(all_ack=False),
    ),
    _story(
        "patient-split-brain", "allAckInSyncStateSet is off, a poll takes 30 s, and the master is cut off",
        _long_isolated_master, broken=True, rules=replace(_PATIENT, all_ack=False),
    ),
    _story(
        "hasty-split-brain", "allAckInSyncStateSet is off, a poll takes a second, and the master is cut off",
        _isolated_master, broken=True, rules=replace(_HASTY, all_ack=False),
    ),
    _story(
        "unclean", "unclean elections are allowed, and the only member of the set dies",
        once_led(up, _off_all_slaves, (30, 40), Stage.kill, healed(12, 20), Stage.start, then=(25, 35)), broken=True,
        rules=Rules(unclean=True),
    ),
    _story("old-record", "an old copy of the controller's record is put back", _old_record, broken=True),
    _story("same-epoch", "an old record is put back, and one of its epochs is given again", _same_epoch, broken=True),
    _story("lost-record", "the controller's record is lost", _lost_record, broken=True),
    _story(
        "lost-fencing", "a bug: brokers take any role that they are told", _old_record, broken=True,
        rules=Rules(takes=lambda epoch, current: epoch != current),
    ),
    _story(
        "master-elected-again", "a bug: the recorded master is elected again",
        once_led(up, _elected("the master, which it is"), then=(20, 30)), broken=True,
        rules=Rules(keeps_master=False),
    ),
    _story(
        "set-without-master", "a bug: a master leaves itself out of its set, and the controller takes it", _kill_slaves,
        broken=True,
        rules=Rules(
            set_checks=_without("CTL_SSS_NO_MASTER_IN_SET", "CTL_SSS_SAME"), wants=lambda members, master: (
                tuple(member for member in members if member != master) if len(members) > 2 else members
            ),
        ),
    ),
    _story(
        "same-set", "a bug: a set is changed into itself", _cut_off_slave, broken=True,
        rules=Rules(set_checks=_without("CTL_SSS_SAME"), repeats_set=True),
    ),
    _story(
        "refused-as-stranger", "a bug: the master is refused as if it were not", _healthy, broken=True,
        rules=Rules(set_checks=_always("CTL_SSS_NOT_MASTER")),
    ),
    _story(
        "caught-up-too-early", "a bug: every slave that connects is called caught up", _kill_slaves, broken=True,
        rules=Rules(caught_up=lambda *_: True),
    ),
    _story(
        "cut-too-deep", "a bug: a slave cuts off more than its master lacks", _kill_master, broken=True,
        rules=Rules(cut_at=_cuts_too_deep),
    ),
    _story(
        "two-acknowledgements", "a bug: two acknowledgements are enough, whatever is configured", _frozen_slaves,
        broken=True, rules=Rules(acks=lambda _: 2),
    ),
    _story(
        "wrong-clock", "one clock is off by far more than its bound, and the master is killed", _kill_master,
        broken=True, prepare=_wrong_clock,
    ),
    _story("clock-steps", "a clock is set while all are running", _clock_steps, broken=True),
    _story(
        "anything", "unsafe settings, a bad network, lost lines, faults at random", _any_faults, broken=True,
        rules=Rules(all_ack=False, unclean=True), prepare=_anything,
    ),
    _story(
        "settings-lost", "the loggers drop lines from the start, so that settings may be unknown; faults at random",
        _any_faults, broken=True, prepare=lost_lines,
    ),
)  # fmt: skip

SCENARIOS = (*SAFE, *BROKEN)
