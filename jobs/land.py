"""Landing: log files -> ``bronze.log_lines``, ``bronze.quarantine``, ``silver.events`` and ``bronze.landed_files``.

Every landing has a number. Executors write its rows into data files, once; then the driver commits them table by
table in place of whatever an earlier, killed attempt at the same number left. ``landed_files`` comes last, and only
with it the landing counts. A landing that finds nothing new writes nothing. Of two landings that run beside each other
one stops at a commit, as that table is no longer what it began with. One that finds rows of its own number cannot know
whether the attempt that left them was killed or is still at work: it claims ``landed_files`` before it takes them away,
so that either it stops there or that other one can never count.
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial

from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.one_file import LANDED, Landed, land_tasks
from election_replay.jobs.landing.plan import EVIDENCE, Begun, begin, dealt, tasks_of, weight
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.stores import absolute
from election_replay.jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Landing:
    """What one landing did; ``batch`` is ``None`` when there was nothing new.

    ``unread`` are the files that could not be read to their ends, each with the reason; the next landing tries again.
    """

    batch: int | None = None
    files: int = 0
    bytes_read: int = 0
    lines_total: int = 0
    lines_event: int = 0
    lines_ignored: int = 0
    lines_quarantined: int = 0
    lines_repeated: int = 0
    unread: tuple[tuple[str, str], ...] = ()


def land(engine: Engine, files: list[LogFile], landing: str, warehouse: Warehouse, config: Config) -> Landing:
    """Land ``files``, as :func:`~jobs.landing.new_files.new_files` found them."""
    if not files:
        return Landing()
    begun = begin(warehouse, config)
    landed = warehouse.dataset(LANDED.name, begun.versions[LANDED.name])
    tasks = tasks_of(files, landed, absolute(landing), config, begun.batch)
    hands = dealt(tasks, engine.cores_for(sum(map(weight, tasks))))
    done = engine.each(partial(land_tasks, landing=absolute(landing), warehouse=warehouse.root), hands)
    commit(done, begun, warehouse)
    return summed(done, files, begun.batch)


def commit(done: Iterable[Landed], begun: Begun, warehouse: Warehouse) -> None:
    """Commit the rows, table by table on top of what the landing began with, ``landed_files`` last."""
    written = [file for hand in done for file in hand.data_files]
    batch, versions = str(begun.batch), begun.versions
    if any(batch in warehouse.partitions(table, versions[table]) for table in EVIDENCE):
        before = versions[LANDED.name]
        warehouse.replace((), LANDED.name, [batch], f"landing {batch} takes the place of another", before)
        versions = versions | {LANDED.name: before + 1}
    for table, version in versions.items():
        warehouse.replace(written, table, [batch], f"landing {batch}", version)


def summed(done: Iterable[Landed], files: Collection[LogFile], batch: int) -> Landing:
    """What all hands came to together."""
    sums: Counter[str] = Counter()
    unread: list[tuple[str, str]] = []
    for hand in done:
        sums.update(hand.sums)
        unread += hand.unread
    return Landing(batch, len(files), sum(file.size for file in files), unread=tuple(sorted(unread)), **sums)


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["land", *sys.argv[1:]]))
