"""The rules of a Raft group: those of the Raft family, and the comparison of logs.

A leader that is cut off, or frozen, calls itself leader until CheckQuorum or a message of a larger term ends it. It
cannot commit meanwhile, since a majority has moved on. So two leaders of different terms at once are reported without
alarm; two leaders of one term, or two votes of one member in one term, are alarms.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.completeness import as_grave_as_losses
from election_replay.election_core.judge.coverage import sure_and_possible
from election_replay.election_core.judge.group import group_of
from election_replay.election_core.model.catalogue import RuleId
from election_replay.election_core.model.facts import Fact, QuietLog, RuleBroken
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.raft import stores
from election_replay.election_core.protocols.raft.log import PROTOCOL
from election_replay.election_core.protocols.raft_family import rules as raft_family
from election_replay.election_core.protocols.raft_family.losses import losses, tallies

__all__ = ["PROTOCOL", "judge"]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one Raft group: an etcd cluster, or the JRaft controllers, whose votes are not read."""
    group = group_of(facts, clocks)
    has_quiet_log = any(True for _ in group.of(QuietLog))
    no_incident = raft_family.end_of_all_logs if has_quiet_log else None
    rows = list(raft_family.rows_of(group, no_incident, tallies(group)))
    rules = {RuleId.TERM_REGRESSION, *(fact.rule for fact in group.of(RuleBroken))}
    breaches = (row for row in rows if isinstance(row, Finding) and row.rule in rules)
    back = [row for row in rows if isinstance(row, Finding) and row.rule == RuleId.TERM_REGRESSION]
    # JRaft controllers, which have no quiet log, print nothing about their data.
    of_stores = list(stores.judge(group, back)) if has_quiet_log else []
    yield from as_grave_as_losses(_counting(rows, of_stores), losses(group, breaches))
    yield from of_stores


def _counting(rows: Iterable[Row], of_stores: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows, with the entries that a restored cluster lacks added to the coverage."""
    lost, _ = sure_and_possible((row for row in of_stores if isinstance(row, Finding)), RuleId.COMMITTED_ENTRY_LOST)
    for row in rows:
        if isinstance(row, RuleCoverage) and row.rule == RuleId.COMMITTED_ENTRY_LOST:
            yield replace(row, violates=row.violates + lost)
        else:
            yield row
