"""ZAB: the log of one ZooKeeper server.

Source: apache/zookeeper ``FastLeaderElection``, ``QuorumPeer``, ``Leader``, ``Learner``, 3.3 to 3.9.

A server looks for a leader in rounds: it votes for itself, adopts every better vote it hears, and leaves when a quorum
votes as it does. Votes are ordered by epoch, then zxid, then server id. The winner is *elected* but leads nobody yet:
it leads an epoch once a quorum has accepted that epoch and has its log ("Have quorum of supporters"). Round numbers
restart with the process; only epochs give an order.

A server that is told to stop, or is killed, prints nothing.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import inf

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, Verdict, violates
from election_replay.election_core.fold.contact import Contacts
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.identity import UNIDENTIFIED, ZOOKEEPER, process_of
from election_replay.election_core.fold.members import name_at
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    DOWN,
    ENDED_ITSELF,
    FOLLOWER,
    LEADER,
    OBSERVER,
    SEEN,
    STOPPED,
    TRANSFER,
    UNKNOWN,
    Step,
    spans,
)
from election_replay.election_core.model import digits
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import (
    Fact,
    KnownCommitted,
    LastHeard,
    QuietLog,
    Role,
    Silence,
)
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import is_majority
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.raft_family.log import GaveUp, VotingLog
from election_replay.election_core.protocols.zab.elected import Elected, Win
from election_replay.election_core.protocols.zab.facts import A_CLIENT, Ballot
from election_replay.election_core.protocols.zab.log_end import Cut, ReachedEnd
from election_replay.election_core.protocols.zab.passed_votes import PassedVotes
from election_replay.election_core.protocols.zab.standstills import Standstills
from election_replay.election_core.protocols.zab.tables import COUNTER_BITS, Vote, is_better, zxid_of

PROTOCOL = "zab"

ENSEMBLE_GROUP = ZOOKEEPER
"""The replica group of an ensemble that the inventory does not name; ZooKeeper itself has no name for it."""

SYNC_LIMIT = 5
"""``syncLimit`` in ticks for releases that do not print it: the value of ``zoo_sample.cfg``, as there is no default."""

_END = {"QUORUM_LOST": "quorum_lost", "NO_QUORUM_IN_SYNC": "quorum_lost", "STOPPED": STOPPED}


def vote_of(event: FoldEvent) -> Vote | None:
    """Return the vote that a line prints; None if the sender has none, as an observer or a server without data."""
    term, index = event.peer_ledger_end_term, event.peer_ledger_end
    if event.value is None or term is None or index is None or term < 0:
        return None
    # Votes before 3.4 carry no epoch: their zxid, whose upper half is one, decides alone.
    return Vote(0 if event.term is None else event.term, zxid_of(term, index), int(event.value))


@dataclass(slots=True)
class InitialVote:
    """The vote with which a server entered an election that ended with ``leader``, itself or another server."""

    leader: str | None
    vote: Vote
    epoch: int | None
    event: FoldEvent


@dataclass(slots=True)
class Election:
    """The votes that a server has sent and heard in one election; a new election replaces it.

    ``votes`` are those of servers that look for a leader, ``voted`` when the last of them changed; ``claims`` are whom
    others lead or follow.
    """

    began: FoldEvent | None = None
    initial: Vote | None = None
    last_vote: Vote | None = None
    round: int | None = None
    voters: set[str] = field(default_factory=set)
    votes: dict[str, tuple[int | None, int]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)
    voted: int = 0
    latest_round: int = 0
    left: bool = False


@dataclass(slots=True)
class Running:
    """The state of one process of a server; a start replaces it, so nothing is carried over. ``started``: the line of
    its start while it has printed no role, so that it is looking for a leader. ``state`` is the role in the last
    detailed state line."""

    started: FoldEvent | None = None
    looked: bool = False
    role: str | None = None
    state: str | None = None
    epoch: int | None = None
    leader: str | None = None
    suggested: str | None = None
    attempts: int = 0
    leading: FoldEvent | None = None
    learners_lost: list[tuple[int, int, FoldEvent]] = field(default_factory=list)
    log_end: int | None = None
    led_until: int = 0
    failed: bool = False
    election: Election = field(default_factory=Election)


@dataclass(slots=True)
class ZabLog(VotingLog):
    """The state machine of one server's log; ``on`` takes its events in program order. ``known`` are the last zxids
    known to be committed in an epoch, by the server itself (None) or by others."""

    names: list[tuple[int, str]] = field(default_factory=list)
    ballots: list[InitialVote] = field(default_factory=list)
    elected: Elected = field(default_factory=Elected)
    heard: list[tuple[str | None, int, int, FoldEvent]] = field(default_factory=list)
    contacts: Contacts = field(default_factory=Contacts)
    passed: PassedVotes = field(default_factory=PassedVotes)
    known: dict[tuple[str | None, int], tuple[int, FoldEvent]] = field(default_factory=dict)
    end: ReachedEnd = field(default_factory=ReachedEnd)
    standstills: Standstills = field(default_factory=Standstills)
    _settings: dict[str, int] = field(default_factory=dict)
    _sids: dict[str, str] = field(default_factory=dict)
    _seen_epoch: int = -1
    _now: Running = field(default_factory=Running)
    _searched: FoldEvent | None = None
    _tells_roles: bool = False

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this server's log."""
        if event.node is not None and event.node != self.node:
            self._name(event.at, event.node)
        if event.kind in _SAID_BY_LEARNERS and self._now.role not in (FOLLOWER, OBSERVER):
            self._now.election = Election()  # the line that ended that election is lost
        self._tells_roles = self._tells_roles or event.kind in _INFO
        _HANDLERS[event.kind](self, event)
        if event.kind != "ZK_COMMAND":
            self.standstills.ran(event)
        if self._now.role == LEADER and (event.kind == "ZK_ESTABLISHED" or event.role == "LEADER"):
            self._now.led_until = event.at

    def _name(self, at: int, node: str) -> None:
        """Take the id that the server gives itself from a time on."""
        self.node = node
        self.names.append((at, node))

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about its ensemble."""
        first = self.steps[0] if self.steps else self._searched
        if first is None:
            return
        if not self.names and speaker.listed.member is not None:
            self._name(first.at, speaker.listed.member)
        group = speaker.listed.replica_group or (ENSEMBLE_GROUP if self.node is not None else UNIDENTIFIED)
        runs = speaker.incarnations.get(process_of(stream), [])
        emit = speaker.about(group, PROTOCOL, stream, lambda time: name_at(time, self.names, runs))
        yield QuietLog(*emit.during(self.node, first.at, first.at, None))
        if not self._tells_roles:  # warnings show a lost leader, but never a found one
            self.steps = [replace(step, role=UNKNOWN) if step.role == CANDIDATE else step for step in self.steps]
        roles = list(emit.roles(spans(self.steps, emit.incarnations, CANDIDATE)))
        yield from roles
        yield from emit.alive()
        yield from _during_leaderships(emit.silences(), roles)
        yield from self._election_facts(emit)
        yield from self._contact_facts(emit, speaker.timing_of(group).us(Timeout.ZK_SYNC_LIMIT))
        yield from self.passed.facts(emit)
        yield from self._loss_facts(emit)
        yield from self.vote_facts(emit)
        yield from self.standstills.facts(emit, self.node)

    def _election_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for ballot in self.ballots:
            yield Ballot(
                *emit.at(ballot.event),
                term=ballot.epoch,
                leader=ballot.leader,
                own_epoch=ballot.vote.epoch,
                own_zxid=ballot.vote.zxid,
            )
        yield from self.elected.facts(emit)

    def _contact_facts(self, emit: FactWriter, sync_limit_us: int) -> Iterator[Fact]:
        """Yield contacts; only warnings leave a lost leader without a name, and syncLimit is not among them."""
        for leader, at, by, event in self.heard:
            silent_us = sync_limit_us if leader is None and "Timeout" in (event.result or "") else 0
            if leader is not None or not self._tells_roles:
                yield LastHeard(*emit.during(leader, at - silent_us, by, event.event_id), line_at=event.at)
        for contact in self.contacts.every:
            yield contact.fact(emit, Timeout.ZK_BROKEN_CONNECTION.us, closed=True)

    def _loss_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for (who, epoch), (zxid, event) in self.known.items():
            about = emit.at(event) if who is None else emit.about(who, event)
            yield KnownCommitted(*about, term=epoch, to_index=zxid)
        yield from self.end.facts(emit)

    # -- roles ------------------------------------------------------------------------------------------

    def _step(self, event: FoldEvent, role: str, term: int | None, leader: str | None, cause: str) -> None:
        looks = role == CANDIDATE and self._now.started is not None
        if looks or (role, term, leader) == (self._now.role, self._now.epoch, self._now.leader):
            self._searched, self._now.looked = self._searched or event, True
            return  # a server looks for a leader from its start on
        if role == CANDIDATE:
            self._now.election = Election()
        self._now.failed &= role != LEADER
        self._now.started, self._now.role, self._now.epoch, self._now.leader = None, role, term, leader
        self.steps.append(Step(event.at, event.by, role, term, leader, event.event_id, cause, self.node))

    def _on_start(self, event: FoldEvent) -> None:
        """Take a start of the process: rounds start again, and what was open in the old process ended with it. A start
        prints several lines, each of another kind."""
        self.contacts.starts()
        self.standstills.starts()
        first = self._now.started
        self._now = Running(started=event if first is None or first.kind == event.kind else first)
        self.passed.election(None)

    def _on_setting(self, event: FoldEvent) -> None:
        printed = digits.number(event.value)
        if event.setting is not None and printed is not None:
            self._settings[event.setting] = printed

    def _fail_election(self, event: FoldEvent) -> None:
        """Take that an elected server was never established: too few servers joined it in time."""
        if self._now.leading is not None:
            self.elected.failed_elections.append((self._now.leading, event))
            self._now.leading = None

    def _on_looking(self, event: FoldEvent) -> None:
        """Take the line "LOOKING"; if the leader's line of its shutdown is lost, it led at least until its last line as
        leader."""
        self._fail_election(event)
        if self._now.role == LEADER:
            event = replace(event, at=min(self._now.led_until, event.at))
        self._step(event, CANDIDATE, None, None, "unknown")

    def _on_state(self, event: FoldEvent) -> None:
        """Take a detailed state (3.6 and later), which stands in for a role line that was lost.

        The new leader of a reconfiguration first prints the phase that it was in as a follower, so a line that changes
        the role counts only if its role was already printed.
        """
        of_former_role = self._now.state is not None and self._now.state != event.role
        self._now.state = event.role
        if event.role == "LEADER" and event.value == "broadcast" and self._now.role != LEADER and not of_former_role:
            self._step(event, LEADER, None, self.node, SEEN)

    def _on_election(self, event: FoldEvent) -> None:
        self._fail_election(event)
        self._now.election = Election()
        self._now.election.began = event
        self._now.log_end = _zxid(event.ledger_end_term, event.ledger_end)
        self.end.note(self._now.log_end, event, started=self._now.started is not None)
        self.passed.election(event)
        term, index = event.ledger_end_term, event.ledger_end
        if term is not None and index is not None and term >= 0 and self.node is not None:
            self._now.election.initial = Vote(-1, zxid_of(term, index), int(self.node))

    def _on_synced(self, event: FoldEvent) -> None:
        self.end.synchronising(_zxid(event.peer_ledger_end_term, event.peer_ledger_end), event)

    def _on_leading(self, event: FoldEvent) -> None:
        self._now.attempts += 1
        self._now.leading = event
        if self._now.election.round is not None:
            self.passed.leading.append((event, self._now.election.round))

    def _on_established(self, event: FoldEvent) -> None:
        if event.term is None:
            return
        began = self._now.election.began or event
        supporters = event.members or None
        self.checked.note(self._quorum(event.term, supporters), event)
        voters = frozenset(self._now.election.voters | set(supporters or ()))
        self.elected.wins.append(Win(event.term, supporters, max(self._now.attempts, 1), voters, began, event))
        self.elected.voters.accepted(event.term, supporters, voters, event)
        self._now.attempts, self._now.leading = 0, None
        self._note_ballot(self.node, event.term, event)
        self.own_term.note(event.term, event)
        self._seen_epoch = max(self._seen_epoch, event.term)
        self._now.learners_lost.clear()
        self._step(event, LEADER, event.term, self.node, "elected")

    def _on_following(self, event: FoldEvent) -> None:
        self._follow(event, FOLLOWER)

    def _on_observing(self, event: FoldEvent) -> None:
        self._follow(event, OBSERVER)

    def _follow(self, event: FoldEvent, role: str) -> None:
        leader, self._now.suggested = self._chosen_leader(event) or self._now.suggested, None
        if role == FOLLOWER:
            self._note_ballot(leader, None, event)
        self._step(event, role, None, leader, "following")

    def _on_leader_suggested(self, event: FoldEvent) -> None:
        """Take the leader that a reconfiguration names to all servers, without votes; ``-1``: nobody."""
        self._now.suggested = None if event.peer == "-1" else event.peer

    def _chosen_leader(self, event: FoldEvent) -> str | None:
        """Return the leader that the server follows: its round's winner or the leader that others follow; None on a
        tie.

        A round decides at the vote that makes a quorum (``FastLeaderElection#lookForLeader``): one in which no vote
        changed for long had none, however many voted alike.
        """
        election = self._now.election
        supporters = Counter(election.claims.values())
        decides = not supporters or event.at - election.voted <= Timeout.ON_ITS_WAY.us
        if decides and election.last_vote is not None:
            mine = (election.round, election.last_vote.leader)
            supporters[str(election.last_vote.leader)] += sum(1 for vote in election.votes.values() if vote == mine)
        supporters.pop(self.node or "", None)
        most = supporters.most_common(2)
        return None if not most or (len(most) > 1 and most[0][1] == most[1][1]) else most[0][0]

    def _on_leader_reached(self, event: FoldEvent) -> None:
        """Take the address of the leader, which shows whom the server really follows if the address is known."""
        leader = self._sids.get(_host(event))
        if leader is None or self._now.role not in (FOLLOWER, OBSERVER) or leader in (self._now.leader, self.node):
            return
        self._now.leader = leader
        self.steps[-1] = replace(self.steps[-1], leader=leader)
        if self.ballots and self._now.role == FOLLOWER:
            self.ballots[-1].leader = leader

    def _on_address(self, event: FoldEvent) -> None:
        if event.peer is not None:
            self._sids[_host(event)] = event.peer

    def _on_leader_lost(self, event: FoldEvent) -> None:
        """Take that a learner left its leader: at once after a closed connection, or after syncLimit ticks without a
        ping.

        The leader was alive when it was heard last, and perhaps until its next ping was due: it sends two per tick.
        """
        leader = self._now.leader if self._now.role in (FOLLOWER, OBSERVER) else None
        if leader is not None:
            least_us, most_us = self._silent(event)
            if most_us or any(word in (event.result or "") for word in ("EOF", "Socket")):
                by = event.by - least_us
                due_us = self._settings.get("tickTime", 0) * 1000 // 2 if most_us else 0
                self.heard.append(
                    (leader, min(by, event.at - most_us - Timeout.ZK_HEARD_BEFORE.us), by + due_us, event)
                )
        elif not self._tells_roles:
            self.heard.append((None, event.at - Timeout.ZK_HEARD_BEFORE.us, event.by, event))
        self._step(event, CANDIDATE, None, None, "leader_lost")

    def _on_leader_shutdown(self, event: FoldEvent) -> None:
        failed = event.decision == "INTERNAL_ERROR" and self._now.failed
        cause = ENDED_ITSELF if failed else _END.get(event.decision or "", "stepped_down")
        if self._now.role is None and not self._now.started and event.decision == "QUORUM_LOST":
            self._step(event, LEADER, None, self.node, SEEN)  # its log begins during its leadership
        if self._now.role == LEADER and cause == "quorum_lost":
            self._note_without_quorum(event)
        if self._now.role == LEADER:
            self._step(event, DOWN if cause == STOPPED else CANDIDATE, None, None, cause)

    def _on_not_designated(self, event: FoldEvent) -> None:
        """Take that a reconfiguration leaves this leader out, or names another: it commits the reconfiguration, nothing
        more."""
        if self._now.role == LEADER and event.decision == "HANDED_OVER":
            self._step(event, CANDIDATE, None, None, TRANSFER)

    def _silent(self, event: FoldEvent) -> tuple[int, int]:
        """Return the (least, most) time in us for which the peer had been silent when the connection was given up.

        A leader and a learner wait syncLimit ticks for each other (``LearnerHandler``, ``Learner``), and not at all
        once the peer has closed the connection. Releases before 3.6 do not print syncLimit.
        """
        tick_us, limit = self._settings.get("tickTime", 0) * 1000, self._settings.get("syncLimit")
        if "Timeout" not in (event.result or ""):
            return 0, 0
        return (tick_us, SYNC_LIMIT * tick_us) if limit is None else (limit * tick_us, limit * tick_us)

    def _on_learner_lost(self, event: FoldEvent) -> None:
        """Take that the leader gave up a learner: a silent one had been heard last one time-out earlier, and may have
        answered until the next ping was due: a leader sends two per tick."""
        (least_us, most_us), tick_us = self._silent(event), self._settings.get("tickTime", 0) * 1000
        at, by = (event.at - most_us - tick_us, event.by - least_us + tick_us // 2) if most_us else (event.at, event.by)
        if self._now.role == LEADER:
            self._now.learners_lost.append((at, by, event))

    def _note_without_quorum(self, event: FoldEvent) -> None:
        """Note a lost quorum: too few learners were in sync at a tick, and enough at the one before (``Leader#lead``).

        A learner's goodbye at the leader's shutdown does not tell when it was lost; an exception does. The last learner
        lost took the majority away: it may have been heard until it broke off.
        """
        self.elected.voters.too_few(self._now.epoch, event)
        tick_us = self._settings.get("tickTime", 0) * 1000
        if self._now.epoch is None or not tick_us:
            return
        broken = [lost for lost in self._now.learners_lost if lost[2].kind == "ZK_LEARNER_ERROR"]
        near = [lost for lost in broken if event.at - lost[2].at <= 2 * tick_us]
        at, by = event.at - (self._settings.get("syncLimit", SYNC_LIMIT) + 2) * tick_us, event.by
        if all(lost[2].result for lost in near) and near:
            at, by = min(lost[0] for lost in near), max(lost[1] for lost in broken)
        closed = any("EOF" in (lost[2].result or "") for lost in near)
        self.gave_up.append(GaveUp(self._now.epoch, at, by, event, closed))

    def _on_role_end(self, event: FoldEvent) -> None:
        if self._now.role in (FOLLOWER, OBSERVER):
            self._step(event, CANDIDATE, None, None, "leader_lost")

    def _on_thread_failed(self, event: FoldEvent) -> None:
        """Take a server in error: a leader gives up at its next tick (``Leader#isRunning``)."""
        self._now.failed = True

    def _on_paused(self, event: FoldEvent) -> None:
        self.standstills.paused(event)

    def _on_command(self, event: FoldEvent) -> None:
        self.standstills.asked(event)

    def _on_exit(self, event: FoldEvent) -> None:
        self._step(event, DOWN, None, None, STOPPED)

    def _on_process_end(self, event: FoldEvent) -> None:
        """Take a process that ends itself (``QuorumPeerMain#main``, ``ServiceUtils``); a killed one prints nothing."""
        start, runs = self._now.started, self._now
        if start is not None and not (runs.looked or runs.election.voters or runs.election.claims):
            self.steps.append(Step(start.at, start.by, UNKNOWN, None, None, start.event_id, "start", self.node))
        if self._now.role != DOWN:
            self._step(event, DOWN, None, None, ENDED_ITSELF)

    # -- votes and epochs -------------------------------------------------------------------------------

    def _on_state_in_vote(self, event: FoldEvent) -> None:
        """Take the server's own state, printed with each vote it gets: lines about the change to it may be lost.
        Another thread prints it, which may have read the state just before the server left it and print it late."""
        if event.role != "CANDIDATE":
            self._now.election.left = self._now.election.left or event.role is not None
        elif self._now.role in (LEADER, FOLLOWER, OBSERVER):
            if event.at <= self.steps[-1].by:
                return
            self._on_looking(event)
        elif self._now.election.left:
            self._now.election = Election()

    def _on_vote(self, event: FoldEvent) -> None:
        self._on_heard(event)
        self._on_state_in_vote(event)
        self.passed.vote(event, self.node)
        vote = vote_of(event)
        if vote is None or event.peer is None:
            return
        if event.result == "LOOKING":
            self._now.election.latest_round = max(self._now.election.latest_round, event.count or 0)
            if self._now.election.votes.get(event.peer) != (event.count, vote.leader):
                self._now.election.votes[event.peer], self._now.election.voted = (event.count, vote.leader), event.at
            self._now.election.claims.pop(event.peer, None)
        elif event.result in ("FOLLOWING", "LEADING"):
            self._now.election.claims[event.peer] = str(vote.leader)
            self._now.election.votes.pop(event.peer, None)
        else:
            return
        self._now.election.voters.add(event.peer)
        if event.peer == self.node and event.result == "LOOKING":
            self._note_own(event, vote)

    def _note_own(self, event: FoldEvent, vote: Vote) -> None:
        """Take the server's own vote, which it gets back; within a round it may only get better."""
        if event.count == self._now.election.round and self._now.election.last_vote is not None:
            self.checked.note(_not_worse(self._now.election.last_vote, vote, event), event)
        if str(vote.leader) == self.node:
            # The newest: an older one may be of another election whose lines are lost.
            self._now.election.initial = vote
        self._now.election.round, self._now.election.last_vote = event.count, vote

    def _note_ballot(self, leader: str | None, epoch: int | None, event: FoldEvent) -> None:
        """Note the vote with which the server entered the election that it leaves, if its last round shows it."""
        election = self._now.election
        of_it = election.round is not None and election.round >= election.latest_round
        if of_it and election.initial is not None and election.initial.epoch >= 0:
            self.ballots.append(InitialVote(leader, election.initial, epoch, event))
            self.own_term.note(election.initial.epoch, event)
        election.initial = None

    def _on_sync(self, event: FoldEvent) -> None:
        """Take an established leader's comparison of a learner's log with what it has committed itself. Before it is
        established, its last entry is only the last one of its log (``LearnerHandler#syncFollower``)."""
        zxid, epoch = _zxid(event.ledger_end_term, event.ledger_end), self._now.epoch
        self.end.compared(event.peer, _zxid(event.peer_ledger_end_term, event.peer_ledger_end), zxid, event)
        if self._now.role != LEADER or epoch is None or zxid is None:
            return
        if zxid >> COUNTER_BITS > epoch:
            return  # lines are lost: it leads, or will lead, a later epoch
        if (None, epoch) not in self.known or self.known[None, epoch][0] < zxid:
            self.known[None, epoch] = (zxid, event)

    def _on_client_ahead(self, event: FoldEvent) -> None:
        """Take a client that a server with this zxid had answered, so the zxid was committed. Source:
        ``ZooKeeperServer#processConnectRequest``; a response carries the last zxid that its server has processed."""
        seen = _zxid(event.peer_ledger_end_term, event.peer_ledger_end)
        key = A_CLIENT, 0 if seen is None else seen >> COUNTER_BITS
        if seen is not None and seen > self.known.get(key, (0, event))[0]:
            self.known[key] = (seen, event)

    def _on_truncated(self, event: FoldEvent) -> None:
        self._on_synced(event)
        zxid = _zxid(event.peer_ledger_end_term, event.peer_ledger_end)
        if zxid is not None and self._now.role in (FOLLOWER, OBSERVER):
            self.end.cuts.append(Cut(self._now.leader, self._now.log_end, zxid, event))

    def _on_proposal(self, event: FoldEvent) -> None:
        """Take an entry of this epoch from the leader, new or for catching up: a leader had been established in the
        epoch."""
        epoch = event.peer_ledger_end_term
        expected = _zxid(event.ledger_end_term, event.ledger_end)
        self.end.proposed(_zxid(epoch, event.peer_ledger_end), expected, event)
        if epoch is not None and not self._tells_roles:
            self._step(event, UNKNOWN, epoch, None, SEEN)
        if epoch is not None and epoch > self._seen_epoch:
            self._seen_epoch = epoch
            self.raised.append((epoch, None, event))

    def _on_epoch_set(self, event: FoldEvent) -> None:
        """Take the epoch of its leader, which a follower writes down once it is in sync (3.10 and later)."""
        self.end.in_step()
        if event.term is None or self._now.role != FOLLOWER or self._now.epoch is not None:
            return
        self._now.epoch = event.term
        self.steps[-1] = replace(self.steps[-1], term=event.term)
        if self.ballots and self.ballots[-1].leader == self._now.leader:
            self.ballots[-1].epoch = event.term
        self.own_term.note(event.term, event)

    def _quorum(self, epoch: int, supporters: tuple[str, ...] | None) -> Verdict:
        """Judge whether the supporters are a majority of the servers that voted; weights are not printed."""
        if not supporters:
            return Verdict(RuleId.LEADER_WITHOUT_QUORUM, UNDECIDABLE, "the supporters are not printed")
        voters = self._now.election.voters | set(supporters)
        if is_majority(len(supporters), len(voters)):
            return Verdict(RuleId.LEADER_WITHOUT_QUORUM, CONFORMS)
        behind = f"{len(supporters)} of at least {len(voters)} servers behind it"
        how = f"began to lead epoch {epoch} with {behind}; that is a quorum only where servers have weights"
        return violates(RuleId.LEADER_WITHOUT_QUORUM, how)

    # -- contacts ---------------------------------------------------------------------------------------

    def _on_peer_lost(self, event: FoldEvent) -> None:
        if event.peer is not None:
            self.contacts.broke(event.peer, event)

    def _on_heard(self, event: FoldEvent) -> None:
        self.contacts.made(event.peer or "", event)

    def _on_new_voters(self, event: FoldEvent) -> None:
        """Take a new set of voters, whom no line names: the rounds start again."""
        self.elected.voters.changed(event)
        self._now.election = Election()

    def _on_groups(self, event: FoldEvent) -> None:
        self.elected.voters.in_groups(event)


def _during_leaderships(holes: Iterable[Silence], roles: Sequence[Role]) -> Iterator[Silence]:
    """Yield the log gaps during a leadership; others prove nothing, as a quiet log has many."""
    ends = ((role, inf if role.until_by is None else role.until_by) for role in roles if role.role == LEADER)
    led = sorted((role.since, end) for role, end in ends)
    latest = list(accumulate((end for _, end in led), max))
    for hole in holes:
        begun = bisect_right(led, (hole.since, inf))
        if begun and hole.since <= latest[begun - 1]:
            yield hole


def _zxid(term: int | None, index: int | None) -> int | None:
    return None if term is None or index is None or term < 0 else zxid_of(term, index)


def _host(event: FoldEvent) -> str:
    return (event.peer_address or "").rpartition(":")[0]


def _not_worse(before: Vote, after: Vote, event: FoldEvent) -> Verdict:
    """Judge one vote of a round after another (``FastLeaderElection#totalOrderPredicate``; other order before
    3.4.4)."""
    if not is_better(before, after):
        return Verdict(RuleId.ZAB_WRONG_WINNER, CONFORMS)
    if event.code is None:
        return Verdict(RuleId.ZAB_WRONG_WINNER, UNDECIDABLE, "releases before 3.4.4 did not compare epochs first")
    better = f"{before.leader} with epoch {before.epoch} and zxid {before.zxid:#x}"
    worse = f"{after.leader} with epoch {after.epoch} and zxid {after.zxid:#x}"
    how = f"changed its vote within one round from {better} to {worse}, which is worse"
    return violates(RuleId.ZAB_WRONG_WINNER, how)


_HANDLERS: dict[str, Callable[[ZabLog, FoldEvent], None]] = {
    "ZK_CLIENT_AHEAD": ZabLog._on_client_ahead,
    "ZK_BOOT": ZabLog._on_start,
    "ZK_START": ZabLog._on_start,
    "ZK_SETTING": ZabLog._on_setting,
    "ZK_LOOKING": ZabLog._on_looking,
    "ZK_TO_LOOKING": ZabLog._on_looking,
    "ZK_STATE": ZabLog._on_state,
    "ZK_ELECTION": ZabLog._on_election,
    "ZK_LEADING": ZabLog._on_leading,
    "ZK_ESTABLISHED": ZabLog._on_established,
    "ZK_FOLLOWING": ZabLog._on_following,
    "ZK_OBSERVING": ZabLog._on_observing,
    "ZK_LEADER_LOST": ZabLog._on_leader_lost,
    "ZK_LEARNER_ERROR": ZabLog._on_learner_lost,
    "ZK_LEADER_SHUTDOWN": ZabLog._on_leader_shutdown,
    "ZK_THREAD_FAILED": ZabLog._on_thread_failed,
    "ZK_NOT_DESIGNATED": ZabLog._on_not_designated,
    "ZK_ROLE_END": ZabLog._on_role_end,
    "ZK_PAUSED": ZabLog._on_paused,
    "ZK_COMMAND": ZabLog._on_command,
    "ZK_EXIT": ZabLog._on_exit,
    "ZK_PROCESS_END": ZabLog._on_process_end,
    "ZK_LEADER_SUGGESTED": ZabLog._on_leader_suggested,
    "ZK_VOTE": ZabLog._on_vote,
    "ZK_SYNC": ZabLog._on_sync,
    "ZK_SYNC_RECEIVED": ZabLog._on_synced,
    "ZK_TRUNCATED": ZabLog._on_truncated,
    "ZK_PROPOSAL_GAP": ZabLog._on_proposal,
    "ZK_EPOCH_SET": ZabLog._on_epoch_set,
    "ZK_LEADER_REACHED": ZabLog._on_leader_reached,
    "ZK_PEER_UNREACHABLE": ZabLog._on_address,
    "ZK_PEER_LOST": ZabLog._on_peer_lost,
    "ZK_SMALLER_ID": ZabLog._on_heard,
    "ZK_RECONFIGURED": ZabLog._on_new_voters,
    "ZK_NEWER_CONFIG": ZabLog._on_new_voters,
    "ZK_HIERARCHICAL": ZabLog._on_groups,
}

KINDS = frozenset(_HANDLERS)
"""The events that the fold of a ZooKeeper log reads."""

_INFO = frozenset(
    {"ZK_START", "ZK_LOOKING", "ZK_ELECTION", "ZK_VOTE", "ZK_STATE", "ZK_LEADING", "ZK_FOLLOWING", "ZK_OBSERVING"}
)
"""Lines at level INFO; a server prints some whenever it looks for a leader and finds one."""

_SAID_BY_LEARNERS = frozenset(
    {"ZK_LEADER_LOST", "ZK_ROLE_END", "ZK_TRUNCATED", "ZK_PROPOSAL_GAP", "ZK_EPOCH_SET", "ZK_LEADER_REACHED"}
)
"""Lines that only a follower or observer prints, so that it has left its election."""
