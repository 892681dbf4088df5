"""An incident as text for a terminal of 100 columns, without colour."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from election_core.model.catalogue import RULES
from jobs.reading.incident import Incident, collapsed, outcome, story, unseen
from jobs.reading.words import COLUMNS, Row, certainty, clock, leader_word, paragraph, term_word, when

LINES_SHOWN = {"critical": 6, "warning": 6, "info": 1}
"""Lines of evidence that are shown of one finding; ``explain`` shows all."""

LANES_SHOWN = 24
NAME_COLUMNS = 24
MARKS = {"leader": "#", "acting_leader": "a", "candidate": "c", "down": "x", "follower": "-", "observer": "o"}
UNKNOWN = "?"
RANK = " ?o-xca#"
"""Where several roles share one column, the one further right is drawn."""

MEANING = {
    "#": "{counted}",
    "a": "acting {leader}",
    "-": "follower",
    "c": "candidate",
    "o": "observer",
    "x": "down",
    "?": "not known",
}


def text(told: Incident) -> Iterator[str]:
    """The lines of the text."""
    yield f"{told.cluster} / {told.group}"
    day = "" if told.begin.date() == told.end.date() else f"{told.end:%Y-%m-%d} "
    span = f"{told.begin:%Y-%m-%d} {clock(told.begin)} to {day}{clock(told.end)}"
    yield f"{span} UTC, by the clocks of the nodes that logged it"
    yield ""
    yield "What happened"
    yield from story_lines(told)
    yield ""
    yield from lane_lines(told)
    yield from finding_lines(told)
    yield "What we could not see"
    yield from (line for said in unseen(told) for line in paragraph(f"- {said}", "  ", "    "))
    yield ""
    yield from timeline_lines(told)
    yield ""
    yield from paragraph(f"From run {told.run_id}. Times are UTC; log lines stand as written, in their own time zone.")


def story_lines(told: Incident) -> Iterator[str]:
    """Who led, why that changed, what went wrong."""
    said = story(told)
    many_days = told.begin.date() != told.end.date()
    for at, sentence, finding in said:
        grave = f"{finding['severity'].upper()}: " if finding else ""
        moment = f"  {at:%Y-%m-%d} {clock(at)}  " if many_days else f"  {clock(at)}  "
        yield from paragraph(f"{grave}{sentence}", moment, " " * len(moment))
    if not said:
        yield "  Nobody began to lead in this time, and nothing went wrong in it that the logs show."
    for sentence in outcome(told):
        yield from paragraph(sentence, "  ", "    ")


# -- lanes ------------------------------------------------------------------------------------------------------


def lane_lines(told: Incident) -> Iterator[str]:
    """Each member's roles over time, a mark for each column of time."""
    drawn = [role for role in told.roles if role["start_time"] <= told.end]
    nodes = list(dict.fromkeys(role["node"] for role in drawn))[:LANES_SHOWN]
    length = (told.end - told.begin).total_seconds()
    if not nodes or length <= 0:
        return
    margin = min(max(len(told.names[node]) for node in nodes), NAME_COLUMNS) + 4
    scale = Scale(told.begin, length, COLUMNS - margin)
    lanes = {node: lane(told, node, scale) for node in nodes}
    protocol = drawn[0]["protocol"]
    used = {mark for cells in lanes.values() for mark in cells if not mark.isdigit()}
    leader = leader_word(protocol)
    counted = (
        f"{leader}, its {term_word(protocol)} first" if any(role["term"] is not None for role in drawn) else leader
    )
    legend = [f"{mark}: {MEANING[mark].format(leader=leader, counted=counted)}" for mark in MEANING if mark in used]
    yield f"Who was what (one column is {scale.step:.3g} s)"
    yield from paragraph("; ".join([*legend, "blank: no log", "!: a finding"]), "  ")
    yield from ruler(scale, margin)
    for node, cells in lanes.items():
        yield f"  {told.names[node][:NAME_COLUMNS]:<{margin - 2}}{cells}".rstrip()
    for severity in ("critical", "warning"):
        spans = [finding for finding in told.findings if finding["severity"] == severity]
        if spans:
            yield f"  {severity:<{margin - 2}}{marks(spans, scale)}".rstrip()
    yield ""


class Scale:
    """Columns of time."""

    def __init__(self, begin: datetime, length: float, width: int) -> None:
        self.begin, self.width, self.step = begin, width, length / width

    def column(self, at: datetime) -> int:
        """The column that holds a moment."""
        return min(max(int((at - self.begin).total_seconds() / self.step), 0), self.width - 1)

    def columns(self, start: datetime, end: datetime) -> range:
        """The columns that hold a span of time: at least one."""
        first = self.column(start)
        return range(first, max(self.column(end - timedelta(microseconds=1)), first) + 1)


def lane(told: Incident, node: str, scale: Scale) -> str:
    """One member's roles; a leader's run begins with its term."""
    cells = [" "] * scale.width
    own = [role for role in told.roles if role["node"] == node]
    for role in own:
        end = role["end_time"] or told.log_ends.get(role["source_node"] or "", told.end)
        if end < told.begin:
            continue
        mark = MARKS.get(role["role"], UNKNOWN)
        for column in scale.columns(max(role["start_time"], told.begin), max(end, role["start_time"])):
            if RANK.index(mark) > RANK.index(cells[column]):
                cells[column] = mark
    for role in own:
        name, first = str(role["term"]), scale.column(max(role["start_time"], told.begin))
        if (
            role["role"] == "leader"
            and role["term"] is not None
            and cells[first : first + len(name)] == ["#"] * len(name)
        ):
            cells[first : first + len(name)] = name
    return "".join(cells)


def marks(findings: list[Row], scale: Scale) -> str:
    """Where findings lie."""
    cells = [" "] * scale.width
    for finding in findings:
        for column in scale.columns(
            finding["start_time"], max(finding["end_time"] or finding["start_time"], finding["start_time"])
        ):
            cells[column] = "!"
    return "".join(cells)


def ruler(scale: Scale, margin: int) -> Iterator[str]:
    """Times above the columns where they begin."""
    every = 20
    names, ticks = "", ""
    for column in range(0, scale.width - 8, every):
        names += f"{scale.begin + timedelta(seconds=column * scale.step):%H:%M:%S}".ljust(every)
        ticks += "|".ljust(every)
    yield " " * margin + names.rstrip()
    yield " " * margin + ticks.rstrip()


# -- findings and timeline --------------------------------------------------------------------------------------


def finding_lines(told: Incident) -> Iterator[str]:
    """Each finding with how sure it is, what would refute it, and lines that prove it."""
    yield f"Findings: {told.counted()}"
    for finding in told.roots:
        yield ""
        yield f"  {finding['severity'].upper()} {finding['rule']}, finding {finding['finding_id'][:12]}"
        yield f"    {when(finding)}"
        yield from paragraph(finding["summary"], "    ")
        yield from paragraph(certainty(finding), "    How sure: ", "      ")
        yield from paragraph(RULES[finding["rule"]].refuted_by, "    What would refute it: ", "      ")
        for echo in told.echoes(finding):
            said = f"{echo['rule']} {echo['finding_id'][:12]}, {echo['severity']}: {echo['summary']}"
            yield from paragraph(said, "    From it follows ", "      ")
        yield from evidence_lines(told, finding)
    yield ""


def evidence_lines(told: Incident, finding: Row) -> Iterator[str]:
    """Log lines behind a finding, with file and line number; long ones are broken between words."""
    lines = told.evidence.get(finding["finding_id"], [])
    shown = LINES_SHOWN[finding["severity"]]
    for row in lines[:shown]:
        if row["path"] is None:
            continue
        first, *more = row["text"].splitlines() or [""]
        yield f"    {row['path']}:{row['line_no']}"
        yield from paragraph(first, "      ", "        ")
        if more:
            yield from paragraph(more[0], "        ", "          ")
        if len(more) > 1:
            yield f"        (and {len(more) - 1} lines more of it)"
    if len(lines) > shown:
        yield f"    and {len(lines) - shown} more: election-replay explain {finding['finding_id'][:12]}"


def timeline_lines(told: Incident) -> Iterator[str]:
    """Everything that began or ended, in order of time, with its place."""
    below = f"{told.cluster}/nodes/"
    yield f"Timeline (files lie below {below})"
    day = None
    for moment, count, last in collapsed(told.moments):
        at = moment["happened_at"]
        if at.date() != day:
            day = at.date()
            yield f"  {day}"
        often = f" ({count} times, to {clock(last)})" if count > 1 else ""
        place = f"[{moment['path'].removeprefix(below)}:{moment['line_no']}]" if moment["path"] else ""
        yield from timeline_entry(f"  {clock(at)}  {moment['node'] or '':<8} ", moment["what"] + often, place)
    if not told.moments:
        yield "  nothing in this time"


def timeline_entry(head: str, what: str, place: str) -> Iterator[str]:
    """One moment: in one line where it fits, the place on a line of its own where not."""
    if len(head) + len(what) + len(place) + 2 <= COLUMNS:
        yield f"{head}{what}  {place}".rstrip()
        return
    yield from paragraph(what, head, " " * len(head))
    yield from paragraph(place, " " * len(head)) if place else ()
