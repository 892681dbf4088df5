"""Moments of machines, messages between them, and the segments of a clock (:mod:`.clock_segments`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from election_replay.election_core.judge.difference_constraints import UNBOUNDED
from election_replay.election_core.model.timing import Timeout

SLACK_US = Timeout.CLOCK_SLACK.us
"""A line of another file may be this many us behind the last line before a step, or before the first line after it."""

STEPS_AT_MOST = 8
"""A clock that was set more often than this in one group's logs is not compared with any other."""


@dataclass(slots=True, order=True, unsafe_hash=True)
class Moment:
    """A moment on the clock of ``source``: an interval ``[at, by]`` in us UTC of that clock. Treat it as immutable; it
    is not frozen because a frozen one takes eight times as long to make, and very many are made."""

    at: int
    by: int
    source: str
    event_id: str | None = field(default=None, compare=False)

    @property
    def width(self) -> int:
        """Return the uncertainty in us: the width of a stamp, or of a time between two lines."""
        return self.by - self.at


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """``effect`` was logged because of ``cause``, on another machine: it cannot have happened before."""

    cause: Moment
    effect: Moment


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """A place where the clock of ``source`` was put back, right after the moment ``at`` of its timeline. ``size`` is
    the least size of the step in us; ``ahead`` is what the timeline is ahead of the readings in addition from there
    on."""

    source: str
    at: int
    ahead: int
    size: int
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Jump:
    """A step that no line shows: messages contradict each other by ``at_least`` us unless the clock of ``source`` was
    set. ``or_else`` are the sources of which one, set instead, would explain the messages as well;
    several of ``together`` would, set instead at once; those are sought where lines show that clocks were set."""

    source: str
    at_least: int
    or_else: tuple[str, ...]
    evidence: tuple[str, ...]
    together: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a clock's timeline, from ``first`` to ``last``, in which the clock has one offset.

    The timeline is ``ahead`` us ahead of the readings. Neighbouring segments overlap around a step: a moment there may
    belong to either. ``known`` is false when nothing may be compared with the clock. Next to a step that no line shows,
    messages prove that the segment had ``begun`` by a reading, and ``lasted`` up to one.
    """

    number: int
    source: str
    first: int
    last: int
    known: bool = True
    begun: int = -UNBOUNDED
    lasted: int = UNBOUNDED
    ahead: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """The place of a moment: from reading ``at`` of segment ``begin`` to reading ``by`` of segment ``end``."""

    begin: int
    at: int
    end: int
    by: int


def incomparable(source: str) -> list[Segment]:
    """Return one segment, without any bound, for a clock of which it is not clear when it was set."""
    return [Segment(0, source, -UNBOUNDED, UNBOUNDED, known=False)]


def cut_at(source: str, steps: Sequence[Step]) -> list[Segment]:
    """Return the segments of one clock between the steps that its lines show."""
    return between_steps(source, [(step.at + 1, step.at) for step in steps], steps)


def between_steps(source: str, regions: Iterable[tuple[int, int]], steps: Sequence[Step]) -> list[Segment]:
    """Return the segments between the regions (first, last) of a clock's steps; overlapping regions are merged."""
    apart: list[tuple[int, int]] = []
    for first, last in sorted(regions):
        if apart and first <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(apart[-1][1], last))
        else:
            apart.append((first, last))
    if len(apart) > STEPS_AT_MOST:
        return incomparable(source)
    begins = [-UNBOUNDED, *(first for first, _ in apart)]
    ends = [*(last for _, last in apart), UNBOUNDED]
    ahead = [sum(step.ahead for step in steps if step.at <= end) for end in (-UNBOUNDED, *ends[:-1])]
    return [Segment(0, source, first, last, ahead=by) for first, last, by in zip(begins, ends, ahead, strict=True)]


def shifted(row: Sequence[Segment], by: Mapping[int, int]) -> Iterator[Segment]:
    """Yield the segments of a clock, each earlier by ``by[number]`` us. The overlap around several steps begins with
    the first segment that reaches into it, and ends with the last."""
    for segment in row:
        here = by[segment.number]
        begins = by[next(other for other in row if other.last >= segment.first).number]
        ends = by[next(other for other in reversed(row) if other.first <= segment.last).number]
        yield replace(
            segment,
            first=segment.first if segment.first <= -UNBOUNDED else segment.first - begins,
            last=segment.last if segment.last >= UNBOUNDED else segment.last - ends,
            begun=segment.begun if segment.begun <= -UNBOUNDED else segment.begun - here,
            lasted=segment.lasted if segment.lasted >= UNBOUNDED else segment.lasted - here,
            ahead=segment.ahead - here,
        )


def belong_together(apart: Sequence[int], within: int) -> bool:
    """Return True when equally many causes and effects of two logs are pairs, in the order of each log.

    ``apart`` holds, for each pair, how long after its cause the effect was logged, in us between two clocks. Lost lines
    may make the counts equal by accident: a single pair must be closer than ``within`` us; several pairs may be as far
    apart as the clocks are, but all by the same amount, to within ``within``.
    """
    spread = max(apart) - min(apart) if len(apart) > 1 else abs(apart[0]) if apart else 0
    return spread < within
