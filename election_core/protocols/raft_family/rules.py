"""The rules that Raft, DLedger and ZAB share: members vote for one leader of a term, and a majority commits.

A leader that lost its quorum calls itself leader for as long as its time-outs allow, and cannot commit meanwhile: two
leaders of different terms at once are normal, and an alarm only if the older one commits. Two leaders of one term are
never normal.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from election_replay.election_core.fold.roles import DIED
from election_replay.election_core.judge.availability import availability
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.coverage import (
    RuleTally,
    counted,
    coverage,
    regression_coverage,
    same_term_coverage,
    summed,
    tallies_of,
)
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.leaderless import GROUP_SHUTDOWN, PLANNED, Gap, NoIncident
from election_replay.election_core.judge.overlap import overlap_coverage
from election_replay.election_core.judge.quorum_contact import QuorumTracker
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.judge.term_rows import elections, terms, transfers
from election_replay.election_core.judge.wording import name_of, seconds
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, WARNING, RuleId
from election_replay.election_core.model.facts import (
    ContactLost,
    LastHeard,
    Role,
    RuleBroken,
    RuleChecked,
    Serving,
    TermWentBack,
    VoteGranted,
)
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.raft_family import votes
from election_replay.election_core.protocols.raft_family.facts import LeaderKeptRole
from election_replay.election_core.protocols.raft_family.two_leaders import (
    overlap_findings,
    split_by_hearsay,
)


def rows_of(
    group: Group,
    no_incident: NoIncident | None = None,
    tallies: Iterable[RuleTally] = (),
    clock: str = "term",
) -> Iterator[Row]:
    """Yield the rows of a group whose members vote for a leader of a term; ``clock`` is what the system calls a term.

    ``no_incident`` returns True for times without a leader that are no alarm. ``tallies`` count the rules that only one
    protocol judges.
    """
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    found = list(_findings(group, clock))
    yield from found
    yield from availability(
        group, last_heard(group), _unplanned(group), "leader", clock, QuorumTracker(group), no_incident=no_incident
    )
    yield from _coverage(group, found, tallies)


def end_of_all_logs(gap: Gap) -> bool:
    """Return True when a gap lasts to the end of all logs and is short: all members may have ended together. A few lost
    lines decide whether the last of them seem stopped or dead."""
    return gap.after is None and gap.most < GROUP_SHUTDOWN


# -- findings ---------------------------------------------------------------------------------------------------


def _findings(group: Group, clock: str) -> Iterator[Finding]:
    back = list(_terms_that_went_back(group, votes.double_votes(group, []), clock))
    double = list(votes.double_votes(group, back))
    breaches = [
        broke_rule(group, fact, severity=CRITICAL if fact.rule in _CRITICAL else WARNING)
        for fact in group.of(RuleBroken)
    ]
    yield from back
    yield from double
    yield from _two_of_one_term(group, clock, [*double, *breaches])
    yield from votes.expired_grants(group, back)
    yield from votes.denied_votes(group, back)
    yield from breaches
    yield from _kept_roles(group)
    yield from overlap_findings(group, clock)


def _two_of_one_term(group: Group, clock: str, causes: Sequence[Finding] = ()) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_SAME_TERM``, implied by a double vote or a leader without quorum of that term."""
    for split in (*same_term(group, clock), *split_by_hearsay(group)):
        of_term = (cause.finding_id for cause in causes if split.terms[0] in cause.terms and _lets_lead(cause, split))
        yield replace(split, implied_by=next(of_term, None))


def _lets_lead(cause: Finding, split: Finding) -> bool:
    """Return True when a breach concerns the election of one of two leaders: a vote for one, or its own count."""
    leaders = {name.split(" ")[0] for name in split.nodes}
    return cause.severity == CRITICAL and bool(leaders & set(cause.nodes))


def last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (leader, time) of members' last contacts, by their own time-outs or by the leader closing a connection."""
    for fact in group.facts:
        closed = isinstance(fact, ContactLost) and fact.closed
        if fact.node is not None and (closed or isinstance(fact, LastHeard)):
            yield fact.node, since(fact)
    before: dict[str, Role] = {}
    for role in group.roles:
        last = before.get(role.source_node)
        if role.cause == "leader_lost" and last is not None and last.leader is not None:
            yield last.leader, Moment(last.since, max(last.since, role.since_by), role.source_node, role.since_event)
        before[role.source_node] = role


def _unplanned(group: Group) -> list[Moment]:
    """Return the begins of tenures after the first that nobody requested. A death counts only if its source is one of
    those with ``Serving`` facts, if there are any: their files also show who was stopped."""
    ordered, by_transfer = sorted(group.tenures, key=lambda t: t.begin), transfers(group)
    serving = {change.source_node for change in group.of(Serving)} or {before.source for before in ordered}
    return [
        tenure.begin
        for before, tenure in pairwise(ordered)
        if tenure.begin.event_id not in by_transfer
        and before.end_cause not in PLANNED
        and (before.end_cause != DIED or before.source in serving)
    ]


def _terms_that_went_back(group: Group, double: Iterable[Finding], clock: str) -> Iterator[Finding]:
    """Yield ``TERM_REGRESSION``: a node's own term went back, so its file ``currterm`` was lost or replaced. It is
    critical if it led to a second vote in a term that the node had reached before."""
    twice = [(vote.nodes[0], vote.terms[0]) for vote in double]
    for fact in group.of(TermWentBack):
        again = sorted(term for voter, term in twice if voter == fact.who and fact.after <= term <= fact.before)
        then = f", and did in {clock} {again[0]}" if again else ""
        yield went_back(
            group,
            fact,
            clock,
            f"it may vote again in {clock}s in which it has voted{then}",
            CRITICAL if again else WARNING,
        )


def went_back(group: Group, fact: TermWentBack, clock: str, so: str, severity: str = WARNING) -> Finding:
    """Make ``TERM_REGRESSION``: a member was in a smaller term, or ``clock``, than it had reached; ``so``:
    consequence."""
    return group.finding(
        RuleId.TERM_REGRESSION,
        (fact.who, fact.after, fact.since),
        severity=severity,
        nodes=(fact.who,),
        terms=(fact.before, fact.after),
        when=fact.since,
        summary=f"{name_of(fact.who, fact.source_node)} had reached {clock} {fact.before} and was in {clock} "
        f"{fact.after} afterwards: {so}.",
        evidence=[*fact.evidence, fact.since_event],
    )


def broke_rule(group: Group, fact: RuleBroken, *more: object, **columns: Any) -> Finding:
    """Make the finding of a single line that breaks a rule: critical and proven, unless ``columns`` say otherwise.
    ``more`` tells it apart from other findings about that line."""
    common: dict[str, Any] = {
        "severity": CRITICAL,
        "nodes": (fact.who,),
        "terms": (fact.term,),
        "when": fact.since,
        "evidence": [fact.since_event],
    }
    key = (fact.who, *more, fact.since_event)
    return group.finding(RuleId(fact.rule), key, summary=f"{fact.who} {fact.why}.", **common | columns)


_CRITICAL = frozenset({RuleId.LEADER_WITHOUT_QUORUM, RuleId.STALE_LOG_VOTE, RuleId.COMMITTED_ENTRY_LOST})
"""Rules whose breach makes two leaders, or loses committed entries."""


def _kept_roles(group: Group) -> Iterator[Finding]:
    """Yield ``LEADER_KEPT_WITHOUT_QUORUM``: the longest time for each leader and term."""
    longest: dict[tuple[str, int | None], LeaderKeptRole] = {}
    for fact in group.of(LeaderKeptRole):
        key = (fact.who, fact.term)
        if key not in longest or fact.without_quorum_ms > longest[key].without_quorum_ms:
            longest[key] = fact
    for (name, term), fact in sorted(longest.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        yield group.finding(
            RuleId.LEADER_KEPT_WITHOUT_QUORUM,
            (name, term),
            severity=WARNING,
            nodes=(name,),
            terms=(term,),
            when=(fact.since - fact.without_quorum_ms * 1000, fact.since),
            summary=f"{name} stayed leader of term {term} for {seconds(fact.without_quorum_ms * 1000)} without a "
            f"quorum of heartbeats, over {fact.rounds} rounds; it has to give up after 6 s.",
            evidence=[fact.since_event],
            certainty=DEFINITE,
        )


# -- coverage --------------------------------------------------------------------------------------------------


def _coverage(group: Group, found: Sequence[Finding], tallies: Iterable[RuleTally]) -> Iterator[RuleCoverage]:
    yield same_term_coverage(group, found)
    yield from summed(group, [*tallies_of(group), *votes.compared(group), *tallies])
    gave_up = {(t.node, (t.term,)) for t in group.tenures if t.end_cause == "quorum_lost"}
    kept = {(row.nodes[0], row.terms) for row in found if row.rule == RuleId.LEADER_KEPT_WITHOUT_QUORUM}
    yield counted(group, RuleId.LEADER_KEPT_WITHOUT_QUORUM, found, len(gave_up | kept))
    yield regression_coverage(group, RuleId.TERM_REGRESSION)
    voters = {(grant.voter, grant.term) for grant in group.of(VoteGranted)}
    yield counted(group, RuleId.DOUBLE_VOTE, found, len(voters))
    if not any(fact.rule == RuleId.STALE_LOG_VOTE for fact in group.of(RuleChecked)):
        why = "the ledger ends that candidate and voter compared are not printed"
        yield coverage(group, RuleId.STALE_LOG_VOTE, 0, 0, len(voters), why)
    yield overlap_coverage(group, found)
