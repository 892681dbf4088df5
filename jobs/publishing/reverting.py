"""Clusters that are held back: their facts are put back to those of what is published of them."""

from collections.abc import Collection
from functools import partial

import pyarrow.compute as pc
from deltalake import CommitProperties, write_deltalake

from election_replay.jobs.warehouse.table_sets import OF_SOURCES
from election_replay.jobs.warehouse.warehouse import NOTE, Warehouse
from election_replay.schemas import TABLES


def revert_clusters(warehouse: Warehouse, clusters: Collection[str], run_id: str) -> None:
    """Put the facts of ``clusters`` back to what is published of them, in the name of a run."""
    if not clusters:
        return
    note = CommitProperties(custom_metadata={NOTE: run_id})
    published = warehouse.published()
    versions = published["versions"] if published else {}
    chosen = f"cluster IN ({', '.join(quoted(cluster) for cluster in sorted(clusters))})"
    for name in OF_SOURCES:
        rows = TABLES[name].arrow_schema().empty_table()
        if name in versions:
            rows = warehouse.dataset(name, versions[name]).to_table(filter=pc.field("cluster").isin(sorted(clusters)))
        # Delta's own DELETE would write strings as a type by which Arrow cannot filter.
        put = partial(write_deltalake, warehouse.location(name), rows, mode="overwrite", predicate=chosen)
        with warehouse.committing(name):
            warehouse.retry_hdfs(partial(put, commit_properties=note))


def quoted(text: str) -> str:
    """``text`` as a literal in the SQL of Delta's own reader."""
    return "'" + text.replace("'", "''") + "'"
