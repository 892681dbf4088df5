"""Whether a log has a rhythm, so that a gap in it means something; otherwise lines come only as things happen.

broker.log   ||||||||||||||||              |||||||||||||    lines all the time: frozen, or lines were lost
an excerpt   |      |          |    |            |     |    a search result: its gaps mean nothing
"""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from election_replay.election_core.judge.group import Group, LogGap, since, until
from election_replay.election_core.model.facts import Alive, Fact, Silence
from election_replay.election_core.model.timing import Timeout


def _lengths(facts: Iterable[Fact]) -> Counter[str]:
    """Return the total duration of each log's facts in us."""
    total = Counter[str]()
    for fact in facts:
        total[fact.source_node] += 0 if fact.until is None else fact.until - fact.since
    return total


_PERIOD = Timeout.SILENCE.us + Timeout.SEGMENT_GAP.us
"""The slowest periodic lines come every ten seconds: a gap no longer than that is part of a rhythm."""


def _in_a_row(gaps: Iterable[tuple[str, int, int]]) -> set[tuple[str, int]]:
    """Return (source, begin) of gaps no longer than a period with only a line or two between them: periodic lines."""
    found: set[tuple[str, int]] = set()
    for (source, begin, end), (other, next_begin, _) in pairwise(sorted(gaps)):
        if source == other and next_begin - end <= Timeout.SEGMENT_GAP.us:
            found |= {(source, begin), (other, next_begin)}
    return found


class Rhythms:
    """The rhythms of a group's logs. Make it by ``group.once(Rhythms)``."""

    def __init__(self, group: Group) -> None:
        gaps = (gap for gap in group.of(Silence) if not starting(group, gap))
        ended = [(gap.source_node, gap.since, gap.until) for gap in gaps if gap.until is not None]
        self._silent = Counter[str]()
        for source, begin, end in ended:
            self._silent[source] += end - begin if end - begin > _PERIOD else 0
        self._in_a_row = _in_a_row((source, begin, end) for source, begin, end in ended if end - begin <= _PERIOD)
        self._lasted = _lengths(group.of(Alive))

    def stopped(self, source: str, gap: LogGap) -> bool:
        """Return True when a gap interrupts a rhythm: more than half of the rest has lines, or the process noticed a
        stall. A few lines on both sides, as in an excerpt, are no rhythm; a gap that is one of a row is the rhythm
        itself."""
        length = gap.end.at - gap.begin.at
        if (source, gap.begin.at) in self._in_a_row and not gap.noticed:
            return False
        others = self._silent[source] - (length if length > _PERIOD else 0)
        beside = self._lasted[source] - length
        return gap.noticed or (beside >= Timeout.SILENCE.us and 2 * others <= beside)


def gap_of(gap: Silence) -> LogGap | None:
    """Return a silence as a gap of its log; ``None`` for one to the end of the log."""
    end = until(gap)
    return None if end is None else LogGap(since(gap), end, gap.noticed)


def starting(group: Group, gap: Silence) -> bool:
    """Return True when a silence is before the first role of a process: a slow start, which no verdict uses."""
    roles = group.roles_of(gap.source_node, gap.since)
    return not roles or roles[-1].cause == "start"
