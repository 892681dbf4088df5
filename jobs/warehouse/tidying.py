"""One table tidied: small files joined, and removed what no version that is needed names."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import pyarrow as pa
from deltalake import DeltaTable
from pyarrow import fs

from election_replay.jobs.warehouse.data_files import DataFile
from election_replay.jobs.warehouse.delta_form import properties
from election_replay.jobs.warehouse.replacing import RewriteTask, compaction_plan, rewrite
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LOG_ENTRY = re.compile(r"(\d{20})\.(?:json|crc|(checkpoint\.parquet))")
"""An entry of Delta's log: its version, and whether it is a checkpoint, with which a reader may begin."""


UNCOMMITTED_HOURS = 7 * 24
"""How long a file stays that no commit ever named: longer than any landing runs. It is Delta's own retention."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """What was done, or would be, to one table. ``left_alone``: it has rows that are not published yet.

    ``forgotten`` are rows of old landings, or of former runs, that went.
    """

    table: str
    files: int
    joined: int = 0
    removed: int = 0
    left_alone: bool = False
    forgotten: int = 0


def tidy(warehouse: Warehouse, name: str, needed: Collection[int], dry_run: bool, grace_hours: int) -> Tidied:
    """Join the small files of a table, then remove what neither its newest version nor a needed one names.

    A file that no version ever named may be one of a job that is still at work, and that commits it when it is done.
    Those stay for :data:`UNCOMMITTED_HOURS`.
    """
    table = warehouse.opened(name)
    files = len(table.file_uris())
    if dry_run:
        joined = joinable(warehouse, name)
    else:
        joined = join(warehouse, name)
        table = warehouse.opened(name)
    versions = sorted({*needed, table.version()})

    def vacuum(only_list: bool, full: bool) -> list[str]:
        hours = UNCOMMITTED_HOURS if full else grace_hours
        return table.vacuum(hours, only_list, enforce_retention_duration=False, full=full, keep_versions=versions)

    removed: set[str] = set()
    for full in (False, True):
        found = existing(warehouse, name, vacuum(True, full))
        if found and not dry_run:
            warehouse.retry_hdfs(partial(vacuum, False, full))
        removed.update(found)
    if not dry_run:
        forget(warehouse, name, versions[0], datetime.now(UTC) - timedelta(hours=grace_hours))
    return Tidied(name, files, joined, len(removed))


def existing(warehouse: Warehouse, name: str, paths: Sequence[str]) -> list[str]:
    """Those of some data files that are still there: the log names files as removed that an earlier upkeep took."""
    system, root = warehouse.files(warehouse.location(name))
    infos = system.get_file_info([f"{root}/{path}" for path in paths])
    return [path for path, info in zip(paths, infos, strict=True) if info.type == fs.FileType.File]


def retain(warehouse: Warehouse, name: str, keep_days: int) -> None:
    """Let the table say how long its versions are kept, for whoever else tidies it; see :func:`properties`."""
    table, wanted = DeltaTable(warehouse.location(name)), properties(TABLES[name], keep_days)
    if not wanted.items() <= table.metadata().configuration.items():
        with warehouse.committing(name):
            warehouse.retry_hdfs(lambda: table.alter.set_table_properties(wanted))


def forget(warehouse: Warehouse, name: str, oldest: int, before: datetime) -> None:
    """Remove the entries of a table's log that no version from ``oldest`` on needs, if written ``before`` a time."""
    system, log = warehouse.files(f"{warehouse.location(name)}/_delta_log")
    entries = [
        (int(found[1]), bool(found[2]), info)
        for info in system.get_file_info(fs.FileSelector(log))
        if (found := LOG_ENTRY.fullmatch(info.base_name))
    ]
    begin = max((version for version, is_checkpoint, _ in entries if is_checkpoint and version <= oldest), default=0)
    for version, _, info in sorted(entries, key=lambda entry: entry[0]):
        if version < begin and info.mtime < before:
            system.delete_file(info.path)


def join(warehouse: Warehouse, name: str) -> int:
    """Join the small files of a table; how many there were.

    Where nights replace rows by their keys, the new files say again which keys may be in them: Delta's own joining
    would give them other names, and each night would write all of them anew.
    """
    if not TABLES[name].replaced_by:
        with warehouse.committing(name):
            return int(warehouse.retry_hdfs(warehouse.opened(name).optimize.compact)["numFilesRemoved"])
    plan = compaction_plan(warehouse, name)
    if plan.files:
        gone = {file.path: file.size for file in plan.files}
        warehouse.commit_rewrite(rewrite(one_by_one, [plan]), gone, name, "upkeep", plan.version)
    return len(plan.files)


def one_by_one(work: Callable[[RewriteTask], list[DataFile]], items: Sequence[RewriteTask]) -> list[list[DataFile]]:
    """Upkeep has no engine: it works on one item after the other."""
    return [work(item) for item in items]


def joinable(warehouse: Warehouse, name: str) -> int:
    """How many files of a table would be joined: all that lie beside another one of their partition."""
    if TABLES[name].replaced_by:
        return len(compaction_plan(warehouse, name).files)
    table = warehouse.opened(name)
    columns = [f"partition.{column}" for column in table.metadata().partition_columns]
    files = pa.table(table.get_add_actions(flatten=True)).select(["path", *columns]).to_pylist()
    partitions = Counter(tuple(file[column] for column in columns) for file in files)
    return sum(count for count in partitions.values() if count > 1)
