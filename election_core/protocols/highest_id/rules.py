"""What Bully and the ring elections share: the highest id among the living leads, and nothing fences it.

A node is alive from its start (or first event) to its stop (or last event), and only its own events say so: where the
higher one is silent, whether it lived is undecidable.

These algorithms have no terms. Where events carry no election number, leaderships are numbered in the order in which
they began.
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


def judge(words: Algorithm, facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one group whose highest living node leads."""
    group = group_of(_numbered(facts), clocks)
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    found = [*same_term(group, "election"), *_overlaps(group, words)]
    yield from found
    verdicts = [_Verdict(group, win) for win in group.of(Candidacy) if win.outcome == "won"]
    for verdict in verdicts:
        yield from verdict.findings(words)
    yield from _contradicted_by_its_message(group, words)
    yield from availability(group, _missed(group), _unplanned(group), words.leader, "election")
    yield from _coverage(group, words, verdicts, found)


def _numbered(facts: list[Fact]) -> list[Fact]:
    """Leaderships without a number get one, in the order in which they began; followers get their leader's.

    A leader that was followed although no line of its own says that it led has led too.
    """
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
    """Of several roles that a node took in one moment, the one that it kept comes last."""
    return fact.since, fact.source_node, inf if fact.until is None else fact.until, fact.since_event or ""


def _leaders_of(followers: Iterable[Role], led: Iterable[Role]) -> Iterator[tuple[Role, Role]]:
    """For each follower the leadership that it follows; the first follower stands for one that no line shows.

    In a ring a node may hear who leads before the leader does. Who followed another one since then follows a leader
    that leads again.
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
    """Leaderships by their begins; where clocks may mistake that, who gave way comes before whom it gave way to.

    Only the bounds of the clocks count here: what messages prove of them needs the order first.
    """
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
    """When members missed a leader; one that somebody began to follow later, in the same life, was missed wrongly."""
    before: dict[str, Role] = {}
    for role in group.roles:
        last = before.get(role.source_node)
        if role.cause == "leader_lost" and last is not None and last.leader is not None:
            moment = since(role)
            if not _followed_again(group, last.leader, moment):
                yield last.leader, moment
        before[role.source_node] = role


def _followed_again(group: Group, leader: str, missed: Moment) -> bool:
    """Whether somebody surely began to follow a leader after it was missed, and before it started anew."""
    starts = [since(life) for life in _alive_times(group, leader)]
    for role in group.roles:
        if (role.role, role.leader) == (FOLLOWER, leader) and group.clocks.elapsed(missed, since(role))[1] > 0:
            between = (group.clocks.elapsed(missed, start)[1] > 0 for start in starts)
            after = (group.clocks.elapsed(start, since(role))[1] > 0 for start in starts)
            if not any(before_start and after_start for before_start, after_start in zip(between, after, strict=True)):
                return True
    return False


def _unplanned(group: Group) -> list[Moment]:
    """Elections after the first leader, but for those that a clean stop or a higher node's return brought."""
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [tenure.begin for before, tenure in pairwise(ordered) if before.end_cause not in (STOPPED, HIGHER_NODE)]


def _overlaps(group: Group, words: Algorithm) -> Iterator[Finding]:
    """``SPLIT_BRAIN_OVERLAP``: two leaders at once; no quorum keeps the older one from deciding."""
    for overlap in overlaps(group):
        least = _surely_at_once(group, overlap)
        if overlap.stale.term != overlap.newer.term and least > 0:
            yield _overlap(group, replace(overlap, least=least), words)


def _surely_at_once(group: Group, overlap: Overlap) -> int:
    """How long two nodes led at once at least; leaders say nothing, so only a line of the older one shows that it led.

    That is the line that ends its leadership, or one in which it announces itself again.
    """
    stale, newer = overlap.stale, overlap.newer
    if stale.end_cause not in (None, STOPPED, DIED, SILENT, "leader_lost"):
        return overlap.least
    again = [since(fact) for fact in group.of(StillLeads) if fact.source_node == stale.source]
    within = [moment for moment in again if stale.begin.at <= moment.at <= stale.end.by]
    least = max((group.clocks.elapsed(newer.begin, moment)[0] for moment in within), default=0)
    return max(min(least, overlap.least), 0)


def _missed_a_result(group: Group, stale: Tenure, words: Algorithm) -> bool:
    """Whether another leader was announced to one whose log does not show that: the message is lost, or the line.

    If it is the line, then the one it was announced to gave way earlier than its log says.
    """
    clocks = group.clocks
    received = [fact for fact in group.of(MessageReceived) if fact.node == stale.node and fact.message == RESULT]
    for sent in group.of(MessageSent):
        if sent.message != RESULT or sent.peer != stale.node or not words.gives_way(stale.node, sent.ids or ""):
            continue
        moment = since(sent)
        if clocks.elapsed(stale.begin, moment)[1] > 0 and clocks.elapsed(moment, stale.end)[1] > 0:
            same = (f for f in received if (f.peer, f.ids, f.term) == (sent.node, sent.ids, sent.term))
            took = [clocks.elapsed(moment, since(fact)) for fact in same]
            if not any(least <= Timeout.ON_ITS_WAY.us and most >= 0 for least, most in took):
                return True
    return False


def _overlap(group: Group, overlap: Overlap, words: Algorithm) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    brief = overlap.least <= MAX_INFO_GAP
    why = "as long as the notice may take" if brief else "nothing kept both of them from deciding"
    sure = stale.open or not _missed_a_result(group, stale, words)
    if not sure:
        why += f". Unless the line is lost in which {stale.node} heard of another {words.leader} before"
    lasted = between(overlap.least, overlap.most)
    return overlap_finding(
        group,
        overlap,
        INFO if brief else WARNING,
        f"{stale.name} and {newer.name} both called themselves {words.leader} for {lasted}: {why}.",
        certainty=DEFINITE if sure else POSSIBLE,
    )


class _Verdict:
    """Whether a winner was the highest of those that lived through its whole election."""

    def __init__(self, group: Group, win: Candidacy) -> None:
        self.group, self.win = group, win
        node, begin = win.who, _begin(group, win)
        named = {fact.node for fact in group.of(Role) if fact.node} | set(win.voters)
        above = set(higher(node, named))
        self.alive = sorted((n for n in above if _lived_through(group, n, begin, win)), key=rank, reverse=True)
        self.unknown = sorted(n for n in above - set(self.alive) if not _was_away(group, n, win))

    def findings(self, words: Algorithm) -> Iterator[Finding]:
        """The finding, if there is one."""
        if not self.alive:
            return
        win, highest = self.win, self.alive[0]
        yield self.group.finding(
            words.rule,
            (win.who, win.since_event),
            severity=WARNING,
            certainty=DEFINITE,
            nodes=(win.who, highest),
            terms=(win.term,),
            when=(win.since, win.until),
            summary=f"{win.who} became {words.leader} while {highest}, which is higher, was up from before its "
            "election until after it: suspected wrongly, cut off, or passed over.",
            evidence=(win.since_event, win.until_event),
        )


def _alive_times(group: Group, node: str) -> list[Alive]:
    return sorted((fact for fact in group.of(Alive) if fact.node == node), key=lambda fact: fact.since)


def _begin(group: Group, win: Candidacy) -> Moment:
    """When the election of a winner began; where only its end was logged, after the winner's last change of role."""
    if win.begun:
        return since(win)
    changes = (role.since for role in group.of(Role) if role.source_node == win.source_node)
    before = max((at for at in changes if at < win.since), default=win.since)
    return Moment(before, win.since_by, win.source_node)


def _lived_through(group: Group, node: str, begin: Moment, win: Candidacy) -> bool:
    """Whether a node surely was up from before an election until after it."""
    clocks, end = group.clocks, until(win) or since(win)
    return any(
        last is not None
        and clocks.elapsed(since(life), begin)[0] > 0
        and clocks.elapsed(end, Moment(last, last, life.source_node))[0] > 0
        for life in _alive_times(group, node)
        # The last event of a life; what `election_core.judge.silent_logs` adds to it is no sign of life.
        if (last := life.sure_until) is not None
    )


def _was_away(group: Group, node: str, win: Candidacy) -> bool:
    """Whether a node surely was not up when an election ended: it had stopped, and came back later or never."""
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
    """Messages that name a leader lower than an id in their own list, each with all nodes that passed it on."""
    named: dict[tuple[str, str, int | None], list[LowerLeaderNamed]] = {}
    for fact in group.of(LowerLeaderNamed):
        named.setdefault((fact.who, fact.claim, fact.term), []).append(fact)
    return named


def _contradicted_by_its_message(group: Group, words: Algorithm) -> Iterator[Finding]:
    """A leader that its own message contradicts: proven, whatever the clocks were."""
    for (name, claim, term), facts in sorted(_contradictions(group).items(), key=lambda item: item[1][0].since):
        yield group.finding(
            words.rule,
            (name, claim, term),
            severity=CRITICAL,
            nodes=(name,),
            terms=(term,),
            when=(facts[0].since, facts[-1].since),
            summary=f"{name} {claim}.",
            evidence=(fact.since_event for fact in facts if fact.since_event),
        )


def _coverage(
    group: Group, words: Algorithm, verdicts: Sequence[_Verdict], found: Sequence[Finding]
) -> Iterator[RuleCoverage]:
    broken = sum(1 for verdict in verdicts if verdict.alive) + len(_contradictions(group))
    unknown = sum(1 for verdict in verdicts if not verdict.alive and verdict.unknown)
    conform = len(verdicts) - sum(1 for verdict in verdicts if verdict.alive) - unknown
    yield coverage(group, words.rule, conform, broken, unknown, "no event says whether a higher node was up")
    yield same_term_coverage(group, found)
    yield overlap_coverage(group, found)
