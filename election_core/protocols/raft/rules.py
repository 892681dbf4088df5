"""What the facts of a Raft group must satisfy: the rules of DLedger, and the comparison of logs that it does not print.

A leader that is cut off, or frozen, calls itself leader until CheckQuorum or a message of a larger term ends it; it
cannot commit meanwhile, since a majority has moved on. So two leaders of different terms at once are worth knowing and
no alarm; two leaders of one term, or two votes of one member in one term, are.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_core.judge.clock import Clocks, Message
from election_core.judge.group import group_of, since
from election_core.judge.leaderless import GROUP_SHUTDOWN
from election_core.model.catalogue import INFO, RuleId
from election_core.model.facts import Fact, QuietLog, TermRaised
from election_core.model.rows import Finding, Row
from election_core.protocols.dledger.causality import raises
from election_core.protocols.dledger.rules import raft_rows
from election_core.protocols.raft.facts import RaftRuleBroken
from election_core.protocols.raft.log import PROTOCOL

__all__ = ["PROTOCOL", "judge", "messages"]

_BROKEN = {
    RuleId.LEADER_WITHOUT_QUORUM: "became leader of term {term} although {refusals} of {voters_in_force} voters "
    "had refused",
    RuleId.COMMITTED_ENTRY_LOST: "lost committed entries: {why}",
    RuleId.STALE_LOG_VOTE: "voted for {peer} in term {term} although {why}",
}


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one Raft group: an etcd cluster, or the JRaft controllers, whose votes are not read."""
    quiet = any(isinstance(fact, QuietLog) for fact in own)
    group = group_of(own, clocks)
    broken = ((fact, _broken(fact)) for fact in group.of(RaftRuleBroken))
    for row in raft_rows(group, broken):
        yield _no_incident(row) if quiet and isinstance(row, Finding) else row


def _broken(fact: RaftRuleBroken) -> str:
    return _BROKEN[RuleId(fact.rule)].format(
        term=fact.term, peer=fact.peer, why=fact.why, refusals=fact.refusals, voters_in_force=fact.voters_in_force
    )


def _no_incident(row: Finding) -> Finding:
    """A time without leader to the end of all logs, within a minute, may be the end of all members.

    Whether the last of them were stopped or died, a few lost lines decide.
    """
    at_the_end = row.rule == RuleId.LEADERLESS and row.end_time is None
    return replace(row, severity=INFO) if at_the_end and (row.duration_max_ms or 0) * 1000 < GROUP_SHUTDOWN else row


def messages(own: Iterable[Fact]) -> Iterator[Message]:
    """Causal pairs: a member that heard of a larger term from another one reached it after that one."""
    own = [fact for fact in own if fact.protocol == PROTOCOL]
    first = raises(own)
    for fact in own:
        cause = first.get((fact.peer, fact.term)) if isinstance(fact, TermRaised) else None
        if cause is not None:
            yield Message(cause, since(fact))
