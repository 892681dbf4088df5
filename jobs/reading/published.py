"""Reads published tables without Spark, each at the version that the published run names.

The tables are views of an in-memory DuckDB database that can access nothing else: no files, no network, no settings.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from election_replay.jobs import JobError
from election_replay.jobs.faults import Damaged, user_message
from election_replay.jobs.reading.duckdb_views import NAMES, compares, create_macros, create_views, read_by
from election_replay.jobs.warehouse.pointer import PUBLISHED, current_rows_sql, pointer_of
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import BEFORE, VIEWS

CALLS = {name: name for name in sorted(TABLES)} | {name: view.call for name, view in sorted(VIEWS.items())}
MISSING = re.compile(r"(?:Table|Table Function|View) with name \"?([^\s\"!]+)\"? does not exist")
"""DuckDB's error for a missing table, view or function."""
CATALOGUE = re.compile(r"(?i)\b(?:show|describe|summarize|pragma|information_schema|(?:duckdb|pg|sqlite)_)")
"""Words of queries that list tables and views."""
BATCH_ROWS = 10_000
FEW_BYTES = 4 << 20
"""The data files of a table of at most this many bytes are read once, not by each query: a page asks some twenty, and
opening a Parquet file takes longer than reading so few rows."""
READ_ERROR = re.compile(rf"stream registered as '(?:every_)?({'|'.join((*TABLES, *BEFORE))})' failed: (.*)")
"""DuckDB's error if Arrow cannot read a table's files."""
READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class KeptNoLongerError(JobError):
    """The tables of a former run have been erased."""

    def __init__(self, run_id: str, *more: str) -> None:
        super().__init__(f"run {run_id} is kept no longer: `upkeep --keep-days` says for how long", *more)


@cache
def locked_database() -> duckdb.DuckDBPyConnection:
    """Return the process's database in memory, with our functions, which can access nothing else.

    Opening it takes 25 ms of CPU, a cursor less than one. Tables and views are temporary, so that each cursor has its
    own and sees no others.
    """
    database = duckdb.connect()
    database.execute("SET GLOBAL TimeZone = 'UTC'")
    database.execute("SET GLOBAL python_enable_replacements = false")
    create_macros(database)
    database.execute("SET GLOBAL enable_external_access = false")
    database.execute("SET GLOBAL lock_configuration = true")
    return database


class Published:
    """The published tables of a warehouse, as of the last run or of the one whose id begins with ``run``.

    A table that an older release did not have is empty. Views of changes compare with the run ``before``, by default
    the one published before. ``place`` is the warehouse's path for command lines.

    Raises :class:`JobError` if nothing is published or a named run does not exist.
    """

    def __init__(self, warehouse: Warehouse, run: str | None = None, before: str | None = None) -> None:
        self.place = warehouse.root
        self.run: dict[str, Any] = warehouse.last_run() if run is None else run_named(warehouse, run)
        self.before = run_named(warehouse, before) if before else warehouse.run_before(self.run)
        self._warehouse = warehouse
        self._opened: set[str] = set()
        self._database = locked_database().cursor()
        self.compared = True
        if run or before:
            self._open(NAMES, kept=run is not None, compared=before is not None)

    def _open(self, names: Collection[str], *, kept: bool = False, compared: bool = False) -> None:
        """Register the tables and create the views of ``names`` that are missing.

        Raises :class:`KeptNoLongerError` if tables of the run are gone and ``kept`` is set, or if those of the run
        before are gone and ``compared`` is set.
        """
        missing = [name for name in names if name not in self._opened]
        if not missing:
            return
        with readable(self.run) if kept else nullcontext():
            for name in TABLES:
                if name in missing:
                    register_table(self._database, self._warehouse, self.run, name, name, PUBLISHED)
        try:
            for name, former in BEFORE.items():
                if name in missing:
                    self._register_before(former, name)
        except KeptNoLongerError:
            if compared:
                raise
            self.compared = False
        create_views(self._database, missing, compared=self.compared)
        self._opened.update(missing)

    def _register_before(self, table: str, name: str) -> None:
        """Register a table as of the run before; empty if there is no such run or it did not have the table."""
        if self.before is None or table not in self.before["versions"]:
            self._database.register(name, TABLES[table].arrow_schema().empty_table())
            return
        with readable(self.before):
            register_table(self._database, self._warehouse, self.before, table, name, f"{PUBLISHED}_before")

    def query(self, sql: str) -> pa.Table:
        """Return the result of one SELECT. Raises :class:`JobError` for other statements and for SQL errors."""
        names, batches = self.stream(sql)
        return pa.Table.from_batches(batches, names)

    def stream(self, sql: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Return the schema and an iterator of the result of one SELECT, which need not fit into memory.

        Raises :class:`JobError` as :meth:`query` does.
        """
        sql.encode()  # DuckDB takes a text that is no UTF-8 for a call with other arguments
        try:
            statements = duckdb.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in READING:
                raise JobError("give one SELECT: what is published can be read, not changed")
            reader = self._reader(sql)
        except duckdb.Error as error:
            raise self._refusal(error) from error
        return reader.schema, self._batches(reader)

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        """Run a query after opening the tables that it names; all of them if it lists tables or composes a name."""
        self._open(NAMES if CATALOGUE.search(sql) else read_by(sql))
        try:
            return self._database.sql(sql).to_arrow_reader(BATCH_ROWS)
        except duckdb.CatalogException:
            self._open(NAMES)
            return self._database.sql(sql).to_arrow_reader(BATCH_ROWS)

    def _batches(self, reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise self._refusal(error) from error

    def _refusal(self, error: Exception) -> JobError:
        """Return the error for a failed query; for a missing table it lists the existing ones, similar names first."""
        self._raise_damage(error)
        missing = MISSING.search(str(error))
        if missing and not self.compared and (missing[1] in BEFORE or compares(VIEWS.get(missing[1]))):
            return self._kept_no_longer()
        near = get_close_matches(missing[1].lower(), CALLS, 4) if missing else []
        there_is = ", ".join(CALLS[name] for name in [*near, *(name for name in CALLS if name not in near)])
        return JobError(*str(error).rstrip().splitlines(), f"The tables and views are: {there_is}")

    def query_with(self, sql: str, values: Sequence[Any]) -> pa.Table:
        """Return the result of one of our own queries as a table; see :meth:`rows`."""
        self._open(read_by(sql))
        return self._database.sql(sql, params=values).to_arrow_table()

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """Return the rows of one of our own queries, with ``?`` or ``$name`` for each value.

        Only the tables that it names are opened, as a command needs few of them.
        """
        self._open(read_by(sql))
        try:
            found: list[dict[str, Any]] = self._database.sql(sql, params=values).to_arrow_table().to_pylist()
        except duckdb.Error as error:
            self._raise_damage(error)
            raise
        return found

    def _raise_damage(self, error: Exception) -> None:
        """Raise :class:`JobError` if ``error`` comes from a table that could not be read."""
        if (found := READ_ERROR.search(str(error))) and not user_message(error):
            if found[1] in BEFORE:
                raise self._kept_no_longer() from error
            raise Damaged(found[1], self._warehouse.location(found[1]), ValueError(found[2])) from error

    def _kept_no_longer(self) -> KeptNoLongerError:
        """Return the error for reading tables of the run before that were erased."""
        run = self.before["run_id"] if self.before else "before"
        return KeptNoLongerError(run, "With `--before ID` another run is compared; gold/runs has them")


def run_named(warehouse: Warehouse, name: str) -> dict[str, Any]:
    """Return the published run whose id begins with ``name``, or the ``last`` run, or the one ``before`` it.

    Raises :class:`JobError`, with known ids, if none or several match.
    """
    runs = {row["run_id"]: row for row in warehouse.runs() if row["status"] == "published"}
    latest = sorted(runs.values(), key=lambda row: (row["published_at"], row["run_id"]), reverse=True)
    if not latest:
        return warehouse.last_run()
    before = warehouse.run_before(latest[0])
    if name == "last":
        return latest[0]
    if name == "before" and before:
        return before
    found = [row for row in latest if name and row["run_id"].startswith(name)]
    if len(found) == 1:
        return found[0]
    some = ", ".join(row["run_id"] for row in (found or latest)[:6])
    problem = f"several runs begin with {name}" if found else f"no run is called {name or 'nothing'}"
    raise JobError(f"{problem}: give one of gold/runs, for example {some} ({len(latest):,} in all)")


def register_table(
    database: duckdb.DuckDBPyConnection,
    warehouse: Warehouse,
    run: Mapping[str, Any],
    table: str,
    name: str,
    pointer: str,
) -> None:
    """Register a table as of a run under ``name``; empty if an older release did not have it.

    A judged table has the rows that the run's pointer names, which is registered as ``pointer``.
    """
    version = warehouse.published_version(run, table)
    if version is None:
        database.register(name, TABLES[table].arrow_schema().empty_table())
    elif TABLES[table].by_run:
        database.register(f"every_{name}", rows_of(warehouse, table))
        database.register(pointer, rows_of(warehouse, PUBLISHED, pointer_of(warehouse, run)))
        rows = current_rows_sql(TABLES[table], f"every_{name}", pointer)
        database.execute(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {rows}")
    else:
        database.register(name, rows_of(warehouse, table, version))


def rows_of(warehouse: Warehouse, table: str, version: int | None = None) -> pa.Table | ds.Dataset:
    """Return the rows of ``table`` at ``version`` in memory if they are few, otherwise a dataset that queries scan."""
    found = warehouse.dataset(table, version)
    if (pc.sum(warehouse.data_files(table, version)["size_bytes"]).as_py() or 0) > FEW_BYTES:
        return found
    with warehouse.raising_damaged(table):
        return found.to_table()


@contextmanager
def readable(run: Mapping[str, Any]) -> Iterator[None]:
    """Turn the error for erased versions of a former run into :class:`KeptNoLongerError`."""
    try:
        yield
    except Damaged as error:
        raise KeptNoLongerError(run["run_id"]) from error
