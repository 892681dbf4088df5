"""KRaft: one node's log about the metadata quorum.

Source: apache/kafka ``raft/.../QuorumState``, ``KafkaRaftClient``, ``LeaderState``. A voter prints each change of its
own state with its epoch, and a follower its vote. Differences from the Raft paper that matter here: since 4.0 a voter
first asks whether it would be elected (``Prospective``), which changes no epoch and is no vote; a leader from which no
majority fetches resigns after 1.5 fetch time-outs; a leader that was killed restarts as ``Resigned`` of its old epoch,
and leads nothing. A log's end is an offset: the entries below it exist.

Brokers follow the quorum and write the same lines. They neither vote nor lead, and are not its members: only nodes
among the voters in a line are.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, Verdict, violates
from election_replay.election_core.fold.contact import Contact
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.process_runs import incarnation_at
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    NAMED,
    OBSERVER,
    REMOVED,
    SEEN,
    Step,
    spans,
)
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import (
    Fact,
    LastHeard,
    QuietLog,
    Serving,
    VotersStated,
)
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.raft_family.log import NO_WINNER, GaveUp, HeardLast, VotingLog

PROTOCOL = "kraft"

QUORUM = "metadata-quorum"
"""The replica group of the controllers, and of the brokers, which observe it: they neither vote nor lead."""


@dataclass(slots=True)
class _Now:
    """The state of the present process."""

    fresh: bool = True
    cause: str | None = None
    believed: str | None = None
    known: int | None = None
    fetch_timeout_us: int = 0
    missed: tuple[str | None, int | None] = (None, None)


@dataclass(slots=True)
class QuorumLog(VotingLog):
    """The state machine of one node's logs; ``on`` takes the lines of each file in program order."""

    voters: tuple[str, ...] = ()
    ever_voter: bool = False
    by_controller: list[Step] = field(default_factory=list)
    missed: list[tuple[str, FoldEvent]] = field(default_factory=list)
    gone: list[FoldEvent] = field(default_factory=list)
    serving: list[FoldEvent] = field(default_factory=list)
    stated: list[FoldEvent] = field(default_factory=list)
    _now: _Now = field(default_factory=_Now)
    _streams: dict[str, str] = field(default_factory=dict)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of one of this node's files."""
        if event.node is not None:
            self.node = event.node
        self._streams.setdefault(event.kind, event.stream)
        _HANDLERS[event.kind](self, event)

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this node proves about the metadata quorum, as one of its voters or as an observer."""
        steps = self.steps or self.by_controller
        if not steps:
            return
        votes = self.ever_voter or not self.steps
        group = speaker.listed.replica_group or QUORUM
        told_by = self._streams.get("KAFKA_STATE") or next(iter(self._streams.values()))
        emit = speaker.about(group, PROTOCOL, told_by, self.node)
        yield QuietLog(*emit.during(self.node, steps[0].at, steps[0].at, None))
        yield from emit.roles(spans(steps, emit.incarnations, FOLLOWER if votes else OBSERVER))
        yield from emit.alive()
        yield from emit.silences()
        if votes:  # a broker's copy of the term may go back: it has no vote to give twice
            yield from self.vote_facts(emit)
        yield from self._contact_facts(emit, emit.timing.us(Timeout.KRAFT_FETCH))
        yield from self._log_facts(emit)

    def _log_facts(self, emit: FactWriter) -> Iterator[Fact]:
        yield from self._serving(emit)
        for number, event in enumerate(self.stated):
            yield VotersStated(*emit.at(event, ordinal=number), voters=event.members)

    def _serving(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield when leaders served as controllers: once they had committed the first record of their epoch and read
        all before it (``KafkaRaftClient#maybeFireLeaderChange``). One whose controller printed that it was active in no
        epoch up to a later one that it knew never did."""
        first = {step.term: step for step in reversed(self.steps) if step.role == LEADER}
        for elected in reversed(first.values()):
            began = (elected.at, elected.by, elected.event_id)
            active = next((event for event in self.serving if event.term == elected.term), None)
            if active is not None and elected.at <= active.at:
                end = (active.at, active.by, active.event_id)
                yield Serving(*emit.during(self.node, *began, *end), term=active.term or 0)
            elif active is None and self.serving and self._controller_knew(elected, emit):
                yield Serving(*emit.during(self.node, *began), term=elected.term or 0)

    def _controller_knew(self, elected: Step, emit: FactWriter) -> bool:
        """Return True when the controller told of its leaders before an election and after it, in one process."""
        run = incarnation_at(emit.incarnations, elected.at)
        steps = [step for step in self.by_controller if incarnation_at(emit.incarnations, step.at) == run]
        before = any(step.at <= elected.at for step in steps)
        return before and any(is_larger(step.term, elected.term) and step.at > elected.at for step in steps)

    # -- states -----------------------------------------------------------------------------------------

    def _on_state(self, event: FoldEvent) -> None:
        if event.flag and event.value_before is None:
            self._begin()
        self._note_voters(event)
        if event.term is None:
            return
        self._now.fresh &= event.value_before is None
        if not self.steps and event.value_before == "LEADER" and event.from_term is not None:
            # The log begins in a leadership that only its end shows.
            self.takes(event, LEADER, event.from_term, self.node, SEEN)
        self._note_epoch(event, event.term)
        self._close(event)
        _ENTERED[event.role or ""](self, event)
        self._now.fresh = False
        known = event.from_term if event.from_term is not None else event.term
        if event.committed is not None:  # of the epoch that the node leaves, or an earlier one
            self._note_commit(event, known, event.committed)

    def _begin(self) -> None:
        """Take a start of the process: what was open in the old one ended with it."""
        self.begins()
        self._now = _Now()

    def _on_boot(self, event: FoldEvent) -> None:
        self._begin()

    def _lead(self, event: FoldEvent) -> None:
        if event.ledger_end is not None and event.term is not None:
            self.led_with.append((event.term, event.ledger_end, event))
        self._step(event, LEADER, self.node, "elected")
        self._now.cause = None

    def _follow(self, event: FoldEvent) -> None:
        """Take a follower; after a start it knows its last leader from its disk, but has not heard from it yet."""
        self._now.believed, self._now.cause = event.peer, None
        self._now.fetch_timeout_us = (event.duration_ms or 0) * US_PER_MS
        if self._now.fresh:
            self._step(event, FOLLOWER, None, "start")
        else:
            self._step(event, FOLLOWER, event.peer, "heartbeat")

    def _stand(self, event: FoldEvent) -> None:
        """Take a candidate, which votes for itself in the epoch that it raised."""
        cause = self._now.cause if self._now.cause not in (None, "start") else "election_timeout"
        self._step(event, CANDIDATE, None, cause)
        self.stands(event, event.term, cause).needed = majority(len(self.voters)) if self.voters else None
        self.grant(event, self.node, self.node, event.term or 0)

    def _ask(self, event: FoldEvent) -> None:
        self._step(event, CANDIDATE, None, self._now.cause or "election_timeout")

    def _resign(self, event: FoldEvent) -> None:
        """Take a leader that gave up, or a killed leader that restarts."""
        self._now.cause = "start" if self._now.fresh else self._now.cause or "stepped_down"
        self._step(event, FOLLOWER, None, self._now.cause)
        self._now.cause = None if self._now.cause == REMOVED else self._now.cause

    def _detach(self, event: FoldEvent) -> None:
        """Take a node without a leader: it heard of a larger epoch, voted, or goes on looking for one."""
        if event.peer is not None:
            self.grant(event, self.node, event.peer, event.term or 0)
        elif self.last is not None and (self.last.role, self.last.term) == (CANDIDATE, event.term):
            return
        led = self.role == LEADER
        cause = "start" if self._now.fresh else "larger_term" if led else self._now.cause or "larger_term"
        self._now.cause = "larger_term" if led else self._now.cause
        self._step(event, FOLLOWER, None, cause)

    def _step(self, event: FoldEvent, role: str, leader: str | None, cause: str) -> None:
        if role == FOLLOWER and self.node not in self.voters:
            role = OBSERVER
        self.takes(event, role, event.term, leader, cause)

    def _close(self, event: FoldEvent) -> None:
        """End a candidacy; since 4.0 the state that was left prints the voters."""
        campaign = self.open
        if campaign is None:
            return
        if event.members_before is not None:
            campaign.voters.update(event.members_before)
            campaign.granted = len(event.members_before)
            answered = event.answered or 0
            campaign.majority_answered = campaign.needed is not None and answered >= campaign.needed
            for voter in event.members_before:
                self.grant(event, voter, campaign.node, campaign.term or 0)
        followed = event.role == "FOLLOWER" and event.term == campaign.term
        self.ends(event, "won" if event.role == "LEADER" else "lost" if followed else NO_WINNER)

    def _note_voters(self, event: FoldEvent) -> None:
        if event.members and event.members != self.voters:
            self.voters = event.members
            self.stated.append(event)
        alone = event.kind == "KAFKA_STATE" and event.role in ("LEADER", "CANDIDATE", "PROSPECTIVE", "RESIGNED")
        self.ever_voter |= alone or self.node in self.voters

    def _note_epoch(self, event: FoldEvent, epoch: int) -> None:
        before = self.own_term.term
        if before is not None and epoch < before:
            self._now.known = None
        elif before is not None and epoch > before and event.role in ("CANDIDATE", "UNATTACHED"):
            self.raised.append((epoch, None, event))
        self.own_term.note(epoch, event)

    def _note_commit(self, event: FoldEvent, epoch: int, offset: int) -> None:
        self.committed.append((epoch, offset, event))
        self._now.known = max(self._now.known or 0, offset)

    # -- votes ------------------------------------------------------------------------------------------

    def _on_vote(self, event: FoldEvent) -> None:
        """Take a vote request, with the end of the candidate's log and the voter's answer."""
        if event.flag or event.term is None:  # a pre-vote
            return
        if (
            self.raised
            and self.raised[-1][:2] == (event.term, None)
            and event.at - self.raised[-1][2].at < Timeout.CLOSE_ON_ITS_WAY.us
        ):
            self.raised[-1] = (event.term, event.peer, self.raised[-1][2])
        if event.result == "granted":
            self.grant(event, self.node, event.peer, event.term)
            self.checked.note(self._is_fresh(event), event)

    def _is_fresh(self, event: FoldEvent) -> Verdict:
        """Judge whether the candidate has everything the voter knows to be committed; its other entries are not
        printed."""
        end, known = event.peer_ledger_end, self._now.known
        if end is not None and known is not None and end < known:
            ends = f"its own log had the committed entries below offset {known}, and the candidate's ended at {end}"
            how = f"voted for {event.peer} in epoch {event.term} although {ends}"
            return violates(RuleId.STALE_LOG_VOTE, how)
        return Verdict(RuleId.STALE_LOG_VOTE, UNDECIDABLE, "where the voter's own log ended is not printed")

    def _on_round_lost(self, event: FoldEvent) -> None:
        if self.open is not None:
            self.open.last_result = "rejected" if event.members else "timed_out"
            if event.members and self.open.needed is not None:
                self.open.majority_answered = len(event.members) + 1 >= self.open.needed

    # -- contact ----------------------------------------------------------------------------------------

    def _on_fetch_timeout(self, event: FoldEvent) -> None:
        """Take the end of a wait for the leader. It begins anew with each answer, and where another voter names the
        leader that was just missed: if no answer came since, that one was not reached at all."""
        self._now.cause = "election_timeout"
        step = self.last
        if step is None or step.role != FOLLOWER or step.leader is None:
            return
        unanswered = event.at - step.at < self._now.fetch_timeout_us + Timeout.KRAFT_FETCH_WAIT.us
        if unanswered and self._now.missed == (step.leader, step.term):
            self.steps[-1] = replace(step, cause=NAMED)
            return
        self._now.missed = (step.leader, step.term)
        self.missed.append((step.leader, event))

    def _on_peer_gone(self, event: FoldEvent) -> None:
        self.gone.append(event)

    def _contact_facts(self, emit: FactWriter, timeout_us: int) -> Iterator[Fact]:
        """Yield when leaders were heard last: a fetch time-out ago, or when the first connection was closed. A leader
        that resigns says so, and the time-out ends at once. The leader may have run on while it held the next fetch."""
        for leader, event in self.missed:
            closed = (gone for gone in self.gone if gone.peer == leader and 0 <= event.at - gone.at <= 2 * timeout_us)
            gone = next(closed, None)
            if gone is None:
                by = event.by - timeout_us + min(Timeout.KRAFT_FETCH_WAIT.us, timeout_us)
                heard = HeardLast(leader, event.at - 2 * timeout_us, by, event.event_id)
            else:
                heard = HeardLast(leader, gone.at - Timeout.CLOSE_ON_ITS_WAY.us, gone.by, event.event_id)
                yield Contact(leader, gone).fact(emit, Timeout.CLOSE_ON_ITS_WAY.us, closed=True)
            yield LastHeard(*emit.about(leader, heard))

    def _on_no_quorum(self, event: FoldEvent) -> None:
        """Take CheckQuorum: a majority had fetched when the timer began (``updateCheckQuorumForFollowingVoter``), and
        may have waited for the answer. A busy leader looks at its timer late, so that it may have begun earlier."""
        self._now.cause = "quorum_lost"
        step = self.last
        if step is not None and step.role == LEADER and step.term is not None and event.duration_ms:
            waited = event.duration_ms * 1000
            earlier = waited if len(self.voters) > 3 else 0
            wait = min(Timeout.KRAFT_FETCH_WAIT.us, waited)
            least, most = event.at - waited - earlier - wait, event.by - waited + wait
            self.gave_up.append(GaveUp(step.term, least, most, event))

    def _on_resigns(self, event: FoldEvent) -> None:
        self._now.cause = "stepped_down"

    def _on_leader_removed(self, event: FoldEvent) -> None:
        self._now.cause = REMOVED

    # -- the log ----------------------------------------------------------------------------------------

    def _on_committed(self, event: FoldEvent) -> None:
        """Take the answer to a fetch, which comes from the leader of its epoch."""
        if event.term is None or event.committed is None:
            return
        self._note_commit(event, event.term, event.committed)
        step = self.last
        if step is not None and (step.term, step.leader) == (event.term, None) and self._now.believed is not None:
            self._step(event, FOLLOWER, self._now.believed, "heartbeat")

    def _on_cut(self, event: FoldEvent) -> None:
        """Judge a cut: a node may only cut what it does not know to be committed."""
        if event.start_offset is None or self._now.known is None:
            return
        known, start = self._now.known, event.start_offset
        why = f"it knew the entries below offset {known} to be committed, and cut its log at {start}"
        lost, rule = known - start, RuleId.COMMITTED_ENTRY_LOST
        broken = violates(rule, f"lost committed entries: {why}: {lost} are lost")
        self.checked.note(broken if lost > 0 else Verdict(rule, CONFORMS), event)

    def _on_watermark_lost(self, event: FoldEvent) -> None:
        why = "a leader counted fewer committed entries than before: a voter lost some, or the voters changed"
        self.checked.note(Verdict(RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, why), event)

    def _on_epoch_lost(self, event: FoldEvent) -> None:
        if event.term is not None and event.from_term is not None:
            self.own_term.went_back(event.from_term, event.term, event)

    # -- the controller ---------------------------------------------------------------------------------

    def _on_active(self, event: FoldEvent) -> None:
        if event.term is not None:
            self.serving.append(event)
            self._by_controller(event, LEADER, self.node, "elected")

    def _on_renounced(self, event: FoldEvent) -> None:
        self._by_controller(event, FOLLOWER, None, "stepped_down")

    def _on_known(self, event: FoldEvent) -> None:
        self._by_controller(event, FOLLOWER, event.peer, "larger_term" if event.peer is None else "heartbeat")

    def _by_controller(self, event: FoldEvent, role: str, leader: str | None, cause: str) -> None:
        """Note a role by the controller's lines, which count only if the file with the quorum's own lines is
        missing."""
        term = event.term if event.max_term is None else event.max_term
        self.by_controller.append(Step(event.at, event.by, role, term, leader, event.event_id, cause, self.node))


_ENTERED: dict[str, Callable[[QuorumLog, FoldEvent], None]] = {
    "LEADER": QuorumLog._lead,
    "FOLLOWER": QuorumLog._follow,
    "CANDIDATE": QuorumLog._stand,
    "PROSPECTIVE": QuorumLog._ask,
    "RESIGNED": QuorumLog._resign,
    "UNATTACHED": QuorumLog._detach,
}
"""The handler of each state of ``QuorumState``."""

_HANDLERS: dict[str, Callable[[QuorumLog, FoldEvent], None]] = {
    "KAFKA_STATE": QuorumLog._on_state,
    "KAFKA_VOTE_ANSWERED": QuorumLog._on_vote,
    "KAFKA_ROUND_LOST": QuorumLog._on_round_lost,
    "KAFKA_FETCH_TIMEOUT": QuorumLog._on_fetch_timeout,
    "KAFKA_PEER_GONE": QuorumLog._on_peer_gone,
    "KAFKA_NO_QUORUM": QuorumLog._on_no_quorum,
    "KAFKA_RESIGNS": QuorumLog._on_resigns,
    "KAFKA_LEADER_REMOVED": QuorumLog._on_leader_removed,
    "KAFKA_BOOT": QuorumLog._on_boot,
    "KAFKA_COMMITTED": QuorumLog._on_committed,
    "KAFKA_METADATA_CUT": QuorumLog._on_cut,
    "KAFKA_WATERMARK_LOST": QuorumLog._on_watermark_lost,
    "KAFKA_EPOCH_LOST": QuorumLog._on_epoch_lost,
    "KAFKA_VOTERS": QuorumLog._note_voters,
    "KAFKA_ACTIVE": QuorumLog._on_active,
    "KAFKA_RENOUNCED": QuorumLog._on_renounced,
    "KAFKA_CONTROLLER_KNOWN": QuorumLog._on_known,
}

KINDS = frozenset(_HANDLERS)
"""The events that the fold of the quorum reads."""
TELLS_ROLES = frozenset({"KAFKA_STATE"})
"""Lines of Raft itself; without any, those of the controller above it count."""
