"""The pages of the dashboard, each made from what is published and from its address alone."""

from collections.abc import Callable, Iterable
from xml.etree.ElementTree import Element

from election_replay.election_core.model.catalogue import CATALOGUE
from election_replay.election_core.model.next_steps import NextSteps
from election_replay.jobs.reading.inbox import ROWS
from election_replay.jobs.reading.next_steps import steps_of_rule
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import counted
from election_replay.jobs.showing.dashboard_finding import finding_page
from election_replay.jobs.showing.dashboard_fleet import fleet_page
from election_replay.jobs.showing.dashboard_frame import Here, NotThere, Page, near, table
from election_replay.jobs.showing.dashboard_group import group_page
from election_replay.jobs.showing.dashboard_inbox import inbox_page
from election_replay.jobs.showing.markup import Child, tag
from election_replay.jobs.showing.report import definitions

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
    parts: list[Child] = [tag("h1", "Rules")]
    for rule in CATALOGUE:
        count = counts.get(rule.rule, 0)
        found = tag("a", counted(count, "finding"), href=here.link("", rule=rule.rule)) if count else "no finding"
        details: list[tuple[str, str | Iterable[Element | str]]] = [
            ("Severity", rule.severity),
            ("Needs", rule.needs),
            ("What would refute it", rule.refuted_by),
            ("Source", rule.source),
            *((name, in_order(steps)) for name, steps in steps_of_rule(rule.rule)),
        ]
        head = tag("h2", rule.rule, tag("small", " ", found))
        parts.append(tag("section", head, tag("p", rule.meaning), definitions(details), id=rule.rule, class_="rule"))
    return Page("Rules", parts, here.link(""))


def in_order(steps: NextSteps) -> list[Element | str]:
    """What to do, as a list; a command stands on a line of its own, to be copied."""
    checks = (tag("li", check.look, tag("code", check.command, class_="command")) for check in steps.checks)
    return [tag("ol", checks), tag("p", steps.do_not)]


def runs_page(published: Published, here: Here) -> Page:
    """What was published, what was read, and what could not be."""
    parts: list[Child] = [tag("h1", "Runs and data quality")]
    for title, sql in TABLES.items():
        count = published.rows(f"SELECT count(*) AS n FROM ({sql})")[0]["n"]
        rows = published.rows(f"{sql} LIMIT {ROWS}")
        parts += [tag("h2", title), table(title, rows)]
        if count > len(rows):
            note = f"The first {len(rows)} of {count:,}; `election-replay sql` shows all."
            parts.append(tag("p", note, class_="muted"))
    return Page("Runs and data quality", parts, here.link(""))
