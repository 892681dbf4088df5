"""The picture of a group: a lane for each member and machine, bars for its roles, marks for findings, round times.

Report and dashboard draw the same. Places are per cent of the width and all else is in pixels, so that a picture fits a
phone, a screen and a sheet of paper; a label is shown where its bar is wide enough for it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import Element

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
from election_replay.jobs.showing.markup import Child, tag

HEAD, LANE, BAR, ROW = 30, 46, 22, 26
"""Pixels: the room for times, a lane with its name, a bar, a row of marks."""

CHARACTER = 7.2
"""Pixels of a character of a label."""

WIDTHS = (340, 520, 760, 1080)
"""Widths of a picture, in pixels, from which on labels of a class are shown."""

MARKS_SHOWN = 40
"""Marks that stand side by side with their numbers, and hide none."""

TICKS = 8
"""Times above the lanes, at most."""

STEPS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200)
"""Seconds between two times above the lanes; then whole days."""

DAY_S = 86400

SYMBOLS = {
    "critical": "M-6,-6 L6,6 M6,-6 L-6,6",
    "warning": "M0,-7 L7,6 L-7,6 Z",
    "info": "M-5,0 A5,5 0 1 0 5,0 A5,5 0 1 0 -5,0",
}
"""The shape of a finding: the shape alone says how grave it is."""

RoleLink = Callable[[Row], str | None]
FindingLink = Callable[[list[Row]], str | None]


@dataclass(frozen=True, slots=True)
class Links:
    """Where a click on a bar leads, and on the mark of some findings; ``None``: nowhere."""

    of_bar: RoleLink
    of_findings: FindingLink


@dataclass(slots=True)
class Mark:
    """Findings of one severity that lie too close together for marks of their own."""

    at: datetime
    until: datetime
    findings: list[Row]


@dataclass(frozen=True, slots=True)
class Scale:
    """Places of times, in per cent of the width."""

    begin: datetime
    end: datetime

    def place(self, at: datetime) -> float:
        """Where a moment stands, left to right."""
        length = max((self.end - self.begin).total_seconds(), 0.001)
        return round(100 * min(max((at - self.begin).total_seconds() / length, 0), 1), 3)

    def ticks(self) -> Iterator[datetime]:
        """Round times, about :data:`TICKS` of them."""
        length = max((self.end - self.begin).total_seconds(), 0.001)
        days = range(DAY_S, int(length) + 2 * DAY_S, DAY_S * max(int(length / DAY_S / TICKS), 1))
        step = next((step for step in (*STEPS_S, *days) if length / step <= TICKS), DAY_S)
        at = -(-self.begin.timestamp() // step) * step
        while at <= self.end.timestamp():
            yield datetime.fromtimestamp(at, UTC)
            at += step


def marks(incident: Incident) -> dict[str, list[Mark]]:
    """The marks by severity, in order of time."""
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


def picture(incident: Incident, links: Links, votes: list[Row] | None = None) -> Element:
    """The picture of a group between ``incident.begin`` and ``incident.end``; ``votes`` are drawn as arrows."""
    scale = Scale(incident.begin, incident.end)
    tops = {lane: HEAD + LANE * number for number, lane in enumerate(incident.drawn.names)}
    below = HEAD + LANE * len(tops)
    found = marks(incident)
    height = below + ROW * len(found) + 8
    return tag(
        "svg",
        patterns(),
        axis(scale, height),
        bands(incident, scale, below),
        (drawn for lane, top in tops.items() for drawn in lane_drawn(incident, scale, lane, top, links)),
        arrows(votes or [], scale, tops),
        (
            mark
            for number, (severity, row) in enumerate(found.items())
            for mark in row_of_marks(scale, severity, row, below + ROW * number, links)
        ),
        class_="plot",
        width="100%",
        height=height,
        role="group",
        aria_label=f"Roles of the members of {incident.group} over time, and the findings",
        data_begin=int(incident.begin.timestamp() * 1000),
        data_end=int(incident.end.timestamp() * 1000),
        xmlns="http://www.w3.org/2000/svg",
    )


def patterns() -> Element:
    """Hatching, for what no line says and for two leaders at once."""
    return tag(
        "defs",
        (
            tag(
                "pattern",
                tag("path", d="M0,0 L0,8", class_=f"hatch {name}"),
                id=f"hatch-{name}",
                width=8 if name == "later" else 6,
                height=8,
                patternUnits="userSpaceOnUse",
                patternTransform=f"rotate({angle})",
            )
            for name, angle in (("later", 45), ("acting", 45), ("both", -45))
        ),
    )


def axis(scale: Scale, height: int) -> Iterator[Element]:
    """Round times, with a line down through the lanes."""
    day = None
    for number, at in enumerate(scale.ticks()):
        x = scale.place(at)
        text = f"{at:%H:%M}" if not at.second else f"{at:%H:%M:%S}"
        if at.date() != day:
            text, day = f"{at:%m-%d} {text}" if day else text, at.date()
        yield tag("line", x1=f"{x}%", x2=f"{x}%", y1=HEAD - 8, y2=height - 4, class_="grid")
        anchor = "start" if x < 4 else "end" if x > 96 else "middle"
        yield tag(
            "text", text, x=f"{x}%", y=HEAD - 14, text_anchor=anchor, class_=f"tick{' odd' if number % 2 else ''}"
        )


def bands(incident: Incident, scale: Scale, below: int) -> Iterator[Element]:
    """Where two members lead at once, across all lanes."""
    for band in incident.drawn.bands:
        left, right = scale.place(band["left_edge"]), scale.place(band["right_edge"])
        both = [incident.called(band["node"], band["source_node"])]
        both.append(incident.called(band["other_node"], band["other_source_node"]))
        words = f"{both[0]} and {both[1]} lead at once, {clock(band['left_edge'])} to {clock(band['right_edge'])}"
        place = {"x": f"{left}%", "y": HEAD - 4, "width": f"{max(right - left, 0.15):.3f}%", "height": below - HEAD}
        yield tag("rect", tag("title", words), **place, class_="both", fill="url(#hatch-both)")


def lane_drawn(incident: Incident, scale: Scale, lane: Lane, top: int, links: Links) -> Iterator[Element]:
    """One lane: its name, its bars, and a leader after its last line."""
    shifts = [clock.shift for clock in incident.clocks.wrong if clock.source == lane[1] and not incident.raw]
    yield tag(
        "text",
        incident.drawn.names[lane],
        tag("tspan", f"  clock put right: {', '.join(shifts)}", class_="shift") if shifts else None,
        x=2,
        y=top + 14,
        class_="name",
    )
    followed: int | None = None
    for bar in incident.drawn.bars:
        if lane_of(bar) != lane:
            continue
        role = bar["roles"][0]["role"]
        other = role == "follower" and bar["n"] == 1 and followed not in (None, bar["first_term"])
        followed = bar["last_term"] if role == "follower" else followed
        yield bar_drawn(incident, scale, bar, top + 19, links, other_term=other)
    for tail in incident.drawn.tails:
        if lane_of(tail) == lane:
            left = scale.place(tail["left_edge"])
            words = (
                f"{incident.drawn.names[lane]}: no later line; it led when its log ended at {clock(tail['left_edge'])}"
            )
            hatch = "acting" if tail["role"] == "acting_leader" else "later"
            place = {"x": f"{left}%", "y": top + 19, "width": f"{100 - left:.3f}%", "height": BAR}
            yield tag("rect", tag("title", words), **place, class_=f"later {tail['role']}", fill=f"url(#hatch-{hatch})")


def bar_drawn(incident: Incident, scale: Scale, bar: Row, top: int, links: Links, *, other_term: bool) -> Element:
    """One role, or several too short to be told apart; ``other_term``: a follower, in another term than before."""
    left, right = scale.place(bar["left_edge"]), scale.place(bar["right_edge"])
    wide = right - left
    role = bar["roles"][0]["role"]
    drawn = tag(
        "svg",
        tag("title", in_words(incident, bar)),
        tag("rect", width="100%", height=BAR) if wide >= 0.2 else tag("rect", width=2, height=BAR),
        tag("rect", width=2, height=BAR, class_="edge") if other_term else None,
        led_meanwhile(bar),
        labelled(bar, wide),
        x=f"{left}%",
        y=top,
        width=f"{max(wide, 0.1):.3f}%",
        height=BAR,
        overflow="visible" if wide < 0.2 else "hidden",
        class_=f"role {role}{' several' if bar['n'] > 1 else ''}",
    )
    target = links.of_bar(bar)
    name = ": ".join(
        filter(None, (label_of(bar), in_words(incident, bar)))
    )  # who speaks to a machine says what he sees
    return drawn if target is None else tag("a", drawn, href=target, tabindex=-1, aria_label=name)


def label_of(bar: Row) -> str:
    """What stands in a bar where it fits: role and term; nothing in one of several roles."""
    term = "" if bar["first_term"] is None else str(bar["first_term"])
    return "" if bar["n"] > 1 else f"{role_word(bar['roles'][0]['role'], bar['protocol'])} {term}".strip()


def led_meanwhile(bar: Row) -> Child:
    """A stripe in a bar of several roles, where one of them is a leader's and another one lasted longer."""
    others = {role["role"] for role in bar["roles"][1:]} & {"leader", "acting_leader"}
    return tag("rect", y=BAR - 7, width="100%", height=7, class_=f"stripe {min(others)}") if others else None


def labelled(bar: Row, wide: float) -> Child:
    """What stands in a bar, where it fits: role and term, or the term alone."""
    term = "" if bar["first_term"] is None else str(bar["first_term"])
    if bar["n"] > 1 or wide <= 0:
        return None
    texts = []
    full = label_of(bar)
    needed = [
        next((width for width in WIDTHS if wide / 100 * width > len(text) * CHARACTER + 10), None) if text else None
        for text in (full, term)
    ]
    if needed[0]:
        texts.append(tag("text", full, x=5, y=15, class_=f"from-{needed[0]}"))
    if needed[1] and needed[1] != needed[0] and term != full:
        until = f" until-{needed[0]}" if needed[0] else ""
        texts.append(tag("text", term, x=5, y=15, class_=f"from-{needed[1]}{until}"))
    return tag("g", texts) if texts else None


def in_words(incident: Incident, bar: Row) -> str:
    """What a bar stands for."""
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


def arrows(votes: list[Row], scale: Scale, tops: dict[Lane, int]) -> Iterator[Element]:
    """Votes, from the lane of who gave it to that of the candidate, when the round was decided."""
    places = {node: top + 19 + BAR // 2 for (node, _), top in reversed(list(tops.items()))}
    for vote in votes:
        here, there = places.get(vote["voter"]), places.get(vote["candidate"])
        if here is None or there is None or here == there:
            continue
        x = f"{scale.place(vote['happened_at'])}%"
        term = "" if vote["term"] is None else f" in term {vote['term']}"
        words = f"{vote['voter']} votes for {vote['candidate']}{term}, {clock(vote['happened_at'])}"
        yield tag("line", tag("title", words), x1=x, x2=x, y1=here, y2=there, class_="vote")
        head = "M-4,-7 L4,-7 L0,0 Z" if there > here else "M-4,7 L4,7 L0,0 Z"
        yield tag("svg", tag("path", d=head, class_="vote"), x=x, y=there, overflow="visible", width=1, height=1)


def row_of_marks(scale: Scale, severity: str, row: list[Mark], top: int, links: Links) -> Iterator[Element]:
    """The findings of one severity: a mark where each begins, a line for as long as it lasts."""
    middle = top + ROW // 2
    for mark in row:
        left, right = scale.place(mark.at), scale.place(mark.until)
        count = len(mark.findings)
        words = mark_in_words(severity, mark)
        inside = min(max(left, 0.9), 98)
        drawn = tag(
            "g",
            tag("title", words),
            tag("line", x1=f"{left}%", x2=f"{right}%", y1=middle, y2=middle, class_="lasts"),
            tag(
                "svg",
                tag("rect", x=-10, y=-11, width=20, height=22, class_="target"),
                tag("path", d=SYMBOLS[severity]),
                tag("text", f"{count:,}", x=11, y=4) if count > 1 else None,
                x=f"{inside}%",
                y=middle,
                width=1,
                height=1,
                overflow="visible",
            ),
            class_=f"mark {severity}",
        )
        target = links.of_findings(mark.findings)
        yield drawn if target is None else tag("a", drawn, href=target, aria_label=words)


def mark_in_words(severity: str, mark: Mark) -> str:
    """What a mark stands for."""
    if len(mark.findings) == 1:
        finding = mark.findings[0]
        return f"{surely(finding)} {finding['rule']}: {finding['summary']}"
    rules = [finding["rule"] for finding in mark.findings]
    named = (f"{rule} {times(rules.count(rule))}" for rule in dict.fromkeys(rules))
    return "; ".join([f"{len(mark.findings):,} findings, {severity}", *named])


def legend(incident: Incident) -> Element:
    """What the bars mean; their words and patterns say it without colour too."""
    roles = sorted({(role["role"], bar["protocol"]) for bar in incident.drawn.bars for role in bar["roles"]})
    entries = [tag("li", tag("i", class_=f"swatch {role}"), role_word(role, protocol)) for role, protocol in roles]
    if incident.drawn.tails:
        entries.append(tag("li", tag("i", class_="swatch later"), "led when its log ended: no later line"))
    if incident.drawn.bands:
        entries.append(tag("li", tag("i", class_="swatch both"), "two lead at once"))
    if any(bar["n"] > 1 for bar in incident.drawn.bars):
        entries.append(
            tag(
                "li",
                tag("i", class_="swatch several"),
                "several short roles, a stripe where a leader is among them: zoom in",
            )
        )
    entries += [
        tag(
            "li",
            tag("svg", tag("path", d=SYMBOLS[severity]), class_=f"key mark {severity}", viewBox="-9 -9 18 18"),
            severity,
        )
        for severity in SEVERITIES
        if any(finding["severity"] == severity for finding in incident.findings)
    ]
    return tag("ul", entries, tag("li", "no bar: no log"), class_="legend")


def merged(incident: Incident) -> str:
    """What is drawn together, in words; empty where all is drawn one by one."""
    roles = sum(bar["n"] for bar in incident.drawn.bars if bar["n"] > 1)
    together = sum(len(mark.findings) for row in marks(incident).values() for mark in row if len(mark.findings) > 1)
    parts = [
        *([f"{roles:,} short roles share thin bars in the colour of the role that lasted longest"] if roles else []),
        *([f"{together:,} findings share marks that say their number"] if together else []),
    ]
    return f"{'; '.join(parts)}. Zoom in to see them one by one." if parts else ""
