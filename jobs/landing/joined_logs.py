"""Separate the logs of members, and of one process, that stand one behind the other in a file, as ``cat *.log`` writes
them.

Time goes back where the next log begins, as where a clock was put back. The lines of most systems name the member that
wrote them. The next log of one process holds other lines, mostly from
about the time on at which the one before it begins: a broker writes what it stores into one log and whom it follows
into another. Or it holds the same lines again, with the same times: the ``server.log`` of Kafka repeats its
``controller.log``. A clock that was put back does neither.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from election_replay.jobs.landing.written_times import seconds, setbacks, stamp

FEWEST_LINES = 20
"""The fewest lines with a time in a log that another one follows; in fewer nothing is seen of how it is written, unless
the next one begins earlier and has no shape of line in common with it."""

BEGINS_WITHIN = 4
"""The next log begins within one part in so many of the time of the one before it."""

ALIKE = 10
"""At most one shape of line in so many is common to two logs that begin at about one time."""

ALIKE_OF_SEVERAL = 3
"""So many where the file is known to hold several logs."""

FEWEST_OTHERS = 5
"""A log that begins later has at least so many lines, and no shape of them in common with the one before it."""

FEWEST_REPEATED = 10
"""So many lines that stand in two logs with one time are no accident, if they are half of the shorter one."""

SET_BACK_S = 10
"""Lines of one log, written at one time by several threads, stand in another order by less than so many seconds."""

EARLIER = 30
"""The logs of one process begin within so many seconds of each other."""

MOST_SECTIONS = 200
"""Nobody joins so many logs; a collector that merges them in some disorder makes time go back as often."""

PURE = 10
"""At most one line in so many that names its writer is of another member than the others of a section."""

SECONDS = 14
"""The digits of a stamp up to its seconds."""

_VALUE = re.compile(r"[\da-f]{2,}|\d", re.ASCII)
_SHAPE = 80


@dataclass(slots=True)
class Log:
    """One log so far: the numbers of its sections, its lines with a time, their shapes, and the first and last time in
    seconds."""

    sections: list[int] = field(default_factory=list)
    dated: set[str] = field(default_factory=set)
    shapes: set[str] = field(default_factory=set)
    first: float | None = None
    last: float = 0.0

    def goes_on_with(self, section: "Log") -> None:
        """Take a section of the file that is of this log."""
        self.sections += section.sections
        self.dated |= section.dated
        self.shapes |= section.shapes
        self.first = section.first if self.first is None else self.first
        self.last = max(self.last, section.last)

    def is_another(self, section: "Log", *, several: bool) -> bool:
        """Return True if a section that stands behind this log, where time has gone back, is another log. ``several``:
        the file is known to hold several."""
        if self.first is None or section.first is None:
            return False
        alike = len(self.shapes & section.shapes)
        if len(self.dated) < FEWEST_LINES and not several and (alike or section.first >= self.first):
            return False
        repeated = len(self.dated & section.dated)
        if repeated >= FEWEST_REPEATED and 2 * repeated >= min(len(self.dated), len(section.dated)):
            return True
        begins = BEGINS_WITHIN * (section.first - self.first) <= self.last - self.first
        return (
            (ALIKE_OF_SEVERAL if several else ALIKE) * alike <= len(section.shapes)
            if begins
            else not alike and len(section.dated) >= FEWEST_OTHERS
        )


def log_of(number: int, lines: Iterable[str]) -> Log:
    """Return a log that is the section ``number``, with these lines."""
    log = Log([number])
    for line in lines:
        if (written := stamp(line)) is None:
            continue
        now = seconds(written)
        log.first, log.last = now if log.first is None else log.first, max(log.last, now)
        log.dated.add(line)
        log.shapes.add(_VALUE.sub("9", line[:_SHAPE]))
    return log


def logs_in(sections: Mapping[int, Sequence[str]], *, joined: bool = False) -> list[list[int]]:
    """Return the numbers of the sections of each log of one process; ``sections`` are the lines of its file, cut where
    time goes back. ``joined``: the file is known to hold several logs."""
    logs: list[Log] = []
    for section in (log_of(number, lines) for number, lines in sections.items()):
        several = joined or len(logs) > 1
        same = next((log for log in reversed(logs) if not log.is_another(section, several=several)), None)
        if same is None:
            logs.append(section)
        else:
            same.goes_on_with(section)
    return [log.sections for log in logs]


def sections_of(lines: Sequence[str]) -> list[range]:
    """Return the sections of a text, which is cut wherever time goes back, by the numbers of their lines."""
    begins, before = [0], None
    for number, line in enumerate(lines):
        written = stamp(line)
        if written and before and written[0] == before[0] and written[1][:SECONDS] < before[1][:SECONDS]:
            begins.append(number)
        before = written or before
    return [range(begin, end) for begin, end in pairwise([*begins, len(lines)])]


def set_back(lines: Iterable[str]) -> bool:
    """Return True when the time of a line is :data:`SET_BACK_S` before that of the line above it."""
    return any(fall >= SET_BACK_S for fall in setbacks(filter(None, map(stamp, lines))))


def logs_of_members(lines: Sequence[str], speaking: Mapping[int, str]) -> list[list[list[range]]]:
    """Return, for each member, the sections of each of its logs by the numbers of their lines; empty for one log,
    and where several members speak in one section, or time goes back too often: their logs were merged.

    ``speaking`` maps the numbers of lines to the member that wrote them. A section in which nobody speaks goes to the
    member before it, or at the beginning to the first that speaks; one that begins before the log of that member does
    is nobody's.
    """
    sections, several = sections_of(lines), len({*speaking.values()}) > 1
    heard = [Counter(speaking[number] for number in section if number in speaking) for section in sections]
    if len(sections) > MOST_SECTIONS or any(
        PURE * voices.most_common(1)[0][1] < (PURE - 1) * voices.total() for voices in heard if voices
    ):
        return []
    found: dict[str, dict[int, Sequence[str]]] = {}
    who = next((voices.most_common(1)[0][0] for voices in heard if voices), "")
    since: dict[str, float] = {}
    for at, (section, voices) in enumerate(zip(sections, heard, strict=True)):
        who = voices.most_common(1)[0][0] if voices else who
        texts = lines[section.start : section.stop]
        first = next((seconds(time) for time in map(stamp, texts) if time), 0.0)
        earlier = several and not voices and first < since.get(who, first) - EARLIER
        since.setdefault(who, first)
        found.setdefault(f"{who} {at}" if earlier else who, {})[at] = texts
    logs = [logs_in(of_member, joined=len(found) > 1) for of_member in found.values()]
    if len(logs) == 1 and len(logs[0]) == 1:
        return []
    return [[[sections[number] for number in log] for log in of_member] for of_member in logs]
