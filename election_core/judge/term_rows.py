"""Terms and elections as rows, for every protocol whose leaders are elected for a term, an epoch or an election.

campaigns     [n0, term 2: no winner]   [n1, term 3: won]
tenures                                 [===== n1 leads term 3 =====]
terms         [term 2: no leader]       [term 3: n1, and why its election began]
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence, Set
from operator import attrgetter

from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, PREFERRED, SEEN, TRANSFER
from election_replay.election_core.judge.fates import QUORUM_LOST, TOPPLED, with_former
from election_replay.election_core.judge.group import Group, Tenure, since
from election_replay.election_core.judge.led_between import cause_of
from election_replay.election_core.judge.role_rows import terms_by_hearsay
from election_replay.election_core.model.catalogue import PROVEN
from election_replay.election_core.model.facts import Candidacy, Role
from election_replay.election_core.model.rows import Election, Term
from election_replay.election_core.model.timing import Timeout

_FIRST_TERM = {"partition": 0}
"""The first term of a protocol, where it is not 1: a partition's leader epochs begin at 0."""

_HAD_LEADER = frozenset({"leader_lost", "heartbeat_timeout"})
"""Begin causes of roles that show that the member had followed a leader in that term."""


def terms(group: Group) -> Iterator[Term]:
    """Yield one row for each leader of each term, and one for each term that had campaigns but no leader."""
    yield from with_former(group, _terms(group))


def _terms(group: Group) -> Iterator[Term]:
    """Yield the rows of led terms with their causes, of terms known from followers, and of terms without a leader."""
    led: dict[tuple[int, str], list[Tenure]] = {}
    campaigns: dict[tuple[str | None, int | None], list[Candidacy]] = {}
    for campaign in group.of(Candidacy):
        if campaign.cause:
            campaigns.setdefault((campaign.node, campaign.term), []).append(campaign)
    by_transfer = transfers(group)
    for tenure in group.tenures:
        led.setdefault((tenure.term, tenure.node), []).append(tenure)
    in_terms = sorted(group.tenures, key=lambda tenure: (tenure.term, tenure.begin))
    by_hearsay = list(terms_by_hearsay(group, {term for term, _ in led}))
    heard_of = {
        role.term
        for role in group.roles
        if role.term is not None and (role.leader is not None or role.cause in _HAD_LEADER)
    }
    unled = _unled(group, heard_of)
    for (term, leader), tenures in sorted(led.items()):
        first = min(tenures, key=lambda tenure: tenure.begin)
        last = _last_before(group, first, in_terms)
        before = range(_FIRST_TERM.get(group.protocol, 1), term)
        first_here = last is None and cause_of(group, first) != SEEN
        if first_here and unled.issuperset(before) and not any(known < term for known in heard_of):
            cause = "first_leader"
        else:
            cause = _cause(group, first, last, by_transfer, campaigns.get((leader, term), []))
        yield term_held(group, term, leader, tenures, cause)
    yield from by_hearsay
    yield from terms_without_leader(group, {term for term, _ in led} | {row.term for row in by_hearsay})


def term_held(group: Group, term: int, leader: str, tenures: Sequence[Tenure], cause: str | None) -> Term:
    """Return the row of a term that a leader held, in one tenure or in several."""
    first = min(tenures, key=lambda tenure: tenure.begin)
    last = max(tenures, key=lambda tenure: (tenure.open, tenure.end))
    return Term(
        **group.names,
        term=term,
        leader=leader,
        start_time=first.begin.at,
        end_time=None if last.open else last.end.at,
        cause=cause,
        certainty=PROVEN,
        start_event_id=first.begin.event_id,
        end_event_id=last.end.event_id,
    )


def terms_without_leader(group: Group, led: set[int]) -> Iterator[Term]:
    """Yield one row for each term that had campaigns and is not among the ``led`` ones."""
    lost: dict[int, list[Candidacy]] = {}
    for campaign in group.of(Candidacy):
        if campaign.term is not None and campaign.term not in led:
            lost.setdefault(campaign.term, []).append(campaign)
    for term, campaigns in sorted(lost.items()):
        yield Term(
            **group.names,
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


def _last_before(group: Group, tenure: Tenure, in_terms: Sequence[Tenure]) -> Tenure | None:
    """Return the tenure before another one, or ``None``: by term, and by clocks only within one term."""
    in_term = slice(
        bisect_left(in_terms, tenure.term, key=attrgetter("term")),
        bisect_right(in_terms, tenure.term, key=attrgetter("term")),
    )
    of_term = [other for other in in_terms[in_term] if group.clocks.surely_before(other.begin, tenure.begin)]
    of_smaller = in_terms[: in_term.start]
    return next((found[-1] for found in (of_term, of_smaller) if found), None)


def _unled(group: Group, heard_of: Set[int]) -> set[int]:
    """Return the terms known to have had no leader: terms of failed campaigns, and the first term if a member started
    in it. Any other term may have had a leader whose log is missing; ``heard_of`` are terms in which members knew of
    one."""
    first = _FIRST_TERM.get(group.protocol, 1)
    terms = {role.term for role in group.roles if role.cause == "start" and (role.term or 0) <= first}
    if group.protocol == "raft":  # not DLedger: its first round of votes has the term of the leader that it lost
        terms |= {campaign.term for campaign in group.of(Candidacy) if campaign.outcome != "won"}
        terms.add(1)  # etcd writes its first members to the log in term 1, without a leader
    return {term for term in terms - heard_of if term is not None}


def _cause(
    group: Group,
    tenure: Tenure,
    last: Tenure | None,
    by_transfer: Set[str | None],
    campaigns: Sequence[Candidacy],
) -> str:
    """Return why the election of a tenure began; ``last`` is the tenure before it. ``campaigns`` are those of its
    leader in its term. One node may lead a term several times: only campaigns up to the beginning of this tenure
    count."""
    handed_over = last is not None and last.end_cause == TRANSFER and last.term + 1 >= tenure.term
    if tenure.begin.event_id in by_transfer or handed_over:
        return PREFERRED if last is not None and last.end_cause == PREFERRED else TRANSFER
    begun = [campaign for campaign in campaigns if campaign.since <= tenure.begin.by and _led_to(campaign, tenure)]
    if begun and (cause := max(begun, key=lambda campaign: campaign.since).cause):
        return "unknown" if cause in ("election_timeout", QUORUM_LOST) and _begins_the_log(group, begun) else cause
    roles = group.roles_of(tenure.source, tenure.begin.at)
    before = next((role for role in reversed(roles) if role.role == CANDIDATE and _led_to(role, tenure)), None)
    if before is None or (before.cause == TOPPLED and before.term == tenure.term):
        return "unknown"  # it heard of a larger term than the one that it led
    if before.cause == QUORUM_LOST and before.term == tenure.term and before is roles[0]:
        return "unknown"  # it had led the term before its log begins
    if before.cause == "start" and _may_have_followed(group, before, last):
        return "unknown"  # its log does not show why it looked for a leader again
    if before.cause == "start" and _followed_earlier(group, tenure, before):
        return "unknown"  # it led the term already, before its log begins
    return "unknown" if before.cause in (None, SEEN) else before.cause


def _begins_the_log(group: Group, campaigns: Sequence[Candidacy]) -> bool:
    """Return True when a log begins with its member's campaign: a missing line may have asked for it."""
    first = min(campaigns, key=lambda campaign: campaign.since)
    begun = group.begun.get(first.source_node)
    return begun is not None and first.since <= begun.by


def _led_to(asked: Candidacy | Role, tenure: Tenure) -> bool:
    """Return True when a campaign or candidate's role precedes the tenure: one second may hold both."""
    return asked.until_event == tenure.begin.event_id or asked.since < tenure.end.at


def _may_have_followed(group: Group, start: Role, last: Tenure | None) -> bool:
    """Return True when a member may have followed a leader since its start. Either the ``last`` leader surely led on
    then, or the file in which the member logs its roles begins later."""
    begun, elapsed = group.begun.get(start.source_node), group.clocks.elapsed
    if last is not None and elapsed(since(start), last.end)[0] > 0:
        return True
    return begun is not None and elapsed(since(start), begun)[0] > Timeout.MAX_INFO_GAP.us


def _followed_earlier(group: Group, tenure: Tenure, start: Role) -> bool:
    """Return True when a member followed the leader of a tenure, in its term, before the ``start`` that led to it."""
    of_it = (role for role in group.roles if (role.term, role.leader) == (tenure.term, tenure.node))
    return any(group.clocks.surely_before(since(role), since(start)) for role in of_it if role.role == FOLLOWER)


def transfers(group: Group) -> frozenset[str | None]:
    """Return the ids of the events by which a node took over by a leadership transfer."""
    return frozenset(role.since_event for role in group.roles if role.cause == TRANSFER)


def elections(group: Group) -> Iterator[Election]:
    """Yield one row for each campaign: the rounds of one candidate in one term."""
    led: dict[tuple[str | None, int | None, str | None], Tenure] = {
        (tenure.node, tenure.term, tenure.begin.event_id): tenure for tenure in group.tenures
    }
    for campaign in group.of(Candidacy):
        tenure = led.get((campaign.node, campaign.term, campaign.until_event))
        known = group.electorates.needed(tenure) if tenure is not None and campaign.granted else None
        yield Election(
            **group.names,
            term=campaign.term,
            candidate=campaign.node,
            start_time=campaign.since,
            end_time=_end(campaign),
            outcome=campaign.outcome,
            rounds=campaign.rounds,
            votes_granted=campaign.granted,
            votes_needed=known if campaign.needed is None else campaign.needed,
            voters=campaign.voters,
            start_event_id=campaign.since_event,
            end_event_id=campaign.until_event,
        )
