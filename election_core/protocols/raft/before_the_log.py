"""What a member was before its log begins, as the lines tell that end it: it gives up, or its leader is lost.

a1 [term: 4] received a MsgVote message with higher term from b2 [term: 5]    a1 was in term 4
a1 became follower at term 5
raft.node: a1 lost leader a1 at term 5                                         a1 led term 4, since nobody knows when
"""

from dataclasses import dataclass

from election_replay.election_core.fold.roles import FOLLOWER, LEADER, SEEN, Step
from election_replay.election_core.model.fold_event import FoldEvent


@dataclass(slots=True)
class BeforeTheLog:
    """What the lines of a log say of the role in which its member was when they begin.

    ``heartbeat`` is the first one that it was late to send, as leaders do; ``term`` is the one that ``left`` ends.
    """

    heartbeat: FoldEvent | None = None
    left: FoldEvent | None = None
    term: int | None = None

    def leaves(self, event: FoldEvent, term: int | None) -> None:
        """A line tells that the member leaves the role in ``term`` that it had (null: the next line tells it)."""
        if self.left is None:
            self.left, self.term = event, term

    def role(self, node: str | None, leader: str | None) -> Step | None:
        """The role before, whose ``leader`` a line names; ``None`` where no line tells its term."""
        if self.left is None or self.term is None or leader is None:
            return None
        led = leader == node
        seen = self.heartbeat if led and self.heartbeat is not None else self.left
        return Step(seen.at, seen.by, LEADER if led else FOLLOWER, self.term, leader, seen.event_id, SEEN, node)
