"""What Bully and the ring elections share: the highest id among the living leads, and nothing fences it.

Their nodes speak in canonical events. A file may hold one node's events or those of several; each node has a clock, a
life and a state of its own here. A node is alive from its start (or first event) to its stop (or last event), and only
its own events say so: where the higher one is silent, whether it lived is undecidable.

These algorithms have no terms. Where events carry no election number, leaderships are numbered in the order in which
they began.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

from election_core import facts, leadership
from election_core.clock import Clocks, Moment
from election_core.facts import Fact
from election_core.findings import CRITICAL, DEFINITE, INFO, PROVEN, WARNING, between
from election_core.group import SILENT, Group, group_of, since, until
from election_core.leadership import BRIEF, Overlap, coverage
from election_core.lives import SECOND, Activity, life_at
from election_core.logged import Logged
from election_core.protocols.dledger.log import Campaign
from election_core.protocols.dledger.rules import elections, last_heard, terms
from election_core.quiet import Contact
from election_core.roles import CANDIDATE, DIED, FOLLOWER, LEADER, STOPPED, Span, Step, spans
from election_core.rows import Finding, Row, RuleCoverage
from election_core.witness import UNIDENTIFIED, Testimony, Witness

_NUMBERED = re.compile(r"(.*?)(\d{1,18})")

START = "START"
STOP = "STOP"


def rank(node: str) -> tuple[str, int, str]:
    """The place of an id in the order of ids: by its number (``P10`` is above ``P9``), else by its letters."""
    found = _NUMBERED.fullmatch(node)
    return (found.group(1), int(found.group(2)), "") if found else (node, -1, node)


@dataclass(slots=True)
class NodeLog:
    """What one node says of itself. The methods are the moves of the algorithms; events come in program order."""

    node: str | None
    group: str | None
    activity: Activity = field(default_factory=Activity)
    steps: list[Step] = field(default_factory=list)
    campaigns: list[Campaign] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    wrong: list[tuple[str, str, Logged]] = field(default_factory=list)
    again: list[Logged] = field(default_factory=list)
    _current: Step | None = None
    _began: Logged | None = None
    _open: Campaign | None = None
    _lost: dict[str, Contact] = field(default_factory=dict)
    _cause: str | None = None

    def started(self, event: Logged) -> None:
        """A new process: what was open in the old one ended with it."""
        self.activity.marker(event.at, START, event.event_id)
        for contact in self._lost.values():
            contact.again = event.at
        self._lost.clear()
        if self._open is not None:
            self._open.outcome = "abandoned"
        self._open, self._began, self._current, self._cause = None, None, None, "start"

    def stopped(self, event: Logged) -> None:
        """The process stops."""
        self.activity.stopping(event.at, event.event_id)

    def suspects(self, event: Logged) -> None:
        """The leader did not answer."""
        if event.peer is not None and event.peer not in self._lost:
            self._lost[event.peer] = Contact(event.peer, event)
            self.contacts.append(self._lost[event.peer])
        if self._current is not None and self._current.leader == event.peer:
            self.step(event, CANDIDATE, None, "leader_lost")
        self._cause = "leader_lost"

    def hears(self, event: Logged) -> None:
        """A message came from a peer: it lives."""
        contact = self._lost.pop(event.peer or "", None)
        if contact is not None:
            contact.again = event.at

    def joins(self, event: Logged) -> None:
        """An election passes by the node."""
        self._began = self._began or event

    def asks(self, event: Logged, asked: str | None = None) -> None:
        """The node wants to lead, and asks a peer. Whom it asked already, it asks in a new election."""
        if self._open is not None and asked is not None and asked in self._open.voters:
            self._close(event, "no_winner")
        if self._open is None:
            first = self._began or event
            cause = self._cause or "asked"
            self._open = Campaign(self.node, event.term or 0, first.at, first.by, first.event_id, cause, rounds=1)
            self.campaigns.append(self._open)
        if asked is not None:
            self._open.voters.add(asked)

    def leads(self, event: Logged, members: tuple[str, ...] | None = None) -> None:
        """The node is the leader, by its own word. ``members`` are those that took part, as the message says."""
        if self._current is not None and (self._current.role, self._current.term) == (LEADER, event.term):
            self.again.append(event)
            return
        self.asks(event)
        if members and self._open is not None:
            self._open.voters.update(members)
        self._close(event, "won")
        self.step(event, LEADER, self.node, "elected")

    def follows(self, event: Logged, leader: str | None) -> None:
        """The node accepts a leader; an own leadership ends because a higher node took over."""
        led = self._current is not None and self._current.role == LEADER
        self._close(event, "lost")
        self.step(event, FOLLOWER, leader, "higher_node" if led else "announced")

    def refuses(self, event: Logged) -> None:
        """A lower node calls itself leader: the node holds an election of its own."""
        self._cause = "lower_leader"

    def step(self, event: Logged, role: str, leader: str | None, cause: str) -> None:
        """The node's role changes."""
        last = self._current
        if last is None or (last.role, last.term, last.leader) != (role, event.term, leader):
            self._current = Step(event.at, event.by, role, event.term, leader, event.event_id, cause, self.node)
            self.steps.append(self._current)

    def _close(self, event: Logged, outcome: str) -> None:
        if self._open is not None:
            self._open.ended_at, self._open.ended_by, self._open.last_event = event.at, event.by, event.event_id
            self._open.outcome = outcome
            self._open.term = event.term or self._open.term
        self._open, self._began, self._cause = None, None, None

    def facts(self, told: Testimony) -> Iterator[Fact]:
        """What the events prove."""
        lives = self.activity.lives()
        told = replace(told, lives=lives)
        yield told.fact(facts.QUIET, lives[0].first_seen, lives[0].first_seen, None, node=self.node)
        yield from told.roles(self._spans(told))
        yield from (fact for fact in told.life() if fact.kind == facts.ALIVE)
        for campaign in self.campaigns:
            yield told.saw(
                facts.CAMPAIGN,
                campaign,
                node=self.node,
                until=campaign.ended_at,
                until_by=campaign.ended_by,
                until_event=campaign.last_event,
                term=campaign.term or None,
                result=campaign.how_ended,
                cause=campaign.cause,
                members=tuple(sorted(campaign.voters)),
                count=campaign.rounds,
            )
        for contact in self.contacts:
            yield contact.fact(told, SECOND, closed=False)
        for event in self.again:
            yield told.saw(facts.STILL_LEADS, event)
        for namer, what, event in self.wrong:
            yield told.saw(facts.VIOLATION, event, node=namer, result=what, term=event.term)

    def _spans(self, told: Testimony) -> Iterator[Span]:
        """A node looks for a leader from its start; a step of its last life is not carried into the next one."""
        kept = [step for step in self.steps if step.role != CANDIDATE or _is_news(step, self.steps, told)]
        return spans(kept, told.lives, CANDIDATE)


def _is_news(step: Step, steps: list[Step], told: Testimony) -> bool:
    life = life_at(told.lives, step.at)
    return any(before.at < step.at and life_at(told.lives, before.at) == life for before in steps)


Move = Callable[[NodeLog, Logged], None]


@dataclass(slots=True)
class CoordinatorLog:
    """The events of one file: one state machine for each node that speaks in it."""

    protocol: str
    moves: Mapping[str, Move]
    nodes: dict[tuple[str | None, str | None], NodeLog] = field(default_factory=dict)

    def on(self, event: Logged) -> None:
        """Take the next event of the file."""
        key = (event.replica_group, event.node)
        if key not in self.nodes:
            self.nodes[key] = NodeLog(event.node, event.replica_group)
        own = self.nodes[key]
        own.activity.seen(event.at, event.event_id)
        self.moves[event.kind](own, event)

    def facts(self, witness: Witness, stream: str) -> Iterator[Fact]:
        """What the events prove about their groups; a node that is not named is the folder's."""
        for own in self.nodes.values():
            own.node = own.node or witness.source_node
            source = witness.source_node if len(self.nodes) == 1 else f"{witness.source_node}/{own.node}"
            speaker = replace(witness, source_node=source)
            told = speaker.about(
                own.group or witness.listed.replica_group or UNIDENTIFIED, self.protocol, stream, _always(own.node)
            )
            own.steps = [
                replace(step, node=own.node, leader=step.leader or _self(step, own.node)) for step in own.steps
            ]
            yield from own.facts(told)


def _always(node: str) -> Callable[[int], str | None]:
    return lambda _: node


def _self(step: Step, node: str) -> str | None:
    return node if step.role == LEADER else None


# -- rules ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Words:
    """How a protocol speaks: the id of its rule, and what its leader is called."""

    rule: str
    leader: str


def judge(own: list[Fact], clocks: Clocks, words: Words) -> Iterator[Row]:
    """All rows of one group whose highest living node leads."""
    group = group_of(_numbered(own), clocks)
    yield from leadership.role_intervals(group)
    yield from terms(group)
    yield from elections(group)
    yield from leadership.same_term(group, "election")
    yield from _overlaps(group, words)
    verdicts = [_Verdict(group, win) for win in group.of(facts.CAMPAIGN) if win.result == "won"]
    for verdict in verdicts:
        yield from verdict.findings(words)
    yield from _contradicted_by_its_message(group, words)
    yield from leadership.availability(group, last_heard(group), _unplanned(group), words.leader, "election")
    yield from _coverage(group, words, verdicts)


def _numbered(own: list[Fact]) -> list[Fact]:
    """Leaderships without a number get one, in the order in which they began; followers get their leader's."""
    if any(fact.term is not None for fact in own):
        return own
    roles = {fact for fact in own if fact.kind == facts.ROLE}
    led = sorted((fact for fact in roles if fact.role == LEADER), key=lambda fact: (fact.since, fact.source_node))
    numbers = {fact: number for number, fact in enumerate(led, 1)}
    for fact in roles:
        known = [one for one in led if one.node == fact.peer and one.since <= fact.since_by + SECOND]
        if fact.role == FOLLOWER and known:
            numbers[fact] = numbers[known[-1]]
    ended = {(fact.source_node, fact.since_event): number for fact, number in numbers.items()}
    for fact in own:
        if fact.kind == facts.CAMPAIGN:
            numbers[fact] = ended.get((fact.source_node, fact.until_event), len(led) + 1)
    return [replace(fact, term=numbers.get(fact)) for fact in own]


def _unplanned(group: Group) -> list[Moment]:
    """Elections after the first leader, but for those that a clean stop or a higher node's return brought."""
    ordered = sorted(group.tenures, key=lambda tenure: tenure.begin)
    return [tenure.begin for before, tenure in pairwise(ordered) if before.end_cause not in ("stopped", "higher_node")]


def _overlaps(group: Group, words: Words) -> Iterator[Finding]:
    """``SPLIT_BRAIN_OVERLAP``: two leaders at once; no quorum keeps the older one from deciding."""
    for overlap in leadership.overlaps(group):
        least = _surely_at_once(group, overlap)
        if overlap.stale.term != overlap.newer.term and least > 0:
            yield _overlap(group, replace(overlap, least=least), words)


def _surely_at_once(group: Group, overlap: Overlap) -> int:
    """How long two nodes led at once at least; leaders say nothing, so only a line of the older one shows that it led.

    That is the line that ends its leadership, or one in which it announces itself again.
    """
    stale, newer = overlap.stale, overlap.newer
    if stale.end_cause not in (None, STOPPED, DIED, SILENT):
        return overlap.least
    again = [since(fact) for fact in group.of(facts.STILL_LEADS) if fact.source_node == stale.source]
    within = [moment for moment in again if stale.begin.at <= moment.at <= stale.end.by]
    least = max((group.clocks.elapsed(newer.begin, moment)[0] for moment in within), default=0)
    return max(min(least, overlap.least), 0)


def _overlap(group: Group, overlap: Overlap, words: Words) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    brief = overlap.least <= BRIEF
    why = "as long as the notice may take" if brief else "nothing kept both of them from deciding"
    return group.finding(
        "SPLIT_BRAIN_OVERLAP",
        (stale.node, stale.term, newer.term, stale.begin.at),
        severity=INFO if brief else WARNING,
        certainty=DEFINITE,
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

    def __init__(self, group: Group, win: Fact) -> None:
        self.group, self.win = group, win
        node = win.node or win.source_node
        named = {fact.node for fact in group.of(facts.ROLE) if fact.node} | set(win.members or ())
        higher = {name for name in named if rank(name) > rank(node)}
        self.alive = sorted((n for n in higher if _lived_through(group, n, win)), key=rank, reverse=True)
        self.unknown = sorted(n for n in higher - set(self.alive) if not _was_away(group, n, win))

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


def _lives(group: Group, node: str) -> list[Fact]:
    return sorted((fact for fact in group.of(facts.ALIVE) if fact.node == node), key=lambda fact: fact.since)


def _lived_through(group: Group, node: str, win: Fact) -> bool:
    """Whether a node surely was up from before an election until after it."""
    clocks, end = group.clocks, until(win) or since(win)
    return any(
        last is not None
        and clocks.elapsed(since(life), since(win))[0] > 0
        and clocks.elapsed(end, Moment(_seen_until(group, life, last), last.at, last.source))[0] > 0
        for life in _lives(group, node)
        if (last := until(life)) is not None
    )


def _seen_until(group: Group, life: Fact, last: Moment) -> int:
    """The last event of a life; what :mod:`election_core.quiet` adds to it is no sign of life."""
    own = [f for f in group.facts if f.source_node == life.source_node and f.kind in (facts.ROLE, facts.CAMPAIGN)]
    times = [t for f in own for t in (f.since, f.until) if t is not None and life.since <= t <= last.at]
    return max(times, default=life.since)


def _was_away(group: Group, node: str, win: Fact) -> bool:
    """Whether a node surely was not up when an election ended: it had stopped, and came back later or never."""
    clocks, begin, end = group.clocks, since(win), until(win) or since(win)
    lives = _lives(group, node)
    for number, life in enumerate(lives):
        stopped = until(life)
        following = lives[number + 1] if number + 1 < len(lives) else None
        if not life.flag or stopped is None or clocks.elapsed(stopped, end)[0] <= 0:
            continue
        if following is None or clocks.elapsed(begin, since(following))[0] > 0:
            return True
    return False


def _contradictions(group: Group) -> dict[tuple[str, str, int | None], list[Fact]]:
    """Messages that name a leader lower than an id in their own list, each with all nodes that passed it on."""
    said: dict[tuple[str, str, int | None], list[Fact]] = {}
    for fact in group.of(facts.VIOLATION):
        said.setdefault((fact.node or fact.source_node, fact.result or "", fact.term), []).append(fact)
    return said


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
    yield coverage(group, "SPLIT_BRAIN_SAME_TERM", len(by_term) - double, double)
    yield leadership.overlap_coverage(group, lambda overlap: _surely_at_once(group, overlap) > BRIEF)
