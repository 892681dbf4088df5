"""The landing zone: its files by name, and the bytes of each, on a local disk or in an object store.

What cannot be named, listed or followed is passed over and reported; nothing else stops for it. A link is never
followed, not even one that takes a file's place after the file was listed: its target may lie outside of the landing
zone.
"""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Protocol

import pyarrow as pa
from pyarrow import fs

from election_replay.jobs import JobError
from election_replay.jobs.warehouse.stores import absolute, file_system, is_uri, opened_at

READ_FAILURES = (OSError, pa.ArrowException)
"""The exceptions that a file system or an object store raises when it does not give what was asked for."""

NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
"""How a folder on the way to a file is opened; it need not be readable."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a link, by its path below the landing zone; size in bytes, ``modified`` in us UTC.

    ``link`` is the target of a link: a path below the landing zone (empty: the zone itself), or an absolute one; None:
    a file. ``folder``: the link leads to no file, but to a folder or nowhere.
    """

    path: str
    size: int = 0
    modified: int | None = None
    link: str | None = None
    folder: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something in the landing zone that was passed over, by a path that can be printed, and why.

    ``harmless``: nothing is missed by it.
    """

    path: str
    reason: str
    harmless: bool = False


Skip = Callable[[Skipped], object]
"""Takes what was passed over."""


class LandingZone(Protocol):
    """A folder that log files lie in."""

    @property
    def name(self) -> str:
        """The folder's own name."""

    def walk(self, skip: Skip) -> Iterator[Entry]:
        """Yield the files and links below the folder. Folders that cannot be listed, or have no usable name, are
        skipped."""

    def open(self, path: str, position: int = 0) -> AbstractContextManager[IO[bytes]]:
        """Open a file for its bytes from ``position`` on.

        Raises one of :data:`READ_FAILURES`; it is FileNotFoundError when there is no such file.
        """


@dataclass(frozen=True, slots=True)
class LocalZone:
    """A folder of a local or mounted disk."""

    root: str

    @property
    def name(self) -> str:
        """The folder's own name."""
        return PurePosixPath(self.root).name

    def walk(self, skip: Skip) -> Iterator[Entry]:
        """Yield the regular files and the links below the folder."""
        top, folders = os.path.realpath(self.root), [""]
        while folders:
            folder = folders.pop()
            for entry in self._listed(folder, skip):
                path = f"{folder}/{entry.name}" if folder else entry.name
                try:
                    if entry.is_symlink():
                        yield Entry(path, link=below(top, os.path.realpath(entry.path)), folder=not entry.is_file())
                    elif not entry.is_dir(follow_symlinks=False):
                        found = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(found.st_mode):
                            yield Entry(path, found.st_size, found.st_mtime_ns // 1000)
                    elif is_text(entry.name):
                        folders.append(path)
                    else:
                        skip(Skipped(printable(path), "the folder's name is no UTF-8"))
                except FileNotFoundError:  # gone since it was listed
                    continue
                except OSError as error:
                    skip(Skipped(printable(path), f"it cannot be looked at: {error.strerror}"))

    def _listed(self, folder: str, skip: Skip) -> list["os.DirEntry[str]"]:
        try:
            with os.scandir(f"{self.root}/{folder}") as found:
                return list(found)
        except FileNotFoundError:
            return []
        except OSError as error:
            skip(Skipped(printable(folder) or self.root, f"the folder cannot be listed: {error.strerror}"))
            return []

    def open(self, path: str, position: int = 0) -> AbstractContextManager[IO[bytes]]:
        """Open a file for its bytes, through no link: each folder on its way is opened in the one before."""
        *folders, name = path.split("/")
        at = os.open(self.root, FOLDER)
        try:
            for folder in folders:
                at = stepped(at, folder, FOLDER)
            # A pipe that took the file's place must not be waited for.
            at = stepped(at, name, os.O_RDONLY | os.O_NONBLOCK)
            if not stat.S_ISREG(os.fstat(at).st_mode):
                raise OSError(f"it is no file any more: {printable(path)}")
            os.lseek(at, position, os.SEEK_SET)
        except BaseException:
            os.close(at)
            raise
        return os.fdopen(at, "rb", buffering=0)


def stepped(at: int, name: str, flags: int) -> int:
    """Open ``name`` in the open folder ``at``, which is closed, and return its descriptor. A link is refused with
    OSError, and ``at`` stays open on errors."""
    found = os.open(name, flags | NO_LINK, dir_fd=at)
    os.close(at)
    return found


@dataclass(frozen=True, slots=True)
class StoredZone:
    """A folder of an object store, or of another file system that Arrow knows."""

    system: fs.FileSystem
    root: str

    @property
    def name(self) -> str:
        """The folder's own name."""
        return PurePosixPath(self.root).name

    def walk(self, skip: Skip) -> Iterator[Entry]:
        """Yield the files below the folder; object stores have no links."""
        folders = [self.root]
        while folders:
            folder = folders.pop()
            try:
                found = self.system.get_file_info(fs.FileSelector(folder))
            except READ_FAILURES as error:
                skip(Skipped(printable(folder), f"the folder cannot be listed: {first_line(error)}"))
                continue
            for info in found:
                if info.type == fs.FileType.Directory:
                    folders.append(info.path)
                elif info.type == fs.FileType.File:
                    modified = None if info.mtime_ns is None else info.mtime_ns // 1000
                    yield Entry(PurePosixPath(info.path).relative_to(self.root).as_posix(), info.size, modified)

    def open(self, path: str, position: int = 0) -> Any:
        """Open a file for its bytes. A stream reads ahead, but can only begin at the first byte."""
        if position:
            return opened_at(self.system, f"{self.root}/{path}", position)
        return self.system.open_input_stream(f"{self.root}/{path}", compression=None)


def open_landing(landing: str) -> LandingZone:
    """Return the landing zone at a local path or a URI such as ``s3a://bucket/logs``.

    Raises :class:`JobError` when there is no such folder, or when it cannot be listed.
    """
    try:
        system, root = (fs.LocalFileSystem(), absolute(landing)) if not is_uri(landing) else file_system(landing)
        if isinstance(system, fs.LocalFileSystem):
            with os.scandir(root):
                return LocalZone(root)
        kind = system.get_file_info(root).type
    except FileNotFoundError:
        kind = fs.FileType.NotFound
    except NotADirectoryError:
        kind = fs.FileType.File
    except (*READ_FAILURES, ValueError) as error:
        raise JobError(f"cannot open the landing zone {landing}: {error}") from error
    if kind == fs.FileType.NotFound:
        raise JobError(f"there is no landing zone {landing}: give the folder that holds the clusters' folders")
    if kind != fs.FileType.Directory:
        raise JobError(f"the landing zone {landing} is not a folder")
    return StoredZone(system, root)


def below(top: str, path: str) -> str:
    """Return ``path`` relative to ``top`` if it lies there, else unchanged; empty for ``top`` itself."""
    return "" if path == top else path.removeprefix(f"{top.rstrip('/')}/")


def is_text(name: str) -> bool:
    """Return True when a name is UTF-8, so that it can be stored."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Return a path as text: bytes that are no UTF-8 are written as ``\xe9``."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or the name of its type where it has none."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__
