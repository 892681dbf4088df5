"""``LEADERLESS`` of a broker set: from the end of one master's service to the begin of the next one's.

    master of epoch 1  [=========|  it dies, and its connections to the controllers close
    controllers                       elect, if one of them leads and a member of the SyncStateSet is alive
    master of epoch 2                   [begins ...... role changed, registered][first producer comes ======
    nobody can write             |<-------------- least --------------->|
                                 |<---------------------- most --------------------->|

A master that stops unregisters from the name servers first and serves nobody from then on. When a master is killed, its
connections close at once, though a busy machine may log that seconds later. The next master serves when its change of
role is done, which includes its registration at the name servers. Producers learn of it when they next ask a name
server, so the arrival of the first producer is the latest end.

Sources: RocketMQ ``BrokerController#shutdown``, ``DefaultBrokerHeartbeatManager#onBrokerChannelClose``,
``ReplicasManager#changeToMaster``; ``ClientConfig`` (``pollNameServerInterval``, ``heartbeatBrokerInterval``).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

from election_replay.election_core.fold.roles import DIED, FOLLOWER, LEADER, STOPPED
from election_replay.election_core.judge.availability import common_coverage
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since, until
from election_replay.election_core.judge.leaderless import MAX_INFO_GAP, MIN_REPORTED, Gap, began_early, gaps
from election_replay.election_core.judge.led_between import not_shown, tenures_in_order
from election_replay.election_core.judge.limits import log_gaps
from election_replay.election_core.judge.outages import change_of, leaderless_outage, severity_of
from election_replay.election_core.judge.overlap import overlaps
from election_replay.election_core.judge.storm import storm
from election_replay.election_core.judge.wording import between, listed, name_of, seconds
from election_replay.election_core.model.catalogue import POSSIBLE, RuleId
from election_replay.election_core.model.facts import Alive, ContactLost, Role
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.controller.causes import cause, heard_before, last_heard, unled, unplanned
from election_replay.election_core.protocols.controller.checks import ELECTED, NOBODY_ELECTED
from election_replay.election_core.protocols.controller.decision_rules import SetVersion
from election_replay.election_core.protocols.controller.facts import (
    ControllerLed,
    Decision,
    MasterReady,
    ProducerCame,
    Unregistered,
)
from election_replay.election_core.protocols.controller.record import elections_of

OfMaster = TypeVar("OfMaster", MasterReady, ProducerCame, Unregistered)
"""Facts that a master's log states about its own tenure."""


def availability(
    group: Group, decided: list[Decision], sets: list[SetVersion], judged: Iterable[Finding], *, sure: bool
) -> Iterator[Finding | RuleCoverage]:
    """Yield times without a master, election storms, log gaps, and the coverage of these rules.

    ``judged``: the findings about decisions and masters, some of which are ``LEADERLESS``. ``sure``: the order of the
    masters is known; if it is not, somebody may have led at any time and no gap is reported.
    """
    served = _as_served(group)
    found = [_as_shown(served, gap) for gap in gaps(served, last_heard(group), fenced=True)] if sure else []
    found += _brief_deaths(served, {(gap.before, gap.after) for gap in found}) if sure else []
    storms = _storms(group, decided)
    without = [_without_master(served, gap, decided, sets) for gap in found]
    without += _unreachable(served) if sure else []
    without += _not_registered(served, found) if sure else []
    yield from without
    yield from storms
    yield from log_gaps(group)
    outside = [finding for finding in judged if finding.rule == RuleId.LEADERLESS]
    yield from common_coverage(served, [*outside, *without], len(storms), len(outside))


def _storms(group: Group, decided: list[Decision]) -> list[Finding]:
    """Return election storms; possible only, if they need an election whose former master has no log. A missing log may
    hold a clean stop, which would make the election a planned one."""
    by_term = unplanned(group, decided)
    with_log = {tenure.term for tenure in group.tenures}
    storms = list(storm(group, by_term.values()))
    if any(storm(group, [moment for term, moment in by_term.items() if term - 1 in with_log])):
        return storms
    return [replace(found, certainty=POSSIBLE) for found in storms]


def _as_shown(group: Group, gap: Gap) -> Gap:
    """Shorten the least time of a gap to what other logs cover: beyond that somebody may have been elected. It is 0
    where an epoch in between is not known to be without a winner: some broker then led unlogged."""
    epochs = range(0) if gap.after is None else range(gap.before.term + 1, gap.after.term)
    if gap.after is not None and len({*epochs} - unled(group)) <= _without_epoch(group, gap):
        return gap
    return replace(gap, least=0 if epochs else max(gap.least - _uncovered_us(group, gap), 0))


def _without_epoch(group: Group, gap: Gap) -> int:
    """Return how many elections of the gap had no winner, of those whose epoch is not known: each used one up. They are
    counted by one controller's lines."""
    elapsed = group.clocks.elapsed
    of_source = Counter(
        fact.source_node
        for fact in group.of(Decision)
        if (fact.decision, fact.term, fact.leading) == (NOBODY_ELECTED, None, True)
        and elapsed(gap.begin, since(fact))[1] > 0
        and elapsed(since(fact), gap.end)[0] > 0
    )
    return max(of_source.values(), default=0)


def _uncovered_us(group: Group, gap: Gap) -> int:
    """Return the time in us of the gap for which no log would show a new master.

    Where somebody was elected or followed in a gap without successor, the logs of those elected must cover it; else any
    witness's log is enough. Controllers that lost their record elect with a smaller epoch, so any other epoch counts.
    """
    elapsed = group.clocks.elapsed
    elected = {
        fact.node
        for fact in group.of(Decision)
        if fact.decision == ELECTED and fact.term not in (None, gap.before.term)
        if elapsed(gap.begin, since(fact))[1] > 0 and elapsed(since(fact), gap.end)[1] > 0
    }
    elected |= {role.leader for role in group.roles if role.role == FOLLOWER and (role.term or 0) > gap.before.term}
    if gap.after is None and elected:
        sources = {role.source_node for role in group.roles if role.node in elected and role.node is not None}
        return max((not_shown(group, source, gap.begin, gap.end) for source in sources), default=UNBOUNDED)
    witnesses = _witnesses(group, gap)
    return min((not_shown(group, source, gap.begin, gap.end) for source in witnesses), default=UNBOUNDED)


def _witnesses(group: Group, gap: Gap) -> Iterator[str]:
    """Yield the sources whose logs would show a new master. These are the other brokers of the set, and controllers
    that led before the gap and throughout it."""
    elapsed = group.clocks.elapsed
    brokers = {role.source_node for role in group.roles}
    ended = {
        led.source_node
        for led in group.of(ControllerLed)
        if (end := until(led)) is not None and elapsed(gap.begin, end)[1] > 0 and elapsed(end, gap.end)[1] > 0
    }
    facts = (*group.of(ControllerLed), *(fact for fact in group.of(Decision) if fact.leading))
    led = {fact.source_node for fact in facts if elapsed(since(fact), gap.begin)[1] > 0}
    yield from sorted((brokers - {gap.before.source}) | (led - ended))


# -- masters as those who write see them -----------------------------------------------------------------------


def _as_served(group: Group) -> Group:
    """Return the group with the tenures in which its masters served clients, as far as the logs show.

    A master that was elected again takes the new epoch and goes on: its tenure begins with the line that ends its last.
    A master that no name server knew served nobody and is left out.
    """
    ends = {(tenure.source, tenure.end.event_id) for tenure in group.tenures if tenure.end.event_id is not None}
    begins = {(each.source, each.begin) for each in group.tenures if (each.source, each.begin.event_id) in ends}
    served: list[Tenure] = []
    last: str | None = None
    for tenure in tenures_in_order(group):
        found = _served(group, tenure, begins, again=tenure.node == last)
        served += [] if found is None else [found]
        last = tenure.node
    return replace(group, tenures=served)


def _served(group: Group, tenure: Tenure, goes_on: Set[tuple[str, Moment]], *, again: bool) -> Tenure | None:
    """Return the tenure as clients saw it; None if no client could find its master. ``again``: clients know the address
    already, as the same broker was master before."""
    begin: Moment | None = tenure.begin
    ready = None if (tenure.source, tenure.begin) in goes_on else next(_of_tenure(group, MasterReady, tenure), None)
    if ready is not None:
        begin = since(ready)
        for unknown in () if again else _of_tenure(group, Unregistered, tenure):
            if unknown.since <= ready.since and (unknown.until is None or ready.since <= unknown.until):
                begin = until(unknown)
    return None if begin is None else replace(tenure, begin=begin, end=_gone(group, tenure))


def _of_tenure(group: Group, kind: type[OfMaster], tenure: Tenure) -> Iterator[OfMaster]:
    """Yield in order the facts of one kind that the master's own log states about the tenure."""
    of_tenure = (
        fact
        for fact in group.of(kind)
        if (fact.source_node, fact.term) == (tenure.source, tenure.term)
        and tenure.begin.at <= fact.since
        and (fact.since <= tenure.end.by or tenure.end.source != tenure.source)
    )
    yield from sorted(of_tenure, key=lambda fact: (fact.since, fact.since_by))


def _gone(group: Group, tenure: Tenure) -> Moment:
    """Return the time at which a master ceased to serve: its stop began, or its death closed its connections; it may
    have been frozen before, since its last line."""
    if tenure.end_cause == STOPPED:
        return replace(tenure.end, by=min(tenure.end.by, tenure.end.at + Timeout.CONTROLLER_STOPS.us))
    closed = _closed_by_death(group, tenure) if tenure.end_cause == DIED else None
    if closed is None:
        return tenure.end
    died, elapsed = replace(closed, at=closed.at - group.timing.us(Timeout.ON_ITS_WAY)), group.clocks.elapsed
    last_line = Moment(tenure.end.at, tenure.end.at, tenure.end.source)
    after_it = elapsed(last_line, died)[0] > 0
    return replace(closed, at=closed.by - elapsed(last_line, closed)[1]) if after_it else tenure.end


def _closed_by_death(group: Group, tenure: Tenure) -> Moment | None:
    """Return when the last connection closed between a master's last line and its next start; None if none did. A
    controller that saw one close earlier may only have been cut off."""
    clocks, last_line = group.clocks, Moment(tenure.end.at, tenure.end.at, tenure.end.source)
    closed = [
        since(fact)
        for fact in group.of(ContactLost)
        if fact.node == tenure.node
        and fact.closed
        and clocks.elapsed(last_line, since(fact))[0] > -since(fact).width
        and clocks.elapsed(since(fact), tenure.end)[1] > 0
    ]
    last = [moment for moment in closed if not any(clocks.elapsed(moment, other)[0] > 0 for other in closed)]
    return min(last, default=None)


def _brief_deaths(served: Group, found: Set[tuple[Tenure, Tenure | None]]) -> Iterator[Gap]:
    """Yield deaths of a master replaced within a second, where producers took longer to reach the new one."""
    for before, after in pairwise(served.tenures):
        came = None if (before, after) in found else _first_producer(served, after)
        least, most = served.clocks.elapsed(before.end, after.begin)
        if before.end_cause != DIED or came is None or least >= MIN_REPORTED or most <= 0:
            continue
        if came.at - after.begin.at >= MIN_REPORTED:
            evidence = (*before.evidence, *after.evidence[:1])
            yield Gap(before, after, before.end, after.begin, least, most, False, evidence)


def _first_producer(group: Group, tenure: Tenure) -> Moment | None:
    """Return when the first producer came to a new master; None if it came too late to be caused by the change."""
    came = next(_of_tenure(group, ProducerCame, tenure), None)
    soon = came is not None and came.since - tenure.begin.at <= group.timing.us(Timeout.CONTROLLER_PRODUCERS_COME)
    return since(came) if came is not None and soon else None


# -- what a finding says ---------------------------------------------------------------------------------------


def _without_master(group: Group, gap: Gap, decided: list[Decision], sets: list[SetVersion]) -> Finding:
    """Make the ``LEADERLESS`` finding of one gap."""
    who = gap.before.with_detail(f"epoch {gap.before.term}")
    producer = None if gap.after is None else _first_producer(group, gap.after)
    most = gap.most if producer is None else group.clocks.elapsed(gap.begin, producer)[1]
    lasted = between(gap.least, most) if gap.least >= MIN_REPORTED else f"at most {seconds(most)}"
    reasons = list(_reasons(group, gap, decided, sets))
    why = "".join(f" {reason.text}" for reason in reasons)
    planned = gap.planned or _asked_for(group, gap, decided)
    return leaderless_outage(
        group,
        Scope.NO_LEADER,
        (gap.before.term, gap.begin.at // SECOND),
        (gap.least, most),
        severity=severity_of(gap.least, planned=planned),
        led=(gap.before, gap.after),
        when=(gap.begin.at, None if gap.after is None else gap.end.at if producer is None else producer.by),
        summary=f"No master for {lasted}: {who} {_how_ended(gap)}, {_until(gap, producer)}.{why}",
        evidence=(
            *gap.evidence,
            producer.event_id if producer else None,
            *(event for reason in reasons for event in reason.evidence),
        ),
        **change_of(group, gap.before, gap.after, gap.end),
    )


def _unreachable(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for clients that could not reach a running master, until the next one served.

    It begins when the controllers last heard from the master. Clients that could reach it may have written all the
    time, so its least duration is 0.
    """
    for overlap in overlaps(group):
        stale, newer = overlap.stale, overlap.newer
        heard = heard_before(group, stale.node, newer.begin) if overlap.least > 0 and not overlap.frozen else None
        if heard is None or stale.term == newer.term or group.clocks.elapsed(stale.begin, heard)[1] <= 0:
            continue
        producer = _first_producer(group, newer)
        most = group.clocks.elapsed(heard, producer or newer.begin)[1]
        if most < MAX_INFO_GAP:
            continue
        yield leaderless_outage(
            group,
            Scope.UNREACHABLE,
            (stale.term, "unreachable", heard.at // SECOND),
            (0, most),
            led=(stale, newer),
            when=(heard.at, (producer or newer.begin).by),
            summary=f"No master for at most {seconds(most)} for clients that could not reach {stale.name}: the "
            f"controllers lost it, {_served_by(newer, producer)}. It kept running, and clients that "
            "reached it could write to it.",
            evidence=(heard.event_id, *newer.evidence[:1], producer.event_id if producer else None),
            **change_of(group, stale, newer, newer.begin),
        )


def _not_registered(group: Group, found: Sequence[Gap]) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for clients that ask a name server for a master that could register at none. Clients that
    knew its address may have written all the time, so its least duration is 0."""
    elapsed = group.clocks.elapsed
    for unknown in group.of(Unregistered):
        begin, end = since(unknown), until(unknown) or group.end
        of_master = (each for each in group.tenures if (each.source, each.term) == (unknown.source_node, unknown.term))
        master = next((each for each in of_master if elapsed(begin, each.end)[1] > 0), None)
        if master is None or any(_within(group, begin, end, gap) for gap in found):
            continue
        end = master.end if not master.open and elapsed(master.end, end)[0] > 0 else end
        least, most = elapsed(begin, end)
        if least < MAX_INFO_GAP:
            continue
        yield leaderless_outage(
            group,
            Scope.UNREACHABLE,
            (unknown.term, "not registered", begin.at // SECOND),
            (0, most),
            led=(master, None),
            when=(begin.at, None if end == group.end else end.by),
            summary=f"No master for at most {seconds(most)} for clients that asked a name server: {master.name}, "
            f"master of epoch {unknown.term}, could register at none. Clients that knew its address could write to it.",
            evidence=(unknown.since_event, unknown.until_event),
            former_leader=master.node,
        )


def _within(group: Group, begin: Moment, end: Moment, gap: Gap) -> bool:
    """Return True when the time may lie within the gap."""
    return group.clocks.elapsed(gap.begin, begin)[1] > 0 and group.clocks.elapsed(end, gap.end)[1] > 0


def _asked_for(group: Group, gap: Gap, decided: list[Decision]) -> bool:
    """Return True when an operator requested the election that ended the tenure of a running master."""
    after = gap.after
    elected = next((fact for fact in elections_of(decided) if after is not None and fact.term == after.term), None)
    return elected is not None and elected.term is not None and cause(group, elected.term, elected) == "requested"


def _until(gap: Gap, producer: Moment | None) -> str:
    return "to the end of the logs" if gap.after is None else _served_by(gap.after, producer)


def _served_by(after: Tenure, producer: Moment | None) -> str:
    then = f"until {after.name} served as master of epoch {after.term}"
    return then if producer is None else f"{then} and the first producer came to it"


def _how_ended(gap: Gap) -> str:
    if began_early(gap.begin, gap.before):
        return "fell silent"
    if gap.before.open:
        return "was heard of no more"
    words = {DIED: "died", STOPPED: "was stopped", SILENT: "fell silent"}
    return words.get(gap.before.end_cause or "", "stepped down")


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence on why a time without a master lasted, with the ids of the lines that show it."""

    text: str
    evidence: tuple[str | None, ...]


def _reasons(group: Group, gap: Gap, decided: list[Decision], sets: list[SetVersion]) -> Iterator[Reason]:
    if gap.least < MIN_REPORTED:
        return
    yield from _not_found(group, gap)
    yield from _slow_change(group, gap)
    yield from _no_controller(group, gap)
    nobody = [
        fact
        for fact in elections_of(decided)
        if fact.decision == NOBODY_ELECTED
        and group.clocks.elapsed(gap.begin, since(fact))[1] > 0
        and group.clocks.elapsed(since(fact), gap.end)[1] > 0
    ]
    yield from _candidates(group, gap, nobody, sets)


def _not_found(group: Group, gap: Gap) -> Iterator[Reason]:
    """Yield the reason that a master of a later epoch could register at no name server, so no client found it."""
    elapsed = group.clocks.elapsed
    for unknown in group.of(Unregistered):
        known = until(unknown) or gap.end
        end = known if elapsed(known, gap.end)[0] > 0 else gap.end
        least, most = elapsed(since(unknown), end)
        if unknown.term > gap.before.term and elapsed(gap.begin, since(unknown))[1] > 0 and least >= MIN_REPORTED:
            who = f"{name_of(unknown.node, unknown.source_node)}, master of epoch {unknown.term},"
            text = f"{who} could register at no name server for {between(least, most)}."
            yield Reason(text, (unknown.since_event, unknown.until_event))


def _slow_change(group: Group, gap: Gap) -> Iterator[Reason]:
    """Yield the reason that the new master took ``MAX_INFO_GAP`` or longer to change its role."""
    after = gap.after
    begun = next((r for r in group.roles if after is not None and _is_of(r, after)), None)
    done = (fact.since for fact in group.of(MasterReady) if begun and _same_change(fact, begun))
    if begun is not None and (took := min(done, default=gap.end.at) - begun.since) >= MAX_INFO_GAP:
        of_that = " of that" if took <= gap.most else ""  # longer than the gap: it began under the former master
        yield Reason(f"Its change of role took {seconds(took)}{of_that}.", (begun.since_event,))


def _same_change(done: MasterReady, begun: Role) -> bool:
    """Return True when ``done`` ends the change of role that began with ``begun``."""
    return (done.source_node, done.term) == (begun.source_node, begun.term) and begun.since <= done.since


def _is_of(role: Role, tenure: Tenure) -> bool:
    """Return True when the tenure is of this role."""
    return (role.source_node, role.term, role.role) == (tenure.source, tenure.term, LEADER)


def _no_controller(group: Group, gap: Gap) -> Iterator[Reason]:
    """Yield the reason that no controller led for part of the gap, so that nobody could be elected."""
    led = list(group.of(ControllerLed))
    for hole in _controller_gaps(group, led):
        after_it = max(group.clocks.elapsed(hole.end, gap.end)[1], 0)
        least = min(
            group.clocks.elapsed(hole.begin, gap.end)[0],
            group.clocks.elapsed(hole.begin, hole.end)[0],
            gap.least - after_it,
        )
        if least >= MIN_REPORTED:
            text = f"The controllers had no leader for at least {seconds(least)} of it: nobody could be elected."
            yield Reason(text, (hole.begin.event_id, hole.end.event_id))


@dataclass(frozen=True, slots=True)
class _NoLeader:
    """A time in which no controller led; it ends with the logs if none led again."""

    begin: Moment
    end: Moment


def _controller_gaps(group: Group, led: Sequence[ControllerLed]) -> Iterator[_NoLeader]:
    """Yield the times between one controller leadership and the next during which no other lasted."""
    for leadership in led:
        end = until(leadership)
        if end is None:
            continue
        later = [other for other in led if other is not leadership and not _over_by(group, other, end)]
        nearest = min((since(other) for other in later), default=group.end)
        if all(group.clocks.elapsed(end, since(other))[0] > 0 for other in later):
            yield _NoLeader(end, nearest)


def _over_by(group: Group, led: ControllerLed, moment: Moment) -> bool:
    """Return True when the leadership was surely over at the moment."""
    end = until(led)
    return end is not None and group.clocks.elapsed(end, moment)[0] > 0


def _candidates(group: Group, gap: Gap, nobody: Sequence[Decision], sets: list[SetVersion]) -> Iterator[Reason]:
    """Yield who could have been elected (living members of the SyncStateSet), or why nobody could."""
    of_master = [version for version in sets if version.master_epoch == gap.before.term]
    if not of_master:
        return
    last = of_master[-1]
    alive = {name for name in _alive_through(group, gap) if name != gap.before.node}
    inside, outside = sorted(alive & set(last.members)), sorted(alive - set(last.members))
    shown = f"{{{', '.join(last.members)}}}"
    if nobody:
        times = "once" if len(nobody) == 1 else f"{len(nobody)} times"
        text = f"The controllers found nobody to elect {times}"
        if not inside:
            text += f": no other member of the SyncStateSet {shown} was alive"
            text += f"; {listed(outside)} {_were(outside)}, outside of it" if outside else ""
        yield Reason(f"{text}.", (last.decision.since_event, *(fact.since_event for fact in nobody)))
    elif inside and gap.after is None:
        text = f"{listed(inside)} of the SyncStateSet {shown} {_were(inside)} alive, and nobody was elected."
        yield Reason(text, (last.decision.since_event,))


def _were(some: Sequence[str]) -> str:
    return "was" if len(some) == 1 else "were"


def _alive_through(group: Group, gap: Gap) -> Iterator[str]:
    """Yield the members that one run of their process shows alive from before the gap to after it."""
    for life in group.of(Alive):
        end = until(life)
        if life.node is None or end is None:
            continue
        begun = group.clocks.elapsed(since(life), gap.begin)[0] > 0
        if begun and group.clocks.elapsed(Moment(gap.end.at, gap.end.at, gap.end.source), end)[1] > 0:
            yield life.node
