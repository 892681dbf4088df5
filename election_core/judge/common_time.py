"""Common time: all moments of a group on one clock, as well as it can be known.

A clock is corrected segment by segment: each moment is moved earlier by how far its timeline is ahead there. Later
lines of a log stay later. A moment near a step that no line shows is as wide as the time in which the clock was set.
Where the bounds on an offset are wide, moments get the earliest time that they allow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from election_replay.election_core.judge.moments import Moment, Segment
from election_replay.election_core.model.facts import F, Fact, LastHeard, QuorumLost, Silence
from election_replay.election_core.model.rows import Election, RoleInterval, Term
from election_replay.election_core.model.timing import US_PER_MS, Timeout


@dataclass(frozen=True, slots=True)
class CommonTime:
    """The correction of sources whose clocks were off, or were set. ``rows`` are the segments of each such clock;
    ``ahead`` maps a segment's number to how far its timeline is ahead of common time, in us. ``copied_by`` maps a
    source to the clock by which its files were copied. ``late`` maps a segment's number to how much later its moments
    may have been."""

    rows: Mapping[str, Sequence[Segment]]
    copied_by: Mapping[str, str]
    ahead: Mapping[int, int]
    late: Mapping[int, int]

    def fact(self, fact: F) -> F:
        """Return the fact with its times in common time."""
        row = self._row(fact)
        if row is None:
            return fact
        early = {name: self._early(row, getattr(fact, name)) for name in ("since", "until")}
        late = {
            name: self._late(row, getattr(fact, name))
            for name in ("since_by", "until_by", *_ALSO_TIMES)
            if hasattr(fact, name)
        }
        late["since_by"] = max(filter(None, (late["since_by"], self._late_by_line(row, fact))), default=None)
        times = {name: time for name, time in {**early, **late}.items() if time is not None}
        for begin, end in (
            ("since", "since_by"),
            ("until", "until_by"),
        ):  # between two steps without any time between them
            if begin in times and end in times and times[end] < times[begin]:
                times[begin], times[end] = times[end], times[begin]
        return replace(fact, **times)  # type: ignore[arg-type]

    def _row(self, fact: Fact) -> Sequence[Segment] | None:
        if not fact.BY_COPIER:
            return self.rows.get(fact.source_node)
        row = self.rows.get(self.copied_by.get(fact.source_node, fact.source_node))
        return row if row is None or len(row) == 1 else None  # a copy does not show between which steps it was made

    def _early(self, row: Sequence[Segment], moment: int | None) -> int | None:
        if moment is None:
            return None
        place = next(place for place, segment in enumerate(row) if segment.last >= moment)
        around = place + 1 < len(row) and row[place + 1].first <= moment
        return (row[place + 1].first if around else moment) - self.ahead[row[place].number]

    def _late(self, row: Sequence[Segment], moment: int | None) -> int | None:
        if moment is None:
            return None
        place = next(place for place in range(len(row) - 1, -1, -1) if row[place].first <= moment)
        here = row[place].number
        if place == 0 or row[place - 1].last < moment:
            return moment - self.ahead[here]
        return row[place - 1].last - self.ahead[here] + self.late[here]  # a line behind the step may be late by so much

    def _late_by_line(self, row: Sequence[Segment], fact: Fact) -> int | None:
        """Return the latest beginning of a fact that is reckoned back from a line, over a step of the clock before that
        line: nobody knows how long ago the line before the step was. None where there is no such step."""
        line = line_of_time_out(fact)
        place = max(place for place, segment in enumerate(row) if place == 0 or segment.first <= line)
        return self._late(row, row[place].first) if row[place].first > fact.since_by else None


def line_of_time_out(fact: Fact) -> int:
    """Return the latest time, in us on the source's timeline, of the line that shows a time-out, from which the
    beginning of a fact is reckoned back; its beginning by its latest, where it is the time of a line itself."""
    if isinstance(fact, QuorumLost) and fact.since_event == fact.until_event:
        return fact.until or fact.since_by
    if isinstance(fact, LastHeard) and fact.line_at is not None:
        return fact.line_at
    return fact.since_by + (fact.since_by - fact.since if isinstance(fact, LastHeard) else 0)


_ALSO_TIMES = ("sure_until", "last_at", "line_at")
"""Other fields of facts that are moments of the source's timeline."""


def stepped_over(fact: Fact) -> bool:
    """Return True when a silence vanished by correction: a clock that was set forward skipped it."""
    return isinstance(fact, Silence) and fact.until is not None and fact.until - fact.since < Timeout.SILENCE.us


class ReadsClocks(Protocol):
    """Clocks that tell the reading of a moment in common time, and how late the moment may have been."""

    def reading(self, moment: Moment) -> tuple[int, int]:
        """Return the (earliest, latest) reading in us that the machine's clock showed at a moment."""

    def late_by(self, moment: Moment) -> int:
        """Return how much later than its common time a moment may have been, in us."""


R = TypeVar("R", bound=RoleInterval | Term | Election)


def as_logged(row: R, source: str | None, clocks: ReadsClocks) -> R:
    """Return a row with its clock's readings where they differ; a role also gets its added uncertainty."""
    if source is None:
        return row
    begin = Moment(row.start_time, row.start_time, source)
    end = None if row.end_time is None else Moment(row.end_time, row.end_time, source)
    shown = clocks.reading(begin)[0], None if end is None else clocks.reading(end)[0]
    row = replace(
        row,
        start_time_logged=None if shown[0] == row.start_time else shown[0],
        end_time_logged=None if shown[1] == row.end_time else shown[1],
    )
    if not isinstance(row, RoleInterval):
        return row
    before, after = clocks.late_by(begin), 0 if end is None else clocks.late_by(end)
    return replace(
        row,
        start_uncertainty_ms=row.start_uncertainty_ms + before // US_PER_MS,
        end_uncertainty_ms=None if row.end_uncertainty_ms is None else row.end_uncertainty_ms + after // US_PER_MS,
    )
