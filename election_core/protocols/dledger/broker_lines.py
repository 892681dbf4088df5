"""The DLedger member's roles, as its broker's log shows them. One thread makes the broker follow each change of the
member's role, one after the other (``DLedgerRoleChangeHandler``).

    Begin handling broker role change term=9 role=LEADER      the member leads term 9, the broker is not yet master
    Finish ... succ=false term=9 role=LEADER cost=146012      the member had ceased to lead: its broker never served
    Begin handling broker role change term=10 role=CANDIDATE

Releases before 4.9 print no begin: it is computed from the end and the cost.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from election_replay.election_core.fold.process_runs import Incarnation, incarnation_at
from election_replay.election_core.fold.roles import CANDIDATE, FOLLOWER, LEADER, SEEN, Step
from election_replay.election_core.model.fold_event import FoldEvent
from election_replay.election_core.model.timing import US_PER_MS, Timeout

ROLES = {"LEADER": LEADER, "FOLLOWER": FOLLOWER, "CANDIDATE": CANDIDATE}
"""Roles by their name in ``MemberState.Role``."""


def changes_to_master(
    events: Iterable[FoldEvent], incarnations: list[Incarnation]
) -> Iterator[tuple[FoldEvent, FoldEvent | None]]:
    """Yield (begin, end) of each change of the broker to master; an end of None means it never served. A change whose
    thread went on to another one without a line of its end is left out: nothing is known of it."""
    begin: FoldEvent | None = None
    for event in events:
        if event.kind == "DLB_SLAVE_BEGIN":
            continue
        if begin is not None and incarnation_at(incarnations, begin.at) != incarnation_at(incarnations, event.at):
            yield begin, None  # the process ended meanwhile
            begin = None
        if event.kind == "DLB_ROLE_BEGIN" or event.role != "LEADER" or event.term is None:
            begins = event.kind == "DLB_ROLE_BEGIN" and event.role == "LEADER" and event.term is not None
            begin = event if begins else None
            continue
        works = event.kind == "DLB_ROLE_END" and event.flag is True and event.value_before != "SLAVE"
        begun = begin if begin is not None and begin.term == event.term else _begun(event)
        yield begun, event if works else None
        begin = None
    if begin is not None:
        yield begin, None


def _begun(end: FoldEvent) -> FoldEvent:
    """Return the begin of a change of role, computed from the line of its end."""
    took = (end.duration_ms or 0) * US_PER_MS
    return replace(end, at=end.at - took, by=end.by - took)


def steps_of_broker(events: Iterable[FoldEvent], node: str | None) -> Iterator[Step]:
    """Yield the roles of a member whose own log is missing, by its broker's log. A change waits for the one before it:
    a change printed right after another's end may have begun during that one."""
    begun: FoldEvent | None = None
    ended: FoldEvent | None = None
    for event in events:
        if event.kind not in ("DLB_ROLE_BEGIN", "DLB_ROLE_END") or event.term is None or event.role not in ROLES:
            continue
        if event.kind == "DLB_ROLE_END":
            known = begun is not None and (begun.term, begun.role) == (event.term, event.role)
            if event.flag is True and not known:
                yield _step(_begun(event), event.by, node, SEEN)
            begun, ended = begun if known else None, event
            continue
        waited = begun is not None and ended is not None and event.at <= ended.by
        since = _next_change_earliest(ended) if waited and ended is not None else event.at
        promptly = event.role == "LEADER" and since == event.at
        yield _step(replace(event, at=since), event.by, node, "elected" if promptly else SEEN)
        begun, ended = event, None


def _next_change_earliest(end: FoldEvent) -> int:
    """Return the earliest time (us) at which the member can have changed its role again, by the end of a change.

    A change to master polls whether its member leads, and fails within a poll when it does not; any other change shows
    nothing until it ends.
    """
    looks = end.role == "LEADER" and end.flag is False
    took = Timeout.MIN_REPORTED.us if looks else (end.duration_ms or 0) * US_PER_MS
    return end.at - min(took, (end.duration_ms or 0) * US_PER_MS)


def _step(event: FoldEvent, by: int, node: str | None, cause: str) -> Step:
    role = ROLES[event.role or ""]
    return Step(event.at, by, role, event.term, node if role == LEADER else None, event.event_id, cause, node)


def becomes_slave(event: FoldEvent) -> bool:
    """Return True when the broker took a second or more to become slave after its member ceased to lead."""
    changed = event.kind == "DLB_ROLE_END" and event.flag is True and event.role != "LEADER"
    return changed and event.term is not None and (event.duration_ms or 0) * US_PER_MS >= Timeout.MIN_REPORTED.us
