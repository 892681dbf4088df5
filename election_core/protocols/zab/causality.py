"""Causal pairs of ZooKeeper servers: lines of one that follow from lines of another, which tie their clocks."""

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
from election_replay.election_core.protocols.zab.passed_votes import CAST_EARLIER, LEADING, VOTE, voted_for


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs from established leaders, from the votes of an election, and from leaders' notices."""
    of_ensemble = [fact for fact in facts if fact.protocol == PROTOCOL]
    yield from _after_establishment(of_ensemble)
    yield from _votes_heard(of_ensemble)


def _after_establishment(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield pairs from a leader's establishment to another server's first sight of its epoch.

    Such a sight is a proposal of the epoch, or a vote for its leader with it. A leader takes an epoch shortly before it
    is established; if it fails in between, it is never established in it, and proposes a larger epoch next time
    (``Leader#lead``, ``#getEpochToPropose``). An epoch in which two leaders were established, after data loss, ties
    nothing.
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
    """Return the epoch whose establishment the line certainly came after; None if it shows none."""
    if isinstance(fact, TermRaised):
        return fact.term
    if isinstance(fact, MessageReceived) and fact.message == VOTE:
        leader, epoch = voted_for(fact.ids)
        return epoch if epoch is not None and leaders.get(epoch) == leader else None
    return None


def _votes_heard(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield pairs from a server's entry into a round to each vote heard from it, and from its win to each notice.

    A server prints that it leads right after it starts to send notices of that (``QuorumPeer#run``). Left out are votes
    that a restarted server may have cast again in a round of the same number, votes of unknown begin, and votes that
    may be of an earlier run whose election lines are missing.
    """
    sent: dict[tuple[object, ...], set[Moment | None]] = {}
    begins = process_begins(facts, PROTOCOL)
    whole = _whole_lives(facts, begins)
    for fact in facts:
        if isinstance(fact, MessageSent) and fact.message in (VOTE, CAST_EARLIER, LEADING):
            cause = since(fact) if fact.message != CAST_EARLIER else None
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
    """Return how many of each server's first runs in a row show an election of round 1, from which each run counts."""
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
    """Return True when a vote may be of an earlier run of its sender, lines of which are missing."""
    starts = begins.get(cause.source, [])
    last = bisect_right(starts, cause.at) - 1
    all_known = heard.message == VOTE and last <= whole.get(cause.source, 0)
    return last > 0 and not all_known and heard.since_by < starts[last]
