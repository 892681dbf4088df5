"""Leaders that kept their role but took no writes: their disk hung, or their process did not run."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from election_replay.election_core.fold.roles import FOLLOWER, LEADER
from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.led_between import idle
from election_replay.election_core.judge.outages import writes_refused
from election_replay.election_core.judge.silent_logs import max_time_without_quorum
from election_replay.election_core.model.catalogue import INFO, POSSIBLE, PROVEN
from election_replay.election_core.model.facts import Fact, RefusedWrites, Role, Silence
from election_replay.election_core.model.measures import Refusal
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout

KEPT = (Refusal.DISK_HANGS, Refusal.STOOD_STILL, Refusal.SILENT)
"""Reasons for which a leader takes no writes and keeps its role, the stronger evidence first."""


def stalled_leaders(group: Group, word: str = "term", gaps: Iterable[Silence] = ()) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED``: a leader that waits for its disk, or does not run, replicates and answers nothing.

    A gap in its log is only possibly a stall, and no alarm: lines may be lost, and its clock may have been set. It is
    skipped if the leadership may have begun in it. ``word`` is the protocol's word for a term, ``gaps`` are those of
    logs with a rhythm, where the protocol tells of no refusals itself.
    """
    of_source: dict[str, list[RefusedWrites]] = {}
    refusals = [*group.of(RefusedWrites), *map(_refusal, gaps)]
    for why in KEPT:
        for fact in (fact for fact in refusals if fact.why == why):
            before = of_source.setdefault(fact.source_node, [])
            if not any(fact.since < last_of(other) and other.since < last_of(fact) for other in before):
                before.append(fact)
    for tenure in group.tenures:
        for fact in of_source.get(tenure.source, ()):
            begin, end = max(fact.since, tenure.begin.at), min(last_of(fact), tenure.end.at)
            silent = fact.why == Refusal.SILENT
            if fact.why != Refusal.DISK_HANGS and _replaced(group, tenure, fact):
                continue
            if silent and (fact.since < tenure.begin.by or not group.clocks.never_set(tenure.source)):
                continue
            end_by = min(fact.until_by or last_of(fact), tenure.end.by)
            proven = fact.why == Refusal.DISK_HANGS or (not silent and _surely_kept(group, tenure, fact))
            yield from writes_refused(
                group,
                (fact.why, tenure.source, begin),
                tenure.with_detail(f"{word} {tenure.term}"),
                [fact],
                (end - max(fact.since_by, tenure.begin.at), end_by - begin),
                (begin, end),
                certainty=PROVEN if proven else POSSIBLE,
                **({"severity": INFO} if silent else {}),
                led=[tenure],
                evidence=[tenure.begin.event_id, fact.since_event, fact.until_event],
                former_leader=tenure.node,
            )


def _refusal(gap: Silence) -> RefusedWrites:
    """Return a gap in a log as a time in which its process may have taken no writes."""
    header = {each.name: getattr(gap, each.name) for each in fields(Fact)}
    return RefusedWrites(**header, why=Refusal.SILENT.value, count=1, peer=None, evidence=())


def _replaced(group: Group, tenure: Tenure, stall: RefusedWrites) -> bool:
    """Return True when a leader that stood still lost its role on waking, or was replaced by then, as another leader or
    its followers show: writes went there."""
    awake = until(stall) or since(stall)
    went_on = group.clocks.elapsed(awake, tenure.end)[0] > Timeout.ON_ITS_WAY.us
    beside = (since(other) for other in group.roles if other.role in (LEADER, FOLLOWER) and _of_another(other, tenure))
    return not went_on or any(group.clocks.surely_before(begin, awake) for begin in beside)


def _surely_kept(group: Group, tenure: Tenure, stall: RefusedWrites) -> bool:
    """Return True when nobody took over from a leader that stood still: for less time than its followers wait, or it
    led on for longer than one that has been replaced does, or no member of which a line tells followed another one."""
    stood, awake = since(stall), until(stall) or since(stall)
    limit = max_time_without_quorum(group.protocol, group.timing)
    if limit is not None:
        waits = (limit - Timeout.ON_ITS_WAY.us) // 2  # a leader gives up later than its followers do
        if awake.by - stood.at < waits or group.clocks.elapsed(awake, tenure.end)[0] > limit:
            return True
    return idle(group, tenure, None, stood, awake) >= group.electorates.everybody


def _of_another(role: Role, tenure: Tenure) -> bool:
    """Return True when a role is that of a leader, or under one, that has the term of a tenure or a larger one."""
    leader = role.leader if role.role == FOLLOWER else role.node
    return leader is not None and leader != tenure.node and (role.term or 0) >= tenure.term


def last_of(fact: RefusedWrites) -> int:
    """Return when the refusal ended, or was last logged (us)."""
    return fact.since if fact.until is None else fact.until
