"""The first run of each published finding, and the hash of each group's published verdicts, for the judge.

A finding has the same id in every run, so one that is published already keeps its first run. These rows are partitioned
by group with the facts, and are read before a group's verdicts are written: none goes through the driver.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs.engines.duckdb_rows import without_null_columns
from election_replay.jobs.engines.engine import NULL, Among, OneOf, Rows, null_of
from election_replay.jobs.replaying.plan import Work
from election_replay.schemas import TABLES

FACTS = TABLES["facts"]
GROUP = ("cluster", "replica_group")
FINDING_COLUMNS = {"finding_id": "STRING", "first_seen_run": "STRING", "first_seen_at": "TIMESTAMP"}
"""The columns of a row for a published finding, with their SQL types."""

POINTER_COLUMNS = {"verdicts_hash": "STRING", "run_id": "STRING"}
"""The columns of a row for a published group, with their SQL types: the hash of its verdicts and the run that has them.
"""

EXTRA = FINDING_COLUMNS | POINTER_COLUMNS

NEEDED = (*GROUP, "kind", *EXTRA)
"""Columns that the judge reads even if they are null in all rows."""

FirstSeen = tuple[str | None, datetime | None]
"""The run that found a finding first, and the time at which it began (UTC); ``None`` if an earlier release did."""


def with_first_seen(parts: Sequence[Rows], groups: Among | None, work: Work) -> tuple[Rows, ...]:
    """Return ``parts``, the facts to judge, and the published findings and pointer rows of the judged groups.

    ``groups`` are those judged in clusters that are not judged whole. Columns that are null in all rows are left out.
    """
    facts, asked = [in_fact_columns(part) for part in parts], list[Rows]()
    no_fact = dict.fromkeys((name for name in FACTS.names if name not in GROUP), NULL)
    if (findings := work.published_rows("findings")) is not None:
        asked = [
            rows.select((*GROUP, *FINDING_COLUMNS), no_fact | nulls(POINTER_COLUMNS))
            for rows in of_groups(findings, groups, work)
        ]
    if (pointer := work.plan.pointer) is not None:
        asked += [
            rows.select((*GROUP, *POINTER_COLUMNS), no_fact | nulls(FINDING_COLUMNS))
            for rows in of_groups(pointer, groups, work)
        ]
    return without_null_columns(work.warehouse, [*facts, *asked], NEEDED)


def of_groups(every: Rows, groups: Among | None, work: Work) -> Iterator[Rows]:
    """Yield the rows of clusters that are judged whole, and those of ``groups`` in the others."""
    if work.extent.whole:
        yield every.where(OneOf("cluster", work.extent.whole))
    if groups is not None:
        yield every.where(OneOf("cluster", work.extent.partly), groups)


def nulls(columns: Mapping[str, str]) -> dict[str, str]:
    """Return the SQL of null columns, given name -> SQL type."""
    return {name: null_of(kind) for name, kind in columns.items()}


def in_fact_columns(rows: Rows) -> Rows:
    """Return rows of a table of facts with all columns of ``facts`` and null :data:`EXTRA` columns."""
    here = TABLES[rows.table].names
    lacking = dict.fromkeys((name for name in FACTS.names if name not in here), NULL)
    return rows.select((name for name in FACTS.names if name in here), lacking | nulls(EXTRA))


@dataclass(slots=True)
class PublishedBefore:
    """What is published of the judged groups: the first run of each finding, by its id, and each group's verdicts."""

    first_seen: dict[str, FirstSeen] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """(cluster, group) -> (hash of its verdicts, run that has the rows)."""


def facts_alone(batches: Iterable[pa.RecordBatch], before: PublishedBefore) -> Iterator[pa.RecordBatch]:
    """Yield the rows of facts, and collect all other rows into ``before``."""
    for batch in batches:
        is_fact = pc.is_valid(batch.column("kind"))
        if pc.all(is_fact).as_py() is False:
            others = batch.select([*GROUP, *EXTRA]).filter(pc.invert(is_fact))
            for row in others.to_pylist():
                if row["finding_id"] is not None:
                    before.first_seen[row["finding_id"]] = row["first_seen_run"], row["first_seen_at"]
                if row["verdicts_hash"] is not None:
                    before.verdicts[row["cluster"], row["replica_group"]] = row["verdicts_hash"], row["run_id"]
        yield batch.filter(is_fact).drop_columns([*EXTRA])
