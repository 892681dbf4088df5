"""An index of items by source or member and time."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from operator import itemgetter
from typing import Generic, TypeVar

from election_replay.election_core.judge.clock import Moment

T = TypeVar("T")


class ByTime(Generic[T]):
    """Items of each source or member, each with its moment or its interval."""

    def __init__(self, every: Iterable[tuple[str | None, Moment, T]]) -> None:
        rows: dict[str | None, list[tuple[int, int, int, T]]] = {}
        for number, (of, moment, item) in enumerate(every):
            rows.setdefault(of, []).append((moment.at, number, moment.by, item))
        self._rows = {of: sorted(row) for of, row in rows.items()}
        self._latest = {of: list(accumulate((by for _, _, by, _ in row), max)) for of, row in self._rows.items()}

    def between(self, of: str, since: int, until: int) -> list[T]:
        """Return the items of a source or member that end after ``since`` and begin by ``until`` (us), in order of
        arrival. It may include some items that end before ``since``."""
        row = self._rows.get(of, [])
        first, last = bisect_right(self._latest.get(of, []), since), bisect_left(row, (until + 1,))
        return [item for _, _, _, item in sorted(row[first:last], key=itemgetter(1))]
