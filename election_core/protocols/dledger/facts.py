"""The facts that only DLedger members tell."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule


@dataclass(slots=True, unsafe_hash=True)
class StrangerMet(Fact):
    """``node`` was asked by ``peer``, which is no member of its group (``why``), or bears its own id."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "why")

    peer: str | None
    why: str


@dataclass(slots=True, unsafe_hash=True)
class VotingRuleBroken(LineBrokeRule):
    """A line of ``node``, of the kind ``line``, breaks the ``rule``.

    The line says its ``term``, the term before or asked for (``term_before``), the ``answer`` or result, how many
    ``granted`` and were ``not_ready`` of how many that are ``needed``, and the ``role`` that a broker takes.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("role", "term", "peer", "rule")

    role: str | None
    peer: str | None
    answer: str
    granted: int | None
    needed: int | None
    term_before: int | None
    not_ready: int | None
    line: str


@dataclass(slots=True, unsafe_hash=True)
class CommittedCut(Fact):
    """``node`` knew the entries up to index ``to_index`` to be committed, and cut its log in this process after
    ``from_index``, as its leader ``peer`` wanted."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    from_index: int
    to_index: int
    peer: str | None


@dataclass(slots=True, unsafe_hash=True)
class QueuesCut(Fact):
    """A starting broker cut its queues, which reached byte ``queue_end`` of its log, back to byte ``cut_to``; its log
    ends at byte ``log_end`` (null: not printed). It built them again from a message at byte ``built_from`` (null: not
    seen)."""

    queue_end: int
    cut_to: int | None
    log_end: int | None
    built_from: int | None


@dataclass(slots=True, unsafe_hash=True)
class BrokerBecameSlave(Fact):
    """The broker on top of ``node`` changed to slave after its member had become candidate or follower of ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
