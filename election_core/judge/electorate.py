"""Electorates: who votes in a group over time, by its members' logs; quorums are counted against them.

    etcd        switched to configuration voters=(1 2 3) learners=(4)      all by name, from that line on
    ZooKeeper   Have quorum of supporters, sids: [1, 2]                    two are a majority: at most three vote
    DLedger     memberNum=3                                                how many vote, not who
    ZooKeeper   QuorumHierarchical - 5, 5, 3                               groups of unknown members

A list comes from the leader's own log, since the leader counts the votes. Where its log begins too late, other members'
lists count if they all agree. Whose logs were collected shows nothing: a member's may be missing, and an observer or a
removed member may have one.
"""

from collections.abc import Iterable, Iterator, Set
from typing import Protocol

from election_replay.election_core.fold.roles import FOLLOWER
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.model.facts import Candidacy, Fact, Role, VotersStated
from election_replay.election_core.model.quorum import LOST, Electorate, Groups, Voters, decide


class Led(Protocol):
    """A leadership: who led which term, by which log, and when."""

    @property
    def node(self) -> str:
        """The leader."""

    @property
    def source(self) -> str:
        """The source whose log shows the leadership."""

    @property
    def term(self) -> int:
        """The term."""

    @property
    def begin(self) -> Moment:
        """Its beginning."""

    @property
    def end(self) -> Moment:
        """Its end, or its last sign."""


class Electorates:
    """The electorates of a group; :meth:`lost` tells what is sure and :meth:`may_be_lost` what is possible."""

    def __init__(self, facts: Iterable[Fact], clocks: Clocks) -> None:
        self._clocks = clocks
        self._stated: dict[str, list[VotersStated]] = {}
        self._known: dict[tuple[str, int | None], set[str]] = {}
        self._followers: dict[tuple[str | None, int | None], set[str]] = {}
        for fact in facts:
            if isinstance(fact, VotersStated):
                self._stated.setdefault(fact.source_node, []).append(fact)
            elif isinstance(fact, Role) and fact.role == FOLLOWER and fact.leader is not None:
                self._followers.setdefault((fact.leader, fact.term), set()).add(fact.who)
                self._known.setdefault((fact.leader, fact.term), {fact.leader}).add(fact.who)
            elif isinstance(fact, Candidacy) and fact.node is not None and fact.outcome == "won":
                self._known.setdefault((fact.node, fact.term), {fact.node}).update(fact.voters, fact.electorate or ())
        for stated in self._stated.values():
            stated.sort(key=lambda fact: (fact.since, fact.ordinal, fact.since_by))
        every = [fact for stated in self._stated.values() for fact in stated]
        self._bounded: dict[tuple[str, int | None], list[VotersStated]] = {}
        for fact in filter(_bounds, every):
            self._bounded.setdefault((fact.source_node, fact.term), []).append(fact)
        self._everybody = frozenset[str]().union(*self._known.values())
        listed = ((*(fact.voters or ()), *(fact.voters_before or ())) for fact in every)
        self.everybody = self._everybody.union(*listed)
        """All members that led, followed, voted or are listed as voters."""
        self._groups = any(fact.groups for fact in every)
        changed = (Moment(fact.since, fact.since_by, fact.source_node) for fact in every if _says_nothing(fact))
        self._changes = sorted(changed, key=lambda moment: (moment.at, moment.source))
        self._lists = {(fact.voters, fact.voters_before) for fact in every if fact.voters}
        self._sizes = {(fact.voters_least, fact.voters_most) for fact in every if fact.term is None and _bounds(fact)}

    def lost(self, led: Led, moment: Moment, gone: Set[str]) -> bool:
        """Return True when a leader surely had no quorum at a moment, after the members ``gone`` left it."""
        return all(decide(electorate, frozenset(), gone) == LOST for electorate in self._in_force(led, moment))

    def may_be_lost(self, led: Led, moment: Moment, gone: Set[str]) -> bool:
        """Return True when a leader had no quorum if only those members vote that lines show to be voters."""
        return any(decide(self._smallest(voters), frozenset(), gone) == LOST for voters in self._in_force(led, moment))

    def needed(self, led: Led) -> int | None:
        """Return how many votes elected a leader; ``None`` where that number is unknown or not unique."""
        counts = {
            voters[0].needed if len(voters) == 1 and isinstance(voters[0], Voters) else None
            for voters in self._in_force(led, led.begin)
        }
        return counts.pop() if len(counts) == 1 else None

    def _known_to(self, led: Led) -> frozenset[str]:
        return frozenset(self._known.get((led.node, led.term), ())) | {led.node}

    def votes(self, led: Led, moment: Moment, name: str) -> bool:
        """Return True when a member may vote at a moment: a list that may be in force includes it or is incomplete."""
        return any(
            not electorate or any(not _leaves_out(part, name) for part in electorate)
            for electorate in self._in_force(led, moment)
        )

    def _smallest(self, electorate: Electorate) -> Electorate:
        """Return the smallest electorate that the lines allow: members that voted or followed are in it."""
        known = Voters.listed(self._everybody)
        return tuple(self._fewest(part, known) if isinstance(part, Voters) else part for part in electorate or (known,))

    @staticmethod
    def _fewest(part: Voters, known: Voters) -> Voters:
        least = max(part.least, len(part.names))
        if part.most is None or least > part.most:
            return known
        return Voters(part.names, part.least, max(least, min(part.most, known.least)))

    def _in_force(self, led: Led, moment: Moment) -> list[Electorate]:
        """Return all electorates that may have been in force; an empty one where no line shows it."""
        if self._groups or self._changed(led, moment):
            return [()]
        return list(self._listed(led, moment)) if self._lists else [self._counted(led)]

    def _changed(self, led: Led, moment: Moment) -> bool:
        """Return True when the voters may have changed between a leader's beginning, when it counted its supporters,
        and a moment. The leader's own log shows each change; of changes in other logs only those surely after its
        beginning count."""
        before = self._clocks.surely_before
        return any(
            not before(moment, change)
            and (not before(change, led.begin) if change.source == led.source else before(led.begin, change))
            for change in self._changes
        )

    def _listed(self, led: Led, moment: Moment) -> Iterator[Electorate]:
        """Yield the electorates of the leader's list at a moment, and of lists around it; empty: a list is
        incomplete."""
        before = list[VotersStated]()
        around = list[VotersStated]()
        for fact in self._stated.get(led.source, ()):
            least, most = self._clocks.elapsed(Moment(fact.since, fact.since_by, fact.source_node), moment)
            if least >= 0:
                before.append(fact)
            elif most > 0:
                around.append(fact)
        for fact in (*before[-1:], *around):
            yield tuple(Voters.listed(names) for names in (fact.voters, fact.voters_before) if names)
        if not before:  # the leader's log begins later
            by_others = next(iter(self._lists)) if len(self._lists) == 1 else ()
            yield tuple(Voters.listed(names) for names in by_others if names)
        elif not self._followers.get((led.node, led.term), set()) <= self._named_by(led.source):
            yield ()  # no list names one of its followers: a line about voters is missing

    def _named_by(self, source: str) -> set[str]:
        lists = [(fact.voters, fact.voters_before, fact.learners) for fact in self._stated.get(source, ())]
        return {name for parts in lists for names in parts for name in names or ()}

    def _counted(self, led: Led) -> Electorate:
        """Return the electorate by number only: the sizes in the leader's log, or in all logs if they agree."""
        of_no_term = self._bounded.get((led.source, None), ())
        of_term = self._bounded.get((led.source, led.term), ())
        by_leader = [*of_term, *(fact for fact in of_no_term if fact.since <= led.end.by)]
        since = max((fact.since for fact in by_leader if fact.since <= led.begin.by), default=0)
        sizes = {(fact.voters_least, fact.voters_most) for fact in by_leader if fact.since >= since}
        if not sizes and len(self._sizes) == 1:
            sizes = self._sizes
        names, every = self._known_to(led), self._everybody
        least = max((least for least, _ in sizes if least is not None), default=0)
        most = min((most for _, most in sizes if most is not None), default=None)
        if most is not None and len(every) <= most:
            names = every
        return (Voters(names, max(least, len(names)), most),)


def _leaves_out(part: Voters | Groups, name: str) -> bool:
    return isinstance(part, Voters) and part.most == len(part.names) and name not in part.names


def _bounds(fact: VotersStated) -> bool:
    return fact.voters_least is not None or fact.voters_most is not None


def _says_nothing(fact: VotersStated) -> bool:
    """Return True when the voters changed and no line shows to whom."""
    return fact.voters is None and fact.groups is None and not _bounds(fact)
