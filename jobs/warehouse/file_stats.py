"""What Delta's log says of a data file: its rows, its nulls, and between which bounds the values of each column lie.

Any reader skips by it the files that hold nothing of a cluster or of a time, and a night finds those that it replaces.
Of each column with values both bounds are said: readers that let delta-rs tell Arrow of them (``to_pyarrow_dataset``)
would compare those of any other with null, and find no row at all.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import reduce
from operator import and_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from pyarrow import fs

TEXT = 32
"""So much of a long text stands in a bound, as with Delta's own writer."""

BEHIND_ALL = "\U0010ffff"
"""A text that is cut off is smaller than what is left of it with this character behind it."""

STAMPED = timedelta(milliseconds=1)
"""A bound of a time is cut off behind its milliseconds."""

SKIPPED_BY = ("cluster", "replica_group", "source_node", "run_id", "event_time")
"""The columns by whose bounds our own readers skip files, besides those of partitions."""


class FileStats:
    """The statistics of a file, rows by rows as they are written."""

    def __init__(self) -> None:
        self.rows = 0
        self._nulls: Counter[str] = Counter()
        self._bounds: dict[str, tuple[Any, Any]] = {}

    def add(self, rows: pa.Table) -> None:
        """Take some rows in."""
        self.rows += len(rows)
        for name, values in zip(rows.column_names, rows.columns, strict=True):
            self._nulls[name] += values.null_count
            if values.null_count < len(rows) and not pa.types.is_nested(values.type):
                found = pc.min_max(values).as_py()
                low, high = self._bounds.get(name, (found["min"], found["max"]))
                self._bounds[name] = min(low, found["min"]), max(high, found["max"])

    @property
    def null_columns(self) -> list[str]:
        """The columns of which no row has a value."""
        return [name for name, nulls in self._nulls.items() if nulls == self.rows]

    def __str__(self) -> str:
        found = {
            "numRecords": self.rows,
            "minValues": {name: lower(low) for name, (low, _) in self._bounds.items()},
            "maxValues": {name: upper(high) for name, (_, high) in self._bounds.items()},
            "nullCount": self._nulls,
        }
        return json.dumps(found)


def lower(value: Any) -> Any:
    """A lower bound as Delta writes it: a text cut off, a time in whole milliseconds."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value[:TEXT] if isinstance(value, str) else value


def upper(value: Any) -> Any:
    """An upper bound; to one of a time readers add a millisecond."""
    if isinstance(value, str) and len(value) > TEXT:
        return value[:TEXT] + BEHIND_ALL
    return lower(value)


def dataset_of(table: DeltaTable, system: fs.FileSystem) -> ds.Dataset:
    """The rows of a table as Arrow reads them, from the files of this file system.

    Delta-rs would tell Arrow of the bounds of all columns. That takes a second for four hundred files of a wide table,
    and lets Arrow find no row in a file of a writer that does not say the bounds of some column, as Spark of booleans.
    """
    if table.protocol().min_reader_version > 1:
        return table.to_pyarrow_dataset(filesystem=system)
    schema, by = pa.schema(table.schema().to_arrow()), table.metadata().partition_columns
    kinds = ("min", "max", "null_count")
    names = [
        "path",
        *(f"partition.{name}" for name in by),
        *(f"{kind}.{name}" for name in SKIPPED_BY for kind in kinds),
    ]
    files = pa.table(table.get_add_actions(flatten=True))
    form = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=True))
    fragments = [
        form.make_fragment(file["path"], system, reduce(and_, held_by(file, by), pc.scalar(value=True)))
        for file in files.select([name for name in names if name in files.schema.names]).to_pylist()
    ]
    return ds.FileSystemDataset(fragments, schema, form, system)


def held_by(file: Mapping[str, Any], partitions: list[str]) -> Iterator[pc.Expression]:
    """What is true of all rows of a file."""
    for name in partitions:
        yield pc.field(name) == file[f"partition.{name}"]
    for name in SKIPPED_BY:
        low, high = file.get(f"min.{name}"), file.get(f"max.{name}")
        if low is not None and high is not None and file.get(f"null_count.{name}") == 0:
            last = high + STAMPED if isinstance(high, datetime) else high
            yield (pc.field(name) >= low) & (pc.field(name) <= last)
