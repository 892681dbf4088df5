"""Causal pairs between brokers and the machines that copy their metadata files, by the versions of tables.

A DataVersion holds the time at which it was made, by the clock of the broker that made it. So it was made before any
copy of a file with it, and not long before the last copy of the maker's own file without it: a broker writes its tables
to their files when they change, or every few seconds. Copies have the time of the copier, which may be the machine
itself or another one.

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
"""A version that a broker made: the table, the time in ms by its maker's clock, the counter."""
Periods = Mapping[str, Sequence[Fact]]
"""Facts of one kind by their source."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield pairs of a version's making and its copies.

    A version is made before it is copied, and a copy of its maker's file without it precedes the latest time at which
    it was written. A process that ended or was frozen meanwhile may not have written it. The maker is the broker that
    served at that time by its own log and has the version in its own file; a version that two may have made ties
    nothing.
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
        gaps = silences.get(source, ())
        if _during(served[source], made.at, written.by) and not any(_meets(gap, made, written) for gap in gaps):
            yield Message(replace(since(before), source=copier_of(source)), written)


def _makers(seen: Sequence[VersionSeen], served: Periods, printed: PrintedTimes) -> dict[Made, str]:
    """Return the maker of each version that only one broker can have made. A table that was never changed has no
    counter. A slave's file has versions of its master. If a slave's clock is wrong, it may seem to have served when
    they were made, but so did the master."""
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
    """Yield the first copy of each version at each broker."""
    known = set()
    for fact in sorted(seen, key=attrgetter("since", "source_node", "table_name")):
        place = (fact.source_node, _made(fact))
        if place[1] in makers and place not in known:
            known.add(place)
            yield fact


def _changes_of_makers(
    seen: Iterable[VersionSeen], makers: Mapping[Made, str], timing: Timing
) -> Iterator[tuple[VersionSeen, VersionSeen, int]]:
    """Yield a maker's last copy without a version, its first one with it, and the time in us to write it."""
    place = attrgetter("source_node", "table_name")
    for (source, table), of_table in groupby(sorted(seen, key=attrgetter("source_node", "table_name", "since")), place):
        within = _written_within(table, timing)
        for before, after in pairwise(of_table):
            if within is not None and makers.get(_made(after)) == source and _made(before)[1:] < _made(after)[1:]:
                yield before, after, within


def _written_within(table: str, timing: Timing) -> int | None:
    """Return how many us after a change a table is in its file at the latest; ``None``: unknown. A process may be
    frozen for up to ``SILENCE`` without a gap in its log."""
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
    """Return True when [begin, end] lies within one of a source's periods, by its own clock."""
    return any(period.since_by <= begin and (period.until is None or end <= period.until) for period in periods)


def _meets(gap: Fact, begin: Moment, end: Moment) -> bool:
    """Return True when a gap in the source's log overlaps the interval [begin, end] of its own clock."""
    return gap.since <= end.by and (gap.until_by is None or begin.at <= gap.until_by)


def _made(fact: VersionSeen) -> Made:
    return fact.table_name, fact.version_timestamp or 0, fact.counter or 0


def _when(fact: VersionSeen, maker: str, printed: PrintedTimes) -> Moment:
    """Return when a version was made, by a copy of it."""
    at = (fact.version_timestamp or 0) * US_PER_MS
    return printed.moment(at, at + US_PER_MS, maker, fact.since_event)


def _copied(fact: VersionSeen) -> Moment:
    """Return when a file was read: copies of one round have the time at which the round began."""
    begun = since(fact)
    return replace(begun, by=begun.by + Timeout.COPYING.us, source=copier_of(fact.source_node))
