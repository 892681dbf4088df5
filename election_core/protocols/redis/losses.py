"""Two masters at once, and the bytes thrown away when the former master followed the new one.

    redis-1   [=========== master, epoch 0 ===== was cut off ============]  follows: 29,995 bytes are refused
    redis-3                                   [== master, epoch 1 ==========================================
    bytes     common to both ... N            [N, what redis-1 took alone]

The new master refuses bytes of the former one's replication stream. Not all of them are client writes: a master adds a
PING of 14 bytes every 10 s, and each sentinel that reaches it a hello of about 135 bytes every 2 s; a network cut holds
hellos back and delivers them later. Bytes beyond 1.5 times these heartbeats include client writes, unless the master
was frozen: then each sentinel had one or several hundred hellos waiting for it. No log shows whether client writes were
acknowledged.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.clock import UNBOUNDED, Moment
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.overlap import Overlap, overlap_finding, overlaps
from election_replay.election_core.judge.wording import between, name_of, seconds
from election_replay.election_core.model.catalogue import CRITICAL, DEFINITE, INFO, POSSIBLE, WARNING, RuleId
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import SECOND, Timeout
from election_replay.election_core.protocols.redis.facts import (
    BytesRefused,
    DataHeld,
    LedWithoutData,
    Refusing,
    SentinelSaid,
)
from election_replay.election_core.protocols.redis.kin import CLUSTER_ID
from election_replay.election_core.protocols.redis.sentinel_log import DOWN, REPLICA_DOWN
from election_replay.election_core.protocols.redis.server_log import (
    ASKS,
    BEGAN,
    BEGINS,
    COPIED,
    FAILED,
    GOES_ON,
)

PING_BYTES, PING_EACH = 14, 10
HELLO_BYTES, HELLO_EACH = 135, 2
"""Bytes, and seconds: ``replicationCron`` (repl-ping-replica-period), ``sentinelSendHello`` (measured)."""
MORE = 1.5
"""The factor by which heartbeats may exceed their rate: a cut holds some back, which then come on top of new ones."""
HELD_BACK = 100
"""The most hellos that wait on one sentinel connection (``SENTINEL_MAX_PENDING_COMMANDS``)."""
HELLOS_EACH_SECOND = 10
"""The fewest hellos that a sentinel adds each second while none is answered (``sentinelTimer``, ``server.hz``)."""
CONNECTION = 15
"""Seconds after which a sentinel reconnects to a silent server (``SENTINEL_MIN_LINK_RECONNECT_PERIOD``). A frozen
process still accepts, and receives all that waits on its connections at once when it goes on."""
LIKE_HELD_BACK = 0.12
"""The relative difference between a hello and the measured ones: names and addresses are in it."""
OF_CLIENTS = "they include client writes, and no line says whether those were acknowledged"
SENTINELS_UNKNOWN = 5
"""The number of sentinels assumed where no sentinel's log is there; a larger one makes the verdict more cautious."""


MISSED = frozenset({DOWN, FAILED})
"""Messages that a server has not been heard for a while."""


def silent_for(group: Group, word: SentinelSaid) -> int:
    """Return the longest time in us for which a server had been silent when it was called down."""
    waits = Timeout.REDIS_NODE_TIMEOUT if word.message == FAILED else Timeout.REDIS_DOWN_AFTER
    return group.timing.us(waits) + Timeout.REDIS_PING.us


def sentinels_of(group: Group) -> int:
    """Return how many sentinels watch the group; 0 in a cluster, which has none, and whose servers print their ids."""
    if any(tenure.node and CLUSTER_ID.fullmatch(tenure.node) for tenure in group.tenures) and not any(
        word.message == DOWN for word in group.of(SentinelSaid)
    ):
        return 0
    return len({word.peer for word in group.of(SentinelSaid) if word.peer}) or SENTINELS_UNKNOWN


def heartbeats(group: Group, for_us: int) -> float:
    """Return the most bytes in ``for_us`` (us) that can be heartbeats instead of client writes."""
    each_second = PING_BYTES / PING_EACH + sentinels_of(group) * HELLO_BYTES / HELLO_EACH
    return MORE * each_second * (for_us / SECOND + PING_EACH) + PING_BYTES


def like_held_back(group: Group, lost: int, tenure: Tenure, silent_us: int) -> bool:
    """Return True when the bytes are as many as sentinels hold back for a frozen master, on one or more connections.
    They are fewer where it was frozen for less than it takes a sentinel to stop: one that missed it shows for how long
    it held back at least. ``silent_us`` is the longest time in us for which the master can have been frozen."""
    missed = list(_missed_us(group, tenure))
    if not missed and any(word.node == tenure.node for word in group.of(SentinelSaid)):
        return False  # it was watched, and it answered
    fewest = sum(min(each * HELLOS_EACH_SECOND // SECOND, HELD_BACK) for each in missed)
    most = HELD_BACK * sentinels_of(group) * (1 + silent_us // (CONNECTION * SECOND))
    beside = heartbeats(group, silent_us)
    return (1 - LIKE_HELD_BACK) * fewest * HELLO_BYTES <= lost <= (1 + LIKE_HELD_BACK) * most * HELLO_BYTES + beside


def _missed_us(group: Group, tenure: Tenure) -> Iterator[int]:
    """Yield for how long, in us, each sentinel missed a master: as its master, as a replica, or as both in turn, with a
    pause of what it takes to miss it again."""
    missed: dict[str, list[SentinelSaid]] = {}
    for word in group.of(SentinelSaid):
        if word.message in (DOWN, REPLICA_DOWN) and word.node == tenure.node and _during(group, word, tenure):
            missed.setdefault(word.source_node, []).append(word)
    again = group.timing.us(Timeout.REDIS_DOWN_AFTER) + Timeout.REDIS_PING.us
    for words in missed.values():
        begun = over = None
        for word in sorted(words, key=lambda word: word.since):
            if begun is not None and over is not None and word.since - over < again:
                over = word.until or tenure.end.at
            else:
                begun, over = word.since, word.until or tenure.end.at
        if begun is not None and over is not None:
            yield max(over - begun, 0)


def _during(group: Group, word: SentinelSaid, tenure: Tenure) -> bool:
    """Return True when a statement may have begun in a tenure."""
    elapsed = group.clocks.elapsed
    return elapsed(tenure.begin, since(word))[1] > 0 and elapsed(since(word), tenure.end)[1] > 0


def refused(group: Group) -> Iterator[tuple[BytesRefused, int | None]]:
    """Yield each refusal of a master with the bytes refused; None if their number is unknown."""
    for fact in group.of(BytesRefused):
        known = fact.from_index is not None and fact.to_index is not None
        yield fact, (fact.from_index or 0) - (fact.to_index or 0) if known else None


def overlap_findings(group: Group, guessed: Collection[tuple[str, int]] = ()) -> Iterator[Finding]:
    """Yield ``SPLIT_BRAIN_OVERLAP``: two masters at once, and what the one took meanwhile that followed the other.
    ``guessed`` are the tenures, by source and begin, of which no line prints the epoch."""
    for overlap in overlaps(group):
        at_once = overlap.least > 0 or _began_while_the_other_led(group, overlap)
        if at_once and overlap.most > Timeout.REDIS_AT_ONCE.us and overlap.stale.node != overlap.newer.node:
            yield _overlap(group, overlap, guessed)


def _began_while_the_other_led(group: Group, overlap: Overlap) -> bool:
    """Return True when one of two masters surely began while the other one led, whatever its log shows after that."""
    elapsed, pair = group.clocks.elapsed, (overlap.stale, overlap.newer)
    return not overlap.unseen and any(
        elapsed(first.begin, other.begin)[0] > 0 and elapsed(other.begin, first.end)[0] > 0
        for first, other in (pair, pair[::-1])
    )


def _overlap(group: Group, overlap: Overlap, guessed: Collection[tuple[str, int]]) -> Finding:
    stale, newer = overlap.stale, overlap.newer
    lost, kept = (newer, stale) if _gave_way(group, newer, stale) else (stale, newer)
    answer = _answer_to(group, lost, kept)
    asked = None if answer is not None and answer.from_index is not None else _asked_beyond(group, lost, kept)
    all_of_it = _all_of_it(group, lost, kept) if asked is None and _bytes_of(answer) is None else None
    asked = asked or all_of_it
    bytes_lost = _bytes_of(answer) if asked is None else asked.bytes
    severity, certainty, consequence = (
        _consequence(group, overlap, lost, answer, bytes_lost)
        if all_of_it is None
        else _everything_lost(group, overlap, lost, all_of_it)
    )
    before, after = (answer.from_index, answer.to_index) if answer else (None, None)
    if asked is not None:
        before, after = asked.asked.to_index, asked.goes_on.to_index
    refusing = _refused_clients(group, stale, newer)
    back = out_of_place(group, stale)
    named = [
        tenure.name
        if (tenure.source, tenure.begin.at) in guessed or (back and tenure is stale)
        else tenure.with_detail(f"epoch {tenure.term}")
        for tenure in ((newer, stale) if back else (stale, newer))
    ]
    return overlap_finding(
        group,
        overlap,
        severity,
        f"{' and '.join(named)} were both master for {between(overlap.least, overlap.most)}{refusing}: {consequence}.",
        [*([answer.since_event] if answer else []), *(asked.evidence if asked else ())],
        key=(stale.term, newer.term, stale.node, newer.node, max(stale.begin.at, newer.begin.at) // SECOND),
        certainty=certainty,
        led=[newer] if back else (stale, newer),
        nodes=(newer.node, stale.node),
        when=(max(stale.begin.at, newer.begin.at), min(stale.end.at, newer.end.at)),
        bytes_lost=bytes_lost or None,
        offset_before=before if bytes_lost else None,
        offset_after=after if bytes_lost else None,
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """The first request of a former master, and the point of the same history from which the new one ``goes_on``. Or,
    if the new master has nothing of that history, its begin."""

    asked: DataHeld
    goes_on: DataHeld

    @property
    def bytes(self) -> int:
        return max((self.asked.to_index or 0) - (self.goes_on.to_index or 1), 0)

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(event for event in (self.asked.since_event, self.goes_on.since_event) if event)


def _asked_beyond(group: Group, stale: Tenure, newer: Tenure) -> _Asked | None:
    """Return what a former master had beyond the point from which the new one continued its history; None if unknown.

    This holds whoever answers the request. If a third server leads by then, it answers that they have nothing in
    common, as a server knows only its last two histories.
    """
    first, goes_on = _asks_first(group, stale), goes_on_from(group, newer)
    return _Asked(first, goes_on) if first is not None and goes_on is not None and goes_on.ids == first.ids else None


def _gave_way(group: Group, newer: Tenure, stale: Tenure) -> bool:
    """Return True when the new one of two masters surely was the first to follow another server."""
    follows = (
        role.role == FOLLOWER and role.leader == stale.node and role.source_node == newer.source
        for role in group.roles
        if role.since >= newer.end.at and group.clocks.elapsed(since(role), stale.end)[0] > 0
    )
    return group.clocks.elapsed(newer.end, stale.end)[0] > 0 and (_asks_first(group, newer) is not None or any(follows))


def _all_of_it(group: Group, stale: Tenure, newer: Tenure) -> _Asked | None:
    """Return everything that a former master had, if the new one has nothing of it; None if that is not shown, or if a
    third server went on from it.

    Either the former master is known from its begin, and the new one continues a history that the former never had,
    since it took over before copying anything. Or nobody else ever had the history that the former began as master.
    """
    first, goes_on = _asks_first(group, stale), goes_on_from(group, newer)
    if first is None:
        return None
    held: dict[str, list[DataHeld]] = {stale.source: [], newer.source: []}
    for fact in group.of(DataHeld):
        held.setdefault(fact.source_node, []).append(fact)
    of_stale = [fact for fact in held[stale.source] if fact.since <= first.since]
    began = [fact for fact in of_stale if (fact.message, fact.ids) == (BEGAN, first.ids)]
    begun = began or [fact for fact in of_stale if (fact.message, fact.other) == (GOES_ON, first.ids)]
    foreign = not began or (goes_on is not None and goes_on.ids not in {fact.ids for fact in held[stale.source]})
    others = (fact for facts in held.values() for fact in facts if fact.source_node != stale.source)
    went_on = {fact.ids for fact in others if fact.message == GOES_ON or fact.source_node == newer.source}
    return (
        _Asked(first, replace(begun[-1], since_event=None)) if begun and foreign and first.ids not in went_on else None
    )


def _asks_first(group: Group, stale: Tenure) -> DataHeld | None:
    """Return a former master's first request after its tenure, in the same process, before it leads again; else
    None."""
    after = [
        fact
        for fact in group.of(DataHeld)
        if (fact.source_node, fact.message) == (stale.source, ASKS)
        and fact.since >= stale.end.at
        and fact.to_index is not None
    ]
    first = min(after, key=lambda fact: (fact.since, fact.ordinal), default=None)
    again = [
        role.since
        for role in group.roles
        if role.source_node == stale.source and (role.cause in BEGINS or role.role == LEADER)
    ]
    return None if first is None or any(stale.end.at < at <= first.since for at in again) else first


def goes_on_from(group: Group, newer: Tenure) -> DataHeld | None:
    """Return the history that a master continues as it begins; None if no line shows it."""
    near = (
        fact
        for fact in group.of(DataHeld)
        if (fact.source_node, fact.message) == (newer.source, GOES_ON)
        and abs(fact.since - newer.begin.at) < Timeout.REDIS_NEW_HISTORY.us
        and fact.to_index is not None
    )
    return next(near, None)


def _everything_lost(group: Group, overlap: Overlap, lost: Tenure, asked: _Asked) -> tuple[str, str, str]:
    """Return (severity, certainty, clause) for a master that has nothing of what ``lost`` took."""
    other = overlap.stale if lost is overlap.newer else overlap.newer
    data = "all of its data" if asked.goes_on.message == BEGAN else "all that it took as master"
    thrown = f"{lost.node} threw away {data}, {asked.bytes:,} bytes, of which {other.node} had copied nothing"
    alone_us = max(asked.asked.since - asked.goes_on.since, 0)
    if asked.bytes <= heartbeats(group, alone_us):
        return WARNING, DEFINITE, f"{thrown}; they may be heartbeats alone"
    if like_held_back(group, asked.bytes, lost, min(alone_us, _silent_at_most(group, lost, asked))):
        return WARNING, DEFINITE, f"{thrown}; if it was frozen, they may be heartbeats that waited for it"
    return CRITICAL, DEFINITE, f"{thrown}, more than heartbeats: {OF_CLIENTS}"


def _silent_at_most(group: Group, lost: Tenure, asked: _Asked) -> int:
    """Return how long, in us, a master may have been silent before it asked another: since it was missed first."""
    elapsed = group.clocks.elapsed
    rivals = (other for other in group.tenures if other.node != lost.node and elapsed(lost.begin, other.begin)[1] > 0)
    silent = (elapsed(each.begin, since(asked.asked))[1] + missed_for(group, lost, each) for each in rivals)
    return max(silent, default=0)


def _bytes_of(answer: BytesRefused | None) -> int | None:
    if answer is None or answer.from_index is None or answer.to_index is None:
        return None
    return answer.from_index - answer.to_index


def _answer_to(group: Group, stale: Tenure, newer: Tenure) -> BytesRefused | None:
    """Return the new master's answer to the former one's first request after its tenure; None if another answered
    it."""
    answers = [
        fact
        for fact in group.of(BytesRefused)
        if fact.peer == stale.node
        and group.clocks.elapsed(stale.end, since(fact))[1] > -Timeout.MIN_REPORTED.us
        and not _led_again(group, stale, since(fact))
    ]
    first = min(answers, key=lambda fact: fact.since, default=None)
    return first if first is not None and first.source_node == newer.source else None


def _led_again(group: Group, stale: Tenure, before: Moment) -> bool:
    """Return True when a former master surely became master again, by its own log, before the moment."""
    return any(
        other.source == stale.source
        and other.begin.at > stale.end.at
        and group.clocks.elapsed(other.begin, before)[0] > 0
        for other in group.tenures
    )


def leads_again_with_its_data(group: Group, stale: Tenure) -> str | None:
    """Return a clause where a former master led again before it had copied anything; None if it did not."""
    after = [role for role in group.roles if role.source_node == stale.source and role.since > stale.end.at]
    again = min((role for role in after if role.role == LEADER), key=attrgetter("since"), default=None)
    if again is None:
        return None
    since_us, starts = again.since, [role for role in after if role.cause in BEGINS and role.since <= again.since]
    copied = any(
        fact.source_node == stale.source and fact.message == COPIED and stale.end.at < fact.since < since_us
        for fact in group.of(DataHeld)
    )
    if copied:
        return None
    if again in starts:
        again_master = (
            tenure for tenure in group.tenures if (tenure.source, tenure.begin.at) == (stale.source, since_us)
        )
        if any(out_of_place(group, tenure) for tenure in again_master) or _began_empty(group, stale.source, since_us):
            return None
        return f"{stale.node} was started again as master, with what it had saved of its writes"
    if starts:
        return f"{stale.node} was started again and became master before it had copied anything, with what it had saved"
    return f"{stale.node} became master again before it had copied anything, and kept what it took"


def _began_empty(group: Group, source: str, start: int) -> bool:
    """Return True when a server that started at ``start`` had no data, by its next lines."""
    after = (fact for fact in group.of(DataHeld) if fact.source_node == source and fact.since >= start)
    first = min((fact for fact in after if fact.message == BEGAN), key=attrgetter("since"), default=None)
    return first is not None and first.count == 0


def _consequence(
    group: Group, overlap: Overlap, lost: Tenure, answer: BytesRefused | None, bytes_lost: int | None
) -> tuple[str, str, str]:
    """Return (severity, certainty, clause): what became of the writes that a master took which follows the other."""
    other = overlap.stale if lost is overlap.newer else overlap.newer
    if bytes_lost == 0:
        return INFO, DEFINITE, f"{lost.node} took nothing that {other.node} lacks"
    if bytes_lost is not None:
        silent_us = overlap.most + missed_for(group, overlap.stale, overlap.newer)
        thrown = f"{bytes_lost:,} bytes that {lost.node} took and {other.node} never had were thrown away"
        if bytes_lost <= heartbeats(group, silent_us):
            return WARNING, DEFINITE, f"{thrown}; they may be heartbeats alone"
        if like_held_back(group, bytes_lost, lost, silent_us):
            return WARNING, DEFINITE, f"{thrown}; if it was frozen, they may be heartbeats that waited for it"
        return CRITICAL, DEFINITE, f"{thrown}, more than heartbeats: {OF_CLIENTS}"
    if out_of_place(group, lost):
        return (
            INFO,
            DEFINITE,
            f"{lost.node} had been started again and called itself master until it was told to follow; what clients "
            "wrote to it then is lost, and no line says whether any did",
        )
    if answer is None and (kept := leads_again_with_its_data(group, lost)) is not None:
        return INFO, DEFINITE, kept
    reason = "their data had nothing in common" if answer is not None else "no line says what became of its writes"
    severity = INFO if overlap.most <= Timeout.REDIS_TOLD.us and answer is None and overlap.frozen else WARNING
    return (
        severity,
        DEFINITE if severity == WARNING else POSSIBLE,
        f"what clients wrote to {lost.node} is lost; {reason}",
    )


def restarted(group: Group, tenure: Tenure) -> bool:
    """Return True when the tenure began with a restart of its process."""
    before = [role for role in group.roles if role.source_node == tenure.source and role.since < tenure.begin.at]
    began = (role for role in group.roles if role.source_node == tenure.source and role.since == tenure.begin.at)
    return bool(before) and any(role.cause in BEGINS for role in began)


def in_succession(group: Group) -> list[Tenure]:
    """Return the tenures without those of masters that were restarted after another server had replaced them."""
    return [tenure for tenure in group.tenures if not out_of_place(group, tenure)]


def out_of_place(group: Group, tenure: Tenure) -> bool:
    """Return True when a master was restarted after another server had replaced it: nobody gave it an epoch. One that
    had followed when it was restarted has the epoch of the master at that time."""
    if not restarted(group, tenure):
        return False
    before = group.roles_of(tenure.source, tenure.begin.at - 1)
    followed = [role.role for role in before if role.role in (LEADER, FOLLOWER)][-1:] == [FOLLOWER]
    return any(
        (other.term > tenure.term or (followed and other.term == tenure.term and other.node != tenure.node))
        and group.clocks.elapsed(other.begin, tenure.begin)[0] > 0
        for other in group.tenures
    )


def missed_for(group: Group, stale: Tenure, newer: Tenure) -> int:
    """Return for how long before the change, in us, the former master may have been cut off. Words of clocks that
    cannot be compared count where there are no others."""
    missed = [
        group.clocks.elapsed(since(word), newer.begin)
        for word in group.of(SentinelSaid)
        if word.message in MISSED
        and word.node == stale.node
        and ((end := until(word)) is None or group.clocks.elapsed(newer.begin, end)[1] > 0)
    ]
    known = [most for least, most in missed if least > -UNBOUNDED and most < UNBOUNDED]
    before = [most for most in known or [most for _, most in missed] if most > 0]
    return max(before) + group.timing.us(Timeout.REDIS_DOWN_AFTER) if before else 0


def _refused_clients(group: Group, stale: Tenure, newer: Tenure) -> str:
    """Return a clause with the time for which a cluster's stale master answered no client; empty if not printed."""
    for fact in group.of(Refusing):
        if fact.source_node == stale.source and stale.begin.at <= fact.since < stale.end.by:
            over = min(fact.until if fact.until is not None else stale.end.at, stale.end.at)
            both_us = min(over, newer.end.by) - max(fact.since, newer.begin.at)
            if both_us >= Timeout.MIN_REPORTED.us:
                return f", of which {stale.node} answered no client for {seconds(both_us)}"
    return ""


def losses(group: Group, found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS``: bytes that replicas threw away, and masters that came back empty.

    A master answers its clients before any replica has their writes: bytes beyond all heartbeats of the logs' time are
    as grave as those of two masters at once. Sentinels hold heartbeats back for a frozen master.
    """
    times = [fact.since for fact in group.facts]
    all_the_time = max(times, default=0) - min(times, default=0)
    for fact, lost in refused(group):
        if lost is None or lost <= 0 or any(_covers(finding, fact) for finding in found):
            continue
        of_others = (each for each in found if fact.node in each.nodes and fact.peer not in each.nodes)
        because = next(of_others, None)
        master, former = name_of(fact.node, fact.source_node), fact.peer or "A server that no line names"
        severity, explained = _beyond_heartbeats(group, lost, all_the_time)
        yield group.finding(
            RuleId.POSSIBLE_DATA_LOSS,
            (fact.peer, fact.from_index, fact.to_index, fact.source_node),
            severity=INFO if because is not None else severity,
            nodes=tuple(name for name in (fact.peer, fact.node) if name),
            when=fact.since,
            summary=f"{former} had {lost:,} bytes that its new master {master} never had: they were thrown "
            f"away{explained}.",
            evidence=[fact.since_event],
            bytes_lost=lost,
            offset_before=fact.from_index,
            offset_after=fact.to_index,
            implied_by=because.finding_id if because else None,
        )
    yield from _without_data(group, found)


def _without_data(group: Group, found: Sequence[Finding]) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS``: a replica that came from another shard became master before it had copied anything
    of this one (``clusterHandleSlaveMigration``): the cluster serves its slots with the data of the other shard."""
    for fact in group.of(LedWithoutData):
        implied = (finding for finding in found if finding.bytes_lost and {fact.who, fact.peer} <= {*finding.nodes})
        cause = next(implied, None)
        yield group.finding(
            RuleId.POSSIBLE_DATA_LOSS,
            ("another shard's", fact.source_node, fact.since),
            severity=CRITICAL,
            nodes=tuple(name for name in (fact.who, fact.peer) if name),
            when=fact.since,
            summary=f"{name_of(fact.node, fact.source_node)} became master with the data of another shard: it had come "
            f"over to {fact.peer} and copied nothing from it. The keys of {fact.peer} are gone, but for those that "
            "another server has.",
            evidence=fact.evidence,
            implied_by=cause.finding_id if cause else None,
        )


def _beyond_heartbeats(group: Group, lost: int, all_the_time: int) -> tuple[str, str]:
    """Return severity and clause for ``lost`` bytes, in logs that span ``all_the_time`` us."""
    if lost <= heartbeats(group, Timeout.REDIS_TOLD.us):
        return INFO, ", and may be heartbeats alone"
    if lost <= heartbeats(group, all_the_time) or any(
        like_held_back(group, lost, tenure, all_the_time) for tenure in group.tenures
    ):
        return WARNING, ""
    return CRITICAL, f", more than heartbeats: {OF_CLIENTS}"


def _covers(finding: Finding, fact: BytesRefused) -> bool:
    """Return True when the finding already tells of these bytes: of its masters, at its end. A new master that is
    restarted with older data lacks more of them later."""
    if {fact.peer, fact.node} != {*finding.nodes} or fact.since < finding.start_time:
        return False
    if finding.rule == RuleId.POSSIBLE_DATA_LOSS:
        return finding.offset_after == fact.to_index
    soon = finding.end_time is None or fact.since <= finding.end_time + Timeout.MAX_INFO_GAP.us
    return soon or (finding.offset_before, finding.offset_after) == (fact.from_index, fact.to_index)
