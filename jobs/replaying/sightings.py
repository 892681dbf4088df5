"""Which run found a finding first: what is published of a group goes through its judgement, beside its facts.

A finding keeps its id from run to run, so that one which is published already keeps its first run. Both kinds of rows
are dealt by group, and those of a group are read before its verdicts are told: nothing of it goes to the driver.
"""

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs.engines.engine import NULL, Among, OneOf, Rows, null_of
from election_replay.jobs.engines.null_columns import without_null_columns
from election_replay.jobs.replaying.work import Work
from election_replay.schemas import TABLES

FACTS = TABLES["facts"]
GROUP = ("cluster", "replica_group")
FOUND = {"finding_id": "STRING", "first_seen_run": "STRING", "first_seen_at": "TIMESTAMP"}
"""What a row beside the facts says: a finding, and its first run; type by column."""

NEEDED = (*GROUP, "kind", *FOUND)
"""The columns that the judge reads though no row has a value of them."""

Sighting = tuple[str | None, datetime | None]
"""The run that found a finding first, and when it began; null where an earlier release did."""


def with_sightings(parts: Sequence[Rows], groups: Among | None, work: Work) -> tuple[Rows, ...]:
    """``parts`` with facts to judge, and what is published of their groups: of ``groups``, and of whole clusters.

    Columns of which no row has a value are left out.
    """
    facts, asked = [in_fact_columns(part) for part in parts], []
    if (version := work.findings_version) is not None:
        every = Rows("findings", version)
        asked = [every.where(OneOf("cluster", work.extent.whole))] if work.extent.whole else []
        if groups is not None:
            asked.append(every.where(OneOf("cluster", work.extent.partly), groups))
    no_fact = dict.fromkeys((name for name in FACTS.names if name not in GROUP), NULL)
    published = [rows.select((*GROUP, *FOUND), no_fact) for rows in asked]
    return without_null_columns(work.warehouse, [*facts, *published], NEEDED)


def in_fact_columns(rows: Rows) -> Rows:
    """Rows of a table with facts, in the columns of ``facts`` and those of findings, which they lack."""
    here = TABLES[rows.table].names
    lacking = dict.fromkeys((name for name in FACTS.names if name not in here), NULL)
    nothing = {name: null_of(kind) for name, kind in FOUND.items()}
    return rows.select((name for name in FACTS.names if name in here), lacking | nothing)


def facts_alone(batches: Iterable[pa.RecordBatch], known: MutableMapping[str, Sighting]) -> Iterator[pa.RecordBatch]:
    """The rows of facts; what the others say comes into ``known``."""
    for batch in batches:
        facts = batch
        if batch.column("finding_id").null_count < batch.num_rows:
            is_fact = pc.is_null(batch.column("finding_id"))
            columns = [batch.column(name).filter(pc.invert(is_fact)).to_pylist() for name in FOUND]
            known.update((found, (by, at)) for found, by, at in zip(*columns, strict=True))
            facts = batch.filter(is_fact)
        yield facts.drop_columns([*FOUND])
