"""The pointer tables: for each group, the run whose rows of the judged tables are current.

Judged tables only grow: each row has the id of the run that judged it. For each group ``gold.judged`` names the run of
its newest verdicts, and ``gold.published`` the run that readers see. Publishing is one commit to the latter. Rows that
no pointer names belong to former runs or to a replay that was killed, and no reader sees them.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs.faults import Damaged
from election_replay.jobs.warehouse.data_files import write_data_files
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES, Table

GROUP = ("cluster", "replica_group")
OF_GROUP = (*GROUP, "run_id")
"""The columns by which a judged table is joined with a pointer."""

PUBLISHED, CANDIDATE = "published", "judged"
KEPT_SINCE = "electionReplay.keptSince"
"""The property of ``gold.published`` with the time (ISO 8601) since which no rows of published runs were erased."""

LAST_SEEN = "last_seen_at"
"""The column of findings that is read from the pointer: a run that finds the same again adds no rows."""


def current_rows_sql(table: Table, every: str, pointer: str) -> str:
    """Return the SELECT, for Spark and DuckDB, of the rows of judged table ``every`` that table ``pointer`` names."""
    shown = [f"pointer.judged_at AS {LAST_SEEN}" if name == LAST_SEEN else f"every_row.{name}" for name in table.names]
    joined = " AND ".join(f"every_row.{name} = pointer.{name}" for name in OF_GROUP)
    return f"SELECT {', '.join(shown)} FROM {every} AS every_row JOIN {pointer} AS pointer ON {joined}"  # noqa: S608


def pointer_rows(warehouse: Warehouse, table: str, version: int | None) -> pa.Table:
    """Return the rows of a pointer at ``version``; none if that is ``None``."""
    schema = TABLES[table].arrow_schema()
    if version is None:
        return schema.empty_table()
    return warehouse.dataset(table, version).to_table(schema.names).cast(schema)


def pointer_of(warehouse: Warehouse, run: Mapping[str, Any]) -> int | None:
    """Return the version of ``gold.published`` by which ``run`` is read.

    Raises :class:`~jobs.faults.Damaged` if upkeep may have erased rows that it names.
    """
    since = warehouse.opened(PUBLISHED).metadata().configuration.get(KEPT_SINCE)
    if since is not None and run["published_at"] < datetime.fromisoformat(since):
        raise Damaged(PUBLISHED, warehouse.location(PUBLISHED), ValueError(f"{run['run_id']} is kept no longer"))
    return warehouse.published_version(run, PUBLISHED)


def note_kept(warehouse: Warehouse, since: datetime) -> None:
    """Record in the pointer that rows of runs published before ``since`` may be erased."""
    properties = {KEPT_SINCE: since.isoformat()}
    if not properties.items() <= warehouse.opened(PUBLISHED).metadata().configuration.items():
        with warehouse.committing(PUBLISHED):
            warehouse.opened(PUBLISHED).alter.set_table_properties(properties, raise_if_not_exists=False)


def advanced_pointer(former: pa.Table, deleted: DeletedKeys, judged: pa.Table) -> pa.Table:
    """Return the pointer ``former`` without the groups ``deleted``, and with the rows ``judged``."""
    clusters, groups = (former[name].to_pylist() for name in GROUP)
    stays = [
        cluster not in deleted.clusters and (cluster, group) not in deleted.keys
        for cluster, group in zip(clusters, groups, strict=True)
    ]
    return pa.concat_tables([former.filter(pa.array(stays, pa.bool_())), judged.cast(former.schema)])


def with_clusters_from(rows: pa.Table, clusters: Collection[str], former: pa.Table) -> pa.Table:
    """Return the pointer ``rows`` with the entries of ``clusters`` replaced by those of ``former``."""
    of = pa.array(sorted(clusters), pa.string())
    kept = rows.filter(pc.invert(pc.is_in(rows["cluster"], of)))
    return pa.concat_tables([kept, former.filter(pc.is_in(former["cluster"], of))])


def commit_pointer(
    warehouse: Warehouse,
    table: str,
    rows: pa.Table,
    note: str,
    version: int | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Replace the pointer by ``rows``, in one commit on top of ``version``, by default the newest."""
    ordered = rows.sort_by([(name, "ascending") for name in GROUP])
    files = write_data_files(((table, batch) for batch in ordered.to_batches()), warehouse.root)
    warehouse.replace(files, table, None, note, version, metadata=metadata)


def counts_by_table(rows: pa.Table) -> dict[str, int]:
    """Return how many rows of each judged table a pointer names, by table."""
    counts: Counter[str] = Counter()
    for of_group in rows["counts"].to_pylist():
        counts.update(dict(of_group))
    return dict(counts)
