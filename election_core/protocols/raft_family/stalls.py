"""Leaders that kept their role but took no writes: their disk hung, or their process did not run."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from election_replay.election_core.judge.group import Group, Tenure, since, until
from election_replay.election_core.judge.outages import writes_refused
from election_replay.election_core.judge.quorum_contact import LaterTerms
from election_replay.election_core.model.catalogue import INFO, POSSIBLE, PROVEN
from election_replay.election_core.model.facts import Fact, RefusedWrites, Silence
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
            yield from writes_refused(
                group,
                (fact.why, tenure.source, begin),
                tenure.with_detail(f"{word} {tenure.term}"),
                [fact],
                (end - max(fact.since_by, tenure.begin.at), end_by - begin),
                (begin, end),
                certainty=POSSIBLE if silent else PROVEN,
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
    """Return True when a leader that stood still lost its role on waking, or was replaced by then: writes went
    there."""
    awake = until(stall) or since(stall)
    went_on = group.clocks.elapsed(awake, tenure.end)[0] > Timeout.ON_ITS_WAY.us
    beside = (other for other in group.tenures if other.term == tenure.term and other.source != tenure.source)
    return (
        not went_on
        or group.once(LaterTerms).begun(tenure.term, awake)
        or any(group.clocks.surely_before(other.begin, awake) for other in beside)
    )


def last_of(fact: RefusedWrites) -> int:
    """Return when the refusal ended, or was last logged (us)."""
    return fact.since if fact.until is None else fact.until
