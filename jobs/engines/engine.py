"""What an engine does for a job, and how a job says which rows it means.

A plan (what is read, how it is dealt, in which order, and what is done with it) stands once, in the jobs and their
rooms. An engine only moves the batches: :class:`~jobs.engines.spark_engine.SparkEngine` over a cluster, and
:class:`~jobs.engines.local_engine.LocalEngine` in this process and some more on this machine. Both give the same
rows, so a warehouse may be written by either, night by night.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import pyarrow as pa

from election_replay.jobs.warehouse.data_files import DataFile, Row
from election_replay.jobs.warehouse.data_files import Rows as Batch
from election_replay.jobs.warehouse.warehouse import Warehouse

Work = Callable[[Iterator[pa.RecordBatch]], Iterable[Row | Batch]]
"""A generator over record batches, in their order; what it tells are rows of tables. It can be pickled."""

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column holds one of these values; none at all fits where there are none."""

    column: str
    values: tuple[str, ...] | tuple[int, ...]


@dataclass(frozen=True, slots=True)
class After:
    """The column is larger than this number."""

    column: str
    number: int


@dataclass(frozen=True, slots=True)
class UpTo:
    """The column is this number or smaller."""

    column: str
    number: int


@dataclass(frozen=True, slots=True)
class AfterOwn:
    """The column is larger than the number that belongs to the text in the column ``by``; a text without one is out."""

    column: str
    by: str
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Among:
    """The columns together hold one of these keys, or, with ``wanted`` false, none of them. There may be many keys."""

    columns: tuple[str, ...]
    keys: frozenset[tuple[str, ...]]
    wanted: bool = True


Simple = OneOf | After | UpTo | AfterOwn
"""Conditions on a row's own values; readers need not even open the files of partitions that they leave out."""


@dataclass(frozen=True, slots=True)
class NamedBy:
    """The columns together hold a key of these other rows, however many they are."""

    columns: tuple[str, ...]
    rows: "Rows"


Condition = Simple | Among | NamedBy


NULL = "NULL"
"""The SQL of a column of which no row has a value, beside other rows that say of which type it is."""


def null_of(kind: str) -> str:
    """The same of this type of SQL."""
    return f"CAST(NULL AS {kind})"


def is_null(sql: str) -> bool:
    """Whether it is that of such a column."""
    return sql == NULL or sql.startswith("CAST(NULL AS ")


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table at a version (``None``: the newest) that fit all conditions.

    Of the columns those named, all by default. ``also`` are further ones: name -> SQL that Spark and DuckDB read alike.
    ``files`` are paths of data files of the table that no commit names yet; then the rows are those of these files.
    """

    table: str
    version: int | None = None
    conditions: tuple[Condition, ...] = ()
    columns: tuple[str, ...] = ()
    also: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def where(self, *conditions: Condition) -> "Rows":
        """Those of them that fit ``conditions`` too."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def select(self, columns: Iterable[str], also: Mapping[str, str] | None = None) -> "Rows":
        """The same rows with other columns."""
        return replace(self, columns=tuple(columns), also=also or {})


@dataclass(frozen=True, slots=True)
class Partitioning:
    """How rows come to the work: those of one ``key`` stand together, in one batch after the other, by ``order``.

    ``key`` is one column or ``cluster`` and one more; ``order`` begins with the key, and each of it is a column or SQL
    that Spark and DuckDB read alike; nulls come first. ``splits_by_cluster``: into how many tasks a cluster is best
    dealt, where rows go over a network; one that is not named stays together. ``None``: an engine deals as it likes.
    """

    key: tuple[str, ...]
    order: tuple[str, ...]
    splits_by_cluster: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Adding:
    """Tables to which rows are only added: the engine commits what is told of them, in the name of ``note``."""

    tables: tuple[str, ...] = ()
    note: str = ""

    def commit(self, warehouse: Warehouse, files: Iterable[DataFile]) -> list[DataFile]:
        """Add what data files hold of these tables, one commit a table; the files of all others."""
        written = list(files)
        for table in self.tables:
            if any(file.table == table for file in written):
                warehouse.replace(written, table, (), self.note)
        return [file for file in written if file.table not in self.tables]


NOTHING = Adding()


class Engine(Protocol):
    """Moves batches."""

    @property
    def title(self) -> str:
        """What it is and where it works, for a line of progress."""

    @property
    def tasks(self) -> int:
        """So many tasks can run at once."""

    @property
    def one_machine(self) -> bool:
        """Whether it can never use more than this machine."""

    def cores_for(self, size: int) -> int:
        """Over how many cores it is worth to deal work that reads so many bytes."""

    def prewarm(self, size: int) -> None:
        """Begin what takes its time to begin, as work that reads so many bytes is about to come."""

    def progress(self) -> tuple[int, int] | None:
        """How many of how many running tasks are done, as far as that is known."""

    def each(self, work: Callable[[Item], Answer], items: Sequence[Item]) -> list[Answer]:
        """``work`` on each item, somewhere; what it came to, in the order of the items. All of it can be pickled."""

    def answer(self, warehouse: Warehouse, sql: str, rows: Rows, apart: Sequence[str] = ()) -> pa.Table:
        """The answer to a SELECT from ``{rows}`` that fits into memory; Spark and DuckDB read it alike.

        Where the answer to all rows is that to those of each key of the columns ``apart``, they may be asked in turns.
        """

    def map_partitions(
        self,
        warehouse: Warehouse,
        parts: Sequence[Rows],
        by: Partitioning,
        work: Work,
        adding: Adding = NOTHING,
    ) -> list[DataFile]:
        """``work`` over all rows of ``parts``, which have the same columns.

        What it tells of the tables of ``adding`` is added to them; the answer are the files that hold the rest.
        """
