"""Difference constraints: upper bounds on differences of offsets, whether they are consistent, and what they imply. The
tightest implied bounds are shortest paths (Bellman 1958; Cormen et al., "Difference constraints and shortest
paths")."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

UNBOUNDED = 1 << 60
"""A number larger than any difference of two moments in us: no bound."""


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """An upper bound: one segment's offset exceeds another's by at most ``most`` us. ``evidence``: event ids."""

    most: int
    evidence: tuple[str, ...]


Edges = dict[tuple[int, int], Edge]
"""``(a, b)``: the most by which the offset of ``b`` exceeds the offset of ``a``."""
Proven = Mapping[tuple[int, int], int]
"""``(a, b)``: the same bound in us, implied by all messages together."""


def without(edges: Edges, numbers: Iterable[int]) -> Edges:
    """Return the edges that touch none of the given segments."""
    left_out = set(numbers)
    return {pair: edge for pair, edge in edges.items() if not left_out & set(pair)}


def contradict(edges: Edges) -> bool:
    """Return True when the bounds are inconsistent: a negative cycle exists (Bellman and Ford)."""
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
    """Return ``{(a, b): largest possible offset(b) - offset(a)}`` implied by the edges (Floyd and Warshall)."""
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
    """Return the largest count up to ``most`` for which ``agrees`` holds; it must hold for every smaller count too."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if agrees(middle):
            low = middle
        else:
            high = middle - 1
    return low
