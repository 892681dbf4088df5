"""The logs of nodes in groups whose highest id leads, folded into facts.

A file may hold the events of one node or of several; each node has its own clock, process runs and state here.
:mod:`.tables` maps each event to its effects.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.contact import Contact
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.process_runs import Activity, Start
from election_replay.election_core.fold.role_log import RoleLog
from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, HIGHER_NODE, LEADER, spans
from election_replay.election_core.model.facts import Fact, MessageReceived, MessageSent, QuietLog
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.highest_id.facts import ELECTION, RESULT, LowerLeaderNamed, StillLeads
from election_replay.election_core.protocols.highest_id.id_order import higher, highest, rank

START = "START"


@dataclass(frozen=True, slots=True)
class Passed:
    """A message that a node sent or received, with the ids in it."""

    kind: type[MessageSent] | type[MessageReceived]
    event: FoldEvent
    message: str
    ids: str | None


@dataclass(slots=True)
class NodeLog(RoleLog):
    """The state machine of one node. Its methods are the effects of events, which come in program order."""

    group: str | None = None
    activity: Activity = field(default_factory=Activity)
    contacts: list[tuple[Contact, int]] = field(default_factory=list)
    wrong: list[tuple[str, str, FoldEvent]] = field(default_factory=list)
    messages: list[Passed] = field(default_factory=list)
    again: list[FoldEvent] = field(default_factory=list)
    _began: dict[object, FoldEvent] = field(default_factory=dict)
    _passed_by: set[object] = field(default_factory=set)
    _lost: dict[str, Contact] = field(default_factory=dict)
    _heard: dict[str, int] = field(default_factory=dict)
    _begun: int | None = None
    _cause: str | None = None

    def started(self, event: FoldEvent) -> None:
        """Take a start of the process: what was open in the old one ended with it."""
        self.activity.marker(Start(event.at, event.by, event.event_id), START)
        for contact in self._lost.values():
            contact.again = event
        self._lost.clear()
        self._heard.clear()
        self._begun = event.at
        if self.open is not None:
            self.open.outcome = "abandoned"
        self._began.clear()
        self.open, self.fresh, self._cause = None, True, "start"

    def stopped(self, event: FoldEvent) -> None:
        """Take a stop of the process."""
        self.activity.stopping(event.at, event.event_id)

    def suspects(self, event: FoldEvent) -> None:
        """Take that the leader did not answer; no line tells for how long."""
        if event.peer is not None and event.peer not in self._lost:
            heard = self._heard.get(event.peer, self._begun or self.activity.segments[0].first)
            self._lost[event.peer] = Contact(event.peer, event)
            self.contacts.append(
                (self._lost[event.peer], min(max(event.at - heard, 0), Timeout.MAX_ELECTION_TIMEOUT.us))
            )
        if self.last is not None and event.peer not in (None, self.node):
            # A leader that misses another leader had followed it, though no line shows that.
            self.takes(event, CANDIDATE, event.term, None, "leader_lost")
        self._cause = "leader_lost"

    # -- messages -----------------------------------------------------------------------------------------------------

    def sends_election(self, event: FoldEvent) -> None:
        """Take an election message sent to a peer."""
        self.messages.append(Passed(MessageSent, event, ELECTION, _ids(event)))

    def sends_result(self, event: FoldEvent) -> None:
        """Take a message to a peer that names the leader; without a name, the node itself."""
        self.messages.append(Passed(MessageSent, event, RESULT, event.value or event.node))

    def hears(self, event: FoldEvent) -> None:
        """Take a sign of life of a peer."""
        self._heard[event.peer or ""] = event.at
        contact = self._lost.pop(event.peer or "", None)
        if contact is not None:
            contact.again = event

    def hears_election(self, event: FoldEvent) -> None:
        """Take an election message from a peer."""
        self.messages.append(Passed(MessageReceived, event, ELECTION, _ids(event)))
        self.hears(event)

    def hears_result(self, event: FoldEvent) -> None:
        """Take a message from a peer that names the leader; without a name, the peer."""
        self.messages.append(Passed(MessageReceived, event, RESULT, event.value or event.peer))
        self.hears(event)

    def did_not_arrive(self, event: FoldEvent) -> None:
        """Take that the last message to a peer was not answered, and goes to another peer."""
        for number in range(len(self.messages) - 1, -1, -1):
            if (self.messages[number].kind, self.messages[number].event.peer) == (MessageSent, event.peer):
                del self.messages[number]
                return

    # -- elections ----------------------------------------------------------------------------------------------------

    def joins(self, event: FoldEvent) -> None:
        """Take an election that passes the node; it is a candidate if its own id is first in the message."""
        self._began.setdefault(_which(event), event)
        head = event.members[0] if event.members else event.value
        if event.peer is not None and head == event.node and self.messages[-1].kind is MessageSent:
            self._wants(event)

    def asks(self, event: FoldEvent) -> None:
        """Take that the node asks a peer because it wants to lead; asking a peer again begins a new election."""
        asked = event.peer
        if self.open is not None and asked is not None and asked in self.open.voters:
            self._close(event, "no_winner")
        self._wants(event)
        if asked is not None and self.open is not None:
            self.open.voters.add(asked)

    def _wants(self, event: FoldEvent) -> None:
        if self.open is None:
            self.stands(event, event.term, self._cause or "asked", self._began.get(_which(event)))

    def leads(self, event: FoldEvent) -> None:
        """Take that the node leads, by its own line; a list in it names the participants."""
        if self.last is not None and (self.last.role, self.last.term) == (LEADER, event.term):
            # If an election passed the node and made it leader again, it need not have led until then.
            if _which(event) not in self._began:
                self.again.append(event)
            return
        self._wants(event)
        if self.open is not None:
            self.open.voters.update(event.members or ())
        self._close(event, "won")
        self.takes(event, LEADER, event.term, self.node, "elected")

    def follows(self, event: FoldEvent, leader: str | None) -> None:
        """Take that the node accepts a leader; its own leadership ends because a higher node took over."""
        cause = HIGHER_NODE if self.last is not None and self.last.role == LEADER else "announced"
        self._close(event, "lost")
        self.takes(event, FOLLOWER, event.term, leader, cause)

    def follows_higher(self, event: FoldEvent) -> None:
        """Take that a peer leads: the node follows a higher peer, and holds an election against a lower one."""
        if event.peer is not None and event.node is not None and rank(event.peer) < rank(event.node):
            self._cause = "lower_leader"
        else:
            self.follows(event, event.peer)

    def learns(self, event: FoldEvent) -> None:
        """Take a result that passes the node; a list in it names the participants."""
        leader = event.value
        if leader is None:
            return
        above = higher(leader, event.members or ())
        if above and event.members:
            claim = f"named {leader} as leader of a ring in which {highest(above)} took part"
            self.wrong.append((event.members[0], claim, event))
        if leader == event.node:
            self.leads(event)
        else:
            self.follows(event, leader)

    def _close(self, event: FoldEvent, outcome: str) -> None:
        if self.open is not None and event.term is not None:
            self.open.term = event.term
        self.ends(event, outcome)
        # An election that has no result after the results of two others has been lost.
        self._began = {which: first for which, first in self._began.items() if which not in self._passed_by}
        self._began.pop(_which(event), None)
        self._passed_by = set(self._began)
        self._cause = None

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield what the events prove."""
        incarnations = self.activity.incarnations()
        emit = replace(emit, incarnations=incarnations)
        yield QuietLog(*emit.during(self.node, incarnations[0].first_seen, incarnations[0].first_seen, None))
        # A node looks for a leader from its start on.
        yield from emit.roles(spans(self.steps, emit.incarnations, CANDIDATE))
        yield from (replace(alive, sure_until=alive.until) for alive in emit.alive())
        for campaign in self.campaigns:
            yield campaign.fact(emit, self.node, begun=campaign.event_id != campaign.last_event)
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


Moves = Mapping[str, tuple[Callable[[NodeLog, FoldEvent], None], ...]]
"""The effects of each kind of event, in order."""


@dataclass(slots=True)
class CoordinatorLog:
    """The events of one file: one state machine for each node in it."""

    protocol: str
    moves: Moves
    nodes: dict[tuple[str | None, str | None], NodeLog] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next event of the file."""
        key = (event.replica_group, event.node)
        if key not in self.nodes:
            self.nodes[key] = NodeLog(event.node, group=event.replica_group)
        log = self.nodes[key]
        log.activity.seen(event.at, event.by, event.event_id)
        for move in self.moves[event.kind]:
            move(log, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what the events prove about their groups; a node without a name is the folder's."""
        for log in self.nodes.values():
            log.node = log.node or speaker.source_node
            source = speaker.source_node if len(self.nodes) == 1 else f"{speaker.source_node}/{log.node}"
            of_node = replace(speaker, source_node=source)
            emit = of_node.about(
                log.group or speaker.listed.replica_group or UNIDENTIFIED, self.protocol, stream, log.node
            )
            log.steps = [
                replace(step, node=log.node, leader=step.leader or (log.node if step.role == LEADER else None))
                for step in log.steps
            ]
            yield from log.facts(emit)


def _which(event: FoldEvent) -> object:
    """Return the key of an election among concurrent ones: its number, else the first node of the list; None without
    both."""
    if event.term is not None:
        return event.term
    return event.members[0] if event.members else None


def _ids(event: FoldEvent) -> str | None:
    """Return the ids in an election message; None if there are none."""
    return event.value or " ".join(event.members or ()) or None
