"""Publishing: one commit to ``gold.published`` makes the new verdicts of all groups visible together.

Before that they must pass the gates. A cluster that fails is held back: the pointer keeps its published rows, and the
next replay judges it again. A row of ``gold.runs`` records what was published, and when.
"""

import sys
from collections.abc import Collection
from dataclasses import dataclass

from election_replay.jobs.gates.checks import Check, blocked_clusters, check, record
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
    """The result of publishing: the run that readers see, the clusters held back, and all checks of the gates."""

    run_id: str
    held: tuple[str, ...]
    checks: tuple[Check, ...]


def publish(warehouse: Warehouse, judged: Judged) -> Outcome:
    """Publish what a replay wrote, except clusters that fail the gates.

    Raises :class:`JobError` if another replay has written to the tables meanwhile.
    """
    with warehouse.pinned_snapshot():
        checks = check(warehouse, JUDGED, judged.clusters, written=judged.written, run_id=judged.run_id)
        record(warehouse, checks)
        failing = blocked_clusters(checks, judged.clusters)
        revert_clusters(warehouse, failing, judged.run_id)
    held = tuple(sorted({*judged.held, *failing}))
    move_pointer(warehouse, judged, held)
    return Outcome(judged.run_id, held, tuple(checks))


def move_pointer(warehouse: Warehouse, judged: Judged, held: Collection[str]) -> None:
    """Commit the pointer to what was judged, without the clusters ``held`` back, and add the row of ``gold.runs``.

    The commit carries that row too: after a kill between the two, readers see the new run all the same, and ours take
    the row from the commit.
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
