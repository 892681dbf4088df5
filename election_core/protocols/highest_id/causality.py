"""Causal pairs of members of a Bully group or a ring: a message is received after it was sent."""

from collections.abc import Iterable, Iterator

from election_replay.election_core.judge.clock import Message
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Fact, MessageReceived, MessageSent


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs of sent and received messages of elections. Only numbered messages count that each log has
    exactly once: if a line is missing, two messages look like one."""
    sent: dict[tuple[object, ...], set[Fact]] = {}
    received: dict[tuple[object, ...], set[Fact]] = {}
    for fact in facts:
        if not isinstance(fact, MessageSent | MessageReceived) or fact.term is None:
            continue
        is_sent = isinstance(fact, MessageSent)
        ends = (fact.node, fact.peer) if is_sent else (fact.peer, fact.node)
        key = (fact.replica_group, *ends, fact.message, fact.term, fact.ids)
        (sent if is_sent else received).setdefault(key, set()).add(fact)
    for message, effects in received.items():
        causes = sent.get(message, set())
        if len(causes) == len(effects) == 1:
            (cause,), (effect,) = causes, effects
            if cause.source_node != effect.source_node:
                yield Message(since(cause), since(effect))
