"""Moments of machines, what ties them together, and the segments of a clock (:mod:`.clock_segments`)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from election_replay.election_core.judge.difference_constraints import UNBOUNDED
from election_replay.election_core.model.timing import Timeout

SLACK_US = Timeout.CLOCK_SLACK.us
"""A line of another file may have been written so long after the last line before a step, or before the first after."""

STEPS_AT_MOST = 8
"""A clock that was set more often than this in one group's logs is compared with none."""


@dataclass(slots=True, order=True, unsafe_hash=True)
class Moment:
    """A moment on the clock of ``source``: it lies in ``[at, by]`` (microseconds UTC of that clock).

    Nobody changes one; it is not frozen because a frozen one takes eight times as long to make, and very many are made.
    """

    at: int
    by: int
    source: str
    event_id: str | None = field(default=None, compare=False)

    @property
    def width(self) -> int:
        """How exactly its clock tells it: the width of a stamp, or of a time between two lines."""
        return self.by - self.at


@dataclass(frozen=True, slots=True, order=True)
class Message:
    """``effect`` was logged because of ``cause``, on another machine: it cannot have happened before."""

    cause: Moment
    effect: Moment


@dataclass(frozen=True, slots=True, order=True)
class Step:
    """The clock of ``source`` was put back, by ``size`` microseconds at least, right after the moment ``at`` of its
    timeline, which is ahead of its readings by ``ahead`` more from there on."""

    source: str
    at: int
    ahead: int
    size: int
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Jump:
    """Only messages show that a clock was set: they contradict each other by ``at_least`` microseconds.

    ``or_else`` are the sources of which one, set instead, would explain the messages as well.
    """

    source: str
    at_least: int
    or_else: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Segment:
    """The moments of a timeline from ``first`` to ``last``, all with one offset; it is ``ahead`` of its readings there.

    Those up to the ``last`` of the segment before it may belong to that one: they lie around a step. ``known``:
    messages and bounds hold for it. Beside steps that no line shows, messages show that it had ``begun`` by a reading,
    and that it ``lasted`` up to one.
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
    """A moment: not before the reading ``at`` of the segment ``begin``, not after the reading ``by`` of ``end``."""

    begin: int
    at: int
    end: int
    by: int


def lost(source: str) -> list[Segment]:
    """A clock of which it is not clear where it was set."""
    return [Segment(0, source, -UNBOUNDED, UNBOUNDED, known=False)]


def cut_at(source: str, steps: Sequence[Step]) -> list[Segment]:
    """The segments of one clock between the steps that its lines show."""
    return between_steps(source, [(step.at + 1, step.at) for step in steps], steps)


def between_steps(source: str, regions: Iterable[tuple[int, int]], steps: Sequence[Step]) -> list[Segment]:
    """The segments between the regions of a clock's steps; regions that overlap are one."""
    apart: list[tuple[int, int]] = []
    for first, last in sorted(regions):
        if apart and first <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(apart[-1][1], last))
        else:
            apart.append((first, last))
    if len(apart) > STEPS_AT_MOST:
        return lost(source)
    begins = [-UNBOUNDED, *(first for first, _ in apart)]
    ends = [*(last for _, last in apart), UNBOUNDED]
    ahead = [sum(step.ahead for step in steps if step.at <= end) for end in (-UNBOUNDED, *ends[:-1])]
    return [Segment(0, source, first, last, ahead=by) for first, last, by in zip(begins, ends, ahead, strict=True)]


def moved(row: Sequence[Segment], by: Mapping[int, int]) -> Iterator[Segment]:
    """The segments of a clock, each earlier by so much, and no moment of one before the one before it.

    A region of several steps begins in the first segment that reaches into it, and ends in the last.
    """
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
    """Whether causes and effects of two logs that are equally many are of each other, in the order of each log.

    ``apart`` is by how much each effect was logged after its cause, in microseconds of two clocks. Where lines are
    missing counts may be equal by accident: one pair must be close in time, ``within`` so much; several may be as far
    apart as two clocks are, each as far as the others.
    """
    spread = max(apart) - min(apart) if len(apart) > 1 else abs(apart[0]) if apart else 0
    return spread < within
