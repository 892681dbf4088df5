"""Outages that the watchers of a master tell: clients could not reach it, although it ran or its log is missing.

redis-1    [=== master ============ frozen .......... goes on ===
sentinel         +sdown ......................... -sdown            nobody took over
sentinel         +sdown ......... +switch-master redis-3            until redis-3 was made the master
"""

from collections.abc import Iterator, Sequence

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.outages import leaderless_outage, severity_of
from election_replay.election_core.judge.wording import between
from election_replay.election_core.model.catalogue import POSSIBLE
from election_replay.election_core.model.measures import Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.redis.epochs import Epochs
from election_replay.election_core.protocols.redis.facts import SentinelSaid
from election_replay.election_core.protocols.redis.losses import MISSED, restarted, sentinels_of, silent_for
from election_replay.election_core.protocols.redis.sentinel_log import DOWN, NAMES


def unreachable(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for clients that could not reach a running master, until the sentinels had another one. A
    master that they did not miss meanwhile, promoted in between, was never announced."""
    for tenure in group.tenures:
        if restarted(group, tenure):
            continue
        stale = [
            other
            for other in group.tenures
            if other.term < tenure.term
            and other.source != tenure.source
            and group.clocks.elapsed(tenure.begin, other.end)[0] > 0
        ]
        for former in reversed(stale):
            if missed := _missed_until(group, former, tenure.begin):
                yield _unreachable_finding(group, former, tenure, missed)
                break


def _missed_until(group: Group, former: Tenure, moment: Moment) -> list[SentinelSaid]:
    """Return the statements of those who still missed a master at the moment; empty where as many heard it again, as
    sentinels that slept or were in TILT learn of it late."""
    words = [
        word
        for word in group.of(SentinelSaid)
        if word.message in MISSED
        and word.node == former.node
        and group.clocks.elapsed(since(word), moment)[1] > 0
        and group.clocks.elapsed(former.begin, since(word))[1] > 0
    ]
    missed = [word for word in words if _still(group, word, moment)]
    again = {word.source_node for word in words} - {word.source_node for word in missed}
    return missed if len(again) < len({word.source_node for word in missed}) else []


def _speakers(words: Sequence[SentinelSaid], noun: str) -> str:
    """Return the one who said the words, or how many did."""
    names = {word.peer or word.source_node for word in words}
    return next(iter(names)) if len(names) == 1 else f"{len(names)} {noun}s"


def _still(group: Group, word: SentinelSaid, moment: Moment) -> bool:
    """Return True when the sentinel that missed a master still did at the moment."""
    end = until(word)
    return end is None or group.clocks.elapsed(moment, end)[1] > -Timeout.MIN_REPORTED.us


def _unreachable_finding(group: Group, former: Tenure, tenure: Tenure, missed: list[SentinelSaid]) -> Finding:
    first = min(missed, key=lambda word: since(word).at)
    begin = since(first)
    least = max(group.clocks.elapsed(begin, tenure.begin)[0], 0)
    most = group.clocks.elapsed(begin, tenure.begin)[1] + silent_for(group, first)
    who = _speakers(missed, "sentinel" if first.message == DOWN else "node")
    return leaderless_outage(
        group,
        Scope.UNREACHABLE,
        (former.term, "unreachable", begin.at // SECOND),
        (least, most),
        severity=severity_of(most),
        led=(former, tenure),
        when=(begin.at, tenure.begin.at),
        summary=f"No master for {between(least, most)} for clients that could not reach {former.name}: {who} "
        f"missed it, until {tenure.name} led epoch {tenure.term}.",
        evidence=[*(word.since_event for word in missed), tenure.begin.event_id],
    )


def missed_for_a_while(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for clients while most sentinels missed a master that nobody replaced. The master was frozen
    or cut off, and the sentinels heard it again before another one led."""
    elapsed = group.clocks.elapsed
    renamed = {word.since_event for word in group.of(SentinelSaid) if word.message == NAMES}
    for tenure in group.tenures:
        words = [
            (since(word), end, word)
            for word in group.of(SentinelSaid)
            if word.message == DOWN
            and word.node == tenure.node
            and word.until_event not in renamed
            and (end := until(word)) is not None
            and elapsed(tenure.begin, since(word))[1] > 0
            and elapsed(end, tenure.end)[1] > 0
        ]
        for spell in _at_once(group, sorted(words, key=lambda word: (word[0].at, word[2].source_node))):
            begin, end, who = spell[0][0], *_heard_again(group, spell)
            replaced = any(
                other.node != tenure.node and elapsed(begin, other.begin)[1] > 0 and elapsed(other.begin, end)[1] > 0
                for other in group.tenures
            )
            if not replaced and 2 * who > sentinels_of(group):
                yield _missed_finding(group, tenure, [word for _, _, word in spell], (begin, end))


_Missed = tuple[Moment, Moment, SentinelSaid]
"""(begin, end, message) of a time in which a sentinel missed a master."""


def _at_once(group: Group, words: Sequence[_Missed]) -> Iterator[list[_Missed]]:
    """Yield the times in order, grouped where they overlap."""
    spell: list[_Missed] = []
    for word in words:
        if spell and all(group.clocks.elapsed(end, word[0])[0] > 0 for _, end, _ in spell):
            yield spell
            spell = []
        spell.append(word)
    if spell:
        yield spell


def _heard_again(group: Group, spell: Sequence[_Missed]) -> tuple[Moment, int]:
    """Return when most sentinels heard the master again, and how many missed it. Sentinels that did not run, or were in
    TILT, report it late."""
    ends: dict[str, Moment] = {}
    for _, end, word in spell:
        name = word.peer or word.source_node
        ends[name] = max(ends.get(name, end), end, key=lambda moment: moment.at)
    in_turn = sorted(ends.values(), key=lambda moment: moment.at)
    enough = max(len(in_turn) - sentinels_of(group) // 2, 1)
    return in_turn[min(enough, len(in_turn)) - 1], len(in_turn)


def _missed_finding(group: Group, tenure: Tenure, missed: list[SentinelSaid], during: tuple[Moment, Moment]) -> Finding:
    begin, end = during
    least, most = group.clocks.elapsed(begin, end)
    least, most = max(least - Timeout.REDIS_PING.us, 0), most + silent_for(group, missed[0])
    who = _speakers(missed, "sentinel")
    return leaderless_outage(
        group,
        Scope.UNREACHABLE,
        (tenure.term, "missed", begin.at // SECOND),
        (least, most),
        severity=severity_of(most),
        led=[tenure],
        when=(begin.at, end.at),
        summary=f"No master for {between(least, most)} for clients that could not reach "
        f"{tenure.with_detail(f'epoch {tenure.term}')}: {who} missed it and heard of it again, and nobody took over.",
        evidence=[event for word in missed for event in (word.since_event, word.until_event)],
    )


def by_word(group: Group, epochs: Epochs) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` by sentinels alone: from when they missed a master until they had made another one. They
    hear of a new master after it began to serve, and do not know who could reach the old one, so its least is 0."""
    speaking = {tenure.node for tenure in group.tenures}
    led_on = [(tenure.node, tenure.end) for tenure in group.tenures]
    for (epoch, address), promoted in sorted(epochs.promotions.items(), key=lambda item: item[0][0]):
        missed = [
            word
            for word in group.of(SentinelSaid)
            if word.message == DOWN
            and (word.node not in speaking or any(_outlives(group, *end, word, promoted) for end in led_on))
            and word.node != address
            and group.clocks.elapsed(since(word), since(promoted))[1] > 0
            and _still(group, word, since(promoted))
        ]
        first = min(missed, key=lambda word: since(word).at, default=None)
        if first is None or _led_since(group, address, since(first), since(promoted)):
            continue
        least, most = group.clocks.elapsed(since(first), since(promoted))
        most += silent_for(group, first)
        yield leaderless_outage(
            group,
            Scope.NO_LEADER,
            (epoch, "by word", first.since // SECOND),
            (least, most),
            severity=severity_of(most),
            certainty=POSSIBLE,
            nodes=(first.node, address),
            terms=(epoch,),
            when=(since(first).at, since(promoted).at),
            summary=f"No master for {between(max(least, 0), most)} by the word of sentinels: "
            f"{_speakers(missed, 'sentinel')} missed {first.node}, until "
            f"{address} led epoch {epoch}.",
            evidence=[*(word.since_event for word in missed), promoted.since_event],
        )


def _outlives(group: Group, node: str, end: Moment, word: SentinelSaid, promoted: SentinelSaid) -> bool:
    """Return True when ``node`` is the missed master, and it led on, by its own log, when another one was promoted."""
    return node == word.node and group.clocks.elapsed(since(promoted), end)[0] > 0


def _led_since(group: Group, address: str, missed: Moment, promoted: Moment) -> bool:
    """Return True when a server became master between two moments, by its own log."""
    elapsed = group.clocks.elapsed
    return any(
        tenure.node == address and elapsed(missed, tenure.begin)[1] > 0 and elapsed(tenure.begin, promoted)[1] > 0
        for tenure in group.tenures
    )
