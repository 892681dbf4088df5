"""What ties the clocks of brokers to those of whoever copies their metadata files: the versions of their tables.

A DataVersion bears the time at which it was made, by the clock of the broker that made it. So it was made before any
copy of a file that shows it, and not long before the last copy of the maker's own file that does not: a broker writes
its tables to their files when they change, or every few seconds. Copies bear the time of whoever made them, which may
be the machine itself, or another one.

Sources: RocketMQ ``DataVersion#nextVersion``, ``SlaveSynchronize`` (a slave takes the version with the table),
``TopicConfigManager``, ``SubscriptionGroupManager`` (written when changed), ``BrokerController`` (offsets are flushed).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from operator import attrgetter

from election_replay.election_core.fold.roles import ACTING, LEADER
from election_replay.election_core.judge.clock import Message, Moment, copier_of
from election_replay.election_core.judge.group import since
from election_replay.election_core.judge.printed_times import PrintedTimes
from election_replay.election_core.judge.timing import timing_of
from election_replay.election_core.model.facts import Fact, Role, Silence
from election_replay.election_core.model.timing import DEFAULT, US_PER_MS, Timeout, Timing
from election_replay.election_core.protocols.metadata.facts import VersionSeen
from election_replay.election_core.protocols.metadata.rules import FLUSHES

WRITTEN_AT_ONCE = frozenset({"topic_config", "subscription_group"})

Made = tuple[str, int, int]
"""A version that somebody made: the name of its table, the time in ms by its maker's clock, its number."""
Periods = Mapping[str, Sequence[Fact]]
"""Facts of one kind by the source whose own log tells them."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A version is made before it is seen, and its maker's file was seen without it before it can have been written.

    A process that ended or did not run meanwhile may not have written it. The maker is the one that served at that time
    by its own log and has the version in its own file. What two may have made ties nothing.
    """
    every = list(facts)
    seen = [fact for fact in every if isinstance(fact, VersionSeen)]
    if not seen:
        return
    printed = PrintedTimes(every)
    served = _by_source(fact for fact in every if isinstance(fact, Role) and fact.role in (LEADER, ACTING))
    makers = _makers(seen, served, printed)
    for fact in _first_copies(seen, makers):
        yield Message(_when(fact, makers[_made(fact)], printed), _copied(fact))
    silences = _by_source(fact for fact in every if isinstance(fact, Silence))
    for before, after, within in _changes_of_makers(seen, makers, timing_of(every)):
        source = after.source_node
        made = _when(after, source, printed)
        written = replace(made, at=made.at + within, by=made.by + within)
        holes = silences.get(source, ())
        if _during(served[source], made.at, written.by) and not any(_meets(hole, made, written) for hole in holes):
            yield Message(replace(since(before), source=copier_of(source)), written)


def _makers(seen: Sequence[VersionSeen], served: Periods, printed: PrintedTimes) -> dict[Made, str]:
    """Who made each version, as far as one alone can have. A table that nobody changed yet has no number.

    A slave's file has versions of its master. One whose clock is wrong may seem to have served when they were made, but
    so did the master.
    """
    found = {}
    for fact in seen:
        made = _made(fact)
        if made[2] and made not in found:
            times = {source: _when(fact, source, printed) for source in served}
            makers = {
                source
                for source, periods in served.items()
                if _during(periods, times[source].at, max(times[source].at, times[source].by - US_PER_MS))
            }
            found[made] = makers.pop() if len(makers) == 1 else ""
    shown = {(fact.source_node, _made(fact)) for fact in seen}
    return {made: maker for made, maker in found.items() if (maker, made) in shown}


def _first_copies(seen: Iterable[VersionSeen], makers: Mapping[Made, str]) -> Iterator[VersionSeen]:
    """The first copy of each version at each broker."""
    known = set()
    for fact in sorted(seen, key=attrgetter("since", "source_node", "table_name")):
        place = (fact.source_node, _made(fact))
        if place[1] in makers and place not in known:
            known.add(place)
            yield fact


def _changes_of_makers(
    seen: Iterable[VersionSeen], makers: Mapping[Made, str], timing: Timing
) -> Iterator[tuple[VersionSeen, VersionSeen, int]]:
    """The last copy of a maker's own file without a version, the first one with it, and in how many microseconds after
    it was made it must have been written."""
    place = attrgetter("source_node", "table_name")
    for (source, table), of_table in groupby(sorted(seen, key=attrgetter("source_node", "table_name", "since")), place):
        within = _written_within(table, timing)
        for before, after in pairwise(of_table):
            if within is not None and makers.get(_made(after)) == source and _made(before)[1:] < _made(after)[1:]:
                yield before, after, within


def _written_within(table: str, timing: Timing) -> int | None:
    """How long after a change a table is in its file at the latest, in microseconds; ``None``: nobody knows.

    A process may not run for a while without a hole in its log.
    """
    late = Timeout.FLUSH_TAKES.us + Timeout.SILENCE.us
    if table in WRITTEN_AT_ONCE:
        return late
    if table not in FLUSHES or timing.origin(FLUSHES[table]) == DEFAULT:
        return None
    return max(timing.us(FLUSHES[table]), Timeout.FIRST_FLUSH.us) + late


def _by_source(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in facts:
        found.setdefault(fact.source_node, []).append(fact)
    return found


def _during(periods: Iterable[Fact], begin: int, end: int) -> bool:
    """Whether a time by a source's clock lies within one of its periods."""
    return any(period.since_by <= begin and (period.until is None or end <= period.until) for period in periods)


def _meets(hole: Fact, begin: Moment, end: Moment) -> bool:
    """Whether a hole in a source's log lies, in part, between two moments of its clock."""
    return hole.since <= end.by and (hole.until_by is None or begin.at <= hole.until_by)


def _made(fact: VersionSeen) -> Made:
    return fact.table_name, fact.version_timestamp or 0, fact.counter or 0


def _when(fact: VersionSeen, maker: str, printed: PrintedTimes) -> Moment:
    """When a version was made, as a copy of it tells."""
    at = (fact.version_timestamp or 0) * US_PER_MS
    return printed.moment(at, at + US_PER_MS, maker, fact.since_event)


def _copied(fact: VersionSeen) -> Moment:
    """When a file was read at the latest: copies of one round bear the time at which that began."""
    begun = since(fact)
    return replace(begun, by=begun.by + Timeout.COPYING.us, source=copier_of(fact.source_node))
