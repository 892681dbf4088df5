"""An incident as one self-contained HTML file: picture, story, findings with their lines, what could not be seen.

The page is built as a tree of elements and written by the standard library, so that no text, wherever it comes from,
can become markup. It asks nobody for anything: style and picture stand in it.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.resources import files
from xml.etree.ElementTree import Element, tostring

from election_core.model.catalogue import RULES
from jobs.reading.incident import Incident, collapsed, outcome, story, unseen
from jobs.reading.words import Row, certainty, clock, harmless, measures, role_word, spoken, term_word, when

STYLE = files("jobs.showing").joinpath("report.css").read_text(encoding="utf-8")

WIDTH, MARGIN, LANE, BAR, HEAD = 1200, 170, 34, 20, 34
"""The picture: its width, the room for names, the height of a lane and of a bar, the room for times; user units."""

WIDE_ENOUGH = 7
"""Width of a character in the picture: a bar is labelled where its label fits."""

Child = Element | str | None


def tag(name: str, /, *children: Child | Iterable[Child], **attributes: object) -> Element:
    """An element. A trailing underscore in an attribute's name is dropped, others become hyphens."""
    element = Element(name, {key.rstrip("_").replace("_", "-"): plain(str(value)) for key, value in attributes.items()})
    for child in children:
        for one in [child] if child is None or isinstance(child, str | Element) else child:
            add(element, one)
    return element


def add(parent: Element, child: Child) -> None:
    """Put an element or a text at the end of ``parent``."""
    if child is None:
        return
    if isinstance(child, Element):
        parent.append(child)
    elif len(parent):
        parent[-1].tail = (parent[-1].tail or "") + plain(child)
    else:
        parent.text = (parent.text or "") + plain(child)


def plain(text: str) -> str:
    """``text`` without control characters, which a page must not hold; lines stay lines."""
    return harmless(text, keep="\n\t")


def page(told: Incident) -> str:
    """The whole file."""
    title = f"{told.cluster} / {told.group}"
    document = tag(
        "html",
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
            tag("title", f"Incident {title}"),
            tag("style", STYLE),
        ),
        tag(
            "body",
            tag("header", tag("h1", title), tag("p", span(told), class_="muted")),
            tag("main", *sections(told)),
            tag(
                "footer",
                f"election-replay, run {told.run_id}. Times are UTC; log lines stand as written, in their own zone.",
            ),
        ),
        lang="en",
    )
    return "<!DOCTYPE html>\n" + tostring(document, encoding="unicode", method="html")


def span(told: Incident) -> str:
    """From when to when."""
    day = "" if told.begin.date() == told.end.date() else f"{told.end:%Y-%m-%d} "
    times = f"{told.begin:%Y-%m-%d} {clock(told.begin)} to {day}{clock(told.end)}"
    return f"{times} UTC, by the clocks of the nodes that logged it"


def sections(told: Incident) -> Iterator[Element]:
    """The parts of the page."""
    yield tag("section", tag("h2", "What happened"), story_list(told))
    yield tag("section", tag("h2", "Who was what"), picture(told), legend(told))
    yield tag("section", tag("h2", f"Findings: {told.counted()}"), (finding_card(told, one) for one in told.roots))
    yield tag("section", tag("h2", "What we could not see"), tag("ul", (tag("li", said) for said in unseen(told))))
    yield tag("section", tag("h2", "Timeline"), timeline(told))


def story_list(told: Incident) -> Element:
    """Who led, why that changed, what went wrong."""
    entries = [
        tag(
            "li",
            tag("time", f"{at:%Y-%m-%d %H:%M:%S}"),
            tag("span", badge(finding) if finding else None, sentence),
            class_=finding["severity"] if finding else "change",
        )
        for at, sentence, finding in story(told)
    ]
    entries += [tag("li", tag("time"), tag("span", sentence)) for sentence in outcome(told)]
    if not entries:
        return tag("p", "Nobody began to lead in this time, and nothing went wrong in it that the logs show.")
    return tag("ol", entries, class_="story")


def badge(finding: Row) -> Element:
    """The severity, in a word and a colour."""
    return tag("b", finding["severity"], class_=f"badge {finding['severity']}")


# -- picture ----------------------------------------------------------------------------------------------------


def picture(told: Incident) -> Element:
    """A lane for each member, a bar for each role, a mark for each finding."""
    nodes = list(dict.fromkeys(role["node"] for role in told.roles))
    graves = [one for one in told.findings if one["severity"] != "info"]
    height = HEAD + LANE * (len(nodes) + 1) + 10
    drawn: list[Element] = [*axis(told, height)]
    for number, node in enumerate(nodes):
        top = HEAD + LANE * number
        drawn.append(tag("text", told.names[node], x=0, y=top + 20, class_="name"))
        bars = [role for role in told.roles if role["node"] == node]
        drawn += [bar(told, role, top + 6) for role in sorted(bars, key=lambda role: role["role"] == "leader")]
    top = HEAD + LANE * len(nodes)
    drawn.append(tag("text", "findings", x=0, y=top + 20, class_="name"))
    drawn += [mark(told, finding, top + 6) for finding in sorted(graves, key=lambda one: one["severity"], reverse=True)]
    return tag(
        "svg",
        tag("title", f"Roles of the members of {told.group} over time, and the findings"),
        drawn,
        viewBox=f"0 0 {WIDTH} {height}",
        role="img",
        xmlns="http://www.w3.org/2000/svg",
    )


def place(told: Incident, at: datetime) -> float:
    """Where a moment stands, left to right."""
    length = max((told.end - told.begin).total_seconds(), 1)
    inside = min(max((at - told.begin).total_seconds(), 0), length)
    return round(MARGIN + (WIDTH - MARGIN - 10) * inside / length, 1)


def axis(told: Incident, height: int) -> Iterator[Element]:
    """Times, with a line down through the lanes."""
    count = 8
    step = (told.end - told.begin) / count
    for number in range(count + 1):
        at = told.begin + step * number
        x = place(told, at)
        yield tag("line", x1=x, x2=x, y1=HEAD - 6, y2=height - 10, class_="grid")
        if number < count:
            yield tag("text", f"{at:%H:%M:%S}", x=x, y=HEAD - 14, class_="tick")


def bar(told: Incident, role: Row, top: int) -> Element:
    """One member in one role."""
    end = role["end_time"] or told.log_ends.get(role["source_node"] or "", told.end)
    left, right = place(told, role["start_time"]), place(told, max(end, role["start_time"]))
    wide = max(right - left, 2)
    term = "" if role["term"] is None else str(role["term"])
    labels = (f"{role_word(role['role'], role['protocol'])} {term}".strip(), term)
    label = next((label for label in labels if wide > WIDE_ENOUGH * len(label) + 10), "")
    words = f"{told.names[role['node']]}: {role_in_words(role)}, {when(role)}"
    named = tag("text", label, x=left + 5, y=top + 14) if label else None
    return tag(
        "g",
        tag("title", words),
        tag("rect", x=left, y=top, width=wide, height=BAR, rx=2),
        named,
        class_=f"role {role['role']}",
    )


def role_in_words(role: Row) -> str:
    """A role with its term and why it began."""
    term = "" if role["term"] is None else f" in {term_word(role['protocol'])} {role['term']}"
    cause = f" ({spoken(role['start_cause'])})" if role["start_cause"] else ""
    return f"{role_word(role['role'], role['protocol'])}{term}{cause}"


def mark(told: Incident, finding: Row, top: int) -> Element:
    """Where a finding lies; a click leads to it."""
    left = place(told, finding["start_time"])
    right = place(told, max(finding["end_time"] or finding["start_time"], finding["start_time"]))
    return tag(
        "a",
        tag("title", f"{finding['severity']} {finding['rule']}: {finding['summary']}"),
        tag("rect", x=left, y=top, width=max(right - left, 5), height=BAR, rx=2),
        href=f"#{finding['finding_id']}",
        class_=f"mark {finding['severity']}",
    )


def legend(told: Incident) -> Element:
    """What the bars mean; their words and patterns say it without colour too."""
    roles = sorted({(role["role"], role["protocol"]) for role in told.roles})
    entries = [tag("li", tag("i", class_=f"swatch {role}"), role_word(role, protocol)) for role, protocol in roles]
    return tag("ul", entries, tag("li", "no bar: no log"), class_="legend")


# -- findings, timeline -----------------------------------------------------------------------------------------


def finding_card(told: Incident, finding: Row) -> Element:
    """One finding with all that a reader asks."""
    rule = RULES[finding["rule"]]
    said = [
        ("How sure", certainty(finding)),
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("Source", rule.source),
        *measures(finding),
    ]
    echoes = [
        tag(
            "li",
            badge(echo),
            f" {echo['rule']}: {echo['summary']} ",
            tag("code", echo["finding_id"]),
            id=echo["finding_id"],
        )
        for echo in told.echoes(finding)
    ]
    lines = told.evidence.get(finding["finding_id"], [])
    return tag(
        "article",
        tag("h3", badge(finding), f" {finding['rule']}"),
        tag("p", when(finding), " UTC, finding ", tag("code", finding["finding_id"]), class_="muted"),
        tag("p", finding["summary"], class_="summary"),
        tag("dl", ((tag("dt", name), tag("dd", value))[place] for name, value in said for place in (0, 1))),
        [tag("h4", "From it follows"), tag("ul", echoes)] if echoes else [],
        tag("h4", f"Evidence: {len(lines)} lines of logs, word for word"),
        (evidence(row) for row in lines),
        class_=finding["severity"],
        id=finding["finding_id"],
    )


def evidence(row: Row) -> Element:
    """One line of a log with its place."""
    if row["path"] is None:
        return tag("p", "a line that was not kept", class_="muted")
    return tag("figure", tag("figcaption", f"{row['path']}:{row['line_no']}"), tag("pre", row["text"]))


def timeline(told: Incident) -> Element:
    """Everything that began or ended."""
    rows = [
        tag(
            "tr",
            tag("td", f"{moment['happened_at']:%Y-%m-%d} {clock(moment['happened_at'])}"),
            tag("td", moment["node"] or ""),
            tag("td", moment["what"] + (f" ({count} times, to {clock(last)})" if count > 1 else "")),
            tag("td", tag("code", f"{moment['path']}:{moment['line_no']}") if moment["path"] else None),
            class_=moment["kind"],
        )
        for moment, count, last in collapsed(told.moments)
    ]
    head = tag("thead", tag("tr", (tag("th", name) for name in ("Time", "Node", "What", "File and line"))))
    return tag("div", tag("table", head, tag("tbody", rows)), class_="scroll")
