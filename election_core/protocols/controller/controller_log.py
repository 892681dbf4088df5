"""The state machine over a controller's log: decisions about broker sets, lost brokers, own leadership.

Sources: RocketMQ ``ReplicasInfoManager``, ``DLedgerController``, ``JRaftControllerStateMachine``,
``DefaultBrokerHeartbeatManager``.

A controller's "Elect new master" is a proposal: it is printed before it is replicated. A JRaft controller prints after
the commit, on every node, and again when it re-reads its log.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.checks import Checked, Verdict
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.roles import LEADER, UNKNOWN, Step, spans
from election_replay.election_core.model.facts import ContactLost, Fact, LastHeard, MemberAddress
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.controller.checks import (
    ELECTED,
    NOBODY_ELECTED,
    SET_REFUSALS,
    clause,
    requested_election,
    set_refused,
)
from election_replay.election_core.protocols.controller.facts import (
    ControllerLed,
    Decision,
)
from election_replay.election_core.protocols.controller.log import PROTOCOL, code_fact, merged_in_lives

SET_CHANGED = "SET_CHANGED"
ID_APPLIED = "ID_APPLIED"
ADDRESS_CHANGED = "ADDRESS_CHANGED"
IDS_CLEANED = "IDS_CLEANED"
MASTER_STILL_EXISTS = "MASTER_STILL_EXISTS"

DECISIONS = frozenset({ELECTED, NOBODY_ELECTED, SET_CHANGED, ID_APPLIED, ADDRESS_CHANGED, IDS_CLEANED})
"""Decisions that change the controllers' state; all others are answers."""
MASTER_ID = "0"
"""Up to 5.1.0 a master's heartbeats carry this id instead of the one that the controllers assigned."""


@dataclass(frozen=True, slots=True)
class DecisionLine:
    """One decision of the controllers about a broker set.

    ``committed`` is True when this log shows that it was applied, False when it shows that no confirmation came in time
    (it may still have been committed later), None when it shows neither.
    """

    group: str
    decision: str
    at: int
    by: int
    event_id: str
    node: str | None
    term: int | None
    set_epoch: int | None
    members: tuple[str, ...] | None
    address: str | None
    register_code: str | None
    raft_index: int | None
    committed: bool | None
    leading: bool


@dataclass(frozen=True, slots=True)
class LostBroker:
    """A broker that a controller lost at ``event``: its heartbeats had ended ``timeout_us`` before. A timeout of None
    means that its connection was closed."""

    group: str
    node: str
    event: FoldEvent
    timeout_us: int | None


@dataclass(slots=True)
class ControllerLog:
    """The state machine of one controller's decisions (``controller.log`` or ``namesrv.log``)."""

    decisions: list[DecisionLine] = field(default_factory=list)
    members: dict[tuple[str, str, str], FoldEvent] = field(default_factory=dict)
    lost: list[LostBroker] = field(default_factory=list)
    expired: list[tuple[str, FoldEvent]] = field(default_factory=list)
    checked: dict[str, Checked] = field(default_factory=dict)
    refusals: list[FoldEvent] = field(default_factory=list)
    _epochs: dict[str, int] = field(default_factory=dict)
    _ran_out: dict[tuple[str | None, str | None], FoldEvent] = field(default_factory=dict)
    _waiting: int | None = None
    leading: list[Step] = field(default_factory=list)
    _leading: bool = False

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this controller's log."""
        _CONTROLLER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this controller proves about broker sets."""
        for ordinal, made in enumerate(self.decisions):
            emit = self._about(made.group, speaker, stream)
            yield Decision(
                *emit.about(made.node, made, ordinal=ordinal),
                term=made.term,
                address=made.address,
                decision=made.decision,
                members=made.members,
                set_epoch=made.set_epoch,
                raft_index=made.raft_index,
                committed=made.committed,
                leading=made.leading,
            )
            if made.register_code is not None:
                yield from code_fact(emit, made.register_code, made, accepted=True)
        for lost in [*self.lost, *self._lost_by_address()]:
            yield _lost(lost, self._about(lost.group, speaker, stream))
        for group in sorted({made.group for made in self.decisions}):
            yield from self._led(self._about(group, speaker, stream))
        for (group, node, address), event in sorted(self.members.items()):
            yield MemberAddress(*self._about(group, speaker, stream).about(node, event), address=address)
        self._attribute_refusals()
        for group, checked in sorted(self.checked.items()):
            emit = self._about(group, speaker, stream)
            yield from checked.tallied(emit, None)
            yield from checked.broken(emit, clause)

    def _led(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield the times in which this controller led, as facts about one broker set."""
        for span in spans(merged_in_lives(self.leading, emit.incarnations), emit.incarnations, UNKNOWN):
            if span.step.role == LEADER:
                step, end = span.step, (span.until, span.until_by, span.until_event)
                during = emit.during(None, step.at, step.by, step.event_id, *end)
                yield ControllerLed(*during, end_cause=span.end_cause)

    def _attribute_refusals(self) -> None:
        """Attribute refusals, whose lines name no broker set, if this log knows only one set."""
        groups = {made.group for made in self.decisions}
        if len(groups) == 1:
            for event in self.refusals:
                self._check(next(iter(groups)), set_refused(event), event)

    def _check(self, group: str, verdict: Verdict | None, event: FoldEvent) -> None:
        self.checked.setdefault(group, Checked()).note(verdict, event)

    def _about(self, group: str, speaker: Speaker, stream: str) -> FactWriter:
        return speaker.about(group, PROTOCOL, stream)

    def _on_event(self, event: FoldEvent) -> None:
        self._decide(event, committed=None)

    def _on_applied_event(self, event: FoldEvent) -> None:
        """Take a JRaft controller's decision, printed after the commit."""
        self._decide(event, committed=True)

    def _decide(self, event: FoldEvent, *, committed: bool | None) -> None:
        self._waiting = None
        group = event.replica_group
        if group is None or event.decision is None:
            return
        if event.decision == MASTER_STILL_EXISTS and event.term is not None:
            self._epochs[group] = event.term
        if event.decision not in DECISIONS:
            return
        term = self._epoch(group, event)
        node = event.node or event.broker_id
        if node is not None and event.address and node != event.address:
            self.members.setdefault((group, node, event.address), event)
        self._waiting = len(self.decisions) if committed is None else None
        self.decisions.append(
            DecisionLine(
                group,
                event.decision,
                event.at,
                event.by,
                event.event_id,
                node,
                term,
                event.sync_state_set_epoch,
                tuple(sorted(event.members)) if event.members is not None else None,
                event.address,
                event.register_code,
                event.raft_index if event.kind == "JR_EVENT" else None,
                committed,
                self._leading or event.kind == "CTL_EVENT",
            )
        )

    def _epoch(self, group: str, event: FoldEvent) -> int | None:
        """Return the masterEpoch of an election; one without winner uses up an epoch that it does not print."""
        if event.decision == ELECTED:
            if event.term is not None:
                self._epochs[group] = event.term
            return event.term
        if event.decision == NOBODY_ELECTED and group in self._epochs:
            self._epochs[group] += 1
            return self._epochs[group]
        return None

    def _on_elect(self, event: FoldEvent) -> None:
        """Take a JRaft controller's line of an election request with its outcome."""
        if event.replica_group is not None:
            self._check(event.replica_group, requested_election(event), event)

    def _on_refusal(self, event: FoldEvent) -> None:
        self.refusals.append(event)

    def _on_applied(self, event: FoldEvent) -> None:
        self._confirm(True)

    def _on_leader(self, event: FoldEvent) -> None:
        """Take that a JRaft controller leads: from here on its decisions are its own."""
        self._leading = True
        self._on_leads(event)

    def _on_leader_end(self, event: FoldEvent) -> None:
        self._leading = False
        self._on_leads_not(event)

    def _on_leads(self, event: FoldEvent) -> None:
        self.leading.append(Step(event.at, event.by, LEADER, None, None, event.event_id, "elected"))

    def _on_leads_not(self, event: FoldEvent) -> None:
        self.leading.append(Step(event.at, event.by, UNKNOWN, None, None, event.event_id, "stepped_down"))

    def _on_lost(self, event: FoldEvent) -> None:
        """Take a broker whose heartbeats ran out or whose channel closed: a controller closes an expired broker's
        channel."""
        timeout_us = _timeout_us(event)
        if timeout_us is not None:
            self._ran_out[event.replica_group, event.broker_id or event.address] = event
        elif self._expired_before(event):
            return
        if event.replica_group is None and event.address is not None:
            self.expired.append((event.address, event))
        if event.replica_group is None or event.broker_id is None:
            return
        node = event.address if event.broker_id == MASTER_ID and event.address is not None else event.broker_id
        self.lost.append(LostBroker(event.replica_group, node, event, timeout_us))

    def _expired_before(self, closed: FoldEvent) -> bool:
        """Return True when the controller had just reported this broker's heartbeats as expired."""
        names = ((closed.replica_group, closed.broker_id), (None, closed.address))
        return any(name in self._ran_out and closed.at <= self._ran_out[name].by for name in names)

    def _lost_by_address(self) -> Iterator[LostBroker]:
        """Yield losses whose line names no broker set (up to 5.1.0): the only set whose decisions name the address."""
        groups: dict[str | None, set[str]] = {}
        for made in self.decisions:
            for name in (made.node, made.address, *(made.members or ())):
                groups.setdefault(name, set()).add(made.group)
        for address, event in self.expired:
            of_address = groups.get(address, set())
            if len(of_address) == 1:
                yield LostBroker(next(iter(of_address)), address, event, _timeout_us(event))

    def _on_not_committed(self, event: FoldEvent) -> None:
        self._confirm(False)

    def _confirm(self, committed: bool) -> None:
        if self._waiting is not None:
            self.decisions[self._waiting] = replace(self.decisions[self._waiting], committed=committed)
            self._waiting = None


def _timeout_us(event: FoldEvent) -> int | None:
    return event.duration_ms * US_PER_MS if event.duration_ms else None


def _lost(lost: LostBroker, emit: FactWriter) -> Fact:
    """Make a closed connection, or the last heartbeat: at the scan that missed it, minus the time-out."""
    event = lost.event
    if lost.timeout_us is None:
        return ContactLost(*emit.about(lost.node, event), closed=True)
    early = lost.timeout_us + emit.timing.us(Timeout.CONTROLLER_SCAN)
    late = lost.timeout_us - emit.timing.us(Timeout.CONTROLLER_HEARTBEAT)
    return LastHeard(*emit.during(lost.node, event.at - early, event.by - late, event.event_id))


_CONTROLLER_HANDLERS: dict[str, Callable[[ControllerLog, FoldEvent], None]] = {
    "CTL_EVENT": ControllerLog._on_event,
    "JR_EVENT": ControllerLog._on_applied_event,
    "JR_ELECT": ControllerLog._on_elect,
    **dict.fromkeys(sorted(SET_REFUSALS), ControllerLog._on_refusal),
    "JR_NODE_LEADER": ControllerLog._on_leader,
    "JR_NODE_LEADER_END": ControllerLog._on_leader_end,
    "JR_STARTED": ControllerLog._on_leader_end,
    "CTL_APPLIED": ControllerLog._on_applied,
    "CTL_EVENT_NOT_COMMITTED": ControllerLog._on_not_committed,
    "CTL_BROKER_EXPIRED": ControllerLog._on_lost,
    "CTL_BROKER_CHANNEL_CLOSED": ControllerLog._on_lost,
    "JR_BROKER_EXPIRED": ControllerLog._on_lost,
    "JR_BROKER_CHANNEL_CLOSED": ControllerLog._on_lost,
    "CTL_LEADER_BEGIN": ControllerLog._on_leads,
    "CTL_LEADER_END": ControllerLog._on_leads_not,
    "CTL_FOLLOWER": ControllerLog._on_leads_not,
    "CTL_CANDIDATE": ControllerLog._on_leads_not,
}

CONTROLLER_KINDS = frozenset(_CONTROLLER_HANDLERS)
"""The events that the fold of a controller's decisions reads."""
TELLS_ROLES = CONTROLLER_KINDS
"""All of them are in one file."""
