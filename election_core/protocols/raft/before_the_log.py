"""The role that a member held before its log begins, by the lines that end it: it gives up, or loses its leader.

a1 [term: 4] received a MsgVote message with higher term from b2 [term: 5]    a1 was in term 4
a1 became follower at term 5
raft.node: a1 lost leader a1 at term 5                                         a1 led term 4, since an unknown time
"""

from dataclasses import dataclass

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, SEEN, Step
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class BeforeTheLog:
    """The lines of a log about the role in which its member was when they begin. ``heartbeat``: the first line about a
    late heartbeat, which only leaders send. ``term``: the term that ``left`` ends."""

    heartbeat: FoldEvent | None = None
    left: FoldEvent | None = None
    term: int | None = None

    def leaves(self, event: FoldEvent, term: int | None) -> None:
        """Take the first line with which the member leaves its role in ``term``; None: the next line prints the
        term."""
        if self.left is None:
            self.left, self.term = event, term

    def role(self, node: str | None, leader: str | None) -> Step | None:
        """Return the step to the role before, given its ``leader``; None if no line prints its term."""
        if self.left is None or self.term is None or leader is None:
            return None
        led = leader == node
        seen = self.heartbeat if led and self.heartbeat is not None else self.left
        return Step(seen.at, seen.by, LEADER if led else FOLLOWER, self.term, leader, seen.event_id, SEEN, node)
