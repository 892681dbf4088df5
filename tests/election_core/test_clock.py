"""Clocks against a world in which every offset is known."""

from hypothesis import given
from hypothesis import strategies as st

from election_core.judge.clock import Clocks, Message, Moment

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
    assert clocks.skews == ()
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
    assert {(skew.ahead, skew.behind) for skew in clocks.skews} >= {("a", "b"), ("a", "c")}
    assert world["a"] - world["b"] <= clocks.most_ahead("a", "b")
    assert clocks.most_ahead("b", "c") <= 800_000, "the clocks that nobody contradicts keep their bounds"


def test_a_step_of_a_clock_is_reported() -> None:
    """No constant offset explains two answers that each come before their question."""
    back_and_forth = [
        Message(Moment(10 * SECOND, 11 * SECOND, "a"), Moment(0, SECOND, "b")),
        Message(Moment(10 * SECOND, 11 * SECOND, "b"), Moment(0, SECOND, "a")),
    ]
    clocks = Clocks({"a": 400_000, "b": 400_000}, back_and_forth)
    assert any(skew.ahead == skew.behind for skew in clocks.skews)
    least, most = clocks.elapsed(Moment(0, SECOND, "a"), Moment(50 * SECOND, 51 * SECOND, "b"))
    assert least < 0 < most, "nothing can be said across these two clocks"


def test_a_step_is_no_fault_of_the_other_clocks() -> None:
    """The fewest clocks that explain the messages are named, by what the messages contradict each other and no more."""
    world = {"a": 0, "b": 0, "c": 0}
    before = messages_in(world, [("a", "b", 10 * SECOND, 0), ("a", "c", 10 * SECOND, 0), ("b", "c", 10 * SECOND, 0)])
    set_back = {**world, "a": -50 * SECOND}
    after = messages_in(set_back, [("b", "a", 80 * SECOND, 0), ("c", "a", 80 * SECOND, 0), ("c", "b", 80 * SECOND, 0)])
    clocks = Clocks(dict.fromkeys(SOURCES, 400_000), [*before, *after])
    assert [(skew.ahead, skew.behind, skew.or_else) for skew in clocks.skews] == [("a", "a", ())]
    assert 47 * SECOND <= clocks.skews[0].at_least_us <= 50 * SECOND
    assert clocks.most_ahead("b", "c") <= SECOND, "the others still compare"


def test_a_step_of_one_of_two_clocks_is_blamed_on_none() -> None:
    """Two machines that contradict each other and nobody else: either may have stepped."""
    question = messages_in({"a": 0, "b": 0, "c": 0}, [("a", "b", 10 * SECOND, 0)])
    answer = messages_in({"a": -50 * SECOND, "b": 0, "c": 0}, [("b", "a", 80 * SECOND, 0)])
    (skew,) = Clocks({"a": 400_000, "b": 400_000}, [*question, *answer]).skews
    assert (skew.ahead, skew.behind, skew.or_else) == ("a", "a", ("b",))


def test_one_machine_needs_no_bounds() -> None:
    """Two moments of one clock are apart by what it shows."""
    clocks = Clocks({"a": 10 * SECOND}, [])
    assert clocks.elapsed(Moment(0, SECOND, "a"), Moment(5 * SECOND, 6 * SECOND, "a")) == (4 * SECOND, 6 * SECOND)
