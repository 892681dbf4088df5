"""Upkeep: join small files, remove those that no published state needs.

A published run names versions of tables, so VACUUM by age alone would take away what its readers read. Here every
version that a kept run names stays whole: the newest run always, earlier ones for as long as they are kept. That holds
for Delta's log too, whose entries would go by their own age at any commit: here alone they go, those below the
checkpoint of the oldest version that is kept. A table with rows that are not published yet is left alone. At the end a
row in ``gold.runs`` publishes the joined files; it shows the same rows.

Where it is asked for, the lines of old landings are forgotten too. Gold keeps those that prove findings; of the others
those stay that facts name, so that a finding of tomorrow can quote a line of long ago. Nothing is judged by lines:
events, facts and the ledger of landed files stay, so that everything can be judged anew, under new rules too.
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
"""How long a file stays that nobody needs: a job may be writing or reading it."""

NEWEST_ONLY = frozenset({"runs", "validations", "reviews"})
"""Tables that are read as they are now, whatever run is published."""


def upkeep(
    warehouse: Warehouse,
    keep_days: int = KEEP_DAYS,
    *,
    forget_after: int | None = None,
    dry_run: bool = False,
    grace_hours: int = GRACE_HOURS,
) -> list[Tidied]:
    """Tidy every table. ``dry_run`` changes nothing and says what there is to do.

    ``forget_after``: the lines of landings that were published more than so many days ago are forgotten, but for those
    that facts name. Raises :class:`JobError` when nothing is published.
    """
    if not dry_run:
        warehouse.refuse_unwritable()
    published = warehouse.published()
    if published is None:
        raise JobError(f"nothing is published in {warehouse.root}: run `election-replay run` first")
    kept = kept_runs(warehouse, published, datetime.now(UTC) - timedelta(days=keep_days))
    before = warehouse.versions()
    standing = {name for name in before if is_standing(warehouse, name, published)}
    forgotten = 0
    erased = forget_runs(warehouse, kept, dry_run=dry_run)
    if forget_after is not None and {LINES, REJECTED, *FACT_TABLES} & {*before} <= standing:
        last = last_landing(warehouse, datetime.now(UTC) - timedelta(days=forget_after))
        forgotten = forgettable(warehouse, last)
        if not dry_run:
            forget_lines(warehouse, last)
    done = []
    for name, version in before.items():
        if name not in standing:
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


def is_standing(warehouse: Warehouse, name: str, published: Mapping[str, Any]) -> bool:
    """Whether no row of a table waits to be published. Of judged tables those that no pointer names do not count."""
    if name in NEWEST_ONLY or TABLES[name].by_run:
        return True
    return warehouse.holds_rows_of(name, published["versions"].get(name))


def versions_needed(name: str, version: int, kept: Iterable[Mapping[str, Any]]) -> set[int]:
    """The versions of a table that kept runs are read at. A judged one is read as it is, with a run's pointer."""
    if name in NEWEST_ONLY or TABLES[name].by_run:
        return set()
    return {run["versions"].get(name, version) for run in kept}


def last_landing(warehouse: Warehouse, before: datetime) -> int:
    """The last landing that was published before a moment; 0: none."""
    runs = (run for run in warehouse.runs() if run["status"] == "published" and run["published_at"] <= before)
    return max((int(run["batch"]) for run in runs), default=0)


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["upkeep", *sys.argv[1:]]))
