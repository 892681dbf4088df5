"""What former landings noted of files, as far as this one asks for it: read by Arrow and DuckDB, row by row.

``landed_files`` has a row for each file and landing, so it grows with the nights. Here nobody holds all of it: of the
rows only those are given out that speak of files that lie in the landing zone, or of nodes that have new ones.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import landed_files

ROWS = 10_000
"""Rows that are Python objects at once."""


def rows_like(warehouse: Warehouse, files: Sequence[LogFile], columns: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The rows of files of the same node, size and time of change as one of ``files``, in the order of landings."""
    if warehouse.version(landed_files.TABLE.name) is None:
        return
    listed = {
        "cluster": pa.array([file.cluster for file in files], pa.string()),
        "source_node": pa.array([file.source_node for file in files], pa.string()),
        "file_bytes": pa.array([file.size for file in files], pa.int64()),
        "modified": pa.array([file.modified for file in files], pa.int64()),
    }
    with duckdb.connect() as database:
        database.execute("SET TimeZone = 'UTC'")
        database.register("listed", pa.table(listed))
        database.register("landed", warehouse.dataset(landed_files.TABLE.name))
        landed = f"(SELECT *, epoch_us(modified_at) AS modified FROM landed WHERE status <> '{landed_files.PART}')"  # noqa: S608
        like = f"{landed} SEMI JOIN listed USING (cluster, source_node, file_bytes, modified)"
        found = database.sql(f"SELECT {', '.join(columns)} FROM {like} ORDER BY batch").to_arrow_reader(ROWS)  # noqa: S608
        for batch in found:
            yield from batch.to_pylist()


def rows_of_nodes(warehouse: Warehouse, files: Iterable[LogFile], columns: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The rows of the nodes of ``files``, perhaps with some of others, in the order of landings."""
    nodes = {(file.cluster, file.source_node) for file in files}
    clusters, names = ({node[at] for node in nodes} for at in (0, 1))
    wanted = pc.field("cluster").isin(sorted(clusters)) & pc.field("source_node").isin(sorted(names))
    rows = warehouse.dataset(landed_files.TABLE.name).to_table([*columns], filter=wanted)
    for batch in rows.sort_by("batch").to_batches(max_chunksize=ROWS):
        yield from batch.to_pylist()
