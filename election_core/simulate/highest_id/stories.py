"""Stories of groups whose highest living member leads.

Nothing but the clock fences these leaders. They are safe as long as members die and come back and messages come in
time. A cut network, a frozen leader or a lost message may give a group two leaders: that is no bug, but beyond what the
algorithms promise, and so it stands among the broken worlds.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from election_replay.election_core.simulate import scripts
from election_replay.election_core.simulate.scenario import Script, Stage
from election_replay.election_core.simulate.world import World


@dataclass(frozen=True, slots=True)
class Story:
    """A story without its cast. ``numbered``: the events tell the numbers of their elections."""

    name: str
    meaning: str
    script: Callable[[Stage], Script]
    broken: bool = False
    numbered: bool = False
    prepare: Callable[[World], None] = lambda _: None


def datagrams(prepare: Callable[[World], None]) -> Callable[[World], None]:
    """Members that tell each other everything in datagrams, and measure time by clocks that nobody can set."""

    def prepared(world: World) -> None:
        world.monotonic = True
        world.network.held_us = 0
        world.stops_in_us = 0
        prepare(world)

    return prepared


# -- scripts ---------------------------------------------------------------------------------------------------------


def settled(stage: Stage) -> Iterator[int]:
    """All are up, and have a leader that stays."""
    yield from stage.start_all()
    yield from stage.seconds(12, 25)


def _kill_two(stage: Stage) -> Script:
    """The leader is killed, then the one that takes over; both come back, the lower one first."""
    yield from settled(stage)
    gone = []
    for _ in range(2):
        leader = yield from stage.until_led()
        if leader is not None:
            stage.kill(leader)
            gone.append(leader)
        yield from stage.seconds(12, 25)
    for name in reversed(gone):
        stage.start(name)
        yield from stage.seconds(12, 25)


def _crash_loop(stage: Stage) -> Script:
    """The highest member dies again and again."""
    yield from settled(stage)
    highest = stage.leader()
    for _ in range(4 if highest else 0):
        stage.kill(highest or "")
        yield from stage.seconds(15, 25)
        stage.start(highest or "")
        yield from stage.seconds(15, 25)


def _frozen_follower(stage: Stage) -> Script:
    yield from settled(stage)
    name = stage.rng.choice(stage.followers())
    stage.freeze(name)
    yield from stage.seconds(15, 30)
    stage.thaw(name)
    yield from stage.seconds(25, 35)


def _deaths(stage: Stage) -> Script:
    """Members die, are stopped and come back at random."""
    yield from settled(stage)
    for _ in range(stage.rng.randint(2, 6)):
        name = stage.rng.choice(stage.names)
        if name in stage.up():
            (stage.kill if stage.rng.random() < 0.5 else stage.stop)(name)
            yield from stage.seconds(1, 20)
        down = stage.down()
        if down:
            stage.start(stage.rng.choice(down))
            yield from stage.seconds(5, 20)
    yield from stage.seconds(20, 30)


def _hiccup(stage: Stage) -> Script:
    """Every link is cut, for less time than it takes to miss anybody."""
    yield from settled(stage)
    stage.cut_all()
    yield from stage.seconds(0.3, 1)
    stage.heal()
    yield from stage.seconds(25, 35)


def _two_sides(stage: Stage) -> Script:
    """The network falls into two parts, each with two members at least where there are five."""
    yield from settled(stage)
    names = stage.names
    stage.rng.shuffle(names)
    half = len(names) // 2
    stage.cut_between(names[:half], names[half:])
    yield from stage.seconds(25, 40)
    stage.heal()
    yield from stage.seconds(25, 35)


def kill_next(stage: Stage) -> Script:
    """A member in the middle dies, then the leader: the lower ones have a dead neighbour above them."""
    yield from settled(stage)
    middle = stage.names[len(stage.names) // 2]
    stage.kill(middle)
    yield from stage.seconds(5, 10)
    leader = yield from stage.until_led()
    if leader is not None:
        stage.kill(leader)
    yield from stage.seconds(20, 30)
    for name in stage.down():
        stage.start(name)
        yield from stage.seconds(10, 20)


def _two_elections(stage: Stage) -> Script:
    """The leader dies in the moment in which the network falls into two parts: each elects a leader of its own."""
    yield from settled(stage)
    leader = stage.leader()
    if leader is not None:
        stage.kill(leader)
    rest = stage.up()
    stage.cut_between(rest[::2], rest[1::2])
    yield from stage.seconds(25, 40)
    stage.heal()
    yield from stage.seconds(15, 25)
    if leader is not None:
        stage.start(leader)
    yield from stage.seconds(25, 35)


def _stopped_leader(stage: Stage) -> Script:
    """The leader is stopped, and comes back."""
    yield from settled(stage)
    leader = yield from stage.until_led()
    if leader is not None:
        stage.stop(leader)
        yield from stage.seconds(25, 35)
        stage.start(leader)
    yield from stage.seconds(25, 35)


# -- conditions ------------------------------------------------------------------------------------------------------


def _late(world: World) -> None:
    """Messages take up to 0.8 s, and one in ten comes twice."""
    world.network.delay_us = (1_000, 800_000)
    world.network.doubled = 0.1


def _lossy(world: World) -> None:
    world.network.gone = 0.2


SAFE = (
    Story("healthy", "five members, nothing broken", scripts.healthy),
    Story("kill-leader", "kill -9 of the leader, back after half a minute", scripts.kill_leader),
    Story("kill-two", "the leader dies, and then the one that took over", _kill_two),
    Story("stopped-leader", "an operator stops the leader, and starts it again", _stopped_leader),
    Story("kill-followers", "all but the leader are killed, and come back", scripts.kill_followers),
    Story("restart-all", "power cut: all are killed and come back", scripts.restart_all),
    Story("rolling-restart", "an operator stops and starts one after the other", scripts.rolling_restart),
    Story("crash-loop", "the highest member dies four times: an election storm", _crash_loop),
    Story("frozen-follower", "a follower gets no time for a while", _frozen_follower),
    Story("hiccup", "every link is cut for less than a second", _hiccup),
    Story(
        "late-messages",
        "messages are late, some come twice, and the leader is killed",
        scripts.kill_leader,
        prepare=_late,
    ),
    Story(
        "lost-lines",
        "the loggers drop lines in bursts, and the leader is killed",
        scripts.kill_leader,
        prepare=scripts.lost_lines,
    ),
    Story(
        "drifting-clocks",
        "clocks differ within their bounds, and the leader is killed",
        scripts.kill_leader,
        prepare=scripts.drifting_clocks,
    ),
    Story(
        "numbered",
        "the events tell the numbers of their elections; the leader is killed",
        scripts.kill_leader,
        numbered=True,
    ),
    Story("deaths", "members die and come back at random", _deaths),
    Story("deaths-numbered", "members die and come back at random; elections are numbered", _deaths, numbered=True),
)

BROKEN = (
    Story(
        "isolated-leader",
        "the leader is cut off: the others elect another one beside it",
        scripts.isolated_leader,
        broken=True,
    ),
    Story(
        "frozen-leader",
        "the leader gets no time for half a minute, and then leads on",
        scripts.frozen_leader,
        broken=True,
    ),
    Story("two-sides", "the network falls into two parts", _two_sides, broken=True),
    Story(
        "two-sides-numbered",
        "the network falls into two parts; elections are numbered",
        _two_sides,
        broken=True,
        numbered=True,
    ),
    Story(
        "two-elections",
        "the leader dies, the network falls into two parts, and both count it as one election",
        _two_elections,
        broken=True,
        numbered=True,
    ),
    Story("one-way", "one follower does not hear the leader, which hears it", scripts.one_way, broken=True),
    Story("lossy-network", "one datagram in five is lost", scripts.healthy, broken=True, prepare=_lossy),
    Story("flapping", "four times every link is cut for a dozen seconds", scripts.flapping, broken=True),
    Story("any-faults", "faults drawn at random", scripts.any_faults, broken=True),
    Story(
        "any-faults-lost-lines",
        "faults drawn at random, and lines are lost",
        scripts.any_faults,
        broken=True,
        prepare=scripts.lost_lines,
    ),
    Story(
        "any-faults-numbered",
        "faults drawn at random; elections are numbered",
        scripts.any_faults,
        broken=True,
        numbered=True,
    ),
    Story(
        "wrong-clock",
        "one clock is off by far more than its bound, and the leader is killed",
        scripts.kill_leader,
        broken=True,
        numbered=True,
        prepare=scripts.wrong_clock,
    ),
    Story("clock-steps", "a clock is set while all are running", scripts.clock_steps, broken=True),
)
