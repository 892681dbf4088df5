"""Publishing: one commit to ``gold.published`` makes the new verdicts of all groups current together.

Before that they pass through their gates. A cluster that does not is held back: the pointer goes on naming what is
published of it. The next replay judges it again. A row in ``gold.runs`` says what was published, and when.
"""

import sys
from collections.abc import Collection
from dataclasses import dataclass

from election_replay.jobs.gates.checks import Check, check, record, stopped
from election_replay.jobs.publishing.runs import Judged, refuse_foreign_commits, revert_clusters, row_of
from election_replay.jobs.warehouse.pointer import (
    CANDIDATE,
    PUBLISHED,
    commit_pointer,
    pointer_rows,
    with_clusters_from,
)
from election_replay.jobs.warehouse.run_rows import run_property
from election_replay.jobs.warehouse.table_sets import JUDGED
from election_replay.jobs.warehouse.warehouse import Warehouse


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
    with warehouse.pinned_snapshot():
        checks = check(warehouse, JUDGED, judged.clusters, written=judged.written, run_id=judged.run_id)
        record(warehouse, checks)
        failing = stopped(checks, judged.clusters)
        revert_clusters(warehouse, failing, judged.run_id)
    held = tuple(sorted({*judged.held, *failing}))
    point_at(warehouse, judged, held)
    return Outcome(judged.run_id, held, tuple(checks))


def point_at(warehouse: Warehouse, judged: Judged, held: Collection[str]) -> None:
    """Let the pointer name what was judged, but for the clusters that are held back.

    The commit says the row of ``gold.runs`` too: a kill between the two leaves all readers with the new run, those of
    other engines and ours, which then take the row from the commit.
    """
    refuse_foreign_commits(warehouse, judged)
    warehouse.record_published()
    former = pointer_rows(warehouse, PUBLISHED, judged.before.get(PUBLISHED))
    rows = with_clusters_from(pointer_rows(warehouse, CANDIDATE, warehouse.version(CANDIDATE)), held, former)
    if held:
        commit_pointer(warehouse, CANDIDATE, rows, judged.run_id)
    version = warehouse.version(PUBLISHED) or 0
    row = row_of(warehouse, judged, "published", held, rows, **{PUBLISHED: version + 1})
    commit_pointer(warehouse, PUBLISHED, rows, judged.run_id, version, run_property(row))
    warehouse.append([row], "runs")


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["publish", *sys.argv[1:]]))
