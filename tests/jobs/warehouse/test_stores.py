"""Paths of object stores are accepted wherever a path is, and each library gets them by the scheme that it knows."""

from pathlib import Path

import pytest
from pyarrow import fs

from jobs.warehouse.stores import for_arrow, for_spark
from jobs.warehouse.warehouse import Warehouse


@pytest.mark.parametrize(
    ("path", "spark", "arrow"),
    [
        ("s3://b/w", "s3a://b/w", "s3://b/w"),
        ("s3a://b/w/", "s3a://b/w", "s3://b/w/"),
        ("gs://b/w", "gs://b/w", "gs://b/w"),
        ("abfss://c@account.dfs.core.windows.net/w", *(["abfss://c@account.dfs.core.windows.net/w"] * 2)),
        (
            "abfs://c@a.dfs.core.windows.net/w/",
            "abfs://c@a.dfs.core.windows.net/w",
            "abfs://c@a.dfs.core.windows.net/w/",
        ),
    ],
)
def test_each_library_gets_its_scheme(path: str, spark: str, arrow: str) -> None:
    assert (for_spark(path), for_arrow(path)) == (spark, arrow)
    assert Warehouse(path).location("terms") == f"{spark}/gold/terms"


def test_folders_are_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert for_spark("w/") == for_arrow("w") == str(tmp_path / "w")


@pytest.mark.parametrize("path", ["gs://bucket/logs", "abfss://c@account.dfs.core.windows.net/logs"])
def test_arrow_knows_these(path: str) -> None:
    system, root = fs.FileSystem.from_uri(for_arrow(path))
    assert root.endswith("/logs")
    assert not isinstance(system, fs.LocalFileSystem)
