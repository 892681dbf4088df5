"""Upkeep of one table: joins small files, and removes files that no needed version names."""

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
"""The name of an entry of Delta's log. Group 1 is the version, group 2 is set for a checkpoint, where readers begin."""


UNCOMMITTED_HOURS = 7 * 24
"""Hours for which a file that no commit ever named is kept: longer than any landing runs, and Delta's own default."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """What upkeep did, or would do, to one table: numbers of its files, of those joined and of those removed.

    ``left_alone``: it has unpublished rows, so nothing was done. ``forgotten``: erased rows of old landings or runs.
    """

    table: str
    files: int
    joined: int = 0
    removed: int = 0
    left_alone: bool = False
    forgotten: int = 0


def tidy(warehouse: Warehouse, name: str, needed: Collection[int], dry_run: bool, grace_hours: int) -> Tidied:
    """Join the small files of a table, then remove files that neither its newest version nor a ``needed`` one names.

    A file that no version ever named may belong to a running job that has not committed yet, so it stays for
    :data:`UNCOMMITTED_HOURS`; others stay for ``grace_hours``.
    """
    table = warehouse.opened(name)
    files = len(table.file_uris())
    if dry_run:
        joined = compactable_files(warehouse, name)
    else:
        joined = compact(warehouse, name)
        table = warehouse.opened(name)
    versions = sorted({*needed, table.version()})

    def vacuum(only_list: bool, full: bool) -> list[str]:
        hours = UNCOMMITTED_HOURS if full else grace_hours
        return table.vacuum(hours, only_list, enforce_retention_duration=False, full=full, keep_versions=versions)

    removed: set[str] = set()
    for full in (False, True):
        found = existing_files(warehouse, name, vacuum(True, full))
        if found and not dry_run:
            warehouse.retry_hdfs(partial(vacuum, False, full))
        removed.update(found)
    if not dry_run:
        prune_log(warehouse, name, versions[0], datetime.now(UTC) - timedelta(hours=grace_hours))
    return Tidied(name, files, joined, len(removed))


def existing_files(warehouse: Warehouse, name: str, paths: Sequence[str]) -> list[str]:
    """Return those of ``paths`` that exist: the log also lists removed files that an earlier upkeep deleted."""
    system, root = warehouse.files(warehouse.location(name))
    infos = system.get_file_info([f"{root}/{path}" for path in paths])
    return [path for path, info in zip(paths, infos, strict=True) if info.type == fs.FileType.File]


def set_retention(warehouse: Warehouse, name: str, keep_days: int) -> None:
    """Set the table's retention properties, for other tools that vacuum it; see :func:`properties`."""
    table, wanted = DeltaTable(warehouse.location(name)), properties(TABLES[name], keep_days)
    if not wanted.items() <= table.metadata().configuration.items():
        with warehouse.committing(name):
            warehouse.retry_hdfs(lambda: table.alter.set_table_properties(wanted))


def prune_log(warehouse: Warehouse, name: str, oldest: int, before: datetime) -> None:
    """Delete log entries older than ``before`` that no version from ``oldest`` on needs to be read."""
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


def compact(warehouse: Warehouse, name: str) -> int:
    """Join the small files of a table and return how many files were replaced.

    A table whose rows are replaced by key is joined by our own rewrite, which keeps rows sorted by key: after Delta's
    own joining each night would have to rewrite all files.
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
    """Apply ``work`` to each item in this process, as upkeep has no engine."""
    return [work(item) for item in items]


def compactable_files(warehouse: Warehouse, name: str) -> int:
    """Return how many files :func:`compact` would join; Delta's own joining is taken to join all of a partition."""
    if TABLES[name].replaced_by:
        return len(compaction_plan(warehouse, name).files)
    table = warehouse.opened(name)
    columns = [f"partition.{column}" for column in table.metadata().partition_columns]
    files = pa.table(table.get_add_actions(flatten=True)).select(["path", *columns]).to_pylist()
    partitions = Counter(tuple(file[column] for column in columns) for file in files)
    return sum(count for count in partitions.values() if count > 1)
