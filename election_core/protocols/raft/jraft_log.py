"""JRaft controllers: the leaders of the controllers' own Raft group (RocketMQ 5.2.0 and later).

Source: RocketMQ ``JRaftControllerStateMachine#onLeaderStart``, ``#onLeaderStop``, ``#onStartFollowing``. The state
machine's lines show who led which term on its own machine. The JRaft library prints, in a file of its own, who asked
for votes (``NodeImpl#electSelf``), but not who granted them. The rules are those of ``raft``.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.checks import CONFORMS, Checked, Verdict, violates
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.process_runs import Incarnation
from election_replay.election_core.fold.role_log import RoleLog
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    DOWN,
    ENDED_ITSELF,
    FOLLOWER,
    LEADER,
    UNKNOWN,
    Span,
    Step,
    spans,
)
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import CONTROLLER_GROUP, Fact, VotersStated
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.raft.log import PROTOCOL
from election_replay.election_core.protocols.raft_family.log import NO_WINNER, VotingLog

WITHOUT_MAJORITY = re.compile(r"Majority of the group dies: [0-9]{1,4}/([1-9][0-9]{0,3})")
"""The status of a leader that gave up because it did not reach a majority (JRaft ``NodeImpl#checkDeadNodes``)."""


def _sizes(emit: FactWriter, members: Iterable[tuple[int, FoldEvent]]) -> Iterator[VotersStated]:
    for count, event in members:
        yield VotersStated(*emit.at(event), voters_least=count, voters_most=count)


@dataclass(slots=True)
class JraftLog(RoleLog):
    """The state machine of one JRaft controller's log; ``on`` takes its events in program order."""

    members: list[tuple[int, FoldEvent]] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this controller's log."""
        if event.node is not None and event.kind in _NAMES_SELF:
            self.node = event.node
        _HANDLERS[event.kind](self, event)

    def role_spans(self, incarnations: list[Incarnation]) -> Iterator[Span]:
        """Return the role spans; until its first line a JRaft node's role is unknown."""
        return spans(self.steps, incarnations, UNKNOWN)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about the controllers' own group."""
        emit = speaker.about(CONTROLLER_GROUP, PROTOCOL, stream, self.node)
        yield from emit.roles(self.role_spans(emit.incarnations))
        yield from emit.alive()
        yield from emit.silences()
        yield from _sizes(emit, self.members)

    def _step(self, event: FoldEvent, role: str, term: int | None, leader: str | None, cause: str) -> None:
        self.steps.append(Step(event.at, event.by, role, term, leader, event.event_id, cause, event.node or self.node))

    def _on_leader(self, event: FoldEvent) -> None:
        self._step(event, LEADER, event.term, event.node, "elected")

    def _on_error(self, event: FoldEvent) -> None:
        """Take that the node ends its part until it is started again (``NodeImpl#onError``)."""
        if not self._is_over():
            self._step(event, DOWN, None, None, ENDED_ITSELF)

    def _is_over(self) -> bool:
        return bool(self.steps) and self.steps[-1].cause == ENDED_ITSELF

    def _on_leader_end(self, event: FoldEvent) -> None:
        if self._is_over():
            return
        without = WITHOUT_MAJORITY.search(event.result or "")
        cause = "stepped_down" if without is None else "quorum_lost"
        if without is not None:
            self.members.append((int(without[1]), event))
        self._step(event, CANDIDATE, self.term, None, cause)

    def _on_follow(self, event: FoldEvent) -> None:
        self._step(event, FOLLOWER, event.term, event.peer, "heartbeat")

    def _on_unfollow(self, event: FoldEvent) -> None:
        if not self._is_over():
            self._step(event, CANDIDATE, event.term, None, "leader_lost")

    def _on_self(self, event: FoldEvent) -> None:
        """Take a line that only names this node."""


@dataclass(slots=True)
class JraftLibraryLog:
    """The library's own file of a controller: cuts, and a cut that would remove applied entries. Source:
    sofastack/sofa-jraft ``LogManagerImpl#unsafeTruncateSuffix``: it cuts only after the last applied entry."""

    node: str | None = None
    checked: Checked = field(default_factory=Checked)
    members: list[tuple[int, FoldEvent]] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this controller's library."""
        if event.kind == "JR_INIT":
            self.node = event.node
            self._note_members(event)
            return
        broken = event.kind == "JR_APPLIED_CONFLICT"
        why = f"its leader has no entry after {event.raft_index} as it is here, where {event.ledger_end} was applied"
        if event.raft_index is not None and event.ledger_end is not None:
            why += f": {event.ledger_end - event.raft_index} are lost"
        rule = RuleId.COMMITTED_ENTRY_LOST
        lost = violates(rule, f"lost committed entries: {why}")
        self.checked.note(lost if broken else Verdict(rule, CONFORMS), event)

    def _note_members(self, event: FoldEvent) -> None:
        """Note the voters in ``conf=10.0.0.1:9870,10.0.0.2:9870,10.0.0.3:9870/learner``
        (``Configuration#toString``)."""
        voters = [peer for peer in (event.value or "").split(",") if peer and not peer.endswith("/learner")]
        if voters and (not self.members or self.members[-1][0] != len(voters)):
            self.members.append((len(voters), event))

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what the lines prove about the controllers' own group."""
        emit = speaker.about(CONTROLLER_GROUP, PROTOCOL, stream, self.node)
        yield from _sizes(emit, self.members)
        yield from self.checked.tallied(emit, self.node)
        yield from self.checked.broken(emit)


LIBRARY_KINDS = frozenset({"JR_INIT", "JR_TRUNCATED", "JR_APPLIED_CONFLICT"})
"""The events that the fold of the library's own file reads."""


@dataclass(slots=True)
class JraftElections(VotingLog):
    """The state machine of the JRaft library's log: the requests for votes. A node asks after a majority has said that
    it would grant, so every election could be won (``handlePreVote``)."""

    def on(self, event: FoldEvent) -> None:
        """Take the next line. A candidate prints the term before the one that it stands for."""
        if event.term is None:
            return
        if event.kind == "JR_CANDIDATE":
            self.node = event.node
            self.stands(event, event.term + 1, None).majority_answered = True
        elif self.campaigns and self.campaigns[-1].term == event.term:
            self.campaigns[-1].close(event, "won")

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield the elections of the controllers' own group in which this controller stood."""
        emit = speaker.about(CONTROLLER_GROUP, PROTOCOL, stream)
        for election in self.campaigns:
            if election.outcome == "open":
                election.outcome = NO_WINNER
        yield from self.vote_facts(emit)


ELECTION_KINDS = frozenset({"JR_BECOME_LEADER", "JR_CANDIDATE"})
"""The events that the fold of the JRaft library's log reads."""

_HANDLERS: dict[str, Callable[[JraftLog, FoldEvent], None]] = {
    "JR_NODE_LEADER": JraftLog._on_leader,
    "JR_NODE_LEADER_END": JraftLog._on_leader_end,
    "JR_ERROR": JraftLog._on_error,
    "JR_FOLLOW": JraftLog._on_follow,
    "JR_UNFOLLOW": JraftLog._on_unfollow,
    "JR_STARTED": JraftLog._on_self,
    "JR_STOPPED": JraftLog._on_self,
}

KINDS = frozenset(_HANDLERS)
"""The events that the fold of a JRaft controller's log reads."""

_NAMES_SELF = frozenset({"JR_NODE_LEADER", "JR_NODE_LEADER_END", "JR_STARTED", "JR_STOPPED"})
