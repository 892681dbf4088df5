"""What brokers and controllers of the controller mode log, as state machines.

Sources: RocketMQ ``ReplicasManager`` (a broker's own role), ``AutoSwitchHAClient`` (how a returning master cuts
its log), ``ReplicasInfoManager`` and ``DLedgerController`` (the controllers' decisions).

A broker is master from "Begin to change to master" on: the line that closes the change may come many seconds
later, when a name server cannot be reached. A controller's "Elect new master" is a proposal: it is printed before
it is replicated; a JRaft controller prints after the commit, on every node, and again when it re-reads its log.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from election_core.fold.checks import Checked, Verdict
from election_core.fold.fact_writer import FactWriter, Noted, Speaker
from election_core.fold.identity import BROKER
from election_core.fold.process_runs import SECOND, Incarnation, incarnation_at
from election_core.fold.roles import FOLLOWER, LEADER, UNKNOWN, Span, Step, merged, spans
from election_core.model.facts import ContactLost, Fact, LastHeard, LogCut, MemberAddress, TermWentBack
from election_core.model.fold_event import FoldEvent
from election_core.protocols.controller.checks import (
    ELECTED,
    NOBODY_ELECTED,
    SET_REFUSALS,
    acknowledgements,
    caught_up,
    cut_point,
    epoch_ahead,
    epoch_refused,
    first_set,
    requested_election,
    set_refused,
    set_wanted,
)
from election_core.protocols.controller.facts import (
    AllAck,
    ControllerLed,
    ControllerRuleBroken,
    Decision,
    EpochAhead,
    MasterReady,
    ProducerCame,
    RegisterCode,
    SetRefused,
)
from election_core.protocols.controller.tables import ALL, EpochEntries

PROTOCOL = "controller"

SET_CHANGED = "SET_CHANGED"
ID_APPLIED = "ID_APPLIED"
ADDRESS_CHANGED = "ADDRESS_CHANGED"
IDS_CLEANED = "IDS_CLEANED"
MASTER_STILL_EXISTS = "MASTER_STILL_EXISTS"

DECISIONS = frozenset({ELECTED, NOBODY_ELECTED, SET_CHANGED, ID_APPLIED, ADDRESS_CHANGED, IDS_CLEANED})
"""Decisions that change the controllers' state; all others are answers."""

POLL = 5 * SECOND
"""How long a connected broker may take to hear of a new master (``syncBrokerMetadataPeriod``), and how often the
controllers look for silent brokers (``scanNotActiveBrokerInterval``)."""

CLIENTS_OWN_PRODUCER = "CLIENT_INNER_PRODUCER"
"""``MixAll.CLIENT_INNER_PRODUCER_GROUP``."""

_MASTER_ROLES = frozenset({"SYNC_MASTER", "ASYNC_MASTER", "MASTER"})


@dataclass(frozen=True, slots=True)
class Cut:
    """A replica compared its log with its new master's and cut it (or failed to).

    Byte offsets: its log ended at ``log_end``; the last point in common is ``common``. ``epoch`` is the last
    epoch in its own epoch file. ``done`` is false when the cut failed, so that both logs differ from there on.
    """

    at: int
    by: int
    log_end: int
    common: int
    epoch: int | None
    done: bool
    evidence: tuple[str, ...]

    @property
    def event_id(self) -> str:
        """The line that ends the comparison."""
        return self.evidence[-1]


@dataclass(slots=True)
class BrokerLog:
    """The state machine of one broker's logs (``broker.log`` and ``store.log``)."""

    steps: list[Step] = field(default_factory=list)
    members: dict[tuple[str, str], FoldEvent] = field(default_factory=dict)
    replication: list[Step] = field(default_factory=list)
    cuts: list[Cut] = field(default_factory=list)
    codes: dict[str, FoldEvent] = field(default_factory=dict)
    refused: list[FoldEvent] = field(default_factory=list)
    checked: Checked = field(default_factory=Checked)
    ahead: list[FoldEvent] = field(default_factory=list)
    began: list[Step] = field(default_factory=list)
    timeouts: list[FoldEvent] = field(default_factory=list)
    first_sets: list[FoldEvent] = field(default_factory=list)
    ready: list[tuple[FoldEvent, bool]] = field(default_factory=list)
    producers: list[tuple[FoldEvent, int]] = field(default_factory=list)
    _master_of: int | None = None
    _unregistered: bool = False
    _new_master: bool = False
    _caught_up: FoldEvent | None = None
    _master_epochs: EpochEntries | None = None
    _own_epochs: EpochEntries | None = None
    _local_end: FoldEvent | None = None
    _common: FoldEvent | None = None

    def on(self, event: FoldEvent) -> None:
        """Take the next line of one of this broker's logs; lines of one stream come in program order."""
        _BROKER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """What this broker proves about its broker set."""
        identity = speaker.identity
        if speaker.broker_set is None or not (self.steps or self.replication or identity.ids):
            return
        incarnations = speaker.incarnations[BROKER]
        emit = speaker.about(
            speaker.broker_set, PROTOCOL, stream, lambda time: speaker.broker_id_at(time, incarnations)
        )
        yield from emit.roles(self.role_spans(emit))
        yield from emit.alive()
        yield from emit.silences()
        for (node, address), event in sorted(self.members.items()):
            yield MemberAddress(*emit.about(node, event), address=address)
        for cut in self.cuts:
            yield LogCut(
                *emit.at(cut),
                term=cut.epoch,
                peer=None,
                cut_to=cut.common,
                log_end=cut.log_end,
                done=cut.done,
                evidence=cut.evidence,
            )
        for code, event in sorted(self.codes.items()):
            yield from _code_fact(emit, code, event, accepted=False)
        for before, after, step in self._epochs_back(emit.incarnations):
            speaking = step.node or emit.node_at(step.at)
            yield TermWentBack(*emit.during(speaking, step.at, step.by, step.event_id), before=before, after=after)
        for refused in self.refused:
            yield SetRefused(
                *emit.at(refused),
                term=refused.term,
                members=refused.members,
                set_epoch=refused.sync_state_set_epoch,
                code=refused.code,
            )
        for event, registered in self.ready:
            if event.term is not None:
                yield MasterReady(*emit.at(event), term=event.term, registered=registered)
        for event, term in self.producers:
            yield ProducerCame(*emit.at(event), term=term)
        yield from self._checks(emit, identity.settings.get("allAckInSyncStateSet"))

    def _checks(self, emit: FactWriter, all_ack: FoldEvent | None) -> Iterator[Fact]:
        for event in self.ahead:
            yield EpochAhead(*emit.at(event), term=event.term, known_epoch=event.max_term)
        for event in self.timeouts:
            self.checked.note(acknowledgements(event, all_ack), event)
        for event in self.first_sets:
            self.checked.note(first_set(event, emit.node_at(event.at)), event)
        yield from self.checked.tallied(emit, None)
        yield from _broken_rules(emit, self.checked)
        shown = all_ack or next((event for event in self.timeouts if event.count == ALL), None)
        if shown is not None:
            yield AllAck(*emit.at(shown), configured=shown is not all_ack or shown.value == "true")

    def role_spans(self, emit: FactWriter) -> Iterator[Span]:
        """Role spans; a broker has no role until the controllers' word reaches it."""
        named = sorted(self._with_ids(self._all_steps(emit.incarnations), emit), key=lambda step: step.at)
        return spans(merged_in_lives(named, emit.incarnations), emit.incarnations, UNKNOWN)

    def _epochs_back(self, incarnations: list[Incarnation]) -> Iterator[tuple[int, int, Step]]:
        """Role changes of ``broker.log`` to a smaller epoch within one life.

        A broker takes a role only with a larger epoch (``ReplicasManager#changeToMaster``); the epoch is not
        persistent and starts at 0 with each process.
        """
        largest: dict[int, int] = {}
        for step in self.steps:
            life = incarnation_at(incarnations, step.at)
            if step.term is None:
                continue
            if step.term < largest.get(life, 0):
                yield largest[life], step.term, step
            largest[life] = max(largest.get(life, 0), step.term)
        for before, step in pairwise(self.began):
            same_life = incarnation_at(incarnations, before.at) == incarnation_at(incarnations, step.at)
            if same_life and before.term == step.term is not None and before.role != step.role:
                yield step.term, step.term, step

    def _all_steps(self, incarnations: list[Incarnation]) -> list[Step]:
        """Steps of ``broker.log``, and of ``store.log`` where the appender dropped the line in ``broker.log``."""
        said = {(incarnation_at(incarnations, step.at), step.role, step.term) for step in self.steps}
        return self.steps + [
            step
            for step in self.replication
            if (incarnation_at(incarnations, step.at), step.role, step.term) not in said
        ]

    def _with_ids(self, steps: list[Step], emit: FactWriter) -> Iterator[Step]:
        for step in steps:
            node = step.node or emit.node_at(step.at)
            leader = node if step.role == LEADER else step.leader
            yield replace(step, node=node, leader=leader)

    # -- roles ------------------------------------------------------------------------------------------

    def _on_master_begin(self, event: FoldEvent) -> None:
        self._new_master = True
        self._master_of, self._unregistered = event.term, False
        self.steps.append(
            Step(event.at, event.by, LEADER, event.term, None, event.event_id, "elected", address=event.address)
        )
        self.began.append(self.steps[-1])

    def _on_slave_begin(self, event: FoldEvent) -> None:
        self._note_member(event.peer, event.peer_address, event)
        self.steps.append(
            Step(event.at, event.by, FOLLOWER, event.term, event.peer, event.event_id, "told", node=event.node)
        )
        self.began.append(self.steps[-1])
        self._new_master = False
        self._master_of = None

    def _on_role_done(self, event: FoldEvent) -> None:
        """The end of a role change; its values are those of the moment of printing, so it only fills a gap."""
        self._note_member(event.node, event.address, event)
        role = LEADER if event.role in _MASTER_ROLES else FOLLOWER
        if (role == LEADER) != (event.peer == event.node) and event.peer is not None:
            return
        if role == LEADER and event.term == self._master_of:
            self.ready.append((event, not self._unregistered))
        if any((step.role, step.term) == (role, event.term) for step in self.steps[-4:]):
            return
        leader = event.node if role == LEADER else event.peer
        self.steps.append(
            Step(
                event.at,
                event.by,
                role,
                event.term,
                leader,
                event.event_id,
                "told",
                event.node,
                event.address,
            )
        )

    def _on_not_registered(self, event: FoldEvent) -> None:
        self._unregistered = True

    def _on_producer(self, event: FoldEvent) -> None:
        """The first producer of a master; each client has an own one besides, also if it only consumes."""
        if event.value != CLIENTS_OWN_PRODUCER and self._master_of is not None:
            self.producers.append((event, self._master_of))
            self._master_of = None

    def _on_ha_master(self, event: FoldEvent) -> None:
        self.replication.append(Step(event.at, event.by, LEADER, event.term, None, event.event_id, "elected"))

    def _on_ha_slave(self, event: FoldEvent) -> None:
        self.replication.append(Step(event.at, event.by, FOLLOWER, event.term, None, event.event_id, "told"))

    def _on_set_refused(self, event: FoldEvent) -> None:
        self.refused.append(event)

    def _on_set_changed(self, event: FoldEvent) -> None:
        if self._new_master:
            self._new_master = False
            self.first_sets.append(event)

    # -- identity ---------------------------------------------------------------------------------------

    def _note_member(self, node: str | None, address: str | None, event: FoldEvent) -> None:
        if node is not None and address is not None:
            self.members.setdefault((node, address), event)

    def _on_identity(self, event: FoldEvent) -> None:
        if event.register_code is not None:
            self.codes.setdefault(event.register_code, event)

    # -- replication ------------------------------------------------------------------------------------

    def _on_master_epochs(self, event: FoldEvent) -> None:
        self._master_epochs, self._own_epochs = event.epoch_entries, None

    def _on_local_epochs(self, event: FoldEvent) -> None:
        self._own_epochs = event.epoch_entries
        self._local_end = event if event.epoch_entries and event.epoch_entries[-1][2] is not None else None

    def _on_common_point(self, event: FoldEvent) -> None:
        self._common = event
        self.checked.note(cut_point(event, self._master_epochs, self._own_epochs), event)
        self._master_epochs = self._own_epochs = None

    def _on_caught_up(self, event: FoldEvent) -> None:
        self._caught_up = event
        self.checked.note(caught_up(event), event)

    def _on_set_wanted(self, event: FoldEvent) -> None:
        if self._caught_up is not None:
            self.checked.note(set_wanted(event, self._caught_up), event)
            self._caught_up = None

    def _on_epoch_refused(self, event: FoldEvent) -> None:
        self.checked.note(epoch_refused(event), event)

    def _on_epoch_ahead(self, event: FoldEvent) -> None:
        self.checked.note(epoch_ahead(event), event)
        self.ahead.append(event)

    def _on_ack_timeout(self, event: FoldEvent) -> None:
        self.timeouts.append(event)

    def _on_cut(self, event: FoldEvent) -> None:
        self._compare(event, done=True)

    def _on_cut_failed(self, event: FoldEvent) -> None:
        self._compare(event, done=False)

    def _compare(self, event: FoldEvent, *, done: bool) -> None:
        local, self._local_end = self._local_end, None
        common = event.start_offset
        if common is None and self._common is not None:
            common = self._common.start_offset
        if local is None or not local.epoch_entries or common is None or common < 0:
            return
        epoch, _, end = local.epoch_entries[-1]
        if end is not None:
            evidence = (local.event_id, event.event_id)
            self.cuts.append(Cut(event.at, event.by, end, common, epoch, done, evidence))


_BROKER_HANDLERS: dict[str, Callable[[BrokerLog, FoldEvent], None]] = {
    "BRK_MASTER_BEGIN": BrokerLog._on_master_begin,
    "BRK_SLAVE_BEGIN": BrokerLog._on_slave_begin,
    "BRK_ROLE_DONE": BrokerLog._on_role_done,
    "BRK_ROLE_REG_ERR": BrokerLog._on_not_registered,
    "BRK_PRODUCER_NEW": BrokerLog._on_producer,
    "BRK_REG_TEMP": BrokerLog._on_identity,
    "BRK_SSS_ALTER_ERR": BrokerLog._on_set_refused,
    "BRK_REG_APPLIED": BrokerLog._on_identity,
    "HA_MASTER": BrokerLog._on_ha_master,
    "HA_MASTER_AGAIN": BrokerLog._on_ha_master,
    "HA_SLAVE": BrokerLog._on_ha_slave,
    "HA_SLAVE_AGAIN": BrokerLog._on_ha_slave,
    "BRK_SSS_CHANGED": BrokerLog._on_set_changed,
    "HA_CAUGHT_UP": BrokerLog._on_caught_up,
    "HA_SSS_WANTED": BrokerLog._on_set_wanted,
    "HA_ACK_TIMEOUT": BrokerLog._on_ack_timeout,
    "HA_MASTER_STALE": BrokerLog._on_epoch_ahead,
    "HA_SLAVE_STALE": BrokerLog._on_epoch_ahead,
    "EPOCH_APPEND_ERR": BrokerLog._on_epoch_refused,
    "HA_CLIENT_EPOCHS_MASTER": BrokerLog._on_master_epochs,
    "HA_CLIENT_EPOCHS_LOCAL": BrokerLog._on_local_epochs,
    "HA_CLIENT_CUT_AT": BrokerLog._on_common_point,
    "HA_CLIENT_CUT": BrokerLog._on_cut,
    "HA_CLIENT_CUT_ERR": BrokerLog._on_cut_failed,
}

BROKER_KINDS = frozenset(_BROKER_HANDLERS)
"""The events that the fold of a broker's logs reads."""


def merged_in_lives(steps: list[Step], incarnations: list[Incarnation]) -> list[Step]:
    """Steps without repetitions inside each life of the process."""
    kept: list[Step] = []
    for number in sorted({incarnation_at(incarnations, step.at) for step in steps}):
        kept += merged([step for step in steps if incarnation_at(incarnations, step.at) == number])
    return kept


@dataclass(frozen=True, slots=True)
class Made:
    """One decision of the controllers about a broker set.

    ``committed`` is true when this log shows that it was applied, false when it shows that no confirmation came
    in time (it may still have been committed later), ``None`` when it shows neither.
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
    """A controller heard a broker for the last time in ``[at, by]``; ``closed``: then its connection ended."""

    group: str
    node: str
    at: int
    by: int
    event_id: str
    closed: bool


@dataclass(slots=True)
class ControllerLog:
    """The state machine of one controller's decisions (``controller.log`` or ``namesrv.log``)."""

    decisions: list[Made] = field(default_factory=list)
    members: dict[tuple[str, str, str], FoldEvent] = field(default_factory=dict)
    lost: list[LostBroker] = field(default_factory=list)
    checked: dict[str, Checked] = field(default_factory=dict)
    refusals: list[FoldEvent] = field(default_factory=list)
    _epochs: dict[str, int] = field(default_factory=dict)
    _waiting: int | None = None
    leading: list[Step] = field(default_factory=list)
    _leading: bool = False

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this controller's log."""
        _CONTROLLER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """What this controller proves about broker sets."""
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
                yield from _code_fact(emit, made.register_code, made, accepted=True)
        for lost in self.lost:
            about = self._about(lost.group, speaker, stream).about(lost.node, lost)
            yield ContactLost(*about, closed=True) if lost.closed else LastHeard(*about)
        for group in sorted({made.group for made in self.decisions}):
            yield from self._led(self._about(group, speaker, stream))
        for (group, node, address), event in sorted(self.members.items()):
            yield MemberAddress(*self._about(group, speaker, stream).about(node, event), address=address)
        self._attribute_refusals()
        for group, checked in sorted(self.checked.items()):
            emit = self._about(group, speaker, stream)
            yield from checked.tallied(emit, None)
            yield from _broken_rules(emit, checked)

    def _led(self, emit: FactWriter) -> Iterator[Fact]:
        """When this controller led; what it knows of a broker set it knows as one of these controllers."""
        for span in spans(merged_in_lives(self.leading, emit.incarnations), emit.incarnations, UNKNOWN):
            if span.step.role == LEADER:
                step, end = span.step, (span.until, span.until_by, span.until_event)
                during = emit.during(None, step.at, step.by, step.event_id, *end)
                yield ControllerLed(*during, end_cause=span.end_cause)

    def _attribute_refusals(self) -> None:
        """The lines of refusals do not name the broker set: they are its own where the log knows no other one."""
        groups = {made.group for made in self.decisions}
        if len(groups) == 1:
            for event in self.refusals:
                self._check(next(iter(groups)), set_refused(event), event)

    def _check(self, group: str, verdict: Verdict | None, event: FoldEvent) -> None:
        self.checked.setdefault(group, Checked()).note(verdict, event)

    def _about(self, group: str, speaker: Speaker, stream: str) -> FactWriter:
        return speaker.about(group, PROTOCOL, stream, lambda _: None)

    def _on_event(self, event: FoldEvent) -> None:
        self._decide(event, committed=None)

    def _on_applied_event(self, event: FoldEvent) -> None:
        """A JRaft controller prints its decision after the commit."""
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
        if node is not None and event.address:
            self.members.setdefault((group, node, event.address), event)
        self._waiting = len(self.decisions) if committed is None else None
        self.decisions.append(
            Made(
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
        """The masterEpoch of an election; one without a winner does not print the epoch that it used up."""
        if event.decision == ELECTED:
            if event.term is not None:
                self._epochs[group] = event.term
            return event.term
        if event.decision == NOBODY_ELECTED and group in self._epochs:
            self._epochs[group] += 1
            return self._epochs[group]
        return None

    def _on_elect(self, event: FoldEvent) -> None:
        """A JRaft controller prints the request with what came of it."""
        if event.replica_group is not None:
            self._check(event.replica_group, requested_election(event), event)

    def _on_refusal(self, event: FoldEvent) -> None:
        self.refusals.append(event)

    def _on_applied(self, event: FoldEvent) -> None:
        self._confirm(True)

    def _on_leader(self, event: FoldEvent) -> None:
        """A JRaft controller leads; what it decides from here on it decides itself."""
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
        """A broker's heartbeats ran out (the scan comes every 5 s, heartbeats every second), or its channel closed."""
        if event.replica_group is None or event.broker_id is None:
            return
        timeout_us = (event.duration_ms or 0) * 1000
        early, late = (timeout_us + POLL, timeout_us - SECOND) if timeout_us else (0, 0)
        times = event.at - early, event.by - late
        self.lost.append(
            LostBroker(event.replica_group, event.broker_id, *times, event.event_id, closed=not timeout_us)
        )

    def _on_not_committed(self, event: FoldEvent) -> None:
        self._confirm(False)

    def _confirm(self, committed: bool) -> None:
        if self._waiting is not None:
            self.decisions[self._waiting] = replace(self.decisions[self._waiting], committed=committed)
            self._waiting = None


def _broken_rules(emit: FactWriter, checked: Checked) -> Iterator[Fact]:
    for verdict, event in checked.violations:
        yield ControllerRuleBroken(
            *emit.at(event),
            term=event.term,
            peer=event.node if event.kind == "JR_ELECT" else event.peer,
            broker_id=event.broker_id,
            decision=event.decision or event.result,
            rule=verdict.rule,
            start_offset=event.start_offset,
            end_offset=event.max_offset,
            count=event.count,
            line=event.kind,
        )


def _code_fact(emit: FactWriter, code: str, noted: Noted, *, accepted: bool) -> Iterator[Fact]:
    """``registerCheckCode`` is ``address;epoch ms`` (RocketMQ ReplicasManager#createTempMetadataFile)."""
    made_at = code.rpartition(";")[2]
    if made_at.isdigit() and len(made_at) <= 15:
        yield RegisterCode(*emit.about(None, noted), register_code=code, made_ms=int(made_at), accepted=accepted)


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
