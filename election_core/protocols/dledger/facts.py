"""Facts that only DLedger members state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class StrangerMet(Fact):
    """``node`` exchanged requests with ``peer`` and found that their lists of members differ, or that both have one id.
    ``why`` is which of these."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "why")

    peer: str | None
    why: str


@dataclass(slots=True, unsafe_hash=True)
class CommittedCut(Fact):
    """``node`` knew entries up to ``to_index`` to be committed, and its leader ``peer`` had it cut its log after
    ``from_index``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    from_index: int
    to_index: int
    peer: str | None


@dataclass(slots=True, unsafe_hash=True)
class QueuesCut(Fact):
    """A starting broker cut its queues, which reached byte ``queue_end`` of its log, back to byte ``cut_to``. The file
    that says so goes on to ``until``.

    Its log ends at byte ``log_end`` (None: not printed). It rebuilt them from the message at byte ``built_from`` (None:
    not seen).
    """

    queue_end: int
    cut_to: int | None
    log_end: int | None
    built_from: int | None


@dataclass(slots=True, unsafe_hash=True)
class BrokerBecameSlave(Fact):
    """The broker on top of ``node`` changed to slave after its member had become candidate or follower of ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term",)

    term: int
