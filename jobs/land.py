"""Landing: log files -> ``bronze.log_lines``, ``bronze.quarantine``, ``silver.events`` and ``bronze.landed_files``.

Every landing has a number. Executors write its rows into data files, once; then the driver commits them table by
table in place of whatever an earlier, killed attempt at the same number left. ``landed_files`` comes last, and only
with it the landing counts. A landing that finds nothing new writes nothing. Of two landings that run beside each other
one stops at a commit, as that table is no longer what it began with. One that finds rows of its own number cannot know
whether the attempt that left them was killed or is still at work: it claims ``landed_files`` before it takes them away,
so that either it stops there or that other one can never count.

What is much is committed in parts, each a landing of its own: one that is stopped goes on behind the last part.
A file that would keep one core busy when the others are done is cut into splits (:mod:`jobs.landing.file_splits`).
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from uuid import uuid4

from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.landing import raw_table
from election_replay.jobs.landing.blocks import ReadSoFar
from election_replay.jobs.landing.file_splits import (
    FileSplit,
    LandedSplit,
    Large,
    land_split,
    large_of,
    may_be_split,
    ranges_of,
    read_through,
    row_of_splits,
    scan_range,
    splits_of,
)
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import LogFile
from election_replay.jobs.landing.one_file import LANDED, Landed, Task, land_tasks, written
from election_replay.jobs.landing.plan import EVIDENCE, Begun, begin, partitioned, tasks_of, weight
from election_replay.jobs.landing.privacy_mark import refuse_other_privacy
from election_replay.jobs.landing.pseudonyms import pseudonyms_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.stores import absolute
from election_replay.jobs.warehouse.warehouse import Warehouse

GIGABYTE = 1_000_000_000


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
    begun, zone = begin(warehouse, config), absolute(landing)
    landed = warehouse.dataset(LANDED.name, begun.versions[LANDED.name])
    tasks = tasks_of(files, landed, zone, config, begun.batch)
    every: list[Landed] = []
    for part in parts_of(tasks, config.commit_every_gb * GIGABYTE):
        done = landed_by(engine, [replace(task, batch=begun.batch) for task in part], zone, warehouse)
        begun = commit(done, begun, warehouse)
        every += [replace(found, data_files=[]) for found in done]
    return summed(every, files, begun.batch - 1)


def parts_of(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """The tasks in parts of about so many bytes, or one task that has more; in each they keep their order.

    Those of a cluster come one after the other.
    """
    part: list[int] = []
    held = 0
    for number in sorted(range(len(tasks)), key=lambda number: tasks[number].cluster):
        if part and held + weight(tasks[number]) > size:
            yield [tasks[at] for at in sorted(part)]
            part, held = [], 0
        part.append(number)
        held += weight(tasks[number])
    if part:
        yield [tasks[at] for at in sorted(part)]


def land_table(engine: Engine, name: str, warehouse: Warehouse, config: Config) -> Landing:
    """Land the rows of a Delta table of raw lines that no landing has taken; see :mod:`jobs.landing.raw_table`.

    Raises :class:`~jobs.JobError` where there is no such table, or nothing says what its columns are.
    """
    warehouse.refuse_foreign_folder()
    refuse_other_privacy(warehouse, pseudonyms_of(config.privacy))
    raw = raw_table.opened(name, warehouse, config)
    if raw.since == raw.table.version():
        return Landing()
    begun = begin(warehouse, config)
    spool = f"{absolute(warehouse.root)}/_raw_lines/{uuid4().hex}"
    try:
        files = raw_table.logs_in(raw, spool, warehouse)
        if not files:
            return Landing()
        tasks = raw_table.told_apart(tasks_of(files, NOTHING_LANDED, spool, config, begun.batch), warehouse)
        done = landed_by(engine, tasks, spool, warehouse)
        commit(done, begun, warehouse)
    finally:
        system, root = warehouse.files(spool)
        with suppress(FileNotFoundError):
            system.delete_dir(root)
    return summed(done, files, begun.batch)


def landed_by(engine: Engine, tasks: list[Task], landing: str, warehouse: Warehouse) -> list[Landed]:
    """Land all tasks. Splits of large files come first: nobody waits for their hashes then."""
    size = sum(map(weight, tasks))
    cores = engine.cores_for(size)
    cut = split_files(engine, tasks, landing, size, cores) if cores > 1 else []
    files = [splits[0].large for splits in cut]
    batches = partitioned([task for task in tasks if task not in [file.task for file in files]], cores)
    work = partial(done_of, landing=landing, warehouse=warehouse.root)
    done = engine.each(work, [*files, *chain.from_iterable(cut), *batches])
    landed = [found for found in done if isinstance(found, Landed)]
    read = [found for found in done if isinstance(found, ReadSoFar)]
    ended = iter([found for found in done if isinstance(found, LandedSplit)])
    again: list[list[Task]] = []
    for splits, of_file in zip(cut, read, strict=True):
        parts = [*islice(ended, len(splits))]
        if row := row_of_splits(splits, of_file, parts):
            landed.append(written([row], warehouse.root))
            landed += [part.landed for part in parts]
        else:
            again.append([splits[0].large.task])
            for file in chain.from_iterable(part.landed.data_files for part in parts):
                warehouse.discard(file.table, [file.path])
    return landed + engine.each(partial(land_tasks, landing=landing, warehouse=warehouse.root), again)


def split_files(engine: Engine, tasks: Sequence[Task], landing: str, size: int, cores: int) -> list[list[FileSplit]]:
    """The splits of each file of which more than a core's share of all bytes, ``size``, is new."""
    asked = [task for task in tasks if may_be_split(task, size // cores)]
    large = [found for found in engine.each(partial(large_of, landing=landing), asked) if found]
    ranges = [ranges_of(file, cores) for file in large]
    scans = iter(engine.each(partial(scan_range, landing=landing), [*chain.from_iterable(ranges)]))
    cut = (splits_of(file, [*islice(scans, len(parts))]) for file, parts in zip(large, ranges, strict=True))
    return [splits for splits in cut if splits]


def done_of(batch: Large | FileSplit | list[Task], landing: str, warehouse: str) -> ReadSoFar | LandedSplit | Landed:
    """What comes of one task batch: of a large file how it is read as a whole, else what is landed."""
    match batch:
        case Large():
            return read_through(batch, landing)
        case FileSplit():
            return land_split(batch, landing, warehouse)
        case _:
            return land_tasks(batch, landing, warehouse)


def commit(done: Iterable[Landed], begun: Begun, warehouse: Warehouse) -> Begun:
    """Commit the rows, table by table on top of what the landing began with, ``landed_files`` last.

    What comes is where the next landing begins, unless another job commits in between.
    """
    written = [file for of_tasks in done for file in of_tasks.data_files]
    batch, versions = str(begun.batch), begun.versions
    if any(batch in warehouse.partitions(table, versions[table]) for table in EVIDENCE):
        before = versions[LANDED.name]
        warehouse.replace((), LANDED.name, [batch], f"landing {batch} takes the place of another", before)
        versions = versions | {LANDED.name: before + 1}
    for table, version in versions.items():
        warehouse.replace(written, table, [batch], f"landing {batch}", version)
    return Begun(begun.batch + 1, {table: version + 1 for table, version in versions.items()})


def summed(done: Iterable[Landed], files: Collection[LogFile], batch: int) -> Landing:
    """The sums of all that was landed."""
    sums: Counter[str] = Counter()
    unread: list[tuple[str, str]] = []
    for of_tasks in done:
        sums.update(of_tasks.sums)
        unread += of_tasks.unread
    return Landing(batch, len(files), sum(file.size for file in files), unread=tuple(sorted(unread)), **sums)


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["land", *sys.argv[1:]]))
