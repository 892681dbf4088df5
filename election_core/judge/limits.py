"""What limits the verdicts on a group: ``LOG_GAP`` and ``CLOCK_SKEW``.

log    |||||||||          |||||||||      a hole of ten seconds and more inside one incarnation: LOG_GAP
n0     ....sends(12:00:05)...............
n1     ....reads(12:00:01)...............  read before it was sent, by more than the bounds allow: CLOCK_SKEW
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from election_replay.election_core.judge.clock import Clocks, Moment, Offset, WrongClock, is_copier, owner_of
from election_replay.election_core.judge.coverage import counted, coverage
from election_replay.election_core.judge.electorate import Electorates
from election_replay.election_core.judge.group import Group
from election_replay.election_core.judge.wording import between, name_of, seconds
from election_replay.election_core.model.catalogue import INFO, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import Alive, ClockSteppedBack, Fact, Silence, TimeoutConfigured
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import SECOND


def log_gaps(group: Group) -> Iterator[Finding]:
    """``LOG_GAP``: holes in the logs of members."""
    for hole in _holes(group):
        if hole.until is None:
            continue
        name = hole.node or hole.source_node
        yield group.finding(
            RuleId.LOG_GAP,
            (hole.source_node, hole.since // SECOND),
            severity=INFO,
            certainty=PROVEN,
            nodes=(name,),
            terms=(),
            start_time=hole.since,
            end_time=hole.until,
            summary=f"The logs of {name} ({hole.source_node}) are silent for "
            f"{seconds(hole.until - hole.since)}: frozen, or its lines were lost.",
            evidence=tuple(e for e in (hole.since_event, hole.until_event) if e),
            duration_min_ms=(hole.until - hole.since_by) // 1000,
            duration_max_ms=((hole.until_by or hole.until) - hole.since) // 1000,
        )


def log_gap_coverage(group: Group) -> RuleCoverage:
    """The holes in the logs of members, and the members whose logs have none."""
    found = list(log_gaps(group))
    silent = {hole.source_node for hole in _holes(group)}
    speaking = {fact.source_node for fact in group.of(Alive)}
    return counted(group, RuleId.LOG_GAP, found, len(speaking - silent) + len(found))


def _holes(group: Group) -> Iterator[Silence]:
    return (hole for hole in group.of(Silence) if hole.until is not None and not starting(group, hole))


def starting(group: Group, hole: Silence) -> bool:
    """Whether a hole lies before the first role of a process: a slow start, on which no verdict rests."""
    roles = group.roles_of(hole.source_node, hole.since)
    return not roles or roles[-1].cause == "start"


def wrong_clocks(facts: Sequence[Fact], clocks: Clocks, protocol: str) -> Iterator[Finding | RuleCoverage]:
    """``CLOCK_SKEW``: each clock of a group's machines that was set, or is further off than its bound allows, once."""
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
        if _of_member(by_source.get(owner_of(wrong.source), [])) and not _told_with(wrong.source, sources, clocks)
    ]
    for wrong in of_members:
        yield _wrong_clock(group, wrong, by_source)
    concerned = {owner_of(source) for wrong in of_members for source in (wrong.source, *wrong.or_else)}
    yield coverage(group, RuleId.CLOCK_SKEW, len(by_source.keys() - concerned), len(of_members))


def tells_of_wrong_clock(row: Row) -> bool:
    """Whether a row is about a clock that is off: then logs do not end together though their times say so."""
    return isinstance(row, Finding) and row.rule == RuleId.CLOCK_SKEW.value


def _told_with(copier: str, wrong: Collection[str], clocks: Clocks) -> bool:
    """Whether a wrong clock may be that of the machine whose files were copied by it, which is told already."""
    machine = owner_of(copier)
    return is_copier(copier) and machine in wrong and clocks.copies_itself(machine)


def _of_member(facts: Sequence[Fact]) -> bool:
    """Whether a machine belongs to the group; others only speak of it, and their clock is told of where they belong."""
    return any(not isinstance(fact, ClockSteppedBack) or fact.of_member for fact in facts)


def _wrong_clock(group: Group, wrong: WrongClock, by_source: Mapping[str, Sequence[Fact]]) -> Finding:
    facts = by_source[owner_of(wrong.source)]
    worst = None if wrong.or_else else max(wrong.offsets, key=_away, default=None)
    set_by = max(wrong.set_by, key=abs, default=None)
    beyond = bool(wrong.offsets) or any(jump > 0 for jump in wrong.set_by)
    begin, end = min(fact.since for fact in facts), max(fact.until or fact.since for fact in facts)
    since = [begin if offset.first is None else offset.first for offset in wrong.offsets]
    until = [end if offset.last is None else offset.last for offset in wrong.offsets]
    return group.finding(
        RuleId.CLOCK_SKEW,
        (wrong.source, *wrong.or_else),
        severity=WARNING if beyond else INFO,
        nodes=tuple(_member(source, by_source) for source in (wrong.source, *wrong.or_else)),
        terms=(),
        start_time=max(min(since, default=begin), begin),
        end_time=min(max(until, default=end), end),
        summary=_sentence(wrong, worst, by_source) + (_ONLY_PROVEN if beyond else _WITHIN),
        evidence=wrong.evidence,
        clock_least_ms=None if worst is None or worst.least is None else worst.least // 1000,
        clock_most_ms=None if worst is None or worst.most is None else -(-worst.most // 1000),
        clock_set_by_ms=None if set_by is None or set_by > 0 else set_by // 1000,
    )


_ONLY_PROVEN = " What it logged is compared with what others logged as far as messages prove, and not around a step."
_WITHIN = " That is inside its configured bound."


def _sentence(wrong: WrongClock, worst: Offset | None, by_source: Mapping[str, Sequence[Fact]]) -> str:
    names = [_name(source, by_source) for source in (wrong.source, *wrong.or_else)]
    if wrong.or_else and not wrong.set_by:
        return f"The clocks of {' and of '.join(names)} are at least {seconds(wrong.apart_us)} apart."
    clauses = []
    back = [-size for size in wrong.set_by if size < 0]
    jumps = [size for size in wrong.set_by if size > 0]
    if back:
        clauses.append(f"was put back by at least {' and by '.join(seconds(size) for size in back)}")
    if jumps:
        clauses.append(f"was set by at least {' and by '.join(seconds(size) for size in jumps)}")
    if worst is not None and _away(worst) > 0:
        ahead = worst.least is not None and worst.least > 0
        far_end = worst.most if ahead else worst.least
        near, far = _away(worst), None if far_end is None else abs(far_end)
        how_far = f"at least {seconds(near)}" if far is None else between(near, far)
        clauses.append(f"was {how_far} {'ahead' if ahead else 'behind'}")
    if not clauses:
        clauses.append(f"differs from others by at least {seconds(wrong.apart_us)}")
    return f"The clock of {' or of '.join(names)} {', and '.join(clauses)}."


def _away(offset: Offset) -> int:
    """How far, at least, a clock is from true time, in microseconds."""
    ahead = offset.least if offset.least is not None else 0
    behind = -offset.most if offset.most is not None else 0
    return max(ahead, behind, 0)


def _member(clock: str, by_source: Mapping[str, Sequence[Fact]]) -> str:
    """The member as which a machine's process runs, if it runs as one; else the folder of its logs.

    The clock of whoever copied a machine's files is no member's.
    """
    if is_copier(clock):
        return clock
    names = {fact.node for fact in by_source[clock] if isinstance(fact, Alive) and fact.node is not None}
    return names.pop() if len(names) == 1 else clock


def _name(clock: str, by_source: Mapping[str, Sequence[Fact]]) -> str:
    if is_copier(clock):
        return f"whoever copied the metadata files of {_name(owner_of(clock), by_source)}"
    return name_of(_member(clock, by_source), clock)
