"""The log of one Redis server: its roles, the data that it holds, and, in a cluster, its votes and epochs.

A server under sentinels becomes master by command and prints no epoch; the sentinels do. A node of a cluster stands for
election among the masters and prints its epoch. In a cluster the letter ``M`` alone does not show that a node leads: it
may have no slots. It counts as leading once it wins, votes, or has a replica.

Sources: ``src/replication.c``; ``src/cluster_legacy.c`` (``clusterHandleSlaveFailover``,
``clusterSendFailoverAuthIfNeeded``, ``clusterUpdateState``).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from election_replay.election_core.fold.contact import Contact
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.role_log import RoleLog
from election_replay.election_core.fold.roles import FOLLOWER, LEADER, SEEN, TRANSFER, UNKNOWN, Step, spans
from election_replay.election_core.model.facts import Alive, Fact, MemberAddress, QuietLog, TermRaised, VoteGranted
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.introductions import Introduced
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.redis.facts import (
    BytesRefused,
    DataHeld,
    Hindered,
    LedWithoutData,
    Obeyed,
    Refusing,
    SentinelSaid,
)
from election_replay.election_core.protocols.redis.kin import SHARD

PROTOCOL = "redis"

MASTER_LETTER, REPLICA_LETTER = "M", "S"
CLUSTER_MODE = "cluster"
NO_SLOTS_KNOWN = "no_slots_known"
"""The cause of a role UNKNOWN: a node of a cluster calls itself master but may have no slots."""
FAILED = "failed"
"""The message of cluster nodes about a node that a majority of the masters considers failed."""
ASKS, GOES_ON, COPIED, LOADED, BEGAN, SAVED = "asks", "goes_on", "copied", "loaded", "began", "saved"
"""Messages of a server about its data."""
AT_ONCE = Timeout.REDIS_AT_ONCE.us

SERVES = "serves"
"""The cause of a role LEADER that a server's work shows; no line tells since when."""
BEGINS = frozenset({"start", SERVES})
"""Causes of roles that begin with a process, whatever the role before it."""
ELECTED, BY_COMMAND, TAKEOVER = "elected", "told", "takeover"
"""Causes of mastership: elected by its cluster's masters, by command, or taken by an operator without a vote."""
REPLACED = "larger_epoch"
"""The cause of a role that ended as another server took over in a larger epoch."""
_COMMANDER = re.compile(r"name=sentinel-([0-9a-f]{8})-cmd")
"""The connection of a sentinel, by the name that it gives it (``sentinelSetClientName``)."""


@dataclass(slots=True)
class Starting:
    """The start of a process: when it ``began`` (us; None once its role is known), and whether it is still ``loading``.

    ``empty``: its start is in the log, and it read no data from its disk. ``saved``: the line that tells the age of the
    snapshot it loads.
    """

    began: int | None = None
    loading: bool = True
    empty: bool = False
    saved: FoldEvent | None = None


@dataclass(slots=True)
class ServerLog(RoleLog):
    """The state machine of one server's log. ``on`` takes its lines in program order."""

    epoch: int | None = None
    cluster: bool = False
    votes: list[FoldEvent] = field(default_factory=list)
    noted: list[tuple[FoldEvent, str | None]] = field(default_factory=list)
    commands: list[tuple[FoldEvent, str]] = field(default_factory=list)
    contacts: list[Contact] = field(default_factory=list)
    states: list[FoldEvent] = field(default_factory=list)
    hindered: list[FoldEvent] = field(default_factory=list)
    addresses: list[FoldEvent] = field(default_factory=list)
    failed: list[Contact] = field(default_factory=list)
    _port: int | None = None
    _asker: str | None = None
    _master: str | None = None
    strange: list[tuple[FoldEvent, FoldEvent]] = field(default_factory=list)
    """For each time that it became master with the data of another shard: that line, and the one that it came over."""
    _lost: FoldEvent | None = None
    _moved: FoldEvent | None = None
    _last: FoldEvent | None = None
    _start: Starting = field(default_factory=Starting)
    _copies: str | None = None

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this log."""
        if event.kind in _OF_A_CLUSTER and not self.cluster:
            self._is_of_a_cluster()
        _HANDLERS[event.kind](self, event)
        if event.kind in _TELLS_ROLE:
            self._by_letter(event)
        self._last = event

    def _is_of_a_cluster(self) -> None:
        """Note cluster mode, shown by a line other than the mode's: then no start made the server master."""
        self.cluster = True
        self.steps[:] = [
            replace(step, role=UNKNOWN, leader=None) if (step.role, step.cause) == (LEADER, "start") else step
            for step in self.steps
        ]

    # -- roles ------------------------------------------------------------------------------------------------------

    def _step(self, event: FoldEvent, role: str, leader: str | None, cause: str, at: int | None = None) -> None:
        self.takes(event, role, self.epoch if role == LEADER and self.cluster else None, leader, cause, at)

    def _by_letter(self, event: FoldEvent) -> None:
        """Take the role letter of a line, its writer's role at that moment; the line of a change may be missing."""
        since = self._last.at if self._last is not None else event.at
        if event.role == MASTER_LETTER and self.role in (FOLLOWER, UNKNOWN, None):
            if self.cluster and event.kind not in _HAS_SLOTS:
                return
            if self.role == UNKNOWN:  # the unknown role before was this one
                epoch = self.epoch if self.cluster else None
                self.steps[-1] = replace(
                    self.steps[-1], role=LEADER, term=epoch, leader=self.node, node=self.node, cause=SERVES
                )
            else:
                self._step(event, LEADER, self.node, "unknown" if self.role == FOLLOWER else SERVES, since)
        elif event.role == REPLICA_LETTER and self.role in (LEADER, UNKNOWN):
            self._step(event, FOLLOWER, self._master, "unknown", since)

    def _on_start(self, event: FoldEvent) -> None:
        """Take a start of the process: only its id and epoch, which are on its disk, carry over."""
        self.ends(event, "abandoned")
        for contact in self.contacts:
            contact.again = contact.again or event
        self._asker = self._master = self._lost = None
        self._start = Starting(event.at, empty=True)

    def _on_mode(self, event: FoldEvent) -> None:
        self._port, self.cluster = event.count or self._port, event.setting == CLUSTER_MODE
        self._first_role(event)

    def _first_role(self, event: FoldEvent) -> None:
        if event.role == REPLICA_LETTER:
            self._step(event, FOLLOWER, None, "start", self._start.began)
        elif event.role == MASTER_LETTER:
            leads = not self.cluster
            self._step(event, LEADER if leads else UNKNOWN, self.node if leads else None, "start", self._start.began)
        self._start.began = None

    def _on_ready(self, event: FoldEvent) -> None:
        self._start.loading = False
        if self.role is None:
            self._first_role(event)

    def _on_master(self, event: FoldEvent) -> None:
        self.commands.append((event, LEADER))
        self._step(event, LEADER, self.node, TRANSFER if "failover request" in (event.value or "") else BY_COMMAND)

    def _on_promoted(self, event: FoldEvent) -> None:
        """Take that its history continues under a new id: it became master. The cause is printed before or after."""
        self.noted.append((event, GOES_ON))
        if self._moved is not None:
            self.strange.append((event, self._moved))
        if self.role != LEADER:
            self._step(event, LEADER, self.node, BY_COMMAND)
        self._drop_own_disconnect(event)

    def _on_replica(self, event: FoldEvent) -> None:
        self.commands.append((event, FOLLOWER))
        self._follow(event, event.peer_address, BY_COMMAND)

    def _on_connects(self, event: FoldEvent) -> None:
        self._follow(event, event.peer_address, "connects")

    def _follow(self, event: FoldEvent, master: str | None, cause: str) -> None:
        if master != self._master:
            self._drop_own_disconnect(event)
        self._master = master
        last = self.last
        if last is not None and last.role == FOLLOWER and last.leader is None and event.at - last.at < AT_ONCE:
            self.steps[-1] = replace(last, leader=master)
        elif last is None or (last.role, last.leader) != (FOLLOWER, master):
            self._step(event, FOLLOWER, master, cause)

    def _on_was_master(self, event: FoldEvent) -> None:
        self._step(event, FOLLOWER, None, BY_COMMAND)

    # -- data -------------------------------------------------------------------------------------------------------

    def _on_asks(self, event: FoldEvent) -> None:
        self.noted.append((event, ASKS))

    def _on_began(self, event: FoldEvent) -> None:
        """Take a new history; it is known to be empty if the start is logged, as a server prints data found on its
        disk."""
        self.noted.append((replace(event, count=0 if self._start.empty else None), BEGAN))

    def _on_saved(self, event: FoldEvent) -> None:
        self._start.saved = event if self._start.loading else None

    def _on_kept(self, event: FoldEvent) -> None:
        """Take loaded data; of an append-only file the snapshot is only the beginning."""
        self._start.empty = False
        if self._start.saved is not None and event.value == "disk":
            self.noted.append((self._start.saved, SAVED))

    def _on_loaded(self, event: FoldEvent) -> None:
        self._start.empty = False
        copied = not self._start.loading and self.role != LEADER
        history = self._copies if copied else None
        self._moved = None if copied else self._moved
        self.noted.append((replace(event, value=history), COPIED if copied else LOADED))

    def _on_asked(self, event: FoldEvent) -> None:
        self._asker = event.peer_address

    def _on_refused(self, event: FoldEvent) -> None:
        self.noted.append((replace(event, peer_address=event.peer_address or self._asker), None))

    # -- contacts ---------------------------------------------------------------------------------------------------

    def _on_lost(self, event: FoldEvent) -> None:
        """Take a lost link: its master closed it, unless a moment later this server turns out to have done so."""
        self._lost = event
        if self._master is not None and event.role == REPLICA_LETTER:
            self.contacts.append(Contact(self._master, event))

    def _drop_own_disconnect(self, event: FoldEvent) -> None:
        """Forget a lost link that the server itself caused by following another master or becoming one."""
        lost = self._lost
        if lost is not None and event.at - lost.at < AT_ONCE and self.contacts and self.contacts[-1].lost is lost:
            self.contacts.pop()

    def _on_linked(self, event: FoldEvent) -> None:
        """Take that its master answers again."""
        for contact in self.contacts:
            if contact.again is None and contact.peer == self._master:
                contact.again = event
        if event.kind == "RD_FULL":
            self._copies = event.value
        if event.kind == "RD_PARTIAL":
            self._moved = None

    def _on_migrates(self, event: FoldEvent) -> None:
        """Take that it goes over to a master of another shard; its data are not those of its new master yet."""
        self._moved = event

    # -- a cluster ----------------------------------------------------------------------------------------------------

    def _on_id(self, event: FoldEvent) -> None:
        if self.node is not None and event.node != self.node:
            self.epoch = None
        self.node, self.cluster = event.node, True

    def _on_address(self, event: FoldEvent) -> None:
        self.addresses.append(replace(event, address=f"{event.address}:{self._port or 6379}"))

    def _on_epoch(self, event: FoldEvent) -> None:
        """Take another epoch of the node: set by an operator, after a collision of two, or by an election."""
        self.epoch = event.term
        if self.role == LEADER:
            last = self.steps[-1]
            if event.at - last.at < AT_ONCE:
                self.steps[-1] = replace(last, term=event.term)
            else:
                self._step(event, LEADER, self.node, "epoch")

    def _on_election(self, event: FoldEvent) -> None:
        self.ends(event, "no_winner")
        cause = next((asked.request for asked in reversed(self._manual_before(event))), None)
        self.stands(event, event.term, cause or "master_failed")

    def _manual_before(self, event: FoldEvent) -> list[FoldEvent]:
        return [
            asked for asked, word in self.noted if word == "manual" and event.at - asked.at < Timeout.REDIS_MANUAL.us
        ]

    def _on_won(self, event: FoldEvent) -> None:
        if self.open is not None:
            self.epoch = self.open.term
        self.ends(event, "won")
        manual = any(asked.request == "manual" for asked in self._manual_before(event))
        self._step(event, LEADER, self.node, TRANSFER if manual else ELECTED)

    def _on_manual(self, event: FoldEvent) -> None:
        self.noted.append((event, "manual"))

    def _on_bumped(self, event: FoldEvent) -> None:
        takeover = any(asked.request == TAKEOVER for asked in self._manual_before(event))
        self._on_epoch(event)
        if takeover and self.role != LEADER:
            self._step(event, LEADER, self.node, TAKEOVER)

    def _on_vote(self, event: FoldEvent) -> None:
        self.votes.append(event)

    def _on_hindered(self, event: FoldEvent) -> None:
        self.hindered.append(event)

    def _on_follows(self, event: FoldEvent) -> None:
        """Take that another node has its slots. A log that begins with that line shows by its letter a master that
        had them until then (``clusterUpdateSlotsConfigWith``)."""
        if self.role is None and event.role == MASTER_LETTER:
            self.takes(event, LEADER, None, self.node, SEEN)
        self._step(event, FOLLOWER, event.peer, REPLACED)

    def _on_given_up(self, event: FoldEvent) -> None:
        self.ends(event, "no_winner")

    def _on_empty(self, event: FoldEvent) -> None:
        """Take that its last slot went to another node: it calls itself master and leads nothing."""
        self._step(event, UNKNOWN, None, NO_SLOTS_KNOWN)

    def _on_state(self, event: FoldEvent) -> None:
        self.states.append(event)

    def _on_failed(self, event: FoldEvent) -> None:
        if event.peer is not None:
            self.failed.append(Contact(event.peer, event))

    def _on_alive(self, event: FoldEvent) -> None:
        for contact in self.failed:
            if contact.peer == event.peer and contact.again is None:
                contact.again = event

    def _on_said(self, event: FoldEvent) -> None:
        """Take a line of which nothing is kept."""

    # -- facts --------------------------------------------------------------------------------------------------------

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about its server, and about candidates it voted for."""
        if not self.steps and not self.votes and not self.noted:
            return
        alone = f"{SHARD}{speaker.source_node}"  # no line shows its kin: it need not be that of other servers
        known = speaker.introduced.get(stream, Introduced(speaker.listed.replica_group or alone))
        group = speaker.listed.replica_group or known.replica_group
        self.node = self.node or speaker.listed.member or known.member
        moves = () if speaker.listed.replica_group else known.moves.get(self.node or "", ())
        yield from _by_shard(self._in_one_group(speaker, stream, known, group), group, moves)

    def _in_one_group(self, speaker: Speaker, stream: str, known: Introduced, group: str) -> Iterator[Fact]:
        """Yield the facts as if its server had never migrated to another shard."""
        emit = speaker.about(group, PROTOCOL, stream, self.node)
        for event, groups in self._votes_by_group(known, group):
            for of_group in groups:
                there = replace(emit, group=of_group)
                yield VoteGranted(*there.about(event.peer, event), term=event.term or 0, voter=self.node or stream)
                yield TermRaised(*there.at(event), term=event.term or 0, peer=event.peer)
        if self.steps:
            yield QuietLog(*emit.during(self.node, self.steps[0].at, self.steps[0].at, None))
            yield from emit.roles(spans(self._named_steps(known), emit.incarnations, UNKNOWN))
        yield from emit.alive()
        yield from self._contact_facts(emit, known)
        yield from self._data_facts(emit, known)
        yield from self._obeyed(emit)
        yield from self._cluster_facts(emit)
        for contact in self.failed:
            there = replace(emit, group=known.group_at(contact.peer, contact.lost.at, group))
            during = there.about(contact.peer, contact.lost, contact.again)
            yield SentinelSaid(*during, message=FAILED, term=None, peer=self.node)

    def _votes_by_group(self, known: Introduced, group: str) -> Iterator[tuple[FoldEvent, list[str]]]:
        """Yield each vote with the groups it concerns: those of all candidates it voted for in that epoch."""
        of_epoch: dict[int | None, set[str]] = {}
        for event in self.votes:
            of_epoch.setdefault(event.term, set()).add(known.group_at(event.peer, event.at, group))
        for event in self.votes:
            yield event, sorted(of_epoch[event.term])

    def _named_steps(self, known: Introduced) -> list[Step]:
        """Return the steps with members' names instead of addresses; the same master again is no change."""
        named: list[Step] = []
        for step in self.steps:
            leader = self.node if step.role == LEADER else known.names.get(step.leader or "", step.leader)
            last = (named[-1].role, named[-1].term, named[-1].leader) if named else None
            if step.cause in BEGINS or last != (step.role, step.term, leader):
                named.append(replace(step, node=self.node, leader=leader))
        return named

    def _obeyed(self, emit: FactWriter) -> Iterator[Obeyed]:
        for event, role in self.commands:
            sentinel = _COMMANDER.search(event.value or "")
            if sentinel is not None:
                yield Obeyed(*emit.at(event), role=role, peer=sentinel[1])

    def _contact_facts(self, emit: FactWriter, known: Introduced) -> Iterator[Fact]:
        for contact in self.contacts:
            peer = replace(contact, peer=known.names.get(contact.peer, contact.peer))
            closed = contact.lost.result is None
            yield peer.fact(emit, Timeout.LAST_HEARTBEAT.us if closed else Timeout.REDIS_PING.us, closed=closed)

    def _data_facts(self, emit: FactWriter, known: Introduced) -> Iterator[Fact]:
        for number, (event, word) in enumerate(self.noted):
            other = known.names.get(event.peer_address or "", event.peer_address)
            if event.kind in ("RD_REFUSED", "RD_MISMATCH", "RD_ACCEPTED"):
                asked, valid = event.ledger_end, event.max_offset
                if event.kind == "RD_ACCEPTED":
                    asked = valid = event.start_offset
                ids = event.value if event.kind == "RD_MISMATCH" else None
                yield BytesRefused(
                    *emit.at(event, ordinal=number), peer=other, from_index=asked, to_index=valid, ids=ids
                )
            elif word in (ASKS, GOES_ON, COPIED, LOADED, BEGAN, SAVED):
                yield DataHeld(
                    *emit.at(event, ordinal=number),
                    message=word,
                    ids=event.value_before if word == GOES_ON else event.value,
                    peer=other,
                    to_index=event.ledger_end if word == ASKS else event.max_offset,
                    count=event.count if word in (COPIED, LOADED, BEGAN, SAVED) else None,
                    other=event.value if word == GOES_ON else None,
                )

    def _cluster_facts(self, emit: FactWriter) -> Iterator[Fact]:
        for campaign in self.campaigns:
            yield TermRaised(*emit.at(campaign), term=campaign.term or 0)
            yield campaign.fact(emit, self.node)
        for event in self.addresses:
            yield MemberAddress(*emit.at(event), address=event.address or "")
        for led, moved in self.strange:
            evidence = (moved.event_id, led.event_id)
            yield LedWithoutData(*emit.at(led), peer=moved.peer, evidence=evidence)
        refusing: FoldEvent | None = None
        for event in self.states:
            if event.result == "fail":
                refusing = refusing or event
            elif refusing is not None:
                yield Refusing(*emit.at(refusing, event))
                refusing = None
        if refusing is not None:
            yield Refusing(*emit.at(refusing))
        for event in self.hindered:
            peer = event.peer if event.kind == "RC_DENIED" else None
            yield Hindered(*emit.at(event), term=event.term, peer=peer, why=(event.result or "").rstrip("."))


def _by_shard(facts: Iterable[Fact], home: str, moves: Sequence[tuple[int, str]]) -> Iterator[Fact]:
    """Yield each fact under the shard its server was in at the time; per shard it ran only while it was in it."""
    shards = [(0, home), *moves]
    for fact in facts:
        if fact.replica_group != home or not moves:
            yield fact
        elif isinstance(fact, QuietLog):
            yield from (replace(fact, replica_group=group) for group in dict.fromkeys(group for _, group in shards))
        elif isinstance(fact, Alive):
            yield from _stays(fact, shards)
        else:
            group = next(group for at, group in reversed(shards) if at - AT_ONCE <= fact.since or at == 0)
            yield replace(fact, replica_group=group)


def _stays(life: Alive, shards: Sequence[tuple[int, str]]) -> Iterator[Alive]:
    """Yield the parts of a process run that a server spent in each shard; leaving one is no death."""
    for (since, group), (until, _) in pairwise([*shards, (None, "")]):
        here = replace(life, replica_group=group)
        if since is not None and since > life.since:
            here = replace(here, since=since, since_by=since, since_event=None)
        if until is not None and (life.until is None or until < life.until):
            here = replace(here, until=until, until_by=until, until_event=None, stopped=True, goes_on=False)
        if here.until is None or here.since <= here.until:
            yield here


_HANDLERS: dict[str, Callable[[ServerLog, FoldEvent], None]] = {
    "RD_START": ServerLog._on_start,
    "RD_MODE": ServerLog._on_mode,
    "RD_READY": ServerLog._on_ready,
    "RD_MASTER": ServerLog._on_master,
    "RD_REPLICA": ServerLog._on_replica,
    "RD_WAS_MASTER": ServerLog._on_was_master,
    "RD_CONNECTS": ServerLog._on_connects,
    "RD_ASKS": ServerLog._on_asks,
    "RD_FULL": ServerLog._on_linked,
    "RD_PARTIAL": ServerLog._on_linked,
    "RD_HISTORY": ServerLog._on_linked,
    "RD_SAVED": ServerLog._on_saved,
    "RD_KEPT": ServerLog._on_kept,
    "RD_LOADED": ServerLog._on_loaded,
    "RD_PROMOTED": ServerLog._on_promoted,
    "RD_BACKLOG": ServerLog._on_began,
    "RD_ASKED": ServerLog._on_asked,
    "RD_REFUSED": ServerLog._on_refused,
    "RD_MISMATCH": ServerLog._on_refused,
    "RD_ACCEPTED": ServerLog._on_refused,
    "RD_AHEAD": ServerLog._on_said,
    "RD_LOST": ServerLog._on_lost,
    "RC_ID": ServerLog._on_id,
    "RC_NEW_ID": ServerLog._on_id,
    "RC_RESET_ID": ServerLog._on_id,
    "RC_ADDRESS": ServerLog._on_address,
    "RC_SET_EPOCH": ServerLog._on_epoch,
    "RC_COLLISION": ServerLog._on_epoch,
    "RC_WON_EPOCH": ServerLog._on_epoch,
    "RC_BUMPED": ServerLog._on_bumped,
    "RC_ELECTION": ServerLog._on_election,
    "RC_WON": ServerLog._on_won,
    "RC_MIGRATES": ServerLog._on_migrates,
    "RC_GRANTED": ServerLog._on_vote,
    "RC_DENIED": ServerLog._on_hindered,
    "RC_CANNOT": ServerLog._on_hindered,
    "RC_FOLLOWS": ServerLog._on_follows,
    "RC_MANUAL": ServerLog._on_manual,
    "RC_GIVEN_UP": ServerLog._on_given_up,
    "RC_EMPTY": ServerLog._on_empty,
    "RC_STATE": ServerLog._on_state,
    "RC_FAILING": ServerLog._on_failed,
    "RC_FAIL_TOLD": ServerLog._on_failed,
    "RC_ALIVE": ServerLog._on_alive,
}

KINDS = frozenset(_HANDLERS)
"""The lines of a server that are read."""
_OF_A_CLUSTER = frozenset(kind for kind in KINDS if kind.startswith("RC_"))
"""Lines that only a node of a cluster prints."""
_HAS_SLOTS = frozenset({"RD_ASKED", "RC_GRANTED"})
"""Lines that only a master with slots, or with a replica, prints."""
_TELLS_ROLE = frozenset({"RD_ASKED", "RD_BACKLOG", "RD_REFUSED", "RD_ACCEPTED", "RD_MISMATCH", "RC_GRANTED"})
"""Lines whose letter is not that of a role about to change."""
