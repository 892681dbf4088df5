"""Data files of Delta tables, written where their rows are made.

An executor writes the rows of its tasks straight into Parquet files below the tables' folders. Nobody sees them until
one commit of the driver names them (:meth:`~jobs.warehouse.warehouse.Warehouse.replace`); what a killed or repeated
attempt wrote is never named, and ``VACUUM`` removes it. Rows go neither through the JVM nor to the driver.

Every table written here is partitioned by one column, which Delta keeps out of the files: a file holds rows of one of
its values.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from schemas import TABLES, Table

ROW_GROUP = 10_000
"""Rows that are written at once."""

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one of its rows, in the order of its columns."""

Rows = tuple[str, pa.RecordBatch]
"""A table's name and many of its rows, with some of its columns; the others are null."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file below the folder of ``table``, with so many ``rows``, all of one ``partition``; size in bytes."""

    table: str
    partition: str
    path: str
    size: int
    rows: int


class _Open:
    """A data file that is being written."""

    def __init__(self, table: Table, location: str, partition: object) -> None:
        self._of = table.name, str(partition)
        self._path = f"part-{uuid4()}.parquet"
        self._schema = pa.schema([field for field in table.arrow_schema() if field.name not in table.partitioned_by])
        self._stream = fs.PyFileSystem(DeltaStorageHandler(location)).open_output_stream(self._path)
        self._writer = pq.ParquetWriter(self._stream, self._schema, compression="zstd")

    def write(self, rows: pa.Table) -> None:
        """Add rows, as one row group. Raises :class:`ValueError` where one is null that may not be."""
        for field in self._schema:
            if not field.nullable and rows.column(field.name).null_count:
                raise ValueError(f"{self._of[0]}.{field.name} is null")
        self._writer.write_table(rows.select(self._schema.names).cast(self._schema), row_group_size=len(rows))

    def close(self) -> DataFile:
        """The finished file."""
        self._writer.close()
        size = self._stream.tell()
        self._stream.close()
        return DataFile(*self._of, self._path, size, self._writer.writer.metadata.num_rows)


class _TableFiles:
    """The data files of one table. Where rows of a partition come together, they come into one file."""

    def __init__(self, table: Table, root: str) -> None:
        self._table, self._location = table, f"{root}/{table.path}"
        [self._column] = table.partitioned_by
        self._at = table.names.index(self._column)
        self._partition: object = None
        self._rows: list[tuple[Any, ...]] = []
        self._batches: list[pa.RecordBatch] = []
        self._waiting = 0
        self._open: _Open | None = None
        self.done: list[DataFile] = []

    def add(self, values: tuple[Any, ...]) -> None:
        """Add a row."""
        if values[self._at] != self._partition:
            self._turn_to(values[self._at])
        self._rows.append(values)
        if len(self._rows) == ROW_GROUP:
            self._write()

    def add_batch(self, rows: pa.RecordBatch) -> None:
        """Add many rows, those of a partition together."""
        runs = pc.run_end_encode(rows.column(self._column))
        begin = 0
        for end, partition in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            if partition != self._partition:
                self._turn_to(partition)
            self._batches.append(rows.slice(begin, end - begin))
            self._waiting += end - begin
            begin = end
            if self._waiting >= ROW_GROUP:
                self._write()

    def finish(self) -> None:
        """Write what waits, and close the file."""
        self._write()
        if self._open is not None:
            self.done.append(self._open.close())
            self._open = None

    def _turn_to(self, partition: object) -> None:
        self.finish()
        self._partition = partition

    def _write(self) -> None:
        if self._rows:
            self._batches.append(record_batch(self._table, self._rows))
        if self._batches:
            if self._open is None:
                self._open = _Open(self._table, self._location, self._partition)
            self._open.write(pa.Table.from_batches(self._batches))
        self._rows, self._batches, self._waiting = [], [], 0


def write_data_files(output: Iterable[Row | Rows], root: str) -> list[DataFile]:
    """Write rows below the warehouse ``root``: for each table and partition one file, where its rows come together."""
    tables: dict[str, _TableFiles] = {}
    for name, rows in output:
        if name not in tables:
            tables[name] = _TableFiles(TABLES[name], root)
        if isinstance(rows, tuple):
            tables[name].add(rows)
        else:
            tables[name].add_batch(in_shape(TABLES[name], rows))
    for files in tables.values():
        files.finish()
    return [file for files in tables.values() for file in files.done]


def in_shape(table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with some of the table's columns, as rows with all of them; the others are null."""
    here = set(rows.schema.names)
    columns = [
        rows.column(column.name).cast(column.type.arrow)
        if column.name in here
        else pa.nulls(rows.num_rows, column.type.arrow)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(table.names))


def record_batch(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows as one Arrow batch."""
    columns = [
        pa.array(values, type=column.type.arrow)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(table.names))
