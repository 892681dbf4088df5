"""The votes that a ZooKeeper server sent and heard while it looked for a leader: they tie the servers' clocks together.

A server sends its votes after it printed "New election" (``FastLeaderElection#lookForLeader``), and prints each that it
gets, its own too. Its own tell with which votes it went through an election; that line alone comes surely before
anybody else heard of them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, MessageReceived, MessageSent
from election_replay.election_core.model.fold_event import FoldEvent

VOTE = "vote"
"""What goes from server to server; its ``term`` is the number of the round."""
LEADING = "leading"
"""That a server leads since the round ``term`` told it so: others read it in its notices (``n.state:LEADING``)."""
CAST = "vote cast before"
"""A vote that was sent at some time before the line that tells of it: others may have heard of it earlier."""


@dataclass(slots=True)
class PassedVotes:
    """The votes of one server's log. A round begins with a line of its own, and again with a new process."""

    sent: dict[tuple[str | None, int, str], tuple[str, FoldEvent]] = field(default_factory=dict)
    heard: dict[tuple[str | None, str, int, str], FoldEvent] = field(default_factory=dict)
    leading: list[tuple[FoldEvent, int]] = field(default_factory=list)
    told_to_lead: dict[tuple[str, int], FoldEvent] = field(default_factory=dict)
    _began: FoldEvent | None = None

    def election(self, began: FoldEvent | None) -> None:
        """An election begins; with ``None`` a new process, which has begun none."""
        self._began = began

    def vote(self, event: FoldEvent, node: str | None) -> None:
        """A vote came in, the server's own or another's; only one that looks for a leader sends votes of a round."""
        if event.result == LEADING.upper() and event.peer not in (None, node) and event.count is not None:
            self.told_to_lead.setdefault((event.peer or "", event.count), event)
        if event.result != "LOOKING" or event.peer is None or event.count is None:
            return
        ids = f"{event.value} {event.peer_ledger_end_term} {event.peer_ledger_end} {event.term}"
        began = None if self._began is None else self._began.event_id
        if event.peer != node:
            self.heard.setdefault((began, event.peer, event.count, ids), event)
        else:
            # Where the line of the beginning is lost, the vote is known to have been cast, and no more.
            known = (CAST, event) if self._began is None else (VOTE, self._began)
            self.sent.setdefault((began, event.count, ids), known)

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Each vote once an election."""
        for (_, number, ids), (message, event) in self.sent.items():
            yield MessageSent(*emit.at(event), term=number, peer=None, message=message, ids=ids)
        for (_, peer, number, ids), event in self.heard.items():
            yield MessageReceived(*emit.at(event), term=number, peer=peer, message=VOTE, ids=ids)
        for event, number in self.leading:
            yield MessageSent(*emit.at(event), term=number, peer=None, message=LEADING, ids=None)
        for (peer, number), event in self.told_to_lead.items():
            yield MessageReceived(*emit.at(event), term=number, peer=peer, message=LEADING, ids=None)


def voted_for(ids: str | None) -> tuple[str, int | None]:
    """The leader that a vote names by its ``ids``, and that one's epoch, where the line says it."""
    leader, *_, epoch = (ids or "").split(" ")
    return leader, digits.number(epoch)
