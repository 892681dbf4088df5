"""Facts as rows of one wide table and back: the only module that knows the columns of several kinds. A row names its
kind and fills the columns named after that kind's fields; the others are null. A test keeps the kinds and the columns
of ``schemas/facts.py`` in step."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from operator import attrgetter
from typing import Any

import pyarrow as pa

from election_replay.election_core.model.facts import Fact
from election_replay.election_core.replay.columns import texts
from election_replay.election_core.replay.registry import FACT_KINDS

SHARED_TEXTS = ("cluster", "replica_group", "protocol", "node", "source_node")
"""Columns in which many facts have the same text."""


def rows_of(facts: Iterable[Fact], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield facts as record batches of this schema, one for each kind, with the columns that the kind fills.
    ``evidence`` is always present; it is empty for kinds without evidence besides ``since_event`` and
    ``until_event``."""
    of_kind: dict[type[Fact], list[Fact]] = {}
    for fact in facts:
        of_kind.setdefault(type(fact), []).append(fact)
    for kind, alike in of_kind.items():
        names = [name for name in ("kind", *kind.__match_args__) if name in schema.names]
        columns = dict(zip(names, zip(*map(attrgetter(*names), alike), strict=True), strict=True))
        if "evidence" in schema.names:
            columns.setdefault("evidence", ((),) * len(alike))
        arrays = [pa.array(values, schema.field(name).type) for name, values in columns.items()]
        yield pa.RecordBatch.from_arrays(arrays, names=[*columns])


def facts_in(batches: Iterable[pa.RecordBatch]) -> Iterator[Fact]:
    """Yield the facts of ``batches`` in row order. A column may be missing if no row has a value. Raises
    :class:`KeyError` for a kind that this version does not know."""
    for batch in batches:
        facts: list[Fact | None] = [None] * batch.num_rows
        shared = {name: texts(batch.column(name)) for name in SHARED_TEXTS if name in batch.schema.names}
        rows_of: dict[str, list[int]] = {}
        for number, kind in enumerate(batch.column("kind").to_pylist()):
            rows_of.setdefault(kind, []).append(number)
        for kind, numbers in rows_of.items():
            names = FACT_KINDS[kind].__match_args__
            here = [name for name in names if name in batch.schema.names and name not in shared]
            alike = batch.select(here).take(pa.array(numbers, pa.int64()))
            columns: dict[str, Iterable[Any]] = {name: _plain(alike.column(name)) for name in here}
            columns |= {name: [words[number] for number in numbers] for name, words in shared.items()}
            values = (columns.get(name) or repeat(None) for name in names)
            for number, fact in zip(numbers, map(FACT_KINDS[kind], *values), strict=True):
                facts[number] = fact
        yield from (fact for fact in facts if fact is not None)


def _plain(column: pa.Array) -> list[Any]:
    """Return a column as immutable Python values; times in us UTC."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    values: list[Any] = column.to_pylist()
    if pa.types.is_list(column.type):
        return [None if value is None else tuple(value) for value in values]
    return values
