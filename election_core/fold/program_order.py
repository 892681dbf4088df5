"""Program order: what a source wrote first comes first, whatever its clock shows.

    readings           12:38  12:39  12:40 | 12:37  12:38  12:39      the clock is put back by three minutes
    its own timeline   12:38  12:39  12:40 | 12:40  12:41  12:42      later lines have later times

Lines of one file are in program order. Where their readings go back, the clock was put back: from there on the source's
timeline is ahead of the reading by as much. All files of a machine share one clock, so each step that one of them shows
holds for all. A file that is silent around a step may leave open on which side of it a line belongs: such a line gets
an interval as wide as the step. The steps are kept with the facts, so that readings can be restored from them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from election_replay.election_core.fold.process_runs import REORDERED, STEPPED_FOR, Segment
from election_replay.election_core.model.timing import US_PER_MS, Timeout

STEPPED_LINES = 3
"""Lines that must go on from the earlier time to show a step: a frozen thread may write a single old line."""
ONE_STEP = Timeout.ONE_STEP.us
ONE_PROCESS = Timeout.BEFORE_MARKER.us
"""Lines of one start in several files are no further apart than this many us."""


@dataclass(frozen=True, slots=True)
class ClockStep:
    """A step back: the clock showed a time in ``[before_at, before_by]``, then the earlier time ``after``; us UTC as
    read. ``width`` is that of the stamp of ``event_id``, the line behind the step; ``before`` is the line before it.
    ``joined``: no clock was put back, but the log of another member begins."""

    before_at: int
    before_by: int
    after: int
    width: int
    before: str
    event_id: str
    stream: str
    joined: bool = False

    @property
    def size(self) -> int:
        """Return by how many us the timeline goes ahead: whole ms, so that lines behind the step come later."""
        return (self.before_by - self.after) // US_PER_MS * US_PER_MS + US_PER_MS

    @property
    def least(self) -> int:
        """Return how far the clock went back at least, in us, given the widths of the stamps."""
        return max(self.before_at - self.after - self.width, 0)


@dataclass(slots=True)
class FileClock:
    """The times of one file, line by line; finds the places where its clock was put back.

    A line is known by its ``place`` among all lines of the source. ``bursts`` are lower lines too close together to
    show a step, such as old lines of frozen threads: they belong behind a step only if another file shows one. At the
    end of a file a burst is a step, since a process that was frozen goes on with new lines too. So is a burst with
    times before the last ``moments`` at which the file had lines, a few seconds apart: the process was not frozen
    since.
    """

    high: int | None = None
    high_by: int = 0
    high_event: str = ""
    bursts: list[tuple[int, ClockStep]] = field(default_factory=list)
    moments: list[int] = field(default_factory=list)
    _lower: list[tuple[int, int, str, int]] = field(default_factory=list)

    def seen(self, time: int, by: int, event_id: str, stream: str, place: int = 0) -> tuple[int, ClockStep] | None:
        """Return the place of the first line behind a step and the step, if this line proves one; else ``None``."""
        if self.high is None or time > self.high - REORDERED:
            burst = self.burst(stream)
            awake = bool(burst) and len(self.moments) == STEPPED_LINES and self.moments[0] > self._lower[-1][0]
            if not awake:
                self.bursts += burst
                self._lower.clear()
                self._goes_on(time, by, event_id)
                return None
        else:
            self._lower.append((time, by, event_id, place))
            if len(self._lower) < STEPPED_LINES or time - self._lower[0][0] < STEPPED_FOR:
                return None
        found = self._step(stream)
        self.high, self.high_by, self.high_event, self.moments = time, by, event_id, [time]
        self._lower.clear()
        return found

    def _goes_on(self, time: int, by: int, event_id: str) -> None:
        """Take a line that is not lower than those before it."""
        if self.high is None or time >= self.high:
            self.high, self.high_by, self.high_event = time, max(self.high_by, by), event_id
        self.went_on((time,))

    def went_on(self, times: Sequence[int]) -> None:
        """Take the times of lines in order, none of them lower; they tell what lower lines after them mean."""
        at = bisect_left(times, self.moments[-1] + REORDERED) if self.moments else 0
        while at < len(times):
            self.moments = [*self.moments, times[at]][-STEPPED_LINES:]
            at = bisect_left(times, times[at] + REORDERED, at)

    def burst(self, stream: str) -> list[tuple[int, ClockStep]]:
        """Return the place and the step of the pending lower lines, if they are a burst; else nothing."""
        return [self._step(stream)] if len(self._lower) >= STEPPED_LINES else []

    def _step(self, stream: str) -> tuple[int, ClockStep]:
        first, by, event_id, place = self._lower[0]
        return place, ClockStep(self.high or 0, self.high_by, first, by - first, self.high_event, event_id, stream)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The readings of a clock between two of its steps, and by how many us the timeline is ahead of them."""

    first: int
    last: int
    ahead: int


class Timeline:
    """The timeline of a source, by the steps of its clock in their order."""

    def __init__(self, steps: Sequence[ClockStep] = ()) -> None:
        self.steps = tuple(steps)
        self._stretches: list[Stretch] = []
        first, ahead = -(1 << 62), 0
        for step in self.steps:
            self._stretches.append(Stretch(first, step.before_by, ahead))
            first, ahead = step.after, 0 if step.joined else ahead + step.size
        self._stretches.append(Stretch(first, 1 << 62, ahead))

    def ahead(self, number: int) -> int:
        """Return by how many us the timeline is ahead of the readings behind the first ``number`` steps."""
        return self._stretches[number].ahead

    def begins(self) -> list[int]:
        """Return the first moment of the timeline behind each step."""
        return [step.after + self.ahead(number) for number, step in enumerate(self.steps, 1)]

    def place(self, time: int, least: int, most: int) -> tuple[int, int]:
        """Return behind how many steps, (at least, at most), a line with the reading ``time`` may lie. Its file shows
        that at least ``least`` and at most ``most`` steps are before it; only the reading decides about steps that
        other files show."""
        fits = [
            number
            for number in range(least, most + 1)
            if self._stretches[number].first - ONE_STEP <= time <= self._stretches[number].last + ONE_STEP
        ]
        return (fits[0], fits[-1]) if fits else (least, least)


def one_after_the_other(files: Sequence[Sequence[ClockStep]]) -> tuple[list[ClockStep], list[list[int]]]:
    """Return the steps of a machine's clock, each once, and for each file how many of them have passed after each of
    its own. Each of ``files`` lists its steps in order; the file with the most steps comes first. A file that is silent
    between two steps shows a single one, from before the first to behind the second."""
    known: list[ClockStep] = []
    behind: list[list[int]] = [[] for _ in files]
    for number in sorted(range(len(files)), key=lambda number: (-len(files[number]), number)):
        done = 0
        for step in files[number]:
            first, last = _same(step, known, done)
            if first is None:
                done = _inserted(step, known, done, behind)
            else:
                _sharpen(known, step, first, last)
                done = last + 1
            behind[number].append(done)
    return known, behind


def _same(step: ClockStep, known: Sequence[ClockStep], done: int) -> tuple[int | None, int]:
    """Return the range (first, last) of known steps behind ``done`` that a step equals; (None, done): none."""
    for first in range(done, len(known)):
        if abs(known[first].before_by - step.before_by) > ONE_STEP:
            continue
        for last in range(first, len(known)):
            if abs(known[last].after - step.after) <= ONE_STEP:
                return first, last
    return None, done


def _inserted(step: ClockStep, known: list[ClockStep], done: int, behind: list[list[int]]) -> int:
    """Insert a step that no other file shows, and return how many steps have passed after it."""
    place = next((place for place in range(done, len(known)) if known[place].before_by > step.before_by), len(known))
    known.insert(place, step)
    for of_file in behind:
        of_file[:] = [count + (count > place) for count in of_file]
    return place + 1


def _sharpen(known: list[ClockStep], step: ClockStep, first: int, last: int) -> None:
    """Widen a known step to the limits that another file shows."""
    if step.before_by > known[first].before_by and first == last:
        known[first] = replace(known[first], before_at=step.before_at, before_by=step.before_by, before=step.before)
    if step.after < known[last].after and first == last:
        known[last] = replace(known[last], after=step.after, width=step.width, event_id=step.event_id)


def _place_burst(place: int, step: ClockStep, known: list[ClockStep], places: list[int], behind: list[int]) -> None:
    """Move a burst that begins at ``place`` behind the step that another file shows there, if there is one. ``places``
    are the places of the file's steps, ``behind`` how many known steps have passed after each of them."""
    passed = bisect_right(places, place)
    done = behind[passed - 1] if passed else 0
    first, last = _same(step, known[: behind[passed] - 1 if passed < len(behind) else None], done)
    if first is not None:
        _sharpen(known, step, first, last)
        places.insert(passed, place)
        behind.insert(passed, last + 1)


Spoken = Sequence[tuple[int, str]]
"""The places of lines of a file in which members name themselves, and the members."""


def _heard(spoken: Spoken, places: Sequence[int]) -> list[set[str]]:
    """Return the members that speak in each part of a file; ``places`` are those of the first lines of all but one."""
    heard: list[set[str]] = [set() for _ in range(len(places) + 1)]
    for place, member in spoken:
        heard[bisect_right(places, place)].add(member)
    return heard


@dataclass(slots=True)
class _File:
    """A file as it is read, with its steps and the place of the first line behind each. ``follows``: the number of the
    file of the same stream that it continues."""

    stream: str = ""
    clock: FileClock = field(default_factory=FileClock)
    steps: list[ClockStep] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    follows: int | None = None


@dataclass(slots=True)
class ProgramOrder:
    """The lines of a source, file by file as they are read; after :meth:`settle`, their places on its
    :class:`Timeline`. Lines are ``waiting`` until all of them are read. ``written`` holds the first and last line of
    each stream, ``joined`` the streams in which logs of several members stand one behind the other."""

    timeline: Timeline = field(default_factory=Timeline)
    waiting: list[Any] = field(default_factory=list)
    written: dict[str, Segment] = field(default_factory=dict)
    joined: set[str] = field(default_factory=set)
    _taken: int = 0
    _files: list[_File] = field(default_factory=list)
    _stream: str = ""
    _file: str = ""
    _behind: list[list[int]] = field(default_factory=list)
    _places: list[list[int]] = field(default_factory=list)
    _least: dict[int, int] = field(default_factory=dict)
    _begins: list[list[int]] = field(default_factory=list)
    _members: list[list[str | None]] = field(default_factory=list)

    @property
    def place(self) -> int:
        """Return the place of the next line among all lines of the source."""
        return self._taken + len(self.waiting)

    def taken(self) -> tuple[list[Any], int]:
        """Remove all waiting lines; return them and the place of the first."""
        lines, begun = self.waiting, self._taken
        self.waiting, self._taken = [], self.place
        return lines, begun

    def note_written(self, stream: str, time: int, by: int) -> None:
        """Take a line of a stream that was written in ``[time, by]``."""
        known = self.written.get(stream)
        if known is None:
            self.written[stream] = Segment(time, by, time, by)
        elif time > known.last or time < known.first:
            first, last = min((time, by), known[:2]), max((time, by), known[2:4])
            self.written[stream] = Segment(*first, *last)

    @property
    def file(self) -> int:
        """Return the number of the file that is being read."""
        return len(self._files) - 1

    def seen(self, stream: str, file: str, time: int, by: int, event_id: str, place: int) -> bool:
        """Take a line; ``file`` distinguishes the files of a stream. Return True when the clock just went on."""
        if not self._files or self._file != file or self._stream != stream:
            follows = self.file if self._files and self._stream == stream else None
            self._files.append(_File(stream, follows=follows))
            self._stream, self._file = stream, file
        last = self._files[-1]
        found = last.clock.seen(time, by, event_id, stream, place)
        if found is not None:
            last.places.append(found[0])
            last.steps.append(found[1])
        return found is None and time == last.clock.high

    def went_on(self, times: Sequence[int]) -> None:
        """Take the times of lines that were skipped in the current file: the clock just went on."""
        self._files[-1].clock.went_on(times)

    def highest(self, stream: str, file: str) -> int | None:
        """Return the latest time in this file, if it is the current one; else ``None``."""
        return self._files[-1].clock.high if self._files and (self._stream, self._file) == (stream, file) else None

    def settle(self, spoken: Callable[[], Mapping[int, Spoken]] = dict) -> None:
        """Find the steps, after all lines were seen. ``spoken`` tells which lines of each file name their member."""
        ends = [file.clock.burst(file.stream) for file in self._files]
        shown = [[*file.steps, *(step for _, step in end)] for file, end in zip(self._files, ends, strict=True)]
        self._places = [[*file.places, *(at for at, _ in end)] for file, end in zip(self._files, ends, strict=True)]
        self._begins = [[*places] for places in self._places]
        if any(shown):
            shown = self._joined(shown, spoken())
        steps, self._behind = one_after_the_other(shown)
        for file, places, behind in zip(self._files, self._places, self._behind, strict=True):
            for place, step in file.clock.bursts if steps else ():
                _place_burst(place, step, steps, places, behind)
        self.timeline, self._least = Timeline(steps), {}

    def _joined(self, shown: list[list[ClockStep]], spoken: Mapping[int, Spoken]) -> list[list[ClockStep]]:
        """Return the steps of each file. Where other members speak behind a step than before it, logs were joined: so
        they were at all steps of the source over which no member goes on to speak."""
        heard = [_heard(spoken.get(file, ()), places) for file, places in enumerate(self._places)]
        self.joined = {
            file.stream
            for file, parts in zip(self._files, heard, strict=True)
            if any(ended.isdisjoint(begun) for ended, begun in pairwise(filter(None, parts)))
        }
        if not self.joined:
            return shown
        self._members = [[next(iter(part)) if len(part) == 1 else None for part in parts] for parts in heard]
        over = [[ended.isdisjoint(begun) for ended, begun in pairwise(parts)] for parts in heard]
        return [
            [replace(step, joined=joined) for step, joined in zip(steps, of_file, strict=True)]
            for steps, of_file in zip(shown, over, strict=True)
        ]

    def member_at(self, file: int, place: int) -> str | None:
        """Return the member whose log a line stands in, where the logs of several were joined; else ``None``."""
        return self._members[file][self.part(file, place)] if self._members and file >= 0 else None

    def part(self, file: int, place: int) -> int:
        """Return behind how many steps that its file shows by itself a line stands."""
        return bisect_right(self._begins[file], place) if file >= 0 else 0

    def on_timeline(
        self, file: int, place: int, time: int, by: int, starts: Sequence[tuple[int, int]] = ()
    ) -> tuple[int, int]:
        """Return the earliest and latest time of a line on the timeline; lines of a file must be asked for in order.
        ``starts`` are starts of the line's process that other files show, as (reading, number of steps before it): they
        place a start line for which its own file leaves several steps open."""
        first, last = self.behind(file, place, time)
        alike = {steps for at, steps in starts if abs(at - time) <= ONE_PROCESS and first <= steps <= last}
        if len(alike) == 1:
            first = last = alike.pop()
        self._least[file] = first
        return time + self.timeline.ahead(first), by + self.timeline.ahead(last)

    def behind(self, file: int, place: int, time: int) -> tuple[int, int]:
        """Return behind how many steps, (at least, at most), a line of a file lies."""
        behind, places = self._behind[file], self._places[file]
        passed = bisect_right(places, place)
        least = max(behind[passed - 1] if passed else 0, self._begun(file))
        most = behind[passed] - 1 if passed < len(behind) else len(self.timeline.steps)
        return self.timeline.place(time, least, max(least, most))

    def _begun(self, file: int) -> int:
        """Return behind how many steps, at least, the next line of a file lies."""
        follows = self._files[file].follows
        return self._least.get(file, 0 if follows is None else self._least.get(follows, 0))
