"""Rows that are replaced by their key: a night rewrites only the files that may hold rows of its keys.

Delta's log has the least and greatest cluster and key of each file. Files that may hold deleted rows are rewritten
without them, and with the new rows where those are few, sorted by cluster and key, so that files hardly overlap. A file
is small enough that a usual night touches few of them, and large enough that a table has a few hundred at most: their
number follows that of the rows, not that of the nights.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from election_replay.jobs.warehouse.data_files import FILE_ROWS, DataFile, Numbers, keys_of, write_data_files
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LEAST_ROWS = 2_000
"""The approximate number of rows of a file in a table of up to :data:`TABLE_FILES` such files."""

TABLE_FILES = 200
"""The approximate number of files of a larger table, until each holds
:data:`~jobs.warehouse.data_files.FILE_ROWS` rows."""

SMALL = 4
"""A file is small if it has fewer than 1/SMALL of the rows that a file of its table should have."""

MOST_SMALL = 16
"""A rewrite also joins the small files of a table if there are more than this."""

FEW_ROWS = 200_000
"""The maximum number of rows that the driver rewrites itself, before executors would have begun, and of new rows that
are merged into existing files; also the assumed number of rows of a file without statistics."""

TASK_ROWS = 200_000
"""The approximate number of rows that one task rewrites."""

Key = tuple[str, str]
"""The cluster, and the value of the table's second key column, by which rows are replaced."""

FIRST: Key = ("", "")

Each = Callable[[Callable[["RewriteTask"], list[DataFile]], Sequence["RewriteTask"]], list[list[DataFile]]]
"""A function of an engine that applies work to each item and returns the results in order."""


@dataclass(frozen=True, slots=True)
class DeletedKeys:
    """The rows to delete: all of ``clusters``, and those of ``keys`` in other clusters."""

    clusters: frozenset[str] = frozenset()
    keys: frozenset[Key] = frozenset()

    def among(self, files: Iterable["TableFile"]) -> list["TableFile"]:
        """Return those of ``files`` that may hold a row to delete."""
        clusters, keys = sorted(self.clusters), sorted(self.keys)

        def may_hold(file: TableFile) -> bool:
            if not file.bounded:
                return bool(clusters or keys)
            at = bisect_left(clusters, file.low[0])
            if at < len(clusters) and clusters[at] <= file.high[0]:
                return True
            here = islice(keys, bisect_left(keys, file.low), bisect_right(keys, file.high))
            return any(file.low[1] <= key <= file.high[1] for _, key in here)

        return [file for file in files if may_hold(file)]

    def between(self, first: Key, end: Key | None) -> "DeletedKeys":
        """Return those that may lie from key ``first`` to before ``end`` (``None``: no upper bound)."""
        clusters = (of for of in self.clusters if first[0] <= of and (end is None or of <= end[0]))
        return DeletedKeys(frozenset(clusters), frozenset(key for key in self.keys if is_between(key, first, end)))


@dataclass(frozen=True, slots=True)
class TableFile:
    """A data file of a table: path, size in bytes, number of rows (``None``: unknown), and bounds of its keys.

    ``low`` holds the least cluster and the least key, which may stand in different rows; ``high`` the greatest. All
    are empty if the log does not say.
    """

    path: str
    size: int
    rows: int | None
    low: Key
    high: Key

    @property
    def bounded(self) -> bool:
        """Return True if the log has bounds of its keys."""
        return self.high != FIRST


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """The rows of ``files`` with keys from ``first`` to before ``end``, except ``deleted``, to write to new files.

    ``added`` are new files, of which all rows stay. Each output file has about ``file_rows`` rows and does not cross
    any of the ``borders``: files that stay as they are begin there.
    """

    table: str
    root: str
    files: tuple[str, ...]
    first: Key
    end: Key | None
    deleted: DeletedKeys
    added: tuple[str, ...] = ()
    borders: tuple[Key, ...] = ()
    file_rows: int = FILE_ROWS


@dataclass(frozen=True, slots=True)
class RewritePlan:
    """The ``files`` of a table to rewrite, as tasks; ``merged`` are new files whose rows are rewritten with them."""

    table: str
    version: int
    files: tuple[TableFile, ...] = ()
    tasks: tuple[RewriteTask, ...] = ()
    merged: tuple[DataFile, ...] = ()

    @property
    def rows(self) -> int:
        """Return about how many rows are rewritten."""
        return rows_in(self.files) + sum(file.rows for file in self.merged)


def rewrite_plan(warehouse: Warehouse, table: str, deleted: DeletedKeys, added: Iterable[DataFile] = ()) -> RewritePlan:
    """Return what to rewrite so that ``table`` loses the rows ``deleted`` and gains those of the files ``added``."""
    every = files_of(warehouse, table)
    chosen = deleted.among(every)
    of_table = tuple(file for file in added if file.table == table)
    merged = of_table if chosen and sum(file.rows for file in of_table) <= FEW_ROWS else ()
    others = [file for file in small_files(every) if file not in chosen]
    if len(others) > MOST_SMALL:
        chosen += others
    return plan_of(warehouse, table, every, chosen, deleted, merged)


def compaction_plan(warehouse: Warehouse, table: str) -> RewritePlan:
    """Return what to rewrite so that small files of ``table`` are joined."""
    every = files_of(warehouse, table)
    small = small_files(every)
    chosen = small if len(small) > 1 else []
    return plan_of(warehouse, table, every, chosen, DeletedKeys())


def files_of(warehouse: Warehouse, table: str) -> list[TableFile]:
    """Return the data files of a table, from its log."""
    bounds = [f"{bound}.{name}" for bound in ("min", "max") for name in TABLES[table].replaced_by]
    files = warehouse.data_files(table)
    needed = ("path", "size_bytes", "num_records", *bounds)
    return [
        TableFile(file["path"], file["size_bytes"], file["num_records"], *keys_in([file.get(name) for name in bounds]))
        for file in files.select([name for name in needed if name in files.schema.names]).to_pylist()
    ]


def new_file(file: DataFile, by: Sequence[str]) -> TableFile:
    """Return a data file that no commit names yet as a :class:`TableFile`, with the bounds of its own statistics."""
    stats = json.loads(file.stats)
    bounds = [stats.get(bound, {}).get(name) for bound in ("minValues", "maxValues") for name in by]
    return TableFile(file.path, file.size, file.rows, *keys_in(bounds))


def keys_in(bounds: Sequence[str | None]) -> tuple[Key, Key]:
    """Return the (low, high) keys of four bounds; both are empty if any bound is unknown."""
    cluster, key, last_cluster, last_key = bounds
    if cluster is None or key is None or last_cluster is None or last_key is None:
        return FIRST, FIRST
    return (cluster, key), (last_cluster, last_key)


def small_files(files: Collection[TableFile]) -> list[TableFile]:
    """Return the files that have much fewer rows than they should; see :data:`SMALL`."""
    few = rows_a_file(files) // SMALL
    return [file for file in files if file.rows is not None and file.rows < few]


def rows_in(files: Iterable[TableFile]) -> int:
    """Return about how many rows ``files`` hold."""
    return sum(FEW_ROWS if file.rows is None else file.rows for file in files)


def rows_a_file(files: Iterable[TableFile]) -> int:
    """Return how many rows a file should have in a table that consists of ``files``."""
    return min(FILE_ROWS, max(LEAST_ROWS, rows_in(files) // TABLE_FILES))


def plan_of(
    warehouse: Warehouse,
    table: str,
    every: Collection[TableFile],
    chosen: Sequence[TableFile],
    deleted: DeletedKeys,
    merged: Sequence[DataFile] = (),
) -> RewritePlan:
    """Return the plan that rewrites the files ``chosen`` without rows ``deleted`` and with those of ``merged``.

    ``every`` are all files of the table. Tasks have about :data:`TASK_ROWS` rows each.
    """
    version = warehouse.opened(table).version()
    if not chosen:
        return RewritePlan(table, version)
    files = [*chosen, *(new_file(file, TABLES[table].replaced_by) for file in merged)]
    ends = [FIRST, *task_bounds(warehouse, table, files), None]
    others = {*every}.difference(chosen)
    borders = sorted(file.low for file in others if file.bounded)
    cut = []
    for first, end in pairwise(ends):
        here = [file.path for file in files if not file.bounded or may_overlap(file, first or FIRST, end)]
        old = {file.path for file in chosen}
        task = RewriteTask(
            table=table,
            root=warehouse.root,
            files=tuple(path for path in here if path in old),
            first=first or FIRST,
            end=end,
            deleted=deleted.between(first or FIRST, end),
            added=tuple(path for path in here if path not in old),
            borders=tuple(border for border in borders if is_between(border, first or FIRST, end)),
            file_rows=rows_a_file(every),
        )
        if task.files or task.added:
            cut.append(task)
    return RewritePlan(table, version, tuple(chosen), tuple(cut), tuple(merged))


def task_bounds(warehouse: Warehouse, table: str, files: Sequence[TableFile]) -> list[Key]:
    """Return the sorted keys at which the rows are cut into tasks of similar size, from the row groups' first keys."""
    count = rows_in(files) // TASK_ROWS + 1
    if count == 1:
        return []
    system, root = warehouse.files(warehouse.location(table))
    found = [
        key
        for file in files
        for key in first_keys(pq.read_metadata(f"{root}/{file.path}", filesystem=system), TABLES[table].replaced_by)
    ]
    found.sort()
    return sorted({found[len(found) * number // count] for number in range(1, count) if found} - {FIRST})


def first_keys(file: pq.FileMetaData, by: Sequence[str]) -> list[Key]:
    """Return the least keys of a file's row groups, without those that have no statistics."""
    at = [file.schema.names.index(name) for name in by]
    groups = [
        [file.row_group(number).column(column).statistics for column in at] for number in range(file.num_row_groups)
    ]
    return [
        (cluster.min, key.min) for cluster, key in groups if cluster and key and cluster.has_min_max and key.has_min_max
    ]


def is_between(key: Key, first: Key, end: Key | None) -> bool:
    """Return True if ``first <= key < end``; ``None`` is no upper bound."""
    return first <= key and (end is None or key < end)


def may_overlap(file: TableFile, first: Key, end: Key | None) -> bool:
    """Return True if the file may hold keys from ``first`` to before ``end``."""
    return file.high >= first and (end is None or file.low < end)


def rewrite(each: Each, plans: Sequence[RewritePlan]) -> list[DataFile]:
    """Carry out ``plans`` and return the new files: on the driver if the rows are few, otherwise by ``each``."""
    every = [task for plan in plans for task in plan.tasks]
    if sum(plan.rows for plan in plans) <= FEW_ROWS:
        written = [rewrite_task(task) for task in every]
    else:
        written = each(rewrite_task, every)
    return [file for files in written for file in files]


def rewrite_task(task: RewriteTask) -> list[DataFile]:
    """Write the rows of a task that stay, sorted by key, and return the new files."""
    rows = pa.concat_tables([staying(task, task.files, task.deleted), staying(task, task.added, DeletedKeys())])
    of_row, keys = keys_of(rows, TABLES[task.table])
    order = sorted(range(len(keys)), key=keys.__getitem__)
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = np.arange(len(keys))
    of_row = ranks[of_row]
    rows = rows.take(pa.array(np.argsort(of_row, kind="stable")))
    counts = np.bincount(of_row, minlength=len(keys))
    ends = file_cuts([keys[at] for at in order], counts, task.borders, task.file_rows)
    parts = (rows.slice(begin, end - begin).combine_chunks() for begin, end in pairwise(ends))
    written = (write_data_files(((task.table, batch) for batch in part.to_batches()), task.root) for part in parts)
    return [file for files in written for file in files]


def staying(task: RewriteTask, paths: Sequence[str], deleted: DeletedKeys) -> pa.Table:
    """Return the rows of ``paths`` within the task's keys that are not ``deleted``, in the current schema."""
    table = TABLES[task.table]
    schema = table.arrow_schema()
    if not paths:
        return schema.empty_table()
    cluster = ds.field(table.replaced_by[0])
    here = cluster >= task.first[0] if task.end is None else (cluster >= task.first[0]) & (cluster <= task.end[0])
    rows = Warehouse(task.root).uncommitted(task.table, paths).to_table(filter=here).cast(schema)
    of_row, keys = keys_of(rows, table)
    stays = [
        key[0] not in deleted.clusters and key not in deleted.keys and is_between(key, task.first, task.end)
        for key in keys
    ]
    return rows.filter(pa.array(np.array(stays, np.bool_)[of_row]))


def file_cuts(
    keys: Sequence[Key], counts: Sequence[int] | Numbers, borders: Collection[Key], file_rows: int
) -> list[int]:
    """Return the row numbers at which files begin, and the end: at ``borders``, and evenly between them.

    ``counts`` are the rows of each of the sorted ``keys``; rows of one key stay together.
    """
    begins = np.concatenate([[0], np.cumsum(counts)])
    found = {0, int(begins[-1])}
    for first, last in pairwise(sorted({0, len(keys), *(bisect_left(keys, border) for border in borders)})):
        begin, end = int(begins[first]), int(begins[last])
        count = -(-(end - begin) // file_rows)
        even = [begin + (end - begin) * number // count for number in range(count)]
        found.update(begins[np.searchsorted(begins, even, side="right") - 1].tolist())
    return sorted(found) if keys else []
