"""The log of a program whose lines show little more than its role: who led which term, and who voted for whom. A term
in one line also holds for later lines of a leader that name none."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from election_replay.election_core.fold.fact_writer import Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    REMOVED,
    SEEN,
    TRANSFER,
    UNKNOWN,
    spans,
)
from election_replay.election_core.model.facts import Fact, QuietLog
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.protocols.raft_family.log import NO_WINNER, TRANSFER_LASTS, GaveUp, VotingLog

PROTOCOL, HASHICORP = "described", "hashicorp_raft"
"""Programs that the settings describe, and HashiCorp's Raft library."""
ELECTED, LEADER_LOST, QUORUM_LOST = "elected", "leader_lost", "quorum_lost"
AT_ONCE_US = 100 * US_PER_MS
"""Lines of one look at all members lie within this time."""


@dataclass(slots=True)
class Member(VotingLog):
    """The writer of a log as member of one group."""

    _missed: list[FoldEvent] = field(default_factory=list)
    _hands_over_at: int | None = None
    _missed_leader: bool = False
    """A line since it follows says that it does not hear its leader."""

    def on(self, event: FoldEvent) -> None:
        """Take the member's next line."""
        self.node = event.node or self.node
        _MOVES[event.kind.partition("_")[2]](self, event)

    def _own_term(self, event: FoldEvent) -> int | None:
        """Return the writer's term, by this line or an earlier one."""
        if event.term is not None:
            if event.term != self.own_term.term:
                self.raised.append((event.term, None, event))
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
        begun = self._hands_over_at if self.role == LEADER else None
        cause = TRANSFER if begun is not None and event.at - begun < TRANSFER_LASTS else "told"
        self._hands_over_at, self._missed_leader = None, False
        self.takes(event, FOLLOWER, self._own_term(event) if event.term is not None else None, event.peer, cause)

    def _asks(self, event: FoldEvent) -> None:
        """Take a candidacy, whose term is not reached yet: a round before the election may fail. A member that no line
        says to have missed its leader may have been asked for it, by a leader that hands over."""
        if self.open is not None and self.open.term == event.term:
            self.open.rounds += 1
            return
        self.ends(event, NO_WINNER)
        asked = self.role == FOLLOWER and not self._missed_leader
        self.takes(event, CANDIDATE, event.term, None, SEEN if asked else "election_timeout")
        self.stands(event, event.term, None if asked else "election_timeout")

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
        self._missed_leader, last = True, self.last
        if last is not None and last.role == FOLLOWER:
            last.leader = last.leader or event.peer
            self.takes(event, FOLLOWER, last.term, None, LEADER_LOST)

    def _alone(self, event: FoldEvent) -> None:
        """Take the loss of the majority, which ends a leadership even if the log begins amid it.

        A leader looks within every lease whether it reached a majority within the last one; the members that it had
        not, and since when, it prints. So the last one of the majority had been reached at the earliest twice as long
        ago as the last of those, if the process ran (``checkLeaderLease``).
        """
        if not self.steps:
            self.takes(event, LEADER, None, self.node, SEEN)
        if self.role == LEADER:
            waits = [missed.duration_ms for missed in self._missed if event.at - missed.at <= AT_ONCE_US]
            silent = min((wait for wait in waits if wait is not None), default=None)
            if silent is not None:
                silent_us = silent * US_PER_MS
                at, by = event.at - 2 * silent_us, event.by - silent_us
                self.gave_up.append(GaveUp(self.own_term.term or 0, at, by, event))
            self.takes(event, FOLLOWER, None, None, QUORUM_LOST)
        self._missed = []

    def _misses(self, event: FoldEvent) -> None:
        """Take that the leader has not reached a member; before it gives up it prints all of those at once. Nobody else
        prints that, so it leads even if the log begins amid it."""
        if not self.steps:
            self.takes(event, LEADER, None, self.node, SEEN)
        self._missed = [missed for missed in self._missed if event.at - missed.at <= AT_ONCE_US]
        self._missed.append(event)

    def _refuses(self, event: FoldEvent) -> None:
        """Take a vote that is refused, of which nothing is kept."""

    def _hands_over(self, event: FoldEvent) -> None:
        self._hands_over_at = event.at

    def _is_removed(self, event: FoldEvent) -> None:
        """Take that the member neither leads nor follows any more, though its process may go on."""
        self.ends(event, "abandoned")
        self.takes(event, UNKNOWN, None, None, REMOVED)


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
    "MISSES": Member._misses,
    "REFUSES": Member._refuses,
    "HANDS_OVER": Member._hands_over,
    "REMOVED": Member._is_removed,
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
