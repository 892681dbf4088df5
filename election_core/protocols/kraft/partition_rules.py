"""The rules of one Kafka partition: leader epochs, in-sync replicas, and the ends of logs.

Controllers elect a leader among the in-sync replicas, which have everything committed (the high watermark). So a leader
whose log ends below what was known to be committed has lost messages: by an unclean election, or by a disk that lost
its last writes. What a replica cuts above the high watermark was never committed, and is lost for producers without
acks=all.

A partition in which nothing happened has no rows: a cluster has many thousands.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TypeVar

from election_replay.election_core.fold.roles import DIED, LEADER, REMOVED, STOPPED
from election_replay.election_core.judge.clock import Clocks, Moment
from election_replay.election_core.judge.completeness import KnownCommit, Lack, LogEnd, finding_of, lacks
from election_replay.election_core.judge.coverage import counted, same_term_coverage
from election_replay.election_core.judge.group import SILENT, Group, Tenure, group_of, since, until
from election_replay.election_core.judge.leaderless import MAX_INFO_GAP, gaps, leaderless
from election_replay.election_core.judge.outages import leaderless_outage, outage, writes_refused
from election_replay.election_core.judge.overlap import Overlap, overlap_coverage, overlap_finding, overlaps
from election_replay.election_core.judge.role_rows import role_intervals
from election_replay.election_core.judge.same_term import same_term
from election_replay.election_core.judge.term_rows import terms
from election_replay.election_core.judge.wording import between, name_of, number_of, seconds
from election_replay.election_core.model.catalogue import (
    CRITICAL,
    INFO,
    POSSIBLE,
    PROVEN,
    WARNING,
    RuleId,
)
from election_replay.election_core.model.facts import Fact, LastHeard, RefusedWrites, Role
from election_replay.election_core.model.measures import Scope, Unit
from election_replay.election_core.model.rows import Finding, Row, SyncStateSet, Term
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.protocols.kraft.facts import (
    TOLD_ONE_BY_ONE,
    HeartbeatsCeased,
    InSync,
    ReplicaCut,
    ReplicaLog,
    UncleanLeader,
)
from election_replay.election_core.protocols.kraft.partition_log import OF_BROKERS, PROTOCOL

__all__ = ["PROTOCOL", "judge"]

T = TypeVar("T")
CLOCK = "leader epoch"

_REACHED = "no log tells which clients reached a leader that the controllers did not"
_COPIED = "no log tells whether a replica that the controllers did not hear went on to copy"


def judge(facts: list[Fact], clocks: Clocks) -> Iterator[Row]:
    """Yield all rows of one partition; a topic that was recreated under its name is judged separately each time."""
    topics = list(_by_topic(facts))
    for of_topic in topics:
        if any(isinstance(fact, Role) for fact in of_topic):
            yield from _judge(group_of(of_topic, clocks), is_last=of_topic is topics[-1])


def _by_topic(facts: Sequence[Fact]) -> Iterator[list[Fact]]:
    """Yield the facts of each topic that had the name; facts without a topic id belong to all of them."""
    known: dict[str, int] = {}
    for fact in facts:
        if (topic := _topic(fact)) is not None:
            known[topic] = min(known.get(topic, fact.since), fact.since)
    if len(known) < 2:
        yield list(facts)
        return
    apart = (Role, InSync, ReplicaLog, ReplicaCut, UncleanLeader)
    for topic in sorted(known, key=lambda topic: (known[topic], topic)):
        yield [fact for fact in facts if not isinstance(fact, apart) or _topic(fact) == topic]


def _topic(fact: Fact) -> str | None:
    if isinstance(fact, Role):
        return fact.address
    return fact.topic_id if isinstance(fact, InSync | ReplicaLog | ReplicaCut | UncleanLeader) else None


def _judge(group: Group, *, is_last: bool) -> Iterator[Row]:
    sets = list(_sets(group))
    unclean = _unclean_leaders(group)
    lost = list(lacks(group, _ends(group), _commits(group)))
    found = list(_findings(group, unclean, lost))
    led = [gap for gap in gaps(group, _heard(group)) if gap.after is not None or is_last]
    found_gaps = (gap for gap in led if gap.before.end_cause != REMOVED)  # REMOVED: its topic was deleted
    without = [*leaderless(group, found_gaps, "leader", CLOCK), *_unreachable(group)]
    refused = [*_refused(group), *_unacknowledged(group, sets)]
    terms_led = {tenure.term for tenure in group.tenures}
    if not (found or without or refused) and len(sets) < 2 and len(terms_led) < 2:
        return
    yield from role_intervals(group)
    yield from (_with_cause(row, group, unclean) for row in terms(group))
    yield from _set_rows(group, sets)
    yield from found
    yield from without
    yield from refused
    changes = max(len(group.tenures) - 1, 0)
    yield same_term_coverage(group, found)
    yield overlap_coverage(group, found)
    yield counted(group, RuleId.UNCLEAN_ELECTION, found, max(changes, len(unclean)))
    yield counted(group, RuleId.COMMITTED_ENTRY_LOST, found, len(_ends(group)))
    yield counted(group, RuleId.POSSIBLE_DATA_LOSS, found, len(list(group.of(ReplicaCut))))
    yield counted(group, RuleId.LEADERLESS, without, max(changes, len(without)), _REACHED)
    if refused:
        yield counted(group, RuleId.WRITES_REFUSED, refused, len(refused), _COPIED)


# -- sets and terms ---------------------------------------------------------------------------------------------


def _sets(group: Group) -> Iterator[InSync]:
    """Yield the in-sync replicas of each partition epoch, as first logged."""
    first: dict[tuple[int, int], InSync] = {}
    for fact in group.of(InSync):
        first.setdefault((fact.term, fact.set_epoch), fact)
    yield from (first[key] for key in sorted(first))


def _set_rows(group: Group, sets: Sequence[InSync]) -> Iterator[SyncStateSet]:
    for number, fact in enumerate(sets):
        after = sets[number + 1] if number + 1 < len(sets) else None
        yield SyncStateSet(
            **group.names,
            master_epoch=fact.term,
            sync_state_set_epoch=fact.set_epoch,
            master=fact.leader,
            members=fact.members,
            start_time=fact.since,
            end_time=after.since if after is not None else None,
            start_event_id=fact.since_event,
        )


def _with_cause(row: Term, group: Group, unclean: dict[int, UncleanLeader]) -> Term:
    """Return the row with the cause of its election: what became of the leader before."""
    before = group.led_before(row.term)
    if row.cause == "first_leader" or before is None:
        return row
    if row.term in unclean:
        return replace(row, cause="unclean")
    after = next((tenure for tenure in group.tenures if tenure.term == row.term), before)
    if after is before or (before.ends_with_its_process and group.clocks.elapsed(after.begin, before.end)[0] > 0):
        # Its role ended before its process; the missing rest of its log would show how.
        return replace(row, cause="unknown")
    followed = group.once(_followed)
    if bisect_right(followed, before.term) < bisect_left(followed, row.term):
        return replace(row, cause="unknown")  # another leader in between, by its followers' lines
    causes = {STOPPED: "leader_stopped", DIED: "leader_died", SILENT: "leader_silent"}
    silent = any(fact.node == before.node for fact in _ceased(group, before, row.term))
    at_once = before.end_cause == "told" and group.clocks.elapsed(after.begin, before.end)[1] <= MAX_INFO_GAP
    # A leader that the controllers reach is told at once.
    otherwise = "leader_silent" if silent else "moved" if at_once else "unknown"
    return replace(row, cause=causes.get(before.end_cause or "", otherwise))


def _followed(group: Group) -> list[int]:
    """Return the leader epochs in which members led or followed a leader, in order."""
    return sorted({role.term for role in group.roles if role.term is not None and role.leader is not None})


def _ceased(group: Group, tenure: Tenure, term: int) -> Iterator[HeartbeatsCeased]:
    """Yield the ends of a leader's heartbeats just before the leader of ``term`` began."""
    after = next((other for other in group.tenures if other.term == term), None)
    for fact in group.of(HeartbeatsCeased):
        if fact.node == tenure.node and after is not None and fact.until is not None:
            fenced = Moment(fact.until, fact.until_by or fact.until, fact.source_node, fact.until_event)
            if abs(group.clocks.elapsed(fenced, after.begin)[0]) <= MAX_INFO_GAP:
                yield fact


# -- findings ---------------------------------------------------------------------------------------------------


def _findings(group: Group, unclean: dict[int, UncleanLeader], lost: Sequence[Lack]) -> Iterator[Finding]:
    yield from same_term(group, CLOCK)
    of_term = {lack.leader.term: lack for lack in lost}
    elections = {term: _unclean_finding(group, fact, of_term.get(term)) for term, fact in sorted(unclean.items())}
    yield from elections.values()
    for lack in lost:
        yield _loss_finding(group, lack, elections.get(lack.leader.term))
    for overlap in overlaps(group):
        if overlap.stale.term != overlap.newer.term and overlap.least > 0:
            yield _overlap(group, overlap)
    yield from _cuts(group, {lack.leader.term: lack.commit.index for lack in lost})


def _ends(group: Group) -> list[LogEnd]:
    """Return where the logs of leaders ended when they first led their epoch, or held other messages than had been
    committed: a follower cut off from there on what it knew to be committed."""
    first: dict[tuple[str, int], LogEnd] = {}
    cuts = _committed_cuts(group)
    for fact in group.of(ReplicaLog):
        if fact.role == LEADER:
            node, cut = fact.who, cuts.get(fact.term)
            index = fact.log_end if cut is None else min(fact.log_end, cut.cut_to)
            first.setdefault((node, fact.term), LogEnd(node, fact.term, index, fact.since, fact.since_event))
    return list(first.values())


def _committed_cuts(group: Group) -> dict[int, ReplicaCut]:
    """Return, by leader epoch, the longest cut of a follower that reached into what it knew to be committed."""
    found: dict[int, ReplicaCut] = {}
    for fact in group.of(ReplicaCut):
        if fact.cut_to < fact.high_watermark and (fact.term not in found or fact.cut_to < found[fact.term].cut_to):
            found[fact.term] = fact
    return found


def _commits(group: Group) -> list[KnownCommit]:
    """Return what replicas knew to be committed as they took a role."""
    return [
        KnownCommit(fact.who, fact.term_before, fact.high_watermark, fact.since_event) for fact in group.of(ReplicaLog)
    ]


def _unclean_leaders(group: Group) -> dict[int, UncleanLeader]:
    """Return unclean leaders by leader epoch, as the first controller recorded them. Other controllers record them too,
    and read them again at their starts."""
    found: dict[int, UncleanLeader] = {}
    for fact in group.of(UncleanLeader):
        found.setdefault(fact.term, fact)
    return found


def _unclean_finding(group: Group, fact: UncleanLeader, lack: Lack | None) -> Finding:
    led = next((tenure for tenure in group.tenures if tenure.term == fact.term), None)
    at = led.begin.at if led is not None else fact.since
    was = f"{{{', '.join(fact.members)}}}" if fact.members else "nobody"
    count = None if lack is None else lack.commit.index - lack.leader.index
    then = (
        "no log shows that something committed was lost"
        if count is None
        else f"{_messages_lost(count)}, though committed"
    )
    return group.finding(
        RuleId.UNCLEAN_ELECTION,
        (fact.term, fact.topic_id),
        severity=CRITICAL if lack is not None else WARNING,
        nodes=(node for node in (fact.leader, fact.known) if node),
        terms=(fact.term,),
        when=at,
        summary=f"{fact.leader if led is None else led.name} was made leader of {CLOCK} {fact.term} though {was} was "
        f"in sync then: {then}.",
        evidence=[fact.since_event, *(led.evidence[:1] if led is not None else ())],
        messages_lost=count,
    )


def _messages_lost(count: int) -> str:
    return f"{count} message{' is' if count == 1 else 's are'} lost"


def _loss_finding(group: Group, lack: Lack, election: Finding | None) -> Finding:
    leader, commit = lack.leader, lack.commit
    count = commit.index - leader.index
    taken = (
        fact for fact in group.of(ReplicaLog) if (fact.role, fact.who, fact.term) == (LEADER, leader.node, leader.term)
    )
    other = leader.index < next(taken).log_end
    log = "other messages from offset" if other else "a log that ended at offset"
    summary = (
        f"{leader.node} led {CLOCK} {leader.term} with {log} {leader.index}{' on' if other else ''}, although "
        f"{commit.node} had known all below offset {commit.index} to be committed in {CLOCK} {commit.term} or before: "
        f"{_messages_lost(count)}."
    )
    found = finding_of(group, lack, summary, count, Unit.MESSAGES, [election] if election is not None else [])
    evidence = (*found.evidence, *(_committed_cuts(group)[leader.term].evidence if other else ()))
    found = replace(found, entries_lost=None, messages_lost=count, evidence=evidence)
    return replace(found, offset_before=commit.index, offset_after=leader.index)


def _overlap(group: Group, overlap: Overlap) -> Finding:
    """Make the finding of two leaders at once: a leader that is cut off leads on until it hears of another one."""
    stale, newer = overlap.stale, overlap.newer
    cut = [fact for fact in group.of(ReplicaCut) if fact.source_node == stale.source and fact.term > stale.term]
    taken = max((fact.log_end - fact.cut_to for fact in cut), default=0)
    follows = any(fact.source_node == stale.source and fact.term > stale.term for fact in group.of(ReplicaLog))
    severity, certainty = INFO, overlap.certainty
    if overlap.frozen:
        why = f"{stale.name} was frozen meanwhile"
    elif taken:
        severity = WARNING
        lost = f"{number_of(taken, 'message')} that {'was' if taken == 1 else 'were'} cut off when it followed again"
        why = f"{stale.name} took {lost}, and committed none of them"
    elif follows:
        why = f"{stale.name} had taken nothing that was cut off when it followed again"
    else:
        severity, certainty = WARNING, POSSIBLE
        why = f"what {stale.name} took meanwhile no log tells: it may have answered who asked for acks=1"
    if stale.end_cause in (STOPPED, DIED) and overlap.least < MAX_INFO_GAP:
        severity = INFO
    old = stale.with_detail(f"{CLOCK} {stale.term}, stale")
    new = newer.with_detail(f"{CLOCK} {newer.term}")
    return overlap_finding(
        group,
        overlap,
        severity,
        f"{old} and {new} both led for {between(overlap.least, overlap.most)}; {why}.",
        (event for fact in cut for event in fact.evidence),
        certainty=certainty,
        messages_lost=taken or None,
    )


def _cuts(group: Group, committed: dict[int, int]) -> Iterator[Finding]:
    """Yield ``POSSIBLE_DATA_LOSS``: messages that replicas cut as they began to follow, and that the leader lacks.
    ``committed``: by leader epoch, the end of lost committed messages, which have a finding of their own."""
    starts = {end.term: end.index for end in _ends(group)}
    by_term: dict[int, list[ReplicaCut]] = {}
    for fact in group.of(ReplicaCut):
        if fact.log_end > max(fact.cut_to, starts.get(fact.term, fact.cut_to), committed.get(fact.term, 0)):
            by_term.setdefault(fact.term, []).append(fact)
    for term, cuts in sorted(by_term.items()):
        begin = max(starts.get(term, 0), committed.get(term, 0))
        gone = max(cut.log_end - max(cut.cut_to, begin) for cut in cuts)
        before = group.led_before(term)
        former = before is not None and any(cut.source_node == before.source for cut in cuts)
        planned = before is None or before.end_cause in (STOPPED, "told") or not former
        known = term in starts  # else the leader may still have the messages
        lost = "never committed, so they are lost" if known else "unless the leader has them, they are lost"
        who = list(dict.fromkeys(name_of(cut.who, cut.source_node) for cut in cuts))
        leader = next((tenure.name for tenure in group.tenures if tenure.node == cuts[0].leader), cuts[0].leader)
        names, followers = " and ".join(who), "a follower" if len(who) == 1 else "followers"
        yield group.finding(
            RuleId.POSSIBLE_DATA_LOSS,
            ("cut", term, cuts[0].topic_id),
            severity=INFO if planned else WARNING,
            certainty=PROVEN if planned and known else POSSIBLE,
            nodes=(cut.who for cut in cuts),
            terms=(term,),
            when=(cuts[0].since, cuts[-1].since),
            summary=f"{names} cut {number_of(gone, 'message')} off as {followers} of {leader} in "
            f"{CLOCK} {term}, from offset {cuts[0].log_end} to {cuts[0].cut_to}: {lost} for "
            "producers that asked for no more than acks=1 and did not send them again.",
            evidence=[event for cut in cuts for event in cut.evidence],
            messages_lost=gone,
            offset_before=cuts[0].log_end,
            offset_after=cuts[0].cut_to,
        )


# -- times without a leader ---------------------------------------------------------------------------------------


def _heard(group: Group) -> Iterator[tuple[str, Moment]]:
    """Yield (leader, time) of last contacts, by its followers or by the controllers."""
    for fact in group.of(LastHeard):
        if fact.node is not None:
            yield fact.node, since(fact)


def _unreachable(group: Group) -> Iterator[Finding]:
    """Yield ``LEADERLESS`` for clients that could not reach a running leader cut off from the controllers.

    It lasts until the controllers gave the partition another leader. Clients that reached the old leader and its
    replicas wrote all the time, so its least is 0.
    """
    for overlap in overlaps(group):
        stale, newer = overlap.stale, overlap.newer
        if overlap.least <= 0 or overlap.frozen or stale.term == newer.term:
            continue
        ceased = next(_ceased(group, stale, newer.term), None)
        if ceased is None:
            continue
        most = group.clocks.elapsed(since(ceased), newer.begin)[1]
        old = stale.with_detail(f"{CLOCK} {stale.term}")
        yield leaderless_outage(
            group,
            Scope.UNREACHABLE,
            (stale.term, "unreachable", ceased.since // SECOND),
            (0, most),
            led=(stale, newer),
            when=(ceased.since, newer.begin.at),
            summary=f"No leader for at most {seconds(most)} for clients that could not reach {old}: the controllers "
            f"lost contact with it and gave the partition to {newer.name} when its session had ended. It led on, and "
            "clients that reached it and its replicas could write to it.",
            evidence=[ceased.since_event, *newer.evidence[:1]],
        )


def _unacknowledged(group: Group, sets: Sequence[InSync]) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED`` with acks=all: a leader waits for a lost in-sync replica until it leaves the ISR.

    A broker that only the controllers do not hear goes on copying, so its least is 0. If many partitions wait, the
    quorum has one finding instead; internal topics are left out.

    Source: apache/kafka ``Partition#maybeIncrementLeaderHW`` (all in sync), ``ReplicationControlManager``
    (``handleBrokerFenced``).
    """
    elapsed = group.clocks.elapsed
    few = (fact for fact in group.of(HeartbeatsCeased) if fact.count <= TOLD_ONE_BY_ONE)
    for ceased in () if group.replica_group.startswith(OF_BROKERS) else few:
        begin, fenced = since(ceased), until(ceased)
        known = _before(sets, since, begin, group.clocks)
        begun = _before(group.tenures, attrgetter("begin"), begin, group.clocks)
        if fenced is None or not known or not begun or ceased.node not in sets[known - 1].members:
            continue
        without = (since(sets[n]) for n in range(known, len(sets)) if ceased.node not in sets[n].members)
        end = next((at for at in without if elapsed(at, fenced)[0] > 0), fenced)
        led = group.tenures[begun - 1]
        if led.node == ceased.node or (not led.open and elapsed(led.end, end)[1] > 0):
            continue
        most = elapsed(begin, end)[1]
        source = next((role.source_node for role in group.roles if role.node == ceased.node), ceased.node)
        gone = f"{name_of(ceased.node, source)} was in sync, and the controllers lost contact with it"
        yield outage(
            group,
            RuleId.WRITES_REFUSED,
            ("in sync", ceased.node, begin.at // SECOND),
            (0, most),
            led=(led, None),
            when=(begin.at, end.by),
            summary=f"{led.with_detail(f'{CLOCK} {led.term}')} could acknowledge no write with acks=all for at "
            f"most {seconds(most)}: {gone} and fenced it then.",
            evidence=[sets[known - 1].since_event, ceased.until_event],
            former_leader=led.node,
        )


def _before(every: Sequence[T], begin: Callable[[T], Moment], moment: Moment, clocks: Clocks) -> int:
    """Return how many items of a list in order of time may have begun before the moment."""
    return bisect_left(every, True, key=lambda item: clocks.elapsed(begin(item), moment)[1] <= 0)


def _refused(group: Group) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED``: a leader refuses writes with acks=all while too few replicas are in sync, and leads on.
    Source: apache/kafka ``Partition#appendRecordsToLeader`` (``NotEnoughReplicasException``)."""
    for fact in group.of(RefusedWrites):
        begin, end = since(fact), until(fact) or since(fact)
        tenures = (tenure for tenure in group.tenures if tenure.source == fact.source_node)
        led = next((tenure for tenure in tenures if tenure.begin.at <= begin.by < tenure.end.by), None)
        yield from writes_refused(
            group,
            (fact.why, fact.source_node, fact.since_event),
            name_of(fact.node, fact.source_node) if led is None else led.with_detail(f"{CLOCK} {led.term}"),
            [fact],
            group.clocks.elapsed(begin, end),
            (begin.by, end.at),
            nodes=(fact.who,),
            terms=() if led is None else (led.term,),
            evidence=[fact.since_event, *fact.evidence, fact.until_event],
            former_leader=fact.who,
        )
