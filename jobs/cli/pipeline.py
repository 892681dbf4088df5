"""The commands that write to a warehouse: ``run`` and its steps, ``upkeep`` and ``forget``, and ``plan``."""

import logging
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING

import click

from election_replay.jobs import WrongCommand
from election_replay.jobs.cli.ending import gates, leave, log_failed_checks, not_read, summary
from election_replay.jobs.cli.extras import data_docs_wanted
from election_replay.jobs.cli.log import known, log_event
from election_replay.jobs.cli.options import (
    catalog_options,
    cluster_option,
    config_option,
    database_option,
    day,
    dry_run_option,
    engine_option,
    form_option,
    landing_option,
    settings_in_force,
    spark_options,
    warehouse_option,
)
from election_replay.jobs.cli.output import print_changes, print_lines
from election_replay.jobs.cli.stages import (
    catalog_stage,
    engine_of,
    is_little,
    land_stage,
    land_table_stage,
    of_clusters,
    replay_stage,
)
from election_replay.jobs.reading.words import moment

if TYPE_CHECKING:
    from election_replay.jobs.landing.landing_zone import Skipped

MOST_DAYS = 36_500
"""The largest number of days of an option: a hundred years, in effect for ever."""


@click.command()
@landing_option()
@warehouse_option
@spark_options
@engine_option
@dry_run_option
@database_option
@catalog_options()
@click.pass_obj
def run(
    debug: bool,
    landing: str,
    warehouse: str,
    config: str | None,
    master: str | None,
    engine: str,
    dry_run: bool,
    database: str | None,
    catalog: str,
    schema: str | None,
) -> None:
    """Land new log lines, replay them, and publish the result.

    Each run lands only what is new; if nothing is new, it changes nothing. A cluster whose tables fail a gate keeps its
    published state, and the exit code is 3. If a file or folder cannot be read, everything else is processed, the next
    run tries it again, and the exit code is 4.

    \b
    Example
      election-replay run --landing /data/logs --warehouse /data/warehouse
      election-replay run --landing /data/logs --warehouse /data/warehouse --engine local
    """
    from election_replay.jobs.landing.new_files import new_files
    from election_replay.jobs.replaying.nothing_new import nothing_landed, nothing_new
    from election_replay.jobs.warehouse.warehouse import Warehouse

    if schema and engine != "spark":
        raise WrongCommand("--schema is for Spark's catalogues: leave it out, or take --engine spark")
    chosen, tables = settings_in_force(config, master), Warehouse(warehouse)
    settings = chosen.config
    passed_over: list[Skipped] = []
    files = new_files(landing, tables, settings, passed_over.append)
    if dry_run:
        from election_replay.jobs.cli.dry_run import judging_plan, landing_plan

        judging = judging_plan(tables, settings.inventoried(), landing=files)
        print_lines(chain(landing_plan(files, passed_over, landing, settings), judging))
        return
    landed = done = None
    with tables.pinned_snapshot():
        idle = not (files or nothing_landed(tables)) and nothing_new(tables, settings.inventoried())
    if not idle:
        with engine_of(engine, settings, master, debug, short_lived=is_little(tables, files)) as moving:
            landed = land_stage(moving, files, landing, tables, settings)
            done = replay_stage(moving, tables, chosen)
            if schema and done.run_id:
                catalog_stage(moving, warehouse, catalog, schema)
    else:
        log_event("Nothing new has come since the last run: nothing was changed.")
    if tables.published():
        summary(tables, warehouse, database)
    missed = not_read(landed, passed_over)
    leave(failed=gates(tables, done), unread=missed)


@click.command()
@landing_option(required=False)
@click.option(
    "--from-table",
    metavar="NAME",
    help="Read the new rows of a Delta table of raw lines, not files; `tables` in the settings describes it.",
)
@warehouse_option
@spark_options
@engine_option
@cluster_option
@dry_run_option
@click.pass_obj
def land(
    debug: bool,
    landing: str | None,
    from_table: str | None,
    warehouse: str,
    config: str | None,
    master: str | None,
    engine: str,
    cluster: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Read new log lines into the bronze and silver tables. It judges nothing.

    If a file or folder cannot be read, everything else is landed, the next landing tries it again, and the exit code
    is 4.

    \b
    Examples
      election-replay land --landing /data/logs --warehouse /data/warehouse
      election-replay land --landing /data/logs --warehouse /data/warehouse --cluster payments
      election-replay land --from-table raw_lines --warehouse /data/warehouse
    """
    from election_replay.jobs.landing.new_files import new_files
    from election_replay.jobs.warehouse.warehouse import Warehouse

    if from_table:
        if cluster or dry_run:
            raise WrongCommand("--from-table lands all new rows: leave out --cluster and --dry-run")
        settings, tables = settings_in_force(config, master).config, Warehouse(warehouse)
        with engine_of(engine, settings, master, debug) as moving:
            leave(unread=not_read(land_table_stage(moving, from_table, tables, settings), []))
        return
    if not landing:
        raise WrongCommand("give --landing DIR, or --from-table NAME")
    settings, tables = settings_in_force(config, master).config, Warehouse(warehouse)
    passed_over: list[Skipped] = []
    files = of_clusters(new_files(landing, tables, settings, passed_over.append), cluster)
    landed = None
    if dry_run:
        from election_replay.jobs.cli.dry_run import landing_plan

        print_lines(landing_plan(files, passed_over, landing, settings))
        return
    if files:
        with engine_of(engine, settings, master, debug, short_lived=is_little(tables, files)) as moving:
            landed = land_stage(moving, files, landing, tables, settings)
    else:
        log_event("No new log file, and none has grown: nothing was changed.")
    leave(unread=not_read(landed, passed_over))


@click.command("plan")
@warehouse_option
@config_option()
@cluster_option
@click.option("--from-events", is_flag=True, help="Read all events again instead of the checkpoints of earlier nights.")
@form_option
def plan_replay(warehouse: str, config: str | None, cluster: tuple[str, ...], from_events: bool, form: str) -> None:
    """Show which findings a replay would add, remove or change. It changes nothing.

    Use it before a new release, whose rules judge everything again, and before new settings. Clusters that you name are
    always judged again. The command copies the warehouse (data files as hard links), and the local engine judges it.

    \b
    Examples
      election-replay plan --warehouse /data/warehouse
      election-replay plan --warehouse /data/warehouse --config conf/new.yaml --cluster payments
    """
    from election_replay.jobs.engines.local_engine import LocalEngine
    from election_replay.jobs.plan import plan as planned
    from election_replay.jobs.replaying.nothing_new import Selection
    from election_replay.jobs.settings.in_force import in_force

    inventory = in_force(config, None).config.inventoried()
    with closing(LocalEngine()) as engine:
        found = planned(engine, warehouse, inventory, Selection(cluster or None, from_events=from_events))
    print_changes(found, form, "A replay would do nothing: all that is landed is judged by these rules and settings.")


@click.command()
@warehouse_option
@spark_options
@engine_option
@cluster_option
@click.option("--from", "since", metavar="NIGHT", help="Only clusters with events on this day (UTC) or later.")
@click.option("--to", "until", metavar="NIGHT", help="Only clusters with events on this day (UTC) or earlier.")
@click.option("--from-events", is_flag=True, help="Read all events again instead of the checkpoints of earlier nights.")
@click.option("--unpublished", is_flag=True, help="Write the tables without publishing them; `publish` does that.")
@dry_run_option
@click.pass_obj
def replay(
    debug: bool,
    warehouse: str,
    config: str | None,
    master: str | None,
    engine: str,
    cluster: tuple[str, ...],
    since: str | None,
    until: str | None,
    from_events: bool,
    unpublished: bool,
    dry_run: bool,
) -> None:
    """Judge the landed events and publish the result.

    Clusters selected by --cluster, --from or --to are judged again even if nothing is new; a cluster is always judged
    as a whole. A cluster whose tables fail a gate keeps its published state, and the exit code is 3. With
    --unpublished the command only names it: `validate` is the step that fails, and `publish` publishes the others.

    \b
    Examples
      election-replay replay --warehouse /data/warehouse
      election-replay replay --warehouse /data/warehouse --cluster payments --from 2026-03-01 --to 2026-03-03
    """
    from election_replay.jobs.replaying.nothing_new import EVERYTHING, Selection, nothing_new
    from election_replay.jobs.warehouse.warehouse import Warehouse

    chosen, tables = settings_in_force(config, master), Warehouse(warehouse)
    settings = chosen.config
    selection = Selection(cluster or None, day(since), day(until), from_events)
    known_already = nothing_new(tables, settings.inventoried()) and selection == EVERYTHING
    if dry_run:
        from election_replay.jobs.cli.dry_run import judging_plan

        print_lines(judging_plan(tables, settings.inventoried(), selection))
        return
    if known_already:
        done = None
        log_event("Nothing was landed since the last run: nothing was changed.")
    else:
        with engine_of(engine, settings, master, debug, short_lived=is_little(tables, ())) as moving:
            done = replay_stage(moving, tables, chosen, selection, publishing=not unpublished)
    if tables.published() and not unpublished:
        summary(tables, warehouse)
    failed = gates(tables, done)
    leave(failed=failed and not unpublished)


@click.command()
@warehouse_option
@click.option("--layer", multiple=True, type=click.Choice(["bronze", "silver", "gold"]), help="Default: all.")
@cluster_option
@click.option("--as-of", metavar="TIME", help="Warn about sources whose last line is 26 hours older than this.")
@click.option("--new", is_flag=True, help="Check only what the published run does not show yet.")
@click.option("--docs/--no-docs", default=True, show_default=True, help="Write data docs as HTML pages.")
def validate(
    warehouse: str, layer: tuple[str, ...], cluster: tuple[str, ...], as_of: str | None, new: bool, docs: bool
) -> None:
    """Check the newest tables against their expectations. The exit code is 3 if a gate fails.

    The results are rows of gold.validations, and Great Expectations pages in WAREHOUSE/data_docs. The Great
    Expectations project is WAREHOUSE/gx: the command also runs validation definitions that you add there.

    \b
    Examples
      election-replay validate --warehouse /data/warehouse
      election-replay validate --warehouse /data/warehouse --layer gold --cluster payments
    """
    from election_replay.jobs.validate import validate as validate_job
    from election_replay.jobs.warehouse.warehouse import Warehouse

    wanted = data_docs_wanted(docs)
    done = validate_job(Warehouse(warehouse), layer, cluster or None, moment(as_of), new=new, docs=wanted)
    log_failed_checks(done.checks)
    held = sum(check.holds for check in done.checks)
    text = (
        f"{held:,} of {len(done.checks):,} expectations of {len(done.tables)} tables hold; "
        f"validation {done.validation_id}"
    )
    log_event(text, validation_id=done.validation_id, expectations=len(done.checks), held=held)
    if done.page:
        log_event(f"Data docs: {done.page}")
    for name in done.failed:
        log_event(f"failed {name}: a validation definition of your own in {warehouse}/gx", logging.ERROR)
    leave(failed=bool(done.failed) or any(check.stops for check in done.checks))


@click.command()
@warehouse_option
@database_option
def publish(warehouse: str, database: str | None) -> None:
    """Publish what `replay --unpublished` wrote. It leaves out clusters whose tables fail a gate.

    \b
    Example
      election-replay publish --warehouse /data/warehouse
      election-replay publish --warehouse /data/warehouse --database /data/election_replay.duckdb
    """
    from election_replay.jobs.publish import publish as publish_job
    from election_replay.jobs.publishing.runs import unpublished_run
    from election_replay.jobs.warehouse.warehouse import Warehouse

    tables = Warehouse(warehouse)
    judged = unpublished_run(tables)
    done = publish_job(tables, judged) if judged else None
    if done:
        known(run_id=done.run_id)
    else:
        log_event("Nothing waits to be published: nothing was changed.")
    summary(tables, warehouse, database)
    leave(failed=gates(tables, done))


@click.command()
@warehouse_option
@click.option(
    "--keep-days",
    type=click.IntRange(0, MOST_DAYS),
    default=30,
    show_default=True,
    help="How long earlier runs stay readable; the newest always does.",
)
@click.option(
    "--forget-bronze-after",
    type=click.IntRange(0, MOST_DAYS),
    metavar="DAYS",
    help="Delete lines of landings that were published longer ago; proofs of findings stay. Default: never.",
)
@dry_run_option
def upkeep(warehouse: str, keep_days: int, forget_bronze_after: int | None, dry_run: bool) -> None:
    """Join small files, and remove files that no published run needs.

    --forget-bronze-after deletes the text of old lines, and old rejected lines. Lines that facts name stay, so that
    findings can quote them. Events and the ledger of files stay, so that everything can be judged again. Earlier runs
    show the lines until --keep-days drops these runs.

    \b
    Examples
      election-replay upkeep --warehouse /data/warehouse --dry-run
      election-replay upkeep --warehouse /data/warehouse --keep-days 7
      election-replay upkeep --warehouse /data/warehouse --forget-bronze-after 90
    """
    from election_replay.jobs.upkeep import upkeep as upkeep_job
    from election_replay.jobs.warehouse.warehouse import Warehouse

    would = "would be " if dry_run else ""
    for tidied in upkeep_job(Warehouse(warehouse), keep_days, forget_after=forget_bronze_after, dry_run=dry_run):
        work = f"{tidied.joined:,} {would}joined, {tidied.removed:,} old ones {would}removed"
        if tidied.forgotten:
            rows = "lines of old landings" if tidied.table == "log_lines" else "rows of former runs"
            work += f", {tidied.forgotten:,} {rows} {would}forgotten"
        text = f"{tidied.table}: {tidied.files:,} files, " + (
            "left alone: not all published" if tidied.left_alone else work
        )
        log_event(
            text, table=tidied.table, files=tidied.files, joined=tidied.joined, removed=tidied.removed, dry_run=dry_run
        )


@click.command()
@warehouse_option
@click.option("--cluster", required=True, help="The cluster to erase.")
@dry_run_option
def forget(warehouse: str, cluster: str, dry_run: bool) -> None:
    """Erase a cluster from every table, and publish what is left.

    Move its folder out of the landing zone first, or the next run lands it again. Files that earlier runs need still
    hold the cluster until `upkeep --keep-days` drops these runs. `upkeep --keep-days 0` drops them at once, except
    files younger than a day. Reports, DuckDB files and data docs do not change: make them again.

    \b
    Examples
      election-replay forget --warehouse /data/warehouse --cluster payments --dry-run
      election-replay forget --warehouse /data/warehouse --cluster payments
    """
    from election_replay.jobs.forget import forget as forget_job
    from election_replay.jobs.warehouse.warehouse import Warehouse

    would = "would be " if dry_run else ""
    for table, rows in forget_job(Warehouse(warehouse), cluster, dry_run=dry_run).items():
        log_event(f"{table}: {rows:,} rows {would}erased", table=table, rows=rows, dry_run=dry_run)
