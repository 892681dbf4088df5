"""The rules of Bully and ring elections: the highest id among the living leads, and nothing fences a former leader.

A node is alive from its start (or first event) to its stop (or last event), and only its own events show that: if a
higher node is silent, it is undecidable whether it was alive.

These algorithms have no terms. If events carry no election number, leaderships are numbered by their begin.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

from election_replay.election_core.fold.roles import DIED, FOLLOWER, HIGHER_NODE, LEADER, STOPPED
from election_replay.election_core.judge.availability import availability
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.coverage import coverage, same_term_coverage
from election_replay.election_core.judge.group import SILENT, Group, Tenure, group_of, since, until
from election_replay.election_core.judge.leaderless import MAX_INFO_GAP
from election_replay.election_core.judge.overlap import Overlap, overlap_coverage, overlap_finding, overlaps
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.judge.term_rows import elections, terms
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, WARNING
from election_replay.election_core.model.facts import Alive, Candidacy, Fact, MessageReceived, MessageSent, Role
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.highest_id.facts import RESULT, LowerLeaderNamed, StillLeads
from election_replay.election_core.protocols.highest_id.id_order import higher, rank
from election_replay.election_core.protocols.highest_id.tables import Algorithm


def judge(algorithm: Algorithm, facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one group whose highest living node leads."""
    group = group_of(_numbered(facts), clocks)
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    found = [*same_term(group, "election"), *_overlaps(group, algorithm)]
    yield from found
    verdicts = [_Verdict(group, win) for win in group.of(Candidacy) if win.outcome == "won"]
    for verdict in verdicts:
        yield from verdict.findings(algorithm)
    yield from _contradicted_by_its_message(group, algorithm)
    yield from availability(group, _missed(group), _unplanned(group), algorithm.leader, "election")
    yield from _coverage(group, algorithm, verdicts, found)


def _numbered(facts: list[Fact]) -> list[Fact]:
    """Number the leaderships that have no number, in the order of their begins; followers get their leader's number. A
    leader that was followed has led, even if no line of its own shows it."""
    if any(isinstance(fact, _WITH_TERMS) and fact.term is not None for fact in facts):
        return facts
    roles = {fact for fact in facts if isinstance(fact, Role)}
    led = [fact for fact in roles if fact.role == LEADER]
    leader_of = dict(_leaders_of(sorted((f for f in roles if f.role == FOLLOWER), key=_begins), led))
    first = {leader: leader for leader in leader_of.values() if leader.role == FOLLOWER}
    ordered = _in_order([*led, *first], roles)
    numbers: dict[Fact, int] = {fact: number for number, fact in enumerate(ordered, 1)}
    numbers |= {fact: numbers[leader] for fact, leader in leader_of.items()}
    ended = {(fact.source_node, fact.since_event): number for fact, number in numbers.items()}
    for fact in facts:
        if isinstance(fact, Candidacy):
            numbers[fact] = ended.get((fact.source_node, fact.until_event), len(ordered) + 1)
    return [replace(fact, term=numbers.get(fact)) if isinstance(fact, Role | Candidacy) else fact for fact in facts]


_WITH_TERMS = (Role, Candidacy, MessageSent, MessageReceived, LowerLeaderNamed)


def _begins(fact: Role) -> tuple[int, str, float, str]:
    """Return the sort key of a role; of several roles taken in one moment, the one that was kept comes last."""
    return fact.since, fact.source_node, inf if fact.until is None else fact.until, fact.since_event or ""


def _leaders_of(followers: Iterable[Role], led: Iterable[Role]) -> Iterator[tuple[Role, Role]]:
    """Yield (follower role, leader role) pairs; the first follower stands in for a leadership that no line shows.

    In a ring a node may hear of a leader before the leader itself. A follower that followed another leader since then
    follows a leader that leads again.
    """
    unseen: dict[str, Role] = {}
    others: dict[tuple[str, str | None], int] = {}
    followed: dict[str, Role] = {}
    for fact in followers:
        last = followed.get(fact.source_node)
        if last is not None and last.leader != fact.leader:
            others[fact.source_node, fact.leader] = last.since
        followed[fact.source_node] = fact
        of_leader = sorted((role for role in led if role.node == fact.leader), key=_begins)
        blur = 2 * fact.bound_ms * 1000 + fact.since_by - fact.since
        before = [role for role in of_leader if role.since <= fact.since + blur]
        going_on = [role for role in before[-1:] if role.until_by is None or role.until_by + blur > fact.since]
        later = [role for role in of_leader[len(before) :] if fact.until is None or role.since <= fact.until + blur]
        if going_on or later:
            yield fact, (*going_on, *later)[0]
        else:
            first = unseen.get(fact.leader or "")
            again = max(others.get((fact.source_node, fact.leader), 0) - blur, *(role.since for role in before), 0)
            if first is None or again > first.since:
                first = unseen[fact.leader or ""] = fact
            yield fact, first


def _in_order(led: list[Role], roles: Iterable[Role]) -> list[Role]:
    """Sort leaderships by begin; where the clocks may err, a leader that gave way comes before the one it gave way to.
    Only the configured clock bounds count here: what messages prove about clocks requires the order first."""
    follows = {(fact.source_node, fact.since_event): fact.leader for fact in roles if fact.role == FOLLOWER}
    ordered = sorted(led, key=_begins)
    for fact in list(ordered):
        winner = follows.get((fact.source_node, fact.until_event))
        blur = 2 * fact.bound_ms * 1000
        near = [role for role in ordered if role.node == winner and 0 <= fact.since - role.since <= blur]
        if near:
            ordered.remove(fact)
            ordered.insert(ordered.index(near[-1]), fact)
    return ordered


def _missed(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (leader, time) at which members missed a leader, unless somebody followed the same process again later."""
    before: dict[str, Role] = {}
    for role in group.roles:
        last = before.get(role.source_node)
        if role.cause == "leader_lost" and last is not None and last.leader is not None:
            moment = since(role)
            if not _followed_again(group, last.leader, moment):
                yield last.leader, moment
        before[role.source_node] = role


def _followed_again(group: Group, leader: str, missed: Moment) -> bool:
    """Return True when somebody surely began to follow the leader after it was missed and before it restarted."""
    starts = [since(life) for life in _alive_times(group, leader)]
    for role in group.roles:
        if (role.role, role.leader) == (FOLLOWER, leader) and group.clocks.elapsed(missed, since(role))[1] > 0:
            between = (group.clocks.elapsed(missed, start)[1] > 0 for start in starts)
            after = (group.clocks.elapsed(start, since(role))[1] > 0 for start in starts)
            if not any(before_start and after_start for before_start, after_start in zip(between, after, strict=True)):
                return True
    return False


def _unplanned(group: Group) -> list[Moment]:
    """Return the elections after the first leader, except after a clean stop or a higher node's return."""
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [tenure.begin for before, tenure in pairwise(ordered) if before.end_cause not in (STOPPED, HIGHER_NODE)]


def _overlaps(group: Group, algorithm: Algorithm) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_OVERLAP``: two leaders at once; no quorum keeps the older one from deciding."""
    for overlap in overlaps(group):
        least = _surely_at_once(group, overlap)
        if overlap.stale.term != overlap.newer.term and least > 0:
            yield _overlap(group, replace(overlap, least=least), algorithm)


def _surely_at_once(group: Group, overlap: Overlap) -> int:
    """Return the least time in us for which two nodes led at once.

    Leaders print nothing while they lead, so only a line of the older one shows that it still led: the line that ends
    its leadership, or one in which it announces itself again.
    """
    stale, newer = overlap.stale, overlap.newer
    if stale.end_cause not in (None, STOPPED, DIED, SILENT, "leader_lost"):
        return overlap.least
    again = [since(fact) for fact in group.of(StillLeads) if fact.source_node == stale.source]
    within = [moment for moment in again if stale.begin.at <= moment.at <= stale.end.by]
    least = max((group.clocks.elapsed(newer.begin, moment)[0] for moment in within), default=0)
    return max(min(least, overlap.least), 0)


def _missed_a_result(group: Group, stale: Tenure, algorithm: Algorithm) -> bool:
    """Return True when another leader was announced to the stale one, whose log does not show that. The message was
    lost, or the line; if it is the line, the stale leader gave way earlier than its log shows."""
    clocks = group.clocks
    received = [fact for fact in group.of(MessageReceived) if fact.node == stale.node and fact.message == RESULT]
    for sent in group.of(MessageSent):
        if sent.message != RESULT or sent.peer != stale.node or not algorithm.gives_way(stale.node, sent.ids or ""):
            continue
        moment = since(sent)
        if clocks.elapsed(stale.begin, moment)[1] > 0 and clocks.elapsed(moment, stale.end)[1] > 0:
            same = (f for f in received if (f.peer, f.ids, f.term) == (sent.node, sent.ids, sent.term))
            took = [clocks.elapsed(moment, since(fact)) for fact in same]
            if not any(least <= Timeout.ON_ITS_WAY.us and most >= 0 for least, most in took):
                return True
    return False


def _overlap(group: Group, overlap: Overlap, algorithm: Algorithm) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    brief = overlap.least <= MAX_INFO_GAP
    why = "as long as the notice may take" if brief else "nothing kept both of them from deciding"
    sure = stale.open or not _missed_a_result(group, stale, algorithm)
    if not sure:
        why += f". Unless the line is lost in which {stale.node} heard of another {algorithm.leader} before"
    lasted = between(overlap.least, overlap.most)
    return overlap_finding(
        group,
        overlap,
        INFO if brief else WARNING,
        f"{stale.name} and {newer.name} both called themselves {algorithm.leader} for {lasted}: {why}.",
        certainty=DEFINITE if sure else POSSIBLE,
    )


class _Verdict:
    """The judgement whether a winner had the highest id of the nodes that were alive throughout its election."""

    def __init__(self, group: Group, win: Candidacy) -> None:
        self.group, self.win = group, win
        node, begin = win.who, _begin(group, win)
        named = {fact.node for fact in group.of(Role) if fact.node} | set(win.voters)
        above = set(higher(node, named))
        self.alive = sorted((n for n in above if _lived_through(group, n, begin, win)), key=rank, reverse=True)
        self.unknown = sorted(n for n in above - set(self.alive) if not _was_away(group, n, win))

    def findings(self, algorithm: Algorithm) -> Iterator[Finding]:
        """Yield the finding if a higher node was alive."""
        if not self.alive:
            return
        win, highest = self.win, self.alive[0]
        yield self.group.finding(
            algorithm.rule,
            (win.who, win.since_event),
            severity=WARNING,
            certainty=DEFINITE,
            nodes=(win.who, highest),
            terms=(win.term,),
            when=(win.since, win.until),
            summary=f"{win.who} became {algorithm.leader} while {highest}, which is higher, was up from before its "
            "election until after it: suspected wrongly, cut off, or passed over.",
            evidence=(win.since_event, win.until_event),
        )


def _alive_times(group: Group, node: str) -> list[Alive]:
    return sorted((fact for fact in group.of(Alive) if fact.node == node), key=lambda fact: fact.since)


def _begin(group: Group, win: Candidacy) -> Moment:
    """Return when a winner's election began; if only its end was logged, after the winner's last change of role."""
    if win.begun:
        return since(win)
    changes = (role.since for role in group.of(Role) if role.source_node == win.source_node)
    before = max((at for at in changes if at < win.since), default=win.since)
    return Moment(before, win.since_by, win.source_node)


def _lived_through(group: Group, node: str, begin: Moment, win: Candidacy) -> bool:
    """Return True when the node was surely up from before the election until after it."""
    clocks, end = group.clocks, until(win) or since(win)
    return any(
        last is not None
        and clocks.elapsed(since(life), begin)[0] > 0
        and clocks.elapsed(end, Moment(last, last, life.source_node))[0] > 0
        for life in _alive_times(group, node)
        # The run's last event; the time that `election_core.judge.silent_logs` adds is no sign of life.
        if (last := life.sure_until) is not None
    )


def _was_away(group: Group, node: str, win: Candidacy) -> bool:
    """Return True when the node was surely down as the election ended: stopped, and back later or never."""
    clocks, begin, end = group.clocks, since(win), until(win) or since(win)
    incarnations = _alive_times(group, node)
    for number, life in enumerate(incarnations):
        stopped = until(life)
        following = incarnations[number + 1] if number + 1 < len(incarnations) else None
        if not life.stopped or stopped is None or clocks.elapsed(stopped, end)[0] <= 0:
            continue
        if following is None or clocks.elapsed(begin, since(following))[0] > 0:
            return True
    return False


def _contradictions(group: Group) -> dict[tuple[str, str, int | None], list[LowerLeaderNamed]]:
    """Group messages that name a leader lower than an id in their own list, with all nodes that passed them on."""
    named: dict[tuple[str, str, int | None], list[LowerLeaderNamed]] = {}
    for fact in group.of(LowerLeaderNamed):
        named.setdefault((fact.who, fact.claim, fact.term), []).append(fact)
    return named


def _contradicted_by_its_message(group: Group, algorithm: Algorithm) -> Iterator[Finding]:
    """Yield the findings of leaders that their own message contradicts: proven without any clock."""
    for (name, claim, term), facts in sorted(_contradictions(group).items(), key=lambda item: item[1][0].since):
        yield group.finding(
            algorithm.rule,
            (name, claim, term),
            severity=CRITICAL,
            nodes=(name,),
            terms=(term,),
            when=(facts[0].since, facts[-1].since),
            summary=f"{name} {claim}.",
            evidence=(fact.since_event for fact in facts if fact.since_event),
        )


def _coverage(
    group: Group, algorithm: Algorithm, verdicts: Sequence[_Verdict], found: Sequence[Finding]
) -> Iterator[RuleCoverage]:
    broken = sum(1 for verdict in verdicts if verdict.alive) + len(_contradictions(group))
    unknown = sum(1 for verdict in verdicts if not verdict.alive and verdict.unknown)
    conform = len(verdicts) - sum(1 for verdict in verdicts if verdict.alive) - unknown
    yield coverage(group, algorithm.rule, conform, broken, unknown, "no event says whether a higher node was up")
    yield same_term_coverage(group, found)
    yield overlap_coverage(group, found)
