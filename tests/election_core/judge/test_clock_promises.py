"""What the clocks of a group promise, against a twin that knows every true offset."""

import random
from functools import partial
from itertools import product

import pytest

from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Message, Moment
from election_replay.election_core.judge.common_time import CommonTime
from election_replay.election_core.judge.group import since
from tests.election_core.judge.test_clock import SECOND, SOURCES, Set, chatter, fact_at
from tests.election_core.judge.test_clock_answers import BOUND_US, World
from tests.proving import amount

END = 240 * SECOND
WORLDS = range(0, amount(150, 300), 10)


class OneIsSet:
    """Three clocks, of which one is set once to three times, by more than whole seconds could hide; messages go round
    every ten seconds, or every so often."""

    def __init__(self, seed: int, kept: float) -> None:
        self.chance = chance = random.Random(seed)
        self.offsets = {source: chance.randint(-BOUND_US, BOUND_US) for source in SOURCES}
        self.jumps = list[tuple[int, int]]()
        at, off = chance.randint(15, 60) * SECOND, 0
        for _ in range(chance.randint(1, 3)):
            by = chance.choice([by for by in range(-90, 91) if abs(by) > 5 and (off + by == 0 or abs(off + by) > 5)])
            self.jumps.append((at, by * SECOND))
            at, off = at + chance.randint(25, 60) * SECOND, off + by
        times = {"a": [when for when, _ in self.jumps], "b": [], "c": []}
        self.clocks = {source: Set(source, partial(self.off, source), times[source]) for source in SOURCES}
        self.messages = [
            Message(self.clocks[sender].shown(sent), self.clocks[receiver].shown(sent + took))
            for sender, receiver, sent, took in chatter(0, END // SECOND, *SOURCES)
            if chance.random() < kept
        ]
        self.times = chance.sample(range(END), 30)

    def off(self, source: str, at: int) -> int:
        return self.offsets[source] + sum(by for when, by in self.jumps if source == "a" and at >= when)

    def judged(self) -> tuple[Clocks, Clocks, CommonTime]:
        clocks = Clocks(dict.fromkeys(SOURCES, BOUND_US), self.messages, self.clocks["a"].steps)
        return clocks, *clocks.in_common_time()


def put_right(common: CommonTime, moment: Moment) -> Moment:
    return since(common.fact(fact_at(moment)))


@pytest.mark.parametrize("begin", WORLDS)
def test_the_true_time_between_two_moments_is_never_outside_of_what_is_said(begin: int) -> None:
    for seed in range(begin, begin + 10):
        world = OneIsSet(seed, kept=1)
        clocks, common, common_time = world.judged()
        for at, (one, other) in product(world.times, product(SOURCES, repeat=2)):
            shown = [world.clocks[source].shown(at) for source in (one, other)]
            for known, (first, second) in (
                (clocks, shown),
                (common, [put_right(common_time, moment) for moment in shown]),
            ):
                least, most = known.elapsed(first, second)
                assert least <= 0 <= most, (seed, at, one, other)
                assert first.at - second.by <= min(known.most_ahead(one, other), known.widest), (seed, at, one, other)


@pytest.mark.parametrize("begin", WORLDS)
def test_what_may_have_been_at_once_is_within_how_far_clocks_are_apart(begin: int) -> None:
    """Whatever is wrong and however little messages tell: rules look no further than this for what may be at once."""
    for seed in range(begin, begin + 10):
        world = World(seed)
        clocks = Clocks(dict.fromkeys(SOURCES, world.bound_us), world.messages(), world.steps())
        common, common_time = clocks.in_common_time()
        shown = [world.shown(source, world.chance.randint(0, 140 * SECOND)) for source in SOURCES for _ in range(12)]
        for known, moments in ((clocks, shown), (common, [put_right(common_time, moment) for moment in shown])):
            for first, second in product(moments, repeat=2):
                least, most = known.elapsed(first, second)
                apart = first.at - second.by
                if least <= 0 <= most:
                    assert apart <= min(known.most_ahead(first.source, second.source), known.widest), (
                        seed,
                        first,
                        second,
                    )


@pytest.mark.parametrize("begin", WORLDS)
def test_common_time_is_as_early_as_a_moment_may_have_been_and_it_is_known_how_late(begin: int) -> None:
    """Also where few messages tell little of how far the clock was ahead: never the middle of what is known. Beside a
    step of which messages do not tell all, only elapsed times say how wide a moment is."""
    for seed in range(begin, begin + 10):
        world = OneIsSet(seed, kept=0.4)
        clocks, common, common_time = world.judged()
        for at in world.times:
            shown = world.clocks["a"].shown(at)
            moment = put_right(common_time, shown)
            least, most = clocks.elapsed(shown, world.clocks["b"].shown(at))
            if not clocks.near_step(shown) and least <= 0 <= most < UNBOUNDED:
                assert moment.at - 3 * SECOND <= at <= moment.by + common.late_by(moment) + 3 * SECOND, (seed, at)
