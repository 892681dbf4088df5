"""Scenarios of brokers that get an id, keep it, lose it, or take another's."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from election_replay.election_core.simulate.broker_identity.machine import (
    FILE_DONE,
    IDENTITY_FILE,
    INITIAL,
    TEMP_DONE,
    TEMP_FILE,
    WRITE,
    Identity,
    Temporary,
)
from election_replay.election_core.simulate.controller.broker_machine import REGISTER_DONE, SYNCED, State
from election_replay.election_core.simulate.controller.controller_machine import RECORD_FILE
from election_replay.election_core.simulate.controller.messages import CleanBrokers, Rules
from election_replay.election_core.simulate.controller.play import (
    BROKERS,
    CLUSTER,
    CONTROLLER,
    GROUP,
    a_slave,
    broker_id,
    cut_off,
    other_address,
    scenario,
    slaves,
    up,
)
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.scripts import Act, lost_lines, once_led, to
from election_replay.election_core.simulate.world import Process, World

Point = Callable[[World, Process], bool]
"""Returns True when a broker is at a certain point of its registration."""


def _story(name: str, meaning: str, script: Callable[[Stage], Script], **more: Any) -> Scenario:
    return scenario("broker_identity", f"identity-{name}", meaning, script, **more)


# -- points of a registration ----------------------------------------------------------------------------------------


def _at(wanted: Callable[[State], bool]) -> Point:
    return lambda _, process: isinstance(process.state, State) and wanted(process.state)


def _accepted(world: World, process: Process) -> bool:
    """Return True when the controller has given the id and the broker has not heard of it."""
    controller = world.processes[CONTROLLER].state
    temporary = process.state.registration.temporary if isinstance(process.state, State) else None
    return (
        temporary is not None
        and temporary.code in {owner.code for owner in controller.ids.owners}
        and WRITE not in process.timers
    )


POINTS: Mapping[str, tuple[str, Point]] = {
    "asking": (
        "before it is told an id",
        _at(lambda state: state.phase == SYNCED and state.registration.step == INITIAL),
    ),
    "temporary-file": (
        "with its temporary file written",
        _at(lambda state: state.registration.step == TEMP_DONE),
    ),
    "accepted": ("when the controller has accepted and the answer is on its way", _accepted),
    "answered": (
        "before it writes its identity file",
        lambda _, process: WRITE in process.timers,
    ),
    "both-files": (
        "with its identity file written and the temporary one not yet deleted",
        _at(lambda state: state.registration.step == FILE_DONE and state.registration.temporary is not None),
    ),
    "registered": (
        "when it is registered and does not serve yet",
        _at(lambda state: state.phase == REGISTER_DONE),
    ),
}


def _until(stage: Stage, name: str, point: Point, within: float = 15) -> Script:
    """Wait until a broker is at a point, to the half millisecond that a message needs at least."""
    process = stage.world.processes[name]
    for _ in range(int(within * 1000)):
        if point(stage.world, process):
            return
        yield 1


# -- safe ------------------------------------------------------------------------------------------------------------


def _crash_at(point: Point) -> Callable[[Stage], Script]:
    def script(stage: Stage) -> Script:
        """A broker dies at a point of its first registration and comes back."""
        victim = stage.rng.choice(BROKERS)
        yield from stage.start_all(0.2)
        yield from _until(stage, victim, point)
        yield from stage.killed_for(victim, 2, 9)
        yield from stage.seconds(25, 35)

    return script


def _race(stage: Stage) -> Script:
    """All start at once and get the same next id."""
    yield from stage.start_all(0.05)
    yield from stage.seconds(25, 35)


def _restart(stage: Stage) -> Script:
    """A broker comes back with its files, and one of them has moved."""
    yield from up(stage)
    for name in stage.rng.sample(BROKERS, k=2):
        yield from stage.killed_for(name, 3, 8)
        yield from stage.seconds(8, 15)
    yield from stage.seconds(15, 25)


def move(stage: Stage, name: str, address: str) -> None:
    """A broker's machine gets another address; its process must be down."""
    stage.world.note("moved", name, f"to {address}")
    process = stage.world.processes[name]
    process.member = replace(process.member, address=address)
    stage.world.voice.members[name] = process.member  # type: ignore[attr-defined]


def _controller_away(stage: Stage) -> Script:
    """The controller starts last: brokers try until it is there."""
    for name in BROKERS:
        stage.start(name)
        yield from stage.seconds(0, 2)
    yield from stage.seconds(8, 20)
    stage.start(CONTROLLER)
    yield from stage.seconds(35, 45)


def _move_away(stage: Stage, name: str) -> None:
    move(stage, name, other_address(BROKERS.index(name)))


def _forget(stage: Stage, name: str) -> None:
    """An operator removes a broker that is gone."""
    number = broker_id(stage, name)
    stage.ask(CONTROLLER, CleanBrokers((number,)), f"forget broker {number}")


def _wipe(stage: Stage, name: str) -> None:
    stage.put_back(name, {})


def _wipe_or_lose(stage: Stage, name: str) -> None:
    """A broker loses its identity file, or all files."""
    if stage.rng.random() < 0.5:
        stage.lose(name, IDENTITY_FILE)
    else:
        _wipe(stage, name)


def _slave(*acts: Act, then: tuple[float, float]) -> Callable[[Stage], Script]:
    """Return a script: a slave dies, and these acts follow."""
    return once_led(up, to(a_slave, Stage.kill, *acts), then=then)


SAFE: tuple[Scenario, ...] = (
    *(
        _story(f"crash-{name}", f"a broker dies {words}, and comes back", _crash_at(point))
        for name, (words, point) in POINTS.items()
    ),
    _story("race", "all brokers ask for an id at once", _race),
    _story("race-lost-lines", "all ask at once, and the loggers drop lines in bursts", _race, prepare=lost_lines),
    _story("restart", "brokers come back with their identity files", _restart),
    _story("moved", "a broker comes back at another address", _slave(_move_away, (3, 8), Stage.start, then=(30, 40))),
    _story("controller-away", "the controller starts last", _controller_away),
    _story("retired", "an operator removes the id of a broker that is gone", _slave((8, 12), _forget, then=(15, 25))),
)

# -- broken: identities lost, copied, given twice ------------------------------------------------------------------

_lost_files = _slave(_wipe_or_lose, (3, 8), Stage.start, then=(30, 40))


def _lost_answer(stage: Stage) -> Script:
    """The controller accepts an id, and its answer never arrives."""
    yield from stage.start_all(0.2)
    victim = stage.rng.choice(BROKERS)
    yield from _until(stage, victim, _accepted)
    cut_off(stage, victim, CONTROLLER)
    yield from stage.healed_after(16, 20)
    yield from stage.seconds(30, 40)


def _copied(stage: Stage) -> Script:
    """A slave's disk is cloned for another machine, and both run."""
    first, second, clone = BROKERS
    for name in (CONTROLLER, first, second):
        stage.start(name)
        yield from stage.seconds(2, 3)
    yield from stage.seconds(10, 15)
    slave = next(name for name in (first, second) if name != stage.leader())
    stage.put_back(clone, stage.copy_of_disk(slave))
    stage.start(clone)
    yield from stage.seconds(30, 40)


def _of_another_set(stage: Stage) -> Script:
    """A machine comes with the files of another set, or of another cluster."""
    name = stage.rng.choice(BROKERS)
    cluster, group = stage.rng.choice(((CLUSTER, "bs-payments"), ("lab-other", GROUP)))
    if stage.rng.random() < 0.5:
        stage.put_back(name, {IDENTITY_FILE: Identity(cluster, group, 2)})
    else:
        stage.put_back(name, {TEMP_FILE: Temporary(cluster, group, 2, "10.84.2.21:10911;1772300000000")})
    yield from stage.start_all()
    yield from stage.seconds(30, 40)


def _given_again(stage: Stage) -> Script:
    """The controllers lose their record, and a new machine is given an id that an old one has."""
    yield from up(stage)
    name = stage.rng.choice(slaves(stage))
    stage.kill(CONTROLLER)
    stage.kill(name)
    stage.lose(CONTROLLER, RECORD_FILE)
    stage.put_back(name, {})
    yield from stage.seconds(1, 3)
    stage.start(CONTROLLER)
    stage.start(name)
    yield from stage.seconds(40, 50)


def _there_and_back(stage: Stage) -> Script:
    """A broker moves to another address and back, as two machines with one identity would seem to do."""
    yield from up(stage)
    name = stage.rng.choice(slaves(stage))
    home = stage.world.processes[name].member.address
    for address in (other_address(BROKERS.index(name)), home):
        stage.kill(name)
        move(stage, name, address)
        yield from stage.seconds(3, 8)
        stage.start(name)
        yield from stage.seconds(12, 18)
    yield from stage.seconds(10, 15)


def _old_controller(stage: Stage) -> Script:
    """The controller is of a release that does not know persistent ids."""
    yield from stage.start_all()
    yield from stage.seconds(30, 40)


_broken = partial(_story, broken=True)

BROKEN: tuple[Scenario, ...] = (
    _broken("lost-files", "a broker comes back without its identity", _lost_files),
    _broken(
        "removed-and-lost",
        "an id is removed, and its machine comes back wiped",
        _slave((8, 12), _forget, _wipe, (2, 5), Stage.start, then=(25, 35)),
    ),
    _broken(
        "removed-too-early",
        "an id is removed, and its broker comes back",
        _slave((8, 12), _forget, (2, 5), Stage.start, then=(35, 45)),
    ),
    _broken("lost-answer", "the answer to an accepted application is lost", _lost_answer),
    _broken("copied", "a disk is cloned with its identity, and both machines run", _copied),
    _broken("of-another-set", "a machine comes with the identity of another set", _of_another_set),
    _broken(
        "given-twice", "a bug: the controllers do not look at register codes", _race, rules=Rules(checks_code=False)
    ),
    _broken("given-again", "the controllers lose their record and give an id again", _given_again),
    _broken("there-and-back", "a broker moves to another address and back", _there_and_back),
    _broken(
        "old-controller", "the controller does not know persistent ids", _old_controller, rules=Rules(knows_ids=False)
    ),
    _broken(
        "lost-files-lost-lines",
        "a broker comes back without its identity, and lines are lost",
        _lost_files,
        prepare=lost_lines,
    ),
)

SCENARIOS = (*SAFE, *BROKEN)
