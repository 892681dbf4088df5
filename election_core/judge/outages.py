"""The common parts of findings about outages: severity, leaders before and after, time of service."""

from collections.abc import Iterator, Sequence
from typing import Any

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.fates import Fates, following_of
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.judge.wording import between, number_of
from election_replay.election_core.model.catalogue import DEFINITE, INFO, POSSIBLE, PROVEN, WARNING, RuleId
from election_replay.election_core.model.facts import RefusedWrites
from election_replay.election_core.model.measures import Refusal, Scope
from election_replay.election_core.model.rows import Finding
from election_replay.election_core.model.timing import Timeout


def severity_of(least: int, *, planned: bool = False) -> str:
    """Return the severity of a time of at least ``least`` us in which nobody could write: by its length. A ``planned``
    outage, or one that ends with the whole group, is information unless it is long."""
    tolerated = Timeout.LONG_OUTAGE if planned else Timeout.MAX_INFO_GAP
    return INFO if least < tolerated.us else WARNING


def outage(group: Group, rule: RuleId, key: tuple[object, ...], lasted: tuple[int, int], **columns: Any) -> Finding:
    """Return a finding about an outage of (least, most) us. Its severity follows its least length, and it is definite
    if that is long enough to be noticed, unless ``columns`` say otherwise."""
    least, _ = lasted
    by_length = {
        "severity": severity_of(least),
        "certainty": DEFINITE if least >= Timeout.MIN_REPORTED.us else POSSIBLE,
    }
    return group.finding(rule, key, lasted=lasted, **by_length | columns)


def leaderless_outage(
    group: Group, scope: Scope, key: tuple[object, ...], lasted: tuple[int, int], **columns: Any
) -> Finding:
    """Return ``LEADERLESS``; ``scope`` says for whom, or why, nobody led. Other columns as in :func:`outage`."""
    return outage(group, RuleId.LEADERLESS, key, lasted, scope=scope, **columns)


_REFUSED = {
    Refusal.DISK_FULL: "refused writes for {lasted}: its disk was too full",
    Refusal.TRANSFERRING: "refused writes for {lasted}: it was handing its leadership over to {peer}, and the "
    "hand-over did not end",
    Refusal.UNACKNOWLEDGED: "could not acknowledge writes for {lasted}: the other replicas did not acknowledge in time",
    Refusal.NO_SPACE: "refused writes for {lasted}, though a leader was there: their space is used up",
    Refusal.CORRUPT: "refused writes for {lasted}, though a leader was there: they hold different data",
    Refusal.FEW_IN_SYNC: "refused writes with acks=all for {lasted}: fewer replicas were in sync than "
    "min.insync.replicas asks for",
    Refusal.DISK_HANGS: "took no writes for {lasted} and kept its role: its disk hung",
    Refusal.STOOD_STILL: "took no writes for {lasted} and kept its role: it was frozen, or its disk or its CPU was "
    "too slow",
    Refusal.SILENT: "printed nothing for {lasted} and kept its role: it was frozen and took no writes, or its log lost "
    "lines",
}
"""What the holder of the role did, for how long, and why; ``peer`` is the member that was to take over."""
_UNCOUNTED = frozenset({Refusal.DISK_FULL, Refusal.DISK_HANGS, Refusal.STOOD_STILL, Refusal.SILENT})
"""Reasons that are logged whether or not a client writes."""


def writes_refused(
    group: Group,
    key: tuple[object, ...],
    who: str,
    facts: Sequence[RefusedWrites],
    lasted: tuple[int, int],
    when: tuple[int, int | None],
    **columns: Any,
) -> Iterator[Finding]:
    """Yield ``WRITES_REFUSED``: ``who``, the holder of the role, took no writes for a second or more, or to the end of
    logs. ``facts`` have one reason; ``lasted`` is (least, most) in us."""
    least, most = max(lasted[0], 0), lasted[1]
    if least < Timeout.MIN_REPORTED.us and when[1] is not None:
        return
    why = Refusal(facts[0].why)
    so_long = between(least, most) + ("" if when[1] is not None else ", to the end of the logs")
    sentence = _REFUSED[why].format(lasted=so_long, peer=facts[0].peer or "another member")
    failed = "" if why in _UNCOUNTED else f" {number_of(max(fact.count for fact in facts), 'write')} failed."
    deleted = max((fact.end_offset for fact in facts if fact.end_offset is not None), default=None)
    gone = (
        ""
        if deleted is None
        else f" To have room, it deleted its messages before byte {deleted:,}, whatever their age."
    )
    columns = {"certainty": PROVEN, "when": when, "summary": f"{who} {sentence}.{failed}{gone}"} | columns
    yield outage(group, RuleId.WRITES_REFUSED, key, (least, most), **columns)


def change_of(group: Group, before: Tenure, after: Tenure | None, served: Moment) -> dict[str, Any]:
    """Return the columns about the leaders before and ``after`` an outage, and when the latter ``served``."""
    fate = group.once(Fates).fate(before, following_of(after))
    return {
        "former_leader": before.node,
        "former_leader_fate": fate,
        "next_leader": None if after is None else after.node,
        "served_time": None if after is None else served.at,
    }
