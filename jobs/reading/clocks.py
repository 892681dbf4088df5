"""Conversion between common time, in which gold tables are, and the readings of clocks that were wrong."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from election_replay.election_core.judge.wording import seconds
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, clock

OFFSETS = """
    SELECT source_node, start_time, moved_ms, clock_least_ms, clock_most_ms FROM clock_offsets
    WHERE cluster = $cluster AND replica_group = $group ORDER BY source_node, position
"""

EVER, NEVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
WIDE = timedelta(seconds=4)
"""An offset that is known less precisely than this is shown as a range."""


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A period, from ``first`` to ``last`` in common time, in which the clock of ``source`` was ``ahead`` of it.

    True times may be up to ``late_by`` later than common time says.
    """

    source: str
    first: datetime
    last: datetime
    ahead: timedelta
    late_by: timedelta = timedelta(0)

    @property
    def shift(self) -> str:
        """Return by how much its logged times are shifted: ``+88.5 s``, or ``-2 min 1 s to -55 s``."""
        if self.late_by <= WIDE:
            return signed(-self.ahead)
        return f"{signed(-self.ahead)} to {signed(self.late_by - self.ahead)}"


def signed(by: timedelta) -> str:
    """Return a shift as text, with its sign."""
    us = by // timedelta(microseconds=1)
    return f"{'+' if us > 0 else '-'}{seconds(abs(us))}"


@dataclass(frozen=True, slots=True)
class Clocks:
    """The wrong clocks of a group."""

    wrong: tuple[WrongClock, ...] = ()

    @property
    def as_shown(self) -> "Clocks":
        """Return the inverse, whose :meth:`adjusted` turns common time back into readings."""
        return Clocks(tuple(replace(wrong, ahead=-wrong.ahead) for wrong in self.wrong))

    def adjusted(self, source: str | None, at: datetime) -> datetime:
        """Return ``at`` less the offset of the clock of ``source`` at that time."""
        ahead = (wrong.ahead for wrong in self.wrong if wrong.source == source and wrong.first <= at <= wrong.last)
        return at - next(ahead, timedelta(0))

    def late_by(self, source: str | None, at: datetime) -> timedelta:
        """Return by how much an event may be later than shown; zero if that is at most :data:`WIDE`."""
        late_by = (wrong.late_by for wrong in self.wrong if wrong.source == source and wrong.first <= at <= wrong.last)
        known = next(late_by, timedelta(0))
        return known if known > WIDE else timedelta(0)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """Return the clocks as lists of values, for a query."""
        return {
            "wrong_sources": [wrong.source for wrong in self.wrong],
            "wrong_first": [wrong.first for wrong in self.wrong],
            "wrong_last": [wrong.last for wrong in self.wrong],
            "wrong_ahead_us": [wrong.ahead // timedelta(microseconds=1) for wrong in self.wrong],
        }


def clocks_of(published: Published, cluster: str, group: str) -> Clocks:
    """Return the wrong clocks of a group."""
    rows = published.rows(OFFSETS, {"cluster": cluster, "group": group})
    found = [wrong for _, of_source in groupby(rows, itemgetter("source_node")) for wrong in _periods([*of_source])]
    return Clocks(tuple(found))


def _periods(rows: list[Row]) -> Iterator[WrongClock]:
    """Yield the periods in which a source's clock had one offset other than 0; each lasts until the next begins."""
    begins = [EVER, *(row["start_time"] for row in rows[1:])]
    ends = [*(begin - timedelta(microseconds=1) for begin in begins[1:]), NEVER]
    for row, begin, end in zip(rows, begins, ends, strict=True):
        if row["moved_ms"]:
            known = row["clock_least_ms"] is not None and row["clock_most_ms"] is not None
            late_ms = -row["moved_ms"] - row["clock_least_ms"] if known else 0
            ahead, late_by = timedelta(milliseconds=-row["moved_ms"]), timedelta(milliseconds=late_ms)
            yield WrongClock(row["source_node"], begin, max(begin, end), ahead, late_by)


def in_words(clocks: Clocks, *, raw: bool) -> str:
    """Return text about the clock on which the times of a picture or a story are."""
    if raw:
        return "by the clock of the node that logged it, right or wrong"
    if not clocks.wrong:
        return "by the clocks of the nodes that logged it"
    shifted = "; ".join(f"{wrong.source} {wrong.shift}{when(wrong)}" for wrong in clocks.wrong)
    return f"by the clocks of the nodes that logged it, wrong ones put right: {shifted}"


def when(wrong: WrongClock) -> str:
    """Return text about the period in which a clock was wrong; empty if it always was."""
    since = "" if wrong.first == EVER else f" from {clock(wrong.first)}"
    until = "" if wrong.last == NEVER else f" to {clock(wrong.last)}"
    return f" ({(since + until).strip()})" if since or until else ""
