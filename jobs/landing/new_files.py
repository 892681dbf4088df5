"""Find the files of the landing zone that no landing has seen in their present state, before any of them is opened."""

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
"""The columns of ``landed_files`` by which a file that was seen is recognised."""

READ_COLUMNS = ("tick_bucket", "lines_landed", "read_as")
"""The columns of ``landed_files`` that say whether and in which dialect a file was read."""

SECOND = 1_000_000
"""One second in microseconds."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def new_files(landing: str, warehouse: Warehouse, config: Config, skip: Skip = told_to_nobody) -> list[LogFile]:
    """Return the files that no landing has seen in their present state, or that the settings now say how to read.

    ``skip`` is called for each entry of the landing zone that is passed over.

    Raises :class:`~jobs.JobError` for a landing zone or a warehouse that cannot be used.
    """
    warehouse.refuse_foreign_folder()
    refuse_other_privacy(warehouse, pseudonyms_of(config.privacy))
    files = log_files(landing, config.layout, config.metadata_layout, skip)
    landed = rows_like(warehouse, files, (*SEEN_COLUMNS, *READ_COLUMNS))
    return unseen(files, (row for row in landed if not read_otherwise(row, config)))


def unseen(files: Collection[LogFile], landed: Iterable[dict[str, Any]]) -> list[LogFile]:
    """Return the files to look into: those of whose stream, size and time of change no landing has seen a file.

    ``landed`` are rows of ``landed_files``, in the order of landings. A rolled file that was only renamed keeps stream,
    size and time of change; another file may have the same three by chance, and :func:`renamed` tells the two cases
    apart. A file whose last line waits is returned once more, as ``settled``; a file that could not be read to its end
    is returned by every landing, with the problem as ``unread``. Rows about one node of a shared file are passed over:
    they say nothing of the node's own files.
    """
    last: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    held: set[tuple[str, str, str]] = set()
    for row in landed:
        if row["status"] == PART:
            continue
        waits = row["status"] == OLDER and row["bytes_waiting"] > 0
        (held.add if waits else held.discard)((row["cluster"], row["source_node"], row["path"]))
        for stream in {row["stream"], stream_at(row["path"])}:  # a copy lands under its original's stream
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
    """Return the key that a file keeps when it is rolled: cluster, node, stream, size in bytes, change time in us."""
    return file.cluster, file.source_node, file.stream, file.size, file.modified


def renamed(modified: int, in_zone: Set[str], known: Collection[str]) -> bool:
    """Return True when each path never seen before is a known file under a new name: as many known paths are gone.

    ``in_zone`` and ``known`` are paths of files with equal :func:`alike`; ``modified`` is in us UTC. A whole second
    returns False: object stores give times in whole seconds, so two files may be alike by chance and both must be read.
    """
    return bool(modified % SECOND) and len(in_zone - {*known}) <= len({*known} - in_zone)


def read_otherwise(row: dict[str, Any], config: Config) -> bool:
    """Return True when no line of a landed file was understood and the settings now name another dialect for it."""
    snapshot = "/" in row["stream"]  # only the name of such a stream has a folder in it
    if row["tick_bucket"] is not None or not row["lines_landed"] or snapshot:
        return False
    names = (PurePosixPath(row["path"]).name, row["stream"])
    setting = config.dialect_of(row["cluster"], row["source_node"], names)
    return setting is not None and setting != row["read_as"]


def micros(time: datetime | None) -> int | None:
    """Return a time as microseconds since 1970 UTC; None stays None."""
    return None if time is None else (time - EPOCH) // timedelta(microseconds=1)
