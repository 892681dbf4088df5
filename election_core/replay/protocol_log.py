"""The interface of a protocol to the fold: a state machine for the lines of one log, one process or one source."""

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
        """Yield what the lines prove, after the last of them."""


@runtime_checkable
class ReadsSnapshots(Protocol):
    """A state machine that keeps less of the snapshots if it knows beforehand what happened in the logs. ``given_up``:
    the (stream, table name) pairs whose entries no later fold will read."""

    given_up: set[tuple[str, str]]

    def after_logs(self, incarnations: list[Incarnation]) -> None:
        """Take the process runs of the broker, after all its lines and before its snapshots."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A state machine, the kinds of events that it reads, and the streams that share an instance. ``scope`` maps a
    stream to the name of its instance; ``None``: the protocol does not read that stream. ``tells_roles`` are the kinds
    that show a member's role, for processes with several files: the files with these kinds bound what the log shows."""

    make: Callable[[], ProtocolLog]
    kinds: frozenset[str]
    scope: Callable[[str], str | None]
    tells_roles: frozenset[str] = frozenset()
