"""What the clocks of many worlds answer, to the microsecond; ``--rewrite`` writes clock_answers.txt: read the diff.

The properties of test_clock.py say that no answer is false. They hold for answers that are too wide, too: what is said
here is how much is known. A change of an answer is right where it is meant, and then a change of verdicts.
"""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Message, Moment, Step
from tests.election_core.judge.test_clock import SECOND, SOURCES, Set, chatter, fact_at

ANSWERS = Path(__file__).with_name("clock_answers.txt")
WORLDS = 150
BOUND_US = 400_000


class World:
    """Three clocks, some of which are wrong or are set, and what was logged by them; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        chance = self.chance
        self.offsets = {source: chance.randint(-BOUND_US, BOUND_US) for source in SOURCES}
        if chance.random() < 0.3:
            self.offsets[chance.choice(SOURCES)] += chance.choice((-1, 1)) * chance.randint(2, 40) * SECOND
        self.bound_us = chance.choice((BOUND_US, BOUND_US, 5 * SECOND))
        near = chance.choice((6, 120))
        self.jumps = {
            source: sorted((min(begin + chance.randint(0, near), 125), by * chance.randint(1, 60)) for by in signs)
            for source, signs in zip(SOURCES, chance.choice(SETTINGS), strict=True)
            for begin in (chance.randint(0, 125 - near),)
        }
        self.clocks = {
            source: Set(source, partial(self.off, source), {when * SECOND for when, _ in self.jumps[source]})
            for source in SOURCES
        }

    def off(self, source: str, at: int) -> int:
        """By how much a clock is ahead at a true time, in microseconds."""
        return self.offsets[source] + sum(by * SECOND for when, by in self.jumps[source] if at >= when * SECOND)

    def shown(self, source: str, at: int) -> Moment:
        """What its log shows of that time."""
        return self.clocks[source].shown(at)

    def messages(self) -> list[Message]:
        """Answers now and then, and some that took longer."""
        begin, end = sorted(self.chance.sample(range(0, 140, 10), 2))
        pairs = [pair for pair in chatter(begin, end, *SOURCES) if self.chance.random() < 0.7]
        pairs += [
            (*self.chance.sample(SOURCES, 2), self.chance.randint(0, 130 * SECOND), self.chance.randint(0, 9 * SECOND))
            for _ in range(8)
        ]
        return [
            Message(self.shown(sender, sent), self.shown(receiver, sent + took))
            for sender, receiver, sent, took in pairs
        ]

    def steps(self) -> Iterator[Step]:
        """What lines show of clocks that were put back."""
        for clock in self.clocks.values():
            yield from clock.steps


SETTINGS = ([(), (), ()], [(-1,), (), ()], [(), (1,), ()], [(-1, 1), (), ()], [(), (-1, -1), ()], [(-1,), (), (1,)])
"""How often, and which way, each clock is set."""


def answers(seed: int) -> list[str]:
    """All that the clocks of a world say of some moments."""
    world = World(seed)
    clocks = Clocks(dict.fromkeys(SOURCES, world.bound_us), world.messages(), world.steps())
    said = [
        f"wrong {wrong.source} {wrong.or_else} set by {wrong.set_by} apart {wrong.apart_us} {len(wrong.evidence)}"
        + "".join(f" [{one.first} {one.last}: {one.least} {one.most} {one.by_bound}]" for one in wrong.offsets)
        for wrong in clocks.wrong
    ]
    said.append(f"widest {clocks.widest}")
    said += [f"{a} before {b}: {clocks.most_ahead(a, b)}" for a in SOURCES for b in SOURCES]
    near = [when for jumps in world.jumps.values() for when, _ in jumps]
    times = [*(at for when in near for at in (when - 3, when, when + 3)), *world.chance.sample(range(140), 6)]
    moments = [world.shown(world.chance.choice(SOURCES), at * SECOND + 300_000) for at in times]
    _, common_time = clocks.in_common_time()
    for one, other in zip(moments, moments[1:] + moments[:1], strict=True):
        least, most = clocks.elapsed(one, other)
        bounded = least > -UNBOUNDED or most < UNBOUNDED
        marks = f"{bounded:d}{clocks.near_step(one):d}{clocks.surely_before(one, other):d}"
        shown = clocks.shown_by(other.source, one)
        common = common_time.fact(fact_at(one)).since
        said.append(f"{one.source}{one.at} {other.source}{other.at}: {least} {most} {marks} {common} {shown}")
    return [f"{seed} {line}" for line in said]


def test_all_answers_are_what_they_were(request: pytest.FixtureRequest) -> None:
    said = "".join(f"{line}\n" for seed in range(WORLDS) for line in answers(seed))
    if request.config.getoption("--rewrite"):
        ANSWERS.write_text(said)
    assert said == ANSWERS.read_text()


def test_of_a_clock_that_is_set_all_the_time_nothing_is_known() -> None:
    steps = [Step("a", 10 * at * SECOND, 5 * SECOND, 5 * SECOND) for at in range(1, 200)]
    clocks = Clocks({"a": BOUND_US, "b": BOUND_US}, [], steps)
    least, most = clocks.elapsed(Moment(SECOND, SECOND, "a"), Moment(SECOND, SECOND, "b"))
    assert least <= -UNBOUNDED < UNBOUNDED <= most
    assert clocks.shown_by("b", Moment(SECOND, SECOND, "a")) == (None, None)


def test_what_may_have_been_at_once_is_not_surely_before() -> None:
    clocks = Clocks({"a": 0}, [])
    assert not clocks.surely_before(Moment(0, SECOND, "a"), Moment(SECOND, 2 * SECOND, "a"))
    assert clocks.surely_before(Moment(0, SECOND, "a"), Moment(SECOND + 1, 2 * SECOND, "a"))


def test_two_clocks_that_nothing_compares_are_bounded_by_their_bounds_alone() -> None:
    clocks = Clocks({"a": 3, "b": 4}, [])
    assert clocks.most_ahead("a", "b") == 7
    assert clocks.elapsed(Moment(10, 10, "a"), Moment(20, 20, "b")) == (3, 17)
