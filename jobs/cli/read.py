"""The commands that read what is published."""

import sys
from pathlib import Path

import click

from jobs import JobError
from jobs.cli.ending import published
from jobs.cli.options import warehouse_option
from jobs.cli.output import FORMS, as_json, print_safe_csv, rows_in, say, write
from jobs.reading.words import moment


@click.command()
@warehouse_option
@click.argument("query")
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
@click.option("--safe-csv", is_flag=True, help="CSV whose texts no spreadsheet takes for formulas: '=1+1.")
def sql(warehouse: str, query: str, form: str, safe_csv: bool) -> None:
    """Ask the published tables a question in SQL.

    \b
    Examples
      election-replay sql --warehouse W "SELECT * FROM findings ORDER BY start_time"
      election-replay sql --warehouse W "SELECT cluster, count(*) FROM terms GROUP BY ALL" --format csv
      election-replay sql --warehouse W "SELECT * FROM quarantine" --safe-csv
      election-replay sql --warehouse W "SHOW TABLES"
    """
    answer = published(warehouse).query(query)
    (print_safe_csv if safe_csv else FORMS[form])(answer.column_names, rows_in(answer))


@click.command()
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
    from jobs.reading.incident import incident as found
    from jobs.showing.incident_text import text

    for line in text(found(published(warehouse), cluster, group, moment(since), moment(until))):
        say(line)


@click.command()
@warehouse_option
@click.option("--out", metavar="FILE", help="Write the text there, all at once, instead of printing it.")
def metrics(warehouse: str, out: str | None) -> None:
    """Tell what is published as OpenMetrics: rows, lines, findings, held clusters, failing gates, last lines.

    \b
    Example
      election-replay metrics --warehouse W --out /var/lib/node_exporter/election_replay.prom
    """
    from jobs.reading.metrics import metrics as text

    told = "\n".join(text(published(warehouse))) + "\n"
    if out is None:
        write(told)
        return
    made = Path(f"{out}.new")
    made.write_text(told, encoding="utf-8")
    made.replace(out)


@click.command()
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
    from jobs.reading.incident import incident as found
    from jobs.showing.report import page

    told = found(published(warehouse), cluster, group, moment(since), moment(until))
    try:
        Path(output).write_text(page(told), encoding="utf-8")
    except OSError as error:
        raise JobError(f"cannot write {output}: {error.strerror}") from None
    say(f"Wrote {output}: {len(told.findings):,} findings, {len(told.moments):,} moments. It needs no network.")


@click.command()
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
    from jobs.reading.explain import explain as explained
    from jobs.showing.explanation_text import explanation

    told = explained(published(warehouse), finding_id)
    if form == "json":
        sys.stdout.write(as_json(told.as_json))
        return
    for line in explanation(told):
        say(line)
