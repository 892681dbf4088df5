"""The votes that a ZooKeeper server sent and heard while it looked for a leader; they tie the servers' clocks.

A server sends its votes after it printed "New election" (``FastLeaderElection#lookForLeader``), and prints each vote
that it gets, its own included. Its own show which votes it sent in an election; only the line "New election" certainly
comes before anybody else heard them. A busy server prints its own votes late, perhaps in its next election:

    New election    sends round 5        New election                 prints its vote of round 5
    |<------------------ the others may have heard it since then ------------------------>|
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import FactWriter
from election_replay.election_core.model import digits
from election_replay.election_core.model.facts import Fact, MessageReceived, MessageSent
from election_replay.election_core.model.fold_event import FoldEvent

VOTE = "vote"
"""A vote sent from server to server; its ``term`` is the number of the round."""
LEADING = "leading"
"""A server leads after it won round ``term``; others read that in its notices (``n.state:LEADING``)."""
CAST_EARLIER = "vote cast before"
"""A vote sent at some time before the line that shows it: others may have heard it earlier."""


@dataclass(slots=True)
class PassedVotes:
    """The votes in one server's log. An election begins with a line of its own, or with a new process."""

    sent: dict[tuple[str | None, int, str], tuple[str, FoldEvent]] = field(default_factory=dict)
    heard: dict[tuple[str | None, str, int, str], FoldEvent] = field(default_factory=dict)
    leading: list[tuple[FoldEvent, int]] = field(default_factory=list)
    leaders_heard: dict[tuple[str, int], FoldEvent] = field(default_factory=dict)
    _began: FoldEvent | None = None
    _sent_since: FoldEvent | None = None
    """The begin of the first election of which the server's own votes may not be printed yet."""
    _printed: bool = True

    def election(self, began: FoldEvent | None) -> None:
        """Take the begin of an election; None for a new process, which has begun none. Votes printed late stay late, as
        the server reads them one by one."""
        if began is None or self._printed:
            self._sent_since = began
        self._began, self._printed = began, began is None

    def vote(self, event: FoldEvent, node: str | None) -> None:
        """Take a vote, the server's own or another's; only a server that looks for a leader sends votes of a round."""
        if event.result == LEADING.upper() and event.peer not in (None, node) and event.count is not None:
            self.leaders_heard.setdefault((event.peer or "", event.count), event)
        if event.result != "LOOKING" or event.peer is None or event.count is None:
            return
        ids = f"{event.value} {event.peer_ledger_end_term} {event.peer_ledger_end} {event.term}"
        began = None if self._began is None else self._began.event_id
        if event.peer != node:
            self.heard.setdefault((began, event.peer, event.count, ids), event)
        else:
            late = self._sent_since is not self._began or event.role not in ("CANDIDATE", None)
            self._printed = self._began is not None and not late
            # If the first line of the election is lost, the time of the vote is unknown.
            known = (CAST_EARLIER, event) if self._sent_since is None else (VOTE, self._sent_since)
            self.sent.setdefault((began, event.count, ids), known)

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield each vote once per election."""
        for (_, number, ids), (message, event) in self.sent.items():
            yield MessageSent(*emit.at(event), term=number, peer=None, message=message, ids=ids)
        for (_, peer, number, ids), event in self.heard.items():
            yield MessageReceived(*emit.at(event), term=number, peer=peer, message=VOTE, ids=ids)
        for event, number in self.leading:
            yield MessageSent(*emit.at(event), term=number, peer=None, message=LEADING, ids=None)
        for (peer, number), event in self.leaders_heard.items():
            yield MessageReceived(*emit.at(event), term=number, peer=peer, message=LEADING, ids=None)


def voted_for(ids: str | None) -> tuple[str, int | None]:
    """Return the leader that a vote's ``ids`` name, and its epoch; None if the line does not print it."""
    leader, *_, epoch = (ids or "").split(" ")
    return leader, digits.number(epoch)
