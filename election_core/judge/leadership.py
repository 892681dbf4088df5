"""The rules about leadership that every protocol shares, as small functions over tenures.

Overlap and precedence follow the interval rules of :mod:`election_core.judge.clock`: a claim is *definite* when it
holds for every reading of the clocks inside their bounds, *possible* when only for some, and nothing is claimed that is
merely possible because two lines carry the same second.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from math import inf
from operator import itemgetter

from election_core.fold.process_runs import SECOND, SILENCE
from election_core.fold.roles import DIED, FOLLOWER, HIGHER_NODE, LEADER, STOPPED, UNKNOWN
from election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_core.judge.group import SILENT, Group, Tenure, until
from election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, between, seconds
from election_core.model.facts import Alive, Role, Silence
from election_core.model.rows import Finding, RoleInterval, RuleCoverage, Term

STORM_ELECTIONS = 3
STORM_WINDOW = 600 * SECOND
ONE_DISTURBANCE = 10 * SECOND
"""Elections closer together than this are one disturbance: retries of one forced election, a lost race."""
BRIEF = 2 * SECOND
"""A time without leader that may be shorter than this is worth knowing, not an alarm."""
GROUP_SHUTDOWN = 60 * SECOND
"""Members that stop within this time of their leader were shut down together."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two tenures at once; microseconds of true time, least and most.

    ``asleep`` is the part of it in which the stale leader's log is silent: it was frozen, or cannot be heard.
    """

    stale: Tenure
    newer: Tenure
    least: int
    most: int
    asleep: int

    @property
    def awake_least(self) -> int:
        """How long the stale leader was awake at least."""
        return max(self.least - self.asleep, 0)

    @property
    def frozen(self) -> bool:
        """Whether the stale leader's log is silent for part of the overlap."""
        return self.asleep > 0


def overlaps(group: Group) -> Iterator[Overlap]:
    """All pairs of tenures of different nodes that may have been at once."""
    for one, other in _perhaps_at_once(group):
        if one.source == other.source:
            continue
        stale, newer = (one, other) if one.term <= other.term else (other, one)
        least, most = _overlap(group.clocks, stale, newer)
        if most > 0:
            yield Overlap(stale, newer, max(least, 0), most, _asleep(group.clocks, stale, newer))


def _perhaps_at_once(group: Group) -> list[tuple[Tenure, Tenure]]:
    """The pairs of tenures, in their order, that are not further apart than any clock can be wrong."""
    pairs: list[tuple[int, int]] = []
    running: list[int] = []
    for number in sorted(range(len(group.tenures)), key=lambda number: group.tenures[number].begin.at):
        reach = group.tenures[number].begin.at - group.clocks.widest
        running = [other for other in running if group.tenures[other].end.by > reach]
        pairs.extend((min(number, other), max(number, other)) for other in running)
        running.append(number)
    return [(group.tenures[one], group.tenures[other]) for one, other in sorted(pairs)]


def _overlap(clocks: Clocks, one: Tenure, other: Tenure) -> tuple[int, int]:
    """Least and most of ``min(ends) - max(begins)``, which is negative when the tenures are apart."""
    pairs = [clocks.elapsed(begin, end) for begin in (one.begin, other.begin) for end in (one.end, other.end)]
    return min(least for least, _ in pairs), min(most for _, most in pairs)


def _asleep(clocks: Clocks, stale: Tenure, newer: Tenure) -> int:
    total = 0
    for hole in stale.silences:
        _, from_begin = clocks.elapsed(newer.begin, hole.end)
        if from_begin > 0:
            total += min(from_begin, hole.end.by - hole.begin.at)
    return total


def overlap_coverage(group: Group, breaks_rule: Callable[[Overlap], bool]) -> RuleCoverage:
    """Coverage of overlaps: successive tenures that are apart, that are at once, or that cannot be told."""
    pairs = [overlap for overlap in overlaps(group) if overlap.stale.term != overlap.newer.term]
    definite = [overlap for overlap in pairs if overlap.least > 0]
    broken = sum(1 for overlap in definite if breaks_rule(overlap))
    apart = max(len(group.tenures) - 1 - len(pairs), 0)
    return coverage(
        group,
        "SPLIT_BRAIN_OVERLAP",
        apart + len(definite) - broken,
        broken,
        len(pairs) - len(definite),
        "ends and beginnings lie within the resolution and bounds of the clocks, or a log just stops",
    )


def role_intervals(group: Group) -> Iterator[RoleInterval]:
    """The roles of all members, as rows; a log that just stops is followed by an unknown role."""
    for role in group.roles:
        end = until(role)
        row = RoleInterval(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            node=role.node or role.address or role.source_node,
            source_node=role.source_node,
            role=role.role,
            term=role.term,
            leader=role.leader,
            start_time=role.since,
            end_time=end.at if end else None,
            start_uncertainty_ms=(role.since_by - role.since) // 1000,
            end_uncertainty_ms=(end.by - end.at) // 1000 if end else None,
            start_cause=role.cause,
            end_cause=role.end_cause,
            start_event_id=role.since_event,
            end_event_id=role.until_event,
        )
        yield row
        if role.end_cause == SILENT and end is not None:
            yield _unknown_after(row, end)
    yield from hearsay(group)


def hearsay(group: Group) -> Iterator[RoleInterval]:
    """Leaders without a log of their own, as far as others followed them; ``source_node`` is ``None``."""
    speaking = {role.node for role in group.roles}
    followed: dict[tuple[str, int], list[Role]] = {}
    for role in group.roles:
        if role.role != FOLLOWER or role.leader is None or role.term is None or role.leader in speaking:
            continue
        followed.setdefault((role.leader, role.term), []).append(role)
    for (leader, term), roles in sorted(followed.items()):
        first = min(roles, key=lambda role: role.since)
        last = None if any(role.until is None for role in roles) else max(roles, key=lambda role: role.until or 0)
        yield RoleInterval(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            node=leader,
            source_node=None,
            role=LEADER,
            term=term,
            leader=leader,
            start_time=first.since,
            end_time=last.until if last else None,
            start_uncertainty_ms=(first.since_by - first.since) // 1000,
            end_uncertainty_ms=((last.until_by or 0) - (last.until or 0)) // 1000 if last else None,
            start_cause="others_followed",
            end_cause=last.end_cause if last else None,
            start_event_id=first.since_event,
            end_event_id=last.until_event if last else None,
        )


def terms_by_hearsay(group: Group, known: set[int]) -> Iterator[Term]:
    """Terms whose leader only others speak of."""
    for row in hearsay(group):
        if row.term is not None and row.term not in known:
            yield Term(
                cluster=group.cluster,
                replica_group=group.replica_group,
                protocol=group.protocol,
                term=row.term,
                leader=row.node,
                start_time=row.start_time,
                end_time=row.end_time,
                cause=None,
                certainty=POSSIBLE,
                start_event_id=row.start_event_id,
                end_event_id=row.end_event_id,
            )


def _unknown_after(row: RoleInterval, end: Moment) -> RoleInterval:
    return RoleInterval(
        cluster=row.cluster,
        replica_group=row.replica_group,
        protocol=row.protocol,
        node=row.node,
        source_node=row.source_node,
        role=UNKNOWN,
        term=None,
        leader=None,
        start_time=end.at,
        end_time=None,
        start_uncertainty_ms=(end.by - end.at) // 1000,
        end_uncertainty_ms=None,
        start_cause=SILENT,
        end_cause=None,
        start_event_id=None,
        end_event_id=None,
    )


# -- two leaders of one term ------------------------------------------------------------------------------------


def same_term(group: Group, word: str) -> Iterator[Finding]:
    """``SPLIT_BRAIN_SAME_TERM``: two nodes led one term by their own word. ``word`` is "term" or "epoch"."""
    by_term: dict[int, list[Tenure]] = {}
    for tenure in group.tenures:
        by_term.setdefault(tenure.term, []).append(tenure)
    for term, tenures in sorted(by_term.items()):
        for one, other in _pairs_of_sources(tenures):
            finding = _same_term_pair(group, term, one, other, word)
            if finding is not None:
                yield finding


def _pairs_of_sources(tenures: Sequence[Tenure]) -> Iterator[tuple[list[Tenure], list[Tenure]]]:
    by_source: dict[str, list[Tenure]] = {}
    for tenure in tenures:
        by_source.setdefault(tenure.source, []).append(tenure)
    for one, other in combinations(sorted(by_source), 2):
        yield by_source[one], by_source[other]


def _same_term_pair(group: Group, term: int, one: list[Tenure], other: list[Tenure], word: str) -> Finding | None:
    measured = [(_overlap(group.clocks, a, b), a, b) for a in one for b in other]
    (least, most), a, b = max(measured, key=lambda m: (m[0][1], m[0][0]))
    if a.node == b.node and most <= 0:
        # One member that moved to another machine, one after the other: not two leaders.
        return None
    names = sorted({_name(a, b), _name(b, a)})
    shown = max(least, 0), max(min(most, UNBOUNDED), 0)
    together = (
        f"both at once for {between(*shown)}" if shown[0] else "whether at the same moment the clocks cannot tell"
    )
    evidence = tuple(dict.fromkeys(e for t in (*one, *other) for e in t.evidence))
    return group.finding(
        "SPLIT_BRAIN_SAME_TERM",
        (term, *names),
        severity="critical",
        certainty=PROVEN,
        nodes=tuple(names),
        terms=(term,),
        start_time=max(min(t.begin.at for t in one), min(t.begin.at for t in other)),
        end_time=min(max(t.end.at for t in one), max(t.end.at for t in other)),
        summary=f"{a.name} and {b.name} both led {word} {term}: {together}.",
        evidence=evidence,
        overlap_min_ms=shown[0] // 1000,
        overlap_max_ms=shown[1] // 1000,
    )


def _name(tenure: Tenure, other: Tenure) -> str:
    return tenure.node if tenure.node != other.node else f"{tenure.node} ({tenure.source})"


# -- no leader ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gap:
    """A time without a leader, from the end of the last effective tenure; microseconds, least and most."""

    before: Tenure
    after: Tenure | None
    begin: Moment
    end: Moment
    least: int
    most: int
    planned: bool
    evidence: tuple[str, ...]


Unseen = Callable[[Group, Moment, Moment], bool]
"""Whether somebody may have led between two moments although no log says so with a term."""


def gaps(group: Group, heard: Iterable[tuple[str, Moment]], unseen: Unseen | None = None) -> Iterator[Gap]:
    """Times without a leader after the first one.

    ``heard`` are pairs of a member and the moment at which another one heard of it for the last time: they bound
    the end of a leader that died or fell silent.
    """
    ordered = group.tenures  # by term: clocks of different machines do not order them
    ends, led_unseen, lives = _Ends(group, heard), _led_unseen(group), _Lives(group)
    for number, before in enumerate(ordered, 1):
        if before.source in group.clocks.put_back:
            return  # from here on it cannot be told when somebody led
        after = ordered[number] if number < len(ordered) else None
        gap = _gap(group, ends.so_far(before), after, led_unseen, lives)
        if gap is not None and (unseen is None or not unseen(group, gap.begin, gap.end)):
            yield gap


@dataclass(frozen=True, slots=True)
class _End:
    """The end of a tenure as far as it mattered: not before ``earliest``, not after ``latest``."""

    earliest: Moment
    latest: Moment
    tenure: Tenure


class _Heard:
    """When others heard of each member for the last time."""

    def __init__(self, heard: Iterable[tuple[str, Moment]]) -> None:
        self._of: dict[str, list[tuple[int, int, Moment]]] = {}
        for number, (node, moment) in enumerate(heard):
            self._of.setdefault(node, []).append((moment.at, number, moment))
        for own in self._of.values():
            own.sort()
        self._longest = max((moment.by - at for own in self._of.values() for at, _, moment in own), default=0)

    def between(self, node: str, since: int, until: int) -> list[Moment]:
        """Of a member, in the order of presentation: all moments that end after ``since`` and begin by ``until``."""
        own = self._of.get(node, [])
        first, last = bisect_left(own, (since - self._longest,)), bisect_left(own, (until + 1,))
        return [moment for _, _, moment in sorted(own[first:last], key=itemgetter(1))]


class _Ends:
    """The ends of the tenures up to one, for one after the other: those that can bound the time without a leader.

    Of the tenures that ended long before everything that still follows, on any clock, only the last on each clock can.
    """

    def __init__(self, group: Group, heard: Iterable[tuple[str, Moment]]) -> None:
        self._group = group
        self._heard = _Heard(heard)
        self._targets = [*(tenure.begin for tenure in group.tenures[1:]), group.end]
        self._soonest = list(accumulate((target.at for target in reversed(self._targets)), min))[::-1]
        self._number = 0
        self._moving: list[tuple[int, Tenure]] = []
        self._latest: dict[str, tuple[int, int, _End]] = {}
        self._earliest: dict[str, tuple[int, int, _End]] = {}

    def so_far(self, tenure: Tenure) -> list[_End]:
        """The ends up to the next ``tenure``, in order, as the beginning of the one after it sees them."""
        target, soonest = self._targets[self._number], self._soonest[self._number]
        self._moving.append((self._number, tenure))
        self._number += 1
        ends: dict[int, _End] = {}
        moving = []
        for number, one in self._moving:
            end = _effective_end(self._group, one, target, self._heard)
            if number < self._number - 1 and self._settled_at(one) < soonest:
                self._settle(number, end)
            else:
                moving.append((number, one))
                ends[number] = end
        self._moving = moving
        ends.update((number, end) for _, number, end in (*self._latest.values(), *self._earliest.values()))
        return [ends[number] for number in sorted(ends)]

    def _settled_at(self, tenure: Tenure) -> float:
        """After this, on any clock, nothing that follows changes what is known of the end."""
        if tenure.end_cause in (None, SILENT):
            return inf
        widest = self._group.clocks.widest
        holes = (hole.end.at + SECOND + widest for hole in tenure.silences)
        return max(tenure.end.by + 2 * widest, max(holes, default=0))

    def _settle(self, number: int, end: _End) -> None:
        for settled, source, time in (
            (self._latest, end.latest.source, end.latest.by),
            (self._earliest, end.earliest.source, end.earliest.at),
        ):
            before = settled.get(source)
            if before is None or (time, number) > before[:2]:
                settled[source] = (time, number, end)


class _Lives:
    """When members were up."""

    def __init__(self, group: Group) -> None:
        ends = ((life.since, until(life)) for life in group.of(Alive))
        self._lives = sorted((begin, last.at) for begin, last in ends if last is not None)
        self._last = list(accumulate((last for _, last in self._lives), max))

    def somebody_up(self, begin: Moment, end: Moment) -> bool:
        """Whether a member was up for a second or more between two moments."""
        number = bisect_left(self._lives, (end.at,))
        while number and self._last[number - 1] - begin.by >= SECOND:
            number -= 1
            since, last = self._lives[number]
            if min(end.at, last) - max(begin.by, since) >= SECOND:
                return True
        return False


def _gap(
    group: Group, ends: Sequence[_End], after: Tenure | None, led_unseen: Sequence[Role], lives: _Lives
) -> Gap | None:
    target = after.begin if after else group.end
    if after is None and any(tenure.open for tenure in group.tenures):
        return None
    # A tenure that outlasts the target leaves no gap; only what every earlier tenure leaves open is one.
    least = min(group.clocks.elapsed(end.latest, target)[0] for end in ends)
    most = min(group.clocks.elapsed(end.earliest, target)[1] for end in ends)
    least = min(least, most)  # a leader that was missed before its last line led until that line
    uncertain = any(end.tenure.end_cause in (DIED, SILENT) for end in ends[-1:])
    if least < SECOND and not (uncertain and after is not None and most >= BRIEF):
        return None
    end = min(reversed(ends), key=lambda e: group.clocks.elapsed(e.latest, target)[0])
    # Who gave way to a leader that was there left no gap.
    before = end.tenure if ends[-1].tenure.end_cause == HIGHER_NODE else ends[-1].tenure
    begin = end.earliest
    if _led_meanwhile(group, led_unseen, before, target):
        return None
    open_from = end.latest if least >= SECOND else Moment(begin.at, begin.at, begin.source)
    if not lives.somebody_up(open_from, target) or (after is None and _shut_down_together(group, before, begin)):
        return None
    ids = (*before.evidence, end.latest.event_id, after.begin.event_id if after else None)
    planned = before.end_cause in (STOPPED, "leadership_transfer", "preferred_leader")
    return Gap(before, after, begin, target, least, most, planned, tuple(dict.fromkeys(e for e in ids if e)))


def _effective_end(group: Group, tenure: Tenure, target: Moment, heard: _Heard) -> _End:
    """When a tenure ceased to matter for what follows: its end, or the silence in which it was replaced.

    Where the leader's log just stops and nobody missed the leader then, only its log ended: it may have led on.
    """
    clocks = group.clocks
    end = tenure.end
    for hole in tenure.silences:
        if clocks.elapsed(hole.begin, target)[0] > 0 and clocks.elapsed(target, hole.end)[0] > -SECOND:
            end = Moment(hole.begin.at, hole.end.by, hole.begin.source)
    log_stops = end is tenure.end and tenure.end_cause in (None, SILENT)
    said_itself = end is tenure.end and tenure.end_cause not in (None, SILENT, DIED)
    if said_itself or (not log_stops and end.by - end.at <= 2 * SECOND):
        return _End(end, end, tenure)
    widest = clocks.widest
    near = heard.between(tenure.node, end.at - SECOND - widest, (target.by if log_stops else end.by) + widest)
    relevant = [
        moment for moment in near if clocks.elapsed(end, moment)[1] > -SECOND and clocks.elapsed(moment, target)[1] > 0
    ]
    if not log_stops:  # what was heard after the end is of a later life
        relevant = [moment for moment in relevant if not _surely_before(clocks, end, moment)]
    if log_stops and not _missed_when_its_log_stops(clocks, end, relevant):
        return _End(end, target, tenure)
    # Who lost a leader before another one surely heard of it was only cut off.
    still_heard = [one for one in relevant if not any(_surely_before(clocks, one, other) for other in relevant)]
    latest = min(still_heard, key=lambda m: (m.by, m.source), default=end)
    return _End(end, Moment(latest.by, latest.by, latest.source, latest.event_id), tenure)


def _surely_before(clocks: Clocks, one: Moment, other: Moment) -> bool:
    """Whether all of one moment's interval lies before all of the other's."""
    return clocks.elapsed(one, other)[0] > 0


def _missed_when_its_log_stops(clocks: Clocks, end: Moment, heard: Sequence[Moment]) -> bool:
    """Whether others heard of a member for the last time about when its log stops, and not after that."""
    last_line = Moment(end.at, end.at, end.source)
    return bool(heard) and all(clocks.elapsed(last_line, moment)[0] <= SILENCE for moment in heard)


def _led_unseen(group: Group) -> list[Role]:
    """The roles of those who followed a leader whose own log does not show that it led."""
    led = {(tenure.term, tenure.node) for tenure in group.tenures}
    return [
        role
        for role in group.roles
        if role.role == FOLLOWER
        and role.leader is not None
        and role.term is not None
        and (role.term, role.leader) not in led
    ]


def _led_meanwhile(group: Group, led_unseen: Sequence[Role], before: Tenure, target: Moment) -> bool:
    """Whether one of these leaders led a later term, before a moment."""
    return any(
        (role.term or 0) > before.term
        and group.clocks.elapsed(Moment(role.since, role.since_by, role.source_node), target)[1] > 0
        for role in led_unseen
    )


def _shut_down_together(group: Group, before: Tenure, end: Moment) -> bool:
    """Whether the last leader was stopped cleanly, then or soon after, and every other member with it."""
    last = {life.source_node: life for life in sorted(group.of(Alive), key=lambda life: life.until or 0)}
    own = last.get(before.source)
    if own is None or not own.stopped or (own.until or 0) - end.at > GROUP_SHUTDOWN:
        return False
    return all(life.stopped or 0 <= (life.until or 0) - end.at <= GROUP_SHUTDOWN for life in last.values())


def leaderless(group: Group, found: Iterable[Gap], what: str, clock: str) -> Iterator[Finding]:
    """``LEADERLESS`` for each gap, in the protocol's words: "leader" of a "term", "master" of an "epoch"."""
    for gap in found:
        who = gap.before.with_detail(f"{clock} {gap.before.term}")
        fell_silent = gap.begin.at < gap.before.end.at - SECOND
        how = "fell silent" if fell_silent else _how_ended(gap.before)
        if gap.after is not None:
            then = f"until {gap.after.name} led {clock} {gap.after.term}"
        else:
            then = "to the end of the logs"
        lasted = between(gap.least, gap.most) if gap.least >= SECOND else f"at most {seconds(gap.most)}"
        yield group.finding(
            "LEADERLESS",
            (gap.before.term, gap.begin.at // SECOND),
            severity=INFO if gap.planned or gap.least < BRIEF else WARNING,
            certainty=DEFINITE if gap.least >= SECOND else POSSIBLE,
            nodes=tuple(dict.fromkeys([gap.before.node, *([gap.after.node] if gap.after else [])])),
            terms=tuple(dict.fromkeys([gap.before.term, *([gap.after.term] if gap.after else [])])),
            start_time=gap.begin.at,
            end_time=gap.end.at if gap.after else None,
            summary=f"No {what} for {lasted}: {who} {how}, {then}.",
            evidence=gap.evidence,
            duration_min_ms=max(gap.least, 0) // 1000,
            duration_max_ms=gap.most // 1000,
        )


def _how_ended(tenure: Tenure) -> str:
    if tenure.open:
        return "was heard of no more"
    words = {
        "died": "died",
        STOPPED: "was stopped",
        SILENT: "fell silent",
        "quorum_lost": "gave up without a quorum",
        "leadership_transfer": "handed over",
        "preferred_leader": "handed over",
        "larger_term": "heard of a larger term",
    }
    return words.get(tenure.end_cause or "", "stepped down")


# -- too many elections ----------------------------------------------------------------------------------------


def storm(group: Group, elections: Iterable[Moment]) -> Iterator[Finding]:
    """``ELECTION_STORM``: the longest chains of unplanned elections, each within the window of the one before."""
    disturbances: list[list[Moment]] = []
    for moment in sorted(elections):
        if disturbances and moment.at - disturbances[-1][0].at < ONE_DISTURBANCE:
            disturbances[-1].append(moment)
        else:
            disturbances.append([moment])
    chain: list[list[Moment]] = []
    for disturbance in [*disturbances, None]:
        if disturbance and (not chain or disturbance[0].at - chain[-1][-1].at <= STORM_WINDOW // 2):
            chain.append(disturbance)
            continue
        if len(chain) >= STORM_ELECTIONS and _dense(chain):
            yield _storm_of(group, chain)
        chain = [disturbance] if disturbance else []


def _dense(chain: list[list[Moment]]) -> bool:
    """Whether some three disturbances in a row lie within the window."""
    firsts = [disturbance[0].at for disturbance in chain]
    return any(
        later - earlier <= STORM_WINDOW for earlier, later in zip(firsts, firsts[STORM_ELECTIONS - 1 :], strict=False)
    )


def _storm_of(group: Group, chain: list[list[Moment]]) -> Finding:
    first, last = chain[0][0], chain[-1][-1]
    count = sum(len(disturbance) for disturbance in chain)
    return group.finding(
        "ELECTION_STORM",
        (first.at // SECOND,),
        severity=WARNING,
        certainty=PROVEN,
        nodes=(),
        terms=(),
        start_time=first.at,
        end_time=last.at,
        summary=f"{count} unplanned elections in {len(chain)} disturbances within {seconds(last.at - first.at)}.",
        evidence=tuple(dict.fromkeys(m.event_id for part in chain for m in part if m.event_id)),
        rounds=count,
    )


# -- what limits the verdict ---------------------------------------------------------------------------------------


def log_gaps(group: Group) -> Iterator[Finding]:
    """``LOG_GAP``: holes in the logs of members."""
    for hole in group.of(Silence):
        if hole.until is None or _starting(group, hole):
            continue
        name = hole.node or hole.source_node
        yield group.finding(
            "LOG_GAP",
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


def _starting(group: Group, hole: Silence) -> bool:
    """Whether a hole lies before the first role of a process: a slow start, on which no verdict rests."""
    own = group.roles_of(hole.source_node, hole.since)
    return not own or own[-1].cause == "start"


def clock_skews(group: Group) -> Iterator[Finding]:
    """``CLOCK_SKEW``: clocks that differ by more than their configured bounds, as messages prove."""
    for skew in group.clocks.skews:
        if skew.ahead == skew.behind:
            who = " or of ".join((skew.ahead, *skew.or_else))
            summary = f"The clock of {who} stepped by at least {seconds(skew.at_least_us)}."
        else:
            by = seconds(skew.at_least_us)
            summary = f"The clock of {skew.behind} is at least {by} behind the clock of {skew.ahead}."
        nodes = tuple(dict.fromkeys((skew.ahead, skew.behind, *skew.or_else)))
        concerned = [fact for fact in group.facts if fact.source_node in nodes]
        times = [fact.since for fact in concerned or group.facts]
        yield group.finding(
            "CLOCK_SKEW",
            (skew.ahead, skew.behind),
            severity=WARNING,
            certainty=PROVEN,
            nodes=nodes,
            terms=(),
            start_time=min(times),
            end_time=max(times),
            summary=summary,
            evidence=skew.evidence,
            duration_min_ms=skew.at_least_us // 1000,
        )


def availability(
    group: Group,
    heard: Iterable[tuple[str, Moment]],
    elections: Iterable[Moment],
    what: str,
    clock: str,
    unseen: Unseen | None = None,
) -> Iterator[Finding | RuleCoverage]:
    """What every protocol with leaders has to say of availability, and of what limits its verdicts.

    ``heard`` as in :func:`gaps`, ``elections`` are the unplanned ones; ``what`` and ``clock`` are the protocol's words.
    """
    found = list(gaps(group, heard, unseen))
    storms = list(storm(group, elections))
    yield from leaderless(group, found, what, clock)
    yield from storms
    yield from log_gaps(group)
    yield from clock_skews(group)
    yield from common_coverage(group, found, len(storms))


def common_coverage(group: Group, found: Sequence[Gap], storms: int) -> Iterator[RuleCoverage]:
    """Coverage of the rules about availability and about what limits a verdict."""
    changes = max(len(group.tenures) - 1, 0)
    put_back = group.clocks.put_back
    blurred = (t for t in group.tenures[:-1] if t.end.by - t.end.at > 2 * SECOND or t.source in put_back)
    unclear = sum(1 for _ in blurred)
    unclear = max(min(unclear, changes - len(found)), 0)
    why = "the end of a tenure is known only between its last sign and the next start"
    if put_back:
        why += "; a clock that was put back does not tell when its machine led"
    sure = sum(1 for gap in found if gap.least >= SECOND)
    unclear = max(unclear, len(found) - sure)
    yield coverage(group, "LEADERLESS", max(changes - sure - unclear, 0), sure, unclear, why)
    yield coverage(group, "ELECTION_STORM", 0 if storms else 1, storms)
    silent = {fact.source_node for fact in group.of(Silence) if not _starting(group, fact)}
    speaking = {fact.source_node for fact in group.of(Alive)}
    yield coverage(group, "LOG_GAP", len(speaking - silent), len(silent))
    compared, never = group.clocks.compared()
    skewed = len(group.clocks.skews)
    yield coverage(group, "CLOCK_SKEW", max(compared - skewed, 0), skewed, never, "no message goes between the two")


def coverage(
    group: Group, rule: str, conforms: int, violates: int, undecidable: int = 0, why: str | None = None
) -> RuleCoverage:
    """One row of ``rule_coverage``."""
    return RuleCoverage(
        cluster=group.cluster,
        replica_group=group.replica_group,
        protocol=group.protocol,
        rule=rule,
        conforms=conforms,
        violates=violates,
        undecidable=undecidable,
        why_undecidable=why if undecidable else None,
    )
