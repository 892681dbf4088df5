"""HDFS as one of Arrow's file systems, by the client that Delta's own reader and writer use: without Java.

Where the NameNode is, and how it is asked, stands in ``core-site.xml`` and ``hdfs-site.xml`` of ``HADOOP_CONF_DIR``.
A user is known by ``HADOOP_USER_NAME``, by Kerberos, or by the delegation tokens that YARN gives to its containers.

A file of a table is fetched whole before Arrow reads it: Arrow reads ahead by threads of its own, and one that frees
what Python has read while Python ends would take the process down.
"""

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import pyarrow as pa
from hdfs_native import Client, FileReader, FileStatus
from pyarrow import fs

DENIED = "AccessControlException"
"""What the NameNode calls it when a user has not the right."""


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Raise what a NameNode or a DataNode refuses as an :class:`OSError` of one line, without Java's stack trace."""
    try:
        yield
    except RuntimeError as error:
        text = str(error).split("\\n")[0].split("\n")[0]
        raise (PermissionError if DENIED in text else OSError)(text) from error


class Stream(io.RawIOBase):
    """The bytes of an open file, in its order."""

    def __init__(self, found: FileReader) -> None:
        self._found = found

    def readable(self) -> bool:
        """Always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """The next bytes; none at the end."""
        with as_os_errors():
            found: bytes = self._found.read(size)
            return found


def info_of(status: FileStatus) -> fs.FileInfo:
    """What the NameNode says of a file or a folder, as Arrow says it."""
    modified = status.modification_time * 1_000_000
    if status.isdir:
        return fs.FileInfo(status.path, fs.FileType.Directory, mtime_ns=modified)
    return fs.FileInfo(status.path, fs.FileType.File, mtime_ns=modified, size=status.length)


class HdfsHandler(fs.FileSystemHandler):  # type: ignore[misc] # Arrow has no types
    """What Arrow asks of the file system at a URI such as ``hdfs://namenode:8020``; paths begin with a slash."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        with as_os_errors():
            self._client = Client(uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HdfsHandler) and self._uri == other._uri

    __hash__ = None  # type: ignore[assignment] # as Arrow wants it

    def get_type_name(self) -> str:
        """How Arrow calls it."""
        return "hdfs"

    def normalize_path(self, path: str) -> str:
        """Paths as they are."""
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[fs.FileInfo]:
        """What stands at each path."""
        return [self._at(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """What lies in a folder, in all below it too where that is asked for."""
        try:
            with as_os_errors():
                return [info_of(status) for status in self._client.list_status(selector.base_dir, selector.recursive)]
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise

    def open_input_stream(self, path: str) -> pa.NativeFile:
        """The bytes of a file, one after the other, in the thread that asks for them."""
        with as_os_errors():
            return pa.PythonFile(Stream(self._client.read(path)), mode="r")

    def open_input_file(self, path: str) -> pa.NativeFile:
        """The bytes of a file in any order, from a copy that has no name and lives as long as it is open."""
        with tempfile.NamedTemporaryFile(prefix="election-replay-") as copy:
            with as_os_errors():
                found = self._client.read(path)
                for chunk in found.read_range_stream(0, len(found)):
                    copy.write(chunk)
            copy.flush()
            return pa.memory_map(copy.name) if len(found) else pa.BufferReader(b"")

    def open_at(self, path: str, position: int) -> Stream:
        """The bytes of a file from a position on, one after the other; Arrow itself does not ask for them so."""
        with as_os_errors():
            found = self._client.read(path)
            found.seek(position)
            return Stream(found)

    def delete_file(self, path: str) -> None:
        """Remove a file. Raises :class:`FileNotFoundError` where there is none."""
        with as_os_errors():
            if not self._client.delete(path):
                raise FileNotFoundError(path)

    def _not_needed(self, *_: Any) -> NoReturn:
        raise NotImplementedError("Delta's own writer does it")

    copy_file = create_dir = move = open_append_stream = open_output_stream = _not_needed
    delete_dir = delete_dir_contents = delete_root_dir_contents = _not_needed

    def _at(self, path: str) -> fs.FileInfo:
        try:
            with as_os_errors():
                return info_of(self._client.get_file_info(path))
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)
