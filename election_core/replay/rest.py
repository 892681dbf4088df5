"""Sources at rest: logs that go on and say nothing new.

Such a source need not be folded. Its lines are signs of life, and periodic ones that say what the last of their kind
has said, but for a count that grew; its clock just goes on, without a silence. Then the facts stay as they are but for
the open ones: the end of the life that goes on, and what the last growth shows. The checkpoint needs no more than a few
rows that say how far the logs went: the last lines, word for word, those of the last growth, and the signs of life
since the fold. Together with these rows it gives what a fold of all lines gives.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from election_replay.election_core.fold.process_runs import SILENCE, UNSETTLED, Activity, Segment
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.replay.registry import PERIODIC, PERIODIC_FIELDS

LAST_LINES = UNSETTLED + SILENCE
"""So many microseconds before the end of a source each line counts: there its signs of life are not settled yet."""


@dataclass(frozen=True, slots=True)
class Lines:
    """New lines of one kind in one file of a source, all of which say the same but for a count.

    ``kind`` is ``None`` for those that the fold does not read. ``place`` orders the files of a stream. The count lies
    between those in ``least`` and ``most``, whose other fields are the same. Times are microseconds UTC, ``first_line``
    is a number. ``jumps``: the clock went back, or was silent, before one of them, or the count went back.
    """

    stream: str
    place: tuple[Any, ...]
    kind: str | None
    least: Mapping[str, Any]
    most: Mapping[str, Any]
    first_line: int
    first: int
    last: int
    first_event: str
    widths: tuple[int, int]
    bounds: tuple[int, int]
    jumps: bool


@dataclass(frozen=True, slots=True)
class LastLine:
    """The last line of a stream, or the last periodic one of its kind there: what it said, and where it stood."""

    stream: str
    kind: str
    place: tuple[Any, ...]
    line_no: int
    at: int
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Ended:
    """Where a source ended: its last lines, its signs of life since the fold, and their clock's bound.

    ``until`` is the last sign of life of all; ``since_fold`` are those that came after the fold.
    """

    lines: tuple[LastLine, ...]
    until: Segment
    since_fold: tuple[Segment, ...]
    bound_ms: int


def goes_on(ended: Ended, lines: Sequence[Lines], *, may_grow: bool) -> bool:
    """Whether new ``lines`` of a source say nothing but that it lives on, and if it ``may_grow``, that a count grew."""
    width = ended.until.last_by - ended.until.last
    begun = min(of.first for of in lines)
    if not ended.until.last < begun < ended.until.last + SILENCE:
        return False
    for of in lines:
        if of.jumps or of.widths != (width // US_PER_MS,) * 2 or of.bounds != (ended.bound_ms,) * 2:
            return False
    return all(
        _stream_goes_on([line for line in ended.lines if line.stream == stream], of_stream, may_grow=may_grow)
        for stream, of_stream in _by_stream(lines).items()
    )


def _by_stream(lines: Iterable[Lines]) -> dict[str, list[Lines]]:
    found: dict[str, list[Lines]] = {}
    for of in lines:
        found.setdefault(of.stream, []).append(of)
    return found


def _stream_goes_on(known: Collection[LastLine], lines: Sequence[Lines], *, may_grow: bool) -> bool:
    """Whether the new lines of a stream come after its last one, file by file, and repeat what is known."""
    if not known:
        return False
    last = max(known, key=lambda line: (line.place, line.line_no))
    place, at = last.place, last.at
    for where in sorted({of.place for of in lines}):
        of_file = [of for of in lines if of.place == where]
        if where < place or min(of.first for of in of_file) < at:
            return False
        if where == last.place and min(of.first_line for of in of_file) <= last.line_no:
            return False
        place, at = where, max(of.last for of in of_file)
    values = {line.kind: line.values for line in sorted(known, key=lambda line: (line.place, line.line_no))}
    return all(
        of.kind is None or (of.kind in values and _repeats(of, values[of.kind], may_grow=may_grow)) for of in lines
    )


def _repeats(lines: Lines, before: Mapping[str, Any], *, may_grow: bool) -> bool:
    """Whether periodic lines say what the one before them has said."""
    periodic = PERIODIC.get(lines.kind or "")
    if periodic is None:
        return False
    old, least, most = (_event(lines, values) for values in (before, lines.least, lines.most))
    if not periodic.says(old) == periodic.says(least) == periodic.says(most):
        return False
    counts = [periodic.count(event) for event in (old, least, most)]
    known = [count for count in counts if count is not None]
    return len({*counts}) == 1 or (may_grow and len(known) == len(counts) and known == sorted(known))


def _event(lines: Lines, values: Mapping[str, Any]) -> FoldEvent:
    fields: dict[str, Any] = {name: values.get(name) for name in PERIODIC_FIELDS}
    return FoldEvent("", lines.stream, lines.kind or "", 0, 0, **fields)


def last_growth(counts: Sequence[int | None]) -> int | None:
    """Of lines one after the other, the number of the last whose count is larger than that of the line before it."""
    for number in range(len(counts) - 1, 0, -1):
        before, count = counts[number - 1], counts[number]
        if before is not None and count is not None and before < count:
            return number
    return None


def signs_of_life(ended: Ended, lines: Sequence[Lines], last_lines: Iterable[tuple[int, int, str]]) -> list[Segment]:
    """The signs of life since the fold, with new ``lines`` that go on, in as few pieces as are needed.

    ``last_lines`` are those of the last :data:`LAST_LINES`: since when, by when, and which.
    """
    latest = sorted(last_lines)
    first, before = min(lines, key=attrgetter("first")), latest[0]
    covered = [*ended.since_fold]
    if first.first < before[0]:
        width = ended.until.last_by - ended.until.last
        covered.append(Segment(first.first, first.first + width, *before[:2], first.first_event, before[2]))
    activity = Activity(covered=covered)
    for at, by, event_id in latest:
        activity.seen(at, by, event_id)
    return activity.digest()
