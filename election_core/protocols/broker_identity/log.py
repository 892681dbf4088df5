"""How a broker in controller mode gets and keeps its id, by the logs of brokers and controllers.

Sources: RocketMQ ``ReplicasManager#register`` (the broker), ``ReplicasInfoManager#getNextBrokerId``,
``#applyBrokerId``, ``#registerBroker``, ``#cleanBrokerData`` (the controllers).

| step of the broker            | printed                   | file         | after a crash here           |
|-------------------------------|---------------------------|--------------|------------------------------|
| looks at its files            | BRK_REG_STATE             |              |                              |
| gets the next id              | BRK_REG_TEMP (id, code)   | temporary    | applies the same id and code |
| applies it with its code      | nothing                   | temporary    | applies again: same code, accepted |
| ... refused, or no answer     | BRK_REG_APPLY_ERR, BRK_REG_RESET | none  | gets the next id             |
| owns it                       | BRK_REG_APPLIED (id)      | identity     | registers only               |
| registers its address         | BRK_REG_DONE, or BRK_REG_SEND_ERR | identity | registers only           |

A proposal reserves nothing: two brokers may be offered the same next id, and the second one to apply it is refused
(2014). A lost answer costs the id: the broker starts over, and the id stays as a dead replica.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import BROKER, CONTROLLER
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.broker_identity.facts import (
    IdentityDecision,
    IdentityStep,
    IdentityVersion,
    OwnId,
)

PROTOCOL = "broker_identity"

FOUND = "found"
PROPOSED = "proposed"
OWNED = "owned"
REFUSED = "refused"
RESET = "reset"
REGISTERED = "registered"
FORGOTTEN = "forgotten"
OF_ANOTHER = "of_another"
NOT_SUPPORTED = "not_supported"

ID_APPLIED, ID_REFUSED, IDS_CLEANED, ADDRESS_CHANGED = "ID_APPLIED", "ID_REFUSED", "IDS_CLEANED", "ADDRESS_CHANGED"
ELECTED = "ELECTED"
DECISIONS = frozenset({ID_APPLIED, ID_REFUSED, IDS_CLEANED, ADDRESS_CHANGED})

_NOT_SUPPORTED, _NOT_REGISTERED, _ID_INVALID = 3, 2010, 2014
"""``REQUEST_CODE_NOT_SUPPORTED`` (``RemotingSysResponseCode``), ``CONTROLLER_BROKER_NEED_TO_BE_REGISTERED``,
``CONTROLLER_BROKER_ID_INVALID`` (``ResponseCode``)."""


@dataclass(slots=True)
class Step:
    """One step, or a series of equal refusals from ``first`` to ``last``."""

    result: str
    first: FoldEvent
    last: FoldEvent
    node: str | None = None
    code: str | None = None
    count: int = 1


@dataclass(slots=True)
class BrokerLog:
    """The state machine of one broker's registration."""

    steps: list[Step] = field(default_factory=list)
    says_own_id: list[FoldEvent] = field(default_factory=list)
    old: list[tuple[bool, FoldEvent]] = field(default_factory=list)
    _temp: FoldEvent | None = None

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this broker's log."""
        _BROKER_HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this broker proves about its identity in its broker set."""
        group = speaker.broker_set
        if group is None or not (self.steps or self.says_own_id or self.old):
            return
        emit = speaker.about(group, PROTOCOL, stream)
        for step in self.steps:
            yield IdentityStep(
                *emit.about(step.node, step.first, until=step.last),
                step=step.result,
                code=step.first.code,
                count=step.count,
                register_code=step.code,
            )
        yield from self._own_ids(emit)
        yield from self._versions(emit)

    def _own_ids(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield the id of each process run, from its first line with it: the file is read or written once."""
        first: dict[tuple[int, str], FoldEvent] = {}
        for event in self.says_own_id:
            if event.node is not None:
                first.setdefault((incarnation_at(emit.incarnations, event.at), event.node), event)
        for (number, node), event in sorted(first.items()):
            run = emit.incarnations[number]
            during = emit.during(node, event.at, event.by, event.event_id, *_last_sign(run, event))
            yield OwnId(*during, address=event.address, goes_on=run.goes_on)

    def _versions(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield the version of each process run, from its first sign of it."""
        first: dict[tuple[int, bool], FoldEvent] = {}
        for old, event in self.old:
            first.setdefault((incarnation_at(emit.incarnations, event.at), old), event)
        for (number, old), event in sorted(first.items()):
            run = emit.incarnations[number]
            during = emit.during(None, event.at, event.by, event.event_id, *_last_sign(run, event))
            yield IdentityVersion(*during, process=BROKER, by_address=old, goes_on=run.goes_on)

    # -- one function a line ----------------------------------------------------------------------------------

    def _step(self, result: str, event: FoldEvent, node: str | None = None, code: str | None = None) -> None:
        self.steps.append(Step(result, event, event, node, code))

    def _on_state(self, event: FoldEvent) -> None:
        if event.value == "INITIAL":
            self._temp = None

    def _on_temp(self, event: FoldEvent) -> None:
        self._temp = event
        self._new(event)
        self._step(PROPOSED, event, event.node, event.register_code)

    def _on_owned(self, event: FoldEvent) -> None:
        code = self._temp.register_code if self._temp is not None and self._temp.node == event.node else None
        self._on_own_id(event)
        self._step(OWNED, event, event.node, code)

    def _on_apply_failed(self, event: FoldEvent) -> None:
        if event.code == _ID_INVALID:
            self._of_temp(REFUSED, event)
        else:
            self._on_next_failed(event)

    def _on_reset(self, event: FoldEvent) -> None:
        self._of_temp(RESET, event)
        self._temp = None

    def _of_temp(self, result: str, event: FoldEvent) -> None:
        temp = self._temp
        self._step(result, event, temp.node if temp else None, temp.register_code if temp else None)

    def _on_registered(self, event: FoldEvent) -> None:
        self._new(event)
        self._step(REGISTERED, event)

    def _on_register_failed(self, event: FoldEvent) -> None:
        if event.code == _NOT_REGISTERED:
            self._repeat(FORGOTTEN, event)

    def _on_next_failed(self, event: FoldEvent) -> None:
        if event.code == _NOT_SUPPORTED:
            self._repeat(NOT_SUPPORTED, event)

    def _on_of_another(self, event: FoldEvent) -> None:
        self._repeat(OF_ANOTHER, event)

    def _repeat(self, result: str, event: FoldEvent) -> None:
        if self.steps and self.steps[-1].result == result:
            self.steps[-1].last = event
            self.steps[-1].count += 1
        else:
            self._step(result, event)

    def _on_own_id(self, event: FoldEvent) -> None:
        self.says_own_id.append(event)

    def _new(self, event: FoldEvent) -> None:
        self.old.append((False, event))

    def _on_synced(self, event: FoldEvent) -> None:
        """Note the version: only 5.1.1 and later print the state at the end of this line."""
        self.old.append((event.value is None, event))


def _last_sign(incarnation: Incarnation, event: FoldEvent) -> tuple[int, int]:
    """Return the last sign of life of the process that wrote this line, (earliest, latest) in us."""
    return max(incarnation.last_seen, event.at), max(incarnation.last_by, event.by)


_BROKER_HANDLERS: dict[str, Callable[[BrokerLog, FoldEvent], None]] = {
    "BRK_REG_STATE": BrokerLog._on_state,
    "BRK_REG_TEMP": BrokerLog._on_temp,
    "BRK_REG_APPLIED": BrokerLog._on_owned,
    "BRK_REG_APPLY_ERR": BrokerLog._on_apply_failed,
    "BRK_REG_RESET": BrokerLog._on_reset,
    "BRK_REG_DONE": BrokerLog._on_registered,
    "BRK_REG_SEND_ERR": BrokerLog._on_register_failed,
    "BRK_REG_NEXT_ERR": BrokerLog._on_next_failed,
    "BRK_REG_FILE_INVALID": BrokerLog._on_of_another,
    "BRK_ROLE_DONE": BrokerLog._on_own_id,
    "BRK_SLAVE_BEGIN": BrokerLog._on_own_id,
    "BRK_STATE_SYNCED": BrokerLog._on_synced,
    "BRK_STATE_REGISTERED": BrokerLog._on_synced,
}

BROKER_KINDS = frozenset(_BROKER_HANDLERS)
"""The kinds of events that the fold of a broker's registration reads."""


@dataclass(slots=True)
class ControllerLog:
    """The decisions of one controller about identities."""

    decisions: list[FoldEvent] = field(default_factory=list)
    versions: dict[tuple[str, bool], tuple[FoldEvent, FoldEvent]] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this controller's log."""
        if event.replica_group is None:
            return
        if event.decision in DECISIONS:
            self.decisions.append(event)
        if event.decision == ID_APPLIED:
            self._version(event.replica_group, event.register_code is None, event)
        elif event.decision == ELECTED and event.node is not None:
            # Before 5.1.1 a master is elected by its address.
            self._version(event.replica_group, ":" in event.node, event)

    def _version(self, group: str, old: bool, event: FoldEvent) -> None:
        first, _ = self.versions.get((group, old), (event, event))
        self.versions[(group, old)] = (first, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this controller decided about the identities of each broker set."""
        for event in self.decisions:
            emit = speaker.about(event.replica_group or "", PROTOCOL, stream)
            yield IdentityDecision(
                *emit.about(event.broker_id, event),
                address=event.address,
                decision=event.decision or "",
                members=event.members,
                raft_index=event.raft_index if event.kind == "JR_EVENT" else None,
                register_code=event.register_code,
            )
        for (group, old), (first, last) in sorted(self.versions.items()):
            emit = speaker.about(group, PROTOCOL, stream)
            during = emit.during(None, first.at, first.by, first.event_id, last.at, last.by)
            yield IdentityVersion(*during, process=CONTROLLER, by_address=old)


CONTROLLER_KINDS = frozenset({"CTL_EVENT", "JR_EVENT"})
"""The kinds of events that the fold of a controller's decisions reads."""
