"""``ELECTION_STORM``: at least three unplanned elections within ten minutes.

    elections      |||        |          ||||
    disturbances   [1]       [2]         [3]       elections within ten seconds are one disturbance
    storm          |<---- within the window ---->|

Planned elections, such as transfers and rolling restarts, are no disturbance, nor are failed elections just before a
planned one. Other failed elections count, after the first leader, if a majority took part: votes were split, or the
winner was not established. Without a majority nobody can win, so such elections are no storm.
"""

from collections.abc import Iterable, Iterator, Set

from election_replay.election_core.fold.roles import FOLLOWER
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.wording import seconds
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Candidacy
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout

STORM_ELECTIONS = 3


def failed_elections(group: Group) -> Iterator[Moment]:
    """Yield the beginnings of elections that nobody won although a majority took part, after the first leader. All
    campaigns of one term are one election."""
    led = {tenure.term for tenure in group.tenures}
    led |= {role.term for role in group.roles if role.role == FOLLOWER and role.leader is not None and role.term}
    begins = [tenure.begin for tenure in group.tenures]
    seen = set[int]()
    for campaign in sorted(group.of(Candidacy), key=lambda campaign: since(campaign).at):
        lost = campaign.outcome != "won" and (campaign.term is None or campaign.term not in led)
        if not lost or not campaign.majority_answered or campaign.term in seen:
            continue
        if campaign.term is not None:
            seen.add(campaign.term)
        if any(group.clocks.surely_before(leader, since(campaign)) for leader in begins):
            yield since(campaign)


def storm(group: Group, elections: Iterable[Moment], failed: Iterable[Moment] = ()) -> Iterator[Finding]:
    """Yield ``ELECTION_STORM`` for the longest chains of disturbances of which any three in a row lie within the
    window. ``elections`` are the unplanned ones, ``failed`` those that nobody won."""
    every = list(elections)
    planned = {tenure.begin for tenure in group.tenures}.difference(every)
    lost = {
        moment for moment in failed if not any(0 <= won.at - moment.at < Timeout.ONE_DISTURBANCE.us for won in planned)
    }
    disturbances: list[list[Moment]] = []
    for moment in sorted([*every, *lost]):
        if disturbances and moment.at - disturbances[-1][0].at < Timeout.ONE_DISTURBANCE.us:
            disturbances[-1].append(moment)
        else:
            disturbances.append([moment])
    chain: list[list[Moment]] = []
    for disturbance in disturbances:
        if len(chain) >= STORM_ELECTIONS and not _dense([*chain, disturbance]):
            yield _storm_of(group, chain, lost)
            chain = []
        chain.append(disturbance)
        if len(chain) == STORM_ELECTIONS and not _dense(chain):
            del chain[0]
    if len(chain) >= STORM_ELECTIONS:
        yield _storm_of(group, chain, lost)


def _dense(chain: list[list[Moment]]) -> bool:
    """Return True when the last three disturbances lie within the window."""
    return chain[-1][0].at - chain[-STORM_ELECTIONS][0].at <= Timeout.STORM_WINDOW.us


def _storm_of(group: Group, chain: list[list[Moment]], lost: Set[Moment]) -> Finding:
    first, last = chain[0][0], chain[-1][-1]
    count = sum(len(disturbance) for disturbance in chain)
    failed = sum(1 for disturbance in chain for moment in disturbance if moment in lost)
    won_by_nobody = f", {failed} of them without a winner," if failed else ""
    return group.finding(
        RuleId.ELECTION_STORM,
        (first.at // SECOND,),
        severity=WARNING,
        when=(first.at, last.at),
        summary=f"{count} unplanned elections{won_by_nobody} in {len(chain)} disturbances within "
        f"{seconds(last.at - first.at)}.",
        evidence=(m.event_id for part in chain for m in part if m.event_id),
        rounds=count,
    )
