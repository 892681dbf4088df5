"""What the nodes of Bully groups and rings say of themselves, folded into facts.

They speak in canonical events. A file may hold one node's events or those of several; each node has a clock, a
life and a state of its own here.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.contact import Contact
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.process_runs import Activity, Start
from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, HIGHER_NODE, LEADER, Span, Step, spans
from election_replay.election_core.model.facts import Candidacy, Fact, MessageReceived, MessageSent, QuietLog
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.highest_id.facts import LowerLeaderNamed, StillLeads

START = "START"

MAX_ELECTION_TIMEOUT = Timeout.MAX_ELECTION_TIMEOUT.us
"""Nobody lets a leader be silent for longer without a suspicion; the default of Redis Cluster is the longest known."""


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
        self.activity.marker(Start(event.at, event.by, event.event_id), START)
        for contact in self._lost.values():
            contact.again = event
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
            self.contacts.append((self._lost[event.peer], min(max(event.at - heard, 0), MAX_ELECTION_TIMEOUT)))
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
            contact.again = event

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
            self._open.close(event, outcome)
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
        """A node looks for a leader from its start."""
        return spans(self.steps, emit.incarnations, CANDIDATE)


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
        log = self.nodes[key]
        log.activity.seen(event.at, event.by, event.event_id)
        self.moves[event.kind](log, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """What the events prove about their groups; a node that is not named is the folder's."""
        for log in self.nodes.values():
            log.node = log.node or speaker.source_node
            source = speaker.source_node if len(self.nodes) == 1 else f"{speaker.source_node}/{log.node}"
            of_node = replace(speaker, source_node=source)
            emit = of_node.about(
                log.group or speaker.listed.replica_group or UNIDENTIFIED, self.protocol, stream, _always(log.node)
            )
            log.steps = [
                replace(step, node=log.node, leader=step.leader or (log.node if step.role == LEADER else None))
                for step in log.steps
            ]
            yield from log.facts(emit)


def _which(event: FoldEvent) -> object:
    """What tells an election from others that go round at once: its number, else who started the list."""
    if event.term is not None:
        return event.term
    return event.members[0] if event.members else None


def _always(node: str) -> Callable[[int], str | None]:
    return lambda _: node
