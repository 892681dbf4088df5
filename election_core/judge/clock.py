"""Time across machines: never a point, always an interval; never compared unless it can be known.

A machine's clock shows ``true time + offset``. Offsets are bounded by configuration (``clock_bound_ms`` of a
source) and by messages: what is logged on one machine because of something logged on another cannot have
happened before it. Each such pair is one inequality between two offsets. Together they are difference
constraints whose tightest consequences are shortest paths (Bellman 1958; Cormen et al., "Difference
constraints and shortest paths").

Messages narrow the configured bounds. Where they contradict them, the configured bound of the machine that is
wrong most often is dropped: its offset is then known only as far as messages prove it, and the contradiction
is reported, not smoothed away.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

UNBOUNDED = 1 << 60
"""Larger than any difference of two moments, in microseconds."""

WANDER_US = 50_000
"""How far two clocks may part between a message that compares them and the moments that are judged by it.

A clock that is kept within its bound is slewed back and forth, a free one gains or loses up to 100 us a second. Whole
seconds blur more than that.
"""


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """A moment on the clock of ``source``: it lies in ``[at, by]`` (microseconds UTC of that clock)."""

    at: int
    by: int
    source: str
    event_id: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """``effect`` was logged because of ``cause``, on another machine: it cannot have happened before."""

    cause: Moment
    effect: Moment


@dataclass(frozen=True, slots=True, order=True)
class Skew:
    """Messages prove that the clock of ``behind`` is at least ``at_least_us`` behind the clock of ``ahead``.

    ``ahead == behind`` means that one clock stepped: no constant offset explains the messages. Where the step of
    another clock would explain them as well, ``or_else`` names it.
    """

    ahead: str
    behind: str
    at_least_us: int
    evidence: tuple[str, ...]
    or_else: tuple[str, ...] = ()


class Clocks:
    """What is known about the clocks of a group's machines.

    ``bounds_us`` maps each source to its configured bound. ``messages`` are causal pairs between sources. ``steps_us``
    are the clocks that were put back further than their bounds allow, and how far: neither a bound nor a message holds
    for all of such a clock's times.
    """

    def __init__(
        self, bounds_us: dict[str, int], messages: Iterable[Message], steps_us: Mapping[str, int] | None = None
    ) -> None:
        self._steps = dict(steps_us or {})
        self._sources = sorted(bounds_us)
        self._tightest = _tightest_messages(
            message for message in messages if not {message.cause.source, message.effect.source} & self._steps.keys()
        )
        choices = self._fewest_that_stepped()
        stepped = {source for choice in choices for source in choice}
        proven = self._paths_without(stepped)
        self.skews = (*self._contradictions(proven, bounds_us), *self._jumps(choices))
        trusted = dict(bounds_us)
        for source in _least_trustworthy(self.skews):
            trusted.pop(source, None)
        self._ahead = self._combine(proven, trusted, stepped | self._steps.keys())

    @property
    def put_back(self) -> frozenset[str]:
        """The clocks that were put back: their times are not compared with those of others."""
        return frozenset(self._steps)

    def compared(self) -> tuple[int, int]:
        """How many ordered pairs of sources a message compares, and how many none does."""
        pairs = len(self._sources) * (len(self._sources) - 1)
        compared = sum(1 for a, b in self._tightest if a != b)
        return compared, pairs - compared

    @cached_property
    def widest(self) -> int:
        """No two of the clocks are further apart than this, in microseconds; neither is one from itself."""
        return max((abs(self.most_ahead(a, b)) for a in self._sources for b in self._sources), default=0)

    def most_ahead(self, source: str, other: str) -> int:
        """How far, at most, the clock of ``source`` is ahead of the clock of ``other``, in microseconds."""
        if source == other:
            return self._steps.get(source, 0)
        return self._ahead.get((other, source), UNBOUNDED)

    def elapsed(self, earlier: Moment, later: Moment) -> tuple[int, int]:
        """The least and the most true time from ``earlier`` to ``later``, in microseconds; may be negative."""
        least = later.at - earlier.by - self.most_ahead(later.source, earlier.source)
        most = later.by - earlier.at + self.most_ahead(earlier.source, later.source)
        return max(least, -UNBOUNDED), min(most, UNBOUNDED)

    def _shortest_paths(self, edges: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
        """``(a, b) -> most that offset(b) - offset(a) can be`` by the given edges (Floyd and Warshall)."""
        distance = dict(edges)
        for via in self._sources:
            for a in self._sources:
                first = distance.get((a, via))
                if first is None:
                    continue
                for b in self._sources:
                    second = distance.get((via, b))
                    if second is not None and first + second < distance.get((a, b), UNBOUNDED):
                        distance[(a, b)] = first + second
        return distance

    def _paths_without(self, sources: Iterable[str]) -> dict[tuple[str, str], int]:
        """What the messages prove that none of ``sources`` sent or got."""
        left_out = set(sources)
        edges = {pair: weight for pair, (weight, _) in self._tightest.items() if not left_out & set(pair)}
        return self._shortest_paths(edges)

    def _fewest_that_stepped(self) -> list[tuple[str, ...]]:
        """The smallest sets of clocks without which the messages contradict each other no more; often just one."""
        for count in range(len(self._sources) + 1):
            choices = [one for one in combinations(self._sources, count) if not _contradict(self._paths_without(one))]
            if choices:
                return [choice for choice in choices if choice]
        return []

    def _jumps(self, choices: list[tuple[str, ...]]) -> Iterator[Skew]:
        """The clocks that stepped, each by no less than its messages contradict each other."""
        if not choices:
            return
        rest = self._paths_without(choices[0])
        or_else = tuple(source for choice in choices[1:] for source in choice if source not in choices[0])
        for source in choices[0]:
            there = [(weight, pair[1], ids) for pair, (weight, ids) in self._tightest.items() if pair[0] == source]
            back = [(weight, pair[0], ids) for pair, (weight, ids) in self._tightest.items() if pair[1] == source]
            around = [
                (out + (0 if a == b else rest.get((a, b), UNBOUNDED)) + home, (*ids, *others))
                for out, a, ids in there
                for home, b, others in back
            ]
            weight, evidence = min(around)
            yield Skew(source, source, -weight, tuple(dict.fromkeys(evidence)), tuple(dict.fromkeys(or_else)))

    def _contradictions(self, proven: dict[tuple[str, str], int], bounds_us: dict[str, int]) -> tuple[Skew, ...]:
        skews = []
        for (a, b), most in sorted(proven.items()):
            if a != b and most < -(bounds_us[a] + bounds_us[b]):
                evidence = self._tightest.get((a, b), (0, ()))[1]
                skews.append(Skew(a, b, -most, evidence))
        return tuple(skews)

    def _combine(
        self, proven: dict[tuple[str, str], int], trusted: dict[str, int], stepped: set[str]
    ) -> dict[tuple[str, str], int]:
        """Messages and the configured bounds that they do not contradict, together."""
        edges = {pair: weight for pair, weight in proven.items() if pair[0] != pair[1] and not stepped & set(pair)}
        reference = ""
        for source, bound in trusted.items():
            if source not in stepped:
                edges[(reference, source)] = bound
                edges[(source, reference)] = bound
        for a in self._sources:
            for b in self._sources:
                here = edges.get((a, reference), UNBOUNDED) + edges.get((reference, b), UNBOUNDED)
                if a != b and here < edges.get((a, b), UNBOUNDED):
                    edges[(a, b)] = here
        return self._shortest_paths(edges)


def _contradict(paths: dict[tuple[str, str], int]) -> bool:
    """Whether some machine would have to be ahead of itself."""
    return any(a == b and most < 0 for (a, b), most in paths.items())


def _tightest_messages(messages: Iterable[Message]) -> dict[tuple[str, str], tuple[int, tuple[str, ...]]]:
    """For each ordered pair of sources the message that says most: ``(bound, evidence)``."""
    tightest: dict[tuple[str, str], tuple[int, tuple[str, ...]]] = {}
    for message in sorted(messages):
        cause, effect = message.cause, message.effect
        if cause.source == effect.source:
            continue
        evidence = tuple(e for e in (cause.event_id, effect.event_id) if e)
        wander = WANDER_US if effect.by - effect.at < WANDER_US else 0
        candidate = (effect.by - cause.at + wander, evidence)
        pair = (cause.source, effect.source)
        if pair not in tightest or candidate < tightest[pair]:
            tightest[pair] = candidate
    return tightest


def _least_trustworthy(skews: tuple[Skew, ...]) -> list[str]:
    """The fewest sources without which no contradiction is left: always the one in most of them first."""
    left = [skew for skew in skews if skew.ahead != skew.behind]
    dropped = []
    while left:
        counts: dict[str, int] = {}
        for skew in left:
            for source in (skew.ahead, skew.behind):
                counts[source] = counts.get(source, 0) + 1
        most = max(counts.values())
        worst = [source for source, count in sorted(counts.items()) if count == most]
        # Two machines that contradict each other and nobody else: either may be wrong, so trust neither.
        gone = worst if len(counts) == 2 else worst[:1]
        dropped += gone
        left = [skew for skew in left if skew.ahead not in gone and skew.behind not in gone]
    return dropped
