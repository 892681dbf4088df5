"""Until when a leader had its majority, by its own lines and by those of its followers.

    leader L, term 1   [============ ... end]        it calls itself leader for as long as its time-outs allow
    follower A         [====== last heard]           A hears of it no more, and says so when its own time-out has passed
    follower B         [========== died]
    majority with L    [==========|                  of three voters the second loss takes the majority away

The voters are known from lines, not from whose logs were collected (:mod:`.electorate`). Without such a line a leader
is not reported to have lost its quorum, only that it may have, where too few of the known voters are left.

A leader without its majority can commit nothing, so the time in which nobody could write begins here. It may have a
majority again and lead on, in the same term:

    follower A         [===== last heard]     [===== follows again, the same leader of the same term
    follower B         [======= last heard]      [======
    nobody writes                        |<-->|  of three members as long as both are away
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, pairwise
from operator import attrgetter

from election_replay.election_core.fold.process_runs import SILENCE
from election_replay.election_core.fold.roles import CANDIDATE, DIED, DOWN, ENDED_ITSELF, FOLLOWER, NAMED, STOPPED
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since, until
from election_replay.election_core.judge.led_between import covers
from election_replay.election_core.model.facts import (
    Candidacy,
    Committed,
    ContactLost,
    LastHeard,
    QuietLog,
    QuorumLost,
    Role,
    VotersStated,
)
from election_replay.election_core.model.timing import Timeout

ENDED = frozenset({DIED, STOPPED, ENDED_ITSELF, SILENT})
"""End causes of a role that ended with its process."""

BY_TIMER = frozenset({"kraft"})
"""Protocols whose leader gives up by a timer: after a freeze the timer fires only when the process goes on."""


@dataclass(frozen=True, slots=True)
class FollowerLost:
    """A follower that a leader lost in ``[earliest, latest]``; ``ended``: the follower's process ended."""

    member: str
    earliest: Moment
    latest: Moment
    ended: bool


@dataclass(frozen=True, slots=True)
class QuorumLoss:
    """A leader's loss of its majority, in ``[earliest, latest]``; not ``sure``: unknown voters may have kept it.
    ``left`` are the followers it lost, as far as they are known, and ``rounds`` the heartbeat rounds without a quorum.
    ``closed``: the leader noticed by closed connections, which a frozen process notices late."""

    earliest: Moment
    latest: Moment
    left: tuple[FollowerLost, ...] = ()
    rounds: int | None = None
    sure: bool = True
    closed: bool = False


@dataclass(frozen=True, slots=True)
class FollowerAbsence:
    """A follower that a leader lost, and that followed it ``again`` in the same term."""

    left: FollowerLost
    again: Moment


@dataclass(frozen=True, slots=True)
class Interruption:
    """A time from ``begin`` to ``end`` without a majority, after which the leader led on; its length in us, least and
    most. ``away`` are the followers whose absence took the majority away."""

    begin: Moment
    end: Moment
    least: int
    most: int
    away: tuple[FollowerAbsence, ...]


class LaterTerms:
    """The beginnings of leaderships by term. Make it by ``group.once(LaterTerms)``."""

    def __init__(self, group: Group) -> None:
        self._clocks = group.clocks
        self._terms: dict[str, list[int]] = {}
        self._begins: dict[str, list[Moment]] = {}
        for tenure in sorted(group.tenures, key=lambda tenure: -tenure.term):
            begins, begin = self._begins.setdefault(tenure.source, []), tenure.begin
            if begins and self._clocks.never_set(tenure.source):  # what is after any of them is after the first
                begin = min(begins[-1], begin, key=attrgetter("by"))
            begins.append(begin)
            self._terms.setdefault(tenure.source, []).append(-tenure.term)

    def begun(self, term: int, moment: Moment) -> bool:
        """Return True when a leader of a larger term had surely begun before a moment."""
        return any(
            self._clocks.surely_before(begin, moment)
            for source, terms in self._terms.items()
            for begin in self._of_larger(source, bisect_left(terms, -term))
        )

    def _of_larger(self, source: str, count: int) -> list[Moment]:
        """Return the beginnings to test of a source's first ``count`` tenures: one, or all if its clock was set."""
        return self._begins[source][max(count - 1, 0) if self._clocks.never_set(source) else 0 : count]


def closings(group: Group) -> set[str | None]:
    """Return the ids of the lines about connections that the other side closed, as a process that ends does."""
    return {fact.since_event for fact in group.of(ContactLost) if fact.closed}


def _elections_won(group: Group) -> dict[tuple[str, int | None], list[Candidacy]]:
    won: dict[tuple[str, int | None], list[Candidacy]] = {}
    for fact in group.of(Candidacy):
        if fact.outcome == "won":
            won.setdefault((fact.source_node, fact.term), []).append(fact)
    return won


class QuorumTracker:
    """Until when each leader of a group had its majority; only for protocols in which a majority commits."""

    def __init__(self, group: Group) -> None:
        self._group = group
        self.unsure: set[Tenure] = set()
        """Tenures that may have lost their majority noticeably before they ended, where no line names the voters."""
        self._sources = {role.source_node for role in group.roles}
        self._quiet = {fact.source_node for fact in group.of(QuietLog)}
        self._followed: dict[tuple[str | None, int], dict[str, list[Role]]] = {}
        for role in group.roles:
            reached = role.role == FOLLOWER and role.leader is not None and role.cause != NAMED
            if reached and role.term is not None:
                followers = self._followed.setdefault((role.leader, role.term), {})
                followers.setdefault(role.source_node, []).append(role)
        for role in group.roles:
            if role.role == FOLLOWER and role.term is None and role.leader is not None:
                self._add_returning(role)
        for by_source in self._followed.values():
            for roles in by_source.values():
                roles.sort(key=lambda role: role.since)
        self._lost: dict[tuple[str, str | None], list[LastHeard | ContactLost]] = {}
        losses: list[LastHeard | ContactLost] = [*group.of(LastHeard), *group.of(ContactLost)]
        for lost in losses:
            self._lost.setdefault((lost.source_node, lost.node), []).append(lost)
        closed = [fact for fact in group.of(ContactLost) if fact.closed]
        self._closed = group.once(closings)
        self._closings = ByTime((fact.node, since(fact), since(fact)) for fact in closed)
        self._ended = ByTime(self._deaths())
        self._own_losses: dict[tuple[str, int | None], list[QuorumLost]] = {}
        for loss in group.of(QuorumLost):
            self._own_losses.setdefault((loss.source_node, loss.term), []).append(loss)
        self._committed: dict[tuple[str, int | None], list[Committed | VotersStated]] = {}
        changed = (stated for stated in group.of(VotersStated) if stated.voters is not None)
        commits: list[Committed | VotersStated] = [*group.of(Committed), *changed]
        for grown in commits:
            self._committed.setdefault((grown.source_node, grown.term), []).append(grown)

    def _deaths(self) -> Iterator[tuple[str, Moment, tuple[Moment, Role]]]:
        """Yield (source, time down, (end of the role before it, role DOWN)) for each process that ended."""
        for source in self._sources:
            for last, down in pairwise(self._group.roles_of(source, UNBOUNDED)):
                end = until(last)
                if end is not None and down.role == DOWN:
                    yield source, Moment(down.since, max(end.at, down.since), source), (end, down)

    def _add_returning(self, role: Role) -> None:
        """Add a role without a term to the roles under a leader that the same member followed before. A follower that
        reconnects may print no term; the term is known where its leader led only one at that time."""
        elapsed, begin = self._group.clocks.elapsed, since(role)
        led = {
            tenure.term
            for tenure in self._group.tenures
            if tenure.node == role.leader and elapsed(tenure.begin, begin)[1] > 0 and elapsed(begin, tenure.end)[1] > 0
        }
        before = self._followed.get((role.leader, led.pop()), {}).get(role.source_node) if len(led) == 1 else None
        if before is not None:
            before.append(role)

    def closed(self, moment: Moment) -> bool:
        """Return True when a moment is that of a connection closed by the other side, as a process that ends does."""
        return moment.event_id in self._closed

    def abandoned(self, tenure: Tenure, moment: Moment) -> bool:
        """Return True when, by their own logs, so few members may have followed from a moment on that no majority was
        left. Of a follower with a quiet log whose process ended, the last line does not tell its end."""
        departed = (member for member in self._departed(tenure) if member.latest != tenure.end)
        left = {member.member for member in departed if self._may_have_left_by(member, moment)}
        return self._group.electorates.lost(tenure, tenure.end, left.union(self._apart(tenure, moment)))

    def _apart(self, tenure: Tenure, moment: Moment) -> Iterator[str]:
        """Yield the members that did not follow a leader from a moment to its end, by logs that tell of leaders."""
        elapsed, ended = self._group.clocks.elapsed, Moment(tenure.end.by, tenure.end.by, tenure.source)
        for source in self._sources - {tenure.source}:
            roles = self._group.roles_of(source, UNBOUNDED)
            near = [role for role in roles if (over := until(role)) is None or elapsed(moment, over)[1] >= 0]
            meanwhile = (role for role in near if elapsed(since(role), ended)[1] >= 0)
            shown = near and elapsed(since(near[0]), moment)[0] >= 0 and covers(self._group, source, moment, ended)
            apart = all(role.role in (CANDIDATE, DOWN) or role.leader not in (None, tenure.node) for role in meanwhile)
            if shown and apart and any(role.leader is not None for role in roles):
                yield near[0].node or source

    def _may_have_left_by(self, member: FollowerLost, moment: Moment) -> bool:
        source = member.latest.source
        at = member.latest.by if member.ended and source in self._quiet else member.earliest.at
        return self._group.clocks.elapsed(Moment(at, at, source), moment)[1] >= 0

    def lost(self, tenure: Tenure, target: Moment) -> QuorumLoss | None:
        """Return when a leader lost its majority before ``target``, where the next one begins; ``None``: unknown."""
        votes = self._group.electorates.votes
        left = [member for member in self._departed(tenure) if votes(tenure, member.latest, member.member)]
        left.sort(key=lambda loss: loss.member)
        by_followers = self._by_followers(tenure, target, left)
        found = [loss for loss in (by_followers, self._by_own_log(tenure)) if loss is not None and loss.sure]
        elapsed = self._group.clocks.elapsed
        found = [loss for loss in found if elapsed(tenure.begin, loss.latest)[1] > 0]
        if not found and by_followers is not None and not by_followers.sure:
            if elapsed(by_followers.earliest, tenure.end)[0] > Timeout.MIN_REPORTED.us:
                self.unsure.add(tenure)
            return self._not_before_a_commit(tenure, by_followers, target)
        if not found:
            return None
        first = max(found, key=lambda loss: elapsed(loss.latest, target)[0])
        # Overlapping intervals are treated as one loss and intersected.
        alike = [
            loss
            for loss in found
            if loss is first or elapsed(loss.earliest, first.latest)[1] >= 0 <= elapsed(first.earliest, loss.latest)[1]
        ]
        in_time = [loss for loss in alike if not (loss.closed and self._had_left(left, loss.earliest))] or alike
        earliest = min((loss.earliest for loss in in_time), key=lambda moment: elapsed(moment, target)[1])
        # A leader that counts its rounds knows which one was answered last; later answers did not reach it.
        counted = [loss.earliest for loss in alike if loss.rounds is not None]
        earliest = next((at for at in counted if earliest.at - at.at > Timeout.MIN_REPORTED.us), earliest)
        if self._group.protocol in BY_TIMER:
            earliest = self._earliest_by_followers(tenure, left, earliest, target)
        if tenure.end_cause == DIED:
            earliest = self._after_death(tenure, left, earliest, target)
        told_late = any(loss.closed and self._had_left(left, loss.earliest) for loss in found)
        if told_late and by_followers is not None and elapsed(by_followers.earliest, earliest)[0] > 0:
            earliest = by_followers.earliest  # the leader noticed late: followers may have left before
        if earliest.source == tenure.source and earliest.at < tenure.begin.at:  # no loss before the tenure
            earliest = replace(earliest, at=tenure.begin.at, by=max(earliest.by, tenure.begin.at))
        rounds = next((loss.rounds for loss in found if loss.rounds is not None), None)
        gone = self._lost_before_it_ended(tenure, self._still_voting(tenure, first.latest, left))
        lost = self._not_before_a_commit(tenure, QuorumLoss(earliest, first.latest, gone, rounds), target)
        if lost is not None and elapsed(lost.earliest, lost.latest)[1] < 0:  # the logged loss was regained
            return replace(lost, latest=lost.earliest)
        return lost

    def _still_voting(self, tenure: Tenure, at: Moment, left: Sequence[FollowerLost]) -> tuple[FollowerLost, ...]:
        """Return the lost followers that vote at a moment: those not removed by then, nor looking for a leader before
        theirs began."""
        elapsed, votes = self._group.clocks.elapsed, self._group.electorates.votes
        lost = (gone for gone in left if gone.latest != tenure.end or elapsed(tenure.begin, gone.earliest)[1] >= 0)
        return tuple(gone for gone in lost if votes(tenure, at, gone.member))

    def _lost_before_it_ended(self, tenure: Tenure, left: tuple[FollowerLost, ...]) -> tuple[FollowerLost, ...]:
        """Return the followers that had surely left before their leader's end, if those took its majority away.
        Otherwise return those that may have left before its end."""
        elapsed = self._group.clocks.elapsed
        before_end = tuple(member for member in left if elapsed(member.latest, tenure.end)[0] >= 0)
        took_it = self._group.electorates.lost(tenure, tenure.end, {member.member for member in before_end})
        return before_end if took_it else tuple(m for m in left if elapsed(m.earliest, tenure.end)[1] >= 0)

    def _earliest_by_followers(
        self, tenure: Tenure, left: Sequence[FollowerLost], at: Moment, target: Moment
    ) -> Moment:
        """Return when followers that may have left took the majority away, if that was surely before ``at``; else
        ``at``. ``at`` is when the leader noticed by its timer, which does not fire while its process is frozen."""
        elapsed, may_be_lost = self._group.clocks.elapsed, self._group.electorates.may_be_lost
        by_earliest = sorted(left, key=lambda member: -elapsed(member.earliest, target)[1])
        first = next(
            (gone for gone, names in _departures(by_earliest, "earliest") if may_be_lost(tenure, gone, names)), None
        )
        earlier = first is not None and elapsed(tenure.begin, first)[0] > 0 and elapsed(first, at)[0] > 0
        return first if first is not None and earlier else at

    def _had_left(self, left: Sequence[FollowerLost], closed: Moment) -> bool:
        """Return True when a follower that ran on had surely lost its leader before a connection was closed."""
        return any(not member.ended and self._group.clocks.elapsed(member.latest, closed)[0] > 0 for member in left)

    def _after_death(self, tenure: Tenure, left: Sequence[FollowerLost], earliest: Moment, target: Moment) -> Moment:
        """Return the earliest time at which a leader that died had lost its majority. That is when the first follower
        missed it, or its last line if that is later: a dead leader has no majority, however late the others miss it.
        Where nobody saw its connections close, it may have been cut off first: then ``earliest``."""
        elapsed = self._group.clocks.elapsed
        missed = max([*(member.earliest for member in left), earliest], key=lambda moment: elapsed(moment, target)[1])
        noticed = Moment(missed.at - Timeout.CLOSE_ON_ITS_WAY.us, missed.by, missed.source, missed.event_id)
        last_line = Moment(tenure.end.at, tenure.end.at, tenure.source, tenure.end.event_id)
        if elapsed(last_line, noticed)[1] > 0:
            return noticed
        return last_line if self._heard_to_its_end(tenure, last_line, target) else earliest

    def _heard_to_its_end(self, tenure: Tenure, last_line: Moment, target: Moment) -> bool:
        """Return True when a follower saw the connections of a leader close at its end, or no log of the group tells of
        that. Otherwise the leader may have been cut off, and have lost its majority, before it died."""
        elapsed, widest = self._group.clocks.elapsed, self._group.clocks.widest
        near = self._closings.between(tenure.node, last_line.at - widest, target.by + widest)
        closings = (Moment(closed.by, closed.by, closed.source) for closed in near)
        return not self._closed or any(
            elapsed(last_line, closing)[1] > 0 and elapsed(closing, target)[1] > 0 for closing in closings
        )

    def _by_followers(self, tenure: Tenure, target: Moment, left: Sequence[FollowerLost]) -> QuorumLoss | None:
        """Return when losing followers cost a leader its majority; ``None``: it did not, or not before ``target``."""
        elapsed = self._group.clocks.elapsed
        lost, may_be_lost = self._group.electorates.lost, self._group.electorates.may_be_lost
        by_latest = sorted(left, key=lambda member: -elapsed(member.latest, target)[0])
        latest = next((at for at, gone in _departures(by_latest, "latest") if lost(tenure, at, gone)), None)
        by_earliest = sorted(left, key=lambda member: -elapsed(member.earliest, target)[1])
        earliest = next(
            (at for at, gone in _departures(by_earliest, "earliest") if may_be_lost(tenure, at, gone)), None
        )
        if earliest is None:
            return None
        if latest is None:
            return QuorumLoss(earliest, tenure.end, self._still_voting(tenure, tenure.end, left), sure=False)
        if elapsed(earliest, latest)[1] < 0:  # near a step of a clock their order is unknown
            return None
        return QuorumLoss(earliest, latest) if elapsed(latest, target)[1] > 0 else None

    def _departed(self, tenure: Tenure) -> Iterator[FollowerLost]:
        """Yield the members that no longer followed a leader. These are followers, at the end of their last role under
        it; members that were down when it began; and members whose process ended while it led and did not return before
        its end."""
        elapsed = self._group.clocks.elapsed
        of_term = self._followed.get((tenure.node, tenure.term), {})  # it may have led the term again later
        followed = {source: roles for source, roles in of_term.items() if elapsed(since(roles[0]), tenure.end)[1] > 0}
        for source, roles in followed.items():
            left = None if source == tenure.source else self._left_for_good(roles, tenure)
            if left is not None:
                yield left
        for source in sorted(self._sources - followed.keys() - {tenure.source}):
            before = self._group.roles_of(source, tenure.begin.by)
            came = any(
                role.leader == tenure.node for role in self._group.roles_of(source, tenure.end.by)[len(before) :]
            )
            if before and before[-1].role == DOWN and not came and not self._supported(tenure, before[-1]):
                yield FollowerLost(before[-1].node or source, since(before[-1]), since(before[-1]), ended=True)
            elif before:
                ended = [*self._ended_meanwhile(source, tenure)]
                yield from ended
                if not ended and not came and before[-1].role == CANDIDATE:  # or it followed without a line of it
                    yield FollowerLost(before[-1].node or source, since(before[-1]), tenure.end, ended=False)

    def _ended_meanwhile(self, source: str, tenure: Tenure) -> Iterator[FollowerLost]:
        """Yield a member whose process ended while the leader led: lines about its following may be lost."""
        elapsed, widest = self._group.clocks.elapsed, self._group.clocks.widest
        for end, down in self._ended.between(source, tenure.begin.by - widest, tenure.end.by):
            again = until(down)
            if elapsed(tenure.begin, end)[0] > 0 and (again is None or elapsed(tenure.end, again)[0] > 0):
                name = down.node or source
                yield FollowerLost(name, end, self._closed_after(name, end) or end, ended=True)

    def _closed_after(self, member: str, end: Moment) -> Moment | None:
        """Return when a member's last connection was closed between its last line and next start, or ``None``."""
        surely_before, last_line = self._group.clocks.surely_before, Moment(end.at, end.at, end.source)
        started = Moment(end.by, end.by, end.source)
        widest = self._group.clocks.widest
        closed = self._closings.between(member, end.at - widest, end.by + widest)
        return max((at for at in closed if surely_before(last_line, at) and surely_before(at, started)), default=None)

    def _left_for_good(self, roles: Sequence[Role], tenure: Tenure) -> FollowerLost | None:
        """Return how a leader lost a member for the last time; ``None``: it did not. Where doubted clocks leave open
        whether the leader still led when the member followed again, or the member's log ends before the leader did, it
        may have followed to the leader's end."""
        last = self._last_followed(roles, tenure)
        left, placed = self._left_in(last, tenure), self._group.clocks.placed
        again = [role for role in roles[roles.index(last) + 1 :] if not all(map(placed, (since(role), tenure.end)))]
        if left is None:
            return left
        may_follow = [since(role) for role in again]
        if not left.ended and self._group.roles_of(last.source_node, UNBOUNDED)[-1].end_cause == SILENT:
            may_follow.append(self._group.written[last.source_node])
        if any(self._group.clocks.elapsed(moment, tenure.end)[1] > 0 for moment in may_follow):
            return replace(left, latest=tenure.end)
        return left

    def _last_followed(self, roles: Sequence[Role], tenure: Tenure) -> Role:
        """Return the last role in which a member followed a leader that still led, or its first role under it."""
        return next((role for role in reversed(roles) if self._led_on(tenure, role)), roles[0])

    def _left_in(self, role: Role, tenure: Tenure) -> FollowerLost | None:
        """Return how a leader lost the member of a follower's role; ``None``: the role has no end."""
        end, source = until(role), role.source_node
        if end is None:
            return None
        name, ended = role.node or source, role.end_cause in ENDED
        heard = [
            lost
            for lost in self._lost.get((source, tenure.node), [])
            if role.since <= lost.since_by and lost.since <= end.by and lost.until is None
        ]
        if not ended and heard:
            under = self._followed.get((tenure.node, tenure.term), {}).get(source, ())
            again = next((each.since for each in under if each.since > role.since), UNBOUNDED)
            before = [fact for fact in heard if fact.since < again]
            last = max(before or heard, key=lambda fact: (fact.since_by, fact.since))
            at = Moment(max(last.since, role.since), max(last.since_by, role.since), source, last.since_event)
            return FollowerLost(name, at, at, ended)
        at = Moment(max(end.at, role.since), end.by, source, end.event_id)
        # A leader that ends without a line may have been gone long before the member learned of another one.
        unsure = not ended and tenure.end_cause in (DIED, SILENT)
        return FollowerLost(name, Moment(role.since, at.by, source, end.event_id) if unsure else at, at, ended)

    def interruptions(self, tenure: Tenure) -> Iterator[Interruption]:
        """Yield the times in which a leader had surely lost its majority, and had it again later in the same tenure."""
        absences = {
            source: list(self._absences(roles, tenure))
            for source, roles in self._followed.get((tenure.node, tenure.term), {}).items()
            if source != tenure.source
        }
        for away in self._down(tenure):
            absences.setdefault(away.left.latest.source, []).insert(0, away)
        seen = set[tuple[FollowerAbsence, ...]]()
        for of_member in absences.values():
            for first in of_member:
                with_it = tuple(sorted(self._concurrent_absences(first, absences), key=lambda away: away.left.member))
                if with_it in seen:
                    continue
                seen.add(with_it)
                found = self._interruption(tenure, with_it)
                if found is not None:
                    yield found

    def _down(self, tenure: Tenure) -> Iterator[FollowerAbsence]:
        """Yield the members that were down when a leader began, until their next start."""
        for source in sorted(self._sources - {tenure.source}):
            before = self._group.roles_of(source, tenure.begin.by)
            if before and before[-1].role == DOWN and not self._supported(tenure, before[-1]):
                down = since(before[-1])
                if source not in self._quiet:  # while its process runs it has a line within that time
                    down = replace(down, by=min(down.by, down.at + SILENCE))
                left = FollowerLost(before[-1].node or source, down, down, ended=True)
                yield FollowerAbsence(left, until(before[-1]) or tenure.end)

    def _supported(self, tenure: Tenure, down: Role) -> bool:
        """Return True when a leader was elected by a member that would be down then: that one's lines are of another
        process, or its clock was set."""
        elections = self._group.once(_elections_won).get((tenure.source, tenure.term), ())
        won = [fact for fact in elections if not self._group.clocks.surely_before(tenure.begin, since(fact))]
        return bool(won) and (down.node or down.source_node) in won[-1].voters

    def _absences(self, roles: Sequence[Role], tenure: Tenure) -> Iterator[FollowerAbsence]:
        """Yield the times in which a member did not follow, as far as the leader surely led on after them."""
        for role, following in pairwise(roles):
            left = self._left_in(role, tenure)
            before_it = left is None or self._group.clocks.surely_before(left.latest, tenure.begin)
            if left is not None and not before_it and self._led_on(tenure, following):
                yield FollowerAbsence(left, since(following))

    def _led_on(self, tenure: Tenure, following: Role) -> bool:
        """Return True when a leader still led when a member followed it again; it may only have got a late heartbeat.

        The leader led on if its own log shows it, or if the member heard of it for a while from then on. A member that
        left it only after its end followed in vain. What was heard of a leader that died was sent before its death.
        Once a larger term has a leader, this one no longer has a majority.
        """
        if self._group.once(LaterTerms).begun(tenure.term, since(following)):
            return False
        if tenure.open or self._group.clocks.surely_before(since(following), tenure.end):
            return True
        if following.until is None and tenure.end_cause == SILENT:  # the leader's log stops, the follower's goes on
            written = self._group.written.get(following.source_node)
            return written is not None and written.at - following.since_by >= Timeout.LATE_HEARTBEAT.us
        if tenure.end_cause in ENDED:
            over = Moment(tenure.end.by, tenure.end.by, tenure.source)
            return self._group.clocks.elapsed(since(following), over)[1] >= 0
        left = self._left_in(following, tenure)
        if left is None:
            return False
        before_it, _ = self._group.clocks.elapsed(tenure.end, left.earliest)
        if before_it > 0 or before_it <= -UNBOUNDED:  # across a step the order is unknown
            return False
        return left.earliest.at - following.since_by >= Timeout.LATE_HEARTBEAT.us

    def _concurrent_absences(
        self, away: FollowerAbsence, absences: Mapping[str, Sequence[FollowerAbsence]]
    ) -> Iterator[FollowerAbsence]:
        """Yield one absence of each member that surely overlaps ``away``."""
        elapsed, widest = self._group.clocks.elapsed, self._group.clocks.widest
        for of_member in absences.values():
            first = bisect_left(of_member, away.left.latest.at - widest, key=attrgetter("again.by"))
            last = bisect_right(of_member, away.again.by + widest, key=attrgetter("left.latest.at"))
            at_once = (
                absence
                for absence in of_member[first:last]
                if elapsed(absence.left.latest, away.again)[0] > 0 and elapsed(away.left.latest, absence.again)[0] > 0
            )
            found = min(at_once, key=lambda absence: absence.again.at, default=None)
            if found is not None:
                yield found

    def _smallest_blocking_sets(
        self, tenure: Tenure, away: Sequence[FollowerAbsence]
    ) -> list[tuple[FollowerAbsence, ...]]:
        """Return the smallest sets of absent members without which the leader surely had no majority."""
        for count in range(1, len(away) + 1):
            enough = [some for some in combinations(away, count) if self._no_majority_without(tenure, some)]
            if enough:
                return enough
        return []

    def _no_majority_without(self, tenure: Tenure, away: Sequence[FollowerAbsence]) -> bool:
        last = max(
            away, key=lambda absence: self._group.clocks.elapsed(tenure.begin, absence.left.latest)[0]
        ).left.latest
        return self._group.electorates.lost(tenure, last, {absence.left.member for absence in away})

    def _interruption(self, tenure: Tenure, away: Sequence[FollowerAbsence]) -> Interruption | None:
        """Return the time in which enough members were away: from the last that left to the first that returned."""
        elapsed = self._group.clocks.elapsed
        best: Interruption | None = None
        for some in self._smallest_blocking_sets(tenure, away):
            pairs = [(absence, other) for absence in some for other in some]
            least = min(elapsed(absence.left.latest, other.again)[0] for absence, other in pairs)
            most = min(elapsed(absence.left.earliest, other.again)[1] for absence, other in pairs)
            begin = min(some, key=lambda absence: elapsed(absence.left.earliest, tenure.end)[0]).left.earliest
            end = max(some, key=lambda absence: elapsed(absence.again, tenure.end)[0]).again
            if least > 0 and (best is None or least > best.least):
                best = Interruption(begin, end, least, most, tuple(some))
        return best if best is not None and not self._committed_in(tenure, best) else None

    def _committed_in(self, tenure: Tenure, interruption: Interruption) -> bool:
        """Return True when the leader surely committed something in an interruption: then it had a majority."""
        surely_before = self._group.clocks.surely_before
        commits = map(since, self._commits(tenure))
        return any(
            surely_before(interruption.begin, commit) and surely_before(commit, interruption.end) for commit in commits
        )

    def _commits(self, tenure: Tenure) -> Iterator[Committed | VotersStated]:
        """Yield the commits in a leader's log; a change of members takes effect when it is committed, so it is one."""
        yield from self._committed.get((tenure.source, tenure.term), ())
        stated = self._committed.get((tenure.source, None), [])
        first = bisect_left(stated, tenure.begin.by, key=attrgetter("since"))
        yield from stated[first : bisect_right(stated, tenure.end.at, key=attrgetter("since"))]

    def _by_own_log(self, tenure: Tenure) -> QuorumLoss | None:
        """Return the last loss of its majority that a leader logged and did not log as regained; else ``None``. A
        leader that ended with its process logs no return: a follower that came back later may have restored the
        majority."""
        losses = [
            fact
            for fact in self._own_losses.get((tenure.source, tenure.term), [])
            if not fact.regained
            and tenure.begin.at <= fact.since_by
            and (fact.since if fact.until is None else fact.until) <= tenure.end.by
        ]
        if not losses:
            return None
        last = max(losses, key=lambda fact: (fact.since, fact.since_by))
        following = self._followed.get((tenure.node, tenure.term), {}).values() if tenure.end_cause in ENDED else ()
        if any(self._group.clocks.surely_before(since(last), since(roles[-1])) for roles in following):
            return None
        return QuorumLoss(since(last), since(last), rounds=last.rounds, closed=last.closed)

    def _not_before_a_commit(self, tenure: Tenure, lost: QuorumLoss, target: Moment) -> QuorumLoss | None:
        """Return the loss, moved behind the leader's last commit; ``None``: a commit excludes it."""
        elapsed = self._group.clocks.elapsed
        for grown in self._commits(tenure):
            if grown.since_by < tenure.begin.at or grown.since > tenure.end.by:
                continue  # of another leadership of the same term
            # A commit logged around a freeze was made before the freeze.
            asleep = (gap for gap in tenure.silences if grown.since <= gap.begin.by and gap.end.at <= grown.since_by)
            by = min((gap.begin.by for gap in asleep), default=grown.since_by)
            last = Moment(grown.since, by, grown.source_node, grown.since_event)
            if elapsed(lost.latest, last)[0] > 0:
                return None
            if elapsed(lost.earliest, last)[0] > 0:
                lost = replace(lost, earliest=last)
            if elapsed(last, target)[0] < elapsed(lost.latest, target)[0]:
                lost = replace(lost, latest=last)
        return lost if elapsed(lost.latest, target)[1] > 0 else None


def _departures(left: Sequence[FollowerLost], bound: str) -> Iterator[tuple[Moment, frozenset[str]]]:
    """Yield, in order, the ``earliest`` or ``latest`` time of each loss and the members lost up to it."""
    gone = accumulate(left, lambda before, member: before | {member.member}, initial=frozenset[str]())
    yield from zip((getattr(member, bound) for member in left), list(gone)[1:], strict=True)
