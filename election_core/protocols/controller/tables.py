"""The rules by which controllers and brokers of the controller mode decide, shared by machines and judges.

Sources: RocketMQ ``ReplicasInfoManager#electMaster``, ``#alterSyncStateSet``, ``DefaultElectPolicy``,
``AutoSwitchHAService#maybeExpandInSyncStateSet``, ``EpochFileCache``; codes: ``ResponseCode``.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from election_replay.election_core.model.timing import Timeout

SUCCESS = 0
FENCED_MASTER_EPOCH, FENCED_SET_EPOCH, INVALID_MASTER, INVALID_REPLICAS = 2000, 2001, 2002, 2003
MASTER_NOT_AVAILABLE, BROKER_NOT_ALIVE, SET_NOT_KNOWN, NOT_REGISTERED = 2004, 2006, 2008, 2010
MASTER_STILL_EXISTS, ELECT_FAILED, ALTER_FAILED, ID_INVALID = 2011, 2012, 2013, 2014

HEARTBEAT_MS = Timeout.CONTROLLER_HEARTBEAT.value.ms
HEARTBEAT_TIMEOUT_MS = Timeout.CONTROLLER_BROKER_SILENT.value.ms
"""``controllerHeartBeatTimeoutMills``: a broker silent for longer is inactive."""
SCAN_MS = Timeout.CONTROLLER_SCAN.value.ms
"""``scanNotActiveBrokerInterval``: how often the controllers look for silent brokers."""
POLL_MS = Timeout.CONTROLLER_POLL.value.ms
"""``syncBrokerMetadataPeriod``: how often a broker asks for the master."""
CHECK_SET_MS = Timeout.CONTROLLER_CHECK_SET.value.ms
"""``checkSyncStateSetPeriod``: how often a master looks for members of its set that are behind."""
NOT_CAUGHT_UP_MS = Timeout.CONTROLLER_NOT_CAUGHT_UP.value.ms
"""``haMaxTimeSlaveNotCatchup``: a slave behind for longer leaves the SyncStateSet."""
ELECTION_TRIES = 3
"""``electMasterMaxRetryCount``."""
ACK_TIMEOUT_MS = Timeout.CONTROLLER_ACK.value.ms
"""``slaveTimeout``: how long a producer waits for the acknowledgements of the slaves."""
ALL = -1
"""``MixAll.ALL_ACK_IN_SYNC_STATE_SET``."""

EpochEntries = Sequence[tuple[int, int, int | None]]
"""Entries of (epoch, start offset, end offset or None while open), in bytes."""


# -- SyncStateSets ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Recorded:
    """The controllers' record of a broker set; ``master`` is None after an election without winner."""

    master: int | None = None
    epoch: int = 0
    members: tuple[int, ...] = ()
    set_epoch: int = 0


@dataclass(frozen=True, slots=True)
class Wanted:
    """The SyncStateSet ``members`` that ``asker``, master of ``epoch``, wants in place of the set of ``set_epoch``."""

    asker: int
    epoch: int
    set_epoch: int
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The broker ids that are registered, and those that are alive."""

    registered: frozenset[int]
    alive: frozenset[int]


@dataclass(frozen=True, slots=True)
class SetCheck:
    """One reason to refuse a wanted set: its code, the kind of line printed, and what that line shows."""

    code: int
    kind: str
    fails: Callable[[Wanted, Recorded, Known], bool]
    shows: Callable[[Wanted, Recorded, Known], dict[str, Any]]


def _first_missing(wanted: Wanted, among: frozenset[int]) -> int:
    return next(member for member in wanted.members if member not in among)


SET_CHECKS: tuple[SetCheck, ...] = (
    SetCheck(ALTER_FAILED, "CTL_SSS_SAME", lambda w, r, _: w.members == r.members, lambda *_: {}),
    SetCheck(
        INVALID_MASTER,
        "CTL_SSS_NOT_MASTER",
        lambda w, r, _: w.asker != r.master,
        lambda w, r, _: {"peer": r.master, "node": w.asker},
    ),
    SetCheck(
        FENCED_MASTER_EPOCH,
        "CTL_SSS_MASTER_EPOCH",
        lambda w, r, _: w.epoch != r.epoch,
        lambda w, r, _: {"term": r.epoch, "from_term": w.epoch},
    ),
    SetCheck(
        FENCED_SET_EPOCH,
        "CTL_SSS_EPOCH",
        lambda w, r, _: w.set_epoch != r.set_epoch,
        lambda w, r, _: {"sync_state_set_epoch": r.set_epoch, "value": w.set_epoch},
    ),
    SetCheck(
        INVALID_REPLICAS,
        "CTL_SSS_UNKNOWN_REPLICA",
        lambda w, _, k: not k.registered.issuperset(w.members),
        lambda w, _, k: {"value": _first_missing(w, k.registered)},
    ),
    SetCheck(
        BROKER_NOT_ALIVE,
        "CTL_SSS_DEAD_REPLICA",
        lambda w, _, k: not k.alive.issuperset(w.members),
        lambda w, _, k: {"value": _first_missing(w, k.alive)},
    ),
    SetCheck(
        ALTER_FAILED,
        "CTL_SSS_NO_MASTER_IN_SET",
        lambda w, r, _: r.master not in w.members,
        lambda _, r, __: {"peer": r.master},
    ),
)
"""Checks of ``alterSyncStateSet`` in order: a fenced master that wants the recorded set is told that it is the same."""


# -- elections -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Candidate:
    """A live broker, as its last heartbeat describes it."""

    broker_id: int
    epoch: int
    max_offset: int


def elected(pool: Iterable[Candidate], master: int | None, designated: int | None) -> int | None:
    """Return the winner by ``DefaultElectPolicy``: the designated broker or nobody, the recorded master, the furthest
    log. None if nobody of the pool can be elected."""
    ids = {candidate.broker_id: candidate for candidate in pool}
    if designated is not None:
        return designated if designated in ids else None
    if master in ids:
        return master
    ranked = sorted(ids.values(), key=lambda replica: (-replica.epoch, -replica.max_offset, replica.broker_id))
    return ranked[0].broker_id if ranked else None


# -- replication -------------------------------------------------------------------------------------------------


def has_caught_up(reached: int, confirmed: int, epoch_start: int) -> bool:
    """Return True when a slave has reached the confirm offset and the newest epoch, so that it may enter the set."""
    return reached >= max(confirmed, epoch_start)


def is_beyond(epoch: int, start: int, last_epoch: int, last_start: int) -> bool:
    """Return True when an epoch is kept in the epoch file: it and its start are beyond the last entry."""
    return epoch > last_epoch and start > last_start


def common_point(master: EpochEntries, replica: EpochEntries) -> int | None:
    """Return the offset where two logs diverge: the end, in both, of the newest epoch with the same start in both.
    Source: ``EpochFileCache#findConsistentPoint``. -1: nothing in common; None: an end is open."""
    theirs = {epoch: (start, end) for epoch, start, end in master}
    for epoch, start, end in sorted(replica, reverse=True):
        if epoch in theirs and theirs[epoch][0] == start:
            ends = [offset for offset in (end, theirs[epoch][1]) if offset is not None]
            return min(ends) if len(ends) == 2 else None
    return -1


def needed_acks(all_ack: bool) -> int:
    """Return how many acknowledgements a message needs; ``ALL`` is those of the whole set."""
    return ALL if all_ack else 1
