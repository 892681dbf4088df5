"""Whether somebody may have led between two leaders without any log that shows it: a log may be missing or end early.

leader, term 2   [=====]                      term 3 lies between: nobody led it if enough voters followed nobody
voter            [= follows =][= candidate ============][= follows =   its log shows all of the time
voter            [= follows =][= follows 2 ==    its log ends: it may have followed somebody since
leader, term 4                                         [=====
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

from election_replay.election_core.fold.roles import CANDIDATE, DOWN, FOLLOWER, LEADER, SEEN, STOPPED, UNKNOWN
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import SILENT, SILENT_END, Group, Tenure, since, until
from election_replay.election_core.model.facts import Candidacy, ContactLost, LastHeard, Role, Silence, TermWentBack
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout

FOLLOWED_EARLY = frozenset({"zab"})
"""Protocols whose members follow a winner before it is established, so that it may never lead."""
FOLLOWED_BY_RECORD = frozenset({"partition"})
"""Protocols whose members follow whom others have recorded as leader, whether it runs or not."""


def cause_of(group: Group, tenure: Tenure) -> str | None:
    """Return the cause of a leader's role; ``None``: unknown."""
    roles = group.roles_of(tenure.source, tenure.begin.by)
    began = (role for role in reversed(roles) if role.since_by == tenure.begin.by and role.role == LEADER)
    return next((role.cause for role in began), None)


def nobody_led(group: Group, before: Tenure, after: Tenure | None, begin: Moment, end: Moment) -> bool:
    """Return True when surely nobody led between two leaders, not even a member whose log is missing. Either leaders
    that never served held all terms in between and a line shows when the later one was elected, or so many voters
    followed nobody, by their own logs, that no other leader could have been elected."""
    last = before.term
    if after is not None and (cause_of(group, after) != SEEN or covers(group, after.source, begin, end)):
        terms = group.once(_terms)
        led = bisect_left(terms, after.term) - bisect_right(terms, last)
        if after.term <= last + 1 + max(led, 0):
            return True
    return group.electorates.lost(before, end, idle(group, before, after, begin, end))


def idle(group: Group, before: Tenure, after: Tenure | None, begin: Moment, end: Moment) -> set[str]:
    """Return the members whose logs show that they followed nobody but two leaders in all of a time."""
    sources = {role.source_node for role in group.roles}
    return {name for source in sources if (name := _followed_nobody(group, source, (before, after), begin, end))}


def _terms(group: Group) -> list[int]:
    return sorted({tenure.term for tenure in group.tenures})


def _followed_nobody(
    group: Group, source: str, tenures: tuple[Tenure, Tenure | None], begin: Moment, end: Moment
) -> str | None:
    """Return the member of a source whose log shows all of [begin, end] and no leader in it but the two of ``tenures``;
    else ``None``. The later one may lead before it serves at ``end``. A log that never names a leader, such as one
    without INFO lines, shows nothing by leaving it out."""
    before, after = tenures
    if not any(role.role in (LEADER, FOLLOWER) for role in group.roles_of(source, UNBOUNDED)):
        return None
    elapsed = group.clocks.elapsed
    near = []
    for role in group.roles_of(source, end.by + group.clocks.widest):
        last = until(role)
        over = last is not None and elapsed(last, begin)[0] > 0
        if not over and elapsed(since(role), end)[1] > 0:
            near.append(role)
    if not near or elapsed(since(near[0]), begin)[1] < 0 or not _begins_before(group, source, begin):
        return None
    written, last = group.written.get(source), until(near[-1])
    # A last role DOWN means that the member runs in another group now.
    elsewhere = near[-1].role == DOWN and near[-1] is group.roles_of(source, UNBOUNDED)[-1]
    ends = written is None or elapsed(begin, written)[1] <= 0 or elapsed(written, end)[0] > Timeout.FROZEN.us
    if ends and not elsewhere:
        return None  # its log ends before the time does, quiet or not
    shown = last is None or elapsed(last, end)[0] <= 0 or elsewhere
    served = any(
        (_serves_later(group, role, before) or _leads_again(group, role, before, begin))
        and elapsed(since(role), end)[0] > 0
        for role in near
        if after is None or (role.leader or role.node, role.term) != (after.node, after.term)
    )
    return (near[0].node or source) if shown and not served else None


def _serves_later(group: Group, role: Role, before: Tenure) -> bool:
    """Return True when a role may be one under a leader that came after ``before``. If the role's term is unknown, its
    leader may be a later one, unless that leader's own log shows a failed election."""
    if role.role not in (LEADER, FOLLOWER) or (role.role == FOLLOWER and role.leader is None):
        return role.role == UNKNOWN
    leader = role.leader or role.node
    if group.once(followed_in_vain)(role):
        return False
    if role.term is None:
        in_vain = {campaign.node for campaign in group.of(Candidacy) if campaign.outcome != "won"}
        return leader != before.node and leader not in in_vain
    return is_larger(role.term, before.term) or (role.term == before.term and leader != before.node)


def followed_in_vain(group: Group) -> Callable[[Role], bool]:
    """Return a function: did the leader that a role follows surely not lead then, by its own log? Members of ZooKeeper
    follow a winner before it has the quorum that makes it leader; Kafka's brokers follow whom the controllers record,
    even if it was stopped for good."""
    absent: dict[str | None, list[Role]] = {}
    for role in group.roles if group.protocol in FOLLOWED_EARLY else ():
        if role.role == CANDIDATE and role.until is not None:
            absent.setdefault(role.node, []).append(role)
    for of_node in absent.values():
        of_node.sort(key=attrgetter("since"))
    stopped = dict(_stopped_for_good(group)) if group.protocol in FOLLOWED_BY_RECORD else {}

    def in_vain(role: Role) -> bool:
        elapsed = group.clocks.elapsed
        if (end := stopped.get(role.leader or "")) is not None and elapsed(end, since(role))[0] > 0:
            return True
        of_leader = absent.get(role.leader, [])
        number = bisect_right(of_leader, role.since + group.clocks.widest, key=attrgetter("since"))
        return any(
            elapsed(since(asking), since(role))[0] >= 0 and end is not None and elapsed(since(role), end)[0] > 0
            for asking in of_leader[max(number - 2, 0) : number]
            for end in (_shown_until(group, asking),)
        )

    return in_vain


def _shown_until(group: Group, role: Role) -> Moment | None:
    """Return the end of a role; where nothing ends it, the last line that could: what came then is not shown."""
    end, last = until(role), group.written.get(role.source_node)
    if end is None or last is None or role.end_cause != SILENT:
        return end
    return Moment(min(end.at, last.at), min(end.at, last.at), end.source)


def _stopped_for_good(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield each member whose log ends with a clean stop, and when."""
    for source in {role.source_node for role in group.roles}:
        last = group.roles_of(source, UNBOUNDED)[-1]
        end = until(last)
        if last.end_cause == STOPPED and last.node is not None and end is not None:
            yield last.node, end


def _leads_again(group: Group, role: Role, before: Tenure, begin: Moment) -> bool:
    """Return True when a member follows the former leader again, for longer than the leader's own log goes on."""
    elapsed, written = group.clocks.elapsed, group.written.get(before.source)
    last_line = Moment(before.end.at, before.end.at, before.source)
    later = any(elapsed(over, since(role))[0] > 0 for over in (begin, last_line))
    if role.role != FOLLOWER or role.leader != before.node or not later:
        return False
    if written is None or elapsed(written, since(role))[0] > 0:
        return True
    return elapsed(written, until(role) or group.end)[0] > SILENT_END


def closed_after(group: Group, tenure: Tenure, target: Moment, heard: ByTime[Moment]) -> Moment | None:
    """Return when a leader that had given up long before, by its log, closed its connections, by its followers' logs.
    Nothing is on its way for so long: one of the clocks was set. ``None``: it closed none so late, or one follower saw
    that at once, and another was frozen. ``heard`` are the moments at which a member was heard of last."""
    elapsed, widest = group.clocks.elapsed, group.clocks.widest
    if tenure.open:
        return None
    over = Moment(tenure.end.by, tenure.end.by, tenure.source)
    known = [
        moment
        for moment in heard.between(tenure.node, over.at - widest, target.by + widest)
        if moment.event_id in group.once(_closings)
        and elapsed(over, moment)[1] > -Timeout.ON_ITS_WAY.us
        and elapsed(moment, target)[0] > 0
        and any(
            (role.role, role.leader, role.term) == (FOLLOWER, tenure.node, tenure.term)
            for role in group.roles_of(moment.source, moment.at)[-1:]
        )
    ]
    found = {moment.source: moment for moment in sorted(known, key=lambda m: (m.at, m.by))}.values()
    if any(elapsed(over, moment)[0] <= Timeout.ON_ITS_WAY.us for moment in found):
        return None
    return min(found, key=lambda moment: elapsed(moment, target)[0], default=None)


def _closings(group: Group) -> set[str | None]:
    """Return the ids of the lines at which a connection was closed: up to those the other side was heard of."""
    lost = {fact.since_event for fact in group.of(ContactLost) if fact.closed}
    return lost | {fact.since_event for fact in group.of(LastHeard) if fact.line_at and fact.line_at <= fact.since_by}


def covers(group: Group, source: str, begin: Moment, end: Moment) -> bool:
    """Return True when a log has lines from ``begin`` to ``end``, but for ``MAX_INFO_GAP``."""
    last, elapsed, short = group.written.get(source), group.clocks.elapsed, Timeout.MAX_INFO_GAP.us
    if last is None or elapsed(end, last)[0] < -short or not _begins_before(group, source, begin):
        return False
    return not any(_gaps_within(group, source, begin, end))


def not_shown(group: Group, source: str, begin: Moment, end: Moment) -> int:
    """Return for how many us, at most, before ``end`` a log shows nothing new: since it ends, or since a gap between
    its files. UNBOUNDED if it begins after ``begin``."""
    last = group.written.get(source)
    if last is None or not _begins_before(group, source, begin):
        return UNBOUNDED
    ends, over = [last, *_gaps_within(group, source, begin, end)], Moment(end.at, end.at, end.source)
    return max(0, *(group.clocks.elapsed(at, over)[1] for at in ends))


def _gaps_within(group: Group, source: str, begin: Moment, end: Moment) -> Iterator[Moment]:
    """Yield the beginnings of the gaps between the files of a source that hide more than ``MAX_INFO_GAP`` of a time."""
    elapsed, short = group.clocks.elapsed, Timeout.MAX_INFO_GAP.us
    for gap, over in group.file_gaps.get(source, ()):
        if elapsed(begin, over)[1] > short and elapsed(gap, end)[1] > short:
            yield gap


def _begins_before(group: Group, source: str, begin: Moment) -> bool:
    first = group.begun.get(source)
    return first is not None and group.clocks.elapsed(first, begin)[0] >= -Timeout.MAX_INFO_GAP.us


def tenures_in_order(group: Group) -> Sequence[Tenure]:
    """Return the tenures by term; where terms went back, tenures that surely began earlier come first."""
    if not any(group.of(TermWentBack)):
        return group.tenures
    ordered: list[Tenure] = []
    for tenure in group.tenures:
        place = len(ordered)
        while place and group.clocks.surely_before(tenure.begin, ordered[place - 1].begin):
            place -= 1
        ordered.insert(place, tenure)
    return ordered


def silent_between(group: Group, begin: Moment, end: Moment) -> int:
    """Return for how many us a log is silent between two of its own moments; 0 for moments of two logs. Its clock may
    have skipped that time, so the time did not surely pass."""
    if begin.source != end.source:
        return 0
    gaps = group.once(_gaps).between(begin.source, begin.at, end.by)
    inside = (gap for gap in gaps if gap.until is not None and begin.at <= gap.since and gap.until <= end.by)
    return sum((gap.until or gap.since) - gap.since_by for gap in inside)


def _gaps(group: Group) -> ByTime[Silence]:
    return ByTime((gap.source_node, until(gap) or since(gap), gap) for gap in group.of(Silence))
