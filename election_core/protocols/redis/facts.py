"""Facts that only Redis servers and sentinels state."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class SentinelSaid(Fact):
    """A sentinel stated this ``message`` about the server ``node``, in the epoch ``term`` where it is known. ``peer``
    is the sentinel; ``granted`` sentinels agreed, of the ``needed`` ones."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("message", "term", "peer")

    message: str
    term: int | None
    peer: str | None
    granted: int | None = None
    needed: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class BytesRefused(Fact):
    """``peer`` asked the master ``node`` to continue a history from byte ``from_index``; the master has it to
    ``to_index``.

    The bytes in between are thrown away (none if both are equal). None: they have no history in common, and ``ids`` is
    that of the peer.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "from_index", "to_index", "ids")

    peer: str | None
    from_index: int | None
    to_index: int | None
    ids: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class DataHeld(Fact):
    """A statement of ``node`` about its data: history ``ids`` up to byte ``to_index``, or ``count`` keys.

    By ``message`` it asks for what follows; goes on as master from there, under the id ``other``; copied ``count`` keys
    from its master ``peer``; loaded them at its start; began a history (``count`` 0: without a key, None: unknown); or
    loaded a snapshot that had been saved ``count`` seconds before.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("message", "ids")

    message: str
    ids: str | None
    peer: str | None
    to_index: int | None
    count: int | None
    other: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class Obeyed(Fact):
    """``node`` took ``role`` because a sentinel commanded it, whose id begins with ``peer``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("role", "peer")

    role: str
    peer: str


@dataclass(slots=True, unsafe_hash=True)
class LedWithoutData(Fact):
    """``node`` became master in place of ``peer``, to which it had gone over from another shard, before it had copied
    anything from it; ``evidence`` are both lines."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer",)

    peer: str | None
    evidence: tuple[str, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Refusing(Fact):
    """A node of a cluster answered no client, by its own lines: its view of the cluster was ``fail``."""


@dataclass(slots=True, unsafe_hash=True)
class Hindered(Fact):
    """``peer``, or the speaker, gave a reason (``why``) not to take over from a master, in the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "why")

    term: int | None
    peer: str | None
    why: str
