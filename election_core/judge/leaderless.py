"""``LEADERLESS``: members were up, a leader had existed before, and nobody led who could write.

    leader, term 1   [===== majority lost ..... end]           without a majority it cannot write
    leader, term 2                           [begin == serves  elected; its process serves a little later
    nobody leads           |<-- least .. most -->|             no gap where another leader covers it

A gap lasts from the effective end of all earlier tenures to the beginning of the next one. The effective end is what
the leader logs, or when others heard of it last; in a protocol in which a majority commits it is the loss of that
majority (:mod:`.quorum_contact`), if that came first.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from operator import attrgetter, itemgetter

from election_replay.election_core.fold.process_runs import SILENCE
from election_replay.election_core.fold.roles import (
    CANDIDATE,
    DIED,
    FOLLOWER,
    HIGHER_NODE,
    PREFERRED,
    REMOVED,
    STOPPED,
    TRANSFER,
)
from election_replay.election_core.judge.alive_times import AliveTimes
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_replay.election_core.judge.fates import BY_MAJORITY, Fates, following_of, who_toppled
from election_replay.election_core.judge.group import SILENT, Group, Tenure, since, until
from election_replay.election_core.judge.led_between import (
    closed_after,
    followed_in_vain,
    nobody_led,
    silent_between,
    tenures_in_order,
)
from election_replay.election_core.judge.loss_words import away, how_ended, lost_before
from election_replay.election_core.judge.outages import change_of, leaderless_outage, severity_of
from election_replay.election_core.judge.quorum_contact import FollowerLost, QuorumLoss, QuorumTracker, closings
from election_replay.election_core.judge.serving import Service
from election_replay.election_core.judge.wording import between, number_of, seconds
from election_replay.election_core.model.catalogue import INFO
from election_replay.election_core.model.facts import Alive, Role
from election_replay.election_core.model.measures import Fate, Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import SECOND, Timeout

MIN_REPORTED = Timeout.MIN_REPORTED.us
MAX_INFO_GAP = Timeout.MAX_INFO_GAP.us
"""A gap whose least length is shorter than this is reported as information, not as an alarm."""
PLANNED = frozenset({STOPPED, TRANSFER, PREFERRED, REMOVED})
"""End causes of a leadership that somebody ended on purpose."""
GROUP_SHUTDOWN = Timeout.GROUP_SHUTDOWN.us
"""Members that stop within this many us of their leader were shut down together."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A time without a leader, from the effective end of the last tenure; ``least`` and ``most`` are its length in us.

    ``unserved`` are the tenures elected in it that never served, each with the begin of its role change. ``missed``:
    its begin is known only from a follower that no longer heard of the leader. ``all_down``: no member was up in it
    long enough to be noticed, as after a power loss.
    """

    before: Tenure
    after: Tenure | None
    begin: Moment
    end: Moment
    least: int
    most: int
    planned: bool
    evidence: tuple[str, ...]
    lost: QuorumLoss | None = None
    unserved: tuple[tuple[Tenure, Moment | None], ...] = ()
    missed: bool = False
    all_down: bool = False


NoIncident = Callable[[Gap], bool]
"""Returns True for a gap that is information and no alarm, by its cause in the protocol's logs."""
Unseen = Callable[[Group, Moment, Moment], bool]
"""Returns True when somebody may have led between two moments although no log says so with a term."""
Inferred = Callable[[Tenure], bool]
"""Returns True when no line ends a tenure: its end follows from what others print."""


def gaps(
    group: Group,
    heard: Iterable[tuple[str, Moment]],
    unseen: Unseen | None = None,
    majorities: QuorumTracker | None = None,
    inferred: Inferred | None = None,
    *,
    fenced: bool = False,
) -> Iterator[Gap]:
    """Yield the times without a leader after a group's first leader.

    ``heard`` are pairs of a member and the moment at which another one heard of it for the last time: they bound the
    end of a leader that died or fell silent. ``majorities`` is given where a leader without a majority cannot commit. A
    gap behind an ``inferred`` end is dropped when it may be empty and is no longer than the uncertainty of that end.
    ``fenced``: a tenure no longer counts once a larger term was elected, whatever its own log says.
    """
    service = Service(group)
    # Tenures are ordered by term, since clocks of different machines do not order them.
    tenures = tenures_in_order(group)
    begun = [not n or service.begun(tenure) is not None for n, tenure in enumerate(tenures)]
    ordered = [tenure for tenure, serves in zip(tenures, begun, strict=True) if serves]
    unserved = [tenure for tenure, serves in zip(tenures, begun, strict=True) if not serves]
    served = group.with_tenures(ordered)
    ends, without_log, alive_times = (
        _Ends(served, heard, majorities, service),
        _led_without_log(group),
        AliveTimes(group),
    )
    for number, before in enumerate(ordered, 1):
        after = ordered[number] if number < len(ordered) else None
        target, soonest = ends.target, ends.soonest
        so_far = ends.so_far(before)
        in_force = [end for end in so_far if not fenced or not is_larger(before.term, end.tenure.term)]
        gap = _gap(served, in_force, (after, target, soonest), without_log, alive_times)
        if gap is not None:
            gap = replace(gap, unserved=tuple(_never_served(group, gap, unserved, service)))
        if gap is not None and majorities is not None and (gap.missed or not _surely_nobody_led(group, gap)):
            gap = replace(gap, least=0) if gap.most >= MAX_INFO_GAP else None
        may_be_none = gap is None or (gap.least <= 0 and gap.most <= Timeout.BLURRED_END.us + gap.end.width)
        if gap is None or (inferred is not None and may_be_none and inferred(gap.before)):
            continue
        if number == 1 and service.begun(before) is None and gap.before == before:
            gap = _since_its_election(group, gap, service)
        if gap.all_down or unseen is None or not unseen(group, gap.begin, gap.end):
            yield gap
    yield from _first_never_serves(group, ordered, service)


def _since_its_election(group: Group, gap: Gap, service: Service) -> Gap:
    """Return the gap behind the first leader of a group that never served: it may have begun at its election."""
    first = gap.before
    unserved = ((first, service.tried(first)), *gap.unserved)
    return replace(gap, begin=first.begin, most=group.clocks.elapsed(first.begin, gap.end)[1], unserved=unserved)


def _first_never_serves(group: Group, ordered: Sequence[Tenure], service: Service) -> Iterator[Gap]:
    """Yield the gap of a group whose only leader led to the end of the logs and, by its log, never served."""
    if len(ordered) == 1 and ordered[0].open and service.begun(ordered[0]) is None:
        first = ordered[0]
        least, most = group.clocks.elapsed(first.begin, group.end)
        if least >= Timeout.FIRST_ELECTION.us:
            never = ((first, service.tried(first)),)
            yield Gap(first, None, first.begin, group.end, least, most, False, first.evidence, unserved=never)


def _never_served(
    group: Group, gap: Gap, unserved: Sequence[Tenure], service: Service
) -> Iterator[tuple[Tenure, Moment | None]]:
    """Yield the tenures of ``unserved`` that may have begun in the gap, each with the begin of its role change."""
    elapsed = group.clocks.elapsed
    for tenure in unserved:
        if elapsed(gap.begin, tenure.begin)[1] > 0 and elapsed(tenure.begin, gap.end)[1] > 0:
            yield tenure, service.tried(tenure)


@dataclass(frozen=True, slots=True)
class _End:
    """The effective end of a tenure, in ``[earliest, latest]``. ``lost``: the loss of the majority that ended it, or
    may have where that is not ``sure``. ``missed``: it is known from a follower that no longer heard of the leader;
    others, whose logs may be missing, may have followed it longer."""

    earliest: Moment
    latest: Moment
    tenure: Tenure
    lost: QuorumLoss | None = None
    missed: bool = False


class _Ends:
    """The effective ends of tenures that can still bound a gap, asked for one tenure after the other. Of the tenures
    that ended long before everything that follows, on any clock, only the last on each clock can."""

    def __init__(
        self,
        group: Group,
        heard: Iterable[tuple[str, Moment]],
        majorities: QuorumTracker | None,
        service: Service,
    ) -> None:
        self._group = group
        self._majorities = majorities
        self._heard = ByTime((node, moment, moment) for node, moment in heard)
        self._targets = [*(service.begun(tenure) or tenure.begin for tenure in group.tenures[1:]), group.end]
        self._soonest = list(accumulate(reversed(self._targets), _sooner))[::-1]
        self._number = 0
        self._pending: list[tuple[int, Tenure]] = []
        self._latest: dict[str, tuple[int, int, _End]] = {}
        self._earliest: dict[str, tuple[int, int, _End]] = {}

    @property
    def target(self) -> Moment:
        """The beginning of the tenure after the one that :meth:`so_far` gets next, or the end of the group's logs."""
        return self._targets[self._number]

    @property
    def soonest(self) -> Moment:
        """The beginning that may be the first of all that come after the tenure that :meth:`so_far` gets next."""
        return self._soonest[self._number]

    def so_far(self, tenure: Tenure) -> list[_End]:
        """Return the effective ends up to ``tenure``, in order, as seen from the beginning of the next one."""
        target, soonest = self.target, self.soonest.at
        self._pending.append((self._number, tenure))
        self._number += 1
        ends, pending = dict[int, _End](), list[tuple[int, Tenure]]()
        for number, earlier in self._pending:
            end = self._without_majority(_effective_end(self._group, earlier, target, self._heard), target)
            if self._majorities is not None:
                end = replace(end, latest=closed_after(self._group, earlier, target, self._heard) or end.latest)
            if number < self._number - 1 and self._final_after(earlier) < soonest:
                self._finalize(number, end)
            else:
                pending.append((number, earlier))
                ends[number] = end
        self._pending = pending
        ends.update((number, end) for _, number, end in (*self._latest.values(), *self._earliest.values()))
        return [ends[number] for number in sorted(ends)]

    def _without_majority(self, end: _End, target: Moment) -> _End:
        """Return the end of a tenure, or the loss of its majority where that came first."""
        if self._majorities is None or (end.tenure.end_cause in PLANNED and not end.missed):
            return end
        if end.tenure.end_cause == DIED and self._missed(end):  # whoever followed longer did so until it died
            over = end.tenure.end
            end = replace(end, latest=Moment(over.by, over.by, over.source), missed=False)
        lost, elapsed = self._majorities.lost(end.tenure, target), self._group.clocks.elapsed
        if end.tenure.end_cause in PLANNED:  # while it stops it leads on until its followers miss it
            left = lost is not None and lost.sure and elapsed(lost.latest, end.tenure.end)[1] > 0
            return _End(end.earliest, lost.latest if lost is not None and left else end.tenure.end, end.tenure)
        if lost is not None and not lost.sure:
            sooner = elapsed(lost.earliest, target)[1] > elapsed(end.earliest, target)[1]
            end = replace(end, missed=self._missed(end))
            return replace(end, earliest=lost.earliest, lost=lost) if sooner else end
        if lost is None or (elapsed(lost.latest, end.latest)[1] <= 0 and not self._missed(end)):
            return replace(end, missed=self._missed(end))
        said_itself = end.tenure.end_cause not in (None, SILENT, DIED) and end.latest == end.tenure.end
        one_loss = elapsed(end.earliest, lost.latest)[1] >= 0 and elapsed(lost.earliest, end.latest)[1] >= 0
        later = elapsed(end.earliest, target)[1] < elapsed(lost.earliest, target)[1]
        earliest = end.earliest if one_loss and later and not said_itself else lost.earliest
        missed = self._missed(end) or (end.missed and end.tenure.end_cause in (None, SILENT))
        known = [lost.latest] if missed else [lost.latest, end.latest]
        latest = max(known, key=lambda moment: elapsed(moment, target)[0])
        return _End(earliest, latest, end.tenure, lost)

    def _missed(self, end: _End) -> bool:
        """Return True when only some followers missed a leader, and members without logs may have followed longer."""
        if not end.missed or self._majorities is None:
            return False
        if end.tenure.end_cause == DIED and self._majorities.closed(end.latest):
            return False
        return not self._majorities.abandoned(end.tenure, end.latest)

    def _final_after(self, tenure: Tenure) -> float:
        """Return the time in us, on any clock, after which later tenures no longer change the effective end."""
        if tenure.end_cause in (None, SILENT):
            return inf
        widest = self._group.clocks.widest
        return max([tenure.end.by + 2 * widest, *(log_gap.end.by + widest for log_gap in tenure.silences)])

    def _finalize(self, number: int, end: _End) -> None:
        for final, source, time in (
            (self._latest, end.latest.source, end.latest.by),
            (self._earliest, end.earliest.source, end.earliest.at),
        ):
            before = final.get(source)
            if before is None or (time, number) > before[:2]:
                final[source] = (time, number, end)


def _sooner(first: Moment, second: Moment) -> Moment:
    return first if first.at < second.at else second


def _gap(
    group: Group,
    ends: Sequence[_End],
    following: tuple[Tenure | None, Moment, Moment],
    without_log: "_LeadersWithoutLog",
    alive_times: AliveTimes,
) -> Gap | None:
    """Return the gap between the ends and what follows: the next tenure and when it served, or the end of the logs, and
    the beginning that may be the first, where clocks leave the order of tenures open."""
    after, target, soonest = following
    if after is None and any(end.tenure.open for end in ends):
        return None
    # The gap is what no earlier tenure covers: the minimum over all of them.
    least = min(group.clocks.elapsed(end.latest, target)[0] for end in ends)
    most = min(group.clocks.elapsed(end.earliest, target)[1] for end in ends)
    soonest_first = (group.clocks.elapsed(end.latest, soonest)[0] for end in ends)
    least = min(least, most, *soonest_first)  # a leader that was missed before its last line led until that line
    uncertain = any(end.lost is not None or end.tenure.end_cause in (DIED, SILENT) for end in ends[-1:])
    end = min(reversed(ends), key=lambda e: group.clocks.elapsed(e.latest, target)[0])
    if end.lost is None or all(left.ended or left.latest.source == target.source for left in end.lost.left):
        least -= silent_between(group, end.latest, target)
    if _in_doubt(group.clocks, end, target):
        least, uncertain = min(least, 0), True
    if least < MIN_REPORTED and not (uncertain and after is not None and most >= MAX_INFO_GAP):
        return None
    # A stale leader that stepped down for one already elected creates no gap.
    before = end.tenure if ends[-1].tenure.end_cause == HIGHER_NODE else ends[-1].tenure
    begin, lost = end.earliest, end.lost if end.tenure is before else None
    if without_log.meanwhile(before, target):
        return None
    last_sign = Moment(begin.at, begin.at, begin.source)
    open_from = end.latest if least >= MIN_REPORTED else last_sign
    all_down = not alive_times.somebody_up(open_from, target)
    if all_down and (after is None or before.end_cause != DIED or not alive_times.all_started_after(last_sign)):
        return None
    if after is None and _shut_down_together(group, before, begin):
        return None
    left = [member.latest.event_id for member in lost.left] if lost else []
    begins = [after.begin.event_id, target.event_id] if after else []
    ids = (*before.evidence, end.latest.event_id, *left, *begins)
    planned = before.end_cause in PLANNED
    evidence = tuple(dict.fromkeys(e for e in ids if e))
    return Gap(before, after, begin, target, least, most, planned, evidence, lost, missed=end.missed, all_down=all_down)


def _in_doubt(clocks: Clocks, end: _End, target: Moment) -> bool:
    """Return True when doubted clocks leave open how long after an end the target was, or when either of them was."""
    known = end.latest.source == target.source or all(map(clocks.placed, (end.latest, target)))
    return not known or not any(map(clocks.placed, (end.earliest, target)))


def _effective_end(group: Group, tenure: Tenure, target: Moment, heard: ByTime[Moment]) -> _End:
    """Return when a tenure ceased to matter for ``target``: its end, or the log gap in which it was replaced. Where the
    leader's log just stops and nobody missed the leader then, only its log ended: it may have led on."""
    clocks = group.clocks
    end = tenure.end
    for log_gap in tenure.silences:
        blurred = max(log_gap.end.width, target.width)
        if clocks.elapsed(log_gap.begin, target)[0] > 0 and clocks.elapsed(target, log_gap.end)[0] > -blurred:
            end = Moment(log_gap.begin.at, (log_gap.begin if log_gap.noticed else log_gap.end).by, log_gap.begin.source)
    log_stops = end is tenure.end and tenure.end_cause in (None, SILENT)
    said_itself = end is tenure.end and tenure.end_cause not in (None, SILENT, DIED, STOPPED)
    if said_itself or (not log_stops and end.by - end.at <= Timeout.BLURRED_END.us):
        return _End(end, end, tenure)
    widest = clocks.widest
    near = heard.between(
        tenure.node, end.at - Timeout.LAST_HEARTBEAT.us - widest, UNBOUNDED if log_stops else end.by + widest
    )
    late = -Timeout.LAST_HEARTBEAT.us
    relevant = [m for m in near if clocks.elapsed(end, m)[1] > late and clocks.elapsed(m, target)[1] > 0]
    # Near a step of its clock they may have heard of an earlier tenure.
    if tenure.begin.width > Timeout.BLURRED_END.us:
        relevant = [moment for moment in relevant if clocks.elapsed(tenure.begin, moment)[0] > 0]
    if not log_stops:  # what was heard after the end came from a later process run
        relevant = [moment for moment in relevant if not clocks.surely_before(end, moment)]
    over = target if log_stops else Moment(end.by, end.by, end.source)
    relevant = [moment for moment in relevant if not _followed_again(group, tenure, moment, over)]
    if log_stops and not (relevant and _missed_when_its_log_stops(clocks, end, near)):
        return _End(end, target, tenure)
    # A member that lost the leader surely before it, or another one, heard of it again was only cut off.
    still_heard = [word for word in relevant if not any(clocks.surely_before(word, other) for other in relevant)]
    # What may have been heard after the end, from a later process run, bounds nothing.
    bounds = [m for m in still_heard if log_stops or not clocks.surely_before(end, Moment(m.by, m.by, m.source))]
    # Near a step a clock proves nothing: that follower may have heard of the leader later than the others.
    by_majority = group.protocol in BY_MAJORITY
    closed = [m for m in bounds if by_majority and tenure.end_cause == DIED and m.event_id in group.once(closings)]
    words = closed or {word.source: word for word in sorted(bounds, key=lambda m: (m.at, m.by))}.values()
    latest = min(words, key=lambda m: (clocks.near_step(m), m.by, m.source), default=end)
    around = (m for m in still_heard if clocks.near_step(m) and by_majority)
    if doubtful := next((m for m in around if clocks.elapsed(latest, m)[1] > Timeout.BLURRED_END.us), None):
        latest = doubtful if log_stops else end  # it was over by the next start, by its own clock
    written = group.written.get(tenure.source, end)
    first = end
    if log_stops and clocks.surely_before(written, latest) and clocks.elapsed(latest, end)[0] > -UNBOUNDED:
        first = min(end, latest, key=lambda m: -clocks.elapsed(m, target)[1])  # between its last line and that word
    return _End(first, Moment(latest.by, latest.by, latest.source, latest.event_id), tenure, missed=latest is not end)


def _followed_again(group: Group, tenure: Tenure, moment: Moment, over: Moment) -> bool:
    """Return True when the member that last heard of a leader at ``moment`` followed it again in its tenure, before
    ``over``."""
    return any(
        role.role == FOLLOWER
        and (role.leader, role.term) in ((tenure.node, tenure.term), (tenure.node, None))
        and role.since > moment.at
        and group.clocks.surely_before(since(role), over)
        for role in group.roles_of(moment.source, over.by)
    )


def _missed_when_its_log_stops(clocks: Clocks, end: Moment, heard: Sequence[Moment]) -> bool:
    """Return True when others last heard of a member about when its log stops, and never after that."""
    last_line = Moment(end.at, end.at, end.source)
    return all(clocks.elapsed(last_line, moment)[0] <= SILENCE for moment in heard)


def _surely_nobody_led(group: Group, gap: Gap) -> bool:
    """Return True when no member can have led in a gap, even one whose log is missing."""
    begin = gap.lost.latest if gap.lost is not None else gap.begin
    without = {(tenure.node, tenure.term) for tenure, _ in gap.unserved}
    if without:
        if gap.after is not None:  # it led before it served
            without.add((gap.after.node, gap.after.term))
        roles = [replace(r, role=CANDIDATE) if (r.leader, r.term) in without else r for r in group.roles]
        group = replace(group, roles=tuple(roles))
    return nobody_led(group, gap.before, gap.after, begin, gap.end)


def _led_without_log(group: Group) -> "_LeadersWithoutLog":
    """Return the roles of followers whose leader has no log that shows it leading then. A leader may be elected again
    in the same term beyond the end of its log, so a follower that begins long after that end counts. So does one that
    begins before the leader's log does."""
    tenures: dict[tuple[int, str], list[Tenure]] = {}
    for tenure in group.tenures:
        tenures.setdefault((tenure.term, tenure.node), []).append(tenure)
    first: dict[str, Moment] = {}
    for role in group.roles:
        begun = group.begun.get(role.source_node, since(role))
        first.setdefault(role.source_node, max(since(role), begun, key=attrgetter("at", "by")))
    late, elapsed = Timeout.ON_ITS_WAY.us, group.clocks.elapsed

    def outside(role: Role, tenure: Tenure) -> bool:
        last = (tenure.end, group.written.get(tenure.source, tenure.end))
        before = elapsed(since(role), first.get(tenure.source, tenure.begin))[0] > MAX_INFO_GAP
        return before or all(elapsed(end, since(role))[0] > late for end in last)

    in_vain = group.once(followed_in_vain)
    return _LeadersWithoutLog(
        group,
        [
            (role.term, role)
            for role in group.roles
            if role.role == FOLLOWER
            and role.leader is not None
            and role.term is not None
            and all(outside(role, tenure) for tenure in tenures.get((role.term, role.leader), ()))
            and not in_vain(role)
        ],
    )


class _LeadersWithoutLog:
    """Followers' roles under leaders whose own logs do not show it, by term."""

    def __init__(self, group: Group, roles: Iterable[tuple[int, Role]]) -> None:
        self._clocks = group.clocks
        self._roles = sorted(roles, key=itemgetter(0))
        # For each index, the earliest beginning of the roles from there on.
        self._earliest = list(accumulate((role.since for _, role in reversed(self._roles)), min))[::-1]

    def meanwhile(self, before: Tenure, target: Moment) -> bool:
        """Return True when such a leader led a later term than ``before``, or its term again, before ``target``."""
        first, reach = bisect_left(self._roles, before.term, key=itemgetter(0)), target.by + self._clocks.widest
        if first == len(self._roles) or self._earliest[first] > reach:
            return False
        elapsed = self._clocks.elapsed
        return any(
            (term > before.term or (role.leader == before.node and elapsed(before.begin, since(role))[1] > 0))
            and elapsed(since(role), target)[1] > 0
            for term, role in self._roles[first:]
            if role.since <= reach
        )


def _shut_down_together(group: Group, before: Tenure, end: Moment) -> bool:
    """Return True when the last leader was stopped cleanly at ``end`` or soon after, and every other member with it. Of
    one whose log ended before nobody knows."""
    alive = sorted(group.of(Alive), key=lambda run: (run.until or 0, run.stopped))
    last = {run.source_node: run for run in alive if run.until is not None}
    leaders = last.get(before.source)
    if leaders is None or not leaders.stopped or not _ended_by(group, end, leaders):
        return False
    return all(run.stopped or _ended_by(group, end, run) for run in last.values())


def _ended_by(group: Group, moment: Moment, run: Alive) -> bool:
    """Return True when a process run may have ended no later than ``GROUP_SHUTDOWN`` us after a moment."""
    end = until(run)
    return end is not None and group.clocks.elapsed(moment, end)[0] <= GROUP_SHUTDOWN


def began_early(begin: Moment, before: Tenure) -> bool:
    """Return True when a gap began noticeably before its tenure's logged end: the leader had fallen silent."""
    return before.end.at - begin.at > MIN_REPORTED


def leaderless(
    group: Group,
    found: Iterable[Gap],
    title: str,
    clock: str,
    no_incident: NoIncident | None = None,
    died: str = "died",
) -> Iterator[Finding]:
    """Yield a ``LEADERLESS`` finding for each gap, in the protocol's words.

    ``title`` ("leader") and ``clock`` ("term", "epoch") are its nouns. A gap for which ``no_incident`` holds is
    information, others are graded by :func:`severity_of`. ``died`` is the verb for a process whose end only its next
    start proves: where a clean stop leaves no line it may have been stopped.
    """
    for gap in found:
        who = gap.before.with_detail(f"{clock} {gap.before.term}")
        how, then = _how_it_ended(group, gap, died, clock), _what_followed(group, gap, clock)
        lasted = between(gap.least, gap.most) if gap.least >= MIN_REPORTED else f"at most {seconds(gap.most)}"
        severity = severity_of(gap.least, planned=gap.planned or gap.all_down)
        yield leaderless_outage(
            group,
            Scope.NO_LEADER,
            (gap.before.term, gap.begin.at // SECOND),
            (gap.least, gap.most),
            severity=INFO if no_incident is not None and no_incident(gap) else severity,
            led=(gap.before, gap.after),
            when=(gap.begin.at, gap.end.at if gap.after else None),
            summary=f"No {title} for {lasted}: {who} {how}, {then}.",
            evidence=[*gap.evidence, *_elections_without_service(gap)],
            **change_of(group, gap.before, gap.after, gap.end),
        )


def _how_it_ended(group: Group, gap: Gap, died: str, clock: str) -> str:
    """Return what happened to the leader before a gap, as a predicate."""
    early = began_early(gap.begin, gap.before)
    fell_silent = _was_silent(group, gap) if gap.lost is not None else early
    held = _HELD_UP.get(group.once(Fates).fate(gap.before, following_of(gap.after)), "")
    how = held or ("fell silent" if fell_silent else how_ended(gap.before, died, clock))
    if any(tenure == gap.before for tenure, _ in gap.unserved):
        how = "was elected but did not serve"
    if gap.all_down:
        return "ended, as all members did, without a line that says that it stops"
    if gap.lost is not None and not gap.lost.sure:
        return f"may have lost its majority ({away(gap.lost.left)}) before it {how}"
    if gap.lost is not None:
        return _how_lost(group, gap, gap.lost, how, stepped_down=not fell_silent and not held)
    return how


def _what_followed(group: Group, gap: Gap, clock: str) -> str:
    """Return who led after a gap, who was elected in vain, and who toppled the former leader, as a clause."""
    then = "to the end of the logs"
    if gap.after is not None:
        then = f"until {gap.after.name} led {clock} {gap.after.term}"
        serves_after = group.clocks.elapsed(gap.after.begin, gap.end)
        if serves_after[0] >= MIN_REPORTED:
            then += f" and served clients {between(*serves_after)} later"
    then += _failed_elections(gap, clock)
    raised = group.once(Fates).toppled_by(gap.before, following_of(gap.after))
    return then if raised is None else f"{then}. {who_toppled(group, gap.before, raised, clock)}"


_HELD_UP = {Fate.FROZEN: "was frozen", Fate.OVERLOADED: "waited for its disk"}
"""What held a leader up when it was lost, where its own log says so."""


def _failed_elections(gap: Gap, clock: str) -> str:
    """Return a sentence with the members that were elected in a gap and never served, and how often; else nothing."""
    times = Counter(tenure.with_detail(f"{clock} {tenure.term}") for tenure, _ in gap.unserved if tenure != gap.before)
    if not times:
        return ""
    who = [name if count == 1 else f"{name} {count} times" for name, count in times.items()]
    return f". Elected meanwhile, and never served: {', '.join(who)}"


def _elections_without_service(gap: Gap) -> Iterator[str | None]:
    """Yield the lines of the elections of ``unserved`` leaders, and of the begins of their role changes."""
    for tenure, tried in gap.unserved:
        yield tenure.begin.event_id
        yield tried.event_id if tried else None


def _was_silent(group: Group, gap: Gap) -> bool:
    """Return True when the leader's log is silent to the end of the gap, and perhaps beyond."""
    elapsed = group.clocks.elapsed
    log_gaps = gap.before.silences if gap.after is not None else ()
    return any(elapsed(log_gap.begin, gap.end)[0] > 0 and elapsed(gap.end, log_gap.end)[1] > 0 for log_gap in log_gaps)


def _how_lost(group: Group, gap: Gap, lost: QuorumLoss, how: str, *, stepped_down: bool) -> str:
    """Return how a leader lost its majority, and how (``how``) its leadership ended then, as a predicate."""

    def gone(left: FollowerLost) -> str:
        before = group.clocks.elapsed(left.latest, lost.latest)
        return between(*before) if before[0] >= MAX_INFO_GAP else ""

    reasons = [away(lefts, gone)] if (lefts := lost_before(group, gap.before, lost)) else []
    if lost.rounds is not None:
        reasons.append(f"{number_of(lost.rounds, 'heartbeat round')} without a quorum")
    details = f" ({'; '.join(reasons)})" if reasons else ""
    led_on = group.clocks.elapsed(lost.latest, gap.before.end)
    if not stepped_down or gap.before.end_cause in (None, DIED, SILENT) or led_on[0] < MIN_REPORTED:
        return f"{how}{details}"
    return f"lost its majority{details} and {how} {between(*led_on)} later"
