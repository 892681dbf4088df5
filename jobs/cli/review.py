"""``review``: mark findings, list the marks, and export a finding as a regression case."""

import tempfile
from contextlib import closing
from pathlib import Path

import click

from election_replay.jobs.cli.ending import published
from election_replay.jobs.cli.options import warehouse_option
from election_replay.jobs.cli.output import FORMS, ignoring_broken_pipe, print_line, rows_of
from election_replay.jobs.cli.stages import PRELOAD

LIST = (
    "SELECT finding_id, state, ticket, note, reviewer, reviewed_at, cluster, replica_group, rule, found FROM reviewed"
)


@click.group()
def review() -> None:
    """Mark findings as seen, false alarms or tickets. The marks have their own table.

    \b
    Examples
      election-replay review mark --warehouse W 7ba16a76 --as false_alarm --note "the clock was set by hand"
      election-replay review list --warehouse W
      election-replay review export --warehouse W 7ba16a76 --out case-7ba16a76
    """


@review.command("mark")
@warehouse_option
@click.argument("finding_id")
@click.option("--as", "state", required=True, help="seen, false_alarm, ticket, or open to withdraw a mark.")
@click.option("--ticket", metavar="NAME", help="The ticket for this finding.")
@click.option("--note", metavar="TEXT", help="A note on the mark.")
@click.option("--by", "reviewer", metavar="NAME", help="The reviewer; default: the user of this session.")
def review_mark(
    warehouse: str, finding_id: str, state: str, ticket: str | None, note: str | None, reviewer: str | None
) -> None:
    """Mark a finding. A later mark replaces an earlier one, which stays in the table.

    \b
    Example
      election-replay review mark --warehouse W 7ba16a76 --as ticket --ticket OPS-4711
    """
    from election_replay.jobs.review import mark
    from election_replay.jobs.warehouse.warehouse import Warehouse

    row = mark(Warehouse(warehouse), finding_id, state.replace("-", "_"), ticket, note, reviewer)
    print_line(
        f"{row['rule']} {row['finding_id']} of {row['cluster']} / {row['replica_group']} is marked: {row['state']}."
    )


@review.command("list")
@warehouse_option
@click.option("--format", "form", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True)
def review_list(warehouse: str, form: str) -> None:
    """List the current marks.

    \b
    Example
      election-replay review list --warehouse W --format csv
    """
    schema, batches = published(warehouse).stream(LIST)
    with ignoring_broken_pipe():
        FORMS[form](schema.names, rows_of(batches), None)


@review.command("export")
@warehouse_option
@click.argument("finding_id")
@click.option("--out", "out", required=True, metavar="DIR", help="The folder to create.")
@click.option("--note", metavar="TEXT", help="Why the case is kept; written to case.json.")
def review_export(warehouse: str, finding_id: str, out: str, note: str | None) -> None:
    """Write a regression case: the fewest lines that still show a finding, with pseudonyms for addresses.

    The command judges the case once more before it ends. Host names have no recognisable form: read the lines before
    you pass them on.

    \b
    Example
      election-replay review export --warehouse W 7ba16a76 --out case-7ba16a76
    """
    from election_replay.jobs.engines.local_engine import LocalEngine
    from election_replay.jobs.look import look
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.review import case_of, export, found_again
    from election_replay.jobs.settings.config import Config
    from election_replay.jobs.warehouse.warehouse import Warehouse

    case = case_of(published(warehouse), finding_id)
    files = export(case, note, Path(out))
    print_line(f"Wrote {len(case.lines):,} of {case.lines_before:,} lines in {len(files):,} files below {out}.")
    with (
        tempfile.TemporaryDirectory(prefix="election-replay-case-") as scratch,
        closing(LocalEngine(cores=1, preload=PRELOAD)) as engine,
    ):
        tables = Warehouse(f"{scratch}/warehouse")
        look(engine, out, tables, Config(), Path(scratch))
        again = [*found_again(Published(tables).rows("SELECT rule, severity FROM findings"), case.finding)]
    if again:
        print_line("Read and judged again, the case shows the finding.")
    else:
        print_line(
            "Read and judged again, the case does not show the finding: the form of its addresses matters to it."
        )
