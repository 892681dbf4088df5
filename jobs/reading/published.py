"""What is published, read without Spark: every table at the version that the last run names.

The tables become views of an in-memory database that can read nothing else: no files, no network, no settings.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from typing import Any

import duckdb
import pyarrow as pa

from election_replay.jobs import JobError
from election_replay.jobs.faults import Damaged, user_message
from election_replay.jobs.reading.duckdb_views import NAMES, compares, create_macros, create_views, read_by
from election_replay.jobs.warehouse.pointer import PUBLISHED, current_rows_sql, pointer_of
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import BEFORE, VIEWS

CALLS = {name: name for name in sorted(TABLES)} | {name: view.call for name, view in sorted(VIEWS.items())}
MISSING = re.compile(r"(?:Table|Table Function|View) with name \"?([^\s\"!]+)\"? does not exist")
"""What DuckDB says of a table, view or function that is not there."""
CATALOGUE = re.compile(r"(?i)\b(?:show|describe|summarize|pragma|information_schema|(?:duckdb|pg|sqlite)_)")
"""What queries have that ask which tables and views there are."""
BATCH_ROWS = 10_000
UNREAD = re.compile(rf"stream registered as '(?:every_)?({'|'.join((*TABLES, *BEFORE))})' failed: (.*)")
"""What DuckDB says when Arrow cannot read a table's files."""
READING = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class KeptNoLongerError(JobError):
    """The tables of a former run are gone."""

    def __init__(self, run_id: str, *more: str) -> None:
        super().__init__(f"run {run_id} is kept no longer: `upkeep --keep-days` says for how long", *more)


class Published:
    """The published tables of a warehouse, as the last run left them, or the one whose id begins with ``run``.

    A table of which an older release knew nothing is empty. They are compared with those of the run ``before``, by
    default the one that was published before. ``place`` is where the warehouse is, as a command line names it, if not
    by its own name.

    Raises :class:`JobError` when there are none.
    """

    def __init__(
        self, warehouse: Warehouse, run: str | None = None, before: str | None = None, *, place: str | None = None
    ) -> None:
        self.place = place or warehouse.root
        self.run: dict[str, Any] = warehouse.last_run() if run is None else run_named(warehouse, run)
        self.before = run_named(warehouse, before) if before else warehouse.run_before(self.run)
        self._warehouse = warehouse
        self._there: set[str] = set()
        self._database = duckdb.connect()
        self._database.execute("SET TimeZone = 'UTC'")
        self._database.execute("SET python_enable_replacements = false")
        create_macros(self._database)
        self._database.execute("SET enable_external_access = false")
        self._database.execute("SET lock_configuration = true")
        self.compared = True
        if run or before:
            self._open(NAMES, kept=run is not None, compared=before is not None)

    def _open(self, names: Collection[str], *, kept: bool = False, compared: bool = False) -> None:
        """Open tables, and create views, that are not there yet.

        Raises :class:`KeptNoLongerError` where those of the run must be ``kept`` and are not, or where those of the run
        before must be, to be ``compared`` with.
        """
        missing = [name for name in names if name not in self._there]
        if not missing:
            return
        with readable(self.run) if kept else nullcontext():
            for name in TABLES:
                if name in missing:
                    show(self._database, self._warehouse, self.run, name, name, PUBLISHED)
        try:
            for name, former in BEFORE.items():
                if name in missing:
                    self._show_before(former, name)
        except KeptNoLongerError:
            if compared:
                raise
            self.compared = False
        create_views(self._database, missing, compared=self.compared)
        self._there.update(missing)

    def _show_before(self, table: str, name: str) -> None:
        """A table as the run before left it: empty where that did not have it, or where nothing was before."""
        if self.before is None or table not in self.before["versions"]:
            self._database.register(name, TABLES[table].arrow_schema().empty_table())
            return
        with readable(self.before):
            show(self._database, self._warehouse, self.before, table, name, f"{PUBLISHED}_before")

    def query(self, sql: str) -> pa.Table:
        """The answer to one SELECT. Raises :class:`JobError` for anything else, and for what SQL refuses."""
        names, batches = self.stream(sql)
        return pa.Table.from_batches(batches, names)

    def stream(self, sql: str) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """The same, its columns and its rows as they are found: an answer need not fit into memory."""
        try:
            statements = duckdb.extract_statements(sql)
            if len(statements) != 1 or statements[0].type not in READING:
                raise JobError("give one SELECT: what is published can be read, not changed")
            reader = self._reader(sql)
        except duckdb.Error as error:
            raise self._refusal(error) from error
        return reader.schema, self._batches(reader)

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        """The answer, once what the query names is open: all, where it asks what there is or composes a name."""
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
        """What to say of it; what is there, with what is called nearly so first, where something is not."""
        self._tell_damage(error)
        missing = MISSING.search(str(error))
        if missing and not self.compared and (missing[1] in BEFORE or compares(VIEWS.get(missing[1]))):
            return self._forgotten()
        near = get_close_matches(missing[1].lower(), CALLS, 4) if missing else []
        there_is = ", ".join(CALLS[name] for name in [*near, *(name for name in CALLS if name not in near)])
        return JobError(*str(error).rstrip().splitlines(), f"The tables and views are: {there_is}")

    def query_with(self, sql: str, values: Sequence[Any]) -> pa.Table:
        """The answer to one of our own queries, as :meth:`rows`, but as a table."""
        self._open(read_by(sql))
        return self._database.sql(sql, params=values).to_arrow_table()

    def rows(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[dict[str, Any]]:
        """The answer to one of our own queries, with ``?``, or ``$`` and its name, for each value.

        Only what it names is opened: a command asks for a few of the tables.
        """
        self._open(read_by(sql))
        try:
            found: list[dict[str, Any]] = self._database.sql(sql, params=values).to_arrow_table().to_pylist()
        except duckdb.Error as error:
            self._tell_damage(error)
            raise
        return found

    def _tell_damage(self, error: Exception) -> None:
        """Raise :class:`JobError` where a table could not be read, not the query."""
        if (found := UNREAD.search(str(error))) and not user_message(error):
            if found[1] in BEFORE:
                raise self._forgotten() from error
            raise Damaged(found[1], self._warehouse.location(found[1]), ValueError(found[2])) from error

    def _forgotten(self) -> KeptNoLongerError:
        """What to say where the tables of the run before are read."""
        run = self.before["run_id"] if self.before else "before"
        return KeptNoLongerError(run, "With `--before ID` another run is compared; gold/runs has them")


def run_named(warehouse: Warehouse, name: str) -> dict[str, Any]:
    """The published run whose id begins with ``name``, or the ``last`` or the one ``before`` it.

    Raises :class:`JobError`, with what there is, when none or several do.
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


def show(
    database: duckdb.DuckDBPyConnection,
    warehouse: Warehouse,
    run: Mapping[str, Any],
    table: str,
    name: str,
    pointer: str,
) -> None:
    """Let a database know a table as a run left it, under a ``name``: empty where an older release knew nothing of it.

    Of a judged table those rows that the ``pointer`` of the run names; it is known by that name too.
    """
    version = warehouse.published_version(run, table)
    if version is None:
        database.register(name, TABLES[table].arrow_schema().empty_table())
    elif TABLES[table].by_run:
        database.register(f"every_{name}", warehouse.dataset(table))
        database.register(pointer, warehouse.dataset(PUBLISHED, pointer_of(warehouse, run)))
        rows = current_rows_sql(TABLES[table], f"every_{name}", pointer)
        database.execute(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {rows}")
    else:
        database.register(name, warehouse.dataset(table, version))


@contextmanager
def readable(run: Mapping[str, Any]) -> Iterator[None]:
    """Say of a former run whose versions are gone that it is kept no longer."""
    try:
        yield
    except Damaged as error:
        raise KeptNoLongerError(run["run_id"]) from error
