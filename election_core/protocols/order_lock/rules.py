"""Locks of one queue held by two clients at two brokers of a broker set at once.

Every broker of a set keeps a lock table of its own and answers lock requests whatever its role is. With
``lockInStrictMode=false`` one broker's grant is enough; with ``true`` a majority of the *configured* ``totalReplicas``
must grant. A grant that missed the majority is not undone: it stays in its table for up to a minute, and its line reads
like any other. So a hold is counted by its grants, never by lines.

The brokers' logs cannot show:

* a renewal: more than 60 s after its grant a lock may live or may have expired, except where another client is refused
  because of it;
* the answer that a client got in strict mode, and which broker it had asked;
* what a client did with its lock: whether it read messages after the lock was gone, or gave the queue up without
  telling this broker;
* the property ``rocketmq.broker.rebalance.lockMaxLiveTime``, if somebody made the 60 s longer. A lock that expires
  earlier shows that they are shorter; no lock of that broker surely lives after its line then.

So two holders at once are definite or possible, never proven: only clocks order the grants of two brokers.

Sources: RocketMQ ``RebalanceLockManager``, ``AdminBrokerProcessor#lockBatchMQ``, RIP-32 (``lockInStrictMode``).
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, product
from operator import attrgetter

from election_replay.election_core.fold.process_runs import SILENCE
from election_replay.election_core.judge.clock import UNBOUNDED, Clocks, Moment
from election_replay.election_core.judge.coverage import counted, coverage
from election_replay.election_core.judge.group import SILENT_END, Group, group_of, since, until
from election_replay.election_core.judge.wording import between, name_of
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.facts import Alive, Fact, Silence
from election_replay.election_core.model.rows import Finding, LockHold, Row, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.order_lock.facts import LockGivenUp, LockHeld, LockLate
from election_replay.election_core.protocols.order_lock.log import EXPIRED, PROCESS_ENDED, PROTOCOL, RELEASED

__all__ = ["PROTOCOL", "judge"]

Key = tuple[str, str, int]
"""Consumer group, topic, queue."""


@dataclass(frozen=True, slots=True)
class Hold:
    """A client's lock at one broker: surely alive from ``begin`` to ``sure``, perhaps until ``end`` (``None``: open).
    ``sure`` and ``end`` account for what the client did at other brokers. ``present``: the log proves that the entry
    was in the table until ``end``."""

    fact: LockHeld
    key: Key
    client: str
    broker: str
    source: str
    begin: Moment
    sure: Moment
    end: Moment | None
    needed: int | None
    present: bool

    @property
    def name(self) -> str:
        """Return the broker's name, with its folder where that differs."""
        return name_of(self.broker, self.source)

    @property
    def surely_begun(self) -> Moment:
        """Return the moment from which on the lock surely lived."""
        return Moment(self.begin.by, self.begin.by, self.source)


@dataclass(frozen=True, slots=True)
class Double:
    """Two clients that each have enough grants of one queue at once, for ``least`` to ``most`` us. ``shown``: the logs
    show that both entries were in their tables; otherwise nothing is reported."""

    first: Hold
    second: Hold
    certainty: str
    least: int
    most: int
    grants: tuple[Hold, ...]
    shown: bool


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one broker set."""
    if not any(isinstance(fact, LockHeld) for fact in facts):
        return
    group = group_of(facts, clocks)
    entries = list(_entries(group))
    holds = _as_clients_know(group, entries)
    yield from lock_holds(group, entries)
    own_of = _by_client(entries, group.clocks)
    partial = [hold for hold in entries if _missed_quorum(group, hold, own_of)]
    doubles = list(double_holds(group, holds, {hold.fact for hold in partial}))
    double_findings = list(_double_findings(group, doubles))
    yield from double_findings
    yield from _without_quorum(group, partial)
    risks = list(_risks(group, entries, double_findings))
    yield from risks
    late = list(_late(group))
    yield from late
    yield from _coverage(group, entries, holds, doubles, late, risks)


# -- holds ------------------------------------------------------------------------------------------------------


def _entries(group: Group) -> Iterator[Hold]:
    """Yield the entries of all tables; brokers whose log does not show the mode get that of their set."""
    modes = {(fact.strict, fact.needed) for fact in group.of(LockHeld) if fact.strict is not None}
    strict = {mode for mode, _ in modes}
    quorums = {needed for _, needed in modes if needed is not None}
    ends = _ends_of_logs(group)
    for held in group.of(LockHeld):
        fact = held
        if fact.strict is None and len(strict) == 1:
            fact = replace(fact, strict=next(iter(strict)))
        if fact.needed is None and fact.strict is not None and len(strict) == 1 and len(quorums) == 1:
            fact = replace(fact, needed=next(iter(quorums)))
        end = until(fact) or ends.get(fact.source_node)
        sure = fact.sure_until
        if end is not None:  # the table vanishes with its process, which may have died after its last line
            sure = max(min(sure, end.at), fact.since)
        yield Hold(
            fact=fact,
            key=(fact.consumer_group, fact.topic, fact.queue_id),
            client=fact.client,
            broker=fact.who,
            source=fact.source_node,
            begin=since(fact),
            sure=Moment(sure, sure, fact.source_node),
            end=end,
            needed=fact.needed,
            present=fact.end_cause in (RELEASED, EXPIRED),
        )


def _ends_of_logs(group: Group) -> dict[str, Moment]:
    """Return the last signs of processes whose logs stop well before the logs of their set: those processes ended."""
    last: dict[str, int] = {}
    for run in group.of(Alive):
        last[run.source_node] = max(last.get(run.source_node, 0), run.since if run.until is None else run.until)
    seen = {source: Moment(at, at + SILENCE, source) for source, at in last.items()}
    return {
        source: moment for source, moment in seen.items() if group.clocks.elapsed(moment, group.end)[0] >= SILENT_END
    }


def _as_clients_know(group: Group, entries: list[Hold]) -> list[Hold]:
    """Return the entries, shortened where a client gave the lock up, moved, or could not renew it."""
    given_up: dict[tuple[Key, str], list[Moment]] = {}
    for fact in group.of(LockGivenUp):
        key = (fact.consumer_group, fact.topic, fact.queue_id)
        given_up.setdefault((key, fact.client), []).append(since(fact))
    moved: dict[tuple[Key, str], list[Moment]] = {}
    for hold in entries:
        moved.setdefault((hold.key, hold.client), []).append(hold.begin)
    frozen: dict[str, list[int]] = {}
    for gap in group.of(Silence):
        frozen.setdefault(gap.source_node, []).append(gap.since)
    gone = {who: OtherBrokers(moments, group.clocks) for who, moments in given_up.items()}
    went = {who: OtherBrokers(moments, group.clocks) for who, moments in moved.items()}
    gaps = {source: sorted(moments) for source, moments in frozen.items()}
    return [_as_client_knows(group, hold, gone, went, gaps) for hold in entries]


class OtherBrokers:
    """A client's actions on one queue at all brokers of a set, to find its next action at another broker."""

    def __init__(self, moments: Iterable[Moment], clocks: Clocks) -> None:
        self._clocks = clocks
        self._by_source: dict[str, list[Moment]] = {}
        for moment in sorted(moments, key=_at):
            self._by_source.setdefault(moment.source, []).append(moment)
        self._longest = max(
            (moment.by - moment.at for of_source in self._by_source.values() for moment in of_source), default=0
        )

    def after(self, begin: Moment) -> Iterator[Moment]:
        """Yield, for every other broker, the moments after ``begin`` up to the first that is surely after it. Some
        moments before ``begin`` may come too, and those that may precede the end of that first one."""
        for source, moments in self._by_source.items():
            if source == begin.source:
                continue
            first: Moment | None = None
            earliest = begin.at - self._clocks.most_ahead(begin.source, source) - self._longest
            for number in range(bisect_left(moments, earliest, key=_at), len(moments)):
                if first is not None and moments[number].at > first.by:
                    break
                yield moments[number]
                if first is None and self._clocks.elapsed(begin, moments[number])[0] > 0:
                    first = moments[number]


_at = attrgetter("at")


def _as_client_knows(
    group: Group,
    hold: Hold,
    given_up: dict[tuple[Key, str], OtherBrokers],
    moved: dict[tuple[Key, str], OtherBrokers],
    frozen: dict[str, list[int]],
) -> Hold:
    """Return an entry with its sure time and end shortened by what its client did elsewhere and by freezes."""
    who, sure, end = (hold.key, hold.client), hold.sure.at, hold.end
    for other in given_up[who].after(hold.begin) if who in given_up else ():
        # A client that gives a queue back at one broker no longer holds it, whatever other tables contain.
        if group.clocks.elapsed(hold.begin, other)[1] > 0:
            sure = min(sure, _on_clock_of(group, hold.source, other).at)
        if group.clocks.elapsed(hold.begin, other)[0] > 0:
            end = _earlier(end, _on_clock_of(group, hold.source, other))
    for other in moved[who].after(hold.begin) if hold.needed == 1 else ():
        # Without a quorum a client asks only one broker of a set, so its lock is now there.
        if group.clocks.elapsed(hold.begin, other)[0] > 0:
            sure = min(sure, _on_clock_of(group, hold.source, other).at)
            end = _earlier(end, _on_clock_of(group, hold.source, other))
    gaps = frozen.get(hold.source, [])
    number = bisect_left(gaps, hold.begin.at)
    if number < len(gaps):
        # A frozen broker renews nothing, and a client drops a lock that was not renewed for a while.
        sure = min(sure, gaps[number] + group.timing.shortest_us(Timeout.LOCK_CLIENT_LIFE))
    sure = max(sure, hold.begin.at)
    return replace(hold, sure=Moment(sure, sure, hold.source), end=end)


def _on_clock_of(group: Group, source: str, moment: Moment) -> Moment:
    """Return a moment of another machine as an interval on the clock of ``source``."""
    early = moment.at - group.clocks.most_ahead(moment.source, source)
    late = moment.by + group.clocks.most_ahead(source, moment.source)
    return Moment(max(early, 0), min(late, UNBOUNDED), source, moment.event_id)


def _earlier(moment: Moment | None, other: Moment) -> Moment:
    return other if moment is None or other.by < moment.by else moment


def lock_holds(group: Group, entries: list[Hold]) -> Iterator[LockHold]:
    """Yield one row for each entry of each table."""
    others = _by_client(entries, group.clocks)
    for hold in entries:
        fact = hold.fact
        yield LockHold(
            **group.names,
            broker_node=hold.broker,
            source_node=hold.source,
            consumer_group=hold.key[0],
            topic=hold.key[1],
            queue_id=hold.key[2],
            client_id=hold.client,
            lock_mode=None if fact.strict is None else ("strict" if fact.strict else "non_strict"),
            granted=len(_grants(group, hold, others[(hold.key, hold.client)])),
            needed=hold.needed,
            start_time=fact.since,
            end_time=hold.end.at if hold.end else None,
            certain_until=hold.sure.at,
            start_uncertainty_ms=(fact.since_by - fact.since) // 1000,
            end_uncertainty_ms=(hold.end.by - hold.end.at) // 1000 if hold.end else None,
            start_cause=fact.cause,
            end_cause=fact.end_cause or (PROCESS_ENDED if hold.end else None),
            start_event_id=fact.since_event,
            end_event_id=fact.until_event,
        )


def _by_key(holds: Iterable[Hold]) -> dict[Key, list[Hold]]:
    """Return the holds of each queue by their beginning."""
    found: dict[Key, list[Hold]] = {}
    for hold in sorted(holds, key=lambda hold: (hold.begin, hold.source)):
        found.setdefault(hold.key, []).append(hold)
    return found


class Entries:
    """The entries of one client for one queue in all tables, to find those alive at a moment."""

    def __init__(self, holds: Iterable[Hold], clocks: Clocks) -> None:
        self._holds = sorted(holds, key=_begins)
        self._sure = list(accumulate((hold.sure.at for hold in self._holds), max))
        self._apart = clocks.widest + Timeout.LOCK_ONE_REQUEST.us

    def about(self, moment: Moment) -> Iterator[Hold]:
        """Yield the entries that may have been alive or begun at about ``moment``, and perhaps some others."""
        for number in reversed(range(bisect_right(self._holds, moment.at + self._apart, key=_begins))):
            if self._sure[number] < moment.at - self._apart:
                break
            yield self._holds[number]


def _begins(hold: Hold) -> int:
    return hold.begin.at


def _by_client(entries: Iterable[Hold], clocks: Clocks) -> dict[tuple[Key, str], Entries]:
    found: dict[tuple[Key, str], list[Hold]] = {}
    for hold in entries:
        found.setdefault((hold.key, hold.client), []).append(hold)
    return {who: Entries(holds, clocks) for who, holds in found.items()}


def _pairs_near_in_time(group: Group, holds: list[Hold]) -> Iterator[tuple[Hold, Hold]]:
    """Yield pairs of holds at different brokers of which the second begins before, or soon after, the first one's end.
    The bounds of the clocks keep this from growing with the square of a long log."""
    sources = {hold.source for hold in holds}
    apart = max(group.clocks.most_ahead(earlier, later) for earlier in sources for later in sources)
    apart += group.timing.us(Timeout.LOCK_LIFE)
    for number, earlier in enumerate(holds):
        for later in holds[number + 1 :]:
            if earlier.end is not None and later.begin.at > earlier.end.by + apart:
                break
            if earlier.source != later.source:
                yield earlier, later


def _grants(group: Group, hold: Hold, entries: Entries) -> set[str]:
    """Return the brokers that, by their logs, had an entry of the same client when this one was made. Peers are asked
    at once and waited for a few seconds; an older entry is renewed without a line."""
    return {
        other.source
        for other in entries.about(hold.begin)
        if other is hold
        or _granted_within(group, other, hold)
        or max(*group.clocks.elapsed(hold.begin, other.begin), *group.clocks.elapsed(other.begin, hold.begin))
        <= Timeout.LOCK_ONE_REQUEST.us
    }


# -- two holders ------------------------------------------------------------------------------------------------


def _sure(group: Group, hold: Hold, other: Hold) -> bool:
    """Return True when both locks lived at one moment, for every clock inside its bounds. Either the later one was
    granted while the other one surely lived, or their sure times overlap."""
    return _granted_within(group, hold, other) or _granted_within(group, other, hold) or _least(group, hold, other) > 0


def _granted_within(group: Group, alive: Hold, later: Hold) -> bool:
    return (
        group.clocks.elapsed(alive.begin, later.begin)[0] >= 0 and group.clocks.elapsed(later.begin, alive.sure)[0] > 0
    )


def _least(group: Group, hold: Hold, other: Hold) -> int:
    """Return the least time in us for which both locks lived at once, as far as the logs go."""
    spans = (
        group.clocks.elapsed(hold.surely_begun, other.sure)[0],
        group.clocks.elapsed(other.surely_begun, hold.sure)[0],
        group.clocks.elapsed(hold.surely_begun, group.end)[0],
        group.clocks.elapsed(other.surely_begun, group.end)[0],
        hold.sure.at - hold.begin.by,
        other.sure.at - other.begin.by,
    )
    return max(min(spans), 0)


def _most(group: Group, hold: Hold, other: Hold) -> int:
    """Return the most time in us for which both locks can have lived at once."""
    one_end, other_end = hold.end or group.end, other.end or group.end
    spans = (
        group.clocks.elapsed(hold.begin, other_end)[1],
        group.clocks.elapsed(other.begin, one_end)[1],
        group.clocks.elapsed(hold.begin, one_end)[1],
        group.clocks.elapsed(other.begin, other_end)[1],
    )
    return max(min(spans), 0)


def double_holds(group: Group, holds: list[Hold], partial: set[LockHeld]) -> Iterator[Double]:
    """Yield pairs of clients that each had, or may have had, enough grants of one queue at once. Entries that missed
    the quorum (``partial``) are no holds. Intervals that overlap pairwise have a common moment, so it is enough to test
    every two grants of both clients."""
    for of_queue in _by_key(holds).values():
        for first, second in _pairs_near_in_time(group, of_queue):
            if first.client != second.client and not {first.fact, second.fact} & partial:
                yield from _double(group, of_queue, first, second)


def _double(group: Group, of_queue: list[Hold], first: Hold, second: Hold) -> Iterator[Double]:
    """Yield the double hold of which ``first`` and ``second`` are the earliest grants of each client."""
    if not _overlap(group, first, second):
        return
    sides = (_enough(group, of_queue, first), _enough(group, of_queue, second))
    sure = next((a + b for a, b in product(*sides) if _all(_sure, group, a + b)), None)
    if sure is not None:
        least, most = _shortest(_least, group, sure), _shortest(_most, group, sure)
        yield Double(first, second, DEFINITE, least, most, sure, shown=True)
        return
    perhaps = next((a + b for a, b in product(*sides) if _all(_overlap, group, a + b)), None)
    grants = perhaps or (first, second)
    # Without a later sign of the first entry it may have been released in a missing line.
    unreleased = (
        first.present and first.end is not None and group.clocks.elapsed(second.begin, first.end)[0] > -_blur(second)
    )
    shown = perhaps is not None and unreleased
    yield Double(first, second, POSSIBLE, 0, _shortest(_most, group, grants), grants, shown)


def _blur(hold: Hold) -> int:
    """Return how exactly the beginning of a hold is known, in us."""
    return hold.begin.by - hold.begin.at


def _enough(group: Group, of_queue: list[Hold], hold: Hold) -> list[tuple[Hold, ...]]:
    """Return the sets of grants of one client that make a hold and begin with this one; none without a known quorum."""
    if hold.needed is None:
        return []
    if hold.needed == 1:
        return [(hold,)]
    more = [
        other
        for other in of_queue
        if other.client == hold.client
        and other.source != hold.source
        and (hold.begin, hold.source) < (other.begin, other.source)
        and _most(group, hold, other) > 0
    ]
    rest = combinations(more, hold.needed - 1)
    return [(hold, *some) for some in rest if len({other.source for other in some}) == len(some)]


def _all(overlap: Callable[[Group, Hold, Hold], bool], group: Group, grants: tuple[Hold, ...]) -> bool:
    """Return True when every two grants overlap; two entries of one table never do, even within one second."""
    return all(a.source != b.source and overlap(group, a, b) for a, b in combinations(grants, 2))


def _overlap(group: Group, hold: Hold, other: Hold) -> bool:
    return _most(group, hold, other) > 0


def _shortest(measure: Callable[[Group, Hold, Hold], int], group: Group, grants: tuple[Hold, ...]) -> int:
    return min(measure(group, a, b) for a, b in combinations(grants, 2))


def _episodes(doubles: Iterable[Double]) -> Iterator[list[Double]]:
    """Yield double holds of the same clients at the same brokers, at about the same time and equally certain."""
    episodes: dict[tuple[str, ...], list[list[Double]]] = {}
    for double in sorted(doubles, key=lambda d: (d.second.begin, d.first.key)):
        first, second = double.first, double.second
        who = (first.key[0], first.client, second.client, first.source, second.source, double.certainty)
        known = episodes.setdefault(who, [])
        if known and double.second.begin.at - known[-1][-1].second.begin.at <= Timeout.LOCK_EPISODE.us:
            known[-1].append(double)
        else:
            known.append([double])
    for _, known in sorted(episodes.items()):
        yield from known


def _double_findings(group: Group, doubles: list[Double]) -> Iterator[Finding]:
    """Yield ``LOCK_DOUBLE_HOLD``; a possible one is implied by a definite one between the same two clients."""
    causes: dict[tuple[str, ...], Finding] = {}
    shown = [double for double in doubles if double.shown]
    episodes = sorted(_episodes(shown), key=lambda ds: (ds[0].certainty != DEFINITE, ds[0].second.begin))
    for episode in episodes:
        first, second = episode[0].first, episode[0].second
        who = (first.key[0], *sorted((first.client, second.client)))
        finding = _double_finding(group, episode)
        if finding.certainty == DEFINITE:
            causes.setdefault(who, finding)
        elif (cause := causes.get(who)) is not None:
            finding = replace(finding, implied_by=cause.finding_id)
        yield finding


def _double_finding(group: Group, episode: list[Double]) -> Finding:
    first, second = episode[0].first, episode[0].second
    certain = episode[0].certainty == DEFINITE
    least, most = max(d.least for d in episode), max(d.most for d in episode)
    queues = _queues(d.first.key for d in episode)
    verb = "held" if certain else "may have held"
    after = "" if certain else "; no line shows that the first lock still lived: renewals print nothing"
    return group.finding(
        RuleId.LOCK_DOUBLE_HOLD,
        (*(d.first.fact.since_event for d in episode), *(d.second.fact.since_event for d in episode)),
        severity=CRITICAL if certain else WARNING,
        certainty=episode[0].certainty,
        nodes=tuple(sorted({hold.broker for double in episode for hold in double.grants})),
        when=(min(d.second.begin.at for d in episode), _end_of(episode)),
        summary=f"{_where(episode[0], first.client)} and {_where(episode[0], second.client)} both {verb} {queues} "
        f"of {first.key[0]}, for {_duration(least, most)}{after}.",
        evidence=_evidence(hold for d in episode for hold in d.grants),
        together=(least, most),
    )


def _duration(least: int, most: int) -> str:
    """Return the duration as a phrase; with whole seconds the least is often zero, then only the most is given."""
    return between(least, most) if least else f"up to {between(most, most)}"


def _end_of(episode: list[Double]) -> int | None:
    """Return the time (us UTC) at which every queue had a single holder again; None while one is still shared."""
    ends = [min((end.at for end in (d.first.end, d.second.end) if end is not None), default=None) for d in episode]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def _where(double: Double, client: str) -> str:
    brokers = [hold.name for hold in double.grants if hold.client == client]
    return f"{client} at broker{'s' if len(brokers) > 1 else ''} {', '.join(brokers)}"


def _queues(keys: Iterable[Key]) -> str:
    """Return queues as a phrase: ``OrderEvents queues 0, 2``."""
    by_topic: dict[str, set[int]] = {}
    for _, topic, queue in keys:
        by_topic.setdefault(topic, set()).add(queue)
    parts = []
    for topic, queues in sorted(by_topic.items()):
        numbers = ", ".join(str(queue) for queue in sorted(queues))
        parts.append(f"{topic} queue{'s' if len(queues) > 1 else ''} {numbers}")
    return " and ".join(parts)


def _evidence(holds: Iterable[Hold]) -> Iterator[str | None]:
    return (event for hold in holds for event in (hold.fact.since_event, hold.fact.until_event))


# -- the quorum of the strict mode ------------------------------------------------------------------------------


def _without_quorum(group: Group, partial: list[Hold]) -> Iterator[Finding]:
    """Yield ``LOCK_WITHOUT_QUORUM``: grants in strict mode that missed the quorum, as peers' errors prove. The client
    was told that it holds nothing, so no rule is broken; but the entry stays and refuses others."""
    missed: dict[tuple[str, str, str], list[Hold]] = {}
    for hold in partial:
        missed.setdefault((hold.key[0], hold.client, hold.source), []).append(hold)
    for (consumers, client, _), holds in sorted(missed.items()):
        first = holds[0]
        silent = sorted({address for hold in holds for address in hold.fact.silent_peers})
        yield group.finding(
            RuleId.LOCK_WITHOUT_QUORUM,
            (*(hold.fact.since_event for hold in holds),),
            severity=INFO,
            certainty=POSSIBLE,
            nodes=(first.broker,),
            when=(first.begin.at, None),
            summary=f"Broker {first.name} made lock entries of {client} for {_queues(h.key for h in holds)} of "
            f"{consumers}, but {', '.join(silent)} did not answer: fewer than the {first.needed} grants that the "
            "strict mode asks for. The client does not hold the lock, and the entries stay until they expire.",
            evidence=(*_evidence(holds), *(e for h in holds for e in h.fact.evidence)),
        )


def _missed_quorum(group: Group, hold: Hold, by_client: dict[tuple[Key, str], Entries]) -> bool:
    """Return True when too few replicas can have granted, given the peers that did not answer. Replicas are the
    configured ``totalReplicas``, or all brokers with logs if those are more."""
    if not hold.fact.strict or hold.needed is None or not hold.fact.silent_peers:
        return False
    speaking = len({fact.source_node for fact in group.of(Alive)})
    replicas = 2 * hold.needed - 1 if hold.fact.replicas is None else hold.fact.replicas
    could = max(replicas, speaking) - len(hold.fact.silent_peers)
    return could < hold.needed and len(_grants(group, hold, by_client[(hold.key, hold.client)])) < hold.needed


# -- what the non-strict mode risks -----------------------------------------------------------------------------


def _risks(group: Group, entries: list[Hold], doubles: list[Finding]) -> Iterator[Finding]:
    """Yield ``LOCK_NON_STRICT_RISK``: locks of a lost table that went to another client at another broker. It is
    implied by a double hold between the same two brokers. A client that takes its own lock again at another broker
    stays the only holder."""
    moves: dict[tuple[str, str], list[tuple[Hold, Hold]]] = {}
    for of_queue in _by_key(hold for hold in entries if hold.fact.strict is False).values():
        for first, second in _pairs_near_in_time(group, of_queue):
            if _moved_early(group, first, second):
                moves.setdefault((first.source, second.source), []).append((first, second))
    for pair in sorted(moves):
        for episode in _close_together(moves[pair]):
            yield _risk(group, episode, doubles)


def _moved_early(group: Group, first: Hold, second: Hold) -> bool:
    """Return True when a lock was granted anew while the first client may still have believed in its lost one."""
    if first.client == second.client or first.fact.end_cause not in (PROCESS_ENDED, None) or first.end is None:
        return False
    gone = group.clocks.elapsed(first.end, second.begin)
    return gone[0] > 0 and gone[1] < group.timing.shortest_us(Timeout.LOCK_CLIENT_LIFE)


def _close_together(moves: list[tuple[Hold, Hold]]) -> Iterator[list[tuple[Hold, Hold]]]:
    episode: list[tuple[Hold, Hold]] = []
    for move in sorted(moves, key=lambda move: (move[1].begin, move[1].key)):
        if episode and move[1].begin.at - episode[-1][1].begin.at > Timeout.LOCK_EPISODE.us:
            yield episode
            episode = []
        episode.append(move)
    yield episode


def _risk(group: Group, episode: list[tuple[Hold, Hold]], doubles: list[Finding]) -> Finding:
    first, second = episode[0]
    clients = sorted({later.client for _, later in episode})
    implied = next(
        (
            found.finding_id
            for found in doubles
            if {first.broker, second.broker} <= set(found.nodes)
            and abs(found.start_time - second.begin.at) <= Timeout.LOCK_EPISODE.us
        ),
        None,
    )
    count = len({later.key for _, later in episode})
    locks = "The lock of one queue" if count == 1 else f"The locks of {count} queues"
    return group.finding(
        RuleId.LOCK_NON_STRICT_RISK,
        (*(hold.fact.since_event for move in episode for hold in move),),
        severity=INFO,
        certainty=POSSIBLE,
        nodes=(first.broker, second.broker),
        when=(second.begin.at, None),
        summary=f"{locks} at broker {first.name} went to {', '.join(clients)} at broker {second.name}, which knew "
        "nothing of the first lock, before its holder can have let it go. In non-strict mode nothing keeps another "
        "client out.",
        evidence=_evidence(hold for move in episode for hold in move),
        implied_by=implied,
    )


def _risk_coverage(group: Group, entries: list[Hold], holds: list[Hold], risks: Sequence[Finding]) -> RuleCoverage:
    """Return the coverage: queues with locks in one table at a time, findings, and queues of which no line tells."""
    by_queue = _by_key(hold for hold in entries if hold.fact.strict is False)
    known = _by_key(hold for hold in holds if hold.fact.strict is False)
    early = {
        key
        for key, some in by_queue.items()
        for earlier, later in _pairs_near_in_time(group, some)
        if _moved_early(group, earlier, later)
    }
    perhaps = {
        key
        for key, some in known.items()
        for earlier, later in _pairs_near_in_time(group, some)
        if _overlap(group, earlier, later)
    }
    return counted(
        group,
        RuleId.LOCK_NON_STRICT_RISK,
        risks,
        len(by_queue.keys() - early - perhaps) + len(risks) + len(perhaps - early),
        untold=len(perhaps - early),
        why="renewals print nothing: whether the lock at the other living broker had run out is not in the logs",
    )


# -- after expiry -----------------------------------------------------------------------------------------------


def _late(group: Group) -> Iterator[Finding]:
    """Yield ``LOCK_USED_AFTER_EXPIRY``: a client counted a queue as its own after another had taken the lock."""
    late: dict[tuple[str, str, str, str], list[LockLate]] = {}
    for fact in group.of(LockLate):
        who = (fact.consumer_group, fact.client, fact.holder or "another client", fact.source_node)
        late.setdefault(who, []).append(fact)
    for (consumers, client, holder, source), found in sorted(late.items()):
        broker = found[0].node or source
        queues = _queues((consumers, fact.topic, fact.queue_id) for fact in found)
        yield group.finding(
            RuleId.LOCK_USED_AFTER_EXPIRY,
            (*(fact.since_event for fact in found),),
            severity=INFO,
            certainty=POSSIBLE,
            nodes=(broker,),
            when=(found[0].since, None),
            summary=f"{client} gave back {queues} of {consumers} at broker {broker} after the expired lock had gone "
            f"to {holder}: it counted them as its own until then. The logs do not say whether it read messages in "
            "that time.",
            evidence=(event for fact in found for event in fact.evidence),
        )


# -- coverage ---------------------------------------------------------------------------------------------------


def _coverage(
    group: Group,
    entries: list[Hold],
    holds: list[Hold],
    doubles: list[Double],
    late: list[Finding],
    risks: list[Finding],
) -> Iterator[RuleCoverage]:
    sure = {hold.fact for d in doubles if d.certainty == DEFINITE for hold in d.grants}
    undecided = len({hold.fact for d in doubles for hold in d.grants} - sure)
    yield coverage(
        group,
        RuleId.LOCK_DOUBLE_HOLD,
        len(entries) - len(sure) - undecided,
        len(sure),
        undecided,
        "renewals print nothing: whether the other broker's lock still lived, or in strict mode had its quorum, is not "
        "in the logs",
    )
    strict = [hold for hold in entries if hold.fact.strict]
    by_client = _by_client(entries, group.clocks)
    proven = [
        hold
        for hold in strict
        if hold.needed is not None and len(_grants(group, hold, by_client[(hold.key, hold.client)])) >= hold.needed
    ]
    if strict or any(hold.fact.strict is None for hold in entries):
        unknown = sum(1 for hold in entries if hold.fact.strict is None)
        yield coverage(
            group,
            RuleId.LOCK_WITHOUT_QUORUM,
            len(proven),
            0,
            len(strict) - len(proven) + unknown,
            "the answer of the quorum is not printed, nor are renewals of entries that peers already had, nor whom a "
            "broker asks without slave acting master",
        )
    if any(hold.fact.strict is False for hold in entries):
        yield _risk_coverage(group, entries, holds, risks)
    expired = sum(1 for hold in entries if hold.fact.end_cause == EXPIRED)
    checked = max(expired, len(late))
    yield counted(
        group,
        RuleId.LOCK_USED_AFTER_EXPIRY,
        late,
        checked,
        unclear=checked,
        why="what a client does after its lock expired is not in the brokers' logs",
    )
