"""Find the offset from UTC of each local time in a log, line by line in the order of the file.

In autumn the clocks of most zones go back, and an hour of local times comes twice. A line of that hour belongs to the
first pass if the lines before it lead up to it without a gap, and to the second if the times in the file have gone
back. Otherwise the pass is unknown, and the line's time is uncertain by as much as the clocks were moved. In spring an
hour is skipped: a line with a time of that hour was not written in this zone.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

QUARTER = 900
"""A quarter of an hour in seconds; offsets are looked up once for each, as zones change on whole quarters."""

REPEATED = 60
"""Local times that go back by more seconds than this inside a repeated hour belong to its second pass."""

NO_HOLE = 60
"""Lines at most so many seconds apart belong to the same pass."""

FIRST, SECOND = 0, 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=None)


@dataclass(frozen=True, slots=True)
class Reading:
    """The meaning of a local time: minutes east of UTC by the earliest reading, and how many minutes later it may be.

    ``exists`` is False for a time that the zone skips.
    """

    offset_minutes: int
    doubt_minutes: int = 0
    exists: bool = True


@lru_cache(maxsize=4096)
def both_offsets(zone: str, quarter: int) -> tuple[int, int]:
    """Return minutes east of UTC in the first and second pass of a local quarter of an hour, counted from 1970.

    The two differ where clocks change: the first is greater in a repeated hour and less in a skipped one.
    """
    local = (_EPOCH + timedelta(seconds=quarter * QUARTER)).replace(tzinfo=ZoneInfo(zone))
    first, second = local.replace(fold=FIRST).utcoffset(), local.replace(fold=SECOND).utcoffset()
    return _minutes(first), _minutes(second)


def _minutes(offset: timedelta | None) -> int:
    return 0 if offset is None else int(offset.total_seconds()) // 60


class LocalTimes:
    """Reads the local times of one file; ``state`` is the :attr:`state` that an earlier landing of the file left."""

    def __init__(self, zone: str, state: str | None = None) -> None:
        self.zone = zone
        high, _, fold = (state or "").partition(" ")
        self._high = int(high) if high else None
        self._fold = int(fold) if fold else None

    @property
    def state(self) -> str | None:
        """Return the latest local time of the current pass and the pass's number as text; None before any time."""
        return None if self._high is None else f"{self._high} {'' if self._fold is None else self._fold}"

    def read(self, local: int) -> Reading:
        """Return the meaning of the next line's local time, which is in seconds since 1970 as if it were UTC."""
        first, second = both_offsets(self.zone, local // QUARTER)
        if first < second:
            return Reading(first, exists=False)
        self._fold = self._pass_of(local) if first > second else FIRST
        if first == second or self._high is None or self._goes_back(local):
            self._high = local
        else:
            self._high = max(self._high, local)
        return self.again(local)

    def again(self, local: int) -> Reading:
        """Return the meaning of ``local``, which must be the local time that was read last."""
        first, second = both_offsets(self.zone, local // QUARTER)
        if first > second and self._fold is None:
            return Reading(first, first - second)
        return Reading(second if self._fold == SECOND else first, exists=first >= second)

    def _goes_back(self, local: int) -> bool:
        return self._high is not None and local < self._high - REPEATED

    def _pass_of(self, local: int) -> int | None:
        """Return the pass of a time in a repeated hour, by the lines before it; None if they do not tell."""
        if self._high is None:
            return None
        if self._goes_back(local) and self._in_repeated_hour(self._high):
            return SECOND
        if self._fold == SECOND and self._in_repeated_hour(self._high):
            return SECOND
        return self._fold if local - self._high <= NO_HOLE and not self._goes_back(local) else None

    def _in_repeated_hour(self, local: int) -> bool:
        first, second = both_offsets(self.zone, local // QUARTER)
        return first > second
