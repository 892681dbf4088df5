"""Paths: local folders, and object stores by the scheme that each library knows them by.

A path of the user may be a folder or a URI: ``hdfs://``, ``s3a://``, ``s3://``, ``abfss://``, ``abfs://``, ``gs://``.
Spark and Hadoop say ``s3a``, Arrow says ``s3``, and Delta's own reader takes both. Who may read and write is said in
the environment (``HADOOP_...``, ``AWS_...``, ``AZURE_...``, ``GOOGLE_...``) and, for Spark, in its settings.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

from election_replay.jobs import JobError

COMMIT = re.compile(r"\d{20}\.json")
"""How the files of Delta's log are called."""

MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|\x00-\x1f\x7f\ud800-\udfff]")
"""What delta-rs does not take word for word in a path, nor in a ``file://`` URI, of which it makes the path again.

It follows all links first. Then its kernel decodes ``%20`` twice and reads a backslash as a slash, its object_store
refuses control characters, its DataFusion ends in a panic at ``[ ] ^ |``, and Python cannot hand it what is no UTF-8.
"""


def absolute(path: str) -> str:
    """A folder by a name that holds on every machine and in every working directory; URIs stay as they are."""
    return path if is_uri(path) else str(Path(path).absolute())


def is_uri(path: str) -> bool:
    """Whether a path names an object store or another file system, and no local folder."""
    return "://" in path


def empty_commits(location: str) -> list[str]:
    """The commits of a local table that hold nothing: Delta takes them for commits that changed nothing."""
    if is_uri(location):
        return []
    with os.scandir(f"{location}/_delta_log") as entries:
        return sorted(entry.name for entry in entries if COMMIT.fullmatch(entry.name) and not entry.stat().st_size)


def as_deltas_library_reads_it(root: str) -> str:
    """A folder by a name that delta-rs takes word for word: its own, or that of the one to which a link leads.

    Raises :class:`JobError` where it would take it for another one, and write there, or for none.
    """
    if is_uri(root):
        return root
    place = os.path.realpath(root)
    if found := MISREAD.search(place):
        raise JobError(
            f"the tables would lie at {place!r}, and delta-rs, the library that reads and writes them, does not take "
            f"{found[0]!r} in a path as it stands. Give a folder without % before two digits, \\ [ ] ^ | and control "
            "characters; a link to such a folder may have any name"
        )
    return place if MISREAD.search(root) else root


def for_spark(path: str) -> str:
    """A path as Spark, Hadoop and Delta know it, without a slash at its end."""
    scheme, found, rest = path.partition("://")
    if not found:
        return absolute(path)
    return f"{'s3a' if scheme == 's3' else scheme}://{rest.rstrip('/')}"


def for_arrow(path: str) -> str:
    """A path as Arrow's file systems know it."""
    scheme, found, rest = path.partition("://")
    return f"s3://{rest}" if found and scheme == "s3a" else absolute(path)


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """The file system of Arrow on which a path lies, and the path there.

    Raises :class:`~jobs.JobError` where what it takes is not installed.
    """
    place = for_arrow(path)
    if not place.startswith("hdfs://"):
        system, root = fs.FileSystem.from_uri(place)
        return system, root
    os.environ.setdefault(
        "RUST_LOG", "error"
    )  # its client tells of each DataNode that does not answer, a line each time
    try:
        from election_replay.jobs.warehouse.hdfs import HdfsHandler
    except ModuleNotFoundError as error:
        raise JobError(f"{error.name} is not installed: pip install 'election-replay[hdfs]'") from None
    act_for_spark()
    parts = urlsplit(place)
    return fs.PyFileSystem(HdfsHandler(f"hdfs://{parts.netloc}")), parts.path.rstrip("/") or "/"


def opened_at(system: fs.FileSystem, path: str, position: int) -> Any:
    """A file's bytes from a position on. HDFS gives them so by itself; as a file of Arrow it would be fetched whole."""
    if open_at := getattr(getattr(system, "handler", None), "open_at", None):
        return open_at(path, position)
    file = system.open_input_file(path)
    file.seek(position)
    return file


def act_for_spark() -> None:
    """Let HDFS know this process as the user whose job it is, where Spark started it.

    Containers of YARN run as one user of the machine or as another; Spark's own part of them speaks for who submitted.
    Where Kerberos is in use, tokens count and names do not.
    """
    if user := os.environ.get("SPARK_USER"):
        os.environ.setdefault("HADOOP_USER_NAME", user)
