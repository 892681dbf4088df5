"""Gates: what must hold for the tables before they are published.

What must hold stands in ``schemas/``, beside the columns. Each expectation is one SELECT of the rows that break it, so
that a gate can be read, and its rows looked for in any SQL. DuckDB counts those rows cluster by cluster over the newest
versions of the tables, within bounds of memory: what each row is asked by itself in one pass over its table, all else
one after the other. Only where it found some are they fetched to be named. The same expectations as suites of Great
Expectations take seconds a table where this takes milliseconds, so that a small run would mostly wait for its gates;
:mod:`jobs.gates.data_docs` makes them of the same SELECTs where somebody looks.
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

from election_replay.election_core.dialects import KINDS
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
"""Of these, a row for a line of a log."""

LEDGER = "landed_files"
"""The table that has a row for each file and landing."""

RECENT_LANDINGS = 30
"""So many landings before the new ones tell what is usual: about a month of nights."""

PROVING = "events"
"""The table whose rows prove those of the judged ones."""

BEFORE = 8
"""In so many landings before the new ones a proof is looked for before all events are."""

HELD_ROWS = 50_000
"""A table with no more rows is read once, and not for each expectation anew."""

MEMORY = "400MB"
"""What DuckDB holds of what it counts; the rest lies on disk meanwhile. It suffices for some fifty million events."""

THREADS = 2
"""So many of DuckDB's threads count. Each holds some memory of its own: for sixteen :data:`MEMORY` is too little."""

POINTER, FORMER_POINTER = "newest_pointer", "former_pointer"
"""What names the rows of judged tables that are looked at, and those that are published."""

OF_ITS_ROWS = {"one_row_a_key", "proofs_exist"}
"""Expectations that no row breaks where a table has none: of a small night half the tables are empty."""

EXAMPLES = 5
"""Failing rows of a cluster that are shown."""

CORE_SETS = {
    ("events", "kind"): tuple(KINDS),
    ("findings", "rule"): tuple(rule.value for rule in RuleId),
    ("rule_coverage", "rule"): tuple(rule.value for rule in RuleId),
}
"""Closed sets that belong to the election core, which ``schemas`` does not know."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation, looked at. ``failed`` is how many rows of which cluster break it; ``examples`` are some."""

    table: str
    version: int | None
    expectation: Expectation
    rows: int
    failed: dict[str | None, int] = field(default_factory=dict)
    examples: dict[str | None, tuple[str, ...]] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether no row breaks it."""
        return not self.failed

    @property
    def stops(self) -> bool:
        """Whether it keeps clusters from being published."""
        return bool(self.failed) and self.expectation.severity == "critical"


@cache
def expectations_of(table: str) -> tuple[Expectation, ...]:
    """Everything that must hold for a table."""
    shape = TABLES[table]
    known = (one_of(shape, column, values) for (name, column), values in CORE_SETS.items() if name == table)
    return (*suite(shape), *known)


@cache
def conditions_of(table: str) -> Mapping[str, str]:
    """The conditions by which failing rows are known, of the expectations that ask each row of a table by itself."""
    alone = re.compile(rf"SELECT (?:NULL AS cluster, )?\* FROM {table} WHERE (.*)", re.DOTALL)
    found = ((asked.name, alone.fullmatch(asked.failing)) for asked in expectations_of(table))
    return {name: row[1] for name, row in found if row and not re.search(r"\bSELECT\b", row[1])}


def chosen_tables(warehouse: Warehouse, layers: Collection[str]) -> list[str]:
    """The tables of some layers, of all by default. Raises :class:`JobError` when nothing was ever landed."""
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
    """Look at the newest rows of ``tables``; of ``clusters``, unless that is ``None``.

    Of what landings wrote, line by line, only the rows of those after ``since`` are looked at: no later landing changes
    them, and that none landed the same lines again shows in the counts of its files. Of the ledger of files some
    landings before are looked at besides (:func:`recent_ledger`). Of tables that ``written`` names only the rows of
    its keys are looked at, and of judged ones those of the run ``run_id``, if it is given: the others stand as they
    have passed. Sources are to be no staler than ``as_of`` asks. Raises :class:`JobError` when an expectation cannot be
    checked.
    """
    chosen = list(tables)
    with database_in(MEMORY, THREADS) as (database, _):
        newest = Newest(database, warehouse, clusters, as_of, since, columns_read(chosen), written, run_id)
        if PROVING not in chosen:
            newest.keep_proofs_of(chosen, warehouse.published())
        return [check for table in chosen for check in newest.checks(table)]


def columns_read(chosen: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The tables that the expectations of some tables read, and the columns of each that they name."""
    expectations = [expectation for table in chosen for expectation in expectations_of(table)]
    texts = [*chosen, *(text for asked in expectations for text in (asked.failing, asked.proofs))]
    words = {word for text in texts for word in re.findall(r"\w+", text)}
    return {name: tuple(column for column in TABLES[name].names if column in words) for name in words & {*TABLES}}


EVERYTHING = {name: table.names for name, table in TABLES.items()}
"""All columns of all tables."""


class Newest:
    """The newest versions of some tables, of finished landings, as a ``database`` in memory knows them.

    ``columns``: of each of the tables those that are asked for. Whole rows are read where some of them fail.
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
    ) -> None:
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
        self._in_part: dict[str, str] = {}
        self._empty: set[str] = set()
        for name, of_table in columns.items():
            self._put(name, of_table, self._where(name))

    def _put(self, name: str, columns: Sequence[str], where: str) -> None:
        """Let the database know a table."""
        if name not in self._versions or (name != PROVING and not self._warehouse.count(name)):
            self._database.register(name, TABLES[name].arrow_schema().empty_table())
            self._empty.add(name)
            return
        rows = self._of_clusters(name, self._versions[name], self._pointer)
        if name == LEDGER:
            rows = recent_ledger(rows, self._batches[0])
        shape = "TABLE" if name != PROVING and self._are_few(name, rows) else "VIEW"
        self._database.register(f"all_{name}", rows)
        chosen = "*"
        if shape == "TABLE" and len(columns) < len(TABLES[name].columns):
            chosen, self._in_part[name] = ", ".join(f'"{column}"' for column in columns), where
        made = f"CREATE {shape} {name} AS SELECT {chosen} FROM all_{name}{where}"
        if self._done(lambda: self._database.execute(made).fetchall()) == [(0,)]:
            self._empty.add(name)

    def _are_few(self, table: str, rows: ds.Dataset) -> bool:
        """Whether so few ``rows`` of a table are looked at that they are held; of large ones those of a night are."""
        if self._warehouse.count(table) <= HELD_ROWS:
            return True
        few = table in self._written or table == LEDGER or TABLES[table].by_run
        return few and rows.count_rows() <= HELD_ROWS

    def _of_clusters(self, table: str, version: int, pointer: pa.Table) -> ds.Dataset:
        """A table, of which Arrow lets few other rows through to the database than those that are asked for."""
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

    def _put_whole(self, query: str) -> None:
        """Let the database know all columns of those tables of a query that it knows in part."""
        for name in self._in_part.keys() & {*re.findall(r"\w+", query)}:
            where = self._in_part.pop(name)
            self._run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM all_{name}{where}")

    def keep_proofs_of(self, tables: Iterable[str], published: Mapping[str, Any] | None) -> None:
        """Of the events keep only those that rows of ``tables`` ask for, and for which ``published`` ones do not.

        What is published has passed this gate, and events stay. The others are looked for in the landings that are new
        since then; those that are not found there in the ones before, where what is said anew of yesterday has its
        lines; and only the rest among all events.
        """
        asked = [expectation.proofs for table in tables for expectation in expectations_of(table) if expectation.proofs]
        if not asked:
            return
        run = self._run
        run(f"CREATE TEMP TABLE asked AS SELECT DISTINCT cluster, proof FROM ({' UNION ALL '.join(asked)})")
        run("CREATE TEMP TABLE proofs (cluster VARCHAR, event_id VARCHAR)")
        since = 0
        if published is not None and (known := self._published_proofs(published)):
            since = int(published["batch"])
            run(f"CREATE TEMP TABLE known AS {known}")
            run("INSERT INTO proofs SELECT DISTINCT cluster, proof FROM known SEMI JOIN asked USING (cluster, proof)")
        for where in (f"batch > {since}", f"batch > {since - BEFORE}", "true") if since else ("true",):
            run(
                "CREATE OR REPLACE TEMP TABLE open AS FROM asked ANTI JOIN proofs "
                "ON proofs.cluster = asked.cluster AND proofs.event_id = asked.proof"
            )
            if len(self.query("FROM open WHERE proof IS NOT NULL LIMIT 1")):
                run(
                    f"INSERT INTO proofs SELECT cluster, event_id FROM (FROM {PROVING} WHERE {where}) AS event "
                    "SEMI JOIN open ON open.cluster = event.cluster AND open.proof = event.event_id"
                )
        run(f"CREATE OR REPLACE VIEW {PROVING} AS FROM proofs")

    def _published_proofs(self, published: Mapping[str, Any]) -> str:
        """A SELECT of what the published rows prove themselves by."""
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
        """What of a table counts, of the clusters asked for: no landing that was killed, and only what is written."""
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
        """The answer to a SELECT."""
        return self._done(lambda: self._database.sql(sql, params=list(values)).to_arrow_table())

    def _run(self, sql: str) -> None:
        """Do what a statement says."""
        self._done(lambda: self._database.execute(sql))

    def _done(self, work: Callable[[], Answer]) -> Answer:
        """What DuckDB does within its bound of memory or, where it knows no way to, within that of its own choice."""
        try:
            return work()
        except duckdb.OutOfMemoryException:
            self._database.execute("RESET memory_limit")
            return work()

    def checks(self, table: str) -> Iterable[Check]:
        """Every expectation of a table: in one pass what each row is asked by itself, and all else one after the other.

        All else at once would hold what each of them does.
        """
        rows, counted = self._in_one_pass(table)
        for expectation in expectations_of(table):
            failed = counted.get(expectation.name)
            if failed is None and not rows and expectation.name in OF_ITS_ROWS:
                failed = {}
            elif failed is None:
                failed = self._counted(f"{expectation.name} of {table}", expectation.failing)
            examples = {cluster: self._examples(expectation, cluster) for cluster in failed}
            yield Check(table, self._versions.get(table), expectation, rows, failed, examples)

    def _in_one_pass(self, table: str) -> tuple[int, dict[str, dict[str | None, int]]]:
        """How many rows a table has, and how many of which cluster break each expectation of a row by itself."""
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
        """How many rows a SELECT finds, cluster by cluster; its ``name`` is for the error."""
        return dict(self._fetched(name, f"SELECT cluster, count(*) FROM ({rows}) GROUP BY cluster ORDER BY cluster"))

    def _fetched(self, name: str, query: str) -> list[Any]:
        """The rows of the answer to a query that checks what ``name`` says."""
        try:
            return self._done(lambda: self._database.execute(query).fetchall())
        except duckdb.Error as error:
            raise JobError(f"could not check {name}: {error}") from error

    def _examples(self, expectation: Expectation, cluster: str | None) -> tuple[str, ...]:
        self._put_whole(expectation.failing)
        some = (
            f"SELECT * FROM ({expectation.failing}) WHERE cluster IS NOT DISTINCT FROM ? ORDER BY ALL LIMIT {EXAMPLES}"
        )
        return tuple(as_json(row) for row in self.query(some, [cluster]).to_pylist())


def newest_pointer(warehouse: Warehouse, run_id: str | None) -> pa.Table:
    """Whose rows of judged tables are the newest ones; only of a run, if one is named."""
    rows = pointer_rows(warehouse, CANDIDATE, warehouse.version(CANDIDATE))
    return rows if run_id is None else rows.filter(pc.equal(rows["run_id"], run_id))


def among(column: str, values: Collection[str]) -> pc.Expression:
    """That a column is one of some values, as Arrow asks it."""
    return pc.field(column).isin(pa.array(sorted(values), pa.string()))


def keys_of(written: DeletedKeys) -> pa.Table:
    """Keys of rows as a table: a cluster alone stands for all of its rows."""
    rows = [*((cluster, None) for cluster in sorted(written.clusters)), *sorted(written.keys)]
    columns = {name: pa.array([row[at] for row in rows], pa.string()) for at, name in enumerate(("cluster", "key"))}
    return pa.table(columns)


def as_json(row: dict[str, Any]) -> str:
    """A row as JSON, without its nulls."""
    values = {name: value for name, value in row.items() if value is not None}
    return json.dumps(values, default=lambda value: value.isoformat() if isinstance(value, datetime) else str(value))


def stopped(checks: Iterable[Check], clusters: Iterable[str]) -> set[str]:
    """Those of ``clusters`` that must not be published; all, where failing rows name no cluster."""
    failing = {cluster for check in checks if check.stops for cluster in check.failed}
    return {cluster for cluster in clusters if None in failing or cluster in failing}


def record(warehouse: Warehouse, checks: Iterable[Check]) -> str:
    """Write what was found into ``gold.validations``; the id of the validation."""
    now = datetime.now(UTC)
    validation_id = f"{now:%Y%m%dT%H%M%S.%fZ}"
    rows = [row for check in checks for row in rows_of(check, validation_id, now)]
    warehouse.append(rows, "validations")
    return validation_id


def rows_of(check: Check, validation_id: str, now: datetime) -> Iterable[dict[str, Any]]:
    """The rows of ``gold.validations`` for one check."""
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
    """What fails in a cluster, for a person: the table, what must hold, and a line for each of some failing rows."""
    word = "failed" if check.stops else "warning"
    where = "every cluster" if cluster is None else f"cluster {cluster}"
    heading = f"{word} {TABLES[check.table].path} {check.expectation.name}, {where}"
    first = f"{heading}: {check.failed[cluster]:,} rows. {check.expectation.says}"
    return "\n    ".join([first, *check.examples[cluster]])


def recent_ledger(ledger: ds.Dataset, since: int) -> ds.Dataset:
    """The rows of the ledger that the gates read after the landing ``since``; all rows where that is 0.

    These are the rows of later landings, of some landings before (whether a source has fallen behind, or reads other
    volumes than it used to), and of files that went on: only all rows of a file show whether one is missing.
    """
    if not since:
        return ledger
    recent = pc.field("batch") > since - RECENT_LANDINGS
    if older := begun_before(ledger, since, recent):
        recent |= pc.field("fingerprint").isin(pa.array(older, pa.string()))
    return ledger.filter(recent)


def begun_before(ledger: ds.Dataset, since: int, recent: pc.Expression) -> list[str]:
    """The fingerprints of files with new rows whose first landing is not ``recent``."""
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
