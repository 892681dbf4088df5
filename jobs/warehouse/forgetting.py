"""Erases lines of old landings, except those that facts name, which a verdict may still need."""

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from election_replay.jobs.warehouse.table_sets import FACT_TABLES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LINES, REJECTED = "log_lines", "quarantine"
BATCH_ROWS = 10_000

EVENTS_OF_FACTS = " UNION ".join(
    f"SELECT cluster, {proof} AS event_id FROM {table}"  # noqa: S608 - our own
    for table in FACT_TABLES
    for proof in ("since_event", "until_event", "unnest(evidence)")
)
"""SELECT of the (cluster, event_id) pairs that facts name: evidence of findings comes from these."""

KEPT_LINES = f"SELECT * FROM lines SEMI JOIN ({EVENTS_OF_FACTS}) USING (cluster, event_id)"  # noqa: S608 - our own
"""SELECT of the rows of ``lines`` that stay."""


def register_facts(warehouse: Warehouse, database: duckdb.DuckDBPyConnection) -> None:
    """Register all facts in ``database``; a table that does not exist yet is empty."""
    for name in FACT_TABLES:
        known = warehouse.version(name) is not None
        database.register(name, warehouse.dataset(name) if known else TABLES[name].arrow_schema().empty_table())


def forgettable(warehouse: Warehouse, last: int) -> int:
    """Return how many rows :func:`forget_lines` would erase of landings up to ``last``."""
    found = 0
    since = warehouse.forgotten()
    if last <= since:
        return found
    chosen = (ds.field("batch") > since) & (ds.field("batch") <= last)
    for name in (LINES, REJECTED):
        found += int(warehouse.dataset(name).count_rows(filter=chosen))
    with duckdb.connect() as database:
        register_facts(warehouse, database)
        rows = warehouse.dataset(LINES).scanner(["cluster", "event_id"], filter=chosen).to_reader()
        database.register("lines", rows)
        [[kept]] = database.sql(f"SELECT count(*) FROM ({KEPT_LINES})").fetchall()  # noqa: S608 - our own
    return found - int(kept)


def forget_lines(warehouse: Warehouse, last: int) -> None:
    """Erase the lines of landings up to ``last`` that no fact names, and all quarantined lines of them."""
    since = warehouse.forgotten()
    if last <= since:
        return
    schema = TABLES[LINES].arrow_schema()
    chosen = (ds.field("batch") > since) & (ds.field("batch") <= last)
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        register_facts(warehouse, database)
        database.register("lines", warehouse.dataset(LINES).scanner(schema.names, filter=chosen).to_reader())
        kept = database.sql(KEPT_LINES)
        batches = (batch.select(schema.names).cast(schema) for batch in kept.to_arrow_reader(BATCH_ROWS))
        rows = pa.RecordBatchReader.from_batches(schema, batches)
        warehouse.overwrite(LINES, rows, f"batch > {since} AND batch <= {last}")
    warehouse.erase(REJECTED, f"batch <= {last}")
    warehouse.note_forgotten(last)
