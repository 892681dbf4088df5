"""Paths of local folders and object stores, in the scheme that each library expects.

A user's path may be a folder or a URI: ``hdfs://``, ``s3a://``, ``s3://``, ``abfss://``, ``abfs://``, ``gs://``. Spark
and Hadoop say ``s3a``, Arrow says ``s3``, and delta-rs takes both. Credentials come from the environment
(``HADOOP_...``, ``AWS_...``, ``AZURE_...``, ``GOOGLE_...``) and, for Spark, from its settings.
"""

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyarrow import fs

from election_replay.jobs import JobError

COMMIT = re.compile(r"\d{20}\.json")
"""The name of a commit in Delta's log."""

MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|[\\\[\]^|\x00-\x1f\x7f\ud800-\udfff]")
"""Characters of a path, or of a ``file://`` URI, that delta-rs does not take literally.

It resolves all links first. Then its kernel decodes ``%20`` twice and reads a backslash as a slash, its object_store
refuses control characters, its DataFusion panics at ``[ ] ^ |``, and Python cannot pass it a path that is not UTF-8.
"""


def absolute(path: str) -> str:
    """Return an absolute path; URIs are returned unchanged."""
    return path if is_uri(path) else str(Path(path).absolute())


def is_uri(path: str) -> bool:
    """Return True if ``path`` is a URI, not a local folder."""
    return "://" in path


def empty_commits(location: str) -> list[str]:
    """Return the names of empty commit files of a local table: Delta takes them for commits that changed nothing."""
    if is_uri(location):
        return []
    with os.scandir(f"{location}/_delta_log") as entries:
        return sorted(entry.name for entry in entries if COMMIT.fullmatch(entry.name) and not entry.stat().st_size)


def path_for_delta_rs(root: str) -> str:
    """Return a name of the folder that delta-rs takes literally: ``root``, or the path to which its links lead.

    Raises :class:`JobError` if there is none: delta-rs would write to another folder, or fail.
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
    """Return ``path`` in the form of Spark, Hadoop and Delta, without a trailing slash."""
    scheme, found, rest = path.partition("://")
    if not found:
        return absolute(path)
    return f"{'s3a' if scheme == 's3' else scheme}://{rest.rstrip('/')}"


def for_arrow(path: str) -> str:
    """Return ``path`` in the form of Arrow's file systems."""
    scheme, found, rest = path.partition("://")
    return f"s3://{rest}" if found and scheme == "s3a" else absolute(path)


def file_system(path: str) -> tuple[fs.FileSystem, str]:
    """Return Arrow's file system for ``path``, and the path within it.

    Raises :class:`~jobs.JobError` if ``hdfs://`` is asked for and its client is not installed.
    """
    place = for_arrow(path)
    if not place.startswith("hdfs://"):
        system, root = fs.FileSystem.from_uri(place)
        return system, root
    os.environ.setdefault("RUST_LOG", "error")  # the client logs a line each time a DataNode does not answer
    try:
        from election_replay.jobs.warehouse.hdfs import HdfsHandler
    except ModuleNotFoundError as error:
        raise JobError(f"{error.name} is not installed: pip install 'election-replay[hdfs]'") from None
    adopt_spark_user()
    parts = urlsplit(place)
    return fs.PyFileSystem(HdfsHandler(f"hdfs://{parts.netloc}")), parts.path.rstrip("/") or "/"


def opened_at(system: fs.FileSystem, path: str, position: int) -> Any:
    """Open a file for reading from ``position`` (bytes); on HDFS by its own client, as Arrow would fetch it whole."""
    if open_at := getattr(getattr(system, "handler", None), "open_at", None):
        return open_at(path, position)
    file = system.open_input_file(path)
    file.seek(position)
    return file


def adopt_spark_user() -> None:
    """Access HDFS as the user who submitted the Spark job, where Spark started this process.

    YARN may run a container under another user of the machine; Spark's JVM in it already acts for the submitter. With
    Kerberos, tokens count and names do not.
    """
    if user := os.environ.get("SPARK_USER"):
        os.environ.setdefault("HADOOP_USER_NAME", user)
