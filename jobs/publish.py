"""Publishing: one row in ``gold.runs`` makes the new versions of all tables visible together.

Before it is written the tables pass through their gates. A cluster that does not is held back: its rows of the judged
tables are put back to what is published of it, so that the versions that the run names show its old state and the new
state of all others. The next replay judges it again.
"""

import sys
from dataclasses import dataclass

from election_replay.jobs.gates.checks import Check, check, record, stopped
from election_replay.jobs.publishing.held_back import hold_back
from election_replay.jobs.publishing.runs import Judged, write_run
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
    with warehouse.unwatched():
        checks = check(warehouse, JUDGED, judged.clusters, written=judged.written)
        record(warehouse, checks)
        failing = stopped(checks, judged.clusters)
        hold_back(warehouse, failing, judged.run_id)
    held = tuple(sorted({*judged.held, *failing}))
    write_run(warehouse, judged, "published", held)
    return Outcome(judged.run_id, held, tuple(checks))


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["publish", *sys.argv[1:]]))
