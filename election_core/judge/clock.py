"""Time across machines: never a point, always an interval; never compared unless it can be known.

A machine's clock shows ``true time + offset``. Offsets are bounded by configuration (``clock_bound_ms`` of a
source) and by messages: what is logged on one machine because of something logged on another cannot have
happened before it. Each such pair is one inequality between two offsets; what follows from all of them together is
found by shortest paths (:mod:`.difference_constraints`).

A clock is a row of segments (:mod:`.clock_segments`): it is cut where its own lines go back, and where no constant
offset explains its messages. Each segment has an offset of its own. A moment near a step may belong to either side of
it; only what is compared with such a moment is as wide as the step.

Messages narrow the configured bounds. Where they contradict them, the configured bound of the segment that is
wrong most often is dropped: its offset is then known only as far as messages prove it, and the contradiction
is reported, not smoothed away.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product

from election_replay.election_core.judge.clock_blame import copier_of, is_copier, may_show_the_same, owner_of
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
"""The number of the reference among the segments: the true time, which the configured bounds are about."""


@dataclass(frozen=True, slots=True)
class Offset:
    """How far the clock of ``source`` was ahead of true time in a segment; microseconds, negative where it was behind.

    The segment has the moments from ``first`` to ``last`` (``None``: from the first, or to the last, of all).
    ``least`` and ``most`` are ``None`` where nothing bounds them. ``by_bound``: the configured bound holds for it.
    ``shown`` is how far its readings are ahead of its moments, ``back`` how far, at least, lines show that it was put
    back at its beginning (0: none does).
    """

    source: str
    first: int | None
    last: int | None
    least: int | None
    most: int | None
    by_bound: bool
    shown: int
    back: int


@dataclass(frozen=True, slots=True)
class WrongClock:
    """The clock of ``source`` was out of its bounds, or was set.

    ``segments`` are all of its clock. ``set_by`` says how far, at least, it was set at each of its steps: back where
    negative; where only messages show a step, they do not say which way, and it is positive. ``apart_us`` is by how
    much, at least, it contradicts the others. Where the clocks of ``or_else`` would explain the same as well, it may be
    theirs that was wrong; not where its own lines show that it was set.
    """

    source: str
    or_else: tuple[str, ...]
    segments: tuple[Offset, ...]
    set_by: tuple[int, ...]
    apart_us: int
    evidence: tuple[str, ...]

    @property
    def offsets(self) -> tuple[Offset, ...]:
        """Its segments that contradict the bounds."""
        return tuple(offset for offset in self.segments if not offset.by_bound)


class Clocks:
    """What is known about the clocks of a group's machines.

    ``bounds_us`` maps each source to its configured bound. ``messages`` are causal pairs between sources; one may name
    the clock of whoever copied the files of a source (:func:`copier_of`), which has the bound of that source. ``steps``
    are the places where the own lines of a source show that its clock was put back, ``holes`` the times, from a moment
    to another, in which a source wrote nothing: there a clock may have been set forward.
    """

    def __init__(
        self,
        bounds_us: Mapping[str, int],
        messages: Iterable[Message],
        steps: Iterable[Step] = (),
        holes: Mapping[str, Sequence[tuple[int, int]]] | None = None,
    ) -> None:
        self._messages = tuple(messages)
        clocks = {moment.source for message in self._messages for moment in (message.cause, message.effect)}
        bounds_us = {**bounds_us, **{clock: bounds_us[owner_of(clock)] for clock in clocks}}
        self._clocks = sorted(bounds_us)
        self._sources = [clock for clock in self._clocks if not is_copier(clock)]
        self._segments = Segments(bounds_us, self._messages, steps, holes or {})
        self._edges = self._segments.edges()
        self._proven = shortest_paths(self._segments.numbers, self._edges)
        doubted = self._doubted()
        self._ahead = self._combined(doubted)
        self._wrong = frozenset(doubted)
        self._never_set = self._as_read()
        self._put_right: frozenset[str] = frozenset()

    def _as_read(self) -> dict[str, int]:
        """The only segments of those clocks whose moments are what they showed."""
        segments = {clock: self._segments.of(clock) for clock in self._clocks}
        return {clock: row[0].number for clock, row in segments.items() if len(row) == 1 and not row[0].ahead}

    # -- how far apart ---------------------------------------------------------------------------------------------

    def elapsed(self, earlier: Moment, later: Moment) -> tuple[int, int]:
        """The least and the most true time from ``earlier`` to ``later``, in microseconds; may be negative.

        Of a moment around a step of its clock no more is known than that: the answer is wide there.
        """
        only, other = self._never_set.get(earlier.source), self._never_set.get(later.source)
        if only is not None and other is not None:  # as most clocks are, and nothing is asked as often
            return _between(earlier, later, self._most(only, other), self._most(other, only))
        before, after = self._segments.span(earlier), self._segments.span(later)
        ahead, behind = self._most(before.end, after.begin), self._most(after.end, before.begin)
        least, most = _between(before, after, ahead, behind)
        if self._segments.of_one_clock(before.begin, after.begin):
            # What lies before a step is not after what lies behind it.
            least = max(least, 0) if before.end < after.begin else least
            most = min(most, 0) if after.end < before.begin else most
        return least, most

    def comparable(self, moment: Moment, other: Moment) -> bool:
        """Whether anything at all is known of the time between two moments."""
        least, most = self.elapsed(moment, other)
        return least > -UNBOUNDED or most < UNBOUNDED

    def never_set(self, source: str) -> bool:
        """Whether no step of a clock is known: its readings are in order, and what is surely before another reading is
        before all later ones."""
        return source in self._never_set

    def near_step(self, moment: Moment) -> bool:
        """Whether a moment may lie on either side of a step of its clock."""
        span = self._segments.span(moment)
        return span.begin != span.end

    def surely_before_though_set(self, moment: Moment, other: Moment, silence: Moment) -> bool:
        """Whether a moment lies before another one even if the clock of that one was set forward in a ``silence``.

        A silent log is that of a frozen process, or of one whose clock was set forward meanwhile. Only what came to it
        after the silence, which ended at the moment given, shows how far its clock was ahead then.
        """
        reading = self._segments.span(other)
        for message in self._messages:
            came = message.effect
            if came.source != other.source or came.at < silence.at or came.by < silence.by:
                continue
            cause, effect = self._segments.span(message.cause), self._segments.span(message.effect)
            ahead = effect.by - cause.at  # of the readings; a moment of the cause's timeline is meant
            by = message.cause.at - cause.at - ahead
            if self.surely_before(moment, Moment(reading.at + by, reading.by + by, message.cause.source)):
                return True
        return False

    def placed(self, moment: Moment) -> bool:
        """Whether it is known in common time when a moment was: of a clock in doubt only its own differences are."""
        span = self._segments.span(moment)
        return all(number not in self._wrong or _known(*self._bounds_of(number)) for number in {span.begin, span.end})

    def reading(self, moment: Moment) -> tuple[int, int]:
        """What the machine's clock showed at a moment: at least, and at most."""
        span = self._segments.span(moment)
        return span.at, span.by

    def surely_before(self, moment: Moment, other: Moment) -> bool:
        """Whether all of one moment lies before all of the other, on every clock."""
        return self.elapsed(moment, other)[0] > 0

    def most_ahead(self, source: str, other: str) -> int:
        """How far, at most, moments of ``source`` were ever ahead of moments of ``other``, in microseconds.

        Of clocks that were put right (:meth:`in_common_time`) it is what is not known of them. ``source`` and ``other``
        may be the same: then it is how far the clock was ever put back.
        """
        return self._most_ahead[source, other]

    @cached_property
    def widest(self) -> int:
        """No two of the clocks are further apart than this, in microseconds; neither is one from itself."""
        return max((abs(most) for most in self._most_ahead.values()), default=0)

    @cached_property
    def _most_ahead(self) -> dict[tuple[str, str], int]:
        rows = {source: self._segments.of(source) for source in self._sources}
        return {
            (source, other): max(self._moments_ahead(*pair) for pair in product(rows[source], rows[other]))
            for source, other in product(self._sources, repeat=2)
        }

    def _moments_ahead(self, segment: Segment, other: Segment) -> int:
        """How far, at most, moments in a segment are ahead of moments in another: these are put right, readings not.

        A moment around a step may be earlier than the first reading that may lie behind that, and later than the last.
        """
        most = self._most(other.number, segment.number)
        early = self._segments.beyond(segment, put_right=segment.source in self._put_right)[0]
        late = self._segments.beyond(other, put_right=other.source in self._put_right)[1]
        return most if most >= UNBOUNDED else most + segment.ahead - other.ahead + early + late

    def shown_by(self, source: str, moment: Moment) -> tuple[int | None, int | None]:
        """The earliest and the latest reading of a source's clock at a moment of another's (``None``: no bound)."""
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
        """How far, at most, the clock is ahead in the segment ``ahead`` of what it is in the segment ``behind``."""
        return 0 if behind == ahead else self._ahead.get((behind, ahead), UNBOUNDED)

    # -- which are wrong -------------------------------------------------------------------------------------------

    @property
    def stepped(self) -> frozenset[str]:
        """The sources whose clocks were set."""
        return frozenset(source for source in self._sources if len(self._segments.of(source)) > 1)

    def copies_itself(self, source: str) -> bool:
        """Whether the clock of who copied a machine's files may be that of the machine itself, by messages alone."""
        copier = copier_of(source)
        if copier not in self._clocks:
            return True
        pairs = product(self._segments.of(source), self._segments.of(copier))
        return any(may_show_the_same(machine.number, copied.number, self._proven) for machine, copied in pairs)

    def compared(self) -> tuple[int, int]:
        """How many ordered pairs of sources a message compares, and how many none does."""
        source_of = self._source_of(self._sources)
        ties = ((source_of.get(a), source_of.get(b)) for a, b in self._edges)
        tied = {(a, b) for a, b in ties if a is not None and b is not None and a != b}
        return len(tied), len(self._sources) * (len(self._sources) - 1) - len(tied)

    def offsets(self) -> Iterator[Offset]:
        """What is known of each clock, segment by segment."""
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
                    back=self._segments.put_back_before(segment.number),
                )

    # -- common time -----------------------------------------------------------------------------------------------

    def in_common_time(self) -> "tuple[Clocks, CommonTime]":
        """These clocks as they are once all moments are put right, and what puts them right."""
        by = dict.fromkeys(self._segments.numbers, 0)
        for clock in self._clocks:
            by |= self._put_back_by(self._segments.of(clock))
        common = copy(self)
        common._segments = self._segments.moved(by)
        common._never_set = common._as_read()
        for derived in ("widest", "_most_ahead", "wrong"):
            common.__dict__.pop(derived, None)
        rows = {clock: self._segments.of(clock) for clock in self._clocks}
        moved = {clock: row for clock, row in rows.items() if any(by[segment.number] for segment in row)}
        common._put_right = frozenset(moved)
        copied_by = {source: source if self.copies_itself(source) else copier_of(source) for source in self._sources}
        return common, CommonTime(moved, copied_by, by)

    def _put_back_by(self, row: Sequence[Segment]) -> dict[int, int]:
        """By how much each segment of a timeline is ahead of common time, so that what came later stays later.

        A clock within its bounds is taken at its word. What is known least moves first.
        """
        by = [segment.ahead + offset for segment, offset in zip(row, self._offsets_taken(row), strict=True)]
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

    def _offsets_taken(self, row: Sequence[Segment]) -> list[int]:
        """How far a clock is taken to be ahead in each of its segments.

        In the middle of what is known well. Of what is known from a least to a most, as far as may be: then moments are
        as early as they may have been (:meth:`late_by`). Where less is known, as if a step had taken no time.
        """
        limits = [self._bounds_of(segment.number) for segment in row]
        taken = [
            0 if segment.number not in self._wrong else _as_known(*known)
            for segment, known in zip(row, limits, strict=True)
        ]
        known = [segment.number not in self._wrong or None not in of for segment, of in zip(row, limits, strict=True)]
        if not any(known):  # then it is taken at its word for as long as that may be
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
        """How far a clock is ahead of true time in a segment: at least, and at most."""
        behind = self._ahead.get((number, _TRUE_TIME))
        return None if behind is None else -behind, self._ahead.get((_TRUE_TIME, number))

    def _is_wide(self, number: int) -> bool:
        """Whether it is known from a least to a most how far a clock is ahead in a segment, and not well."""
        return number in self._wrong and _wide(*self._bounds_of(number))

    def late_by(self, moment: Moment) -> int:
        """How much later than its common time a moment may have been, in microseconds: where little is known of its
        clock, common time is as early as it may be. Zero for a clock of which one side is not known at all."""
        segment = self._segments.at(moment)
        least, _ = self._bounds_of(segment.number)
        return -segment.ahead - least if least is not None and self._is_wide(segment.number) else 0

    @cached_property
    def wrong(self) -> tuple[WrongClock, ...]:
        """The clocks that were wrong, each once, in the order of their sources."""
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
            others = [other for jump in jumps for other in jump.or_else] + [
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
        """Of each source whose clock is blamed for a contradiction: by how much, or else whose, and the evidence."""
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
        """The clock of each segment, by its number."""
        return {segment.number: clock for clock in clocks for segment in self._segments.of(clock)}

    def _contradictions(self) -> Iterator[tuple[int, int, int, tuple[str, ...]]]:
        """Pairs of segments that are further apart than their bounds allow: by how much at least, and the evidence."""
        for (a, b), most in sorted(self._proven.items()):
            if a != b and most < -(self._segments.bound(a) + self._segments.bound(b)):
                yield a, b, -most, self._edges[a, b].evidence if (a, b) in self._edges else ()

    def _doubted(self) -> list[int]:
        """The segments whose configured bound does not hold."""
        doubted = list(self._segments.out_of_bounds())
        for before, after in self._segments.sides_of_steps():
            if before not in doubted and after not in doubted:
                doubted += [before, after]
        for jump in self._segments.jumps:
            of_it = [part.number for source in (jump.source, *jump.or_else) for part in self._segments.of(source)]
            within = 2 * max(map(self._segments.bound, of_it)) + SLACK_US
            if jump.at_least > within and (len(jump.or_else) > 1 or not set(of_it) & set(doubted)):
                doubted += [number for number in of_it if number not in doubted]
        untold = dict(self._segments.untold())
        known = self._combined([*doubted, *untold])
        return doubted + [
            number
            for number, beside in untold.items()
            if number not in doubted and not self._fits(number, beside, known)
        ]

    def _fits(self, number: int, beside: list[tuple[int, int]], known: dict[tuple[int, int], int]) -> bool:
        """Whether a segment of which no message tells may be within its bounds, by the steps to those next to it."""
        within = self._segments.bound(number) + SLACK_US
        fits = []
        for other, ahead in beside:
            most, least = known.get((_TRUE_TIME, other)), known.get((other, _TRUE_TIME))
            if most is not None and least is not None:
                fits.append(ahead - least <= within and ahead + most >= -within)
        return bool(fits) and all(fits)

    def _combined(self, doubted: list[int]) -> dict[tuple[int, int], int]:
        """Messages and the configured bounds that they do not contradict, together."""
        edges = {pair: Edge(most, ()) for pair, most in self._proven.items() if pair[0] != pair[1]}
        for number in self._segments.numbers:
            if number not in doubted and self._segments.known(number):
                edges[_TRUE_TIME, number] = edges[number, _TRUE_TIME] = Edge(self._segments.bound(number), ())
        in_turn = {pair: min(edge, edges.get(pair, edge)) for pair, edge in self._segments.in_turn().items()}
        every = edges | in_turn
        return shortest_paths([_TRUE_TIME, *self._segments.numbers], edges if contradict(every) else every)


_NARROW = 4 * SLACK_US
"""An offset that is known to within so much is as good as known."""


def _wide(least: int | None, most: int | None) -> bool:
    return least is not None and most is not None and most - least > _NARROW


def _known(least: int | None, most: int | None) -> bool:
    return least is not None and most is not None and most - least <= Timeout.CLOCK_KNOWN.us


def _as_known(least: int | None, most: int | None) -> int:
    """The middle of what is known well, else the most."""
    known = [bound for bound in (least, most) if bound is not None]
    if not known:
        return 0
    return max(known) if _wide(least, most) else sum(known) // len(known)


def _set_by(before: Segment, after: Segment) -> int:
    """By how much a clock was set between two segments, if that took no time, as far as its log shows it."""
    return max(after.first - before.last - 1, 0) - (after.ahead - before.ahead)


def _within(offset: int, limits: tuple[int | None, int | None]) -> int:
    least, most = limits
    offset = offset if most is None else min(offset, most)
    return offset if least is None else max(offset, least)


def _between(before: Moment | Span, after: Moment | Span, ahead: int, behind: int) -> tuple[int, int]:
    """The least and the most true time between two readings, where the later clock is that much ahead, or behind."""
    least = -UNBOUNDED if ahead >= UNBOUNDED else after.at - before.by - ahead
    most = UNBOUNDED if behind >= UNBOUNDED else after.by - before.at + behind
    return max(least, -UNBOUNDED), min(most, UNBOUNDED)
