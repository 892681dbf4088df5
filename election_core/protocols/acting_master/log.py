"""State machines over the logs of brokers with a configured master, and of their name servers.

Id 0 is the master by configuration. While the name servers' tables hold no id 0, the smallest id in them acts: it
answers reads and runs the special services (delayed messages, transaction checks, pop revive).

No line says who acts. A slave prints which id it believes to be the smallest (``BrokerController#updateMinBroker``) and
then switches its special services (``BrokerController#changeSpecialServiceStatus``). A master prints when it serves
(``#startService``), and never reacts to another minimum. "boot success" is printed before pre-online is over, so it
starts no role.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import BROKER, ELECTED_MODE_SETTINGS, NAMESERVER
from election_replay.election_core.fold.periodic import PER_PEER_ADDRESS, Periodic
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import ACTING, FOLLOWER, LEADER, UNKNOWN, Step, merged, spans
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, MemberAddress
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import Timeout, Timing
from election_replay.election_core.protocols.acting_master.facts import (
    ActingEnabled,
    AgainstMinimum,
    BrokerRegistered,
    PreOnlineAttempt,
    SmallestId,
    TopicPermission,
)
from election_replay.election_core.protocols.acting_master.tables import MASTER_ID, acts, is_smaller

PROTOCOL = "acting_master"


def min_id_propagation_us(timing: Timing) -> int:
    """Return the most time in us until a broker learns of a new smallest id: poll, its time-out, second of the line."""
    return timing.us(Timeout.MEMBER_GROUP_POLL) + Timeout.MEMBER_GROUP_ANSWER.us


STILL_OPEN, DROPPED, EXPIRED = "open", "dropped", "expired"
FAILING = "failing"

_SERVICES = frozenset({"BRK_SCHEDULE", "BRK_TX_CHECK", "BRK_POP_REVIVE"})
_CHANGES = frozenset({"BRK_SCHEDULE", "BRK_TX_CHECK"})
"""Lines that are printed only when a service is switched."""
_SERVICE_ON = frozenset({"BRK_SERVICE_ON", "BRK_SERVICE_ON_MIN"})
_SAYS_OWN_ID = frozenset({"BRK_SERVICE_ON", "BRK_SERVICE_ON_MIN", "BRK_SERVICE_OFF", "PRE_NOT_NEEDED"})
_MASTER_ROLES = frozenset({"SYNC_MASTER", "ASYNC_MASTER"})

_PRE_FAILED = frozenset(
    {
        "PRE_ERR",
        "PRE_HA_INFO_ERR",
        "PRE_NO_HA",
        "PRE_NS_ERR",
        "PRE_PERSIST_ERR",
        "PRE_REVERSE_ERR",
        "PRE_SEND_ERR",
        "PRE_WAIT_ERR",
        "PRE_WAIT_LOST",
    }
)
_PRE_DONE = frozenset(
    {
        "PRE_ALONE",
        "PRE_MASTER_DONE",
        "PRE_NOT_NEEDED",
        "PRE_NO_HA_ADDR",
        "PRE_NO_MASTER",
        "PRE_SLAVE_DONE",
        *_SERVICE_ON,
    }
)
_PRE_OF_MASTER = frozenset({"PRE_MASTER_DONE", "PRE_PERSIST_ERR", "PRE_REVERSE", "PRE_REVERSE_ERR", "PRE_SEND_ERR"})
"""Only id 0 sends its address to the slaves and reads their metadata
(``BrokerPreOnlineService#prepareForMasterOnline``)."""

_OTHER_MODE = frozenset(
    {
        "BRK_MASTER_BEGIN",
        "BRK_ROLE_DONE",
        "BRK_SLAVE_BEGIN",
        "DLB_MASTER_BEGIN",
        "DLB_ROLE_BEGIN",
        "DLB_SLAVE_BEGIN",
        "DL_LISTEN",
        "DL_STATUS",
        "DL_STATUS_FSM",
        "DL_TO_CANDIDATE",
        "DL_TO_FOLLOWER",
        "DL_TO_LEADER",
        "HA_KIND_AUTO",
        "HA_MASTER",
        "HA_SLAVE",
    }
)
"""Lines of a broker whose master is elected: by a controller or by DLedger."""


@dataclass(slots=True)
class PreOnline:
    """One run of ``BrokerPreOnlineService``: its failures and its end; an end of None means it is still running."""

    begin: FoldEvent
    as_master: bool = False
    failures: int = 0
    first_failure: FoldEvent | None = None
    last_failure: FoldEvent | None = None
    end: FoldEvent | None = None


@dataclass(slots=True)
class BrokerLog:
    """The state machine of one broker's logs. A line is ambiguous without the broker's own id, which may be printed
    much later. So lines are kept, without repetitions, and read run by run at the end."""

    signals: list[FoldEvent] = field(default_factory=list)
    pre_onlines: list[PreOnline] = field(default_factory=list)
    elected_mode: bool = False
    _stopping: FoldEvent | None = None
    _after_stop: list[tuple[int, FoldEvent]] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line; lines of one stream come in program order."""
        if event.kind in _OTHER_MODE:
            self.elected_mode = True
        elif event.kind == "BRK_SHUTDOWN_BEGIN":
            self._after_stop.append((len(self.signals), event))
            self._stopping = event
        else:
            if event.kind == "BRK_BOOT":
                self._stopping = None
            if event.kind in _SIGNALS and not self._repeats(event):
                self.signals.append(event)
            if event.kind.startswith("PRE_") or event.kind in _SERVICE_ON:
                self._on_pre_online(event)

    def _repeats(self, event: FoldEvent) -> bool:
        """Return True for a registration right after a registration: one comes every 30 s."""
        return event.kind == "BRK_REG_NS_OK" and bool(self.signals) and self.signals[-1].kind == event.kind

    def _on_pre_online(self, event: FoldEvent) -> None:
        if event.kind == "PRE_BEGIN":
            self._stopping = None
            self.pre_onlines.append(PreOnline(event))
            return
        if self._stopping is not None:
            return
        running = self.pre_onlines[-1] if self.pre_onlines and self.pre_onlines[-1].end is None else None
        if event.kind in _PRE_FAILED and running is None:
            running = PreOnline(event)
            self.pre_onlines.append(running)
        if running is None:
            return
        running.as_master |= event.kind in _PRE_OF_MASTER
        if event.kind in _PRE_FAILED:
            running.failures += 1
            running.first_failure = running.first_failure or event
            running.last_failure = event
        elif event.kind in _PRE_DONE:
            running.end = event

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this broker proves about its broker set."""
        if self._elects_its_master(speaker) or not self.signals:
            return
        group = _broker_set(speaker, self.signals)
        if group is None:
            return
        incarnations = speaker.incarnations.get(BROKER, [])
        acting_mode = self._acting_mode(speaker)
        readings = self._read(speaker, incarnations, min_id_propagation_us(speaker.timing_of(group)))

        def node_at(time: int) -> str | None:
            return readings[incarnation_at(incarnations, time)].own_id if incarnations else None

        emit = speaker.about(group, PROTOCOL, stream, node_at)
        steps = [step for reading in readings for step in merged(sorted(reading.steps, key=lambda step: step.at))]
        yield from emit.roles(spans(steps, incarnations, UNKNOWN))
        yield from emit.alive()
        yield from emit.silences()
        yield from self._members(emit)
        if acting_mode is not None:
            yield ActingEnabled(*emit.at(acting_mode))
        for reading in readings:
            yield from reading.facts(emit)
        for attempt in self.pre_onlines:
            yield _pre_online_fact(emit, attempt)

    def _elects_its_master(self, speaker: Speaker) -> bool:
        """Return True when the set's master is elected, so that none of these rules apply."""
        return self.elected_mode or any(speaker.identity.setting(name) == "true" for name in ELECTED_MODE_SETTINGS)

    def _acting_mode(self, speaker: Speaker) -> FoldEvent | None:
        """Return the line that shows enableSlaveActingMaster on: the setting, or a line printed only in that mode."""
        setting = speaker.identity.settings.get("enableSlaveActingMaster")
        if setting is not None:
            return setting if setting.value == "true" else None
        attempt = next((attempt.begin for attempt in self.pre_onlines), None)
        changed = next((signal for signal in self.signals if signal.kind == "BRK_MIN_CHANGED"), None)
        return attempt or changed

    def _read(self, speaker: Speaker, incarnations: list[Incarnation], notice_us: int) -> list["Reading"]:
        """Return one reading for each run of the process, with its lines in order."""
        cannot_act = _cannot_act(speaker)
        by_life: dict[int, list[FoldEvent]] = {number: [] for number in range(max(len(incarnations), 1))}
        stops = [(index, incarnation_at(incarnations, stop.at)) for index, stop in self._after_stop]
        for index, signal in enumerate(self.signals):
            number = incarnation_at(incarnations, signal.at)
            # A broker that shuts down takes no role, whatever it still prints.
            if not any(index >= stopped and number == life for stopped, life in stops):
                by_life[number].append(signal)
        readings = []
        for number, of_life in by_life.items():
            signals = sorted(of_life, key=lambda signal: signal.at)
            own_id = self._own_id(speaker, signals)
            life = incarnations[number] if incarnations else None
            reading = Reading(own_id, cannot_act, life.start or life.first_seen if life else 0, notice_us)
            reading.read(signals)
            readings.append(reading)
        return readings

    def _own_id(self, speaker: Speaker, signals: list[FoldEvent]) -> str | None:
        """Return the broker's id: from its lines in this run or another, its address, its settings, or the
        inventory."""
        for candidates in (signals, self.signals):
            ids = [signal.broker_id for signal in candidates if signal.kind in _SAYS_OWN_ID and signal.broker_id]
            if ids:
                return ids[-1]
        addresses = {signal.address for signal in self.signals if signal.kind == "BRK_BOOT"}
        for signal in self.signals:
            if signal.kind == "BRK_MIN_CHANGED" and signal.peer_address in addresses:
                return signal.peer
        configured = speaker.identity.setting("brokerId")
        if speaker.identity.setting("brokerRole") in _MASTER_ROLES:
            return MASTER_ID
        if digits.number(configured) is not None and configured != MASTER_ID:
            return configured
        return speaker.listed.member

    def _members(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield the addresses of members that this broker prints."""
        known: dict[tuple[str, str], FoldEvent] = {}
        for signal in self.signals:
            if signal.kind in ("BRK_MIN_CHANGED", "BRK_SERVICE_ON_MIN") and signal.peer and signal.peer_address:
                known.setdefault((signal.peer, signal.peer_address), signal)
            elif signal.kind == "BRK_BOOT" and signal.address:
                node = emit.node_at(signal.at)
                if node is not None:
                    known.setdefault((node, signal.address), signal)
        for (node, address), signal in sorted(known.items()):
            yield MemberAddress(*emit.about(node, signal), address=address)
        for signal in self.signals:
            # Kept without an id too: another member may know whose address it is.
            if signal.kind == "BRK_BOOT" and signal.address and emit.node_at(signal.at) is None:
                yield MemberAddress(*emit.about(None, signal), address=signal.address)


def _cannot_act(speaker: Speaker) -> bool:
    """Return True when the log shows that no slave may act: by the setting, or by a 4.x settings dump. Releases 4.x do
    not know the setting and print the broker's id."""
    setting = speaker.identity.setting("enableSlaveActingMaster")
    return setting == "false" or (setting is None and speaker.identity.setting("brokerId") is not None)


def _broker_set(speaker: Speaker, signals: list[FoldEvent]) -> str | None:
    """Return the broker set's name: from its own lines, an unambiguous ``cluster_name_id``, or the inventory."""
    named = speaker.identity.broker_set or speaker.identity.setting("brokerName")
    if named is not None:
        return named
    for signal in signals:
        parts = (signal.value or "").split("_") if signal.kind in _SAYS_OWN_ID else []
        if len(parts) == 3:
            return parts[1]
    return speaker.broker_set


def _pre_online_fact(emit: FactWriter, attempt: PreOnline) -> Fact:
    end, last = attempt.end, attempt.last_failure
    first = attempt.first_failure or attempt.begin
    until = end or last
    ended = end.kind if end is not None else FAILING if last is not None else STILL_OPEN
    return PreOnlineAttempt(
        *emit.about(emit.node_at(attempt.begin.at), first, until),
        outcome=ended,
        failed_at=last.kind if last is not None else None,
        failures=attempt.failures,
        as_master=attempt.as_master,
        error=last.result if last is not None else None,
    )


@dataclass(slots=True)
class Reading:
    """The lines of one run of a broker, read in order with its own id known; ``begin`` and ``notice_us`` are in us."""

    own_id: str | None
    cannot_act: bool
    begin: int
    notice_us: int
    steps: list[Step] = field(default_factory=list)
    against: list[tuple[FoldEvent, FoldEvent]] = field(default_factory=list)
    views: list[FoldEvent] = field(default_factory=list)
    registrations: list[FoldEvent] = field(default_factory=list)
    _minimum: str | None = None
    _last: FoldEvent | None = None
    _later_lines: list[FoldEvent] = field(default_factory=list)
    _switched: dict[str, bool] = field(default_factory=dict)

    def read(self, signals: list[FoldEvent]) -> None:
        """Take all lines of the run, in order."""
        for number, signal in enumerate(signals):
            self._later_lines = signals[number + 1 :]
            _READERS[signal.kind](self, signal)
            self._last = signal

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield what this run proves besides roles."""
        for number, view in enumerate(self.views):
            after = self.views[number + 1] if number + 1 < len(self.views) else None
            # The next change names the old minimum; if it is not this one, a change in between is missing.
            ended = after if after is not None and after.value_before == view.peer else None
            yield SmallestId(*emit.at(view, until=ended), peer=view.peer, address=view.peer_address)
        for registration in self.registrations:
            yield BrokerRegistered(*emit.at(registration))
        for knew, acted in self.against:
            after = next((view for view in self.views if view.at > knew.at or view.by > knew.by), None)
            confirmed = after is not None and after.value_before == knew.peer
            evidence = (knew.event_id, acted.event_id, *((after.event_id,) if after is not None and confirmed else ()))
            yield AgainstMinimum(*emit.at(acted), peer=knew.peer, confirmed=confirmed, evidence=evidence)

    @property
    def role(self) -> str | None:
        """The role by the last step of this run; None before the first."""
        return self.steps[-1].role if self.steps else None

    def _under(self, minimum: str | None) -> tuple[str, str | None]:
        """Return role and leader while ``minimum`` is the smallest live id (``BrokerController#startService``,
        ``#onMinBrokerChange``)."""
        if self.own_id == MASTER_ID:
            return LEADER, MASTER_ID
        if self.own_id is not None and acts(self.own_id, minimum):
            return ACTING, self.own_id
        return FOLLOWER, minimum

    def _take(
        self,
        event: FoldEvent,
        role: tuple[str, str | None],
        cause: str,
        at: int | None = None,
    ) -> None:
        node = MASTER_ID if role[0] == LEADER else self.own_id
        since = event.at if at is None else min(at, event.at)
        self.steps.append(Step(since, event.by, role[0], None, role[1], event.event_id, cause, node))

    def _on_service(self, event: FoldEvent) -> None:
        self._minimum = event.peer
        self._take(event, self._under(event.peer), "service_on")

    def _on_service_off(self, event: FoldEvent) -> None:
        self._take(event, (UNKNOWN, None), "isolated")

    def _on_not_needed(self, event: FoldEvent) -> None:
        if self.role is None:
            self._take(event, self._under(None), "online")

    def _on_minimum(self, event: FoldEvent) -> None:
        old, new = event.value_before, event.peer
        if old is not None and old != self._minimum and self.own_id != MASTER_ID:
            self._add_lost_change(event, old)
        self._minimum = new
        self.views.append(event)
        self._take(event, self._under(new), "min_changed")

    def _add_lost_change(self, event: FoldEvent, old: str) -> None:
        """Add the step of a change whose line was lost: it happened at some time after the last line that is there."""
        role, leader = self._under(old)
        since = self._last.at if self._last is not None else self.begin
        self.steps.append(Step(since, event.by, role, None, leader, event.event_id, "seen_later", self.own_id))

    def _on_services(self, event: FoldEvent) -> None:
        if event.kind in _CHANGES:
            if event.flag and self._switched.get(event.kind) and self.role == ACTING:
                self._stopped_unseen(event)
            self._switched[event.kind] = bool(event.flag)
        if event.flag:
            self._on_services_on(event)
        elif self.role == ACTING:
            self._take(event, (FOLLOWER, None), "services_off")
        elif self.role == LEADER:
            self._take(event, (UNKNOWN, None), "services_off")
        elif self.role is None:
            self._take(event, (FOLLOWER, MASTER_ID if self.cannot_act else None), "services_off")

    def _stopped_unseen(self, event: FoldEvent) -> None:
        """Add the step of a lost switch-off: services are switched on although they were on by the last line."""
        since = self._last.at if self._last is not None else self.begin
        self.steps.append(Step(since, event.by, FOLLOWER, None, None, event.event_id, "seen_later", self.own_id))
        self._switched.clear()

    def _on_services_on(self, event: FoldEvent) -> None:
        if self.role in (LEADER, ACTING):
            return
        if self.own_id == MASTER_ID or (self.own_id is None and self.cannot_act):
            self._take(event, (LEADER, MASTER_ID), "services_on")
        elif self.own_id is not None:
            knew = self._knew_smaller(event)
            if knew is not None:
                self.against.append((knew, event))
            self._take(event, (ACTING, self.own_id), "services_on" if knew is None else "against_minimum")

    def _knew_smaller(self, event: FoldEvent) -> FoldEvent | None:
        """Return the last change if it is recent and named a smaller id; an older one proves nothing, lines may be
        lost."""
        view = self.views[-1] if self.views else None
        if view is None or event.at - view.by > self.notice_us or not is_smaller(view.peer, self.own_id):
            return None
        return view

    def _on_master_address(self, event: FoldEvent) -> None:
        """Take the address from which metadata is copied: a name server answered with it, so it holds an id 0. It ends
        an acting time only where no later line gives the end: name servers may disagree for a moment."""
        if event.peer_address is None:
            return
        if self.role == FOLLOWER and self.steps[-1].leader is None:
            self._take(event, (FOLLOWER, MASTER_ID), "master_known")
        elif self.role == ACTING and not self._end_is_printed_later():
            self._take(event, (FOLLOWER, MASTER_ID), "master_known", self._last.at if self._last else None)

    def _end_is_printed_later(self) -> bool:
        for later in self._later_lines:
            if later.kind == "BRK_MIN_CHANGED":
                return later.value_before == self.own_id
            if later.kind in _SERVICES and not later.flag:
                return True
        return False

    def _on_registered(self, event: FoldEvent) -> None:
        """Take a registration: an isolated broker does not register, so this one serves."""
        if self.role is None and self.own_id is not None:
            self._take(event, self._under(None), "registered", self._last.at if self._last else self.begin)
        self.registrations.append(event)

    def _on_boot(self, event: FoldEvent) -> None:
        """Take "boot success": without slave acting master a broker is then online (``BrokerController#start``)."""
        if self.role is None and self.cannot_act and self.own_id is not None:
            role = (LEADER, MASTER_ID) if self.own_id == MASTER_ID else (FOLLOWER, MASTER_ID)
            self._take(event, role, "boot")


_READERS: dict[str, Callable[[Reading, FoldEvent], None]] = {
    "BRK_BOOT": Reading._on_boot,
    "BRK_MIN_CHANGED": Reading._on_minimum,
    "BRK_POP_REVIVE": Reading._on_services,
    "BRK_REG_NS_OK": Reading._on_registered,
    "BRK_SCHEDULE": Reading._on_services,
    "BRK_SERVICE_OFF": Reading._on_service_off,
    "BRK_SERVICE_ON": Reading._on_service,
    "BRK_SERVICE_ON_MIN": Reading._on_service,
    "BRK_TX_CHECK": Reading._on_services,
    "PRE_NOT_NEEDED": Reading._on_not_needed,
    "SYNC_MASTER": Reading._on_master_address,
}
_SIGNALS = frozenset(_READERS)

BROKER_KINDS = (
    _SIGNALS
    | _OTHER_MODE
    | _PRE_FAILED
    | _PRE_DONE
    | _PRE_OF_MASTER
    | {
        "BRK_SHUTDOWN_BEGIN",
        "PRE_BEGIN",
    }
)
"""The events that the fold of a broker's logs reads."""
TELLS_ROLES = frozenset(kind for kind in _READERS if kind.startswith("BRK_"))
"""Lines of the broker's own log that state its role."""

PERIODIC: Mapping[str, Periodic] = {"BRK_REG_NS_OK": PER_PEER_ADDRESS}
"""Registrations come every 30 s from each name server."""


# -- name servers ----------------------------------------------------------------------------------------------

_WRITE = 2
"""``PermName.PERM_WRITE``."""

_ADDRESS = re.compile(r"[^\s,\[\]]+:\d+")
"""One address in a list."""


@dataclass(slots=True)
class Registration:
    """An address in a name server's table of live brokers, from ``begin`` to ``end``; ``how`` it left."""

    address: str
    begin: FoldEvent
    end: FoldEvent | None = None
    how: str = STILL_OPEN
    timeout_ms: int | None = None


@dataclass(slots=True)
class Permissions:
    """Consecutive lines about one set's topics that agree about write permission."""

    group: str
    writable: bool
    first: FoldEvent
    last: FoldEvent
    lines: int = 1


@dataclass(slots=True)
class NameServerLog:
    """The state machine of one name server's log.

    A line about a live broker names neither its set nor its id. The first registration of a master, or of an acting
    slave, brings its topics, and the lines that its thread wrote just before name their set
    (``RouteInfoManager#registerBroker``). The brokers that are notified of a new smallest id are in the set of the
    broker that left (``RouteInfoManager#notifyMinBrokerIdChanged``). Facts are made for addresses whose set is known in
    one of these ways, and for all where a log names only one set: most slaves bring no topics. The brokers' own logs
    tell whose address it is.
    """

    sets: dict[str, set[str]] = field(default_factory=dict)
    notified_together: set[frozenset[str]] = field(default_factory=set)
    registrations: list[Registration] = field(default_factory=list)
    permissions: list[Permissions] = field(default_factory=list)
    _topics: dict[str | None, dict[str, int]] = field(default_factory=dict)
    _latest: dict[str, Registration] = field(default_factory=dict)
    _expired: dict[str, int | None] = field(default_factory=dict)
    _burst: dict[str, Permissions] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this name server's log."""
        _NAME_SERVER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this name server proves about broker sets; its table is empty once its process has ended."""
        sets, incarnations = self._sets(), speaker.incarnations.get(NAMESERVER, [])
        named = set[str]().union(*sets.values())
        for registration in self.registrations:
            candidates = sets.get(registration.address) or named
            if len(candidates) != 1:
                continue
            emit = speaker.about(next(iter(candidates)), PROTOCOL, stream)
            begin, ended = registration.begin, _registration_end(registration, incarnations)
            yield BrokerRegistered(
                *emit.during(emit.node_at(begin.at), begin.at, begin.by, begin.event_id, *ended),
                address=registration.address,
                end_cause=registration.how,
                silent_ms=registration.timeout_ms,
            )
        for seen in self.permissions:
            emit = speaker.about(seen.group, PROTOCOL, stream)
            yield TopicPermission(*emit.at(seen.first, until=seen.last), count=seen.lines, writable=seen.writable)

    def _sets(self) -> dict[str, set[str]]:
        """Return the sets that each address may belong to; brokers notified together share a set."""
        sets = {address: set(groups) for address, groups in self.sets.items()}
        changed = True
        while changed:
            changed = False
            for together in self.notified_together:
                groups = {group for address in together for group in sets.get(address, ())}
                for address in together:
                    changed |= not groups <= sets.setdefault(address, set())
                    sets[address] |= groups
        return sets

    def _on_smallest(self, event: FoldEvent) -> None:
        self.notified_together.add(frozenset(_ADDRESS.findall(f"{event.value} {event.address}")))

    def _on_topic(self, event: FoldEvent) -> None:
        group, permission = event.replica_group, digits.number(event.value)
        if group is None or permission is None:
            return
        self._topics.setdefault(event.thread, {})[group] = event.by
        if permission <= 1:
            # Internal topics without read or write permission say nothing about the set.
            return
        writable = bool(permission & _WRITE)
        burst = self._burst.get(group)
        if burst is not None and burst.writable == writable and event.at - burst.last.at <= Timeout.ONE_REGISTRATION.us:
            burst.last = event
            burst.lines += 1
            return
        self._burst[group] = Permissions(group, writable, event, event)
        self.permissions.append(self._burst[group])

    def _on_new(self, event: FoldEvent) -> None:
        if event.address is None:
            return
        topics = self._topics.pop(event.thread, {})
        groups = {group for group, by in topics.items() if event.at - by <= Timeout.ONE_REGISTRATION.us}
        if len(groups) == 1:
            self.sets.setdefault(event.address, set()).update(groups)
        self._latest[event.address] = Registration(event.address, event)
        self.registrations.append(self._latest[event.address])
        self._expired.pop(event.address, None)

    def _on_expired(self, event: FoldEvent) -> None:
        if event.address is not None:
            self._expired[event.address] = event.duration_ms

    def _on_left(self, event: FoldEvent) -> None:
        if event.address is None or event.result == "Failed":
            return
        latest = self._latest.pop(event.address, None)
        if latest is not None:
            latest.end = event
            latest.how = EXPIRED if event.address in self._expired else DROPPED
            latest.timeout_ms = self._expired.pop(event.address, None)


def _registration_end(
    registration: Registration, incarnations: list[Incarnation]
) -> tuple[int, int, str | None] | tuple[()]:
    """Return (at, by, event id) of a broker's removal: by its line, or by the end of the name server's process. Empty
    while the broker is still registered."""
    if registration.end is not None:
        return registration.end.at, registration.end.by, registration.end.event_id
    life = incarnations[incarnation_at(incarnations, registration.begin.at)] if incarnations else None
    if life is None or life.goes_on:
        return ()
    if life.stop is not None:
        return life.stop, life.stop, life.stop_event
    return life.last_seen, life.next_start_by or life.last_by, life.next_start_event


_NAME_SERVER_HANDLERS: dict[str, Callable[[NameServerLog, FoldEvent], None]] = {
    "NS_BROKER_NEW": NameServerLog._on_new,
    "NS_BROKER_EXPIRED": NameServerLog._on_expired,
    "NS_MIN_CHANGED": NameServerLog._on_smallest,
    "NS_UNREG_ADDR": NameServerLog._on_left,
    "NS_TOPIC_CHANGED": NameServerLog._on_topic,
    "NS_TOPIC_NEW": NameServerLog._on_topic,
}

NAME_SERVER_KINDS = frozenset(_NAME_SERVER_HANDLERS)
"""The events that the fold of a name server's log reads."""
