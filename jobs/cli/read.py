"""The commands that read published tables."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from election_replay.jobs.cli.ending import published
from election_replay.jobs.cli.log import OUT
from election_replay.jobs.cli.options import Command, form_option, landing_option, run_option, warehouse_option
from election_replay.jobs.cli.output import (
    FORMS,
    TABLE_ROWS,
    as_json,
    ignoring_broken_pipe,
    print_changes,
    print_line,
    print_safe_csv,
    rows_of,
    write,
    write_file,
)
from election_replay.jobs.reading.words import end_moment, moment

if TYPE_CHECKING:
    from election_replay.jobs.reading.incident import Incident
    from election_replay.jobs.reading.published import Published


@click.command()
@warehouse_option
@click.argument("query")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("--safe-csv", is_flag=True, help="Write CSV texts so that no spreadsheet reads them as formulas: '=1+1.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    metavar="ROWS",
    help=f"Print at most this many rows; 0: all. Default: {TABLE_ROWS:,} for table, all for csv and json.",
)
@run_option
@click.option("--before", metavar="ID", help="The run that `findings_before` shows; default: the previous one.")
def sql(
    warehouse: str, query: str, form: str, safe_csv: bool, limit: int | None, run_id: str | None, before: str | None
) -> None:
    """Query the published tables in SQL.

    \b
    Examples
      election-replay sql --warehouse W "SELECT * FROM findings ORDER BY start_time"
      election-replay sql --warehouse W "SELECT cluster, count(*) FROM terms GROUP BY ALL" --format csv
      election-replay sql --warehouse W "SELECT * FROM quarantine" --safe-csv
      election-replay sql --warehouse W "SELECT * FROM current" --run before
      election-replay sql --warehouse W "SELECT change, severity, rule, summary FROM findings_changed"
      election-replay sql --warehouse W "SHOW TABLES"
    """
    schema, batches = published(warehouse, run_id, before).stream(query)
    with ignoring_broken_pipe():
        (print_safe_csv if safe_csv else FORMS[form])(schema.names, rows_of(batches), limit)


def incident_options(command: Command) -> Command:
    """Add the options that choose a group and an interval of time."""
    for option in (
        click.option(
            "--clock",
            type=click.Choice(["adjusted", "raw"]),
            default="adjusted",
            show_default=True,
            help="raw: print the times of a clock that is proven wrong as its node logged them.",
        ),
        click.option("--to", "until", metavar="TIME", help="Only up to this time; of a day, to its end."),
        click.option(
            "--from", "since", metavar="TIME", help="Only from this time on, for example 2026-03-01T05:00 (UTC)."
        ),
        click.option(
            "--finding", metavar="ID", help="Show the group and the time of this finding, and some seconds around it."
        ),
        click.option("--group", help="Replica group: broker name, DLedger group, controller."),
        click.option("--cluster", help="The cluster's folder name."),
        warehouse_option,
    ):
        command = option(command)
    return command


def chosen_incident(
    warehouse: str,
    cluster: str | None = None,
    group: str | None = None,
    finding: str | None = None,
    since: str | None = None,
    until: str | None = None,
    clock: str = "adjusted",
) -> "tuple[Published, Incident]":
    """Return the published tables and the incident that the options choose. Raises :class:`click.UsageError`."""
    from election_replay.jobs.reading.explain import the_finding
    from election_replay.jobs.reading.incident import around
    from election_replay.jobs.reading.incident import incident as found

    tables = published(warehouse)
    begin, end = moment(since), end_moment(until)
    if finding:
        named = the_finding(tables, finding)
        cluster, group = named["cluster"], named["replica_group"]
        first, last = around(named)
        begin, end = begin or first, end or last
    if not cluster or not group:
        raise click.UsageError("give --cluster and --group, or --finding")
    return tables, found(tables, cluster, group, begin, end, raw=clock == "raw")


@click.command()
@incident_options
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "trace"]),
    default="text",
    show_default=True,
    help="trace: JSON for Perfetto, and other viewers of Chromium's trace events.",
)
@click.option(
    "--lines",
    is_flag=True,
    help="Print the log lines of all members, merged, with one colour for each node (or NO_COLOR).",
)
@landing_option(required=False)
@click.option("--new", is_flag=True, help="With --lines, print only lines of a shape that was never printed before.")
def incident(form: str, lines: bool, landing: str | None, new: bool, **asked: Any) -> None:
    """Print what happened in one replica group. It has a story, lanes, findings with log lines, and a timeline.

    Times are UTC. A clock that is proven wrong is corrected, and its lane says by how much. --lines prints the
    log lines of all members in that order instead: those that the warehouse keeps, or with --landing all lines of
    the files.

    \b
    Example
      election-replay incident --warehouse W --cluster payments --group broker-a --from 2026-03-01T05:00
      election-replay incident --warehouse W --cluster payments --group broker-a --format trace > incident.json
      election-replay incident --warehouse W --finding 7ba16a76 --lines --landing logs
      election-replay incident --warehouse W --finding 7ba16a76 --lines --landing logs --new
    """
    from election_replay.jobs.reading.votes import votes_of
    from election_replay.jobs.showing.incident_text import text
    from election_replay.jobs.showing.raw_lines import lines_text, raw_lines
    from election_replay.jobs.showing.trace import trace

    tables, shown = chosen_incident(**asked)
    if lines or new:
        if new and not landing:
            raise click.UsageError("--new needs --landing: what is new is told from all lines of the files")
        with ignoring_broken_pipe():
            for raw in lines_text(raw_lines(tables, shown, landing), new_alone=new):
                OUT.print(raw, soft_wrap=True)
        return
    if form == "trace":
        write(as_json(trace(shown, votes_of(tables, shown))))
        return
    for line in text(shown):
        print_line(line)


@click.command()
@warehouse_option
@click.option("--out", metavar="FILE", help="Write the metrics to FILE in one step instead of printing them.")
def metrics(warehouse: str, out: str | None) -> None:
    """Print metrics of the published state as OpenMetrics.

    They cover rows, lines, findings, held clusters, failing gates, and each source's last line.

    \b
    Example
      election-replay metrics --warehouse W --out /var/lib/node_exporter/election_replay.prom
    """
    from election_replay.jobs.reading.metrics import metrics as text

    content = "\n".join(text(published(warehouse))) + "\n"
    if out is None:
        write(content)
        return
    made = Path(f"{out}.new")
    made.write_text(content, encoding="utf-8")
    made.replace(out)


@click.command()
@incident_options
@click.option("-o", "--output", required=True, metavar="FILE", help="The HTML file to write.")
def report(output: str, **asked: Any) -> None:
    """Write one incident as a single HTML file. Attach it to a post-mortem.

    \b
    Example
      election-replay report --warehouse W --cluster payments --group broker-a -o incident.html
    """
    from election_replay.jobs.showing.report import page

    _, shown = chosen_incident(**asked)
    write_file(output, page(shown))
    print_line(
        f"Wrote {output}: {len(shown.findings):,} findings, {len(shown.moments):,} moments. It needs no network."
    )


@click.command()
@warehouse_option
@click.argument("finding_id")
@form_option
def explain(warehouse: str, finding_id: str, form: str) -> None:
    """Explain a finding: its rule, its certainty, its log lines. It also says what would refute the finding.

    The beginning of the id is enough if no other id begins with it.

    \b
    Examples
      election-replay sql --warehouse W "SELECT finding_id, summary FROM findings WHERE severity = 'critical'"
      election-replay explain --warehouse W 7ba16a76
    """
    from election_replay.jobs.reading.explain import explain as explained
    from election_replay.jobs.showing.explanation_text import explanation_text

    shown = explained(published(warehouse), finding_id)
    if form == "json":
        sys.stdout.write(as_json(shown.as_json))
        return
    for line in explanation_text(shown):
        print_line(line)


@click.command()
@warehouse_option
@click.argument("before", default="before")
@click.argument("after", default="last")
@form_option
def diff(warehouse: str, before: str, after: str, form: str) -> None:
    """Compare two published runs. It lists findings that appeared, vanished or changed, and counts other changed rows.

    Name a run by its id or the beginning of one (`gold/runs` lists them), by `last`, or by `before` for the one before
    the last. Without arguments, the command compares these two.

    \b
    Examples
      election-replay diff --warehouse W
      election-replay diff --warehouse W 20260301T0200 last
    """
    from election_replay.jobs.reading.changes import changes
    from election_replay.jobs.warehouse.warehouse import Warehouse

    print_changes(changes(Warehouse(warehouse), before, after), form)


@click.command()
@warehouse_option
@click.argument("name", required=False)
@click.option("--translate", is_flag=True, help="Read a text from standard input and replace ids with names.")
def whois(warehouse: str, name: str | None, translate: bool) -> None:
    """Show what an id, address or name stands for. It is a member, a group, a client, a finding or a run.

    The beginning of an id is enough. --translate replaces each id and address of a member in a text with the name of
    the folder of its logs.

    \b
    Examples
      election-replay whois --warehouse W 6c0e5a2d263cd46c
      election-replay whois --warehouse W 10.0.0.7:10911
      kubectl logs etcd-0 | election-replay whois --warehouse W --translate
    """
    from election_replay.jobs.reading.whois import names_in_use, translated
    from election_replay.jobs.reading.whois import whois as who_is

    if translate == bool(name):
        raise click.UsageError("give an id or a name, or --translate and a text on standard input")
    tables = published(warehouse)
    if name:
        for line in who_is(tables, name):
            print_line(line)
        return
    names = names_in_use(tables)
    with ignoring_broken_pipe():
        for line in sys.stdin:
            write(translated(line, names))
