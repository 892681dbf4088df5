"""Whether another master may have been there in a time without one, of which no log is left.

redis-1   [== master ==]                    its log alone tells of an end, and of nobody who came after it
redis-2                 [== master ==...    of which there is no log, or one that ends before
sentinel  ......................            names each new master, as long as its own log lasts
"""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.fold.roles import FOLLOWER, OBSERVER, UNKNOWN
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.judge.leaderless import Gap
from election_replay.election_core.judge.led_between import covers
from election_replay.election_core.protocols.redis.facts import BytesRefused, SentinelSaid


def shown(group: Group, gap: Gap) -> Gap:
    """The time without a master; what may be none has no least. To the end of the logs it may have ended with the next
    start of a node of a cluster of which no line says what it is."""
    if not _nobody_came(group, gap):
        return replace(gap, least=min(gap.least, 0))
    started = (role for role in group.roles if role.role == UNKNOWN and role.until is None and gap.after is None)
    least = (group.clocks.elapsed(gap.begin, since(role))[0] for role in started)
    return replace(gap, least=min(gap.least, *(us for us in least if us > 0), gap.least))


def _nobody_came(group: Group, gap: Gap) -> bool:
    """Whether no replica followed another master meanwhile, and a sentinel or each other server tells of all of it."""
    if any(_followed_another(group, gap)):
        return False
    there = {
        source for source in group.written if source != gap.before.source and covers(group, source, gap.begin, gap.end)
    }
    if any(word.source_node in there for word in group.of(SentinelSaid)):
        return True
    sources: dict[str, set[str]] = {}
    for role in group.roles:
        sources.setdefault(role.node or role.address or role.source_node, set()).add(role.source_node)
        if role.leader is not None:
            sources.setdefault(role.leader, set())
    for fact in group.of(BytesRefused):  # a replica that asked a master, of whose own log nothing is left
        if fact.peer is not None:
            sources.setdefault(fact.peer, set())
    servers = [of_server for server, of_server in sources.items() if server != gap.before.node]
    return bool(servers) and all(of_server & there for of_server in servers)


def _followed_another(group: Group, gap: Gap) -> Iterator[bool]:
    """Whether a replica surely followed somebody in the midst of it who is neither the master before nor the next."""
    known = {gap.before.node, gap.after.node if gap.after is not None else None}
    elapsed = group.clocks.elapsed
    for role in group.roles:
        if role.role not in (FOLLOWER, OBSERVER) or role.leader is None or role.leader in known:
            continue
        end = until(role)
        yield elapsed(since(role), gap.end)[0] > 0 and (end is None or elapsed(gap.begin, end)[0] > 0)
