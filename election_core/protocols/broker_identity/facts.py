"""The facts about the ids of brokers under a controller: what brokers and controllers say of them."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class IdentityDecision(Fact):
    """The controllers decided ``decision`` about the id ``node`` at ``address``, or removed the ids ``members`` (null:
    the whole set). ``raft_index`` is the entry of their log, where it is printed."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address", "raft_index")

    address: str | None
    decision: str
    members: tuple[str, ...] | None
    raft_index: int | None
    register_code: str | None


@dataclass(slots=True, unsafe_hash=True)
class IdentityStep(Fact):
    """A broker's registration reached ``step`` with the id ``node`` and its ``register_code``, ``count`` times from the
    first to the last; ``code``: with what the controllers refused it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("code",)

    step: str
    code: int | None
    count: int
    register_code: str | None


@dataclass(slots=True, unsafe_hash=True)
class OwnId(Fact):
    """One incarnation of a broker under the id ``node``, from the first line that says so to its last sign of life;
    ``goes_on``: the log ends with it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str | None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class IdentityVersion(Fact):
    """The speaking ``process``, a broker or a controller, knows brokers by their address (RocketMQ 5.0.0 to 5.1.0;
    ``by_address``) or by a persistent id (later). ``goes_on``: the log ends with a life of which this is so."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("process",)

    process: str
    by_address: bool
    goes_on: bool = False
