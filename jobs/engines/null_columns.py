"""Columns that need not be read: most columns of wide tables are of other systems, and no row has a value of them.

Each of them would be carried through a shuffle and a sort, and into Python, row by row.
"""

from collections.abc import Collection, Iterator, Sequence

from election_replay.jobs.engines.duckdb_rows import as_filter, dataset_of
from election_replay.jobs.engines.engine import Rows, is_null
from election_replay.jobs.warehouse.warehouse import Warehouse


def without_null_columns(warehouse: Warehouse, parts: Sequence[Rows], needed: Collection[str]) -> tuple[Rows, ...]:
    """``parts``, which name their columns, without those that are null in all rows of all of them, but for ``needed``.

    That is what the logs of the tables say of the files that are read; of a file of which they say nothing all columns
    are read.
    """
    kept = {*needed}.union(*(filled(warehouse, rows) for rows in parts))
    return tuple(
        rows.select(
            (name for name in rows.columns if name in kept),
            {name: sql for name, sql in rows.also.items() if name in kept},
        )
        for rows in parts
    )


def filled(warehouse: Warehouse, rows: Rows) -> Iterator[str]:
    """The columns of some rows that may have a value."""
    yield from (name for name, sql in rows.also.items() if not is_null(sql))
    null_columns = warehouse.null_columns(rows.table, rows.version)
    files = dataset_of(warehouse, rows).get_fragments(as_filter(rows))
    of_files = [null_columns.get(file.path, frozenset()) for file in files]
    nowhere = frozenset[str]().union(rows.columns) if not of_files else frozenset.intersection(*of_files)
    yield from (name for name in rows.columns if name not in nowhere)
