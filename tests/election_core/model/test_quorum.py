"""Quorum arithmetic against counting, and against all electorates that are possible, one by one."""

from collections.abc import Iterator, Set
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from election_replay.election_core.model.quorum import (
    LOST,
    UNKNOWN,
    WON,
    Electorate,
    Groups,
    Voters,
    decide,
    is_majority,
    majority,
)

NAMES = "abcdefg"
SOME = st.frozensets(st.sampled_from(NAMES))


@given(members=st.integers(1, 50), votes=st.integers(0, 50))
def test_a_majority_is_more_than_the_rest(members: int, votes: int) -> None:
    """Votes decide when those who did not vote cannot outnumber or match them."""
    assert is_majority(votes, members) == (votes > members - votes)


@given(members=st.integers(1, 50))
def test_two_majorities_share_a_member(members: int) -> None:
    """Which is why one term has one leader."""
    assert 2 * majority(members) > members


@st.composite
def voters(draw: st.DrawFn) -> Voters:
    """A set of voters of which some may be unknown."""
    names = draw(st.frozensets(st.sampled_from(NAMES[:5]), max_size=4))
    least = draw(st.integers(max(len(names), 1), 5))
    return Voters(names, least, draw(st.one_of(st.none(), st.integers(least, 6))))


@st.composite
def groups(draw: st.DrawFn) -> Groups:
    """Up to five voters with weights, in up to three groups."""
    chosen = draw(st.lists(st.sampled_from(NAMES[:5]), min_size=1, unique=True))
    return Groups(tuple((name, draw(st.sampled_from("xyz")), draw(st.integers(0, 3))) for name in chosen))


def by_hand(electorate: Electorate, there: Set[str], gone: Set[str]) -> str:
    """The answer, by trying who else may vote and who else may be there."""
    outcomes = {
        all(outcome) for outcome in product(*(set(_outcomes(part, there, gone)) for part in electorate)) if electorate
    }
    return UNKNOWN if len(outcomes) != 1 else WON if outcomes.pop() else LOST


def _outcomes(part: Voters | Groups, there: Set[str], gone: Set[str]) -> Iterator[bool]:
    for weights in _possible(part):
        every = {voter for voter, _, _ in weights}
        open_ = sorted(every - there - gone)
        for count in range(len(open_) + 1):
            for more in combinations(open_, count):
                yield _agrees(weights, (every & there) | set(more))


def _possible(part: Voters | Groups) -> Iterator[list[tuple[str, str, int]]]:
    """All lists of voters with group and weight that a set may stand for; strangers have numbers for names."""
    if isinstance(part, Groups):
        yield list(part.weights)
    else:
        for size in range(part.least, (12 if part.most is None else part.most) + 1):
            strangers = [str(number) for number in range(size - len(part.names))]
            yield [(name, "", 1) for name in (*part.names, *strangers)]


def _agrees(weights: list[tuple[str, str, int]], present: Set[str]) -> bool:
    won = lost = 0
    for group in {group for _, group, weight in weights if weight}:
        mine = sum(weight for voter, of, weight in weights if of == group and voter in present)
        rest = sum(weight for voter, of, weight in weights if of == group and voter not in present)
        won, lost = (won + 1, lost) if mine > rest else (won, lost + 1)
    return won > lost


@given(electorate=st.lists(st.one_of(voters(), groups()), max_size=2), there=SOME, gone=SOME)
def test_an_answer_is_the_one_of_all_possible_electorates(
    electorate: list[Voters | Groups], there: frozenset[str], gone: frozenset[str]
) -> None:
    """Won and lost are said where every possible electorate says so; unknown may be said more often, never less."""
    gone -= there
    answer = decide(tuple(electorate), there, gone)
    expected = by_hand(tuple(electorate), there, gone)
    assert answer in (expected, UNKNOWN)
    if all(not isinstance(part, Voters) or part.most == len(part.names) for part in electorate):
        assert answer == expected or (len(electorate) > 1 and answer == UNKNOWN)


def test_examples() -> None:
    """The cases that a guess from whose logs there are got wrong."""
    five = Voters(frozenset("123"), 3, 5)
    assert decide((five,), frozenset("1"), frozenset("23")) == UNKNOWN
    assert decide((Voters.listed("12345"),), frozenset("123"), frozenset("45")) == WON
    assert decide((Voters.listed("1234"),), frozenset(), frozenset("12")) == LOST
    assert decide((Voters.listed("123"), Voters.listed("145")), frozenset("1"), frozenset("23")) == LOST
    assert decide((), frozenset("12345"), frozenset()) == UNKNOWN
    three_groups = Groups((("1", "a", 1), ("2", "a", 1), ("3", "a", 1), ("4", "b", 1), ("5", "c", 1)))
    assert decide((three_groups,), frozenset("45"), frozenset("123")) == WON
    assert decide((three_groups,), frozenset("123"), frozenset("45")) == LOST
    assert (five.needed, Voters.listed("1234").needed, Voters(frozenset(), 4, 5).needed) == (None, 3, 3)
