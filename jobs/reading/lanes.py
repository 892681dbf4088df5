"""The lanes of a picture: bars of roles, as many as a screen shows, and bands where two members lead at once.

A lane is a member on one machine: two machines with one id are two lanes. Roles too narrow to see are merged into one
bar with their numbers; a zoom draws them separately. All times are on the clocks of the picture
(:mod:`jobs.reading.clocks`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from election_replay.jobs.reading.clocks import Clocks
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, name_of

BARS_SHOWN = 1000
"""The approximate number of bars that a browser draws at once."""

BANDS_SHOWN = 200

Lane = tuple[str, str | None]
"""A member, and the folder of its logs (``None``: it has none)."""

ON_CLOCKS = """
    wrong AS (
        SELECT unnest(CAST($wrong_sources AS VARCHAR[])) AS source_node,
            unnest(CAST($wrong_first AS TIMESTAMPTZ[])) AS first_reading,
            unnest(CAST($wrong_last AS TIMESTAMPTZ[])) AS last_reading,
            unnest(CAST($wrong_ahead_us AS BIGINT[])) AS ahead_us
    ),
    ends AS (
        SELECT unnest(CAST($end_sources AS VARCHAR[])) AS source_node,
            unnest(CAST($ends AS TIMESTAMPTZ[])) AS log_end
    ),
    placed AS (
        SELECT role.node, role.source_node, role.protocol, role.role, role.term, role.leader, role.start_event_id,
            role.start_cause, role.end_cause, role.start_uncertainty_ms, role.end_uncertainty_ms,
            role.start_time - to_microseconds(coalesce(begun.ahead_us, 0)) AS start_time,
            role.end_time - to_microseconds(coalesce(ended.ahead_us, 0)) AS end_time
        FROM role_intervals AS role
        LEFT JOIN wrong AS begun ON begun.source_node = role.source_node
            AND role.start_time BETWEEN begun.first_reading AND begun.last_reading
        LEFT JOIN wrong AS ended ON ended.source_node = role.source_node
            AND role.end_time BETWEEN ended.first_reading AND ended.last_reading
        WHERE role.cluster = $cluster AND role.replica_group = $group
    ),
    roles AS (
        SELECT placed.*, greatest(coalesce(placed.end_time, ends.log_end, $end), placed.start_time) AS seen_until
        FROM placed LEFT JOIN ends ON ends.source_node = placed.source_node
    )
"""
"""Common table expressions of a group's roles on the picture's clocks; ``seen_until`` is a role's end or its log's."""

BARS = f"""
    WITH {ON_CLOCKS},
    spans AS (
        SELECT *, greatest(start_time, $begin) AS left_edge, least(seen_until, $end) AS right_edge
        FROM roles WHERE start_time <= $end AND seen_until >= $begin
    ),
    columns AS (
        SELECT *, epoch_us(right_edge) - epoch_us(left_edge) AS length,
            (epoch_us(left_edge) - epoch_us($begin)) // nullif($column, 0) AS place,
            CASE WHEN length >= $column THEN row_number() OVER () END AS own
        FROM spans
    ),
    counted AS (
        SELECT node, source_node, protocol, place, own, role, count(*) AS n, sum(length) AS length,
            min(term) AS first_term, max(term) AS last_term, min(start_time) AS start_time,
            CASE WHEN bool_and(end_time IS NOT NULL) THEN max(end_time) END AS end_time,
            min(left_edge) AS left_edge, max(right_edge) AS right_edge, any_value(leader) AS leader,
            any_value(start_cause) AS start_cause, any_value(end_cause) AS end_cause,
            max(start_uncertainty_ms) AS start_uncertainty_ms, max(end_uncertainty_ms) AS end_uncertainty_ms,
            min(start_event_id) AS start_event_id
        FROM columns GROUP BY ALL
    )
    SELECT node, source_node, protocol, list({{'role': role, 'n': n}} ORDER BY length DESC, role) AS roles,
        CAST(sum(n) AS BIGINT) AS n, min(first_term) AS first_term, max(last_term) AS last_term,
        min(start_time) AS start_time, CASE WHEN bool_and(end_time IS NOT NULL) THEN max(end_time) END AS end_time,
        min(left_edge) AS left_edge, max(right_edge) AS right_edge, any_value(leader) AS leader,
        any_value(start_cause) AS start_cause, any_value(end_cause) AS end_cause,
        max(start_uncertainty_ms) AS start_uncertainty_ms, max(end_uncertainty_ms) AS end_uncertainty_ms,
        min(start_event_id) AS start_event_id
    FROM counted GROUP BY node, source_node, protocol, place, own
    ORDER BY node, source_node, left_edge, right_edge, protocol, first_term
"""
"""SELECT of the bars. A role at least a column wide is a bar of its own; narrower ones that begin in one column share a
bar. ``roles`` are the roles of each bar with their numbers, longest first.
"""

TAILS = f"""
    WITH {ON_CLOCKS}
    SELECT node, source_node, protocol, role, term, greatest(seen_until, $begin) AS left_edge FROM roles
    WHERE role IN ('leader', 'acting_leader') AND end_time IS NULL AND seen_until < $end AND source_node IS NOT NULL
    ORDER BY node, source_node
"""
"""SELECT of leaders that still lead at the end of their logs, from there on."""

BANDS = f"""
    WITH {ON_CLOCKS},
    ruling AS (
        SELECT *, start_time + to_microseconds(1000 * start_uncertainty_ms) AS surely_from,
            coalesce(source_node, '') AS source
        FROM roles WHERE role IN ('leader', 'acting_leader') AND start_time <= $end AND seen_until >= $begin
    ),
    swept AS (
        SELECT *, max(seen_until) OVER (PARTITION BY protocol ORDER BY surely_from, seen_until, node, source
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_until,
            min(surely_from) OVER (PARTITION BY protocol ORDER BY surely_from, seen_until, node, source
                  ROWS BETWEEN 1 FOLLOWING AND 1 FOLLOWING) AS next_from
        FROM ruling WHERE surely_from < seen_until
    ),
    crossing AS (SELECT * FROM swept WHERE before_until > surely_from OR next_from < seen_until)
    SELECT greatest(one.surely_from, other.surely_from, $begin) AS left_edge,
        least(one.seen_until, other.seen_until, $end) AS right_edge,
        one.node, one.source_node, one.term, other.node AS other_node, other.source_node AS other_source_node,
        other.term AS other_term
    FROM crossing AS one
    JOIN crossing AS other ON other.protocol = one.protocol AND (one.node, one.source) < (other.node, other.source)
        AND one.surely_from < other.seen_until AND other.surely_from < one.seen_until
    WHERE left_edge < right_edge
    ORDER BY left_edge, right_edge, one.node, other.node LIMIT {BANDS_SHOWN}
"""
"""SELECT of the intervals in which two members lead at once, by the clocks of the picture."""


EXTENT = f"WITH {ON_CLOCKS} SELECT min(start_time) AS first, max(seen_until) AS last FROM roles"


@dataclass(frozen=True, slots=True)
class Lanes:
    """The picture of a group between two times.

    ``names`` are the display names of lanes, ``tails`` leaders beyond the ends of their logs, ``bands`` the intervals
    of two leaders at once.
    """

    names: dict[Lane, str]
    bars: list[Row] = field(default_factory=list)
    tails: list[Row] = field(default_factory=list)
    bands: list[Row] = field(default_factory=list)


def lane_of(row: Row) -> Lane:
    """Return the lane of a role."""
    return row["node"], row["source_node"]


def extent(
    published: Published,
    cluster: str,
    group: str,
    last: datetime | None,
    clocks: Clocks,
    log_ends: Mapping[str, datetime],
) -> list[datetime]:
    """Return the first and last time of a group's roles; an open role without a log ends at ``last``."""
    given = {"cluster": cluster, "group": group, "end": last} | clocks.columns | _ends(log_ends)
    [row] = published.rows(EXTENT, given)
    return [at for at in row.values() if at is not None]


def _ends(log_ends: Mapping[str, datetime]) -> dict[str, list[Any]]:
    return {"end_sources": list(log_ends), "ends": list(log_ends.values())}


def lanes(
    published: Published,
    cluster: str,
    group: str,
    window: tuple[datetime, datetime],
    members: list[Row],
    clocks: Clocks,
    log_ends: Mapping[str, datetime],
) -> Lanes:
    """Return the lanes of a group in a window, with about :data:`BARS_SHOWN` bars, at most twice as many."""
    begin, end = window
    given: dict[str, Any] = {"cluster": cluster, "group": group, "begin": begin, "end": end}
    given |= clocks.columns | _ends(log_ends)
    return replace(
        named(members),
        bars=published.rows(BARS, given | {"column": column_of(begin, end, members)}),
        tails=published.rows(TAILS, given),
        bands=published.rows(BANDS, given),
    )


def named(members: list[Row]) -> Lanes:
    """Return empty lanes of ``members``."""
    return Lanes({lane_of(member): name_of(*lane_of(member)) for member in members})


def column_of(begin: datetime, end: datetime, members: list[Row]) -> int:
    """Return the width of a column in us; 0 if the roles are so few that each gets a bar of its own."""
    if sum(member["roles"] for member in members) <= BARS_SHOWN:
        return 0
    return max((end - begin) * len(members) // BARS_SHOWN // timedelta(microseconds=1), 1)
