"""The interface of engines, and the values by which a job describes the rows that it reads.

The jobs define what is read, how it is partitioned and sorted, and what is done with it. An engine only moves the
batches: :class:`~jobs.engines.spark_engine.SparkEngine` over a cluster, and
:class:`~jobs.engines.local_engine.LocalEngine` in this process and further ones on this machine. Both give the same
rows, so each night of a warehouse may be written by either.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import pyarrow as pa

from election_replay.jobs.warehouse.data_files import DataFile, Row
from election_replay.jobs.warehouse.data_files import Rows as Batch
from election_replay.jobs.warehouse.warehouse import Warehouse

BatchFunction = Callable[[Iterator[pa.RecordBatch]], Iterable[Row | Batch]]
"""A picklable function from ordered record batches to rows of tables."""

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column holds one of these values; no row matches if there are none."""

    column: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class After:
    """The column is greater than this number."""

    column: str
    number: int


@dataclass(frozen=True, slots=True)
class UpTo:
    """The column is at most this number."""

    column: str
    number: int


@dataclass(frozen=True, slots=True)
class AfterOwn:
    """The column is greater than ``numbers[by]``, where ``by`` is a text column; other texts do not match."""

    column: str
    by: str
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Among:
    """The columns hold one of ``keys``, which may be many; or none of them if ``wanted`` is false."""

    columns: tuple[str, ...]
    keys: frozenset[tuple[str, ...]]
    wanted: bool = True


Simple = OneOf | After | UpTo | AfterOwn
"""Conditions on a row's own values, by which readers can skip whole files and partitions."""


@dataclass(frozen=True, slots=True)
class NamedBy:
    """The columns hold the same values as some row of ``rows`` (a semi join)."""

    columns: tuple[str, ...]
    rows: "Rows"


Condition = Simple | Among | NamedBy


NULL = "NULL"
"""The SQL of a null column whose type is known from other rows of a union."""


def null_of(kind: str) -> str:
    """Return the SQL of a null column of SQL type ``kind``."""
    return f"CAST(NULL AS {kind})"


def is_null(sql: str) -> bool:
    """Return True if ``sql`` is :data:`NULL` or made by :func:`null_of`."""
    return sql == NULL or sql.startswith("CAST(NULL AS ")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table at ``version`` (``None``: the newest) that match all ``conditions``.

    ``columns`` are those to read, all if empty. ``also`` are computed columns: name -> SQL that both Spark and DuckDB
    accept. ``files``, if any, are data files that no commit names yet, and the rows are theirs.
    """

    table: str
    version: int | None = None
    conditions: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def where(self, *conditions: Condition) -> "Rows":
        """Return these rows with further conditions."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def select(self, columns: Iterable[str], also: Mapping[str, str] | None = None) -> "Rows":
        """Return these rows with other columns and computed columns."""
        return replace(self, columns=tuple(columns), also=also or {})


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How rows reach the work: those of one ``key`` come together, in consecutive batches sorted by ``order``.

    ``key`` is one column, or ``cluster`` and one more. ``order`` begins with the key; each entry is a column or SQL
    that both Spark and DuckDB accept, and nulls come first. ``splits_by_cluster`` is the number of tasks for each
    cluster, where rows go over a network; others go to one task. ``None``: the engine decides.
    """

    key: tuple[str, ...]
    order: tuple[str, ...]
    splits_by_cluster: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Adding:
    """Tables to which the engine itself appends and commits rows of the work, with ``note`` in the history."""

    tables: tuple[str, ...] = ()
    note: str = ""

    def commit(self, warehouse: Warehouse, files: Iterable[DataFile]) -> list[DataFile]:
        """Append the files of these tables, in one commit a table, and return the files of all other tables."""
        written = list(files)
        for table in self.tables:
            if any(file.table == table for file in written):
                warehouse.replace(written, table, (), self.note)
        return [file for file in written if file.table not in self.tables]


NOTHING = Adding()


class Engine(Protocol):
    """Moves record batches from the warehouse to the work, and writes its output."""

    @property
    def title(self) -> str:
        """Return the engine's name and place, for a line of progress."""

    @property
    def tasks(self) -> int:
        """Return the number of tasks into which work is best divided."""

    @property
    def one_machine(self) -> bool:
        """Return True if the engine can only use this machine."""

    def cores_for(self, size: int) -> int:
        """Return over how many cores it is worth dividing work that reads ``size`` bytes."""

    def prewarm(self, size: int) -> None:
        """Start slow preparations for coming work that reads ``size`` bytes."""

    def progress(self) -> tuple[int, int] | None:
        """Return (tasks done, tasks) of the running work; ``None`` if unknown."""

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """Apply ``work`` to each item, and return the results in order; all of these must be picklable."""

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:
        """Return the result of a SELECT from ``{rows}``, in SQL that both Spark and DuckDB accept; it fits into memory.

        ``apart`` are columns such that the results for each of their keys, put together, are the result for all rows:
        then the rows may be queried part by part.
        """

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: BatchFunction,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """Run ``work`` over all rows of ``parts``, which have the same columns, and write its output.

        Rows of the tables of ``adding`` are committed to them; return the data files of all other rows.
        """
