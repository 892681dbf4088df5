"""Connections that a member lost, by its own log."""

from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import ContactLost
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class Contact:
    """A connection to ``peer`` that broke at ``lost`` and came back at ``again``, perhaps only in a later process run.
    ``heard`` is when it had come back after it broke the time before."""

    peer: str
    lost: FoldEvent
    again: FoldEvent | None = None
    heard: int | None = None

    def fact(self, emit: FactWriter, before_us: int, *, closed: bool) -> ContactLost:
        """Return the loss as a fact: ``peer`` was heard at most ``before_us`` earlier; ``closed``: the peer closed
        it."""
        again = (None, None) if self.again is None else (self.again.at, self.again.by)
        lost = self.lost
        since = lost.at - before_us if self.heard is None else max(lost.at - before_us, min(self.heard, lost.at))
        return ContactLost(*emit.during(self.peer, since, lost.by, lost.event_id, *again), closed=closed)


@dataclass(slots=True)
class Contacts:
    """The connections of a member that broke, over all of its process runs, in order. A connection that one process
    lost stays lost in later ones until a line shows it again."""

    every: list[Contact] = field(default_factory=list)
    _lost: dict[str, Contact] = field(default_factory=dict)
    _lost_before: dict[str, Contact] = field(default_factory=dict)
    _made: dict[str, FoldEvent] = field(default_factory=dict)

    def starts(self) -> None:
        """Take the start of a new process: its connections are made anew."""
        self._lost_before |= self._lost
        self._lost, self._made = {}, {}

    def made(self, peer: str, event: FoldEvent) -> None:
        """Take a line that shows a connection to ``peer``."""
        self._made[peer] = event
        self._has_again(peer, event)

    def broke(self, peer: str, event: FoldEvent) -> None:
        """Take a line at which the connection to ``peer`` breaks, unless it was broken already."""
        if peer in self._lost:
            return
        former = next((contact for contact in reversed(self.every) if contact.peer == peer), None)
        again = self._made.pop(peer, None) or (former.again if former else None)
        self._has_again(peer, event)
        self._lost[peer] = Contact(peer, event, heard=again.at if again else None)
        self.every.append(self._lost[peer])

    def _has_again(self, peer: str, event: FoldEvent) -> None:
        for lost in (self._lost, self._lost_before):
            contact = lost.pop(peer, None)
            if contact is not None:
                contact.again = event
