"""Upkeep: joins small files, and removes files that no published run needs.

A published run names versions of tables, so VACUUM by age alone would delete files of its readers. Here every version
that a kept run names stays whole: always the newest run, earlier ones for ``keep_days``. The same holds for entries of
Delta's log, which Delta would delete by their own age at any commit: only upkeep deletes them, those below the
checkpoint of the oldest kept version. A table with unpublished rows is left alone. At the end a row of ``gold.runs``
publishes the joined files, with the same rows.

On request the lines of old landings are erased too. ``evidence_lines`` keeps those that prove findings; lines that
facts name stay as well, because a later finding may quote them. Judging does not read lines: events, facts and the
ledger of landed files stay, so everything can be judged anew, under new rules too.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from election_replay.jobs import JobError
from election_replay.jobs.publishing.runs import kept_runs, publish_again
from election_replay.jobs.warehouse.forgetting import LINES, REJECTED, forget_lines, forgettable
from election_replay.jobs.warehouse.former_runs import forget_runs
from election_replay.jobs.warehouse.table_sets import FACT_TABLES
from election_replay.jobs.warehouse.tidying import Tidied, set_retention, tidy
from election_replay.jobs.warehouse.warehouse import KEEP_DAYS, Warehouse
from election_replay.schemas import TABLES

GRACE_HOURS = 24
"""Hours for which an unneeded file stays, as a job may be writing or reading it."""

NEWEST_ONLY = frozenset({"runs", "validations", "reviews"})
"""Tables that are always read at their newest version, whatever run is published."""


def upkeep(
    warehouse: Warehouse,
    keep_days: int = KEEP_DAYS,
    *,
    forget_after: int | None = None,
    dry_run: bool = False,
    grace_hours: int = GRACE_HOURS,
) -> list[Tidied]:
    """Tidy every table and return what was done to each; ``dry_run`` changes nothing and returns what would be done.

    ``forget_after``: erase the lines of landings published more than so many days ago, except those that facts name.
    Raises :class:`JobError` if nothing is published.
    """
    if not dry_run:
        warehouse.refuse_unwritable()
    published = warehouse.published()
    if published is None:
        raise JobError(f"nothing is published in {warehouse.root}: run `election-replay run` first")
    kept = kept_runs(warehouse, published, datetime.now(UTC) - timedelta(days=keep_days))
    before = warehouse.versions()
    published_tables = {name for name in before if is_published(warehouse, name, published)}
    forgotten = 0
    erased = forget_runs(warehouse, kept, dry_run=dry_run)
    if forget_after is not None and {LINES, REJECTED, *FACT_TABLES} & {*before} <= published_tables:
        last = last_landing(warehouse, datetime.now(UTC) - timedelta(days=forget_after))
        forgotten = forgettable(warehouse, last)
        if not dry_run:
            forget_lines(warehouse, last)
    done = []
    for name, version in before.items():
        if name not in published_tables:
            done.append(Tidied(name, len(warehouse.opened(name).file_uris()), left_alone=True))
            continue
        needed = versions_needed(name, version, kept)
        if not dry_run:
            set_retention(warehouse, name, keep_days)
        tidied = tidy(warehouse, name, needed, dry_run, grace_hours)
        done.append(replace(tidied, forgotten=forgotten if name == LINES else erased.get(name, 0)))
    if any(warehouse.version(name) != version for name, version in before.items() if name not in NEWEST_ONLY):
        publish_again(warehouse, published, [tidied.table for tidied in done if not tidied.left_alone])
    return done


def is_published(warehouse: Warehouse, name: str, published: Mapping[str, Any]) -> bool:
    """Return True if a table has no unpublished rows; in judged tables, rows that no pointer names do not count."""
    if name in NEWEST_ONLY or TABLES[name].by_run:
        return True
    return warehouse.holds_rows_of(name, published["versions"].get(name))


def versions_needed(name: str, version: int, kept: Iterable[Mapping[str, Any]]) -> set[int]:
    """Return the versions of a table at which kept runs are read.

    There are none for judged tables, which are read at the newest version with a run's pointer.
    """
    if name in NEWEST_ONLY or TABLES[name].by_run:
        return set()
    return {run["versions"].get(name, version) for run in kept}


def last_landing(warehouse: Warehouse, before: datetime) -> int:
    """Return the number of the last landing published before a time (UTC); 0 if there is none."""
    runs = (run for run in warehouse.runs() if run["status"] == "published" and run["published_at"] <= before)
    return max((int(run["batch"]) for run in runs), default=0)


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["upkeep", *sys.argv[1:]]))
