"""Causal pairs of etcd members: lines of one that follow from lines of another, which tie their clocks.

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
"""A round trip has a weight of one eighth in the printed, smoothed one, so it took at most eight times as long
(``probing.status#record``)."""


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs: a member that heard of a larger term from another one reached it after that one."""
    of_raft = [fact for fact in facts if fact.protocol == PROTOCOL]
    first = raises(of_raft)
    for fact in of_raft:
        cause = first.get((fact.peer, fact.term)) if isinstance(fact, TermRaised) else None
        if cause is not None:
            yield Message(cause, since(fact))
    yield from _measured(of_raft)


def _measured(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield each measured clock difference as two messages, one for each bound. The difference is printed up to some
    seconds after it was measured; a clock that was set in between shows itself elsewhere."""
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
    """Return the moment as the reading of another clock that is ``later_us`` ahead."""
    return Moment(moment.at + later_us, moment.by + later_us, source, moment.event_id)
