"""The Delta tables of one warehouse folder: ``<warehouse>/{bronze,silver,gold,side}/<table>``."""

import os
import re
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, Field, write_deltalake
from deltalake.exceptions import CommitFailedError, DeltaError, TableNotFoundError
from deltalake.transaction import AddAction, RemoveAction
from pyarrow import fs

from election_replay.jobs import JobError
from election_replay.jobs.faults import Damaged, user_message
from election_replay.jobs.warehouse.data_files import DataFile, write_files
from election_replay.jobs.warehouse.delta_form import added, delta_schema, properties
from election_replay.jobs.warehouse.file_stats import dataset_of
from election_replay.jobs.warehouse.patience import Answer, retry_hdfs
from election_replay.jobs.warehouse.run_rows import RUN_PROPERTY, parse_run_row
from election_replay.jobs.warehouse.stores import (
    adopt_spark_user,
    empty_commits,
    file_system,
    for_spark,
    is_uri,
    path_for_delta_rs,
)
from election_replay.schemas import TABLES, Table

KEEP_DAYS = 30
"""Days for which a published run stays readable by default."""

FORM, FORM_PROPERTY = 5, "electionReplay.warehouseForm"
"""The layout version that this release writes, and the property of ``gold.runs`` that holds a warehouse's version.

It grows when an older release would read or write the tables wrongly.
"""

FORGOTTEN_PROPERTY = "electionReplay.forgottenUpTo"
"""The property of ``bronze.log_lines`` that holds the number of the last landing whose lines were erased."""

NOTE = "userMetadata"
"""The key of a commit's metadata that names the job that made it: a run or a landing."""

TABLES_AT_ONCE = 4
"""Threads that create tables: creating one writes a few files and mostly waits for the store."""

MAINTENANCE = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "COMPUTE STATS"})
"""Delta's names of operations that change no row, whoever commits them."""
MAINTENANCE_COMMITS = 100
"""The maximum number of commits of a table's history that are searched for one that changed rows."""

UNFINISHED = re.compile(r"/_delta_log/\.\d{20}\.json\.tmp[.\d]*$")
"""The path of a commit on HDFS while it is being written."""


class Warehouse:
    """The tables below one folder: opens, reads, creates and commits to them. ``root`` is a local path or a URI."""

    def __init__(self, root: str) -> None:
        self.root = path_for_delta_rs(for_spark(root))
        adopt_spark_user()
        self._newest: dict[str, DeltaTable] = {}
        self._datasets: dict[str, tuple[int, ds.Dataset]] = {}
        self._data_files: dict[str, tuple[int, pa.Table]] = {}
        self._complete: set[str] = set()
        self._pinned: set[str] | None = None

    def clear(self) -> None:
        """Remove all tables of a local warehouse that is being made."""
        shutil.rmtree(self.root.removeprefix("file://"), ignore_errors=True)
        self._newest.clear()
        self._datasets.clear()
        self._data_files.clear()
        self._complete.clear()

    def location(self, table: str) -> str:
        """Return the path or URI of ``table``."""
        return f"{self.root}/{TABLES[table].path}"

    def version(self, table: str) -> int | None:
        """Return the newest version of ``table``; ``None`` if it does not exist. Raises as :meth:`opened` does."""
        try:
            return int(self.opened(table).version())
        except TableNotFoundError:
            return None

    def opened(self, table: str, version: int | None = None) -> DeltaTable:
        """Return ``table`` at ``version``, by default the newest.

        The log is read once; later calls read only newer commits. Raises :class:`TableNotFoundError` if the table
        does not exist, and :class:`~jobs.JobError` if its log is damaged.
        """
        known = self._newest.get(table)
        if known is not None and (version == known.version() or (version is None and table in (self._pinned or ()))):
            return known
        if version is None:
            self._newest.pop(table, None)  # until it is known to be sound
        with self.raising_damaged(table):
            if known is None or version is not None:
                found = DeltaTable(self.location(table), version=version)
            else:
                before, found = known.version(), known
                found.update_incremental()
                if found.version() == before:
                    return self._cached(table, found)
            if empty := empty_commits(self.location(table)):
                raise ValueError(f"the commit {empty[0]} is empty")
            return self._cached(table, found) if version is None else found

    def _cached(self, table: str, found: DeltaTable) -> DeltaTable:
        self._newest[table] = found
        if self._pinned is not None:
            self._pinned.add(table)
        return found

    @contextmanager
    def pinned_snapshot(self) -> Iterator[None]:
        """Stop looking for commits of other jobs while this context is open; a table is read again after our own.

        A commit of ours still fails if another job has committed to the table meanwhile.
        """
        if self._pinned is not None:
            yield
            return
        self._pinned = set()
        try:
            yield
        finally:
            self._pinned = None

    def unpin(self, table: str) -> None:
        """Drop the pinned version of ``table`` after a commit, so that the next read looks for newer ones."""
        if self._pinned is not None:
            self._pinned.discard(table)

    def refuse_unwritable(self) -> None:
        """Raise :class:`JobError` if a local warehouse is not writable: Delta's writer would panic instead."""
        if not is_uri(self.root) and Path(self.root).exists() and not os.access(self.root, os.W_OK):
            raise JobError(f"the warehouse {self.root} cannot be written: it is read-only, or another user's")

    @contextmanager
    def raising_damaged(self, table: str) -> Iterator[None]:
        """Turn errors of reading ``table`` into :class:`Damaged`, except those whose cause is the machine."""
        try:
            yield
        except (TableNotFoundError, CommitFailedError, JobError):
            raise
        except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
            if user_message(error):
                raise
            raise Damaged(table, self.location(table), error) from error

    def versions(self) -> dict[str, int]:
        """Return the newest version of every table that exists."""
        found = {name: self.version(name) for name in TABLES}
        return {name: version for name, version in found.items() if version is not None}

    def rows(self, table: str, columns: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return all rows of a small table as dicts, without Spark; an empty list if the table does not exist."""
        if self.version(table) is None:
            return []
        dataset = self.dataset(table)
        with self.raising_damaged(table):
            found: list[dict[str, Any]] = dataset.to_table(list(columns or TABLES[table].names)).to_pylist()
        return found

    def dataset(self, table: str, version: int | None = None) -> ds.Dataset:
        """Return ``table`` at ``version``, by default the newest, as an Arrow dataset.

        A column that an older release did not write is null. The last dataset of each table is cached: making one
        takes a millisecond for a few files.
        Arrow's own file systems read the files. delta-rs's is written in Python: an Arrow thread that still holds its
        bytes when the interpreter exits crashes the process, after all work is done.
        """
        location = self.location(table)
        system, root = self.files(location)
        with self.raising_damaged(table):
            try:
                opened = self.opened(table, version)
            except TableNotFoundError as error:
                raise Damaged(table, location, error) from error
            known, found = self._datasets.get(table, (None, None))
            if found is not None and known == opened.version():
                return found
            found = dataset_of(opened, self.data_files(table, version), fs.SubTreeFileSystem(root, system))
        newer = [field for field in TABLES[table].arrow_schema() if field.name not in found.schema.names]
        if newer:
            found = found.replace_schema(pa.schema([*found.schema, *(field.with_nullable(True) for field in newer)]))
        self._datasets[table] = opened.version(), found
        return found

    def data_files(self, table: str, version: int | None = None) -> pa.Table:
        """Return the data files of ``table`` with their statistics, one row each; the last answer is cached."""
        opened = self.opened(table, version)
        known, found = self._data_files.get(table, (None, None))
        if found is None or known != opened.version():
            found = pa.table(opened.get_add_actions(flatten=True))
            self._data_files[table] = opened.version(), found
        return found

    def uncommitted(self, table: str, paths: Iterable[str]) -> ds.Dataset:
        """Return an Arrow dataset of data files of ``table`` that no commit names yet."""
        system, root = self.files(self.location(table))
        found = fs.SubTreeFileSystem(root, system)
        return ds.dataset([*paths], schema=TABLES[table].arrow_schema(), format="parquet", filesystem=found)

    def discard(self, table: str, paths: Iterable[str]) -> None:
        """Remove data files of ``table`` that no commit names."""
        system, root = self.files(self.location(table))
        for path in paths:
            system.delete_file(f"{root}/{path}")

    def files(self, location: str) -> tuple[fs.FileSystem, str]:
        """Return Arrow's file system for ``location`` and the path within it."""
        return file_system(location)

    def retry_hdfs(self, write: Callable[[], Answer]) -> Answer:
        """Call ``write``, again while an HDFS machine does not answer; see :mod:`jobs.warehouse.patience`."""
        return retry_hdfs(write, self._remove_unfinished)

    def _remove_unfinished(self, path: str) -> None:
        """Delete the unfinished commit file of a writer that is gone, if ``path`` is one in this warehouse."""
        system, root = self.files(self.root)
        if path.startswith(f"{root.rstrip('/')}/") and UNFINISHED.search(path):
            with suppress(OSError):
                system.delete_file(path)

    def count(self, table: str) -> int:
        """Return the number of rows of ``table``, from its log alone."""
        return int(self.opened(table).count())

    def last_batch(self) -> int:
        """Return the number of the last finished landing; 0 if there is none.

        Runs name the last landing that they judged, so a number is not reused even if all rows of it were erased.
        """
        if self.version("landed_files") is None:
            return 0
        dataset = self.dataset("landed_files")
        with self.raising_damaged("landed_files"):
            landed = [pc.max(rows["batch"]).as_py() or 0 for rows in dataset.scanner(["batch"]).to_batches()]
        return max([0, *landed, *(int(row["batch"]) for row in self.rows("runs", ["batch"]))])

    def partitions(self, table: str, version: int | None = None) -> set[str]:
        """Return the partition values of ``table`` at ``version``, by default the newest, from its log alone."""
        (column,) = TABLES[table].partitioned_by
        files = self.data_files(table, version)
        return set(files[f"partition.{column}"].cast(pa.string()).unique().to_pylist()) if files.num_rows else set()

    def null_columns(self, table: str, version: int | None = None) -> dict[str, frozenset[str]]:
        """Return, by path of each data file, the columns that its statistics show to be null in every row."""
        files = self.data_files(table, version)
        found: dict[str, set[str]] = {path: set() for path in files["path"].to_pylist()}
        for name in TABLES[table].names:
            if f"null_count.{name}" in files.schema.names:
                whole = pc.equal(files[f"null_count.{name}"], files["num_records"])
                for path in files["path"].filter(whole).to_pylist():
                    found[path].add(name)
        return {path: frozenset(names) for path, names in found.items()}

    def distinct(self, table: str, column: str) -> list[str]:
        """Return the sorted distinct values of a column; an empty list if the table does not exist."""
        if self.version(table) is None:
            return []
        with self.raising_damaged(table):
            return sorted(self.dataset(table).to_table([column])[column].unique().to_pylist())

    def runs(self) -> list[dict[str, Any]]:
        """Return the rows of ``gold.runs``, including that of a run killed after publishing but before writing it."""
        rows = self.rows("runs")
        rows += self.unrecorded(rows)
        for row in rows:
            row["versions"], row["counts"] = dict(row["versions"]), dict(row["counts"])
        return rows

    def unrecorded(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the row that the newest publishing commit carries, as a list; empty if ``rows`` already have it."""
        with suppress(Damaged, TableNotFoundError):
            commits = self.opened("published").history(1)
            if commits and is_maintenance(commits[0]):
                every = self.opened("published").history(MAINTENANCE_COMMITS)
                commits = [commit for commit in every if not is_maintenance(commit)]
            if commits and RUN_PROPERTY in commits[0]:
                row = parse_run_row(commits[0][RUN_PROPERTY])
                if not any((other["run_id"], other["status"]) == (row["run_id"], row["status"]) for other in rows):
                    return [row]
        return []

    def record_published(self) -> None:
        """Write the missing row of a killed run: only the newest publishing commit is searched for one."""
        if left_out := self.unrecorded(self.rows("runs")):
            self.append(left_out, "runs")

    def next_timestamp(self, table: str, *columns: str) -> datetime:
        """Return now, or 1 us after the latest time in ``columns`` if the driver's clock was set back (UTC).

        Readers take the row with the latest time as the newest, so a row written later needs a later time.
        """
        times: list[datetime] = [
            row[name] for row in self.rows(table, [*columns]) for name in columns if row[name] is not None
        ]
        return max([datetime.now(UTC), *(time + timedelta(microseconds=1) for time in times)])

    def published(self) -> dict[str, Any] | None:
        """Return the row of ``gold.runs`` that readers see, the last published; ``None`` if nothing is published.

        Raises :class:`JobError` if a newer release wrote the warehouse in a form that this one does not know.
        """
        self.refuse_newer()
        rows = [row for row in self.runs() if row["status"] == "published"]
        return max(rows, key=lambda row: (row["published_at"], row["run_id"]), default=None)

    def last_run(self) -> dict[str, Any]:
        """Return :meth:`published`. Raises :class:`JobError` if nothing is published."""
        if (run := self.published()) is None:
            raise JobError(
                f"nothing is published in {self.root}: run `election-replay run --landing DIR --warehouse DIR` first"
            )
        return run

    def run_before(self, run: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the run published before ``run``; ``None`` if that is the first.

        Rows that upkeep published, with the same verdicts in new files, do not count.
        """
        runs = sorted(
            (row for row in self.runs() if row["status"] == "published" and row["published_at"] <= run["published_at"]),
            key=lambda row: (row["published_at"], row["run_id"]),
        )
        judging = [row for row in runs if row["clusters"]]
        return judging[-2] if len(judging) > 1 else None

    def published_version(self, run: Mapping[str, Any], table: str) -> int | None:
        """Return the version of ``table`` at which readers of ``run`` read it; ``None`` if it did not exist.

        Tables that are written after a run ends are read at their newest version.
        """
        if table in {"runs", "validations", "reviews"}:
            return self.version(table)
        version: int | None = run["versions"].get(table)
        return self.version(table) if self.holds_rows_of(table, version) else version

    def holds_rows_of(self, table: str, version: int | None) -> bool:
        """Return True if ``table`` still has the rows of ``version``: later commits are maintenance only."""
        newest = self.version(table)
        if newest == version or newest is None or version is None:
            return newest == version
        if not 0 < newest - version <= MAINTENANCE_COMMITS:
            return False
        return all(is_maintenance(commit) for commit in self.opened(table).history(newest - version))

    def create(self, names: Collection[str] = tuple(TABLES)) -> None:
        """Create the missing tables of ``names``, and the columns that tables of an older release lack.

        Raises :class:`JobError` if the folder holds other files, cannot be written, or is of a newer release.
        """
        self.refuse_foreign_folder()
        self.refuse_unwritable()
        self.refuse_newer()
        with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
            for _ in pool.map(self._create_or_migrate, map(TABLES.__getitem__, names)):
                pass
        if len(names) == len(TABLES):
            self.note_form()

    def _create_or_migrate(self, table: Table) -> None:
        """Create a missing table, or the columns that a table of an older release lacks."""
        if self.version(table.name) is None:
            self.retry_hdfs(partial(self._create, table))
        elif table.name not in self._complete:
            self.add_missing_columns(table)
        self._complete.add(table.name)

    def form(self) -> int:
        """Return the warehouse's form (:data:`FORM`); 1 if the property is not set."""
        if self.version("runs") is None:
            return 1
        return int(self.opened("runs").metadata().configuration.get(FORM_PROPERTY) or 1)

    def forgotten(self) -> int:
        """Return the last landing whose lines were erased, except lines that facts name; 0 if there is none."""
        if self.version("log_lines") is None:
            return 0
        return int(self.opened("log_lines").metadata().configuration.get(FORGOTTEN_PROPERTY) or 0)

    def note_forgotten(self, batch: int) -> None:
        """Record in ``bronze.log_lines`` that the lines of landings up to ``batch`` were erased."""
        self.opened("log_lines").alter.set_table_properties({FORGOTTEN_PROPERTY: str(batch)}, raise_if_not_exists=False)

    def refuse_newer(self) -> None:
        """Raise :class:`JobError` if a newer release wrote the warehouse in a form that this one does not know."""
        if (form := self.form()) > FORM:
            raise JobError(
                f"the warehouse {self.root} has form {form}, and this release of election-replay knows forms up to "
                f"{FORM}: use the release that wrote it, or a newer one"
            )

    def note_form(self) -> None:
        """Record the current form; call it once all tables have it."""
        if self.form() != FORM:
            alter = self.opened("runs").alter
            with self.committing("runs"):
                self.retry_hdfs(
                    lambda: alter.set_table_properties({FORM_PROPERTY: str(FORM)}, raise_if_not_exists=False)
                )

    def _create(self, table: Table) -> None:
        with self.committing(table.name):
            made = DeltaTable.create(
                self.location(table.name),
                delta_schema(table),
                mode="ignore",
                partition_by=list(table.partitioned_by),
                name=table.name,
                description=table.comment,
                configuration=properties(table, KEEP_DAYS),
            )
        self._cached(table.name, made)

    def add_missing_columns(self, table: Table) -> None:
        """Add the columns that a table of an older release lacks; existing rows have null there."""
        here = self.opened(table.name)
        there = {field.name for field in here.schema().fields}
        if not there.issuperset(table.names):
            missing = [
                Field(field.name, field.type, nullable=True, metadata=field.metadata)
                for field in delta_schema(table).fields
                if field.name not in there
            ]
            with self.committing(table.name):
                self.retry_hdfs(lambda: here.alter.add_columns(missing))

    def refuse_foreign_folder(self) -> None:
        """Raise :class:`JobError` if a local ``root`` is a file, or a non-empty folder without our layers."""
        folder = Path(self.root)
        if is_uri(self.root) or not folder.exists():
            return
        if not folder.is_dir():
            raise JobError(f"the warehouse {self.root} is not a folder")
        layers = {table.layer for table in TABLES.values()}
        if any(folder.iterdir()) and not any((folder / layer).is_dir() for layer in layers):
            raise JobError(f"{self.root} holds other files and is no warehouse: give a new or an empty folder")

    def replace(
        self,
        files: Iterable[DataFile],
        table: str,
        partitions: Collection[str] | None,
        note: str,
        version: int | None = None,
        *,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        """Replace ``partitions`` of ``table``, or all of it if they are ``None``, by its files among ``files``.

        That is one commit on top of ``version``, by default the newest; ``note`` and ``metadata`` go into the history.
        Empty ``partitions``, or any for an unpartitioned table, only add the files. Raises :class:`JobError` if another
        job has written to the table since that version.
        """
        column = next(iter(TABLES[table].partitioned_by), None)
        replaced = partitions if column else None if partitions is None else ()
        mode: Literal["append", "overwrite"] = "overwrite" if replaced is None or replaced else "append"
        filters = [(column, "in", sorted(replaced))] if column and replaced else None
        self._commit(added(files, table), table, mode, filters, {NOTE: note, **(metadata or {})}, version)

    def commit_rewrite(
        self, files: Iterable[DataFile], gone: Mapping[str, int], table: str, note: str, version: int
    ) -> None:
        """Replace the data files ``gone`` of ``table`` (path -> size in bytes) by those of ``files`` that are its.

        That is one commit on top of ``version``. Raises :class:`JobError` if another job has committed since.
        """
        now = int(time.time() * 1000)
        removed = [RemoveAction(path, True, now, size, {}) for path, size in gone.items()]
        self._commit([*added(files, table), *removed], table, "append", None, {NOTE: note}, version)

    def _commit(
        self,
        actions: list[AddAction | RemoveAction],
        table: str,
        mode: Literal["append", "overwrite"],
        filters: list[tuple[str, str, list[str]]] | None,
        metadata: dict[str, str],
        version: int | None,
    ) -> None:
        opened = self.opened(table, version)
        self.refuse_other_shape(table, opened)
        self.refuse_missing(table, actions)
        with self.committing(table):
            self.retry_hdfs(
                lambda: opened.create_write_transaction(
                    actions,
                    mode=mode,
                    schema=opened.schema(),
                    partition_by=list(TABLES[table].partitioned_by),
                    partition_filters=filters,
                    commit_properties=CommitProperties(custom_metadata=metadata, max_commit_retries=0),
                )
            )

    def overwrite(
        self, table: str, rows: pa.Table | pa.RecordBatchReader, where: str | None = None, note: str | None = None
    ) -> None:
        """Replace the rows of ``table`` that match the SQL condition ``where``, by default all, in one commit.

        ``note`` goes into the history. A reader can be consumed only once, so writing from one is not retried on HDFS.
        Raises :class:`JobError` if another job has committed meanwhile.
        """
        properties = CommitProperties(custom_metadata={NOTE: note}) if note else None
        write = partial(write_deltalake, self.location(table), rows, mode="overwrite", commit_properties=properties)
        with self.committing(table):
            if isinstance(rows, pa.Table):
                self.retry_hdfs(lambda: write(predicate=where))
            else:
                write(predicate=where)

    def erase(self, table: str, where: str) -> None:
        """Delete the rows of ``table`` that match the SQL condition ``where``.

        delta-rs's own DELETE rewrites the other rows with string views, and Arrow cannot filter by those.
        """
        self.overwrite(table, TABLES[table].arrow_schema().empty_table(), where)

    @contextmanager
    def committing(self, table: str) -> Iterator[None]:
        """Turn a commit that lost against another job's into :class:`JobError`."""
        try:
            yield
        except CommitFailedError as error:
            raise JobError(
                f"another job has written to {self.location(table)} since this one began: run it again"
            ) from error
        finally:
            self.unpin(table)

    def refuse_other_shape(self, table: str, opened: DeltaTable) -> None:
        """Raise :class:`JobError` if our data files do not fit the table: Delta itself does not check.

        Files do not hold their partition column: with another partitioning it would be null. A column that the table
        lacks would be lost.
        """
        here, wanted = opened.metadata().partition_columns, list(TABLES[table].partitioned_by)
        if here != wanted:
            raise JobError(
                f"the table {self.location(table)} is partitioned by {', '.join(here) or 'nothing'}, not by "
                f"{', '.join(wanted) or 'nothing'}: another release of election-replay made it"
            )
        lacking = {*TABLES[table].names}.difference(field.name for field in opened.schema().fields)
        if lacking:
            raise JobError(f"the table {self.location(table)} has no column {', '.join(sorted(lacking))}: run `replay`")

    def refuse_missing(self, table: str, actions: Iterable[AddAction | RemoveAction]) -> None:
        """Raise :class:`JobError` if a file to be committed no longer exists: Delta itself does not check."""
        system, root = self.files(self.location(table))
        paths = [f"{root}/{action.path}" for action in actions if isinstance(action, AddAction)]
        if any(info.type != fs.FileType.File for info in system.get_file_info(paths)):
            raise JobError(
                f"files that this job has written for {self.location(table)} are gone: somebody has tidied up what was "
                "not committed yet. Nothing was changed: run it again"
            )

    def append(self, rows: Sequence[Mapping[str, Any]], table: str) -> None:
        """Add a few rows, without Spark, and first the columns that a table of an older release lacks.

        Other jobs may add rows meanwhile. Raises :class:`JobError` if nothing can be written. Rows go through our own
        writer: delta-rs's panics where a store refuses them.
        """
        self.refuse_unwritable()
        if self.version(table) is None:
            self.retry_hdfs(partial(self._create, TABLES[table]))
        self.add_missing_columns(TABLES[table])
        shaped = pa.Table.from_pylist(list(rows), TABLES[table].arrow_schema())
        files = self.retry_hdfs(lambda: write_files(((table, batch) for batch in shaped.to_batches()), self.root))
        opened = self.opened(table)
        with self.committing(table):
            self.retry_hdfs(
                lambda: opened.create_write_transaction(
                    added(files, table),
                    mode="append",
                    schema=opened.schema(),
                    partition_by=list(TABLES[table].partitioned_by),
                )
            )


def is_maintenance(commit: Mapping[str, Any]) -> bool:
    """Return True if a commit changed no row: it joined files, removed old ones, or set a property."""
    return commit.get("operation") in MAINTENANCE
