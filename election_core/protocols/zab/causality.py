"""What was logged at one ZooKeeper server because of what was logged at another: it ties their clocks together."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, takewhile

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.clock import Message, Moment
from election_replay.election_core.judge.group import since
from election_replay.election_core.judge.moments import SLACK_US
from election_replay.election_core.model.facts import Fact, MessageReceived, MessageSent, Role, TermRaised
from election_replay.election_core.protocols.raft_family.causality import process_begins
from election_replay.election_core.protocols.zab.log import PROTOCOL
from election_replay.election_core.protocols.zab.passed_votes import CAST, LEADING, VOTE, voted_for


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """What follows from an established leader, the votes of an election, and who leads by its own notices."""
    of_ensemble = [fact for fact in facts if fact.protocol == PROTOCOL]
    yield from _after_establishment(of_ensemble)
    yield from _votes_heard(of_ensemble)


def _after_establishment(facts: Iterable[Fact]) -> Iterator[Message]:
    """A server sees a proposal of an epoch, or a vote for its leader with that epoch, only after its leader was
    established.

    A leader takes the epoch for its current one shortly before it is established, and one that fails in between never
    is: it proposes a larger epoch the next time (``Leader#lead``, ``#getEpochToPropose``). An epoch in which two were
    established, since data was lost, ties nothing.
    """
    established: dict[int, dict[str, Moment]] = {}
    leaders: dict[int, str | None] = {}
    for fact in facts:
        if isinstance(fact, Role) and fact.role == LEADER and fact.term is not None and fact.cause == "elected":
            by_source = established.setdefault(fact.term, {})
            by_source[fact.source_node] = min(by_source.get(fact.source_node, since(fact)), since(fact))
            leaders[fact.term] = fact.node
    for fact in facts:
        epoch = _epoch_told(fact, leaders)
        causes = established.get(epoch, {}) if epoch is not None else {}
        if len(causes) == 1:
            (cause,) = causes.values()
            yield Message(cause, since(fact))


def _epoch_told(fact: Fact, leaders: Mapping[int, str | None]) -> int | None:
    """The epoch of whose establishment a line is surely a late effect, if there was one."""
    if isinstance(fact, TermRaised):
        return fact.term
    if isinstance(fact, MessageReceived) and fact.message == VOTE:
        leader, epoch = voted_for(fact.ids)
        return epoch if epoch is not None and leaders.get(epoch) == leader else None
    return None


def _votes_heard(facts: Iterable[Fact]) -> Iterator[Message]:
    """A vote of a round is heard only after its sender went into the election of that round, and that a server leads
    only after it won that round: it prints so right after it says so (``QuorumPeer#run``).

    A server that starts again may cast the same vote in a round of the same number: such votes are left out. So are
    those of which it is not known since when they were cast, and those that it may have cast in an earlier life of
    whose first election lines are missing.
    """
    sent: dict[tuple[object, ...], set[Moment | None]] = {}
    begins = process_begins(facts, PROTOCOL)
    whole = _whole_lives(facts, begins)
    for fact in facts:
        if isinstance(fact, MessageSent) and fact.message in (VOTE, CAST, LEADING):
            cause = since(fact) if fact.message != CAST else None
            if cause is not None and fact.message == LEADING:
                cause = replace(cause, at=cause.at - SLACK_US)
            sent.setdefault((fact.replica_group, fact.node, fact.term, fact.ids), set()).add(cause)
    for fact in facts:
        if isinstance(fact, MessageReceived) and fact.message in (VOTE, LEADING):
            causes = sent.get((fact.replica_group, fact.peer, fact.term, fact.ids), set())
            if len(causes) == 1:
                (cause,) = causes
                if cause is not None and not _of_an_earlier_life(fact, cause, begins, whole):
                    yield Message(cause, since(fact))


def _whole_lives(facts: Iterable[Fact], begins: Mapping[str, list[int]]) -> dict[str, int]:
    """How many of the first lives of each server show an election of round 1, one life after the other: rounds are
    counted from 1 in each."""
    first: dict[str, set[int]] = {}
    for fact in facts:
        if isinstance(fact, MessageSent) and fact.message == VOTE and fact.term == 1:
            first.setdefault(fact.source_node, set()).add(fact.since)
    whole: dict[str, int] = {}
    for source, elections in first.items():
        times = sorted(elections)
        with_election = (
            bisect_left(times, begin) < bisect_left(times, end) for begin, end in pairwise(begins.get(source, ()))
        )
        whole[source] = sum(takewhile(bool, with_election))
    return whole


def _of_an_earlier_life(
    heard: MessageReceived, cause: Moment, begins: Mapping[str, list[int]], whole: Mapping[str, int]
) -> bool:
    """Whether a vote may have been heard from an earlier life of its sender, of which lines are missing."""
    starts = begins.get(cause.source, [])
    last = bisect_right(starts, cause.at) - 1
    all_known = heard.message == VOTE and last <= whole.get(cause.source, 0)
    return last > 0 and not all_known and heard.since_by < starts[last]
