"""Causal pairs of KRaft nodes: lines of one that follow from lines of another, which tie their clocks.

A voter that hears of a larger epoch reached it after the candidate, and follows a leader after that one led.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Fact, Role, TermRaised, VoteGranted
from election_replay.election_core.protocols.kraft.quorum_log import PROTOCOL
from election_replay.election_core.protocols.raft_family.causality import of_two_machines, raises


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs: a vote and a larger epoch come after the candidacy, a follower after its leader."""
    of_quorum = [fact for fact in facts if fact.protocol == PROTOCOL]
    stood = raises([fact for fact in of_quorum if not (isinstance(fact, TermRaised) and fact.peer is not None)])
    led = _led(of_quorum)
    for fact in of_quorum:
        cause = None
        if isinstance(fact, TermRaised):
            cause = stood.get((fact.peer, fact.term))
        elif isinstance(fact, VoteGranted) and fact.voter != fact.node:
            cause = stood.get((fact.node, fact.term))
        elif isinstance(fact, Role) and (fact.role, fact.cause) == (FOLLOWER, "heartbeat"):
            cause = led.get((fact.leader, fact.term))
        if cause is not None and cause.source != fact.source_node:
            yield Message(cause, since(fact))


def _led(facts: list[Fact]) -> dict[tuple[str | None, int | None], Moment]:
    """Return when each leader was elected in each epoch, by its own log; no member that several machines speak for. A
    log that begins in a leadership, or knows it by its end, does not show its begin."""
    doubled = of_two_machines(facts)
    first: dict[tuple[str | None, int | None], Moment] = {}
    for fact in facts:
        if isinstance(fact, Role) and (fact.role, fact.cause) == (LEADER, "elected") and fact.node not in doubled:
            key = (fact.node, fact.term)
            first[key] = min(first.get(key, since(fact)), since(fact))
    return first
