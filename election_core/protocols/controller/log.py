"""What brokers and controllers of the controller mode log, as state machines.

Sources: RocketMQ ``ReplicasManager`` (a broker's own role), ``AutoSwitchHAClient`` (how a returning master cuts
its log), ``ReplicasInfoManager`` and ``DLedgerController`` (the controllers' decisions).

A broker is master from "Begin to change to master" on: the line that closes the change may come many seconds
later, when a name server cannot be reached. A controller's "Elect new master" is a proposal: it is printed before
it is replicated; a JRaft controller prints after the commit, on every node, and again when it re-reads its log.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

from election_replay.election_core.fold.checks import Checked
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker, Timestamped
from election_replay.election_core.fold.identity import BROKER
from election_replay.election_core.fold.periodic import PER_PEER_ADDRESS, Periodic
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import FOLLOWER, LEADER, UNKNOWN, Span, Step, merged, spans
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, LogCut, LogEndedEarlier, MemberAddress, TermWentBack
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.checks import (
    acknowledgements,
    caught_up,
    clause,
    cut_point,
    epoch_ahead,
    epoch_refused,
    first_set,
    set_wanted,
)
from election_replay.election_core.protocols.controller.facts import (
    AckSetting,
    AcksTimedOut,
    AllAck,
    EpochAhead,
    RegisterCode,
    SetRefused,
)
from election_replay.election_core.protocols.controller.reach import unreached
from election_replay.election_core.protocols.controller.replication import Replication
from election_replay.election_core.protocols.controller.service import Service
from election_replay.election_core.protocols.controller.tables import ALL, EpochEntries

PROTOCOL = "controller"

ACKNOWLEDGING = ("allAckInSyncStateSet", "inSyncReplicas", "minInSyncReplicas", "asyncLearner")
"""Settings that decide how many replicas must have a message before it is acknowledged (``CommitLog#needHandleHA``)."""

COPIES = "TRANSFER"
"""The state of a slave's connection while it copies its master's log (``HAConnectionState``)."""

_MASTER_ROLES = frozenset({"SYNC_MASTER", "ASYNC_MASTER", "MASTER"})


@dataclass(frozen=True, slots=True)
class Cut:
    """A replica compared its log with its new master's and cut it, or failed to.

    Byte offsets: its log ended at ``log_end`` (None up to 5.1.0, which do not print it); ``common`` is the last point
    in common. ``epoch`` is the last epoch in its own epoch file. ``done`` is False when the cut failed, so that the
    logs differ from there on.
    """

    at: int
    by: int
    log_end: int | None
    common: int
    epoch: int | None
    done: bool
    evidence: tuple[str, ...]

    @property
    def event_id(self) -> str:
        """The id of the line that ends the comparison."""
        return self.evidence[-1]


@dataclass(slots=True)
class Comparison:
    """The last comparison of a slave's log with its master's: the epoch records of both, and the thread that made it.

    ``local_end``: the line that shows where the slave's log ended; ``common``: the line with the common point.
    ``cut_away``: epochs of its record that begin at or after its last cut, so that they are no longer part of the log.
    """

    master: EpochEntries | None = None
    replica: EpochEntries | None = None
    local_end: FoldEvent | None = None
    common: FoldEvent | None = None
    thread: str | None = None
    cut_away: EpochEntries = ()


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
    service: Service = field(default_factory=Service)
    following: Replication = field(default_factory=Replication)
    controllers_lost: list[FoldEvent] = field(default_factory=list)
    back: list[tuple[int, FoldEvent, FoldEvent]] = field(default_factory=list)
    _reached: tuple[int, FoldEvent] | None = None
    _new_master: bool = False
    _caught_up: FoldEvent | None = None
    _prints_ends: bool = False
    _comparison: Comparison = field(default_factory=Comparison)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of one of this broker's logs; lines of one stream come in program order."""
        _BROKER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this broker proves about its broker set."""
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
        yield from unreached(emit, self.controllers_lost)
        for (node, address), event in sorted(self.members.items()):
            yield MemberAddress(*emit.about(node, event), address=address)
        for reached, shown, start in self.back:
            after = start.max_offset or 0
            yield LogEndedEarlier(*emit.at(start), before=reached, after=after, evidence=(shown.event_id,))
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
            yield from code_fact(emit, code, event, accepted=False)
        for before, step in self._epochs_back(emit.incarnations):
            speaking = step.node or emit.node_at(step.at)
            yield TermWentBack(
                *emit.during(speaking, step.at, step.by, step.event_id),
                before=before.term or 0,
                after=step.term or 0,
                evidence=(before.event_id,) if before.event_id else (),
            )
        for refused in self.refused:
            yield SetRefused(
                *emit.at(refused),
                term=refused.term,
                members=refused.members,
                set_epoch=refused.sync_state_set_epoch,
                code=refused.code,
            )
        yield from self.service.facts(emit)
        yield from self.following.facts(emit)
        yield from self._checks(emit, identity.settings.get("allAckInSyncStateSet"))
        yield from _acknowledging(emit, identity.settings)

    def _checks(self, emit: FactWriter, all_ack: FoldEvent | None) -> Iterator[Fact]:
        for event in self.ahead:
            yield EpochAhead(*emit.at(event), term=event.term, known_epoch=event.max_term)
        for event in self.timeouts:
            self.checked.note(acknowledgements(event, all_ack), event)
        for event in self.first_sets:
            self.checked.note(first_set(event, emit.node_at(event.at)), event)
        yield from self.checked.tallied(emit, None)
        yield from self.checked.broken(emit, clause)
        yield from _timed_out(emit, self.timeouts)
        shown = all_ack or next((event for event in self.timeouts if event.count == ALL), None)
        if shown is not None:
            yield AllAck(*emit.at(shown), configured=shown is not all_ack or shown.value == "true")

    def role_spans(self, emit: FactWriter) -> Iterator[Span]:
        """Return the role spans; a broker has no role until it hears from the controllers."""
        named = sorted(self._with_ids(self._all_steps(emit.incarnations), emit), key=lambda step: step.at)
        named = self.following.without_following(named, emit.incarnations)
        return spans(merged_in_lives(named, emit.incarnations), emit.incarnations, UNKNOWN)

    def _epochs_back(self, incarnations: list[Incarnation]) -> Iterator[tuple[Step, Step]]:
        """Yield (step of the larger epoch, later step of a smaller one) within one run of the process.

        A broker takes a role only with a larger epoch (``ReplicasManager#changeToMaster``); the epoch is not persistent
        and starts at 0 with each process. Also yields two roles that began in one epoch.
        """
        largest: dict[int, tuple[int, Step]] = {}
        for step in self.steps:
            life = incarnation_at(incarnations, step.at)
            if step.term is None:
                continue
            epoch, of_epoch = largest.setdefault(life, (step.term, step))
            if step.term < epoch:
                yield of_epoch, step
            elif step.term > epoch:
                largest[life] = step.term, step
        for before, step in pairwise(self.began):
            same_life = incarnation_at(incarnations, before.at) == incarnation_at(incarnations, step.at)
            if same_life and before.term == step.term is not None and before.role != step.role:
                yield before, step

    def _all_steps(self, incarnations: list[Incarnation]) -> list[Step]:
        """Return the steps of ``broker.log``, and those of ``store.log`` whose line the appender dropped in
        ``broker.log``."""
        known = {(incarnation_at(incarnations, step.at), step.role, step.term) for step in self.steps}
        dropped = [
            step
            for step in self.replication
            if (incarnation_at(incarnations, step.at), step.role, step.term) not in known
        ]
        shown = sorted((step.at, step.by) for step in (*self.steps, *self.replication)) if dropped else []
        latest = list(accumulate((by for _, by in shown), max))
        return self.steps + [_begun_before(step, shown, latest, incarnations) for step in dropped]

    def _with_ids(self, steps: list[Step], emit: FactWriter) -> Iterator[Step]:
        for step in steps:
            node = step.node or emit.node_at(step.at)
            leader = node if step.role == LEADER else step.leader
            yield replace(step, node=node, leader=leader)

    # -- roles ------------------------------------------------------------------------------------------

    def _on_master_begin(self, event: FoldEvent) -> None:
        self._new_master = True
        self.service.begin(event)
        self.steps.append(
            Step(event.at, event.by, LEADER, event.term, None, event.event_id, "elected", address=event.address)
        )
        self.began.append(self.steps[-1])

    def _on_slave_begin(self, event: FoldEvent) -> None:
        self._note_member(event.peer, event.peer_address, event)
        self._note_member(event.node, event.address, event)
        self.steps.append(
            Step(event.at, event.by, FOLLOWER, event.term, event.peer, event.event_id, "told", node=event.node)
        )
        self.began.append(self.steps[-1])
        self._new_master = False
        self.service.end(event)

    def _on_role_done(self, event: FoldEvent) -> None:
        """Take the end of a role change; it prints the values at the time of printing, so it only fills a gap."""
        self._note_member(event.node, event.address, event)
        role = LEADER if event.role in _MASTER_ROLES else FOLLOWER
        if (role == LEADER) != (event.peer == event.node) and event.peer is not None:
            return
        if role == LEADER:
            self.service.role_changed(event)
        if any((step.role, step.term) == (role, event.term) for step in self.steps[-4:]):
            return
        leader = event.node if role == LEADER else event.peer or event.peer_address
        last = self.steps[-1] if self.steps else None
        if last is not None and last.role == role and last.term is None:  # up to 5.1.0 only this line prints the epoch
            self.steps[-1] = replace(last, term=event.term, leader=leader)
            return
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
        self.service.registration(event, done=False)

    def _on_registered(self, event: FoldEvent) -> None:
        self.service.registration(event, done=True)

    def _on_producer(self, event: FoldEvent) -> None:
        self.service.producer(event)

    def _on_ha_master(self, event: FoldEvent) -> None:
        self._reached = None
        self.following.ended(event)
        self.replication.append(Step(event.at, event.by, LEADER, event.term, None, event.event_id, "elected"))

    def _on_ha_slave(self, event: FoldEvent) -> None:
        self.following.ended(event)
        self.replication.append(Step(event.at, event.by, FOLLOWER, event.term, None, event.event_id, "told"))

    def _on_set_refused(self, event: FoldEvent) -> None:
        self.refused.append(event)

    def _on_controller_lost(self, event: FoldEvent) -> None:
        self.controllers_lost.append(event)

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
        self._comparison.master, self._comparison.replica = event.epoch_entries, None
        if event.epoch_entries:
            self.following.read(event.epoch_entries[-1][0], event)

    def _on_local_epochs(self, event: FoldEvent) -> None:
        self._comparison.replica, self._comparison.common = event.epoch_entries, None
        self._comparison.thread = event.thread
        self._prints_ends = True
        self._comparison.local_end = event if event.epoch_entries and event.epoch_entries[-1][2] is not None else None

    def _on_common_point(self, event: FoldEvent) -> None:
        self._comparison.common = event
        self.checked.note(cut_point(event, self._comparison.master, self._comparison.replica), event)
        self._comparison.master = self._comparison.replica = None

    def _on_loaded(self, event: FoldEvent) -> None:
        """Take the end of the log at a start: it is not before what the log had reached, unless the log was cut."""
        if event.max_offset is not None and self._reached is not None and event.max_offset < self._reached[0]:
            self.back.append((*self._reached, event))
        self._reached = None

    def _on_caught_up(self, event: FoldEvent) -> None:
        """Take a slave that copied its master's log, this one, to an offset."""
        if event.max_offset is not None and (self._reached is None or self._reached[0] < event.max_offset):
            self._reached = event.max_offset, event
        self._caught_up = event
        self.checked.note(caught_up(event), event)

    def _on_set_wanted(self, event: FoldEvent) -> None:
        if self._caught_up is not None:
            self.checked.note(set_wanted(event, self._caught_up), event)
            self._caught_up = None

    def _on_epoch_refused(self, event: FoldEvent) -> None:
        self.checked.note(epoch_refused(event, self._comparison.cut_away), event)

    def _on_epoch_ahead(self, event: FoldEvent) -> None:
        self.checked.note(epoch_ahead(event), event)
        self.ahead.append(event)

    def _on_ack_timeout(self, event: FoldEvent) -> None:
        self.timeouts.append(event)

    def _on_no_point(self, event: FoldEvent) -> None:
        self._comparison.local_end, self._comparison.thread = None, event.thread
        self.following.failed(event)

    def _on_state(self, event: FoldEvent) -> None:
        """Take a slave's change to copying, which follows a cut that worked; since 5.4.0 no other line shows that it
        did. A master's connections print their states in threads of their own."""
        if event.value == COPIES and event.thread == self._comparison.thread:
            self._on_cut(event)

    def _on_cut(self, event: FoldEvent) -> None:
        """Take a slave's line that it cut its log, or had nothing to cut."""
        self._reached = None
        self.following.ended(event)
        if event.start_offset is not None and not self._prints_ends:
            self.cuts.append(Cut(event.at, event.by, None, event.start_offset, None, True, (event.event_id,)))
        self._compare(event, done=True)

    def _on_cut_failed(self, event: FoldEvent) -> None:
        self._reached = None
        self._comparison.thread = event.thread
        self.following.failed(event)
        self._compare(event, done=False)

    def _compare(self, event: FoldEvent, *, done: bool) -> None:
        local, self._comparison.local_end = self._comparison.local_end, None
        common = event.start_offset
        if common is None and self._comparison.common is not None:
            common = self._comparison.common.start_offset
        if local is None or not local.epoch_entries or common is None or common < 0:
            return
        epoch, _, end = local.epoch_entries[-1]
        if done:
            self._comparison.cut_away = tuple(entry for entry in local.epoch_entries if entry[1] >= common)
        if end is not None:
            evidence = (local.event_id, event.event_id)
            self.cuts.append(Cut(event.at, event.by, end, common, epoch, done, evidence))


_BROKER_HANDLERS: dict[str, Callable[[BrokerLog, FoldEvent], None]] = {
    "BRK_MASTER_BEGIN": BrokerLog._on_master_begin,
    "BRK_SLAVE_BEGIN": BrokerLog._on_slave_begin,
    "BRK_ROLE_DONE": BrokerLog._on_role_done,
    "BRK_ROLE_REG_ERR": BrokerLog._on_not_registered,
    "BRK_REG_NS_FAILED": BrokerLog._on_not_registered,
    "BRK_REG_NS_OK": BrokerLog._on_registered,
    "BRK_PRODUCER_NEW": BrokerLog._on_producer,
    "BRK_REG_TEMP": BrokerLog._on_identity,
    "BRK_SSS_ALTER_ERR": BrokerLog._on_set_refused,
    "BRK_REG_APPLIED": BrokerLog._on_identity,
    "HA_MASTER": BrokerLog._on_ha_master,
    "HA_MASTER_AGAIN": BrokerLog._on_ha_master,
    "HA_SLAVE": BrokerLog._on_ha_slave,
    "HA_SLAVE_AGAIN": BrokerLog._on_ha_slave,
    "BRK_SSS_CHANGED": BrokerLog._on_set_changed,
    "BRK_CTL_UNREACHABLE": BrokerLog._on_controller_lost,
    "HA_CAUGHT_UP": BrokerLog._on_caught_up,
    "STORE_LOADED": BrokerLog._on_loaded,
    "HA_SSS_WANTED": BrokerLog._on_set_wanted,
    "HA_ACK_TIMEOUT": BrokerLog._on_ack_timeout,
    "HA_MASTER_STALE": BrokerLog._on_epoch_ahead,
    "HA_SLAVE_STALE": BrokerLog._on_epoch_ahead,
    "EPOCH_APPEND_ERR": BrokerLog._on_epoch_refused,
    "HA_CLIENT_EPOCHS_MASTER": BrokerLog._on_master_epochs,
    "HA_CLIENT_EPOCHS_LOCAL": BrokerLog._on_local_epochs,
    "HA_CLIENT_CUT_AT": BrokerLog._on_common_point,
    "HA_CLIENT_NO_POINT": BrokerLog._on_no_point,
    "HA_CLIENT_CUT": BrokerLog._on_cut,
    "HA_STATE": BrokerLog._on_state,
    "HA_CLIENT_CUT_ERR": BrokerLog._on_cut_failed,
}

BROKER_KINDS = frozenset(_BROKER_HANDLERS)
"""The events that the fold of a broker's logs reads."""
PERIODIC: Mapping[str, Periodic] = dict.fromkeys(("BRK_REG_NS_FAILED", "BRK_REG_NS_OK"), PER_PEER_ADDRESS)
"""Registrations at the name servers come every ten to sixty seconds."""
_IN_BROKER_LOG = frozenset({"BRK_MASTER_BEGIN", "BRK_REG_APPLIED", "BRK_REG_TEMP", "BRK_ROLE_DONE", "BRK_SLAVE_BEGIN"})
_IN_STORE_LOG = frozenset({"HA_MASTER", "HA_MASTER_AGAIN", "HA_SLAVE", "HA_SLAVE_AGAIN"})
TELLS_ROLES = _IN_BROKER_LOG | _IN_STORE_LOG
"""Lines that state a broker's role: those of the broker itself, and of its store, which changes with it."""


def merged_in_lives(steps: list[Step], incarnations: list[Incarnation]) -> list[Step]:
    """Return the steps without repetitions, each run of the process on its own."""
    kept: list[Step] = []
    for number in sorted({incarnation_at(incarnations, step.at) for step in steps}):
        kept += merged([step for step in steps if incarnation_at(incarnations, step.at) == number])
    return kept


def code_fact(emit: FactWriter, code: str, noted: Timestamped, *, accepted: bool) -> Iterator[Fact]:
    """Yield the time in a ``registerCheckCode``, ``address;epoch ms`` (``ReplicasManager#createTempMetadataFile``)."""
    printed = code.rpartition(";")[2]
    made_ms = digits.number(printed) if len(printed) <= 15 else None
    if made_ms is not None:
        yield RegisterCode(*emit.about(None, noted), register_code=code, made_ms=made_ms, accepted=accepted)


def _acknowledging(emit: FactWriter, settings: Mapping[str, FoldEvent]) -> Iterator[Fact]:
    """Yield the settings by which the broker acknowledges messages, as far as its log prints them."""
    for name in ACKNOWLEDGING:
        event = settings.get(name)
        if event is not None and event.value is not None:
            yield AckSetting(*emit.at(event), name=name, setting_value=event.value)


def _timed_out(emit: FactWriter, timeouts: Iterable[FoldEvent]) -> Iterator[Fact]:
    """Yield the episodes in which messages were not acknowledged in time."""
    runs: list[list[FoldEvent]] = []
    for event in timeouts:
        if runs and event.at - runs[-1][-1].by <= Timeout.WRITE_EPISODE.us:
            runs[-1].append(event)
        else:
            runs.append([event])
    for run in runs:
        first, last = run[0], run[-1]
        ends = [event.max_offset for event in run if event.max_offset is not None]
        yield AcksTimedOut(
            *emit.during(emit.node_at(first.at), first.at, first.by, first.event_id, last.at, last.by, last.event_id),
            count=len(run),
            end_offset=max(ends, default=None),
            all_of_set=all(event.count == ALL for event in run),
        )


def _begun_before(
    step: Step, shown: Sequence[tuple[int, int]], latest: Sequence[int], incarnations: Sequence[Incarnation]
) -> Step:
    """Return a step of ``store.log`` from the moment at which it may have begun: its line comes when the broker has
    changed its role. ``shown`` are all steps as (at, by), ``latest`` the last ``by`` up to each."""
    since = step.at - Timeout.BROKER_ROLE_CHANGE.us
    if earlier := bisect_left(shown, (step.at,)):
        since = max(since, latest[earlier - 1])
    if incarnations:
        since = max(since, incarnations[incarnation_at(incarnations, step.at)].first_seen)
    return replace(step, at=min(since, step.at))
