"""Which log files lie in the landing zone.

The layout is a pattern such as ``{cluster}/nodes/{node}/logs/**``, found at the landing folder itself or below any
folders inside it. Only files that match are ever opened, and links are never followed: what a link points at may
lie outside of the landing zone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pyarrow import fs

from election_core.dialects.streams import stream_of, unpacked
from jobs import JobError
from jobs.warehouse.stores import for_arrow


@dataclass(frozen=True, slots=True)
class LogFile:
    """One log file as it lies in the landing zone; ``path`` is relative to it, ``modified`` is microseconds UTC.

    ``settled``: it is as the landing before found it. ``below`` is set for a metadata snapshot alone: where it lies
    in its node's metadata folder, such as ``20261121T103148Z/topics.json``.
    """

    path: str
    cluster: str
    source_node: str
    size: int
    modified: int | None
    settled: bool = False
    below: str = ""

    @property
    def name(self) -> str:
        """The file's own name."""
        return PurePosixPath(self.path).name

    @property
    def stream(self) -> str:
        """The name without roll and compression suffixes: ``broker.3.log.gz`` is ``broker.log``.

        A snapshot is no part of a longer stream: its own is named by its time and file.
        """
        return unpacked(self.below) if self.below else stream_of(self.name)

    @property
    def complete(self) -> bool:
        """Whether its last line is whole: a rolled or compressed file grows no more, nor does a settled one."""
        return self.settled or self.name != self.stream


def open_landing(landing: str) -> tuple[fs.FileSystem, str]:
    """The file system and root folder of ``landing``, a local path or a URI such as ``s3a://bucket/logs``.

    Raises :class:`JobError` when there is no such folder.
    """
    try:
        system, root = fs.FileSystem.from_uri(for_arrow(landing))
        kind = system.get_file_info(root).type
    except (OSError, ValueError) as error:
        raise JobError(f"cannot open the landing zone {landing}: {error}") from error
    if kind == fs.FileType.NotFound:
        raise JobError(f"there is no landing zone {landing}: give the folder that holds the clusters' folders")
    if kind != fs.FileType.Directory:
        raise JobError(f"the landing zone {landing} is not a folder")
    return system, root


def log_files(landing: str, layout: str, metadata_layout: str | None = None) -> list[LogFile]:
    """Every log file of the landing zone, and every metadata snapshot where a layout for them is given, by path.

    Raises :class:`JobError` when no file fits the layout or when two folders bear the same cluster's name.
    """
    system, root = open_landing(landing)
    pattern = layout_pattern(layout)
    metadata = layout_pattern(metadata_layout) if metadata_layout else None
    prefix = PurePosixPath(root).name  # the landing may itself be the cluster's folder
    found: list[LogFile] = []
    folders: dict[str, set[str]] = defaultdict(set)
    for info in walk(system, root):
        path = PurePosixPath(info.path).relative_to(root).as_posix()
        log = pattern.match(f"{prefix}/{path}")
        match = log or (metadata and metadata.match(f"{prefix}/{path}"))
        if match is None:
            continue
        folders[match["cluster"]].add(match.string[: match.end("cluster")])
        modified = None if info.mtime_ns is None else info.mtime_ns // 1000
        below = "" if log else match["below"]
        found.append(LogFile(path, match["cluster"], match["node"], info.size, modified, below=below))
    refuse_namesakes(folders)
    if not found:
        raise JobError(f"no log file in {landing} fits {layout}: is it the folder that holds the clusters' folders?")
    return sorted(found, key=lambda file: file.path)


def layout_pattern(layout: str) -> re.Pattern[str]:
    """The layout as a pattern for whole paths, below any folders. Raises :class:`JobError` for a bad layout."""
    if layout.count("{cluster}") != 1 or layout.count("{node}") != 1 or not layout.endswith("/**"):
        raise JobError(f"the layout {layout} must name {{cluster}} and {{node}} once and end in /**")
    body = re.escape(layout.removesuffix("/**"))
    body = body.replace(r"\{cluster\}", "(?P<cluster>[^/]+)").replace(r"\{node\}", "(?P<node>[^/]+)")
    return re.compile(rf"(?:[^/]+/)*?{body}/(?P<below>.+)", re.DOTALL)


def walk(system: fs.FileSystem, folder: str) -> Iterator[fs.FileInfo]:
    """The files below ``folder``, without following a link."""
    local = isinstance(system, fs.LocalFileSystem)
    for info in system.get_file_info(fs.FileSelector(folder)):
        if local and Path(info.path).is_symlink():
            continue
        if info.type == fs.FileType.Directory:
            yield from walk(system, info.path)
        elif info.type == fs.FileType.File:
            yield info


def refuse_namesakes(folders: Mapping[str, Iterable[str]]) -> None:
    """Raise :class:`JobError` when a cluster's name stands for two folders: their logs would be mixed."""
    for cluster, places in sorted(folders.items()):
        if len(several := sorted(places)) > 1:
            raise JobError(
                f"two folders are both named {cluster}: {several[0]} and {several[1]}; rename one or land them apart"
            )
