"""Scripts for any protocol with leaders, and the conditions under which they may be played.

Most scripts are a row of acts on the leader, such as ``once_led(led(15, 25), killed(25, 35), then=(25, 35))``.
"""

from collections.abc import Callable, Generator

from election_replay.election_core.simulate.machine import Transfer
from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.world import SECOND, World

Act = tuple[float, float] | Callable[[Stage, str], Generator[int, None, object] | None]
"""An act on a member by name, or a wait for a number of seconds drawn from the range."""

Beginning = Callable[[Stage], Generator[int, None, str | None]]
"""The beginning of a script; it returns the leader, or None without one."""


def once_led(begin: Beginning, *acts: Act, then: tuple[float, float]) -> Callable[[Stage], Script]:
    """Return a script: these acts on the leader, if there is one, and a wait at the end."""

    def script(stage: Stage) -> Script:
        leader = yield from begin(stage)
        if leader is not None:
            yield from _in_turn(stage, leader, acts)
        yield from stage.seconds(*then)

    return script


def _in_turn(stage: Stage, name: str, acts: tuple[Act, ...]) -> Script:
    for act in acts:
        yield from (stage.seconds(*act) if isinstance(act, tuple) else act(stage, name)) or ()


def to(member: str | Callable[[Stage], str | None], *acts: Act) -> Act:
    """Return acts on another member, named or chosen at that moment; none if there is none."""

    def act(stage: Stage, _: str) -> Script:
        name = member if isinstance(member, str) else member(stage)
        if name is not None:
            yield from _in_turn(stage, name, acts)

    return act


def led(at_least: float, below: float) -> Beginning:
    """Begin with a start of all, and go on when one has led for about that many seconds."""
    return lambda stage: stage.led_for(at_least, below)


def started_within(apart: float, at_least: float, below: float) -> Beginning:
    """Begin with a start of all within ``apart`` seconds of each other, and wait."""

    def begin(stage: Stage) -> Generator[int, None, str | None]:
        yield from stage.start_all(apart)
        yield from stage.seconds(at_least, below)
        return stage.leader()

    return begin


def a_follower(stage: Stage) -> str:
    """Return any member that is up and does not lead."""
    return stage.rng.choice(stage.followers())


def killed(at_least: float, below: float) -> Act:
    """Return the act that kills a member and starts it again after about that many seconds."""
    return lambda stage, name: stage.killed_for(name, at_least, below)


def frozen(at_least: float, below: float) -> Act:
    """Return the act that freezes a member for about that many seconds."""
    return lambda stage, name: stage.frozen_for(name, at_least, below)


def healed(at_least: float, below: float) -> Act:
    """Return the act that restores all links after about that many seconds."""
    return lambda stage, _: stage.healed_after(at_least, below)


def mute(stage: Stage, name: str) -> None:
    """Let a member hear everybody, and nobody hear it."""
    for other in stage.followers():
        stage.cut_one_way(name, other)


def hand_over(stage: Stage, leader: str) -> None:
    """Let an operator ask the leader to hand over to any follower."""
    to_whom = a_follower(stage)
    stage.ask(leader, Transfer(to_whom), f"hand over to {to_whom}")


def healthy(stage: Stage) -> Script:
    """Nothing is done to anybody."""
    yield from stage.start_all()
    yield from stage.seconds(60, 90)


kill_leader = once_led(led(15, 25), killed(25, 35), then=(25, 35))
isolated_leader = once_led(led(15, 25), Stage.isolate, healed(25, 35), then=(25, 35))
frozen_leader = once_led(led(15, 25), frozen(20, 35), then=(25, 35))


def kill_followers(stage: Stage) -> Script:
    """All but the leader are killed, and come back after half a minute."""
    leader = yield from stage.led_for(10, 20)
    if leader is not None:
        gone = stage.followers()
        for name in gone:
            stage.kill(name)
        yield from stage.seconds(25, 35)
        for name in gone:
            stage.start(name)
    yield from stage.seconds(30, 45)


def restart_all(stage: Stage) -> Script:
    """A power cut: all are killed and come back."""
    yield from stage.led_for(10, 20)
    for name in stage.names:
        stage.kill(name)
    yield from stage.seconds(5, 15)
    for name in stage.names:
        stage.start(name)
        yield from stage.seconds(0, 1)
    yield from stage.seconds(30, 45)


def rolling_restart(stage: Stage) -> Script:
    """An operator stops and starts one after the other."""
    yield from stage.start_all()
    yield from stage.until_led()
    for name in stage.names:
        yield from stage.seconds(15, 25)
        yield from stage.stopped_for(name, 5, 10)
    yield from stage.seconds(25, 35)


def flapping(between: tuple[float, float], cut: tuple[float, float]) -> Callable[[Stage], Script]:
    """Return a script: four times every link is cut for ``cut`` seconds, ``between`` seconds after the last time."""

    def script(stage: Stage) -> Script:
        yield from stage.start_all()
        yield from stage.until_led()
        for _ in range(4):
            yield from stage.seconds(*between)
            stage.cut_all()
            yield from stage.healed_after(*cut)
        yield from stage.seconds(25, 35)

    return script


def two_halves(then: tuple[float, float]) -> Callable[[Stage], Script]:
    """Return a script: at the start no messages pass, so that a member that needs no quorum leads."""

    def script(stage: Stage) -> Script:
        stage.cut_all()
        yield from stage.start_all(0.2)
        yield from stage.healed_after(20, 30)
        yield from stage.seconds(*then)

    return script


def old_copy(
    led: tuple[float, float],
    without: tuple[float, float],
    back: tuple[float, float],
    then: tuple[float, float],
    *,
    of_both: bool,
) -> Callable[[Stage], Script]:
    """Return a script: the disk of a voter is restored from before its vote, and it votes again.

    The first leader is killed while the second one leads for ``without`` seconds, and is ``back`` for a while. If
    ``of_both``, its disk is restored too.
    """

    def script(stage: Stage) -> Script:
        first = yield from stage.led_for(*led)
        copies = {name: stage.copy_of_disk(name) for name in stage.names}
        if first is None:
            return
        stage.kill(first)
        second = yield from stage.led_again(first)
        yield from stage.seconds(*without)
        stage.start(first)
        yield from stage.seconds(*back)
        if second is not None:
            voter = next(name for name in stage.names if name not in (first, second))
            stage.freeze(second)
            for name in (first, voter) if of_both else (voter,):
                stage.kill(name)
                stage.put_back(name, copies[name])
                stage.start(name)
            yield from stage.led_again(second)
            yield from stage.seconds(3, 6)
            stage.thaw(second)
        yield from stage.seconds(*then)

    return script


def _deafen_follower(stage: Stage, leader: str) -> None:
    """Cut a follower off from the leader, which hears it."""
    stage.cut_one_way(leader, a_follower(stage))


one_way = once_led(led(10, 20), _deafen_follower, healed(20, 30), then=(25, 35))


def any_faults(stage: Stage) -> Script:
    """Faults drawn at random, one after the other, sometimes two at once."""
    yield from stage.start_all(10)
    yield from stage.until_led()
    for _ in range(stage.rng.randint(2, 5)):
        yield from stage.seconds(8, 30)
        name = stage.rng.choice(stage.names)
        fault = stage.rng.choice(("kill", "freeze", "isolate", "one way", "stop"))
        if fault in ("kill", "stop") and name in stage.up():
            (stage.kill if fault == "kill" else stage.stop)(name)
            yield from stage.seconds(2, 30)
            if name in stage.down():
                stage.start(name)
        elif fault == "freeze" and name in stage.up():
            yield from stage.frozen_for(name, 3, 40)
        else:
            if fault == "isolate":
                stage.isolate(name)
            else:
                stage.cut_one_way(name, stage.rng.choice([other for other in stage.names if other != name]))
            yield from stage.healed_after(3, 40)
    yield from stage.seconds(30, 40)


def bad_network(world: World) -> None:
    """One packet in ten is lost."""
    world.network.lost = 0.1


def doubling_network(world: World) -> None:
    """One message in five arrives twice, one in twenty not at all."""
    world.network.doubled = 0.2
    world.network.lost = 0.05


def lost_lines(world: World) -> None:
    """The loggers drop INFO lines in bursts."""
    world.drops = 0.02


def drifting_clocks(world: World) -> None:
    """Every clock is off, each by less than the bound of half a second."""
    for process in world.processes.values():
        process.clock.begin(world.now_us)
        process.clock.offset_us = world.rng.randrange(-400_000, 400_000)
        process.clock.drift_ppm = world.rng.randrange(-200, 200)


def wrong_clock(world: World) -> None:
    """One clock is off by far more than its bound."""
    name = world.rng.choice(world.names())
    world.processes[name].clock.offset_us = world.rng.choice((-1, 1)) * world.rng.randrange(5, 60) * SECOND


def a_clock_steps(stage: Stage) -> None:
    """Set one clock, forward or back."""
    name = stage.rng.choice(stage.names)
    stage.step_clock(name, stage.rng.choice((-1, 1)) * stage.rng.randrange(5_000, 90_000))


def clock_steps(stage: Stage) -> Script:
    """A clock is set, forward or back, by up to more than its process has lived."""
    yield from stage.led_for(40, 50)
    a_clock_steps(stage)
    yield from stage.seconds(40, 60)


def clock_step_then_kill(stage: Stage) -> Script:
    """A clock is set, forward or back, by up to more than its process has lived; then the leader is killed."""
    yield from stage.led_for(30, 40)
    a_clock_steps(stage)
    yield from stage.seconds(5, 10)
    leader = stage.leader()
    if leader is not None:
        stage.kill(leader)
        yield from stage.led_again(leader)
        stage.start(leader)
    yield from stage.seconds(20, 30)


_FLAPS = flapping((15, 25), (11, 16))


def survived(
    story: Callable[..., Scenario],
    *,
    losing: Callable[[World], None] = lost_lines,
    flaps: Callable[[Stage], Script] = _FLAPS,
) -> tuple[Scenario, ...]:
    """Return the scenarios that every voting group must survive; ``losing`` and ``flaps`` depend on its logs."""
    alike = "clocks differ within their bounds, and the leader is cut off"
    return (
        story("healthy", "nothing is broken", healthy),
        story("kill-leader", "kill -9 of the leader, back after half a minute", kill_leader),
        story("isolated-leader", "the leader is cut off from its peers, not from its clients", isolated_leader),
        story("frozen-leader", "the leader gets no time for half a minute, and goes on", frozen_leader),
        story("kill-followers", "all followers are killed: the leader has to give up by itself", kill_followers),
        story("restart-all", "power cut: all are killed and come back", restart_all),
        story("rolling-restart", "an operator stops and starts one after the other", rolling_restart),
        story("flapping", "four times every link is cut for a while: an election storm", flaps),
        story("one-way", "one follower does not hear the leader, which hears it", one_way),
        story("bad-network", "packets are lost, and the leader is killed", kill_leader, prepare=bad_network),
        story("lost-lines", "bursts of lines are lost, and the leader is killed", kill_leader, prepare=losing),
        story("drifting-clocks", alike, isolated_leader, prepare=drifting_clocks),
        story("any-faults", "faults drawn at random", any_faults),
        story("any-faults-lost-lines", "faults drawn at random, and lines are lost", any_faults, prepare=losing),
    )
