"""Facts that only Kafka's nodes state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class InSync(Fact):
    """``node`` logged a partition's ``leader`` in leader epoch ``term``, and its in-sync replicas, the ``members``. The
    replicas hold from partition epoch ``set_epoch`` on; ``topic_id`` identifies the topic."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "leader", "set_epoch", "members")

    topic_id: str | None
    term: int
    leader: str | None
    set_epoch: int
    members: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class ReplicaLog(Fact):
    """The log of ``node`` ended at ``log_end`` when it took the ``role`` in leader epoch ``term``.

    It knew everything below ``high_watermark`` to be committed, in leader epoch ``term_before`` or earlier. Offsets are
    those of the next message.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "role")

    topic_id: str | None
    role: str
    term: int
    term_before: int
    log_end: int
    high_watermark: int


@dataclass(slots=True, unsafe_hash=True)
class ReplicaCut(Fact):
    """A follower of ``leader`` in leader epoch ``term`` cut its log from ``log_end`` back to ``cut_to``. It knew
    everything below ``high_watermark`` to be committed (offsets)."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    topic_id: str | None
    leader: str | None
    term: int
    log_end: int
    cut_to: int
    high_watermark: int
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class UncleanLeader(Fact):
    """A controller recorded ``leader``, which was not in sync, for leader epoch ``term`` after the leader ``known``.
    ``members`` are the in-sync replicas."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "leader")

    topic_id: str | None
    term: int
    leader: str | None
    known: str | None
    members: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class HeartbeatsCeased(Fact):
    """The controllers heard the broker ``node`` last in ``[since, since_by]``, and fenced it at ``until``. ``count``
    partitions had a replica on it, internal topics excluded."""

    count: int


TOLD_ONE_BY_ONE = 16
"""A fenced broker with replicas of more partitions has one finding, of the quorum, instead of one for each."""
