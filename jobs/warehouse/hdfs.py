"""An Arrow file system for HDFS without Java, over the client that delta-rs uses.

``core-site.xml`` and ``hdfs-site.xml`` in ``HADOOP_CONF_DIR`` configure it. The user comes from ``HADOOP_USER_NAME``,
Kerberos, or the delegation tokens that YARN gives to its containers.

A file of a table is fetched whole before Arrow reads it: Arrow reads ahead in threads of its own, and a thread that
frees Python's bytes while the interpreter exits would crash the process.
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
"""The NameNode's name of a permission error."""


@contextmanager
def as_os_errors() -> Iterator[None]:
    """Raise errors of a NameNode or DataNode as a one-line :class:`OSError`, without Java's stack trace."""
    try:
        yield
    except RuntimeError as error:
        text = str(error).split("\\n")[0].split("\n")[0]
        raise (PermissionError if DENIED in text else OSError)(text) from error


class Stream(io.RawIOBase):
    """A readable stream over an open HDFS file."""

    def __init__(self, found: FileReader) -> None:
        self._found = found

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; empty at the end."""
        with as_os_errors():
            found: bytes = self._found.read(size)
            return found


def info_of(status: FileStatus) -> fs.FileInfo:
    """Convert the NameNode's status of a file or a folder to Arrow's."""
    modified = status.modification_time * 1_000_000
    if status.isdir:
        return fs.FileInfo(status.path, fs.FileType.Directory, mtime_ns=modified)
    return fs.FileInfo(status.path, fs.FileType.File, mtime_ns=modified, size=status.length)


class HdfsHandler(fs.FileSystemHandler):  # type: ignore[misc] # Arrow has no types
    """Arrow's handler for the file system at a URI such as ``hdfs://namenode:8020``; paths begin with a slash."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        with as_os_errors():
            self._client = Client(uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HdfsHandler) and self._uri == other._uri

    __hash__ = None  # type: ignore[assignment] # as Arrow wants it

    def get_type_name(self) -> str:
        """Return ``hdfs``."""
        return "hdfs"

    def normalize_path(self, path: str) -> str:
        """Return ``path`` unchanged."""
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[fs.FileInfo]:
        """Return the file info of each path."""
        return [self._at(path) for path in paths]

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        """Return the entries of a folder, recursively if the selector says so."""
        try:
            with as_os_errors():
                return [info_of(status) for status in self._client.list_status(selector.base_dir, selector.recursive)]
        except FileNotFoundError:
            if selector.allow_not_found:
                return []
            raise

    def open_input_stream(self, path: str) -> pa.NativeFile:
        """Open a file for sequential reading, in the caller's thread."""
        with as_os_errors():
            return pa.PythonFile(Stream(self._client.read(path)), mode="r")

    def open_input_file(self, path: str) -> pa.NativeFile:
        """Open a file for random access, from an unlinked local copy that lives as long as it is open."""
        with tempfile.NamedTemporaryFile(prefix="election-replay-") as copy:
            with as_os_errors():
                found = self._client.read(path)
                for chunk in found.read_range_stream(0, len(found)):
                    copy.write(chunk)
            copy.flush()
            return pa.memory_map(copy.name) if len(found) else pa.BufferReader(b"")

    def open_at(self, path: str, position: int) -> Stream:
        """Open a file for sequential reading from ``position`` (bytes); Arrow itself does not call this."""
        with as_os_errors():
            found = self._client.read(path)
            found.seek(position)
            return Stream(found)

    def delete_file(self, path: str) -> None:
        """Delete a file. Raises :class:`FileNotFoundError` if it does not exist."""
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
