"""The roles of members as rows, by their own logs and by those of their followers."""

from collections.abc import Iterator
from dataclasses import replace

from election_replay.election_core.fold.roles import DIED, FOLLOWER, LEADER, STOPPED, UNKNOWN
from election_replay.election_core.judge.at_once import OfOneLog
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import SILENT, Group, since, until
from election_replay.election_core.model.catalogue import POSSIBLE
from election_replay.election_core.model.facts import Role
from election_replay.election_core.model.rows import RoleInterval, Term


def role_intervals(group: Group) -> Iterator[RoleInterval]:
    """Yield the roles of all members; an unknown role follows one that is shown no further: its log just stops, or
    leaves open what came before the end that it tells."""
    for whole, role in zip(group.of(Role), group.roles, strict=True):
        end = until(role)
        row = RoleInterval(
            **group.names,
            node=role.node or role.address or role.source_node,
            source_node=role.source_node,
            role=role.role,
            term=role.term,
            leader=role.leader,
            start_time=role.since,
            end_time=end.at if end else None,
            start_uncertainty_ms=(role.since_by - role.since) // 1000,
            end_uncertainty_ms=(end.by - end.at) // 1000 if end else None,
            start_cause=role.cause,
            end_cause=role.end_cause,
            start_event_id=role.since_event,
            end_event_id=role.until_event,
        )
        yield row
        if role.end_cause == SILENT and end is not None:
            yield _unknown_after(row, end, whole)
    yield from hearsay(group)


def hearsay(group: Group) -> Iterator[RoleInterval]:
    """Yield leaders known only from their followers, with ``source_node`` ``None``: their logs are missing."""
    by_itself: dict[tuple[str | None, str], list[Role]] = {}
    for role in group.roles:
        if role.role != UNKNOWN:
            by_itself.setdefault((role.node, role.source_node), []).append(role)
    logs_of: dict[str | None, list[OfOneLog]] = {}
    for (node, _), roles in by_itself.items():
        logs_of.setdefault(node, []).append(OfOneLog.of(roles))
    followed: dict[tuple[str, int], list[Role]] = {}
    for role in group.roles:
        if role.role != FOLLOWER or role.leader is None or role.term is None:
            continue
        of_leader = logs_of.get(role.leader, ())
        if any(_at_once(group, role, other) for log in of_leader for other in log.near(role, group.clocks)):
            continue
        followed.setdefault((role.leader, role.term), []).append(role)
    for (leader, term), roles in sorted(followed.items()):
        first = min(roles, key=lambda role: role.since)
        ends = [(end, role) for role in roles if (end := until(role)) is not None]
        end, last = max(ends, key=lambda pair: pair[0].at) if len(ends) == len(roles) else (None, None)
        yield RoleInterval(
            **group.names,
            node=leader,
            source_node=None,
            role=LEADER,
            term=term,
            leader=leader,
            start_time=first.since,
            end_time=end.at if end else None,
            start_uncertainty_ms=(first.since_by - first.since) // 1000,
            end_uncertainty_ms=(end.by - end.at) // 1000 if end else None,
            start_cause="others_followed",
            end_cause=_of_leader(last) if last else None,
            start_event_id=first.since_event,
            end_event_id=last.until_event if last else None,
        )


def _of_leader(last: Role) -> str | None:
    """Return how a leader's role ended, by its last follower; that the follower's process ended does not tell."""
    return "unknown" if last.end_cause in (DIED, STOPPED) else last.end_cause


def _at_once(group: Group, role: Role, other: Role) -> bool:
    """Return True when two roles may have been held at once."""
    ends = ((until(role), since(other)), (until(other), since(role)))
    return not any(end is not None and group.clocks.surely_before(end, begin) for end, begin in ends)


def terms_by_hearsay(group: Group, known: set[int]) -> Iterator[Term]:
    """Yield terms, not in ``known``, whose leader is known only from its followers."""
    for row in hearsay(group):
        if row.term is not None and row.term not in known:
            yield Term(
                **group.names,
                term=row.term,
                leader=row.node,
                start_time=row.start_time,
                end_time=row.end_time,
                cause=None,
                certainty=POSSIBLE,
                start_event_id=row.start_event_id,
                end_event_id=row.end_event_id,
            )


def _unknown_after(row: RoleInterval, end: Moment, whole: Role) -> RoleInterval:
    over = until(whole)
    return replace(
        row,
        role=UNKNOWN,
        term=None,
        leader=None,
        start_time=end.at,
        end_time=over.at if over else None,
        start_uncertainty_ms=(end.by - end.at) // 1000,
        end_uncertainty_ms=(over.by - over.at) // 1000 if over else None,
        start_cause=SILENT,
        end_cause=whole.end_cause,
        start_event_id=None,
        end_event_id=whole.until_event,
    )
