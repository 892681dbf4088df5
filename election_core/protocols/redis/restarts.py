"""What is lost where a master is started again: with an older snapshot, with older data, or empty.

    redis-2   [=== master, 296 keys ===] killed   [=== master again, with an older append-only file =====
    redis-3        copies 296 keys                        copies 204 keys: 92 are gone

No line of a server says how old its append-only file is. Its replicas print how many keys they copy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from election_replay.election_core.fold.roles import LEADER
from election_replay.election_core.judge.group import Group, since
from election_replay.election_core.judge.wording import name_of, seconds
from election_replay.election_core.model.catalogue import CRITICAL, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import Role
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.redis.facts import BytesRefused, DataHeld
from election_replay.election_core.protocols.redis.losses import OF_CLIENTS, heartbeats
from election_replay.election_core.protocols.redis.server_log import ASKS, BEGAN, COPIED, GOES_ON, SAVED


def losses_at_restarts(group: Group) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS`` by masters that came back empty, or with fewer keys."""
    yield from wiped(group)
    yield from _fewer_keys(group)


def _fewer_keys(group: Group) -> Iterator[Finding]:
    """Yield losses by masters that came back with fewer keys than a replica had copied from them shortly before. Keys
    also go because clients delete them, or because they expire: it is possible only."""
    held = sorted(group.of(DataHeld), key=lambda fact: (fact.source_node, fact.since, fact.ordinal))
    goes_on = {fact.other: fact for fact in held if fact.message == GOES_ON and fact.other is not None}
    began = goes_on | {fact.ids: fact for fact in held if fact.message == BEGAN and fact.ids is not None}
    most: dict[str, tuple[int, DataHeld, DataHeld]] = {}
    for before, after in pairwise(fact for fact in held if fact.message == COPIED):
        if after.ids is None or before.ids is None or not {after.ids, before.ids} <= began.keys():
            continue
        history, first = began[after.ids], began[before.ids]
        if not after.count or history.count == 0:
            continue
        of_one = before.source_node == after.source_node
        soon = after.since - before.since <= Timeout.REDIS_COPIES.us
        gone = (before.count or 0) - after.count
        if of_one and soon and before.ids != after.ids and gone > most.get(after.ids, (0,))[0]:
            most[after.ids] = gone, before, after
    for ids, (gone, before, after) in most.items():
        first = began[before.ids or ""]
        if began[ids].source_node != first.source_node:
            yield _fewer_than_another(group, (first, began[ids]), before, after, gone)
        elif _led_before(group, began[ids]):
            yield _fewer(group, began[ids], before, after, gone)


def _fewer(group: Group, history: DataHeld, before: DataHeld, after: DataHeld, gone: int) -> Finding:
    master, replica = name_of(history.node, history.source_node), name_of(after.node, after.source_node)
    return group.finding(
        RuleId.POSSIBLE_DATA_LOSS,
        ("fewer", history.source_node, history.ids),
        severity=WARNING,
        certainty=POSSIBLE,
        nodes=(history.who, after.who),
        when=(history.since, since(after).at),
        summary=f"{master} was started again with fewer keys: {replica} had copied {before.count:,} from it, and "
        f"copied {after.count:,} then. If clients did not delete the other {gone:,}, and none expired, its data are an "
        "older copy.",
        evidence=[before.since_event, history.since_event, after.since_event],
    )


def _fewer_than_another(
    group: Group, masters: tuple[DataHeld, DataHeld], before: DataHeld, after: DataHeld, gone: int
) -> Finding:
    """Return the loss of a replica that copied fewer keys from a new master than it had copied from another one."""
    first, newer = masters
    former, master = name_of(first.node, first.source_node), name_of(newer.node, newer.source_node)
    return group.finding(
        RuleId.POSSIBLE_DATA_LOSS,
        ("fewer than another", newer.source_node, after.ids),
        severity=WARNING,
        certainty=POSSIBLE,
        nodes=(newer.who, first.who, after.who),
        when=since(after).at,
        summary=f"{master} had fewer keys than {former}: {name_of(after.node, after.source_node)} had copied "
        f"{before.count:,} from {first.who}, and copied {after.count:,} from {newer.who} then. If clients did not "
        f"delete the other {gone:,}, and none expired, they are lost.",
        evidence=[first.since_event, before.since_event, newer.since_event, after.since_event],
    )


def started_from_snapshots(group: Group) -> Iterator[Finding]:
    """Yield losses by masters restarted from an old snapshot, if a replica had more of their history. Both throw the
    rest away. Data loaded from an append-only file is no snapshot."""
    held = sorted(group.of(DataHeld), key=lambda fact: (fact.source_node, fact.since, fact.ordinal))
    for saved in (fact for fact in held if fact.message == SAVED and _led_before(group, fact)):
        earlier = [fact for fact in held if fact.source_node == saved.source_node and fact.since < saved.since]
        asks = (fact for fact in held if fact.message == ASKS and fact.source_node != saved.source_node)
        for asked in asks:
            if 0 <= group.clocks.elapsed(since(saved), since(asked))[1] <= Timeout.REDIS_TOLD.us:
                gone = _lost_since_snapshot(group, saved, earlier, asked)
                if gone is not None:
                    yield gone
                    break


def _lost_since_snapshot(group: Group, saved: DataHeld, earlier: Sequence[DataHeld], asked: DataHeld) -> Finding | None:
    """Return the loss since a master's ``saved`` snapshot, by its ``earlier`` lines and a replica's request; else
    None."""
    saved_at = saved.since - (saved.count or 0) * SECOND
    begun = [fact for fact in earlier if fact.message == GOES_ON and fact.other == asked.ids and fact.since > saved_at]
    answers = (fact for fact in group.of(BytesRefused) if fact.source_node == saved.source_node)
    answer = next((fact for fact in answers if saved.since <= fact.since and fact.from_index == asked.to_index), None)
    had = [fact for fact in earlier if fact.message == GOES_ON and fact.ids == asked.ids]
    if begun:
        former, cut_from, cut_to = begun[-1], begun[-1].to_index or 0, asked.to_index or 0
    elif answer is not None and had:
        former, cut_from, cut_to = had[-1], answer.to_index or 0, had[-1].to_index or 0
    else:
        return None
    lost, master = cut_to - cut_from, name_of(saved.node, saved.source_node)
    if lost <= 0:
        return None
    grave = lost > heartbeats(group, (saved.count or 0) * SECOND)
    explained = f", more than heartbeats: {OF_CLIENTS}" if grave else "; they may be heartbeats alone"
    return group.finding(
        RuleId.POSSIBLE_DATA_LOSS,
        ("older", saved.source_node, saved.since),
        severity=CRITICAL if grave else WARNING,
        nodes=(saved.who, asked.who),
        when=(saved.since, asked.since),
        summary=f"{master} was started again with data that had been saved {seconds((saved.count or 0) * SECOND)} "
        f"before, and {asked.who} copied that: at least {lost:,} bytes written since are gone{explained}.",
        evidence=[former.since_event, saved.since_event, asked.since_event, answer.since_event if answer else None],
        bytes_lost=lost,
        offset_before=cut_to,
        offset_after=cut_from,
    )


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a replica lost when it copied an empty master: ``keys``, or ``bytes`` of a history, as ``had`` shows.
    ``sure``: keys, or more bytes than heartbeats can have been since the history began. ``written``: the same, or since
    the begin of the logs where that of the history is unknown."""

    copy: DataHeld
    had: DataHeld
    keys: int
    bytes: int
    sure: bool
    written: bool = True


def wiped(group: Group) -> Iterator[Finding]:
    """Yield losses by a master that came back empty and was copied by its replicas. Each log is used in its own order;
    the id of the history that the master began ties them together."""
    held = sorted(group.of(DataHeld), key=lambda fact: (fact.source_node, fact.since, fact.ordinal))
    for began in held:
        if began.message != BEGAN or not began.ids or not _led_before(group, began):
            continue
        emptied = list(_replaced(group, held, began))
        if not emptied:
            continue
        replicas = dict.fromkeys(of.copy.node or of.copy.source_node for of in emptied)
        keys, history = max(of.keys for of in emptied), max(of.bytes for of in emptied)
        gone = f"at least {keys:,} keys are gone" if keys else f"{history:,} bytes of former writes are gone"
        written = any(of.written for of in emptied)
        yield group.finding(
            RuleId.POSSIBLE_DATA_LOSS,
            ("wiped", began.source_node, began.ids),
            severity=CRITICAL if any(of.sure for of in emptied) else WARNING,
            certainty=PROVEN if written else POSSIBLE,
            nodes=(began.who, *replicas),
            when=(began.since, max(since(of.copy).at for of in emptied)),
            summary=f"{name_of(began.node, began.source_node)} began anew without a key, and "
            f"{' and '.join(replicas)} copied that; {gone}{'' if written else ', if they were not heartbeats alone'}.",
            evidence=[began.since_event, *(fact.since_event for of in emptied for fact in (of.had, of.copy))],
        )


def _replaced(group: Group, held: Sequence[DataHeld], began: DataHeld) -> Iterator[Replaced]:
    """Yield the replicas that copied what an empty master began, with what they had before."""
    for copy in held:
        if copy.message != COPIED or copy.ids != began.ids or (copy.count != 0 and began.count != 0):
            continue
        before = [fact for fact in held if fact.source_node == copy.source_node and fact.since < copy.since]
        counted = [fact for fact in before if fact.count]
        asked = [fact for fact in before if fact.message == ASKS and fact.ids != began.ids and fact.to_index]
        gone = (counted[-1].count or 0) - (copy.count or 0) if counted and copy.count is not None else 0
        if gone > 0:
            yield Replaced(copy, counted[-1], gone, 0, sure=True)
        elif began.count == 0 and asked:
            history = (asked[-1].to_index or 1) - 1
            begun = [
                fact for fact in held if asked[-1].ids in (fact.ids if fact.message == BEGAN else None, fact.other)
            ]
            first = begun[0].since if begun else min(fact.since for fact in group.facts)
            since_then = history - ((begun[0].to_index or 1) - 1 if begun else 0)
            written = since_then > heartbeats(group, max(began.since - first, 0))
            yield Replaced(copy, asked[-1], 0, history, sure=written and bool(begun), written=written)


def _led_before(group: Group, began: DataHeld) -> bool:
    """Return True when the server had been master in an earlier process."""
    return any(
        role.source_node == began.source_node
        and role.role == LEADER
        and role.until is not None
        and role.until <= began.since
        for role in group.of(Role)
    )
