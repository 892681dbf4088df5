"""Upkeep: join small files, remove those that no published state needs.

A published run names versions of tables, so VACUUM by age alone would take away what its readers read. Here every
version that a kept run names stays whole: the newest run always, earlier ones for as long as they are kept. A table
with rows that are not published yet is left alone. At the end a row in ``gold.runs`` publishes the joined files; it
shows the same rows.
"""

import sys
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable

from jobs import JobError
from jobs.warehouse import Warehouse

GRACE_HOURS = 24
"""How long a file stays that nobody needs: a job may be writing or reading it."""

NEWEST_ONLY = frozenset({"runs", "validations"})
"""Tables that are read as they are now, whatever run is published."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """What was done, or would be, to one table. ``left_alone``: it has rows that are not published yet."""

    table: str
    files: int
    joined: int = 0
    removed: int = 0
    left_alone: bool = False


def upkeep(
    warehouse: Warehouse, keep_days: int = 30, *, dry_run: bool = False, grace_hours: int = GRACE_HOURS
) -> list[Tidied]:
    """Tidy every table. ``dry_run`` changes nothing and says what there is to do.

    Raises :class:`JobError` when nothing is published.
    """
    if not dry_run:
        warehouse.refuse_unwritable()
    published = warehouse.published()
    if published is None:
        raise JobError(f"nothing is published in {warehouse.root}: run `election-replay run` first")
    kept = kept_runs(warehouse, published, datetime.now(UTC) - timedelta(days=keep_days))
    before = warehouse.versions()
    done = []
    for name, version in before.items():
        if name in NEWEST_ONLY or version == published["versions"].get(name):
            needed = () if name in NEWEST_ONLY else {run["versions"].get(name, version) for run in kept}
            done.append(tidy(warehouse, name, needed, dry_run, grace_hours))
        else:
            done.append(Tidied(name, len(warehouse.opened(name).file_uris()), left_alone=True))
    if any(warehouse.version(name) != version for name, version in before.items() if name not in NEWEST_ONLY):
        publish_again(warehouse, published, [one.table for one in done if not one.left_alone])
    return done


def kept_runs(warehouse: Warehouse, newest: dict[str, Any], since: datetime) -> list[dict[str, Any]]:
    """The runs that must stay readable."""
    runs = [run for run in warehouse.runs() if run["status"] == "published" and run["published_at"] >= since]
    return runs if any(run["run_id"] == newest["run_id"] for run in runs) else [*runs, newest]


def tidy(warehouse: Warehouse, name: str, needed: Collection[int], dry_run: bool, grace_hours: int) -> Tidied:
    """Join the small files of a table, then remove what neither its newest version nor a needed one names."""
    table = warehouse.opened(name)
    files = len(table.file_uris())
    if dry_run:
        joined = joinable(table)
    else:
        joined = int(table.optimize.compact()["numFilesRemoved"])
        table = warehouse.opened(name)
    versions = sorted({*needed, table.version()})

    def vacuum(only_list: bool) -> list[str]:
        return table.vacuum(grace_hours, only_list, enforce_retention_duration=False, full=True, keep_versions=versions)

    removed = vacuum(True)
    if removed and not dry_run:
        vacuum(False)
    return Tidied(name, files, joined, len(removed))


def joinable(table: DeltaTable) -> int:
    """How many files lie beside another one of their partition."""
    columns = [f"partition.{name}" for name in table.metadata().partition_columns]
    files = pa.table(table.get_add_actions(flatten=True)).select(["path", *columns]).to_pylist()
    partitions = Counter(tuple(file[name] for name in columns) for file in files)
    return sum(count for count in partitions.values() if count > 1)


def publish_again(warehouse: Warehouse, published: dict[str, Any], tidied: Collection[str]) -> None:
    """Publish the same rows in their new files."""
    now = datetime.now(UTC)
    versions = published["versions"] | {name: warehouse.version(name) for name in tidied if name != "runs"}
    again = {
        "run_id": f"{now:%Y%m%dT%H%M%S.%fZ}-{published['batch']}",
        "started_at": now,
        "published_at": max(now, published["published_at"]),
        "nights": [],
        "clusters": 0,
        "versions": list(versions.items()),
        "counts": list(published["counts"].items()),
    }
    warehouse.append([published | again], "runs")


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/upkeep.py --warehouse DIR``."""
    from jobs.cli import main as command_line

    sys.exit(command_line(["upkeep", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
