"""Paths: local folders, and object stores by the scheme that each library knows them by.

A path of the user may be a folder or a URI: ``s3a://``, ``s3://``, ``abfss://``, ``abfs://``, ``gs://``. Spark and
Hadoop say ``s3a``, Arrow says ``s3``, and Delta's own reader takes both. Who may read and write is said in the
environment (``AWS_...``, ``AZURE_...``, ``GOOGLE_...``) and, for Spark, in its settings.
"""

from pathlib import Path


def absolute(path: str) -> str:
    """A folder by a name that holds on every machine and in every working directory; URIs stay as they are."""
    return path if is_uri(path) else str(Path(path).absolute())


def is_uri(path: str) -> bool:
    """Whether a path names an object store or another file system, and no local folder."""
    return "://" in path


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
