"""The course of events of one replica group: changes of leadership, services, ends of members, and notices."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from election_replay.election_core.fold.roles import SEEN
from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.notices import Notice, is_excerpt, notices_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.window import GROUP, OVERLAPPING, InWindow, Window
from election_replay.jobs.reading.words import FOREVER, Row
from election_replay.jobs.runbook import notices

SERVICES = f"""
    SELECT protocol, node, source_node, role, start_time, end_time, start_cause, end_cause FROM role_intervals
    WHERE {OVERLAPPING} AND role IN ('leader', 'acting_leader') AND term IS NULL
    ORDER BY start_time, node, source_node LIMIT ?
"""
ENDINGS = f"""
    WITH roles AS (
        SELECT *, CASE WHEN role <> 'down' AND (start_cause = 'start' OR (
            lag(end_cause) OVER of_member = 'start' AND lag(end_time) OVER of_member = start_time
        )) THEN start_time END AS start_of_process, lead(role) OVER of_member AS role_after
        FROM role_intervals WHERE {GROUP} AND source_node IS NOT NULL
        WINDOW of_member AS (PARTITION BY protocol, node, source_node ORDER BY start_time, end_time)
    )
    SELECT * FROM (
        SELECT protocol, node, source_node, end_time, end_cause, end_uncertainty_ms, role_after,
            min(start_of_process) OVER later AS starts_again,
            max(CASE WHEN start_cause = 'stopped' AND role <> 'down' THEN start_time END) OVER until_then AS stopping,
            max(start_of_process) OVER until_then AS started
        FROM roles
        WINDOW until_then AS (PARTITION BY protocol, node, source_node ORDER BY start_time, end_time),
            later AS (until_then ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
    ) WHERE end_cause IN ('died', 'stopped', 'removed', 'ended_itself', 'silent') AND end_time BETWEEN ? AND ?
        AND NOT (end_cause = 'ended_itself' AND role_after <> 'down')
        AND NOT (end_cause = 'stopped' AND coalesce(stopping >= coalesce(started, stopping), false))
    ORDER BY end_time, node, source_node LIMIT ?
"""
"""SELECT of the ends of process runs, by members' own logs.

A member that is told to stop and passes through other roles until it is down is stopped once. A process that starts in
the same folder as another member is not a return of the first. A leader that gives up for a failure of its own has not
ended while its process goes on.
"""
SILENCES = f"""
    SELECT node, source_node, start_time FROM role_intervals
    WHERE {OVERLAPPING} AND role = 'unknown' AND start_cause = 'silent' ORDER BY node, start_time LIMIT ?
"""
SEEN_ROLES = f"""
    SELECT node, source_node, protocol, role, leader, min(start_time) AS start_time,
        CASE WHEN count(*) = count(end_time) THEN max(end_time) END AS end_time, count(*) AS spans
    FROM role_intervals WHERE {OVERLAPPING} AND role <> 'unknown'
    GROUP BY ALL ORDER BY node, source_node, start_time, role, leader
"""
"""SELECT of the roles of each member, and whom it follows, with the number of intervals of each."""
BEGUN_BY = """
    LEFT JOIN (SELECT DISTINCT start_event_id, source_node, start_cause, end_time, end_cause FROM role_intervals
               WHERE cluster = $cluster AND replica_group = $group AND role = 'leader') AS begun
        ON begun.start_event_id = change.start_event_id
"""
CAMPAIGNS = """
    LEFT JOIN (SELECT protocol, term, candidate, min(start_time) AS asked_first, CAST(sum(rounds) AS BIGINT) AS rounds
               FROM elections WHERE cluster = $cluster AND replica_group = $group AND decided_by IS NULL
               GROUP BY ALL) AS campaign
        ON campaign.protocol = change.protocol AND campaign.term = change.new_term
            AND campaign.candidate = change.new_leader
"""
FIRST = f"""
    SELECT change.protocol, change.changed_at, change.new_term, change.new_leader, begun.source_node, begun.start_cause,
        begun.end_time, begun.end_cause, campaign.asked_first, campaign.rounds
    FROM (
        SELECT protocol, start_time AS changed_at, term AS new_term, leader AS new_leader, start_event_id FROM terms
        WHERE cluster = $cluster AND replica_group = $group AND start_time BETWEEN $since AND $until
            AND leader IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM leadership_changes AS later
                WHERE later.cluster = terms.cluster AND later.replica_group = terms.replica_group
                    AND later.protocol = terms.protocol AND later.new_term = terms.term
                    AND later.new_leader = terms.leader)
    ) AS change {BEGUN_BY} {CAMPAIGNS}
    ORDER BY change.changed_at, change.new_term, change.new_leader LIMIT $at_most
"""
CHANGES = f"""
    SELECT change.*, begun.source_node, begun.start_cause, begun.end_time, begun.end_cause,
        campaign.asked_first, campaign.rounds
    FROM leadership_changes AS change {BEGUN_BY} {CAMPAIGNS}
    WHERE change.cluster = $cluster AND change.replica_group = $group AND change.changed_at BETWEEN $since AND $until
    ORDER BY change.changed_at, change.new_term, change.new_leader LIMIT $at_most
"""
HOLES = """
    SELECT change.protocol, change.new_term, change.new_leader, hole.source_node,
        min(hole.since) AS since, min(hole.until) AS until
    FROM leadership_changes AS change
    JOIN role_intervals AS led ON led.cluster = change.cluster AND led.replica_group = change.replica_group
        AND led.protocol = change.protocol AND led.node = change.old_leader AND led.term = change.old_term
        AND led.role = 'leader'
    JOIN facts AS hole ON hole.cluster = change.cluster AND hole.replica_group = change.replica_group
        AND hole.protocol = change.protocol AND hole.source_node = led.source_node AND hole.kind = 'SILENCE'
        AND hole.since < change.changed_at AND hole.until >= change.changed_at
    WHERE change.cluster = $cluster AND change.replica_group = $group AND change.old_leader_state = 'unknown'
    GROUP BY ALL
"""
"""SELECT of the first log gap, over a change of leader, of an old leader whose state is unknown; by its own clock."""
NOW = f"""
    SELECT *, (SELECT list(struct_pack(
                   node := one.node, leader := one.leader,
                   role := if(one.role = 'down' AND one.start_cause = 'removed', 'removed', one.role)))
               FROM role_intervals AS one
               WHERE one.cluster = current.cluster AND one.replica_group = current.replica_group
                   AND one.protocol = current.protocol AND one.end_time IS NULL) AS last_roles
    FROM current WHERE {GROUP} ORDER BY protocol, term, leader
"""


@dataclass(frozen=True, slots=True)
class Course:
    """The course of events: changes of leadership, service periods and ends of members, and the leaders ``now``.

    ``services`` are the intervals of masters, and of acting masters, that have no term. ``endings`` are members that
    died, were stopped or fell silent, with the time of their return. ``silences`` are roles in which a log just stops.
    ``notices`` are lines that no rule judges. ``seen_roles`` are the roles of each member, if no leader is known and no
    finding is grave.
    """

    changes: list[Row]
    services: list[Row]
    endings: list[Row]
    silences: list[Row]
    now: list[Row]
    notices: list[Notice] = field(default_factory=list)
    seen_roles: list[Row] = field(default_factory=list)


def course_of(
    published: Published, window: Window, inside: InWindow, at_most: int | None, *, to_the_end: bool
) -> Course:
    """Return the course of events; the current leaders only if the window is open ``to_the_end`` of the logs."""
    named = {
        "cluster": window.cluster,
        "group": window.group,
        "since": window.since,
        "until": window.until,
        "at_most": at_most,
    }
    changes = published.rows(FIRST, named) + published.rows(CHANGES, named)
    if any(change.get("old_leader_state") == "unknown" for change in changes):
        rows = published.rows(HOLES, {"cluster": window.cluster, "group": window.group})
        holes = {change_key(row): row for row in rows}
        changes = [change | {"hole": holes.get(change_key(change))} for change in changes]
    return Course(
        changes=inside.points(changes, "changed_at", "asked_first", "end_time"),
        services=inside.spans(inside.roles(published.rows(SERVICES, [*window.overlapping, at_most]))),
        endings=inside.points(published.rows(ENDINGS, [*window.values, at_most]), "end_time", "starts_again"),
        silences=inside.points(published.rows(SILENCES, [*window.overlapping, at_most]), "start_time"),
        now=published.rows(NOW, [window.cluster, window.group]) if to_the_end else [],
    )


def change_key(row: Row) -> tuple[str, int, str]:
    """Return the (protocol, term, leader) key of a change of leadership."""
    return row["protocol"], row["new_term"], row["new_leader"]


def with_notices(
    published: Published,
    window: Window,
    inside: InWindow,
    course: Course,
    members: list[Row],
    findings: list[Row],
    put_right: Clocks | None,
    *,
    all_lines: bool,
) -> Course:
    """Return the course with notices, unless enough is known without them; with ``all_lines`` always. Their lines bear
    the times that the clocks showed; ``put_right`` are the wrong ones, ``None`` where those times are wanted."""
    sources = {member["source_node"] for member in members if member["source_node"] is not None}
    little, excerpt = little_is_known(course, findings), is_excerpt(published, window.cluster, sources)
    if not (little or excerpt or all_lines):
        return course
    seen = inside.spans(inside.roles(published.rows(SEEN_ROLES, window.overlapping))) if little else []
    clocks = put_right or Clocks()
    texts = {
        **notices.ALWAYS,
        **(notices.WHERE_LITTLE_IS_KNOWN if little or excerpt else {}),
        **(notices.IN_EXCERPTS if excerpt else {}),
    }
    if course.changes:
        texts = {kind: text for kind, text in texts.items() if kind not in notices.NAMES_A_LEADER}
    inside = replace(inside, clocks=clocks)
    found = notices_in_window(published, window.on(clocks), inside, sources, texts, beyond=little or excerpt)
    return replace(course, notices=found, seen_roles=seen)


def little_is_known(course: Course, findings: list[Row]) -> bool:
    """Return True if no leader is known to have begun, and no finding is grave except a wrong clock."""
    grave = any(finding["severity"] != "info" and finding["rule"] != RuleId.CLOCK_SKEW for finding in findings)
    served = any(service["start_cause"] != SEEN for service in course.services)
    return not (course.changes or served or grave)


def notices_in_window(
    published: Published,
    window: Window,
    inside: InWindow,
    sources: Collection[str],
    texts: Mapping[str, str],
    *,
    beyond: bool,
) -> list[Notice]:
    """Return the notices of a group's sources in the window, of the kinds in ``texts``. ``beyond``: an open window also
    holds those outside the first and last roles."""
    times = window.since, window.until
    found = notices_of(published, window.cluster, sources, texts, times, inside.clocks, window.group)
    since = FOREVER[0] if beyond and window.since == FOREVER[0] else inside.begin
    until = FOREVER[1] if beyond and window.until == FOREVER[1] else inside.end
    return [notice for notice in found if notice.at <= until and notice.until >= since]
