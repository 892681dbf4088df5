"""The facts about a broker set under a controller: what brokers and controllers say of it."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule


@dataclass(slots=True, unsafe_hash=True)
class Decision(Fact):
    """The controllers decided ``decision``: winner ``node``, epoch ``term``, set ``members`` with ``set_epoch``.

    ``committed``: the log shows that it was (false: it was not confirmed in time; null: neither is said).
    ``leading``: the speaker led the controllers. ``raft_index`` is the entry of their log, where it is printed.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "address", "set_epoch", "raft_index")

    term: int | None
    address: str | None
    decision: str
    members: tuple[str, ...] | None
    set_epoch: int | None
    raft_index: int | None
    committed: bool | None
    leading: bool


@dataclass(slots=True, unsafe_hash=True)
class SetRefused(Fact):
    """The master of epoch ``term`` wanted the SyncStateSet ``members`` and was refused with the ``code``, or got no
    answer (null)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "set_epoch")

    term: int | None
    members: tuple[str, ...] | None
    set_epoch: int | None
    code: int | None


@dataclass(slots=True, unsafe_hash=True)
class EpochAhead(Fact):
    """``node`` refused a role of epoch ``term`` since its store knows the later ``known_epoch``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int | None
    known_epoch: int | None


@dataclass(slots=True, unsafe_hash=True)
class RegisterCode(Fact):
    """A broker holds the registerCheckCode ``register_code``, made at ``made_ms`` (ms since 1970) on its own clock;
    ``accepted``: a controller accepted it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("register_code",)

    register_code: str
    made_ms: int
    accepted: bool


@dataclass(slots=True, unsafe_hash=True)
class MasterReady(Fact):
    """The broker had finished its change to master of the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class Unregistered(Fact):
    """The broker, master of the epoch ``term``, could register at none of the name servers that it tried; without an
    end: until its log ends."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class ProducerCame(Fact):
    """The first producer sent a heartbeat to the broker as master of the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class ControllerLed(Fact):
    """The controller that speaks led the controllers; without an end: until its log ends."""

    end_cause: str | None


@dataclass(slots=True, unsafe_hash=True)
class SlaveStuck(Fact):
    """A slave tried ``count`` times to go on with its master's log and could not, for the last time at ``last_at``
    (microseconds UTC): they have ``nothing_in_common``, or its own log could not be cut. Without an end it never
    could."""

    nothing_in_common: bool
    count: int
    last_at: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class AckSetting(Fact):
    """The broker's configuration dump says ``setting_value`` for the setting ``name``, which rules acknowledgements."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("name", "setting_value")

    name: str
    setting_value: str


@dataclass(slots=True, unsafe_hash=True)
class AllAck(Fact):
    """Whether the broker was configured with allAckInSyncStateSet, by its settings or by what it waited for."""

    configured: bool


@dataclass(slots=True, unsafe_hash=True)
class AcksTimedOut(Fact):
    """A master waited in vain for the acknowledgements of ``count`` messages, the last of which ends at byte
    ``end_offset`` of its log: their senders were told so. ``all_of_set``: it waited for the whole SyncStateSet."""

    count: int
    end_offset: int | None
    all_of_set: bool


@dataclass(slots=True, unsafe_hash=True)
class ControllerRuleBroken(LineBrokeRule):
    """A line, of the kind ``line``, breaks the ``rule``.

    It says an epoch (``term``), the winner, slave or master that it is about (``peer``), the broker that asked
    (``broker_id``), the ``decision`` or result, offsets in bytes, and a ``count`` of acknowledgements (-1: all).
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "peer", "broker_id", "rule")

    peer: str | None
    broker_id: str | None
    decision: str | None
    start_offset: int | None
    end_offset: int | None
    count: int | None
    line: str
