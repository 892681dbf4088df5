"""The command line. Each command is one job; errors are one line that says what to do next."""

import csv
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import date
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from jobs import JobError
from jobs.config import DEFAULT_FILE, Config, load
from jobs.log import ERR, FORMATS, OUT, for_machines, known, log_as, tell
from jobs.words import cell, harmless, moment

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from jobs.inspection import Inspection
    from jobs.listing import LogFile
    from jobs.publish import Outcome
    from jobs.published import Published
    from jobs.replay import Replay, Selection
    from jobs.simulate import Simulated
    from jobs.validate import Check

WIDE = 10_000
"""Columns of a table that is printed into a file or a pipe: no line is broken."""

GATE_FAILED = 3
"""Exit code when what must hold for the tables does not; what holds is published."""

Command = Callable[..., Any]


def landing_option(command: Command) -> Command:
    """``--landing``."""
    return click.option(
        "--landing", required=True, metavar="DIR", help="Folder that holds the clusters' folders (path or URI)."
    )(command)


def warehouse_option(command: Command) -> Command:
    """``--warehouse``."""
    return click.option("--warehouse", required=True, metavar="DIR", help="Folder of the Delta tables.")(command)


def spark_options(command: Command) -> Command:
    """``--config`` and ``--master``."""
    command = click.option("--config", metavar="FILE", help="Settings; default conf/pipeline.yaml if it is there.")(
        command
    )
    return click.option("--master", metavar="URL", help="Spark master, unless one is configured; default local[*].")(
        command
    )


def dry_run_option(command: Command) -> Command:
    """``--dry-run``."""
    return click.option("--dry-run", is_flag=True, help="Say what there is to do, and change nothing.")(command)


def cluster_option(command: Command) -> Command:
    """``--cluster``, as often as wanted."""
    return click.option("--cluster", multiple=True, metavar="NAME", help="Only this cluster; may be given again.")(
        command
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="election-replay")
@click.option("--debug", is_flag=True, help="Show stack traces and Spark's own messages; works on every command.")
@click.option(
    "--log-format",
    type=click.Choice(FORMATS),
    default="text",
    envvar="ELECTION_REPLAY_LOG_FORMAT",
    help="What a command says while it works: text, or a JSON object a line on standard error; works on every command.",
)
def cli(debug: bool, log_format: str) -> None:
    """Replay broker and controller logs: who led what and when, and what went wrong.

    \b
    Start with
      election-replay run --landing logs --warehouse warehouse
    where the logs of cluster C and node N lie in logs/C/nodes/N/logs/.
    """
    context = click.get_current_context()
    context.obj = debug
    log_as(log_format, command=context.invoked_subcommand)


@cli.command()
@landing_option
@warehouse_option
@spark_options
@dry_run_option
@click.pass_obj
def run(debug: bool, landing: str, warehouse: str, config: str | None, master: str | None, dry_run: bool) -> None:
    """Land what is new, replay it, publish the result.

    Repeating it lands only what is new; with nothing new it changes nothing. A cluster whose tables do not pass their
    gates keeps its published state; then the exit code is 3.

    \b
    Example
      election-replay run --landing /data/logs --warehouse /data/warehouse
    """
    from jobs.land import new_files
    from jobs.replay import nothing_new
    from jobs.warehouse import Warehouse

    settings, tables = load(config), Warehouse(warehouse)
    files = new_files(landing, tables, settings)
    if dry_run:
        from jobs.dry_run import judging_plan, landing_plan, misunderstandings

        puzzles = misunderstandings(files, landing, settings)
        plan(chain(landing_plan(files), puzzles, judging_plan(tables, settings.listed(), landing=files)))
        return
    if files or not tables.last_batch() or not nothing_new(tables, settings.listed()):
        spark = started(settings, master, debug)
        land_stage(spark, landing, tables, settings)
        done = replay_stage(spark, tables, settings)
    else:
        done = None
        tell("Nothing new has come since the last run: nothing was changed.")
    if tables.published():
        summary(warehouse)
    leave(gates(tables, done))


@cli.command()
@landing_option
@warehouse_option
@spark_options
@cluster_option
@dry_run_option
@click.pass_obj
def land(
    debug: bool,
    landing: str,
    warehouse: str,
    config: str | None,
    master: str | None,
    cluster: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Read new log lines into the bronze and silver tables, without judging them.

    \b
    Examples
      election-replay land --landing /data/logs --warehouse /data/warehouse
      election-replay land --landing /data/logs --warehouse /data/warehouse --cluster payments
    """
    from jobs.land import new_files
    from jobs.warehouse import Warehouse

    settings, tables = load(config), Warehouse(warehouse)
    files = of_clusters(new_files(landing, tables, settings), cluster)
    if dry_run:
        from jobs.dry_run import landing_plan, misunderstandings

        plan(chain(landing_plan(files), misunderstandings(files, landing, settings)))
    elif files:
        land_stage(started(settings, master, debug), landing, tables, settings, cluster)
    else:
        tell("No new log file, and none has grown: nothing was changed.")


@cli.command()
@warehouse_option
@spark_options
@cluster_option
@click.option("--from", "since", metavar="NIGHT", help="Only clusters with events on this day (UTC) or later.")
@click.option("--to", "until", metavar="NIGHT", help="Only clusters with events on this day (UTC) or earlier.")
@click.option("--from-events", is_flag=True, help="Read all events again, not the states of former nights.")
@click.option("--unpublished", is_flag=True, help="Write the tables; `publish` makes readers see them.")
@dry_run_option
@click.pass_obj
def replay(
    debug: bool,
    warehouse: str,
    config: str | None,
    master: str | None,
    cluster: tuple[str, ...],
    since: str | None,
    until: str | None,
    from_events: bool,
    unpublished: bool,
    dry_run: bool,
) -> None:
    """Judge what is landed and publish the result.

    What is asked for by cluster or night is judged anew, whether it is new or not; a cluster is always judged whole.
    A cluster whose tables do not pass their gates keeps its published state; then the exit code is 3. With
    --unpublished that is only said: `validate` is the step that fails, and `publish` goes on with the other clusters.

    \b
    Examples
      election-replay replay --warehouse /data/warehouse
      election-replay replay --warehouse /data/warehouse --cluster payments --from 2026-03-01 --to 2026-03-03
    """
    from jobs.replay import EVERYTHING, Selection, nothing_new
    from jobs.warehouse import Warehouse

    settings, tables = load(config), Warehouse(warehouse)
    selection = Selection(cluster or None, day(since), day(until), from_events)
    known_already = nothing_new(tables, settings.listed()) and selection == EVERYTHING
    if dry_run:
        from jobs.dry_run import judging_plan

        plan(judging_plan(tables, settings.listed(), selection))
        return
    if known_already:
        done = None
        tell("Nothing was landed since the last run: nothing was changed.")
    else:
        done = replay_stage(started(settings, master, debug), tables, settings, selection, publishing=not unpublished)
    if tables.published() and not unpublished:
        summary(warehouse)
    failed = gates(tables, done)
    leave(failed and not unpublished)


@cli.command()
@warehouse_option
@click.option("--layer", multiple=True, type=click.Choice(["bronze", "silver", "gold"]), help="Default: all.")
@cluster_option
@click.option("--as-of", metavar="TIME", help="Warn of sources whose last line is 26 hours older than this.")
@click.option("--docs/--no-docs", default=True, show_default=True, help="Write data docs, as pages to be read.")
def validate(warehouse: str, layer: tuple[str, ...], cluster: tuple[str, ...], as_of: str | None, docs: bool) -> None:
    """Check the newest tables against everything that must hold for them; exit code 3 when a gate fails.

    The results are rows of gold.validations, and pages of Great Expectations in WAREHOUSE/data_docs.

    \b
    Examples
      election-replay validate --warehouse /data/warehouse
      election-replay validate --warehouse /data/warehouse --layer gold --cluster payments
    """
    from jobs.data_docs import data_docs
    from jobs.validate import check, chosen_tables, record
    from jobs.warehouse import Warehouse

    tables = Warehouse(warehouse)
    names = chosen_tables(tables, layer)
    checks = check(tables, names, cluster or None, moment(as_of))
    validation = record(tables, checks)
    page = data_docs(tables, checks) if docs else None
    complain(checks)
    held = sum(one.holds for one in checks)
    text = f"{held:,} of {len(checks):,} expectations of {len(names)} tables hold; validation {validation}"
    tell(text, validation_id=validation, expectations=len(checks), held=held)
    if page:
        tell(f"Data docs: {page}")
    leave(any(one.stops for one in checks))


@cli.command()
@warehouse_option
def publish(warehouse: str) -> None:
    """Publish what `replay --unpublished` wrote, but for the clusters whose tables do not pass their gate.

    \b
    Example
      election-replay publish --warehouse /data/warehouse
    """
    from jobs.publish import publish as publish_job
    from jobs.publish import waiting
    from jobs.warehouse import Warehouse

    tables = Warehouse(warehouse)
    judged = waiting(tables)
    done = publish_job(tables, judged) if judged else None
    if done:
        known(run_id=done.run_id)
    else:
        tell("Nothing waits to be published: nothing was changed.")
    summary(warehouse)
    leave(gates(tables, done))


@cli.command()
@warehouse_option
@click.option(
    "--keep-days",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    help="How long an earlier run stays readable. The newest always does.",
)
@dry_run_option
def upkeep(warehouse: str, keep_days: int, dry_run: bool) -> None:
    """Join small files, and remove those that no published run needs.

    \b
    Examples
      election-replay upkeep --warehouse /data/warehouse --dry-run
      election-replay upkeep --warehouse /data/warehouse --keep-days 7
    """
    from jobs.upkeep import upkeep as upkeep_job
    from jobs.warehouse import Warehouse

    would = "would be " if dry_run else ""
    for one in upkeep_job(Warehouse(warehouse), keep_days, dry_run=dry_run):
        work = f"{one.joined:,} {would}joined, {one.removed:,} old ones {would}removed"
        text = f"{one.table}: {one.files:,} files, " + ("left alone: not all published" if one.left_alone else work)
        tell(text, table=one.table, files=one.files, joined=one.joined, removed=one.removed, dry_run=dry_run)


@cli.command()
@warehouse_option
@click.argument("query")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
def sql(warehouse: str, query: str, form: str) -> None:
    """Ask the published tables a question in SQL.

    \b
    Examples
      election-replay sql --warehouse W "SELECT * FROM findings ORDER BY start_time"
      election-replay sql --warehouse W "SELECT cluster, count(*) FROM terms GROUP BY ALL" --format csv
      election-replay sql --warehouse W "SHOW TABLES"
    """
    answer = published(warehouse).query(query)
    FORMS[form](answer.column_names, rows_in(answer))


@cli.command()
@warehouse_option
@click.option("--cluster", required=True, help="The cluster's folder name.")
@click.option("--group", required=True, help="Replica group: broker name, DLedger group, controller.")
@click.option("--from", "since", metavar="TIME", help="Only from this time on, for example 2026-03-01T05:00 (UTC).")
@click.option("--to", "until", metavar="TIME", help="Only up to this time.")
def incident(warehouse: str, cluster: str, group: str, since: str | None, until: str | None) -> None:
    """Tell what happened in one replica group: story, lanes, findings with their log lines, timeline.

    \b
    Example
      election-replay incident --warehouse W --cluster payments --group broker-a --from 2026-03-01T05:00
    """
    from jobs.incident import incident as found
    from jobs.incident_text import text

    for line in text(found(published(warehouse), cluster, group, moment(since), moment(until))):
        say(line)


@cli.command()
@warehouse_option
@click.option("--out", metavar="FILE", help="Write the text there, all at once, instead of printing it.")
def metrics(warehouse: str, out: str | None) -> None:
    """Tell what is published as OpenMetrics: rows, lines, findings, held clusters, failing gates, last lines.

    \b
    Example
      election-replay metrics --warehouse W --out /var/lib/node_exporter/election_replay.prom
    """
    from jobs.metrics import metrics as text

    told = "\n".join(text(published(warehouse))) + "\n"
    if out is None:
        sys.stdout.write(told)
        return
    made = Path(f"{out}.new")
    made.write_text(told, encoding="utf-8")
    made.replace(out)


@cli.group()
def config() -> None:
    """The settings of the pipeline."""


@config.command("check")
@click.option("--config", "file", metavar="FILE", help="Settings; default conf/pipeline.yaml if it is there.")
def config_check(file: str | None) -> None:
    """Read the settings and say what is in force; a mistake is told by file, line and key.

    \b
    Example
      election-replay config check --config conf/pipeline.yaml
    """
    found, usual = load(file), Config()
    for one in fields(found):
        value = getattr(found, one.name)
        say(f"{one.name}: {value}" + (" (default)" if value == getattr(usual, one.name) else ""))
    place = file or (DEFAULT_FILE if DEFAULT_FILE.is_file() else None)
    say(f"{place} is sound" if place else "no settings file: these are the defaults")


@cli.command()
@warehouse_option
@click.option("--cluster", required=True, help="The cluster's folder name.")
@click.option("--group", required=True, help="Replica group: broker name, DLedger group, controller.")
@click.option("--from", "since", metavar="TIME", help="Only from this time on, for example 2026-03-01T05:00 (UTC).")
@click.option("--to", "until", metavar="TIME", help="Only up to this time.")
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
def report(warehouse: str, cluster: str, group: str, since: str | None, until: str | None, output: str) -> None:
    """Write one incident as a single HTML file that can be attached to a post-mortem.

    \b
    Example
      election-replay report --warehouse W --cluster payments --group broker-a -o incident.html
    """
    from jobs.incident import incident as found
    from jobs.report import page

    told = found(published(warehouse), cluster, group, moment(since), moment(until))
    try:
        Path(output).write_text(page(told), encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {output}: {error.strerror}") from None
    say(f"Wrote {output}: {len(told.findings):,} findings, {len(told.moments):,} moments. It needs no network.")


@cli.command()
@warehouse_option
@click.argument("finding_id")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(warehouse: str, finding_id: str, form: str) -> None:
    """Explain a finding: its rule, how sure it is, its log lines word for word, and what would refute it.

    The beginning of the id is enough where no other id begins so.

    \b
    Examples
      election-replay sql --warehouse W "SELECT finding_id, summary FROM findings WHERE severity = 'critical'"
      election-replay explain --warehouse W 7ba16a76
    """
    from jobs.explain import explain as explained
    from jobs.explain import explanation

    told = explained(published(warehouse), finding_id)
    if form == "json":
        sys.stdout.write(json.dumps(told.as_json, default=cell, ensure_ascii=False, indent=1) + "\n")
        return
    for line in explanation(told):
        say(line)


@cli.command()
@warehouse_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=10000, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@spark_options
@click.pass_obj
def serve(debug: bool, warehouse: str, host: str, port: int, config: str | None, master: str | None) -> None:
    """Serve the published tables and views to BI tools and notebooks: JDBC, ODBC, HiveServer2.

    It serves the run that is published when it starts, until it is interrupted. Whoever may connect may do what
    Spark may do on this machine, so another address than this machine's own needs authentication.

    \b
    Example
      election-replay serve --warehouse /data/warehouse
      beeline -u jdbc:hive2://127.0.0.1:10000/default -e "SELECT * FROM current"
    """
    from jobs.serve import Endpoint, Server, class_path, newer_runs
    from jobs.warehouse import Warehouse

    endpoint, tables = Endpoint(host, port), Warehouse(warehouse)
    tables.last_run()
    server = Server(started(load(config), master, debug, endpoint.settings | class_path()), warehouse)
    say(f"Serving run {server.run['run_id']} at {endpoint.url} until interrupted; restart it to serve a newer run.")
    try:
        for run_id in newer_runs(tables, server.run["run_id"]):
            say(f"Run {run_id} is published: restart to serve it.")
    except KeyboardInterrupt:
        server.stop()
        say("Stopped.")


@cli.command()
@warehouse_option
@click.option("--port", default=8050, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
def dashboard(warehouse: str, port: int) -> None:
    """Show what is published in a browser: groups, lanes, findings with their log lines, runs.

    It needs no Spark and asks no other machine for anything; it listens on this machine only. It needs the extra
    packages of `pip install 'election-replay[dashboard]'`.

    \b
    Example
      election-replay dashboard --warehouse /data/warehouse
    """
    from jobs.warehouse import Warehouse

    try:
        from jobs.dashboard import dashboard as application
    except ModuleNotFoundError as error:
        raise JobError(f"{error.name} is not installed: pip install 'election-replay[dashboard]'") from None
    app = application(Warehouse(warehouse))
    say(f"Open http://127.0.0.1:{port}/ in a browser; Ctrl-C ends it.")
    app.run(host="127.0.0.1", port=port)


@cli.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--lines", is_flag=True, help="Show each event with its line number and what it says.")
@click.option("--top", default=15, show_default=True, help="How many shapes of ignored lines to show.")
@click.option("--zone", type=int, metavar="MINUTES", help="Minutes east of UTC, if not the system's own default.")
def inspect(files: Sequence[str], lines: bool, top: int, zone: int | None) -> None:
    """Show what the pipeline makes of log files: which lines mean what, and what it ignores.

    \b
    Examples
      election-replay inspect logs/C/nodes/N/logs/broker.log
      election-replay inspect --lines broker_default.log dledger.log.1.gz
    """
    from jobs.inspection import inspect as look

    for file in files:
        print_inspection(look(file, zone), lines, top)


@cli.command()
@click.option("--scenario", metavar="NAME", help="The story to play; --list names them all.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same logs, byte for byte.")
@click.option("--out", metavar="DIR", help="Landing zone to write to: logs and truth go to DIR/NAME-SEED/.")
@click.option("--watch", is_flag=True, help="Tell the story step by step, and explain what is new.")
@click.option("--judge", "judging", is_flag=True, help="Judge the logs without Spark and compare with the truth.")
@click.option("--list", "listing", is_flag=True, help="Name all scenarios and what happens in them.")
def simulate(scenario: str | None, seed: int, out: str | None, watch: bool, judging: bool, listing: bool) -> None:
    """Play an election in a world with known faults, and write the logs that its members would have written.

    Members, clocks, disks and the network are simulated; the rules are those that judge real logs, run forwards. A safe
    scenario has faults that the protocol must survive, a broken one a bug or an operator's error. truth.jsonl says who
    really led when, what was done, and which findings the logs prove.

    \b
    Examples
      election-replay simulate --list
      election-replay simulate --scenario dledger-isolated-leader --watch
      election-replay simulate --scenario dledger-old-copy --seed 7 --out worlds
      election-replay run --landing worlds --warehouse warehouse
    """
    from jobs.simulate import simulate as play
    from jobs.simulate import write

    if listing:
        print_scenarios()
        return
    if scenario is None or not (out or watch or judging):
        raise JobError("say what to play and what for: --scenario NAME with --out DIR, --watch or --judge; or --list")
    simulated = play(scenario, seed)
    if watch:
        say(f"{scenario}, seed {seed}: {simulated.scenario.meaning}")
        for line in simulated.story():
            say(line)
    if judging:
        print_score(simulated)
    if out:
        written = write(simulated, out)
        say(f"{len(written)} files in {written[-1].parent}; what really happened is in {written[-1]}")


def print_scenarios() -> None:
    """All scenarios, safe ones first."""
    from election_core.simulate.catalogue import SCENARIOS

    grid = Grid("scenario", "kind", "what happens", box=None, pad_edge=False, header_style="bold")
    for name, one in SCENARIOS.items():
        grid.add_row(name, "broken" if one.broken else "safe", one.meaning)
    (OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False)).print(grid)


def print_score(simulated: "Simulated") -> None:
    """The truth, the verdict on the logs, and where they differ. Raises :class:`JobError` if they do."""
    found = simulated.judged()
    say("What the logs prove:")
    for true in found.provable or ():
        say(f"  {true.rule}: {true.words}")
    say("What the judge says, by the logs alone:")
    for finding in found.claimed:
        say(f"  {finding.severity} {finding.rule}: {finding.summary}")
    for finding in found.false:
        say(f"FALSE CLAIM {finding.rule}: {finding.summary}")
    for true in found.missed:
        say(f"MISSED {true.rule}: {true.words}")
    if not found.perfect:
        raise JobError("the verdict is not the truth")


@cli.command()
@click.option("--markdown", is_flag=True, help="As a page, like docs/rules.md.")
@click.option("--warehouse", metavar="DIR", help="With an example of each rule from what is published there.")
def rules(markdown: bool, warehouse: str | None) -> None:
    """List every rule: what it finds, how bad that is, what decides it, and where the rule comes from.

    \b
    Examples
      election-replay rules
      election-replay rules --markdown --warehouse W
    """
    from jobs.rules_page import examples_of, page, plain

    examples = examples_of(published(warehouse)) if warehouse else {}
    for line in (page if markdown else plain)(examples):
        say(line)


def started(config: Config, master: str | None, debug: bool, more: Mapping[str, str] | None = None) -> "SparkSession":
    """The Spark session, with a line about it; ``more`` are settings of the command alone."""
    from jobs.progress import stage
    from jobs.session import spark_session

    with stage("spark") as report:
        spark = spark_session(
            "election-replay",
            master=master,
            shuffle_partitions=config.shuffle_partitions,
            quiet=not debug,
            more=more,
        )
        report(f"{spark.version} on {spark.sparkContext.master}", spark=spark.version)
    return spark


def plan(lines: Iterable[str]) -> None:
    """Say what there is to do."""
    for line in lines:
        tell(line)


def of_clusters(files: Sequence["LogFile"], clusters: Sequence[str]) -> list["LogFile"]:
    """The files of these clusters; all, if none is named."""
    return [file for file in files if not clusters or file.cluster in clusters]


def land_stage(spark: "SparkSession", landing: str, tables: Any, config: Config, clusters: Sequence[str] = ()) -> None:
    """Land, with a line about it."""
    from jobs.land import land as land_job
    from jobs.land import new_files
    from jobs.progress import rate, stage

    with stage("land", spark) as report:
        began = time.monotonic()
        done = land_job(spark, of_clusters(new_files(landing, tables, config), clusters), landing, tables, config)
        if done.batch is None:
            report("no new log file, and none has grown")
            return
        known(batch=done.batch)
        report(f"{done.files:,} new or grown files, {done.bytes_read / 1e6:,.1f} MB")
        report(rate(done.lines_total, time.monotonic() - began, "lines"))
        became = (
            f"{done.lines_event:,} events, {done.lines_ignored:,} ignored, {done.lines_quarantined:,} in quarantine"
        )
        report(became, **asdict(done))


def replay_stage(
    spark: "SparkSession",
    tables: Any,
    settings: Config,
    selection: "Selection | None" = None,
    *,
    publishing: bool = True,
) -> "Replay":
    """Replay, with a line about it."""
    from jobs.progress import rate, stage
    from jobs.publish import last_run
    from jobs.replay import EVERYTHING
    from jobs.replay import replay as replay_job

    with stage("replay", spark) as report:
        began = time.monotonic()
        done = replay_job(spark, tables, settings.listed(), selection or EVERYTHING, publishing=publishing)
        if not done.clusters:
            report("nothing to judge")
        else:
            report(f"{len(done.clusters):,} clusters", clusters=done.clusters)
            report(rate(done.events, time.monotonic() - began, "events"), events=done.events)
        known(run_id=(last_run(tables) or {}).get("run_id"))
        report(f"published as run {done.run_id}" if done.run_id else "nothing published")
    return done


def gates(tables: Any, done: "Replay | Outcome | None") -> bool:
    """Say what failed at the gates and which clusters are held back; whether a gate holds one back."""
    if done is None:
        return False
    complain(done.checks)
    if done.held:
        tell(f"Not published: the newest events of {', '.join(done.held)}", logging.WARNING, held=done.held)
    stops = any(check.stops for check in done.checks)
    if stops:
        from jobs.data_docs import data_docs

        if page := data_docs(tables, done.checks):
            tell(f"Data docs: {page}")
    return stops


def complain(checks: "Iterable[Check]") -> None:
    """Say what fails at the gates."""
    from jobs.validate import complaint

    for check in checks:
        for cluster, failed in check.failed.items():
            level = logging.ERROR if check.stops else logging.WARNING
            names = {"table": check.table, "expectation": check.expectation.name, "cluster": cluster}
            tell(complaint(check, cluster), level, rows_failed=failed, **names)


def leave(failed: bool) -> None:
    """End the command with the exit code of failed gates, if they did."""
    if failed:
        click.get_current_context().exit(GATE_FAILED)


def published(warehouse: str) -> "Published":
    """What is published in a warehouse folder."""
    from jobs.published import Published
    from jobs.warehouse import Warehouse

    return Published(Warehouse(warehouse))


def summary(warehouse: str) -> None:
    """What a person wants to know after a run, and what to type next."""
    from jobs.summary import summary as text

    found = published(warehouse)
    if for_machines():
        shown = ("run_id", "published_at", "batch", "clusters", "held", "counts", "code_version", "rules_version")
        tell("published", **{name: found.run[name] for name in shown})
        return
    for line in text(found, warehouse):
        say(line)


def say(line: str) -> None:
    """Print a line as it is, however long."""
    OUT.print(harmless(line), soft_wrap=True)


def day(text: str | None) -> date | None:
    """A day as typed. Raises :class:`JobError` for anything else."""
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        raise JobError(f"{text} is no day: write it like 2026-03-01") from None


def print_inspection(found: "Inspection", lines: bool, top: int) -> None:
    """One file: its events by kind, what is ignored by shape, and what could not be read."""
    from jobs.inspection import meaning, said

    say(f"{found.path}: {found.lines:,} lines, stream {found.stream}, {found.read_as}{came_in(found)}")
    kinds = Grid("events", "kind", "first line", "meaning", box=None, pad_edge=False, header_style="bold")
    for kind, count in found.kinds.most_common():
        kinds.add_row(f"{count:,}", f"[cyan]{kind}[/]", str(found.first_of_kind[kind]), meaning(kind))
    shapes = Grid("ignored", "example", "shape", box=None, pad_edge=False, header_style="bold")
    for shape, count in found.shapes.most_common(top):
        shapes.add_row(f"{count:,}", f"line {found.example[shape][0]}", escape(harmless(shape)))
    broken = Grid("in quarantine", "why", "text", box=None, pad_edge=False, header_style="bold red")
    for seen in found.quarantined[:top]:
        broken.add_row(f"line {seen.line_no}", escape(seen.reason or ""), escape(harmless(seen.text[:200])))
    console = Console(highlight=False, markup=True, width=None if OUT.is_terminal else WIDE)
    for grid in (kinds, shapes, broken):
        if grid.row_count:
            console.print(grid)
    if len(found.shapes) > top:
        say(f"({len(found.shapes) - top:,} more shapes of ignored lines: --top shows more)")
    if found.problem:
        say(f"damaged: {found.problem}")
    print_unread(found)
    for seen in found.events if lines else ():
        if seen.event is not None:
            say(f"{seen.line_no:>8} {seen.event.kind:<24} {said(seen.event)}")


def print_unread(found: "Inspection") -> None:
    """Why the lines of a file were not understood, and what they look like."""
    if found.misunderstood:
        say(found.misunderstood)
    for count, shape in found.unread:
        say(f"  {count:>5,} lines like {shape}")


def came_in(found: "Inspection") -> str:
    """What the lines of a file came in, if anything, and whose they are."""
    if not found.envelope:
        return ""
    nodes = [f"{node} ({count:,} lines)" for node, count in sorted(found.nodes.items()) if node]
    if not nodes:
        return f"; in envelopes ({found.envelope}) that name no node"
    return f"; in envelopes ({found.envelope}) of {', '.join(nodes[:20])}{' and others' if len(nodes) > 20 else ''}"


Rows = Sequence[tuple[Any, ...]]


def rows_in(answer: "pa.Table") -> Rows:
    """The rows of an answer; two columns may bear one name."""
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in answer.columns]
    return list(zip(*columns, strict=True))


def print_table(names: Sequence[str], rows: Rows) -> None:
    """For the eye."""
    grid = Grid(*names, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        grid.add_row(*("" if value is None else harmless(cell(value)) for value in row))
    console = OUT if OUT.is_terminal else Console(width=WIDE, markup=False, highlight=False)
    console.print(grid)
    console.print(f"({len(rows):,} rows)")


def print_csv(names: Sequence[str], rows: Rows) -> None:
    """For other programs: RFC 4180, with an empty field for null."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(["" if value is None else cell(value) for value in row] for row in rows)


def print_json(names: Sequence[str], rows: Rows) -> None:
    """For other programs: one array of objects."""
    found = [dict(zip(names, row, strict=True)) for row in rows]
    sys.stdout.write(json.dumps(found, default=cell, ensure_ascii=False, indent=1) + "\n")


FORMS = {"table": print_table, "csv": print_csv, "json": print_json}


def fail(message: str) -> int:
    """Say what went wrong; the exit code."""
    if for_machines():
        tell(message, logging.ERROR)
    else:
        ERR.print(f"error: {message}", soft_wrap=True)
    return 1


def readable(error: BaseException) -> str:
    """The one line of an error's text that says most: the last of a stack trace, else the first."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else lines[0]


def general_first(given: Sequence[str]) -> list[str]:
    """The words of a command line, with the options of every command before the command."""
    general: list[str] = []
    rest: list[str] = []
    words = iter(given)
    for word in words:
        if word == "--log-format":
            general += [word, *islice(words, 1)]
        else:
            (general if word == "--debug" or word.startswith("--log-format=") else rest).append(word)
    return general + rest


def main(args: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0 for success, 1 for an error, 2 for a wrong line, 3 for a failed gate."""
    given = list(sys.argv[1:] if args is None else args)
    debug = "--debug" in given
    log_as("text")
    try:
        return int(cli.main(general_first(given), prog_name="election-replay", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except BrokenPipeError:
        sys.stdout = None  # nobody reads on, so nothing is left to flush
        return 1
    except (click.Abort, KeyboardInterrupt):
        return fail("stopped; run the same command again to go on")
    except JobError as error:
        return fail(str(error))
    except Exception as error:  # the last resort: a line instead of a stack trace
        if debug:
            raise
        return fail(f"{readable(error)} (a fault of the pipeline or of the machine: --debug shows more)")


if __name__ == "__main__":
    sys.exit(main())
