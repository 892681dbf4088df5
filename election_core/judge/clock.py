"""Bounds on the true time between moments that different machines logged.

A machine's clock shows ``true time + offset``. Two things bound an offset: the configured ``clock_bound_ms`` of its
source, and messages. A line that one machine logged because of something on another machine cannot have happened before
its cause, so each such pair is one inequality between two offsets. Shortest paths give all that follows from them
together (:mod:`.difference_constraints`).

A clock is a row of segments (:mod:`.clock_segments`), each with an offset of its own: it is cut where its own lines go
back, and where no constant offset explains its messages. A moment near a step may belong to either side, so only
comparisons with such a moment are as wide as the step.

Messages narrow the configured bounds. Where they contradict a bound, the bound of the segment that is in most
contradictions is dropped: messages alone bound its offset then, and the contradiction is reported.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, product

from election_replay.election_core.judge.clock_blame import copier_of, is_copier, may_be_equal, owner_of
from election_replay.election_core.judge.clock_segments import Segments
from election_replay.election_core.judge.common_time import CommonTime
from election_replay.election_core.judge.difference_constraints import UNBOUNDED, Edge, contradict, shortest_paths
from election_replay.election_core.judge.moments import SLACK_US, Message, Moment, Segment, Span, Step
from election_replay.election_core.model.timing import Timeout

__all__ = [
    "UNBOUNDED",
    "Clocks",
    "Message",
    "Moment",
    "Offset",
    "Step",
    "WrongClock",
    "copier_of",
    "is_copier",
    "owner_of",
]

_TRUE_TIME = -1
"""The number that stands for true time among the segments: configured bounds are relative to it."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Bounds on how far the clock of ``source`` was ahead of true time in one segment; us, negative where it was
    behind.

    The segment covers the moments from ``first`` to ``last`` (``None``: no limit on that side). ``least`` and ``most``
    are ``None`` where nothing bounds them. ``by_bound`` is true when the configured bound holds in the segment.
    ``shown`` is how far its readings are ahead of its timeline. ``late`` is how much later its moments may have been.
    ``back`` is how far, at least, lines show that the clock was put back where the segment begins (0: no line shows
    it).
    """

    source: str
    first: int | None
    last: int | None
    least: int | None
    most: int | None
    by_bound: bool
    shown: int
    late: int
    back: int


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A clock that was out of its bounds, or was set.

    ``segments`` are all segments of the clock. ``set_by`` holds the least size of each step in us: negative where lines
    show that the clock was put back, positive where only messages show a step, which do not tell its direction.
    ``apart_us`` is the least amount by which the clock contradicts others. ``or_else`` names the clocks that would
    explain the contradiction as well; it is empty where the clock's own lines show a step.
    """

    source: str
    or_else: tuple[str, ...]
    segments: tuple[Offset, ...]
    set_by: tuple[int, ...]
    apart_us: int
    evidence: tuple[str, ...]

    @property
    def offsets(self) -> tuple[Offset, ...]:
        """Return the segments in which the configured bound does not hold."""
        return tuple(offset for offset in self.segments if not offset.by_bound)


class Clocks:
    """The bounds on the clocks of a group's machines.

    ``bounds_us`` maps each source to its configured bound. ``messages`` are causal pairs between sources; a pair may
    name the clock of the machine that copied a source's files (:func:`copier_of`), which has the bound of that source.
    ``steps`` are the places where a source's own lines show that its clock was put back. ``gaps`` maps a source to the
    gaps (begin, end) in its log: a clock may have been set forward there. ``quiet`` maps it to all times (begin, end)
    of which no fact tells, also those in which a log need not have a line; without it they are the gaps.
    """

    def __init__(
        self,
        bounds_us: Mapping[str, int],
        messages: Iterable[Message],
        steps: Iterable[Step] = (),
        gaps: Mapping[str, Sequence[tuple[int, int]]] | None = None,
        quiet: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self._messages = tuple(messages)
        clocks = {moment.source for message in self._messages for moment in (message.cause, message.effect)}
        bounds_us = {**bounds_us, **{clock: bounds_us[owner_of(clock)] for clock in clocks}}
        self._clocks = sorted(bounds_us)
        self._sources = [clock for clock in self._clocks if not is_copier(clock)]
        self._segments = Segments(bounds_us, self._messages, steps, gaps or {}, gaps or {} if quiet is None else quiet)
        self._edges = self._segments.edges()
        self._proven = shortest_paths(self._segments.numbers, self._edges)
        doubted = self._doubted()
        self._ahead = self._all_bounds(doubted)
        self._wrong = frozenset(doubted)
        self._never_set = self._as_read()
        self._put_right: frozenset[str] = frozenset()

    def _as_read(self) -> dict[str, int]:
        """Return {clock: number of its only segment} for the clocks whose timeline equals their readings."""
        segments = {clock: self._segments.of(clock) for clock in self._clocks}
        return {clock: row[0].number for clock, row in segments.items() if len(row) == 1 and not row[0].ahead}

    # -- how far apart ---------------------------------------------------------------------------------------------

    def elapsed(self, earlier: Moment, later: Moment) -> tuple[int, int]:
        """Return the (least, most) true time in us from ``earlier`` to ``later``; both may be negative. The range is
        wide for a moment near a step, which may lie on either side of it."""
        only, other = self._never_set.get(earlier.source), self._never_set.get(later.source)
        if only is not None and other is not None:  # a fast path: most clocks were never set, and this runs most
            return _between(earlier, later, self._most(only, other), self._most(other, only))
        before, after = self._segments.span(earlier), self._segments.span(later)
        ahead, behind = self._most(before.end, after.begin), self._most(after.end, before.begin)
        least, most = _between(before, after, ahead, behind)
        if self._segments.of_one_clock(before.begin, after.begin):
            # Program order holds across steps of one clock.
            least = max(least, 0) if before.end < after.begin else least
            most = min(most, 0) if after.end < before.begin else most
        return least, most

    def never_set(self, source: str) -> bool:
        """Return True when no step of a clock is known, so that its readings are in the order of its log."""
        return source in self._never_set

    def near_step(self, moment: Moment) -> bool:
        """Return True when a moment may lie on either side of a step of its clock."""
        span = self._segments.span(moment)
        return span.begin != span.end

    def surely_before_though_set(self, moment: Moment, other: Moment, silence: Moment) -> bool:
        """Return True when ``moment`` is before ``other`` even if the clock of ``other`` was set forward in a gap of
        its log. A log is silent because its process was frozen, or because its clock was set forward. ``silence`` is
        the end of the gap. Only messages that arrived after it show how far the clock was ahead then."""
        reading = self._segments.span(other)
        for message in self._messages:
            came = message.effect
            if came.source != other.source or came.at < silence.at or came.by < silence.by:
                continue
            cause, effect = self._segments.span(message.cause), self._segments.span(message.effect)
            ahead = effect.by - cause.at  # of readings, so ``by`` below converts back to the cause's timeline
            by = message.cause.at - cause.at - ahead
            if self.surely_before(moment, Moment(reading.at + by, reading.by + by, message.cause.source)):
                return True
        return False

    def placed(self, moment: Moment) -> bool:
        """Return True when the common time of a moment is known, by its clock's bound or by messages."""
        span = self._segments.span(moment)
        return all(number not in self._wrong or _known(*self._bounds_of(number)) for number in {span.begin, span.end})

    def reading(self, moment: Moment) -> tuple[int, int]:
        """Return the (earliest, latest) reading in us that the machine's clock showed at a moment."""
        span = self._segments.span(moment)
        return span.at, span.by

    def surely_before(self, moment: Moment, other: Moment) -> bool:
        """Return True when ``moment`` ends before ``other`` begins for every offset within the bounds."""
        return self.elapsed(moment, other)[0] > 0

    def most_ahead(self, source: str, other: str) -> int:
        """Return how far, at most, moments of ``source`` were ever ahead of moments of ``other``, in us. For clocks in
        common time (:meth:`in_common_time`) this is the error that is left. For ``source == other`` it is how far the
        clock was ever put back."""
        return self._most_ahead[source, other]

    @cached_property
    def widest(self) -> int:
        """Return the largest distance in us between any two of the clocks, or of one clock from itself."""
        return max((abs(most) for most in self._most_ahead.values()), default=0)

    @cached_property
    def _most_ahead(self) -> dict[tuple[str, str], int]:
        rows = {source: self._segments.of(source) for source in self._sources}
        return {
            (source, other): max(self._moments_ahead(*pair) for pair in product(rows[source], rows[other]))
            for source, other in product(self._sources, repeat=2)
        }

    def _moments_ahead(self, segment: Segment, other: Segment) -> int:
        """Return how far, at most, moments of ``segment`` are ahead of moments of ``other``, in us. The bounds hold for
        readings, so the sum converts them to the timeline. Moments near a step may be earlier or later than the limits
        of their segment."""
        most = self._most(other.number, segment.number)
        early = self._segments.beyond(segment, put_right=segment.source in self._put_right)[0]
        late = self._segments.beyond(other, put_right=other.source in self._put_right)[1]
        return most if most >= UNBOUNDED else most + segment.ahead - other.ahead + early + late

    def shown_by(self, source: str, moment: Moment) -> tuple[int | None, int | None]:
        """Return the (earliest, latest) reading in us of a source's clock at another clock's moment; ``None``: no
        bound."""
        early: list[int | None] = []
        late: list[int | None] = []
        span = self._segments.span(moment)
        for segment in self._segments.of(source):
            ahead, behind = self._most(segment.number, span.begin), self._most(span.end, segment.number)
            at = None if ahead >= UNBOUNDED else span.at - ahead + segment.ahead
            by = None if behind >= UNBOUNDED else span.by + behind + segment.ahead
            if (at is not None and at > segment.last) or (by is not None and by < segment.first):
                continue
            early.append(at if segment.first <= -UNBOUNDED else max(segment.first, segment.first if at is None else at))
            late.append(by if segment.last >= UNBOUNDED else min(segment.last, segment.last if by is None else by))
        return (
            None if not early or None in early else min(at for at in early if at is not None),
            None if not late or None in late else max(by for by in late if by is not None),
        )

    def _most(self, behind: int, ahead: int) -> int:
        """Return how far, at most, readings in segment ``ahead`` are ahead of readings in segment ``behind``, in us."""
        return 0 if behind == ahead else self._ahead.get((behind, ahead), UNBOUNDED)

    # -- which are wrong -------------------------------------------------------------------------------------------

    @property
    def stepped(self) -> frozenset[str]:
        """Return the sources whose clocks were set."""
        return frozenset(source for source in self._sources if len(self._segments.of(source)) > 1)

    def copies_itself(self, source: str) -> bool:
        """Return True when messages allow that a machine's files were copied by its own clock."""
        copier = copier_of(source)
        if copier not in self._clocks:
            return True
        pairs = product(self._segments.of(source), self._segments.of(copier))
        return any(may_be_equal(machine.number, copied.number, self._proven) for machine, copied in pairs)

    def compared(self) -> tuple[int, int]:
        """Return how many ordered pairs of sources have a message that compares them, and how many have none."""
        source_of = self._source_of(self._sources)
        ties = ((source_of.get(a), source_of.get(b)) for a, b in self._edges)
        tied = {(a, b) for a, b in ties if a is not None and b is not None and a != b}
        return len(tied), len(self._sources) * (len(self._sources) - 1) - len(tied)

    def offsets(self) -> Iterator[Offset]:
        """Yield the bounds of each clock, segment by segment."""
        for source in self._clocks:
            for segment in self._segments.of(source):
                least, most = self._bounds_of(segment.number)
                yield Offset(
                    source=source,
                    first=segment.first if segment.first > -UNBOUNDED else None,
                    last=segment.last if segment.last < UNBOUNDED else None,
                    least=least,
                    most=most,
                    by_bound=segment.number not in self._wrong,
                    shown=-segment.ahead,
                    late=self._late_by(segment),
                    back=self._segments.put_back_before(segment.number),
                )

    # -- common time -----------------------------------------------------------------------------------------------

    def in_common_time(self) -> "tuple[Clocks, CommonTime]":
        """Return these clocks with all moments corrected to common time, and the correction."""
        by = dict.fromkeys(self._segments.numbers, 0)
        for clock in self._clocks:
            by |= self._corrections(self._segments.of(clock))
        common = copy(self)
        common._segments = self._segments.shifted(by)
        common._never_set = common._as_read()
        for derived in ("widest", "_most_ahead", "wrong"):
            common.__dict__.pop(derived, None)
        rows = {clock: self._segments.of(clock) for clock in self._clocks}
        moved = {clock: row for clock, row in rows.items() if any(by[segment.number] for segment in row)}
        common._put_right = frozenset(moved)
        copied_by = {source: source if self.copies_itself(source) else copier_of(source) for source in self._sources}
        late = {
            segment.number: common._late_by(common._segments.of(clock)[place])
            for clock, row in moved.items()
            for place, segment in enumerate(row)
        }
        return common, CommonTime(moved, copied_by, by, late)

    def _corrections(self, row: Sequence[Segment]) -> dict[int, int]:
        """Return {segment number: us to subtract} for one clock, such that later lines stay later. A clock within its
        bounds is left as it is. Where two segments would change places, the one with the wider bounds moves."""
        by = [segment.ahead + offset for segment, offset in zip(row, self._assumed_offsets(row), strict=True)]
        for _ in row:
            for (first, before), (second, after) in combinations(enumerate(row), 2):
                beside = second == first + 1
                if not beside and after.first >= before.last:
                    continue
                passed = max(before.last - after.first, after.first - before.last - 1)
                excess = by[second] - by[first] - passed
                least, most = self._bounds_of(after.number)
                if excess > 0 and after.number in self._wrong and (None in (least, most) or _wide(least, most)):
                    moved = excess if least is None else min(excess, max(by[second] - after.ahead - least, 0))
                    by[second], excess = by[second] - moved, excess - moved
                if excess > 0 and beside and (before.number in self._wrong or after.number not in self._wrong):
                    by[first] += excess
                elif excess > 0 and beside:
                    by[second] -= excess
        return {segment.number: ahead for segment, ahead in zip(row, by, strict=True)}

    def _assumed_offsets(self, row: Sequence[Segment]) -> list[int]:
        """Return the offset in us that is assumed for each segment of a clock.

        A clock within its bounds has offset 0. With narrow bounds it is their middle, with wide ones their most, so
        that moments are as early as they may have been (:meth:`late_by`). Where a side is unbounded, the offset of a
        neighbouring segment is continued over the step, as if the step had taken no time.
        """
        limits = [self._bounds_of(segment.number) for segment in row]
        taken = [
            0 if segment.number not in self._wrong else _midpoint_or_most(*known)
            for segment, known in zip(row, limits, strict=True)
        ]
        known = [segment.number not in self._wrong or None not in of for segment, of in zip(row, limits, strict=True)]
        if not any(known):  # start from the first segment that may have been right
            place = next((place for place, of in enumerate(limits) if _within(0, of) == 0), 0)
            taken[place], known[place] = _within(0, limits[place]), True
        for place in range(1, len(row)):
            if not known[place] and known[place - 1]:
                set_by = _set_by(row[place - 1], row[place])
                taken[place], known[place] = _within(taken[place - 1] + set_by, limits[place]), True
        for place in range(len(row) - 2, -1, -1):
            if not known[place] and known[place + 1]:
                set_by = _set_by(row[place], row[place + 1])
                taken[place], known[place] = _within(taken[place + 1] - set_by, limits[place]), True
        return taken

    def _bounds_of(self, number: int) -> tuple[int | None, int | None]:
        """Return the (least, most) offset in us of a segment from true time; ``None`` where nothing bounds it."""
        behind = self._ahead.get((number, _TRUE_TIME))
        return None if behind is None else -behind, self._ahead.get((_TRUE_TIME, number))

    def _is_wide(self, number: int) -> bool:
        """Return True when a segment of a doubted clock is bounded on both sides, and by more than ``_NARROW``."""
        return number in self._wrong and _wide(*self._bounds_of(number))

    def late_by(self, moment: Moment) -> int:
        """Return how much later than its common time a moment may have been, in us. A clock with wide bounds gets the
        earliest common time that they allow. Zero where one side is unbounded."""
        return self._late_by(self._segments.at(moment))

    def _late_by(self, segment: Segment) -> int:
        least, _ = self._bounds_of(segment.number)
        return -segment.ahead - least if least is not None and self._is_wide(segment.number) else 0

    @cached_property
    def wrong(self) -> tuple[WrongClock, ...]:
        """Return the clocks that were wrong, each once, sorted by source."""
        found = {}
        offsets: dict[str, list[Offset]] = {}
        for offset in self.offsets():
            offsets.setdefault(offset.source, []).append(offset)
        blamed = self._blamed()
        for source in self._clocks:
            steps = [step for step in self._segments.steps if step.source == source]
            jumps = [jump for jump in self._segments.jumps if jump.source == source]
            against = blamed.get(source, [])
            if not (steps or jumps or against):
                continue
            others = [other for jump in jumps for other in (*jump.or_else, *jump.together)] + [
                other for _, others, _ in against for other in others
            ]
            found[source] = WrongClock(
                source=source,
                or_else=() if steps else tuple(sorted(set(others))),
                segments=tuple(offsets[source]),
                set_by=(*(-step.size for step in steps), *(jump.at_least for jump in jumps)),
                apart_us=max(
                    (*(step.size for step in steps), *(jump.at_least for jump in jumps), *(by for by, _, _ in against))
                ),
                evidence=tuple(
                    dict.fromkeys(
                        (
                            *(line for step in steps for line in step.evidence),
                            *(line for jump in jumps for line in jump.evidence),
                            *(line for _, _, lines in against for line in lines),
                        )
                    )
                ),
            )
        return tuple(found.values())

    def _blamed(self) -> dict[str, list[tuple[int, tuple[str, ...], tuple[str, ...]]]]:
        """Return {source: [(contradiction in us, sources that may be wrong instead, event ids)]} of wrong clocks."""
        source_of = self._source_of(self._clocks)
        blamed: dict[str, list[tuple[int, tuple[str, ...], tuple[str, ...]]]] = {}
        for first, second, by, evidence in self._contradictions():
            doubted = sorted({source_of[number] for number in (first, second) if number in self._wrong})
            if len(doubted) == 1:
                blamed.setdefault(doubted[0], []).append((by, (), evidence))
            elif doubted and source_of[first] != source_of[second]:
                blamed.setdefault(doubted[0], []).append((by, tuple(doubted[1:]), evidence))
        return blamed

    def _source_of(self, clocks: Iterable[str]) -> dict[int, str]:
        """Return {segment number: clock}."""
        return {segment.number: clock for clock in clocks for segment in self._segments.of(clock)}

    def _contradictions(self) -> Iterator[tuple[int, int, int, tuple[str, ...]]]:
        """Yield (segment, segment, least excess in us, event ids) of pairs further apart than their bounds allow."""
        for (a, b), most in sorted(self._proven.items()):
            if a != b and most < -(self._segments.bound(a) + self._segments.bound(b)):
                yield a, b, -most, self._edges[a, b].evidence if (a, b) in self._edges else ()

    def _doubted(self) -> list[int]:
        """Return the numbers of the segments whose configured bound does not hold."""
        contradicted = self._segments.out_of_bounds()
        sides = [side for side in self._segments.sides_of_steps() if not set(side) & set(contradicted)]
        doubted = list(dict.fromkeys([*contradicted, *chain.from_iterable(sides)]))
        for jump in self._segments.jumps:
            of_it = [part.number for source in (jump.source, *jump.or_else) for part in self._segments.of(source)]
            within = 2 * max(map(self._segments.bound, of_it)) + SLACK_US
            if jump.at_least > within and (len(jump.or_else) > 1 or not set(of_it) & set(doubted)):
                doubted += [number for number in of_it if number not in doubted]
        unbounded = dict(self._segments.unbounded_beside_steps())
        known = self._all_bounds([*doubted, *unbounded])
        return doubted + [
            number
            for number, beside in unbounded.items()
            if number not in doubted and not self._fits_by_steps(number, beside, known)
        ]

    def _fits_by_steps(self, number: int, beside: list[tuple[int, int]], known: dict[tuple[int, int], int]) -> bool:
        """Return True when a segment without messages may be within its bound, by the printed steps to its neighbours.
        ``beside`` holds (neighbour, least us by which the segment is ahead of it); ``known`` holds the bounds of the
        others."""
        within = self._segments.bound(number) + SLACK_US
        fits = []
        for other, ahead in beside:
            most, least = known.get((_TRUE_TIME, other)), known.get((other, _TRUE_TIME))
            if most is not None and least is not None:
                fits.append(ahead - least <= within and ahead + most >= -within)
        return bool(fits) and all(fits)

    def _all_bounds(self, doubted: list[int]) -> dict[tuple[int, int], int]:
        """Return shortest paths over messages, program order and the bounds of all but the ``doubted`` segments."""
        edges = {pair: Edge(most, ()) for pair, most in self._proven.items() if pair[0] != pair[1]}
        for number in self._segments.numbers:
            if number not in doubted and self._segments.known(number):
                edges[_TRUE_TIME, number] = edges[number, _TRUE_TIME] = Edge(self._segments.bound(number), ())
        by_order = self._segments.program_order_edges()
        every = edges | {pair: min(edge, edges.get(pair, edge)) for pair, edge in by_order.items()}
        return shortest_paths([_TRUE_TIME, *self._segments.numbers], edges if contradict(every) else every)


_NARROW = 4 * SLACK_US
"""An offset known to within this many us counts as known."""


def _wide(least: int | None, most: int | None) -> bool:
    return least is not None and most is not None and most - least > _NARROW


def _known(least: int | None, most: int | None) -> bool:
    return least is not None and most is not None and most - least <= Timeout.CLOCK_KNOWN.us


def _midpoint_or_most(least: int | None, most: int | None) -> int:
    """Return the middle of narrow bounds, the most of wide ones, the only bound where one is missing, 0 without any."""
    known = [bound for bound in (least, most) if bound is not None]
    if not known:
        return 0
    return max(known) if _wide(least, most) else sum(known) // len(known)


def _set_by(before: Segment, after: Segment) -> int:
    """Return by how much a clock was set between two segments in us, if setting it took no time."""
    return max(after.first - before.last - 1, 0) - (after.ahead - before.ahead)


def _within(offset: int, limits: tuple[int | None, int | None]) -> int:
    least, most = limits
    offset = offset if most is None else min(offset, most)
    return offset if least is None else max(offset, least)


def _between(before: Moment | Span, after: Moment | Span, ahead: int, behind: int) -> tuple[int, int]:
    """Return the (least, most) true time in us between two readings. The later clock is ahead of the earlier one by at
    most ``ahead``, and behind it by at most ``behind``."""
    least = -UNBOUNDED if ahead >= UNBOUNDED else after.at - before.by - ahead
    most = UNBOUNDED if behind >= UNBOUNDED else after.by - before.at + behind
    return max(least, -UNBOUNDED), min(most, UNBOUNDED)
