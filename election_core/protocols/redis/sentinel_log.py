"""The log of one sentinel: its votes and epochs, and its lines about the masters that it watches.

One log may hold several masters; lines about votes and epochs do not name theirs. With one master they concern that
one. With several, the sentinel's own candidacy follows the line that names its master, and a vote for another sentinel
concerns the only master that is down; in any other case the master is unknown, and nothing is claimed.

Source: ``src/sentinel.c`` (``sentinelVoteLeader``, ``sentinelGetLeader``, ``sentinelFailoverStateMachine``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.campaign import Campaign
from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, Checked, Verdict, violates
from election_replay.election_core.fold.fact_writer import FactWriter, Speaker
from election_replay.election_core.fold.own_term import OwnTerm
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.digits import number
from election_replay.election_core.model.facts import Fact, QuietLog, TermRaised, VoteGranted
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.quorum import majority
from election_replay.election_core.protocols.redis.facts import Hindered, SentinelSaid
from election_replay.election_core.protocols.redis.server_log import PROTOCOL

MASTER, REPLICA = "master", "slave"
DOWN, AGREED, SELECTED, TOLD_TO_LEAD, PROMOTED, NAMES = (
    "down",
    "agreed",
    "selected",
    "told_to_lead",
    "promoted",
    "names",
)
TOLD_TO_FOLLOW, REBOOTED, REPLICA_DOWN, TILT, NOT_SAVED = (
    "told_to_follow",
    "rebooted",
    "replica_down",
    "tilt",
    "not_saved",
)
"""Messages of a sentinel. About a server: it is down, a quorum agrees, it is selected as master, was told to lead, did;
it is the master by name; it was told to follow, was rebooted, is down and not the master. About itself: it detects
nothing now (TILT), its votes are not on its disk."""

BY_REQUEST, MASTER_DOWN = "user_request", "master_down"
"""Causes of a failover: requested by an operator, which needs no votes, or enough sentinels call the master down."""
_LASTING = {"SN_SDOWN": ("SN_SUP", DOWN), "SN_ODOWN": ("SN_OUP", AGREED)}


@dataclass(slots=True)
class Word:
    """A sentinel's statement about a server, until another line ends it."""

    message: str
    server: str | None
    term: int | None
    event: FoldEvent
    until: FoldEvent | None = None


@dataclass(slots=True)
class Watched:
    """A sentinel's knowledge and actions about one master."""

    name: str
    sentinels: set[str] = field(default_factory=set)
    quorum: int | None = None
    forced: bool = False
    down: bool = False
    open: Campaign | None = None
    last_vote: tuple[str, int] | None = None
    for_others: set[str] = field(default_factory=set)
    campaigns: list[Campaign] = field(default_factory=list)
    votes: list[tuple[str, str, int, FoldEvent]] = field(default_factory=list)
    word: list[Word] = field(default_factory=list)
    hindered: list[tuple[FoldEvent, int | None, str]] = field(default_factory=list)
    raised: list[FoldEvent] = field(default_factory=list)
    checked: Checked = field(default_factory=Checked)
    told_by: str | None = None

    def say(self, message: str, server: str | None, event: FoldEvent, term: int | None = None) -> None:
        """Note a statement; a new name of the master ends the old one."""
        if message == NAMES:
            for before in self.word:
                if before.message == NAMES and before.until is None:
                    before.until = event
        self.word.append(Word(message, server, term, event))

    @property
    def named_in(self) -> int | None:
        """The epoch in which the sentinel last named a master; None if unknown."""
        return next((word.term for word in reversed(self.word) if word.message == NAMES), None)

    def unsay(self, message: str, server: str | None, event: FoldEvent) -> None:
        """End a statement about a server."""
        for before in self.word:
            if before.message == message and before.server == server and before.until is None:
                before.until = event


@dataclass(slots=True)
class SentinelLog:
    """The state machine of one sentinel's log. ``on`` takes its lines in program order."""

    node: str | None = None
    masters: dict[str, Watched] = field(default_factory=dict)
    own_epoch: OwnTerm = field(default_factory=OwnTerm)
    _raised: FoldEvent | None = None
    _tried: Watched | None = None
    _tilt: FoldEvent | None = None
    tilts: list[tuple[FoldEvent, FoldEvent | None]] = field(default_factory=list)
    unsaved: list[FoldEvent] = field(default_factory=list)

    def on(self, event: FoldEvent) -> None:
        """Take the next line of this log."""
        if event.replica_group is not None:
            self._of(event.replica_group)
        _HANDLERS[event.kind](self, event)

    def _of(self, name: str) -> Watched:
        return self.masters.setdefault(name, Watched(name))

    def _meant(self, event: FoldEvent) -> Watched | None:
        """Return the master that a line concerns; None if it names none and several are possible."""
        if event.replica_group is not None:
            return self._of(event.replica_group)
        if len(self.masters) == 1:
            return next(iter(self.masters.values()))
        return None

    # -- itself -----------------------------------------------------------------------------------------------------

    def _on_start(self, event: FoldEvent) -> None:
        """Take a start of the process: pending work of the old one ended; epochs and votes are on its disk."""
        for watched in self.masters.values():
            if watched.open is not None:
                watched.open.close(event, "abandoned")
            watched.open, watched.forced, watched.down, watched.told_by = None, False, False, None
            for word in watched.word:
                word.until = word.until or event
        self._end_tilt(event)

    def _on_id(self, event: FoldEvent) -> None:
        if event.node != self.node:
            self.node, self.own_epoch.term = event.node, None

    def _on_tilt(self, event: FoldEvent) -> None:
        self._tilt = self._tilt or event

    def _end_tilt(self, event: FoldEvent) -> None:
        if self._tilt is not None:
            self.tilts.append((self._tilt, event))
            self._tilt = None

    def _on_not_saved(self, event: FoldEvent) -> None:
        self.unsaved.append(event)

    # -- what it watches ----------------------------------------------------------------------------------------------

    def _on_monitor(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        watched.quorum = event.count
        watched.say(NAMES, event.address, event)

    def _on_removed(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        if event.kind == "SN_RESET":
            watched.sentinels.clear()
        for word in watched.word:
            word.until = word.until or event

    def _on_set(self, event: FoldEvent) -> None:
        if event.setting == "quorum" and (quorum := number(event.value)) is not None:
            self._of(event.replica_group or "").quorum = quorum

    def _on_sentinel(self, event: FoldEvent) -> None:
        if event.peer is not None:
            self._of(event.replica_group or "").sentinels.add(event.peer)

    def _on_down(self, event: FoldEvent) -> None:
        if event.request == MASTER:
            watched = self._of(event.replica_group or "")
            watched.down = True
            watched.say(_LASTING[event.kind][1], event.address, event)
        elif event.request == REPLICA:
            self._of(event.replica_group or "").say(REPLICA_DOWN, event.peer_address, event)

    def _on_up(self, event: FoldEvent) -> None:
        if event.request == MASTER:
            watched = self._of(event.replica_group or "")
            word = DOWN if event.kind == "SN_SUP" else AGREED
            watched.down = watched.down and word != DOWN
            watched.unsay(word, event.address, event)
        elif event.request == REPLICA:
            self._of(event.replica_group or "").unsay(REPLICA_DOWN, event.peer_address, event)

    def _on_word(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        term = watched.open.term if watched.open is not None and event.kind in _AT_LEADER else None
        watched.say(_WORDS[event.kind], event.peer_address, event, term)

    def _on_told_by(self, event: FoldEvent) -> None:
        self._of(event.replica_group or "").told_by = event.peer

    def _on_switch(self, event: FoldEvent) -> None:
        """Take the name of the new master, and its epoch if that can be inferred.

        It is the epoch in which the sentinel was itself elected, unless another one reports the switch in the middle of
        that failover; or in which it voted for the sentinel that reports the switch, if it knows of no later epoch,
        since the reporter need not be the elected one. Otherwise it is the epoch that the sentinel knows, if it named
        the former master in the one before: it accepts only a configuration of a larger epoch, and none larger than it
        knows (``sentinelProcessHelloMessage``).
        """
        watched = self._of(event.replica_group or "")
        elected = watched.open is not None and watched.open.outcome == "won" and watched.told_by is None
        term = watched.open.term if watched.open is not None and elected else None
        peer, voted = watched.last_vote or (None, None)
        if term is None and peer is not None and peer == watched.told_by and self.own_epoch.term in (None, voted):
            term = voted
        if term is None and (named := watched.named_in) is not None and self.own_epoch.term == named + 1:
            term = self.own_epoch.term
        for word in (DOWN, AGREED):
            watched.unsay(word, event.peer_address, event)
        watched.say(NAMES, event.address, event, term)
        watched.open, watched.told_by, watched.down = None, None, False

    # -- epochs and votes ---------------------------------------------------------------------------------------------

    def _on_epoch(self, event: FoldEvent) -> None:
        if event.term is not None:
            self.own_epoch.note(event.term, event)
        self._raised = event
        watched = self._meant(event)
        if watched is not None:
            watched.raised.append(event)

    def _on_forced(self, event: FoldEvent) -> None:
        self._of(event.replica_group or "").forced = True

    def _on_try(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        if watched.open is not None and watched.open.outcome == "open":
            watched.open.close(event, "no_winner")
        cause = BY_REQUEST if watched.forced else MASTER_DOWN
        watched.open = Campaign(self.node, self.own_epoch.term, event.at, event.by, event.event_id, cause, rounds=1)
        watched.open.needed = max(majority(len(watched.sentinels) + 1), watched.quorum or 0)
        watched.campaigns.append(watched.open)
        watched.for_others = set()
        self._tried = watched

    def _on_vote(self, event: FoldEvent) -> None:
        watched = self._meant(event)
        if watched is None and event.peer == self.node:
            watched = self._tried
        if watched is None:
            down = [of_down for of_down in self.masters.values() if of_down.down]
            watched = down[0] if len(down) == 1 else None
        if watched is None or event.peer is None or event.term is None:
            return
        watched.last_vote = event.peer, event.term
        self._granted(watched, self.node, event.peer, event.term, event)

    def _on_voted(self, event: FoldEvent) -> None:
        watched = self._meant(event) or self._tried
        if watched is not None and event.value is not None and event.term is not None:
            self._granted(watched, event.peer, event.value, event.term, event)

    def _granted(self, watched: Watched, voter: str | None, leader: str, term: int, event: FoldEvent) -> None:
        if voter is None:
            return
        watched.votes.append((voter, leader, term, event))
        if watched.open is not None and watched.open.term == term:
            if leader == self.node:
                watched.open.voters.add(voter)
            else:
                watched.for_others.add(voter)

    def _on_elected(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        if watched.open is None:
            return
        if watched.open.cause != BY_REQUEST:
            watched.checked.note(self._quorum(watched), replace(event, term=watched.open.term))
        watched.open.close(event, "won")
        watched.forced = False

    def _quorum(self, watched: Watched) -> Verdict:
        """Judge whether a majority of the known sentinels, and the configured quorum, may have voted for it.

        A vote is printed once, and a missing line proves nothing, so only votes for others can prove a breach. If its
        own vote is missing, which it prints first, lines are lost.
        """
        rule, campaign = RuleId.LEADER_WITHOUT_QUORUM, watched.open
        every, needed = len(watched.sentinels) + 1, campaign.needed if campaign is not None else None
        own_vote_is_lost = campaign is None or self.node not in campaign.voters | watched.for_others
        if campaign is None or needed is None or not watched.sentinels or own_vote_is_lost:
            return Verdict(rule, UNDECIDABLE, "the votes or the sentinels are not printed")
        if len(campaign.voters) >= needed:
            return Verdict(rule, CONFORMS)
        if every - len(watched.for_others - campaign.voters) < needed:
            votes = f"{len(campaign.voters)} vote{'' if len(campaign.voters) == 1 else 's'}"
            others = "so many others voted for another one that it cannot have had them"
            how = f"replaced the master in epoch {campaign.term} with {votes}; it needs {needed}, and {others}"
            return violates(rule, how)
        return Verdict(rule, UNDECIDABLE, "the votes or the sentinels are not printed")

    def _on_failed(self, event: FoldEvent) -> None:
        watched = self._of(event.replica_group or "")
        term = watched.open.term if watched.open is not None else None
        why = _WHY[event.kind]
        watched.hindered.append((event, term, why))
        if watched.open is not None:
            watched.open.close(event, "no_winner" if event.kind == "SN_NOT_ELECTED" else "aborted")
        watched.open, watched.forced = None, False

    # -- facts --------------------------------------------------------------------------------------------------------

    def facts(self, speaker: Speaker, stream: str) -> Iterator[Fact]:
        """Yield what this log proves about each master that the sentinel watches."""
        for name, watched in sorted(self.masters.items()):
            emit = speaker.about(name, PROTOCOL, stream, self.node)
            yield from emit.alive()
            if emit.incarnations:
                begun = emit.incarnations[0].first_seen
                yield QuietLog(*emit.during(self.node, begun, begun, None))
            yield from self._said_facts(emit, watched)
            yield from self._vote_facts(emit, watched)

    def _said_facts(self, emit: FactWriter, watched: Watched) -> Iterator[Fact]:
        for place, word in enumerate(watched.word):
            yield SentinelSaid(
                *emit.about(word.server, word.event, word.until, place),
                message=word.message,
                term=word.term,
                peer=self.node,
                granted=word.event.accepted,
                needed=word.event.count if word.message == AGREED else None,
            )
        tilts = [*self.tilts, *([(self._tilt, None)] if self._tilt is not None else [])]
        for begin, end in tilts:
            yield SentinelSaid(*emit.about(None, begin, end), message=TILT, term=None, peer=self.node)
        for event in self.unsaved[:1]:
            yield SentinelSaid(*emit.about(None, event), message=NOT_SAVED, term=None, peer=self.node)
        for event, term, why in watched.hindered:
            yield Hindered(*emit.at(event), term=term, peer=None, why=why)

    def _vote_facts(self, emit: FactWriter, watched: Watched) -> Iterator[Fact]:
        for voter, leader, term, event in watched.votes:
            yield VoteGranted(*emit.about(leader, event), term=term, voter=voter)
        for campaign in watched.campaigns:
            needed = campaign.needed if campaign.cause != BY_REQUEST else None
            yield campaign.fact(emit, campaign.node, granted=len(campaign.voters), needed=needed)
        for event in watched.raised:
            yield TermRaised(*emit.at(event), term=event.term or 0, peer=None)
        yield from self.own_epoch.facts(emit)
        yield from watched.checked.tallied(emit, self.node)
        yield from watched.checked.broken(emit)


_AT_LEADER = frozenset({"SN_SELECTED", "SN_TOLD", "SN_PROMOTED"})
_WORDS = {
    "SN_SELECTED": SELECTED,
    "SN_TOLD": TOLD_TO_LEAD,
    "SN_PROMOTED": PROMOTED,
    "SN_CONVERT": TOLD_TO_FOLLOW,
    "SN_REBOOT": REBOOTED,
}
_WHY = {
    "SN_NOT_ELECTED": "it got too few votes",
    "SN_NO_REPLICA": "no replica could take over",
    "SN_NO_ANSWER": "the chosen replica did not become master",
}
_HANDLERS: dict[str, Callable[[SentinelLog, FoldEvent], None]] = {
    "RD_START": SentinelLog._on_start,
    "SN_ID": SentinelLog._on_id,
    "SN_MONITOR": SentinelLog._on_monitor,
    "SN_REMOVED": SentinelLog._on_removed,
    "SN_RESET": SentinelLog._on_removed,
    "SN_SET": SentinelLog._on_set,
    "SN_SENTINEL": SentinelLog._on_sentinel,
    "SN_SDOWN": SentinelLog._on_down,
    "SN_ODOWN": SentinelLog._on_down,
    "SN_SUP": SentinelLog._on_up,
    "SN_OUP": SentinelLog._on_up,
    "SN_EPOCH": SentinelLog._on_epoch,
    "SN_TRY": SentinelLog._on_try,
    "SN_VOTE": SentinelLog._on_vote,
    "SN_VOTED": SentinelLog._on_voted,
    "SN_ELECTED": SentinelLog._on_elected,
    "SN_NOT_ELECTED": SentinelLog._on_failed,
    "SN_NO_REPLICA": SentinelLog._on_failed,
    "SN_NO_ANSWER": SentinelLog._on_failed,
    "SN_TOLD_BY": SentinelLog._on_told_by,
    "SN_SWITCH": SentinelLog._on_switch,
    "SN_FORCED": SentinelLog._on_forced,
    "SN_TILT": SentinelLog._on_tilt,
    "SN_UNTILT": SentinelLog._end_tilt,
    "SN_NOT_SAVED": SentinelLog._on_not_saved,
    **dict.fromkeys(_WORDS, SentinelLog._on_word),
}
SENTINEL_KINDS = frozenset(_HANDLERS)
"""The lines of a sentinel that are read."""
