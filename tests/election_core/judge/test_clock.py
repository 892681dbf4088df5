"""Clocks against a world in which every offset is known."""

from collections.abc import Callable, Iterable
from itertools import accumulate, pairwise, permutations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Message, Moment, Step
from election_replay.election_core.judge.clock_blame import fewest_to_blame
from election_replay.election_core.judge.difference_constraints import Edge
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import QuietLog

SOURCES = ("a", "b", "c")
SECOND = 1_000_000

offsets = st.fixed_dictionaries({source: st.integers(-400_000, 400_000) for source in SOURCES})
causes = st.lists(
    st.tuples(
        st.sampled_from(SOURCES),
        st.sampled_from(SOURCES),
        st.integers(0, 100 * SECOND),
        st.integers(0, 5 * SECOND),
    ),
    max_size=12,
)


def seen(source: str, true_time: int, world: dict[str, int]) -> Moment:
    """What the log of ``source`` shows of a true time: its own clock, cut to the second."""
    shown = true_time + world[source]
    start = shown // SECOND * SECOND
    return Moment(start, start + SECOND, source)


class Set:
    """The clock of a source that is ``off`` by some microseconds at a true time, and set at some; its log shows each
    time that it is put back. What its log shows of a true time lies on its own timeline."""

    def __init__(self, source: str, off: Callable[[int], int], times: Iterable[int]) -> None:
        self.source, self._off, self._steps = source, off, list[tuple[int, Step]]()
        for time in sorted(times):
            before, after = self._read(time - 1), self._read(time)
            if after.at < before.at:
                at, ahead = before.by + self._ahead(time - 1), before.by + 1 - after.at
                self._steps.append((time, Step(source, at, ahead, before.at - after.by, ("before", "after"))))

    @property
    def steps(self) -> list[Step]:
        return [step for _, step in self._steps]

    def shown(self, true_time: int) -> Moment:
        read, ahead = self._read(true_time), self._ahead(true_time)
        return Moment(read.at + ahead, read.by + ahead, self.source)

    def _ahead(self, true_time: int) -> int:
        return sum(step.ahead for time, step in self._steps if time <= true_time)

    def _read(self, true_time: int) -> Moment:
        return seen(self.source, true_time, {self.source: self._off(true_time)})


def messages_in(world: dict[str, int], pairs: list[tuple[str, str, int, int]]) -> list[Message]:
    """Messages that take some time each."""
    return [
        Message(seen(sender, sent, world), seen(receiver, sent + took, world)) for sender, receiver, sent, took in pairs
    ]


@given(world=offsets, pairs=causes)
def test_true_offsets_are_always_inside_the_bounds(
    world: dict[str, int], pairs: list[tuple[str, str, int, int]]
) -> None:
    """Clocks inside their configured bounds are never called skewed, and no bound excludes the truth."""
    clocks = Clocks(dict.fromkeys(SOURCES, 400_000), messages_in(world, pairs))
    assert clocks.wrong == ()
    for one in SOURCES:
        for other in SOURCES:
            assert world[one] - world[other] <= clocks.most_ahead(one, other)


@given(world=offsets, pairs=causes, start=st.integers(0, 100 * SECOND), took=st.integers(-20 * SECOND, 20 * SECOND))
def test_elapsed_contains_the_true_time(
    world: dict[str, int], pairs: list[tuple[str, str, int, int]], start: int, took: int
) -> None:
    """The true time between two moments lies between the least and the most."""
    clocks = Clocks(dict.fromkeys(SOURCES, 400_000), messages_in(world, pairs))
    least, most = clocks.elapsed(seen("a", start, world), seen("b", start + took, world))
    assert least <= took <= most


@given(ahead=st.integers(3 * SECOND, 60 * SECOND), pairs=causes)
def test_a_clock_beyond_its_bound_is_reported_and_not_trusted(
    ahead: int, pairs: list[tuple[str, str, int, int]]
) -> None:
    """An answer that comes before its question by more than the bounds proves a skew; its clock is trusted no more."""
    world = {"a": ahead, "b": 0, "c": 0}
    question = [("a", "b", 50 * SECOND, 0), ("a", "c", 50 * SECOND, 0), ("b", "c", 10 * SECOND, 0)]
    clocks = Clocks(dict.fromkeys(SOURCES, 400_000), messages_in(world, [*question, *pairs]))
    assert [wrong.source for wrong in clocks.wrong] == ["a"]
    assert clocks.wrong[0].offsets[0].least is not None
    assert 0 < clocks.wrong[0].offsets[0].least <= ahead
    assert world["a"] - world["b"] <= clocks.most_ahead("a", "b")
    assert clocks.most_ahead("b", "c") <= 800_000, "the clocks that nobody contradicts keep their bounds"


def test_a_step_of_a_clock_is_reported() -> None:
    """No constant offset explains two answers that each come before their question."""
    back_and_forth = [
        Message(Moment(10 * SECOND, 11 * SECOND, "a"), Moment(0, SECOND, "b")),
        Message(Moment(10 * SECOND, 11 * SECOND, "b"), Moment(0, SECOND, "a")),
    ]
    clocks = Clocks({"a": 400_000, "b": 400_000}, back_and_forth)
    assert [wrong.set_by != () for wrong in clocks.wrong] == [True]
    least, most = clocks.elapsed(Moment(5 * SECOND, 6 * SECOND, "a"), Moment(5 * SECOND, 6 * SECOND, "b"))
    assert least < -8 * SECOND < 8 * SECOND < most, "around the step nothing can be said across these two clocks"


def test_a_step_is_no_fault_of_the_other_clocks() -> None:
    """The fewest clocks that explain the messages are named, by what the messages contradict each other and no more."""
    world = {"a": 0, "b": 0, "c": 0}
    before = messages_in(world, [("a", "b", 10 * SECOND, 0), ("a", "c", 10 * SECOND, 0), ("b", "c", 10 * SECOND, 0)])
    set_back = {**world, "a": -50 * SECOND}
    after = messages_in(set_back, [("b", "a", 80 * SECOND, 0), ("c", "a", 80 * SECOND, 0), ("c", "b", 80 * SECOND, 0)])
    clocks = Clocks(dict.fromkeys(SOURCES, 400_000), [*before, *after])
    assert [(wrong.source, wrong.or_else) for wrong in clocks.wrong] == [("a", ())]
    assert 47 * SECOND <= clocks.wrong[0].apart_us <= 50 * SECOND
    assert clocks.most_ahead("b", "c") <= SECOND, "the others still compare"


def test_a_step_of_one_of_two_clocks_is_blamed_on_none() -> None:
    """Two machines that contradict each other and nobody else: either may have stepped."""
    question = messages_in({"a": 0, "b": 0, "c": 0}, [("a", "b", 10 * SECOND, 0)])
    answer = messages_in({"a": -50 * SECOND, "b": 0, "c": 0}, [("b", "a", 80 * SECOND, 0)])
    (wrong,) = Clocks({"a": 400_000, "b": 400_000}, [*question, *answer]).wrong
    assert (wrong.source, wrong.or_else) == ("a", ("b",))


def test_a_clock_that_was_put_back_again_and_that_nobody_heard_is_right_nowhere() -> None:
    """It may have been set forward in between: behind its last step it is as doubtful as before the first."""
    a = Set(
        "a",
        lambda at: (55 if at < 100 * SECOND else 12 if at < 200 * SECOND else -37) * SECOND,
        [100 * SECOND, 200 * SECOND],
    )
    clocks = Clocks(dict.fromkeys(SOURCES, SECOND // 2), [], a.steps)
    for at in (50 * SECOND, 150 * SECOND, 250 * SECOND):
        least, most = clocks.elapsed(a.shown(at), seen("b", at, {"b": 0}))
        assert least <= 0 <= most


def test_two_clocks_that_were_set_once_are_as_likely_as_one_that_was_set_twice() -> None:
    """All agree at first. Then b is in touch with a alone, which is ahead, and then with c alone, which is further
    ahead: b was put back twice, or each of them was set forward. Not so if a and c agree meanwhile."""

    def sent(second: int, one: str, by: int, other: str) -> Message:
        return Message(Moment(second * SECOND, second * SECOND, one), Moment(by * SECOND, by * SECOND, other))

    def touched(at: int, other: str, ahead: int) -> list[Message]:
        begins = (at, at + 3)
        to_it = [sent(begin, "b", begin + ahead, other) for begin in begins]
        return to_it + [sent(begin + ahead, other, begin + 1, "b") for begin in begins]

    bounds = dict.fromkeys(SOURCES, SECOND)
    messages = [sent(0, one, 1, other) for one, other in permutations(SOURCES, 2)]
    messages += [*touched(100, "a", 40), *touched(200, "c", 70)]
    agreed = [sent(at, one, at, other) for at in (140, 240, 275) for one, other in ("ac", "ca")]
    either, back = Clocks(bounds, messages), Clocks(bounds, [*messages, *agreed])
    assert [wrong.or_else for wrong in either.wrong if wrong.source == "b"] == [("a", "c")]
    assert [(wrong.source, wrong.or_else) for wrong in back.wrong] == [("b", ())]
    late = Moment(150 * SECOND, 150 * SECOND, "a")
    assert (either.placed(late), back.placed(late)) == (False, True)


def test_one_machine_needs_no_bounds() -> None:
    """Two moments of one clock are apart by what it shows."""
    clocks = Clocks({"a": 10 * SECOND}, [])
    assert clocks.elapsed(Moment(0, SECOND, "a"), Moment(5 * SECOND, 6 * SECOND, "a")) == (4 * SECOND, 6 * SECOND)


def chatter(begin: int, end: int, *sources: str) -> list[tuple[str, str, int, int]]:
    """Every ten seconds somebody answers somebody else, round and round."""
    return [
        (sender, receiver, at * SECOND, 200_000)
        for at in range(begin, end, 10)
        for sender, receiver in permutations(sources, 2)
    ]


def apart(clocks: Clocks, one: Moment, other: Moment) -> int:
    """How much of the time between two moments is not known."""
    least, most = clocks.elapsed(one, other)
    return most - least


def clocks_with(a: Set, pairs: list[tuple[str, str, int, int]]) -> Clocks:
    """What messages prove where only the clock of a is off."""
    return Clocks(dict.fromkeys(SOURCES, 400_000), list(messages_with(a, pairs)), a.steps)


def messages_with(a: Set, pairs: list[tuple[str, str, int, int]]) -> Iterable[Message]:
    return (
        Message(shown_with(a, sender, sent), shown_with(a, receiver, sent + took))
        for sender, receiver, sent, took in pairs
    )


def shown_with(a: Set, source: str, true_time: int) -> Moment:
    return a.shown(true_time) if source == "a" else seen(source, true_time, {"b": 100_000, "c": -100_000})


@pytest.mark.parametrize("step", [-63 * SECOND, 55 * SECOND])
def test_a_step_costs_only_what_compares_with_that_clock_around_it(step: int) -> None:
    """Before and after it the clock is as good as the others; those compare all the time."""
    a = Set("a", lambda at: step if at >= 500 * SECOND else 0, [500 * SECOND])
    clocks = clocks_with(a, [*chatter(0, 500, *SOURCES), *chatter(500, 1000, *SOURCES)])
    (wrong,) = clocks.wrong
    assert (wrong.source, wrong.or_else) == ("a", ())
    (offset,) = wrong.offsets
    assert offset.least is not None
    assert offset.most is not None
    assert offset.least <= step <= offset.most <= offset.least + 5 * SECOND
    common, in_common_time = clocks.in_common_time()
    for at in (100 * SECOND, 900 * SECOND):
        least, most = clocks.elapsed(a.shown(at), shown_with(a, "b", at + 7 * SECOND))
        assert least <= 7 * SECOND <= most <= least + 5 * SECOND
        put_right = in_common_time.fact(fact_at(a.shown(at)))
        assert put_right.since in range(at - 3 * SECOND, at + 3 * SECOND)
        assert common.elapsed(since(put_right), shown_with(a, "b", at + 7 * SECOND)) == (least, most)
    across_others = shown_with(a, "b", 505 * SECOND), shown_with(a, "c", 505 * SECOND)
    assert apart(clocks, *across_others) <= 4 * SECOND
    across = clocks.elapsed(a.shown(100 * SECOND), a.shown(900 * SECOND))
    assert across[0] <= 800 * SECOND <= across[1] <= across[0] + 6 * SECOND


def fact_at(moment: Moment) -> QuietLog:
    place = ("c1", "g", "raft", None, moment.source)
    return QuietLog(*place, moment.at, moment.by, None, None, None, None, 400, 0, None)


def test_a_hole_in_its_log_shows_when_a_clock_was_set_forward() -> None:
    """The messages before it and behind it are far apart; nothing of what was logged in between is in doubt."""
    a = Set("a", lambda at: 55 * SECOND if at >= 500 * SECOND else 0, [])
    pairs = [*chatter(0, 300, *SOURCES), *chatter(700, 1000, *SOURCES)]
    hole = a.shown(498 * SECOND).by, a.shown(501 * SECOND).at
    bounds = dict.fromkeys(SOURCES, 400_000)
    vague, exact = (
        Clocks(bounds, list(messages_with(a, pairs))),
        Clocks(bounds, list(messages_with(a, pairs)), (), {"a": [hole]}),
    )
    for at in (400 * SECOND, 600 * SECOND):
        pair = a.shown(at), shown_with(a, "b", at)
        assert apart(exact, *pair) <= 4 * SECOND
        assert apart(vague, *pair) > 50 * SECOND
        assert exact.in_common_time()[1].fact(fact_at(pair[0])).since in range(at - 3 * SECOND, at + 3 * SECOND)


def test_what_was_logged_later_is_later_in_common_time() -> None:
    """However often a clock is set, and wherever messages leave open how far."""
    offs = [(-1, 0), (100, 40), (200, -30), (300, 90), (305, 10), (600, 10)]
    a = Set(
        "a",
        lambda at: [by for when, by in offs if when * SECOND <= at][-1] * SECOND,
        [when * SECOND for when, _ in offs[1:]],
    )
    clocks = clocks_with(a, [*chatter(0, 90, *SOURCES), *chatter(210, 290, *SOURCES), *chatter(400, 800, *SOURCES)])
    _, common_time = clocks.in_common_time()
    facts = [common_time.fact(fact_at(a.shown(at * SECOND))) for at in range(800)]
    for before, after in pairwise(facts):
        assert before.since <= after.since
        assert before.since_by <= after.since_by
    for at in (*range(5, 90), *range(400, 800)):
        assert facts[at].since - 3 * SECOND <= at * SECOND <= facts[at].since_by + 3 * SECOND


def test_a_clock_that_is_right_after_it_was_put_back_had_been_set_forward_before() -> None:
    """Nobody hears of the clock while it is ahead: from the last message that shows it right, up to the step."""
    a = Set("a", lambda at: 55 * SECOND if 320 * SECOND <= at < 595 * SECOND else 0, [320 * SECOND, 595 * SECOND])
    clocks = clocks_with(a, [*chatter(0, 300, *SOURCES), *chatter(600, 900, *SOURCES)])
    for at in (100, 200, 310, 400, 590, 700):
        least, most = clocks.elapsed(shown_with(a, "b", (at - 50) * SECOND), a.shown(at * SECOND))
        assert least <= 50 * SECOND <= most
    for at in (200, 700):
        assert apart(clocks, a.shown(at * SECOND), shown_with(a, "b", at * SECOND)) <= 4 * SECOND


def test_a_clock_that_was_put_back_is_the_one_that_was_set_right_again() -> None:
    """Only b hears of it, which could as well have been set: b and c compare as before, and a but near its steps."""
    a = Set("a", lambda at: -40 * SECOND if 100 * SECOND <= at < 185 * SECOND else 0, [100 * SECOND, 185 * SECOND])
    few = [("a", "b", 145 * SECOND, SECOND), ("b", "a", 150 * SECOND, 15 * SECOND)]
    later = [("b", "a", 190 * SECOND, 6 * SECOND), ("a", "b", 195 * SECOND, 17 * SECOND)]
    others = [("c", "b", 130 * SECOND, SECOND), ("b", "c", 145 * SECOND, 20 * SECOND)]
    clocks = clocks_with(a, [*few, *others, *later])
    (wrong,) = clocks.wrong
    assert (wrong.source, wrong.or_else, wrong.set_by[0]) == ("a", (), -38 * SECOND)
    (offset,) = wrong.offsets
    assert offset.first is not None
    assert 99 * SECOND <= offset.first <= 101 * SECOND, "it was right before its lines show that it was put back"
    for at in (50, 150, 250):
        pair = shown_with(a, "b", at * SECOND), shown_with(a, "c", at * SECOND)
        assert apart(clocks, *pair) <= 4 * SECOND
    for at in (40, 150, 250):
        least, most = clocks.elapsed(shown_with(a, "b", at * SECOND), a.shown((at + 7) * SECOND))
        assert least <= 7 * SECOND <= most
    assert apart(clocks, shown_with(a, "b", 40 * SECOND), a.shown(40 * SECOND)) <= 4 * SECOND


jumped = st.integers(-90, 90).filter(lambda by: abs(by) > 5)
first_and_near = st.builds(
    lambda when, by, others: [(when, by), *((min(max(when + after, 0), 100), by) for after, by in others)],
    st.integers(0, 100),
    jumped,
    st.lists(st.tuples(st.integers(-9, 9), jumped), max_size=1),
)
"""Two jumps within seconds of each other."""


def _off_beyond_doubt(jumps: list[tuple[int, int]]) -> bool:
    """Whether the clock is right between its jumps, or off by more than whole seconds and messages leave open."""
    return all(off == 0 or abs(off) > 5 for off in accumulate(by for _, by in sorted(dict(jumps).items())))


@settings(deadline=None)
@example(jumps=[(84, -22), (87, 45)], pairs=[], moments=[("a", 83_400_000), ("c", 200_000)])
@example(jumps=[(0, 66), (3, -28)], pairs=[], moments=[("a", 0), ("b", 10_700_000)])
@example(jumps=[(16, -35), (23, 59)], pairs=[], moments=[("a", 19_500_000), ("c", 40_900_000)])
@example(jumps=[(54, -22), (59, 81), (85, -59)], pairs=[], moments=[("a", 56_500_000), ("a", 59_400_000)])
@given(
    jumps=(st.lists(st.tuples(st.integers(0, 100), jumped), max_size=2) | first_and_near).filter(_off_beyond_doubt),
    pairs=causes,
    moments=st.lists(st.tuples(st.sampled_from(SOURCES), st.integers(0, 100 * SECOND)), min_size=2, max_size=6),
)
def test_steps_never_make_a_claim_false(
    jumps: list[tuple[int, int]], pairs: list[tuple[str, str, int, int]], moments: list[tuple[str, int]]
) -> None:
    """Whatever the messages happen to show: no true time lies outside of what is said of it.

    The clock's lines show each step back; the messages are enough to find it, whichever they are. Jumps within a few
    seconds, or before all messages, may look like one, or like none. It is taken that a clock is set forward once
    at most between two messages, beside a step back.
    """
    steps = sorted(dict(jumps).items())

    def off(at: int) -> int:
        return sum(by for when, by in steps if at >= when * SECOND) * SECOND

    a = Set("a", off, [when * SECOND for when, _ in steps])
    clocks = clocks_with(a, [*chatter(0, 130, *SOURCES), *pairs])
    common, common_time = clocks.in_common_time()
    for (one, at), (other, by) in pairwise(moments):
        shown = shown_with(a, one, at), shown_with(a, other, by)
        least, most = clocks.elapsed(*shown)
        assert least <= by - at <= most
        put_right = (since(common_time.fact(fact_at(moment))) for moment in shown)
        least, most = common.elapsed(*put_right)
        assert least <= by - at <= most


def test_a_message_that_shows_a_step_comes_after_it() -> None:
    """The clock of ``b`` was put back by 4 s while only others received messages from it. The first command that
    reaches it then comes after the step, and is no 100 s wide."""

    def at(source: str, ms: int) -> Moment:
        return Moment(ms * 1000, ms * 1000 + 1000, source)

    tied = [(one, other) for one in "acd" for other in "acd" if one != other]
    messages = [
        *(Message(at("b", ms), at("a", ms)) for ms in (28_708, 106_226, 146_207, 147_335)),
        *(Message(at("b", ms), at("c", ms + 4_000)) for ms in (168_788, 209_835, 216_086, 236_611, 258_552)),
        *(Message(at("d", ms + 4_000), at("b", ms)) for ms in (272_768, 273_693, 274_744, 290_941)),
        *(Message(at("b", ms), at("d", ms + 4_851)) for ms in (272_768, 290_941)),
        *(Message(at(one, ms), at(other, ms)) for one, other in tied for ms in range(0, 300_000, 5_000)),
    ]
    clocks = Clocks(dict.fromkeys("abcd", 500_000), messages)
    least, most = clocks.elapsed(at("d", 276_768), at("b", 272_768))
    assert -SECOND <= least <= most <= 2 * SECOND


def test_clocks_that_agree_after_their_steps_end_the_search() -> None:
    """No number of steps explains two clocks that were set alike, and the search for the fewest ends all the same."""
    edges = {(0, 1): Edge(-5 * SECOND, ()), (1, 0): Edge(0, ())}
    assert fewest_to_blame((0, 1), edges, lambda _: 0, lambda _: UNBOUNDED) == [(0,), (1,)]
