"""Committed entries that members lost, and queues that brokers lost.

    committed by leader, term 1   |1 2 3 4 5 6 7|         on a majority
    leader's log, term 2          |1 2 3 4 5|             breaks leader completeness (Raft section 5.4)
    a member's log, cut           |1 2 3 4|               it had printed 7 as committed; its leader resends what it has

A cut below the commit index is no loss by itself: a DLedger leader cuts a follower's log where both surely agree, which
may be far below, and sends its own entries again.

The queues of a broker are made from its log. Some releases compute the end of a DLedger log too small when they start
after a kill (by the header of each entry), and cut the queues there: the messages are in the log, but in no queue.
"""

from collections.abc import Iterator, Sequence

from election_replay.election_core.fold.checks import CONFORMS, UNDECIDABLE, VIOLATES
from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.completeness import KnownCommit, committed_entries, finding_of, lacks
from election_replay.election_core.judge.coverage import coverage
from election_replay.election_core.judge.group import Group, Tenure, since
from election_replay.election_core.model.catalogue import CRITICAL, INFO, WARNING, RuleId
from election_replay.election_core.model.facts import Committed, KnownCommitted, LeaderLog, LogCut
from election_replay.election_core.model.measures import LostFrom, Unit
from election_replay.election_core.model.rows import Finding, RuleCoverage
from election_replay.election_core.model.timing import Timeout
from election_replay.election_core.protocols.dledger.facts import CommittedCut, QueuesCut
from election_replay.election_core.protocols.raft_family.losses import leader_ends

_NO_LEADER = "the logs do not say what the leader had that wanted the cut"
_NO_END = "the end of the log is not printed at that start, or the file ends before the queues would be built again"


def losses(group: Group, breaches: Sequence[Finding]) -> Iterator[Finding | RuleCoverage]:
    """Yield ``COMMITTED_ENTRY_LOST`` and ``QUEUES_CUT_AT_START`` of a DLedger group, and their coverage. ``breaches``:
    the findings about voters whose terms went back, which may have caused a loss."""
    cuts = {id(fact): _leader_of(group, fact) for fact in group.of(CommittedCut)}
    leaders = list(_lacking_leaders(group, breaches))
    lost = [*leaders, *_cut(group, leaders)]
    yield from lost
    unknown = sum(1 for leader in cuts.values() if leader is None)
    kept = sum(1 for _ in group.of(LogCut)) - unknown + sum(1 for _ in group.of(LeaderLog)) - len(lost)
    yield coverage(group, RuleId.COMMITTED_ENTRY_LOST, max(kept, 0), len(lost), unknown, _NO_LEADER)
    yield from _queues_cut(group)
    verdicts = [_verdict(group, fact) for fact in group.of(QueuesCut)]
    conform, violate, unclear = (verdicts.count(verdict) for verdict in (CONFORMS, VIOLATES, UNDECIDABLE))
    yield coverage(group, RuleId.QUEUES_CUT_AT_START, conform, violate, unclear, _NO_END)


def _leader_of(group: Group, cut: CommittedCut) -> LeaderLog | None:
    """Return the log of the leader that ordered a cut, as first seen in the term the member followed; None if unknown.

    An earlier term of that leader says nothing, as its log has grown since. So it is None where the member's log does
    not name the leader it followed, or where the leader's log does not cover the time.
    """
    moment = since(cut)
    followed = {
        role.term
        for role in group.roles
        if role.source_node == cut.source_node
        and role.role == FOLLOWER
        and role.leader == cut.peer
        and role.since <= moment.by
        and (role.until_by is None or moment.at <= role.until_by)
    }
    leading = {
        tenure.term
        for tenure in group.tenures
        if tenure.node == cut.peer and group.clocks.elapsed(tenure.end, moment)[0] <= Timeout.DLEDGER_STATUS.us
    }
    logs = (led for led in group.of(LeaderLog) if led.node == cut.peer and led.term in followed & leading)
    led = max(logs, key=lambda led: led.term, default=None)
    # Entries committed in the leader's own term were not yet in its log when that was first seen.
    return led if led is not None and _committed_before(group, led) is not None else None


def _committed_before(group: Group, led: LeaderLog) -> int | None:
    """Return the last entry that leaders of earlier terms printed as committed; None if none did."""
    ends = (grown.to_index for grown in group.of(Committed) if grown.term < led.term)
    return max((end for end in ends if end is not None), default=None)


def _cut(group: Group, leaders: Sequence[Finding]) -> Iterator[Finding]:
    """Yield members' logs cut below what they had printed as committed, if their leader lacks the entries. ``leaders``:
    the findings about leaders that lack entries, from which such a cut follows."""
    for fact in group.of(CommittedCut):
        leader = _leader_of(group, fact)
        before = None if leader is None else _committed_before(group, leader)
        if leader is None or before is None:
            continue
        committed = min(fact.to_index, before)
        count = committed - max(fact.from_index, leader.to_index)
        if count <= 0:
            continue
        yield group.finding(
            RuleId.COMMITTED_ENTRY_LOST,
            (fact.who, fact.since, fact.from_index),
            severity=CRITICAL,
            nodes=(node for node in (fact.who, fact.peer) if node),
            terms=(leader.term,),
            when=fact.since,
            summary=f"{fact.who} knew entries up to {committed} to be committed and cut its log after entry "
            f"{fact.from_index} as {fact.peer} wanted, whose log as leader of term {leader.term} ended at entry "
            f"{leader.to_index}: at least {committed_entries(count)} lost.",
            evidence=[fact.since_event, leader.since_event],
            implied_by=next((finding.finding_id for finding in leaders if leader.term in finding.terms), None),
        )


def _lacking_leaders(group: Group, breaches: Sequence[Finding]) -> Iterator[Finding]:
    """Yield leaders of a later term whose log ends below what an earlier term had committed."""
    known = {fact.since_event for fact in group.of(KnownCommitted)}
    printed: list[Committed | KnownCommitted] = [*group.of(Committed), *group.of(KnownCommitted)]
    commits = (
        KnownCommit(fact.who, fact.term, fact.to_index, fact.since_event)
        for fact in printed
        if fact.to_index is not None
    )
    for lack in lacks(group, leader_ends(group), commits):
        leader, commit = lack.leader, lack.commit
        how = "knew of committed" if commit.event_id in known else "had committed"
        summary = (
            f"{leader.node} led term {leader.term} with a log that ends at entry {leader.index}, although "
            f"{commit.node} {how} entries up to {commit.index} in term {commit.term}: "
            f"at least {committed_entries(commit.index - leader.index)} lost."
        )
        yield finding_of(group, lack, summary, commit.index - leader.index, Unit.ENTRIES, breaches)


def _verdict(group: Group, fact: QueuesCut) -> str:
    if fact.cut_to is None or fact.queue_end <= fact.cut_to:
        return CONFORMS  # the queues end where the log does: every such start prints the line
    if fact.built_from is not None and fact.built_from < fact.cut_to:
        return CONFORMS  # what was cut is rebuilt, with everything after it
    if fact.log_end is None:
        return UNDECIDABLE
    if fact.log_end <= fact.cut_to or _cut_again(group, fact):
        return CONFORMS
    return UNDECIDABLE if fact.built_from is None and not _would_be_built(group, fact) else VIOLATES


def _would_be_built(group: Group, fact: QueuesCut) -> bool:
    """Return True when the file with the cut goes on beyond the broker's first leader since, as whose follower, or as
    which, it builds its queues again at once."""
    until_us = (fact.until or fact.since) - Timeout.MIN_REPORTED.us
    later = (role for role in group.roles_of(fact.source_node, until_us) if role.since >= fact.since)
    return any(role.role in (FOLLOWER, LEADER) for role in later)


def _queues_cut(group: Group) -> Iterator[Finding]:
    """Yield queues cut below the end of the broker's log; that does harm if the broker leads afterwards."""
    for fact in group.of(QueuesCut):
        if _verdict(group, fact) != VIOLATES or fact.cut_to is None:
            continue
        led = _led_after(group, fact)
        cut = min(fact.queue_end, fact.log_end or fact.queue_end) - fact.cut_to
        then = (
            f"As leader of term {led.term} it cannot show them to consumers, and gives their queue offsets out again."
            if led
            else "It does harm where this broker leads."
        )
        yield group.finding(
            RuleId.QUEUES_CUT_AT_START,
            (fact.who, fact.since),
            severity=WARNING if led else INFO,
            nodes=(fact.who,),
            terms=(led.term,) if led else (),
            when=fact.since,
            summary=f"{fact.who} started with queues that reached byte {fact.queue_end} of its log and cut them at "
            f"byte {fact.cut_to}, although its log goes on to byte {fact.log_end}: the messages of {cut:,} bytes are "
            f"in the log and in no queue. {then} The start did that, not an election.",
            evidence=[fact.since_event, *(led.evidence if led else ())],
            bytes_lost=cut,
            offset_before=fact.cut_to + cut,
            offset_after=fact.cut_to,
            cut_node=fact.who,
            cut_from=fact.cut_to,
            cut_to=fact.cut_to + cut,
            unit=Unit.BYTES,
            lost_from=LostFrom.QUEUES,
        )


def _cut_again(group: Group, fact: QueuesCut) -> bool:
    """Return True when a later start cut the queues again before the broker led: they had been rebuilt, and did no
    harm."""
    led = _led_after(group, fact)
    return any(
        later.source_node == fact.source_node
        and later.since > fact.since
        and later.queue_end >= fact.queue_end
        and (led is None or later.since <= led.begin.at)
        for later in group.of(QueuesCut)
    )


def _led_after(group: Group, fact: QueuesCut) -> Tenure | None:
    """Return the source's first tenure after the cut; None without one."""
    later = (tenure for tenure in group.tenures if tenure.source == fact.source_node and tenure.begin.at >= fact.since)
    return min(later, key=lambda tenure: tenure.begin, default=None)
