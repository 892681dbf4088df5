"""Publishing: one row in ``gold.runs`` makes the new versions of all tables visible together.

Before it is written the tables pass through their gates. A cluster that does not is held back: its rows of the judged
tables are put back to what is published of it, so that the versions that the run names show its old state and the new
state of all others. The next replay judges it again.
"""

import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, write_deltalake

from election_core import RULES_VERSION
from election_core.replay.fact_rows import FACTS_VERSION
from jobs import JobError
from jobs.engines.spark_session import code_version
from jobs.validate import JUDGED, Check, check, record, stopped
from jobs.warehouse.warehouse import NOTE, Warehouse
from schemas import TABLES

RUNS = TABLES["runs"]
WRITTEN = (*JUDGED, "replay_states")
"""The tables that a replay writes."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a replay wrote, before it is published. ``held`` are clusters that have newer events than it judged.

    ``before`` are the versions of the tables when it began.
    """

    run_id: str
    started_at: datetime
    batch: int
    nights: tuple[Any, ...]
    clusters: tuple[str, ...]
    inventory_version: str
    before: Mapping[str, int]
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What publishing came to: the run that readers see, the clusters that are held back, and why."""

    run_id: str
    held: tuple[str, ...]
    checks: tuple[Check, ...]


def publish(warehouse: Warehouse, judged: Judged) -> Outcome:
    """Publish what a replay wrote, but for the clusters that do not pass their gate.

    Raises :class:`JobError` when another replay has written to the tables meanwhile.
    """
    checks = check(warehouse, JUDGED, judged.clusters)
    record(warehouse, checks)
    failing = stopped(checks, judged.clusters)
    hold_back(warehouse, failing, judged.run_id)
    held = tuple(sorted({*judged.held, *failing}))
    write_run(warehouse, judged, "published", held)
    return Outcome(judged.run_id, held, tuple(checks))


def hold_back(warehouse: Warehouse, clusters: Collection[str], run_id: str) -> None:
    """Put the judged rows of ``clusters`` back to what is published of them, in the name of a run."""
    if not clusters:
        return
    note = CommitProperties(custom_metadata={NOTE: run_id})
    published = warehouse.published()
    versions = published["versions"] if published else {}
    chosen = f"cluster IN ({', '.join(quoted(one) for one in sorted(clusters))})"
    for name in JUDGED:
        location = warehouse.location(name)
        DeltaTable(location).delete(chosen, commit_properties=note)
        if name in versions:
            before = warehouse.dataset(name, versions[name])
            rows = before.to_table(filter=pc.field("cluster").isin(sorted(clusters)))
            if rows.num_rows:
                write_deltalake(location, rows, mode="append", commit_properties=note)


def quoted(text: str) -> str:
    """``text`` as a literal in the SQL of Delta's own reader."""
    return "'" + text.replace("'", "''") + "'"


def write_run(warehouse: Warehouse, judged: Judged, status: str, held: Iterable[str]) -> None:
    """Write the row that says what a run judged and, when its status is ``published``, makes readers see it.

    Raises :class:`JobError` when another replay has written to the tables meanwhile.
    """
    shown = {name: version for name, version in warehouse.versions().items() if name != RUNS.name}
    if strangers := [name for name in WRITTEN if not alone(warehouse, name, shown[name], judged)]:
        raise JobError(
            f"another replay has written to {', '.join(strangers)} since this one began; readers see neither: "
            "run it again when no other runs"
        )
    row = {
        "run_id": judged.run_id,
        "started_at": judged.started_at,
        "published_at": max(judged.started_at, datetime.now(UTC)) if status == "published" else None,
        "status": status,
        "batch": judged.batch,
        "nights": list(judged.nights),
        "clusters": len(judged.clusters),
        "held": sorted(held) or None,
        "versions": list(shown.items()),
        "counts": [(name, warehouse.count(name)) for name in JUDGED],
        "code_version": code_version(),
        "rules_version": RULES_VERSION,
        "facts_version": FACTS_VERSION,
        "inventory_version": judged.inventory_version,
    }
    warehouse.append([row], RUNS.name)


def alone(warehouse: Warehouse, table: str, version: int, judged: Judged) -> bool:
    """Whether nobody but this run has written to a table since it began, up to a version."""
    news = version - judged.before.get(table, 0)
    if news <= 0:
        return True
    return all(
        commit.get(NOTE) == judged.run_id
        for commit in DeltaTable(warehouse.location(table), version=version).history(news)
    )


def waiting(warehouse: Warehouse) -> Judged | None:
    """What the last replay wrote without publishing it; ``None`` if nothing waits.

    Raises :class:`JobError` when nothing was ever judged, or when the tables are no longer what that replay wrote.
    """
    last = last_run(warehouse)
    if last is None:
        raise JobError(f"nothing is judged in {warehouse.root}: run `election-replay replay --unpublished` first")
    if last["status"] == "published":
        return None
    if not stands(warehouse, last):
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
    )


def waits(warehouse: Warehouse) -> bool:
    """Whether a replay waits to be published."""
    last = last_run(warehouse)
    return last is not None and last["status"] == "judged" and stands(warehouse, last)


def last_run(warehouse: Warehouse) -> dict[str, Any] | None:
    """The last thing that happened to the judged tables, as a row of ``gold.runs``."""
    return max(warehouse.runs(), key=lambda row: (row["started_at"], row["status"] == "published"), default=None)


def stands(warehouse: Warehouse, run: Mapping[str, Any]) -> bool:
    """Whether the judged tables still are what a run says."""
    return all(warehouse.version(name) == run["versions"].get(name) for name in JUDGED)


def clusters_of(warehouse: Warehouse) -> list[str]:
    """Every cluster of which something is landed."""
    return sorted({row["cluster"] for row in warehouse.rows("landed_files", ["cluster"])})


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/publish.py --warehouse DIR``."""
    from jobs.cli.app import main as command_line

    sys.exit(command_line(["publish", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
