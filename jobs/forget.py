"""Erases a cluster from every table, and publishes the rest.

Its rows are deleted from landed, judged and reviewed tables alike. Files with these rows stay as long as a kept run
names them; :mod:`jobs.upkeep` removes them afterwards.
"""

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.jobs import JobError
from election_replay.jobs.publishing.runs import publish_again
from election_replay.jobs.upkeep import NEWEST_ONLY
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.model import sql_text


def forget(warehouse: Warehouse, cluster: str, *, dry_run: bool = False) -> dict[str, int]:
    """Erase a cluster and return the number of its rows by table. ``dry_run`` changes nothing.

    Raises :class:`JobError` if nothing is published, if some rows are not published yet, or if no table has rows of the
    cluster.
    """
    published, versions = warehouse.last_run(), warehouse.versions()
    unpublished = [
        name
        for name in versions
        if name not in NEWEST_ONLY
        and not TABLES[name].by_run
        and not warehouse.holds_rows_of(name, published["versions"].get(name))
    ]
    if unpublished:
        raise JobError(
            f"{', '.join(unpublished)}: some rows are not published yet, so that a cluster cannot be erased from them; "
            "run `election-replay replay` first"
        )
    tables = [name for name in versions if "cluster" in TABLES[name].names]
    of_cluster = pc.field("cluster") == cluster
    found = {name: warehouse.dataset(name).count_rows(filter=of_cluster) for name in tables}
    found = {name: rows for name, rows in found.items() if rows}
    if not found:
        raise JobError(f"nothing is known of a cluster {cluster}; there is {', '.join(known_clusters(warehouse))}")
    if dry_run:
        return found
    warehouse.refuse_unwritable()
    warehouse.record_published()
    for name in found:
        warehouse.erase(name, f"cluster = {sql_text(cluster)}")
    forget_held(warehouse, cluster)
    publish_again(warehouse, warehouse.last_run() | {"held": held_without(published, cluster)}, versions)
    return found


def known_clusters(warehouse: Warehouse) -> list[str]:
    """Return the landed clusters, or ``none`` as text, for an error message."""
    return warehouse.distinct("landed_files", "cluster") or ["none"]


def held_without(run: dict[str, list[str] | None], cluster: str) -> list[str] | None:
    """Return the clusters that a run held back, without ``cluster``; ``None`` if none is left."""
    return [held for held in run["held"] or () if held != cluster] or None


def forget_held(warehouse: Warehouse, cluster: str) -> None:
    """Remove the cluster from the rows of runs that held it back."""
    rows = warehouse.rows("runs")
    if any(cluster in (row["held"] or ()) for row in rows):
        kept = [row | {"held": held_without(row, cluster)} for row in rows]
        warehouse.overwrite("runs", pa.Table.from_pylist(kept, TABLES["runs"].arrow_schema()))
