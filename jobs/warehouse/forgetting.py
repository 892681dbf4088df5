"""Lines of old landings, forgotten: what is left of them is what a verdict may still need."""

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import write_deltalake

from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LINES, REJECTED = "log_lines", "quarantine"
BATCH_ROWS = 10_000

NAMED = """
    SELECT cluster, since_event AS event_id FROM facts WHERE since_event IS NOT NULL UNION
    SELECT cluster, until_event FROM facts WHERE until_event IS NOT NULL UNION
    SELECT cluster, unnest(evidence) FROM facts
"""
"""The events that facts name: whatever proves a finding of today's rules, now or later, is one of them."""

KEPT = f"SELECT * FROM lines SEMI JOIN ({NAMED}) USING (cluster, event_id)"  # noqa: S608 - our own
"""Of some lines those that stay."""


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
        database.register("facts", warehouse.dataset("facts"))
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
        database.register("facts", warehouse.dataset("facts"))
        database.register("lines", warehouse.dataset(LINES).scanner(schema.names, filter=chosen).to_reader())
        kept = database.sql(KEPT)
        batches = (batch.select(schema.names).cast(schema) for batch in kept.to_arrow_reader(BATCH_ROWS))
        rows = pa.RecordBatchReader.from_batches(schema, batches)
        where = f"batch > {since} AND batch <= {last}"
        with warehouse.committing(LINES):
            write_deltalake(warehouse.location(LINES), rows, mode="overwrite", predicate=where)
    with warehouse.committing(REJECTED):
        warehouse.patiently(lambda: warehouse.opened(REJECTED).delete(f"batch <= {last}"))
    warehouse.note_forgotten(last)
