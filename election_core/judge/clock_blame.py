"""Which of several clocks, or of their segments, to trust no more when they contradict each other.

A machine's clock and that of whoever copied its files are two clocks, which may be one.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
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
"""Clocks that messages tie together as closely as this, beside their bounds, bear each other out."""

_CHOICES_AT_MOST = 500
"""So many sets of segments are tried for the smallest one that explains a contradiction."""


class Meanwhile(Protocol):
    """What messages tell of a segment since it was contradicted, and before."""

    def compared(self, number: int, third: int, other: int) -> bool:
        """Whether a segment was compared with a third one since another one contradicted it."""

    def was_right(self, other: int, number: int) -> bool:
        """Whether the other one's clock seemed right before that: it was set then, or the first one was."""

    def may_be_set_forward(self, number: int, other: int, by: int) -> bool:
        """Whether holes in the log of a segment leave room for its clock to have been set forward by so many
        microseconds before it was compared with another one."""


def copier_of(source: str) -> str:
    """The clock of whoever copied the metadata files of ``source``: the machine itself, or another one."""
    return source + _COPIER


def owner_of(clock: str) -> str:
    """The source that a clock belongs to: its own, or that of whoever copied its files."""
    return clock.removesuffix(_COPIER)


def is_copier(clock: str) -> bool:
    """Whether a clock is that of whoever copied files."""
    return clock.endswith(_COPIER)


def not_to_trust(
    clock_of: Mapping[int, str],
    bounds: Mapping[int, int],
    edges: Edges,
    was_set: Collection[str] = (),
    meanwhile: Meanwhile | None = None,
) -> list[int]:
    """The segments, by number, that messages prove to be outside of their configured bounds (microseconds).

    Of two that contradict each other and nobody else, the one of a clock that ``was_set`` is to blame. Where several
    clocks are wrong, a segment that they contradict is trusted only if a third one bears it out ``meanwhile``; so is it
    against one of which no line shows that it was set, and that seemed right before.

    What machines logged decides about machines. A clock by which files were copied is judged after that: it may be that
    of a machine which is found wrong, and copies of one round may all be of one clock. So copies alone do not say
    whether a machine was wrong or who made them; where they contradict several machines, they are wrong.
    """
    machines = sorted(number for number, clock in clock_of.items() if not is_copier(clock))
    among = {pair: edge for pair, edge in edges.items() if set(pair) <= set(machines)}
    set_once = {number for number, clock in clock_of.items() if clock in was_set}
    compared = shortest_paths(machines, among)
    pairs = _contradictory(compared, bounds)
    doubted = clock_blame(pairs, set_once)
    blamed = {clock_of[number] for number in doubted} | {*was_set}
    if meanwhile is not None and (len(blamed) > 1 or not {*was_set}):
        directly = {frozenset(pair) for pair, edge in among.items() if edge.most < -(bounds[pair[0]] + bounds[pair[1]])}
        doubted += _alone(pairs, doubted, clock_of, bounds, compared, directly, meanwhile)
    if len(machines) == len(clock_of):
        return doubted
    proven = shortest_paths(clock_of, edges)
    doubted += [
        number
        for number, clock in clock_of.items()
        if any(clock == copier_of(clock_of[of]) and may_show_the_same(of, number, proven) for of in doubted)
    ]
    left = [pair for pair in _contradictory(proven, bounds) if not set(pair) & set(doubted)]
    if any(set(pair) <= set(machines) for pair in left):
        return doubted + clock_blame(left)
    concerned = {number for pair in left for number in pair}
    alone = len(concerned & set(machines)) == 1
    return doubted + sorted(concerned if alone else concerned - set(machines))


def may_show_the_same(segment: int, other: int, proven: Proven) -> bool:
    """Whether two clocks may have shown the same, as far as messages tell."""
    return all(proven.get(pair, UNBOUNDED) >= 0 for pair in ((segment, other), (other, segment)))


def _alone(
    pairs: list[tuple[int, int]],
    doubted: Collection[int],
    clock_of: Mapping[int, str],
    bounds: Mapping[int, int],
    compared: Proven,
    directly: Collection[frozenset[int]],
    meanwhile: Meanwhile,
) -> list[int]:
    """The segments that stand against those which are doubted, and no other clock with them: none that agrees with
    them, and none that contradicts the same segment ``directly``, by messages of its own."""

    def agree(number: int, other: int) -> bool:
        within = bounds[number] + bounds[other] + AGREE_US
        both = compared.get((number, other), UNBOUNDED), compared.get((other, number), UNBOUNDED)
        return max(both) <= within

    against: dict[int, list[int]] = {}
    for pair in pairs:
        for number, other in (pair, pair[::-1]):
            forward = number == pair[0] and meanwhile.may_be_set_forward(number, other, -compared[pair])
            if number not in doubted and other in doubted and (forward or meanwhile.was_right(other, number)):
                against.setdefault(number, []).append(other)
    apart = {frozenset(pair) for pair in pairs}
    trusted = [number for number in clock_of if number not in doubted and not is_copier(clock_of[number])]

    def helped(number: int, third: int, other: int) -> bool:
        if clock_of[third] in (clock_of[number], clock_of[other]) or {number, third} in apart:
            return False
        return {third, other} in directly or (agree(number, third) and meanwhile.compared(number, third, other))

    return [
        number
        for number, others in sorted(against.items())
        if not all(any(helped(number, third, other) for third in trusted) for other in others)
    ]


def _contradictory(proven: Proven, bounds: Mapping[int, int]) -> list[tuple[int, int]]:
    """The pairs that are further apart than their bounds allow."""
    return [(a, b) for (a, b), most in proven.items() if most < -(bounds[a] + bounds[b])]


def clock_blame(pairs: list[tuple[int, int]], set_once: Collection[int] = ()) -> list[int]:
    """The fewest segments without which no contradiction is left: always the one in most of them first, and of several
    one of a clock that was ``set_once``."""
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
    """The smallest sets of segments without which messages contradict each other no more: of these, those of which
    most are of clocks whose lines show that they were ``put_back``.

    Where none was, larger sets are as likely whose clocks were set no more often altogether, by ``steps_of``.
    """
    every = tuple(numbers)
    paths = shortest_paths(every, edges)
    suspects = [number for number in every if paths.get((number, number), 0) < 0]
    found: list[tuple[int, ...]] = []
    count, tried, steps = 0, 0, len(suspects)
    while count < steps:
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
