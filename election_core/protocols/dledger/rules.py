"""What the facts of a DLedger group must satisfy.

A leader without quorum keeps its role for 6 to about 10 s and cannot commit meanwhile: two leaders of different
terms at once are normal behaviour (``DLedgerLeaderElector#sendHeartbeats``, maxHeartBeatLeak) and become an alarm
only when the older one commits. Two leaders of one term never are; one node leading one term twice always is fine.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from itertools import combinations, pairwise

from election_core.fold.roles import CANDIDATE, FOLLOWER
from election_core.judge.availability import availability
from election_core.judge.clock import Clocks, Moment
from election_core.judge.coverage import coverage, summed, tallies_of
from election_core.judge.group import Group, Tenure, group_of, since
from election_core.judge.overlap import Overlap, overlap_coverage, overlaps
from election_core.judge.quorum_contact import Majorities
from election_core.judge.role_rows import role_intervals, terms_by_hearsay
from election_core.judge.same_term import same_term
from election_core.judge.wording import between, seconds
from election_core.model.catalogue import CRITICAL, DEFINITE, INFO, PROVEN, WARNING, RuleId
from election_core.model.facts import (
    Alive,
    Candidacy,
    Committed,
    ContactLost,
    Fact,
    LastHeard,
    LineBrokeRule,
    Role,
    RuleChecked,
    TermWentBack,
    VoteGranted,
)
from election_core.model.rows import Election, Finding, Row, RuleCoverage, Term
from election_core.protocols.dledger import votes
from election_core.protocols.dledger.facts import LeaderKeptRole, StrangerMet, TwoLeaders, VotingRuleBroken
from election_core.protocols.dledger.log import (
    NOT_A_MEMBER,
    OWN_ID_ELSEWHERE,
    PREFERRED,
    PROTOCOL,
    TRANSFER,
    UNKNOWN_TO_A_MEMBER,
)
from election_core.protocols.dledger.losses import losses

__all__ = ["PROTOCOL", "judge", "last_heard", "overlap_findings", "raft_rows"]


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one DLedger group."""
    group = group_of(own, clocks)
    yield from raft_rows(group, voting_rules_broken(group))
    yield from losses(group)
    yield from _strangers(group)
    yield _members_coverage(group)


def raft_rows(group: Group, broken: Iterable[tuple[LineBrokeRule, str]]) -> Iterator[Row]:
    """The rows of a group whose members vote for a leader of a term.

    ``broken`` are the lines that break a rule, each with how, for a sentence.
    """
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    yield from _findings(group, broken)
    majorities = Majorities(group)
    yield from availability(group, last_heard(group), _unplanned(group), "leader", "term", majorities=majorities)
    yield from _coverage(group)


# -- rows ------------------------------------------------------------------------------------------------------


def terms(group: Group) -> Iterator[Term]:
    """One row for each leader of each term, and one for each term that had rounds but no leader."""
    led: dict[tuple[int, str], list[Tenure]] = {}
    won = {(campaign.node, campaign.term): campaign.cause for campaign in group.of(Candidacy) if campaign.cause}
    transfers = _transfers(group)
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
            cause=_cause(group, first, transfers, won),
            certainty=PROVEN,
            start_event_id=first.begin.event_id,
            end_event_id=last.end.event_id,
        )
    by_hearsay = list(terms_by_hearsay(group, {term for term, _ in led}))
    yield from by_hearsay
    yield from _terms_without_leader(group, {term for term, _ in led} | {row.term for row in by_hearsay})


def _terms_without_leader(group: Group, led: set[int]) -> Iterator[Term]:
    lost: dict[int, list[Candidacy]] = {}
    for campaign in group.of(Candidacy):
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
            end_time=max(_end(campaign) for campaign in campaigns),
            cause=campaigns[0].cause,
            certainty=PROVEN,
            start_event_id=campaigns[0].since_event,
            end_event_id=None,
        )


def _end(campaign: Candidacy) -> int:
    return campaign.since if campaign.until is None else campaign.until


def _cause(
    group: Group, tenure: Tenure, transfers: Set[str | None], won: Mapping[tuple[str | None, int | None], str | None]
) -> str:
    """Why the election of a tenure began; ``won`` are the causes of campaigns, by candidate and term."""
    if not any(other.begin < tenure.begin for other in group.tenures):
        return "first_leader"
    if tenure.begin.event_id in transfers:
        last = next(other for other in reversed(group.tenures) if other.begin < tenure.begin)
        return PREFERRED if last.end_cause == PREFERRED else TRANSFER
    if cause := won.get((tenure.node, tenure.term)):
        return cause
    own = group.roles_of(tenure.source, tenure.begin.at)
    before = next((role for role in reversed(own) if role.role == CANDIDATE), None)
    return before.cause or "unknown" if before else "unknown"


def _transfers(group: Group) -> frozenset[str | None]:
    """The events by which a node took over by a leadership transfer."""
    return frozenset(role.since_event for role in group.roles if role.cause == TRANSFER)


def elections(group: Group) -> Iterator[Election]:
    """One row for each campaign: the rounds of one candidate in one term."""
    for campaign in group.of(Candidacy):
        yield Election(
            cluster=group.cluster,
            replica_group=group.replica_group,
            protocol=group.protocol,
            term=campaign.term or 0,
            candidate=campaign.node,
            start_time=campaign.since,
            end_time=_end(campaign),
            outcome=campaign.outcome,
            rounds=campaign.rounds,
            votes_granted=campaign.granted,
            votes_needed=campaign.needed,
            voters=campaign.voters,
            decided_by=None,
            start_event_id=campaign.since_event,
            end_event_id=campaign.until_event,
        )


# -- findings ---------------------------------------------------------------------------------------------------


def _findings(group: Group, broken: Iterable[tuple[LineBrokeRule, str]]) -> Iterator[Finding]:
    split = [*same_term(group, "term"), *_split_by_word_of_others(group)]
    double = list(votes.double_votes(group, split))
    back = list(_terms_that_went_back(group, double))
    yield from split
    yield from double
    yield from back
    yield from votes.expired_grants(group, back)
    yield from votes.denied_votes(group, back)
    yield from _violations(group, broken)
    yield from _kept_roles(group)
    yield from overlap_findings(group)


@dataclass(frozen=True, slots=True)
class _Word:
    """What proves that a node led a term: its own word, or that of members that heard its heartbeat."""

    own: bool
    moment: Moment
    evidence: tuple[str, ...]


def _leaders_by_word(group: Group) -> dict[int, dict[str, _Word]]:
    """``term -> leader -> word``. Only a leader of a term sends heartbeats of it (``maintainAsLeader``).

    A heartbeat may come late, when its sender leads no more: it proves that the sender led the term, not when.
    """
    led: dict[int, dict[str, _Word]] = {}
    for tenure in group.tenures:
        led.setdefault(tenure.term, {}).setdefault(tenure.node, _Word(True, tenure.begin, tenure.evidence))
    for role in group.roles:
        if role.term is not None and role.leader is not None and (role.role, role.cause) == (FOLLOWER, "heartbeat"):
            led.setdefault(role.term, {}).setdefault(role.leader, _heard(role))
    for meeting in group.of(TwoLeaders):
        for leader in (meeting.other, meeting.known):
            if leader is not None:
                led.setdefault(meeting.term, {}).setdefault(leader, _heard(meeting))
    return led


def _heard(fact: Fact) -> _Word:
    return _Word(False, since(fact), (fact.since_event,) if fact.since_event else ())


def _split_by_word_of_others(group: Group) -> Iterator[Finding]:
    """``SPLIT_BRAIN_SAME_TERM`` where the own log of one of the leaders is missing or lacks the line."""
    for term, leaders in sorted(_leaders_by_word(group).items()):
        for one, other in combinations(sorted(leaders), 2):
            words = leaders[one], leaders[other]
            if not all(word.own for word in words):
                yield _split_heard(group, term, (one, other), words)
        if len(leaders) == 1:
            yield from _split_denied(group, term, next(iter(leaders)))


def _split_heard(group: Group, term: int, names: tuple[str, str], words: tuple[_Word, _Word]) -> Finding:
    heard = " and ".join(name for name, word in zip(names, words, strict=True) if not word.own)
    return group.finding(
        RuleId.SPLIT_BRAIN_SAME_TERM,
        (term, *names),
        severity=CRITICAL,
        nodes=names,
        terms=(term,),
        start_time=min(word.moment.at for word in words),
        end_time=max(word.moment.at for word in words),
        summary=f"{names[0]} and {names[1]} both led term {term}: members heard the heartbeats of {heard}, which only "
        "a leader sends. Whether both led at the same moment these lines do not tell.",
        evidence=[event for word in words for event in word.evidence],
    )


def _split_denied(group: Group, term: int, leader: str) -> Iterator[Finding]:
    """A member answered a leader's heartbeat with INCONSISTENT_LEADER: it knows another leader of the same term."""
    denied = [f for f in group.of(TwoLeaders) if f.term == term and f.other is None]
    if denied:
        yield group.finding(
            RuleId.SPLIT_BRAIN_SAME_TERM,
            (term, leader),
            severity=CRITICAL,
            nodes=(leader,),
            terms=(term,),
            start_time=denied[0].since,
            end_time=denied[-1].since,
            summary=f"{leader} led term {term}, and a member refused its heartbeat because it knew another leader of "
            "that term, whom no log names.",
            evidence=[fact.since_event for fact in denied],
        )


def last_heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """When members heard of a leader for the last time, by their own timeouts or by its end of a connection."""
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
    """Elections after the first leader that nobody asked for."""
    ordered, transfers = sorted(group.tenures, key=lambda t: t.begin), _transfers(group)
    return [
        tenure.begin
        for before, tenure in pairwise(ordered)
        if tenure.begin.event_id not in transfers and before.end_cause != "stopped"
    ]


def overlap_findings(group: Group, clock: str = "term") -> Iterator[Finding]:
    """``SPLIT_BRAIN_OVERLAP``: definite overlaps of tenures of different terms. ``clock``: "term" or "epoch"."""
    for overlap in overlaps(group):
        if overlap.stale.term != overlap.newer.term and overlap.least > 0:
            yield _overlap_finding(group, overlap, clock)


def _overlap_finding(group: Group, overlap: Overlap, clock: str) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    commit = _commit_after(group, overlap)
    if commit is not None:
        severity = CRITICAL
        why = (
            f"{stale.name} committed entries {commit.from_index} to {commit.to_index} "
            f"after {newer.name} had been elected"
        )
    elif overlap.frozen:
        severity, why = INFO, f"{stale.name} was frozen meanwhile and committed nothing"
    else:
        severity, why = INFO, f"{stale.name} had lost its quorum and committed nothing"
    old = stale.with_detail(f"{clock} {stale.term}, stale")
    new = newer.with_detail(f"{clock} {newer.term}")
    evidence = (*stale.evidence, *newer.evidence, *((commit.since_event,) if commit else ()))
    return group.finding(
        RuleId.SPLIT_BRAIN_OVERLAP,
        (stale.node, stale.term, newer.term, stale.begin.at),
        severity=severity,
        certainty=DEFINITE,
        nodes=(stale.node, newer.node),
        terms=(stale.term, newer.term),
        start_time=group.time(newer.begin),
        end_time=group.time(stale.end),
        summary=f"{old} and {new} both called themselves leader for {between(overlap.least, overlap.most)}; {why}.",
        evidence=tuple(dict.fromkeys(e for e in evidence if e)),
        overlap_min_ms=overlap.least // 1000,
        overlap_max_ms=overlap.most // 1000,
        messages_lost=None,
    )


def _commit_after(group: Group, overlap: Overlap) -> Committed | None:
    """The growth of the stale leader's commit index that certainly came after the newer election."""
    for progress in group.of(Committed):
        if progress.source_node != overlap.stale.source or progress.term != overlap.stale.term:
            continue
        if group.clocks.elapsed(overlap.newer.begin, _after(progress))[0] > 0:
            return progress
    return None


def _after(progress: Committed) -> Moment:
    """The earliest moment of a growth: everything after the status line that still showed the old index."""
    return Moment(progress.since, progress.since, progress.source_node, progress.since_event)


def _terms_that_went_back(group: Group, double: list[Finding]) -> Iterator[Finding]:
    """``TERM_REGRESSION``: a node's own term went back, so its file ``currterm`` was lost or replaced."""
    for fact in group.of(TermWentBack):
        name = fact.node or fact.source_node
        implied = next((f.finding_id for f in double if f.nodes[0] == name), None)
        yield group.finding(
            RuleId.TERM_REGRESSION,
            (name, fact.after, fact.since),
            severity=WARNING,
            nodes=(name,),
            terms=(fact.before, fact.after),
            start_time=fact.since,
            end_time=fact.since,
            summary=f"{name} had reached term {fact.before} and was in term {fact.after} afterwards: it may vote "
            "again in terms in which it has voted.",
            evidence=[fact.since_event],
            implied_by=implied,
        )


_STRANGE = {
    NOT_A_MEMBER: "was asked by {peer}, which is not in its list of members",
    UNKNOWN_TO_A_MEMBER: "was told by {peer} that it is not in its list of members",
    OWN_ID_ELSEWHERE: "got a request that bears its own id, which another process has too",
}


def _strangers(group: Group) -> Iterator[Finding]:
    """``MEMBERS_DISAGREE``, once for each node: the first stands for one cause, the others are implied by it."""
    met: dict[str, list[StrangerMet]] = {}
    for fact in group.of(StrangerMet):
        met.setdefault(fact.node or fact.source_node, []).append(fact)
    first: Finding | None = None
    for name, strange in sorted(met.items()):
        what = "; ".join(_STRANGE[fact.why].format(peer=fact.peer) for fact in strange)
        found = group.finding(
            RuleId.MEMBERS_DISAGREE,
            (name,),
            severity=WARNING,
            nodes=tuple(dict.fromkeys((name, *(fact.peer for fact in strange if fact.peer)))),
            terms=(),
            start_time=strange[0].since,
            end_time=strange[-1].since,
            summary=f"{name} {what}. Members with different lists may count two majorities.",
            evidence=[fact.since_event for fact in strange],
            implied_by=first.finding_id if first else None,
        )
        first = first or found
        yield found


_BROKEN = {
    RuleId.LEADER_WITHOUT_QUORUM: "called its round of term {term} passed with {granted} of {needed} votes",
    RuleId.WRONG_VOTE_RESULT: "was answered {answer} by {peer} in term {term}, which the rules of voting do not allow",
    RuleId.HEARTBEAT_RULE: "gave its leader up before two heartbeat intervals without a heartbeat had passed",
    RuleId.TRANSFER_RULE: "ended a transfer of leadership in term {term} (asked in term {term_before}) with an answer "
    "that does not follow from role and term",
    "DLB_ROLE_END": "followed its member's change to {role} in term {term} with a store of another role",
    "DLB_SLAVE_BEGIN": "became slave with another broker id than the one after its member's number",
    "PASSED": "called its round of term {term} passed, which does not follow from its answers",
    "REVOTE_IMMEDIATELY": "asked again at once in term {term}, with {granted} votes and {not_ready} voters that were "
    "not ready of the {needed} that it needs, or with too few answers that count",
    "WAIT_TO_VOTE_NEXT": "went on to the term after {term}, although too few answers counted for that",
    "WAIT_TO_REVOTE": "held to term {term}, although enough answers counted and nobody had a leader",
    "DL_TERM_UP": "raised its term from {term_before} to {term}, not to the largest that it had heard of",
    "DL_VOTE_PARSED": "held one more round in term {term} after a round in which nobody could win",
    "DL_TO_CANDIDATE": "became candidate of term {term_before} in the larger term {term}",
    "DL_TO_CANDIDATE_SKIPPED": "did not become candidate of term {term_before} in term {term}",
    "DL_TO_LEADER": "became leader of term {term_before} in term {term}",
    "DL_TO_LEADER_SKIPPED": "did not become leader of term {term_before} in term {term}",
    "DL_TO_FOLLOWER": "followed a leader of term {term_before} in term {term}",
}
"""What a line does wrong: by its rule, else by the result that it says, else by the kind of line."""


def _broken(fact: VotingRuleBroken) -> str:
    by_line = fact.answer if fact.rule == RuleId.WRONG_ROUND_RESULT else fact.line
    words = _BROKEN.get(fact.rule) or _BROKEN.get(by_line) or "broke the rule {rule}"
    return words.format(
        rule=fact.rule,
        term=fact.term,
        term_before=fact.term_before,
        role=fact.role,
        granted=fact.granted,
        needed=fact.needed,
        not_ready=fact.not_ready,
        answer=fact.answer,
        peer=fact.peer,
    )


_CRITICAL = frozenset({RuleId.LEADER_WITHOUT_QUORUM, RuleId.STALE_LOG_VOTE, RuleId.COMMITTED_ENTRY_LOST})
"""Rules whose breach makes two leaders, or loses what was committed."""


def voting_rules_broken(group: Group) -> Iterator[tuple[LineBrokeRule, str]]:
    """Lines that break a rule of DLedger, each with how, for a sentence."""
    return ((fact, _broken(fact)) for fact in group.of(VotingRuleBroken))


def _violations(group: Group, broken: Iterable[tuple[LineBrokeRule, str]]) -> Iterator[Finding]:
    """Rules that a single line of a node breaks."""
    for fact, how in broken:
        name = fact.node or fact.source_node
        yield group.finding(
            RuleId(fact.rule),
            (name, fact.since_event),
            severity=CRITICAL if fact.rule in _CRITICAL else WARNING,
            nodes=(name,),
            terms=(fact.term,) if fact.term is not None else (),
            start_time=fact.since,
            end_time=fact.since,
            summary=f"{name} {how}.",
            evidence=[fact.since_event],
        )


def _kept_roles(group: Group) -> Iterator[Finding]:
    """``LEADER_KEPT_WITHOUT_QUORUM``: the longest time for each leader and term."""
    longest: dict[tuple[str, int | None], LeaderKeptRole] = {}
    for fact in group.of(LeaderKeptRole):
        key = (fact.node or fact.source_node, fact.term)
        if key not in longest or fact.without_quorum_ms > longest[key].without_quorum_ms:
            longest[key] = fact
    for (name, term), fact in sorted(longest.items(), key=lambda item: (item[0][0], item[0][1] or 0)):
        yield group.finding(
            RuleId.LEADER_KEPT_WITHOUT_QUORUM,
            (name, term),
            severity=WARNING,
            nodes=(name,),
            terms=(term,) if term is not None else (),
            start_time=fact.since - fact.without_quorum_ms * 1000,
            end_time=fact.since,
            summary=f"{name} stayed leader of term {term} for {seconds(fact.without_quorum_ms * 1000)} without a "
            f"quorum of heartbeats, over {fact.rounds} rounds; it has to give up after 6 s.",
            evidence=[fact.since_event],
            certainty=DEFINITE,
        )


# -- coverage --------------------------------------------------------------------------------------------------


def _coverage(group: Group) -> Iterator[RuleCoverage]:
    by_term: dict[int, set[str]] = {}
    for tenure in group.tenures:
        by_term.setdefault(tenure.term, set()).add(tenure.source)
    split = {term for term, sources in by_term.items() if len(sources) > 1}
    split |= {split_brain.terms[0] for split_brain in _split_by_word_of_others(group)}
    yield coverage(group, RuleId.SPLIT_BRAIN_SAME_TERM, len(by_term.keys() - split), len(split))
    yield from summed(group, [*tallies_of(group), *votes.compared(group)])
    kept = {(found.nodes[0], found.terms) for found in _kept_roles(group)}
    gave_up = {(t.node, (t.term,)) for t in group.tenures if t.end_cause == "quorum_lost"}
    yield coverage(group, RuleId.LEADER_KEPT_WITHOUT_QUORUM, len(gave_up - kept), len(kept))
    back = sum(1 for _ in group.of(TermWentBack))
    in_terms = {role.source_node for role in group.roles if role.term is not None}
    yield coverage(group, RuleId.TERM_REGRESSION, max(len(in_terms) - back, 0), back)
    voters = {(grant.voter, grant.term) for grant in group.of(VoteGranted)}
    doubled = sum(1 for _ in votes.double_votes(group, []))
    yield coverage(group, RuleId.DOUBLE_VOTE, len(voters) - doubled, doubled)
    if not any(fact.rule == RuleId.STALE_LOG_VOTE for fact in group.of(RuleChecked)):
        why = "the ledger ends that candidate and voter compared are not printed"
        yield coverage(group, RuleId.STALE_LOG_VOTE, 0, 0, len(voters), why)
    yield overlap_coverage(group, lambda overlap: _commit_after(group, overlap) is not None)


def _members_coverage(group: Group) -> RuleCoverage:
    strange = {fact.source_node for fact in group.of(StrangerMet)}
    silent = {fact.source_node for fact in group.of(Alive)} - strange
    return coverage(group, RuleId.MEMBERS_DISAGREE, 0, len(strange), len(silent), "lists of members are not printed")
