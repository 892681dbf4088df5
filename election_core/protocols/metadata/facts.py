"""Facts about a broker's metadata: its tables, who served, and what was taken over."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class VersionSeen(Fact):
    """The file of the table ``table_name`` had this DataVersion when it was copied (null: none)."""

    BY_COPIER: ClassVar[bool] = True

    table_name: str
    state_version: int | None
    version_timestamp: int | None
    counter: int | None


@dataclass(slots=True, unsafe_hash=True)
class TableCopied(Fact):
    """The table ``table_name`` around an event of its broker; ``names`` are its entries, where it has names."""

    BY_COPIER: ClassVar[bool] = True

    names: tuple[str, ...] | None
    table_name: str
    state_version: int | None
    version_timestamp: int | None
    counter: int | None


@dataclass(slots=True, unsafe_hash=True)
class OffsetCopied(Fact):
    """One entry of a copied table: ``offset`` is the next message of a queue, or of the delay level ``queue_id``."""

    BY_COPIER: ClassVar[bool] = True
    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "queue_id")

    offset: int
    table_name: str
    consumer_group: str | None
    topic: str | None
    queue_id: int | None


@dataclass(slots=True, unsafe_hash=True)
class ActedAsMaster(Fact):
    """The slave at ``address`` had the smallest id of its set and acted as master. ``peer`` is the smaller id that
    ended it, if ``end_cause`` names that cause."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "address")

    peer: str | None
    address: str | None
    end_cause: str | None


@dataclass(slots=True, unsafe_hash=True)
class BeganToServe(Fact):
    """The broker began to serve after ``cause`` (null: not logged); ``skip_pre_online`` is that setting."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("cause",)

    skip_pre_online: str | None
    cause: str | None
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class ReverseSynced(Fact):
    """Before it served, a returning master read the metadata of the member at ``address`` and took over ``tables``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str | None
    tables: tuple[str, ...]
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class NameDropped(Fact):
    """A slave dropped ``topic`` or ``consumer_group``, since its master did not have it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("consumer_group", "topic")

    consumer_group: str | None
    topic: str | None
