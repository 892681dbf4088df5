"""The controller as a machine: it keeps the record of one broker set, and elects its master.

There is one controller, which leads its group alone: its decisions are applied at once. The election among controllers
is that of DLedger's or JRaft's machine.

Source: RocketMQ ``ReplicasInfoManager``, ``DLedgerController``, ``ControllerManager#onBrokerInactive``,
``DefaultBrokerHeartbeatManager``.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from election_replay.election_core.protocols.controller.tables import (
    ELECT_FAILED,
    ELECTION_TRIES,
    MASTER_NOT_AVAILABLE,
    MASTER_STILL_EXISTS,
    NOT_REGISTERED,
    SET_NOT_KNOWN,
    SUCCESS,
    Candidate,
    Known,
    Recorded,
    elected,
)
from election_replay.election_core.simulate.broker_identity import machine as identity
from election_replay.election_core.simulate.broker_identity.machine import (
    ApplyId,
    ApplyReply,
    Ids,
    NextId,
    NextIdReply,
    Register,
    RegisterReply,
)
from election_replay.election_core.simulate.controller.messages import (
    Altered,
    AlterSet,
    CleanBrokers,
    Controller,
    Elect,
    Elected,
    ElectMaster,
    GetReplicaInfo,
    Heartbeat,
    Leads,
    Mastery,
    Notice,
    WhoLeads,
)
from election_replay.election_core.simulate.machine import Act, Asked, Closed, Fired, Heard, Input, Turn

NOT_SUPPORTED = 3
"""``RemotingSysResponseCode.REQUEST_CODE_NOT_SUPPORTED``."""
RECORD_FILE = "controller"
SCAN = "scan"
EVENTS, APPLIES, REQUESTS, SCANS, INACTIVE = "events", "applies", "requests", "scans", "inactive"
"""The parts of the process that speak."""


@dataclass(frozen=True, slots=True)
class Live:
    """A broker with heartbeats; its epoch and end never go back within an epoch."""

    broker_id: int
    name: str
    address: str
    heard_ms: int
    epoch: int
    end: int


@dataclass(frozen=True, slots=True)
class State:
    """The controller's state. ``live`` is lost with the process; ``applied`` counts the decisions."""

    ids: Ids = field(default_factory=Ids)
    recorded: Recorded = field(default_factory=Recorded)
    applied: int = 0
    live: tuple[Live, ...] = ()

    @property
    def alive(self) -> frozenset[int]:
        """The ids of all live brokers."""
        return frozenset(live.broker_id for live in self.live)


Deciding = Turn[Controller, State]
Step = tuple[State, tuple[Act, ...]]


def start(member: Controller, stored: Mapping[str, Any], now_ms: int) -> Step:
    """Start the controller with its record, and without any live broker."""
    ids, recorded, applied = stored.get(RECORD_FILE, (Ids(), Recorded(), 0))
    turn = Turn(member, State(ids, recorded, applied), now_ms, REQUESTS)
    turn.wait(SCAN, turn.member.rules.periods.scan)
    return turn.done()


def step(member: Controller, state: State, now_ms: int, incoming: Input) -> Step:
    """Handle one input of the controller."""
    turn = Turn(member, state, now_ms, REQUESTS)
    match incoming:
        case Heard(sender, Heartbeat() as heartbeat):
            _on_heartbeat(turn, sender, heartbeat)
        case Heard(_, message):
            _HEARD[type(message)](turn, message)
        case Asked(request):
            _ASKED[type(request)](turn, request)
        case Fired():
            _on_scan(turn)
        case Closed(peer):
            _on_closed(turn, peer)
    return turn.done()


def _decided(turn: Deciding, request: str, events: tuple[Any, ...], response: Any, **state: Any) -> None:
    """Print a decision; if it has an event, apply and store it. The resulting record is not printed, but added to the
    line for the truth."""
    recorded = state.get("recorded", turn.state.recorded)
    turn.say("CTL_EVENT", EVENTS, request=request, events=events, response=response, recorded=recorded)
    if events:
        index = turn.state.applied + 1
        turn.change(**state, applied=index)
        turn.say(
            "CTL_APPLIED", APPLIES, count=len(events), committed_from=index, committed_to=index, group="controllers"
        )
        turn.store(RECORD_FILE, (turn.state.ids, turn.state.recorded, index))


# -- who lives -----------------------------------------------------------------------------------------------------


def _on_heartbeat(turn: Deciding, sender: str, heartbeat: Heartbeat) -> None:
    before = next((live for live in turn.state.live if live.broker_id == heartbeat.broker_id), None)
    if before is None:
        before = Live(heartbeat.broker_id, sender, heartbeat.address, turn.now_ms, heartbeat.epoch, heartbeat.end)
    progress = max((before.epoch, before.end), (heartbeat.epoch, heartbeat.end))
    now = replace(before, heard_ms=turn.now_ms, epoch=progress[0], end=progress[1])
    others = (live for live in turn.state.live if live.broker_id != heartbeat.broker_id)
    turn.change(live=tuple(sorted((*others, now), key=lambda live: live.broker_id)))


def _on_scan(turn: Deciding) -> None:
    """Scan for silent brokers (``scanNotActiveBroker``), and for a recorded master that is not alive."""
    silent = turn.member.rules.periods.silent
    turn.say("CTL_SCAN", SCANS)
    for live in turn.state.live:
        if turn.now_ms - live.heard_ms > silent:
            turn.say(
                "CTL_BROKER_EXPIRED", SCANS, cluster=turn.member.cluster, group=turn.member.group,
                broker_id=live.broker_id, duration_ms=silent, peer_address=live.address,
            )  # fmt: skip
            _gone(turn, live)
    master = turn.state.recorded.master
    if master is not None and master not in turn.state.alive and turn.state.alive & turn.state.ids.registered:
        turn.say("CTL_INACTIVE", INACTIVE, **_whole_set(turn), broker_id=None)
        _force(turn)
    turn.wait(SCAN, turn.member.rules.periods.scan)


def _on_closed(turn: Deciding, peer: str) -> None:
    for live in [live for live in turn.state.live if live.name == peer]:
        turn.say(
            "CTL_BROKER_CHANNEL_CLOSED", "network", replica_group=turn.member.group, address=live.address,
            broker_id=live.broker_id,
        )  # fmt: skip
        _gone(turn, live)


def _gone(turn: Deciding, gone: Live) -> None:
    """Handle a lost broker (``onBrokerInactive``): the set does not change, but a lost master is replaced."""
    turn.change(live=tuple(live for live in turn.state.live if live is not gone))
    turn.say("CTL_INACTIVE", INACTIVE, **_whole_set(turn), broker_id=gone.broker_id)
    if gone.broker_id == turn.state.recorded.master:
        _force(turn)


def _whole_set(turn: Deciding) -> dict[str, str]:
    return {"cluster_name": turn.member.cluster, "replica_group": turn.member.group}


# -- elections -----------------------------------------------------------------------------------------------------


def _force(turn: Deciding) -> None:
    """Hold an election of the controller's own; each try without a candidate uses up an epoch."""
    if not turn.member.rules.elects_alone:
        return
    for _ in range(ELECTION_TRIES):
        if _elect(turn, None, designated=False).code == SUCCESS:
            turn.say("CTL_ELECT_DONE", "elections", replica_group=turn.member.group)
            return
    turn.say("CTL_ELECT_FAILED", "elections", replica_group=turn.member.group)


def _elect(turn: Deciding, asker: int | None, *, designated: bool) -> Mastery:
    """Elect the first requester, or the policy's choice (``electMaster``); the recorded master is not elected again."""
    recorded = turn.state.recorded
    if recorded.epoch == 0 and asker is not None:
        winner: int | None = asker
    else:
        winner = _by_policy(turn, asker if designated else None)
    if winner is not None and winner == recorded.master and turn.member.rules.keeps_master:
        kept = _mastery(turn.state, MASTER_STILL_EXISTS)
        _decided(turn, "electMaster", (), ("ElectMasterResponseHeader", *_answered(kept)))
        return kept
    if winner is None:
        return _nobody(turn, asker)
    turn.say("CTL_ELECT_OK", EVENTS, node=winner, replica_group=turn.member.group)
    after = Recorded(winner, recorded.epoch + 1, (winner,), recorded.set_epoch + 1)
    won = _mastery(replace(turn.state, recorded=after), SUCCESS)
    _decided(
        turn, "electMaster", (_election(turn, winner),), ("ElectMasterResponseHeader", *_answered(won)), recorded=after
    )  # fmt: skip
    for live in turn.state.live:
        turn.send(live.name, Notice(won))
    return won


def _by_policy(turn: Deciding, designated: int | None) -> int | None:
    state = turn.state
    pools: list[Iterable[int]] = [state.recorded.members]
    if turn.member.rules.unclean:
        pools.append(state.ids.registered)
    for ids in pools:
        live = [
            Candidate(broker.broker_id, broker.epoch, broker.end) for broker in state.live if broker.broker_id in ids
        ]
        winner = elected(live, state.recorded.master, designated)
        if winner is not None:
            return winner
    return None


def _nobody(turn: Deciding, asker: int | None) -> Mastery:
    """End an election without candidate; only the controller's own request leaves the set without master."""
    turn.say("CTL_ELECT_NONE", EVENTS, replica_group=turn.member.group)
    nothing = ("ElectMasterResponseHeader", *_answered(Mastery(ELECT_FAILED)))
    if asker is not None:
        _decided(turn, "electMaster", (), nothing)
        return Mastery(ELECT_FAILED)
    after = replace(turn.state.recorded, master=None, epoch=turn.state.recorded.epoch + 1)
    _decided(turn, "electMaster", (_election(turn, None),), nothing, recorded=after)
    return Mastery(MASTER_NOT_AVAILABLE)


def _election(turn: Deciding, winner: int | None) -> tuple[Any, ...]:
    return (
        "ElectMasterEvent", ("newMasterElected", winner is not None), ("brokerName", turn.member.group),
        ("newMasterBrokerId", winner),
    )  # fmt: skip


def _answered(mastery: Mastery) -> tuple[tuple[str, Any], ...]:
    known = mastery.master is not None
    return (
        ("masterBrokerId", mastery.master),
        ("masterAddress", mastery.address or "null"),
        ("masterEpoch", mastery.epoch if known else None),
        ("syncStateSetEpoch", mastery.set_epoch if known else None),
    )


def _mastery(state: State, code: int) -> Mastery:
    recorded = state.recorded
    owner = state.ids.of(recorded.master)
    address = owner.address if owner else None
    return Mastery(code, recorded.master, address, recorded.epoch, recorded.members, recorded.set_epoch)


# -- requests of brokers ---------------------------------------------------------------------------------------------


def _on_who_leads(turn: Deciding, _: WhoLeads) -> None:
    turn.answer(Leads(turn.member.address))


def _on_next_id(turn: Deciding, _: NextId) -> None:
    if not turn.member.rules.knows_ids:
        turn.answer(NextIdReply(NOT_SUPPORTED, 0))
        return
    following = turn.state.ids.following
    names = (("clusterName", turn.member.cluster), ("brokerName", turn.member.group))
    _decided(turn, "getNextBrokerId", (), ("GetNextBrokerIdResponseHeader", *names, ("nextBrokerId", following)))
    turn.answer(NextIdReply(SUCCESS, following))


def _on_apply_id(turn: Deciding, wanted: ApplyId) -> None:
    code, after = identity.applied(turn.state.ids, wanted, check_code=turn.member.rules.checks_code)
    names = (("clusterName", turn.member.cluster), ("brokerName", turn.member.group))
    event = (
        "ApplyBrokerIdEvent", *names, ("brokerAddress", wanted.code.partition(";")[0]),
        ("registerCheckCode", wanted.code), ("newBrokerId", wanted.broker_id),
    )  # fmt: skip
    events = (event,) if code == SUCCESS else ()
    _decided(turn, "applyBrokerId", events, ("ApplyBrokerIdResponseHeader", *names), ids=after)
    turn.answer(ApplyReply(code))


def _on_register(turn: Deciding, request: Register) -> None:
    code, after = identity.registered(turn.state.ids, request)
    events: tuple[Any, ...] = ()
    if after != turn.state.ids:
        names = (("clusterName", turn.member.cluster), ("brokerName", turn.member.group))
        events = (
            ("UpdateBrokerAddressEvent", *names, ("brokerAddress", request.address), ("brokerId", request.broker_id)),
        )
    _decided(turn, "registerSuccess", events, None, ids=after)
    known = _mastery(turn.state, code)
    if code != SUCCESS or known.master is None or known.master not in turn.state.alive:
        turn.answer(RegisterReply(code))
    else:
        turn.answer(RegisterReply(code, known.master, known.address, known.epoch, known.members, known.set_epoch))


def _on_get_replica_info(turn: Deciding, _: GetReplicaInfo) -> None:
    if not turn.state.ids.owners:
        turn.answer(Mastery(SET_NOT_KNOWN))
        return
    known = _mastery(turn.state, SUCCESS)
    _decided(
        turn, "getReplicaInfo", (),
        ("GetReplicaInfoResponseHeader", *_answered(known)[:2], ("masterEpoch", known.epoch)),
    )  # fmt: skip
    turn.answer(known)


def _on_elect(turn: Deciding, request: Elect) -> None:
    if not turn.state.ids.owners:
        turn.answer(Elected(Mastery(NOT_REGISTERED)))
    else:
        turn.answer(Elected(_elect(turn, request.broker_id, designated=request.designated)))


def _on_alter_set(turn: Deciding, request: AlterSet) -> None:
    """``alterSyncStateSet``."""
    wanted, recorded = request.wanted, turn.state.recorded
    known = Known(turn.state.ids.registered, turn.state.alive)
    for check in turn.member.rules.set_checks:
        if check.fails(wanted, recorded, known):
            shown = tuple(check.shows(wanted, recorded, known).items())
            turn.say(check.kind, EVENTS, **dict(shown))
            _decided(turn, "alterSyncStateSet", (), ("AlterSyncStateSetResponseHeader", ("newSyncStateSetEpoch", 0)))
            turn.answer(Altered(check.code, why=(check.kind, shown)))
            return
    after = replace(recorded, members=wanted.members, set_epoch=recorded.set_epoch + 1)
    event = ("AlterSyncStateSetEvent", ("brokerName", turn.member.group), ("newSyncStateSet", wanted.members))
    response = ("AlterSyncStateSetResponseHeader", ("newSyncStateSetEpoch", after.set_epoch))
    _decided(turn, "alterSyncStateSet", (event,), response, recorded=after)
    turn.answer(Altered(SUCCESS, after.members, after.set_epoch))


# -- requests of operators -------------------------------------------------------------------------------------------


def _on_elect_master(turn: Deciding, request: ElectMaster) -> None:
    _elect(turn, request.broker_id, designated=True)


def _on_clean(turn: Deciding, request: CleanBrokers) -> None:
    """Remove broker ids (``cleanBrokerData``); without any id left, the set's record starts anew."""
    after = identity.cleaned(turn.state.ids, request.broker_ids)
    left = tuple(member_id for member_id in turn.state.recorded.members if member_id in after.registered)
    recorded = replace(turn.state.recorded, members=left) if after.owners else Recorded()
    whole = None if not after.owners else request.broker_ids
    event = ("CleanBrokerDataEvent", ("brokerName", turn.member.group), ("brokerIdSetToClean", whole))
    _decided(turn, "cleanBrokerData", (event,), None, ids=after, recorded=recorded)


_HEARD: dict[type[Hashable], Callable[[Deciding, Any], None]] = {
    WhoLeads: _on_who_leads,
    NextId: _on_next_id,
    ApplyId: _on_apply_id,
    Register: _on_register,
    GetReplicaInfo: _on_get_replica_info,
    Elect: _on_elect,
    AlterSet: _on_alter_set,
}
_ASKED: dict[type[Hashable], Callable[[Deciding, Any], None]] = {
    ElectMaster: _on_elect_master,
    CleanBrokers: _on_clean,
}
