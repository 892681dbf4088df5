"""When the members of a group were up, by the lines of their processes."""

from bisect import bisect_left
from itertools import accumulate

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.model.facts import Alive
from election_replay.election_core.model.timing import Timeout


class AliveTimes:
    """The times in which members of a group were up, by the lines of their processes."""

    def __init__(self, group: Group) -> None:
        self._clocks = group.clocks
        self._begins = [since(run) for run in group.of(Alive)]
        ends = ((since(run), until(run)) for run in group.of(Alive))
        self._times = sorted((begin.at, last.at) for begin, last in ends if last is not None)
        self._last = list(accumulate((last for _, last in self._times), max))

    def somebody_up(self, begin: Moment, end: Moment) -> bool:
        """Return True when a member was up for at least ``MIN_REPORTED`` us between two moments."""
        since_us, until_us = begin.by, end.at
        number = bisect_left(self._times, (until_us,))
        while number and self._last[number - 1] - since_us >= Timeout.MIN_REPORTED.us:
            number -= 1
            born, last = self._times[number]
            if min(until_us, last) - max(since_us, born) >= Timeout.MIN_REPORTED.us:
                return True
        return False

    def all_started_after(self, moment: Moment) -> bool:
        """Return True when every member's log shows a process that surely started after a moment."""
        again = {begin.source for begin in self._begins if self._clocks.elapsed(moment, begin)[0] > 0}
        return {begin.source for begin in self._begins} == again
