"""Rows of the warehouse in DuckDB, read by Arrow: for the local engine, and for what is too little for Spark."""

import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import reduce
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
"""What DuckDB holds of the rows that it sorts; the rest lies on disk meanwhile."""

KEYS_ARE_FEW = "disabled_optimizers = 'build_side_probe_side'"
"""Rows that are read are joined with keys, which are held in memory meanwhile. DuckDB does not know how many rows come,
and would sometimes hold all of them instead."""

FEW = 500_000
"""So many rows, at most, of a few columns, are read in a tenth of a second or two: sooner than Spark begins a job."""


LITTLE = 50_000
"""So many rows, at most, are folded or judged in a second or two: sooner than Spark has shuffled them."""

BATCH_ROWS = 10_000
"""Rows of a batch, as with Spark."""

FEW_KEYS = 1_000
"""So many keys are looked for by Arrow as well, which then need not read all rows."""

FEW_FILES = 64
"""Of so many files the numbers of rows are asked for."""

HELD = 400_000
"""So many rows, about, are sorted together, within :data:`MEMORY`. Where they were more, DuckDB would put them on disk
by itself, but mostly too late: it fails for want of memory where a small table is read before a large one, and where
the texts of a sorted file lie in no order."""

HELD_NARROW = 4 * HELD
"""So many rows of few columns are asked together."""

WRITTEN_ROWS = 50_000
"""So many rows wait in memory until they are written to their parts on disk."""

IN_PARTS = "dealt"
"""The folder of rows that wait to be sorted."""

READ_AHEAD = {"batch_readahead": 2, "fragment_readahead": 1}
"""So little is read before it is asked for: rows are wide, and by default Arrow would hold a hundred thousands."""


class ReadAsAsked(ds.UnionDataset):  # type: ignore[misc]
    """The rows of a dataset that DuckDB scans, once or again. Arrow reads little before they are asked for: by default
    it would hold up to a gigabyte."""

    @classmethod
    def of(cls, rows: ds.Dataset) -> "ReadAsAsked":
        """The rows of a dataset that has no filter yet."""
        return cls(rows.schema, [rows])

    def scanner(self, *arguments: Any, **options: Any) -> ds.Scanner:
        """What DuckDB reads by."""
        return super().scanner(*arguments, **options | READ_AHEAD)


_IDLE: dict[tuple[str, int], list[duckdb.DuckDBPyConnection]] = {}
"""Databases that nobody uses now, by their bounds of memory and threads."""

_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Where they put what they do not hold, until this process ends."""

_NUMBERS = count()

ATTACHED = "SELECT database_name FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'"
"""What somebody who used a database had attached to it."""


@contextmanager
def database_in(memory: str, threads: int) -> Iterator[tuple[duckdb.DuckDBPyConnection, Path]]:
    """A database in memory, and a folder for what it does not hold there.

    To open one takes 15 ms of a core, and a night asks for some two dozen: one that is idle is used again, with a
    catalogue of its own, which goes with all of its tables.
    """
    idle = _IDLE.setdefault((memory, threads), [])
    whole = idle.pop() if idle else opened(memory, threads)
    name = f"tables_{next(_NUMBERS)}"
    with tempfile.TemporaryDirectory(prefix="election-replay-") as scratch, closing(whole.cursor()) as database:
        bounds = f"memory_limit = '{memory}'", f"threads = {threads}"
        for setting in (*bounds, "TimeZone = 'UTC'", "python_enable_replacements = false", KEYS_ARE_FEW):
            database.execute(f"SET {setting}")
        database.execute(f"ATTACH ':memory:' AS {name}")
        database.execute(f"USE {name}")
        yield database, Path(scratch)
    for (other,) in whole.execute(ATTACHED).fetchall():
        whole.execute(f'DETACH "{other}"')
    idle.append(whole)


def opened(memory: str, threads: int) -> duckdb.DuckDBPyConnection:
    """A database in memory within some bounds, with a folder for what it does not hold there."""
    bounds: dict[str, str | bool | int | float | list[str]] = {"memory_limit": memory, "threads": threads}
    database = duckdb.connect(config=bounds)
    _FOLDERS.append(tempfile.TemporaryDirectory(prefix="election-replay-"))
    database.execute("SET temp_directory = ?", [_FOLDERS[-1].name])
    return database


def answer(
    warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = (), memory: str = MEMORY, threads: int = 2
) -> pa.Table:
    """The answer to a SELECT from ``{rows}``. Many rows are dealt by the columns ``apart``, and asked in turns."""
    with database_in(memory, threads) as (database, scratch):
        every = registered(database, warehouse, [rows])
        most = at_most(warehouse, rows, HELD_NARROW) if apart else 0
        if most <= HELD_NARROW:
            return database.sql(sql.format(rows=f"({every})")).to_arrow_table()
        turns = partitioned(database, scratch, every, apart, 1 + most // HELD_NARROW)
        return pa.concat_tables([answer_of_turn(database, sql.format(rows=f"({turn})")) for turn in turns])


def answer_of_turn(database: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """The answer to a SELECT that can be asked again. Each thread holds a part of the rows: where memory is too little
    for that, one thread answers, and all that is asked after it."""
    try:
        return database.sql(sql).to_arrow_table()
    except duckdb.OutOfMemoryException:
        database.execute("SET threads = 1")
        return database.sql(sql).to_arrow_table()


def are_few(warehouse: Warehouse, parts: Sequence[Rows], most: int) -> bool:
    """Whether no more rows are read than ``most``, so that the driver does it sooner than Spark."""
    return sum(at_most(warehouse, rows, most) for rows in parts) <= most


def at_most(warehouse: Warehouse, rows: Rows, enough: int) -> int:
    """A bound of how many rows are read; no closer one than that of the whole table where that is little ``enough``."""
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
    """The rows of all ``parts``, sorted, those of a key together.

    Many are dealt by their keys into some files in the folder ``scratch`` first, which are sorted one after the other.
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
    """The rows of a SELECT in so many parts on disk, those of a key in one part: a SELECT for each that has some.

    Where none has any it is one without rows.
    """
    parted = f"SELECT *, hash({', '.join(map(quoted, key))}) % {count} AS turn FROM ({rows})"
    database.execute(f"SET partitioned_write_flush_threshold = {WRITTEN_ROWS}")
    database.execute(
        f"COPY ({parted}) TO {sql_text(str(scratch / IN_PARTS))} (FORMAT parquet, PARTITION_BY turn)"
    ).fetchall()
    folders = sorted((scratch / IN_PARTS).iterdir())
    return [rows_of(folder) for folder in folders] or [f"SELECT * FROM ({rows}) LIMIT 0"]


def sorted_rows(database: duckdb.DuckDBPyConnection, rows: str, by: Partitioning) -> pa.RecordBatchReader:
    """The rows of a SELECT, sorted."""
    order = ", ".join(f"{column} NULLS FIRST" for column in by.order)
    return database.sql(f"SELECT * FROM ({rows}) ORDER BY {order}").to_arrow_reader(BATCH_ROWS)


def rows_of(folder: Path) -> str:
    """A SELECT of the rows in the files of a folder."""
    return f"SELECT * FROM read_parquet({sql_text(f'{folder}/*.parquet')}, hive_partitioning = false)"


def registered(database: duckdb.DuckDBPyConnection, warehouse: Warehouse, parts: Sequence[Rows]) -> str:
    """A SELECT of the rows of all ``parts``, which can be asked once."""
    return " UNION ALL BY NAME ".join(
        select_of(database, warehouse, rows, str(number)) for number, rows in enumerate(parts)
    )


def select_of(database: duckdb.DuckDBPyConnection, warehouse: Warehouse, rows: Rows, name: str) -> str:
    """A SELECT of some rows of a table. Arrow reads no file of a partition that they leave out."""
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
    """The files that may hold some rows of a table, as Arrow reads them."""
    if rows.files:
        return warehouse.written(rows.table, rows.files)
    return warehouse.dataset(rows.table, rows.version)


def as_filter(rows: Rows) -> pc.Expression | None:
    """What Arrow knows of the conditions: it leaves out partitions, groups of rows by their statistics, and rows."""
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
    """The name of a column, though it be a word of SQL."""
    return f'"{name}"'


def fits(condition: Simple) -> pc.Expression:
    """A condition as Arrow's."""
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
    """That one of many conditions holds; they are halved and not put one inside the other, for Arrow's stack."""
    if len(conditions) < 2:
        return conditions[0] if conditions else pc.scalar(value=False)
    half = len(conditions) // 2
    return any_of(conditions[:half]) | any_of(conditions[half:])


def without_null_columns(warehouse: Warehouse, parts: Sequence[Rows], needed: Collection[str]) -> tuple[Rows, ...]:
    """``parts``, which name their columns, without those that are null in all rows of all of them, but for ``needed``.

    That is what the logs of the tables say of the files that are read; of a file of which they say nothing all columns
    are read.
    """
    kept = {*needed}.union(*(filled(warehouse, rows) for rows in parts))
    return tuple(
        rows.select(
            (name for name in rows.columns if name in kept),
            {name: sql for name, sql in rows.also.items() if name in kept},
        )
        for rows in parts
    )


def filled(warehouse: Warehouse, rows: Rows) -> Iterator[str]:
    """The columns of some rows that may have a value."""
    yield from (name for name, sql in rows.also.items() if not is_null(sql))
    null_columns = warehouse.null_columns(rows.table, rows.version)
    files = dataset_of(warehouse, rows).get_fragments(as_filter(rows))
    of_files = [null_columns.get(file.path, frozenset()) for file in files]
    nowhere = frozenset[str]().union(rows.columns) if not of_files else frozenset.intersection(*of_files)
    yield from (name for name in rows.columns if name not in nowhere)
