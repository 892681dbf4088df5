"""Offsets of which only differences are bounded: whether they contradict each other, and what follows from them.

Their tightest consequences are shortest paths (Bellman 1958; Cormen et al., "Difference constraints and shortest
paths").
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

UNBOUNDED = 1 << 60
"""Larger than any difference of two moments, in microseconds."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """The offset of one segment exceeds that of another by ``most`` at most, and what proves it."""

    most: int
    evidence: tuple[str, ...]


Edges = dict[tuple[int, int], Edge]
"""``(a, b)``: the most that the offset of ``b`` exceeds the offset of ``a``."""
Proven = Mapping[tuple[int, int], int]
"""``(a, b)``: the same, by all messages together."""


def without(edges: Edges, numbers: Iterable[int]) -> Edges:
    """The edges that touch none of the given segments."""
    left_out = set(numbers)
    return {pair: edge for pair, edge in edges.items() if not left_out & set(pair)}


def contradict(edges: Edges) -> bool:
    """Whether some clock would have to be ahead of itself (Bellman and Ford)."""
    at: dict[int, int] = {}
    pairs = [(a, b, edge.most) for (a, b), edge in edges.items()]
    for _ in range(len({number for pair in edges for number in pair}) + 1):
        changed = False
        for a, b, most in pairs:
            through = at.get(a, 0) + most
            if through < at.get(b, 0):
                at[b], changed = through, True
        if not changed:
            return False
    return True


def shortest_paths(numbers: Iterable[int], edges: Edges) -> dict[tuple[int, int], int]:
    """``(a, b) -> most that offset(b) - offset(a) can be`` by the given edges (Floyd and Warshall)."""
    every = list(numbers)
    distance = {pair: edge.most for pair, edge in edges.items()}
    for via in every:
        onward = [(b, distance[via, b]) for b in every if (via, b) in distance]
        for a in every:
            first = distance.get((a, via))
            if first is None:
                continue
            for b, second in onward:
                if first + second < distance.get((a, b), UNBOUNDED):
                    distance[a, b] = first + second
    return distance


def longest(most: int, agrees: Callable[[int], bool]) -> int:
    """The largest count up to ``most`` for which something holds that holds for all smaller ones (and for none)."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if agrees(middle):
            low = middle
        else:
            high = middle - 1
    return low
