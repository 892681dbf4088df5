"""Rows of the warehouse in DuckDB, read by Arrow: for the local engine, and where they are too few for Spark."""

import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache, reduce
from itertools import chain, count, islice
from operator import and_
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from election_replay.jobs.engines.engine import (
    After,
    AfterOwn,
    Among,
    NamedBy,
    OneOf,
    Partitioning,
    Rows,
    Simple,
    UpTo,
    is_null,
)
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.model import sql_text

MEMORY = "1GB"
"""DuckDB's memory limit for sorting; it spills the rest to disk."""

BUILD_ON_KEYS = "disabled_optimizers = 'build_side_probe_side'"
"""A setting that makes DuckDB build its hash tables on the keys. It does not know how many rows a reader yields, and
would sometimes hold all rows in memory instead of the keys."""

DRIVER_ANSWER_ROWS = 500_000
"""The maximum number of rows, of a few columns, that the driver queries itself: it takes 0.1 to 0.2 s, less than Spark
needs to begin a job."""


DRIVER_ROWS = 50_000
"""The maximum number of rows that the driver folds or judges itself: it takes one or two seconds, less than a shuffle
of Spark."""

BATCH_ROWS = 10_000
"""Rows of a batch, as with Spark."""

FEW_KEYS = 1_000
"""The maximum number of keys that are also passed to Arrow as a filter, so that it need not read all rows."""

FEW_FILES = 64
"""The maximum number of files whose row counts are read for an estimate."""

HELD = 400_000
"""The approximate number of rows that are sorted together within :data:`MEMORY`. DuckDB spills more rows to disk by
itself, but mostly too late: it runs out of memory if a small table is read before a large one, or if texts are in no
order."""

HELD_NARROW = 4 * HELD
"""The approximate number of rows of few columns that are queried together."""

WRITTEN_ROWS = 50_000
"""Rows that DuckDB buffers before it writes them to their parts on disk."""

PARTS_FOLDER = "dealt"
"""The folder, in a scratch folder, of the parts of rows to be sorted."""

READ_AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}
"""Arrow's read-ahead in batches and files: by default it would hold hundreds of thousands of our wide rows."""


class ReadAsAsked(ds.UnionDataset):  # type: ignore[misc]
    """A dataset that DuckDB can scan repeatedly, with little read-ahead: Arrow's default would hold up to 1 GB."""

    @classmethod
    def of(cls, rows: ds.Dataset) -> "ReadAsAsked":
        """Wrap a dataset that has no filter yet."""
        return cls(rows.schema, [rows])

    def scanner(self, *arguments: Any, **options: Any) -> ds.Scanner:
        """Return the scanner that DuckDB reads from."""
        return super().scanner(*arguments, **options | READ_AHEAD)


_IDLE_DATABASES: dict[tuple[str, int], list[duckdb.DuckDBPyConnection]] = {}
"""Open databases that are not in use, by memory limit and threads."""

_NUMBERS = count()

ATTACHED = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
"""SELECT of the catalogues that a user of a database attached."""


@cache
def folder_of_process() -> tempfile.TemporaryDirectory[str]:
    """Return the folder that holds all scratch and spill folders of this process; removed when the process ends.

    A signal that arrives while the folder of one loan is removed leaves the rest of it here.
    """
    return tempfile.TemporaryDirectory(prefix="election-replay-")


def new_folder() -> Path:
    """Return a new folder below :func:`folder_of_process`, which may be gone where old temporary files are deleted."""
    whole = Path(folder_of_process().name)
    whole.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(dir=whole))


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Lend a new folder, and remove it at the end."""
    folder = new_folder()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def database_in(memory: str, threads: int) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """Lend a database in memory and a scratch folder.

    Opening a database takes 15 ms of CPU, and a night needs about two dozen, so idle ones are reused. Each loan gets a
    catalogue of its own, which is detached with its tables at the end.
    """
    idle = _IDLE_DATABASES.setdefault((memory, threads), [])
    whole = idle.pop() if idle else open_database(memory, threads)
    name = f"tables_{next(_NUMBERS)}"
    with scratch_folder() as scratch, closing(whole.cursor()) as database:
        bounds = f"memory_limit = '{memory}'", f"threads = {threads}"
        for setting in (*bounds, "TimeZone = 'UTC'", "python_enable_replacements = false", BUILD_ON_KEYS):
            database.execute(f"SET {setting}")
        database.execute(f"ATTACH ':memory:' AS {name}")
        database.execute(f"USE {name}")
        yield database, scratch
    for (other,) in whole.execute(ATTACHED).fetchall():
        whole.execute(f'DETACH "{other}"')
    idle.append(whole)


def open_database(memory: str, threads: int) -> duckdb.DuckDBPyConnection:
    """Open a database in memory with a folder to spill to."""
    bounds: dict[str, str | bool | int | float | list[str]] = {"memory_limit": memory, "threads": threads}
    database = duckdb.connect(config=bounds)
    database.execute("SET temp_directory = ?", [str(new_folder())])
    return database


def answer(
    warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = (), memory: str = MEMORY, threads: int = 2
) -> pa.Table:
    """Return the result of a SELECT from ``{rows}``; many rows are split by ``apart`` and queried part by part."""
    with database_in(memory, threads) as (database, scratch):
        every = registered(database, warehouse, [rows])
        most = at_most(warehouse, rows, HELD_NARROW) if apart else 0
        if most <= HELD_NARROW:
            return database.sql(sql.format(rows=f"({every})")).to_arrow_table()
        turns = partitioned(database, scratch, every, apart, 1 + most // HELD_NARROW)
        return pa.concat_tables([answer_part(database, sql.format(rows=f"({turn})")) for turn in turns])


def answer_part(database: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Return the result of a SELECT; if memory does not suffice, run it again and all later ones with one thread.

    Each thread holds a part of the rows.
    """
    try:
        return database.sql(sql).to_arrow_table()
    except duckdb.OutOfMemoryException:
        database.execute("SET threads = 1")
        return database.sql(sql).to_arrow_table()


def are_few(warehouse: Warehouse, parts: Sequence[Rows], most: int) -> bool:
    """Return True if at most ``most`` rows are read, so that the driver is faster than Spark."""
    return sum(at_most(warehouse, rows, most) for rows in parts) <= most


def at_most(warehouse: Warehouse, rows: Rows, enough: int) -> int:
    """Return an upper bound of the rows to read; the size of the table if that is at most ``enough``."""
    if rows.files:
        return int(dataset_of(warehouse, rows).count_rows())
    every = warehouse.opened(rows.table, rows.version).count()
    if every <= enough:
        return every
    dataset, wanted = dataset_of(warehouse, rows), as_filter(rows)
    first = [*islice(dataset.get_fragments(wanted), FEW_FILES + 1)]
    if len(first) > FEW_FILES:
        return every
    parts = first if wanted is None else [file.subset(wanted, schema=dataset.schema) for file in first]
    return sum(group.num_rows for part in parts for group in part.row_groups)


def in_order(
    database: duckdb.DuckDBPyConnection,
    scratch: Path,
    warehouse: Warehouse,
    parts: Sequence[Rows],
    by: Partitioning,
) -> pa.RecordBatchReader:
    """Return the rows of all ``parts``, sorted, with those of a key together.

    Many rows are first partitioned by key into files in ``scratch``, and these are sorted one after the other.
    """
    most, every = sum(at_most(warehouse, rows, HELD) for rows in parts), registered(database, warehouse, parts)
    if most <= HELD:
        return sorted_rows(database, every, by)
    parted = partitioned(database, scratch, every, by.key, 1 + most // HELD)
    turns = (sorted_rows(database, turn, by) for turn in parted)
    first = next(turns)
    return pa.RecordBatchReader.from_batches(first.schema, chain(first, chain.from_iterable(turns)))


def partitioned(
    database: duckdb.DuckDBPyConnection, scratch: Path, rows: str, key: Sequence[str], count: int
) -> Sequence[str]:
    """Write the rows of a SELECT to ``count`` parts on disk, those of a key to one part; return a SELECT of each part.

    Empty parts have none; without any row the result is one SELECT of no rows.
    """
    parted = f"SELECT *, hash({', '.join(map(quoted, key))}) % {count} AS turn FROM ({rows})"
    database.execute(f"SET partitioned_write_flush_threshold = {WRITTEN_ROWS}")
    database.execute(
        f"COPY ({parted}) TO {sql_text(str(scratch / PARTS_FOLDER))} (FORMAT parquet, PARTITION_BY turn)"
    ).fetchall()
    folders = sorted((scratch / PARTS_FOLDER).iterdir())
    return [rows_of(folder) for folder in folders] or [f"SELECT * FROM ({rows}) LIMIT 0"]


def sorted_rows(database: duckdb.DuckDBPyConnection, rows: str, by: Partitioning) -> pa.RecordBatchReader:
    """Return the sorted rows of a SELECT."""
    order = ", ".join(f"{column} NULLS FIRST" for column in by.order)
    return database.sql(f"SELECT * FROM ({rows}) ORDER BY {order}").to_arrow_reader(BATCH_ROWS)


def rows_of(folder: Path) -> str:
    """Return a SELECT of the rows in the Parquet files of a folder."""
    return f"SELECT * FROM read_parquet({sql_text(f'{folder}/*.parquet')}, hive_partitioning = false)"


def registered(database: duckdb.DuckDBPyConnection, warehouse: Warehouse, parts: Sequence[Rows]) -> str:
    """Return a SELECT of the rows of all ``parts``, which can be run only once."""
    return " UNION ALL BY NAME ".join(
        select_of(database, warehouse, rows, str(number)) for number, rows in enumerate(parts)
    )


def select_of(database: duckdb.DuckDBPyConnection, warehouse: Warehouse, rows: Rows, name: str) -> str:
    """Register ``rows`` in ``database`` and return a SELECT of them; Arrow skips files that no row can be in."""
    dataset = dataset_of(warehouse, rows)
    columns = rows.columns or tuple(dataset.schema.names)
    keyed = [condition for condition in rows.conditions if isinstance(condition, Among | NamedBy)]
    named = {*columns, *rows.also.values(), *chain.from_iterable(condition.columns for condition in keyed)}
    needed = [column for column in dataset.schema.names if column in named]
    scan = dataset.scanner(needed, filter=as_filter(rows), **READ_AHEAD)
    database.register(f"rows_{name}", scan.to_reader())
    joins = ""
    for at, condition in enumerate(keyed):
        by = f"keys_{name}_{at}"
        names = ", ".join(map(quoted, condition.columns))
        if isinstance(condition, NamedBy):
            others = select_of(database, warehouse, condition.rows.select(condition.columns), f"{name}_{at}")
            joins += f" SEMI JOIN ({others}) AS {by} USING ({names})"
            continue
        schema = pa.schema([(column, pa.string()) for column in condition.columns])
        keys = [dict(zip(condition.columns, key, strict=True)) for key in sorted(condition.keys)]
        database.register(by, pa.Table.from_pylist(keys, schema))
        joins += f" {'SEMI' if condition.wanted else 'ANTI'} JOIN {by} USING ({names})"
    also = [f"{sql} AS {quoted(column)}" for column, sql in rows.also.items()]
    return f"SELECT {', '.join([*map(quoted, columns), *also])} FROM rows_{name}{joins}"


def dataset_of(warehouse: Warehouse, rows: Rows) -> ds.Dataset:
    """Return the Arrow dataset of the table, or of the files, that ``rows`` names."""
    if rows.files:
        return warehouse.uncommitted(rows.table, rows.files)
    return warehouse.dataset(rows.table, rows.version)


def as_filter(rows: Rows) -> pc.Expression | None:
    """Return the conditions that Arrow can apply to partitions, row groups and rows; ``None`` if there are none."""
    among = [condition for condition in rows.conditions if isinstance(condition, Among)]
    parts = [fits(condition) for condition in rows.conditions if not isinstance(condition, Among | NamedBy)]
    parts += [
        fits(OneOf(name, tuple(sorted({key[at] for key in condition.keys}))))
        for condition in among
        if condition.wanted and len(condition.keys) <= FEW_KEYS
        for at, name in enumerate(condition.columns)
    ]
    return reduce(and_, parts) if parts else None


def quoted(name: str) -> str:
    """Return a column's name quoted for SQL."""
    return f'"{name}"'


def fits(condition: Simple) -> pc.Expression:
    """Convert a condition to an Arrow expression."""
    match condition:
        case OneOf(column, values):
            numbers = bool(values) and isinstance(values[0], int)
            return pc.field(column).isin(pa.array(values, pa.int64() if numbers else pa.string()))
        case After(column, number):
            return pc.field(column) > number
        case UpTo(column, number):
            return pc.field(column) <= number
        case AfterOwn(column, by, numbers):
            texts = [
                (pc.field(column) > number)
                & fits(OneOf(by, tuple(text for text, its in numbers.items() if its == number)))
                for number in sorted({*numbers.values()})
            ]
            return any_of(texts)


def any_of(conditions: Sequence[pc.Expression]) -> pc.Expression:
    """Return the disjunction of ``conditions``, nested by halves: a long chain would overflow Arrow's stack."""
    if len(conditions) < 2:
        return conditions[0] if conditions else pc.scalar(value=False)
    half = len(conditions) // 2
    return any_of(conditions[:half]) | any_of(conditions[half:])


def without_null_columns(warehouse: Warehouse, parts: Sequence[Rows], needed: Collection[str]) -> tuple[Rows, ...]:
    """Return ``parts`` without columns that are null in all rows of all parts, except those ``needed``.

    Each part must name its columns. Statistics in the tables' logs decide; without statistics of a file all its columns
    are read.
    """
    kept = {*needed}.union(*(columns_with_values(warehouse, rows) for rows in parts))
    return tuple(
        rows.select(
            (name for name in rows.columns if name in kept),
            {name: sql for name, sql in rows.also.items() if name in kept},
        )
        for rows in parts
    )


def columns_with_values(warehouse: Warehouse, rows: Rows) -> Iterator[str]:
    """Yield the columns of ``rows`` that may have a value."""
    yield from (name for name, sql in rows.also.items() if not is_null(sql))
    null_columns = warehouse.null_columns(rows.table, rows.version)
    files = dataset_of(warehouse, rows).get_fragments(as_filter(rows))
    of_files = [null_columns.get(file.path, frozenset()) for file in files]
    nowhere = frozenset[str]().union(rows.columns) if not of_files else frozenset.intersection(*of_files)
    yield from (name for name in rows.columns if name not in nowhere)
