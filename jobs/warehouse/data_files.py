"""Parquet data files of Delta tables, written where their rows are made.

An executor writes the rows of its tasks straight into Parquet files below the tables' folders. No reader sees them
until one commit of the driver names them (:meth:`~jobs.warehouse.warehouse.Warehouse.replace`). Files of a killed or
repeated attempt are never named, and ``VACUUM`` removes them. Rows go neither through the JVM nor to the driver.

The tables of lines are partitioned by landing, and Delta does not store that column in the files: a file holds rows of
one landing. Tables whose rows are replaced by key have no partitions, nor has the ledger of landed files: each landing
reads all of it, and upkeep joins its files.
"""

import gc
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from election_replay.jobs.warehouse.file_stats import FileStats
from election_replay.jobs.warehouse.patience import PAUSE, no_machine, retry_hdfs
from election_replay.schemas import TABLES, Table

ROW_GROUP = 10_000
"""Rows of a row group."""

FILE_ROWS = 20_000
"""Rows after which a file of an unpartitioned table ends, and so the most that a night rewrites to replace one row."""

COLLECTED = 100_000
"""The threshold of new objects for a garbage collection while rows are made."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one row, in the order of its columns."""

Rows = tuple[str, pa.RecordBatch]
"""A table's name and a batch of its rows; columns that the batch lacks are null."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file at ``path`` below the folder of ``table``, with ``rows`` rows; ``size`` in bytes.

    All rows are of one ``partition``, empty if the table has none. ``stats`` are its statistics, as JSON for Delta.
    """

    table: str
    partition: str
    path: str
    size: int
    rows: int
    stats: str = "{}"


class _StreamedFile:
    """A data file that is being written, row group by row group."""

    def __init__(self, table: Table, location: str, partition: object) -> None:
        self._table, self._partition = table, str(partition)
        self._schema = pa.schema([field for field in table.arrow_schema() if field.name not in table.partitioned_by])
        self._path = f"part-{uuid4()}.parquet"
        self._stream = fs.PyFileSystem(DeltaStorageHandler(location)).open_output_stream(self._path)
        self._writer = pq.ParquetWriter(self._stream, self._schema, compression="zstd")
        self._stats = FileStats()

    @property
    def rows(self) -> int:
        """Return the number of rows added."""
        return self._stats.rows

    def write(self, rows: pa.Table) -> None:
        """Add rows, as one row group. Raises :class:`ValueError` if a column that may not be null is."""
        written = checked_columns(rows, self._table, self._schema)
        self._writer.write_table(written, row_group_size=len(rows))
        self._stats.add(written)

    def close(self) -> DataFile:
        """Finish and return the file."""
        self._writer.close()
        size = self._stream.tell()
        self._stream.close()
        return DataFile(self._table.name, self._partition, self._path, size, self.rows, str(self._stats))


class _KeyedFile:
    """A data file of a table whose rows are replaced by key, held in memory and written when it is closed.

    Columns without any value are left out, and readers take them as null: most columns of wide tables belong to other
    systems, and each costs as much as hundreds of rows.
    """

    def __init__(self, table: Table, location: str) -> None:
        self._table, self._schema = table, table.arrow_schema()
        self._system = fs.PyFileSystem(DeltaStorageHandler(location))
        self._held: list[pa.Table] = []
        self.rows = 0

    def write(self, rows: pa.Table) -> None:
        """Add rows. Raises :class:`ValueError` if a column that may not be null is."""
        self._held.append(checked_columns(rows, self._table, self._schema))
        self.rows += len(rows)

    def close(self) -> DataFile:
        """Write and return the file."""
        rows, stats, path = pa.concat_tables(self._held), FileStats(), f"part-{uuid4()}.parquet"
        stats.add(rows)
        with_values = rows.drop_columns(stats.null_columns)
        stream = pa.BufferOutputStream()
        with pq.ParquetWriter(stream, with_values.schema, compression="zstd") as writer:
            writer.write_table(with_values, row_group_size=ROW_GROUP)
        content = stream.getvalue()
        retry_hdfs(lambda: self._put(path, content))
        return DataFile(self._table.name, "", path, content.size, self.rows, str(stats))

    def _put(self, path: str, content: pa.Buffer) -> None:
        # Without a buffer Arrow passes its own buffer objects to write(), and Delta's file system takes only bytes.
        with self._system.open_output_stream(path, buffer_size=content.size + 1) as stream:
            stream.write(content)


def checked_columns(rows: pa.Table, table: Table, schema: pa.Schema) -> pa.Table:
    """Return ``rows`` cast to ``schema``. Raises :class:`ValueError` if a column that may not be null is."""
    for field in schema:
        if not field.nullable and rows.column(field.name).null_count:
            raise ValueError(f"{table.name}.{field.name} is null")
    return rows.select(schema.names).cast(schema)


def keys_of(rows: pa.Table, table: Table) -> tuple[Numbers, list[tuple[str, str]]]:
    """Return, for each row, the index of its key, and the distinct keys by which rows of ``table`` are replaced."""
    cluster, key = table.replaced_by
    encoded = pc.binary_join_element_wise(rows[cluster], rows[key], "\0").combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    found = [text.split("\0", 1) for text in encoded.dictionary.to_pylist()]
    return encoded.indices.to_numpy(zero_copy_only=False), [(of, name) for of, name in found]


class _TableFiles:
    """Writes the data files of one table: one for each run of rows of a partition, or of up to :data:`FILE_ROWS`."""

    def __init__(self, table: Table, root: str) -> None:
        self._table, self._location = table, f"{root}/{table.path}"
        self._column = next(iter(table.partitioned_by), None)
        self._at = table.names.index(self._column) if self._column else 0
        self._partition: object = ""
        self._rows: list[tuple[Any, ...]] = []
        self._batches: list[pa.RecordBatch] = []
        self._buffered = 0
        self._open: _StreamedFile | _KeyedFile | None = None
        self.done: list[DataFile] = []

    def add(self, values: tuple[Any, ...]) -> None:
        """Add a row."""
        if self._column is not None and values[self._at] != self._partition:
            self._start_partition(values[self._at])
        self._rows.append(values)
        if len(self._rows) == ROW_GROUP:
            self._write()

    def add_batch(self, rows: pa.RecordBatch) -> None:
        """Add a batch of rows, cut where the partition changes."""
        if self._column is None:
            self._buffer(rows)
            return
        runs = pc.run_end_encode(rows.column(self._column))
        begin = 0
        for end, partition in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            if partition != self._partition:
                self._start_partition(partition)
            self._buffer(rows.slice(begin, end - begin))
            begin = end

    def finish(self) -> None:
        """Write buffered rows, and close the current file."""
        self._write()
        self._close()

    def _buffer(self, rows: pa.RecordBatch) -> None:
        self._batches.append(rows)
        self._buffered += rows.num_rows
        if self._buffered >= ROW_GROUP:
            self._write()

    def _start_partition(self, partition: object) -> None:
        self.finish()
        self._partition = partition

    def _close(self) -> None:
        if self._open is not None:
            self.done.append(self._open.close())
            self._open = None

    def _new_file(self) -> _StreamedFile | _KeyedFile:
        if self._table.replaced_by:
            return _KeyedFile(self._table, self._location)
        return _StreamedFile(self._table, self._location, self._partition)

    def _write(self) -> None:
        if self._rows:
            self._batches.append(record_batch(self._table, self._rows))
        if self._batches:
            if self._open is None:
                self._open = self._new_file()
            self._open.write(pa.Table.from_batches(self._batches))
            if self._column is None and self._open.rows >= FILE_ROWS:
                self._close()
        self._rows, self._batches, self._buffered = [], [], 0


def write_data_files(output: Iterable[Row | Rows], root: str) -> list[DataFile]:
    """Write rows below the warehouse ``root`` and return the files: one for each table and run of rows of a partition.

    If an HDFS machine does not answer, wait :data:`PAUSE` seconds before raising: the next attempt should find another.
    """
    try:
        with fewer_collections():
            return write_files(output, root)
    except OSError as error:
        if no_machine(error):
            time.sleep(PAUSE)
        raise


@contextmanager
def fewer_collections() -> Iterator[None]:
    """Collect cyclic garbage rarely while this context is open: rows make none, and it took a tenth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECTED, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def write_files(output: Iterable[Row | Rows], root: str) -> list[DataFile]:
    """Write rows as :func:`write_data_files` does, without its pause and its rare garbage collection."""
    tables: dict[str, _TableFiles] = {}
    for name, rows in output:
        if name not in tables:
            tables[name] = _TableFiles(TABLES[name], root)
        if isinstance(rows, tuple):
            tables[name].add(rows)
        else:
            tables[name].add_batch(with_all_columns(TABLES[name], rows))
    for files in tables.values():
        files.finish()
    return [file for files in tables.values() for file in files.done]


def with_all_columns(table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return ``rows`` with all columns of ``table``, in its order; columns that they lack are null."""
    here = set(rows.schema.names)
    columns = [
        rows.column(column.name).cast(column.type.arrow)
        if column.name in here
        else pa.nulls(rows.num_rows, column.type.arrow)
        for column in table.columns
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(table.names))


def record_batch(table: Table, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Return rows as one Arrow batch."""
    columns = [
        pa.array(values, type=column.type.arrow)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(table.names))
