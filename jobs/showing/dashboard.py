"""The dashboard: what is published, in a browser, read without Spark.

Four pages, each with an address of its own: all groups, one group (lanes, story, findings), one finding, and what the
runs read. Every page is made from the newest published run, whole. Log text is hostile: it reaches the page as text of
elements, and, where plotly draws it, with its markup disarmed. Nothing is fetched from elsewhere.
"""

import logging
import threading
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlencode

import flask
from dash import Dash, Input, Output, State, dcc, html, no_update, set_props
from plotly import graph_objects as go
from werkzeug.exceptions import HTTPException

from jobs import JobError
from jobs.faults import readable
from jobs.reading.explain import Explanation, explain
from jobs.reading.incident import Incident, StoryLine, outcome, story, unseen
from jobs.reading.incident import incident as find_incident
from jobs.reading.published import Published
from jobs.reading.words import Row, cell, certainty, harmless, measures, moment, spoken, when
from jobs.showing.explanation_text import limits
from jobs.showing.lanes import FAINT, INK, LAYOUT, Picture, disarmed, picture
from jobs.warehouse.warehouse import Warehouse

LOG = logging.getLogger("election_replay")

STYLE = "".join(
    files("jobs.showing").joinpath(name).read_text(encoding="utf-8") for name in ("report.css", "dashboard.css")
)

SHOWN = 50
"""Findings, and sentences of a story, that one page lists; a zoom shows those of a shorter time."""

ROWS = 50
"""Rows of a table that one page shows."""

GROUPS = (
    "SELECT * FROM groups WHERE contains(lower(cluster || ' / ' || replica_group), lower(?)) "
    "ORDER BY critical DESC, warning DESC, needless DESC, cluster, replica_group"
)
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
    "ORDER BY published_at DESC",
    "What was read of each node": "SELECT cluster, source_node, count(DISTINCT (stream, fingerprint)) AS files, "
    "sum(lines_total) AS lines, sum(lines_event) AS events, sum(lines_quarantined) AS quarantined, "
    "max(last_line_time) AS last_line FROM landed_files GROUP BY ALL "
    "ORDER BY quarantined DESC, cluster, source_node",
    "What could not be read": "SELECT path, line_no, reason, text FROM quarantine ORDER BY path, line_no",
    "What could not be judged": "SELECT cluster, replica_group, rule, conforms, violates, undecidable, why_undecidable "
    "FROM blind_spots ORDER BY undecidable DESC, cluster, replica_group, rule",
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
    app.server.register_error_handler(Exception, refused)
    app.index_string = INDEX.replace("{style}", STYLE)
    app.layout = html.Div(
        [
            dcc.Location(id="address", refresh="callback-nav"),
            dcc.Store(id="shown"),
            html.Nav([html.A("All groups", href="/"), html.A("Runs and data quality", href="/runs")]),
            html.Main(id="page"),
        ]
    )

    @app.callback(
        Output("page", "children"),
        Output("shown", "data"),
        Input("address", "pathname"),
        Input("address", "search"),
        State("shown", "data"),
    )
    def show(path: Any, search: Any, shown: Any) -> Any:
        path, query = path if isinstance(path, str) else "/", query_of(search)
        asked = [path or "/", query.get("cluster", ""), query.get("group", "")]
        if asked != shown or path != "/group":
            try:
                return newest.ask(lambda published: page(published, path or "/", query)), asked
            except JobError as error:
                return refusal(error), None
        try:
            incident, drawn = newest.ask(lambda published: view(published, query))
        except JobError as error:
            return refusal(error), None
        set_props("lanes", {"figure": drawn.figure})  # only what a zoom changes: the rest of the page stays
        set_props("told", {"children": in_words(incident, drawn, query)})
        return no_update, no_update

    @app.callback(
        Output("address", "search"),
        Input("lanes", "relayoutData"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def zoom(change: Any, search: Any) -> Any:
        return zoomed(change if isinstance(change, dict) else {}, query_of(search)) or no_update

    @app.callback(
        Output("address", "search", allow_duplicate=True),
        Input("find", "value"),
        State("address", "search"),
        prevent_initial_call=True,
    )
    def find(looked_for: Any, search: Any) -> Any:
        asked = looked_for if isinstance(looked_for, str) else ""
        return no_update if asked == query_of(search).get("find", "") else f"?{urlencode({'find': asked})}"

    @app.callback(Output("evidence", "children"), Input("lanes", "clickData"), prevent_initial_call=True)
    def click(clicked: Any) -> Any:
        if (found := mark_of(clicked)) is None:
            return no_update
        try:
            return newest.ask(lambda published: marked(published, *found))
        except JobError as error:
            return refusal(error)

    policy = POLICY.format(scripts=" ".join(f"'{one}'" if one[0] != "'" else one for one in app.csp_hashes()))
    app.server.after_request(partial(guarded, policy=policy))
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


POLICY = (
    "default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
    "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a page may load and run: nothing from elsewhere, and of scripts in the page those of Dash, by their hashes."""

HEADERS = {"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


def guarded(response: flask.Response, policy: str) -> flask.Response:
    """An answer with the headers that keep other pages out."""
    response.headers.update(HEADERS | {"Content-Security-Policy": policy})
    return response


def refused(error: Exception) -> Any:
    """The answer to what no page of ours asks: that it is wrong, and nothing of the inside; the log has one line."""
    if isinstance(error, HTTPException):
        return error
    LOG.warning(
        harmless(f"refused {flask.request.method} {flask.request.path}: {type(error).__name__}: {readable(error)}")
    )
    return flask.Response("this request cannot be answered", 400 if flask.request.method == "POST" else 500)


def mark_of(clicked: Any) -> tuple[list[str], int] | None:
    """Ids and number of the findings of a mark that was clicked; ``None`` where the browser names no such thing."""
    for point in clicked.get("points") or () if isinstance(clicked, dict) else ():
        match point:
            case {"customdata": [[*ids], int(count)]} if ids and all(isinstance(one, str) for one in ids):
                return ids, count
    return None


def query_of(search: Any) -> Query:
    """What an address says after its question mark; nothing, where the browser sends no text."""
    said = search.removeprefix("?") if isinstance(search, str) else ""
    return {name: values[0] for name, values in parse_qs(said).items()}


def link(path: str, **query: str | None) -> str:
    """The address of a page."""
    return f"/{path}?" + urlencode({name: value for name, value in query.items() if value})


def zoomed(change: dict[str, Any], query: Query) -> str | None:
    """The address of the view after a zoom, so that a link keeps it; ``None`` where nothing was zoomed."""
    if {"xaxis.range[0]", "xaxis.range[1]"} <= change.keys():
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
            return group_page(*view(published, query), query)
        if path == "/finding":
            return finding_view(explain(published, query.get("id", "")))
        return runs_page(published) if path == "/runs" else fleet_page(published, query)
    except JobError as error:
        return refusal(error)


def refusal(error: JobError) -> Any:
    """What cannot be shown, and why."""
    return html.P(harmless(str(error), keep="\n\t"), className="error")


# -- all groups, and the runs -----------------------------------------------------------------------------------


def fleet_page(published: Published, query: Query) -> list[Any]:
    """All groups, or those whose name holds what is looked for, the worst first; and how restless all are."""
    looked_for, begun = query.get("find", ""), query.get("after", "")
    after = int(begun[:9]) if begun.isdecimal() else 0
    groups, count = rows_of(published, GROUPS, looked_for, after=after)
    for group in groups:
        group["replica_group"] = html.A(
            harmless(group["replica_group"]), href=link("group", cluster=group["cluster"], group=group["replica_group"])
        )
    charts = [html.Figure([html.Figcaption(title), bars(published.rows(sql))]) for title, sql in CHARTS.items()]
    find = dcc.Input(
        id="find",
        type="search",
        value=looked_for,
        debounce=True,
        placeholder="cluster / group",
        autoFocus=bool(looked_for),
    )
    return [
        html.H1("All groups"),
        html.Div(charts, className="charts"),
        html.P([html.Label(["Find ", find], htmlFor="find"), *places(query, after, len(groups), count)]),
        table(groups),
    ]


def rows_of(published: Published, sql: str, *values: str, after: int = 0) -> tuple[list[Row], int]:
    """The rows of a query that one page shows, from the one ``after`` so many on, and how many there are in all."""
    count = published.rows(f"SELECT count(*) AS n FROM ({sql})", values)[0]["n"]  # noqa: S608 - one of our own
    return published.rows(f"{sql} LIMIT {ROWS} OFFSET {after}", values), count


def places(query: Query, after: int, shown: int, count: int) -> list[Any]:
    """Which of the groups the page shows, and the way to the others."""
    there = {"before": after - ROWS if after else None, "next": after + shown if after + shown < count else None}
    ways = [
        part
        for name, to in there.items()
        if to is not None
        for part in (" ", html.A(name, href=link("", **(query | {"after": str(max(to, 0))}))))
    ]
    return [f" {after + 1:,} to {after + shown:,} of {count:,}, the worst first" if shown else " none", *ways]


def bars(rows: list[Row]) -> Any:
    """A small chart of counts."""
    if not rows:
        return html.P("none", className="muted")
    figure = go.Figure(
        go.Bar(x=[disarmed(row["name"]) for row in rows], y=[row["n"] for row in rows], marker_color=INK)
    )
    figure.update_layout(**LAYOUT, showlegend=False, height=200, margin={"l": 40, "r": 10, "t": 10, "b": 40})
    figure.update_xaxes(type="category", gridcolor=FAINT)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=FAINT)
    return chart(figure)


def chart(figure: go.Figure, **names: Any) -> Any:
    """A figure in a place of its size, so that nothing below it moves under the mouse when it is drawn."""
    graph = dcc.Graph(figure=figure, config={"displayModeBar": False, "doubleClick": "autosize"}, **names)
    return html.Div(graph, style={"minHeight": figure.layout.height})


def runs_page(published: Published) -> list[Any]:
    """What was published, what was read, and what could not be."""
    parts: list[Any] = [html.H1("Runs and data quality")]
    for title, sql in TABLES.items():
        rows, count = rows_of(published, sql)
        parts += [html.H2(title), table(rows)]
        if count > len(rows):
            parts.append(
                html.P(f"The first {len(rows)} of {count:,}; `election-replay sql` shows all.", className="muted")
            )
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


def view(published: Published, query: Query) -> tuple[Incident, Picture]:
    """What an address asks of a group, and its picture. Raises :class:`JobError` where there is no such thing."""
    window = moment(query.get("from")), moment(query.get("to"))
    incident = find_incident(published, query.get("cluster", ""), query.get("group", ""), *window, at_most=SHOWN + 1)
    return incident, picture(published, incident)


def group_page(incident: Incident, drawn: Picture, query: Query) -> list[Any]:
    """Lanes with findings on them, and the rest in words."""
    return [
        html.H1(harmless(f"{incident.cluster} / {incident.group}")),
        html.P(
            "Drag to zoom, double click to see all; the address keeps the view. Click a mark for its evidence. "
            "Times are UTC.",
            className="muted",
        ),
        chart(drawn.figure, id="lanes"),
        html.Div(id="evidence", role="status"),
        html.Div(in_words(incident, drawn, query), id="told"),
    ]


def in_words(incident: Incident, drawn: Picture, query: Query) -> list[Any]:
    """What is not drawn one by one, the story, and the findings as links.

    Each element costs the browser a millisecond, so that a sentence is one of them, or two.
    """
    lines = story(incident)
    at_the_end = [html.Li(f"\t{harmless(sentence)}") for sentence in outcome(incident)]
    return [
        html.P([drawn.merged, *whole_time(query)], className="muted"),
        html.H2("What happened"),
        *more(len(lines), "The first {shown} of what is to be told; zoom to see the rest."),
        html.Ol([*map(sentence_of, lines[:SHOWN]), *at_the_end] or "Nothing that the logs show.", className="story"),
        html.H2(f"Findings: {incident.counted()}"),
        *more(len(incident.roots), "The gravest {shown} of {all} that follow from no other; zoom to see the rest."),
        html.Ul([finding_link(finding) for finding in incident.roots[:SHOWN]], className="findings"),
        *following(len(incident.findings) - len(incident.roots)),
        html.H2("What we could not see"),
        html.Ul([html.Li(harmless(sentence)) for sentence in unseen(incident)]),
    ]


def whole_time(query: Query) -> list[Any]:
    """The way back from a zoom."""
    return [" ", html.A("see all times", href=link("group", **without_times(query)))] if times_of(query) else []


def more(count: int, sentence: str) -> list[Any]:
    """``sentence``, where not all of ``count`` are shown."""
    text = sentence.format(shown=SHOWN, all=f"{count:,}")
    return [html.P(text, className="muted")] if count > SHOWN else []


def following(count: int) -> list[Any]:
    """How many findings are not listed because others imply them."""
    text = f"{count:,} more {'follows' if count == 1 else 'follow'} from these: the page of each names them."
    return [html.P(text, className="muted")] if count else []


def sentence_of(line: StoryLine) -> Any:
    """When, and what in words; a finding with its severity."""
    at, sentence, finding = line
    moment = f"{at:%Y-%m-%d %H:%M:%S}\t"
    if finding is None:
        return html.Li(moment + harmless(sentence))
    return html.Li([moment, badge(finding), harmless(sentence)], className=finding["severity"])


def without_times(query: Query) -> Query:
    """An address without its window of time."""
    return {name: value for name, value in query.items() if name not in times_of(query)}


def finding_link(finding: Row) -> Any:
    """A finding, as a line that leads to its page."""
    rule = html.A(finding["rule"], href=link("finding", id=finding["finding_id"]))
    text = harmless(f" {when(finding)}: {finding['summary']}")
    return html.Li([badge(finding), rule, text], className=finding["severity"])


def badge(finding: Row) -> Any:
    """The severity, in a word and a colour."""
    return html.B(finding["severity"], className=f"badge {finding['severity']}")


def marked(published: Published, ids: list[str], count: int) -> Any:
    """What a mark stands for: a finding, or the first of several."""
    if count == 1:
        return finding_view(explain(published, ids[0]))
    sql = "SELECT * FROM findings WHERE finding_id IN (SELECT unnest(?)) ORDER BY start_time, finding_id"
    found = published.rows(sql, [ids])
    which = "" if count == len(found) else f" The first {len(found)} are:"
    return html.Article(
        [
            html.H2(f"{count:,} findings share this mark"),
            html.P(f"Zoom in to give each a mark of its own.{which}", className="muted"),
            html.Ul([finding_link(one) for one in found], className="findings"),
        ]
    )


# -- one finding ------------------------------------------------------------------------------------------------


def finding_view(explanation: Explanation) -> Any:
    """One finding with all that a reader asks, and its lines word for word."""
    finding, rule = explanation.finding, explanation.rule
    home = link("group", cluster=finding["cluster"], group=finding["replica_group"])
    entries = [
        ("How sure", certainty(finding)),
        ("Rule", rule.meaning),
        ("What would refute it", rule.refuted_by),
        ("What limits it", " ".join(limits(explanation))),
        ("Source", rule.source),
        *measures(finding),
    ]
    others = [*([explanation.implied_by] if explanation.implied_by else []), *explanation.echoes]
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
            html.Dl([part for name, value in entries for part in (html.Dt(name), html.Dd(harmless(value)))]),
            *(
                html.P(["Goes with ", html.A(one["rule"], href=link("finding", id=one["finding_id"]))])
                for one in others
            ),
            html.H3(f"Evidence: {len(explanation.evidence)} lines of logs, word for word"),
            *(line_of_log(row) for row in explanation.evidence),
        ],
        className=finding["severity"],
    )


def line_of_log(row: Row) -> Any:
    """One line of a log with its place."""
    if row["path"] is None:
        return html.P("a line that was not kept", className="muted")
    place = f"{row['path']}:{row['line_no']}"
    return html.Figure([html.Figcaption(harmless(place)), html.Pre(harmless(row["text"], keep="\n\t"))])
