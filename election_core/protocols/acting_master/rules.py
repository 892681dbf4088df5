"""The rules of a broker set whose master is configured, judged on its facts.

There is no election and no logical clock: every broker reads the name servers' tables for itself. So each broker's own
lines say when it served, and the rules compare these lines across machines by the clock bounds.

The end of an acting time is certain only where the broker itself printed it: at the next change it prints which minimum
it believed in until then. Lines may be lost, so a broker that never printed that it stopped counts as acting only until
another member knows of a smaller id.

No single line ties two clocks: a registration, a poll and a notice carry no id that would match one to its counterpart.
:mod:`.causality` ties clocks by whole rows of such lines.

Sources: RocketMQ ``BrokerController#startService``, ``#updateMinBroker``, ``#changeSpecialServiceStatus``,
``BrokerPreOnlineService``, ``RouteInfoManager`` (RIP-32).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from election_replay.election_core.fold.roles import ACTING, DIED, FOLLOWER, LEADER, STOPPED, UNKNOWN
from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_replay.election_core.judge.coverage import counted, coverage
from election_replay.election_core.judge.fates import Fates
from election_replay.election_core.judge.group import (
    SILENT,
    SILENT_END,
    Group,
    LogGap,
    Tenure,
    by_address,
    group_of,
    since,
    until,
)
from election_replay.election_core.judge.leaderless import Gap, began_early, gaps
from election_replay.election_core.judge.led_between import covers
from election_replay.election_core.judge.limits import log_gap_coverage, log_gaps
from election_replay.election_core.judge.outages import change_of, leaderless_outage, outage, severity_of
from election_replay.election_core.judge.overlap import Overlap, at_once, overlaps
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.wording import between, listed, name_of, seconds
from election_replay.election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Fact, MemberAddress, Role, Silence
from election_replay.election_core.model.measures import Fate, Scope
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import SECOND, US_PER_MS, Timeout
from election_replay.election_core.protocols.acting_master.facts import (
    ActingEnabled,
    AgainstMinimum,
    BrokerRegistered,
    PreOnlineAttempt,
    SmallestId,
    TopicPermission,
)
from election_replay.election_core.protocols.acting_master.log import (
    DROPPED,
    EXPIRED,
    FAILING,
    PROTOCOL,
    STILL_OPEN,
    min_id_propagation_us,
)
from election_replay.election_core.protocols.acting_master.tables import MASTER_ID, is_smaller

__all__ = ["PROTOCOL", "judge"]

_STUCK_FAILURES = 3
"""The number of pre-online failures from which an attempt counts as stuck; fewer are a slow handshake."""

_SAID_SO = frozenset({"min_changed", "services_off", "seen_later"})
"""End causes of an acting time that the broker itself prints."""

_HOW_ENDED = {STOPPED: "was stopped", DIED: "died", SILENT: "fell silent"}


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set; findings only where slave acting master is enabled."""
    named = _named(facts)
    if not any(isinstance(fact, Role) for fact in named):
        return
    group = group_of(named, clocks)
    yield from role_intervals(group)
    if not any(group.of(ActingEnabled)):
        return
    services = _Services.of(group)
    found = list(_findings(services.group, services))
    yield from found
    yield from _coverage(services.group, services, found)


def _named(facts: list[Fact]) -> list[Fact]:
    """Fill in the node of facts from brokers that never print their id, by the address that other members know."""
    ids = by_address(facts)
    nameless = {fact.source_node: fact.address for fact in facts if isinstance(fact, MemberAddress) and not fact.node}
    known = {source: ids[address] for source, address in nameless.items() if address in ids}
    return [
        replace(fact, node=known[fact.source_node]) if fact.node is None and fact.source_node in known else fact
        for fact in facts
    ]


# -- who served --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Services:
    """The tenures in which brokers ran the special services: masters that serve and slaves that act.

    ``group`` is the broker set with these tenures; ``roles`` maps each tenure to the role that it was made from. There
    is no term, so a tenure's term is its number in order of begin, as far as the clocks tell.
    """

    group: Group
    roles: Mapping[Tenure, Role]

    @classmethod
    def of(cls, group: Group) -> "_Services":
        serving = sorted(
            (role for role in group.roles if role.role in (LEADER, ACTING) and role.node is not None),
            key=lambda role: (_begin_key(role), role.source_node),
        )
        roles = {_tenure(group, number, role): role for number, role in enumerate(serving, 1)}
        return cls(replace(group, tenures=list(roles)), roles)

    def acts(self, tenure: Tenure) -> bool:
        """Return True when the tenure is that of an acting slave."""
        return self.roles[tenure].role == ACTING

    def masters(self) -> list[Tenure]:
        """Return the tenures of masters."""
        return [tenure for tenure in self.group.tenures if not self.acts(tenure)]

    def acting(self) -> list[Tenure]:
        """Return the tenures of acting slaves."""
        return [tenure for tenure in self.group.tenures if self.acts(tenure)]

    def described(self, tenure: Tenure) -> str:
        """Return the tenure's node with its service: ``0 (broker-a, master)``."""
        return tenure.with_detail("acting master" if self.acts(tenure) else "master")

    def until_served(self, before: Tenure, after: Tenure | None) -> str:
        """Return who served first after ``before``, as a phrase."""
        if after is None:
            return "to the end of the logs"
        again = after.node == before.node and self.acts(after) == self.acts(before)
        return "until it served again" if again else f"until {self.described(after)} served"


def _begin_key(role: Role) -> tuple[int, int]:
    moment = since(role)
    return moment.at, moment.by


def _tenure(group: Group, number: int, role: Role) -> Tenure:
    """Make the tenure of a role, without the tail in which it may already have ended unlogged."""
    end = until(role) or _before_a_stop(group.ran.get(role.source_node, since(role)))
    if role.role == ACTING and role.end_cause not in _SAID_SO:
        end = _believed_until(group, role, end)
    begin = since(role)
    if end.at < begin.at:
        end = Moment(begin.at, max(begin.by, end.by), begin.source, begin.event_id)
    holes = tuple(
        LogGap(since(hole), Moment(hole.until, hole.until_by, hole.source_node))
        for hole in group.of(Silence)
        if hole.source_node == role.source_node
        and hole.until is not None
        and hole.until_by is not None
        and begin.at <= hole.since_by
        and hole.since < end.by
    )
    return Tenure(role.who, role.source_node, number, begin, end, role.end_cause, holes)


def _seen_from(group: Group, tenure: Tenure) -> Moment:
    """Return the begin of a master's tenure as others saw it, up to the first sign of its registration.

    The sign is a registration line of its own, of a name server, or a member's view that names it. Before that, no
    client and no other broker sees the master, however long ago it wrote "start service". Where all name servers that
    know it tell when they registered it anew, nobody saw it before the first of them did.
    """
    begin, ids = tenure.begin, by_address(group.facts)
    seen: list[Fact] = [
        fact
        for fact in group.of(BrokerRegistered)
        if fact.source_node == tenure.source or (fact.address is not None and ids.get(fact.address) == tenure.node)
    ]
    seen += [view for view in group.of(SmallestId) if view.peer == tenure.node]
    known = [group.clocks.elapsed(begin, since(fact)) for fact in seen]
    soon = [begin.at + most for least, most in known if most > 0 and least > -min_id_propagation_us(group.timing)]
    latest = max(begin.by, min(*soon, tenure.end.by) if soon else tenure.end.by)
    return Moment(min(_registered_first(group, tenure), latest), latest, begin.source, begin.event_id)


def _registered_first(group: Group, master: Tenure) -> int:
    """Return the earliest time in us, on a master's clock, at which a name server registered it anew; the begin of its
    tenure if one of them kept it, or does not tell."""
    begin = master.begin
    known = [fact for fact in _master_registrations(group) if fact.source_node != master.source]
    anew = [fact for fact in known if group.clocks.elapsed(begin, since(fact))[1] > 0]
    first = [group.clocks.shown_by(master.source, since(fact))[0] for fact in anew]
    before = [until(fact) for fact in known if fact not in anew]
    kept = any(end is None or group.clocks.elapsed(begin, end)[1] > 0 for end in before)
    if not known or kept or {fact.source_node for fact in anew} != {fact.source_node for fact in known}:
        return begin.at
    return max(begin.at, min(begin.at if at is None else at for at in first))


def _before_a_stop(last: Moment) -> Moment:
    """Return the end of a tenure where its log ends: a shutdown line of the last seconds may be lost."""
    return Moment(last.at - SILENT_END, last.by, last.source, last.event_id)


def _believed_until(group: Group, role: Role, end: Moment) -> Moment:
    """Widen the unprinted end of an acting time back to when another member or a name server knew of a smaller id."""
    begin = since(role)
    learned = [
        since(view)
        for view in group.of(SmallestId)
        if view.source_node != role.source_node and is_smaller(view.peer, role.node)
    ]
    ids = by_address(group.facts)
    learned += [
        since(fact) for fact in group.of(BrokerRegistered) if is_smaller(ids.get(fact.address or ""), role.node)
    ]
    after = [
        reading
        for moment in learned
        if group.clocks.elapsed(begin, moment)[0] > 0
        and (reading := group.clocks.shown_by(role.source_node, moment)[0]) is not None
        and reading < end.at
    ]
    return Moment(max(begin.at, min(after)), end.by, begin.source, end.event_id) if after else end


# -- findings ----------------------------------------------------------------------------------------------------


def _findings(group: Group, services: _Services) -> Iterator[Finding]:
    for overlap in _overlaps(group):
        yield _overlap_finding(group, services, overlap)
    yield from _against_minimum(group)
    yield from _others_knew(group, services)
    for tenure, seen in _writable(group, services):
        yield _writable_finding(group, tenure, seen)
    without_writes = [(time, _read_only_finding(group, services, time)) for time in _read_only(group, services)]
    yield from _before_the_first_master(group, services)
    yield from (finding for _, finding in without_writes)
    read_only = {time.master: finding for time, finding in without_writes if not time.runs}
    for gap in _gaps(group, services):
        yield from _gap_findings(group, services, gap, read_only.get(gap.before))
    yield from _stuck(group)
    yield from log_gaps(group)


def _overlaps(group: Group) -> Iterator[Overlap]:
    """Yield the definite overlaps."""
    return (overlap for overlap in overlaps(group) if overlap.least > 0)


def _is_alarm(group: Group, services: _Services, overlap: Overlap) -> bool:
    """Return True when both were awake, and seen to serve, for longer than a change takes to become known."""
    return min(overlap.awake_least, _seen_at_once(group, services, overlap)) > min_id_propagation_us(group.timing)


def _seen_at_once(group: Group, services: _Services, overlap: Overlap) -> int:
    """Return the least time in us for which both served, were visible to others and were awake."""
    both = (
        tenure if services.acts(tenure) else replace(tenure, begin=_seen_from(group, tenure))
        for tenure in (overlap.stale, overlap.newer)
    )
    return max(at_once(group.clocks, *both)[0] - overlap.asleep, 0)


def _overlap_finding(group: Group, services: _Services, overlap: Overlap) -> Finding:
    """Make an ``ACTING_MASTER_OVERLAP``; ``stale`` is the tenure that began first, right or wrong."""
    first, second = overlap.stale, overlap.newer
    if not services.acts(first) and _may_have_stopped(group, first, second):
        severity, why = INFO, f"{first.name} closed its connections and its log ends: it may have been stopped"
    elif _is_alarm(group, services, overlap):
        severity, why = WARNING, _why_both(group, services, overlap)
    elif overlap.awake_least > min_id_propagation_us(group.timing):
        unseen = second.name if services.acts(first) else first.name
        severity, why = INFO, f"no log shows that {unseen} was registered for longer than a notice of it may take"
    elif overlap.frozen and (overlap.least > min_id_propagation_us(group.timing) or not overlap.awake_least):
        severity = INFO
        asleep = seconds(overlap.asleep)
        why = f"the log of {first.name} is silent for {asleep} of it, so it was frozen"
    else:
        severity, why = INFO, "no longer than the notice of a change may take"
    return group.finding(
        RuleId.ACTING_MASTER_OVERLAP,
        (first.source, second.source, second.begin.at // SECOND),
        severity=severity,
        certainty=DEFINITE,
        nodes=(first.node, second.node),
        when=(second.begin.at, min(first.end.at, second.end.at)),
        summary=f"{services.described(first)} and {services.described(second)} both ran the special services for "
        f"{between(overlap.least, overlap.most)}; {why}.",
        evidence=(*first.evidence, *second.evidence),
        together=(overlap.least, overlap.most),
    )


def _why_both(group: Group, services: _Services, overlap: Overlap) -> str:
    first, second = overlap.stale, overlap.newer
    if first.node == second.node:
        return (
            f"both are configured with the id {first.node}: of two addresses with one id a name server keeps the last"
        )
    if not services.acts(first) and services.acts(second):
        return (
            f"{first.name} never stopped: {_who_lost(group, first, second)}, and a master does not react to that. The "
            "other does not know what it did in that time"
        )
    if services.acts(first) and services.acts(second):
        return "they saw different smallest ids"
    return f"{first.name} had not learned that the master was back"


def _who_lost(group: Group, master: Tenure, acting: Tenure) -> str:
    """Name the servers that had dropped the master when another acted, and those whose logs say that they had not."""
    lost, kept = _lost_and_kept(group, master, acting)
    named = f"the name server{'s' if len(lost) > 1 else ''} {', '.join(sorted(lost))}" if lost else "the name servers"
    others = f", but by {'their logs' if len(kept) > 1 else 'its log'} not {', '.join(sorted(kept))}" if kept else ""
    return f"{named} had lost it{others}"


def _lost_and_kept(group: Group, master: Tenure, acting: Tenure) -> tuple[set[str], set[str]]:
    """Return the name servers that had (dropped, kept) the master's last registration before another acted."""
    ids = by_address(group.facts)
    last: dict[str, BrokerRegistered] = {}
    for fact in sorted(group.of(BrokerRegistered), key=lambda fact: fact.since):
        if ids.get(fact.address or "") == master.node and group.clocks.elapsed(since(fact), acting.begin)[0] > 0:
            last[fact.source_node] = fact
    lost, kept = set(), set()
    for fact in last.values():
        end = until(fact)
        if end is None or group.clocks.elapsed(acting.end, end)[0] > -min_id_propagation_us(group.timing):
            kept.add(fact.source_node)
            continue
        dropped_recently = group.clocks.elapsed(end, acting.begin)[1] > -min_id_propagation_us(group.timing)
        if dropped_recently and fact.end_cause in (DROPPED, EXPIRED):
            lost.add(fact.source_node)
    return lost, kept


def _log_may_end_during(group: Group, master: Tenure, acting: Tenure) -> bool:
    """Return True when the master's log may have ended for good while the slave still acted."""
    return master.end_cause == SILENT and group.clocks.elapsed(_last_line(master), acting.end)[1] > 0


def _last_line(master: Tenure) -> Moment:
    """Return the end of the master's tenure narrowed to its earliest time: that of its last line."""
    return Moment(master.end.at, master.end.at, master.end.source)


def _may_have_stopped(group: Group, master: Tenure, acting: Tenure) -> bool:
    """Return True when a master closed its connections, wrote on, and its log then ends: its stop lines may be lost. A
    process that dies writes nothing after its connections close."""
    last = {fact.source_node: fact for fact in sorted(_master_registrations(group), key=lambda fact: fact.since)}
    left = [fact for fact in last.values() if fact.end_cause in (DROPPED, EXPIRED)]
    closed = [end for fact in left if fact.end_cause == DROPPED and (end := until(fact)) is not None]
    wrote_on = any(group.clocks.elapsed(end, _last_line(master))[0] > 0 for end in closed)
    return _log_may_end_during(group, master, acting) and wrote_on and len(closed) == len(left)


def _against_minimum(group: Group) -> Iterator[Finding]:
    """Yield ``ACTING_MASTER_NOT_MIN_ID`` where the broker's own log shows it."""
    for fact in group.of(AgainstMinimum):
        name = name_of(fact.node, fact.source_node)
        yield _not_minimum(
            group,
            fact.who,
            since(fact),
            None,
            f"{name} switched its special services on right after it had learned that {fact.peer} is the smallest "
            "live id.",
            fact.evidence,
            None,
            # A lost line in between may have named this broker as the minimum.
            WARNING if fact.confirmed else INFO,
        )


def _others_knew(group: Group, services: _Services) -> Iterator[Finding]:
    """Yield ``ACTING_MASTER_NOT_MIN_ID`` where another member had learned of a smaller id while the slave acted."""
    for tenure in services.acting():
        late = [(view, _acted_on(group, tenure, view)) for view in _smaller_seen(group, tenure)]
        proven = [(view, by) for view, by in late if by[0] > min_id_propagation_us(group.timing)]
        if not proven or tenure.end_cause not in _SAID_SO:
            continue
        view, (least, most) = proven[0]
        yield _not_minimum(
            group,
            tenure.node,
            since(view),
            tenure.end,
            f"{tenure.name} acted for {between(least, most)} more after {name_of(view.node, view.source_node)} had "
            f"learned from the name servers that {view.peer} is the smallest live id.",
            tuple(e for e in (*tenure.evidence, view.since_event) if e),
            (least, most),
        )


def _smaller_seen(group: Group, tenure: Tenure) -> Iterator[SmallestId]:
    """Yield the views of other members that named a smaller live id while the tenure went on."""
    for view in group.of(SmallestId):
        if view.source_node == tenure.source or not is_smaller(view.peer, tenure.node):
            continue
        if group.clocks.elapsed(tenure.begin, since(view))[0] > 0:
            yield view


def _acted_on(group: Group, tenure: Tenure, view: SmallestId) -> tuple[int, int]:
    """Return the (least, most) time in us for which the tenure went on under the view, up to the end of the view."""
    least, most = group.clocks.elapsed(since(view), tenure.end)
    ended = until(view)
    if ended is not None:
        shorter = group.clocks.elapsed(since(view), ended)
        least, most = min(least, shorter[0]), min(most, shorter[1])
    return least, most


def _not_minimum(
    group: Group,
    node: str,
    begin: Moment,
    end: Moment | None,
    summary: str,
    evidence: tuple[str, ...],
    lasted: tuple[int, int] | None,
    severity: str = WARNING,
) -> Finding:
    return group.finding(
        RuleId.ACTING_MASTER_NOT_MIN_ID,
        (node, begin.at // SECOND, begin.source),
        severity=severity,
        certainty=POSSIBLE,
        nodes=(node,),
        when=(begin.at, end.at if end else None),
        summary=summary,
        evidence=evidence,
        lasted=lasted,
    )


# -- writable ----------------------------------------------------------------------------------------------------


def _writable(group: Group, services: _Services) -> Iterator[tuple[Tenure, TopicPermission]]:
    """Yield permission lines that allow writes during an acting time, from a name server without a master."""
    for tenure in services.acting():
        for seen in group.of(TopicPermission):
            if seen.writable and _inside(group, tenure, seen) and _without_master(group, seen):
                yield tenure, seen


def _inside(group: Group, tenure: Tenure, seen: TopicPermission) -> bool:
    """Return True when a line was written during the tenure, as far as its log goes that would show the end, away from
    both ends by the time a change takes."""
    last = min(tenure.end, group.written.get(tenure.source, tenure.end))
    after, before = group.clocks.elapsed(tenure.begin, since(seen)), group.clocks.elapsed(since(seen), last)
    return min(after[0], before[0]) > min_id_propagation_us(group.timing)


def _without_master(group: Group, seen: TopicPermission) -> bool:
    """Return True when the name server had dropped the master and did not register it again with these lines."""
    registrations = [fact for fact in _master_registrations(group) if fact.source_node == seen.source_node]
    last = until(seen) or since(seen)
    late = last.by + min_id_propagation_us(group.timing)
    if any(fact.since <= late and (fact.until_by is None or fact.until_by > seen.since) for fact in registrations):
        return False
    return any(fact.until is not None and fact.until <= seen.since for fact in registrations)


def _master_registrations(group: Group) -> Iterator[BrokerRegistered]:
    ids = by_address(group.facts)
    return (fact for fact in group.of(BrokerRegistered) if ids.get(fact.address or "") == MASTER_ID)


def _writable_finding(group: Group, tenure: Tenure, seen: TopicPermission) -> Finding:
    return group.finding(
        RuleId.ACTING_MASTER_WRITABLE,
        (seen.source_node, seen.since // SECOND),
        severity=WARNING,
        certainty=DEFINITE,
        nodes=(tenure.node,),
        when=(seen.since, tenure.end.at),
        summary=f"The name server {seen.source_node} showed topics as writable ({seen.count} lines) while the set had "
        f"no master and {tenure.name} acted for it.",
        evidence=(seen.since_event, seen.until_event, *tenure.evidence),
    )


# -- nobody serves -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ReadOnly:
    """A time in which a set took no writes: its ``master`` was gone, or its name servers had lost it, and slaves acted.
    ``least`` and ``most`` are in us. ``runs``: the master itself did not stop. ``after``: the next master, if any."""

    master: Tenure
    acting: tuple[Tenure, ...]
    after: Tenure | None
    begin: Moment
    end: Moment
    least: int
    most: int
    runs: bool


def _read_only(group: Group, services: _Services) -> Iterator[_ReadOnly]:
    """Yield the times in which slaves acted for a master: a set without a master answers reads only."""
    of_master: dict[Tenure, list[Tenure]] = {}
    masters = services.masters()
    for acting in services.acting():
        before = [tenure for tenure in masters if group.clocks.elapsed(tenure.begin, acting.begin)[0] > 0]
        if before:
            of_master.setdefault(before[-1], []).append(acting)
    for master, acting_for in of_master.items():
        others = (
            tenure for tenure in masters[masters.index(master) + 1 :] if tenure.source not in _sources(acting_for)
        )
        after = [acting for acting in acting_for if _outlived(group, master, acting)]
        times = [_master_lost(group, master, acting) for acting in acting_for if acting not in after]
        times += [_master_gone(group, master, after, next(others, None))] if after else []
        yield from (time for time in times if time is not None and time.least > 0)


def _before_the_first_master(group: Group, services: _Services) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for writes, from the first slave that acts until a master serves that had been started
    before, but did not come online: its log shows the whole time."""
    elapsed = group.clocks.elapsed
    first = next(iter(services.masters()), None)
    if first is None:
        return
    starts = [since(role) for role in group.roles if role.source_node == first.source and role.cause == "start"]
    acting = [
        tenure
        for tenure in services.acting()
        if elapsed(tenure.begin, first.begin)[0] > 0
        and tenure.source != first.source
        and any(elapsed(start, tenure.begin)[0] > 0 for start in starts)
    ]
    if not acting:
        return
    begin = acting[0].begin
    least, most = elapsed(begin, first.begin)[0], elapsed(begin, _seen_from(group, first))[1]
    if least < Timeout.FIRST_ELECTION.us:
        return  # the set is starting
    tries = [fact for fact in group.of(PreOnlineAttempt) if fact.source_node == first.source]
    before = [fact for fact in tries if fact.failures and elapsed(since(fact), first.begin)[0] > 0]
    failed = f", and its pre-online failed {sum(fact.failures for fact in before)} times" if before else ""
    acted = listed(list(dict.fromkeys(tenure.name for tenure in acting)))
    yield leaderless_outage(
        group,
        Scope.READS_ONLY,
        ("no first master", first.source, begin.at // SECOND),
        (least, most),
        nodes=[first.node, *sorted({tenure.node for tenure in acting})],
        when=(begin.at, first.begin.at),
        summary=f"The set took no writes for {between(least, most)}: {first.name} had been started{failed}, until it "
        f"served as master. {acted} acted meanwhile, which serves reads only.",
        evidence=(
            *(line for tenure in acting for line in tenure.evidence[:1]),
            *(fact.since_event for fact in before),
            first.begin.event_id,
        ),
        next_leader=first.node,
        served_time=first.begin.at,
    )


def _sources(tenures: Iterable[Tenure]) -> set[str]:
    return {tenure.source for tenure in tenures}


def _outlived(group: Group, master: Tenure, acting: Tenure) -> bool:
    """Return True when a slave acted on after its master had ended.

    A wrong clock may leave that open. Then a master whose process ended counts as ended, unless it surely ran while the
    slave acted.
    """
    elapsed = group.clocks.elapsed
    if master.end_cause not in (STOPPED, DIED):
        return not master.open and elapsed(master.end, acting.end)[0] > 0
    last = _last_line(master)  # it is gone since then; ``end`` reaches to its next start
    least, most = elapsed(last, acting.end)
    return least > 0 or (most > 0 and elapsed(acting.begin, last)[0] <= 0)


def _master_gone(group: Group, master: Tenure, acting: list[Tenure], after: Tenure | None) -> _ReadOnly:
    """Return the read-only time from the end of a master until the next one serves and is registered."""
    clocks, first = group.clocks, acting[0]
    # A slave stops acting because a master is back, even if the master's own lines are lost.
    acting = acting if after is not None else _until_it_was_back(group, acting)
    end = _seen_from(group, after) if after is not None else group.end if acting[-1].open else acting[-1].end
    most = clocks.elapsed(master.end, end)[1]
    shown = [end]
    if end is group.end:  # nobody was back as far as these logs go
        servers = {fact.source_node for fact in group.of(BrokerRegistered)} - {role.source_node for role in group.roles}
        sources = {master.source, *_sources(acting)} | servers
        shown = [_last_shown(group, source) for source in sources & group.written.keys()]
    lasted = (clocks.elapsed(begin, last)[0] for begin in (master.end, first.begin) for last in shown)
    least = min(max(lasted, default=0), most)
    return _ReadOnly(master, tuple(acting), after, master.end, end, least, most, runs=False)


def _until_it_was_back(group: Group, acting: list[Tenure]) -> list[Tenure]:
    """Return the tenures of slaves that acted one after the other, without those behind a return of the master."""
    notice = min_id_propagation_us(group.timing)
    for number, (acted, following) in enumerate(pairwise(acting), 1):
        if not acted.ends_with_its_process and group.clocks.elapsed(acted.end, following.begin)[0] > notice:
            return acting[:number]
    return acting


def _last_shown(group: Group, source: str) -> Moment:
    """Return until when a source shows who served: until its process was stopped, or else until its last line."""
    stopped = [
        end for role in group.roles_of(source, UNBOUNDED)[-1:] if role.end_cause == STOPPED and (end := until(role))
    ]
    return Moment(stopped[0].at, stopped[0].at, source) if stopped else group.written[source]


def _master_lost(group: Group, master: Tenure, acting: Tenure) -> _ReadOnly | None:
    """Return the time for which all name servers had lost a running master; None if one kept it or none is known. It
    begins when the last name server heard from it and ends when the slave stopped acting."""
    clocks = group.clocks
    lost, kept = _lost_and_kept(group, master, acting)
    heard = {
        moment.source: moment
        for node, moment in sorted(_last_heard(group), key=lambda item: item[1])
        if node == master.node
        and moment.source in lost
        and clocks.elapsed(master.begin, moment)[0] > 0
        and clocks.elapsed(moment, acting.begin)[1] > -min_id_propagation_us(group.timing)
        and clocks.elapsed(moment, acting.end)[0] > 0
    }
    if kept or not heard:
        return None
    begin = max(heard.values(), key=lambda moment: (moment.at, moment.source))
    least = max(clocks.elapsed(acting.begin, acting.end)[0], 0)
    most = clocks.elapsed(begin, acting.end)[1]
    return _ReadOnly(master, (acting,), None, begin, acting.end, least, max(least, most), runs=True)


def _read_only_finding(group: Group, services: _Services, time: _ReadOnly) -> Finding:
    """Make the ``LEADERLESS`` finding for writes; enableSlaveActingMaster itself promises reads only."""
    master = services.described(time.master)
    acted = " and ".join(dict.fromkeys(tenure.name for tenure in time.acting))
    lasted = between(time.least, time.most)
    if time.runs:
        lost, _ = _lost_and_kept(group, time.master, time.acting[0])
        servers = f"name server{'s' if len(lost) > 1 else ''} {', '.join(sorted(lost))}"
        then = "to the end of the logs" if time.acting[-1].open else "until the master was back there"
        summary = f"Clients that asked the {servers} could not write to the set for {lasted}: {master} was lost there, "
        holes = [hole for hole in time.master.silences if group.clocks.elapsed(hole.begin, time.acting[0].begin)[0] > 0]
        asleep = [hole for hole in holes if group.clocks.elapsed(time.acting[0].begin, hole.end)[0] > 0]
        if _log_may_end_during(group, time.master, time.acting[0]):
            summary += f"{then}; its own log ends meanwhile"
        elif asleep:
            silent = between(*group.clocks.elapsed(asleep[0].begin, asleep[0].end))
            summary += f"and was frozen (its log is silent for {silent}), {then}"
        else:
            summary += f"though it kept running, {then}"
        summary += f". {acted} acted meanwhile, which serves reads only."
    else:
        ended = _HOW_ENDED.get(time.master.end_cause or "", "gave up")
        then = services.until_served(time.master, time.after)
        summary = (
            f"The set took no writes for {lasted}: {master} {ended}, {then}. {acted} acted meanwhile, which serves "
        )
        summary += "reads only."
    stopped = _may_have_stopped(group, time.master, time.acting[0])
    planned = stopped if time.runs else time.master.end_cause == STOPPED
    evidence = (*time.master.evidence[-1:], *(line for acting in time.acting for line in acting.evidence[:1]))
    return leaderless_outage(
        group,
        Scope.READS_ONLY,
        ("no writes", time.master.source, time.begin.at // SECOND),
        (time.least, time.most),
        severity=severity_of(time.least, planned=planned),
        certainty=DEFINITE,
        nodes=[time.master.node, *sorted(tenure.node for tenure in time.acting)],
        when=(time.begin.at, None if time.after is None and time.end is group.end else time.end.by),
        summary=summary,
        evidence=(*evidence, time.after.begin.event_id if time.after is not None else None),
        **change_of(group, time.master, time.after, time.end) | _fate_of_one_that_ran(group, time),
    )


def _fate_of_one_that_ran(group: Group, time: _ReadOnly) -> dict[str, Fate]:
    """Return the fate column of a master that ran on while its name servers had lost it; empty for any other."""
    if not time.runs or _log_may_end_during(group, time.master, time.acting[0]):
        return {}
    fate = group.once(Fates).while_leading(time.master, time.begin)
    return {"former_leader_fate": Fate.CUT_OFF if fate == Fate.UNKNOWN else fate}


def _last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (broker id, time) of the last contact that each name server had before it dropped a broker."""
    ids = by_address(group.facts)
    for fact in group.of(BrokerRegistered):
        end, node = until(fact), ids.get(fact.address or "")
        if end is None or node is None or fact.end_cause not in (DROPPED, EXPIRED):
            continue
        # A closed connection means contact until then; an expired broker was last heard before the printed silence.
        silent = 0 if fact.silent_ms is None else fact.silent_ms * 1000
        early = silent + group.timing.us(Timeout.NAME_SERVER_SCAN, fact.source_node) if fact.end_cause == EXPIRED else 0
        heard = Moment(end.at - early, end.by - max(silent - end.width, 0), end.source, end.event_id)
        yield node, heard


def _gaps(group: Group, services: _Services) -> Iterator[Gap]:
    """Yield the times in which nobody served, as far as all logs show.

    Left out: a gap after a slave that stopped acting by its own word, since it learned of a smaller id and so somebody
    serves; and a gap in which a member learned whom it follows, or in which a running member never says its role.
    """
    for gap in gaps(group, _last_heard(group), inferred=services.acts):
        handed_over = services.acts(gap.before) and gap.before.end_cause in _SAID_SO
        if not handed_over and not _served_without_log(group, gap) and not _registered_unseen(group, gap):
            yield gap


def _served_without_log(group: Group, gap: Gap) -> bool:
    """Return True when a role held during the gap shows that somebody may have served unlogged."""
    earliest = Moment(gap.begin.at, gap.begin.at, gap.begin.source)
    for role in _roles_in(group, gap):
        begin = group.clocks.elapsed(earliest, since(role))
        successor = gap.after is not None and role.leader == gap.after.node
        learned = begin[0] > 0 or (begin[1] > 0 and role.leader != gap.before.node)
        # A member that follows from the very second in which the gap ends may follow the one that ended it.
        blurred = gap.end.by - gap.end.at > Timeout.BLURRED_END.us
        inside = blurred or group.clocks.elapsed(since(role), gap.end)[0] > 0
        if role.role == FOLLOWER and role.leader is not None and not successor and learned and inside:
            return True
        if role.role == UNKNOWN and not _seen_preparing(group, role):
            return True
    return False


def _registered_unseen(group: Group, gap: Gap) -> bool:
    """Return True when a name server had, all through the gap, a member whose log says nothing of that time."""
    ids = by_address(group.facts)
    known = {role.node for role in _roles_in(group, gap)} | {gap.before.node}
    for fact in group.of(BrokerRegistered):
        node, end = ids.get(fact.address or ""), until(fact)
        if node is None or node in known or group.clocks.elapsed(since(fact), gap.begin)[0] <= 0:
            continue
        if end is None or group.clocks.elapsed(gap.end, end)[0] > 0:
            return True
    return False


def _roles_in(group: Group, gap: Gap) -> Iterator[Role]:
    """Yield the roles that may have been held during the gap."""
    for role in group.roles:
        end = until(role)
        over = end is not None and group.clocks.elapsed(gap.begin, end)[1] <= 0
        if not over and group.clocks.elapsed(since(role), gap.end)[1] > 0:
            yield role


def _should_have_acted(group: Group, gap: Gap) -> bool:
    """Return True when a follower stayed idle for longer than a change takes, or when no other member has a log.

    It should have learned of a smaller id or acted itself. Its name servers may still have listed the old master, or
    its lines may be lost, so this does not prove that nobody acted.
    """
    if all(role.source_node == gap.before.source for role in group.roles):
        return True
    return any(
        role.role == FOLLOWER and _most_inside(group, gap, role) > _normal_gap(group) for role in _roles_in(group, gap)
    )


def _most_inside(group: Group, gap: Gap, role: Role) -> int:
    """Return the most time in us of the gap for which the role can have been held."""
    begin, end = since(role), until(role) or gap.end
    spans = ((gap.begin, end), (begin, end), (begin, gap.end))
    return min(group.clocks.elapsed(earlier, later)[1] for earlier, later in spans)


def _seen_preparing(group: Group, role: Role) -> bool:
    """Return True when a broker without a role is known to be in pre-online: by its errors, or by a logged end."""
    return role.end_cause != SILENT and (
        role.until is not None
        or any(
            attempt.source_node == role.source_node and attempt.since >= role.since and attempt.failures > 0
            for attempt in group.of(PreOnlineAttempt)
        )
    )


def _normal_gap(group: Group) -> int:
    """Return how long a change may take, in us: time-out, scan and propagation (RIP-32: 10 s + 5 s + poll). A time-out
    that a name server printed for a dropped broker takes precedence over the brokers' settings."""
    limits = [fact.silent_ms * US_PER_MS for fact in group.of(BrokerRegistered) if fact.silent_ms]
    silent = max(limits, default=group.timing.us(Timeout.NAME_SERVER_BROKER_SILENT))
    return silent + group.timing.us(Timeout.NAME_SERVER_SCAN) + min_id_propagation_us(group.timing)


def _gap_findings(group: Group, services: _Services, gap: Gap, cause: Finding | None) -> Iterator[Finding]:
    """Yield ``SPECIAL_SERVICE_GAP``, with ``LEADERLESS`` as its cause where it outlasted a normal change. ``cause``:
    the finding about the loss of the master with which the gap began, where a slave acted."""
    if gap.least > _normal_gap(group):
        cause = _gap_finding(group, services, gap, RuleId.LEADERLESS, None)
        yield cause
    yield _gap_finding(group, services, gap, RuleId.SPECIAL_SERVICE_GAP, cause)


def _gap_finding(group: Group, services: _Services, gap: Gap, rule: RuleId, cause: Finding | None) -> Finding:
    loss = "No master, and nobody acted as master" if rule == RuleId.LEADERLESS else "Nobody ran the special services"
    ended = _HOW_ENDED.get(gap.before.end_cause or "", "gave up")
    if began_early(gap.begin, gap.before):
        ended = "fell silent"
    then = services.until_served(gap.before, gap.after)
    long = gap.least > _normal_gap(group)
    doubt = long and _should_have_acted(group, gap)
    only_its_log = gap.after is None and gap.before.end_cause == SILENT and not long  # nobody had to act yet
    sure = gap.least > 0 and not doubt and not only_its_log and _others_tell(group, gap)
    if doubt:
        then += "; another member should have acted meanwhile, and its log does not say whether it did"
    return outage(
        group,
        rule,
        (gap.before.source, gap.begin.at // SECOND),
        (gap.least, gap.most),
        severity=WARNING if long and not gap.planned and not doubt else INFO,
        certainty=DEFINITE if sure else POSSIBLE,
        nodes=[gap.before.node, gap.after.node if gap.after else None],
        when=(gap.begin.at, gap.end.at if gap.after else None),
        summary=f"{loss} for {between(gap.least, gap.most)}: {services.described(gap.before)} {ended}, {then}.",
        evidence=gap.evidence,
        implied_by=cause.finding_id if cause else None,
        scope=Scope.NO_LEADER if rule == RuleId.LEADERLESS else None,
        **change_of(group, gap.before, gap.after, gap.end),
    )


def _others_tell(group: Group, gap: Gap) -> bool:
    """Return True when another log covers the whole gap, so that it would show who served. At the end of the logs every
    other source must be covered or stopped: one whose log ends early may have begun to serve unlogged."""
    others = sorted(set(group.written) - {gap.before.source})
    telling = [source for source in others if covers(group, source, gap.begin, gap.end)]
    stopped = {role.source_node for role in group.roles if role.end_cause == STOPPED and role.node != gap.before.node}
    return bool(telling) and (gap.after is not None or {*telling, *stopped}.issuperset(others))


# -- pre-online --------------------------------------------------------------------------------------------------


def _is_stuck(attempt: PreOnlineAttempt) -> bool:
    """Return True when pre-online failed often and for long, by its own error lines."""
    lasted = 0 if attempt.until is None else attempt.until - attempt.since
    return attempt.failures >= _STUCK_FAILURES and lasted >= Timeout.PRE_ONLINE_STUCK.us


def _is_missed(group: Group, attempt: PreOnlineAttempt) -> bool:
    """Return True when a master was missing because of this attempt; False before the set's first master."""
    is_master = attempt.as_master or attempt.node == MASTER_ID
    return is_master and any(group.clocks.elapsed(tenure.begin, since(attempt))[0] > 0 for tenure in group.tenures)


def _stuck(group: Group) -> Iterator[Finding]:
    """Yield ``PRE_ONLINE_STUCK``, from the first failure to the last, or to the eventual success."""
    for attempt in group.of(PreOnlineAttempt):
        if _is_stuck(attempt):
            yield _stuck_finding(group, attempt)


def _surely_led_at(group: Group, tenure: Tenure, moment: Moment) -> bool:
    """Return True when the tenure certainly included the moment."""
    clocks = group.clocks
    return clocks.elapsed(tenure.begin, moment)[0] > 0 and clocks.elapsed(moment, tenure.end)[0] > 0


def _stuck_finding(group: Group, attempt: PreOnlineAttempt) -> Finding:
    begin, end = since(attempt), until(attempt) or since(attempt)
    least, most = end.at - begin.by, end.by - begin.at
    missed = _is_missed(group, attempt)
    acting = next((tenure for tenure in group.tenures if _surely_led_at(group, tenure, begin)), None)
    state = f"; {acting.name} acted meanwhile, read only" if missed and acting is not None else ""
    why = f" ({attempt.error})" if attempt.error else ""
    after_all = "to the last line of it" if attempt.outcome in (FAILING, STILL_OPEN) else "before it came online"
    return group.finding(
        RuleId.PRE_ONLINE_STUCK,
        (attempt.source_node, attempt.since // SECOND),
        severity=WARNING if missed else INFO,
        nodes=(attempt.who,),
        when=(attempt.since, attempt.until),
        summary=f"Pre-online of {name_of(attempt.node, attempt.source_node)} failed {attempt.failures} times in "
        f"{between(least, most)}, {after_all}: last with {attempt.failed_at}{why}; it served nothing{state}.",
        evidence=(attempt.since_event, attempt.until_event),
        lasted=(least, most),
        rounds=attempt.failures,
    )


# -- coverage ----------------------------------------------------------------------------------------------------


def _coverage(group: Group, services: _Services, found: list[Finding]) -> Iterator[RuleCoverage]:
    ends = sum(1 for tenure in group.tenures if not tenure.open)
    yield counted(group, RuleId.LEADERLESS, found, ends, "a member that should have acted may have done so unseen")
    yield log_gap_coverage(group)
    yield _overlap_coverage(group, found)
    yield _minimum_coverage(group, services, found)
    yield _writable_coverage(group, services)
    yield _gap_coverage(group, found)
    attempts = list(group.of(PreOnlineAttempt))
    yield counted(
        group,
        RuleId.PRE_ONLINE_STUCK,
        found,
        len(attempts),
        untold=sum(1 for attempt in attempts if attempt.outcome == STILL_OPEN),
        why="pre-online began and neither an error nor its end is in the logs",
    )
    compared, never = group.clocks.compared()
    yield coverage(
        group,
        RuleId.CLOCK_SKEW,
        compared,
        0,
        never,
        "no row of registrations, deaths and notices that both logs tell alike ties the two clocks",
    )


def _overlap_coverage(group: Group, found: Sequence[Finding]) -> RuleCoverage:
    """Count as checked the overlapping pairs or the changes of service, whichever are more. Unclear are pairs that may
    have overlapped for longer than a change takes to become known."""
    pairs = list(overlaps(group))
    return counted(
        group,
        RuleId.ACTING_MASTER_OVERLAP,
        found,
        max(len(pairs), len(group.tenures) - 1),
        "ends and beginnings lie within the resolution and bounds of the clocks, or a log just stops",
        unclear=sum(
            1 for overlap in pairs if overlap.least <= 0 and overlap.most > min_id_propagation_us(group.timing)
        ),
    )


def _minimum_coverage(group: Group, services: _Services, found: Sequence[Finding]) -> RuleCoverage:
    """Count acting times; those that do not begin with the broker's own line about the minimum are unclear."""
    acting = services.acting()
    by_own_word = sum(1 for tenure in acting if services.roles[tenure].cause in ("min_changed", "service_on"))
    return counted(
        group,
        RuleId.ACTING_MASTER_NOT_MIN_ID,
        found,
        len(acting),
        "the line that names the smallest id, or the one that came between, is not in the logs",
        unclear=len(acting) - by_own_word,
    )


def _writable_coverage(group: Group, services: _Services) -> RuleCoverage:
    acting = services.acting()
    broken = {tenure for tenure, _ in _writable(group, services)}
    shown = {
        tenure
        for tenure in acting
        for seen in group.of(TopicPermission)
        if not seen.writable and _inside(group, tenure, seen)
    }
    return coverage(
        group,
        RuleId.ACTING_MASTER_WRITABLE,
        len(shown - broken),
        len(broken),
        len(acting) - len(shown | broken),
        "a name server prints no line when it takes the write permission away, nor a broker when it takes a write",
    )


def _gap_coverage(group: Group, found: Sequence[Finding]) -> RuleCoverage:
    heard = list(_last_heard(group))
    ends = [tenure for tenure in group.tenures if not tenure.open]
    return counted(
        group,
        RuleId.SPECIAL_SERVICE_GAP,
        found,
        len(ends),
        "when the one before really ended is not in the logs, or lines of a member that should have acted are missing",
        unclear=sum(
            1 for tenure in ends if tenure.end_cause in (DIED, SILENT) and not _heard_last(group, tenure, heard)
        ),
    )


def _heard_last(group: Group, tenure: Tenure, heard: Iterable[tuple[str, Moment]]) -> bool:
    """Return True when the end of the tenure is known closely, or a name server's last contact narrows it."""
    return tenure.end.by - tenure.end.at <= Timeout.BLURRED_END.us or any(
        node == tenure.node
        and group.clocks.elapsed(tenure.end, moment)[1] > -Timeout.LAST_HEARTBEAT.us
        and group.clocks.elapsed(moment, Moment(tenure.end.by, tenure.end.by, tenure.source))[1] > 0
        for node, moment in heard
    )
