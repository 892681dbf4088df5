"""Clusters that are held back: their judged tables show what is published of them."""

from collections.abc import Collection
from functools import partial

import pyarrow.compute as pc
from deltalake import CommitProperties, write_deltalake

from election_replay.jobs.warehouse.patience import patiently
from election_replay.jobs.warehouse.table_sets import JUDGED
from election_replay.jobs.warehouse.warehouse import NOTE, Warehouse


def hold_back(warehouse: Warehouse, clusters: Collection[str], run_id: str) -> None:
    """Put the judged rows of ``clusters`` back to what is published of them, in the name of a run."""
    if not clusters:
        return
    note = CommitProperties(custom_metadata={NOTE: run_id})
    published = warehouse.published()
    versions = published["versions"] if published else {}
    chosen = f"cluster IN ({', '.join(quoted(cluster) for cluster in sorted(clusters))})"
    for name in JUDGED:
        location = warehouse.location(name)
        with warehouse.committing(name):
            patiently(partial(warehouse.opened(name).delete, chosen, commit_properties=note))
        if name in versions:
            before = warehouse.dataset(name, versions[name])
            rows = before.to_table(filter=pc.field("cluster").isin(sorted(clusters)))
            if rows.num_rows:
                with warehouse.committing(name):
                    patiently(partial(write_deltalake, location, rows, mode="append", commit_properties=note))


def quoted(text: str) -> str:
    """``text`` as a literal in the SQL of Delta's own reader."""
    return "'" + text.replace("'", "''") + "'"
