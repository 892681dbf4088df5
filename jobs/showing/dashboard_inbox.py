"""The inbox, the first page of the dashboard."""

from xml.etree.ElementTree import Element

from election_replay.jobs.reading.inbox import CERTAINTIES, ORDERS, SYSTEMS, Filters, Inbox, inbox
from election_replay.jobs.reading.marks import in_short
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import (
    SEVERITIES,
    Row,
    lasting,
    listed,
    lost,
    when,
)
from election_replay.jobs.showing.dashboard_frame import Here, Page, choice, iso, labelled, pages, place_of, stamp
from election_replay.jobs.showing.markup import Child, tag
from election_replay.jobs.showing.report import badge

RUN_BEFORE = "SELECT published_at FROM runs ORDER BY published_at DESC LIMIT 1 OFFSET 1"


def inbox_page(published: Published, here: Here) -> Page:
    """All findings that pass the filters of the address."""
    filters = Filters.of(here.query)
    after = place_of(here)
    found = inbox(published, filters, after)
    counts = ", ".join(
        f"{found.counts[severity]:,} {severity}" for severity in SEVERITIES if found.counts.get(severity)
    )
    parts: list[Child] = [
        tag("h1", "Inbox", tag("small", f" {counts or 'nothing found'}")),
        filter_form(published, filters, here),
        tag("ol", (entry(found, finding, here) for finding in found.findings), class_="inbox"),
    ]
    if not found.findings:
        parts.append(tag("p", nothing_found(filters, here), class_="nothing"))
    parts.append(pages(here, after, len(found.findings), found.total, "findings"))
    parts.append(
        tag(
            "p",
            f"From run {published.run['run_id']}, published {stamp(published.run['published_at'])}.",
            class_="muted",
        )
    )
    return Page("Inbox", parts)


def nothing_found(filters: Filters, here: Here) -> list[Child]:
    """What is said where no finding is listed, and what to do."""
    if filters.given:
        return ["No finding passes these filters. ", tag("a", "Show all findings", href=here.link(""))]
    return ["No rule finds a fault in what the logs show. ", tag("a", "See all groups", href=here.link("fleet"))]


def entry(found: Inbox, finding: Row, here: Here) -> Element:
    """One finding, with what a reader asks first."""
    leaders = found.leaders.get((finding["cluster"], finding["replica_group"]), [])
    about: list[tuple[str, Child]] = [
        ("When", when(finding)),
        ("How long", lasting(finding) or None),
        ("Lost", "; ".join(lost(finding)) or None),
        ("Group", tag("a", f"{finding['cluster']} / {finding['replica_group']}", href=here.group(finding))),
        ("Leads now", leads(leaders)),
        ("Rule", finding["rule"]),
        ("Review", in_short(found.marks.get(finding["finding_id"]))),
    ]
    below = finding["depth"] > 0 and finding["below_its_root"]
    root = f"follows from {finding['root_rule']}: " if finding["depth"] and not below else None
    return tag(
        "li",
        tag(
            "p",
            badge(finding),
            tag("span", "from it follows: " if below else root),
            tag("a", finding["summary"], href=here.finding(finding), class_="what"),
        ),
        tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in about if value is not None)),
        data_row="",
        class_=f"{finding['severity']}{' below' if below else ''}",
    )


def leads(leaders: list[Row]) -> str:
    """Who leads a group at the end of its logs."""
    named = [row["leader"] for row in leaders if row["leader"]]
    return listed(named) if named else "nobody"


RARER = ("rule", "certainty", "system", "cluster", "group", "since", "until", "new")
"""The filters that are folded away until one of them is set."""


def filter_form(published: Published, filters: Filters, here: Here) -> Element:
    """Fields for all that an address can ask of the inbox."""
    rarer = set(RARER) & filters.given.keys()
    return tag(
        "form",
        common_filters(filters),
        tag(
            "details",
            tag("summary", f"More filters{f' ({len(rarer)})' if rarer else ''}"),
            rarer_filters(published, filters),
            open="open" if rarer else None,
        ),
        links_beside(published, filters, here),
        method="get",
        action=here.link(""),
        class_="filters",
        role="search",
        aria_label="Filters",
    )


def common_filters(filters: Filters) -> Element:
    """The fields that are always seen."""
    return tag(
        "div",
        field("Find", "find", filters.find, "words, group, rule or id", kind="search"),
        choice("Severity", "severity", SEVERITIES, filters.severity),
        choice("Order", "sort", tuple(ORDERS), filters.sort, every="gravest first"),
        tag("button", "Apply", type="submit"),
    )


def rarer_filters(published: Published, filters: Filters) -> Element:
    """The fields of :data:`RARER`, with what there is to choose from."""
    clusters = [row["cluster"] for row in published.rows("SELECT DISTINCT cluster FROM findings ORDER BY cluster")]
    rules = [row["rule"] for row in published.rows("SELECT DISTINCT rule FROM findings ORDER BY rule")]
    times = (("From (UTC)", "since"), ("To (UTC)", "until"), ("New since (UTC)", "new"))
    return tag(
        "div",
        choice("Rule", "rule", rules, filters.rule),
        choice("Certainty", "certainty", CERTAINTIES, filters.certainty),
        choice("System", "system", tuple(SYSTEMS), filters.system),
        choice("Cluster", "cluster", clusters, filters.cluster),
        *(field(name, key, getattr(filters, key), "2026-03-01T05:00") for name, key in times),
    )


def links_beside(published: Published, filters: Filters, here: Here) -> Element:
    """Links that set filters, or drop them."""
    before = published.rows(RUN_BEFORE)
    newest = (
        tag("a", "new in the newest run", href=here.link("", new=iso(before[0]["published_at"]))) if before else None
    )
    return tag(
        "p",
        tag("a", "drop all filters", href=here.link("")) if filters.given else None,
        " " if filters.given and newest else None,
        newest,
        class_="muted",
    )


def field(name: str, key: str, value: str | None, example: str, kind: str = "text") -> Element:
    """A labelled field of text."""
    return labelled(name, tag("input", id=key, name=key, type=kind, value=value, placeholder=example))
