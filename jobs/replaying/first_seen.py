"""Which run found a finding first, and what was published: that goes through a group's judgement, beside its facts.

A finding keeps its id from run to run, so that one which is published already keeps its first run. All kinds of rows
are dealt by group, and those of a group are read before its verdicts are told: nothing of it goes to the driver.
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
FOUND = {"finding_id": "STRING", "first_seen_run": "STRING", "first_seen_at": "TIMESTAMP"}
"""What a row beside the facts says: a finding, and its first run; type by column."""

POINTED = {"verdicts_hash": "STRING", "run_id": "STRING"}
"""What one more says: the hash of all that is published of the group, and whose rows those are."""

BESIDE = FOUND | POINTED

NEEDED = (*GROUP, "kind", *BESIDE)
"""The columns that the judge reads though no row has a value of them."""

FirstSeen = tuple[str | None, datetime | None]
"""The run that found a finding first, and when it began; null where an earlier release did."""


def with_first_seen(parts: Sequence[Rows], groups: Among | None, work: Work) -> tuple[Rows, ...]:
    """``parts`` with facts to judge, and what is published of their groups: of ``groups``, and of whole clusters.

    Columns of which no row has a value are left out.
    """
    facts, asked = [in_fact_columns(part) for part in parts], list[Rows]()
    no_fact = dict.fromkeys((name for name in FACTS.names if name not in GROUP), NULL)
    if (findings := work.published_rows("findings")) is not None:
        asked = [rows.select((*GROUP, *FOUND), no_fact | nulls(POINTED)) for rows in of_groups(findings, groups, work)]
    if (pointer := work.plan.pointer) is not None:
        asked += [rows.select((*GROUP, *POINTED), no_fact | nulls(FOUND)) for rows in of_groups(pointer, groups, work)]
    return without_null_columns(work.warehouse, [*facts, *asked], NEEDED)


def of_groups(every: Rows, groups: Among | None, work: Work) -> Iterator[Rows]:
    """The rows of what is judged: of whole clusters, and of ``groups``."""
    if work.extent.whole:
        yield every.where(OneOf("cluster", work.extent.whole))
    if groups is not None:
        yield every.where(OneOf("cluster", work.extent.partly), groups)


def nulls(columns: Mapping[str, str]) -> dict[str, str]:
    """Columns that some rows do not have; type by name."""
    return {name: null_of(kind) for name, kind in columns.items()}


def in_fact_columns(rows: Rows) -> Rows:
    """Rows of a table with facts, in the columns of ``facts`` and those of findings, which they lack."""
    here = TABLES[rows.table].names
    lacking = dict.fromkeys((name for name in FACTS.names if name not in here), NULL)
    return rows.select((name for name in FACTS.names if name in here), lacking | nulls(BESIDE))


@dataclass(slots=True)
class Before:
    """What is published of the groups that are judged: the first run of each finding, and whose verdicts they are."""

    first_seen: dict[str, FirstSeen] = field(default_factory=dict)
    verdicts: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    """Group -> the hash of its verdicts and the run whose rows they are."""


def facts_alone(batches: Iterable[pa.RecordBatch], before: Before) -> Iterator[pa.RecordBatch]:
    """The rows of facts; what the others say comes into ``before``."""
    for batch in batches:
        is_fact = pc.is_valid(batch.column("kind"))
        if pc.all(is_fact).as_py() is False:
            others = batch.select([*GROUP, *BESIDE]).filter(pc.invert(is_fact))
            for row in others.to_pylist():
                if row["finding_id"] is not None:
                    before.first_seen[row["finding_id"]] = row["first_seen_run"], row["first_seen_at"]
                if row["verdicts_hash"] is not None:
                    before.verdicts[row["cluster"], row["replica_group"]] = row["verdicts_hash"], row["run_id"]
        yield batch.filter(is_fact).drop_columns([*BESIDE])
