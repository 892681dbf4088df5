"""What a line says of the release that wrote it, and which releases are known."""

import pytest

from election_replay.election_core.fold.versions import KNOWN, ReleaseClaim, range_of, release_claim
from election_replay.election_core.model.fold_event import FoldEvent


def said(kind: str, value: str | None, setting: str | None = None) -> ReleaseClaim | None:
    return release_claim(FoldEvent("e", "x.log", kind, 0, 0, setting=setting, value=value))


@pytest.mark.parametrize(
    ("kind", "value", "release", "known"),
    [
        ("ZK_VERSION", "3.8.4-9316c2a7a97e1666d8f4593f34dd6fc36ecc436c, built on 2024-02-12 22:16 UTC", "3.8.4", True),
        ("ZK_VERSION", "3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC", "3.8.0", True),
        ("ZK_VERSION", "3.4.0-1, built on 2011", "3.4.0", True),
        ("ZK_VERSION", "3.3.6-1366786, built on 2012", "3.3.6", False),
        ("ZK_VERSION", "3.10.0-SNAPSHOT", "3.10.0", False),
        ("ETCD_BOOT", "3.5.17", "3.5.17", True),
        ("ETCD_SERVER_STARTS", "3.6.0-alpha.0", "3.6.0", True),
        ("ETCD_SERVER_STARTS", "3.8.0-alpha.0", "3.8.0", False),
        ("ETCD_VERSION", "2.3.8", "2.3.8", False),
        ("NET_ANSWER_LOST", "479", "5.3.3", True),
        ("NET_ANSWER_LOST", "407", "4.9.7", True),
        ("NET_ANSWER_LOST", "412", "5.0.0", True),
        ("NET_ANSWER_LOST", "441", "5.1.4", True),
        ("NET_ANSWER_LOST", "391", "4.8.9", True),
        ("NET_ANSWER_LOST", "313", "4.5.0", True),
        ("NET_ANSWER_LOST", "311", "before 4.5", False),
        ("NET_ANSWER_LOST", "493", "5.4.0", True),
        ("NET_ANSWER_LOST", "533", "5.6.0", False),
        ("NET_ANSWER_LOST", "612", "6.0 or later", False),
    ],
)
def test_a_release_is_read_and_known_or_not(kind: str, value: str, release: str, known: bool) -> None:
    found = said(kind, value)
    assert found is not None
    assert (found.release, found.known) == (release, known)


@pytest.mark.parametrize(
    ("home", "release"),
    [
        ("/opt/rocketmq-all-5.3.3-bin-release", "5.3.3"),
        ("/home/rocketmq/rocketmq-4.9.7", "4.9.7"),
        ("/home/rocketmq/rocketmq-4.9.7/broker-a", "4.9.7"),
        ("/home/rocketmq", None),
        ("/opt/1.2.3/rocketmq", None),
        ("/opt/rocketmq/jdk-17.0.1", None),
    ],
)
def test_the_home_of_rocketmq_names_its_release_where_its_folder_does(home: str, release: str | None) -> None:
    found = said("CFG_ITEM", home, "rocketmqHome")
    assert (found.release if found else None) == release
    assert said("CFG_ITEM", home, "storePathRootDir") is None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("NET_ANSWER_LOST", "0"),
        ("NET_ANSWER_LOST", "9" * 5000),
        ("NET_ANSWER_LOST", "four"),
        ("NET_ANSWER_LOST", None),
        ("ZK_VERSION", "${project.version}"),
        ("ETCD_BOOT", ""),
        ("TICK", "3.5.17"),
    ],
)
def test_what_says_no_release_says_none(kind: str, value: str | None) -> None:
    assert said(kind, value) is None


def test_known_releases_read_as_a_range() -> None:
    described = {"Described programs"}  # a table of the settings: no line of theirs says a release
    assert {system: range_of(system) for system in KNOWN.keys() - described} == {
        "HashiCorp Raft": "1.0 to 1.8",
        "Kafka": "3.3 to 4.3",
        "Redis": "6.2 to 9.1",
        "RocketMQ": "4.5 to 5.5",
        "ZooKeeper": "3.4 to 3.9",
        "etcd": "3.3 to 3.7",
    }
