"""Facts about a source itself: its release, its clock, and the member that it speaks for."""

from dataclasses import dataclass
from typing import ClassVar

from election_replay.election_core.model.facts import Fact


@dataclass(slots=True, unsafe_hash=True)
class Release(Fact):
    """The process says that it is ``release`` of ``system``; both null: its log never names a release."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("system",)

    system: str | None = None
    release: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Claim(Fact):
    """From here on the ``process`` calls itself ``name``; ``name_kind`` is the setting or sort of name."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("process", "name_kind")

    process: str
    name_kind: str
    name: str
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class SpeaksFor(Fact):
    """A process run as member ``node`` of the protocol ``member_of``; ``goes_on``: the log ends with it."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("member_of",)

    member_of: str
    evidence: tuple[str, ...]
    goes_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class ListedAs(Fact):
    """The inventory lists the source as ``listed_member`` (null: any) of ``listed_group``; ``agrees``: so does its
    log."""

    KNOWN_AT_START: ClassVar[tuple[str, ...]] = ("listed_member",)

    listed_member: str | None
    listed_group: str
    agrees: bool
    evidence: tuple[str, ...]


@dataclass(slots=True, unsafe_hash=True)
class PassedOver(Fact):
    """The source wrote nothing for about as long as its clock was put back elsewhere: it may have been set forward."""


@dataclass(slots=True, unsafe_hash=True)
class LogCopied(Fact):
    """The source holds the same log of ``node`` as the folder ``original``, and its facts count as that folder's."""

    original: str
    evidence: tuple[str, ...]
