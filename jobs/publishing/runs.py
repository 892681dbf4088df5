"""Rows of ``gold.runs``: one when a replay has judged, one when it is published."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core import FACTS_VERSION, RULES_VERSION
from election_replay.jobs import JobError
from election_replay.jobs.warehouse.pointer import CANDIDATE, PUBLISHED, counts_by_table, pointer_rows
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.table_sets import CARRIED, FACT_TABLES, VERDICTS, clusters_of, unchanged_since
from election_replay.jobs.warehouse.warehouse import NOTE, Warehouse, is_maintenance
from election_replay.schemas import TABLES
from election_replay.schemas.model import sql_text

RUNS = TABLES["runs"]
ONE_WRITER = (*FACT_TABLES, *CARRIED, PUBLISHED)
"""Tables to which no other job may write during a replay. In the others, rows that no pointer names do not count."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a replay wrote, before it is published. ``held`` are clusters with newer events than it judged.

    ``before`` are the table versions when it began; ``settings`` says where its settings came from. ``written`` are the
    keys of new rows by table; if ``None``, all rows of ``clusters`` count as new.
    """

    run_id: str
    started_at: datetime
    batch: int
    nights: tuple[Any, ...]
    clusters: tuple[str, ...]
    inventory_version: str
    before: Mapping[str, int]
    held: tuple[str, ...] = ()
    settings: str | None = None
    written: Mapping[str, DeletedKeys] | None = None


def note_judged(warehouse: Warehouse, judged: Judged) -> None:
    """Write the row of a run that is judged and not published yet.

    Raises :class:`JobError` if another replay has written to the tables meanwhile.
    """
    refuse_foreign_commits(warehouse, judged)
    pointed = pointer_rows(warehouse, CANDIDATE, warehouse.version(CANDIDATE))
    warehouse.append([row_of(warehouse, judged, "judged", judged.held, pointed)], RUNS.name)


def row_of(
    warehouse: Warehouse, judged: Judged, status: str, held: Iterable[str], pointed: pa.Table, **newer: int
) -> dict[str, Any]:
    """Return the run's row of ``gold.runs``; ``pointed`` are its pointer's rows, ``newer`` versions yet to commit."""
    shown = {name: version for name, version in warehouse.versions().items() if name != RUNS.name} | newer
    return {
        "run_id": judged.run_id,
        "started_at": judged.started_at,
        "published_at": max(judged.started_at, datetime.now(UTC)) if status == "published" else None,
        "status": status,
        "batch": judged.batch,
        "nights": list(judged.nights),
        "clusters": len(judged.clusters),
        "held": sorted(held) or None,
        "versions": list(shown.items()),
        "counts": [*counts_of(warehouse, pointed).items()],
        "code_version": code_version(),
        "rules_version": RULES_VERSION,
        "facts_version": FACTS_VERSION,
        "inventory_version": judged.inventory_version,
        "settings": judged.settings,
    }


def refuse_foreign_commits(warehouse: Warehouse, judged: Judged) -> None:
    """Raise :class:`JobError` if another replay has written to the tables since this one began."""
    if strangers := [
        name for name in ONE_WRITER if not no_foreign_commits(warehouse, name, warehouse.version(name) or 0, judged)
    ]:
        raise JobError(
            f"another replay has written to {', '.join(strangers)} since this one began; readers see neither: "
            "run it again when no other runs"
        )


def counts_of(warehouse: Warehouse, pointed: pa.Table) -> dict[str, int]:
    """Return the number of rows by table: all facts, and the verdicts that the pointer rows ``pointed`` name."""
    of_groups = counts_by_table(pointed)
    return {name: warehouse.count(name) for name in FACT_TABLES} | {name: of_groups.get(name, 0) for name in VERDICTS}


def no_foreign_commits(warehouse: Warehouse, table: str, version: int, judged: Judged) -> bool:
    """Return True if all commits to a table from this run's start up to ``version`` are its own or maintenance."""
    newer_commits = version - judged.before.get(table, 0)
    if newer_commits <= 0:
        return True
    commits = warehouse.opened(table, version).history(newer_commits)
    return all(commit.get(NOTE) == judged.run_id or is_maintenance(commit) for commit in commits)


def unpublished_run(warehouse: Warehouse) -> Judged | None:
    """Return the last replay if it is not published yet; ``None`` if it is.

    Raises :class:`JobError` if nothing was ever judged, if the tables have changed since, or if another release judged.
    """
    last = newest_run(warehouse)
    if last is None:
        raise JobError(f"nothing is judged in {warehouse.root}: run `election-replay replay --unpublished` first")
    if last["status"] == "published":
        return None
    if not unchanged_since(warehouse, last):
        raise JobError(
            "the tables have changed since they were judged: run `election-replay replay --unpublished` again"
        )
    if last["facts_version"] != FACTS_VERSION:
        raise JobError("another release judged what waits: run `election-replay replay --unpublished` again")
    held = tuple(last["held"] or ())
    return Judged(
        run_id=last["run_id"],
        started_at=last["started_at"],
        batch=last["batch"],
        nights=tuple(last["nights"]),
        clusters=tuple(cluster for cluster in clusters_of(warehouse) if cluster not in held),
        inventory_version=last["inventory_version"],
        before=last["versions"],
        held=held,
        settings=last["settings"],
    )


def has_unpublished_run(warehouse: Warehouse) -> bool:
    """Return True if the last replay is not published yet and the tables have not changed since."""
    last = newest_run(warehouse)
    return last is not None and last["status"] == "judged" and unchanged_since(warehouse, last)


def newest_run(warehouse: Warehouse) -> dict[str, Any] | None:
    """Return the newest row of ``gold.runs``, the published one before the judged one of the same run."""
    return max(warehouse.runs(), key=lambda row: (row["started_at"], row["status"] == "published"), default=None)


def code_version() -> str:
    """Return the installed version of election-replay; ``unknown`` if it is not installed as a package."""
    try:
        return version_of("election-replay")
    except PackageNotFoundError:
        return "unknown"


def kept_runs(warehouse: Warehouse, newest: dict[str, Any], since: datetime) -> list[dict[str, Any]]:
    """Return the runs that must stay readable: those published since ``since``, and ``newest``."""
    runs = [run for run in warehouse.runs() if run["status"] == "published" and run["published_at"] >= since]
    return runs if any(run["run_id"] == newest["run_id"] for run in runs) else [*runs, newest]


def publish_again(warehouse: Warehouse, published: dict[str, Any], tidied: Collection[str]) -> None:
    """Publish the same rows at the new versions of the tables that upkeep ``tidied``."""
    now = warehouse.next_timestamp("runs", "started_at", "published_at")
    versions = published["versions"] | {name: warehouse.version(name) for name in tidied if name != "runs"}
    pointed = pointer_rows(warehouse, PUBLISHED, warehouse.version(PUBLISHED))
    again = {
        "run_id": f"{now:%Y%m%dT%H%M%S.%fZ}-{published['batch']}",
        "started_at": now,
        "published_at": now,
        "nights": [],
        "clusters": 0,
        "versions": list(versions.items()),
        "counts": [*counts_of(warehouse, pointed).items()],
    }
    warehouse.append([published | again], "runs")


def revert_clusters(warehouse: Warehouse, clusters: Collection[str], run_id: str) -> None:
    """Restore the facts of ``clusters`` to their published rows; the commits carry ``run_id`` as their note."""
    if not clusters:
        return
    published = warehouse.published()
    versions = published["versions"] if published else {}
    chosen = f"cluster IN ({', '.join(map(sql_text, sorted(clusters)))})"
    for name in FACT_TABLES:
        rows = TABLES[name].arrow_schema().empty_table()
        if name in versions:
            rows = warehouse.dataset(name, versions[name]).to_table(filter=pc.field("cluster").isin(sorted(clusters)))
        warehouse.overwrite(name, rows, chosen, note=run_id)
