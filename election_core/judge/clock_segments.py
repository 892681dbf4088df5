"""A clock as a row of segments: cut where it was set, so that each piece has one offset.

    reading    12:00 ... 12:40 | 12:39 ... 13:00        its own lines go back by a minute: a step
    timeline   12:00 ... 12:40 | 12:40 ... 13:01        in program order (:mod:`election_core.fold.program_order`)
    segments   [    first    ]   [   second    ]        behind the step the timeline is ahead of the reading by a minute

Moments are those of the timeline of their source; offsets are those of its readings.

Where lines do not show a step (a clock that is set forward looks like a silent log), messages do: no constant offset
explains them. The step then lies between the first message that contradicts those before it, and the last of those that
it contradicts. A clock that goes back by more than its bounds allow, and is right afterwards, must have been set
forward before: the region reaches back to the last message that shows it to be right.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations, pairwise
from operator import attrgetter

from election_replay.election_core.judge.clock_blame import (
    AGREE_US,
    fewest_to_blame,
    not_to_trust,
    one_more_to_blame,
    owner_of,
)
from election_replay.election_core.judge.difference_constraints import (
    UNBOUNDED,
    Edge,
    Edges,
    Proven,
    contradict,
    shortest_paths,
    without,
)
from election_replay.election_core.judge.moments import (
    SLACK_US,
    STEPS_AT_MOST,
    Jump,
    Message,
    Moment,
    Segment,
    Span,
    Step,
    between_steps,
    cut_at,
    incomparable,
    shifted,
)
from election_replay.election_core.judge.placed_messages import Placed, from_begin, tightest, to_end
from election_replay.election_core.model.timing import Timeout

_TIGHT_US = 4 * SLACK_US
"""A message that bounds a clock's offset to within this many us shows that the clock was not yet set."""


class Segments:
    """The segments of all clocks of a group, and the messages between them; cut and widened when it is constructed."""

    def __init__(
        self,
        bounds_us: Mapping[str, int],
        messages: Iterable[Message],
        steps: Iterable[Step],
        gaps: Mapping[str, Sequence[tuple[int, int]]],
        quiet: Mapping[str, Sequence[tuple[int, int]]],
    ) -> None:
        self._bounds, self._gaps, self._quiet = bounds_us, gaps, quiet
        self._messages = sorted(message for message in messages if message.cause.source != message.effect.source)
        self._compared = {end.source for message in self._messages for end in (message.cause, message.effect)}
        self.steps = tuple(sorted(step for step in set(steps) if step.source in bounds_us))
        self.jumps: list[Jump] = []
        self._steps = {source: [step for step in self.steps if step.source == source] for source in bounds_us}
        rows = {source: cut_at(source, self._steps[source]) for source in sorted(bounds_us)}
        self._set_rows(rows)
        for _ in range(STEPS_AT_MOST * len(rows)):
            if not self._cut_where_messages_contradict():
                break
        else:
            self._drop_uncertain_clocks()
        self._cut_before_steps()
        apart = self._cut_where_uncorroborated()
        for source in sorted(self._compared):
            self._widen(source)
        left = {placed.message for placed in self._placed}
        self.jumps += [jump for message, jump in apart.items() if message not in left]

    # -- reading ---------------------------------------------------------------------------------------------------

    @property
    def numbers(self) -> range:
        """The numbers of all segments."""
        return range(len(self._all))

    def of(self, source: str) -> list[Segment]:
        """Return the segments of a clock, in the order of its log."""
        return self._rows[source]

    def _owner(self, number: int) -> str:
        """Return the source of a segment's clock, also for the clock that copied its files: the two never
        contradict."""
        return owner_of(self._all[number].source)

    def bound(self, number: int) -> int:
        """Return the configured bound of a segment's clock, in us."""
        return self._bounds[self._all[number].source]

    def known(self, number: int) -> bool:
        """Return True when bounds and messages hold for the segment."""
        return self._all[number].known

    def span(self, moment: Moment) -> Span:
        """Return the readings and the segments between which a moment lies; more than one segment near a step."""
        row = self._rows[moment.source]
        if len(row) == 1:
            return Span(row[0].number, moment.at - row[0].ahead, row[0].number, moment.by - row[0].ahead)
        begin = next(segment for segment in row if segment.last >= moment.at)
        end = next(segment for segment in reversed(row) if segment.first <= moment.by)
        if end.number < begin.number:
            begin, end = end, begin
        if begin is end:
            return Span(begin.number, moment.at - begin.ahead, end.number, moment.by - end.ahead)
        first, last = row[row.index(begin) + 1].first, row[row.index(end) - 1].last
        at, by = min(moment.at, first, begin.lasted), max(moment.by, last, end.begun)
        return Span(begin.number, at - begin.ahead, end.number, by - end.ahead)

    def at(self, moment: Moment) -> Segment:
        """Return the segment of a moment; the first one where it may lie in several."""
        return next(segment for segment in self._rows[moment.source] if segment.last >= moment.at)

    def beyond(self, segment: Segment, *, put_right: bool) -> tuple[int, int]:
        """Return how much (earlier, later) in us a moment of a segment may be than the segment's own limits say. Near a
        step it may be as early as the next segment begins and as late as the previous one ends. Corrected moments
        (``put_right``) are that wide already; messages may leave open more."""
        row = self._rows[segment.source]
        place = row.index(segment)
        early = late = 0
        if place + 1 < len(row):
            first = row[place + 1].first
            early = (first if put_right else segment.last) - min(first, segment.lasted)
        if place:
            last = row[place - 1].last
            late = max(last, segment.begun) - (last if put_right else segment.first)
        return max(early, 0), max(late, 0)

    def shifted(self, by: Mapping[int, int]) -> "Segments":
        """Return the same segments, each earlier by ``by[number]`` us."""
        right = copy(self)
        right._rows = {source: list(shifted(row, by)) for source, row in self._rows.items()}
        right._all = sorted((segment for row in right._rows.values() for segment in row), key=attrgetter("number"))
        steps = []
        for step in self.steps:
            before = next(segment for segment in self._rows[step.source] if segment.last >= step.at)
            steps.append(replace(step, at=step.at - by[before.number]))
        right.steps = tuple(steps)
        return right

    def of_one_clock(self, number: int, other: int) -> bool:
        """Return True when two segments belong to one clock."""
        return self._all[number].source == self._all[other].source

    def edges(self) -> Edges:
        """Return the tightest bound that a message proves for each ordered pair of segments."""
        return tightest(self._placed)

    def out_of_bounds(self) -> list[int]:
        """Return the segments that messages prove to be outside of their configured bounds."""
        clock_of = {number: self._all[number].source for number in self.numbers}
        bounds = {number: self.bound(number) for number in self.numbers}
        was_set = {step.source for step in self.steps}.union(*({jump.source, *jump.or_else} for jump in self.jumps))
        return not_to_trust(clock_of, bounds, self.edges(), was_set, self)

    def compared(self, number: int, third: int, other: int) -> bool:
        """Return True when messages show ``number`` and ``third`` to agree once ``other`` contradicts ``number``."""
        first = self._contradicted_at(number, [other])
        between = (each for each in self._placed if {each.cause, each.effect} == {number, third})
        after = tightest(each for each in between if first == UNBOUNDED or each.at(number) >= first)
        within = self.bound(number) + self.bound(third) + AGREE_US
        return all(pair in after and after[pair].most <= within for pair in ((number, third), (third, number)))

    def was_right(self, other: int, number: int) -> bool:
        """Return True when the clock of ``other`` was put back, or agreed with another before contradicting
        ``number``."""
        first = self._contradicted_at(other, [number])
        row = (segment.number for segment in self._rows[self._all[other].source] if segment.number <= other)
        earlier = (placed for each in row for placed in self._of_segment(each) if placed.at(each) < first)
        return self._put_back([other]) > 0 or any(map(self._agrees, earlier))

    def _agrees(self, placed: Placed) -> bool:
        """Return True when the bound that a message proves is within the configured bounds plus ``AGREE_US``."""
        return abs(placed.most) <= self.bound(placed.cause) + self.bound(placed.effect) + AGREE_US

    def shown_back(self, number: int) -> int:
        """Return how far, at least, lines show the clock of ``number`` to be put back up to there, in us."""
        return sum(step.size for step in self._printed_between(self.of(self._all[number].source)[0].number, number))

    def shown_back_later(self, number: int) -> int:
        """Return how far, at least, lines show the clock of ``number`` to be put back from there on, in us."""
        return sum(step.size for step in self._printed_between(number, self.of(self._all[number].source)[-1].number))

    def may_be_set_forward(self, number: int, other: int, by: int) -> bool:
        """Return True when times without a fact have room for a step of ``by`` us before ``other`` contradicts
        ``number``."""
        segment, first = self._all[number], self._contradicted_at(number, [other])
        gaps = (gap for gap in self._quiet.get(segment.source, ()) if segment.first <= gap[1] <= first)
        return sum(end - begin for begin, end in gaps) >= by - self.bound(number) - self.bound(other) - AGREE_US

    def _contradicted_at(self, number: int, others: Collection[int]) -> int:
        """Return the earliest moment at which a message contradicts the bounds of ``number``; else UNBOUNDED."""
        return min((placed.moment(number).at for placed in self._contradicting(number, others)), default=UNBOUNDED)

    def _contradicting(self, number: int, others: Collection[int]) -> Iterator[Placed]:
        """Yield the messages that show a segment to be further from ``others`` than the configured bounds allow."""
        for placed in self._placed:
            ends = {placed.cause, placed.effect}
            if number in ends and ends & set(others) and placed.most < -sum(map(self.bound, ends)):
                yield placed

    def sides_of_steps(self) -> Iterator[tuple[int, int]]:
        """Yield the segments (before, after) of each printed step that is larger than the configured bounds allow."""
        for step in self.steps:
            sides = self._sides(step)
            if sides is not None and step.size > 2 * self._bounds[step.source] + SLACK_US:
                yield sides

    def unbounded_beside_steps(self) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield the segments that no pair of messages bounds, of clocks that messages do compare. Each comes with
        [(neighbour, least us by which the segment is ahead of it)], by the printed steps."""
        for source in sorted(self._compared):
            row, steps = self._rows[source], self._bound_by_messages(source)
            for segment in row if len(row) > 1 else ():
                if segment.number not in steps:
                    sides = [(side, step.size) for step in self.steps if (side := self._sides(step)) is not None]
                    after = [(after_step, size) for (before, after_step), size in sides if before == segment.number]
                    yield (
                        segment.number,
                        after
                        + [(before, -size) for (before, after_step), size in sides if after_step == segment.number],
                    )

    # -- cutting ---------------------------------------------------------------------------------------------------

    def _set_rows(self, rows: Mapping[str, Sequence[Segment]]) -> None:
        """Number the segments of all clocks anew, and find the messages between them again."""
        self._all: list[Segment] = []
        self._rows: dict[str, list[Segment]] = {}
        for source, row in rows.items():
            numbered = [replace(segment, number=len(self._all) + number) for number, segment in enumerate(row)]
            self._all += numbered
            self._rows[source] = numbered
        self._placed = list(self._place())

    def _place(self) -> Iterator[Placed]:
        """Yield the messages of which both ends lie in one known segment each."""
        for message in self._messages:
            cause, effect = self.span(message.cause), self.span(message.effect)
            alone = cause.begin == cause.end and effect.begin == effect.end
            if alone and self._all[cause.begin].known and self._all[effect.begin].known:
                ahead = self._all[effect.begin].ahead - self._all[cause.begin].ahead
                yield Placed(message, cause.begin, effect.begin, ahead)

    def _cut(self, number: int, steps: Iterable[tuple[int, int]]) -> None:
        """Cut a segment at ``steps``, each a range (first, last) of moments in which the clock was set."""
        whole = self._all[number]
        row = self._rows[whole.source]
        regions = [(after.first, before.last) for before, after in pairwise(row)]
        cut = between_steps(whole.source, [*regions, *steps], self._steps[whole.source])
        self._set_rows({**self._rows, whole.source: cut})

    def _cut_where_messages_contradict(self) -> bool:
        """Cut the fewest clocks that explain a contradiction between messages; return True when there was one."""
        edges = self.edges()
        if not contradict(edges):
            return False
        choices = self._fewest_that_stepped(edges)
        jumps = list(self._jumps(edges, choices))
        self.jumps += jumps
        at_least = {jump.source: jump.at_least for jump in jumps}
        regions = {
            number: [
                self._in_log_gap(number, region, at_least.get(self._all[number].source, 0))
                for region in self._regions(number, choice)
            ]
            for choice in choices
            for number in choice
        }
        for number in sorted(regions, reverse=True):
            self._cut(number, regions[number])
        return True

    def _fewest_that_stepped(self, edges: Edges) -> list[tuple[int, ...]]:
        """Return the smallest sets of segments whose steps would explain all contradictions; often just one. Clocks
        that their own lines show to be put back are preferred: they were set before, or are set again."""
        return fewest_to_blame(self.numbers, edges, self._put_back, self._steps_of)

    def _steps_of(self, choice: Sequence[int]) -> int:
        """Return the least number of steps if the segments of ``choice`` were set. It is UNBOUNDED where they agree
        closely after that: clocks are not set to the same time by accident."""
        apart = [max(both) for both in self._apart_after(choice)]
        alike = bool(apart) and max(apart) <= AGREE_US
        return UNBOUNDED if alike else sum(len(list(self._regions(number, choice))) for number in choice)

    def _set_apart(self, choice: Sequence[int]) -> bool:
        """Return True when no message shows, after that, that the segments of ``choice`` were set alike."""
        return any(min(both) > AGREE_US for both in self._apart_after(choice))

    def _apart_after(self, choice: Sequence[int]) -> list[tuple[int, int]]:
        """Return how far, at most, each two segments of ``choice`` were apart, either way, after they were set."""
        regions = {number: list(self._regions(number, choice)) for number in choice}
        since = {number: of_number[0][1] for number, of_number in regions.items() if of_number}
        after = [
            placed
            for placed in self._placed
            if all(placed.moment(end).by >= since.get(end, UNBOUNDED) for end in (placed.cause, placed.effect))
        ]
        paths = shortest_paths(choice, tightest(after))
        return [(paths.get((a, b), UNBOUNDED), paths.get((b, a), UNBOUNDED)) for a, b in combinations(choice, 2)]

    def _put_back(self, numbers: Iterable[int]) -> int:
        """Return how many of the segments are of clocks that lines show to be put back."""
        stepped = {step.source for step in self.steps}
        return sum(self._all[number].source in stepped for number in numbers)

    def _jumps(self, edges: Edges, choices: list[tuple[int, ...]]) -> Iterator[Jump]:
        """Yield the clocks of the first choice that stepped, each with the least size that the messages prove."""
        rest = shortest_paths(self.numbers, without(edges, choices[0]))
        chosen = {self._all[number].source for number in choices[0]}
        others = (self._all[number].source for choice in choices[1:] for number in choice)
        or_else = tuple(sorted(set(others) - chosen))
        several = one_more_to_blame(choices[0], self.numbers, edges, self._set_apart) if self.steps else ()
        together = tuple(sorted({self._all[number].source for number in several} - chosen))
        for number in choices[0]:
            there = [(edge, b) for (a, b), edge in edges.items() if a == number]
            back = [(edge, a) for (a, b), edge in edges.items() if b == number]
            around = [
                Edge(
                    out.most + (0 if a == b else rest.get((a, b), UNBOUNDED)) + home.most,
                    tuple(dict.fromkeys((*out.evidence, *home.evidence))),
                )
                for out, a in there
                for home, b in back
            ]
            if around and min(around).most < 0:
                yield Jump(self._all[number].source, -min(around).most, or_else, min(around).evidence, together)

    def _regions(self, number: int, choice: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a segment in which its clock was set: each between two contradicting messages."""
        rest = without(self.edges(), choice)
        aside = set(choice) - {number}
        of_segment = [placed for placed in self._of_segment(number) if not aside & {placed.cause, placed.effect}]
        begin = 0
        for _ in range(STEPS_AT_MOST + 1):
            agreeing = from_begin(of_segment[begin:], rest)
            end = begin + max(agreeing, 1)
            if end >= len(of_segment):
                return
            since = of_segment[end - min(to_end(of_segment[: end + 1], rest), end)]
            before, behind = since.moment(number), of_segment[end].moment(number)
            # Lines show that this clock was put back. A message that it received bounds how far it was ahead: if it was
            # further ahead later, it was set right strictly between the two moments.
            forward = self._put_back([number]) and since.effect == number and before.by < behind.at - 1
            exact = max(before.width, behind.width) <= Timeout.CLOCK_EXACT.us and before.by < behind.at - 1
            yield (before.by + 1, behind.at - 1) if forward or exact else (before.at, behind.by)
            begin = end

    def _of_segment(self, number: int) -> list[Placed]:
        """Return the messages of one segment in the order of its clock."""
        of_segment = (placed for placed in self._placed if number in (placed.cause, placed.effect))
        return sorted(of_segment, key=lambda placed: (placed.at(number), placed))

    def _in_log_gap(self, number: int, region: tuple[int, int], at_least: int) -> tuple[int, int]:
        """Return the only log gap in ``region`` with room for a forward step of ``at_least`` us, else ``region``."""
        gaps = [
            (begin, end)
            for begin, end in self._gaps.get(self._all[number].source, ())
            if begin <= region[1] and region[0] <= end and end - begin >= at_least - SLACK_US
        ]
        return (gaps[0][1], gaps[0][0]) if len(gaps) == 1 and at_least >= Timeout.SILENCE.us else region

    def program_order_edges(self) -> Edges:
        """Return the bounds that follow from program order: what is before a step came before what is behind it."""
        edges = {}
        for row in self._rows.values():
            for before, after in pairwise(row):
                if not (before.known and after.known):
                    continue
                passed = abs(after.first - before.last) + (2 * SLACK_US if after.first > before.last else 0)
                edges[before.number, after.number] = Edge(passed - (after.ahead - before.ahead), ())
        return edges

    def _cut_before_steps(self) -> None:
        """Cut behind the last message that shows a clock right, where a step back implies a forward step before it."""
        for step in self.steps:
            sides = self._sides(step)
            if sides is None or step.size <= 2 * self._bounds[step.source] + SLACK_US:
                continue
            before, after = sides
            within = set(self.numbers) - {before, *self.out_of_bounds()}
            edges = self.edges() | self._bounded(within)
            placed = self._of_segment(before)
            rest = without(edges, (before,)) | {(before, after): Edge(-step.size, step.evidence)}
            if contradict(rest):
                continue
            free = to_end(placed, rest)
            if free < len(placed):
                since = placed[len(placed) - free - 1].moment(before).at
                if self._still_wrong_after(step, since, sides, within):
                    continue
                back = shortest_paths(self.numbers, self.edges()).get((after, before))
                size = step.size - (2 * self._bounds[step.source] + SLACK_US if back is None else back)
                self._cut(before, [self._in_log_gap(before, (since, self._all[before].last), size)])

    def _still_wrong_after(self, step: Step, since: int, sides: tuple[int, int], within: set[int]) -> bool:
        """Return True when a clock shows less behind a step than when it was right, and no unset clock denies it."""
        before, after = sides
        went_on = step.at + 1 - self._all[after].ahead - since + self._all[before].ahead
        if went_on >= -2 * self._bounds[step.source] - SLACK_US:
            return False
        was_set = {segment.number for row in self._rows.values() for segment in row[1:]}
        edges = without(self.edges() | self._bounded(within - was_set), (before,))
        placed = self._of_segment(before)
        return to_end(placed, edges | {sides: Edge(-step.size, step.evidence)}) == len(placed)

    def _cut_where_uncorroborated(self) -> dict[Message, Jump]:
        """Cut a contradicted clock behind the last message in which a third clock agrees with it: it may have been set
        since. Returns the jump for the message that contradicts it most."""
        doubted = set(self.out_of_bounds())
        cuts: dict[int, tuple[int, int]] = {}
        jumps: dict[Message, Jump] = {}
        for number in sorted(doubted, reverse=True):
            others = {each for each in doubted if self._owner(each) != self._owner(number)}
            against = list(self._contradicting(number, others))
            most = min((placed.most for placed in against), default=0) + AGREE_US
            first = min((each.at(number) for each in against if each.most <= most), default=UNBOUNDED)
            near = (each.at(number) for each in self._of_segment(number) if self._agrees(each))
            before = [at for at in near if at < first]
            if before and first < UNBOUNDED:
                cuts[number] = before[-1] + 1, first - 1
                worst = min(against, key=attrgetter("most"))
                or_else = tuple(self._all[end].source for end in (worst.cause, worst.effect) if end != number)
                jumps[worst.message] = Jump(self._all[number].source, -worst.most, or_else, worst.edge.evidence)
        for number, region in cuts.items():
            self._cut(number, [region])
        return jumps

    def _bounded(self, numbers: Iterable[int]) -> Edges:
        """Return the tighter of message and configured bounds for each pair of the given segments."""
        known = [number for number in sorted(numbers) if self._all[number].known]
        edges, none = self.edges(), Edge(UNBOUNDED, ())
        return {
            (a, b): min(edges.get((a, b), none), Edge(self.bound(a) + self.bound(b), ()))
            for a in known
            for b in known
            if a != b
        }

    # -- widening --------------------------------------------------------------------------------------------------

    def _widen(self, source: str) -> None:
        """Widen the regions of steps that no line shows to the messages before and behind them.

        Lines show each time that a clock is put back, and none that it is set forward. Where the printed steps alone
        explain how far a clock moved between two segments, each step stays where it is printed. Otherwise the clock was
        set at another time too, anywhere between the messages that bound the segments before and behind it.
        """
        proven = shortest_paths(self.numbers, self.edges())
        for step, following in pairwise([None, *self._bound_by_messages(source), None]):
            if self._step_is_located(step, following):
                continue
            shown = self._unprinted_step_range(step, following, proven)
            self._widen_region(source, step, following, shown, self._skipped_us(step, following, proven))

    def _step_is_located(self, first: int | None, second: int | None) -> bool:
        """Return True when a clock was set forward in a log gap between two segments: time and size are known."""
        if first is None or second is None:
            return False
        sides = list(pairwise(self._all[first : second + 1]))
        printed = {step.at for step in self._steps[self._all[first].source]}
        apart = all(after.first > before.last for before, after in sides)
        return apart and any(before.last not in printed for before, _ in sides)

    def _bound_by_messages(self, source: str) -> list[int]:
        """Return the segments of a clock that messages bound on both sides."""
        shown = {placed.cause for placed in self._placed} & {placed.effect for placed in self._placed}
        return [segment.number for segment in self._rows[source] if segment.number in shown]

    def _unprinted_step_range(
        self, first: int | None, second: int | None, proven: Proven
    ) -> tuple[int | None, int | None]:
        """Return the range of readings (from segment ``first``, to ``second``) in which a step lies that no line shows.
        Both are ``None`` where printed steps explain the difference; one is ``None`` where no message bounds that
        segment."""
        back, printed = False, UNBOUNDED
        if first is not None and second is not None:
            printed = sum(step.size for step in self._printed_between(first, second))
            forward = printed - proven.get((second, first), UNBOUNDED) > (SLACK_US if printed else 0)
            back = not printed and proven.get((first, second), UNBOUNDED) < 0
            if not (forward or back):
                return None, None
        before = self._distinguishing(first, second, proven, printed, caused=back)
        behind = self._distinguishing(second, first, proven, printed, caused=not back)
        exact = all(moment.width <= Timeout.CLOCK_EXACT.us for moment in (*before, *behind))
        since = max((moment.by + 1 if exact else moment.at for moment in before), default=None)
        by = min((moment.at - 1 if exact else moment.by for moment in behind), default=None)
        return since, by

    def _distinguishing(
        self, number: int | None, other: int | None, proven: Proven, printed: int, *, caused: bool
    ) -> list[Moment]:
        """Return the moments at which messages show a clock to be in segment ``number``, and not in ``other``.
        ``caused`` selects the messages that the segment caused, otherwise those that it received. Only the tightest
        count: others may hide that a part of the step had happened."""
        found = []
        for placed in self._placed:
            if number != (placed.cause if caused else placed.effect):
                continue
            way = (placed.effect, placed.cause)
            blur = placed.most + proven.get(way, UNBOUNDED)
            if other is not None:
                way = (placed.effect, other) if caused else (other, placed.cause)
            if placed.most + proven.get(way, UNBOUNDED) < printed:
                found.append((blur, placed.message.cause if caused else placed.message.effect))
        enough = max(_TIGHT_US, min((blur for blur, _ in found), default=0))
        return [moment for blur, moment in found if blur <= enough]

    def _skipped_us(self, before: int | None, after: int | None, proven: Proven) -> int:
        """Return how many us of readings a forward step skipped beside the only printed step; 0: not known. No line has
        them, so the region of the step is narrower by as much on both sides. One forward step is assumed."""
        if before is None or after is None or len(steps := self._printed_between(before, after)) != 1:
            return 0
        return max(steps[0].size - proven.get((after, before), UNBOUNDED) - SLACK_US, 0)

    def _widen_region(
        self,
        source: str,
        before: int | None,
        after: int | None,
        shown: tuple[int | None, int | None],
        passed: int,
    ) -> None:
        """Let the region between two segments reach from reading ``shown[0]`` of the first to ``shown[1]`` of the
        second. All steps between them become one region, unless nothing shows a step besides the printed one."""
        since, by = shown
        row = self._rows[source]
        numbers = [segment.number for segment in row]
        low = 0 if before is None else numbers.index(before)
        high = len(row) - 1 if after is None else numbers.index(after)
        if low == high or (since is None and by is None and not (None in (before, after) and high > low + 1)):
            return
        first = min(
            [segment.first for segment in row[low + 1 : high + 1]]
            + [reading + passed for reading in (since,) if reading is not None]
        )
        last = max(
            [segment.last for segment in row[low:high]] + [reading - passed for reading in (by,) if reading is not None]
        )
        for place in range(low, high + 1):
            segment = row[place]
            wide = replace(
                segment,
                first=segment.first if place == low else first,
                last=segment.last if place == high else last,
                begun=by if place == high and by is not None else segment.begun,
                lasted=since if place == low and since is not None else segment.lasted,
            )
            row[place] = self._all[segment.number] = wide
        self._placed = [
            placed
            for placed in self._placed
            if not (since is not None and before in (placed.cause, placed.effect) and placed.moment(before).at > since)
            and not (by is not None and after in (placed.cause, placed.effect) and placed.moment(after).by < by)
        ]

    def _printed_between(self, before: int, after: int) -> list[Step]:
        """Return the printed steps between two segments of a clock."""
        sides = ((step, self._sides(step)) for step in self.steps if step.source == self._all[before].source)
        return [step for step, side in sides if side is not None and before <= side[0] and side[1] <= after]

    def put_back_before(self, number: int) -> int:
        """Return how far, at least, lines show a clock put back where a segment begins, in us; 0: no line does."""
        row = self._rows[self._all[number].source]
        place = next(place for place, segment in enumerate(row) if segment.number == number)
        return sum(step.size for step in self._printed_between(row[place - 1].number, number)) if place else 0

    def _sides(self, step: Step) -> tuple[int, int] | None:
        """Return the segments (before, after) between which a step lies; ``None`` where the clock was set too often."""
        for before, after in pairwise(self._rows[step.source]):
            if after.first <= step.at + 1 and step.at <= before.last:
                return before.number, after.number
        return None

    def _drop_uncertain_clocks(self) -> None:
        """Make the clocks incomparable for which it stays unclear when they were set."""
        edges = self.edges()
        gone = (
            {number for choice in self._fewest_that_stepped(edges) for number in choice} if contradict(edges) else set()
        )
        dropped = {self._all[number].source for number in gone}
        self._set_rows({clock: incomparable(clock) if clock in dropped else row for clock, row in self._rows.items()})
