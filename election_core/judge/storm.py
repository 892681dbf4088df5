"""``ELECTION_STORM``: at least three unplanned elections within ten minutes.

    elections      |||        |          ||||
    disturbances   [1]       [2]         [3]       elections less than ten seconds apart are one disturbance
    storm          |<---- within the window ---->|

Planned elections, such as transfers and rolling restarts, are no disturbance.
"""

from collections.abc import Iterable, Iterator

from election_core.fold.process_runs import SECOND
from election_core.judge.clock import Moment
from election_core.judge.group import Group
from election_core.judge.wording import seconds
from election_core.model.catalogue import PROVEN, WARNING, RuleId
from election_core.model.rows import Finding
from election_core.model.timing import Timeout

STORM_ELECTIONS = 3
STORM_WINDOW = Timeout.STORM_WINDOW.us
ONE_DISTURBANCE = Timeout.ONE_DISTURBANCE.us


def storm(group: Group, elections: Iterable[Moment]) -> Iterator[Finding]:
    """``ELECTION_STORM``: the longest chains of unplanned elections, each within the window of the one before."""
    disturbances: list[list[Moment]] = []
    for moment in sorted(map(group.clocks.adjusted, elections)):
        if disturbances and moment.at - disturbances[-1][0].at < ONE_DISTURBANCE:
            disturbances[-1].append(moment)
        else:
            disturbances.append([moment])
    chain: list[list[Moment]] = []
    for disturbance in [*disturbances, None]:
        if disturbance and (not chain or disturbance[0].at - chain[-1][-1].at <= STORM_WINDOW // 2):
            chain.append(disturbance)
            continue
        if len(chain) >= STORM_ELECTIONS and _dense(chain):
            yield _storm_of(group, chain)
        chain = [disturbance] if disturbance else []


def _dense(chain: list[list[Moment]]) -> bool:
    """Whether some three disturbances in a row lie within the window."""
    firsts = [disturbance[0].at for disturbance in chain]
    return any(
        later - earlier <= STORM_WINDOW for earlier, later in zip(firsts, firsts[STORM_ELECTIONS - 1 :], strict=False)
    )


def _storm_of(group: Group, chain: list[list[Moment]]) -> Finding:
    first, last = chain[0][0], chain[-1][-1]
    count = sum(len(disturbance) for disturbance in chain)
    return group.finding(
        RuleId.ELECTION_STORM,
        (first.at // SECOND,),
        severity=WARNING,
        certainty=PROVEN,
        nodes=(),
        terms=(),
        start_time=first.at,
        end_time=last.at,
        summary=f"{count} unplanned elections in {len(chain)} disturbances within {seconds(last.at - first.at)}.",
        evidence=tuple(dict.fromkeys(m.event_id for part in chain for m in part if m.event_id)),
        rounds=count,
    )
