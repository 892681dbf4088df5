"""Facts about order locks, by a broker's log of its lock table."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class LockHeld(Fact):
    """``client`` held the lock of ``queue_id`` of ``topic`` for ``consumer_group`` at broker ``node``.

    It surely lived until ``sure_until``; ``cause`` began and ``end_cause`` ended it. ``strict``: the broker is in
    strict mode, in which ``needed`` of the ``replicas`` configured must grant; all three are null where the log does
    not show them. ``silent_peers``: addresses of peers that did not answer the request.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("client", "cause", "consumer_group", "topic", "queue_id")

    client: str
    end_cause: str | None
    cause: str
    silent_peers: tuple[str, ...]
    needed: int | None
    replicas: int | None
    strict: bool | None
    consumer_group: str
    topic: str
    queue_id: int
    sure_until: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class LockGivenUp(Fact):
    """``client`` told broker ``node`` that it gives the queue's lock back; the broker ``found`` this."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("client", "consumer_group", "topic", "queue_id")

    client: str
    found: str
    consumer_group: str
    topic: str
    queue_id: int


@dataclass(slots=True, unsafe_hash=True)
class LockLate(Fact):
    """``client`` wanted to give back a lock that had expired and that another client, ``holder``, had taken."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("client", "holder", "consumer_group", "topic", "queue_id")

    client: str
    holder: str | None
    consumer_group: str
    topic: str
    queue_id: int
    evidence: tuple[str, ...]
