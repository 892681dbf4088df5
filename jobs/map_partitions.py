"""The one place where Spark hands rows to Python and gets rows back.

Spark carries record batches of a partition to a plain generator; the generator answers with rows of one or several
tables, as tuples in column order. They come back as one frame with a nullable struct column for each table, so that
one pass over the data can fill many tables: :func:`rows_of` takes them apart.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

from schemas import TABLES, Table

BATCH_ROWS = 10_000
"""Rows of a record batch on the way back."""

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one of its rows, in the order of its columns."""

Work = Callable[[Iterator[pa.RecordBatch]], Iterable[Row]]
"""A generator over the record batches of one partition, in their order."""


def map_partitions(frame: DataFrame, work: Work, tables: Sequence[str]) -> DataFrame:
    """``work`` over each partition of ``frame``: one struct column for each of ``tables``, all but one null."""

    def on_executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return record_batches(work(iter(batches)), tables)

    schema = ", ".join(f"`{name}` {TABLES[name].row_type()}" for name in tables)
    return frame.mapInArrow(on_executor, schema)


def rows_of(frame: DataFrame, table: str) -> DataFrame:
    """The rows of one table out of what :func:`map_partitions` gave."""
    return frame.where(frame[table].isNotNull()).select(f"{table}.*")


def record_batches(rows: Iterable[Row], tables: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """``rows`` as record batches, each with rows of one table."""
    waiting: dict[str, list[tuple[Any, ...]]] = {name: [] for name in tables}
    for name, values in rows:
        waiting[name].append(values)
        if len(waiting[name]) == BATCH_ROWS:
            yield record_batch(name, waiting[name], tables)
            waiting[name] = []
    for name, left in waiting.items():
        if left:
            yield record_batch(name, left, tables)


def record_batch(name: str, rows: Sequence[tuple[Any, ...]], tables: Sequence[str]) -> pa.RecordBatch:
    """``rows`` of table ``name`` as one record batch with a struct column for each of ``tables``."""
    columns = [
        struct_array(TABLES[name], rows) if other == name else pa.nulls(len(rows), row_type(TABLES[other]))
        for other in tables
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(tables))


def struct_array(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.StructArray:
    """Rows as one Arrow array of structs."""
    arrays = [
        pa.array(values, type=column.type.arrow)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(row_type(table)))


def row_type(table: Table) -> pa.StructType:
    """A row of ``table`` as an Arrow struct, every field nullable: Delta checks what may not be null."""
    return pa.struct([pa.field(column.name, column.type.arrow) for column in table.columns])
