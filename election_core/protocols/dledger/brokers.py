"""``FORMER_LEADER_STILL_MASTER``: a broker changes its role after its DLedger member does, and that takes time.

n0 leads            [=======|                          its member ceased to lead
n0's broker, master [=================|                 it still changes to slave; name servers know it as master
n2's broker, master         [=======================    the new leader's
producers                   |<------->|                 may be sent to either; writes to n0 fail
"""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import DEFINITE, INFO, RuleId
from election_replay.election_core.model.facts import Serving
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.dledger.facts import BrokerBecameSlave


def former_masters(group: Group) -> Iterator[Finding | RuleCoverage]:
    """Yield ``FORMER_LEADER_STILL_MASTER`` of a DLedger group, and its coverage."""
    changes = list(group.of(BrokerBecameSlave))
    found = [finding for change in changes for finding in _still_master(group, change)]
    yield from found
    if changes:
        yield coverage(group, RuleId.FORMER_LEADER_STILL_MASTER, max(len(changes) - len(found), 0), len(found))


def _still_master(group: Group, change: BrokerBecameSlave) -> Iterator[Finding]:
    """Yield a finding for each leader that served while the broker of the former one still changed to slave."""
    end, elapsed = until(change), group.clocks.elapsed
    former = [
        tenure
        for tenure in group.tenures
        if tenure.source == change.source_node and abs(elapsed(tenure.end, since(change))[0]) <= Timeout.MAX_INFO_GAP.us
    ]
    if end is None or not former:
        return
    last = former[-1]
    for newer in group.tenures:
        served = _served(group, newer)
        if newer.node == last.node or newer.term < last.term or served is None:
            continue
        least = min(elapsed(served, end)[0], elapsed(last.end, end)[0])
        most = min(elapsed(served, end)[1], elapsed(last.end, end)[1])
        if least >= Timeout.MIN_REPORTED.us and not group.clocks.surely_before(newer.end, last.end):
            yield _finding(group, change, (last, newer, served), (least, most))


def _served(group: Group, tenure: Tenure) -> Moment | None:
    """Return when the leader's broker had become master; None if it never did."""
    of_tenure = (fact for fact in group.of(Serving) if (fact.source_node, fact.term) == (tenure.source, tenure.term))
    return next((end for fact in of_tenure if (end := until(fact)) is not None), None)


def _finding(
    group: Group, change: BrokerBecameSlave, who: tuple[Tenure, Tenure, Moment], lasted: tuple[int, int]
) -> Finding:
    former, newer, served = who
    end = until(change)
    return group.finding(
        RuleId.FORMER_LEADER_STILL_MASTER,
        (former.node, former.term, change.since),
        severity=INFO,
        certainty=DEFINITE,
        nodes=(former.node, newer.node),
        terms=(former.term, newer.term),
        when=(former.end.at, end.at if end else None),
        summary=f"The broker of {former.with_detail(f'term {former.term}')} was still changing to slave for "
        f"{between(*lasted)} after it had stopped leading, while the broker of {newer.name} was master of term "
        f"{newer.term}: clients may still be sent to either, and writes to the former one fail.",
        evidence=[former.end.event_id, change.since_event, newer.begin.event_id, served.event_id],
        lasted=(lasted[0], lasted[1]),
    )
