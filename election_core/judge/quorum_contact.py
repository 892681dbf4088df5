"""Until when a leader had its majority, by the leader's own word and by those who followed it.

    leader L, term 1   [============ ... end]        it calls itself leader for as long as its time-outs allow
    follower A         [====== last heard]           A hears of it no more, and says so when its own time-out has passed
    follower B         [========== died]
    majority with L    [==========|                  of three members the second one that left took it away

A leader without its majority can commit nothing, so the time in which nobody could write begins here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from election_core.fold.roles import DIED, DOWN, FOLLOWER, STOPPED
from election_core.judge.clock import Moment
from election_core.judge.group import SILENT, Group, Tenure, since, until
from election_core.model.facts import Candidacy, Committed, ContactLost, LastHeard, QuorumLost, Role
from election_core.model.quorum import majority
from election_core.model.timing import Timeout

ENDED = frozenset({DIED, STOPPED, SILENT})
"""How the role of a process ends that ended with it."""


@dataclass(frozen=True, slots=True)
class Left:
    """A member that followed a leader and was lost to it in ``[earliest, latest]``; ``ended``: its process ended."""

    member: str
    earliest: Moment
    latest: Moment
    ended: bool


@dataclass(frozen=True, slots=True)
class Majority:
    """The majority of a leader was lost in ``[earliest, latest]``.

    ``left`` are the members that left, as far as that is known, and ``rounds`` are those in which the leader asked in
    vain.
    """

    earliest: Moment
    latest: Moment
    left: tuple[Left, ...] = ()
    rounds: int | None = None


class Majorities:
    """Until when each leader of a group had its majority. Only for protocols in which a majority commits."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self._members = {role.source_node: role.node for role in group.roles if role.role != DOWN}
        self._needed = {
            (fact.node, fact.term): fact.needed
            for fact in group.of(Candidacy)
            if fact.outcome == "won" and fact.needed is not None
        }
        self._followed: dict[tuple[str | None, int], dict[str, Role]] = {}
        for role in group.roles:
            if role.role == FOLLOWER and role.term is not None and role.leader is not None:
                last = self._followed.setdefault((role.leader, role.term), {})
                before = last.get(role.source_node)
                if before is None or before.since <= role.since:
                    last[role.source_node] = role
        self._lost: dict[tuple[str, str | None], list[LastHeard | ContactLost]] = {}
        losses: list[LastHeard | ContactLost] = [*group.of(LastHeard), *group.of(ContactLost)]
        for lost in losses:
            self._lost.setdefault((lost.source_node, lost.node), []).append(lost)

    def lost(self, tenure: Tenure, target: Moment) -> Majority | None:
        """When a leader lost its majority before ``target``, when the next one began; ``None``: nobody tells."""
        left = sorted(self._left(tenure), key=lambda loss: loss.member)
        found = [
            loss for loss in (self._by_followers(tenure, target, left), self._by_itself(tenure)) if loss is not None
        ]
        elapsed = self._group.clocks.elapsed
        found = [loss for loss in found if elapsed(tenure.begin, loss.latest)[1] > 0]
        if not found:
            return None
        first = max(found, key=lambda loss: elapsed(loss.latest, target)[0])
        # What may be one loss is taken for one: the narrowest interval that all of them allow.
        alike = [
            loss
            for loss in found
            if elapsed(loss.earliest, first.latest)[1] >= 0 <= elapsed(first.earliest, loss.latest)[1]
        ]
        earliest = min((loss.earliest for loss in alike), key=lambda moment: elapsed(moment, target)[1])
        if tenure.end_cause == DIED:
            earliest = self._missed_first(tenure, left, earliest, target)
        rounds = next((loss.rounds for loss in found if loss.rounds is not None), None)
        return self._not_before_a_commit(tenure, Majority(earliest, first.latest, tuple(left), rounds), target)

    def _missed_first(self, tenure: Tenure, left: Sequence[Left], earliest: Moment, target: Moment) -> Moment:
        """A dead leader has no majority, however late some follower misses it: the first that did, or its last line."""
        elapsed = self._group.clocks.elapsed
        missed = max([*(member.earliest for member in left), earliest], key=lambda moment: elapsed(moment, target)[1])
        noticed = Moment(missed.at - Timeout.CLOSE_ON_ITS_WAY.us, missed.by, missed.source, missed.event_id)
        last_line = Moment(tenure.end.at, tenure.end.at, tenure.source, tenure.end.event_id)
        return noticed if elapsed(last_line, noticed)[1] > 0 else last_line

    def _by_followers(self, tenure: Tenure, target: Moment, left: Sequence[Left]) -> Majority | None:
        members = self._count(tenure)
        enough = members - majority(members) + 1  # the leader has no majority when so many others have left it
        if len(left) < enough:
            return None
        elapsed = self._group.clocks.elapsed
        latest = sorted((member.latest for member in left), key=lambda moment: -elapsed(moment, target)[0])[enough - 1]
        earliest = sorted((member.earliest for member in left), key=lambda moment: -elapsed(moment, target)[1])[
            enough - 1
        ]
        return Majority(earliest, latest) if elapsed(latest, target)[1] > 0 else None

    def _count(self, tenure: Tenure) -> int:
        """How many members vote: those whose logs show them, or more where the leader's majority says so."""
        members = len(set(self._members.values()))
        needed = self._needed.get((tenure.node, tenure.term))
        return members if needed is None or majority(members) == needed else 2 * needed - 1

    def _left(self, tenure: Tenure) -> Iterator[Left]:
        for source, role in self._followed.get((tenure.node, tenure.term), {}).items():
            end = until(role)
            if source == tenure.source or end is None:
                continue
            name, ended = role.node or source, role.end_cause in ENDED
            heard = [
                lost
                for lost in self._lost.get((source, tenure.node), [])
                if role.since <= lost.since_by and lost.since <= end.by and lost.until is None
            ]
            if ended or not heard:
                at = Moment(max(end.at, role.since), end.by, source, end.event_id)
                # Of a leader that says no farewell it may have heard no more long before it learned of another one.
                unsure = not ended and tenure.end_cause in (DIED, SILENT)
                yield Left(name, Moment(role.since, at.by, source, end.event_id) if unsure else at, at, ended)
            else:
                last = max(heard, key=lambda fact: (fact.since_by, fact.since))
                at = Moment(max(last.since, role.since), max(last.since_by, role.since), source, last.since_event)
                yield Left(name, at, at, ended)

    def _by_itself(self, tenure: Tenure) -> Majority | None:
        """What the leader says of it: the last one that it does not say to have been made good."""
        losses = [
            fact
            for fact in self._group.of(QuorumLost)
            if (fact.source_node, fact.term) == (tenure.source, tenure.term)
            and not fact.regained
            and tenure.begin.at <= fact.since_by
            and fact.since <= tenure.end.by
        ]
        if not losses:
            return None
        last = max(losses, key=lambda fact: (fact.since, fact.since_by))
        return Majority(since(last), since(last), rounds=last.rounds)

    def _not_before_a_commit(self, tenure: Tenure, lost: Majority, target: Moment) -> Majority | None:
        """What a leader committed it committed with a majority, whatever its followers missed."""
        elapsed = self._group.clocks.elapsed
        for grown in self._group.of(Committed):
            if (grown.source_node, grown.term) != (tenure.source, tenure.term):
                continue
            last = Moment(grown.since, grown.since_by, grown.source_node, grown.since_event)
            if elapsed(lost.earliest, last)[0] > 0:
                lost = Majority(last, lost.latest, lost.left, lost.rounds)
            if elapsed(lost.latest, last)[0] > 0:
                return None
        return lost if elapsed(lost.latest, target)[1] > 0 else None
