"""What limits the verdicts on a group: ``LOG_GAP`` and ``CLOCK_SKEW``.

log    |||||||||          |||||||||      a hole of ten seconds and more inside one incarnation: LOG_GAP
n0     ....sends(12:00:05)...............
n1     ....reads(12:00:01)...............  read before it was sent, by more than the bounds allow: CLOCK_SKEW
"""

from collections.abc import Iterator

from election_core.fold.process_runs import SECOND
from election_core.judge.group import Group
from election_core.judge.wording import seconds
from election_core.model.catalogue import INFO, PROVEN, WARNING, RuleId
from election_core.model.facts import Silence
from election_core.model.rows import Finding


def log_gaps(group: Group) -> Iterator[Finding]:
    """``LOG_GAP``: holes in the logs of members."""
    for hole in group.of(Silence):
        if hole.until is None or starting(group, hole):
            continue
        name = hole.node or hole.source_node
        yield group.finding(
            RuleId.LOG_GAP,
            (hole.source_node, hole.since // SECOND),
            severity=INFO,
            certainty=PROVEN,
            nodes=(name,),
            terms=(),
            start_time=hole.since,
            end_time=hole.until,
            summary=f"The logs of {name} ({hole.source_node}) are silent for "
            f"{seconds(hole.until - hole.since)}: frozen, or its lines were lost.",
            evidence=tuple(e for e in (hole.since_event, hole.until_event) if e),
            duration_min_ms=(hole.until - hole.since_by) // 1000,
            duration_max_ms=((hole.until_by or hole.until) - hole.since) // 1000,
        )


def starting(group: Group, hole: Silence) -> bool:
    """Whether a hole lies before the first role of a process: a slow start, on which no verdict rests."""
    own = group.roles_of(hole.source_node, hole.since)
    return not own or own[-1].cause == "start"


def clock_skews(group: Group) -> Iterator[Finding]:
    """``CLOCK_SKEW``: clocks that differ by more than their configured bounds, as messages prove."""
    for skew in group.clocks.skews:
        if skew.ahead == skew.behind:
            who = " or of ".join((skew.ahead, *skew.or_else))
            summary = f"The clock of {who} stepped by at least {seconds(skew.at_least_us)}."
        else:
            by = seconds(skew.at_least_us)
            summary = f"The clock of {skew.behind} is at least {by} behind the clock of {skew.ahead}."
        nodes = tuple(dict.fromkeys((skew.ahead, skew.behind, *skew.or_else)))
        concerned = [fact for fact in group.facts if fact.source_node in nodes]
        times = [fact.since for fact in concerned or group.facts]
        yield group.finding(
            RuleId.CLOCK_SKEW,
            (skew.ahead, skew.behind),
            severity=WARNING,
            certainty=PROVEN,
            nodes=nodes,
            terms=(),
            start_time=min(times),
            end_time=max(times),
            summary=summary,
            evidence=skew.evidence,
            duration_min_ms=skew.at_least_us // 1000,
        )
