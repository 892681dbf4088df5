"""Which files belong to which cluster and node."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from election_replay.election_core.model.streams import stream_of
from election_replay.jobs import JobError
from election_replay.jobs.landing.landing_zone import Skipped, StoredZone
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config
from tests.jobs.zone import Zone, leads, noise, rows_of

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
        ("etcd.log-20260301-1772359200", "etcd.log"),
        ("broker.log-1772359200.gz", "broker.log"),
        ("broker.log-2026030110", "broker.log"),
        ("broker.log.20260301100000", "broker.log"),
        ("broker.log.bak", "broker.log"),
        ("broker.3.log.gz.part", "broker.log"),
        (".broker.log.Ab12xZ", "broker.log"),
        ("broker.log-12345", "broker.log-12345"),
        ("broker.log-20240101-1700000000.gz", "broker.log"),
        ("broker.2024-01-01.12.log", "broker.log"),
        ("broker.log_20240101", "broker.log"),
        ("broker_2024-01-01.log", "broker.log"),
        ("2024-01-01-broker.log", "broker.log"),
        ("broker.log.bak.20240101", "broker.log"),
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


def listed(root: Path) -> tuple[list[str], dict[str, tuple[str, bool]]]:
    """The paths of all log files, and what was passed over: path -> reason, harmless."""
    skipped: list[Skipped] = []
    files = log_files(str(root), LAYOUT, Config().metadata_layout, skipped.append)
    return [file.path for file in files], {one.path: (one.reason, one.harmless) for one in skipped}


HEALTHY = "c1/nodes/n1/logs/broker.log"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (b"latin\xe9/nodes/n1/logs/broker.log", "latin\\xe9"),
        (b"c2/nodes/n\xff/logs/broker.log", "c2/nodes/n\\xff"),
        (b"c2/nodes/n1/logs/br\xc3.log", "c2/nodes/n1/logs/br\\xc3.log"),
    ],
)
def test_a_name_that_is_no_text_is_told_and_stops_nobody(tmp_path: Path, name: bytes, told: str) -> None:
    put(tmp_path, HEALTHY)
    put(tmp_path, os.fsdecode(name))
    found, skipped = listed(tmp_path)
    assert found == [HEALTHY]
    assert list(skipped) == [told]
    assert not skipped[told][1]
    assert told.isprintable()


def test_a_stray_name_that_is_no_text_is_told_though_nothing_is_missed_by_it(tmp_path: Path) -> None:
    put(tmp_path, HEALTHY)
    put(tmp_path, os.fsdecode(b"st\xe9ray"))
    assert listed(tmp_path) == ([HEALTHY], {"st\\xe9ray": ("its name is no UTF-8", True)})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_folder_that_cannot_be_listed_is_told_and_stops_nobody(tmp_path: Path) -> None:
    put(tmp_path, HEALTHY)
    put(tmp_path, "c2/nodes/n1/logs/broker.log")
    put(tmp_path, "lost+found/x")
    for name in ("c2/nodes", "lost+found"):
        (tmp_path / name).chmod(0)
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o055)
    os.seteuid(65534)
    try:
        found, skipped = listed(tmp_path)
    finally:
        os.seteuid(0)
    assert found == [HEALTHY]
    why = ("the folder cannot be listed: Permission denied", False)
    assert skipped == {"c2/nodes": why, "lost+found": why}


def test_a_store_that_does_not_list_a_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Object stores are listed by Arrow."""
    put(tmp_path, HEALTHY)
    put(tmp_path, "c2/nodes/n1/logs/broker.log")

    class Failing(fs.LocalFileSystem):
        def get_file_info(self, asked: fs.FileSelector) -> list[fs.FileInfo]:
            if asked.base_dir.endswith("/c2"):
                raise OSError("AWS Error ACCESS_DENIED during ListObjectsV2\nmore")
            return list(super().get_file_info(asked))

    monkeypatch.setattr(
        "election_replay.jobs.landing.listing.open_landing", lambda _: StoredZone(Failing(), str(tmp_path))
    )
    found, skipped = listed(tmp_path)
    assert found == [HEALTHY]
    assert list(skipped.values()) == [
        ("the folder cannot be listed: AWS Error ACCESS_DENIED during ListObjectsV2", False)
    ]


@pytest.fixture
def nested(tmp_path: Path) -> Iterator[Callable[[str, int], None]]:
    """Makes folders of one name inside one another; removes them, as Python's own way to do that recurses."""

    def make(name: str, depth: int) -> None:
        deep = os.open(tmp_path, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=deep)
            deeper = os.open(name, os.O_RDONLY, dir_fd=deep)
            os.close(deep)
            deep = deeper
        os.close(deep)

    yield make
    subprocess.run(["/bin/rm", "-rf", tmp_path], check=True)


@pytest.mark.parametrize(("name", "depth", "told"), [("n", 1500, []), ("d" * 250, 20, ["File name too long"])])
def test_folders_may_be_nested_as_deep_as_paths_go(
    tmp_path: Path, nested: Callable[[str, int], None], name: str, depth: int, told: list[str]
) -> None:
    put(tmp_path, HEALTHY)
    nested(name, depth)
    found, skipped = listed(tmp_path)
    assert found == [HEALTHY]
    assert [reason for reason, _ in skipped.values()] == [f"the folder cannot be listed: {why}" for why in told]


def test_links_are_told_and_never_followed(tmp_path: Path) -> None:
    """Those that lead to what is landed anyway cost nothing; of these, links to files are not worth a word."""
    zone, outside = tmp_path / "zone", tmp_path / "outside"
    put(zone, HEALTHY)
    put(outside, "c2/nodes/n1/logs/broker.log")
    put(zone, "other/store/broker.log")
    logs = zone / "c1/nodes/n1/logs"
    for link, target in {
        "c2": outside / "c2",
        "c1/nodes/n2": outside / "c2/nodes/n1",
        "c1/nodes/n3/logs": zone / "other/store",
        "c1/nodes/n1/logs/passwd.log": Path("/etc/passwd"),
        "c1/nodes/n1/logs/gone.log": outside / "gone",
        "c1/nodes/n1/logs/current.log": logs / "broker.log",
        "c1/nodes/n1/logs/loop": logs / "..",
        "latest": zone / "c1",
        "stray": Path("/etc/passwd"),
    }.items():
        (zone / link).parent.mkdir(parents=True, exist_ok=True)
        (zone / link).symlink_to(target)
    (zone / "self").symlink_to(zone / "self")
    (zone / "unmounted").symlink_to(outside / "unmounted")
    os.mkfifo(logs / "pipe.log")
    found, skipped = listed(zone)
    assert found == [HEALTHY]
    assert {path: harmless for path, (_, harmless) in skipped.items()} == {
        "c2": False,
        "c1/nodes/n2": False,
        "c1/nodes/n3/logs": False,
        "c1/nodes/n1/logs/passwd.log": False,
        "c1/nodes/n1/logs/gone.log": False,
        "self": False,
        "unmounted": False,
        "c1/nodes/n1/logs/loop": True,
        "latest": True,
    }
    assert skipped["c2"][0] == f"a link, not followed, to {outside / 'c2'}"


def test_a_zone_of_which_nothing_can_be_listed_says_what_is_in_the_way(tmp_path: Path) -> None:
    put(tmp_path, os.fsdecode(b"c\xe9/nodes/n1/logs/broker.log"))
    with pytest.raises(JobError, match=r"no log file .*; passed over: c\\xe9 \(the folder's name is no UTF-8\)"):
        log_files(str(tmp_path), LAYOUT)


@pytest.mark.parametrize("swapped", ["broker.log", "logs", "n1"])
@pytest.mark.parametrize("when", ["head", "tail"])
def test_a_link_that_took_the_place_of_a_listed_file_or_folder_is_not_followed(
    zone: Zone, tmp_path: Path, swapped: str, when: str
) -> None:
    secret = tmp_path / "secret" / "nodes" / "n1" / "logs" / "broker.log"
    secret.parent.mkdir(parents=True)
    secret.write_text(leads(0) * 100)
    zone.write("broker.log", leads(0) + noise(1))
    zone.write("store.log", leads(1))
    files = log_files(str(zone.root), LAYOUT)
    place = {"broker.log": zone.logs / "broker.log", "logs": zone.logs, "n1": zone.logs.parent}[swapped]
    target = {"broker.log": secret, "logs": secret.parent, "n1": secret.parent.parent}[swapped]
    tasks = tasks_of(files, NOTHING_LANDED, str(zone.root), Config(), 1) if when == "tail" else []
    place.rename(tmp_path / "aside")
    place.symlink_to(target)
    tasks = tasks or tasks_of(files, NOTHING_LANDED, str(zone.root), Config(), 1)
    rows = [row for task in tasks for table, row in rows_of(task, zone.root) if table == "landed_files"]
    told = {row["stream"]: (row["status"], row["lines_total"]) for row in rows}
    assert told["broker.log"] == ("not_read", 0)


def test_a_pipe_that_took_the_place_of_a_file_is_not_waited_for(zone: Zone) -> None:
    path = zone.write("broker.log", leads(0))
    files = log_files(str(zone.root), LAYOUT)
    path.unlink()
    os.mkfifo(path)
    [task] = tasks_of(files, NOTHING_LANDED, str(zone.root), Config(), 1)
    assert "is no file any more" in (task.problem or "")
