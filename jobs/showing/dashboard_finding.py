"""The page of one finding: its moment, its evidence, what would refute it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from xml.etree.ElementTree import Element

from election_replay.jobs import JobError
from election_replay.jobs.reading.explain import Explanation, explain
from election_replay.jobs.reading.incident import Incident, incident
from election_replay.jobs.reading.marks import marks_of
from election_replay.jobs.reading.next_steps import steps_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import (
    Row,
    certainty,
    lasting,
    lost,
    measures,
    when,
)
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here, NotThere, Page
from election_replay.jobs.showing.dashboard_group import edge, links_of
from election_replay.jobs.showing.dashboard_review import review_part
from election_replay.jobs.showing.explanation_text import limits
from election_replay.jobs.showing.markup import tag
from election_replay.jobs.showing.picture import legend, picture
from election_replay.jobs.showing.report import badge, definitions, evidence_list, in_markup

AROUND = 4
"""Lines before and after a line of evidence."""


NEIGHBOURS = """
    SELECT line.path, line.line_no, line.text FROM log_lines AS line
    JOIN (SELECT unnest($paths) AS path, unnest($numbers) AS line_no) AS proof ON proof.path = line.path
        AND line.line_no BETWEEN proof.line_no - $around AND proof.line_no + $around
    WHERE line.cluster = $cluster GROUP BY ALL ORDER BY line.path, line.line_no
"""

FORGOTTEN = """
    SELECT file.path FROM landed_files AS file WHERE file.cluster = $cluster AND file.path IN (SELECT unnest($paths))
    GROUP BY file.path HAVING sum(file.lines_event) > (
        SELECT count(*) FROM log_lines AS line WHERE line.cluster = $cluster AND line.path = file.path
    )
"""
"""The files of which more lines were landed than are kept: upkeep forgets what no verdict names."""
WHY = "`upkeep --forget-bronze-after` forgot them. The log itself may still have them."
LEFT = f"some are not kept any more: {WHY}"
NONE_LEFT = f"none is kept any more: {WHY}"


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
            *([tag("h2", "What to do next"), definitions(in_markup(steps))] if (steps := [*steps_of(finding)]) else []),
            *review_part(finding, marks_of(published, [finding["finding_id"]]).get(finding["finding_id"]), here),
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
    first: list[tuple[str, Any]] = [("How sure", certainty(finding)), ("How long", lasting(finding) or when(finding))]
    if any(lost(finding)):
        first.append(("Lost", "; ".join(lost(finding))))
    return [
        *first,
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("What limits it", " ".join(limits(explained))),
        ("Source", rule.source),
        *measures(finding),
    ]


def related(explained: Explanation, here: Here) -> Iterator[Element]:
    """What a finding follows from, and what follows from it."""
    if explained.implied_by:
        cause = explained.implied_by
        yield tag("p", "It follows from ", badge(cause), tag("a", cause["summary"], href=here.finding(cause)))
    if explained.echoes:
        yield tag("h2", "From it follows")
        entries = (
            tag(
                "li",
                badge(echo),
                tag("a", echo["summary"], href=here.finding(echo)),
                class_=echo["severity"],
                data_row="",
            )
            for echo in explained.echoes
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
    try:
        rows = published.rows(NEIGHBOURS, given)
        gone = {row["path"] for row in published.rows(FORGOTTEN, {"paths": given["paths"], "cluster": cluster})}
    except JobError as error:
        yield tag("p", f"The lines around them cannot be read: {error}", class_="muted")
        return
    proofs = set(places)
    files: dict[str, list[Row]] = {path: [] for path, _ in places}
    for row in rows:
        files[row["path"]].append(row)
    for path, lines in files.items():
        yield from box_of_lines(path, lines, proofs)
        if path in gone or not lines:
            yield tag("p", f"Of the lines around them in {path} {LEFT if lines else NONE_LEFT}", class_="muted")


def box_of_lines(path: str, lines: list[Row], proofs: set[tuple[str, int]]) -> Iterator[Element]:
    """The lines of one file in a box that opens; nothing where there are none."""
    if lines:
        listed_lines = (
            tag("li", row["text"], value=row["line_no"], class_="proof" if (path, row["line_no"]) in proofs else None)
            for row in lines
        )
        box = tag("ol", listed_lines, class_="lines", tabindex=0)
        yield tag("details", tag("summary", f"Lines of interest around them in {path}"), box)
