"""File statistics in Delta's log: the rows of a data file, and the nulls and least and greatest values of each column.

Readers skip files by them that hold nothing of a cluster or a time, and a night finds the files that it rewrites.
Every column with values has both bounds: delta-rs's ``to_pyarrow_dataset`` would compare a missing one with null, and
find no row at all.
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

TEXT_LENGTH = 32
"""Characters of a text that a bound holds, as with Delta's own writer."""

HIGHEST_CHARACTER = "\U0010ffff"
"""Appended to a truncated upper bound, so that it is greater than any text with that prefix."""

BOUND_PRECISION = timedelta(milliseconds=1)
"""Time bounds are truncated to milliseconds, so the true maximum may be later by less than this."""

SKIPPED_BY = ("cluster", "replica_group", "source_node", "run_id", "event_time")
"""The columns by whose bounds our own readers skip files, besides partition columns."""


class FileStats:
    """Accumulates the statistics of a file while it is written; ``str()`` gives Delta's JSON."""

    def __init__(self) -> None:
        self.rows = 0
        self._nulls: Counter[str] = Counter()
        self._bounds: dict[str, tuple[Any, Any]] = {}

    def add(self, rows: pa.Table) -> None:
        """Include ``rows``."""
        self.rows += len(rows)
        for name, values in zip(rows.column_names, rows.columns, strict=True):
            self._nulls[name] += values.null_count
            if values.null_count < len(rows) and not pa.types.is_nested(values.type):
                found = pc.min_max(values).as_py()
                low, high = self._bounds.get(name, (found["min"], found["max"]))
                self._bounds[name] = min(low, found["min"]), max(high, found["max"])

    @property
    def null_columns(self) -> list[str]:
        """Return the columns that are null in every row."""
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
    """Return a lower bound as Delta writes it: texts and times truncated."""
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return value[:TEXT_LENGTH] if isinstance(value, str) else value


def upper(value: Any) -> Any:
    """Return an upper bound as Delta writes it; readers add a millisecond to one of a time."""
    if isinstance(value, str) and len(value) > TEXT_LENGTH:
        return value[:TEXT_LENGTH] + HIGHEST_CHARACTER
    return lower(value)


def dataset_of(table: DeltaTable, files: pa.Table, system: fs.FileSystem) -> ds.Dataset:
    """Return an Arrow dataset of a table and its data ``files``, which are read from ``system``.

    Only bounds of :data:`SKIPPED_BY` are passed to Arrow. delta-rs passes those of all columns, which takes a second
    for four hundred files of a wide table, and hides all rows of a file whose writer omits the bounds of some column,
    as Spark does for booleans.
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
    form = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=True))
    fragments = [
        form.make_fragment(file["path"], system, reduce(and_, row_bounds(file, by), pc.scalar(value=True)))
        for file in files.select([name for name in names if name in files.schema.names]).to_pylist()
    ]
    return ds.FileSystemDataset(fragments, schema, form, system)


def row_bounds(file: Mapping[str, Any], partitions: list[str]) -> Iterator[pc.Expression]:
    """Yield conditions that hold for all rows of a file: its partition values and the bounds of its columns."""
    for name in partitions:
        yield pc.field(name) == file[f"partition.{name}"]
    for name in SKIPPED_BY:
        low, high = file.get(f"min.{name}"), file.get(f"max.{name}")
        if low is not None and high is not None and file.get(f"null_count.{name}") == 0:
            last = high + BOUND_PRECISION if isinstance(high, datetime) else high
            yield (pc.field(name) >= low) & (pc.field(name) <= last)
