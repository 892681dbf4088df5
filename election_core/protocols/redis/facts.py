"""The facts that only Redis tells."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact, LineBrokeRule


@dataclass(slots=True, unsafe_hash=True)
class SentinelSaid(Fact):
    """A sentinel said this ``message`` of the server ``node``, in the epoch ``term`` where it is known.

    ``peer`` is the sentinel; ``granted`` of them agreed, and ``needed`` must.
    """

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("message", "term", "peer")

    message: str
    term: int | None
    peer: str | None
    granted: int | None = None
    needed: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class BytesRefused(Fact):
    """``peer`` asked the master ``node`` for what follows byte ``from_index`` of a history of which the master has no
    more than up to ``to_index``: what lies between is thrown away (nothing where they are equal). Null: they have no
    history in common."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("peer", "from_index", "to_index")

    peer: str | None
    from_index: int | None
    to_index: int | None


@dataclass(slots=True, unsafe_hash=True)
class DataHeld(Fact):
    """What ``node`` says of its data: the history ``ids`` up to byte ``to_index``, or ``count`` keys, as ``message``
    says: it asks for what follows, it goes on as master from there, or it copied so many keys of its master ``peer``,
    or loaded them at its start. It began a history with no key (``count`` 0), or nobody knows with how many. What it
    loaded from a snapshot at its start had been saved ``count`` seconds before. ``other``: the id under which it goes
    on as master."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("message", "ids")

    message: str
    ids: str | None
    peer: str | None
    to_index: int | None
    count: int | None
    other: str | None = None


@dataclass(slots=True, unsafe_hash=True)
class Refusing(Fact):
    """A node of a cluster answered no client: by its own word, since its view of the cluster was ``fail``."""


@dataclass(slots=True, unsafe_hash=True)
class Hindered(Fact):
    """Why nobody took over from a master: what ``peer``, or who speaks, says (``why``), in the epoch ``term``."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "why")

    term: int | None
    peer: str | None
    why: str


@dataclass(slots=True, unsafe_hash=True)
class RedisRuleBroken(LineBrokeRule):
    """A line of the sentinel ``node`` breaks the ``rule``: ``granted`` of ``needed`` votes."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("term", "rule")

    granted: int | None
    needed: int | None
