"""``CLOCK_SKEW``: clocks that were set, or were further off than their bounds allow.

n0     ....sends(12:00:05)...............
n1     ....reads(12:00:01)...............  read before it was sent, by more than the bounds allow

A finding names the clock, when it was set and by how much, and how far it was off in between.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, pairwise
from operator import itemgetter

from election_replay.election_core.judge.clock import Clocks, Moment, Offset, WrongClock, is_copier, owner_of
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.electorate import Electorates
from election_replay.election_core.judge.group import Group
from election_replay.election_core.judge.wording import between, name_of, seconds
from election_replay.election_core.model.catalogue import INFO, WARNING, RuleId
from election_replay.election_core.model.facts import Alive, ClockSteppedBack, Fact, TimeoutConfigured
from election_replay.election_core.model.rows import ClockOffset, Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import SECOND, US_PER_MS, Timeout

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wrong_clocks(
    facts: Sequence[Fact], clocks: Clocks, protocol: str
) -> Iterator[Finding | ClockOffset | RuleCoverage]:
    """Yield a finding and offsets for each clock that was set or exceeds its bound, and the rule's coverage."""
    any_fact = facts[0]
    nowhere = Moment(0, 0, any_fact.source_node)
    about = (any_fact.cluster, any_fact.replica_group, protocol, list(facts), clocks)
    group = Group(*about, nowhere, Electorates((), clocks))
    by_source: dict[str, list[Fact]] = {}
    for fact in group.facts:
        if not isinstance(fact, TimeoutConfigured):
            by_source.setdefault(fact.source_node, []).append(fact)
    sources = {wrong.source for wrong in clocks.wrong}
    of_members = [
        wrong
        for wrong in clocks.wrong
        if _of_member(by_source.get(owner_of(wrong.source), []))
        and not _reported_with_machine(wrong.source, sources, clocks)
    ]
    for wrong in of_members:
        finding = _wrong_clock(group, wrong, by_source)
        yield finding
        yield from _offsets(finding, wrong, by_source)
    concerned = {owner_of(source) for wrong in of_members for source in (wrong.source, *wrong.or_else)}
    yield coverage(group, RuleId.CLOCK_SKEW, len(by_source.keys() - concerned), len(of_members))


def tells_of_wrong_clock(row: Row) -> bool:
    """Return True for a finding about a wrong clock: logs then do not end together although their times say so."""
    return isinstance(row, Finding) and row.rule == RuleId.CLOCK_SKEW.value


def _reported_with_machine(copier: str, wrong: Collection[str], clocks: Clocks) -> bool:
    """Return True when a wrong copier's clock may be that of its machine, which has a finding already."""
    machine = owner_of(copier)
    return is_copier(copier) and machine in wrong and clocks.copies_itself(machine)


def _of_member(facts: Sequence[Fact]) -> bool:
    """Return True when the facts of a machine show it to be a member of the group. Other machines only mention the
    group; their clocks are reported with the group that they belong to."""
    return any(not isinstance(fact, ClockSteppedBack) or fact.of_member for fact in facts)


def _wrong_clock(group: Group, wrong: WrongClock, by_source: Mapping[str, Sequence[Fact]]) -> Finding:
    off = () if wrong.or_else else wrong.offsets
    least, most = [offset.least for offset in off], [offset.most for offset in off]
    set_by = max(wrong.set_by, key=abs, default=None)
    beyond = bool(wrong.offsets) or any(jump > 0 for jump in wrong.set_by)
    begin, end = _extent(wrong.source, by_source)
    since = [begin if offset.first is None else offset.first for offset in wrong.offsets]
    until = [end if offset.last is None else offset.last for offset in wrong.offsets]
    return group.finding(
        RuleId.CLOCK_SKEW,
        (wrong.source, *wrong.or_else),
        severity=WARNING if beyond else INFO,
        nodes=tuple(_member(source, by_source) for source in (wrong.source, *wrong.or_else)),
        when=(max(min(since, default=begin), begin), min(max(until, default=end), end)),
        summary=" ".join(_sentences(wrong, by_source)) + (_ONLY_PROVEN if beyond else _WITHIN),
        evidence=wrong.evidence,
        clock_least_ms=_in_ms(None if None in least else min(least, default=None)),  # type: ignore[type-var]
        clock_most_ms=_in_ms_at_most(None if None in most else max(most, default=None)),  # type: ignore[type-var]
        clock_set_by_ms=None if set_by is None or set_by > 0 else set_by // US_PER_MS,
    )


def _extent(clock: str, by_source: Mapping[str, Sequence[Fact]]) -> tuple[int, int]:
    """Return the (first, last) time in us of the facts of a clock's machine."""
    facts = by_source[owner_of(clock)]
    return min(fact.since for fact in facts), max(fact.until or fact.since for fact in facts)


_ONLY_PROVEN = " Times are corrected as far as messages between members prove; around a step they are uncertain."
_WITHIN = " That is inside its configured bound."


# -- step by step ------------------------------------------------------------------------------------------------------


def _offsets(finding: Finding, wrong: WrongClock, by_source: Mapping[str, Sequence[Fact]]) -> Iterator[ClockOffset]:
    """Yield one row for each segment of a wrong clock, from one step to the next."""
    begin, last = _extent(wrong.source, by_source)
    sides = [None, *pairwise(wrong.segments)]
    starts = [begin, *(max(_set_between(*side)) for side in sides if side)]
    ends = [*(min(_set_between(*side)) for side in sides if side), last]
    for position, (segment, side, start, end) in enumerate(zip(wrong.segments, sides, starts, ends, strict=True), 1):
        end = max(start, end)  # noqa: PLW2901 - around several steps nothing is left of it
        set_by = (None, None) if side is None else _set_by(*side)
        yield ClockOffset(
            cluster=finding.cluster,
            replica_group=finding.replica_group,
            protocol=finding.protocol,
            source_node=wrong.source,
            node=None if is_copier(wrong.source) else _known_member(wrong.source, by_source),
            position=position,
            start_time=start,
            end_time=end,
            start_time_logged=start + segment.shown,
            end_time_logged=end + segment.shown,
            clock_least_ms=_in_ms(segment.least),
            clock_most_ms=_in_ms_at_most(segment.most),
            moved_ms=-segment.shown // US_PER_MS,
            set_by_least_ms=_in_ms(set_by[0]),
            set_by_most_ms=_in_ms_at_most(set_by[1]),
            finding_id=finding.finding_id,
        )


def _in_ms(us: int | None) -> int | None:
    return None if us is None else us // US_PER_MS


def _in_ms_at_most(us: int | None) -> int | None:
    return None if us is None else -(-us // US_PER_MS)


def _set_between(before: Offset, after: Offset) -> tuple[int, int]:
    """Return the moments (earliest, latest) between which a clock was set."""
    ended, begun = before.last, after.first
    if ended is None or begun is None:
        raise ValueError("only the first segment of a clock has no beginning, and only the last no end")
    return min(ended, begun), max(ended, begun) + after.late


def _set_by(before: Offset, after: Offset) -> tuple[int | None, int | None]:
    """Return by how much a clock was set between two segments, (least, most) in us; negative where it was put back."""
    least = None if after.least is None or before.most is None else after.least - before.most
    most = None if after.most is None or before.least is None else after.most - before.least
    if after.back and (most is None or most > -after.back):
        most = -after.back if least is None else max(-after.back, least)
    return least, most


def _sentences(wrong: WrongClock, by_source: Mapping[str, Sequence[Fact]]) -> Iterator[str]:
    """Yield the sentences about a wrong clock: how far it was off, or when and by how much it was set."""
    names = [_name(source, by_source) for source in (wrong.source, *wrong.or_else)]
    clock = f"The clock of {' or of '.join(names)}"
    if wrong.or_else and not wrong.set_by:
        yield f"The clocks of {' and of '.join(names)} are at least {seconds(wrong.apart_us)} apart."
    elif wrong.or_else or (len(wrong.segments) == 1 and wrong.set_by):
        back = [-size for size in wrong.set_by if size < 0]
        jumps = [size for size in wrong.set_by if size > 0]
        for how, sizes in (("put back", back), ("set", jumps)):
            if sizes:
                yield f"{clock} was {how} by at least {' and by '.join(seconds(size) for size in sizes)}."
    elif len(wrong.segments) == 1:
        yield f"{clock} {_how_far(wrong.segments[0]) or f'differs from others by at least {seconds(wrong.apart_us)}'}."
    else:
        first = _how_far(wrong.segments[0])
        yield f"{clock} {first} at first." if first else f"{clock} was set."
        day = _day(_extent(wrong.source, by_source)[0])
        moved = [(_moved(*side), _when(*side, day)) for side in pairwise(wrong.segments)]
        for (how, when), alike in groupby(zip(moved, wrong.segments[1:], strict=True), key=itemgetter(0)):
            *others, (_, after) = alike
            times = f" {len(others) + 1} times" if others else ""
            then = f", and {how_far} then" if (how_far := _how_far(after)) else ""
            yield f"It {how}{times} {when}{then}."


def _how_far(offset: Offset) -> str:
    """Return how far a clock was off, as a predicate; empty where that is not known."""
    if offset.by_bound:
        return "was right"
    least, most = offset.least, offset.most
    if least is not None and least > 0:
        return f"was {_least_to_most(least, most)} ahead"
    if most is not None and most < 0:
        return f"was {_least_to_most(-most, None if least is None else -least)} behind"
    return ""


def _moved(before: Offset, after: Offset) -> str:
    least, most = _set_by(before, after)
    if least is not None and least > 0:
        return f"was put forward by {_least_to_most(least, most)}"
    if most is not None and most < 0:
        return f"was put back by {_least_to_most(-most, None if least is None else -least)}"
    return "was set"


def _least_to_most(least: int, most: int | None) -> str:
    return f"at least {seconds(least)}" if most is None else between(least, most)


def _when(before: Offset, after: Offset, day: str) -> str:
    """Return when a clock was set between two segments, in UTC; with the date where it is not ``day``. Where nothing
    bounds how far the clock was off on a side, the time is not sure either."""
    since, until = _set_between(before, after)
    about = "" if all(side.by_bound or None not in (side.least, side.most) for side in (before, after)) else "about "
    if until - since <= Timeout.BLURRED_END.us:
        return f"at {about}{_time(since, day)}"
    return f"between {about}{_time(since, day)} and {_time(-(-until // SECOND) * SECOND, day)}"


def _day(at: int) -> str:
    return f"{_EPOCH + timedelta(microseconds=at):%Y-%m-%d }"


def _time(at: int, day: str) -> str:
    moment = _EPOCH + timedelta(microseconds=at)
    return f"{moment:%Y-%m-%d %H:%M:%S}".removeprefix(day)


# -- whose -------------------------------------------------------------------------------------------------------------


def _member(clock: str, by_source: Mapping[str, Sequence[Fact]]) -> str:
    """Return the member as which a machine's process runs, else the folder of its logs. The clock of a machine that
    copied files belongs to no member."""
    return clock if is_copier(clock) else _known_member(clock, by_source) or clock


def _known_member(source: str, by_source: Mapping[str, Sequence[Fact]]) -> str | None:
    names = {fact.node for fact in by_source[source] if isinstance(fact, Alive) and fact.node is not None}
    return names.pop() if len(names) == 1 else None


def _name(clock: str, by_source: Mapping[str, Sequence[Fact]]) -> str:
    if is_copier(clock):
        return f"whoever copied the metadata files of {_name(owner_of(clock), by_source)}"
    return name_of(_member(clock, by_source), clock)
