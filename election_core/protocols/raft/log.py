"""Raft: the log of one etcd member.

Source: etcd-io/raft ``raft.go``, ``node.go``; etcd ``server/etcdserver/raft.go``. A member prints every change of its
own role and term, and unlike in DLedger the voters print their votes too, with both logs that were compared.

Differences from the Raft paper that matter here: a round of pre-votes leaves the term as it is and is no election; a
leader that hears no quorum for an election time-out gives up by itself (CheckQuorum); a voter that hears its leader
ignores candidates (lease); a transfer skips both. The voters in force are printed with every change, and again one by
one at every start.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import itemgetter

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, Verdict, violates
from election_replay.election_core.fold.contact import Contacts
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED
from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    DOWN,
    ENDED_ITSELF,
    FOLLOWER,
    LEADER,
    OBSERVER,
    REMOVED,
    SEEN,
    STOPPED,
    TRANSFER,
    UNKNOWN,
    spans,
)
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import (
    Fact,
    LastHeard,
    QuietLog,
    Silence,
    VotersStated,
)
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import is_majority, majority
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.raft import store_log
from election_replay.election_core.protocols.raft.before_the_log import BeforeTheLog
from election_replay.election_core.protocols.raft.facts import ClusterReplaced
from election_replay.election_core.protocols.raft.own_clock import OwnClock
from election_replay.election_core.protocols.raft.store_log import StoreLog
from election_replay.election_core.protocols.raft.tables import VOTE, is_behind
from election_replay.election_core.protocols.raft_family.log import (
    NO_WINNER,
    TRANSFER_LASTS,
    GaveUp,
    HeardLast,
    VotingLog,
)

PROTOCOL = "raft"


@dataclass(slots=True)
class Configuration:
    """The members in force from a line on: voters, voters that a change replaces, and learners."""

    voters: tuple[str, ...]
    voters_before: tuple[str, ...]
    learners: tuple[str, ...]
    event: FoldEvent


@dataclass(slots=True)
class RaftLog:
    """The state machine of one etcd log; ``on`` takes its events in program order. One log may hold several
    memberships: a data directory that was restored or emptied makes another member, or another cluster."""

    memberships: list["Membership"] = field(default_factory=lambda: [Membership()])
    _timeout_us: int | None = None
    _last_at: int = 0

    def on(self, event: FoldEvent) -> None:
        """Take the next line. Its clock may be behind the line before, as two loggers share a file."""
        if event.at < self._last_at <= event.by:
            event = replace(event, at=self._last_at)
        self._last_at = event.at
        if event.kind in _NAMES_TIMEOUT and event.duration_ms:
            self._timeout_us = event.duration_ms * 1000
        membership = self._membership(event)
        membership.timeout_us = self._timeout_us
        membership.on(event)

    def _membership(self, event: FoldEvent) -> "Membership":
        """Return the member that wrote the line: the last one, or another that the line names; collectors may mix
        several."""
        current = self.memberships[-1]
        cluster = event.cluster_name if event.kind in _NAMES_CLUSTER else None
        if not current.may_be(event.node, cluster):
            known = [
                membership
                for membership in self.memberships
                if membership.node is not None and membership.may_be(event.node, cluster)
            ]
            current = known[-1] if known else Membership()
            self.memberships = [*(membership for membership in self.memberships if membership is not current), current]
        current.node = current.node or event.node
        current.cluster = current.cluster or cluster
        return current

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about the etcd clusters that its member belonged to."""
        clusters = {membership.node: membership.cluster for membership in self.memberships if membership.cluster}
        for membership in self.memberships:
            group = membership.cluster or clusters.get(membership.node) or speaker.listed.replica_group or UNIDENTIFIED
            emit = speaker.about(group, PROTOCOL, stream, membership.node)
            if membership.steps:
                incarnations = {incarnation_at(emit.incarnations, step.at) for step in membership.steps}
                runs = [emit.incarnations[number] for number in sorted(incarnations)]
                emit = replace(emit, incarnations=[*runs[:-1], self._until_another_writes(membership, runs[-1])])
                yield from membership.facts(emit)
                yield from self._replaced(membership, emit)

    def _until_another_writes(self, membership: "Membership", life: Incarnation) -> Incarnation:
        """Return the member's run, ended at the first line of another member: an id changes only by a restart. The
        lines of that restart may be missing."""
        last = membership.last_line
        others = (other.first_line for other in self.memberships if other.node not in (None, membership.node))
        begins = [line for line in others if line and last and last.by < line.at]
        start = min(begins, key=lambda line: line.at, default=None)
        if last is None or start is None or (life.next_start is not None and life.next_start <= start.at):
            return life
        run = replace(life, last_seen=last.at, last_by=last.by)
        return run.ended_by_start(start.at, start.by, start.event_id)

    def _replaced(self, membership: "Membership", emit: FactWriter) -> Iterator[ClusterReplaced]:
        """Yield a fact if the folder of this cluster's member belonged to another cluster before."""
        first, cluster = membership.store.first, membership.cluster
        before = [
            other
            for other in self.memberships
            if None not in (cluster, other.cluster) and other.cluster != cluster
            if first is not None and other.store.last is not None and other.store.last.at <= first.at
        ]
        if not before or first is None:
            return
        former = max(before, key=lambda other: other.store.last.at if other.store.last else 0)
        reached = max(former.store.restored, key=lambda event: event.state_version or 0, default=None)
        begun = next(iter(membership.store.restored), None)
        yield ClusterReplaced(
            *emit.at(first),
            other=former.cluster or "",
            before=reached.state_version if reached else None,
            after=begun.state_version if begun else None,
            evidence=tuple(event.event_id for event in (reached, begun) if event is not None),
        )


def learners_in(rest: str | None) -> tuple[str, ...]:
    """Return the learners of a configuration, by the text after its voters: ``learners=(d4) learners_next=(e5)``.
    ``learners_next`` vote until the change is over (etcd-io/raft ``tracker/tracker.go``)."""
    found = re.match(r"learners=\(([0-9a-f ]*)\)", rest or "")
    return tuple(found[1].split()) if found else ()


def _at_once(heard: FoldEvent, event: FoldEvent) -> bool:
    """Return True when a member follows in the term that it heard of in the line before."""
    return heard.term == event.term and 0 <= event.at - heard.at < Timeout.ETCD_AT_ONCE.us


def _closed_by_peer(lost: FoldEvent) -> bool:
    """Return True when a connection broke at once, because the peer's process or kernel closed it."""
    return any(word in (lost.result or "") for word in ("EOF", "connection reset"))


def _what_was_lost(event: FoldEvent) -> Verdict:
    """Return the verdict on a member that ends itself over lost entries. A commit index that does not exceed the
    member's log, as with an older snapshot, proves no loss."""
    committed = event.committed or 0
    if event.kind == "RAFT_COMMITTED_CONFLICT":
        most = f": at most {committed - event.raft_index + 1} are lost" if event.raft_index is not None else ""
        reason = f"the leader's log differs from entry {event.raft_index} on, and {committed} is committed{most}"
        return violates(RuleId.COMMITTED_ENTRY_LOST, f"lost committed entries: {reason}")
    if event.ledger_end is None or committed <= event.ledger_end:
        reason = "the commit index that a member kept does not fit its snapshot, which tells no entry"
        return Verdict(RuleId.COMMITTED_ENTRY_LOST, UNDECIDABLE, reason)
    missing = f"{committed - event.ledger_end} are not there"
    reason = f"its log ends at entry {event.ledger_end}, and the commit index is {committed}: {missing}"
    return violates(RuleId.COMMITTED_ENTRY_LOST, f"lost committed entries: {reason}")


@dataclass(slots=True)
class Running:
    """The state of one process of a member; a start replaces it, so nothing is carried over."""

    members: Configuration | None = None
    listed: bool = False
    cause: str | None = None
    heard_of: FoldEvent | None = None
    transfer_to: tuple[str | None, int] | None = None
    refused: set[str] = field(default_factory=set)
    stopping: bool = False
    led_until: int | None = None
    restarted: bool = False
    candidate_end: int | None = None
    before: BeforeTheLog | None = None


def _tick_us(timeout_us: int) -> int:
    """Return the longest possible heartbeat interval in us, which is the tick of all timers in the library. etcd
    refuses an election time-out of less than five of them (``embed/config.go``)."""
    return timeout_us // 5


@dataclass(slots=True)
class Membership(VotingLog):
    """The lines of one log about one member of one cluster."""

    cluster: str | None = None
    timeout_us: int | None = None
    heard: list[HeardLast] = field(default_factory=list)
    own_clock: OwnClock = field(default_factory=OwnClock)
    contacts: Contacts = field(default_factory=Contacts)
    stated: list[Configuration] = field(default_factory=list)
    quorums: list[tuple[int, FoldEvent]] = field(default_factory=list)
    store: StoreLog = field(default_factory=StoreLog)
    first_line: FoldEvent | None = None
    last_line: FoldEvent | None = None
    _forced: bool = False
    _now: Running = field(default_factory=lambda: Running(before=BeforeTheLog()))

    def may_be(self, node: str | None, cluster: str | None) -> bool:
        """Return True unless the line names another member or another cluster."""
        same_node = None in (node, self.node) or node == self.node
        return same_node and (None in (cluster, self.cluster) or cluster == self.cluster)

    def on(self, event: FoldEvent) -> None:
        """Take the next line that this member wrote."""
        self.first_line, self.last_line = self.first_line or event, event
        self.store.on(event)
        if event.kind in _SAYS_OWN_TERM and event.term is not None:
            self._note_term(event, event.term)
        if (handler := _HANDLERS.get(event.kind)) is not None:
            handler(self, event)
        if self._role == LEADER:
            if event.kind in _SAID_BY_LEADERS:
                self._now.led_until, self._now.restarted = event.at, False
            self._now.restarted = self._now.restarted or event.kind in _SAID_AT_STARTS

    def facts(self, emit: FactWriter) -> Iterator[Fact]:
        """Yield what the lines prove about the cluster."""
        first = self.steps[0]
        yield QuietLog(*emit.during(self.node, first.at, first.at, None))
        yield from emit.roles(spans(self.steps, emit.incarnations, FOLLOWER))
        yield from emit.alive()
        yield from self._member_facts(emit)
        yield from self.vote_facts(emit)
        yield from self._contact_facts(emit)
        yield from self.store.facts(emit, self.node)

    def _member_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for number, stated in enumerate(self.stated):
            yield VotersStated(
                *emit.at(stated.event, ordinal=number),
                voters=stated.voters,
                voters_before=stated.voters_before or None,
                learners=stated.learners or None,
            )
        for quorum, event in self.quorums if not self.stated else ():
            yield VotersStated(*emit.at(event), voters_least=2 * quorum - 2, voters_most=2 * quorum - 1)

    def _contact_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for heard in self.heard:
            yield LastHeard(*emit.about(heard.leader, heard))
        for contact in self.contacts.every:
            yield contact.fact(emit, Timeout.ETCD_READ_TIMEOUT.us, closed=_closed_by_peer(contact.lost))
        yield from self._silent_to_the_end(emit)
        timeout_us = self.timeout_us or emit.timing.us(Timeout.ETCD_ELECTION)
        yield from self.own_clock.facts(emit, self.node, timeout_us, _tick_us(timeout_us))

    def _silent_to_the_end(self, emit: FactWriter) -> Iterator[Silence]:
        """Yield the silences in a leadership that ended with the first lines after them."""
        led = [(step.at, following.at) for step, following in pairwise(self.steps) if step.role == LEADER]
        led.sort(key=itemgetter(1))
        for hole in emit.silences():
            number = bisect_left(led, hole.until or 0, key=itemgetter(1))
            for began, ended in led[number : number + 1]:
                if began <= hole.since and ended - (hole.until or 0) <= Timeout.ETCD_AT_ONCE.us:
                    yield hole

    # -- roles ------------------------------------------------------------------------------------------

    def _step(self, event: FoldEvent, role: str, term: int | None, leader: str | None, cause: str) -> None:
        if role == FOLLOWER and self._now.members is not None and self.node in self._now.members.learners:
            role = OBSERVER  # a learner is a follower without a vote
        # It may hand over, or lose its quorum, before it stops.
        if self._now.stopping and self._role == LEADER and cause not in (TRANSFER, "quorum_lost"):
            cause = STOPPED
        self.takes(event, role, term, leader, cause)

    @property
    def _role(self) -> str | None:
        """The role by Raft's rules, in which a learner is a follower; None before the first step."""
        return FOLLOWER if self.role == OBSERVER else self.role

    def _on_start(self, event: FoldEvent) -> None:
        """Take a start of the process: what was open in the old one ended with it."""
        self.begins()
        self.contacts.starts()
        self._now = Running()
        if event.term is not None and event.committed is not None and not self._forced:
            self.committed.append((event.term, event.committed, event))
        last = self.last
        begun = (
            last is not None
            and (last.cause, last.term) == ("start", event.term)
            and event.at - last.at < Timeout.ETCD_ONE_START.us
        )
        if not begun:
            self._step(event, FOLLOWER, event.term, None, "start")

    def _on_to_follower(self, event: FoldEvent) -> None:
        larger = self.open is not None and is_larger(event.term, self.open.term)
        self.ends(event, NO_WINNER if larger else "lost")
        if self._now.before is not None and self._now.before.left is not None and self._now.before.term is None:
            self._now.before.term = event.term
            self._add_role_before(self.node)
        self._step(event, FOLLOWER, event.term, None, self._now.cause or "start")
        self._now.cause = None

    def _add_role_before(self, leader: str | None) -> None:
        """Add the role in which the member had ``leader`` before its log begins."""
        before, self._now.before = self._now.before, None
        role = before.role(self.node, leader) if before is not None else None
        if role is not None:
            self.steps.insert(0, role)

    def _leaves(self, event: FoldEvent, term: int | None) -> None:
        """Take a line that ends the member's role before its log, unless another line already has."""
        if self._now.before is not None and not self.steps:
            self._now.before.leaves(event, term)

    def _on_election(self, event: FoldEvent) -> None:
        self._leaves(event, event.term)
        self._now.cause = self._now.cause if self._now.cause == TRANSFER else "election_timeout"
        if self._role == FOLLOWER and self.leader is not None and self.timeout_us:
            least, most = event.at - 2 * self.timeout_us, event.by - self.timeout_us + _tick_us(self.timeout_us)
            self.heard.append(HeardLast(self.leader, least, most, event.event_id))

    def _on_pre_candidate(self, event: FoldEvent) -> None:
        self._step(event, CANDIDATE, event.term, None, self._now.cause or "election_timeout")

    def _on_to_candidate(self, event: FoldEvent) -> None:
        cause = self._now.cause or "election_timeout"
        self.ends(event, NO_WINNER)
        self._step(event, CANDIDATE, event.term, None, cause)
        if event.term is not None:
            campaign = self.stands(event, event.term, cause)
            campaign.needed = majority(len(self._halves[0])) if len(self._halves) == 1 else None
            self._now.refused, self._now.candidate_end = set(), None
            self._granted(event, self.node, self.node, event.term)

    def _on_to_leader(self, event: FoldEvent) -> None:
        cause = self.open.cause if self.open is not None and self.open.cause == TRANSFER else "elected"
        self.checked.note(self._quorum(event), event)
        if event.term is not None and self.open is not None and self._now.candidate_end is not None:
            self.led_with.append((event.term, self._now.candidate_end, event))
        self._step(event, LEADER, event.term, self.node, cause)
        self.ends(event, "won")
        self._now.cause = None

    def _on_no_quorum(self, event: FoldEvent) -> None:
        """Take a leader that gives up by CheckQuorum: a majority was active one check, an election time-out, before.

        At that check it had been active since the check before it (``raft.go``, ``tickHeartbeat`` and
        ``MsgCheckQuorum``).
        """
        self._leaves(event, None)
        last = self.last
        if last is not None and last.cause == "quorum_lost":  # the lines that made it leader again are missing
            self.steps.append(replace(last, by=event.at, role=UNKNOWN, term=None, leader=None, cause="unknown"))
        term = self.term
        if self._role == LEADER and term is not None and self.timeout_us:
            least, most = event.at - 2 * self.timeout_us, event.by - self.timeout_us
            self.gave_up.append(GaveUp(term, least, max(least, most), event))
        self._step(event, FOLLOWER, self.term, None, "quorum_lost")
        self._now.cause = "quorum_lost"
        self._now.led_until = None

    def _on_log_lost(self, event: FoldEvent) -> None:
        """Take a member that ends itself: its log lacks, or differs in, committed entries (``log.go``)."""
        self.checked.note(_what_was_lost(event), event)
        self._step(event, DOWN, None, None, ENDED_ITSELF)

    def _on_leader_changed(self, event: FoldEvent) -> None:
        self._add_role_before(event.value_before)
        self._now.led_until = None
        self._on_leader_known(event)

    def _on_leader_known(self, event: FoldEvent) -> None:
        self._now.before = None
        if self._role != LEADER and self._now.led_until is not None and self._now.restarted:
            self._blur_end(self._now.led_until)
        self._now.restarted = False
        if event.peer != self.node:
            led_until = self._now.led_until if self._role == LEADER else None
            self.ends(event, "lost")
            self._step(event, FOLLOWER, event.term, event.peer, "heartbeat")
            if led_until is not None:
                self._blur_end(led_until)
        elif (self._role, self.term) != (LEADER, event.term):
            self._step(event, LEADER, event.term, self.node, SEEN)
            self.ends(event, "won")
        self._now.cause = None

    def _blur_end(self, led_until: int) -> None:
        """Add an unknown role where a former leader learns of a leader although its end as leader is not logged.

        Lines are missing: those of a restart, or those with which it gave up. It led at least until its last line as
        leader, and no longer when the next line in another role came.
        """
        number = max(n for n, step in enumerate(self.steps) if step.role == LEADER) + 1
        after = self.steps[number]
        blur = replace(after, at=led_until, by=after.at, role=UNKNOWN, term=None, leader=None, cause="unknown")
        self.steps.insert(number, blur)
        self._now.led_until = None

    def _on_leader_lost(self, event: FoldEvent) -> None:
        self._add_role_before(event.peer)
        self._now.led_until = None
        if self._role == FOLLOWER:
            self._step(event, FOLLOWER, event.term, None, "leader_lost")
        elif self._role == LEADER:  # the line on its new role is missing
            self._step(event, FOLLOWER, event.term, None, self._now.cause or "unknown")

    def _on_removed(self, event: FoldEvent) -> None:
        if event.peer is not None and event.peer == self.node:
            self._step(event, DOWN, None, None, REMOVED)

    def _on_removal_answer(self, event: FoldEvent) -> None:
        """Take that the member learns of its removal from others, and ends itself (``ErrMemberRemoved``)."""
        self._step(event, DOWN, None, None, REMOVED)

    def _on_transfer(self, event: FoldEvent) -> None:
        if not self.steps:
            self._step(event, LEADER, event.term, self.node, SEEN)
        self._now.transfer_to = (event.peer, event.at)

    def _on_transfer_taken(self, event: FoldEvent) -> None:
        self._now.cause = TRANSFER

    def _on_term_higher(self, event: FoldEvent) -> None:
        self._leaves(event, event.from_term)
        self._now.heard_of = event
        to, at = self._now.transfer_to or (None, 0)
        handed_over = to is not None and to == event.peer and event.at - at <= TRANSFER_LASTS
        self._now.cause = TRANSFER if self._role == LEADER and handed_over else "larger_term"

    # -- terms and votes --------------------------------------------------------------------------------

    def _note_term(self, event: FoldEvent, term: int) -> None:
        """Track the member's own term, which is on its disk and may never fall."""
        self.own_term.note(term, event)
        # Only the line that raised the term gives its time; it may be missing, and other lines of the term come later.
        heard, self._now.heard_of = self._now.heard_of, None
        if event.kind == "RAFT_TO_CANDIDATE":
            self.raised.append((term, None, event))
        elif event.kind == "RAFT_TO_FOLLOWER" and heard is not None and _at_once(heard, event):
            self.raised.append((term, heard.peer, event))

    def _granted(self, event: FoldEvent, voter: str | None, candidate: str | None, term: int) -> None:
        if voter is None or candidate is None:
            return
        self.grant(event, voter, candidate, term)
        if self.open is not None and (self.open.node, self.open.term) == (candidate, term):
            self.open.voters.add(voter)

    def _on_vote_sent(self, event: FoldEvent) -> None:
        """Take the end of the candidate's log."""
        if event.request == VOTE and self.open is not None and self.open.term == event.term:
            self._now.candidate_end = event.ledger_end

    def _on_vote_granted(self, event: FoldEvent) -> None:
        if event.request == "MsgVoteResp" and event.term is not None:
            self._granted(event, event.peer, self.node, event.term)

    def _on_vote_refused(self, event: FoldEvent) -> None:
        asked = self.open is not None and self.open.term == event.term
        if event.request == "MsgVoteResp" and event.peer is not None and asked:
            self._now.refused.add(event.peer)

    def _on_tally(self, event: FoldEvent) -> None:
        printed = re.fullmatch("[1-9][0-9]{0,3}", event.value or "")
        quorum = int(printed[0]) if printed else None
        if quorum is not None and (not self.quorums or self.quorums[-1][0] != quorum):
            self.quorums.append((quorum, event))
        if event.request == "MsgVoteResp" and self.open is not None and event.accepted is not None:
            campaign = self.open
            campaign.granted = max(campaign.granted, event.accepted)
            campaign.majority_answered |= campaign.needed is not None and (event.answered or 0) >= campaign.needed

    def _on_vote_cast(self, event: FoldEvent) -> None:
        """Take a vote with both logs that the voter compared; the candidate's must be at least as recent as its own."""
        if event.request != VOTE or event.term is None:
            return
        self._granted(event, self.node, event.peer, event.term)
        own_end_term, own_end = event.ledger_end_term, event.ledger_end
        term, other = event.peer_ledger_end_term, event.peer_ledger_end
        if own_end_term is None or own_end is None or term is None or other is None:
            return
        verdict = Verdict(RuleId.STALE_LOG_VOTE, CONFORMS)
        if is_behind((term, other), (own_end_term, own_end)):
            ends = f"its log ended at {own_end} of term {own_end_term}, the candidate's at {other} of term {term}"
            how = f"voted for {event.peer} in term {event.term} although {ends}"
            verdict = violates(RuleId.STALE_LOG_VOTE, how)
        self.checked.note(verdict, event)

    def _quorum(self, event: FoldEvent) -> Verdict:
        """Judge whether a majority of the voters in force may have granted, by the answers that the winner logged. A
        missing line proves nothing, so only refusals can prove a breach: too many of them leave no majority."""
        campaign = self.open
        if campaign is None or campaign.term != event.term or not self._halves:
            return Verdict(RuleId.LEADER_WITHOUT_QUORUM, UNDECIDABLE, "the answers or the members are not printed")
        granted, refused = campaign.voters, self._now.refused - campaign.voters
        if all(is_majority(len(granted & set(half)), len(half)) for half in self._halves):
            return Verdict(RuleId.LEADER_WITHOUT_QUORUM, CONFORMS)
        known = set().union(*self._halves)
        too_many = any(len(half) - len(refused & set(half)) < majority(len(half)) for half in self._halves)
        if too_many and granted | refused <= known:
            against = f"{len(self._now.refused)} of {len(self._halves[0])} voters had refused"
            how = f"became leader of term {event.term} although {against}"
            return violates(RuleId.LEADER_WITHOUT_QUORUM, how)
        return Verdict(RuleId.LEADER_WITHOUT_QUORUM, UNDECIDABLE, "the answers or the members are not printed")

    # -- members, contacts, the process -------------------------------------------------------------------

    @property
    def _halves(self) -> tuple[tuple[str, ...], ...]:
        """The sets of voters each of which must give a majority; two during a joint change."""
        members = self._now.members
        return () if members is None else tuple(half for half in (members.voters, members.voters_before) if half)

    def _on_members(self, event: FoldEvent) -> None:
        self._now.listed = True
        self._in_force(Configuration(event.members or (), event.members_before or (), learners_in(event.value), event))

    def _in_force(self, members: Configuration) -> None:
        """Take a change of the members. Until a process knows a leader, it only reads former changes from its log."""
        reads_its_log = self._now.members is not None and self.leader is None and self._role != LEADER
        if reads_its_log and self.stated and self.stated[-1] is self._now.members:
            self.stated.pop()
        self._now.members = members
        if members.voters:
            self.stated.append(members)
        role = self.last
        observes = self.node in members.learners
        if role is not None and role.role == (FOLLOWER if observes else OBSERVER):
            self._step(members.event, FOLLOWER, role.term, role.leader, "learner" if observes else "promoted")

    def _on_peer_lost(self, event: FoldEvent) -> None:
        if event.peer is not None and event.peer != self.node and not self._now.stopping:
            self.contacts.broke(event.peer, event)

    def _on_peer_active(self, event: FoldEvent) -> None:
        self.contacts.made(event.peer or "", event)

    def _on_drift(self, event: FoldEvent) -> None:
        if event.peer not in (None, self.node):
            self.own_clock.drifts.append(event)

    def _on_late(self, event: FoldEvent) -> None:
        self.own_clock.late.append(event)
        if self._now.before is not None and self._now.before.heartbeat is None and not self.steps:
            self._now.before.heartbeat = event

    def _on_stopping(self, event: FoldEvent) -> None:
        self._now.stopping = True

    def _on_forced(self, event: FoldEvent) -> None:
        """Take that the member makes a cluster of itself alone, with all of its log committed
        (``--force-new-cluster``)."""
        self._forced = True


_HANDLERS: dict[str, Callable[[Membership, FoldEvent], None]] = {
    "RAFT_LOG_LOST": Membership._on_log_lost,
    "RAFT_COMMITTED_CONFLICT": Membership._on_log_lost,
    "RAFT_START": Membership._on_start,
    "RAFT_ELECTION": Membership._on_election,
    "RAFT_TO_PRE_CANDIDATE": Membership._on_pre_candidate,
    "RAFT_TO_CANDIDATE": Membership._on_to_candidate,
    "RAFT_TO_FOLLOWER": Membership._on_to_follower,
    "RAFT_TO_LEADER": Membership._on_to_leader,
    "RAFT_NO_QUORUM": Membership._on_no_quorum,
    "RAFT_LEADER_KNOWN": Membership._on_leader_known,
    "RAFT_LEADER_CHANGED": Membership._on_leader_changed,
    "RAFT_LEADER_LOST": Membership._on_leader_lost,
    "RAFT_LEADER_FORGOTTEN": Membership._on_leader_lost,
    "RAFT_TRANSFER": Membership._on_transfer,
    "RAFT_TRANSFER_TAKEN": Membership._on_transfer_taken,
    "RAFT_TERM_HIGHER": Membership._on_term_higher,
    "RAFT_VOTE_SENT": Membership._on_vote_sent,
    "RAFT_VOTE_GRANTED": Membership._on_vote_granted,
    "RAFT_VOTE_REFUSED": Membership._on_vote_refused,
    "RAFT_VOTE_CAST": Membership._on_vote_cast,
    "RAFT_TALLY": Membership._on_tally,
    "RAFT_MEMBERS": Membership._on_members,
    "ETCD_MEMBER_REMOVED": Membership._on_removed,
    "ETCD_REMOVED": Membership._on_removal_answer,
    "ETCD_PEER_LOST": Membership._on_peer_lost,
    "ETCD_PEER_INACTIVE": Membership._on_peer_lost,
    "ETCD_PEER_ACTIVE": Membership._on_peer_active,
    "ETCD_HEARTBEAT_LATE": Membership._on_late,
    "ETCD_CLOCK_DRIFT": Membership._on_drift,
    "ETCD_SIGNAL": Membership._on_stopping,
    "ETCD_STOPPING": Membership._on_stopping,
    "ETCD_MEMBER_FORCED": Membership._on_forced,
}

_SAID_BY_LEADERS = frozenset({"RAFT_TO_LEADER", "RAFT_LEADER_KNOWN", "RAFT_TRANSFER", "ETCD_HEARTBEAT_LATE"})
_SAID_AT_STARTS = frozenset(
    {"RAFT_MEMBERS", "ETCD_MEMBER_ADDED", "ETCD_MEMBER_STARTS", "ETCD_MEMBER_RESTARTS", "ETCD_PEER_ACTIVE"}
)
_NAMES_TIMEOUT = frozenset({"ETCD_BOOT", "ETCD_ELECTION_TIMEOUT"})
_NAMES_CLUSTER = frozenset(
    {
        "ETCD_MEMBER_STARTS",
        "ETCD_MEMBER_RESTARTS",
        "ETCD_MEMBER_NAMED",
        "ETCD_MEMBER_ADDED",
        "ETCD_MEMBER_REMOVED",
    }
)
KINDS = frozenset({*_HANDLERS, *_NAMES_TIMEOUT, *_NAMES_CLUSTER, *store_log.KINDS})
"""The events that the fold of an etcd log reads; some only name the member, its cluster or its timeout."""

_SAYS_OWN_TERM = frozenset(
    {"RAFT_START", "RAFT_TO_PRE_CANDIDATE", "RAFT_TO_CANDIDATE", "RAFT_TO_FOLLOWER", "RAFT_TO_LEADER"}
)
