"""The moments at which members raised their term, where these can be the cause of others' lines.

Only what holds for incomplete logs counts. A line may have been dropped and a log may begin anywhere, so the first line
found is not always the first one written: a node that lost its record of term and vote, or got an old copy of it,
raises itself to one term twice.
"""

from collections.abc import Iterable

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Alive, Fact, Role, TermRaised, TermWentBack, VoteGranted

Raises = dict[tuple[str | None, int | None], Moment]
"""(node, term) -> when the node's own log first shows that it raised itself to the term."""


def raises(facts: list[Fact]) -> Raises:
    """Return the raises before which no other raise of the same node to the same term can have come. Where two machines
    have one id, either may vote or lead under it: then none of its raises counts."""
    raised: dict[tuple[str, int], Moment] = {}
    for fact in facts:
        if isinstance(fact, TermRaised) and fact.node is not None:
            key = (fact.node, fact.term)
            raised[key] = min(raised.get(key, since(fact)), since(fact))
    forgot, doubled = forgotten(facts), of_two_machines(facts)
    return {key: moment for key, moment in raised.items() if key[1] > forgot.get(key[0], -1) and key[0] not in doubled}


def of_two_machines(facts: Iterable[Fact]) -> set[str]:
    """Return the members as which more than one machine raised its term or took a role."""
    speaking: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, TermRaised | Role) and fact.node is not None:
            speaking.setdefault(fact.node, set()).add(fact.source_node)
    return {node for node, sources in speaking.items() if len(sources) > 1}


def forgotten(facts: Iterable[Fact]) -> dict[str, int]:
    """Return the largest term that each node forgot: it went back, or voted for two in one term."""
    forgot: dict[str, int] = {}
    voted: dict[tuple[str, int], str | None] = {}
    for fact in facts:
        node, term = fact.node, None
        if isinstance(fact, TermWentBack):
            term = fact.before
        elif isinstance(fact, VoteGranted):
            node = fact.voter
            if voted.setdefault((node, fact.term), fact.node) != fact.node:
                term = fact.term
        if node is not None and term is not None:
            forgot[node] = max(forgot.get(node, -1), term)
    return forgot


def process_begins(facts: Iterable[Fact], protocol: str) -> dict[str, list[int]]:
    """Return when the runs of each member's process began, us on its own clock, in order."""
    begun: dict[str, set[int]] = {}
    for fact in facts:
        if isinstance(fact, Alive) and fact.protocol == protocol:
            begun.setdefault(fact.source_node, set()).add(fact.since)
    return {source: sorted(times) for source, times in begun.items()}
