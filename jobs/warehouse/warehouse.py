"""The Delta tables of one warehouse folder: ``<warehouse>/{bronze,silver,gold,side}/<table>``."""

import os
import re
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
from election_replay.jobs.warehouse.data_files import DataFile, written
from election_replay.jobs.warehouse.delta_form import added, delta_schema, properties
from election_replay.jobs.warehouse.file_stats import dataset_of
from election_replay.jobs.warehouse.patience import Answer, retry_hdfs
from election_replay.jobs.warehouse.run_rows import RUN_PROPERTY, row_said
from election_replay.jobs.warehouse.stores import (
    act_for_spark,
    as_deltas_library_reads_it,
    empty_commits,
    file_system,
    for_spark,
    is_uri,
)
from election_replay.schemas import TABLES, Table

KEEP_DAYS = 30
"""How long a run stays readable where nobody says otherwise."""

FORM, FORM_PROPERTY = 5, "electionReplay.warehouseForm"
"""The form of a warehouse that this release writes, and the property of ``gold.runs`` that says which one it has.

It grows where an older release would write or read wrongly.
"""

FORGOTTEN_PROPERTY = "electionReplay.forgottenUpTo"
"""The property of ``bronze.log_lines`` that names the last landing whose lines are forgotten."""

NOTE = "userMetadata"
"""Where a commit says who made it: a run, a landing."""

TABLES_AT_ONCE = 4
"""So many tables are looked at and created beside each other: each is a few files, and waits for its store."""

MAINTENANCE = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END", "SET TBLPROPERTIES", "COMPUTE STATS"})
"""What Delta calls commits that leave all rows as they are, by whomever they were made."""
MAINTENANCE_COMMITS = 100
"""No more commits than these are looked through for others."""

UNFINISHED = re.compile(r"/_delta_log/\.\d{20}\.json\.tmp[.\d]*$")
"""How a commit is called on HDFS until all of it is there."""


class Warehouse:
    """Where the tables stand, how they are read and written. ``root`` is a local path or a URI."""

    def __init__(self, root: str) -> None:
        self.root = as_deltas_library_reads_it(for_spark(root))
        act_for_spark()
        self._newest: dict[str, DeltaTable] = {}
        self._datasets: dict[str, tuple[int, ds.Dataset]] = {}
        self._settled: set[str] | None = None

    def location(self, table: str) -> str:
        """Where ``table`` stands."""
        return f"{self.root}/{TABLES[table].path}"

    def version(self, table: str) -> int | None:
        """The newest version of ``table``; ``None`` if there is none yet. Raises :class:`~jobs.JobError` as below."""
        try:
            return int(self.opened(table).version())
        except TableNotFoundError:
            return None

    def opened(self, table: str, version: int | None = None) -> DeltaTable:
        """``table`` as Delta knows it, the newest version by default.

        Its log is read once; later only what was committed since. Raises :class:`TableNotFoundError` where there is
        none, and :class:`~jobs.JobError` where its log is damaged.
        """
        known = self._newest.get(table)
        if known is not None and (version == known.version() or (version is None and table in (self._settled or ()))):
            return known
        if version is None:
            self._newest.pop(table, None)  # until it is known to be sound
        with self.telling(table):
            if known is None or version is not None:
                found = DeltaTable(self.location(table), version=version)
            else:
                before, found = known.version(), known
                found.update_incremental()
                if found.version() == before:
                    return self._known(table, found)
            if empty := empty_commits(self.location(table)):
                raise ValueError(f"the commit {empty[0]} is empty")
            return self._known(table, found) if version is None else found

    def _known(self, table: str, found: DeltaTable) -> DeltaTable:
        self._newest[table] = found
        if self._settled is not None:
            self._settled.add(table)
        return found

    @contextmanager
    def pinned_snapshot(self) -> Iterator[None]:
        """Within, a table is not asked again for what others commit to it, only after commits that are made here.

        A commit on top of one of another job fails all the same.
        """
        if self._settled is not None:
            yield
            return
        self._settled = set()
        try:
            yield
        finally:
            self._settled = None

    def changed(self, table: str) -> None:
        """Something was committed to a table by other means than this class."""
        if self._settled is not None:
            self._settled.discard(table)

    def refuse_unwritable(self) -> None:
        """Raise :class:`JobError` when nothing can be written here: Delta's writer would tell of it by a panic."""
        if not is_uri(self.root) and Path(self.root).exists() and not os.access(self.root, os.W_OK):
            raise JobError(f"the warehouse {self.root} cannot be written: it is read-only, or another user's")

    @contextmanager
    def telling(self, table: str) -> Iterator[None]:
        """Name the table in what goes wrong with it; what is wrong with the machine is told as such."""
        try:
            yield
        except (TableNotFoundError, CommitFailedError, JobError):
            raise
        except (DeltaError, OSError, ValueError, pa.ArrowException) as error:
            if user_message(error):
                raise
            raise Damaged(table, self.location(table), error) from error

    def versions(self) -> dict[str, int]:
        """The newest version of every table that is there."""
        found = {name: self.version(name) for name in TABLES}
        return {name: version for name, version in found.items() if version is not None}

    def rows(self, table: str, columns: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """All rows of a small table, without Spark; none if the table is not there."""
        if self.version(table) is None:
            return []
        dataset = self.dataset(table)
        with self.telling(table):
            found: list[dict[str, Any]] = dataset.to_table(list(columns or TABLES[table].names)).to_pylist()
        return found

    def dataset(self, table: str, version: int | None = None) -> ds.Dataset:
        """The rows of ``table`` as Arrow reads them, without Spark; the newest by default.

        A column that an older release did not write is null. What was made last of each table is kept: that takes a
        millisecond for a few files.
        Arrow's own file systems read them. Delta's is written in Python: a thread of Arrow's that still holds bytes of
        it when Python ends brings the whole process down, after all its work is done.
        """
        location = self.location(table)
        system, root = self.files(location)
        with self.telling(table):
            try:
                opened = self.opened(table, version)
            except TableNotFoundError as error:
                raise Damaged(table, location, error) from error
            known, found = self._datasets.get(table, (None, None))
            if found is not None and known == opened.version():
                return found
            found = dataset_of(opened, fs.SubTreeFileSystem(root, system))
        newer = [field for field in TABLES[table].arrow_schema() if field.name not in found.schema.names]
        if newer:
            found = found.replace_schema(pa.schema([*found.schema, *(field.with_nullable(True) for field in newer)]))
        self._datasets[table] = opened.version(), found
        return found

    def written(self, table: str, paths: Iterable[str]) -> ds.Dataset:
        """The rows of data files of ``table`` that no commit names yet, as Arrow reads them."""
        system, root = self.files(self.location(table))
        found = fs.SubTreeFileSystem(root, system)
        return ds.dataset([*paths], schema=TABLES[table].arrow_schema(), format="parquet", filesystem=found)

    def discard(self, table: str, paths: Iterable[str]) -> None:
        """Remove data files of ``table`` that no commit names."""
        system, root = self.files(self.location(table))
        for path in paths:
            system.delete_file(f"{root}/{path}")

    def files(self, location: str) -> tuple[fs.FileSystem, str]:
        """The file system of a place in the warehouse, and the place in it."""
        return file_system(location)

    def retry_hdfs(self, write: Callable[[], Answer]) -> Answer:
        """Write, and once more where a machine of HDFS did not answer."""
        return retry_hdfs(write, self._remove_unfinished)

    def _remove_unfinished(self, path: str) -> None:
        """Take away what a writer that is gone has left of a commit; the next attempt does without."""
        system, root = self.files(self.root)
        if path.startswith(f"{root.rstrip('/')}/") and UNFINISHED.search(path):
            with suppress(OSError):
                system.delete_file(path)

    def count(self, table: str) -> int:
        """The number of rows of ``table``, from its log alone."""
        return int(self.opened(table).count())

    def last_batch(self) -> int:
        """The number of the last landing that was finished; 0 if there is none.

        No number is given twice, though all that a landing brought be erased: a run names the last one that it judged.
        """
        if self.version("landed_files") is None:
            return 0
        dataset = self.dataset("landed_files")
        with self.telling("landed_files"):
            landed = [pc.max(rows["batch"]).as_py() or 0 for rows in dataset.scanner(["batch"]).to_batches()]
        return max([0, *landed, *(int(row["batch"]) for row in self.rows("runs", ["batch"]))])

    def partitions(self, table: str, version: int | None = None) -> set[str]:
        """The partitions of ``table`` that hold rows, the newest version by default, by its log alone."""
        (column,) = TABLES[table].partitioned_by
        files = pa.table(self.opened(table, version).get_add_actions(flatten=True))
        return set(files[f"partition.{column}"].cast(pa.string()).unique().to_pylist()) if files.num_rows else set()

    def null_columns(self, table: str, version: int | None = None) -> dict[str, frozenset[str]]:
        """The columns of which no row of a file has a value, as far as the log of ``table`` says so: by path."""
        files = pa.table(self.opened(table, version).get_add_actions(flatten=True))
        found: dict[str, set[str]] = {path: set() for path in files["path"].to_pylist()}
        for name in TABLES[table].names:
            if f"null_count.{name}" in files.schema.names:
                whole = pc.equal(files[f"null_count.{name}"], files["num_records"])
                for path in files["path"].filter(whole).to_pylist():
                    found[path].add(name)
        return {path: frozenset(names) for path, names in found.items()}

    def distinct(self, table: str, column: str) -> list[str]:
        """The values of a column, each once, in order; none if the table is not there."""
        if self.version(table) is None:
            return []
        with self.telling(table):
            return sorted(self.dataset(table).to_table([column])[column].unique().to_pylist())

    def runs(self) -> list[dict[str, Any]]:
        """All rows of ``gold.runs``, and that of a run that was killed between its publication and its row."""
        rows = self.rows("runs")
        rows += self.unrecorded(rows)
        for row in rows:
            row["versions"], row["counts"] = dict(row["versions"]), dict(row["counts"])
        return rows

    def unrecorded(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The row of the newest published run, by the commit that published it, where ``rows`` do not have it."""
        with suppress(Damaged, TableNotFoundError):
            commits = self.opened("published").history(1)
            if commits and is_maintenance(commits[0]):
                every = self.opened("published").history(MAINTENANCE_COMMITS)
                commits = [commit for commit in every if not is_maintenance(commit)]
            if commits and RUN_PROPERTY in commits[0]:
                row = row_said(commits[0][RUN_PROPERTY])
                if not any((other["run_id"], other["status"]) == (row["run_id"], row["status"]) for other in rows):
                    return [row]
        return []

    def record_published(self) -> None:
        """Write the row of a run that was killed before it could: once the pointer moves on, nobody says it again."""
        if left_out := self.unrecorded(self.rows("runs")):
            self.append(left_out, "runs")

    def moment(self, table: str, *columns: str) -> datetime:
        """Now, or just after the latest time in some columns of a table: the clock of a driver may have been set back.

        What is read is the newest row by its time. A row that is written later must be the newer one by that, too.
        """
        times: list[datetime] = [
            row[name] for row in self.rows(table, [*columns]) for name in columns if row[name] is not None
        ]
        return max([datetime.now(UTC), *(time + timedelta(microseconds=1) for time in times)])

    def published(self) -> dict[str, Any] | None:
        """The last published row of ``gold.runs``: what readers see; ``None`` if nothing is published.

        Raises :class:`JobError` where a newer release has published in a form that this one does not know.
        """
        self.refuse_newer()
        rows = [row for row in self.runs() if row["status"] == "published"]
        return max(rows, key=lambda row: (row["published_at"], row["run_id"]), default=None)

    def last_run(self) -> dict[str, Any]:
        """What :meth:`published` gives. Raises :class:`JobError` when nothing is published."""
        if (run := self.published()) is None:
            raise JobError(
                f"nothing is published in {self.root}: run `election-replay run --landing DIR --warehouse DIR` first"
            )
        return run

    def run_before(self, run: Mapping[str, Any]) -> dict[str, Any] | None:
        """The published run before ``run``, but for those that publish the same rows in new files; ``None``: it is the
        first."""
        runs = sorted(
            (row for row in self.runs() if row["status"] == "published" and row["published_at"] <= run["published_at"]),
            key=lambda row: (row["published_at"], row["run_id"]),
        )
        judging = [row for row in runs if row["clusters"]]
        return judging[-2] if len(judging) > 1 else None

    def published_version(self, run: Mapping[str, Any], table: str) -> int | None:
        """At which version readers read a table, if it is there; what is written later than a run is read as it is."""
        if table in {"runs", "validations", "reviews"}:
            return self.version(table)
        version: int | None = run["versions"].get(table)
        return self.version(table) if self.holds_rows_of(table, version) else version

    def holds_rows_of(self, table: str, version: int | None) -> bool:
        """Whether a table still has the rows of a version: since then nobody wrote, or only joined files."""
        newest = self.version(table)
        if newest == version or newest is None or version is None:
            return newest == version
        if not 0 < newest - version <= MAINTENANCE_COMMITS:
            return False
        return all(is_maintenance(commit) for commit in self.opened(table).history(newest - version))

    def create(self, names: Collection[str] = tuple(TABLES)) -> None:
        """Create those tables of ``names`` that are missing, and the columns that an older release did not give them.

        Raises :class:`JobError` when the folder holds something else.
        """
        self.refuse_foreign_folder()
        self.refuse_unwritable()
        self.refuse_newer()
        with ThreadPoolExecutor(TABLES_AT_ONCE) as pool:
            for _ in pool.map(self._provide, map(TABLES.__getitem__, names)):
                pass
        if len(names) == len(TABLES):
            self.note_form()

    def _provide(self, table: Table) -> None:
        """Create a table that is missing, or the columns that an older release did not give it."""
        if self.version(table.name) is None:
            self.retry_hdfs(partial(self._make, table))
        else:
            self.add_missing_columns(table)

    def form(self) -> int:
        """The form that the warehouse has; 1 where nothing says so."""
        if self.version("runs") is None:
            return 1
        return int(self.opened("runs").metadata().configuration.get(FORM_PROPERTY) or 1)

    def forgotten(self) -> int:
        """The last landing whose lines are forgotten, but for those that facts name; 0: none is."""
        if self.version("log_lines") is None:
            return 0
        return int(self.opened("log_lines").metadata().configuration.get(FORGOTTEN_PROPERTY) or 0)

    def note_forgotten(self, batch: int) -> None:
        """Let the lines say up to which landing they are forgotten."""
        self.opened("log_lines").alter.set_table_properties({FORGOTTEN_PROPERTY: str(batch)}, raise_if_not_exists=False)

    def refuse_newer(self) -> None:
        """Raise :class:`JobError` for a warehouse of a newer release, in a form that this one does not know."""
        if (form := self.form()) > FORM:
            raise JobError(
                f"the warehouse {self.root} has form {form}, and this release of election-replay knows forms up to "
                f"{FORM}: use the release that wrote it, or a newer one"
            )

    def note_form(self) -> None:
        """Let the warehouse say its form, once all tables have it."""
        if self.form() != FORM:
            alter = self.opened("runs").alter
            with self.committing("runs"):
                self.retry_hdfs(
                    lambda: alter.set_table_properties({FORM_PROPERTY: str(FORM)}, raise_if_not_exists=False)
                )

    def _make(self, table: Table) -> None:
        with self.committing(table.name):
            DeltaTable.create(
                self.location(table.name),
                delta_schema(table),
                mode="ignore",
                partition_by=list(table.partitioned_by),
                name=table.name,
                description=table.comment,
                configuration=properties(table, KEEP_DAYS),
            )

    def add_missing_columns(self, table: Table) -> None:
        """Give a table of an older release the columns that it lacks; they are null in its rows."""
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
        """Raise :class:`JobError` when tables would be written between files that are not ours."""
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
        """Make those of ``files`` that are its own all that ``table`` holds of some ``partitions``, or all in all.

        That is one commit on top of ``version``, by default the newest; ``note`` and ``metadata`` go into the history.
        Without partitions the files are only added. Raises :class:`JobError` when another job has written to the table
        since that version.
        """
        column = next(iter(TABLES[table].partitioned_by), None)
        replaced = partitions if column else None if partitions is None else ()
        mode: Literal["append", "overwrite"] = "overwrite" if replaced is None or replaced else "append"
        filters = [(column, "in", sorted(replaced))] if column and replaced else None
        self._commit(added(files, table), table, mode, filters, {NOTE: note, **(metadata or {})}, version)

    def commit_rewrite(
        self, files: Iterable[DataFile], gone: Mapping[str, int], table: str, note: str, version: int
    ) -> None:
        """Make ``files`` stand in ``table`` in place of those ``gone``: path -> size in bytes.

        That is one commit on top of ``version``. Raises :class:`JobError` when another job has written to the table
        since.
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
        """Replace the rows of ``table`` that the SQL condition ``where`` names, by default all, in one commit.

        ``note`` goes into the history. A reader's rows cannot be read twice, so they are written once, however HDFS
        answers. Raises :class:`JobError` when another job has committed in between.
        """
        properties = CommitProperties(custom_metadata={NOTE: note}) if note else None
        write = partial(write_deltalake, self.location(table), rows, mode="overwrite", commit_properties=properties)
        with self.committing(table):
            if isinstance(rows, pa.Table):
                self.retry_hdfs(lambda: write(predicate=where))
            else:
                write(predicate=where)

    def erase(self, table: str, where: str) -> None:
        """Delete the rows of ``table`` that the SQL condition ``where`` names.

        DELETE of delta-rs would rewrite the other rows with string views, by which Arrow cannot filter.
        """
        self.overwrite(table, TABLES[table].arrow_schema().empty_table(), where)

    @contextmanager
    def committing(self, table: str) -> Iterator[None]:
        """Raise :class:`JobError` where a commit to a table has lost against that of another job."""
        try:
            yield
        except CommitFailedError as error:
            raise JobError(
                f"another job has written to {self.location(table)} since this one began: run it again"
            ) from error
        finally:
            self.changed(table)

    def refuse_other_shape(self, table: str, opened: DeltaTable) -> None:
        """Raise :class:`JobError` where data files of ours would not fit a table: Delta itself does not look.

        Files name no partitions, so that those of other columns would be null; columns that it lacks would be lost.
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
        """Raise :class:`JobError` where files that are to be committed are gone: Delta itself does not look."""
        system, root = self.files(self.location(table))
        paths = [f"{root}/{action.path}" for action in actions if isinstance(action, AddAction)]
        if any(info.type != fs.FileType.File for info in system.get_file_info(paths)):
            raise JobError(
                f"files that this job has written for {self.location(table)} are gone: somebody has tidied up what was "
                "not committed yet. Nothing was changed: run it again"
            )

    def append(self, rows: Sequence[Mapping[str, Any]], table: str) -> None:
        """Add a few rows, without Spark, and the columns that the table of an older release lacks.

        Others may add rows meanwhile. Raises :class:`JobError` where nothing can be written. Delta's own writer of rows
        would tell of a store that refuses them by a panic besides.
        """
        self.refuse_unwritable()
        if self.version(table) is None:
            self.retry_hdfs(partial(self._make, TABLES[table]))
        self.add_missing_columns(TABLES[table])
        shaped = pa.Table.from_pylist(list(rows), TABLES[table].arrow_schema())
        files = self.retry_hdfs(lambda: written(((table, batch) for batch in shaped.to_batches()), self.root))
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
    """Whether a commit changed no row: it joined files, removed old ones, or set a property."""
    return commit.get("operation") in MAINTENANCE
