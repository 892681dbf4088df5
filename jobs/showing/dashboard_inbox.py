"""The inbox, the first page of the dashboard."""

from election_replay.jobs.reading.inbox import CERTAINTIES, ORDERS, ROWS, SYSTEMS, Filters, inbox
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES
from election_replay.jobs.showing.dashboard_frame import Here, Page, iso, place_of

RUN_BEFORE = "SELECT published_at FROM runs ORDER BY published_at DESC LIMIT 1 OFFSET 1"

RARER = frozenset({"rule", "certainty", "system", "cluster", "group", "since", "until", "new"})
"""The filters that are folded away until one of them is set."""


def inbox_page(published: Published, here: Here) -> Page:
    """All findings that pass the filters of the address."""
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
    """What of a column findings have."""
    return [row[column] for row in published.rows(f"SELECT DISTINCT {column} FROM findings ORDER BY {column}")]
