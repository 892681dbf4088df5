"""``REPLICATION_STUCK``: a slave that cannot continue its master's log, so that it copies nothing and does not follow.

It leaves the SyncStateSet once it has been behind for ``haMaxTimeSlaveNotCatchup``; one that resumes sooner lost
nothing.

Source: RocketMQ ``AutoSwitchHAClient#doTruncate``.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group
from election_replay.election_core.judge.wording import name_of, seconds
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import LogCut
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.controller.facts import SlaveStuck


def stuck_replicas(group: Group) -> Iterator[Finding]:
    """Yield ``REPLICATION_STUCK`` for each slave that failed for longer than its master waits for it."""
    for fact in group.of(SlaveStuck):
        if not _lasts(group, fact):
            continue
        who = name_of(fact.who, fact.source_node)
        state = (
            "its log has no point in common with its master's"
            if fact.nothing_in_common
            else "it could not cut its log where it parts from its master's"
        )
        then = "and never could in these logs" if fact.until is None else f"for {seconds(_lasted(fact))}"
        yield group.finding(
            RuleId.REPLICATION_STUCK,
            (fact.source_node, fact.since_event),
            severity=WARNING,
            nodes=(fact.who,),
            when=(fact.since, fact.until),
            summary=f"{who} could not follow: {state}. It tried {fact.count} times in "
            f"{seconds(fact.last_at - fact.since)} {then}; it copies nothing, and no message has a copy there.",
            evidence=(*fact.evidence, fact.until_event),
            lasted=(_lasted(fact), None),
            rounds=fact.count,
        )


def _lasted(fact: SlaveStuck) -> int:
    """Return the time in us from the first failure to what ended them, or to the last failure; on one clock."""
    return (fact.last_at if fact.until is None else fact.until) - fact.since


def _lasts(group: Group, fact: SlaveStuck) -> bool:
    return _lasted(fact) > group.timing.us(Timeout.CONTROLLER_NOT_CAUGHT_UP, fact.source_node)


def stuck_coverage(group: Group, found: Iterable[Finding]) -> Iterator[RuleCoverage]:
    """Yield the coverage of ``REPLICATION_STUCK``: slaves that continued their masters' logs conform."""
    stuck = sum(1 for finding in found if finding.rule == RuleId.REPLICATION_STUCK)
    brief = [fact for fact in group.of(SlaveStuck) if not _lasts(group, fact)]
    went_on = sum(1 for fact in brief if fact.until is not None) + sum(1 for cut in group.of(LogCut) if cut.done)
    unknown = sum(1 for fact in brief if fact.until is None)
    why = "the log ends soon after a slave could not go on with its master's"
    yield coverage(group, RuleId.REPLICATION_STUCK, went_on, stuck, unknown, why)
