"""Data files of Delta tables, written where their rows are made.

An executor writes the rows of its tasks straight into Parquet files below the tables' folders. Nobody sees them until
one commit of the driver names them (:meth:`~jobs.warehouse.Warehouse.replace_batch`); what a killed or repeated
attempt wrote is never named, and ``VACUUM`` removes it. Rows go neither through the JVM nor to the driver.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake.fs import DeltaStorageHandler
from pyarrow import fs

from jobs.map_partitions import Row, columns_of, lots
from schemas import TABLES, Table

PARTITION = "batch"
"""The column that every table written here is partitioned by; Delta keeps it out of the files."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file below the folder of ``table``; ``stats`` are its statistics as Delta writes them."""

    table: str
    path: str
    size: int
    stats: str


class _Open:
    """A data file that is being written."""

    def __init__(self, table: Table, location: str, batch: int) -> None:
        self._table = table
        self._path = f"{PARTITION}={batch}/part-{uuid4()}.parquet"
        self._schema = pa.schema([field for field in table.arrow_schema() if field.name != PARTITION])
        self._stream = fs.PyFileSystem(DeltaStorageHandler(location)).open_output_stream(self._path)
        self._writer = pq.ParquetWriter(self._stream, self._schema, compression="zstd")

    def write(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows, as one row group."""
        columns = dict(zip(self._table.names, columns_of(self._table, rows), strict=True))
        self._writer.write_batch(pa.record_batch([columns[name] for name in self._schema.names], schema=self._schema))

    def close(self) -> DataFile:
        """The finished file."""
        self._writer.close()
        size = self._stream.tell()
        self._stream.close()
        return DataFile(self._table.name, self._path, size, stats_of(self._writer.writer.metadata))


def write_data_files(rows: Iterable[Row], root: str, batch: int) -> list[DataFile]:
    """Write ``rows``, all of one ``batch``, below the warehouse ``root``: one file for each table that has any."""
    opened: dict[str, _Open] = {}
    for name, lot in lots(rows):
        if name not in opened:
            opened[name] = _Open(TABLES[name], f"{root}/{TABLES[name].path}", batch)
        opened[name].write(lot)
    return [one.close() for one in opened.values()]


def stats_of(written: pq.FileMetaData) -> str:
    """The statistics of one file in Delta's JSON: its rows alone.

    A smallest value of some columns makes readers by Arrow compare the others with null, and find no row at all.
    """
    return json.dumps({"numRecords": written.num_rows})
