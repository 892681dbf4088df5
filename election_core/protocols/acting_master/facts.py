"""Facts about a broker set with a configured master, from brokers and name servers."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class ActingEnabled(Fact):
    """The broker was configured with enableSlaveActingMaster."""


@dataclass(slots=True, unsafe_hash=True)
class SmallestId(Fact):
    """``node`` learned that ``peer`` at ``address`` is the smallest live id of its set, until it learned of another."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "address")

    peer: str | None
    address: str | None


@dataclass(slots=True, unsafe_hash=True)
class AgainstMinimum(Fact):
    """``node`` switched its special services on right after it had learned that the smaller id ``peer`` lives.
    ``confirmed``: its next line about the minimum says that ``peer`` was still the one it believed in."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    confirmed: bool
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class PreOnlineAttempt(Fact):
    """One attempt at pre-online, from its first failure to the last, or to its success. ``failed_at`` is the kind of
    the last failure's line, ``error`` its text. ``as_master``: it printed lines of a master only."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("failed_at",)

    outcome: str
    failed_at: str | None
    failures: int
    as_master: bool
    error: str | None


@dataclass(slots=True, unsafe_hash=True)
class BrokerRegistered(Fact):
    """The name server that speaks had ``address`` in its table of live brokers. ``end_cause``: how it left;
    ``silent_ms``: after how much silence. Without an address, ``node`` itself says that it registered."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str | None = None
    end_cause: str | None = None
    silent_ms: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class TopicPermission(Fact):
    """The name server that speaks showed topics of the set as ``writable`` or not, in ``count`` lines."""

    count: int
    writable: bool
