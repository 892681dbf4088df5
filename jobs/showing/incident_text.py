"""An incident as text for a terminal, without colour, in the terminal's width."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from textwrap import wrap

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.lanes import Lane, lane_of
from election_replay.jobs.reading.losses import damage
from election_replay.jobs.reading.next_steps import Step, urgent_steps
from election_replay.jobs.reading.repetitions import collapsed, folded
from election_replay.jobs.reading.story import (
    StoryEntry,
    beyond,
    outcome,
    story,
    story_by_host,
    unseen,
)
from election_replay.jobs.reading.words import (
    Row,
    certainty,
    clock,
    columns,
    leader_word,
    paragraph,
    surely,
    term_word,
    when,
)
from election_replay.jobs.runbook.rules import catalogue

LINES_SHOWN = {"critical": 6, "warning": 6, "info": 1}
"""The maximum number of lines of evidence of a finding, by severity; ``explain`` shows all."""

LANES_SHOWN = 24
NAME_COLUMNS = 24
SAME_TERM, OTHER_TERM, UNSEEN_LEADER = "-", "|", "~"
"""The characters of a follower, of its first column in another term, and of a leader after the end of its log."""

SHELL_WORD = re.compile(r"""'[^']*'|"[^" ]+ [^" ]+ UTC\"""")
"""A quoted path or time: one word of a shell that contains spaces."""
QUOTED_QUOTE = "'\"'\"'"

MARKS = {"leader": "#", "acting_leader": "a", "candidate": "c", "down": "x", "follower": "-", "observer": "o"}
UNKNOWN = "?"
RANK = " ?o~-|xca#"
"""Characters by rank: if several roles share a column, the rightmost here is drawn."""

MEANING = {
    "#": "{counted}",
    "a": "acting {leader}",
    "~": "{leader}, no later line",
    "-": "follower",
    "|": "follower from here on in another {term}",
    "c": "candidate",
    "o": "observer",
    "x": "down",
    "?": "not known",
}


def text(incident: Incident) -> Iterator[str]:
    """Yield the lines of the text."""
    yield f"{incident.cluster} / {incident.group}"
    yield from paragraph(incident.span_in_words())
    yield ""
    yield "What happened"
    yield from story_lines(incident, by_host=bool(incident.members))
    yield ""
    yield from lane_lines(incident)
    yield from finding_lines(incident)
    yield "What we could not see"
    yield from (line for sentence in unseen(incident) for line in paragraph(f"- {sentence}", "  ", "    "))
    yield ""
    yield from timeline_lines(incident)
    yield ""
    times = "Times are UTC; log lines stand as written, in their own time zone."
    yield from paragraph(f"From run {incident.run['run_id']}. {times}")


def story_lines(incident: Incident, *, by_host: bool = False, above: Collection[str] = frozenset()) -> Iterator[str]:
    """Yield the lines of the story; ``by_host``: members are named by host, as lanes below show their ids.

    ``above`` are the ids of findings that are shown above the story, of which it only has the rule.
    """
    lines = story_by_host(incident) if by_host else story(incident)
    many_days = incident.begin.date() != incident.end.date()
    for entry in lines:
        moment = f"  {entry.at:%Y-%m-%d} {clock(entry.at)}  " if many_days else f"  {clock(entry.at)}  "
        moment += "  " * entry.depth
        again = entry.finding is not None and entry.finding["finding_id"] in above
        words = named_again(entry.finding) if entry.finding is not None and again else entry.sentence
        yield from paragraph(f"{grave(entry)}{words}", moment, " " * len(moment))
    for sentence in (*beyond(incident), *damage(incident), *outcome(incident)):
        yield from paragraph(incident.by_host(sentence) if by_host else sentence, "  ", "    ")


def named_again(finding: Row) -> str:
    """Return the short entry of a finding that is shown in full above."""
    end = finding["end_time"]
    until = f" to {clock(end)}" if end and end > finding["start_time"] else ""
    return f"{finding['rule']}{until}, as told above."


def grave(entry: StoryEntry) -> str:
    """Return the prefix of a finding's entry: severity, certainty, and whether another implies it; else empty."""
    if entry.finding is None:
        return ""
    words = f"{entry.finding['severity'].upper()} ({entry.finding['certainty']}): "
    return f"from it follows {words}" if entry.depth else words


# -- lanes ------------------------------------------------------------------------------------------------------


def lane_lines(incident: Incident) -> Iterator[str]:
    """Yield the lines of the lanes: each member's roles, one character a column of time."""
    drawn = [role for role in incident.roles if role["start_time"] <= incident.end]
    every = list(dict.fromkeys(lane_of(role) for role in drawn))
    shown = every[:LANES_SHOWN]
    length = (incident.end - incident.begin).total_seconds()
    if not shown or length <= 0:
        return
    names = {member: lane_name(incident, member) for member in shown}
    margin = min(max(map(len, names.values())), NAME_COLUMNS) + 4
    scale = Scale(incident.begin, length, columns() - margin)
    lanes = {member: lane(incident, member, scale) for member in shown}
    used = {mark for cells in lanes.values() for mark in cells if not mark.isdigit()}
    protocol, terms = drawn[0]["protocol"], any(role["term"] is not None for role in drawn)
    yield f"Who was what (one column is {scale.step:.3g} s)"
    at_once = ["=: two lead at once"] if incident.drawn.bands else []
    explained = [*legend(used, protocol, terms=terms), "blank: no log", *at_once, "!: a finding"]
    yield from paragraph("; ".join(explained), "  ")
    yield from ruler(scale, margin)
    for member, cells in lanes.items():
        yield f"  {names[member][:NAME_COLUMNS]:<{margin - 2}}{cells}".rstrip()
    if incident.drawn.bands:
        cells = "".join("=" if filled else " " for filled in columns_of_bands(incident, scale))
        yield f"  {'leaders':<{margin - 2}}{cells}".rstrip()
    for severity in ("critical", "warning"):
        spans = [finding for finding in incident.findings if finding["severity"] == severity]
        if spans:
            yield f"  {severity:<{margin - 2}}{marks(spans, scale, incident.end)}".rstrip()
    if len(every) > len(shown):
        yield f"  and {len(every) - len(shown)} lanes more: the report draws all"
    yield ""


def lane_name(incident: Incident, member: Lane) -> str:
    """Return the name of a lane, with the shifts of its clock."""
    return " ".join([incident.called(*member), *incident.shifts(member)])


def legend(used: set[str], protocol: str, *, terms: bool) -> Iterator[str]:
    """Return the meanings of the used characters."""
    leader, term = leader_word(protocol), term_word(protocol)
    counted = f"{leader}, its {term} first" if terms else leader
    return (
        f"{mark}: {MEANING[mark].format(leader=leader, counted=counted, term=term)}" for mark in MEANING if mark in used
    )


class Scale:
    """Maps times to columns of ``step`` seconds."""

    def __init__(self, begin: datetime, length: float, width: int) -> None:
        self.begin, self.width, self.step = begin, width, length / width

    def column(self, at: datetime) -> int:
        """Return the column of a time."""
        return min(max(int((at - self.begin).total_seconds() / self.step), 0), self.width - 1)

    def columns(self, start: datetime, end: datetime) -> range:
        """Return the columns of an interval, at least one."""
        first = self.column(start)
        return range(first, max(self.column(end - timedelta(microseconds=1)), first) + 1)


def lane(incident: Incident, member: Lane, scale: Scale) -> str:
    """Return the characters of a lane; a leader's begin with its term, and continue after the end of its log."""
    cells = [" "] * scale.width
    roles = [role for role in incident.roles if lane_of(role) == member]
    followed: int | None = None
    for role in roles:
        end = role["end_time"] or incident.log_ends.get(role["source_node"] or "", incident.end)
        if role["end_time"] is None and role["source_node"] and role["role"] in {"leader", "acting_leader"}:
            put(cells, scale.columns(max(end, incident.begin), incident.end), UNSEEN_LEADER)
        if end >= incident.begin:
            begin = max(role["start_time"], incident.begin)
            columns = scale.columns(begin, min(max(end, begin), incident.end))
            put(cells, columns, MARKS.get(role["role"], UNKNOWN))
            if late_by := incident.clocks.late_by(role["source_node"], role["start_time"]):
                for column in scale.columns(begin, min(begin + late_by, incident.end)):
                    cells[column] = UNKNOWN
            if role["role"] == "follower" and followed not in (None, role["term"]) and begin == role["start_time"]:
                put(cells, columns[:1], OTHER_TERM)
        followed = role["term"] if role["role"] == "follower" else followed
    for role in roles:
        name, first = str(role["term"]), scale.column(max(role["start_time"], incident.begin))
        if (
            role["role"] == "leader"
            and role["term"] is not None
            and cells[first : first + len(name)] == ["#"] * len(name)
        ):
            cells[first : first + len(name)] = name
    return "".join(cells)


def put(cells: list[str], columns: Sequence[int], mark: str) -> None:
    """Draw a character in the columns where nothing of higher rank is drawn."""
    for column in columns:
        if RANK.index(mark) > RANK.index(cells[column]):
            cells[column] = mark


def columns_of_bands(incident: Incident, scale: Scale) -> list[bool]:
    """Return, for each column, True if two members lead at once in it."""
    found = [False] * scale.width
    for band in incident.drawn.bands:
        for column in scale.columns(band["left_edge"], band["right_edge"]):
            found[column] = True
    return found


def marks(findings: list[Row], scale: Scale, end: datetime) -> str:
    """Return the characters of findings; one without an end lasts to ``end``."""
    cells = [" "] * scale.width
    for finding in findings:
        for column in scale.columns(finding["start_time"], max(finding["end_time"] or end, finding["start_time"])):
            cells[column] = "!"
    return "".join(cells)


def ruler(scale: Scale, margin: int) -> Iterator[str]:
    """Yield the lines of the time axis."""
    every = 20
    names, ticks = "", ""
    for column in range(0, scale.width - 8, every):
        names += f"{scale.begin + timedelta(seconds=column * scale.step):%H:%M:%S}".ljust(every)
        ticks += "|".ljust(every)
    yield " " * margin + names.rstrip()
    yield " " * margin + ticks.rstrip()


# -- findings and timeline --------------------------------------------------------------------------------------


def command_lines(step: Step, indent: str) -> list[str]:
    r"""Return the command of a step as lines for a shell: all but the last one end with ``\``."""
    command = step.command or ""
    if QUOTED_QUOTE in command:
        return [f"{indent}{command}"]
    bound = SHELL_WORD.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), command)
    lines = wrap(bound, columns() - len(indent) - 2, break_long_words=False, break_on_hyphens=False)
    whole = [indent + line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return [*(f"{line} \\" for line in whole[:-1]), *whole[-1:]]


def finding_lines(incident: Incident) -> Iterator[str]:
    """Yield the lines of all findings, with certainty, what would refute them, next steps and evidence."""
    yield f"Findings: {incident.numbers_by_severity()}"
    for finding in incident.roots:
        yield ""
        yield f"  {surely(finding).upper()} {finding['rule']}, finding {finding['finding_id'][:12]}"
        yield f"    {when(finding)}"
        yield from paragraph(incident.summary(finding), "    ")
        yield from paragraph(certainty(finding), "    How sure: ", "      ")
        yield from paragraph(catalogue()[finding["rule"]].refuted_by, "    What would refute it: ", "      ")
        for step in urgent_steps(finding):
            yield from paragraph(step.text, f"    {step.heading}: ", "      ")
            yield from command_lines(step, "      ")
        yield from evidence_lines(incident, finding, "    ")
        for depth, echo in incident.tree(finding):
            if depth:
                yield from echo_lines(incident, echo, "  " * (depth + 1))
    yield ""


def echo_lines(incident: Incident, echo: Row, indent: str) -> Iterator[str]:
    """Yield the lines of a finding that another one implies."""
    words = f"{surely(echo).upper()} {echo['rule']} {echo['finding_id'][:12]}: "
    words += incident.summary(echo)
    yield from paragraph(words, f"{indent}From it follows ", f"{indent}  ")
    if echo["severity"] == "critical":
        yield from evidence_lines(incident, echo, f"{indent}  ")


def evidence_lines(incident: Incident, finding: Row, indent: str) -> Iterator[str]:
    """Yield the log lines of a finding in order of time, each with its time and node, wrapped."""
    every = incident.evidence.get(finding["finding_id"], [])
    lines = [line for line in folded(every) if line[0]["path"] is not None]
    shown = LINES_SHOWN[finding["severity"]]
    for row, count in lines[:shown]:
        first, *more = row["text"].splitlines() or [""]
        yield from paragraph(f"{place(row)}{alike(count)}", indent, f"{indent}  ")
        yield from paragraph(first, f"{indent}  ", f"{indent}    ")
        if more:
            yield from paragraph(more[0], f"{indent}    ", f"{indent}      ")
        if len(more) > 1:
            yield f"{indent}    (and {len(more) - 1} lines more of it)"
    left = len(every) - sum(count for _, count in lines[:shown])
    if len(lines) > shown:
        yield f"{indent}and {left} more: election-replay explain {finding['finding_id'][:12]}"


def place(row: Row) -> str:
    """Return the time of a line on the clock of the page, its node, and its file and line number."""
    at = f"{row['at']:%Y-%m-%d} {clock(row['at'])} UTC  {row['source_node']}  " if row["at"] else ""
    return f"{at}{row['path']}:{row['line_no']}"


def alike(count: int) -> str:
    """Return text about the number of equal lines; empty for one."""
    return f" ({count} alike)" if count > 1 else ""


def timeline_lines(incident: Incident) -> Iterator[str]:
    """Yield the lines of the timeline: everything that began or ended, with file and line number."""
    below = f"{incident.cluster}/nodes/"
    yield f"Timeline (files lie below {below})"
    day = None
    for entry in collapsed(incident.moments):
        moment, at = entry.first, entry.first["happened_at"]
        if at.date() != day:
            day = at.date()
            yield f"  {day}"
        often = f" ({entry.count} alike, to {clock(entry.last)})" if entry.count > 1 else ""
        where = f"[{moment['path'].removeprefix(below)}:{moment['line_no']}]" if moment["path"] else ""
        yield from timeline_entry(f"  {clock(at)}  {moment['node'] or '':<8} ", entry.sentence + often, where)
    if not incident.moments:
        yield "  nothing in this time"


def timeline_entry(head: str, sentence: str, place: str) -> Iterator[str]:
    """Yield one moment as one line if it fits, otherwise with its place on a line of its own."""
    if len(head) + len(sentence) + len(place) + 2 <= columns():
        yield f"{head}{sentence}  {place}".rstrip()
        return
    yield from paragraph(sentence, head, " " * len(head))
    yield from paragraph(place, " " * len(head)) if place else ()
