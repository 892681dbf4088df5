"""The clocks that were wrong: all times here are in common time; what such a clock showed then.

Each row of a wrong clock says what that showed beside the common time (``start_time_logged``). Between two of them that
say the same difference the clock was that much ahead. So readings can be shown again to whoever asks for the raw ones,
and the end of a log, which is a reading, stands where it belongs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any

from election_replay.election_core.judge.wording import seconds
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, clock

SHOWN = """
    SELECT source_node, moment, epoch_us(coalesce(logged, moment)) - epoch_us(moment) AS ahead_us FROM (
        SELECT source_node, start_time AS moment, start_time_logged AS logged FROM role_intervals
        WHERE cluster = $cluster AND replica_group = $group
        UNION SELECT source_node, end_time, end_time_logged FROM role_intervals
        WHERE cluster = $cluster AND replica_group = $group
    ) WHERE moment IS NOT NULL AND source_node IN (
        SELECT source_node FROM role_intervals WHERE cluster = $cluster AND replica_group = $group
            AND coalesce(start_time_logged, end_time_logged) IS NOT NULL
    ) ORDER BY ALL
"""

EVER, NEVER = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
LIMITED = timedelta(milliseconds=1)
"""A difference below this is none."""


@dataclass(frozen=True, slots=True)
class WrongClock:
    """The clock of ``source`` showed ``ahead`` more than common time, from ``first`` to ``last`` of that."""

    source: str
    first: datetime
    last: datetime
    ahead: timedelta

    @property
    def shift(self) -> str:
        """By how much what it logged is shifted: ``+88.5 s``."""
        behind = -self.ahead // timedelta(microseconds=1)
        return f"{'+' if behind > 0 else '-'}{seconds(abs(behind))}"


@dataclass(frozen=True, slots=True)
class Clocks:
    """The wrong clocks of a group."""

    wrong: tuple[WrongClock, ...] = ()

    @property
    def as_shown(self) -> "Clocks":
        """What gives back the readings of these clocks: :meth:`adjusted` is then what each showed."""
        return Clocks(tuple(replace(wrong, ahead=-wrong.ahead) for wrong in self.wrong))

    def adjusted(self, source: str | None, at: datetime) -> datetime:
        """``at`` without what the clock of ``source`` is ahead there."""
        ahead = (wrong.ahead for wrong in self.wrong if wrong.source == source and wrong.first <= at <= wrong.last)
        return at - next(ahead, timedelta(0))

    def in_common_time(self, source: str | None, reading: datetime) -> datetime:
        """The last moment at which the clock of ``source`` showed a reading."""
        moments = [
            reading - wrong.ahead
            for wrong in self.wrong
            if wrong.source == source and wrong.first <= reading - wrong.ahead <= wrong.last
        ]
        return max(moments, default=reading)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The same as lists of values, for a query."""
        return {
            "wrong_sources": [wrong.source for wrong in self.wrong],
            "wrong_first": [wrong.first for wrong in self.wrong],
            "wrong_last": [wrong.last for wrong in self.wrong],
            "wrong_ahead_us": [wrong.ahead // timedelta(microseconds=1) for wrong in self.wrong],
        }


def clocks_of(published: Published, cluster: str, group: str) -> Clocks:
    """The clocks of a group that were wrong."""
    rows = published.rows(SHOWN, {"cluster": cluster, "group": group})
    found = [
        wrong for _, of_source in groupby(rows, itemgetter("source_node")) for wrong in _stretches(list(of_source))
    ]
    return Clocks(tuple(found))


def _stretches(rows: list[Row]) -> Iterator[WrongClock]:
    """The times in which a clock was ahead by as much, where it was at all."""
    runs = [list(run) for _, run in groupby(rows, itemgetter("ahead_us"))]
    for number, run in enumerate(runs):
        ahead = timedelta(microseconds=run[0]["ahead_us"])
        if abs(ahead) >= LIMITED:
            last = runs[number + 1][0]["moment"] - timedelta(microseconds=1) if number + 1 < len(runs) else NEVER
            first = run[0]["moment"] if number else EVER
            yield WrongClock(run[0]["source_node"], first, max(last, first), ahead)


def in_words(clocks: Clocks, *, raw: bool) -> str:
    """Which clock the times of a picture or a story are on."""
    if raw:
        return "by the clock of the node that logged it, right or wrong"
    if not clocks.wrong:
        return "by the clocks of the nodes that logged it"
    shifted = "; ".join(f"{wrong.source} {wrong.shift}{when(wrong)}" for wrong in clocks.wrong)
    return f"by the clocks of the nodes that logged it, wrong ones put right: {shifted}"


def when(wrong: WrongClock) -> str:
    """When a clock was wrong; nothing where it always was."""
    since = "" if wrong.first == EVER else f" from {clock(wrong.first)}"
    until = "" if wrong.last == NEVER else f" to {clock(wrong.last)}"
    return f" ({(since + until).strip()})" if since or until else ""
