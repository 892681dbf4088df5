"""Connections that a member lost: what its own log says of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model.facts import ContactLost
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class Contact:
    """A connection to ``peer`` that broke at ``lost``, and came back at ``again``, be it for a later process.

    ``heard`` is when it had come back after it broke before.
    """

    peer: str
    lost: FoldEvent
    again: FoldEvent | None = None
    heard: int | None = None

    def fact(self, emit: FactWriter, before_us: int, *, closed: bool) -> ContactLost:
        """The peer was heard of at most ``before_us`` microseconds before it was lost; ``closed``: by its end."""
        again = (None, None) if self.again is None else (self.again.at, self.again.by)
        lost = self.lost
        since = lost.at - before_us if self.heard is None else max(lost.at - before_us, min(self.heard, lost.at))
        return ContactLost(*emit.during(self.peer, since, lost.by, lost.event_id, *again), closed=closed)


def lost_contact(peer: str, event: FoldEvent, before: Sequence[Contact], made: FoldEvent | None = None) -> Contact:
    """The contact to ``peer`` that breaks with this line; ``before`` are those that broke earlier, in order.

    ``made``: the line that says that this connection was made, where it is there.
    """
    former = next((contact for contact in reversed(before) if contact.peer == peer), None)
    again = made or (former.again if former else None)
    return Contact(peer, event, heard=again.at if again else None)
