"""Which files belong to which cluster and node."""

from pathlib import Path

import pytest

from election_core.dialects.streams import stream_of
from jobs import JobError
from jobs.config import Config
from jobs.listing import log_files

LAYOUT = Config().layout


def put(root: Path, path: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text("")


@pytest.mark.parametrize(
    ("name", "stream"),
    [
        ("broker.log", "broker.log"),
        ("broker.3.log.gz", "broker.log"),
        ("broker.log.12", "broker.log"),
        ("broker.log.1.zst", "broker.log"),
        ("stdout.log.bz2", "stdout.log"),
        ("zookeeper-zk-server-zk1.log-20260301.gz", "zookeeper-zk-server-zk1.log"),
        ("zookeeper.log.2026-03-01", "zookeeper.log"),
        ("broker.log.2026-03-01.3.gz", "broker.log"),
        ("broker-2026-03-01.1.log.gz", "broker.log"),
        ("etcd-2026-03-01T10-00-00.000.log.gz", "etcd.log"),
        ("etcd.log-20260301-1772359200", "etcd.log-20260301-1772359200"),
        ("0.log", "0.log"),
        ("0.log.20260301-101500.gz", "0.log"),
        ("ip-10-20-30-40.log", "ip-10-20-30-40.log"),
    ],
)
def test_a_stream_is_a_name_without_suffixes(name: str, stream: str) -> None:
    assert stream_of(name) == stream


@pytest.mark.parametrize("below", [".", "2026/03", "a/b/c/d"])
def test_clusters_are_found_below_any_folders(tmp_path: Path, below: str) -> None:
    put(tmp_path, f"{below}/c1/nodes/n1/logs/x/broker.log")
    (file,) = log_files(str(tmp_path), LAYOUT)
    assert (file.cluster, file.source_node, file.stream) == ("c1", "n1", "broker.log")


def test_the_landing_may_be_the_clusters_own_folder(tmp_path: Path) -> None:
    put(tmp_path, "c1/nodes/n1/logs/broker.log")
    (file,) = log_files(str(tmp_path / "c1"), LAYOUT)
    assert file.cluster == "c1"


def test_two_folders_of_one_name_are_refused_by_name(tmp_path: Path) -> None:
    put(tmp_path, "east/c1/nodes/n1/logs/broker.log")
    put(tmp_path, "west/c1/nodes/n1/logs/broker.log")
    with pytest.raises(JobError, match=r"c1: .*east/c1 and .*west/c1"):
        log_files(str(tmp_path), LAYOUT)


@pytest.mark.parametrize("layout", ["{node}/logs/**", "{cluster}/{node}", "{cluster}/{cluster}/{node}/**"])
def test_a_bad_layout_is_refused(tmp_path: Path, layout: str) -> None:
    with pytest.raises(JobError, match="layout"):
        log_files(str(tmp_path), layout)


def test_a_landing_without_logs_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "c1/nodes/n1/metadata/broker.log")
    with pytest.raises(JobError, match="no log file"):
        log_files(str(tmp_path), LAYOUT)


def test_a_missing_landing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no landing zone"):
        log_files(str(tmp_path / "nix"), LAYOUT)
