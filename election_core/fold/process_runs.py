"""Process runs: starts, stops, signs of life and silences, as one machine's log shows them. A node that logs nothing
may still be working. So three things are kept apart: a *silence* inside a run (the process was frozen, or its lines
were lost), an *end* that a later start proves (it died or was stopped), and a log that simply ends."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from election_replay.election_core.fold.declared import Deed, kinds_that
from election_replay.election_core.model.timing import Timeout

SILENCE = Timeout.SILENCE.us
LATE = Timeout.LATE.us
REORDERED = Timeout.REORDERED.us
STEPPED_FOR = Timeout.STEPPED_FOR.us

_SEGMENT_GAP = Timeout.SEGMENT_GAP.us
_ONE_START = Timeout.ONE_START.us
_SAID_TWICE = Timeout.DUPLICATE_START_LINE.us
_BEFORE_MARKER = Timeout.BEFORE_MARKER.us
_BEFORE_FIRST_LINE = Timeout.BEFORE_FIRST_LINE.us

MANY = 30
"""This many lines in a row are worth the cost of handling them as columns."""
UNSETTLED = LATE + _BEFORE_MARKER + Timeout.SETTLES.us
"""Gaps closer than this many us to the last line of a night are all kept: later lines may still explain them."""

LAST_START_KINDS = kinds_that(Deed.STARTED)
"""The last lines of a start: any later start line belongs to the next start, even if its first lines are lost."""
START_KINDS = LAST_START_KINDS | kinds_that(Deed.FIRST_LINE) | kinds_that(Deed.STARTS)
"""Lines that a process writes once, at its start. Any of them may be lost; a second one of a kind is a second start."""
_OF_DLEDGER_STORE = ("DL_STORE_COMMITTED", "DL_STORE_RECOVERED_TO", "DL_STORE_RECOVER_BEGIN")
WORK_KINDS = frozenset({"DL_STATUS", "DL_TO_CANDIDATE", "DL_TO_FOLLOWER", "DL_TO_LEADER"})
"""Lines of a process that is past a part of its start."""
COME_BEFORE = {
    "DL_LISTEN": _OF_DLEDGER_STORE,
    **dict.fromkeys(WORK_KINDS, (*_OF_DLEDGER_STORE, "DL_LISTEN")),
}
"""Lines that one start writes, if at all, before another line: after that line they belong to the next start. A DLedger
process with an empty store only logs that it listens. Source: DLedger 0.2.6, DLedgerServer#startup: the store starts
before the RPC service, the RPC service before the elector."""
START_SETTINGS = frozenset({"brokerConfigPath", "rocketmqHome"})
SETTING = "CFG_ITEM"
"""A start prints all its settings at once: many lines of this kind are one marker."""
FIRST_LINES = START_SETTINGS | kinds_that(Deed.FIRST_LINE) | {SETTING}
"""The first lines of a program: lines long before one of them belong to an earlier run."""
STOP_KINDS = kinds_that(Deed.STOPS)


@dataclass(frozen=True, slots=True)
class Incarnation:
    """One run of a process; all times in us on its own clock.

    ``start`` is ``None`` when the log begins in the middle of a run; ``stop`` is the begin of a clean shutdown;
    ``last_seen`` is the last sign of life; ``next_start`` is the start of the next run, including lines that may belong
    to it; at ``ended_by``, the line of that start, this run was surely over. ``first_by``, ``last_by`` and
    ``next_start_by`` are the upper ends of intervals that are as wide as the stamps of their lines.
    """

    start: int | None
    start_event: str | None
    first_seen: int
    last_seen: int
    stop: int | None
    stop_event: str | None
    next_start: int | None
    next_start_event: str | None
    silences: tuple["LogGap", ...]
    first_by: int
    last_by: int
    next_start_by: int | None = None
    ended_by: int | None = None
    stalls: tuple["LogGap", ...] = ()
    """Gaps shorter than a silence, in the log of a process whose lines come more often than that."""

    def until_start_of(self, others: "Iterable[Incarnation]") -> "Incarnation":
        """Return the run, ended by the first start of another run of the same member that comes after all its lines."""
        later = [other for other in others if other.start is not None and other.start > self.last_by]
        after = min(later, key=lambda other: other.first_seen, default=None)
        if after is None or (self.next_start is not None and self.next_start <= after.first_seen):
            return self
        return self.ended_by_start(after.start, after.first_by, after.start_event)

    def ended_by_start(self, at: int | None, by: int, event_id: str | None) -> "Incarnation":
        """Return the run, ended by the start of another one in [``at``, ``by``], by its line."""
        return replace(self, next_start=at, next_start_event=event_id, next_start_by=by, ended_by=by)

    @property
    def goes_on(self) -> bool:
        """Return True when the log ends with this run, without a line about its end."""
        return self.stop is None and self.next_start is None


@dataclass(frozen=True, slots=True)
class LogGap:
    """A silence inside a run, from the last line before it to the first line after it; each in an interval of us."""

    begin: int
    begin_by: int
    end: int
    end_by: int
    begin_event: str | None
    end_event: str | None


class Segment(NamedTuple):
    """A time in which a log was being written, with its first and last line. The first line was written in ``[first,
    first_by]``, the last in ``[last, last_by]`` (us)."""

    first: int
    first_by: int
    last: int
    last_by: int
    first_event: str | None = None
    last_event: str | None = None


Numbers: TypeAlias = npt.NDArray[np.int64]


class Signs(NamedTuple):
    """Lines of one file, each later than the one before: earliest and latest times (us) and ids."""

    since: Numbers
    by: Numbers
    event_ids: pa.StringArray

    def part(self, begin: int, end: int) -> "Signs":
        """Return the lines from ``begin`` to before ``end``."""
        return Signs(self.since[begin:end], self.by[begin:end], self.event_ids.slice(begin, end - begin))


class Start(NamedTuple):
    """The start of a process in ``[at, by]``, by the line ``event_id``; its first lines are ``words`` us older at
    most. Lines from ``since`` on may be its. ``comes_before_work``: it writes no line of ``WORK_KINDS`` before.
    ``only_its_last``: of its lines only the last one is there."""

    at: int
    by: int
    event_id: str
    words: int = _BEFORE_MARKER
    since: int | None = None
    comes_before_work: bool = True
    only_its_last: bool = False


@dataclass(slots=True)
class Activity:
    """Signs of life of one process, gathered in any order of its streams. ``segments`` are made of this night's lines;
    ``covered`` are those of former nights, as :meth:`digest` returned them. ``quiet`` lines, which only show life, wait
    until all markers are known."""

    segments: list[Segment] = field(default_factory=list)
    covered: list[Segment] = field(default_factory=list)
    quiet: list[Signs] = field(default_factory=list)
    shortest: int = SILENCE
    """Gaps of at least this many us are kept: less than a silence where lines come more often."""
    markers: list[tuple[Start, str]] = field(default_factory=list)
    works: list[tuple[Start, str]] = field(default_factory=list)
    stops: list[tuple[int, str]] = field(default_factory=list)

    def seen(self, time: int, by: int, event_id: str | None = None) -> None:
        """Take a line that was written in ``[time, by]``."""
        if self.segments:
            first, first_by, last, last_by, first_event, last_event = self.segments[-1]
            latest = max(last_by, by)
            if last < time <= last + _SEGMENT_GAP:
                self.segments[-1] = Segment(first, first_by, time, latest, first_event, event_id)
                return
            if first < time == last:  # a fast path for lines of one moment, with the result of _joined
                self.segments[-1] = Segment(first, first_by, last, latest, first_event, _smaller(last_event, event_id))
                return
            if first <= time <= last:
                if time in (first, last) or by > last_by:
                    self.segments[-1] = _joined(self.segments[-1], Segment(time, by, time, by, event_id, event_id))
                return
        self.segments.append(Segment(time, by, time, by, event_id, event_id))

    def lived(self, signs: Signs) -> None:
        """Take lines that only show that the process ran."""
        if len(signs.since) >= MANY:
            self.quiet.append(signs)
            return
        for line in zip(signs.since.tolist(), signs.by.tolist(), signs.event_ids.to_pylist(), strict=True):
            self.seen(*line)

    def digest(self) -> list[Segment]:
        """Return ``segments`` and ``covered`` in as few pieces as give the same :meth:`incarnations`. The last seconds
        are kept as they are, since the next night's lines may concern them; before that, a short gap matters only where
        a run begins after it."""
        pieces = self._pieces()
        if not pieces:
            return []
        settled, markers = pieces[-1].last - UNSETTLED, self._begins()
        digest = pieces[:1]
        for piece in pieces[1:]:
            before = digest[-1]
            nearest = bisect_right(markers, before.last)  # the marker of a former night may be in the gap itself
            begins_life = nearest < len(markers) and markers[nearest] - piece.first <= _BEFORE_MARKER
            if piece.first < settled and piece.first - before.last < self.shortest and not begins_life:
                digest[-1] = Segment(  # the result of _joined for two disjoint segments in order
                    *before[:2], piece.last, max(before.last_by, piece.last_by), before.first_event, piece.last_event
                )
            else:
                digest.append(piece)
        return digest

    def _begins(self) -> list[int]:
        """Return all times near which a run may begin, in order."""
        return sorted(start.at for start, _ in self.markers)

    def _pieces(self) -> list[Segment]:
        """Return all signs of life, in order and disjoint; ``quiet`` lines keep only gaps that :meth:`digest` keeps."""
        if self.quiet:
            last = max([*(int(signs.since[-1]) for signs in self.quiet), *(segment.last for segment in self.segments)])
            self.segments += _condensed(self.quiet, self._begins(), last - UNSETTLED, self.shortest)
            self.quiet.clear()
        return _merged([*self.covered, *self.segments])

    def marker(self, start: Start, name: str) -> None:
        """Take a line ``name`` that a process writes once, at its start."""
        self.markers.append((start, name))

    def past_start(self, at: Start, name: str) -> None:
        """Take a line ``name`` that a process writes only after some lines of its start."""
        self.works.append((at, name))

    def ends_before_starts_after(self, time: int) -> None:
        """Drop everything from the first start after ``time`` on: it belongs to another process."""
        start = min((start.at for start, _ in self.markers if start.at > time), default=None)
        if start is not None:
            self.markers = [(marker, name) for marker, name in self.markers if marker.at < start]
            self.segments = [_within(each, each.first, start) for each in self.segments if each.first < start]

    def stopping(self, time: int, event_id: str) -> None:
        """Take the begin of a clean shutdown."""
        self.stops.append((time, event_id))

    def incarnations(self) -> list[Incarnation]:
        """Return the runs in order of time; none when there are no signs of life."""
        segments = self._pieces()
        if not segments:
            return []
        stops = sorted(self.stops)
        works = sorted(at.at for at, _ in self.works)
        over, starts = _separate_starts(_starts([*self.markers, *self.works]), segments, stops, works)
        first_seen, last_seen = segments[0].first, segments[-1].last
        opening: list[Start | None] = [*starts]
        if not starts or first_seen < starts[0].at:
            opening.insert(0, None)
        incarnations = []
        for number, start in enumerate(opening):
            after = opening[number + 1] if number + 1 < len(opening) else None
            since = start.at if start else first_seen
            until = after.at if after else last_seen + 1
            ended_by = over[number + 1 - len(opening)] if after else None
            run = _incarnation(segments, stops, start, since, until, after, ended_by)
            incarnations.append(replace(run, stalls=tuple(self._stalls(segments, run))))
        return incarnations

    def _stalls(self, segments: Sequence[Segment], run: Incarnation) -> Iterator[LogGap]:
        """Yield the gaps of a run that are shorter than a silence, of a process whose lines come more often. An excerpt
        has none: gaps make up a considerable part of its time."""
        begin, end = (
            bisect_left(segments, run.first_seen, key=_last),
            bisect_right(segments, run.last_seen, key=_first),
        )
        pairs = pairwise(segments[begin:end] if self.shortest < SILENCE else ())
        gaps = [_gap(*pair) for pair in pairs if pair[1].first - pair[0].last >= self.shortest]
        silent = sum(gap.end - gap.begin for gap in gaps)
        for gap in gaps:
            length = gap.end - gap.begin
            beside = run.last_seen - run.first_seen - length
            if length < SILENCE <= beside and 2 * (silent - length) <= beside:
                yield gap


def gaps_of(activities: Iterable[Activity]) -> list[LogGap]:
    """Return the times in which no process of a machine wrote anything."""
    pieces = _merged([piece for activity in activities for piece in activity._pieces()])
    return [_gap(*pair) for pair in pairwise(pieces) if pair[1].first - pair[0].last >= SILENCE]


def _gap(before: Segment, after: Segment) -> LogGap:
    return LogGap(*before[2:4], *after[:2], before.last_event, after.first_event)


def _incarnation(
    segments: Sequence[Segment],
    stops: Sequence[tuple[int, str]],
    start: Start | None,
    since: int,
    until: int,
    after: Start | None,
    ended_by: int | None,
) -> Incarnation:
    """Return the run from ``since`` to before ``until``; ``segments`` and ``stops`` are those of all runs, in order."""
    begin = bisect_left(segments, since, key=_last)
    lived = [*segments[begin : bisect_left(segments, until, key=_first)]]
    for end in (0, -1) if lived else ():  # segments are disjoint and in order: only these can reach beyond the run
        lived[end] = _within(lived[end], since, until)
    sure = [segment.last for segment in lived if after is None or after.since is None or segment.first < after.since]
    stopped = bisect_left(stops, (since,))
    stop = stops[stopped] if stopped < len(stops) and stops[stopped][0] < until else None
    silences = tuple(
        _gap(before, following) for before, following in pairwise(lived) if following.first - before.last >= SILENCE
    )
    return Incarnation(
        start=start.at if start else None,
        start_event=start.event_id if start else None,
        first_seen=lived[0].first if lived else since,
        last_seen=sure[-1] if sure else since,
        stop=stop[0] if stop else None,
        stop_event=stop[1] if stop else None,
        next_start=after.at if after else None,
        next_start_event=after.event_id if after else None,
        silences=silences,
        first_by=start.by if start else lived[0].first_by if lived else since,
        last_by=lived[-1].last_by if lived else since,
        next_start_by=after.by if after else None,
        ended_by=ended_by,
    )


def _within(segment: Segment, since: int, until: int) -> Segment:
    """Return the part of a segment from ``since`` to before ``until``, where another run begins. Lines of a segment are
    no further apart than ``_SEGMENT_GAP``, so its last line before ``until`` is at most that old."""
    first, first_by, last, last_by, first_event, last_event = segment
    if first < since:
        first, first_by = since, max(first_by, since)
    if last >= until:
        last, last_by = max(first, until - _SEGMENT_GAP), until
    return Segment(first, first_by, last, last_by, first_event, last_event)


def incarnation_at(incarnations: Sequence[Incarnation], time: int) -> int:
    """Return the index of the run that contains ``time``; a time before the first start belongs to the first run."""
    return max(bisect_right(incarnations, time, key=_begin) - 1, 0)


_first, _last = attrgetter("first"), attrgetter("last")


def _begin(incarnation: Incarnation) -> int:
    return incarnation.start if incarnation.start is not None else incarnation.first_seen


def _merged(segments: Iterable[Segment]) -> list[Segment]:
    """Return the segments in order, merged where they are no further apart than ``_SEGMENT_GAP``."""
    every, merged = [*segments], list[Segment]()
    if any(following.first <= before.first for before, following in pairwise(every)):  # mostly they come in order
        every.sort(key=lambda s: (s.first, s.last, s.first_event or "", s.last_event or "", s[1:4:2]))
    for segment in every:
        current = merged[-1] if merged else None
        if current is None or segment.first > current.last + _SEGMENT_GAP:
            merged.append(segment)
        else:
            merged[-1] = _joined(current, segment)
    return merged


def _condensed(quiet: Sequence[Signs], begins: Sequence[int], settled: int, shortest: int) -> Iterator[Segment]:
    """Yield quiet lines as segments, with gaps that are long, that may precede a run, or from ``settled`` on."""
    since, by = np.concatenate([signs.since for signs in quiet]), np.concatenate([signs.by for signs in quiet])
    event_ids = pa.concat_arrays([signs.event_ids for signs in quiet])
    gaps = np.diff(since, prepend=since[0])
    marks = np.array([*begins, np.iinfo(np.int64).max])
    next_mark = marks[np.searchsorted(marks[:-1], np.append(since[:1], since[:-1]), side="right")]
    apart = (gaps >= shortest) | (since >= settled) | (next_mark <= since + _BEFORE_MARKER)
    apart &= gaps > _SEGMENT_GAP
    apart[np.cumsum([0, *(len(signs.event_ids) for signs in quiet[:-1])])] = True
    first = np.flatnonzero(apart)
    last = np.append(first[1:], len(since)) - 1
    begins_at, begins_by = since[first].tolist(), by[first].tolist()
    ends_at, ends_by = since[last].tolist(), np.maximum.reduceat(by, first).tolist()
    names = (event_ids.take(pa.array(numbers)).to_pylist() for numbers in (first, last))
    return map(Segment, begins_at, begins_by, ends_at, ends_by, *names)


def _joined(segment: Segment, other: Segment) -> Segment:
    """Return two segments as one; of several lines in one moment the smallest id is kept, for stable results."""
    if segment.first == other.first:
        first_by = min(segment.first_by, other.first_by)
        first_event = _smaller(segment.first_event, other.first_event)
    else:
        earlier = segment if segment.first < other.first else other
        first_by, first_event = earlier.first_by, earlier.first_event
    if segment.last == other.last:
        last_event = _smaller(segment.last_event, other.last_event)
    else:
        last_event = segment.last_event if segment.last > other.last else other.last_event
    first, last = min(segment.first, other.first), max(segment.last, other.last)
    return Segment(first, first_by, last, max(segment.last_by, other.last_by), first_event, last_event)


def _smaller(event_id: str | None, other: str | None) -> str | None:
    if event_id is None or other is None:
        return event_id or other
    return min(event_id, other)


def _backdate_start(start: Start, begins: Sequence[int], over: int | None) -> tuple[int, int] | None:
    """Return the numbers of the first and the last of ``begins``, of pieces of the log, that may be that of a start,
    since a few lines precede its marker; ``None`` if no gap parts them from ``over``, where the former run lived."""
    since = start.at - start.words
    earliest = bisect_left(begins, since if over is None else max(since, over + 1))
    last = bisect_right(begins, start.at) - 1
    return (earliest, last) if earliest <= last else None


def _goes_back_to_the_head(mark: Start, segments: Sequence[Segment]) -> bool:
    """Return True when the lines before the last one of a start, with no other one of it among them, go back to the
    head of the log without a silence: the others are older than the log, and so is the run. A gap that is longer than
    all that the log shows before it is no silence."""
    before = [segment for segment in segments if segment.first < mark.at]
    if not mark.only_its_last or not before or mark.at - before[0].first > _ONE_START:
        return False
    begins = [*(segment.first for segment in before[1:]), mark.at]
    gaps = ((begin - shown.last, shown.last - before[0].first) for shown, begin in zip(before, begins, strict=True))
    return all(gap < SILENCE or gap > shown for gap, shown in gaps)


def _separate_starts(
    marked: list[Start], segments: list[Segment], stops: Sequence[tuple[int, str]], works: Sequence[int]
) -> tuple[list[int], list[Start]]:
    """Return when the run before each start was over, and the starts with their first lines, behind the last gap before
    their markers. Of lines behind an earlier one nobody knows which run wrote them (``Start.since``). Starts within a
    backward clock step cannot be ordered: they are merged into one, and the run before it may have gone on to the
    latest time."""
    over: list[int] = []
    begins: list[Start] = []
    pieces = [segment.first for segment in segments]
    for before, mark in zip([None, *marked], marked, strict=False):
        stopped, worked = bisect_left(stops, (mark.at,)), bisect_left(works, mark.at)
        lived = [stops[stopped - 1][0]] if stopped else []
        lived += [works[worked - 1]] if worked and mark.comes_before_work else []
        lived += [before.at] if before is not None else []
        found = _backdate_start(mark, pieces, max(lived, default=None))
        first = mark
        if not lived and _goes_back_to_the_head(mark, segments):
            first = mark._replace(at=pieces[0], by=min(segments[0].first_by, mark.by))
        elif found is not None:
            piece = segments[found[1]]
            first = mark._replace(at=piece.first, by=min(piece.first_by, mark.by), since=pieces[found[0]])
        if not begins or begins[-1].at < first.at:
            over.append(mark.at if mark.by - mark.at <= _SEGMENT_GAP else mark.by)
            begins.append(first)
    return over, begins


def _starts(markers: list[tuple[Start, str]]) -> list[Start]:
    """Return the starts: markers of one start are close together, none is repeated, and none follows its last line or
    a line that comes after it. Lines of ``WORK_KINDS`` are no starts."""
    starts: list[Start] = []
    seen: dict[str, int] = {}
    complete: int | None = None
    in_order = sorted(markers, key=lambda marker: (marker[0].at, marker[1], marker[0].event_id))
    for (before, name_before), (start, name) in pairwise([(Start(0, 0, ""), ""), *in_order]):
        kind = name.split()[-1]
        passed = {name.removesuffix(kind) + each: start.at + _SEGMENT_GAP for each in COME_BEFORE.get(kind, ())}
        if kind in WORK_KINDS:
            seen = passed | seen
            continue
        is_first = kind in FIRST_LINES
        if name == name_before and (kind == SETTING or not is_first) and start.at - before.at <= _SAID_TWICE:
            continue
        over = complete is not None and start.at - complete > _SEGMENT_GAP
        together = _BEFORE_MARKER if is_first else _ONE_START
        again = name in seen and start.at > seen[name]
        if not starts or again or over or start.at - starts[-1].at > together:
            starts.append(start._replace(comes_before_work=False, only_its_last=kind in LAST_START_KINDS))
            seen, complete = {}, None
        if start.at <= starts[-1].by:  # lines of one moment have no order
            words = min(starts[-1].words, _BEFORE_FIRST_LINE if is_first else start.words)
            before_work = starts[-1].comes_before_work or kind not in LAST_START_KINDS
            starts[-1] = starts[-1]._replace(words=words, comes_before_work=before_work)
        seen = passed | seen | {name: start.at + _BEFORE_MARKER if kind == SETTING else -1}
        if kind in LAST_START_KINDS:
            complete = start.at
    return starts
