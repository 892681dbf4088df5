"""Whether a log has a rhythm that can stop: then a hole in it says something, else lines come as things happen.

broker.log   ||||||||||||||||              |||||||||||||    lines all the time: frozen, or lines were lost
an excerpt   |      |          |    |            |     |    what somebody searched for: a hole is nothing
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from election_replay.election_core.judge.group import Group, LogGap, since, until
from election_replay.election_core.model.facts import Alive, Fact, Silence
from election_replay.election_core.model.timing import Timeout


def _lengths(facts: Iterable[Fact]) -> Counter[str]:
    """How long the facts of each log last together, in microseconds."""
    total = Counter[str]()
    for fact in facts:
        total[fact.source_node] += 0 if fact.until is None else fact.until - fact.since
    return total


_PERIOD = Timeout.SILENCE.us + Timeout.SEGMENT_GAP.us
"""The slowest periodic lines come every ten seconds: a hole no longer than that is a rhythm by itself."""


def _in_a_row(holes: Iterable[tuple[str, int, int]]) -> set[tuple[str, int]]:
    """Of holes no longer than a period those with nothing but a line or two between them: periodic lines, all at once.
    Source and begin of each."""
    found: set[tuple[str, int]] = set()
    for (source, begin, end), (other, next_begin, _) in pairwise(sorted(holes)):
        if source == other and next_begin - end <= Timeout.SEGMENT_GAP.us:
            found |= {(source, begin), (other, next_begin)}
    return found


class Rhythms:
    """Which logs of a group have a rhythm. Make it by ``group.once(Rhythms)``."""

    def __init__(self, group: Group) -> None:
        holes = (hole for hole in group.of(Silence) if not starting(group, hole))
        ended = [(hole.source_node, hole.since, hole.until) for hole in holes if hole.until is not None]
        self._silent = Counter[str]()
        for source, begin, end in ended:
            self._silent[source] += end - begin if end - begin > _PERIOD else 0
        self._in_a_row = _in_a_row((source, begin, end) for source, begin, end in ended if end - begin <= _PERIOD)
        self._lasted = _lengths(group.of(Alive))

    def stopped(self, source: str, hole: LogGap) -> bool:
        """Whether a log has lines for more than half of the time beside one hole, or its process says that it did not
        run. A few lines on both sides of a hole, as in an excerpt, are no rhythm, and one of a row is its rhythm."""
        length = hole.end.at - hole.begin.at
        if (source, hole.begin.at) in self._in_a_row and not hole.noticed:
            return False
        others = self._silent[source] - (length if length > _PERIOD else 0)
        beside = self._lasted[source] - length
        return hole.noticed or (beside >= Timeout.SILENCE.us and 2 * others <= beside)


def gap_of(hole: Silence) -> LogGap | None:
    """A silence as a hole of its log; ``None`` for one to the end of the log."""
    end = until(hole)
    return None if end is None else LogGap(since(hole), end, hole.noticed)


def starting(group: Group, hole: Silence) -> bool:
    """Whether a hole lies before the first role of a process: a slow start, on which no verdict rests."""
    roles = group.roles_of(hole.source_node, hole.since)
    return not roles or roles[-1].cause == "start"
