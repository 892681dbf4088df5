"""The pages of the dashboard, each made from what is published and from its address alone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import Any
from urllib.parse import urlencode
from xml.etree.ElementTree import Element

from election_core.model.catalogue import CATALOGUE
from jobs import JobError
from jobs.reading.explain import Explanation, explain
from jobs.reading.inbox import CERTAINTIES, ORDERS, ROWS, SYSTEMS, Filters, Inbox, inbox
from jobs.reading.incident import KNOWN, Incident, incident
from jobs.reading.published import Published
from jobs.reading.story import damage, outcome, story, unseen
from jobs.reading.votes import votes_of
from jobs.reading.words import (
    SEVERITIES,
    Row,
    cell,
    certainty,
    clock,
    lasting,
    leader_word,
    listed,
    lost,
    measures,
    moment,
    role_word,
    seconds,
    spoken,
    term_word,
    when,
)
from jobs.showing.explanation_text import limits
from jobs.showing.markup import Child, document, tag
from jobs.showing.picture import Links, legend, merged, picture
from jobs.showing.report import badge, definitions, evidence_list, kind, span

SHOWN = 50
"""Findings, and sentences of a story, that one page lists; a zoom shows those of a shorter time."""

VOTES_SHOWN = 300
AROUND = 4
"""Lines before and after a line of evidence."""

BUCKETS = 32
"""Columns of a sparkline."""

FLEET = """
    SELECT groups.*, now.leader, now.role, now.term, now.as_of FROM groups
    LEFT JOIN (SELECT cluster, replica_group, string_agg(leader, ' and ' ORDER BY leader) AS leader,
                   max(role) AS role, max(term) AS term, max(as_of) AS as_of
               FROM current GROUP BY cluster, replica_group) AS now
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
TABLES = {
    "Runs": "SELECT run_id, published_at, batch, clusters, code_version, rules_version FROM runs "
    "ORDER BY published_at DESC",
    "What was read of each node": "SELECT cluster, source_node, count(DISTINCT (stream, fingerprint)) AS files, "
    "sum(lines_total) AS lines, sum(lines_event) AS events, sum(lines_quarantined) AS quarantined, "
    "max(last_line_time) AS last_line FROM landed_files GROUP BY ALL "
    "ORDER BY quarantined DESC, cluster, source_node",
    "What could not be read": "SELECT path, line_no, reason, text FROM quarantine ORDER BY path, line_no",
    "What could not be judged": "SELECT cluster, replica_group, rule, conforms, violates, undecidable, why_undecidable "
    "FROM blind_spots ORDER BY undecidable DESC, cluster, replica_group, rule",
}
BAR = """
    SELECT role.*, begun.path AS start_path, begun.line_no AS start_line, begun.text AS start_text,
        ended.path AS end_path, ended.line_no AS end_line, ended.text AS end_text
    FROM role_intervals AS role
    LEFT JOIN log_lines AS begun ON begun.event_id = role.start_event_id AND begun.cluster = role.cluster
    LEFT JOIN log_lines AS ended ON ended.event_id = role.end_event_id AND ended.cluster = role.cluster
    WHERE role.cluster = ? AND role.replica_group = ? AND role.start_event_id = ?
    ORDER BY role.node, role.source_node, role.start_time LIMIT 3
"""
NEIGHBOURS = """
    SELECT line.path, line.line_no, line.text FROM log_lines AS line
    JOIN (SELECT unnest($paths) AS path, unnest($numbers) AS line_no) AS proof ON proof.path = line.path
        AND line.line_no BETWEEN proof.line_no - $around AND proof.line_no + $around
    WHERE line.cluster = $cluster GROUP BY ALL ORDER BY line.path, line.line_no
"""
RUN_BEFORE = "SELECT published_at FROM runs ORDER BY published_at DESC LIMIT 1 OFFSET 1"

Query = dict[str, str]


class NotThere(JobError):
    """An address that leads nowhere."""


@dataclass(frozen=True, slots=True)
class Here:
    """The address of a page: below which path the dashboard is shown, the path, and what stands after ``?``."""

    root: str
    path: str
    query: Query
    version: str = "0"

    def link(self, path: str, **query: str | None) -> str:
        """The address of another page."""
        asked = urlencode({name: value for name, value in query.items() if value})
        return f"{self.root}/{path}" + (f"?{asked}" if asked else "")

    def again(self, **changes: str | None) -> str:
        """The address of this page with some of its query changed; ``None`` or nothing drops a name."""
        return self.link(self.path.lstrip("/"), **(dict[str, str | None](self.query) | changes))

    def asked(self, name: str) -> str:
        """What the address says of ``name``; nothing where it does not."""
        return self.query.get(name, "").strip()

    def group(self, row: Row, **more: str | None) -> str:
        """The address of a group."""
        return self.link("group", cluster=row["cluster"], group=row["replica_group"], **more)

    def finding(self, row: Row) -> str:
        """The address of a finding."""
        return self.link("finding", id=row["finding_id"])


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown: the title of the window, the elements, and where ``u`` leads."""

    title: str
    parts: list[Child] = field(default_factory=list)
    up: str = ""


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


def near(text: str, known: list[str]) -> list[str]:
    """What may have been meant, as a line; none where nothing is near."""
    found = get_close_matches(text, known, n=2, cutoff=0.6)
    return [f"did you mean {' or '.join(found)}?"] if found else []


NAVIGATION = (("", "Inbox"), ("fleet", "Fleet"), ("rules", "Rules"), ("runs", "Runs and data quality"))


def frame(shown: Page, here: Here) -> str:
    """A page with what stands around it on every one."""
    files = f"{here.root}/static/{here.version}"
    head = (
        tag("title", f"{shown.title} · election-replay"),
        tag("link", rel="icon", href="data:,"),
        tag("link", rel="stylesheet", href=f"{files}/style.css"),
        tag("script", src=f"{files}/script.js", defer="defer"),
    )
    links = (
        tag("a", name, href=here.link(path), aria_current="page" if here.path == f"/{path}" else None)
        for path, name in NAVIGATION
    )
    keys = (("j", "next"), ("k", "before"), ("Enter", "open"), ("u", "up"), ("/", "find"))
    told = (part for key, what in keys for part in (tag("kbd", key), f" {what}  "))
    return document(
        head,
        (
            tag("a", "Skip to the content", href="#content", class_="skip"),
            tag("header", tag("nav", links, aria_label="Pages"), tag("a", "Up", href=shown.up, rel="up", class_="up"))
            if shown.up
            else tag("header", tag("nav", links, aria_label="Pages")),
            tag("main", shown.parts, id="content", tabindex=-1),
            tag("footer", told),
        ),
    )


def refusal(error: JobError) -> Page:
    """What cannot be shown, why, and where to go instead."""
    first, *more = str(error).splitlines()
    said = [tag("p", line) for line in more]
    where = tag("p", "The pages above lead to all there is.")
    return Page(
        "Not there", [tag("h1", "This cannot be shown"), tag("div", tag("p", first), said, where, class_="error")]
    )


# -- inbox ------------------------------------------------------------------------------------------------------


def inbox_page(published: Published, here: Here) -> Page:
    """All findings that pass the filters of the address."""
    filters = Filters.of(here.query)
    after = place_of(here)
    found = inbox(published, filters, after)
    counts = ", ".join(f"{found.counts[one]:,} {one}" for one in SEVERITIES if found.counts.get(one))
    parts: list[Child] = [
        tag("h1", "Inbox", tag("small", f" {counts or 'nothing found'}")),
        filter_form(published, filters, here),
        tag("ol", (entry(found, one, here) for one in found.findings), class_="inbox"),
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
    return ["Nothing went wrong that the logs show. ", tag("a", "See all groups", href=here.link("fleet"))]


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


def filter_form(published: Published, filters: Filters, here: Here) -> Element:
    """Fields for all that an address can ask of the inbox."""
    clusters = [row["cluster"] for row in published.rows("SELECT DISTINCT cluster FROM findings ORDER BY cluster")]
    rules = [row["rule"] for row in published.rows("SELECT DISTINCT rule FROM findings ORDER BY rule")]
    before = published.rows(RUN_BEFORE)
    rarer = ("rule", "certainty", "system", "cluster", "group", "since", "until", "new")
    newest = before and tag("a", "new in the newest run", href=here.link("", new=iso(before[0]["published_at"])))
    return tag(
        "form",
        tag(
            "div",
            labelled(
                "Find",
                tag(
                    "input",
                    id="find",
                    name="find",
                    type="search",
                    value=filters.find,
                    placeholder="words, group, rule or id",
                ),
            ),
            choice("Severity", "severity", SEVERITIES, filters.severity),
            choice("Order", "sort", tuple(ORDERS), filters.sort, every="gravest first"),
            tag("button", "Apply", type="submit"),
        ),
        tag(
            "details",
            tag("summary", f"More filters{f' ({count})' if (count := len(set(rarer) & filters.given.keys())) else ''}"),
            tag(
                "div",
                choice("Rule", "rule", rules, filters.rule),
                choice("Certainty", "certainty", CERTAINTIES, filters.certainty),
                choice("System", "system", tuple(SYSTEMS), filters.system),
                choice("Cluster", "cluster", clusters, filters.cluster),
                *(
                    labelled(
                        name,
                        tag(
                            "input",
                            id=key,
                            name=key,
                            type="text",
                            value=getattr(filters, key),
                            placeholder="2026-03-01T05:00",
                        ),
                    )
                    for name, key in (("From (UTC)", "since"), ("To (UTC)", "until"), ("New since (UTC)", "new"))
                ),
            ),
            open="open" if set(rarer) & filters.given.keys() else None,
        ),
        tag(
            "p",
            tag("a", "drop all filters", href=here.link("")) if filters.given else None,
            " " if filters.given and newest else None,
            newest or None,
            class_="muted",
        ),
        method="get",
        action=here.link(""),
        class_="filters",
        role="search",
        aria_label="Filters",
    )


def labelled(name: str, control: Element) -> Element:
    """A field with its name."""
    return tag("label", tag("span", name), control)


def choice(name: str, key: str, values: Iterable[str], chosen: str, every: str = "all") -> Element:
    """A field in which one of some values can be chosen."""
    options = [tag("option", every, value="")]
    options += [tag("option", one, value=one, selected="selected" if one == chosen else None) for one in values]
    return labelled(name, tag("select", options, name=key, id=f"choose-{key}"))


def place_of(here: Here) -> int:
    """After how many rows a page begins."""
    asked = here.asked("after")
    return int(asked[:9]) if asked.isdecimal() and asked.isascii() else 0


def pages(here: Here, after: int, shown: int, count: int, what: str) -> Element:
    """Which rows a page shows, and the way to the others."""
    there = {"before": after - ROWS if after else None, "next": after + shown if after + shown < count else None}
    ways = [
        part
        for name, to in there.items()
        if to is not None
        for part in (
            " ",
            tag("a", name, href=here.again(after=str(max(to, 0))), rel="next" if name == "next" else "prev"),
        )
    ]
    which = f"{after + 1:,} to {after + shown:,} of {count:,} {what}" if shown else f"0 of {count:,} {what}"
    return tag("p", which, ways, class_="pages")


def stamp(at: datetime | None) -> str:
    """A time to the second."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def iso(at: datetime) -> str:
    """A time for an address; what was published in the same moment is not after it."""
    return at.isoformat()


# -- all groups -------------------------------------------------------------------------------------------------


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
                f"{row[one]:,}",
                href=here.link("", cluster=row["cluster"], group=row["replica_group"], severity=one),
                class_=one,
            )
            if row[one]
            else "0",
        )
        for one in SEVERITIES
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
    given = {"first": first, "length": length, "buckets": BUCKETS, "clusters": [one["cluster"] for one in groups]}
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
    said = f"{sum(counts)} changes, {most} in the busiest of {BUCKETS} parts of the time"
    return tag("svg", drawn, class_="spark", viewBox=f"0 0 {3 * BUCKETS} 20", role="img", aria_label=said)


def scrolling(name: str, what: Element) -> Element:
    """What may be wider than the page."""
    return tag("div", what, class_="scroll", tabindex=0, role="region", aria_label=name)


# -- one group --------------------------------------------------------------------------------------------------


def group_page(published: Published, here: Here) -> Page:
    """Lanes with findings on them, and the rest in words."""
    found = group_of(published, here)
    votes = votes_of(published, found, VOTES_SHOWN) if here.asked("votes") else []
    drawn = picture(found, links_of(here), votes)
    return Page(
        f"{found.cluster} / {found.group}",
        [
            tag("h1", f"{found.cluster} / {found.group}"),
            *(tag("p", sentence, class_="now") for sentence in outcome(found)),
            tag("p", span(found), class_="muted"),
            view_form(found, here),
            tag("div", drawn, class_="picture", id="lanes"),
            legend(found),
            tag("p", merged(found), class_="muted") if merged(found) else None,
            bar_panel(published, found, here),
            *told(found, here),
        ],
        here.link("fleet"),
    )


def group_of(published: Published, here: Here) -> Incident:
    """What an address asks of a group."""
    cluster, group = here.asked("cluster"), here.asked("group")
    window = moment(here.asked("from") or None), moment(here.asked("to") or None)
    if here.asked("clock") not in {"", "raw", "adjusted"}:
        raise JobError(f"there is no clock {here.asked('clock')}; there is adjusted, raw")
    known = [f"{row['cluster']} / {row['replica_group']}" for row in published.rows(KNOWN)]
    if f"{cluster} / {group}" not in known:
        raise NotThere(f"there is no group {cluster} / {group}", *near(f"{cluster} / {group}", known))
    return incident(published, cluster, group, *window, at_most=SHOWN + 1, raw=here.asked("clock") == "raw")


def links_of(here: Here) -> Links:
    """Where clicks on the picture of a group lead."""

    def of_bar(bar: Row) -> str | None:
        if bar["n"] > 1:
            return here.again(**{"from": edge(bar["left_edge"]), "to": edge(bar["right_edge"]), "bar": None})
        return here.again(bar=bar["start_event_id"]) + "#bar" if bar["start_event_id"] else None

    def of_findings(findings: list[Row]) -> str:
        if len(findings) == 1:
            return here.finding(findings[0])
        begin, end = findings[0]["start_time"], max(one["end_time"] or one["start_time"] for one in findings)
        return here.again(**{"from": edge(begin), "to": edge(end)})

    return Links(of_bar, of_findings)


def edge(at: datetime) -> str:
    """An end of a window, for an address."""
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00")


def view_form(found: Incident, here: Here) -> Element:
    """What a reader may change about the picture: its window, its clocks, and what is drawn in it."""
    kept = (tag("input", type="hidden", name=name, value=here.asked(name)) for name in ("cluster", "group"))
    ways: list[Child] = []
    if here.asked("from") or here.asked("to"):
        ways += [tag("a", "see all times", href=here.again(**{"from": None, "to": None, "bar": None})), " "]
    votes = bool(here.asked("votes"))
    ways += [tag("a", "hide votes" if votes else "show votes", href=here.again(votes=None if votes else "1")), " "]
    if found.clocks.wrong:
        other = None if found.raw else "raw"
        says = "put wrong clocks right" if found.raw else "show clocks as they were"
        ways.append(tag("a", says, href=here.again(clock=other)))
    return tag(
        "form",
        kept,
        tag(
            "div",
            *(
                labelled(
                    name,
                    tag(
                        "input", id=f"window-{key}", name=key, type="text", value=here.asked(key), placeholder=edge(at)
                    ),
                )
                for name, key, at in (("From (UTC)", "from", found.begin), ("To (UTC)", "to", found.end))
            ),
            tag("button", "Zoom", type="submit"),
            tag("span", ways, class_="ways"),
        ),
        tag(
            "p",
            "Drag over the picture to zoom, double-click to see all; click a bar for its cause and its lines, a "
            "mark for its finding.",
            class_="muted hint",
        ),
        method="get",
        action=here.link("group"),
        class_="filters",
        aria_label="Window of time",
    )


def bar_panel(published: Published, found: Incident, here: Here) -> Child:
    """The role that was clicked: its cause, its lines and its uncertainty."""
    asked = here.asked("bar")
    if not asked:
        return None
    rows = published.rows(BAR, [found.cluster, found.group, asked])
    if not rows:
        return tag("p", "There is no such role any more.", class_="error", id="bar")
    return tag(
        "section",
        *(one for row in rows for one in role_told(found, row)),
        class_="panel",
        id="bar",
        aria_label="The role that was chosen",
    )


def role_told(found: Incident, row: Row) -> Iterator[Element]:
    """One role in words, with the lines that begin and end it."""
    source = row["source_node"]
    shifted = dict(row)
    if not found.raw:
        shifted["start_time"] = found.clocks.adjusted(source, row["start_time"])
        shifted["end_time"] = row["end_time"] and found.clocks.adjusted(source, row["end_time"])
    term = "" if row["term"] is None else f" in {term_word(row['protocol'])} {row['term']}"
    yield tag("h2", f"{found.called(row['node'], source)}: {role_word(row['role'], row['protocol'])}{term}")
    said: list[tuple[str, str]] = [("When", when(shifted))]
    if row["start_uncertainty_ms"]:
        said.append(("Uncertainty of the start", f"up to {seconds(row['start_uncertainty_ms'])} later"))
    if row["end_uncertainty_ms"]:
        said.append(("Uncertainty of the end", f"up to {seconds(row['end_uncertainty_ms'])} later"))
    if row["leader"] and row["role"] == "follower":
        said.append((leader_word(row["protocol"]).capitalize(), row["leader"]))
    said.append(("Why it begins", spoken(row["start_cause"] or "not known")))
    said.append(("Why it ends", spoken(row["end_cause"] or ("not known" if row["end_time"] else "it does not"))))
    if source is None:
        said.append(("Source", "no log of it: others speak of it"))
    yield definitions(said)
    for end in ("start", "end"):
        if row[f"{end}_path"]:
            place = f"{row[f'{end}_path']}:{row[f'{end}_line']}"
            line = tag("pre", row[f"{end}_text"], tabindex=0)
            yield tag("figure", tag("figcaption", f"The line of the {end}: {place}"), line)


def told(found: Incident, here: Here) -> Iterator[Element]:
    """The story, the findings as links, and what could not be seen."""
    lines = story(found)
    yield tag("h2", "What happened")
    yield from more(len(lines), "The first {shown} of what is to be told; zoom to see the rest.")
    entries = [
        tag(
            "li",
            tag("time", stamp(one.at)),
            told_sentence(one.finding, one.sentence, one.depth, here),
            class_=kind(one),
        )
        for one in lines[:SHOWN]
    ]
    if not lines:
        entries.append(tag("li", tag("time"), tag("span", "Nothing that the logs show.")))
    entries += [tag("li", tag("time"), tag("span", one)) for one in (damage(found), *outcome(found))]
    yield tag("ol", entries, class_="story")
    yield tag("h2", f"Findings: {found.counted()}")
    every = [pair for root in found.roots for pair in found.tree(root)]
    yield from more(
        len(every), "The first {shown} of {all}, the gravest first; zoom to see the rest, or open the inbox."
    )
    if every:
        yield tag("ul", (finding_link(one, depth, here) for depth, one in every[:SHOWN]), class_="findings")
    yield tag(
        "p", tag("a", "These findings in the inbox", href=here.link("", cluster=found.cluster, group=found.group))
    )
    yield tag("h2", "What we could not see")
    yield tag("ul", (tag("li", sentence) for sentence in unseen(found)))


def told_sentence(finding: Row | None, sentence: str, depth: int, here: Here) -> Element:
    """A sentence of the story; one that is a finding leads to it."""
    if finding is None:
        return tag("span", sentence)
    return tag(
        "span", "from it follows: " if depth else None, badge(finding), tag("a", sentence, href=here.finding(finding))
    )


def more(count: int, sentence: str) -> list[Element]:
    """``sentence``, where not all of ``count`` are shown."""
    return [tag("p", sentence.format(shown=SHOWN, all=f"{count:,}"), class_="muted")] if count > SHOWN else []


def finding_link(finding: Row, depth: int, here: Here) -> Element:
    """A finding, as a line that leads to its page; one that follows from another is indented below it."""
    return tag(
        "li",
        "from it follows: " if depth else None,
        badge(finding),
        tag("a", finding["rule"], href=here.finding(finding)),
        f" {when(finding)}: {finding['summary']}",
        data_row="",
        class_=f"{finding['severity']}{' below' if depth else ''}",
    )


# -- one finding ------------------------------------------------------------------------------------------------


def finding_page(published: Published, here: Here) -> Page:
    """One finding with all that a reader asks: its moment, its evidence, what would refute it."""
    asked = here.asked("id")
    try:
        explained = explain(published, asked)
    except JobError as error:
        raise NotThere(*str(error).splitlines()) from None
    finding = explained.finding
    found = around(published, finding)
    group = Here(here.root, "/group", {"cluster": finding["cluster"], "group": finding["replica_group"]})
    window = {"from": edge(found.begin), "to": edge(found.end)}
    return Page(
        f"{finding['rule']} in {finding['cluster']} / {finding['replica_group']}",
        [
            tag("h1", finding["summary"]),
            tag(
                "p",
                badge(finding),
                f"{finding['rule']} · {when(finding)} UTC, {found.clocks_in_words()}",
                class_="lead",
            ),
            tag(
                "p",
                tag("a", f"{finding['cluster']} / {finding['replica_group']}", href=here.group(finding)),
                " · ",
                tag("a", "its moment in the group", href=here.group(finding, **window)),
                " · finding ",
                tag("code", finding["finding_id"]),
            ),
            definitions(answers(explained)),
            *related(explained, here),
            tag("h2", "Its moment"),
            tag("div", picture(found, links_of(group)), class_="picture", id="lanes"),
            legend(found),
            tag("h2", f"Evidence: {len(explained.evidence)} lines of logs, word for word, in order of time"),
            *evidence_list(explained.evidence),
            *lines_around(published, finding["cluster"], explained.evidence),
        ],
        here.group(finding),
    )


def answers(explained: Explanation) -> list[tuple[str, Any]]:
    """What a reader asks of a finding."""
    finding, rule = explained.finding, explained.rule
    said: list[tuple[str, Any]] = [("How sure", certainty(finding)), ("How long", lasting(finding) or when(finding))]
    if any(lost(finding)):
        said.append(("Lost", "; ".join(lost(finding))))
    return [
        *said,
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("What limits it", " ".join(limits(explained))),
        ("Source", rule.source),
        *measures(finding),
    ]


def related(explained: Explanation, here: Here) -> Iterator[Element]:
    """What a finding follows from, and what follows from it."""
    if explained.implied_by:
        one = explained.implied_by
        yield tag("p", "It follows from ", badge(one), tag("a", one["summary"], href=here.finding(one)))
    if explained.echoes:
        yield tag("h2", "From it follows")
        entries = (
            tag("li", badge(one), tag("a", one["summary"], href=here.finding(one)), class_=one["severity"], data_row="")
            for one in explained.echoes
        )
        yield tag("ul", entries, class_="findings")


def around(published: Published, finding: Row) -> Incident:
    """The group of a finding in the time around it."""
    start, end = finding["start_time"], finding["end_time"] or finding["start_time"]
    beside = min(max((end - start) / 2, timedelta(seconds=10)), timedelta(hours=6))
    return incident(
        published, finding["cluster"], finding["replica_group"], start - beside, end + beside, at_most=SHOWN
    )


def lines_around(published: Published, cluster: str, evidence: list[Row]) -> Iterator[Element]:
    """The lines of interest before and after the lines of evidence, file by file."""
    places = [(row["path"], row["line_no"]) for row in evidence if row["path"] is not None][:SHOWN]
    if not places:
        return
    given = {
        "paths": [path for path, _ in places],
        "numbers": [number for _, number in places],
        "around": AROUND,
        "cluster": cluster,
    }
    rows = published.rows(NEIGHBOURS, given)
    proofs = set(places)
    files: dict[str, list[Row]] = {}
    for row in rows:
        files.setdefault(row["path"], []).append(row)
    for path, lines in files.items():
        listed_lines = (
            tag("li", row["text"], value=row["line_no"], class_="proof" if (path, row["line_no"]) in proofs else None)
            for row in lines
        )
        box = tag("ol", listed_lines, class_="lines", tabindex=0)
        yield tag("details", tag("summary", f"Lines of interest around them in {path}"), box)


# -- rules, runs ------------------------------------------------------------------------------------------------


def rules_page(published: Published, here: Here) -> Page:
    """Every rule: what it means, what would refute it, where it comes from, and how often it was broken."""
    sql = "SELECT rule, count(*) AS n FROM findings GROUP BY rule"
    counts = {row["rule"]: row["n"] for row in published.rows(sql)}
    parts: list[Child] = [tag("h1", "Rules")]
    for rule in CATALOGUE:
        count = counts.get(rule.rule, 0)
        found = tag("a", f"{count:,} findings", href=here.link("", rule=rule.rule)) if count else "no finding"
        said = [
            ("Severity", rule.severity),
            ("Needs", rule.needs),
            ("What would refute it", rule.refuted_by),
            ("Source", rule.source),
        ]
        head = tag("h2", rule.rule, tag("small", " ", found))
        parts.append(tag("section", head, tag("p", rule.meaning), definitions(said), id=rule.rule, class_="rule"))
    return Page("Rules", parts, here.link(""))


def runs_page(published: Published, here: Here) -> Page:
    """What was published, what was read, and what could not be."""
    parts: list[Child] = [tag("h1", "Runs and data quality")]
    for title, sql in TABLES.items():
        count = published.rows(f"SELECT count(*) AS n FROM ({sql})")[0]["n"]
        rows = published.rows(f"{sql} LIMIT {ROWS}")
        parts += [tag("h2", title), table(title, rows)]
        if count > len(rows):
            said = f"The first {len(rows)} of {count:,}; `election-replay sql` shows all."
            parts.append(tag("p", said, class_="muted"))
    return Page("Runs and data quality", parts, here.link(""))


def table(title: str, rows: list[Row]) -> Element:
    """Rows as a table."""
    if not rows:
        return tag("p", "none", class_="muted")
    head = tag("thead", tag("tr", (tag("th", spoken(name), scope="col") for name in rows[0])))
    body = (tag("tr", (tag("td", in_cell(value)) for value in row.values())) for row in rows)
    return scrolling(title, tag("table", head, tag("tbody", body)))


def in_cell(value: Any) -> str:
    """A value of a table, as people write it."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d} {clock(value)}"
    return f"{value:,}" if isinstance(value, int) else cell(value)
