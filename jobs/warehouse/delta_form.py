"""Tables and data files in Delta's terms: schemas, table properties, add actions."""

import time
from collections.abc import Iterable

from deltalake import Field, Schema
from deltalake.transaction import AddAction, RemoveAction

from election_replay.jobs.warehouse.data_files import DataFile
from election_replay.schemas import TABLES, Table

INDEXED_BY_DEFAULT = 32
"""The number of leading columns that Delta collects statistics of by default."""


def delta_schema(table: Table) -> Schema:
    """Return the table's Delta schema, with nullability and column comments."""
    plain = Schema.from_arrow(table.arrow_schema()).fields
    fields = zip(plain, table.columns, strict=True)
    return Schema(
        [
            Field(field.name, field.type, nullable=column.nullable, metadata={"comment": column.remark})
            for field, column in fields
        ]
    )


def properties(table: Table, days: int) -> dict[str, str]:
    """Return the Delta properties of a table whose versions are kept for ``days``.

    For a wide table they ask for statistics of all columns, not only of the first 32: a replay does not read columns
    without values (:mod:`jobs.engines.duckdb_rows`).

    Delta would delete log entries by their own age at any commit that writes a checkpoint, though a newer run may still
    name the version of an old entry, so only :mod:`jobs.upkeep` deletes them. A checkpoint every 20 commits keeps the
    log that is read short.
    """
    kept = f"interval {max(days, 1)} days"
    return {
        "delta.checkpointInterval": "20",
        "delta.enableExpiredLogCleanup": "false",
        "delta.logRetentionDuration": kept,
        "delta.deletedFileRetentionDuration": kept,
        **({"delta.dataSkippingNumIndexedCols": "-1"} if len(table.columns) > INDEXED_BY_DEFAULT else {}),
    }


def added(files: Iterable[DataFile], table: str) -> list[AddAction | RemoveAction]:
    """Return the add actions of those of ``files`` that belong to ``table``."""
    columns, now = TABLES[table].partitioned_by, int(time.time() * 1000)
    return [
        AddAction(
            *(file.path, file.size, dict.fromkeys(columns, file.partition), now),
            data_change=True,
            stats=file.stats,
        )
        for file in files
        if file.table == table
    ]
