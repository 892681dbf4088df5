"""Erases rows of judged tables that no kept run names: those of former runs and of killed replays."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs.warehouse.pointer import CANDIDATE, OF_GROUP, PUBLISHED, note_kept, pointer_rows
from election_replay.jobs.warehouse.tidying import UNCOMMITTED_HOURS
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.model import sql_text

BATCH_ROWS = 10_000

STALE = (
    "SELECT run_id, count(*) AS n FROM every_row ANTI JOIN named USING (cluster, replica_group, run_id) GROUP BY run_id"
)
STAYING = "SELECT * FROM every_row SEMI JOIN named USING (cluster, replica_group, run_id)"


def forget_runs(warehouse: Warehouse, kept: Iterable[Mapping[str, Any]], *, dry_run: bool) -> dict[str, int]:
    """Erase the rows that no kept run names, and return their number by table. ``dry_run`` changes nothing.

    Rows younger than :data:`UNCOMMITTED_HOURS` stay: a running replay may have written them and not named them yet.
    """
    named = [pointer_rows(warehouse, PUBLISHED, run["versions"][PUBLISHED]) for run in kept]
    named.append(pointer_rows(warehouse, CANDIDATE, warehouse.version(CANDIDATE)))
    keys = pa.concat_tables(named).select(OF_GROUP).group_by([*OF_GROUP]).aggregate([])
    if not dry_run:
        note_kept(warehouse, min(run["published_at"] for run in kept))
    before = f"{datetime.now(UTC) - timedelta(hours=UNCOMMITTED_HOURS):%Y%m%dT%H%M%S}"
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("named", keys)
        erased = {
            name: erase_stale(database, warehouse, name, before, dry_run=dry_run)
            for name in TABLES
            if TABLES[name].by_run
        }
    return {name: rows for name, rows in erased.items() if rows}


def erase_stale(
    database: duckdb.DuckDBPyConnection, warehouse: Warehouse, name: str, before: str, *, dry_run: bool
) -> int:
    """Erase the rows of runs with ids less than ``before`` that no ``named`` key names, and return their number."""
    if warehouse.version(name) is None:
        return 0
    rows, schema = warehouse.dataset(name), TABLES[name].arrow_schema()
    old = pc.field("run_id") < before
    if not rows.scanner(["run_id"], filter=old).head(1).num_rows:  # the usual case, and faster than asking the database
        return 0
    database.register("every_row", rows.scanner([*OF_GROUP], filter=old).to_reader())
    stale = database.sql(STALE).fetchall()
    if stale and not dry_run:
        runs = [run for run, _ in stale]
        of_runs = pc.field("run_id").isin(pa.array(runs, pa.string()))
        database.register("every_row", rows.scanner(schema.names, filter=of_runs).to_reader())
        batches = (batch.cast(schema) for batch in database.sql(STAYING).to_arrow_reader(BATCH_ROWS))
        where = f"run_id IN ({', '.join(map(sql_text, runs))})"
        staying = pa.RecordBatchReader.from_batches(schema, batches)
        warehouse.overwrite(name, staying, where)
    return sum(count for _, count in stale)
