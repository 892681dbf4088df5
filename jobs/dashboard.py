"""The dashboard: what is published, in a browser, read without Spark.

Four pages, each with an address of its own: all groups, one group (lanes, story, findings), one finding, and what the
runs read. Every page is made from the newest published run, whole. Log text is hostile: it reaches the page as text of
elements, and, where plotly draws it, with its markup disarmed. Nothing is fetched from elsewhere.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from importlib.resources import files
from textwrap import wrap
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import flask
from dash import Dash, Input, Output, State, dcc, html, no_update
from plotly import graph_objects as go

from jobs import JobError
from jobs.explain import Explanation, explain, limits
from jobs.incident import Incident, incident, outcome, story, unseen
from jobs.published import Published
from jobs.warehouse import Warehouse
from jobs.words import COLUMNS, Row, cell, certainty, harmless, measures, moment, role_word, spoken, when

STYLE = "".join(files("jobs").joinpath(name).read_text(encoding="utf-8") for name in ("report.css", "dashboard.css"))

INK, FAINT, NOTHING = "#7d8796", "rgba(125, 135, 150, .25)", "rgba(0, 0, 0, 0)"
"""Colours that can be read on a light and on a dark ground."""

COLOURS = {
    "leader": "#0072b2",
    "acting_leader": "#cc79a7",
    "follower": "#8fc3e0",
    "candidate": "#e69f00",
    "down": "#6b7280",
    "observer": "#009e73",
    "unknown": "#c3c8d0",
}
"""Okabe and Ito's colours, which colour-blind people tell apart; each lane says its roles in words too."""

MARKS = {"critical": ("x", "#d55e00"), "warning": ("triangle-up", "#b8860b"), "info": ("circle-open", "#7d8796")}
"""Shape and colour of a finding: the shape alone says how grave it is."""

BARS_SHOWN = 3000
"""Bars that a browser draws quickly; of more, those that nobody could see apart become one."""

SCREEN = 400
"""Columns of the screen that an eye tells apart."""

FINDINGS_SHOWN = 200
"""Findings and sentences of a story that one page lists; a zoom shows those of a shorter time."""

GROUPS = "SELECT * FROM groups ORDER BY critical DESC, warning DESC, needless DESC, cluster, replica_group LIMIT 500"
CHARTS = {
    "Changes of leadership per day": "SELECT CAST(CAST(changed_at AS DATE) AS STRING) AS name, count(*) AS n "
    "FROM leadership_changes GROUP BY name ORDER BY name",
    "Seconds without a leader per day, at least": "SELECT CAST(CAST(start_time AS DATE) AS STRING) AS name, "
    "sum(duration_min_ms) / 1000 AS n FROM leaderless WHERE rule = 'LEADERLESS' GROUP BY name ORDER BY name",
    "Needless elections by cause": "SELECT why AS name, count(*) AS n FROM needless_elections "
    "GROUP BY name ORDER BY n DESC, name",
}
TABLES = {
    "Runs": "SELECT run_id, published_at, batch, clusters, code_version, rules_version FROM runs "
    "ORDER BY published_at DESC LIMIT 50",
    "What was read of each node": "SELECT cluster, source_node, count(DISTINCT (stream, fingerprint)) AS files, "
    "sum(lines_total) AS lines, sum(lines_event) AS events, sum(lines_quarantined) AS quarantined, "
    "max(last_line_time) AS last_line FROM landed_files GROUP BY ALL "
    "ORDER BY quarantined DESC, cluster, source_node LIMIT 500",
    "What could not be read": "SELECT path, line_no, reason, text FROM quarantine ORDER BY path, line_no LIMIT 200",
    "What could not be judged": "SELECT cluster, replica_group, rule, conforms, violates, undecidable, why_undecidable "
    "FROM blind_spots ORDER BY undecidable DESC, cluster, replica_group, rule LIMIT 200",
}

Answer = TypeVar("Answer")
Query = dict[str, str]


class Newest:
    """The newest published run, opened again when there is a newer one. One question is answered at a time."""

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._lock = threading.Lock()
        self._version = warehouse.version("runs")
        self._published = Published(warehouse)

    def ask(self, question: Callable[[Published], Answer]) -> Answer:
        """What ``question`` answers about it."""
        with self._lock:
            version = self._warehouse.version("runs")
            if version != self._version:
                self._published, self._version = Published(self._warehouse), version
            return question(self._published)


def dashboard(warehouse: Warehouse) -> Dash:
    """The web application; it serves everything that it needs itself."""
    newest = Newest(warehouse)
    app = Dash("election-replay", title="election-replay", update_title="", suppress_callback_exceptions=True)
    app.server.before_request(refuse_strangers)
    app.index_string = INDEX.replace("{style}", STYLE)
    app.layout = html.Div(
        [
            dcc.Location(id="address", refresh="callback-nav"),
            html.Nav([html.A("All groups", href="/"), html.A("Runs and data quality", href="/runs")]),
            html.Main(id="page"),
        ]
    )

    @app.callback(Output("page", "children"), Input("address", "pathname"), Input("address", "search"))  # type: ignore[untyped-decorator]
    def show(path: str | None, search: str | None) -> Any:
        return newest.ask(lambda published: page(published, path or "/", query_of(search)))

    @app.callback(  # type: ignore[untyped-decorator]
        Output("address", "search"),
        Input("lanes", "relayoutData"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def zoom(change: dict[str, Any] | None, search: str | None) -> Any:
        return zoomed(change or {}, query_of(search)) or no_update

    @app.callback(Output("evidence", "children"), Input("lanes", "clickData"), prevent_initial_call=True)  # type: ignore[untyped-decorator]
    def click(clicked: dict[str, Any] | None) -> Any:
        found = [one["customdata"] for one in (clicked or {}).get("points", []) if one.get("customdata")]
        return newest.ask(lambda published: finding_view(explain(published, found[0]))) if found else no_update

    return app


INDEX = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title><link rel="icon" href="data:,">{%css%}<style>{style}</style></head>
<body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>
"""


def refuse_strangers() -> None:
    """Answer only to this machine's own names, so that no page of another site can read along."""
    if flask.request.host.rpartition(":")[0].strip("[]") not in {"127.0.0.1", "localhost", "::1"}:
        flask.abort(403)


def query_of(search: str | None) -> Query:
    """What an address says after its question mark."""
    return {name: values[0] for name, values in parse_qs((search or "").removeprefix("?")).items()}


def link(path: str, **query: str | None) -> str:
    """The address of a page."""
    return f"/{path}?" + urlencode({name: value for name, value in query.items() if value})


def zoomed(change: dict[str, Any], query: Query) -> str | None:
    """The address of the view after a zoom, so that a link keeps it; ``None`` where nothing was zoomed."""
    if "xaxis.range[0]" in change:
        times = {"from": change["xaxis.range[0]"], "to": change["xaxis.range[1]"]}
        return "?" + urlencode(query | {name: str(time).replace(" ", "T")[:23] for name, time in times.items()})
    if change.get("xaxis.autorange"):
        return "?" + urlencode({name: value for name, value in query.items() if name not in times_of(query)})
    return None


def times_of(query: Query) -> set[str]:
    """The names under which an address holds its window of time."""
    return {"from", "to"} & set(query)


def page(published: Published, path: str, query: Query) -> Any:
    """The page behind an address; an error is a sentence on it."""
    try:
        if path == "/group":
            window = moment(query.get("from")), moment(query.get("to"))
            told = incident(published, query.get("cluster", ""), query.get("group", ""), *window, lines=False)
            return group_page(told, query)
        if path == "/finding":
            return finding_view(explain(published, query.get("id", "")))
        return runs_page(published) if path == "/runs" else fleet_page(published)
    except JobError as error:
        return html.P(str(error), className="error")


# -- all groups, and the runs -----------------------------------------------------------------------------------


def fleet_page(published: Published) -> list[Any]:
    """All groups, the worst first, and how restless they are."""
    groups = published.rows(GROUPS)
    for group in groups:
        group["replica_group"] = html.A(
            harmless(group["replica_group"]), href=link("group", cluster=group["cluster"], group=group["replica_group"])
        )
    charts = [html.Figure([html.Figcaption(title), bars(published.rows(sql))]) for title, sql in CHARTS.items()]
    return [html.H1("All groups"), html.Div(charts, className="charts"), table(groups)]


def bars(rows: list[Row]) -> Any:
    """A small chart of counts."""
    if not rows:
        return html.P("none", className="muted")
    figure = go.Figure(
        go.Bar(x=[disarmed(row["name"]) for row in rows], y=[row["n"] for row in rows], marker_color=INK)
    )
    figure.update_layout(**LAYOUT, height=200, margin={"l": 40, "r": 10, "t": 10, "b": 40})
    figure.update_xaxes(type="category", gridcolor=FAINT)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=FAINT)
    return chart(figure)


def chart(figure: go.Figure, **names: str) -> Any:
    """A figure in a place of its size, so that nothing below it moves under the mouse when it is drawn."""
    graph = dcc.Graph(figure=figure, config={"displayModeBar": False}, **names)
    return html.Div(graph, style={"minHeight": figure.layout.height})


def runs_page(published: Published) -> list[Any]:
    """What was published, what was read, and what could not be."""
    parts: list[Any] = [html.H1("Runs and data quality")]
    for title, sql in TABLES.items():
        parts += [html.H2(title), table(published.rows(sql))]
    return parts


def table(rows: list[Row]) -> Any:
    """Rows as a table; values that are elements already stay so."""
    if not rows:
        return html.P("none", className="muted")
    head = html.Thead(html.Tr([html.Th(spoken(name)) for name in rows[0]]))
    body = [html.Tr([html.Td(in_cell(value)) for value in row.values()], className=row.get("worst")) for row in rows]
    return html.Div(html.Table([head, html.Tbody(body)]), className="scroll")


def in_cell(value: Any) -> Any:
    """A value of a table."""
    if value is None or isinstance(value, html.A):
        return value
    return harmless(f"{value:,}" if isinstance(value, int) else cell(value))


# -- one group --------------------------------------------------------------------------------------------------

LAYOUT: dict[str, Any] = {
    "paper_bgcolor": NOTHING,
    "plot_bgcolor": NOTHING,
    "font": {"color": INK},
    "showlegend": False,
}


def group_page(told: Incident, query: Query) -> list[Any]:
    """Lanes with findings on them, the story, and the findings as links."""
    said = [
        html.Li([html.Time(f"{at:%Y-%m-%d %H:%M:%S}"), html.Span([badge(finding), harmless(sentence)])])
        for at, sentence, finding in story(told)[:FINDINGS_SHOWN]
    ]
    said += [html.Li([html.Time(""), html.Span(harmless(sentence))]) for sentence in outcome(told)]
    return [
        html.H1(harmless(f"{told.cluster} / {told.group}")),
        html.P(
            [
                "Drag to zoom, double click to see all; the address keeps the view. Click a mark for its evidence. ",
                *([html.A("see all times", href=link("group", **without_times(query)))] if times_of(query) else []),
            ],
            className="muted",
        ),
        chart(lanes(told), id="lanes"),
        html.Div(id="evidence", role="status"),
        html.H2("What happened"),
        html.Ol(said or "Nothing that the logs show.", className="story"),
        html.H2(f"Findings: {len(told.findings)}"),
        html.P(f"The gravest {FINDINGS_SHOWN}; zoom to see others." if len(told.roots) > FINDINGS_SHOWN else ""),
        html.Ul([finding_link(finding) for finding in told.roots[:FINDINGS_SHOWN]], className="findings"),
        html.H2("What we could not see"),
        html.Ul([html.Li(harmless(sentence)) for sentence in unseen(told)]),
    ]


def without_times(query: Query) -> Query:
    """An address without its window of time."""
    return {name: value for name, value in query.items() if name not in times_of(query)}


def finding_link(finding: Row) -> Any:
    """A finding, as a line that leads to its page."""
    text = html.A(finding["rule"], href=link("finding", id=finding["finding_id"]))
    return html.Li([badge(finding), text, harmless(f" {when(finding)}: {finding['summary']}")])


def badge(finding: Row | None) -> Any:
    """The severity, in a word and a colour."""
    return html.B(finding["severity"], className=f"badge {finding['severity']}") if finding else None


def lanes(told: Incident) -> go.Figure:
    """A lane for each member, a bar for each role, a mark for each finding."""
    nodes = list(dict.fromkeys(role["node"] for role in told.roles))
    drawn = merged(told) if len(told.roles) > BARS_SHOWN else told.roles
    figure = go.Figure()
    for role in dict.fromkeys(row["role"] for row in drawn):
        add_bars(figure, told, [row for row in drawn if row["role"] == role], COLOURS.get(role, COLOURS["unknown"]))
    for severity, (symbol, colour) in MARKS.items():
        found = [one for one in told.findings if one["severity"] == severity][:FINDINGS_SHOWN]
        figure.add_scatter(
            x=[one["start_time"] for one in found],
            y=["findings"] * len(found),
            mode="markers",
            marker={"symbol": symbol, "color": colour, "size": 13, "line": {"width": 1.5, "color": colour}},
            hovertext=[in_lines(f"{severity} {one['rule']}: {one['summary']}") for one in found],
            hoverinfo="text",
            customdata=[one["finding_id"] for one in found],
        )
    order = ["findings", *(disarmed(told.names[node]) for node in reversed(nodes))]
    figure.update_layout(
        **LAYOUT, barmode="overlay", dragmode="zoom", height=90 + 38 * len(order), margin={"t": 20, "b": 40}
    )
    figure.update_xaxes(type="date", range=[told.begin, told.end], gridcolor=FAINT)
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=order, fixedrange=True, automargin=True)
    return figure


def add_bars(figure: go.Figure, told: Incident, rows: list[Row], colour: str) -> None:
    """The bars of one role."""
    spans = [(max(row["start_time"], told.begin), end_of(told, row)) for row in rows]
    labels = [f"{role_word(row['role'], row['protocol'])} {'' if row['term'] is None else row['term']}" for row in rows]
    figure.add_bar(
        base=[begin for begin, _ in spans],
        x=[max((end - begin).total_seconds() * 1000, 1) for begin, end in spans],
        y=[disarmed(told.names[row["node"]]) for row in rows],
        orientation="h",
        marker={"color": colour, "line": {"width": 0}},
        text=[disarmed(label) for label in labels],
        textposition="inside",
        insidetextanchor="start",
        hovertext=[disarmed(f"{label}, {when(row)}") for label, row in zip(labels, rows, strict=True)],
        hoverinfo="text",
        width=0.6,
    )


def end_of(told: Incident, role: Row) -> datetime:
    """Where the bar of a role ends: at its end, or at the end of its node's log."""
    end: datetime = role["end_time"] or told.log_ends.get(role["source_node"] or "", told.end)
    return max(end, role["start_time"])


def merged(told: Incident) -> list[Row]:
    """Roles with those made one that are less than a column of the screen apart; a zoom draws them apart."""
    step = (told.end - told.begin) / SCREEN
    found: list[Row] = []
    last: dict[tuple[str, str], Row] = {}
    for role in told.roles:
        lane, end = (role["node"], role["role"]), end_of(told, role)
        before = last.get(lane)
        if before is None or role["start_time"] - before["end_time"] > step:
            last[lane] = role | {"end_time": end}
            found.append(last[lane])
        elif end > before["end_time"]:
            before["end_time"] = end
    return found


def disarmed(text: str) -> str:
    """``text`` for plotly, which takes some tags for markup."""
    return harmless(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def in_lines(text: str) -> str:
    """A long text for plotly, in lines that fit beside the mouse."""
    return "<br>".join(wrap(disarmed(text), COLUMNS, break_long_words=False, break_on_hyphens=False))


# -- one finding ------------------------------------------------------------------------------------------------


def finding_view(told: Explanation) -> Any:
    """One finding with all that a reader asks, and its lines word for word."""
    finding, rule = told.finding, told.rule
    home = link("group", cluster=finding["cluster"], group=finding["replica_group"])
    said = [
        ("How sure", certainty(finding)),
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("What limits it", " ".join(limits(told))),
        ("Source", rule.source),
        *measures(finding),
    ]
    others = [*([told.implied_by] if told.implied_by else []), *told.echoes]
    return html.Article(
        [
            html.H2([badge(finding), html.A(finding["rule"], href=link("finding", id=finding["finding_id"]))]),
            html.P(
                [
                    html.A(harmless(f"{finding['cluster']} / {finding['replica_group']}"), href=home),
                    f", {when(finding)} UTC",
                ]
            ),
            html.P(harmless(finding["summary"]), className="summary"),
            html.Dl([part for name, value in said for part in (html.Dt(name), html.Dd(harmless(value)))]),
            *(
                html.P(["Goes with ", html.A(one["rule"], href=link("finding", id=one["finding_id"]))])
                for one in others
            ),
            html.H3(f"Evidence: {len(told.evidence)} lines of logs, word for word"),
            *(line_of_log(row) for row in told.evidence),
        ],
        className=finding["severity"],
    )


def line_of_log(row: Row) -> Any:
    """One line of a log with its place."""
    if row["path"] is None:
        return html.P("a line that was not kept", className="muted")
    place = f"{row['path']}:{row['line_no']}"
    return html.Figure([html.Figcaption(harmless(place)), html.Pre(harmless(row["text"], keep="\n\t"))])
