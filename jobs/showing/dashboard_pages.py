"""The pages of the dashboard, each made from the published tables and its address alone."""

from collections.abc import Callable
from datetime import timedelta

from election_replay.jobs import JobError
from election_replay.jobs.reading.inbox import CERTAINTIES, LED_BY, ORDERS, ROWS, SYSTEMS, Filters, inbox
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.showing.dashboard_finding import finding_page
from election_replay.jobs.showing.dashboard_frame import Here, NotThere, Page, iso, near, place_of
from election_replay.jobs.showing.dashboard_group import group_page

BUCKETS = 32
"""Buckets of a sparkline."""


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
    """Return the page of all groups, or of those whose names contain the searched text."""
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
    """Return the numbers of changes of leadership in :data:`BUCKETS` equal periods, by (cluster, group)."""
    first, last = published.rows(SPAN)[0].values()
    if first is None or not groups:
        return {}
    length = max((last - first) // timedelta(microseconds=1), 1)
    given = {"first": first, "length": length, "buckets": BUCKETS, "clusters": [group["cluster"] for group in groups]}
    found: dict[tuple[str, str], list[int]] = {}
    for row in published.rows(SPARKS, given):
        found.setdefault((row["cluster"], row["replica_group"]), [0] * BUCKETS)[row["bucket"]] += row["n"]
    return found


RUN_BEFORE = "SELECT published_at FROM runs ORDER BY published_at DESC LIMIT 1 OFFSET 1"

RARER = frozenset({"rule", "certainty", "system", "cluster", "group", "since", "until", "new"})
"""The filters that the page hides until one of them is set."""


def inbox_page(published: Published, here: Here) -> Page:
    """Return the page of findings that pass the filters of the address."""
    filters = Filters.of(here.query)
    after = place_of(here)
    found = inbox(published, filters, after)
    before = published.rows(RUN_BEFORE)
    counted = (f"{count:,} {severity}" for severity in SEVERITIES if (count := found.counts.get(severity)))
    values = {
        "found": found,
        "counts": ", ".join(counted),
        "filters": filters,
        "rarer": len(RARER & filters.given.keys()),
        "rules": known(published, "rule"),
        "clusters": known(published, "cluster"),
        "severities": SEVERITIES,
        "certainties": CERTAINTIES,
        "systems": tuple(SYSTEMS),
        "orders": tuple(ORDERS),
        "before": iso(before[0]["published_at"]) if before else None,
        "run": published.run,
        "after": after,
        "rows_shown": ROWS,
    }
    return Page("inbox.html.j2", "Inbox", values)


def known(published: Published, column: str) -> list[str]:
    """Return the sorted distinct values of a column of findings."""
    return [row[column] for row in published.rows(f"SELECT DISTINCT {column} FROM findings ORDER BY {column}")]


TABLES = {
    "Runs": "SELECT run_id, published_at, batch, clusters, code_version, rules_version FROM runs "
    "ORDER BY published_at DESC",
    "What was read of each node": "SELECT cluster, source_node, count(DISTINCT (stream, fingerprint)) AS files, "
    "sum(lines_total) AS lines, sum(lines_event) AS events, sum(lines_quarantined) AS quarantined, "
    "max(last_line_time) AS last_line FROM landed_files GROUP BY ALL "
    "ORDER BY quarantined DESC, cluster, source_node",
    "What could not be read": "SELECT path, line_no, reason, text FROM quarantine ORDER BY path, line_no",
    "What could not be judged": "SELECT cluster, replica_group, rule, conforms AS kept, violates AS broken, "
    "undecidable AS not_judged, why_undecidable AS why "
    "FROM blind_spots ORDER BY undecidable DESC, cluster, replica_group, rule",
}


def page(published: Published, here: Here) -> Page:
    """Return the page for an address.

    Raises :class:`NotThere` if there is none, and :class:`JobError` for invalid values in the address.
    """
    pages: dict[str, Callable[[Published, Here], Page]] = {
        "/": inbox_page,
        "/fleet": fleet_page,
        "/group": group_page,
        "/finding": finding_page,
        "/rules": rules_page,
        "/runs": runs_page,
    }
    if here.path not in pages:
        raise NotThere(f"there is no page {here.path}", *near(here.path, list(pages)))
    return pages[here.path](published, here)


def rules_page(published: Published, here: Here) -> Page:
    """Return the page of all rules, with the number of findings of each."""
    sql = "SELECT rule, count(*) AS n FROM findings GROUP BY rule"
    counts = {row["rule"]: row["n"] for row in published.rows(sql)}
    return Page("rules.html.j2", "Rules", {"catalogue": catalogue().values(), "counts": counts}, here.link(""))


def runs_page(published: Published, here: Here) -> Page:
    """Return the page of published runs and of data quality."""
    tables = [
        (title, published.rows(f"{sql} LIMIT {ROWS}"), published.rows(f"SELECT count(*) AS n FROM ({sql})")[0]["n"])
        for title, sql in TABLES.items()
    ]
    return Page("runs.html.j2", "Runs and data quality", {"tables": tables}, here.link(""))
