"""The picture of a group: a lane for each member, bars for its roles, marks for findings; as many as a screen shows.

What the eye could not tell apart is one bar or mark that says how many it stands for and which; a zoom draws them
apart. The text comes from logs: plotly takes some tags for markup, so that all of it is disarmed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from textwrap import wrap
from typing import Any

from plotly import graph_objects as go

from jobs.reading.incident import Incident
from jobs.reading.published import Published
from jobs.reading.words import COLUMNS, SEVERITIES, Row, harmless, role_word, term_word, times, when

INK, FAINT, NOTHING = "#7d8796", "rgba(125, 135, 150, .25)", "rgba(0, 0, 0, 0)"
"""Colours that can be read on a light and on a dark ground."""

LAYOUT: dict[str, Any] = {"paper_bgcolor": NOTHING, "plot_bgcolor": NOTHING, "font": {"color": INK}}

COLOURS = {
    "leader": "#0072b2",
    "acting_leader": "#cc79a7",
    "follower": "#8fc3e0",
    "candidate": "#e69f00",
    "down": "#6b7280",
    "observer": "#009e73",
    "unknown": "#c3c8d0",
}
"""Okabe and Ito's colours, which colour-blind people tell apart; the bars and the legend say the roles in words too."""

SYMBOLS = {"critical": ("x", "#d55e00"), "warning": ("triangle-up", "#b8860b"), "info": ("circle-open", "#7d8796")}
"""Shape and colour of a finding: the shape alone says how grave it is."""

BARS_SHOWN = 1000
"""Bars that a browser draws at once."""

MARKS_SHOWN = 40
"""Marks that stand side by side with their numbers, and hide none."""

LISTED = 20
"""Findings that a click on one mark lists."""

BARS = """
    WITH spans AS (
        SELECT role.node, role.protocol, role.role, role.term, role.start_time, role.end_time,
            greatest(role.start_time, $begin) AS left_edge,
            least(greatest(coalesce(role.end_time, logs.log_end, $end), role.start_time), $end) AS right_edge
        FROM role_intervals AS role
        LEFT JOIN log_ends AS logs ON logs.cluster = role.cluster AND logs.source_node = role.source_node
        WHERE role.cluster = $cluster AND role.replica_group = $group AND role.start_time <= $end
    ),
    placed AS (
        SELECT *, epoch_us(right_edge) - epoch_us(left_edge) AS length,
            (epoch_us(left_edge) - epoch_us($begin)) // nullif($column, 0) AS place,
            CASE WHEN length >= $column THEN row_number() OVER () END AS own
        FROM spans WHERE right_edge >= $begin
    ),
    counted AS (
        SELECT node, protocol, place, own, role, count(*) AS n, sum(length) AS length,
            min(term) AS first_term, max(term) AS last_term, min(start_time) AS start_time,
            CASE WHEN bool_and(end_time IS NOT NULL) THEN max(end_time) END AS end_time,
            min(left_edge) AS left_edge, max(right_edge) AS right_edge
        FROM placed GROUP BY ALL
    )
    SELECT node, protocol, list({'role': role, 'n': n} ORDER BY length DESC, role) AS roles,
        CAST(sum(n) AS BIGINT) AS n, min(first_term) AS first_term, max(last_term) AS last_term,
        min(start_time) AS start_time, CASE WHEN bool_and(end_time IS NOT NULL) THEN max(end_time) END AS end_time,
        min(left_edge) AS left_edge, max(right_edge) AS right_edge
    FROM counted GROUP BY node, protocol, place, own ORDER BY node, left_edge, right_edge, protocol, first_term
"""
"""A role that is at least a column wide is a bar of its own; those that begin in one column and are narrower share one.

``roles`` says what each bar stands for, the role first that takes most of its time.
"""


def bars(published: Published, told: Incident) -> list[Row]:
    """The bars of all lanes: about :data:`BARS_SHOWN` of them, at most twice as many."""
    given = {"cluster": told.cluster, "group": told.group, "begin": told.begin, "end": told.end}
    return published.rows(BARS, given | {"column": column_of(told)})


def column_of(told: Incident) -> int:
    """How wide a column is, in microseconds: 0 where there are so few roles that each can be drawn for itself."""
    if sum(member["roles"] for member in told.members) <= BARS_SHOWN:
        return 0
    return max((told.end - told.begin) * len(told.members) // BARS_SHOWN // timedelta(microseconds=1), 1)


@dataclass(slots=True)
class Mark:
    """Findings of one severity that lie too close together for marks of their own."""

    at: datetime
    until: datetime
    findings: list[Row]


def marks(told: Incident) -> dict[str, list[Mark]]:
    """The marks by severity, in order of time."""
    step = (told.end - told.begin) / MARKS_SHOWN
    found: dict[str, list[Mark]] = {severity: [] for severity in SEVERITIES}
    for one in told.findings:
        at = max(one["start_time"], told.begin)
        until = min(max(one["end_time"] or told.end, at), told.end)
        row = found[one["severity"]]
        if row and at - row[-1].at < step:
            row[-1].findings.append(one)
            row[-1].until = max(row[-1].until, until)
        else:
            row.append(Mark(at, until, [one]))
    return found


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn of a group, and in words what is not drawn one by one."""

    figure: go.Figure
    merged: str


def picture(published: Published, told: Incident) -> Picture:
    """The picture of a group between ``told.begin`` and ``told.end``."""
    drawn, found = bars(published, told), marks(told)
    figure = go.Figure()
    for role in COLOURS:
        own = [bar for bar in drawn if bar["roles"][0]["role"] == role]
        add_bars(figure, told, role, [bar for bar in own if bar["n"] == 1])
        add_thin_bars(figure, told, role, [bar for bar in own if bar["n"] > 1])
    for severity, row in found.items():
        add_marks(figure, severity, row)
    lanes = [*map(disarmed, told.names.values()), *map(lane_of, found)]
    figure.update_layout(
        **LAYOUT,
        barmode="overlay",
        dragmode="zoom",
        uniformtext={"minsize": 10, "mode": "hide"},
        height=120 + 38 * len(lanes),
        margin={"t": 20, "b": 70, "r": 20},
        legend={"orientation": "h", "y": 0, "yref": "container", "yanchor": "bottom", "itemclick": False},
    )
    figure.update_xaxes(type="date", range=[told.begin, told.end], gridcolor=FAINT)
    figure.update_yaxes(
        type="category",
        categoryorder="array",
        categoryarray=lanes,
        range=[len(lanes) - 0.5, -0.5],
        fixedrange=True,
        automargin=True,
        ticksuffix="  ",
        gridcolor=FAINT,
    )
    return Picture(figure, in_sentence(drawn, found))


def in_sentence(drawn: list[Row], found: dict[str, list[Mark]]) -> str:
    """What is drawn together, in words; empty where all is drawn one by one."""
    roles = sum(bar["n"] for bar in drawn if bar["n"] > 1)
    findings = sum(len(mark.findings) for row in found.values() for mark in row if len(mark.findings) > 1)
    parts = [
        *([f"{roles:,} short roles share thin bars in the colour of the role that lasted longest"] if roles else []),
        *([f"{findings:,} findings share marks that say their number"] if findings else []),
    ]
    return f"{'; '.join(parts)}. Zoom in to see them one by one." if parts else ""


def add_bars(figure: go.Figure, told: Incident, role: str, drawn: list[Row]) -> None:
    """The bars of one role, each for itself."""
    if not drawn:
        return
    colour = COLOURS[role]
    figure.add_bar(
        name=role_word(role, drawn[0]["protocol"]),
        base=[bar["left_edge"] for bar in drawn],
        x=[max((bar["right_edge"] - bar["left_edge"]).total_seconds() * 1000, 1) for bar in drawn],
        y=[disarmed(told.names[bar["node"]]) for bar in drawn],
        orientation="h",
        marker={"color": colour, "line": {"width": 1, "color": colour}},  # what is narrower than a pixel is one wide
        text=[label(bar) for bar in drawn],
        textposition="inside",
        insidetextanchor="start",
        hovertext=[in_words(bar) for bar in drawn],
        hoverinfo="text",
        width=0.6,
    )


def add_thin_bars(figure: go.Figure, told: Incident, role: str, drawn: list[Row]) -> None:
    """The bars of several roles each, of which ``role`` takes most of the time: one path, which is quickly drawn."""
    if not drawn:
        return
    narrowest = timedelta(microseconds=column_of(told) // 2)
    edges = [(bar["left_edge"], max(bar["right_edge"], bar["left_edge"] + narrowest)) for bar in drawn]
    names = [disarmed(told.names[bar["node"]]) for bar in drawn]
    figure.add_scatter(
        name=f"mostly {role_word(role, drawn[0]['protocol'])}",
        x=[at for left, right in edges for at in (left, right, None)],
        y=[name for name in names for _ in range(3)],
        mode="lines",
        line={"color": COLOURS[role], "width": 10, "simplify": False},
        hovertext=[words for bar in drawn for words in (in_words(bar),) * 3],
        hoverinfo="text",
    )


def label(bar: Row) -> str:
    """What stands in a bar of one role."""
    term = "" if bar["first_term"] is None else f" {bar['first_term']}"
    return role_word(bar["roles"][0]["role"], bar["protocol"]) + term


def in_words(bar: Row) -> str:
    """What a bar stands for, for plotly."""
    if bar["n"] == 1:
        return disarmed(f"{label(bar)}, {when(bar)}")
    roles = ", ".join(f"{role_word(one['role'], bar['protocol'])} {times(one['n'])}" for one in bar["roles"])
    first, last = bar["first_term"], bar["last_term"]
    terms = (
        "" if first is None else f", {term_word(bar['protocol'])} {first}" + (f" to {last}" if last != first else "")
    )
    return disarmed(f"{bar['n']:,} roles: {roles}{terms}. {when(bar)}")


def lane_of(severity: str) -> str:
    """The lane of the findings of one severity."""
    return f"findings: {severity}"


def add_marks(figure: go.Figure, severity: str, row: list[Mark]) -> None:
    """The findings of one severity: a mark where each begins, a line for as long as it lasts."""
    if not row:
        return
    symbol, colour = SYMBOLS[severity]
    figure.add_scatter(
        x=[at for mark in row for at in (mark.at, mark.until, None)],
        y=[lane_of(severity)] * 3 * len(row),
        mode="lines",
        line={"color": colour, "width": 3},
        opacity=0.5,
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        name=severity,
        x=[mark.at for mark in row],
        y=[lane_of(severity)] * len(row),
        mode="markers+text",
        cliponaxis=False,
        marker={"symbol": symbol, "color": colour, "size": 13, "line": {"width": 1.5, "color": colour}},
        text=[f"{len(mark.findings):,}" if len(mark.findings) > 1 else "" for mark in row],
        textposition="top center",
        hovertext=[in_lines("; ".join(named(severity, mark))) for mark in row],
        hoverinfo="text",
        customdata=[[[one["finding_id"] for one in mark.findings[:LISTED]], len(mark.findings)] for mark in row],
    )


def named(severity: str, mark: Mark) -> Iterator[str]:
    """What a mark stands for."""
    if len(mark.findings) == 1:
        yield f"{severity} {mark.findings[0]['rule']}: {mark.findings[0]['summary']}"
        return
    yield f"{len(mark.findings):,} findings, {severity}"
    rules = [one["rule"] for one in mark.findings]
    yield from (f"{rule} {times(rules.count(rule))}" for rule in dict.fromkeys(rules))


def disarmed(text: str) -> str:
    """``text`` for plotly, which takes some tags for markup."""
    return harmless(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def in_lines(text: str) -> str:
    """A long text for plotly, in lines that fit beside the mouse."""
    return "<br>".join(wrap(disarmed(text), COLUMNS, break_long_words=False, break_on_hyphens=False))
