"""Whether somebody may have led between two leaders although no log says so: a log may be missing, or end before.

leader, term 2   [=====]                      term 3 lies between: nobody led it if so many voters followed nobody
voter            [= follows =][= candidate ============][= follows =   its log shows all of the time
voter            [= follows =][= follows 2 ==    its log ends: it may have followed somebody since
leader, term 4                                         [=====
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from election_replay.election_core.fold.roles import DOWN, FOLLOWER, LEADER, UNKNOWN
from election_replay.election_core.judge.by_time import ByTime
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.model.facts import Candidacy, Role, Silence, TermWentBack
from election_replay.election_core.model.terms import is_larger
from election_replay.election_core.model.timing import Timeout


def nobody_led(group: Group, before: Tenure, after: Tenure | None, begin: Moment, end: Moment) -> bool:
    """Whether surely nobody led between two leaders, of whom logs may be missing.

    Leaders that never served had all terms between theirs, or so many voters followed nobody meanwhile, by their own
    word, that no other one could have been elected.
    """
    last = before.term
    if after is not None:
        terms = group.once(_terms)
        led = bisect_left(terms, after.term) - bisect_right(terms, last)
        if after.term <= last + 1 + max(led, 0):
            return True
    sources = {role.source_node for role in group.roles}
    idle = {name for source in sources if (name := _followed_nobody(group, source, before, begin, end)) is not None}
    return group.electorates.lost(before, end, idle)


def _terms(group: Group) -> list[int]:
    return sorted({tenure.term for tenure in group.tenures})


def _followed_nobody(group: Group, source: str, before: Tenure, begin: Moment, end: Moment) -> str | None:
    """The member of a source, if its log shows all of a time without a leader, in which it led and followed nobody.

    A log that never says whom its member followed, as one without INFO lines, shows nothing by not saying it.
    """
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
    elsewhere = near[-1].role == DOWN and near[-1] is group.roles_of(source, UNBOUNDED)[-1]  # in another group
    ends = written is None or elapsed(begin, written)[1] <= 0 or elapsed(written, end)[0] > Timeout.FROZEN.us
    if ends and not elsewhere:
        return None  # its log, quiet as it may be, ends before
    shown = last is None or elapsed(last, end)[0] <= 0 or elsewhere
    served = any(
        (_serves_later(group, role, before) or _leads_again(group, role, before, begin))
        and elapsed(since(role), end)[0] > 0
        for role in near
    )
    return (near[0].node or source) if shown and not served else None


def _serves_later(group: Group, role: Role, before: Tenure) -> bool:
    """Whether a role may be one under a leader who came after the one before the time.

    Of a term that is not known it may be one under a leader whose log does not say that it was elected in vain.
    """
    if role.role not in (LEADER, FOLLOWER) or (role.role == FOLLOWER and role.leader is None):
        return role.role == UNKNOWN
    leader = role.leader or role.node
    if role.term is None:
        in_vain = {campaign.node for campaign in group.of(Candidacy) if campaign.outcome != "won"}
        return leader != before.node and leader not in in_vain
    return is_larger(role.term, before.term) or (role.term == before.term and leader != before.node)


def _leads_again(group: Group, role: Role, before: Tenure, begin: Moment) -> bool:
    """Whether a member follows the leader before the time again, of whose log no line is left by then."""
    elapsed, written = group.clocks.elapsed, group.written.get(before.source)
    if role.role != FOLLOWER or role.leader != before.node or elapsed(begin, since(role))[0] <= 0:
        return False
    return written is None or elapsed(written, since(role))[0] > 0


def covers(group: Group, source: str, begin: Moment, end: Moment) -> bool:
    """Whether a log has lines from before a time to its end, give or take what is worth knowing and no alarm."""
    last = group.written.get(source)
    whole = last is not None and group.clocks.elapsed(end, last)[0] >= -Timeout.MAX_INFO_GAP.us
    return whole and _begins_before(group, source, begin)


def not_shown(group: Group, source: str, begin: Moment, end: Moment) -> int:
    """For how long, at least, before its end a log has no lines of a time that it shows from its beginning on, in
    microseconds."""
    last = group.written.get(source)
    if last is None or not _begins_before(group, source, begin):
        return UNBOUNDED
    return max(group.clocks.elapsed(last, end)[0], 0)


def _begins_before(group: Group, source: str, begin: Moment) -> bool:
    first = group.begun.get(source)
    return first is not None and group.clocks.elapsed(first, begin)[0] >= -Timeout.MAX_INFO_GAP.us


def in_turn(group: Group) -> Sequence[Tenure]:
    """The tenures by term; where terms went back, one that surely began before one of a smaller term comes first."""
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
    """For how long, in microseconds, a log that alone tells of a time is silent in it: its clock may have passed over
    that."""
    if begin.source != end.source:
        return 0
    holes = group.once(_holes).between(begin.source, begin.at, end.by)
    inside = (hole for hole in holes if hole.until is not None and begin.at <= hole.since and hole.until <= end.by)
    return sum((hole.until or hole.since) - hole.since_by for hole in inside)


def _holes(group: Group) -> ByTime[Silence]:
    return ByTime((hole.source_node, until(hole) or since(hole), hole) for hole in group.of(Silence))
