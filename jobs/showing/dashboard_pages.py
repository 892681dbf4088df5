"""The pages of the dashboard, each made from what is published and from its address alone."""

from collections.abc import Callable

from election_replay.election_core.model.catalogue import CATALOGUE
from election_replay.jobs.reading.inbox import ROWS
from election_replay.jobs.reading.published import Published
from election_replay.jobs.showing.dashboard_finding import finding_page
from election_replay.jobs.showing.dashboard_fleet import fleet_page
from election_replay.jobs.showing.dashboard_frame import Here, NotThere, Page, near
from election_replay.jobs.showing.dashboard_group import group_page
from election_replay.jobs.showing.dashboard_inbox import inbox_page

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
    """The page behind an address.

    Raises :class:`NotThere` where there is none, :class:`JobError` for an address that says what cannot be.
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
    """Every rule: what it means, what would refute it, where it comes from, and how often it was broken."""
    sql = "SELECT rule, count(*) AS n FROM findings GROUP BY rule"
    counts = {row["rule"]: row["n"] for row in published.rows(sql)}
    return Page("rules.html.j2", "Rules", {"catalogue": CATALOGUE, "counts": counts}, here.link(""))


def runs_page(published: Published, here: Here) -> Page:
    """What was published, what was read, and what could not be."""
    tables = [
        (title, published.rows(f"{sql} LIMIT {ROWS}"), published.rows(f"SELECT count(*) AS n FROM ({sql})")[0]["n"])
        for title, sql in TABLES.items()
    ]
    return Page("runs.html.j2", "Runs and data quality", {"tables": tables}, here.link(""))
