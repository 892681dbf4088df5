"""The layout of a group's picture: a lane for each member and machine, bars for roles, marks for findings, an axis.

Report and dashboard draw it with ``picture.html.j2``. Horizontal positions are per cent of the width and all else is in
pixels, so that a picture fits a phone, a screen and a sheet of paper; a label is shown if its bar is wide enough.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from election_replay.jobs.reading.incident import Incident
from election_replay.jobs.reading.lanes import Lane, lane_of
from election_replay.jobs.reading.words import (
    SEVERITIES,
    Row,
    clock,
    role_word,
    seconds,
    spoken,
    surely,
    term_word,
    times,
    when,
)

HEAD, LANE, BAR, ROW = 30, 46, 22, 26
"""Heights in pixels of the axis, a lane with its name, a bar, and a row of marks."""

CHARACTER = 7.2
"""The width of a character of a label, in pixels."""

WIDTHS = (340, 520, 760, 1080)
"""Widths of a picture in pixels; a label's class says from which of them on it is shown."""

MIN_SEEN = 0.2
"""The least visible width, in per cent of the picture's."""

MARKS_SHOWN = 40
"""The maximum number of marks with numbers that fit side by side."""

TICKS = 8
"""The maximum number of times on the axis."""

STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
"""Possible steps of the axis in seconds; longer ones are whole days."""

DAY_S = 86400

LEADING = frozenset({"leader", "acting_leader"})

SYMBOLS = {
    "critical": "M-6,-6 L6,6 M6,-6 L-6,6",
    "warning": "M0,-7 L7,6 L-7,6 Z",
    "info": "M-5,0 A5,5 0 1 0 5,0 A5,5 0 1 0 -5,0",
}
"""SVG paths of marks by severity, which differ in shape, not only in colour."""

RoleLink = Callable[[Row], str | None]
FindingLink = Callable[[list[Row]], str | None]


@dataclass(frozen=True, slots=True)
class Links:
    """Functions that return the address for a click on a bar or on a mark; ``None``: no link."""

    of_bar: RoleLink
    of_findings: FindingLink


@dataclass(slots=True)
class Mark:
    """One or several findings of one severity, too close together for marks of their own."""

    at: datetime
    until: datetime
    findings: list[Row]


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps times to positions in per cent of the width."""

    begin: datetime
    end: datetime

    def place(self, at: datetime) -> float:
        """Return the position of a time, within 0 and 100."""
        length = max((self.end - self.begin).total_seconds(), 0.001)
        return round(100 * min(max((at - self.begin).total_seconds() / length, 0), 1), 3)

    def ticks(self) -> Iterator[datetime]:
        """Yield round times, about :data:`TICKS` of them."""
        length = max((self.end - self.begin).total_seconds(), 0.001)
        days = range(DAY_S, int(length) + 2 * DAY_S, DAY_S * max(int(length / DAY_S / TICKS), 1))
        step = next((step for step in (*STEPS_S, *days) if length / step <= TICKS), DAY_S)
        at = -(-self.begin.timestamp() // step) * step
        while at <= self.end.timestamp():
            yield datetime.fromtimestamp(at, UTC)
            at += step


def marks(incident: Incident) -> dict[str, list[Mark]]:
    """Return the marks by severity, in order of time."""
    step = (incident.end - incident.begin) / MARKS_SHOWN
    found: dict[str, list[Mark]] = {severity: [] for severity in SEVERITIES}
    for finding in incident.findings:
        at = max(finding["start_time"], incident.begin)
        until = min(max(finding["end_time"] or incident.end, at), incident.end)
        row = found[finding["severity"]]
        if row and at - row[-1].at < step:
            row[-1].findings.append(finding)
            row[-1].until = max(row[-1].until, until)
        else:
            row.append(Mark(at, until, [finding]))
    return {severity: row for severity, row in found.items() if row}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of one role, or of several too short to see. ``name`` is the text of its link, ``target`` the address.

    ``labels`` are (text, CSS classes), where classes say from which width on a text is shown; ``text_x`` is their
    position in per cent of the bar. ``stripe``: a leader's role among several. ``other_term``: a follower in another
    term than before. ``unsure``: the part of the bar, in per cent, in which the role may not have begun; 0 if known.
    """

    x: float
    width: str
    thin: bool
    role: str
    several: bool
    words: str
    name: str
    target: str | None
    labels: list[tuple[str, str]]
    stripe: str | None
    other_term: bool
    unsure: float
    text_x: float


@dataclass(frozen=True, slots=True)
class DrawnMark:
    """A mark of findings from ``x`` to ``end``, with its symbol at ``inside``."""

    severity: str
    symbol: str
    x: float
    end: float
    inside: float
    y: int
    number: int
    words: str
    target: str | None


@dataclass(frozen=True, slots=True)
class Span:
    """An interval with two leaders, or of a leader after the end of its log."""

    x: float
    width: str
    words: str
    role: str = ""


@dataclass(frozen=True, slots=True)
class DrawnLane:
    """A lane ``top`` pixels below the top. ``shifts`` are the corrections of its clock, as text."""

    top: int
    name: str
    shifts: str
    bars: list[Bar]
    tails: list[Span]


@dataclass(frozen=True, slots=True)
class Vote:
    """An arrow from the voter's lane to the candidate's; ``begin`` and ``end`` in pixels from the top."""

    x: float
    begin: int
    end: int
    words: str


@dataclass(frozen=True, slots=True)
class Picture:
    """Everything that is drawn. ``ticks`` are (position, time); ``swatches`` and ``keys`` are the legend.

    ``merged`` says what is drawn merged; empty if nothing is.
    """

    group: str
    height: int
    lanes_height: int
    begin_ms: int
    end_ms: int
    ticks: list[tuple[float, str]]
    bands: list[Span]
    lanes: list[DrawnLane]
    votes: list[Vote]
    marks: list[DrawnMark]
    swatches: list[tuple[str, str]]
    keys: list[tuple[str, str]]
    merged: str
    head: int = HEAD
    bar: int = BAR


def picture(incident: Incident, links: Links, votes: list[Row] | None = None) -> Picture:
    """Return the picture of a group from ``incident.begin`` to ``incident.end``; ``votes`` become arrows."""
    scale = Scale(incident.begin, incident.end)
    tops = {lane: HEAD + LANE * number for number, lane in enumerate(incident.drawn.names)}
    below = HEAD + LANE * len(tops)
    found = marks(incident)
    lanes = [lane_drawn(incident, scale, lane, top, links) for lane, top in tops.items()]
    return Picture(
        group=incident.group,
        height=below + ROW * len(found) + 8,
        lanes_height=below - HEAD,
        begin_ms=int(incident.begin.timestamp() * 1000),
        end_ms=int(incident.end.timestamp() * 1000),
        ticks=[*axis(scale)],
        bands=[*bands(incident, scale)],
        lanes=lanes,
        votes=[*arrows(votes or [], scale, tops)],
        marks=[
            mark
            for number, (severity, row) in enumerate(found.items())
            for mark in row_of_marks(scale, severity, row, below + ROW * number + ROW // 2, links)
        ],
        swatches=[*swatches(incident, lanes)],
        keys=[(severity, SYMBOLS[severity]) for severity in found],
        merged=merged(incident, found),
    )


def axis(scale: Scale) -> Iterator[tuple[float, str]]:
    """Yield (position, text) of round times, with the day where it changes."""
    day = None
    for at in scale.ticks():
        text = f"{at:%H:%M}" if not at.second else f"{at:%H:%M:%S}"
        if at.date() != day:
            text, day = f"{at:%m-%d} {text}" if day else text, at.date()
        yield scale.place(at), text


def bands(incident: Incident, scale: Scale) -> Iterator[Span]:
    """Yield the bands, across all lanes, where two members lead at once."""
    for band in incident.drawn.bands:
        left, right = scale.place(band["left_edge"]), scale.place(band["right_edge"])
        names = (incident.called(band[f"{which}node"], band[f"{which}source_node"]) for which in ("", "other_"))
        words = f"{' and '.join(names)} lead at once, {clock(band['left_edge'])} to {clock(band['right_edge'])}"
        yield Span(left, f"{max(right - left, 0.15):.3f}", words)


def lane_drawn(incident: Incident, scale: Scale, lane: Lane, top: int, links: Links) -> DrawnLane:
    """Return one lane with its bars, and its leader after the end of its log."""
    name = incident.drawn.names[lane]
    shifts = incident.shifts(lane)
    bars, followed = [], None
    for bar in incident.drawn.bars:
        if lane_of(bar) == lane:
            follows = bar["roles"][0]["role"] == "follower"
            other = follows and bar["n"] == 1 and followed not in (None, bar["first_term"])
            followed = bar["last_term"] if follows else followed
            bars.append(bar_drawn(incident, scale, bar, links, other_term=other))
    tails = []
    for tail in incident.drawn.tails:
        if lane_of(tail) == lane:
            left = scale.place(tail["left_edge"])
            words = f"{name}: no later line; it led when its log ended at {clock(tail['left_edge'])}"
            tails.append(Span(left, f"{100 - left:.3f}", words, tail["role"]))
    return DrawnLane(top, name, ", ".join(shifts), bars, tails)


def bar_drawn(incident: Incident, scale: Scale, bar: Row, links: Links, *, other_term: bool) -> Bar:
    """Return one bar."""
    left = scale.place(bar["left_edge"])
    wide = scale.place(bar["right_edge"]) - left
    words, label = in_words(incident, bar), label_of(bar)
    role, late = bar["roles"][0]["role"], unsure_part(bar, wide)
    texts, text_x = labels(bar, label, wide * (1 - late / 100)), late
    if not texts and role not in LEADING:  # other roles' labels are readable on the faint part too
        texts, text_x = labels(bar, label, wide), 0
    return Bar(
        x=left,
        width=f"{max(wide, 0.1):.3f}",
        thin=wide < MIN_SEEN,
        role=role,
        several=bar["n"] > 1,
        words=words,
        name=f"{label}: {words}" if label else words,
        target=links.of_bar(bar),
        labels=texts,
        stripe=shorter_leader_role(bar),
        other_term=other_term,
        unsure=late,
        text_x=text_x,
    )


def unsure_part(bar: Row, wide: float) -> float:
    """Return the part of a bar, in per cent, in which its role may not have begun; 0 if too narrow to see."""
    if bar["n"] > 1 or not bar["start_uncertainty_ms"]:
        return 0
    known = bar["start_time"] + timedelta(milliseconds=bar["start_uncertainty_ms"])
    length = (bar["right_edge"] - bar["left_edge"]).total_seconds()
    part = min(max((known - bar["left_edge"]).total_seconds() / length, 0), 1) if length else 0
    return round(100 * part, 1) if part * wide >= MIN_SEEN else 0


def label_of(bar: Row) -> str:
    """Return the label of a bar: role and term; empty for several roles."""
    term = "" if bar["first_term"] is None else str(bar["first_term"])
    return "" if bar["n"] > 1 else f"{role_word(bar['roles'][0]['role'], bar['protocol'])} {term}".strip()


def shorter_leader_role(bar: Row) -> str | None:
    """Return a leader's role in a bar of several in which another role lasted longest; else None."""
    return min({role["role"] for role in bar["roles"][1:]} & LEADING, default=None)


def labels(bar: Row, full: str, wide: float) -> list[tuple[str, str]]:
    """Return the labels of a bar with the classes of the widths at which they fit: role and term, or term alone."""
    term = "" if bar["first_term"] is None else str(bar["first_term"])
    if bar["n"] > 1 or wide <= 0:
        return []
    of_full, of_term = (
        next((width for width in WIDTHS if wide / 100 * width > len(text) * CHARACTER + 10), None) if text else None
        for text in (full, term)
    )
    found = [(full, f"from-{of_full}")] if of_full else []
    if of_term and of_term != of_full and term != full:
        found.append((term, f"from-{of_term}" + (f" until-{of_full}" if of_full else "")))
    return found


def in_words(incident: Incident, bar: Row) -> str:
    """Return the text about a bar."""
    who = incident.called(*lane_of(bar))
    if bar["n"] > 1:
        roles = ", ".join(f"{role_word(role['role'], bar['protocol'])} {times(role['n'])}" for role in bar["roles"])
        first, last = bar["first_term"], bar["last_term"]
        word = term_word(bar["protocol"])
        terms = "" if first is None else f", {word} {first}" + (f" to {last}" if last != first else "")
        return f"{who}: {bar['n']:,} roles: {roles}{terms}. {when(bar)}"
    term = "" if bar["first_term"] is None else f" in {term_word(bar['protocol'])} {bar['first_term']}"
    of = f" of {bar['leader']}" if bar["roles"][0]["role"] == "follower" and bar["leader"] else ""
    cause = f" ({spoken(bar['start_cause'])})" if bar["start_cause"] else ""
    ended = f"; ends: {spoken(bar['end_cause'])}" if bar["end_cause"] else ""
    late = bar["start_uncertainty_ms"]
    unsure = f"; it may have begun {seconds(late)} later" if late else ""
    return f"{who}: {role_word(bar['roles'][0]['role'], bar['protocol'])}{of}{term}{cause}, {when(bar)}{ended}{unsure}"


def arrows(votes: list[Row], scale: Scale, tops: dict[Lane, int]) -> Iterator[Vote]:
    """Yield the arrows of votes, from voter to candidate, at the time at which the round was decided."""
    places = {node: top + 19 + BAR // 2 for (node, _), top in reversed(list(tops.items()))}
    for vote in votes:
        here, there = places.get(vote["voter"]), places.get(vote["candidate"])
        if here is None or there is None or here == there:
            continue
        term = "" if vote["term"] is None else f" in term {vote['term']}"
        words = f"{vote['voter']} votes for {vote['candidate']}{term}, {clock(vote['happened_at'])}"
        yield Vote(scale.place(vote["happened_at"]), here, there, words)


def row_of_marks(scale: Scale, severity: str, row: list[Mark], y: int, links: Links) -> Iterator[DrawnMark]:
    """Yield the marks of one severity, each with a line as long as its findings last."""
    for mark in row:
        left, right = scale.place(mark.at), scale.place(mark.until)
        yield DrawnMark(
            severity=severity,
            symbol=SYMBOLS[severity],
            x=left,
            end=right,
            inside=min(max(left, 0.9), 98),
            y=y,
            number=len(mark.findings),
            words=mark_in_words(severity, mark),
            target=links.of_findings(mark.findings),
        )


def mark_in_words(severity: str, mark: Mark) -> str:
    """Return the text about a mark."""
    if len(mark.findings) == 1:
        finding = mark.findings[0]
        return f"{surely(finding)} {finding['rule']}: {finding['summary']}"
    rules = [finding["rule"] for finding in mark.findings]
    named = (f"{rule} {times(rules.count(rule))}" for rule in dict.fromkeys(rules))
    return "; ".join([f"{len(mark.findings):,} findings, {severity}", *named])


def swatches(incident: Incident, lanes: list[DrawnLane]) -> Iterator[tuple[str, str]]:
    """Yield (CSS class, meaning) of the bars."""
    roles = sorted({(role["role"], bar["protocol"]) for bar in incident.drawn.bars for role in bar["roles"]})
    yield from ((role, role_word(role, protocol)) for role, protocol in roles)
    if any(bar.unsure for lane in lanes for bar in lane.bars):
        yield "unsure", "may have begun later"
    if incident.drawn.tails:
        yield "later", "led when its log ended: no later line"
    if incident.drawn.bands:
        yield "both", "two lead at once"
    if any(bar["n"] > 1 for bar in incident.drawn.bars):
        yield "several", "several short roles, a stripe where a leader is among them: zoom in"


def merged(incident: Incident, found: dict[str, list[Mark]]) -> str:
    """Return text about what is drawn merged; empty if nothing is."""
    roles = sum(bar["n"] for bar in incident.drawn.bars if bar["n"] > 1)
    together = sum(len(mark.findings) for row in found.values() for mark in row if len(mark.findings) > 1)
    parts = [
        *([f"{roles:,} short roles share thin bars in the colour of the role that lasted longest"] if roles else []),
        *([f"{together:,} findings share marks that say their number"] if together else []),
    ]
    return f"{'; '.join(parts)}. Zoom in to see them one by one." if parts else ""
