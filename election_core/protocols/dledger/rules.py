"""The rules of a DLedger group: those of the Raft family, and DLedger's own.

A leader without quorum keeps its role for 6 to about 10 s (``DLedgerLeaderElector#sendHeartbeats``, maxHeartBeatLeak).
One node leading one term twice is always fine: the first round after a timeout is held in the old term.
"""

from collections.abc import Iterator

from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.completeness import as_grave_as_losses
from election_replay.election_core.judge.coverage import counted, coverage
from election_replay.election_core.judge.group import Group, group_of
from election_replay.election_core.model.catalogue import WARNING, RuleId
from election_replay.election_core.model.facts import Alive, Fact
from election_replay.election_core.model.rows import Finding, Row, RuleCoverage
from election_replay.election_core.protocols.dledger.brokers import former_masters
from election_replay.election_core.protocols.dledger.facts import StrangerMet
from election_replay.election_core.protocols.dledger.log import (
    NOT_A_MEMBER,
    OWN_ID_AT_A_MEMBER,
    OWN_ID_ELSEWHERE,
    PROTOCOL,
    UNKNOWN_TO_A_MEMBER,
)
from election_replay.election_core.protocols.dledger.losses import losses
from election_replay.election_core.protocols.raft_family import rules as raft_family
from election_replay.election_core.protocols.raft_family.stalls import stalled_leaders

__all__ = ["PROTOCOL", "judge"]


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one DLedger group."""
    group = group_of(facts, clocks)
    rows = list(raft_family.rows_of(group))
    back = [row for row in rows if isinstance(row, Finding) and row.rule == RuleId.TERM_REGRESSION]
    yield from as_grave_as_losses(rows, losses(group, back))
    yield from former_masters(group)
    yield from _strangers(group)
    stalls = list(stalled_leaders(group))
    yield from stalls
    if stalls:
        yield counted(group, RuleId.WRITES_REFUSED, stalls, len(stalls), "a log that lost lines shows the same holes")
    yield _members_coverage(group)


_STRANGE = {
    NOT_A_MEMBER: "was asked by {peer}, which is not in its list of members",
    UNKNOWN_TO_A_MEMBER: "was told by {peer} that it is not in its list of members",
    OWN_ID_AT_A_MEMBER: "was told by the process that it asks as {peer} that both have the id of {name}",
    OWN_ID_ELSEWHERE: "got a request that bears its own id, which another process has too",
}


def _strangers(group: Group) -> Iterator[Finding]:
    """Yield ``MEMBERS_DISAGREE``, once for each node."""
    met: dict[str, list[StrangerMet]] = {}
    for fact in group.of(StrangerMet):
        met.setdefault(fact.who, []).append(fact)
    for name, strange in sorted(met.items()):
        meetings = "; ".join(_STRANGE[fact.why].format(peer=fact.peer, name=name) for fact in strange)
        yield group.finding(
            RuleId.MEMBERS_DISAGREE,
            (name,),
            severity=WARNING,
            nodes=(name, *(fact.peer for fact in strange if fact.peer)),
            when=(strange[0].since, strange[-1].since),
            summary=f"{name} {meetings}. Members with different lists may count two majorities.",
            evidence=[fact.since_event for fact in strange],
        )


def _members_coverage(group: Group) -> RuleCoverage:
    strange = {fact.source_node for fact in group.of(StrangerMet)}
    silent = {fact.source_node for fact in group.of(Alive)} - strange
    return coverage(group, RuleId.MEMBERS_DISAGREE, 0, len(strange), len(silent), "lists of members are not printed")
