"""What Bully and the ring elections share: the highest id among the living leads, and nothing fences it.

Their nodes speak in canonical events. A file may hold one node's events or those of several; each node has a clock, a
life and a state of its own here. A node is alive from its start (or first event) to its stop (or last event), and only
its own events say so: where the higher one is silent, whether it lived is undecidable.

These algorithms have no terms. Where events carry no election number, leaderships are numbered in the order in which
they began.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from election_core.fold.contact import Contact
from election_core.fold.fact_writer import FactWriter, Speaker
from election_core.fold.identity import UNIDENTIFIED
from election_core.fold.process_runs import SECOND, Activity, incarnation_at
from election_core.fold.roles import CANDIDATE, DIED, FOLLOWER, HIGHER_NODE, LEADER, STOPPED, Span, Step, spans
from election_core.judge.availability import availability
from election_core.judge.clock import Clocks, Message, Moment
from election_core.judge.coverage import coverage
from election_core.judge.group import SILENT, Group, Tenure, group_of, since, until
from election_core.judge.leaderless import BRIEF
from election_core.judge.overlap import Overlap, overlap_coverage, overlaps
from election_core.judge.role_rows import role_intervals
from election_core.judge.same_term import same_term
from election_core.judge.wording import between
from election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, RuleId
from election_core.model.facts import Alive, Candidacy, Fact, QuietLog, Role
from election_core.model.fold_event import FoldEvent
from election_core.model.rows import Finding, Row, RuleCoverage
from election_core.protocols.dledger.log import Campaign
from election_core.protocols.dledger.rules import elections, terms
from election_core.protocols.highest_id.facts import LowerLeaderNamed, MessageReceived, MessageSent, StillLeads
from election_core.protocols.highest_id.ranks import higher, rank

START = "START"

ELECTION, RESULT = "election", "result"
"""What goes from member to member."""
PATIENCE = 15 * SECOND
"""Nobody lets a leader be silent for longer without a suspicion; the default of Redis Cluster is the longest known."""
ON_ITS_WAY = 3 * SECOND
"""A message that arrives at all arrives in this time."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A message that a node sent or got: which, and the ids in it."""

    kind: type[MessageSent] | type[MessageReceived]
    event: FoldEvent
    message: str
    ids: str | None


@dataclass(slots=True)
class NodeLog:
    """What one node says of itself. The methods are the moves of the algorithms; events come in program order."""

    node: str | None
    group: str | None
    activity: Activity = field(default_factory=Activity)
    steps: list[Step] = field(default_factory=list)
    campaigns: list[Campaign] = field(default_factory=list)
    contacts: list[tuple[Contact, int]] = field(default_factory=list)
    wrong: list[tuple[str, str, FoldEvent]] = field(default_factory=list)
    messages: list[Passed] = field(default_factory=list)
    again: list[FoldEvent] = field(default_factory=list)
    _current: Step | None = None
    _began: dict[object, FoldEvent] = field(default_factory=dict)
    _passed_by: set[object] = field(default_factory=set)
    _open: Campaign | None = None
    _lost: dict[str, Contact] = field(default_factory=dict)
    _heard: dict[str, int] = field(default_factory=dict)
    _begun: int | None = None
    _cause: str | None = None

    def started(self, event: FoldEvent) -> None:
        """A new process: what was open in the old one ended with it."""
        self.activity.marker(event.at, START, event.event_id)
        for contact in self._lost.values():
            contact.again = event.at
        self._lost.clear()
        self._heard.clear()
        self._begun = event.at
        if self._open is not None:
            self._open.outcome = "abandoned"
        self._began.clear()
        self._open, self._current, self._cause = None, None, "start"

    def stopped(self, event: FoldEvent) -> None:
        """The process stops."""
        self.activity.stopping(event.at, event.event_id)

    def suspects(self, event: FoldEvent) -> None:
        """The leader did not answer: for how long, nobody says."""
        if event.peer is not None and event.peer not in self._lost:
            heard = self._heard.get(event.peer, self._begun or self.activity.segments[0].first)
            self._lost[event.peer] = Contact(event.peer, event)
            self.contacts.append((self._lost[event.peer], min(max(event.at - heard, 0), PATIENCE)))
        if self._current is not None and event.peer not in (None, self.node):
            # A leader that misses another one had followed that, though no line says so.
            self.step(event, CANDIDATE, None, "leader_lost")
        self._cause = "leader_lost"

    def sends(self, event: FoldEvent, message: str, ids: str | None = None) -> None:
        """The node sends a message to a peer."""
        self.messages.append(Passed(MessageSent, event, message, ids))

    def did_not_arrive(self, event: FoldEvent) -> None:
        """The last message to a peer was not answered, and goes to another."""
        for number in range(len(self.messages) - 1, -1, -1):
            if (self.messages[number].kind, self.messages[number].event.peer) == (MessageSent, event.peer):
                del self.messages[number]
                return

    def hears(self, event: FoldEvent, message: str | None = None, ids: str | None = None) -> None:
        """A message came from a peer: it lives."""
        if message is not None:
            self.messages.append(Passed(MessageReceived, event, message, ids))
        self._heard[event.peer or ""] = event.at
        contact = self._lost.pop(event.peer or "", None)
        if contact is not None:
            contact.again = event.at

    def joins(self, event: FoldEvent) -> None:
        """An election passes by the node."""
        self._began.setdefault(_which(event), event)

    def asks(self, event: FoldEvent, asked: str | None = None) -> None:
        """The node wants to lead, and asks a peer. Whom it asked already, it asks in a new election."""
        if self._open is not None and asked is not None and asked in self._open.voters:
            self._close(event, "no_winner")
        if self._open is None:
            first = self._began.get(_which(event), event)
            cause = self._cause or "asked"
            self._open = Campaign(self.node, event.term, first.at, first.by, first.event_id, cause, rounds=1)
            self.campaigns.append(self._open)
        if asked is not None:
            self._open.voters.add(asked)

    def leads(self, event: FoldEvent, members: tuple[str, ...] | None = None) -> None:
        """The node is the leader, by its own word. ``members`` are those that took part, as the message says."""
        if self._current is not None and (self._current.role, self._current.term) == (LEADER, event.term):
            # Whom an election passed by and made leader again need not have led until then.
            if _which(event) not in self._began:
                self.again.append(event)
            return
        self.asks(event)
        if members and self._open is not None:
            self._open.voters.update(members)
        self._close(event, "won")
        self.step(event, LEADER, self.node, "elected")

    def follows(self, event: FoldEvent, leader: str | None) -> None:
        """The node accepts a leader; an own leadership ends because a higher node took over."""
        led = self._current is not None and self._current.role == LEADER
        self._close(event, "lost")
        self.step(event, FOLLOWER, leader, HIGHER_NODE if led else "announced")

    def refuses(self, event: FoldEvent) -> None:
        """A lower node calls itself leader: the node holds an election of its own."""
        self._cause = "lower_leader"

    def step(self, event: FoldEvent, role: str, leader: str | None, cause: str) -> None:
        """The node's role changes."""
        last = self._current
        if last is None or (last.role, last.term, last.leader) != (role, event.term, leader):
            self._current = Step(event.at, event.by, role, event.term, leader, event.event_id, cause, self.node)
            self.steps.append(self._current)

    def _close(self, event: FoldEvent, outcome: str) -> None:
        if self._open is not None:
            self._open.ended_at, self._open.ended_by, self._open.last_event = event.at, event.by, event.event_id
            self._open.outcome = outcome
            self._open.term = self._open.term if event.term is None else event.term
        # An election without a result after the results of two others has died on its way.
        self._began = {which: first for which, first in self._began.items() if which not in self._passed_by}
        self._began.pop(_which(event), None)
        self._passed_by = set(self._began)
        self._open, self._cause = None, None

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """What the events prove."""
        incarnations = self.activity.incarnations()
        emit = replace(emit, incarnations=incarnations)
        yield QuietLog(*emit.during(self.node, incarnations[0].first_seen, incarnations[0].first_seen, None))
        yield from emit.roles(self._spans(emit))
        yield from (replace(alive, sure_until=alive.until) for alive in emit.alive())
        for campaign in self.campaigns:
            yield Candidacy(
                *emit.during(self.node, campaign.at, campaign.by, campaign.event_id, *campaign.end),
                term=campaign.term,
                outcome=campaign.how_ended,
                cause=campaign.cause,
                voters=tuple(sorted(campaign.voters)),
                granted=None,
                needed=None,
                rounds=campaign.rounds,
                begun=campaign.event_id != campaign.last_event,
            )
        for contact, before_us in self.contacts:
            yield contact.fact(emit, before_us, closed=False)
        for passed in self.messages:
            event = passed.event
            yield passed.kind(
                *emit.about(self.node, event), term=event.term, peer=event.peer, message=passed.message, ids=passed.ids
            )
        for event in self.again:
            yield StillLeads(*emit.at(event))
        for namer, claim, event in self.wrong:
            yield LowerLeaderNamed(*emit.about(namer, event), term=event.term, claim=claim)

    def _spans(self, emit: FactWriter) -> Iterator[Span]:
        """A node looks for a leader from its start; a step of its last life is not carried into the next one."""
        kept = [step for step in self.steps if step.role != CANDIDATE or _is_news(step, self.steps, emit)]
        return spans(kept, emit.incarnations, CANDIDATE)


def _is_news(step: Step, steps: list[Step], emit: FactWriter) -> bool:
    life = incarnation_at(emit.incarnations, step.at)
    return any(before.at < step.at and incarnation_at(emit.incarnations, before.at) == life for before in steps)


Move = Callable[[NodeLog, FoldEvent], None]


@dataclass(slots=True)
class CoordinatorLog:
    """The events of one file: one state machine for each node that speaks in it."""

    protocol: str
    moves: Mapping[str, Move]
    nodes: dict[tuple[str | None, str | None], NodeLog] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next event of the file."""
        key = (event.replica_group, event.node)
        if key not in self.nodes:
            self.nodes[key] = NodeLog(event.node, event.replica_group)
        own = self.nodes[key]
        own.activity.seen(event.at, event.event_id)
        self.moves[event.kind](own, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """What the events prove about their groups; a node that is not named is the folder's."""
        for own in self.nodes.values():
            own.node = own.node or speaker.source_node
            source = speaker.source_node if len(self.nodes) == 1 else f"{speaker.source_node}/{own.node}"
            of_node = replace(speaker, source_node=source)
            emit = of_node.about(
                own.group or speaker.listed.replica_group or UNIDENTIFIED, self.protocol, stream, _always(own.node)
            )
            own.steps = [
                replace(step, node=own.node, leader=step.leader or (own.node if step.role == LEADER else None))
                for step in own.steps
            ]
            yield from own.facts(emit)


def _which(event: FoldEvent) -> object:
    """What tells an election from others that go round at once: its number, else who started the list."""
    if event.term is not None:
        return event.term
    return event.members[0] if event.members else None


def _always(node: str) -> Callable[[int], str | None]:
    return lambda _: node


# -- what one member logs because of another ---------------------------------------------------------------------


def messages(own: Iterable[Fact]) -> Iterator[Message]:
    """Causal pairs: a message of an election was received after it was sent.

    Only what has a number counts, and what each of both logs says just once: where the line of an earlier message may
    be missing, the lines of two messages look like those of one.
    """
    sent: dict[tuple[object, ...], set[Fact]] = {}
    received: dict[tuple[object, ...], set[Fact]] = {}
    for fact in own:
        if not isinstance(fact, MessageSent | MessageReceived) or fact.term is None:
            continue
        is_sent = isinstance(fact, MessageSent)
        ends = (fact.node, fact.peer) if is_sent else (fact.peer, fact.node)
        key = (fact.replica_group, *ends, fact.message, fact.term, fact.ids)
        (sent if is_sent else received).setdefault(key, set()).add(fact)
    for message, effects in received.items():
        causes = sent.get(message, set())
        if len(causes) == len(effects) == 1:
            (cause,), (effect,) = causes, effects
            if cause.source_node != effect.source_node:
                yield Message(since(cause), since(effect))


# -- rules ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """How a protocol speaks: the id of its rule, what its leader is called, whether one gives way to another."""

    rule: RuleId
    leader: str
    gives_way: Callable[[str, str], bool]


def judge(own: list[Fact], clocks: Clocks, words: Words) -> Iterator[Row]:
    """All rows of one group whose highest living node leads."""
    group = group_of(_numbered(own), clocks)
    yield from role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    yield from same_term(group, "election")
    yield from _overlaps(group, words)
    verdicts = [_Verdict(group, win) for win in group.of(Candidacy) if win.outcome == "won"]
    for verdict in verdicts:
        yield from verdict.findings(words)
    yield from _contradicted_by_its_message(group, words)
    yield from availability(group, _missed(group), _unplanned(group), words.leader, "election")
    yield from _coverage(group, words, verdicts)


def _numbered(own: list[Fact]) -> list[Fact]:
    """Leaderships without a number get one, in the order in which they began; followers get their leader's.

    A leader that was followed although no line of its own says that it led has led too.
    """
    if any(isinstance(fact, _WITH_TERMS) and fact.term is not None for fact in own):
        return own
    roles = {fact for fact in own if isinstance(fact, Role)}
    led = [fact for fact in roles if fact.role == LEADER]
    leader_of = dict(_leaders_of(sorted((f for f in roles if f.role == FOLLOWER), key=_begins), led))
    first = {leader: leader for leader in leader_of.values() if leader.role == FOLLOWER}
    ordered = _in_order([*led, *first], roles)
    numbers: dict[Fact, int] = {fact: number for number, fact in enumerate(ordered, 1)}
    numbers |= {fact: numbers[leader] for fact, leader in leader_of.items()}
    ended = {(fact.source_node, fact.since_event): number for fact, number in numbers.items()}
    for fact in own:
        if isinstance(fact, Candidacy):
            numbers[fact] = ended.get((fact.source_node, fact.until_event), len(ordered) + 1)
    return [replace(fact, term=numbers.get(fact)) if isinstance(fact, Role | Candidacy) else fact for fact in own]


_WITH_TERMS = (Role, Candidacy, MessageSent, MessageReceived, LowerLeaderNamed)


def _begins(fact: Role) -> tuple[int, str]:
    return fact.since, fact.source_node


def _leaders_of(followers: Iterable[Role], led: Iterable[Role]) -> Iterator[tuple[Role, Role]]:
    """For each follower the leadership that it follows; the first follower stands for one that no line shows.

    In a ring a node may hear who leads before the leader does.
    """
    unseen: dict[str, Role] = {}
    for fact in followers:
        own = sorted((one for one in led if one.node == fact.leader), key=_begins)
        blur = 2 * fact.bound_ms * 1000 + SECOND
        before = [one for one in own if one.since <= fact.since + blur]
        going_on = [one for one in before[-1:] if one.until_by is None or one.until_by + blur > fact.since]
        later = [one for one in own[len(before) :] if fact.until is None or one.since <= fact.until + blur]
        if going_on or later:
            yield fact, (*going_on, *later)[0]
        else:
            first = unseen.get(fact.leader or "")
            if first is None or (before and before[-1].since > first.since):
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
        near = [one for one in ordered if one.node == winner and 0 <= fact.since - one.since <= blur]
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
    starts = [since(life) for life in _lives(group, leader)]
    for role in group.roles:
        if (role.role, role.leader) == (FOLLOWER, leader) and group.clocks.elapsed(missed, since(role))[1] > 0:
            between = (group.clocks.elapsed(missed, start)[1] > 0 for start in starts)
            after = (group.clocks.elapsed(start, since(role))[1] > 0 for start in starts)
            if not any(one and other for one, other in zip(between, after, strict=True)):
                return True
    return False


def _unplanned(group: Group) -> list[Moment]:
    """Elections after the first leader, but for those that a clean stop or a higher node's return brought."""
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [tenure.begin for before, tenure in pairwise(ordered) if before.end_cause not in (STOPPED, HIGHER_NODE)]


def _overlaps(group: Group, words: Words) -> Iterator[Finding]:
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


def _missed_a_result(group: Group, stale: Tenure, words: Words) -> bool:
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
            if not any(least <= ON_ITS_WAY and most >= 0 for least, most in took):
                return True
    return False


def _overlap(group: Group, overlap: Overlap, words: Words) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    brief = overlap.least <= BRIEF
    why = "as long as the notice may take" if brief else "nothing kept both of them from deciding"
    sure = stale.open or not _missed_a_result(group, stale, words)
    if not sure:
        why += f". Unless the line is lost in which {stale.node} heard of another {words.leader} before"
    return group.finding(
        RuleId.SPLIT_BRAIN_OVERLAP,
        (stale.node, stale.term, newer.term, stale.begin.at),
        severity=INFO if brief else WARNING,
        certainty=DEFINITE if sure else POSSIBLE,
        nodes=(stale.node, newer.node),
        terms=(stale.term, newer.term),
        start_time=newer.begin.at,
        end_time=stale.end.at,
        summary=f"{stale.name} and {newer.name} both called themselves {words.leader} for "
        f"{between(overlap.least, overlap.most)}: {why}.",
        evidence=tuple(dict.fromkeys((*stale.evidence, *newer.evidence))),
        overlap_min_ms=overlap.least // 1000,
        overlap_max_ms=overlap.most // 1000,
    )


class _Verdict:
    """Whether a winner was the highest of those that lived through its whole election."""

    def __init__(self, group: Group, win: Candidacy) -> None:
        self.group, self.win = group, win
        node, begin = win.node or win.source_node, _begin(group, win)
        named = {fact.node for fact in group.of(Role) if fact.node} | set(win.voters)
        above = set(higher(node, named))
        self.alive = sorted((n for n in above if _lived_through(group, n, begin, win)), key=rank, reverse=True)
        self.unknown = sorted(n for n in above - set(self.alive) if not _was_away(group, n, win))

    def findings(self, words: Words) -> Iterator[Finding]:
        """The finding, if there is one."""
        if not self.alive:
            return
        win, highest = self.win, self.alive[0]
        name = win.node or win.source_node
        yield self.group.finding(
            words.rule,
            (name, win.since_event),
            severity=WARNING,
            certainty=DEFINITE,
            nodes=(name, highest),
            terms=(win.term,) if win.term is not None else (),
            start_time=win.since,
            end_time=win.until,
            summary=f"{name} became {words.leader} while {highest}, which is higher, was up from before its election "
            "until after it: suspected wrongly, cut off, or passed over.",
            evidence=tuple(dict.fromkeys(e for e in (win.since_event, win.until_event) if e)),
        )


def _lives(group: Group, node: str) -> list[Alive]:
    return sorted((fact for fact in group.of(Alive) if fact.node == node), key=lambda fact: fact.since)


def _begin(group: Group, win: Candidacy) -> Moment:
    """When the election of a winner began; where only its end was logged, after the winner's last change of role."""
    if win.begun:
        return since(win)
    own = (role.since for role in group.of(Role) if role.source_node == win.source_node)
    before = max((at for at in own if at < win.since), default=win.since)
    return Moment(before, win.since_by, win.source_node)


def _lived_through(group: Group, node: str, begin: Moment, win: Candidacy) -> bool:
    """Whether a node surely was up from before an election until after it."""
    clocks, end = group.clocks, until(win) or since(win)
    return any(
        last is not None
        and clocks.elapsed(since(life), begin)[0] > 0
        and clocks.elapsed(end, Moment(last, last, life.source_node))[0] > 0
        for life in _lives(group, node)
        # The last event of a life; what `election_core.judge.silent_logs` adds to it is no sign of life.
        if (last := life.sure_until) is not None
    )


def _was_away(group: Group, node: str, win: Candidacy) -> bool:
    """Whether a node surely was not up when an election ended: it had stopped, and came back later or never."""
    clocks, begin, end = group.clocks, since(win), until(win) or since(win)
    incarnations = _lives(group, node)
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
        named.setdefault((fact.node or fact.source_node, fact.claim, fact.term), []).append(fact)
    return named


def _contradicted_by_its_message(group: Group, words: Words) -> Iterator[Finding]:
    """A leader that its own message contradicts: proven, whatever the clocks were."""
    for (name, what, term), said in sorted(_contradictions(group).items(), key=lambda item: item[1][0].since):
        yield group.finding(
            words.rule,
            (name, what, term),
            severity=CRITICAL,
            certainty=PROVEN,
            nodes=(name,),
            terms=(term,) if term is not None else (),
            start_time=said[0].since,
            end_time=said[-1].since,
            summary=f"{name} {what}.",
            evidence=tuple(dict.fromkeys(fact.since_event for fact in said if fact.since_event)),
        )


def _coverage(group: Group, words: Words, verdicts: Iterable[_Verdict]) -> Iterator[RuleCoverage]:
    verdicts = list(verdicts)
    broken = sum(1 for verdict in verdicts if verdict.alive) + len(_contradictions(group))
    unknown = sum(1 for verdict in verdicts if not verdict.alive and verdict.unknown)
    conform = len(verdicts) - sum(1 for verdict in verdicts if verdict.alive) - unknown
    yield coverage(group, words.rule, conform, broken, unknown, "no event says whether a higher node was up")
    by_term: dict[int, set[str]] = {}
    for tenure in group.tenures:
        by_term.setdefault(tenure.term, set()).add(tenure.source)
    double = sum(1 for sources in by_term.values() if len(sources) > 1)
    yield coverage(group, RuleId.SPLIT_BRAIN_SAME_TERM, len(by_term) - double, double)
    yield overlap_coverage(group, lambda overlap: _surely_at_once(group, overlap) > BRIEF)
