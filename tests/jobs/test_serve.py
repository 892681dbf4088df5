"""``serve`` listens where only this machine can reach it, unless its clients must say who they are."""

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.serve import Endpoint


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
