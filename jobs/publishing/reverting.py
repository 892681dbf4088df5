"""Clusters that are held back: their facts are put back to those of what is published of them."""

from collections.abc import Collection

import pyarrow.compute as pc

from election_replay.jobs.warehouse.table_sets import OF_SOURCES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.model import sql_text


def revert_clusters(warehouse: Warehouse, clusters: Collection[str], run_id: str) -> None:
    """Put the facts of ``clusters`` back to what is published of them, in the name of a run."""
    if not clusters:
        return
    published = warehouse.published()
    versions = published["versions"] if published else {}
    chosen = f"cluster IN ({', '.join(map(sql_text, sorted(clusters)))})"
    for name in OF_SOURCES:
        rows = TABLES[name].arrow_schema().empty_table()
        if name in versions:
            rows = warehouse.dataset(name, versions[name]).to_table(filter=pc.field("cluster").isin(sorted(clusters)))
        warehouse.overwrite(name, rows, chosen, note=run_id)
