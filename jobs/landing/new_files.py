"""Which files of the landing zone no landing has seen as they are now: asked before anything is read of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Set
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from election_replay.election_core.model.streams import stream_at
from election_replay.jobs.landing.landing_zone import Skip
from election_replay.jobs.landing.ledger import rows_like
from election_replay.jobs.landing.listing import LogFile, log_files, told_to_nobody
from election_replay.jobs.landing.privacy_mark import refuse_other_privacy
from election_replay.jobs.landing.pseudonyms import pseudonyms_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.landed_files import OLDER, PART

SEEN_COLUMNS = (
    *("batch", "cluster", "source_node", "stream", "path", "status"),
    *("file_bytes", "modified_at", "bytes_waiting", "problem", "unread"),
)
"""The columns of ``landed_files`` that tell a file that was seen."""

READ_COLUMNS = ("tick_bucket", "lines_landed", "read_as")
"""The columns of ``landed_files`` that tell how a file was read."""

SECOND = 1_000_000
"""Microseconds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_files(landing: str, warehouse: Warehouse, config: Config, skip: Skip = told_to_nobody) -> list[LogFile]:
    """The files that no landing has seen as they are now, and those that the settings now say how to read.

    What had to be passed over is told to ``skip``.

    Raises :class:`~jobs.JobError` for a landing zone or a warehouse that cannot be used.
    """
    warehouse.refuse_foreign_folder()
    refuse_other_privacy(warehouse, pseudonyms_of(config.privacy))
    files = log_files(landing, config.layout, config.metadata_layout, skip)
    landed = rows_like(warehouse, files, (*SEEN_COLUMNS, *READ_COLUMNS))
    return unseen(files, (row for row in landed if not read_otherwise(row, config)))


def unseen(files: Collection[LogFile], landed: Iterable[dict[str, Any]]) -> list[LogFile]:
    """The files to look into: those of which no landing saw a file of the same stream, size and time of change.

    ``landed`` are rows of ``landed_files``, in the order of landings. A rolled file that was only renamed keeps all
    three; another file may have all three too, and :func:`renamed` tells them apart. A file whose last line waits is
    looked into once more, one that could not be read to its end again and again: by its path too, as others may be like
    it in all three. What a file holds of another node says nothing of that node's own files.
    """
    last: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    held: set[tuple[str, str, str]] = set()
    for row in landed:
        if row["status"] == PART:
            continue
        waits = row["status"] == OLDER and row["bytes_waiting"] > 0
        (held.add if waits else held.discard)((row["cluster"], row["source_node"], row["path"]))
        for stream in {row["stream"], stream_at(row["path"])}:  # a copy under another name is of its original's stream
            known = row["cluster"], row["source_node"], stream, row["file_bytes"], micros(row["modified_at"])
            last[known][row["path"]] = row
    in_zone: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for file in files:
        in_zone[alike(file)].add(file.path)
    found = []
    for file in files:
        rows = last.get(alike(file), {})
        unread = rows.get(file.path) or next((row for row in rows.values() if row["unread"]), None)
        if file.modified is None or (file.path not in rows and not renamed(file.modified, in_zone[alike(file)], rows)):
            found.append(replace(file, held=(file.cluster, file.source_node, file.path) in held))
        elif unread and unread["unread"]:
            found.append(replace(file, unread=unread["problem"]))
        elif all(row["bytes_waiting"] > 0 for row in rows.values() if not row["unread"]):
            found.append(replace(file, settled=True))
    return found


def alike(file: LogFile) -> tuple[Any, ...]:
    """What a file keeps when it is renamed."""
    return file.cluster, file.source_node, file.stream, file.size, file.modified


def renamed(modified: int, in_zone: Set[str], known: Collection[str]) -> bool:
    """Whether each path that was never seen is a known file under a new name: as many known paths are gone.

    ``in_zone`` and ``known`` are the paths of files that are alike. Where times are told in whole seconds, as by object
    stores, two files may be alike by chance, and all of them are read.
    """
    return bool(modified % SECOND) and len(in_zone - {*known}) <= len({*known} - in_zone)


def read_otherwise(row: dict[str, Any], config: Config) -> bool:
    """Whether nothing was understood of a file, and the settings say now how to read it."""
    snapshot = "/" in row["stream"]  # only the name of such a stream has a folder in it
    if row["tick_bucket"] is not None or not row["lines_landed"] or snapshot:
        return False
    names = (PurePosixPath(row["path"]).name, row["stream"])
    setting = config.dialect_of(row["cluster"], row["source_node"], names)
    return setting is not None and setting != row["read_as"]


def micros(time: datetime | None) -> int | None:
    """Microseconds since 1970."""
    return None if time is None else (time - EPOCH) // timedelta(microseconds=1)
