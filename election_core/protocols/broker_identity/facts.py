"""Facts about the ids of brokers under a controller, by brokers and controllers."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class IdentityDecision(Fact):
    """The controllers decided ``decision`` about the id ``node`` at ``address``, or removed the ids ``members``. Null
    ``members``: the whole set. ``raft_index`` is the entry of the controllers' log, where it is printed."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address", "raft_index")

    address: str | None
    decision: str
    members: tuple[str, ...] | None
    raft_index: int | None
    register_code: str | None


@dataclass(slots=True, unsafe_hash=True)
class IdentityStep(Fact):
    """A broker's registration reached ``step`` with the id ``node`` and its ``register_code``. It did so ``count``
    times in a row; ``code`` is the response code with which the controllers refused it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("code",)

    step: str
    code: int | None
    count: int
    register_code: str | None


@dataclass(slots=True, unsafe_hash=True)
class OwnId(Fact):
    """One process run of a broker under the id ``node``, from the first line with it to the last sign of life.
    ``goes_on``: the log ends with this run."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("address",)

    address: str | None
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class IdentityVersion(Fact):
    """The ``process``, a broker or a controller, knows brokers by address or by a persistent id. ``by_address``:
    RocketMQ 5.0.0 to 5.1.0; else a later release. ``goes_on``: the log ends with a run of this version."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("process",)

    process: str
    by_address: bool
    goes_on: bool = False
