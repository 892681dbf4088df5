"""Paths of object stores are accepted wherever a path is, and each library gets them by the scheme that it knows."""

import os
import sys
from pathlib import Path

import pytest
from pyarrow import fs

from election_replay.jobs import JobError
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.warehouse.stores import adopt_spark_user, for_arrow, for_spark
from election_replay.jobs.warehouse.warehouse import Warehouse


@pytest.mark.parametrize(
    ("path", "spark", "arrow"),
    [
        ("s3://b/w", "s3a://b/w", "s3://b/w"),
        ("s3a://b/w/", "s3a://b/w", "s3://b/w/"),
        ("hdfs://namenode:8020/w/", "hdfs://namenode:8020/w", "hdfs://namenode:8020/w/"),
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


def test_a_namenode_that_does_not_answer_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("hdfs_native")
    once = "<property><name>dfs.client.failover.max.attempts</name><value>0</value></property>"
    (tmp_path / "hdfs-site.xml").write_text(f"<configuration>{once}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    with pytest.raises(JobError, match=r"cannot open the landing zone hdfs://127\.0\.0\.1:1/logs: Connection refused"):
        open_landing("hdfs://127.0.0.1:1/logs")


def test_without_its_extra_hdfs_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    monkeypatch.delitem(sys.modules, "election_replay.jobs.warehouse.hdfs", raising=False)
    with pytest.raises(JobError, match=r"hdfs_native is not installed: pip install 'election-replay\[hdfs\]'"):
        open_landing("hdfs://namenode:8020/logs")


def test_a_process_of_spark_acts_on_hdfs_for_who_submitted_unless_it_is_told_another_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HADOOP_USER_NAME", "")
    monkeypatch.delenv("HADOOP_USER_NAME")
    monkeypatch.setenv("SPARK_USER", "lander")
    adopt_spark_user()
    assert os.environ["HADOOP_USER_NAME"] == "lander"
    monkeypatch.setenv("SPARK_USER", "judge")
    adopt_spark_user()
    assert os.environ["HADOOP_USER_NAME"] == "lander"
