"""Lines of old landings, forgotten: what is left of them is what a verdict may still need."""

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds

from election_replay.jobs.warehouse.table_sets import OF_SOURCES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LINES, REJECTED = "log_lines", "quarantine"
BATCH_ROWS = 10_000

NAMED = " UNION ".join(
    f"SELECT cluster, {proof} AS event_id FROM {table}"  # noqa: S608 - our own
    for table in OF_SOURCES
    for proof in ("since_event", "until_event", "unnest(evidence)")
)
"""The events that facts name: whatever proves a finding of today's rules, now or later, is one of them."""

KEPT = f"SELECT * FROM lines SEMI JOIN ({NAMED}) USING (cluster, event_id)"  # noqa: S608 - our own
"""Of some lines those that stay."""


def register_facts(warehouse: Warehouse, database: duckdb.DuckDBPyConnection) -> None:
    """Register all facts in a database; a table that is not there yet is empty."""
    for name in OF_SOURCES:
        known = warehouse.version(name) is not None
        database.register(name, warehouse.dataset(name) if known else TABLES[name].arrow_schema().empty_table())


def forgettable(warehouse: Warehouse, last: int) -> int:
    """How many rows of landings up to ``last`` would go."""
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
        [[kept]] = database.sql(f"SELECT count(*) FROM ({KEPT})").fetchall()  # noqa: S608 - our own
    return found - int(kept)


def forget_lines(warehouse: Warehouse, last: int) -> None:
    """Of landings up to ``last`` keep only those lines that facts name, and nothing that was rejected."""
    since = warehouse.forgotten()
    if last <= since:
        return
    schema = TABLES[LINES].arrow_schema()
    chosen = (ds.field("batch") > since) & (ds.field("batch") <= last)
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        register_facts(warehouse, database)
        database.register("lines", warehouse.dataset(LINES).scanner(schema.names, filter=chosen).to_reader())
        kept = database.sql(KEPT)
        batches = (batch.select(schema.names).cast(schema) for batch in kept.to_arrow_reader(BATCH_ROWS))
        rows = pa.RecordBatchReader.from_batches(schema, batches)
        warehouse.overwrite(LINES, rows, f"batch > {since} AND batch <= {last}")
    warehouse.erase(REJECTED, f"batch <= {last}")
    warehouse.note_forgotten(last)
