"""Facts as rows of one wide table and back: the only place that knows more than one kind's columns.

A row says its kind and fills the columns of that kind's fields, which have their names; the others are null. A test
holds the kinds and the columns of ``schemas/facts.py`` together.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any

import pyarrow as pa

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.replay.registry import FACT_KINDS


def values_of(columns: Sequence[str]) -> Callable[[Fact], tuple[Any, ...]]:
    """What a fact says in each of ``columns``, ``None`` in those that its kind does not have."""
    getters = {kind: attrgetter(*(_attribute(kind, name) for name in columns)) for kind in FACT_KINDS.values()}

    def values(fact: Fact) -> tuple[Any, ...]:
        row: tuple[Any, ...] = getters[type(fact)](fact)
        return row

    return values


def _attribute(kind: type[Fact], column: str) -> str:
    if column == "kind" or column in kind.__match_args__:
        return column
    return "no_evidence" if column == "evidence" else "not_of_kind"


def facts_in(batches: Iterable[pa.RecordBatch]) -> Iterator[Fact]:
    """The facts of ``batches``, group by group as the rows stand. Raises :class:`KeyError` for a kind of another
    version."""
    for batch in batches:
        facts: list[Fact | None] = [None] * batch.num_rows
        columns: dict[str, list[Any]] = {}
        rows_of: dict[str, list[int]] = {}
        for number, kind in enumerate(batch.column("kind").to_pylist()):
            rows_of.setdefault(kind, []).append(number)
        for kind, numbers in rows_of.items():
            names = FACT_KINDS[kind].__match_args__
            columns |= {name: _plain(batch.column(name)) for name in names if name not in columns}
            values = ([column[number] for number in numbers] for column in map(columns.__getitem__, names))
            for number, fact in zip(numbers, map(FACT_KINDS[kind], *values), strict=True):
                facts[number] = fact
        yield from (fact for fact in facts if fact is not None)


def _plain(column: pa.Array) -> list[Any]:
    """A column as Python values that cannot change; times as microseconds UTC."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Any] = column.to_pylist()
    if pa.types.is_list(column.type):
        return [None if value is None else tuple(value) for value in values]
    return values
