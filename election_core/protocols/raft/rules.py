"""What the facts of a Raft group must satisfy: the rules of DLedger, and the comparison of logs that it does not print.

A leader that is cut off, or frozen, calls itself leader until CheckQuorum or a message of a larger term ends it; it
cannot commit meanwhile, since a majority has moved on. So two leaders of different terms at once are worth knowing and
no alarm; two leaders of one term, or two votes of one member in one term, are.
"""

from collections.abc import Iterable, Iterator

from election_core import facts
from election_core.clock import Clocks, Message
from election_core.facts import Fact
from election_core.group import group_of, since
from election_core.protocols.dledger.causality import raises
from election_core.protocols.dledger.rules import raft_rows
from election_core.protocols.raft.log import PROTOCOL
from election_core.rows import Row

__all__ = ["PROTOCOL", "judge", "messages"]

_BROKEN = {
    "LEADER_WITHOUT_QUORUM": "became leader of term {term} although {count} of {needed} voters had refused",
    "STALE_LOG_VOTE": "voted for {peer} in term {term} although {result}",
}


def judge(own: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """All rows of one Raft group: an etcd cluster, or the JRaft controllers, whose votes are not read."""
    return raft_rows(group_of(own, clocks), _BROKEN)


def messages(own: Iterable[Fact]) -> Iterator[Message]:
    """Causal pairs: a member that heard of a larger term from another one reached it after that one."""
    own = [fact for fact in own if fact.protocol == PROTOCOL]
    first = raises(own)
    for fact in own:
        cause = first.get((fact.peer or "", fact.term or 0)) if fact.kind == facts.TERM_RAISED else None
        if cause is not None:
            yield Message(cause, since(fact))
