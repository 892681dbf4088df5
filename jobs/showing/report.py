"""An incident as one self-contained HTML file: verdict, picture, story, findings with their lines, what was not seen.

It asks nobody for anything: style and picture stand in it.
"""

from collections.abc import Iterable, Iterator
from importlib.resources import files
from xml.etree.ElementTree import Element

from election_replay.election_core.model.catalogue import RULES
from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.next_steps import Step, urgent_steps
from election_replay.jobs.reading.story import StoryEntry, beyond, collapsed, damage, folded, outcome, story, unseen
from election_replay.jobs.reading.words import Row, certainty, clock, lasting, listed, lost, measures, when
from election_replay.jobs.showing.markup import document, tag
from election_replay.jobs.showing.picture import Links, legend, merged, picture

STYLE = files("election_replay.jobs.showing").joinpath("report.css").read_text(encoding="utf-8")


def page(incident: Incident) -> str:
    """The whole file."""
    title = f"{incident.cluster} / {incident.group}"
    head = (
        tag("meta", http_equiv="Content-Security-Policy", content="default-src 'none'; style-src 'unsafe-inline'"),
        tag("title", f"Incident {title}"),
        tag("style", STYLE),
    )
    made = f"run {incident.run_id}, published {incident.published_at:%Y-%m-%d %H:%M} UTC"
    footer = f"election-replay, {made}. Times are UTC; log lines stand as written, in their own zone."
    header = tag("header", tag("h1", title), tag("p", span(incident), class_="muted"))
    return document(head, (header, tag("main", sections(incident)), tag("footer", footer)))


def span(incident: Incident) -> str:
    """From when to when, on which clocks."""
    day = "" if incident.begin.date() == incident.end.date() else f"{incident.end:%Y-%m-%d} "
    times = f"{incident.begin:%Y-%m-%d} {clock(incident.begin)} to {day}{clock(incident.end)}"
    return f"{times} UTC, {incident.clocks_in_words()}"


def sections(incident: Incident) -> Iterator[Element]:
    """The parts of the page."""
    yield tag("section", tag("h2", "Verdict"), verdict(incident), class_="verdict")
    yield tag("section", tag("h2", "What happened"), story_list(incident))
    drawn = tag("div", picture(incident, Links(lambda _: None, anchor)), class_="picture")
    note = tag("p", merged(incident), class_="muted") if merged(incident) else None
    yield tag("section", tag("h2", "Who was what"), drawn, legend(incident), note)
    yield tag(
        "section",
        tag("h2", f"Findings: {incident.counted()}"),
        (finding_card(incident, finding) for finding in incident.roots),
    )
    yield tag(
        "section", tag("h2", "What we could not see"), tag("ul", (tag("li", sentence) for sentence in unseen(incident)))
    )
    yield tag("section", tag("h2", "Timeline"), timeline(incident))


def anchor(findings: list[Row]) -> str:
    """Where a mark leads: to the first of its findings."""
    return f"#{findings[0]['finding_id']}"


def verdict(incident: Incident) -> Element:
    """What a reader needs who reads nothing else: what, how sure, what it cost, who, how long, what next."""
    worst = incident.roots[0] if incident.roots else None
    answers: list[tuple[str, str | Iterable[Element | str]]] = []
    if worst is None:
        answers.append(("Verdict", "No rule finds a fault in what the logs show of this time."))
    else:
        answers += [
            ("Verdict", (badge(worst), worst["summary"])),
            ("How sure", certainty(worst)),
            ("Duration", lasting(worst) or when(worst)),
            ("Nodes", listed(incident.called(node) for node in worst["nodes"])),
            ("Findings", incident.counted()),
        ]
    counted = [sentence.removeprefix("Damage: ") for sentence in damage(incident)]
    answers += [("Impact", sentence) for sentence in counted or ["No finding counts lost or repeated messages."]]
    answers += [("Now", sentence) for sentence in outcome(incident)]
    if worst is not None:
        answers += [*in_markup(urgent_steps(worst))] or [("Next", f"Look for this: {RULES[worst['rule']].refuted_by}")]
    answers.append(("Made", f"from run {incident.run_id}, published {incident.published_at:%Y-%m-%d %H:%M:%S} UTC"))
    return definitions(answers)


def in_markup(steps: Iterable[Step]) -> Iterator[tuple[str, str | list[Element | str]]]:
    """What to do, as names and what is said of each: a command stands on a line of its own, to be copied."""
    for step in steps:
        yield step.heading, [step.text, tag("code", step.command, class_="command")] if step.command else step.text


def definitions(pairs: Iterable[tuple[str, str | Iterable[Element | str]]]) -> Element:
    """Names and what is said of each."""
    return tag("dl", (part for name, value in pairs for part in (tag("dt", name), tag("dd", value))))


def story_list(incident: Incident) -> Element:
    """Who led, why that changed, what went wrong, and what it cost."""
    lines = story(incident)
    entries = [
        tag("li", tag("time", f"{entry.at:%Y-%m-%d %H:%M:%S}"), sentence(entry), class_=kind(entry)) for entry in lines
    ]
    ends = (*beyond(incident), *damage(incident), *outcome(incident))
    entries += [tag("li", tag("time"), tag("span", sentence)) for sentence in ends]
    return tag("ol", entries, class_="story")


def sentence(entry: StoryEntry) -> Element:
    """What is told; a finding with how grave and how sure it is, and what it leads to."""
    if entry.finding is None:
        return tag("span", entry.sentence)
    follows = "from it follows: " if entry.depth else None
    return tag("span", follows, badge(entry.finding), tag("a", entry.sentence, href=f"#{entry.finding['finding_id']}"))


def kind(entry: StoryEntry) -> str:
    """How an entry of the story looks."""
    severity = entry.finding["severity"] if entry.finding else "change"
    return f"{severity} below" if entry.depth else severity


def badge(finding: Row) -> Element:
    """Severity and certainty, in words and a colour."""
    return tag("b", f"{finding['severity']} · {finding['certainty']}", class_=f"badge {finding['severity']}")


# -- findings, timeline -----------------------------------------------------------------------------------------


def finding_card(incident: Incident, finding: Row) -> Element:
    """One finding with all that a reader asks; those that follow from it stand inside it."""
    rule = RULES[finding["rule"]]
    answers = [
        ("How sure", certainty(finding)),
        *([("Lost", "; ".join(lost(finding)))] if any(lost(finding)) else []),
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("Source", rule.source),
        *measures(finding),
        *in_markup(urgent_steps(finding)),
    ]
    lines = incident.evidence.get(finding["finding_id"], [])
    echoes = incident.echoes(finding)
    return tag(
        "article",
        tag("h3", badge(finding), f" {finding['rule']}"),
        tag("p", when(finding), " UTC, finding ", tag("code", finding["finding_id"]), class_="muted"),
        tag("p", finding["summary"], class_="summary"),
        definitions(answers),
        tag("h4", f"Evidence: {len(lines)} lines of logs, word for word, in order of time"),
        evidence_list(lines),
        [tag("h4", "From it follows"), *(finding_card(incident, echo) for echo in echoes)] if echoes else [],
        class_=finding["severity"],
        id=finding["finding_id"],
    )


def evidence_list(lines: list[Row]) -> Iterator[Element]:
    """Lines of logs; those in a row that say the same are one."""
    return (evidence(row, count) for row, count in folded(lines))


def evidence(row: Row, count: int = 1) -> Element:
    """One line of a log: when on the clock of the page, by which node, in which place, and its words."""
    if row["path"] is None:
        return tag("p", "a line that was not kept", class_="muted")
    at = tag("time", f"{row['at']:%Y-%m-%d} {clock(row['at'])} UTC ") if row["at"] else None
    node = tag("b", f"{row['source_node']} ") if row["source_node"] else None
    more = f" ({count} alike)" if count > 1 else ""
    place = f"{row['path']}:{row['line_no']}{more}"
    return tag("figure", tag("figcaption", at, node, place), tag("pre", row["text"], tabindex=0))


def timeline(incident: Incident) -> Element:
    """Everything that began or ended."""
    rows = [
        tag(
            "tr",
            tag("td", f"{entry.first['happened_at']:%Y-%m-%d} {clock(entry.first['happened_at'])}"),
            tag("td", entry.first["node"] or ""),
            tag("td", entry.sentence + (f" ({entry.count} alike, to {clock(entry.last)})" if entry.count > 1 else "")),
            tag("td", tag("code", f"{entry.first['path']}:{entry.first['line_no']}") if entry.first["path"] else None),
            class_=entry.first["kind"],
        )
        for entry in collapsed(incident.moments)
    ]
    head = tag("thead", tag("tr", (tag("th", name, scope="col") for name in ("Time", "Node", "What", "File and line"))))
    return tag(
        "div", tag("table", head, tag("tbody", rows)), class_="scroll", tabindex=0, role="region", aria_label="Timeline"
    )
