"""Scripts for any protocol with leaders, and the conditions under which they may be played."""

from collections.abc import Callable

from election_replay.election_core.simulate.scenario import Scenario, Script, Stage
from election_replay.election_core.simulate.world import SECOND, World


def healthy(stage: Stage) -> Script:
    """Nothing is done to anybody."""
    yield from stage.start_all()
    yield from stage.seconds(60, 90)


def kill_leader(stage: Stage) -> Script:
    """The leader is killed, and comes back after half a minute."""
    leader = yield from stage.led_for(15, 25)
    if leader is not None:
        yield from stage.killed_for(leader, 25, 35)
    yield from stage.seconds(25, 35)


def isolated_leader(stage: Stage) -> Script:
    """The leader is cut off from its peers for half a minute."""
    leader = yield from stage.led_for(15, 25)
    if leader is not None:
        stage.isolate(leader)
        yield from stage.healed_after(25, 35)
    yield from stage.seconds(25, 35)


def frozen_leader(stage: Stage) -> Script:
    """The leader is frozen for half a minute."""
    leader = yield from stage.led_for(15, 25)
    if leader is not None:
        yield from stage.frozen_for(leader, 20, 35)
    yield from stage.seconds(25, 35)


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


def flapping(stage: Stage) -> Script:
    """Four times every link is cut for a dozen seconds."""
    yield from stage.start_all()
    yield from stage.until_led()
    for _ in range(4):
        yield from stage.seconds(15, 25)
        stage.cut_all()
        yield from stage.healed_after(11, 16)
    yield from stage.seconds(25, 35)


def one_way(stage: Stage) -> Script:
    """One follower does not hear the leader, which hears it."""
    leader = yield from stage.led_for(10, 20)
    if leader is not None:
        stage.cut_one_way(leader, stage.rng.choice(stage.followers()))
        yield from stage.healed_after(20, 30)
    yield from stage.seconds(25, 35)


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


def survived(
    story: Callable[..., Scenario],
    *,
    losing: Callable[[World], None] = lost_lines,
    flapping: Callable[[Stage], Script] = flapping,
) -> tuple[Scenario, ...]:
    """Return the scenarios that every voting group must survive; ``losing`` and ``flapping`` depend on its logs."""
    alike = "clocks differ within their bounds, and the leader is cut off"
    return (
        story("healthy", "nothing is broken", healthy),
        story("kill-leader", "kill -9 of the leader, back after half a minute", kill_leader),
        story("isolated-leader", "the leader is cut off from its peers, not from its clients", isolated_leader),
        story("frozen-leader", "the leader gets no time for half a minute, and goes on", frozen_leader),
        story("kill-followers", "all followers are killed: the leader has to give up by itself", kill_followers),
        story("restart-all", "power cut: all are killed and come back", restart_all),
        story("rolling-restart", "an operator stops and starts one after the other", rolling_restart),
        story("flapping", "four times every link is cut for a while: an election storm", flapping),
        story("one-way", "one follower does not hear the leader, which hears it", one_way),
        story("bad-network", "packets are lost, and the leader is killed", kill_leader, prepare=bad_network),
        story("lost-lines", "bursts of lines are lost, and the leader is killed", kill_leader, prepare=losing),
        story("drifting-clocks", alike, isolated_leader, prepare=drifting_clocks),
        story("any-faults", "faults drawn at random", any_faults),
        story("any-faults-lost-lines", "faults drawn at random, and lines are lost", any_faults, prepare=losing),
    )
