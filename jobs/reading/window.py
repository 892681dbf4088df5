"""The window of time in which a group is shown, on clocks that are put right."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.words import FOREVER, Row, shifted

GROUP = "cluster = ? AND replica_group = ?"
OVERLAPPING = f"{GROUP} AND start_time <= ? AND coalesce(end_time, ?) >= ?"


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a query about one group, widened by the largest offset of its wrong clocks."""

    cluster: str
    group: str
    since: datetime
    until: datetime

    @classmethod
    def asked(
        cls, cluster: str, group: str, since: datetime | None, until: datetime | None, clocks: Clocks
    ) -> "Window":
        """Return the window between two times on correct clocks; ``None`` is no bound."""
        return cls(cluster, group, since or FOREVER[0], until or FOREVER[1]).on(clocks)

    def on(self, clocks: Clocks) -> "Window":
        """Return the window widened by the largest offset of ``clocks``, so that what they showed is in it."""
        furthest = max((abs(clock.ahead) for clock in clocks.wrong), default=timedelta(0))
        since = self.since if self.since == FOREVER[0] else shifted(self.since, -furthest)
        until = self.until if self.until == FOREVER[1] else shifted(self.until, furthest)
        return replace(self, since=since, until=until)

    @property
    def values(self) -> list[Any]:
        """Return the parameters of a query for moments in the window."""
        return [self.cluster, self.group, self.since, self.until]

    @property
    def overlapping(self) -> list[Any]:
        """Return the parameters of a query for intervals that overlap the window."""
        return [self.cluster, self.group, self.until, self.until, self.since]


@dataclass(frozen=True, slots=True)
class InWindow:
    """Corrects the times of rows by ``clocks`` and filters them by a window."""

    clocks: Clocks
    begin: datetime
    end: datetime

    def points(self, rows: list[Row], at: str, *others: str) -> list[Row]:
        """Return the rows whose time ``at`` is in the window, sorted; ``others`` are times of the same clock."""
        for row in rows:
            for name in (at, *others):
                if row.get(name) is not None:
                    row[name] = self.clocks.adjusted(row["source_node"], row[name])
        inside = [row for row in rows if self.begin <= row[at] <= self.end]
        return sorted(inside, key=lambda row: row[at])

    def roles(self, rows: list[Row]) -> list[Row]:
        """Return roles with both ends corrected."""
        for row in rows:
            row["start_time"] = self.clocks.adjusted(row["source_node"], row["start_time"])
            if row["end_time"] is not None:
                ended = self.clocks.adjusted(row["source_node"], row["end_time"])
                row["end_time"] = max(ended, row["start_time"])
        return rows

    def spans(self, rows: list[Row]) -> list[Row]:
        """Return the rows that overlap the window."""
        return [
            row
            for row in rows
            if row["start_time"] <= self.end and (row["end_time"] is None or row["end_time"] >= self.begin)
        ]
