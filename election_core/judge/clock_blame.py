"""Which of several contradicting clocks, or segments of clocks, to stop trusting. A machine's clock and the clock by
which its files were copied are two clocks, which may be one."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations, islice
from typing import Protocol

from election_replay.election_core.judge.difference_constraints import (
    UNBOUNDED,
    Edges,
    Proven,
    contradict,
    shortest_paths,
    without,
)
from election_replay.election_core.model.timing import Timeout

_COPIER = "/metadata"
AGREE_US = Timeout.CLOCKS_AGREE.us
"""Clocks that agree to within this many us, beyond their bounds, corroborate each other."""

_CHOICES_AT_MOST = 500
"""The number of sets of segments that are tried for the smallest one that explains a contradiction."""


class Corroboration(Protocol):
    """What messages show about a segment before and after another one contradicted it."""

    def was_right(self, other: int, number: int) -> bool:
        """Return True when the clock of ``other`` seemed right before it contradicted ``number``."""

    def compared(self, number: int, third: int, other: int) -> bool:
        """Return True when messages show ``number`` and ``third`` to agree once ``other`` contradicts ``number``."""

    def shown_back(self, number: int) -> int:
        """Return how far, at least, lines show the clock of ``number`` to be put back up to there, in us."""

    def shown_back_later(self, number: int) -> int:
        """Return how far, at least, lines show the clock of ``number`` to be put back from there on, in us."""

    def may_be_set_forward(self, number: int, other: int, by: int) -> bool:
        """Return True when times without a fact have room for a forward step of ``by`` us before ``other`` contradicts
        ``number``."""


def copier_of(source: str) -> str:
    """Return the name of the clock by which the metadata files of ``source`` were copied."""
    return source + _COPIER


def owner_of(clock: str) -> str:
    """Return the source that a clock belongs to, or whose files it copied."""
    return clock.removesuffix(_COPIER)


def is_copier(clock: str) -> bool:
    """Return True for the clock of a machine that copied files."""
    return clock.endswith(_COPIER)


def not_to_trust(
    clock_of: Mapping[int, str],
    bounds: Mapping[int, int],
    edges: Edges,
    was_set: Collection[str] = (),
    corroboration: Corroboration | None = None,
) -> list[int]:
    """Return the numbers of the segments that messages prove to be outside of their configured bounds (us).

    Of two segments that contradict each other and nobody else, the one of a clock that ``was_set`` is blamed. Where
    lines of the other clock do not show all of a contradiction, a segment is trusted only if a third clock corroborates
    it from then on.

    Lines of machines decide about machines. A clock that copied files is judged after that: it may be the clock of a
    machine found wrong, and all copies of one round may be by one clock. So copies alone do not decide whether a
    machine or its copier was wrong; a copier that contradicts several machines is wrong.
    """
    machines = sorted(number for number, clock in clock_of.items() if not is_copier(clock))
    among = {pair: edge for pair, edge in edges.items() if set(pair) <= set(machines)}
    set_once = {number for number, clock in clock_of.items() if clock in was_set}
    compared = shortest_paths(machines, among)
    pairs = _contradictory(compared, bounds)
    doubted = clock_blame(pairs, set_once)
    if corroboration is not None:
        directly = {frozenset(pair) for pair, edge in among.items() if edge.most < -(bounds[pair[0]] + bounds[pair[1]])}
        alone = len({clock_of[number] for number in doubted} | {*was_set}) == 1
        doubted += _uncorroborated(pairs, doubted, clock_of, bounds, compared, directly, corroboration, alone)
    if len(machines) == len(clock_of):
        return doubted
    proven = shortest_paths(clock_of, edges)
    doubted += [
        number
        for number, clock in clock_of.items()
        if any(clock == copier_of(clock_of[of]) and may_be_equal(of, number, proven) for of in doubted)
    ]
    left = [pair for pair in _contradictory(proven, bounds) if not set(pair) & set(doubted)]
    if any(set(pair) <= set(machines) for pair in left):
        return doubted + clock_blame(left)
    concerned = {number for pair in left for number in pair}
    alone = len(concerned & set(machines)) == 1
    return doubted + sorted(concerned if alone else concerned - set(machines))


def may_be_equal(segment: int, other: int, proven: Proven) -> bool:
    """Return True when messages allow that two clocks had the same offset."""
    return all(proven.get(pair, UNBOUNDED) >= 0 for pair in ((segment, other), (other, segment)))


def _uncorroborated(
    pairs: list[tuple[int, int]],
    doubted: Collection[int],
    clock_of: Mapping[int, str],
    bounds: Mapping[int, int],
    compared: Proven,
    directly: Collection[frozenset[int]],
    corroboration: Corroboration,
    alone: bool,
) -> list[int]:
    """Return the segments that contradict doubted ones by more than the lines of those show, that may have been set
    themselves, and that no third clock supports.

    Only where one clock ``alone`` was wrong does a later step back of it show that it had been ahead: others may have
    been behind as well. A third clock supports a segment by agreeing with it after that, or by contradicting the same
    doubted segment ``directly``, by messages of its own.
    """

    against: dict[int, list[int]] = {}
    for pair in pairs:
        for number, other in (pair, pair[::-1]):
            later = corroboration.shown_back_later(other) if alone else 0
            excess = -compared[pair] - (corroboration.shown_back(other) if number == pair[0] else later)
            if number in doubted or other not in doubted or excess <= bounds[number] + bounds[other] + AGREE_US:
                continue
            back = number == pair[1] and corroboration.was_right(other, number)
            if back or corroboration.may_be_set_forward(number, other, excess):
                against.setdefault(number, []).append(other)
    apart = {frozenset(pair) for pair in pairs}
    trusted = [number for number in clock_of if number not in doubted and not is_copier(clock_of[number])]

    def helped(number: int, third: int, other: int) -> bool:
        if clock_of[third] in (clock_of[number], clock_of[other]) or {number, third} in apart:
            return False
        return {third, other} in directly or corroboration.compared(number, third, other)

    return [
        number
        for number, others in sorted(against.items())
        if not all(any(helped(number, third, other) for third in trusted) for other in others)
    ]


def _contradictory(proven: Proven, bounds: Mapping[int, int]) -> list[tuple[int, int]]:
    """Return the pairs of segments that are further apart than their bounds allow."""
    return [(a, b) for (a, b), most in proven.items() if most < -(bounds[a] + bounds[b])]


def clock_blame(pairs: list[tuple[int, int]], set_once: Collection[int] = ()) -> list[int]:
    """Return few segments without which no contradiction is left: greedily the one in most contradictions. Of several
    such segments, one of a clock that was ``set_once`` goes first."""
    left = [pair for pair in pairs if pair[0] != pair[1]]
    dropped: list[int] = []
    while left:
        counts: dict[int, int] = {}
        for pair in left:
            for number in pair:
                counts[number] = counts.get(number, 0) + 1
        most = max(counts.values())
        worst = [number for number, count in sorted(counts.items()) if count == most]
        worst = [number for number in worst if number in set_once] or worst
        # Two machines that contradict each other and nobody else: either may be wrong, so trust neither.
        gone = worst if len(counts) == 2 and len(worst) == 2 else worst[:1]
        dropped += gone
        left = [pair for pair in left if not set(pair) & set(gone)]
    return dropped


def fewest_to_blame(
    numbers: Iterable[int],
    edges: Edges,
    put_back: Callable[[Sequence[int]], int],
    steps_of: Callable[[Sequence[int]], int],
) -> list[tuple[int, ...]]:
    """Return the smallest sets of segments without which messages no longer contradict each other. Of these it keeps
    the sets with most segments of clocks that lines show to be ``put_back``. Where there is none, larger sets are as
    likely if their clocks were set no more often altogether, by ``steps_of``."""
    suspects = _in_contradictions(numbers, edges)
    found: list[tuple[int, ...]] = []
    count, tried, steps = 0, 0, len(suspects)
    while count < min(steps, len(suspects)):
        count += 1
        choices = []
        for choice in combinations(suspects, count):
            tried += 1
            if not any(set(fewer) <= set(choice) for fewer in found) and not contradict(without(edges, choice)):
                choices.append(choice)
            if tried > _CHOICES_AT_MOST:
                return found or choices or [tuple(suspects)]
        if found:
            found += [choice for choice in choices if steps_of(choice) <= steps]
        elif choices:
            back = max(map(put_back, choices))
            found = [choice for choice in choices if put_back(choice) == back]
            steps = 0 if back else min(map(steps_of, found))
    return found or [tuple(suspects)]


def _in_contradictions(numbers: Iterable[int], edges: Edges) -> list[int]:
    every = tuple(numbers)
    paths = shortest_paths(every, edges)
    return [number for number in every if paths.get((number, number), 0) < 0]


def one_more_to_blame(
    fewest: Sequence[int], numbers: Iterable[int], edges: Edges, set_apart: Callable[[Sequence[int]], bool]
) -> set[int]:
    """Return the segments of all sets that explain a contradiction without any of the ``fewest``, and have one segment
    more: several clocks may have been ``set_apart`` instead. Clocks are not set to the same time by accident."""
    others = [number for number in _in_contradictions(numbers, edges) if number not in fewest]
    choices = list(islice(combinations(others, len(fewest) + 1), _CHOICES_AT_MOST))
    return {
        number
        for choice in choices
        if not contradict(without(edges, choice)) and set_apart(choice)
        for number in choice
    }
