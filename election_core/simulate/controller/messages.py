"""The messages of brokers, controller and operators in the controller mode, and the configuration of members."""

from collections.abc import Callable
from dataclasses import dataclass, field

from election_replay.election_core.protocols.controller.tables import (
    CHECK_SET_MS,
    HEARTBEAT_TIMEOUT_MS,
    NOT_CAUGHT_UP_MS,
    POLL_MS,
    SCAN_MS,
    SET_CHECKS,
    EpochEntries,
    SetCheck,
    Wanted,
    common_point,
    has_caught_up,
    needed_acks,
)

MASTER, SLAVE = "SYNC_MASTER", "SLAVE"


@dataclass(frozen=True, slots=True)
class Periods:
    """Intervals and time-outs of members in ms: settings of brokers and controllers, which print them.

    ``poll`` is syncBrokerMetadataPeriod, ``check_set`` checkSyncStateSetPeriod, ``not_caught_up``
    haMaxTimeSlaveNotCatchup, ``silent`` controllerHeartBeatTimeoutMills, ``scan`` scanNotActiveBrokerInterval and
    scanInactiveMasterInterval.
    """

    poll: int = POLL_MS
    check_set: int = CHECK_SET_MS
    not_caught_up: int = NOT_CAUGHT_UP_MS
    silent: int = HEARTBEAT_TIMEOUT_MS
    scan: int = SCAN_MS


@dataclass(frozen=True, slots=True)
class Rules:
    """Members' rules of decision; a faulty member has one changed. The defaults are RocketMQ's, except ``all_ack``.

    ``unclean`` is enableElectUncleanMaster; ``all_ack`` is allAckInSyncStateSet, set so that no acknowledged message is
    lost.
    """

    unclean: bool = False
    all_ack: bool = True
    set_checks: tuple[SetCheck, ...] = SET_CHECKS
    keeps_master: bool = True
    elects_alone: bool = True
    checks_code: bool = True
    knows_ids: bool = True
    takes: Callable[[int, int], bool] = lambda epoch, current: epoch > current
    wants: Callable[[tuple[int, ...], int], tuple[int, ...]] = lambda members, _: members
    repeats_set: bool = False
    caught_up: Callable[[int, int, int], bool] = has_caught_up
    cut_at: Callable[[EpochEntries, EpochEntries], int | None] = common_point
    acks: Callable[[bool], int] = needed_acks
    periods: Periods = Periods()


@dataclass(frozen=True, slots=True)
class Controller:
    """A controller, alone in its group."""

    name: str
    group: str
    cluster: str
    address: str
    rules: Rules = field(default_factory=Rules)


@dataclass(frozen=True, slots=True)
class Broker:
    """A broker by its configuration; ``hosts`` are the processes at the addresses of its set."""

    name: str
    group: str
    cluster: str
    address: str
    controller: str
    controller_address: str
    hosts: tuple[tuple[str, str], ...]
    rules: Rules = field(default_factory=Rules)


# -- broker and controller ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WhoLeads:
    """A broker asks which controller leads."""


@dataclass(frozen=True, slots=True)
class Leads:
    """The controller that answers leads."""

    address: str


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A broker's heartbeat, with the last epoch of its epoch file and the end of its log, which elections compare."""

    broker_id: int
    address: str
    epoch: int
    end: int


@dataclass(frozen=True, slots=True)
class GetReplicaInfo:
    """A broker asks who is master."""


@dataclass(frozen=True, slots=True)
class Mastery:
    """The master of an epoch, with the SyncStateSet: an answer with its code."""

    code: int
    master: int | None = None
    address: str | None = None
    epoch: int = 0
    members: tuple[int, ...] = ()
    set_epoch: int = 0


@dataclass(frozen=True, slots=True)
class Notice:
    """The controller tells a broker that the master changed."""

    mastery: Mastery


@dataclass(frozen=True, slots=True)
class Elect:
    """A broker asks for an election, or names a master for an operator."""

    broker_id: int
    designated: bool = False


@dataclass(frozen=True, slots=True)
class Elected:
    """The answer to :class:`Elect`."""

    mastery: Mastery


@dataclass(frozen=True, slots=True)
class AlterSet:
    """A master requests another SyncStateSet."""

    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Altered:
    """The new set, or the code of the refusal with its line."""

    code: int
    members: tuple[int, ...] = ()
    set_epoch: int = 0
    why: tuple[str, tuple[tuple[str, object], ...]] | None = None


# -- master and slave ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fetch:
    """A slave that holds the log up to ``end`` asks for more; ``fresh``: over a new connection."""

    broker_id: int
    end: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class Handshake:
    """The master's epochs and the end of its log, for a new connection."""

    epochs: tuple[tuple[int, int], ...]
    end: int


@dataclass(frozen=True, slots=True)
class Data:
    """The master's log up to ``end``, with its epochs."""

    epochs: tuple[tuple[int, int], ...]
    end: int


@dataclass(frozen=True, slots=True)
class NotServed:
    """The receiver is no master, or does not know the connection."""


# -- clients and operators -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ElectMaster:
    """An operator names a new master."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class CleanBrokers:
    """An operator removes ids from the controllers."""

    broker_ids: tuple[int, ...]
