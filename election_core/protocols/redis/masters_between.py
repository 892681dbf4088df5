"""Whether an unlogged master may have led during a gap between two masters.

redis-1   [== master ==]                    its log alone tells of an end, and of nobody who came after it
redis-2                 [== master ==...    whose log is missing or ends earlier
sentinel  ......................            names each new master, as long as its own log lasts
"""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.fold.roles import FOLLOWER, OBSERVER, UNKNOWN
from election_replay.election_core.judge.group import Group, since, until
from election_replay.election_core.judge.leaderless import Gap
from election_replay.election_core.judge.led_between import covers
from election_replay.election_core.protocols.redis.facts import BytesRefused, SentinelSaid
from election_replay.election_core.protocols.redis.sentinel_log import NAMES, PROMOTED


def shown(group: Group, gap: Gap) -> Gap:
    """Return the gap with a least of 0 if an unlogged master may have led in it. At the end of the logs, it may also
    have ended with a restart of a cluster node whose role no line shows."""
    if not _nobody_came(group, gap):
        return replace(gap, least=min(gap.least, 0))
    started = (role for role in group.roles if role.role == UNKNOWN and role.until is None and gap.after is None)
    least = (group.clocks.elapsed(gap.begin, since(role))[0] for role in started)
    return replace(gap, least=min(gap.least, *(us for us in least if us > 0), gap.least))


def _nobody_came(group: Group, gap: Gap) -> bool:
    """Return True when no replica followed another master, no sentinel named one, and a sentinel or every other
    server's log covers the gap."""
    if any(_followed_another(group, gap)) or _named_another(group, gap):
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
    for fact in group.of(BytesRefused):  # a replica that asked a master, and has no log of its own
        if fact.peer is not None:
            sources.setdefault(fact.peer, set())
    servers = [of_server for server, of_server in sources.items() if server != gap.before.node]
    return bool(servers) and all(of_server & there for of_server in servers)


def _followed_another(group: Group, gap: Gap) -> Iterator[bool]:
    """Yield, for each role, True if it surely followed a third master in the middle of the gap."""
    known, elapsed = _masters_around(gap), group.clocks.elapsed
    for role in group.roles:
        if role.role not in (FOLLOWER, OBSERVER) or role.leader is None or role.leader in known:
            continue
        end = until(role)
        yield elapsed(since(role), gap.end)[0] > 0 and (end is None or elapsed(gap.begin, end)[0] > 0)


def _named_another(group: Group, gap: Gap) -> bool:
    """Return True when a sentinel named a third master that may have come in the gap."""
    named = (fact for fact in group.of(SentinelSaid) if fact.message in (PROMOTED, NAMES) and fact.node is not None)
    others = (since(fact) for fact in named if fact.node not in _masters_around(gap))
    elapsed = group.clocks.elapsed
    return any(elapsed(gap.begin, word)[1] > 0 and elapsed(word, gap.end)[1] > 0 for word in others)


def _masters_around(gap: Gap) -> set[str | None]:
    return {gap.before.node, gap.after.node if gap.after is not None else None}
