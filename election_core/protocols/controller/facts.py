"""Facts about a broker set under a controller, from brokers and controllers."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class Decision(Fact):
    """The controllers decided ``decision``: winner ``node``, epoch ``term``, set ``members`` with ``set_epoch``.

    ``committed``: the log shows that it was (False: it was not confirmed in time; None: neither is shown). ``leading``:
    the speaker led the controllers. ``raft_index``: the entry of their log, where it is printed.
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
    """The master of epoch ``term`` asked for the SyncStateSet ``members`` and was refused with ``code``. A code of None
    means that it got no answer."""

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
class EpochRead(Fact):
    """The broker, a slave, read for the first time that its master's record of epochs goes up to the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class MasterReady(Fact):
    """The broker had finished its change to master of the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int


@dataclass(slots=True, unsafe_hash=True)
class Unregistered(Fact):
    """The broker, master of the epoch ``term``, could register at none of the name servers that it tried. Without an
    end, that lasted until its log ends."""

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
    """A slave failed ``count`` times to resume replication from its master, last at ``last_at`` (us UTC). Their logs
    have ``nothing_in_common``, or its own log could not be cut. Without an end it never resumed."""

    nothing_in_common: bool
    count: int
    last_at: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class AckSetting(Fact):
    """The broker's configuration dump gives ``setting_value`` for ``name``, a setting about acknowledgements."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("name", "setting_value")

    name: str
    setting_value: str


@dataclass(slots=True, unsafe_hash=True)
class AllAck(Fact):
    """The broker was ``configured`` with allAckInSyncStateSet or not, by its settings or by how many it waited for."""

    configured: bool


@dataclass(slots=True, unsafe_hash=True)
class AcksTimedOut(Fact):
    """A master waited in vain for acknowledgements of ``count`` messages, and their senders were told so. The last of
    them ends at byte ``end_offset`` of its log. ``all_of_set``: it waited for the whole SyncStateSet."""

    count: int
    end_offset: int | None
    all_of_set: bool
