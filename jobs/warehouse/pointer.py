"""The pointer: of each group the run whose rows of the judged tables are current.

Judged tables only grow: each row bears the run that judged it. ``gold.judged`` names of each group the run that its
newest verdicts are of, and ``gold.published`` the one that readers see. To publish is one commit to the latter. Rows
that no pointer names are those of former runs, or of a replay that was killed: nobody sees them.
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
"""What a judged table is joined with a pointer by."""

PUBLISHED, CANDIDATE = "published", "judged"
KEPT_SINCE = "electionReplay.keptSince"
"""The property of ``gold.published`` that says since when all rows of runs are there."""

SEEN = "last_seen_at"
"""The column of a finding that the pointer tells: a run that finds the same again adds no rows."""


def current(table: Table, every: str, pointer: str) -> str:
    """The SELECT of those rows of a judged table that a pointer names, both given by name; for Spark and DuckDB."""
    shown = [f"pointer.judged_at AS {SEEN}" if name == SEEN else f"every_row.{name}" for name in table.names]
    joined = " AND ".join(f"every_row.{name} = pointer.{name}" for name in OF_GROUP)
    return f"SELECT {', '.join(shown)} FROM {every} AS every_row JOIN {pointer} AS pointer ON {joined}"  # noqa: S608


def pointer_rows(warehouse: Warehouse, table: str, version: int | None) -> pa.Table:
    """The rows of a pointer at a version; none where it was not there yet."""
    schema = TABLES[table].arrow_schema()
    if version is None:
        return schema.empty_table()
    return warehouse.dataset(table, version).to_table(schema.names).cast(schema)


def pointer_of(warehouse: Warehouse, run: Mapping[str, Any]) -> int | None:
    """The version of ``gold.published`` that a run is read by.

    Raises :class:`~jobs.faults.Damaged` where upkeep has erased rows that it names.
    """
    since = warehouse.opened(PUBLISHED).metadata().configuration.get(KEPT_SINCE)
    if since is not None and run["published_at"] < datetime.fromisoformat(since):
        raise Damaged(PUBLISHED, warehouse.location(PUBLISHED), ValueError(f"{run['run_id']} is kept no longer"))
    return warehouse.published_version(run, PUBLISHED)


def note_kept(warehouse: Warehouse, since: datetime) -> None:
    """Let the pointer say since when runs are kept: of those before, rows may be erased."""
    properties = {KEPT_SINCE: since.isoformat()}
    if not properties.items() <= warehouse.opened(PUBLISHED).metadata().configuration.items():
        with warehouse.committing(PUBLISHED):
            warehouse.opened(PUBLISHED).alter.set_table_properties(properties, raise_if_not_exists=False)


def moved(former: pa.Table, deleted: DeletedKeys, judged: pa.Table) -> pa.Table:
    """A pointer after the groups ``deleted`` were judged again, and those of ``judged`` found."""
    clusters, groups = (former[name].to_pylist() for name in GROUP)
    stays = [
        cluster not in deleted.clusters and (cluster, group) not in deleted.keys
        for cluster, group in zip(clusters, groups, strict=True)
    ]
    return pa.concat_tables([former.filter(pa.array(stays, pa.bool_())), judged.cast(former.schema)])


def but_for(rows: pa.Table, clusters: Collection[str], former: pa.Table) -> pa.Table:
    """A pointer in which some clusters stand as they did in a former one."""
    of = pa.array(sorted(clusters), pa.string())
    kept = rows.filter(pc.invert(pc.is_in(rows["cluster"], of)))
    return pa.concat_tables([kept, former.filter(pc.is_in(former["cluster"], of))])


def point(
    warehouse: Warehouse,
    table: str,
    rows: pa.Table,
    note: str,
    version: int | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Let a pointer name what ``rows`` say: one commit on top of ``version``, by default the newest."""
    ordered = rows.sort_by([(name, "ascending") for name in GROUP])
    files = write_data_files(((table, batch) for batch in ordered.to_batches()), warehouse.root)
    warehouse.replace(files, table, None, note, version, metadata=metadata)


def counted(rows: pa.Table) -> dict[str, int]:
    """How many rows of each judged table a pointer names."""
    counts: Counter[str] = Counter()
    for of_group in rows["counts"].to_pylist():
        counts.update(dict(of_group))
    return dict(counts)
