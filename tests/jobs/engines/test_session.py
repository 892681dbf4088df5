"""Java is looked for before Spark is, and its absence is said in one sentence."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.conf import SparkConf

from election_replay.jobs import JobError
from election_replay.jobs.engines.spark_session import ON_ONE_MACHINE, java_version, require_java, settings


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("command not found", None),
    ],
)
def test_the_version_is_read(said: str, version: int | None) -> None:
    assert java_version(said) == version


def test_no_java_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(JobError, match="no Java on this machine: install a JDK 17"):
        require_java()


def test_old_java_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JobError, match="is Java 11: install a JDK 17"):
        require_java()


def test_a_cluster_is_not_held_up_by_what_suits_one_machine() -> None:
    laptop, cluster = (settings(master, None, SparkConf(False)) for master in ("local[4]", "yarn"))
    assert laptop.items() >= ON_ONE_MACHINE.items()
    assert not ON_ONE_MACHINE.keys() & cluster.keys()
    assert laptop.items() >= cluster.items()
    asked = settings("yarn", 640, SparkConf(False))
    assert asked["spark.sql.shuffle.partitions"] == "640"
    assert settings("local", 5, SparkConf(False))["spark.sql.shuffle.partitions"] == "5"
    profile = SparkConf(False).set("spark.sql.shuffle.partitions", "64").set("spark.ui.enabled", "true")
    configured = settings("local[4]", 5, profile)
    assert (configured["spark.sql.shuffle.partitions"], configured["spark.ui.enabled"]) == ("64", "true")


@pytest.mark.slow
def test_jars_that_cannot_be_fetched_are_told(tmp_path: Path) -> None:
    """A home without jars, and no way to the Maven repository."""
    nowhere = " ".join(f"-D{one}.proxyHost=127.0.0.1 -D{one}.proxyPort=1" for one in ("http", "https"))
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from election_replay.jobs.engines.spark_session import spark_session; spark_session('x', quiet=True)",
        ],
        env={**os.environ, "HOME": str(tmp_path), "JDK_JAVA_OPTIONS": f"-Duser.home={tmp_path} {nowhere}"},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    said = done.stderr.splitlines()[-1]
    assert said.startswith("election_replay.jobs.JobError: Spark did not start: the jars of io.delta:delta-spark_")
    assert f"{tmp_path}/.ivy2" in said
    assert "could not be fetched from the Maven repository (java.net.ConnectException: Connection refused)" in said
    assert "://" not in said
    assert "UNRESOLVED" not in done.stderr


@pytest.mark.slow
def test_what_spark_submit_is_told_counts(tmp_path: Path) -> None:
    script = tmp_path / "job.py"
    script.write_text(
        "from election_replay.jobs.engines.spark_session import spark_session\n"
        "spark = spark_session('job', master='local[3]', shuffle_partitions=8)\n"
        "print(spark.sparkContext.master, spark.conf.get('spark.sql.shuffle.partitions'))\n"
    )
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    given = ("--master", "local[1]", "--conf", "spark.sql.shuffle.partitions=5")
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [submit, *given, script],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "local[1] 5" in done.stdout.splitlines(), done.stderr[-2000:]
