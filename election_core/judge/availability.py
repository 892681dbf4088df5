"""The findings about availability, and about what limits verdicts, of every protocol with leaders."""

from collections.abc import Iterable, Iterator, Sequence

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.coverage import counted, coverage, sure_and_possible
from election_replay.election_core.judge.group import SILENT, Group
from election_replay.election_core.judge.interruptions import interrupted
from election_replay.election_core.judge.leaderless import NoIncident, Unseen, gaps, leaderless
from election_replay.election_core.judge.limits import log_gap_coverage, log_gaps
from election_replay.election_core.judge.lost_by_most import lost_by_most
from election_replay.election_core.judge.no_first_leader import no_first_leader
from election_replay.election_core.judge.quorum_contact import QuorumTracker
from election_replay.election_core.judge.rejoins import rejoins
from election_replay.election_core.judge.storm import failed_elections, storm
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import Timeout


def availability(
    group: Group,
    heard: Iterable[tuple[str, Moment]],
    elections: Iterable[Moment],
    title: str,
    clock: str,
    majorities: QuorumTracker | None = None,
    *,
    unseen: Unseen | None = None,
    no_incident: NoIncident | None = None,
    died: str = "died",
    regained: bool = False,
) -> Iterator[Finding | RuleCoverage]:
    """Yield the findings and coverage of availability, and of what limits verdicts.

    ``heard``, ``majorities`` and ``unseen`` as in :func:`gaps`, ``title``, ``clock``, ``no_incident`` and ``died`` as
    in :func:`leaderless`; ``elections`` are the unplanned ones. ``regained``: members without a leader log that all the
    time, so that a majority lost and regained is proven; elsewhere a lost line would look the same, unless the log of
    the leader is silent in that time as well.
    """
    found = list(gaps(group, heard, unseen, majorities, fenced=majorities is not None))
    storms = list(storm(group, elections, failed_elections(group)))
    outside = [*no_first_leader(group, title), *lost_by_most(group, title, clock)]
    if majorities is not None:
        outside += interrupted(group, majorities, title, clock, only_frozen=not regained)
    without = [*outside, *leaderless(group, found, title, clock, no_incident, died)]
    yield from without
    yield from storms
    failing = list(rejoins(group, without))
    yield from failing
    if failing:
        yield coverage(group, RuleId.MEMBER_CANNOT_JOIN, 0, len(failing))
    yield from log_gaps(group)
    unsure = len(majorities.unsure) if majorities is not None else 0
    yield from common_coverage(group, without, len(storms), len(outside), unsure)


def common_coverage(
    group: Group, without: Sequence[Finding], storms: int, outside: int = 0, unsure: int = 0
) -> Iterator[RuleCoverage]:
    """Yield the coverage of the rules about availability and about what limits verdicts. ``without`` are the findings
    of times without a leader. ``outside`` counts those that lie in no change of leader: a leader that lost its majority
    and led on, or a group that never had one. ``unsure`` counts leaders that may have lost their majority."""
    changes = max(len(group.tenures) - 1, 0)
    ends = (tenure.end for tenure in group.tenures[:-1])
    blurred = (end for end in ends if end.by - end.at > Timeout.BLURRED_END.us or group.clocks.near_step(end))
    sure, unproven = sure_and_possible(without, RuleId.LEADERLESS)
    unclear = max(min(sum(1 for _ in blurred) + unsure, changes + outside - sure), 0)
    why = "the end of a tenure is known only between its last sign and the next start"
    if group.clocks.stepped:
        why += "; around a step of its clock a machine does not tell when it led"
    if unsure:
        why += "; no line says who votes, so that a leader may have lost its majority before it ended"
    if outside and unproven and len(group.written) == 1:
        why += "; or only one member's logs are there"
    untold = int(_log_of_the_last_leader_stops(group, without))
    if untold:
        why = f"{why}; or the log of the last leader stops before those of its group"
    yield counted(group, RuleId.LEADERLESS, without, changes + outside + untold, why, unclear=unclear, untold=untold)
    yield coverage(group, RuleId.ELECTION_STORM, 0 if storms else 1, storms)
    yield log_gap_coverage(group)
    compared, never = group.clocks.compared()
    yield coverage(group, RuleId.CLOCK_SKEW, compared, 0, never, "no message goes between the two")


def _log_of_the_last_leader_stops(group: Group, without: Sequence[Finding]) -> bool:
    """Return True when the last leader's log just stops and no finding covers what followed."""
    if not group.tenures or any(finding.end_time is None for finding in without):
        return False
    last = max(group.tenures, key=lambda tenure: tenure.term).term
    return all(tenure.end_cause == SILENT for tenure in group.tenures if tenure.term == last)
