"""What a protocol brings to the fold: a state machine for the lines of one log, one process or one source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.fold_event import FoldEvent


class ProtocolLog(Protocol):
    """The state machine of one protocol for the lines of one log, one process or one source."""

    def on(self, event: FoldEvent) -> None:
        """Take the next line; lines of one stream come in program order."""

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """What the lines prove, after the last of them."""


@runtime_checkable
class ReadsSnapshots(Protocol):
    """A state machine that holds less of the snapshots when it knows beforehand what happened in the logs.

    ``given_up``: the streams and names of tables whose entries no later fold will look at.
    """

    given_up: set[tuple[str, str]]

    def after_logs(self, incarnations: list[Incarnation]) -> None:
        """All lines of the broker are taken, whose ``incarnations`` these are; snapshots follow."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A state machine, the kinds of events that it reads, and which streams share one instance of it.

    ``scope`` maps a stream to the name of its instance; ``None``: the protocol does not read that stream.
    ``tells_roles`` are the kinds in which a member tells its role, where its process writes several files: their ends
    bound what it shows.
    """

    make: Callable[[], ProtocolLog]
    kinds: frozenset[str]
    scope: Callable[[str], str | None]
    tells_roles: frozenset[str] = frozenset()
