"""Separate the logs of one process that stand one behind the other in one file, as ``cat *.log`` writes them.

Time goes back where the next log begins, as where a clock was put back. The next log holds other lines, mostly from
about the time on at which the one before it begins: a broker writes what it stores into one log and whom it follows
into another. Or it holds the same lines again, with the same times: the ``server.log`` of Kafka repeats its
``controller.log``. A clock that was put back does neither.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from election_replay.jobs.landing.written_times import seconds, stamp_of

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

_VALUE = re.compile(rb"[\da-f]{2,}|\d", re.ASCII)
_SHAPE_BYTES = 80


@dataclass(slots=True)
class Log:
    """Lines of one log so far: all of them, those with a time, their shapes, and the first and last time in seconds."""

    lines: list[bytes] = field(default_factory=list)
    dated: set[bytes] = field(default_factory=set)
    shapes: set[bytes] = field(default_factory=set)
    first: float | None = None
    last: float = 0.0

    def goes_on_with(self, section: "Log") -> None:
        """Take a section of the file that is of this log."""
        self.lines += section.lines
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


def log_of(lines: Iterable[bytes]) -> Log:
    """Return a log with these lines."""
    log = Log()
    for line in lines:
        log.lines.append(line)
        if (written := stamp_of(line)) is None:
            continue
        now = seconds(written)
        log.first, log.last = now if log.first is None else log.first, max(log.last, now)
        log.dated.add(line)
        log.shapes.add(_VALUE.sub(b"9", line[:_SHAPE_BYTES]))
    return log


def logs_in(sections: Sequence[Sequence[bytes]], *, joined: bool = False) -> list[list[bytes]]:
    """Return the lines of each log of one process; ``sections`` are the lines of its file, cut where time goes back.
    ``joined``: the file is known to hold several logs."""
    logs: list[Log] = []
    for section in map(log_of, sections):
        several = joined or len(logs) > 1
        same = next((log for log in reversed(logs) if not log.is_another(section, several=several)), None)
        if same is None:
            logs.append(section)
        else:
            same.goes_on_with(section)
    return [log.lines for log in logs]
