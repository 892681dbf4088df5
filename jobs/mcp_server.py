"""Tools for agents, over the Model Context Protocol on standard input and output.

Every answer fits a budget of tokens, so that a reader with a small context can ask several questions; an answer says
how much was cut. No tool changes anything: they read folders of logs and published tables.
"""

import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import wraps
from importlib.metadata import version
from pathlib import Path

from mcp.server.mcpserver import MCPServer

from election_replay.jobs import JobError
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.faults import readable, user_message
from election_replay.jobs.look import look as look_job
from election_replay.jobs.reading.explain import explain as explained
from election_replay.jobs.reading.incident import incident as found_incident
from election_replay.jobs.reading.next_steps import steps_of, with_warehouse
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.whois import whois as who_is
from election_replay.jobs.reading.words import SEVERITIES, cell, harmless, moment
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.settings.config import Config
from election_replay.jobs.showing.explanation_text import explanation_text
from election_replay.jobs.showing.incident_text import story_lines
from election_replay.jobs.warehouse.warehouse import Warehouse

BUDGET = 4_000
"""The maximum length of an answer, in tokens."""
SIGNS_A_TOKEN = 3
"""Characters a token in logs and hex ids; in plain English there are four."""
LEFT_OUT = 90
"""Characters reserved for the line that says how much was cut."""
ROWS = 100
"""The maximum number of rows of an answer to SQL."""

INSTRUCTIONS = """Finds out what leader election really did in RocketMQ, etcd, ZooKeeper, Redis and Kafka clusters, \
from their logs. Start with `findings` (what went wrong, gravest first) or with `look` at a folder of logs, then \
`incident` for the story of one group and `explain` for the lines that prove one finding. `certainty` says how sure a \
finding is: proven and definite hold for every reading of the clocks; possible does not. What is unknown is said to \
be unknown: do not fill it in. Times are UTC."""

LIST = """
    SELECT finding_id, severity, certainty, rule, cluster, replica_group, start_time, summary FROM findings
    WHERE ($cluster IS NULL OR cluster = $cluster) AND ($grp IS NULL OR replica_group = $grp)
        AND ($severity IS NULL OR severity = $severity)
        AND ($since IS NULL OR coalesce(end_time, start_time) >= $since) AND ($until IS NULL OR start_time <= $until)
    ORDER BY severity = 'critical' DESC, severity = 'warning' DESC, start_time, finding_id
"""


def within(lines: Iterable[str], budget: int = BUDGET) -> str:
    """Return the lines that fit into ``budget`` tokens; the first that does not is cut, and a last line says so."""
    every, kept, room = list(lines), [], budget * SIGNS_A_TOKEN - LEFT_OUT
    for line in every:
        text = harmless(line)
        kept.append(text[:room])
        room -= len(text) + 1
        if room < 0:
            kept.append(f"(cut: {len(every) - len(kept):,} more lines; ask for less, for example a shorter time)")
            break
    return "\n".join(kept)


Tool = Callable[..., Iterable[str]]


def answering(tool: Tool) -> Callable[..., str]:
    """Wrap a tool so that its answer fits the budget, and an error is an answer in one line."""

    @wraps(tool)
    def answer(*args: object, **named: object) -> str:
        try:
            return within(tool(*args, **named))
        except JobError as error:
            return within(["error: " + str(error.args[0]), *map(str, error.args[1:])])
        except Exception as error:  # noqa: BLE001 - whoever asks is told, and asks again
            return within([f"error: {user_message(error) or readable(error)}"])

    answer.__annotations__ = {**tool.__annotations__, "return": str}
    return answer


class Tools:
    """The tools over one warehouse, if there is one. Each yields the lines of its answer."""

    def __init__(self, warehouse: str | None) -> None:
        self._warehouse = warehouse

    def _published(self) -> Published:
        if self._warehouse is None:
            raise JobError("no warehouse is open: start `election-replay mcp --warehouse DIR`, or use `look`")
        return Published(Warehouse(self._warehouse))

    def look(self, folder: str) -> Iterable[str]:
        """Judge a folder of logs, or an archive: findings with their ids, then the story of the gravest group."""
        with tempfile.TemporaryDirectory(prefix="election-replay-mcp-") as scratch, closing(LocalEngine()) as engine:
            tables = Warehouse(f"{scratch}/warehouse")
            look_job(engine, folder, tables, Config(), Path(scratch))
            published = Published(tables)
            yield from _listed(published, {})
            for row in published.rows(
                "SELECT cluster, replica_group FROM findings SEMI JOIN role_intervals USING (cluster, replica_group) "
                "ORDER BY severity = 'critical' DESC, severity = 'warning' DESC, start_time LIMIT 1"
            ):
                yield f"{row['cluster']} / {row['replica_group']}"
                yield from story_lines(
                    found_incident(published, row["cluster"], row["replica_group"], story_alone=True)
                )

    def findings(
        self,
        cluster: str | None = None,
        group: str | None = None,
        severity: str | None = None,
        since: str | None = None,
        until: str | None = None,
    ) -> Iterable[str]:
        """List findings, gravest first. severity: critical, warning or info; since, until: UTC, 2026-03-01T05:00."""
        if severity not in (None, *SEVERITIES):
            raise JobError(f"severity is one of {', '.join(SEVERITIES)}")
        values = {"cluster": cluster, "grp": group, "severity": severity}
        yield from _listed(self._published(), {**values, "since": moment(since), "until": moment(until)})

    def incident(self, cluster: str, group: str, since: str | None = None, until: str | None = None) -> Iterable[str]:
        """Tell the story of one replica group, in order of time: who led, why that changed, what was lost."""
        yield from story_lines(
            found_incident(self._published(), cluster, group, moment(since), moment(until), story_alone=True)
        )

    def explain(self, finding_id: str) -> Iterable[str]:
        """Explain one finding: its rule, how sure it is, the log lines that prove it, and what would refute it."""
        yield from explanation_text(explained(self._published(), finding_id))

    def sql(self, query: str) -> Iterable[str]:
        """Ask the published tables by one SELECT (DuckDB's SQL); SHOW TABLES and DESCRIBE findings tell what is there.

        Tables: terms, elections, role_intervals, sync_state_sets, findings, evidence_lines, rule_coverage, ...
        """
        answer = self._published().query(query)
        yield "\t".join(answer.column_names)
        for row in answer.slice(0, ROWS).to_pylist():
            yield "\t".join("" if value is None else cell(value) for value in row.values())
        if answer.num_rows > ROWS:
            yield f"({answer.num_rows - ROWS:,} more rows: add a WHERE or a LIMIT)"

    def whois(self, name: str) -> Iterable[str]:
        """Say what an id, address or name stands for: member, group, client, finding or run."""
        yield from who_is(self._published(), name)

    def runbook(self, finding_id: str) -> Iterable[str]:
        """Say what to check about a finding, in order, with the commands to type, and what not to do."""
        published = self._published()
        rows = published.rows("SELECT * FROM findings WHERE starts_with(finding_id, ?)", [finding_id.strip().lower()])
        if len(rows) != 1:
            raise JobError(f"{len(rows)} findings have an id that begins with {finding_id}: `findings` lists them")
        for step in steps_of(with_warehouse(rows[0], published.place)):
            yield f"{step.heading}: {step.text}: {step.command}"


def _listed(published: Published, values: dict[str, object]) -> Iterable[str]:
    asked = dict.fromkeys(("cluster", "grp", "severity", "since", "until")) | values
    rows = published.rows(LIST, asked)
    yield f"{len(rows):,} findings" + ("" if rows else ": what could not be judged is in the view blind_spots")
    for row in rows:
        began = f"{row['start_time']:%Y-%m-%d %H:%M:%S}Z"
        yield (
            f"{row['finding_id']} {row['severity']} ({row['certainty']}) {row['rule']} {row['cluster']} / "
            f"{row['replica_group']} {began}: {row['summary']}"
        )


def rule_text(rule: str) -> str:
    """Return a rule of the catalogue as text."""
    if rule not in catalogue():
        return f"there is no rule {rule}; there is {', '.join(catalogue())}"
    found = catalogue()[rule]
    return f"{rule}: {found.meaning}\nNeeds: {found.needs}\nRefuted by: {found.refuted_by}\nSource: {found.source}"


def server(warehouse: str | None) -> MCPServer:
    """Return the server with all tools; without a ``warehouse`` only `look` and the catalogue answer."""
    made = MCPServer(
        "election-replay", instructions=INSTRUCTIONS, version=version("election-replay"), log_level="WARNING"
    )
    tools = Tools(warehouse)
    for tool in (
        tools.findings,
        tools.incident,
        tools.explain,
        tools.runbook,
        tools.whois,
        tools.sql,
        tools.look,
    ):
        made.tool()(answering(tool))
    made.resource("rules://{rule}")(rule_text)
    return made
