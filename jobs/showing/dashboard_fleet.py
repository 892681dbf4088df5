"""The fleet: all groups on one page of the dashboard."""

from datetime import timedelta
from xml.etree.ElementTree import Element

from election_replay.jobs import JobError
from election_replay.jobs.reading.inbox import LED_BY, ROWS
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import (
    SEVERITIES,
    Row,
    seconds,
)
from election_replay.jobs.showing.dashboard_frame import Here, Page, labelled, pages, place_of, scrolling, stamp
from election_replay.jobs.showing.markup import Child, tag

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
    sparks = sparklines(published, groups)
    heads = (fleet_head(name, key, order, here) for name, key in FLEET_COLUMNS)
    body = (fleet_row(row, sparks.get((row["cluster"], row["replica_group"])), here) for row in groups)
    form = tag(
        "form",
        tag(
            "div",
            labelled(
                "Find",
                tag("input", id="find", name="find", type="search", value=looked_for, placeholder="cluster / group"),
            ),
            tag("button", "Apply", type="submit"),
        ),
        method="get",
        action=here.link("fleet"),
        class_="filters",
        role="search",
        aria_label="Find a group",
    )
    return Page(
        "Fleet",
        [
            tag("h1", "Fleet"),
            form,
            scrolling("Groups", tag("table", tag("thead", tag("tr", heads)), tag("tbody", body), class_="fleet")),
            pages(here, after, len(groups), count, "groups"),
        ],
        here.link(""),
    )


def fleet_head(name: str, key: str, order: str, here: Here) -> Element:
    """The head of a column, which sorts by it."""
    if not key:
        return tag("th", name, scope="col")
    sorted_by = "descending" if key == order and key != "group" else "ascending" if key == order else None
    return tag("th", tag("a", name, href=here.again(sort=key, after=None)), scope="col", aria_sort=sorted_by)


def fleet_row(row: Row, spark: list[int] | None, here: Here) -> Element:
    """One group."""
    clean = row["worst"] is None
    counts = [
        tag(
            "td",
            tag(
                "a",
                f"{row[severity]:,}",
                href=here.link("", cluster=row["cluster"], group=row["replica_group"], severity=severity),
                class_=severity,
            )
            if row[severity]
            else "0",
        )
        for severity in SEVERITIES
    ]
    return tag(
        "tr",
        tag("th", tag("a", f"{row['cluster']} / {row['replica_group']}", href=here.group(row)), scope="row"),
        tag("td", "none found", colspan=3, class_="clean") if clean else counts,
        tag("td", row["leader"] or "nobody"),
        tag("td", f"{row['changes']:,}"),
        tag("td", f"{row['needless']:,}"),
        tag("td", seconds(row["leaderless_ms"]) if row["leaderless_ms"] else "none"),
        tag("td", sparkline(spark)),
        tag("td", stamp(row["as_of"]), class_="time"),
        data_row="",
    )


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


def sparkline(counts: list[int] | None) -> Child:
    """Counts as small bars."""
    if not counts:
        return "none"
    most = max(counts)
    drawn = (
        tag(
            "rect",
            x=3 * place,
            y=20 - max(round(20 * count / most), 2),
            width=2,
            height=max(round(20 * count / most), 2),
        )
        for place, count in enumerate(counts)
        if count
    )
    words = f"{sum(counts)} changes, {most} in the busiest of {BUCKETS} parts of the time"
    return tag("svg", drawn, class_="spark", viewBox=f"0 0 {3 * BUCKETS} 20", role="img", aria_label=words)
