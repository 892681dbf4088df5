"""Gates: the expectations that tables must meet before they are published.

Expectations are defined in ``schemas/``, beside the columns. Each is one SELECT of the rows that break it, which can be
read, and run in any SQL. DuckDB counts these rows by cluster over the newest versions of the tables, within a memory
limit: all conditions on single rows in one pass over a table, other expectations one after the other. Failing rows are
fetched only as examples. Great Expectations takes seconds a table where this takes milliseconds, so a small run would
mostly wait for its gates; :mod:`jobs.gates.data_docs` makes its suites of the same SELECTs, for people.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from tempfile import gettempdir
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs import JobError
from election_replay.jobs.engines.duckdb_rows import ReadAsAsked, database_in
from election_replay.jobs.warehouse.pointer import CANDIDATE, OF_GROUP, PUBLISHED, pointer_rows
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.table_sets import JUDGED, LANDED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES, Expectation
from election_replay.schemas.expectations import one_of, suite
from election_replay.schemas.landed_files import PART

LINE_BY_LINE = ("log_lines", "quarantine", "events")
"""Tables with one row for each line of a log."""

LEDGER = "landed_files"
"""The table with a row for each file and landing."""

RECENT_LANDINGS = 30
"""Landings before the new ones that are read to know what is usual: about a month of nights."""

EVENTS = "events"
"""The table whose rows prove those of judged tables."""

NEAR_LANDINGS = 8
"""Landings before the new ones in which a proof is looked up before all events are searched."""

HELD_ROWS = 50_000
"""A table of at most so many rows is loaded once, not read for each expectation."""

MEMORY = "400MB"
"""DuckDB's memory limit; it spills the rest to disk. It suffices for about fifty million events."""

THREADS = 2
"""DuckDB's threads. Each needs memory of its own: :data:`MEMORY` is too little for sixteen."""

POINTER, FORMER_POINTER = "newest_pointer", "former_pointer"
"""The names in SQL of the pointer to the rows that are checked, and of that to the published ones."""

TRUE_WHEN_EMPTY = {"one_row_a_key", "proofs_exist"}
"""Expectations that an empty table always meets; on a small night half the tables are empty."""

EXAMPLES = 5
"""Failing rows of a cluster that are kept as examples."""

CORE_SETS = {
    ("findings", "rule"): tuple(rule.value for rule in RuleId),
    ("rule_coverage", "rule"): tuple(rule.value for rule in RuleId),
}
"""Allowed values that the election core defines, which ``schemas`` may not import."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one expectation. ``failed`` is the number of failing rows by cluster; ``examples`` are some."""

    table: str
    version: int | None
    expectation: Expectation
    rows: int
    failed: dict[str | None, int] = field(default_factory=dict)
    examples: dict[str | None, tuple[str, ...]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Return True if no row breaks the expectation."""
        return not self.failed

    @property
    def stops(self) -> bool:
        """Return True if failing clusters must not be published."""
        return bool(self.failed) and self.expectation.severity == "critical"


@cache
def expectations_of(table: str) -> tuple[Expectation, ...]:
    """Return all expectations of a table."""
    shape = TABLES[table]
    known = (one_of(shape, column, values) for (name, column), values in CORE_SETS.items() if name == table)
    return (*suite(shape), *known)


@cache
def conditions_of(table: str) -> Mapping[str, str]:
    """Return, by name, the conditions of failing rows of the expectations that look at single rows."""
    alone = re.compile(rf"SELECT (?:NULL AS cluster, )?\* FROM {table} WHERE (.*)", re.DOTALL)
    found = ((asked.name, alone.fullmatch(asked.failing)) for asked in expectations_of(table))
    return {name: row[1] for name, row in found if row and not re.search(r"\bSELECT\b", row[1])}


def chosen_tables(warehouse: Warehouse, layers: Collection[str]) -> list[str]:
    """Return the tables of ``layers``, by default all. Raises :class:`JobError` if nothing was ever landed."""
    if not warehouse.last_batch():
        raise JobError(f"nothing is landed in {warehouse.root}: run `election-replay land` first")
    return [name for name in (*LANDED, *JUDGED) if not layers or TABLES[name].layer in layers]


def check(
    warehouse: Warehouse,
    tables: Iterable[str] = (*LANDED, *JUDGED),
    clusters: Collection[str] | None = None,
    as_of: datetime | None = None,
    since: int = 0,
    written: Mapping[str, DeletedKeys] | None = None,
    run_id: str | None = None,
) -> list[Check]:
    """Check the newest rows of ``tables``; only those of ``clusters`` unless that is ``None``.

    Of tables of lines only landings after ``since`` are checked: later landings do not change earlier rows, and the
    counts of a file show whether its lines were landed twice. Of the ledger of files some earlier landings are read too
    (:func:`recent_ledger`). Of tables in ``written`` only rows of its keys are checked, and of judged tables only rows
    of the run ``run_id`` if given: all others have passed before. ``as_of`` is the time by which the freshness of
    sources is measured. Raises :class:`JobError` if an expectation cannot be checked.
    """
    chosen = list(tables)
    with database_in(MEMORY, THREADS) as (database, _):
        columns, searched = columns_read(chosen), EVENTS not in chosen
        newest = Newest(database, warehouse, clusters, as_of, since, columns, written, run_id, searched=searched)
        if searched:
            newest.keep_proofs_of(chosen, warehouse.published())
        return [check for table in chosen for check in newest.checks(table)]


def columns_read(chosen: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the tables and columns that the expectations of ``chosen`` tables name."""
    expectations = [expectation for table in chosen for expectation in expectations_of(table)]
    texts = [*chosen, *(text for asked in expectations for text in (asked.failing, asked.proofs))]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return {name: tuple(column for column in TABLES[name].names if column in words) for name in words & {*TABLES}}


EVERYTHING = {name: table.names for name, table in TABLES.items()}
"""All columns of all tables."""


class Newest:
    """The newest rows of finished landings, registered in a DuckDB ``database`` in memory.

    ``columns`` are the tables and columns to read; whole rows are read only if some fail. ``searched``: events are only
    searched for proofs, and so not loaded.
    """

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        warehouse: Warehouse,
        clusters: Collection[str] | None = None,
        as_of: datetime | None = None,
        since: int = 0,
        columns: Mapping[str, Sequence[str]] = EVERYTHING,
        written: Mapping[str, DeletedKeys] | None = None,
        run_id: str | None = None,
        *,
        searched: bool = False,
    ) -> None:
        self._searched = searched
        self._pointer = newest_pointer(warehouse, run_id)
        database.register(POINTER, self._pointer)
        self._versions, self._warehouse = warehouse.versions(), warehouse
        self._database = database
        database.execute("SET VARIABLE as_of = ?", [as_of])
        database.execute("SET VARIABLE since = ?", [since])
        database.execute("SET VARIABLE forgotten = ?", [warehouse.forgotten()])
        self._batches = since, warehouse.last_batch()
        self._clusters, self._written = clusters, written or {}
        for name, keys in self._written.items():
            self._database.register(f"written_{name}", keys_of(keys))
        self._partial: dict[str, str] = {}
        self._empty: set[str] = set()
        for name, of_table in columns.items():
            self._register(name, of_table, self._where(name))

    def _register(self, name: str, columns: Sequence[str], where: str) -> None:
        """Register the rows of a table that match ``where``."""
        if name not in self._versions or (name != EVENTS and not self._warehouse.count(name)):
            self._database.register(name, TABLES[name].arrow_schema().empty_table())
            self._empty.add(name)
            return
        rows = self._of_clusters(name, self._versions[name], self._pointer)
        if name == LEDGER:
            rows = recent_ledger(rows, self._batches[0])
        shape = "VIEW" if (name == EVENTS and self._searched) or not self._are_few(name, rows) else "TABLE"
        self._database.register(f"all_{name}", rows)
        chosen = "*"
        if shape == "TABLE" and len(columns) < len(TABLES[name].columns):
            chosen, self._partial[name] = ", ".join(f'"{column}"' for column in columns), where
        made = f"CREATE {shape} {name} AS SELECT {chosen} FROM all_{name}{where}"
        if self._within_memory(lambda: self._database.execute(made).fetchall()) == [(0,)]:
            self._empty.add(name)

    def _are_few(self, table: str, rows: ds.Dataset) -> bool:
        """Return True if the ``rows`` to check are so few that they are loaded; of large tables, rows of one night."""
        if self._warehouse.count(table) <= HELD_ROWS:
            return True
        few = table in self._written or table == LEDGER or TABLES[table].by_run
        return few and rows.count_rows() <= HELD_ROWS

    def _of_clusters(self, table: str, version: int, pointer: pa.Table) -> ds.Dataset:
        """Return a dataset of the rows to check, and few others: Arrow filters what it can."""
        rows, deleted = self._warehouse.dataset(table, version), self._written.get(table)
        found: ds.Dataset = ReadAsAsked.of(rows)
        if deleted is not None:
            cluster, key = TABLES[table].replaced_by
            named = among(cluster, {of for of, _ in deleted.keys}) & among(key, {name for _, name in deleted.keys})
            found = found.filter(among(cluster, deleted.clusters) | named)
        if TABLES[table].by_run:
            found = found.filter(among("run_id", {*pointer["run_id"].to_pylist()}))
        if self._clusters is None or "cluster" not in TABLES[table].names:
            return found
        return found.filter(among("cluster", self._clusters))

    def _register_whole(self, query: str) -> None:
        """Register all columns of the tables in ``query`` of which only some are registered."""
        for name in self._partial.keys() & {*re.findall(r"\w+", query)}:
            where = self._partial.pop(name)
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM all_{name}{where}")

    def keep_proofs_of(self, tables: Iterable[str], published: Mapping[str, Any] | None) -> None:
        """Reduce the view of events to those that prove rows of ``tables``.

        Proofs of ``published`` rows need no search: they have passed this gate, and events stay. Where events are many
        those are known first; others are looked up in newer landings, then in some landings before, for verdicts about
        yesterday, and only the rest among all events. Few events are all searched first.
        """
        asked = [expectation.proofs for table in tables for expectation in expectations_of(table) if expectation.proofs]
        if not asked:
            return
        self._run(f"CREATE TEMP TABLE asked AS SELECT DISTINCT cluster, proof FROM ({' UNION ALL '.join(asked)})")
        self._run("CREATE TEMP TABLE proofs (cluster VARCHAR, event_id VARCHAR)")
        many = EVENTS in self._versions and self._warehouse.count(EVENTS) > HELD_ROWS
        since = int(published["batch"]) if published is not None and many and self._keep_published(published) else 0
        for where in (f"batch > {since}", f"batch > {since - NEAR_LANDINGS}", "true") if since else ("true",):
            if self._some_are_open():
                self._run(
                    f"INSERT INTO proofs SELECT cluster, event_id FROM (FROM {EVENTS} WHERE {where}) AS event "
                    "SEMI JOIN open ON open.cluster = event.cluster AND open.proof = event.event_id"
                )
        if published is not None and not many and self._some_are_open():
            self._keep_published(published)
        self._run(f"CREATE OR REPLACE VIEW {EVENTS} AS FROM proofs")

    def _some_are_open(self) -> bool:
        """Return True if proofs that are asked for are not found yet; they are the rows of ``open``."""
        self._run(
            "CREATE OR REPLACE TEMP TABLE open AS FROM asked ANTI JOIN proofs "
            "ON proofs.cluster = asked.cluster AND proofs.event_id = asked.proof"
        )
        return bool(len(self.query("FROM open WHERE proof IS NOT NULL LIMIT 1")))

    def _keep_published(self, published: Mapping[str, Any]) -> bool:
        """Keep the proofs of ``published`` rows that are asked for; return True if such rows can have proofs."""
        known = self._published_proofs(published)
        if known:
            self._run(f"CREATE TEMP TABLE known AS {known}")
            self._run(
                "INSERT INTO proofs SELECT DISTINCT cluster, proof FROM known SEMI JOIN asked USING (cluster, proof)"
            )
        return bool(known)

    def _published_proofs(self, published: Mapping[str, Any]) -> str:
        """Return a SELECT of the proofs of published rows; empty if there are none."""
        found = []
        for table in JUDGED:
            version = published["versions"].get(table)
            proofs = [expectation.proofs for expectation in expectations_of(table) if expectation.proofs]
            if version is None or not proofs:
                continue
            pointer = pointer_rows(self._warehouse, PUBLISHED, published["versions"].get(PUBLISHED))
            self._database.register(FORMER_POINTER, pointer)
            self._database.register(f"all_published_{table}", self._of_clusters(table, version, pointer))
            rows = f"SELECT * FROM all_published_{table}{self._where(table, FORMER_POINTER)}"
            self._run(f"CREATE VIEW published_{table} AS {rows}")
            found += [re.sub(rf"\bFROM {table}\b", f"FROM published_{table}", query) for query in proofs]
        return " UNION ALL ".join(found)

    def _where(self, table: str, pointer: str = POINTER) -> str:
        """Return the WHERE clause of the rows to check: of finished landings, written keys and the pointer's runs."""
        conditions, (since, last) = [], self._batches
        if "batch" in TABLES[table].names and table != "runs":
            conditions.append(f"batch <= {last}")
        if table in LINE_BY_LINE and since:
            conditions.append(f"batch > {since}")
        if table in self._written:
            cluster, key = TABLES[table].replaced_by
            conditions.append(
                f"({cluster} IN (SELECT cluster FROM written_{table} WHERE key IS NULL) "
                f"OR ({cluster}, {key}) IN (SELECT (cluster, key) FROM written_{table} WHERE key IS NOT NULL))"
            )
        if TABLES[table].by_run:
            key = ", ".join(OF_GROUP)
            conditions.append(f"({key}) IN (SELECT ({key}) FROM {pointer})")
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def query(self, sql: str, values: Sequence[Any] = ()) -> pa.Table:
        """Return the result of a SELECT."""
        return self._within_memory(lambda: self._database.sql(sql, params=list(values)).to_arrow_table())

    def _run(self, sql: str) -> None:
        """Run a statement."""
        self._within_memory(lambda: self._database.execute(sql))

    def _within_memory(self, work: Callable[[], Answer]) -> Answer:
        """Return the result of ``work``; if it runs out of memory, run it again with DuckDB's default limit."""
        try:
            return work()
        except duckdb.OutOfMemoryException:
            self._database.execute("RESET memory_limit")
            return work()

    def checks(self, table: str) -> Iterable[Check]:
        """Yield the check of every expectation of a table: those on single rows in one pass, others one by one.

        Running the others together would need the memory of all of them at once.
        """
        rows, counted = self._in_one_pass(table)
        for expectation in expectations_of(table):
            failed = counted.get(expectation.name)
            if failed is None and not rows and expectation.name in TRUE_WHEN_EMPTY:
                failed = {}
            elif failed is None:
                failed = self._counted(f"{expectation.name} of {table}", expectation.failing)
            examples = {cluster: self._examples(expectation, cluster) for cluster in failed}
            yield Check(table, self._versions.get(table), expectation, rows, failed, examples)

    def _in_one_pass(self, table: str) -> tuple[int, dict[str, dict[str | None, int]]]:
        """Return the number of rows, and for each expectation on single rows the failing rows by cluster."""
        by_row = conditions_of(table)
        if table in self._empty:
            return 0, {name: {} for name in by_row}
        cluster = "cluster" if "cluster" in TABLES[table].names else "NULL"
        counts = ["count(*)", *(f"count(*) FILTER (WHERE {condition})" for condition in by_row.values())]
        found = self._fetched(table, f"SELECT {cluster}, {', '.join(counts)} FROM {table} GROUP BY ALL ORDER BY ALL")
        failed = {
            name: {row[0]: row[number] for row in found if row[number]} for number, name in enumerate(by_row, start=2)
        }
        return sum(row[1] for row in found), failed

    def _counted(self, name: str, rows: str) -> dict[str | None, int]:
        """Return the number of rows of a SELECT by cluster; ``name`` is for the error message."""
        return dict(self._fetched(name, f"SELECT cluster, count(*) FROM ({rows}) GROUP BY cluster ORDER BY cluster"))

    def _fetched(self, name: str, query: str) -> list[Any]:
        """Return the rows of a query. Raises :class:`JobError` with ``name`` if it fails."""
        try:
            return self._within_memory(lambda: self._database.execute(query).fetchall())
        except duckdb.Error as error:
            raise JobError(f"could not check {name}: {error}") from error

    def _examples(self, expectation: Expectation, cluster: str | None) -> tuple[str, ...]:
        self._register_whole(expectation.failing)
        some = (
            f"SELECT * FROM ({expectation.failing}) WHERE cluster IS NOT DISTINCT FROM ? ORDER BY ALL LIMIT {EXAMPLES}"
        )
        return tuple(as_json(row) for row in self.query(some, [cluster]).to_pylist())


def newest_pointer(warehouse: Warehouse, run_id: str | None) -> pa.Table:
    """Return the pointer rows of ``gold.judged``; only those of ``run_id`` if it is given."""
    rows = pointer_rows(warehouse, CANDIDATE, warehouse.version(CANDIDATE))
    return rows if run_id is None else rows.filter(pc.equal(rows["run_id"], run_id))


def among(column: str, values: Collection[str]) -> pc.Expression:
    """Return the Arrow condition that a column has one of ``values``."""
    return pc.field(column).isin(pa.array(sorted(values), pa.string()))


def keys_of(written: DeletedKeys) -> pa.Table:
    """Return keys as a table of (cluster, key); a null key stands for all rows of the cluster."""
    rows = [*((cluster, None) for cluster in sorted(written.clusters)), *sorted(written.keys)]
    columns = {name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(("cluster", "key"))}
    return pa.table(columns)


def as_json(row: dict[str, Any]) -> str:
    """Return a row as JSON, without nulls."""
    values = {name: value for name, value in row.items() if value is not None}
    return json.dumps(values, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value))


def blocked_clusters(checks: Iterable[Check], clusters: Iterable[str]) -> set[str]:
    """Return those of ``clusters`` that must not be published; all if failing rows name no cluster."""
    failing = {cluster for check in checks if check.stops for cluster in check.failed}
    return {cluster for cluster in clusters if None in failing or cluster in failing}


def record(warehouse: Warehouse, checks: Iterable[Check]) -> str:
    """Write the results to ``gold.validations`` and return the id of the validation."""
    now = datetime.now(UTC)
    validation_id = f"{now:%Y%m%dT%H%M%S.%fZ}"
    rows = [row for check in checks for row in rows_of(check, validation_id, now)]
    warehouse.append(rows, "validations")
    return validation_id


def rows_of(check: Check, validation_id: str, now: datetime) -> Iterable[dict[str, Any]]:
    """Yield the rows of ``gold.validations`` for one check."""
    for cluster, failed in (check.failed or {None: 0}).items():
        yield {
            "validation_id": validation_id,
            "validated_at": now,
            "layer": TABLES[check.table].layer,
            "table_name": check.table,
            "table_version": check.version,
            "expectation": check.expectation.name,
            "says": check.expectation.says,
            "severity": check.expectation.severity,
            "cluster": cluster,
            "success": check.holds,
            "rows_checked": check.rows,
            "rows_failed": failed,
            "examples": list(check.examples.get(cluster, ())),
            "query": check.expectation.failing,
        }


def failure_text(check: Check, cluster: str | None) -> str:
    """Return a message about a check that fails in a cluster, with a line for each example."""
    word = "failed" if check.stops else "warning"
    where = "every cluster" if cluster is None else f"cluster {cluster}"
    heading = f"{word} {TABLES[check.table].path} {check.expectation.name}, {where}"
    first = f"{heading}: {check.failed[cluster]:,} rows. {check.expectation.says}"
    return "\n    ".join([first, *check.examples[cluster]])


def recent_ledger(ledger: ds.Dataset, since: int) -> ds.Dataset:
    """Return the rows of the ledger that the gates read after the landing ``since``; all rows if that is 0.

    These are rows of later landings, of some landings before (to see whether a source is late, or its volume has
    changed), and of files that grew: only all rows of a file show whether one is missing.
    """
    if not since:
        return ledger
    recent = pc.field("batch") > since - RECENT_LANDINGS
    if older := begun_before(ledger, since, recent):
        recent |= pc.field("fingerprint").isin(pa.array(older, pa.string()))
    return ledger.filter(recent)


def begun_before(ledger: ds.Dataset, since: int, recent: pc.Expression) -> list[str]:
    """Return the fingerprints of files with new rows whose first landing is not ``recent``."""
    columns = ["cluster", "source_node", "stream", "fingerprint", "batch", "status"]
    with duckdb.connect() as database:
        database.execute("SET temp_directory = ?", [gettempdir()])
        database.register("recent", ledger.scanner(columns, filter=recent).to_reader())
        found = database.execute(
            "SELECT DISTINCT fingerprint FROM (SELECT fingerprint FROM recent WHERE status <> ? AND fingerprint <> '' "
            "GROUP BY cluster, source_node, stream, fingerprint "
            "HAVING max(batch) > ? AND NOT bool_or(status = 'landed')) ORDER BY fingerprint",
            [PART, since],
        )
        return [fingerprint for (fingerprint,) in found.fetchall()]
