"""What the facts of a DLedger group must satisfy.

A leader without quorum keeps its role for 6 to about 10 s and cannot commit meanwhile: two leaders of different
terms at once are normal behaviour (``DLedgerLeaderElector#sendHeartbeats``, maxHeartBeatLeak) and become an alarm
only when the older one commits. Two leaders of one term never are; one node leading one term twice always is fine.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from election_core import facts, leadership
from election_core.clock import Clocks, Moment
from election_core.facts import Fact
from election_core.findings import CRITICAL, DEFINITE, INFO, PROVEN, WARNING, between, seconds
from election_core.group import Group, Tenure, group_of, since
from election_core.leadership import Overlap, coverage
from election_core.protocols.dledger.log import PROTOCOL, TRANSFER
from election_core.roles import CANDIDATE
from election_core.rows import Election, Finding, Row, RuleCoverage, Term

__all__ = ["PROTOCOL", "judge", "raft_rows"]


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one DLedger group."""
    return raft_rows(group_of(own, clocks))


def raft_rows(group: Group) -> Iterator[Row]:
    """The rows of a group whose members vote for a leader of a term."""
    yield from leadership.role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    yield from _findings(group)
    yield from leadership.availability(group, _last_heard(group), _unplanned(group), "leader", "term")
    yield from _coverage(group)


# -- rows ------------------------------------------------------------------------------------------------------


def terms(group: Group) -> Iterator[Term]:
    """One row for each leader of each term, and one for each term that had rounds but no leader."""
    led: dict[tuple[int, str], list[Tenure]] = {}
    for tenure in group.tenures:
        led.setdefault((tenure.term, tenure.node), []).append(tenure)
    for (term, leader), tenures in sorted(led.items()):
        first = min(tenures, key=lambda t: t.begin)
        last = max(tenures, key=lambda t: (t.open, t.end))
        yield Term(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=term,
            leader=leader,
            start_time=first.begin.at,
            end_time=None if last.open else last.end.at,
            cause=_cause(group, first),
            certainty=PROVEN,
            start_event_id=first.begin.event_id,
            end_event_id=last.end.event_id,
        )
    by_hearsay = list(leadership.terms_by_hearsay(group, {term for term, _ in led}))
    yield from by_hearsay
    yield from _terms_without_leader(group, {term for term, _ in led} | {row.term for row in by_hearsay})


def _terms_without_leader(group: Group, led: set[int]) -> Iterator[Term]:
    lost: dict[int, list[Fact]] = {}
    for campaign in group.of(facts.CAMPAIGN):
        if campaign.term is not None and campaign.term not in led:
            lost.setdefault(campaign.term, []).append(campaign)
    for term, campaigns in sorted(lost.items()):
        yield Term(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=term,
            leader=None,
            start_time=campaigns[0].since,
            end_time=max(c.until or c.since for c in campaigns),
            cause=campaigns[0].cause,
            certainty=PROVEN,
            start_event_id=campaigns[0].since_event,
            end_event_id=None,
        )


def _cause(group: Group, tenure: Tenure) -> str:
    """Why the election of a tenure began."""
    earlier = [t for t in group.tenures if t.begin < tenure.begin and t is not tenure]
    if not earlier:
        return "first_leader"
    if _transferred(group, tenure):
        return TRANSFER
    won = [c for c in group.of(facts.CAMPAIGN) if c.node == tenure.node and c.term == tenure.term and c.cause]
    if won:
        return won[-1].cause or "unknown"
    before = [
        r for r in group.roles if r.source_node == tenure.source and r.role == CANDIDATE and r.since <= tenure.begin.at
    ]
    return before[-1].cause or "unknown" if before else "unknown"


def _transferred(group: Group, tenure: Tenure) -> bool:
    """Whether the node took over by a leadership transfer."""
    return any(role.since_event == tenure.begin.event_id and role.cause == TRANSFER for role in group.roles)


def elections(group: Group) -> Iterator[Election]:
    """One row for each campaign: the rounds of one candidate in one term."""
    for campaign in group.of(facts.CAMPAIGN):
        yield Election(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=campaign.term or 0,
            candidate=campaign.node,
            start_time=campaign.since,
            end_time=campaign.until or campaign.since,
            outcome=campaign.result or "open",
            rounds=campaign.count or 0,
            votes_granted=campaign.granted,
            votes_needed=campaign.needed,
            voters=campaign.members or (),
            decided_by=None,
            start_event_id=campaign.since_event,
            end_event_id=campaign.until_event,
        )


# -- findings ---------------------------------------------------------------------------------------------------


def _findings(group: Group) -> Iterator[Finding]:
    split = list(leadership.same_term(group, "term"))
    double = list(_double_votes(group, split))
    yield from split
    yield from double
    yield from _terms_that_went_back(group, double)
    yield from _violations(group)
    yield from _kept_roles(group)
    yield from _overlap_findings(group)


def _last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """When members heard of a leader for the last time, by their own timeouts."""
    for fact in group.of(facts.LAST_HEARD):
        if fact.node is not None:
            yield fact.node, since(fact)
    before: dict[str, Fact] = {}
    for role in group.roles:
        last = before.get(role.source_node)
        if role.cause == "leader_lost" and last is not None and last.peer is not None:
            yield last.peer, since(role)
        before[role.source_node] = role


def _unplanned(group: Group) -> list[Moment]:
    """Elections after the first leader that nobody asked for."""
    ordered = sorted(group.tenures, key=lambda t: t.begin)
    return [
        tenure.begin
        for before, tenure in pairwise(ordered)
        if not _transferred(group, tenure) and before.end_cause != "stopped"
    ]


def _overlap_findings(group: Group) -> Iterator[Finding]:
    """``SPLIT_BRAIN_OVERLAP``: definite overlaps of tenures of different terms."""
    for overlap in leadership.overlaps(group):
        if overlap.stale.term != overlap.newer.term and overlap.least > 0:
            yield _overlap_finding(group, overlap)


def _overlap_finding(group: Group, overlap: Overlap) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    commit = _commit_after(group, overlap)
    if commit is not None:
        severity = CRITICAL
        why = (
            f"{stale.name} committed entries {commit.start_offset} to {commit.end_offset} "
            f"after {newer.name} had been elected"
        )
    elif overlap.frozen:
        severity, why = INFO, f"{stale.name} was frozen meanwhile and committed nothing"
    else:
        severity, why = INFO, f"{stale.name} had lost its quorum and committed nothing"
    old = stale.with_detail(f"term {stale.term}, stale")
    new = newer.with_detail(f"term {newer.term}")
    evidence = (*stale.evidence, *newer.evidence, *((commit.since_event,) if commit else ()))
    return group.finding(
        "SPLIT_BRAIN_OVERLAP",
        (stale.node, stale.term, newer.term, stale.begin.at),
        severity=severity,
        certainty=DEFINITE,
        nodes=(stale.node, newer.node),
        terms=(stale.term, newer.term),
        start_time=newer.begin.at,
        end_time=stale.end.at,
        summary=f"{old} and {new} both called themselves leader for {between(overlap.least, overlap.most)}; {why}.",
        evidence=tuple(dict.fromkeys(e for e in evidence if e)),
        overlap_min_ms=overlap.least // 1000,
        overlap_max_ms=overlap.most // 1000,
        messages_lost=None,
    )


def _commit_after(group: Group, overlap: Overlap) -> Fact | None:
    """The growth of the stale leader's commit index that certainly came after the newer election."""
    for progress in group.of(facts.COMMITTED):
        if progress.source_node != overlap.stale.source or progress.term != overlap.stale.term:
            continue
        if group.clocks.elapsed(overlap.newer.begin, _after(progress))[0] > 0:
            return progress
    return None


def _after(progress: Fact) -> Moment:
    """The earliest moment of a growth: everything after the status line that still showed the old index."""
    return Moment(progress.since, progress.since, progress.source_node, progress.since_event)


def _double_votes(group: Group, split: list[Finding]) -> Iterator[Finding]:
    """``DOUBLE_VOTE``: one voter granted one term to two candidates, as both of them heard it.

    A vote is written to file before it is answered (``MemberState#persistTerm``), so this needs lost state.
    """
    granted: dict[tuple[str, int], dict[str, Fact]] = {}
    for grant in group.of(facts.GRANT):
        if grant.peer is not None and grant.term is not None and grant.node is not None:
            granted.setdefault((grant.peer, grant.term), {}).setdefault(grant.node, grant)
    for (voter, term), by_candidate in sorted(granted.items()):
        if len(by_candidate) < 2:
            continue
        candidates = sorted(by_candidate)
        votes = [by_candidate[candidate] for candidate in candidates]
        implied = next((f.finding_id for f in split if term in f.terms), None)
        yield _finding(
            group,
            "DOUBLE_VOTE",
            (voter, term),
            severity=CRITICAL,
            nodes=(voter, *candidates),
            terms=(term,),
            start=min(vote.since for vote in votes),
            end=max(vote.since for vote in votes),
            summary=f"{voter} voted in term {term} for {' and for '.join(candidates)}.",
            evidence=[vote.since_event for vote in votes],
            implied_by=implied,
        )


def _terms_that_went_back(group: Group, double: list[Finding]) -> Iterator[Finding]:
    """``TERM_REGRESSION``: a node's own term went back, so its file ``currterm`` was lost or replaced."""
    for fact in group.of(facts.TERM_WENT_BACK):
        name = fact.node or fact.source_node
        implied = next((f.finding_id for f in double if f.nodes[0] == name), None)
        yield _finding(
            group,
            "TERM_REGRESSION",
            (name, fact.term, fact.since),
            severity=WARNING,
            nodes=(name,),
            terms=tuple(term for term in (fact.end_offset, fact.term) if term is not None),
            start=fact.since,
            end=fact.since,
            summary=f"{name} had reached term {fact.end_offset} and was in term {fact.term} afterwards: it may vote "
            "again in terms in which it has voted.",
            evidence=[fact.since_event],
            implied_by=implied,
        )


_BROKEN = {
    "LEADER_WITHOUT_QUORUM": "called its round of term {term} passed with {granted} of {needed} votes",
    "WRONG_ROUND_RESULT": "asked again at once in term {term} although {granted} votes and {count} voters that were "
    "not ready make no quorum of {needed}",
    "WRONG_VOTE_RESULT": "was answered {result} by {peer} in term {term}, which the rules of voting do not allow",
    "HEARTBEAT_RULE": "gave its leader up before two heartbeat intervals without a heartbeat had passed",
}


def _violations(group: Group) -> Iterator[Finding]:
    """Rules that a single line of a node breaks."""
    for fact in group.of(facts.VIOLATION):
        rule, name = fact.cause or "", fact.node or fact.source_node
        what = _BROKEN[rule].format(
            term=fact.term,
            granted=fact.granted,
            needed=fact.needed,
            count=fact.count,
            result=fact.result,
            peer=fact.peer,
        )
        yield _finding(
            group,
            rule,
            (name, fact.since_event),
            severity=CRITICAL if rule == "LEADER_WITHOUT_QUORUM" else WARNING,
            nodes=(name,),
            terms=(fact.term,) if fact.term is not None else (),
            start=fact.since,
            end=fact.since,
            summary=f"{name} {what}.",
            evidence=[fact.since_event],
        )


def _kept_roles(group: Group) -> Iterator[Finding]:
    """``LEADER_KEPT_WITHOUT_QUORUM``: the longest time for each leader and term."""
    longest: dict[tuple[str, int | None], Fact] = {}
    for fact in group.of(facts.KEPT_ROLE):
        key = (fact.node or fact.source_node, fact.term)
        if key not in longest or (fact.granted or 0) > (longest[key].granted or 0):
            longest[key] = fact
    for (name, term), fact in sorted(longest.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        yield _finding(
            group,
            "LEADER_KEPT_WITHOUT_QUORUM",
            (name, term),
            severity=WARNING,
            nodes=(name,),
            terms=(term,) if term is not None else (),
            start=fact.since - (fact.granted or 0) * 1000,
            end=fact.since,
            summary=f"{name} stayed leader of term {term} for {seconds((fact.granted or 0) * 1000)} without a quorum "
            f"of heartbeats, over {fact.count} rounds; it has to give up after 6 s.",
            evidence=[fact.since_event],
            certainty=DEFINITE,
        )


def _finding(
    group: Group,
    rule: str,
    what: tuple[object, ...],
    *,
    severity: str,
    nodes: tuple[str, ...],
    terms: tuple[int, ...],
    start: int,
    end: int,
    summary: str,
    evidence: list[str | None],
    certainty: str = PROVEN,
    implied_by: str | None = None,
) -> Finding:
    return group.finding(
        rule,
        what,
        severity=severity,
        certainty=certainty,
        nodes=nodes,
        terms=terms,
        start_time=start,
        end_time=end,
        summary=summary,
        evidence=tuple(dict.fromkeys(e for e in evidence if e)),
        implied_by=implied_by,
    )


# -- coverage --------------------------------------------------------------------------------------------------


def _coverage(group: Group) -> Iterator[RuleCoverage]:
    by_term: dict[int, set[str]] = {}
    for tenure in group.tenures:
        by_term.setdefault(tenure.term, set()).add(tenure.source)
    double = sum(1 for sources in by_term.values() if len(sources) > 1)
    yield coverage(group, "SPLIT_BRAIN_SAME_TERM", len(by_term) - double, double)
    yield from _checked(group)
    voters = {(grant.peer, grant.term) for grant in group.of(facts.GRANT)}
    doubled = sum(1 for _ in _double_votes(group, []))
    yield coverage(group, "DOUBLE_VOTE", len(voters) - doubled, doubled)
    yield coverage(
        group, "STALE_LOG_VOTE", 0, 0, len(voters), "the ledger ends that candidate and voter compared are not printed"
    )
    yield leadership.overlap_coverage(group, lambda overlap: _commit_after(group, overlap) is not None)


def _checked(group: Group) -> Iterator[RuleCoverage]:
    """Coverage of the rules that each node's own lines decide, over all nodes."""
    tallies: dict[str, Counter[str]] = {}
    reasons: dict[str, set[str]] = {}
    for fact in group.of(facts.CHECKED):
        rule = fact.cause or ""
        tallies.setdefault(rule, Counter())[fact.result or ""] += fact.count or 0
        if fact.value:
            reasons.setdefault(rule, set()).add(fact.value)
    for rule, tally in sorted(tallies.items()):
        why = "; ".join(sorted(reasons.get(rule, set()))) or None
        yield coverage(group, rule, tally["conforms"], tally["violates"], tally["undecidable"], why)
