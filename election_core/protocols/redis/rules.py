"""The rules of the servers of one group, and of the sentinels that watch it.

Redis replicates asynchronously: a master acknowledges before a replica has the write. So no majority keeps two masters
from taking writes at once, and the former one's writes are thrown away when it follows the new one. The new master
prints how many bytes those are; not all are client writes: see :mod:`.losses`.

Under sentinels this happens in every failover, even a requested one: the former master hears of it some ten seconds
later. In a cluster, a master that hears no majority stops answering after the node time-out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, STOPPED, TRANSFER
from election_replay.election_core.judge.availability import common_coverage
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.coverage import (
    counted,
    regression_coverage,
    same_term_coverage,
    summed,
    tallies_of,
)
from election_replay.election_core.judge.fates import with_former
from election_replay.election_core.judge.group import Group, Tenure, group_of, since, until
from election_replay.election_core.judge.leaderless import Gap, gaps, leaderless
from election_replay.election_core.judge.limits import log_gaps
from election_replay.election_core.judge.outages import leaderless_outage
from election_replay.election_core.judge.overlap import overlap_coverage
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.judge.storm import failed_elections, storm
from election_replay.election_core.judge.term_rows import elections, term_held, terms_without_leader
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, POSSIBLE, RuleId
from election_replay.election_core.model.facts import (
    Candidacy,
    ContactLost,
    Fact,
    RuleBroken,
    TermWentBack,
    VoteGranted,
)
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.rows import Finding, RoleInterval, Row, RuleCoverage, Term
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.raft_family import votes
from election_replay.election_core.protocols.raft_family.rules import broke_rule, went_back
from election_replay.election_core.protocols.redis.epochs import Epochs
from election_replay.election_core.protocols.redis.facts import Hindered, Refusing, SentinelSaid
from election_replay.election_core.protocols.redis.losses import (
    MISSED,
    in_succession,
    losses,
    overlap_findings,
    restarted,
    sentinels_of,
    silent_for,
)
from election_replay.election_core.protocols.redis.masters_between import shown
from election_replay.election_core.protocols.redis.missed_masters import by_word, missed_for_a_while, unreachable
from election_replay.election_core.protocols.redis.restarts import losses_at_restarts, started_from_snapshots
from election_replay.election_core.protocols.redis.sentinel_log import AGREED, BY_REQUEST, DOWN, TILT
from election_replay.election_core.protocols.redis.server_log import BY_COMMAND, ELECTED, PROTOCOL, REPLACED, TAKEOVER
from election_replay.election_core.protocols.redis.uncopied import lost_with_their_master

__all__ = ["PROTOCOL", "judge"]

_ID = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{32}\b")
"""The id of a node or sentinel; people know it by its first characters."""
MISSED_LATE = 10
"""A watcher that itself does not run may take this many times longer to miss a server."""
_TAKEN = frozenset({TAKEOVER, TRANSFER, "epoch"})
"""Causes of roles whose epoch was taken without a vote."""
_CHOSEN = frozenset({BY_COMMAND, ELECTED, TAKEOVER, "epoch", "leadership_transfer"})
"""Causes of roles whose epoch was given to this very server, rather than kept from its former role."""


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of the servers under one master name of the sentinels, or of one shard of a cluster."""
    epochs = Epochs.of(facts, clocks)
    group = group_of(_with_voters(epochs.facts), clocks)
    yield from _roles(group, epochs)
    in_turn = group.with_tenures(in_succession(group))
    yield from with_former(in_turn, _terms(in_turn, epochs))
    yield from elections(group)
    found = [_as_said(finding, epochs) for finding in _findings(group, epochs)]
    yield from found
    yield from _coverage(group, found)


def _with_voters(facts: list[Fact]) -> list[Fact]:
    """Add to each candidacy the voters known from all logs: a node of a cluster does not print who voted for it."""
    voters: dict[tuple[str | None, int], set[str]] = {}
    for fact in facts:
        if isinstance(fact, VoteGranted):
            voters.setdefault((fact.node, fact.term), set()).add(fact.voter)
    return [
        replace(fact, voters=tuple(sorted(voted)), granted=len(voted))
        if isinstance(fact, Candidacy) and (voted := voters.get((fact.node, fact.term or 0), set()) | {*fact.voters})
        else fact
        for fact in facts
    ]


# -- who led ----------------------------------------------------------------------------------------------------------


def _is_told(epochs: Epochs, tenure: Tenure) -> bool:
    """Return True when a line prints the epoch of the tenure."""
    return (tenure.source, tenure.begin.at) not in epochs.ordering


def _roles(group: Group, epochs: Epochs) -> Iterator[RoleInterval]:
    """Yield the roles as rows; a master restarted after another had replaced it has no epoch."""
    in_turn = {(tenure.source, tenure.begin.at) for tenure in in_succession(group)}
    for row in role_intervals(group):
        begun = row.source_node or "", row.start_time
        without = row.role == LEADER and (begun in epochs.ordering or begun not in in_turn)
        yield replace(row, term=None) if without else row
    yield from _by_sentinels(group, epochs)


def _by_sentinels(group: Group, epochs: Epochs) -> Iterator[RoleInterval]:
    """Yield the roles of masters that only sentinels mention."""
    speaking = {role.node for role in group.roles}
    in_order = sorted(epochs.promotions.items(), key=lambda item: item[0][0])
    for number, ((epoch, address), word) in enumerate(in_order):
        if address in speaking:
            continue
        following = in_order[number + 1][1] if number + 1 < len(in_order) else None
        yield RoleInterval(
            **group.names,
            node=address,
            source_node=None,
            role=LEADER,
            term=epoch,
            leader=address,
            start_time=word.since,
            end_time=following.since if following else None,
            start_uncertainty_ms=(word.since_by - word.since) // 1000,
            end_uncertainty_ms=0 if following else None,
            start_cause="named_by_sentinels",
            end_cause="named_by_sentinels" if following else None,
            start_event_id=word.since_event,
            end_event_id=following.since_event if following else None,
        )


def _terms(group: Group, epochs: Epochs) -> Iterator[Term]:
    """Yield one row for each master of each epoch, and one for each epoch that nobody won."""
    held: dict[tuple[int, str], list[Tenure]] = {}
    for tenure in group.tenures:
        if _is_told(epochs, tenure):
            held.setdefault((tenure.term, tenure.node), []).append(tenure)
    causes = {campaign.term: campaign.cause for campaign in group.of(Candidacy) if campaign.outcome == "won"}
    first = min((epoch for epoch, _ in held), default=None)
    taken = {(role.source_node, role.since): role.cause for role in group.roles if role.cause in _TAKEN}

    def cause(epoch: int, tenures: list[Tenure]) -> str:
        begun = next((taken[t.source, t.begin.at] for t in tenures if (t.source, t.begin.at) in taken), None)
        return (
            begun
            or causes.get(epoch)
            or ("first_leader" if epoch == first and not led_by_others(tenures) else "unknown")
        )

    def led_by_others(tenures: list[Tenure]) -> bool:
        """Return True when a holder of the epoch followed a master before, or was made master, by its own log."""
        begin = {tenure.source: tenure.begin.at for tenure in tenures}
        return any(
            role.since == begin.get(role.source_node) and role.cause in _CHOSEN
            if role.role != FOLLOWER
            else role.since < begin.get(role.source_node, role.since)
            for role in group.roles
        )

    for (epoch, node), tenures in sorted(held.items()):
        yield term_held(group, epoch, node, tenures, cause(epoch, tenures))
    yield from _terms_by_sentinels(group, epochs, {node for _, node in held})
    led = {epoch for epoch, _ in held} | {epoch for epoch, _ in epochs.promotions}
    yield from terms_without_leader(group, led)


def _terms_by_sentinels(group: Group, epochs: Epochs, leading: set[str]) -> Iterator[Term]:
    """Yield the epochs of masters that only sentinels mention."""
    in_turn = sorted(epochs.promotions.items(), key=lambda item: item[0][0])
    for number, ((epoch, address), word) in enumerate(in_turn):
        if address not in leading:
            following = in_turn[number + 1][1] if number + 1 < len(in_turn) else None
            yield Term(
                **group.names,
                term=epoch,
                leader=address,
                start_time=word.since,
                end_time=following.since if following else None,
                cause=next((c.cause for c in group.of(Candidacy) if c.term == epoch and c.outcome == "won"), None),
                certainty=POSSIBLE,
                start_event_id=word.since_event,
                end_event_id=following.since_event if following else None,
            )


# -- findings ---------------------------------------------------------------------------------------------------------


def _as_said(finding: Finding, epochs: Epochs) -> Finding:
    """Return the finding without epochs that no line prints, which only give an order."""
    hidden = [term for term in finding.terms if term in epochs.guessed]
    summary = finding.summary
    for term in hidden:
        summary = (
            summary.replace(f", epoch {term})", ")").replace(f" epoch {term},", ",").replace(f" epoch {term} ", " ")
        )
        summary = summary.replace(f" led epoch {term}", " was master")
    terms = tuple(term for term in finding.terms if term not in hidden)
    return replace(finding, terms=terms, summary=_ID.sub(r"\1", summary))


def _findings(group: Group, epochs: Epochs) -> Iterator[Finding]:
    back = list(_epochs_that_went_back(group))
    double = list(votes.double_votes(group, back))
    broken = [broke_rule(group, fact) for fact in group.of(RuleBroken)]
    yield from back
    yield from double
    yield from broken
    yield from _two_of_one_epoch(group, epochs, [*double, *broken])
    overlaps = list(overlap_findings(group, epochs.ordering))
    yield from overlaps
    older = list(started_from_snapshots(group))
    yield from older
    yield from losses(group, [*overlaps, *older])
    yield from losses_at_restarts(group)
    yield from lost_with_their_master(group)
    in_turn = group.with_tenures(in_succession(group))
    without = [
        *_without_master(in_turn),
        *unreachable(in_turn),
        *missed_for_a_while(in_turn),
        *by_word(group, epochs),
        *_refusing(group),
    ]
    yield from without
    yield from storm(group, _unplanned(group), failed_elections(group))
    yield from log_gaps(group)


def _epochs_that_went_back(group: Group) -> Iterator[Finding]:
    """Yield ``TERM_REGRESSION``: a sentinel's epoch went back, so its configuration was lost or replaced."""
    for fact in group.of(TermWentBack):
        yield went_back(group, fact, "epoch", "it may vote again in epochs in which it has voted")


def _two_of_one_epoch(group: Group, epochs: Epochs, causes: Sequence[Finding]) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_SAME_TERM``: two masters, or two sentinels elected to replace one, in one epoch."""
    begun = {(role.source_node, role.since) for role in group.roles if role.role == LEADER and role.cause in _CHOSEN}
    chosen = [
        tenure for tenure in group.tenures if _is_told(epochs, tenure) and (tenure.source, tenure.begin.at) in begun
    ]
    for split in same_term(group.with_tenures(chosen), "epoch"):
        implied = next((cause.finding_id for cause in causes if split.terms[0] in cause.terms), None)
        yield replace(split, implied_by=implied)
    won: dict[int, list[Candidacy]] = {}
    for campaign in group.of(Candidacy):
        if campaign.outcome == "won" and campaign.cause != BY_REQUEST and campaign.term is not None:
            won.setdefault(campaign.term, []).append(campaign)
    for epoch, campaigns in sorted(won.items()):
        for first, other in combinations(sorted(campaigns, key=lambda c: (c.node or "", c.since)), 2):
            if first.node != other.node and None not in (first.node, other.node):
                yield _both_elected(group, epoch, first, other, causes)


def _both_elected(group: Group, epoch: int, first: Candidacy, other: Candidacy, causes: Sequence[Finding]) -> Finding:
    names = (first.node or "", other.node or "")
    return group.finding(
        RuleId.SPLIT_BRAIN_SAME_TERM,
        (epoch, "elected", *names),
        severity=CRITICAL,
        nodes=names,
        terms=(epoch,),
        when=(min(first.since, other.since), max(first.until or first.since, other.until or other.since)),
        summary=f"{names[0]} and {names[1]} were both elected in epoch {epoch}.",
        evidence=[first.since_event, first.until_event, other.since_event, other.until_event],
        implied_by=next((cause.finding_id for cause in causes if epoch in cause.terms), None),
    )


# -- outages ----------------------------------------------------------------------------------------------------------


def _heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (master, time) of last contacts: a connection closed by the master, or a sentinel that missed it."""
    for fact in group.of(ContactLost):
        if fact.node is not None and fact.closed:
            yield fact.node, since(fact)
    for word in group.of(SentinelSaid):
        if word.message in MISSED and word.node is not None:
            # No line tells when it was last heard: a sentinel in TILT misses it much later.
            since_us = word.since - MISSED_LATE * silent_for(group, word)
            yield word.node, Moment(since_us, word.since_by, word.source_node, word.since_event)


def _without_master(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for times between two masters, with the reasons that delayed the next one. Under sentinels a
    stale master may have served the clients that were still connected to it."""
    heard, sentinels = list(_heard(group)), sentinels_of(group)
    found = [shown(group, gap) for gap in gaps(group, heard, fenced=not sentinels)]
    if sentinels:
        known = {gap.before for gap in found}
        found += [replace(gap, least=0) for gap in gaps(group, heard, fenced=True) if gap.before not in known]
    for gap, finding in zip(found, leaderless(group, found, "master", "epoch"), strict=True):
        reasons = [*_reasons(group, gap.begin, gap.end), *_stale_masters(group, gap)]
        evidence = (*finding.evidence, *(event for _, event in reasons if event))
        why = f" Meanwhile: {'; '.join(dict.fromkeys(reason for reason, _ in reasons))}." if reasons else ""
        yield replace(finding, summary=finding.summary + why, evidence=tuple(dict.fromkeys(evidence)))


def _stale_masters(group: Group, gap: Gap) -> Iterator[tuple[str, str | None]]:
    """Yield (reason, event id) of the masters that had been replaced before a gap and led through it."""
    for tenure in group.tenures:
        through = group.clocks.elapsed(tenure.begin, gap.begin)[0] > 0 and group.clocks.elapsed(gap.end, tenure.end)
        if tenure.term < gap.before.term and through and through[0] > 0:
            yield f"{tenure.name} still called itself master", tenure.begin.event_id


def _reasons(group: Group, begin: Moment, end: Moment) -> Iterator[tuple[str, str | None]]:
    """Yield (reason, event id) of what may have delayed a take-over between two moments."""
    for fact in group.of(Hindered):
        if group.clocks.elapsed(begin, since(fact))[1] > 0 and group.clocks.elapsed(since(fact), end)[1] > 0:
            epoch = f" in epoch {fact.term}" if fact.term is not None else ""
            of = f" about {fact.peer}" if fact.peer else ""
            yield f"{fact.who}{of}: {fact.why}{epoch}", fact.since_event
    for word in group.of(SentinelSaid):
        after, before = group.clocks.elapsed(begin, since(word)), group.clocks.elapsed(since(word), end)
        if word.message == TILT and after[1] > 0 and before[1] > 0:
            yield f"{word.peer or word.source_node} detected nothing (TILT)", word.since_event
    agreed = [word for word in group.of(SentinelSaid) if word.message == AGREED]
    if agreed or not any(word.message == DOWN for word in group.of(SentinelSaid)):
        return
    down = {word.source_node: word for word in group.of(SentinelSaid) if word.message == DOWN}
    names = ", ".join(sorted(down))
    yield (
        f"only {names} missed the master, and no quorum of the sentinels agreed",
        next(iter(down.values())).since_event,
    )


def _refusing(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` in a cluster: a master answered no client, as its view of the cluster was ``fail``, until
    that ended or another one had replaced it."""
    for fact in group.of(Refusing):
        led = [t for t in group.tenures if t.source == fact.source_node and t.begin.at <= fact.since < t.end.by]
        if not led:
            continue
        begin, tenure = since(fact), led[-1]
        successor, end = _refused_until(group, fact, tenure)
        least, most = _refused_for(group, fact, tenure, successor, end)
        if most < Timeout.MIN_REPORTED.us:
            continue
        replaced = f", until {successor.name} led epoch {successor.term}" if successor is not None else ""
        who, lasted = tenure.with_detail(f"epoch {tenure.term}"), between(least, most)
        yield leaderless_outage(
            group,
            Scope.NO_MAJORITY,
            (tenure.term, "refusing", begin.at // SECOND),
            (least, most),
            certainty=DEFINITE if least > 0 else POSSIBLE,
            led=[tenure, *([successor] if successor is not None else [])],
            when=(begin.at, None if end is group.end else max(end.at, begin.at)),
            summary=f"{who} answered no client for {lasted}: its view of the cluster was fail{replaced}.",
            evidence=[fact.since_event, successor.begin.event_id if successor is not None else fact.until_event],
        )


def _refused_until(group: Group, fact: Refusing, tenure: Tenure) -> tuple[Tenure | None, Moment]:
    """Return the master that replaced one before its view of the cluster was good again, if any, and the end."""
    over, successor = until(fact), _successor(group, tenure)
    if successor is None or (over is not None and group.clocks.elapsed(successor.begin, over)[0] < 0):
        return None, over or group.end
    return successor, _serves_from(group, successor)


def _refused_for(
    group: Group, fact: Refusing, tenure: Tenure, successor: Tenure | None, end: Moment
) -> tuple[int, int]:
    """Return the (least, most) time in us for which a master answered no client."""
    begin = since(fact)
    least, most = group.clocks.elapsed(begin, end)
    if successor is None and tenure.end_cause == REPLACED:
        least = 0  # its successor's log is missing, which shows since when that one served
    elif successor is None and until(fact) is None:  # nothing is known of the time after its last line as master
        last = group.written.get(fact.source_node, end)
        least = min(least, *(group.clocks.elapsed(begin, at)[0] for at in (last, tenure.end)))
    return max(least, 0), most


def _successor(group: Group, tenure: Tenure) -> Tenure | None:
    """Return the first master of a larger epoch on another server; a restarted one had been master before."""
    later = (other for other in group.tenures if other.term > tenure.term and other.source != tenure.source)
    return min((other for other in later if not restarted(group, other)), key=lambda other: other.begin, default=None)


def _serves_from(group: Group, tenure: Tenure) -> Moment:
    """Return when a master of a cluster began to answer clients: it refuses them as long as its view is ``fail``."""
    elapsed = group.clocks.elapsed
    for fact in group.of(Refusing):
        begun, over = elapsed(since(fact), tenure.begin), until(fact)
        if (
            fact.source_node == tenure.source
            and begun[0] >= 0
            and over is not None
            and elapsed(tenure.begin, over)[0] > 0
        ):
            return over
    return tenure.begin


def _unplanned(group: Group) -> list[Moment]:
    """Return the changes of the master that nobody requested."""
    by_request = {campaign.term for campaign in group.of(Candidacy) if campaign.cause == BY_REQUEST}
    taken = {(role.source_node, role.since) for role in group.roles if role.cause in _TAKEN}
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [
        tenure.begin
        for before, tenure in pairwise(ordered)
        if before.node != tenure.node
        and tenure.term not in by_request
        and (tenure.source, tenure.begin.at) not in taken
        and before.end_cause != STOPPED
    ]


# -- coverage ---------------------------------------------------------------------------------------------------------


def _coverage(group: Group, found: Sequence[Finding]) -> Iterator[RuleCoverage]:
    yield same_term_coverage(group, found)
    yield overlap_coverage(group, found)
    yield from summed(group, tallies_of(group))
    yield regression_coverage(group, RuleId.TERM_REGRESSION)
    voters = {(grant.voter, grant.term) for grant in group.of(VoteGranted)}
    yield counted(group, RuleId.DOUBLE_VOTE, found, len(voters))
    why = "the keys that a master came back without may have been deleted by clients"
    yield counted(group, RuleId.POSSIBLE_DATA_LOSS, found, len(group.tenures) - 1, why)
    without = [finding for finding in found if finding.rule == RuleId.LEADERLESS]
    storms = sum(1 for finding in found if finding.rule == RuleId.ELECTION_STORM)
    outside = sum(1 for finding in without if finding.scope == Scope.NO_MAJORITY)
    yield from common_coverage(group, without, storms, outside)
