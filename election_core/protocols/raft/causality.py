"""What was logged at one etcd member because of what was logged at another: it ties their clocks together."""

from collections.abc import Iterable, Iterator

from election_core.judge.clock import Message
from election_core.judge.group import since
from election_core.model.facts import Fact, TermRaised
from election_core.protocols.raft.log import PROTOCOL
from election_core.protocols.raft_family.causality import raises


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A member that heard of a larger term from another one reached it after that one."""
    of_raft = [fact for fact in facts if fact.protocol == PROTOCOL]
    first = raises(of_raft)
    for fact in of_raft:
        cause = first.get((fact.peer, fact.term)) if isinstance(fact, TermRaised) else None
        if cause is not None:
            yield Message(cause, since(fact))
