"""Times that a line prints as text, converted to moments of the source's timeline."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from election_replay.election_core.judge.moments import SLACK_US, Moment, Step
from election_replay.election_core.model.facts import ClockSteppedBack, Fact
from election_replay.election_core.model.timing import US_PER_MS


def stepped(all_facts: Iterable[Fact]) -> Iterator[Step]:
    """Yield the steps back that the own lines of a source show."""
    for fact in all_facts:
        if isinstance(fact, ClockSteppedBack):
            ahead, least = fact.back_ms * US_PER_MS, fact.least_ms * US_PER_MS
            yield Step(fact.source_node, fact.since - 1, ahead, least, fact.evidence)


class PrintedTimes:
    """The steps of each source's clock, for converting printed times."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        steps = sorted(set(stepped(facts)))
        self._steps = {source: list(of) for source, of in groupby(steps, key=attrgetter("source"))}

    def moment(self, at: int, by: int, source: str, event_id: str | None) -> Moment:
        """Return the moment at which a clock showed the time [at, by]; as wide as the steps that leave it open."""
        steps: Sequence[Step] = self._steps.get(source, ())
        if not steps:
            return Moment(at, by, source, event_id)
        begin, ahead, found = -(1 << 62), 0, []
        for step in [*steps, None]:
            end = step.at if step else 1 << 62
            if begin - SLACK_US <= at + ahead <= end + SLACK_US:
                found.append(ahead)
            if step:
                begin, ahead = step.at + 1, ahead + step.ahead
        return Moment(at + min(found, default=0), by + max(found, default=ahead), source, event_id)
