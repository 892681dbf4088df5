"""Landing: log files -> ``bronze.log_lines``, ``bronze.quarantine``, ``silver.events`` and ``bronze.landed_files``.

Every landing has a number. Executors write its rows into data files once; then the driver commits them table by table,
in place of rows that a killed attempt at the same number left. ``landed_files`` comes last, and the landing counts only
with that commit. A landing that finds nothing new writes nothing. Of two concurrent landings one fails at a commit,
because the table has changed since it began. A landing that finds rows of its own number cannot know whether the other
attempt was killed or still runs: it commits to ``landed_files`` before it removes them, so that one of the two fails.

Large landings are committed in parts, each a landing of its own; after an interruption the next one continues there.
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
    """The result of one landing; ``batch`` is its number, ``None`` if there was nothing new.

    ``unread`` are (path, reason) of files that could not be read to their ends; the next landing tries again.
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
    """Land ``files``, as found by :func:`~jobs.landing.new_files.new_files`, and return the sums."""
    if not files:
        return Landing()
    begun, zone = begin(warehouse, config), absolute(landing)
    landed = warehouse.dataset(LANDED.name, begun.versions[LANDED.name])
    tasks = tasks_of(files, landed, zone, config, begun.batch)
    every: list[Landed] = []
    for part in parts_of(tasks, config.commit_every_gb * GIGABYTE):
        done = land_all(engine, [replace(task, batch=begun.batch) for task in part], zone, warehouse)
        begun = commit(done, begun, warehouse)
        every += [replace(found, data_files=[]) for found in done]
    return summed(every, files, begun.batch - 1)


def parts_of(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """Yield the tasks in parts of at most ``size`` bytes, or of one larger task; tasks keep their order in each.

    Tasks of a cluster come in consecutive parts.
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
    """Land the new rows of a Delta table of raw lines; see :mod:`jobs.landing.raw_table`.

    Raises :class:`~jobs.JobError` if there is no such table, or if the settings do not describe its columns.
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
        done = land_all(engine, tasks, spool, warehouse)
        commit(done, begun, warehouse)
    finally:
        system, root = warehouse.files(spool)
        with suppress(FileNotFoundError):
            system.delete_dir(root)
    return summed(done, files, begun.batch)


def land_all(engine: Engine, tasks: list[Task], landing: str, warehouse: Warehouse) -> list[Landed]:
    """Land all tasks and return the results. Large files come first, so that the rest need not wait for their hashes.

    A split file whose parts do not fit together is landed again as a whole.
    """
    size = sum(map(weight, tasks))
    cores = engine.cores_for(size)
    cut = split_files(engine, tasks, landing, size, cores) if cores > 1 else []
    files = [splits[0].large for splits in cut]
    batches = partitioned([task for task in tasks if task not in [file.task for file in files]], cores)
    work = partial(run_item, landing=landing, warehouse=warehouse.root)
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
    """Return the splits of each file whose new bytes exceed a core's share of all bytes, ``size``."""
    asked = [task for task in tasks if may_be_split(task, size // cores)]
    large = [found for found in engine.each(partial(large_of, landing=landing), asked) if found]
    ranges = [ranges_of(file, cores) for file in large]
    scans = iter(engine.each(partial(scan_range, landing=landing), [*chain.from_iterable(ranges)]))
    cut = (splits_of(file, [*islice(scans, len(parts))]) for file, parts in zip(large, ranges, strict=True))
    return [splits for splits in cut if splits]


def run_item(batch: Large | FileSplit | list[Task], landing: str, warehouse: str) -> ReadSoFar | LandedSplit | Landed:
    """Read a large file through, or land a split or a batch of tasks, and return the result."""
    match batch:
        case Large():
            return read_through(batch, landing)
        case FileSplit():
            return land_split(batch, landing, warehouse)
        case _:
            return land_tasks(batch, landing, warehouse)


def commit(done: Iterable[Landed], begun: Begun, warehouse: Warehouse) -> Begun:
    """Commit the rows, table by table on top of the versions in ``begun``, ``landed_files`` last.

    Return the number and versions with which the next landing begins, unless another job commits meanwhile.
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
    """Return the sums of all results."""
    sums: Counter[str] = Counter()
    unread: list[tuple[str, str]] = []
    for of_tasks in done:
        sums.update(of_tasks.sums)
        unread += of_tasks.unread
    return Landing(batch, len(files), sum(file.size for file in files), unread=tuple(sorted(unread)), **sums)


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["land", *sys.argv[1:]]))
