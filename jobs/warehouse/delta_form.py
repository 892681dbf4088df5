"""Tables and data files in Delta's own terms: schema, settings."""

import time
from collections.abc import Iterable

from deltalake import Field, Schema
from deltalake.transaction import AddAction, RemoveAction

from election_replay.jobs.warehouse.data_files import DataFile
from election_replay.schemas import TABLES, Table

INDEXED_BY_DEFAULT = 32
"""Of so many columns of a table Delta knows statistics where its settings say nothing."""


def delta_schema(table: Table) -> Schema:
    """The table's columns for Delta, with what may not be null and with the comments."""
    plain = Schema.from_arrow(table.arrow_schema()).fields
    fields = zip(plain, table.columns, strict=True)
    return Schema(
        [
            Field(field.name, field.type, nullable=column.nullable, metadata={"comment": column.remark})
            for field, column in fields
        ]
    )


def properties(table: Table, days: int) -> dict[str, str]:
    """Delta's settings of a table whose versions are kept for ``days``.

    Of a wide table they have Delta know the statistics of all columns, and not only those of the first: a replay reads
    no columns without values (:mod:`jobs.engines.duckdb_rows`).

    Delta would remove entries of the log by their own age, at any commit that makes a checkpoint, and an entry may be
    much older than a run that names its version: only :mod:`jobs.upkeep` removes them. A checkpoint of the log every
    few nights keeps short what is read of it.
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
    """Those of ``files`` that belong to ``table``, as Delta's log names them."""
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
