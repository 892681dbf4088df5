"""What was logged at one etcd member because of what was logged at another: it ties their clocks together.

A member also prints how far its clock is ahead of a peer's: that ties the two from both sides.
"""

from collections.abc import Iterable, Iterator

from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.model.facts import Fact, Role, TermRaised
from election_replay.election_core.model.timing import US_PER_MS, Timeout
from election_replay.election_core.protocols.raft.facts import ClockMeasured
from election_replay.election_core.protocols.raft.log import PROTOCOL
from election_replay.election_core.protocols.raft_family.causality import raises

_SMOOTHED = 8
"""A round trip counts for an eighth of the smoothed one that is printed: it took at most so many times as long
(``probing.status#record``)."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """A member that heard of a larger term from another one reached it after that one."""
    of_raft = [fact for fact in facts if fact.protocol == PROTOCOL]
    first = raises(of_raft)
    for fact in of_raft:
        cause = first.get((fact.peer, fact.term)) if isinstance(fact, TermRaised) else None
        if cause is not None:
            yield Message(cause, since(fact))
    yield from _measured(of_raft)


def _measured(facts: Iterable[Fact]) -> Iterator[Message]:
    """A measured difference as two messages: the peer's clock showed no less, and no more, than so much before.

    The difference is printed up to some seconds after it was measured; a clock that was set in between shows itself
    elsewhere.
    """
    sources: dict[str, set[str]] = {}
    measured: list[ClockMeasured] = []
    for fact in facts:
        if isinstance(fact, Role) and fact.node is not None:
            sources.setdefault(fact.node, set()).add(fact.source_node)
        elif isinstance(fact, ClockMeasured):
            measured.append(fact)
    for fact in measured:
        of_peer = sources.get(fact.peer, set()) - {fact.source_node}
        if len(of_peer) != 1:
            continue
        (peer,) = of_peer
        round_trip = Timeout.ETCD_READ_TIMEOUT.value.ms if fact.rtt_ms is None else _SMOOTHED * (fact.rtt_ms + 1)
        ahead, blur, here = fact.ahead_ms * US_PER_MS, round_trip * US_PER_MS, since(fact)
        yield Message(_on(peer, here, -ahead - blur), here)
        yield Message(here, _on(peer, here, -ahead + blur))


def _on(source: str, moment: Moment, later_us: int) -> Moment:
    """The reading of another clock, so much later than that of this moment."""
    return Moment(moment.at + later_us, moment.by + later_us, source, moment.event_id)
