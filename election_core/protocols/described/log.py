"""The log of a program whose lines show little more than its role: who led which term, and who voted for whom. A term
in one line also holds for later lines of a leader that name none."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, LEADER, SEEN, UNKNOWN, spans
from election_replay.election_core.model.facts import Fact, QuietLog, TermRaised
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.protocols.raft_family.log import NO_WINNER, VotingLog

PROTOCOL, HASHICORP = "described", "hashicorp_raft"
"""Programs that the settings describe, and HashiCorp's Raft library."""
ELECTED, LEADER_LOST, QUORUM_LOST = "elected", "leader_lost", "quorum_lost"


@dataclass(slots=True)
class Member(VotingLog):
    """The writer of a log as member of one group."""

    raised: list[FoldEvent] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the member's next line."""
        self.node = event.node or self.node
        _MOVES[event.kind.partition("_")[2]](self, event)

    def _own_term(self, event: FoldEvent) -> int | None:
        """Return the writer's term, by this line or an earlier one."""
        if event.term is not None:
            if event.term != self.own_term.term:
                self.raised.append(event)
            self.own_term.note(event.term, event)
        return self.own_term.term

    def _starts(self, event: FoldEvent) -> None:
        self.ends(event, "abandoned")
        self.takes(event, UNKNOWN, None, None, "start")

    def _stops(self, event: FoldEvent) -> None:
        self.ends(event, "abandoned")

    def _in_term(self, event: FoldEvent) -> None:
        self._own_term(event)

    def _leads(self, event: FoldEvent) -> None:
        """Take the leader's role: it reached the term for which it asked, even if no line shows that it won."""
        if event.term is None and self.open is not None and self.open.term is not None:
            self.own_term.note(self.open.term, event)
        self.takes(event, LEADER, self._own_term(event), self.node, ELECTED)
        self.ends(event, "won")

    def _follows(self, event: FoldEvent) -> None:
        self.ends(event, NO_WINNER)
        self.takes(event, FOLLOWER, self._own_term(event) if event.term is not None else None, event.peer, "told")

    def _asks(self, event: FoldEvent) -> None:
        """Take a candidacy, whose term is not reached yet: a round before the election may fail."""
        if self.open is not None and self.open.term == event.term:
            self.open.rounds += 1
            return
        self.ends(event, NO_WINNER)
        self.takes(event, CANDIDATE, event.term, None, "election_timeout")
        self.stands(event, event.term, "election_timeout")

    def _votes(self, event: FoldEvent) -> None:
        self._granted(event, self.node, event.peer)

    def _voted(self, event: FoldEvent) -> None:
        self._granted(event, event.peer, self.node)
        if self.open is not None and event.peer is not None:
            self.open.voters.add(event.peer)

    def _granted(self, event: FoldEvent, voter: str | None, candidate: str | None) -> None:
        self.grant(event, voter, candidate, event.term if event.term is not None else self.own_term.term)

    def _lost(self, event: FoldEvent) -> None:
        """Take the loss of the leader; the line may be the first to name the leader."""
        last = self.last
        if last is not None and last.role == FOLLOWER:
            last.leader = last.leader or event.peer
            self.takes(event, FOLLOWER, last.term, None, LEADER_LOST)

    def _alone(self, event: FoldEvent) -> None:
        """Take the loss of the majority, which ends a leadership even if the log begins amid it."""
        if not self.steps:
            self.takes(event, LEADER, None, self.node, SEEN)
        if self.role == LEADER:
            self.takes(event, FOLLOWER, None, None, QUORUM_LOST)


_MOVES: dict[str, Callable[[Member, FoldEvent], None]] = {
    "START": Member._starts,
    "STOP": Member._stops,
    "NAME": Member._in_term,
    "TERM": Member._in_term,
    "LEADS": Member._leads,
    "FOLLOWS": Member._follows,
    "ASKS": Member._asks,
    "VOTES": Member._votes,
    "VOTED": Member._voted,
    "LOST": Member._lost,
    "ALONE": Member._alone,
}
KINDS = frozenset(f"TOLD_{move}" for move in _MOVES)
HASHICORP_KINDS = frozenset(f"HR_{move}" for move in _MOVES)
"""The kinds of lines that each of the two protocols reads."""
_OF_PROCESS = frozenset({"START", "STOP", "NAME"})
"""Lines that hold for every group of their writer."""


@dataclass(slots=True)
class DescribedLog:
    """The state machine of one log. ``on`` takes its lines in program order."""

    protocol: str
    members: dict[str, Member] = field(default_factory=dict)
    _node: str | None = None

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this log."""
        self._node = event.node or self._node
        group = event.replica_group or UNIDENTIFIED
        self.members.setdefault(group, Member(self._node))
        every = event.kind.partition("_")[2] in _OF_PROCESS
        for name, member in self.members.items():
            if every or name == group:
                member.node = member.node or self._node
                member.on(event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about the groups of its writer."""
        heard = {name: of for name, of in self.members.items() if of.grants or any(s.role != UNKNOWN for s in of.steps)}
        for name, member in sorted(heard.items()):
            node = member.node or speaker.listed.member
            group = speaker.listed.replica_group or name
            emit = speaker.about(group, self.protocol, stream, node)
            if member.steps:
                yield QuietLog(*emit.during(node, member.steps[0].at, member.steps[0].at, None))
                yield from emit.roles(spans(member.steps, emit.incarnations, UNKNOWN))
            yield from emit.alive()
            yield from member.vote_facts(emit)
            for event in member.raised:
                yield TermRaised(*emit.at(event), term=event.term or 0, peer=None)
            yield from member.own_term.facts(emit)
