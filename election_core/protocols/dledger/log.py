"""DLedger: the Raft variant of RocketMQ's DLedger brokers and controllers.

Source: openmessaging/dledger 0.3.1.2, ``DLedgerLeaderElector``, ``MemberState``, ``DLedgerEntryPusher``.

The fold reads one node's own log. Only a node's own role lines show that it leads: a peer's "follower of X" may be the
late echo of a heartbeat. A role seen only in the periodic status line stands in for a role line that the appender
dropped. Votes are printed by the candidate alone; a voter prints nothing.

Differences from the Raft paper that matter here: the first round after a time-out is held in the *old* term, so one
node may lead one term several times; a term without a winner is normal; and a leader without quorum keeps its role for
6 to about 10 s, during which it cannot commit.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.checks import either, undecidable
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import BROKER, UNIDENTIFIED, process_of
from election_replay.election_core.fold.members import name_at
from election_replay.election_core.fold.periodic import Periodic
from election_replay.election_core.fold.process_runs import REORDERED, Incarnation
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    FOLLOWER,
    LEADER,
    PREFERRED,
    TRANSFER,
    Span,
    Step,
    joined,
    spans,
)
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import (
    CONTROLLER_GROUP,
    Committed,
    Fact,
    KnownCommitted,
    LastHeard,
    LeaderLog,
    LogCut,
    QuorumLost,
    RefusedWrites,
    Serving,
    VotersStated,
)
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.quorum import majority
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.dledger.broker_lines import (
    becomes_slave,
    changes_to_master,
    steps_of_broker,
)
from election_replay.election_core.protocols.dledger.checks import (
    FOR_ANOTHER,
    ROLE_CHANGES,
    answers_of,
    broker_id,
    broker_role,
    clause,
    follower_timeout,
    is_doubtful,
    is_impossible,
    leader_gives_up,
    next_round,
    role_change,
    round_result,
    still_owed,
    take_over,
    term_raised,
    transfer_refused,
    vote_reply,
)
from election_replay.election_core.protocols.dledger.facts import (
    BrokerBecameSlave,
    CommittedCut,
    QueuesCut,
    StrangerMet,
)
from election_replay.election_core.protocols.dledger.tables import (
    ACCEPT,
    HEARTBEAT_INTERVAL_MS,
    OPEN_TO_ALL,
    UNEXPECTED_LEADER,
    UNKNOWN_LEADER,
)
from election_replay.election_core.protocols.raft_family.facts import LeaderKeptRole, TwoLeaders, VoteRefused
from election_replay.election_core.protocols.raft_family.log import (
    NO_WINNER,
    TRANSFER_LASTS,
    HeardLast,
    VotingLog,
)

PROTOCOL = "dledger"

ROLE_OF = {"LEADER": LEADER, "FOLLOWER": FOLLOWER, "CANDIDATE": CANDIDATE}


NOT_A_MEMBER = "not_a_member"
UNKNOWN_TO_A_MEMBER = "unknown_to_a_member"
OWN_ID_AT_A_MEMBER = "own_id_at_a_member"
OWN_ID_ELSEWHERE = "own_id_elsewhere"

_STRANGER_ANSWERS = {UNKNOWN_LEADER: UNKNOWN_TO_A_MEMBER, UNEXPECTED_LEADER: OWN_ID_AT_A_MEMBER}
"""Voters' answers that show different lists of members, each with the finding's reason."""


@dataclass(slots=True)
class VoteDenied:
    """``voter`` told ``candidate`` ``count`` times that its vote of ``term`` was given to another; first in [at,
    by]."""

    voter: str
    candidate: str
    term: int
    at: int
    by: int
    event_id: str
    result: str
    count: int = 1


@dataclass(slots=True)
class Progress:
    """The last growth of a leader's commit index in one leadership, by its status lines. It grew in ``[after, by]``
    (us); ``from_index`` and ``to_index`` are DLedger entry indexes."""

    term: int
    after: int
    by: int
    from_index: int
    to_index: int
    event_id: str


@dataclass(slots=True)
class WithoutQuorum:
    """A leader's heartbeat rounds without a majority: the quorum was lost in ``[at, by]``, ``last`` is the last
    round."""

    term: int
    at: int
    by: int
    event_id: str
    last: FoldEvent
    rounds: int = 1
    regained: bool = False


@dataclass(slots=True)
class AsLeader:
    """A node's own lines about its majority while it led, and about the number of voters. ``lost`` and ``progressed``
    concern the present leadership."""

    progress: list[Progress] = field(default_factory=list)
    without_quorum: list[WithoutQuorum] = field(default_factory=list)
    kept: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    sizes: list[tuple[int, FoldEvent]] = field(default_factory=list)
    lost: WithoutQuorum | None = None
    progressed: bool = False

    def ended(self) -> None:
        """Take the end of the leadership."""
        self.lost, self.progressed = None, False


@dataclass(slots=True)
class LedgerLines:
    """A node's own lines about its log, and about the queues that its broker builds from it."""

    truncated: list[FoldEvent] = field(default_factory=list)
    committed_cut: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    led_with: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    known_committed: dict[int, tuple[int, FoldEvent]] = field(default_factory=dict)
    recovered: list[FoldEvent] = field(default_factory=list)
    queues_cut: list[FoldEvent] = field(default_factory=list)
    queues_built: dict[str, FoldEvent] = field(default_factory=dict)

    def on_start(self, event: FoldEvent) -> None:
        """Take a line of a start: where the log ends, where queues are cut, from where they are built again."""
        if event.kind == "DL_STORE_RECOVERED_TO":
            self.recovered.append(event)
        elif event.kind == "STORE_QUEUES_CUT":
            self.queues_cut.append(event)
        elif self.queues_cut:
            self.queues_built.setdefault(self.queues_cut[-1].event_id, event)

    def facts(self, emit: FactWriter, following_in: int | None) -> Iterator[Fact]:
        """Yield what the lines prove; ``following_in``: the term in which the node follows as its log ends."""
        for cut in self.truncated:
            during, evidence = emit.at(cut), (cut.event_id,)
            yield LogCut(
                *during,
                term=None,
                peer=cut.peer,
                cut_to=cut.start_offset,
                log_end=cut.max_offset,
                done=True,
                evidence=evidence,
            )
        for last, committed, cut in self.committed_cut:
            yield CommittedCut(*emit.at(cut), from_index=last, to_index=committed, peer=cut.peer)
        for term, ledger_end, status in self.led_with:
            yield LeaderLog(*emit.at(status), term=term, to_index=ledger_end)
        for term, (committed, status) in sorted(self.known_committed.items()):
            yield KnownCommitted(*emit.at(status), term=term, to_index=committed, goes_on=term == following_in)
        for cut in self.queues_cut:
            if cut.start_offset is None:  # the line does not print how far the queues reached
                continue
            ends = [
                start.max_offset
                for start in self.recovered
                if 0 <= cut.at - start.at <= Timeout.DLEDGER_ONE_RECOVERY.us
            ]
            log_end = ends[-1] if ends else None
            built = self.queues_built.get(cut.event_id)
            of_file = emit.speaker.written.get(cut.stream)
            until = (cut.at, cut.by) if of_file is None else (of_file.last, of_file.last_by)
            yield QueuesCut(
                *emit.during(emit.node_at(cut.at), cut.at, cut.by, cut.event_id, *until),
                queue_end=cut.start_offset,
                cut_to=cut.max_offset,
                log_end=log_end,
                built_from=None if built is None else built.start_offset,
            )


@dataclass(slots=True)
class Running:
    """The state of one process of the node; a start replaces it, so nothing is carried over. ``owed``: answers of the
    previous round that may still come; None if the log begins in the middle of a process."""

    owed: int | None = None
    role_seen_at: int | None = None
    current_term: int | None = None
    heard_term: int = 0
    heard_at: int = 0
    led_until: dict[int | None, int] = field(default_factory=dict)
    failed_rounds: int = 0
    failed_round: FoldEvent | None = None
    doubtful: list[FoldEvent] = field(default_factory=list)
    replies: list[FoldEvent] = field(default_factory=list)
    last_round: FoldEvent | None = None
    cause: str | None = None
    transfer_at: int | None = None
    preferred_at: int | None = None
    last_status: tuple[int, int, int] | None = None
    last_known: tuple[int, int] | None = None
    candidate_knew: tuple[int, int] | None = None
    last_at: int | None = None
    led_with: int | None = None
    committed: int = -1


@dataclass(slots=True)
class DledgerLog(VotingLog):
    """The state machine of one node's DLedger log. ``on`` takes its events in program order."""

    names: list[tuple[int, str]] = field(default_factory=list)
    group: str | None = None
    refusals: dict[tuple[int, str, str], VoteDenied] = field(default_factory=dict)
    strangers: dict[tuple[str, str | None], FoldEvent] = field(default_factory=dict)
    two_leaders: list[tuple[int, str | None, str | None, FoldEvent]] = field(default_factory=list)
    ledger: LedgerLines = field(default_factory=LedgerLines)
    heard: list[HeardLast] = field(default_factory=list)
    as_leader: AsLeader = field(default_factory=AsLeader)
    _now: Running = field(default_factory=Running)
    _of_broker: list[FoldEvent] = field(default_factory=list)
    _interval_ms: int = HEARTBEAT_INTERVAL_MS
    _zone: int | None = None
    _status: list[int] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this node's DLedger log, or of the broker on top of it."""
        if event.kind in BROKER_KINDS:
            self._of_broker.append(event)
            return
        if event.kind in STORE_KINDS:
            self.ledger.on_start(event)
            return
        if event.node is not None and event.kind in _NAMES_SELF:
            self.node = event.node
            if not self.names or self.names[-1][1] != event.node:
                self.names.append((event.at, event.node))
        if event.replica_group is not None:
            self.group = event.replica_group
        if event.kind in ROLE_CHANGES:
            self.checked.note(role_change(event), event)
        handler = _HANDLERS.get(event.kind)
        if handler is not None:
            handler(self, event)
        if event.kind in _SAYS_OWN_TERM and event.term is not None:
            self._note_term(event, event.term)
        if event.kind not in _OF_OTHER_THREADS:
            self._now.failed_round = event if event.kind == "DL_HB_PARSED" else None
        self._now.last_at = event.at

    def role_spans(self, incarnations: list[Incarnation]) -> list[Span]:
        """Return the role spans; a DLedger node is candidate from its start (``MemberState`` constructor). Release 0.1
        prints "candidate" again for each request of a larger term, up to hundreds of times a second."""
        return joined(spans(self.steps, incarnations, CANDIDATE))

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about its DLedger group."""
        if not self.steps and not self.campaigns:
            self.node = self.node or speaker.identity.setting("dLegerSelfId")
            self.steps += steps_of_broker(self._of_broker, self.node)
        if not self.steps and not self.campaigns:
            return
        for event in self._of_broker:
            self.checked.note(broker_id(event, self.node) if event.broker_id else broker_role(event), event)
        incarnations = speaker.incarnations.get(process_of(stream), [])
        serving = [
            (begin, end)
            for begin, end in changes_to_master(self._of_broker, incarnations)
            if end is not None or speaker.shows(begin.stream, begin.at + Timeout.BROKER_ROLE_CHANGE.us)
        ]
        slaves = [event for event in self._of_broker if becomes_slave(event)]
        self._of_broker.clear()
        emit = speaker.about(
            self._group(speaker, stream),
            PROTOCOL,
            stream,
            lambda time: name_at(time, self.names, incarnations) or self.node,
        )
        yield from emit.roles(self.role_spans(emit.incarnations))
        yield from emit.alive()
        yield from emit.silences()
        yield from _stalls(emit, stream, self._status)
        yield from self._election_facts(emit)
        for count, event in self.as_leader.sizes:
            yield VotersStated(*emit.at(event), voters_least=count, voters_most=count)
        for term, known, other, event in self.two_leaders:
            yield TwoLeaders(*emit.at(event), term=term, other=other, known=known)
        lives_on = bool(incarnations) and incarnations[-1].goes_on
        leads_in = self._term_as(LEADER, self._now.last_status) if lives_on else None
        follows_in = self._term_as(FOLLOWER, self._now.last_known) if lives_on else None
        for progress in self.as_leader.progress:
            yield Committed(
                *emit.during(self.node, progress.after, progress.by, progress.event_id),
                term=progress.term,
                from_index=progress.from_index,
                to_index=progress.to_index,
                goes_on=progress.term == leads_in and progress is self.as_leader.progress[-1],
            )
        yield from self._quorum_facts(emit)
        for begin, end in serving:
            ends = (None, None, None) if end is None else (end.at, end.by, end.event_id)
            yield Serving(*emit.during(self.node, begin.at, begin.by, begin.event_id, *ends), term=begin.term or 0)
        for event in slaves:
            began = (event.at - (event.duration_ms or 0) * US_PER_MS, event.by - (event.duration_ms or 0) * US_PER_MS)
            during = emit.during(self.node, *began, event.event_id, event.at, event.by, event.event_id)
            yield BrokerBecameSlave(*during, term=event.term or 0)
        yield from self._rule_facts(emit)
        for heard in self.heard:
            yield LastHeard(*emit.about(heard.leader, heard))
        yield from self.ledger.facts(emit, follows_in)

    def _term_as(self, role: str, shown: tuple[int, ...] | None) -> int | None:
        """Return the term in which the node holds ``role`` as its log ends; None unless a status line has ``shown``
        it."""
        if shown is None or (self.role, self.term) != (role, shown[0]):
            return None
        return shown[0]

    def _quorum_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for lost in self.as_leader.without_quorum:
            end = (lost.last.at, lost.last.by, lost.last.event_id)
            during = emit.during(self.node, lost.at, lost.by, lost.event_id, *end)
            yield QuorumLost(*during, term=lost.term, rounds=lost.rounds, regained=lost.regained)

    def _group(self, speaker: Speaker, stream: str) -> str:
        """Return the group's name: one for all controllers; a broker's by votes, configuration or its broker set."""
        if process_of(stream) != BROKER:
            return CONTROLLER_GROUP
        identity = speaker.identity
        return self.group or identity.setting("dLegerGroup") or speaker.broker_set or UNIDENTIFIED

    def _rule_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for (why, stranger), event in sorted(self.strangers.items(), key=lambda item: (item[0][0], item[0][1] or "")):
            yield StrangerMet(*emit.at(event), peer=stranger, why=why)
        for rounds, without_ms, event in self.as_leader.kept:
            yield LeaderKeptRole(*emit.at(event), term=event.term, without_quorum_ms=without_ms, rounds=rounds)

    def _election_facts(self, emit: FactWriter) -> Iterator[Fact]:
        yield from self.vote_facts(emit, clause)
        for refusal in self.refusals.values():
            yield VoteRefused(
                *emit.about(refusal.candidate, refusal),
                term=refusal.term,
                voter=refusal.voter,
                answer=refusal.result,
                count=refusal.count,
            )

    # -- roles ------------------------------------------------------------------------------------------

    def _step(
        self,
        event: FoldEvent,
        role: str,
        term: int | None,
        leader: str | None,
        cause: str | None,
        since: int | None = None,
    ) -> None:
        """Add a step to a role that the line shows, taken at the line or ``since`` an earlier time (us)."""
        at = event.at if since is None else since
        if self.role == LEADER:
            self._now.led_until[self.term] = event.by
            self.as_leader.ended()
        self.steps.append(Step(at, event.by, role, term, leader, event.event_id, cause, event.node or self.node))
        self._now.role_seen_at = at

    def _on_to_candidate(self, event: FoldEvent) -> None:
        if event.from_term is not None and event.term is not None and event.from_term > event.term:
            cause = "larger_term"
        else:
            cause = self._now.cause or "unknown"
        if self._transferring(event) and self.role == LEADER:
            cause = PREFERRED if self._preferring(event) else TRANSFER
        if self._now.failed_round is not None and self.role == LEADER:
            quorum_at = self._last_heartbeat(self._now.failed_round)
            self.checked.note(leader_gives_up(self._now.failed_round, quorum_at, event), event)
        self._step(event, CANDIDATE, event.term, None, cause)
        self._now.cause = cause if cause != "larger_term" else self._now.cause
        self._now.failed_rounds = 0
        self._hear(event, event.from_term)

    def _on_larger_term(self, event: FoldEvent) -> None:
        """Take that a leader with a quorum heard of a larger term (0.3.2 and later): it becomes candidate for it."""
        self._hear(event, event.max_term)

    def _hear(self, event: FoldEvent, term: int | None) -> None:
        if term is not None:
            self._now.heard_term, self._now.heard_at = max(self._heard(event.at), term), event.at

    def _heard(self, now: int) -> int:
        """Return the largest term for which the node recently became candidate; 0 if that is too long ago."""
        return self._now.heard_term if now - self._now.heard_at <= Timeout.DLEDGER_HEARD.us else 0

    def _on_to_leader(self, event: FoldEvent) -> None:
        cause = TRANSFER if self._transferring(event) else "elected"
        self._step(event, LEADER, event.term, event.node or self.node, cause)
        self.ends(event, "won")
        self._now.cause = None
        self._now.failed_rounds = 0

    def _on_to_follower(self, event: FoldEvent) -> None:
        self._step(event, FOLLOWER, event.term, event.peer, "heartbeat")
        self.ends(event, "lost")
        self._now.cause = None
        self._now.last_round = None  # following a leader resets the result of the last round
        self._now.failed_rounds = 0

    def _on_heartbeat_timeout(self, event: FoldEvent) -> None:
        self._now.cause = "heartbeat_timeout"
        last = self._last_heartbeat(event)
        self.checked.note(follower_timeout(event, last, self._now.last_at), event)
        self._interval_ms = event.duration_ms or self._interval_ms
        if last is not None and event.peer is not None:
            self.heard.append(HeardLast(event.peer, last, last + self._interval_ms * 1000, event.event_id))

    def _last_heartbeat(self, event: FoldEvent) -> int | None:
        """Return the time (us UTC) of the last heartbeat that the line prints; None if its zone is unknown.

        A node that was suspended may have heard it quarters of an hour earlier, and a leader may print a time of a
        former leadership: then only the time zone shown by a follower's earlier line decides.
        """
        reading = local_reading(event.last_heartbeat_local)
        if reading is None:
            return None
        reading += event.ahead
        latest = last_heartbeat(reading, event.by)
        by_zone = None if self._zone is None else reading - self._zone
        if self._now.last_at is not None and event.at - self._now.last_at > Timeout.UNAMBIGUOUS.us:
            return by_zone
        if event.kind == "DL_HB_TIMEOUT":
            self._zone = self._zone if latest is None else reading - latest
            return latest
        return latest if by_zone in (latest, None) else None

    def _on_heartbeats_parsed(self, event: FoldEvent) -> None:
        self._note_size(event)
        self._note_unseen_leadership(event)
        self._note_failed_round(event)
        if event.has_leader and event.term is not None:
            self.two_leaders.append((event.term, event.node, None, event))
        self._now.cause = "larger_term" if is_larger(event.max_term, event.term) else "quorum_lost"

    def _note_unseen_leadership(self, event: FoldEvent) -> None:
        """Add a leadership whose begin was lost: a heartbeat round is held by a leader only."""
        if event.term is None or event.duration_ms is None or not self.steps or self._leads(event.term):
            return
        began = event.at - event.duration_ms * 1000
        if self._now.led_until.get(event.term, 0) >= began:
            return
        last = self.steps[-1]
        since = max(min(began, self._now.last_at or began), last.at)
        self._step(event, LEADER, event.term, event.node or self.node, "status", since)
        if last.by >= began:  # it took its last role while the round was open
            self.steps.append(replace(last, at=event.at, by=event.by, cause="status"))

    def _note_failed_round(self, event: FoldEvent) -> None:
        """Count heartbeat rounds after which a leader had to give up and did not.

        Source: ``DLedgerLeaderElector#sendHeartbeats``: with no quorum for more than maxHeartBeatLeak intervals the
        leader becomes candidate right after this line. One more line may follow where the appender dropped some.
        """
        last = self._last_heartbeat(event)
        quorum = majority(event.member_count) if event.member_count else None
        if last is None or quorum is None or event.accepted is None or event.not_ready is None:
            self._now.failed_rounds = 0
            return
        if event.accepted + event.not_ready >= quorum:
            self._now.failed_rounds = 0
            return
        if self._leads(event.term):  # an election does not reset the time of the last quorum
            last = max(last, self.steps[-1].at)
        self._note_without_quorum(event, last)
        without_us = event.at - last
        self._now.failed_rounds = self._now.failed_rounds + 1 if without_us > Timeout.DLEDGER_KEEPS_ROLE.us else 0
        if self._now.failed_rounds >= 3 and without_us > Timeout.DLEDGER_MUST_BE_GONE.us:
            self.as_leader.kept.append((self._now.failed_rounds, without_us // 1000, event))

    def _note_without_quorum(self, event: FoldEvent, last: int) -> None:
        """Note that the majority answered last at ``last`` (us), and no longer when the next round was held."""
        if event.term is None:
            return
        before = self.as_leader.lost
        if before is not None and before.term == event.term and last <= before.at:
            before.last, before.rounds = event, before.rounds + 1
            return
        if before is not None and before.term == event.term:
            before.regained = True
        by = event.by if event.duration_ms is None else max(last, event.by - event.duration_ms * 1000)
        self.as_leader.lost = WithoutQuorum(event.term, last, by, event.event_id, event)
        self.as_leader.without_quorum.append(self.as_leader.lost)

    def _on_two_leaders(self, event: FoldEvent) -> None:
        if event.term is not None:
            self.two_leaders.append((event.term, event.value, event.peer, event))

    def _on_transfer(self, event: FoldEvent) -> None:
        self._now.transfer_at = event.at

    def _on_preferred(self, event: FoldEvent) -> None:
        self._now.preferred_at = event.at

    def _preferring(self, event: FoldEvent) -> bool:
        """Return True when this leader itself chose its successor: its preferred leader is back."""
        return self._now.preferred_at is not None and event.at - self._now.preferred_at <= TRANSFER_LASTS

    def _transferring(self, event: FoldEvent) -> bool:
        """Return True during a leadership transfer: requested of a leader, or just ended at the transferee."""
        return self._now.transfer_at is not None and event.at - self._now.transfer_at <= TRANSFER_LASTS

    def _on_term_up(self, event: FoldEvent) -> None:
        if event.term is None or (self.raised and _is_again(event, self.raised[-1][2])):
            return
        if event.from_term is not None:
            self.own_term.note(event.from_term, event)
        self.checked.note(term_raised(event, self._heard(event.at)), event)
        self.raised.append((event.term, None, event))
        self.ends(event, NO_WINNER)
        if self.role == CANDIDATE:
            self._step(event, CANDIDATE, event.term, None, "term_raised")

    def _on_status(self, event: FoldEvent) -> None:
        role = ROLE_OF.get(event.role or "")
        if role is None:
            return
        self._status = [*self._status[:1], event.at]
        self._note_progress(event, role)
        self._note_known_committed(event, role)
        self._now.committed = max(self._now.committed, -1 if event.committed is None else event.committed)
        if role == LEADER and event.term is not None and event.ledger_end is not None:
            self._note_leaders_log(event.term, event.ledger_end, event)
        known = self.last
        if known is not None and (known.role, known.term) == (role, event.term):
            self._now.role_seen_at = event.at
            return
        if known is not None and -REORDERED <= event.at - known.at < Timeout.STATUS_SETTLES.us:
            return
        # The change came after the last line that shows the former role; later lines may have come after the change.
        since = self._now.role_seen_at if self._now.role_seen_at is not None and known is not None else event.at
        leader = (event.node or self.node) if role == LEADER else None
        self._step(event, role, event.term, leader, "status", min(since, event.at))
        self._now.role_seen_at = event.at

    def _note_leaders_log(self, term: int, ledger_end: int, event: FoldEvent) -> None:
        """Note where the log of this node ends when a status line first shows it as leader of a term, in each
        process."""
        if self._now.led_with != term:
            self._now.led_with = term
            self.ledger.led_with.append((term, ledger_end, event))

    def _note_known_committed(self, event: FoldEvent, role: str) -> None:
        """Note the last line in which the commit index known to a follower had grown since it printed it last, as
        follower or as candidate: only the leader of the term can have sent it."""
        before = self._now.last_known or self._now.candidate_knew
        self._now.last_known = self._now.candidate_knew = None
        if role == LEADER or event.term is None or event.committed is None:
            return
        known = event.term, event.committed
        if role == CANDIDATE:
            self._now.candidate_knew = known
            return
        self._now.last_known = known
        if before is not None and before[0] == event.term and before[1] < event.committed:
            self.ledger.known_committed[event.term] = event.committed, event

    def _note_progress(self, event: FoldEvent, role: str) -> None:
        """Note the last growth of a leader's commit index."""
        before = self._now.last_status
        self._now.last_status = None
        if event.term is None or event.committed is None:
            return
        if role == LEADER:
            self._now.last_status = (event.term, event.committed, event.at)
        elif role != CANDIDATE:
            return  # a follower learns what its leader committed; a candidate knows what it committed as leader
        if before is None or before[0] != event.term or before[1] is None or event.committed <= before[1]:
            return
        by = event.by if role == LEADER or not self.steps else min(event.by, max(self.steps[-1].at, before[2]))
        grown = Progress(event.term, before[2], by, before[1], event.committed, event.event_id)
        if self.as_leader.progressed and self.as_leader.progress[-1].term == event.term:
            self.as_leader.progress[-1] = grown
        else:
            self.as_leader.progress.append(grown)
        self.as_leader.progressed = True

    # -- votes ------------------------------------------------------------------------------------------

    def _campaign(self, event: FoldEvent, term: int) -> Campaign:
        if self.open is None or self.open.term != term:
            self.ends(event, NO_WINNER)
            self.open = Campaign(event.node or self.node, term, event.at, event.by, event.event_id, self._now.cause)
            self.campaigns.append(self.open)
        return self.open

    def _note_term(self, event: FoldEvent, term: int) -> None:
        """Track the node's own term, which never falls, even across a restart (file ``currterm``)."""
        self._judge_doubtful(term)
        self.own_term.note(term, event)
        self._now.current_term = term

    def _judge_doubtful(self, own_term: int) -> None:
        """Judge answers that did not fit the last known term by the next own term."""
        for answer in self._now.doubtful:
            wrong = is_impossible(answer, own_term)
            why = "the candidate's own term is not printed"
            verdict = either(RuleId.WRONG_VOTE_RESULT, False) if wrong else undecidable(RuleId.WRONG_VOTE_RESULT, why)
            self.checked.note(verdict, answer)
        self._now.doubtful.clear()

    def _on_vote_reply(self, event: FoldEvent) -> None:
        self._now.replies.append(event)
        self.checked.note(vote_reply(event, self._now.current_term), event)
        if is_doubtful(event, self._now.current_term):
            self._now.doubtful.append(event)
        if event.term is None or event.peer is None or event.node is None:
            return
        why = _STRANGER_ANSWERS.get(event.result or "")
        if why is not None and event.peer != event.node:
            self.strangers.setdefault((why, event.peer), event)
        key = (event.term, event.peer, event.node)
        if event.result in FOR_ANOTHER:
            self._note_refusal(key, event)
        if event.result != ACCEPT:
            return
        if event.peer == event.node:
            self._note_term(event, event.term)
        self.grant(event, event.peer, event.node, event.term)
        if self.open is not None and self.open.term == event.term:
            self.open.voters.add(event.peer)
        elif event.peer == event.node and not self._leads(event.term):
            self._campaign(event, event.term).voters.add(event.peer)

    def _note_refusal(self, key: tuple[int, str, str], event: FoldEvent) -> None:
        known = self.refusals.get(key)
        if known is not None:
            known.count += 1
            return
        term, voter, candidate = key
        self.refusals[key] = VoteDenied(
            voter, candidate, term, event.at, event.by, event.event_id, event.result or "", count=1
        )

    def _on_stranger(self, event: FoldEvent) -> None:
        """Take a request from a node that is no member, or that has this node's own id."""
        why = OWN_ID_ELSEWHERE if event.kind in _OWN_ID_KINDS else NOT_A_MEMBER
        self.strangers.setdefault((why, event.peer), event)

    def _leads(self, term: int | None) -> bool:
        return (self.role, self.term) == (LEADER, term)

    def _note_size(self, event: FoldEvent) -> None:
        """Note the number of members: ``memberNum`` and ``peerSize`` count all of the group
        (``MemberState#peerSize``)."""
        if event.member_count and (not self.as_leader.sizes or self.as_leader.sizes[-1][0] != event.member_count):
            self.as_leader.sizes.append((event.member_count, event))

    def _on_vote_parsed(self, event: FoldEvent) -> None:
        self._note_size(event)
        if event.term is None:
            return
        self._judge_round(event)
        self._judge_doubtful(event.term)
        campaign = self._campaign(event, event.term)
        campaign.rounds += 1
        if event.accepted is not None:
            campaign.granted = max(campaign.granted, event.accepted)
        if event.member_count:
            campaign.needed = majority(event.member_count)
        campaign.last_result = event.result
        campaign.majority_answered |= event.result in OPEN_TO_ALL and not is_larger(event.max_term, event.term)
        campaign.ended_at, campaign.ended_by, campaign.last_event = event.at, event.by, event.event_id

    def _judge_round(self, event: FoldEvent) -> None:
        owed = self._now.owed
        answers = answers_of(event, self._now.replies, owed) if owed is not None else None
        for verdict in round_result(event, answers):
            self.checked.note(verdict, event)
        if self._now.last_round is not None:
            self.checked.note(next_round(self._now.last_round, event, self._interval_ms), event)
        self._now.last_round = event
        self._now.failed_rounds = 0
        self._now.owed = still_owed(event, self._now.replies, owed) if owed is not None else None
        self._now.replies.clear()

    def _on_transfer_refused(self, event: FoldEvent) -> None:
        self.checked.note(transfer_refused(event), event)

    def _on_take_done(self, event: FoldEvent) -> None:
        self._on_transfer(event)
        self.checked.note(take_over(event), event)

    def _on_store_truncate(self, event: FoldEvent) -> None:
        self.ledger.truncated.append(event)
        if event.ledger_end is not None and self._now.committed > event.ledger_end:
            self.ledger.committed_cut.append((event.ledger_end, self._now.committed, event))

    def _on_start(self, event: FoldEvent) -> None:
        """Take a start of the process: what was open in the old one ended with it."""
        self.begins()
        self.as_leader.ended()
        self._now = Running(owed=0, role_seen_at=event.at)


_HANDLERS: dict[str, Callable[[DledgerLog, FoldEvent], None]] = {
    "DL_LISTEN": DledgerLog._on_start,
    "DL_TO_CANDIDATE": DledgerLog._on_to_candidate,
    "DL_TO_LEADER": DledgerLog._on_to_leader,
    "DL_TO_FOLLOWER": DledgerLog._on_to_follower,
    "DL_TERM_UP": DledgerLog._on_term_up,
    "DL_TERM_NOT_BIGGEST": DledgerLog._on_larger_term,
    "DL_HB_TIMEOUT": DledgerLog._on_heartbeat_timeout,
    "DL_HB_PARSED": DledgerLog._on_heartbeats_parsed,
    "DL_TWO_LEADERS": DledgerLog._on_two_leaders,
    "DL_STATUS": DledgerLog._on_status,
    "DL_STATUS_FSM": DledgerLog._on_status,
    "DL_VOTE_REPLY": DledgerLog._on_vote_reply,
    "DL_VOTE_PARSED": DledgerLog._on_vote_parsed,
    "DL_STORE_TRUNCATE": DledgerLog._on_store_truncate,
    "DL_PREF_CHOSEN": DledgerLog._on_preferred,
    "DL_TRANSFER_REQ": DledgerLog._on_transfer,
    "DL_TAKE_DONE": DledgerLog._on_take_done,
    "DL_TRANSFER_REJ_TERM": DledgerLog._on_transfer_refused,
    "DL_TRANSFER_TERM_CHANGED": DledgerLog._on_transfer_refused,
    "DL_TAKE_REJ_TERM": DledgerLog._on_transfer_refused,
    "DL_HB_UNKNOWN": DledgerLog._on_stranger,
    "DL_HB_SELF": DledgerLog._on_stranger,
    "DL_VOTE_UNKNOWN": DledgerLog._on_stranger,
    "DL_VOTE_SELF": DledgerLog._on_stranger,
}


_OWN_ID_KINDS = frozenset({"DL_HB_SELF", "DL_VOTE_SELF"})

_NAMES_GROUP = frozenset(
    {"DL_PUSH_ERR", "DL_RPC_HB_TIMEOUT", "DL_RPC_HB_SEND_ERR", "DL_RPC_VOTE_TIMEOUT", "DL_RPC_VOTE_SEND_ERR"}
)

BROKER_KINDS = frozenset({"DLB_ROLE_BEGIN", "DLB_ROLE_END", "DLB_ROLE_ERR", "DLB_SLAVE_BEGIN"})
"""Lines of the broker on top of its DLedger member, from the broker's own log."""

STORE_KINDS = frozenset({"DL_STORE_RECOVERED_TO", "STORE_QUEUES_BUILT", "STORE_QUEUES_CUT"})
"""Lines of a starting broker about its log and its queues, from a log of their own."""

KINDS = frozenset(_HANDLERS) | ROLE_CHANGES | _NAMES_GROUP | BROKER_KINDS | STORE_KINDS
"""The events that the fold of a DLedger log reads; some only name the group."""

TELLS_ROLES = frozenset(_HANDLERS) | ROLE_CHANGES
"""Lines in which a member states its own role; without any, its broker's lines stand in."""

_STATUS = frozenset({"DL_STATUS", "DL_STATUS_FSM"})
_OF_OTHER_THREADS = _STATUS | _NAMES_GROUP
"""Lines of other threads than the one that keeps the role."""

PERIODIC: Mapping[str, Periodic] = {
    **dict.fromkeys(
        sorted(_STATUS),
        Periodic(
            says=lambda event: (event.node, event.replica_group, event.role, event.term, event.committed is None),
            reads=("node", "replica_group", "role", "term", "committed"),
            counts="committed",
            unstable_for_us=Timeout.STATUS_SETTLES.us + REORDERED,
            rhythm=True,
        ),
    ),
    "STORE_QUEUES_BUILT": Periodic(says=lambda _: None),
    **dict.fromkeys(sorted(_NAMES_GROUP), Periodic(says=lambda event: event.replica_group, reads=("replica_group",))),
}
"""Status lines come every 3 s; errors of requests to a member that is gone with every heartbeat; lines about queues
that are rebuilt with every message."""


def _stalls(emit: FactWriter, stream: str, status: Sequence[int]) -> Iterator[RefusedWrites]:
    """Yield the times in which a broker stood still, between its first and last ``status`` (us).

    The thread that prints the status also acknowledges entries (``QuorumAckChecker``), and the next status was due
    within its period. Controllers are left out, as nobody writes to them. Appenders may have dropped the lines instead.
    """
    for run in emit.incarnations if status and process_of(stream) == BROKER else ():
        for hole in (hole for hole in run.stalls if status[0] <= hole.begin and hole.end <= status[-1]):
            by = hole.begin_by + Timeout.DLEDGER_STATUS.us
            ends = hole.end, hole.end_by, hole.end_event
            during = emit.during(emit.node_at(hole.begin), hole.begin, by, hole.begin_event, *ends)
            yield RefusedWrites(*during, why=Refusal.SILENT.value, count=1, peer=None, evidence=())


def local_reading(local: str | None) -> int | None:
    """Return a ``java.sql.Timestamp`` in us of its own, unknown time zone; None for "never" and for no time."""
    if local is None or local.startswith(("1969", "1970")):
        return None
    try:
        read = datetime.fromisoformat(local.replace(" ", "T", 1)[:26])
    except ValueError:
        return None
    return (read.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def last_heartbeat(reading: int, by: int) -> int | None:
    """Return a :func:`local_reading` in us UTC, given that the line that prints it was written at ``by``.

    Zones differ by whole quarter hours, so minutes and seconds are right modulo 15 minutes: the last heartbeat is the
    latest such time before the line. None where that is long ago: it could as well be shortly after the line, if the
    clock was set back in between.
    """
    ago = (by - reading) % Timeout.UNKNOWN_ZONE.us
    return by - ago if ago <= Timeout.UNAMBIGUOUS.us else None


def _is_again(raised: FoldEvent, before: FoldEvent) -> bool:
    """Return True when the same raise of a term is logged twice."""
    return (raised.at, raised.from_term, raised.term) == (before.at, before.from_term, before.term)


_SAYS_OWN_TERM = frozenset({"DL_TERM_UP", "DL_TO_LEADER", "DL_TO_FOLLOWER", "DL_TO_CANDIDATE"})
"""Lines of role changes, which print the node's own term; status lines of another thread may lag behind."""

_NAMES_SELF = frozenset(
    {
        "DL_TO_CANDIDATE",
        "DL_TO_LEADER",
        "DL_TO_FOLLOWER",
        "DL_TERM_UP",
        "DL_HB_TIMEOUT",
        "DL_STATUS",
        "DL_STATUS_FSM",
        "DL_VOTE_PARSED",
        "DL_VOTE_REPLY",
        "DL_HB_PARSED",
    }
)
