"""``serve`` listens where only this machine can reach it, unless its clients must say who they are."""

import os
from importlib.metadata import version
from pathlib import Path

import pytest
from pyspark.conf import SparkConf

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.delta_jars import brought
from election_replay.jobs.serve import Endpoint, home, tasks_apart


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_may_be_listened_on(host: str) -> None:
    endpoint = Endpoint(host, 10000)
    assert endpoint.settings["spark.hadoop.hive.server2.thrift.bind.host"] == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.7", "localhost.example.com", "", "127.0.0.1.example.com"])  # noqa: S104
@pytest.mark.parametrize("authentication", [None, "NONE", "nosasl", ""])
def test_others_are_refused_when_nobody_has_to_say_who_they_are(
    host: str, authentication: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, authentication)
    with pytest.raises(JobError, match="without authentication"):
        Endpoint(host, 10000)


def test_others_are_welcome_when_they_say_who_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    configure(monkeypatch, "LDAP")
    assert Endpoint("10.0.0.7", 10000).url == "jdbc:hive2://10.0.0.7:10000/election_replay"


def configure(monkeypatch: pytest.MonkeyPatch, authentication: str | None) -> None:
    """Spark's configuration, as spark-defaults.conf would set it."""
    known = {} if authentication is None else {"spark.hadoop.hive.server2.authentication": authentication}

    class Configured:
        def get(self, key: str, default: str) -> str:
            return known.get(key, default)

    monkeypatch.setattr("election_replay.jobs.serve.SparkConf", Configured)


def test_a_refusal_is_one_line_that_comes_before_spark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--warehouse", "nix", "--host", "10.0.0.7"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: refused to listen on 10.0.0.7 without authentication")
    assert error.count("\n") == 1
    assert main(["serve", "--warehouse", "nix"]) == 1
    assert "nothing is published" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("master", "apart"),
    [
        ("local", "local-cluster[2,1,"),
        ("local[1]", "local-cluster[2,1,"),
        ("local[3]", "local-cluster[3,1,"),
        ("local[3,2]", "local-cluster[3,1,"),
        ("local[8]", "local-cluster[8,1,"),
        ("local[*]", "local-cluster[4,1,"),
        ("yarn", "yarn"),
        ("spark://host:7077", "spark://host:7077"),
    ],
)
def test_tasks_have_processes_of_their_own_on_one_machine(
    master: str, apart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr("election_replay.jobs.serve.master_of", lambda chosen: chosen)  # a session of other tests is up
    assert str(tasks_apart(master)).startswith(apart)


def test_what_one_client_may_take_is_bounded() -> None:
    settings = Endpoint("127.0.0.1", 10000, 60).settings
    assert settings["spark.sql.thriftServer.queryTimeout"] == "60"
    assert settings["spark.executor.cores"] == "1"
    assert settings["spark.task.reaper.enabled"] == "true"
    assert settings["spark.sql.thriftServer.incrementalCollect"] == "true"


def test_the_home_of_spark_is_put_back_and_its_links_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with home():
        folder = Path(os.environ["SPARK_HOME"])
        assert (folder / "bin" / "spark-class").exists()
        assert not (folder / "work").exists()
    assert not folder.exists()
    assert "SPARK_HOME" not in os.environ


def test_jars_that_are_at_hand_need_no_session_of_their_own(tmp_path: Path) -> None:
    delta = version("delta-spark")
    configured = SparkConf(loadDefaults=False).set("spark.jars.ivy", str(tmp_path))
    (tmp_path / "jars").mkdir()

    def found(*more: str) -> list[str]:
        for name in more:
            (tmp_path / "jars" / name).touch()
        return [Path(jar).name for jar in brought(configured)]

    spark, storage = f"io.delta_delta-spark_4.1_2.13-{delta}.jar", f"io.delta_delta-storage-{delta}.jar"
    assert found() == found(spark) == found("io.delta_delta-spark_4.1_2.13-0.0.1.jar", "other.jar") == []
    assert found(storage) == [spark, storage]
    assert found(f"io.delta_delta-spark_4.0_2.13-{delta}.jar") == []
