"""Causal pairs of servers and sentinels: lines of one that follow from lines of another, which tie their clocks.

sentinel   +try-failover ....................................... <id> voted for ...
another                 +vote-for-leader
sentinel   +failover-state-wait-promotion ..................... +promoted-slave
server                  MASTER MODE enabled
replica    Trying a partial resynchronization (request <history>:<byte>) ........... Done loading RDB
master                  Partial resynchronization not accepted
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import Message
from election_replay.election_core.judge.group import in_order, since, until
from election_replay.election_core.judge.moments import belong_together
from election_replay.election_core.model.facts import Candidacy, Fact, Role, VoteGranted
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.redis.facts import BytesRefused, DataHeld, SentinelSaid
from election_replay.election_core.protocols.redis.sentinel_log import NAMES, PROMOTED, TOLD_TO_FOLLOW, TOLD_TO_LEAD
from election_replay.election_core.protocols.redis.server_log import ASKS, BY_COMMAND, COPIED, PROTOCOL


def causal_pairs(facts: Iterable[Fact]) -> Iterator[Message]:
    """Yield the pairs from votes, sentinels' commands, and replicas' copies."""
    of_redis = list(in_order({fact for fact in facts if fact.protocol == PROTOCOL}))
    yield from _votes(of_redis)
    yield from _commands(of_redis)
    yield from _copies(of_redis)


def _votes(facts: list[Fact]) -> Iterator[Message]:
    """Yield pairs: a vote comes after the candidacy, and is heard, or wins, after it is given."""
    asked = {(fact.node, fact.term): fact for fact in facts if isinstance(fact, Candidacy)}
    votes = [fact for fact in facts if isinstance(fact, VoteGranted)]
    given = {}
    for vote in votes:
        campaign = asked.get((vote.node, vote.term))
        if campaign is not None and campaign.source_node != vote.source_node:
            yield Message(since(campaign), since(vote))
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
    taken: dict[tuple[str, str | None], list[Role]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact, Role) and fact.cause == BY_COMMAND:
            taken[fact.role, fact.node].append(fact)
    for (message, node), words in spoken.items():
        role = {TOLD_TO_LEAD: LEADER, PROMOTED: LEADER, TOLD_TO_FOLLOW: FOLLOWER}.get(message)
        roles = taken.get((role or "", node), [])
        if role is None or len(roles) != len(words):
            continue
        in_turn = list(zip(sorted(words, key=lambda word: word.term or word.since), roles, strict=True))
        if not belong_together([begun.since - word.since for word, begun in in_turn], Timeout.REDIS_TOLD.us):
            continue
        for word, begun in in_turn:
            pair = since(word), since(begun)
            yield Message(*(pair if message != PROMOTED else reversed(pair)))
    yield from _heard_of(spoken)


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
