"""What ties the clocks of brokers and controllers together: pairs of lines of which one follows from the other."""

from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Fact, Role
from election_replay.election_core.protocols.controller.checks import ELECTED
from election_replay.election_core.protocols.controller.facts import Decision, RegisterCode


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A broker takes a role after the election; a controller accepts a code after it was made.

    Only what the leading controller prints causes anything: before it replicates (DLedger), or before it answers
    (JRaft). Other controllers print the same decision whenever they come to it. A registerCheckCode holds the
    broker's own clock, so the controller's line alone ties both clocks together.
    """
    facts = list(facts)
    elected: dict[int, Moment] = {}
    sources: dict[str, set[str]] = {}
    for fact in facts:
        if isinstance(fact, Decision):
            if fact.decision == ELECTED and fact.leading and fact.term is not None:
                elected[fact.term] = min(elected.get(fact.term, since(fact)), since(fact))
        elif isinstance(fact, RegisterCode) and not fact.accepted:
            sources.setdefault(fact.register_code, set()).add(fact.source_node)
    for fact in facts:
        cause: Moment | None = None
        if isinstance(fact, Role) and fact.role in (LEADER, FOLLOWER) and fact.cause in ("elected", "told"):
            cause = elected.get(fact.term) if fact.term is not None else None
        elif isinstance(fact, RegisterCode) and fact.accepted:
            makers = sources.get(fact.register_code, set())
            if len(makers) == 1:
                made = fact.made_ms * 1000
                cause = Moment(made, made + 999, next(iter(makers)), fact.since_event)
        if cause is not None:
            yield Message(cause, since(fact))
