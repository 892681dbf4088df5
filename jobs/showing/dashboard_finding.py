"""The page of one finding: its time, its evidence, and what would refute it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from election_replay.jobs import JobError
from election_replay.jobs.reading.explain import Explanation, explain
from election_replay.jobs.reading.incident import Incident, incident
from election_replay.jobs.reading.marks import marks_of
from election_replay.jobs.reading.next_steps import steps_of
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, certainty, in_phrases, lasting, lost, measures, when
from election_replay.jobs.showing.dashboard_frame import SHOWN, Here, NotThere, Page
from election_replay.jobs.showing.dashboard_group import edge, links_of
from election_replay.jobs.showing.dashboard_review import MOST_CHARACTERS
from election_replay.jobs.showing.explanation_text import limits
from election_replay.jobs.showing.picture import picture
from election_replay.schemas.reviews import STATES

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
"""SELECT of the files of which fewer lines are stored than were landed: upkeep erases lines that no fact names."""


@dataclass(frozen=True, slots=True)
class LinesAround:
    """Stored lines around evidence, by file; ``proofs`` are the (path, line number) of evidence itself.

    ``forgotten`` are the files of which some lines were erased; ``problem`` is the reason if nothing could be read.
    """

    files: dict[str, list[Row]] = field(default_factory=dict)
    proofs: frozenset[tuple[str, int]] = frozenset()
    forgotten: frozenset[str] = frozenset()
    problem: str = ""


def finding_page(published: Published, here: Here) -> Page:
    """Return the page of the finding in the address. Raises :class:`NotThere` if there is none."""
    try:
        explained = explain(published, here.asked("id"))
    except JobError as error:
        raise NotThere(*str(error).splitlines()) from None
    finding = explained.finding
    found = around(published, finding)
    group = Here(here.root, "/group", {"cluster": finding["cluster"], "group": finding["replica_group"]})
    values = {
        "finding": finding,
        "found": found,
        "window": {"from": edge(found.begin), "to": edge(found.end)},
        "answers": list(answers(explained)),
        "cause": explained.implied_by,
        "echoes": explained.echoes,
        "next_steps": list(steps_of(finding)),
        "mark": marks_of(published, [finding["finding_id"]]).get(finding["finding_id"]),
        "states": STATES,
        "most": MOST_CHARACTERS,
        "drawn": picture(found, links_of(group)),
        "evidence": explained.evidence,
        "around": lines_around(published, finding["cluster"], explained.evidence),
    }
    title = f"{finding['rule']} in {finding['cluster']} / {finding['replica_group']}"
    return Page("finding.html.j2", title, values, here.group(finding))


def answers(explained: Explanation) -> Iterator[tuple[str, str]]:
    """Yield (question, answer) pairs about a finding."""
    finding, rule = explained.finding, explained.rule
    yield "How sure", certainty(finding)
    yield "How long", lasting(finding) or when(finding)
    if losses := "; ".join(lost(finding)):
        yield "Lost", losses
    yield "Rule", rule.meaning
    yield "What would refute it", rule.refuted_by
    yield "What limits it", " ".join(limits(explained))
    yield "Source", rule.source
    yield from measures(finding, in_phrases(finding))


def around(published: Published, finding: Row) -> Incident:
    """Return the incident of a finding's group around the time of the finding."""
    start, end = finding["start_time"], finding["end_time"] or finding["start_time"]
    beside = min(max((end - start) / 2, timedelta(seconds=10)), timedelta(hours=6))
    return incident(
        published, finding["cluster"], finding["replica_group"], start - beside, end + beside, at_most=SHOWN
    )


def lines_around(published: Published, cluster: str, evidence: list[Row]) -> LinesAround:
    """Return the stored lines before and after the lines of evidence."""
    places = [(row["path"], row["line_no"]) for row in evidence if row["path"] is not None][:SHOWN]
    if not places:
        return LinesAround()
    given = {"paths": [path for path, _ in places], "cluster": cluster}
    numbers = {"numbers": [number for _, number in places], "around": AROUND}
    try:
        rows = published.rows(NEIGHBOURS, given | numbers)
        forgotten = published.rows(FORGOTTEN, given)
    except JobError as error:
        return LinesAround(problem=str(error))
    files: dict[str, list[Row]] = {path: [] for path, _ in places}
    for row in rows:
        files[row["path"]].append(row)
    return LinesAround(files, frozenset(places), frozenset(row["path"] for row in forgotten))
