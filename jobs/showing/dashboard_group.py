"""The page of one group: its picture as a tool, its story, its findings."""

from collections.abc import Iterator
from datetime import datetime
from xml.etree.ElementTree import Element

from election_replay.jobs import JobError
from election_replay.jobs.reading.incident import KNOWN, Incident, incident
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.story import beyond, damage, outcome, story, unseen
from election_replay.jobs.reading.votes import votes_of
from election_replay.jobs.reading.words import (
    Row,
    leader_word,
    moment,
    role_word,
    seconds,
    spoken,
    term_word,
    when,
)
from election_replay.jobs.showing.dashboard_beside import another, choice, log_lines, markdown
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here, NotThere, Page, labelled, near, stamp
from election_replay.jobs.showing.markup import Child, tag
from election_replay.jobs.showing.picture import Links, legend, merged, picture
from election_replay.jobs.showing.report import badge, definitions, kind, span

VOTES_SHOWN = 300


BAR = """
    SELECT role.*, begun.source_file AS start_path, begun.line_no AS start_line, first_line.text AS start_text,
        ended.source_file AS end_path, ended.line_no AS end_line, last_line.text AS end_text
    FROM role_intervals AS role
    LEFT JOIN events AS begun ON begun.event_id = role.start_event_id AND begun.cluster = role.cluster
    LEFT JOIN events AS ended ON ended.event_id = role.end_event_id AND ended.cluster = role.cluster
    LEFT JOIN log_lines AS first_line ON first_line.event_id = begun.event_id AND first_line.cluster = role.cluster
    LEFT JOIN log_lines AS last_line ON last_line.event_id = ended.event_id AND last_line.cluster = role.cluster
    WHERE role.cluster = ? AND role.replica_group = ? AND role.start_event_id = ?
    ORDER BY role.node, role.source_node, role.start_time LIMIT 3
"""


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
            view_form(found, here, choice(published, found, here)),
            tag("div", drawn, class_="picture", id="lanes"),
            legend(found),
            *another(published, found, here),
            tag("p", merged(found), class_="muted") if merged(found) else None,
            bar_panel(published, found, here),
            *log_lines(published, found, here),
            *story_and_findings(found, here),
            markdown(found, here),
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
        begin, end = (
            findings[0]["start_time"],
            max(finding["end_time"] or finding["start_time"] for finding in findings),
        )
        return here.again(**{"from": edge(begin), "to": edge(end)})

    return Links(of_bar, of_findings)


def edge(at: datetime) -> str:
    """An end of a window, for an address."""
    return at.isoformat(timespec="milliseconds").removesuffix("+00:00")


def view_form(found: Incident, here: Here, beside: Child) -> Element:
    """What a reader may change about the picture: its window, its clocks, and what is drawn in it."""
    kept = (tag("input", type="hidden", name=name, value=here.asked(name)) for name in ("cluster", "group"))
    ways: list[Child] = []
    if here.asked("from") or here.asked("to"):
        ways += [tag("a", "see all times", href=here.again(**{"from": None, "to": None, "bar": None})), " "]
    votes = bool(here.asked("votes"))
    ways += [tag("a", "hide votes" if votes else "show votes", href=here.again(votes=None if votes else "1")), " "]
    lines = bool(here.asked("lines"))
    lines_link = here.again(lines=None if lines else "1") + ("" if lines else "#lines")
    ways += [tag("a", "hide log lines" if lines else "show log lines", href=lines_link), " "]
    ways += [tag("a", "link to this time", href=here.again(**{"from": edge(found.begin), "to": edge(found.end)})), " "]
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
            beside,
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
        *(part for row in rows for part in role_details(found, row)),
        class_="panel",
        id="bar",
        aria_label="The role that was chosen",
    )


def role_details(found: Incident, row: Row) -> Iterator[Element]:
    """One role in words, with the lines that begin and end it."""
    source = row["source_node"]
    shifted = dict(row)
    if found.raw:
        shifted |= {name: row[f"{name}_logged"] or row[name] for name in ("start_time", "end_time")}
    term = "" if row["term"] is None else f" in {term_word(row['protocol'])} {row['term']}"
    yield tag("h2", f"{found.called(row['node'], source)}: {role_word(row['role'], row['protocol'])}{term}")
    details: list[tuple[str, str]] = [("When", when(shifted))]
    if row["start_uncertainty_ms"]:
        details.append(("Uncertainty of the start", f"up to {seconds(row['start_uncertainty_ms'])} later"))
    if row["end_uncertainty_ms"]:
        details.append(("Uncertainty of the end", f"up to {seconds(row['end_uncertainty_ms'])} later"))
    if row["leader"] and row["role"] == "follower":
        details.append((leader_word(row["protocol"]).capitalize(), row["leader"]))
    details.append(("Why it begins", spoken(row["start_cause"] or "not known")))
    details.append(("Why it ends", spoken(row["end_cause"] or ("not known" if row["end_time"] else "it does not"))))
    if source is None:
        details.append(("Source", "no log of it: others speak of it"))
    yield definitions(details)
    for end in ("start", "end"):
        if row[f"{end}_path"]:
            place = f"{row[f'{end}_path']}:{row[f'{end}_line']}"
            line = tag("pre", row[f"{end}_text"], tabindex=0)
            yield tag("figure", tag("figcaption", f"The line of the {end}: {place}"), line)


def story_and_findings(found: Incident, here: Here) -> Iterator[Element]:
    """The story, the findings as links, and what could not be seen."""
    lines = story(found)
    yield tag("h2", "What happened")
    yield from more(len(lines), "The first {shown} of what is to be told; zoom to see the rest.")
    entries = [
        tag(
            "li",
            tag("time", stamp(entry.at)),
            told_sentence(entry.finding, entry.sentence, entry.depth, here),
            class_=kind(entry),
        )
        for entry in lines[:SHOWN]
    ]
    ends = (*beyond(found), *damage(found), *outcome(found))
    entries += [tag("li", tag("time"), tag("span", sentence)) for sentence in ends]
    yield tag("ol", entries, class_="story")
    yield tag("h2", f"Findings: {found.counted()}")
    every = [pair for root in found.roots for pair in found.tree(root)]
    yield from more(
        len(every), "The first {shown} of {all}, the gravest first; zoom to see the rest, or open the inbox."
    )
    if every:
        yield tag("ul", (finding_link(finding, depth, here) for depth, finding in every[:SHOWN]), class_="findings")
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
