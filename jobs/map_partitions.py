"""The one place where Spark hands rows to Python and gets rows back.

Spark carries record batches of a partition to a plain generator; the generator answers with rows of one or several
tables, as tuples in column order. They come back as one frame with a nullable struct column for each table, so that
one pass over the data can fill many tables: :func:`rows_of` takes them apart.
"""

import gc
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from schemas import TABLES, Table

BATCH_ROWS = 10_000
"""Rows of a record batch on the way back."""

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one of its rows, in the order of its columns."""

Rows = tuple[str, pa.RecordBatch]
"""A table's name and many of its rows, with some of its columns; the others are null."""

Work = Callable[[Iterator[pa.RecordBatch]], Iterable[Row | Rows]]
"""A generator over the record batches of one partition, in their order."""


def map_partitions(frame: DataFrame, work: Work, tables: Sequence[str]) -> DataFrame:
    """``work`` over each partition of ``frame``: one struct column for each of ``tables``, all but one null."""

    def on_executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        return record_batches(work(iter(batches)), tables)

    schema = ", ".join(f"`{name}` {TABLES[name].row_type()}" for name in tables)
    return frame.mapInArrow(on_executor, schema)


def prepare_worker() -> None:
    """Spare this Python worker two things that it would do around every task, for a quarter of a second.

    Spark puts its own jar on the path; nothing is imported from it, yet its whole directory is read anew each time.
    And after each task the garbage collector goes through all that was ever imported.
    """
    sys.path[:] = [place for place in sys.path if not place.endswith(".jar")]
    for place in [place for place in sys.path_importer_cache if place.endswith(".jar")]:
        del sys.path_importer_cache[place]
    gc.freeze()


def rows_of(frame: DataFrame, table: str) -> DataFrame:
    """The rows of one table out of what :func:`map_partitions` gave."""
    return frame.where(frame[table].isNotNull()).select(f"{table}.*")


def record_batches(told: Iterable[Row | Rows], tables: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """What was told as record batches, each with rows of one table."""
    many: dict[str, list[pa.StructArray]] = defaultdict(list)

    def single() -> Iterator[Row]:
        for name, values in told:
            if isinstance(values, pa.RecordBatch):
                many[name].append(struct_of(TABLES[name], values))
            else:
                yield name, values

    for name, lot in lots(single()):
        yield record_batch(name, struct_array(TABLES[name], lot), tables)
        yield from joined(many, BATCH_ROWS, tables)
    yield from joined(many, 1, tables)


def joined(many: dict[str, list[pa.StructArray]], least: int, tables: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """What waits in ``many``, where it is ``least`` rows of a table."""
    for name in [name for name, arrays in many.items() if sum(map(len, arrays)) >= least]:
        yield record_batch(name, pa.concat_arrays(many.pop(name)), tables)


def lots(rows: Iterable[Row]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    """``rows`` gathered by table: its name and up to :data:`BATCH_ROWS` of its rows at a time."""
    waiting: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    for name, values in rows:
        waiting[name].append(values)
        if len(waiting[name]) == BATCH_ROWS:
            yield name, waiting.pop(name)
    yield from waiting.items()


def record_batch(name: str, rows: pa.StructArray, tables: Sequence[str]) -> pa.RecordBatch:
    """``rows`` of table ``name`` as one record batch with a struct column for each of ``tables``."""
    columns = [rows if other == name else pa.nulls(len(rows), row_type(TABLES[other])) for other in tables]
    return pa.RecordBatch.from_arrays(columns, names=list(tables))


def struct_of(table: Table, rows: pa.RecordBatch) -> pa.StructArray:
    """Rows with some of the table's columns as one Arrow array of structs; the other columns are null."""
    here = set(rows.schema.names)
    columns = [
        rows.column(column.name).cast(column.type.arrow)
        if column.name in here
        else pa.nulls(rows.num_rows, column.type.arrow)
        for column in table.columns
    ]
    return pa.StructArray.from_arrays(columns, fields=list(row_type(table)))


def struct_array(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.StructArray:
    """Rows as one Arrow array of structs."""
    return pa.StructArray.from_arrays(columns_of(table, rows), fields=list(row_type(table)))


def columns_of(table: Table, rows: Sequence[tuple[Any, ...]]) -> list[pa.Array]:
    """Rows as one Arrow array for each column of ``table``."""
    return [
        pa.array(values, type=column.type.arrow)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    ]


def row_type(table: Table) -> pa.StructType:
    """A row of ``table`` as an Arrow struct, every field nullable: Delta checks what may not be null."""
    return pa.struct([pa.field(column.name, column.type.arrow) for column in table.columns])
