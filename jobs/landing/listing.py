"""Lists the log files of the landing zone.

The layout is a pattern such as ``{cluster}/nodes/{node}/logs/**``, found at the landing folder itself or below any
folders in it. Only files that match are ever opened, and links are never followed: their targets may lie outside of the
landing zone.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import PurePosixPath
from typing import NamedTuple

from election_replay.election_core.model.streams import stream_of, uncopied, unpacked
from election_replay.jobs import JobError
from election_replay.jobs.landing.landing_zone import Entry, Skip, Skipped, is_text, open_landing, printable


@dataclass(frozen=True, slots=True)
class Beginning:
    """The first whole lines of a file: their length in bytes, and their SHA-256."""

    length: int
    digest: str

    @classmethod
    def of(cls, data: bytes) -> "Beginning":
        """Return the beginning of a file that begins with ``data``."""
        length = data.rfind(b"\n") + 1
        return cls(length, hashlib.sha256(data[:length]).hexdigest())


@dataclass(frozen=True, slots=True)
class OfTable:
    """What is known of lines that are rows of a Delta table: its id, and the version up to which rows are taken.

    ``positions`` is the file that holds the position of each line in its log, as 8 bytes each; ``path`` is the log's
    name. ``fingerprint``, ``file_time`` (us UTC) and ``lines_before`` are what former landings had of the log; empty,
    None and 0: nothing.
    """

    table_id: str
    version: int
    positions: str
    path: str
    fingerprint: str = ""
    file_time: int | None = None
    lines_before: int = 0


class Writer(NamedTuple):
    """The node that wrote a line of a file, None: the file's own, and the name of the log that the line is of."""

    node: str | None
    log: str


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file as it lies in the landing zone; ``path`` is relative to it, ``size`` in bytes, ``modified`` is us
    UTC.

    ``settled``: the file is as the landing before found it, or it will not grow. ``held``: that landing let it wait, as
    a copy that may be under way. ``unread``: why that landing could not read it to its end. ``below`` is set for a
    metadata snapshot only: its path in its node's metadata folder, such as ``20261121T103148Z/topics.json``.
    ``known_as`` is the name under which its system would have written it, empty if it has that name. ``beginning`` is
    what it began with when it was looked at. ``of_table``: its lines are rows of a Delta table. ``nodes``:
    only their lines are read of a file that several clusters share; empty: all are. ``day`` is that of its last lines,
    where its times do not tell it; None: that of its last change.
    """

    path: str
    cluster: str
    source_node: str
    size: int
    modified: int | None
    settled: bool = False
    held: bool = False
    below: str = ""
    unread: str | None = None
    known_as: str = ""
    beginning: Beginning | None = None
    of_table: "OfTable | None" = None
    nodes: frozenset[str] = frozenset()
    day: date | None = None

    @property
    def name(self) -> str:
        """The file's own name, or the name that its system gives it."""
        return self.known_as or PurePosixPath(self.path).name

    @property
    def stream(self) -> str:
        """The name without roll and compression suffixes: ``broker.3.log.gz`` is ``broker.log``.

        A snapshot is no part of a longer stream: its own is named by its time and file.
        """
        return unpacked(self.below) if self.below else stream_of(self.name)

    @property
    def complete(self) -> bool:
        """True when the last line is whole: a compressed file says where it ends, and a settled one grows no more.

        A rolled file grows no more either, but it may be a copy under way.
        """
        name = uncopied(self.name)
        return self.settled or unpacked(name) != name


def told_to_nobody(_: Skipped) -> None:
    """Ignore what was passed over."""


def log_files(
    landing: str, layout: str, metadata_layout: str | None = None, skip: Skip = told_to_nobody
) -> list[LogFile]:
    """Return every log file of the landing zone, and every metadata snapshot where a layout for them is given, by path.

    What had to be passed over is given to ``skip``. Raises :class:`JobError` when no file fits the layout or when two
    folders have the same cluster's name.
    """
    zone = open_landing(landing)
    pattern = layout_pattern(layout)
    metadata = layout_pattern(metadata_layout) if metadata_layout else None
    found: list[LogFile] = []
    links: list[Entry] = []
    folders: dict[str, set[str]] = defaultdict(set)
    passed_over: list[Skipped] = []
    for entry in zone.walk(passed_over.append):
        place = f"{zone.name}/{entry.path}"  # the landing may itself be the cluster's folder
        log = pattern.match(place)
        match = log or (metadata and metadata.match(place))
        if entry.link is not None:
            if match or entry.folder:
                links.append(entry)
        elif not is_text(entry.path):
            passed_over.append(Skipped(printable(entry.path), "its name is no UTF-8", harmless=match is None))
        elif match is not None:
            folders[match["cluster"]].add(match.string[: match.end("cluster")])
            below = "" if log else match["below"]
            found.append(LogFile(entry.path, match["cluster"], match["node"], entry.size, entry.modified, below=below))
    passed_over += skipped_links(links, found)
    refuse_namesakes(folders)
    if not found:
        hint = f"; passed over: {passed_over[0].path} ({passed_over[0].reason})" if passed_over else ""
        raise JobError(
            f"no log file in {landing} fits {layout}: is it the folder that holds the clusters' folders?{hint}"
        )
    for file in sorted(passed_over, key=lambda file: file.path):
        skip(file)
    return sorted(found, key=lambda file: file.path)


def skipped_links(links: Iterable[Entry], found: Iterable[LogFile]) -> Iterator[Skipped]:
    """Yield the links that are reported: those whose target is not landed, and those to folders.

    Nothing is missed by a link whose target is landed under its own name; only links to folders among them are
    reported, since links to the newest file of a log are common.
    """
    landed = {""}.union(*({file.path, *map(str, PurePosixPath(file.path).parents)} for file in found))
    for link in links:
        if link.link not in landed:
            yield Skipped(printable(link.path), f"a link, not followed, to {printable(link.link or '')}")
        elif link.folder:
            reason = f"a link, not followed, to {printable(link.link or '.')}, which is landed under its own name"
            yield Skipped(printable(link.path), reason, harmless=True)


def layout_pattern(layout: str) -> re.Pattern[str]:
    """Return the layout as a pattern for whole paths, below any folders. Raises :class:`JobError` for a bad layout."""
    if layout.count("{cluster}") != 1 or layout.count("{node}") != 1 or not layout.endswith("/**"):
        raise JobError(f"the layout {layout} must name {{cluster}} and {{node}} once and end in /**")
    body = re.escape(layout.removesuffix("/**"))
    body = body.replace(r"\{cluster\}", "(?P<cluster>[^/]+)").replace(r"\{node\}", "(?P<node>[^/]+)")
    return re.compile(rf"(?:[^/]+/)*?{body}/(?P<below>.+)", re.DOTALL)


def refuse_namesakes(folders: Mapping[str, Iterable[str]]) -> None:
    """Raise :class:`JobError` when a cluster's name stands for two folders: their logs would be mixed."""
    for cluster, places in sorted(folders.items()):
        if len(several := sorted(places)) > 1:
            raise JobError(
                f"two folders are both named {cluster}: {several[0]} and {several[1]}; rename one or land them apart"
            )
