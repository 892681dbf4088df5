"""The fleet: all groups on one page of the dashboard."""

from datetime import timedelta

from election_replay.jobs import JobError
from election_replay.jobs.reading.inbox import LED_BY, ROWS
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row
from election_replay.jobs.showing.dashboard_frame import Here, Page, place_of

BUCKETS = 32
"""Columns of a sparkline."""


FLEET = f"""
    SELECT groups.*, now.leader, now.role, now.term, now.as_of FROM groups
    LEFT JOIN (SELECT cluster, replica_group, string_agg(leader, ' and ' ORDER BY leader) AS leader,
                   max(role) AS role, max(term) AS term, max(as_of) AS as_of
               FROM ({LED_BY}) GROUP BY cluster, replica_group) AS now
        ON now.cluster = groups.cluster AND now.replica_group = groups.replica_group
    WHERE contains(lower(groups.cluster || ' / ' || groups.replica_group), lower(?))
"""


FLEET_ORDERS = {
    "worst": "critical DESC, warning DESC, needless DESC, groups.cluster, groups.replica_group",
    "group": "groups.cluster, groups.replica_group",
    "warning": "warning DESC, groups.cluster, groups.replica_group",
    "info": "info DESC, groups.cluster, groups.replica_group",
    "changes": "changes DESC, groups.cluster, groups.replica_group",
    "needless": "needless DESC, groups.cluster, groups.replica_group",
    "leaderless": "leaderless_ms DESC, groups.cluster, groups.replica_group",
    "newest": "as_of DESC NULLS LAST, groups.cluster, groups.replica_group",
}


FLEET_COLUMNS = (
    ("Group", "group"),
    ("Critical", "worst"),
    ("Warning", "warning"),
    ("Info", "info"),
    ("Leads now", ""),
    ("Changes", "changes"),
    ("Needless", "needless"),
    ("No leader, at least", "leaderless"),
    ("Changes over time", ""),
    ("Last line", "newest"),
)


SPAN = "SELECT min(changed_at) AS first, max(changed_at) AS last FROM leadership_changes"


SPARKS = """
    SELECT cluster, replica_group,
        least(CAST(floor($buckets * epoch_us(changed_at - CAST($first AS TIMESTAMPTZ)) / $length) AS BIGINT),
              $buckets - 1) AS bucket, count(*) AS n
    FROM leadership_changes WHERE cluster IN (SELECT unnest($clusters)) GROUP BY ALL
"""


def fleet_page(published: Published, here: Here) -> Page:
    """All groups, or those whose name holds what is looked for."""
    order = here.asked("sort") or "worst"
    if order not in FLEET_ORDERS:
        raise JobError(f"there is no order {order}; there is {', '.join(FLEET_ORDERS)}")
    after, looked_for = place_of(here), here.asked("find")
    count = published.rows(f"SELECT count(*) AS n FROM ({FLEET})", [looked_for])[0]["n"]
    sql = f"{FLEET} ORDER BY {FLEET_ORDERS[order]} LIMIT {ROWS} OFFSET {after}"
    groups = published.rows(sql, [looked_for])
    values = {
        "groups": groups,
        "count": count,
        "sparks": sparklines(published, groups),
        "columns": FLEET_COLUMNS,
        "severities": SEVERITIES,
        "order": order,
        "looked_for": looked_for,
        "after": after,
        "rows_shown": ROWS,
    }
    return Page("fleet.html.j2", "Fleet", values, here.link(""))


def sparklines(published: Published, groups: list[Row]) -> dict[tuple[str, str], list[int]]:
    """Changes of leadership over time, in the same columns of time for all groups."""
    first, last = published.rows(SPAN)[0].values()
    if first is None or not groups:
        return {}
    length = max((last - first) // timedelta(microseconds=1), 1)
    given = {"first": first, "length": length, "buckets": BUCKETS, "clusters": [group["cluster"] for group in groups]}
    found: dict[tuple[str, str], list[int]] = {}
    for row in published.rows(SPARKS, given):
        found.setdefault((row["cluster"], row["replica_group"]), [0] * BUCKETS)[row["bucket"]] += row["n"]
    return found
