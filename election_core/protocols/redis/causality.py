"""Causal pairs of servers and sentinels: lines of one that follow from lines of another, which tie their clocks.

sentinel   +try-failover ....................................... <id> voted for ...
another                 +vote-for-leader
sentinel   +failover-state-wait-promotion ..................... +promoted-slave
server                  MASTER MODE enabled
replica    Trying a partial resynchronization (request <history>:<byte>) ........... Done loading RDB
master                  Partial resynchronization not accepted
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.clock import Message
from election_replay.election_core.judge.group import in_order, since, until
from election_replay.election_core.judge.moments import belong_together
from election_replay.election_core.model.facts import Candidacy, Fact, VoteGranted
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.redis.facts import BytesRefused, DataHeld, Obeyed, SentinelSaid
from election_replay.election_core.protocols.redis.sentinel_log import (
    NAMES,
    PROMOTED,
    TOLD_TO_FOLLOW,
    TOLD_TO_LEAD,
)
from election_replay.election_core.protocols.redis.server_log import ASKS, COPIED, PROTOCOL


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs from votes, sentinels' commands, and replicas' copies."""
    of_redis = list(in_order({fact for fact in facts if fact.protocol == PROTOCOL}))
    yield from _votes(of_redis)
    yield from _commands(of_redis)
    yield from _copies(of_redis)


def _votes(facts: list[Fact]) -> Iterator[Message]:
    """Yield pairs: a vote comes after the candidacy, and is heard, or wins, after it is given. A sentinel that stands
    too hears of votes for others; only the voter's log shows when it voted."""
    asked = {(fact.node, fact.term): fact for fact in facts if isinstance(fact, Candidacy)}
    votes = [fact for fact in facts if isinstance(fact, VoteGranted)]
    speaks = {fact.source_node: fact.peer for fact in facts if isinstance(fact, SentinelSaid)}
    given = {}
    for vote in votes:
        campaign = asked.get((vote.node, vote.term))
        if campaign is not None and campaign.source_node != vote.source_node:
            yield Message(since(campaign), since(vote))
            if speaks.get(vote.source_node) in (None, vote.voter):
                given[vote.voter, vote.node, vote.term] = vote
    for heard in votes:
        vote = given.get((heard.voter, heard.node, heard.term), heard)
        if vote.source_node != heard.source_node:
            yield Message(since(vote), since(heard))
    for (_, _, term), vote in given.items():
        won = asked[vote.node, term]
        end = until(won)
        alone = [other for other in given.values() if (other.node, other.term) == (won.node, won.term)]
        if won.outcome == "won" and end is not None and len(alone) == 1:
            yield Message(since(vote), end)


def _commands(facts: list[Fact]) -> Iterator[Message]:
    """Yield pairs: a server takes a role after a sentinel's command, and the sentinel sees it after that."""
    spoken: dict[tuple[str, str | None], list[SentinelSaid]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, SentinelSaid):
            spoken[fact.message, fact.node].append(fact)
    for node, role, sentinel, obeyed in _by_sentinel(facts):
        of_role = (TOLD_TO_LEAD, PROMOTED) if role == LEADER else (TOLD_TO_FOLLOW,)
        for message in of_role:
            words = [word for word in spoken.get((message, node), []) if (word.peer or sentinel).startswith(sentinel)]
            for word, begun in _in_turn(sorted(words, key=lambda word: word.term or word.since), obeyed):
                pair = since(word), since(begun)
                yield Message(*(pair if message != PROMOTED else reversed(pair)))
    yield from _heard_of(spoken)


def _by_sentinel(facts: list[Fact]) -> Iterator[tuple[str | None, str, str, list[Obeyed]]]:
    """Yield (server, role, sentinel, roles that the server took by that sentinel's command in the order of its log)."""
    taken: dict[tuple[str, str | None, str, str], list[Obeyed]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, Obeyed):
            taken[fact.source_node, fact.node, fact.role, fact.peer].append(fact)
    for (_, node, role, sentinel), obeyed in taken.items():
        yield node, role, sentinel, obeyed


def _in_turn(words: Sequence[SentinelSaid], roles: Sequence[Obeyed]) -> list[tuple[SentinelSaid, Obeyed]]:
    """Return each role with the word about it, both in their order. A server that had the role already prints nothing:
    with more words than roles, only one choice of words may be as far from all roles. Empty if it is not clear."""
    choices = set()
    for first in words[: len(words) - len(roles) + 1] if roles else ():
        apart = roles[0].since - first.since
        nearest = (min(words, key=lambda word: abs(role.since - word.since - apart)) for role in roles)
        choices.add(tuple(words if len(words) == len(roles) else dict.fromkeys(nearest)))
    fitting = [
        pairs
        for chosen in choices
        if len(chosen) == len(roles)
        and (pairs := list(zip(chosen, roles, strict=True)))
        and belong_together([begun.since - word.since for word, begun in pairs], Timeout.REDIS_TOLD.us)
    ]
    return fitting[0] if len(fitting) == 1 else []


def _heard_of(spoken: dict[tuple[str, str | None], list[SentinelSaid]]) -> Iterator[Message]:
    """Yield pairs: other sentinels name a new master after the sentinel that promoted it knows it."""
    for (message, node), words in spoken.items():
        for word in words if message == NAMES else ():
            first = next((fact for fact in spoken.get((PROMOTED, node), []) if fact.term == word.term), None)
            if first is not None and first.source_node != word.source_node and word.term is not None:
                yield Message(since(first), since(word))


def _copies(facts: list[Fact]) -> Iterator[Message]:
    """Yield pairs: a master answers a replica after it asked, and the replica has its data after that."""
    asks = [fact for fact in facts if isinstance(fact, DataHeld) and fact.message == ASKS]
    copies = [fact for fact in facts if isinstance(fact, DataHeld) and fact.message == COPIED]
    for answer in facts:
        if not isinstance(answer, BytesRefused) or answer.from_index is None:
            continue
        asked = [ask for ask in asks if (ask.node, ask.to_index) == (answer.peer, answer.from_index)]
        if len(asked) != 1:
            continue
        yield Message(since(asked[0]), since(answer))
        copied = next(
            (copy for copy in copies if copy.source_node == asked[0].source_node and copy.since >= asked[0].since), None
        )
        if copied is not None and answer.to_index != answer.from_index:
            yield Message(since(answer), since(copied))
    yield from _mismatches(facts, asks)


def _mismatches(facts: list[Fact], asks: list[DataHeld]) -> Iterator[Message]:
    """Yield pairs: a master that has nothing in common with a replica answers it after it asked."""
    asked: dict[tuple[str | None, str | None], list[DataHeld]] = defaultdict(list)
    for ask in asks:
        asked[ask.node, ask.ids].append(ask)
    answered: dict[tuple[str | None, str | None], list[BytesRefused]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, BytesRefused) and fact.ids is not None:
            answered[fact.peer, fact.ids].append(fact)
    for key, answers in answered.items():
        pairs = list(zip(asked.get(key, []), answers, strict=False))
        apart = [answer.since - ask.since for ask, answer in pairs]
        if len(pairs) == len(asked.get(key, [])) == len(answers) and belong_together(apart, Timeout.REDIS_TOLD.us):
            yield from (Message(since(ask), since(answer)) for ask, answer in pairs)
