"""The rules of a broker set under the RocketMQ 5 controller, judged on its facts.

Terms here are master epochs. ``masterEpoch`` grows with every election, also with one that finds nobody, so
gaps are normal. There is no lease: a broker that is cut off from the controllers stays master until it hears of a
larger epoch. What it wrote meanwhile is cut off when it rejoins.

Sources: RocketMQ ``ReplicasInfoManager#electMaster``, ``#alterSyncStateSet``, ``DefaultElectPolicy``,
``ReplicasManager#changeToMaster``, ``AutoSwitchHAClient#doTruncate``.
"""

from collections.abc import Iterator

from election_replay.election_core.fold.checks import VIOLATES
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.coverage import counted, summed, tallies_of
from election_replay.election_core.judge.group import Group, group_of
from election_replay.election_core.judge.limits import interrupting
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact, LogEndedEarlier
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.controller import decision_rules
from election_replay.election_core.protocols.controller.decision_rules import SetVersion
from election_replay.election_core.protocols.controller.epochs import epochs_back, epochs_coverage, in_order, same_epoch
from election_replay.election_core.protocols.controller.facts import Decision
from election_replay.election_core.protocols.controller.log import PROTOCOL
from election_replay.election_core.protocols.controller.losses import (
    data_loss,
    losses_coverage,
    overlap_with_cuts,
    roots_of_cuts,
    stores_that_went_back,
    unclean_elections,
    unclean_finding,
    without_alone,
)
from election_replay.election_core.protocols.controller.outages import availability
from election_replay.election_core.protocols.controller.record import decisions, named, set_versions
from election_replay.election_core.protocols.controller.rows import elections, sync_state_sets, terms
from election_replay.election_core.protocols.controller.sets import (
    set_without_master,
    sets_coverage,
    small_sets,
    stale_sets,
)
from election_replay.election_core.protocols.controller.stuck import stuck_coverage, stuck_replicas
from election_replay.election_core.protocols.controller.unrecorded import no_master_recorded
from election_replay.election_core.protocols.raft_family.stalls import stalled_leaders

__all__ = ["PROTOCOL", "judge"]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set."""
    group, sure = in_order(group_of(named(facts), clocks))
    decided = decisions(group)
    sets = set_versions(decided)
    yield from role_intervals(group)
    yield from terms(group, decided)
    yield from elections(decided, group, sets)
    yield from sync_state_sets(group, sets)
    found = list(_findings(group, decided, sets))
    yield from found
    yield from availability(group, decided, sets, found, sure=sure)
    stalls = list(stalled_leaders(group, "epoch", interrupting(group))) if sure else []
    yield from stalls
    if stalls:
        yield counted(group, RuleId.WRITES_REFUSED, stalls, len(stalls), "a log that lost lines shows the same holes")
    yield from _coverage(group, decided, sets, found)


def _findings(group: Group, decided: list[Decision], sets: list[SetVersion]) -> Iterator[Finding]:
    split = same_epoch(group)
    bound = without_alone(group, decided, sets)
    yield from split
    causes: dict[tuple[str | None, str], Finding] = {}
    unclean = unclean_elections(decided, sets)
    by_overlap, by_election = roots_of_cuts(group, unclean)
    for overlap, cuts in by_overlap.items():
        finding = overlap_with_cuts(group, overlap, cuts, bound)
        yield finding
        causes.update(((cut.since_event, cut.source_node), finding) for cut in cuts)
    for election in unclean:
        cuts = by_election[election[0]]
        finding = unclean_finding(group, election, cuts)
        yield finding
        causes.update(((cut.since_event, cut.source_node), finding) for cut in cuts)
    yield from data_loss(group, causes, bound)
    yield from stores_that_went_back(group)
    yield from stuck_replicas(group)
    yield from set_without_master(group, sets)
    yield from epochs_back(group, decided, split)
    disagreements = list(decision_rules.disagreements(group))
    yield from disagreements
    yield from decision_rules.wrong_elections(group, decided, [*disagreements, *split])
    yield from decision_rules.wrong_sets(group, decided, sets)
    yield from decision_rules.broken_lines(group)
    yield from stale_sets(group)
    yield from small_sets(group, sets)
    yield from no_master_recorded(group, decided)


def _coverage(
    group: Group, decided: list[Decision], sets: list[SetVersion], found: list[Finding]
) -> Iterator[RuleCoverage]:
    yield from epochs_coverage(group, decided, found)
    yield from losses_coverage(group, decided, sets, found)
    yield from sets_coverage(group, sets, found)
    yield from stuck_coverage(group, found)
    verdicts = [
        *tallies_of(group),
        *((RuleId.STORE_WENT_BACK, VIOLATES, None, 1) for _ in group.of(LogEndedEarlier)),
        *decision_rules.election_verdicts(group, decided),
        *decision_rules.set_verdicts(group, decided, sets),
        *decision_rules.disagreement_verdicts(group),
    ]
    yield from summed(group, verdicts)
