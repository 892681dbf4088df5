"""A folder of logs as somebody mailed it: whose files they are taken for, and the same verdict in any layout."""

import gzip
import json
import os
import re
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from election_replay.jobs import JobError
from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.duckdb_rows import folder_of_process
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.landing.as_written import MEMBERS, SORTED
from election_replay.jobs.landing.as_written import SEPARATE as OF_REDIS
from election_replay.jobs.landing.inferred_layout import infer_layout
from election_replay.jobs.landing.regrouping import TOGETHER, clusters_in
from election_replay.jobs.look import Looked, look
from election_replay.jobs.reading.published import Published
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas.landed_files import NOT_UNDERSTOOD
from tests.jobs.zone import leads, noise
from tests.proving import amount

RUNS = (
    "rocketmq-dledger/old-copy-497",
    "etcd/kill-leader-34",
    "zookeeper/kill-leader-384",
    "kafka-kraft/isolate-active",
)
SMALL_CONTROLLERS = "rocketmq-controller/master-killed-5.2.0"


@pytest.fixture
def local() -> Iterator[LocalEngine]:
    with closing(LocalEngine()) as engine:
        yield engine


def told(local: LocalEngine, folder: Path, scratch: Path) -> tuple[Looked, list[str]]:
    """What a look came to, and what it says of roles and findings, whatever files and nodes are called."""
    warehouse = Warehouse(str(scratch / "warehouse"))
    done = look(local, str(folder), warehouse, Config(), scratch / "scratch")
    published = Published(warehouse)
    roles = published.rows(
        "SELECT replica_group, node, role, term, start_time, end_time FROM role_intervals WHERE source_node IS NOT NULL"
    )
    findings = published.rows("SELECT replica_group, rule, severity, certainty, terms, start_time FROM findings")
    return done, sorted(json.dumps(row, default=str) for row in [*roles, *findings])


def logs_of(run: Path) -> list[tuple[str, Path]]:
    """The logs of interest of a run, each with its node."""
    nodes = sorted((run / "nodes").iterdir())
    every = [(node.name, path) for node in nodes for path in sorted((node / "logs").rglob("*")) if path.is_file()]
    return [(node, path) for node, path in every if path.name not in ("stdout.log", "stderr.log")]


def as_laid_out(run: Path, to: Path) -> None:
    """The layout of the pipeline: a cluster's folder with nodes and logs."""
    shutil.copytree(run / "nodes", to / "nodes", ignore=shutil.ignore_patterns("metadata"))


def folder_a_node(run: Path, to: Path) -> None:
    """A folder a node, and all logs in it."""
    for node, path in logs_of(run):
        target = to / "incident" / node / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def flat(run: Path, to: Path) -> None:
    """All files side by side, the node in front of each name."""
    to.mkdir()
    for node, path in logs_of(run):
        shutil.copy(path, to / f"{node}-{path.name}")


def an_archive_a_node(run: Path, to: Path) -> None:
    """An archive a node, of either kind."""
    to.mkdir()
    for number, node in enumerate(sorted(path.name for path in (run / "nodes").iterdir())):
        own = [path for name, path in logs_of(run) if name == node]
        if number % 2:
            with zipfile.ZipFile(to / f"{node}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
                for path in own:
                    packed.writestr(f"var/log/{path.name}", path.read_bytes())
        else:
            with tarfile.open(to / f"{node}.tar.gz", "w:gz") as packed:
                for path in own:
                    packed.add(path, f"logs/{path.name}")


LAYOUTS: tuple[Callable[[Path, Path], None], ...] = (folder_a_node, flat, an_archive_a_node)
LAYOUTS_OF = dict(zip(RUNS, amount([[one] for one in (flat, *LAYOUTS)], [LAYOUTS] * 4), strict=True))


@pytest.mark.parametrize("run", RUNS)
def test_the_verdict_does_not_depend_on_the_layout(run: str, local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    as_laid_out(corpora / run, tmp_path / "laid-out" / "mailed")
    done, wanted = told(local, tmp_path / "laid-out", tmp_path / "w0")
    nodes = {one.node for one in done.assumed}
    assert len(wanted) > 5
    for layout in LAYOUTS_OF[run]:
        folder = tmp_path / layout.__name__
        layout(corpora / run, folder)
        looked, found = told(local, folder, tmp_path / f"w-{layout.__name__}")
        assert {one.node for one in looked.assumed} == nodes, layout.__name__
        assert found == wanted, layout.__name__
        assert not [one for one in looked.skipped if not one.harmless], layout.__name__


def test_files_of_any_name_are_known_by_their_lines(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    """etcd's lines name their member; each file is taken for a node of its own."""
    folder = tmp_path / "mailed"
    folder.mkdir()
    for number, (_, path) in enumerate(logs_of(corpora / "etcd/kill-leader-34")):
        (folder / f"attachment {number}.txt").write_bytes(path.read_bytes())
    (folder / "notes.txt").write_text("it broke at five\n")
    looked, found = told(local, folder, tmp_path / "w")
    as_laid_out(corpora / "etcd/kill-leader-34", tmp_path / "laid-out" / "c")
    assert found == told(local, tmp_path / "laid-out", tmp_path / "w0")[1]
    assert [one.by for one in looked.assumed] == [f"the name of attachment {n}.txt" for n in range(3)]
    assert [(one.path, one.harmless) for one in looked.skipped] == [("notes.txt", True)]


def test_two_systems_whose_files_are_called_alike_are_told_apart(
    local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    """RocketMQ and Kafka both write a controller.log: each is read as what its lines are, with Redis beside them. The
    logs of RocketMQ end days before Kafka's: what it did to their end is not known to go on."""
    alone = set[str]()
    for number, run in enumerate(("kafka-kraft/isolate-active", SMALL_CONTROLLERS, "redis-sentinel/kill-master")):
        as_laid_out(corpora / run, tmp_path / f"laid-out-{number}" / "c")
        alone.update(told(local, tmp_path / f"laid-out-{number}", tmp_path / f"w{number}")[1])
        folder_a_node(corpora / run, tmp_path / f"mailed-{number}")
        for node in (tmp_path / f"mailed-{number}" / "incident").iterdir():
            shutil.copytree(node, tmp_path / "mixed" / "incident" / f"{node.name}-of-{run.partition('-')[0]}")
    looked, found = told(local, tmp_path / "mixed", tmp_path / "w")
    assert {row for row in alone.difference(found) if '"end_time": null' not in row or "2026-11-26" in row} == set()
    assert {row for row in set(found) - alone if "2026-11-26" in row} == set()
    assert not [one for one in looked.skipped if not one.harmless]


def assumed(tmp_path: Path, *names: str) -> set[tuple[str, str, int]]:
    """The clusters, nodes and numbers of files that are assumed of files of these names."""
    root = tmp_path / "mailed"
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (leads(1) + noise(2)).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    inferred = infer_layout(str(root), "mailed", Config())
    assert len(inferred.files) == sum(one.files for one in inferred.assumed)
    return {(one.cluster, one.node, one.files) for one in inferred.assumed}


CASES = {
    "clusters in the layout": (
        ["a/nodes/n0/logs/broker.log", "b/nodes/n0/logs/broker.log"],
        {("a", "n0", 1), ("b", "n0", 1)},
    ),
    "clusters without it": (
        ["a/n0/broker.log", "a/n1/broker.log", "b/n0/broker.log"],
        {("a", "n0", 1), ("a", "n1", 1), ("b", "n0", 1)},
    ),
    "one node": (["broker.log", "broker_default.log", "store.log.1"], {("mailed", "mailed", 3)}),
    "one node in a folder": (["x/n7/logs/broker.log", "x/n7/logs/store.log"], {("mailed", "n7", 2)}),
    "places say nothing": (
        ["var/log/host-1/rocketmqlogs/broker.log", "var/log/host-2/rocketmqlogs/broker.log"],
        {("mailed", "host-1", 1), ("mailed", "host-2", 1)},
    ),
    "rolled by days": (
        ["n0/otherdays/broker.1.log.gz", "n0/broker.log", "n0/2026-03-01/broker.log", "n1/broker.log"],
        {("mailed", "n0", 3), ("mailed", "n1", 1)},
    ),
    "names behind": (
        ["broker-a.log", "broker-b.log", "broker-a.log.1.gz", "broker_default.log"],
        {("mailed", "a", 2), ("mailed", "b", 1), ("mailed", "mailed", 1)},
    ),
    "a must-gather": (
        [f"must-gather.1/quay-io-x/namespaces/db/pods/mq-{pod}/mq/mq/logs/current.log" for pod in range(2)],
        {("mailed", f"mq-{pod}", 1) for pod in range(2)},
    ),
    "a dump of kubectl": (
        [f"dump/kube-system/mq-{pod}/logs.txt" for pod in range(2)],
        {("mailed", f"mq-{pod}", 1) for pod in range(2)},
    ),
    "a support bundle": (
        [f"bundle/cluster-resources/pods/logs/db/mq-{pod}/mq.log" for pod in range(2)],
        {("mailed", f"mq-{pod}", 1) for pod in range(2)},
    ),
    "what a collector of hosts gathers": (
        [f"rke2-host{host}/podlogs/kube-system-mq-host{host}" for host in range(2)],
        {("mailed", f"rke2-host{host}", 1) for host in range(2)},
    ),
    "a report of Strimzi's script": (
        [f"reports/podlogs/my-kafka-{pod}.log{before}" for pod in range(2) for before in ("", ".0")],
        {("mailed", f"my-kafka-{pod}", 2) for pod in range(2)},
    ),
    "restarts of containers": (
        [f"kube-system_etcd-m{pod}_5f3e/etcd/{restart}.log" for pod in range(2) for restart in range(3)],
        {("mailed", f"kube-system_etcd-m{pod}_5f3e", 3) for pod in range(2)},
    ),
    "restarts of one container": (["pods/p_x_1/etcd/0.log", "pods/p_x_1/etcd/1.log"], {("mailed", "p_x_1", 2)}),
    "names of processes": (
        ["redis-1.log", "redis-2.log", "sentinel-1.log", "kafka-broker-2.log", "zookeeper1.log"],
        {("mailed", name, 1) for name in ("redis-1", "redis-2", "sentinel-1", "kafka-broker-2", "zookeeper1")},
    ),
    "names of processes without numbers": (
        ["redis-master.log", "redis-replica.log", "redis-replica.log.1"],
        {("mailed", "redis-master", 1), ("mailed", "redis-replica", 2)},
    ),
    "several logs of one process": (
        [f"consul-160000000000000000{number}.log" for number in range(2)],
        {("mailed", "mailed", 2)},
    ),
    "flat in one folder": (
        ["logs/n0_broker_default.log", "logs/n1_broker_default.log"],
        {("mailed", "n0", 1), ("mailed", "n1", 1)},
    ),
}


def test_logs_of_another_system_beside_those_with_known_names_are_read(tmp_path: Path) -> None:
    (tmp_path / "mailed").mkdir()
    votes = Path(__file__).parents[1] / "mailed/zk-follower-loses-leader"
    shutil.copy(next(votes.iterdir()), tmp_path / "mailed/zoo-0.log")
    (tmp_path / "mailed/saved.log").write_text(leads(1))  # of the same system, each of whose logs has its name
    assert assumed(tmp_path, "broker.log") == {("mailed", "mailed", 1), ("mailed", "zoo-0", 1)}


def test_a_log_of_any_name_beside_the_only_log_of_its_system_is_read(tmp_path: Path) -> None:
    (tmp_path / "mailed").mkdir()
    line = "1:X 26 Nov 2026 13:28:51.543 # +switch-master mymaster 10.0.0.1 6379 10.0.0.2 6379\n"
    for name in ("redis-server.log", "monday.log"):
        (tmp_path / "mailed" / name).write_text(line)
    assert ("mailed", "monday", 1) in assumed(tmp_path)


def test_the_log_of_a_container_that_ran_before_is_of_the_same_node(tmp_path: Path) -> None:
    names = [f"broker-{node}{run}.log" for node in "ab" for run in ("", "-previous")]
    assert assumed(tmp_path, *names) == {("mailed", "a", 2), ("mailed", "b", 2)}


@pytest.mark.parametrize("word", ["before", "after", "after-restart", "old", "new"])
def test_a_log_that_is_named_after_a_restart_is_of_the_same_node(word: str, tmp_path: Path) -> None:
    names = [f"broker-{node}{run}.log" for node in "ab" for run in ("", f"-{word}")]
    assert assumed(tmp_path, *names) == {("mailed", "a", 2), ("mailed", "b", 2)}


def test_logs_whose_names_are_days_are_of_one_node(tmp_path: Path) -> None:
    assert assumed(tmp_path, "2026-11-21.txt", "2026-11-22.txt") == {("mailed", "mailed", 2)}


def test_an_old_cluster_beside_a_new_one_is_another_one(tmp_path: Path) -> None:
    assert assumed(tmp_path, "zk-old.log", "zk-new.log") == {("mailed", "zk-old", 1), ("mailed", "zk-new", 1)}


RESTARTS = {
    "zookeeper/kill-leader-394": ("zk2", b"Reading configuration from", ("second.log", "first.log")),
    "redis-cluster/kill-a-master": ("rc-1", b"Redis is starting", ("first.log", "second.log")),
}


@pytest.mark.parametrize("run", RESTARTS)
def test_a_restart_between_two_files_changes_no_role(
    run: str, local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    """Two logs of one server in its folder, before and after it started again, called by any names."""
    restarted, starts, names = RESTARTS[run]
    for node, path in logs_of(corpora / run):
        if path.suffix == ".log":
            text = path.read_bytes()
            at = text.rfind(b"\n", 0, text.rfind(starts)) + 1
            (tmp_path / "mailed" / node).mkdir(parents=True)
            for name, part in zip(names, (text[:at], text[at:]) if node == restarted else (text,), strict=False):
                (tmp_path / "mailed" / node / name).write_bytes(part)
    done, rows = told(local, tmp_path / "mailed", tmp_path / "w")
    as_laid_out(corpora / run, tmp_path / "laid-out" / "c")
    whole = told(local, tmp_path / "laid-out", tmp_path / "w0")[1]
    assert not done.replay.held
    assert [roles_of(rows), len(rows) > 5] == [roles_of(whole), True]


def roles_of(rows: list[str]) -> list[tuple[str, str, int | None]]:
    """Who had which role in which term, whenever."""
    return sorted((row["node"], row["role"], row["term"] or 0) for row in map(json.loads, rows) if "role" in row)


@pytest.mark.parametrize("case", CASES)
def test_nodes_are_told_from_folders_and_names(case: str, tmp_path: Path) -> None:
    names, wanted = CASES[case]
    assert assumed(tmp_path, *names) == wanted


@pytest.mark.parametrize("name", ["broken.zip", "broken.tar.gz"])
def test_what_is_no_archive_is_told_and_the_rest_is_read(name: str, local: LocalEngine, tmp_path: Path) -> None:
    folder = tmp_path / "mailed"
    (folder / "n1").mkdir(parents=True)
    (folder / "n1" / "broker_default.log").write_text(leads(1) + noise(2))
    (folder / name).write_bytes(os.urandom(300))
    looked, _ = told(local, folder, tmp_path / "w")
    assert [one.path for one in looked.skipped] == [name]
    assert re.match("it cannot be unpacked", looked.skipped[0].reason)


def test_nothing_to_look_into_is_one_line(local: LocalEngine, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("hello\n")
    for folder, said in (
        ("empty", "no line that tells of elections"),
        ("note.txt", r"(?s)no line that tells of elections .*note\.txt  no line of a system"),
        ("gone", "gone is not there: give a folder"),
    ):
        with pytest.raises(JobError, match=said):
            told(local, tmp_path / folder, tmp_path / f"w-{folder}")


def test_the_command_keeps_only_what_it_is_asked_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, scratch = tmp_path / "mailed" / "n1", tmp_path / "tmp"
    folder.mkdir(parents=True)
    scratch.mkdir()
    folder_of_process()  # goes with the process
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    (folder / "broker_default.log").write_text(leads(1) + noise(2))
    assert main(["look", str(folder.parent)]) == 0
    assert "n1: 1 file, by folder n1" in capsys.readouterr().out
    assert not list(scratch.iterdir())
    assert main(["look", str(folder.parent), "--keep", str(tmp_path / "kept")]) == 0
    assert main(["sql", "--warehouse", str(tmp_path / "kept"), "SELECT leader FROM terms"]) == 0
    assert main(["look", str(folder.parent), "--keep", str(tmp_path / "kept")]) == 1
    assert "give a new or an empty folder" in capsys.readouterr().err


def test_no_command_names_a_warehouse_that_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["look", "examples/landing"]) == 0
    shown = capsys.readouterr().out
    assert "election-replay sql --warehouse DIR " in shown
    assert str(tmp_path) not in shown


def test_the_first_screen_says_each_thing_once_and_the_gravest_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], corpora: Path
) -> None:
    flat(corpora / "etcd/kill-leader-34", tmp_path / "mailed")
    (tmp_path / "mailed/readme.pdf").write_bytes(b"%PDF")
    assert main(["look", str(tmp_path / "mailed")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Found", "  findings: 0 critical, 1 warning, 0 info"]
    assert lines[2].startswith("    warning (definite) LEADERLESS")
    said = " ".join(" ".join(lines).split())
    assert said.count("No leader for ") == said.count("Check first: ") == 1
    assert "WARNING (definite): LEADERLESS to 09:" in said
    assert said.index("Check first") < said.index("becomes leader") < said.index("Assumed")
    assert "1 other file is no log of interest, by its name" in said


def test_times_of_day_are_of_the_day_that_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = "10:00:{:02d},102 INFO  [QuorumPeer[myid=1]/0.0.0.0:2181:QuorumPeer@784] - LOOKING\n"
    (tmp_path / "zookeeper.out").write_text("".join(map(line.format, range(30))))
    assert main(["look", str(tmp_path), "--date", "2026-02-28"]) == 0
    assert "taken for 2026-02-28, since --date says 2026-02-28" in capsys.readouterr().out
    assert main(["look", str(tmp_path), "--date", "yesterday"]) == 1
    assert "is no day: write it like" in capsys.readouterr().err


def test_a_log_without_days_is_of_the_cluster_whose_folder_holds_it(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "orders"
    shutil.copytree(corpora / "zookeeper/kill-leader-384/nodes", place / "nodes")
    log = place / "nodes/zk1/logs/zookeeper-zookeeper-server-zk1.out"
    log.write_text(re.sub(r"^2026-11-21 ", "", log.read_text(), flags=re.MULTILINE))
    (place / "nodes/zk2/logs/stdout.log").write_text("09:12:44,101 |-INFO in ch.qos.logback - Found resource\n")
    assert main(["look", str(place), "--date", "2026-11-21"]) == 0
    said = capsys.readouterr().out.partition("\nAssumed\n")[2]
    assert re.findall(r"^  (\w+)$", said, re.MULTILINE) == ["orders"]
    assert said.count("zk1: ") == said.count("have no day") == 1
    assert "stdout.log" not in said


LIKE_THE_LOGGERS = "".join(f"[Sun Mar 1 12:00:{at:02d} 2026] raft: 1 became leader at term 2\n" for at in range(30))
NOT_UNDERSTOOD_BY_ITSELF = {
    "broker.log": ("it was written in another code\n" * 30).encode("utf-16-le"),
    "zookeeper.log": b"PK\x03\x04" + bytes(300),
    "etcd-2.log": LIKE_THE_LOGGERS.encode(),
    "other-system.log": LIKE_THE_LOGGERS.encode(),
}
"""Files whose lines nobody can read, each for another reason."""


@pytest.mark.parametrize("name", NOT_UNDERSTOOD_BY_ITSELF)
def test_a_file_that_is_not_understood_has_the_reason_that_inspect_has(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "alone").mkdir()
    file = tmp_path / "alone" / name
    file.write_bytes(NOT_UNDERSTOOD_BY_ITSELF[name])
    assert main(["inspect", str(file)]) == 0
    said = capsys.readouterr().out
    [reason] = [line.removeprefix(NOT_UNDERSTOOD) for line in said.splitlines() if line.startswith(NOT_UNDERSTOOD)]
    with_another = tmp_path / "with-another"
    (with_another / "n1").mkdir(parents=True)
    (with_another / "n2").mkdir()
    shutil.copy(file, with_another / "n1")
    (with_another / "n2/broker.log").write_text(leads(0) + noise(1), encoding="utf-8")
    for folder in (file.parent, with_another):
        main(["look", str(folder)])
        out, err = capsys.readouterr()
        assert reason in out + err, folder
        assert "\\n" not in err, folder


@pytest.mark.parametrize(
    ("same", "words"),
    [
        ([("prod-zk1", "stage-zk1"), ("prod-zk2", "stage-zk2")], {"prod", "stage"}),
        ([("east-1", "west-1"), ("east-2", "west-2")], {"east", "west"}),
        ([("n0", "n0b"), ("n1", "n1b")], {"", "b"}),
        ([("a", "twin")], set()),
        ([("zk1", "zk1.new"), ("old.zk2", "zk2")], set()),
    ],
)
def test_clusters_are_told_from_names_that_differ_by_the_same_words(
    same: list[tuple[str, str]], words: set[str]
) -> None:
    assert {*clusters_in(same, [name for names in same for name in names]).values()} == words


def test_two_clusters_whose_lines_stand_in_one_file_are_two(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    """As a log store answers that is asked for all hosts: the names of the nodes tell the clusters."""
    runs = {"blue": corpora / "zookeeper/kill-leader-384", "green": corpora / "zookeeper/pause-leader-384"}
    lines = [
        f"{cluster}-{node}  | {line}\n"
        for cluster, run in runs.items()
        for node, path in logs_of(run)
        for line in path.read_text().splitlines()
    ]
    (tmp_path / "all.txt").write_text("".join(lines))
    done, found = told(local, tmp_path / "all.txt", tmp_path / "w")
    assert {file.cluster for layout in done.layouts for file in layout.files} == {*runs}
    assert any("2 clusters" in how and "blue, green" in how for _, how in done.read_otherwise)
    rules = [json.loads(line)["rule"] for line in found if '"rule"' in line]
    assert "SPLIT_BRAIN_SAME_TERM" not in rules
    assert rules.count("LEADERLESS") == 1  # the leader that was paused; the one that was killed is replaced in a second


def test_two_clusters_with_the_same_ids_side_by_side_are_two(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    for cluster, run in (("prod", "kill-leader-384"), ("stage", "isolate-leader-380")):
        as_laid_out(corpora / "zookeeper" / run, tmp_path / "laid-out" / cluster)
        for node, path in logs_of(corpora / "zookeeper" / run):
            name = f"{node}{path.name[path.name.index('.') :]}"
            for target in (tmp_path / f"flat/{cluster}-{name}", tmp_path / f"folders/{cluster}/{name}"):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, target)
    wanted = told(local, tmp_path / "laid-out", tmp_path / "w0")[1]
    for layout in ("flat", "folders"):
        looked, found = told(local, tmp_path / layout, tmp_path / f"w-{layout}")
        assert {one.cluster for one in looked.assumed} == {"prod", "stage"}
        assert found == wanted


def test_sentinels_that_do_not_know_each_other_are_told_of(
    corpora: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for cluster, run in (("eu", "kill-master"), ("us", "isolate-master-writer")):
        for node, path in logs_of(corpora / "redis-sentinel" / run):
            for target in (tmp_path / f"both/{cluster}-{node}-{path.name}", tmp_path / cluster / f"{node}-{path.name}"):
                target.parent.mkdir(exist_ok=True)
                shutil.copy(path, target)
    for folder, sets in (("eu", 0), ("both", 2)):
        assert main(["look", str(tmp_path / folder)]) == 0
        told = re.search(
            r"Sentinels that do not know each other watch a master named \w+ \((.*)\)", capsys.readouterr().out
        )
        assert len(told[1].split("; ") if told else ()) == sets


def test_members_one_behind_the_other_in_one_file_are_two(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    run = corpora / "etcd/isolate-leader-34"
    nodes = dict(logs_of(run))
    for name in ("apart", "together", "folder"):
        (tmp_path / name / "etc").mkdir(parents=True)
    (tmp_path / "together/etcd.log").write_bytes(b"".join(path.read_bytes() for path in nodes.values()))
    for node, path in nodes.items():
        shutil.copy(path, tmp_path / "apart" / f"{node}.log")
        shutil.copy(path, tmp_path / "folder/etc" / f"e-{node[-1]}.log")
    (tmp_path / "folder/etc").rename(tmp_path / "folder/stores")
    (tmp_path / "folder/more").mkdir()
    shutil.copy(next((corpora / "zookeeper/healthy-380/nodes/zk1/logs").glob("*.log")), tmp_path / "folder/more/zk.log")
    wanted = told(local, tmp_path / "apart", tmp_path / "w0")[1]
    looked, found = told(local, tmp_path / "together", tmp_path / "w1")
    assert found == wanted
    assert [how for _, how in looked.read_otherwise] == [MEMBERS.format(3)]
    assert {*wanted} <= {*told(local, tmp_path / "folder", tmp_path / "w2")[1]}


def test_all_logs_of_one_process_in_one_file_show_no_clock_that_was_set(
    local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    def logs(run: str, node: str) -> list[bytes]:
        return [path.read_bytes() for path in sorted((corpora / run / "nodes" / node / "logs").rglob("*.log"))]

    quorum = [b"".join(logs("kafka-kraft/kill-active", f"ctl-{number}")[:2]) for number in (1, 2, 3)]
    for name, text in {
        "kafka.log": quorum[0],
        "quorum.log": b"".join(quorum),
        "broker.log": b"".join(logs("rocketmq-controller/master-killed", "broker-1")),
        "controller.log": b"".join(logs("rocketmq-controller/master-killed", "ctl-1")),
    }.items():
        (tmp_path / name).write_bytes(text)
        looked, found = told(local, tmp_path / name, tmp_path / f"w-{name}")
        assert not [line for line in found if "CLOCK_SKEW" in line], name
        assert any("one behind the other" in how for _, how in looked.read_otherwise)


def test_nothing_is_sure_in_logs_that_were_sorted_as_texts(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    """As by ``sort -u``: the order within one time is lost, and with it where a clock was set."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for node, path in logs_of(corpora / "zookeeper/chaos-372"):
        (folder / f"{node}.log").write_text("\n".join(sorted(set(path.read_text().splitlines()))) + "\n")
    looked, found = told(local, folder, tmp_path / "w")
    assert {how for _, how in looked.read_otherwise} == {SORTED}
    findings = [json.loads(line) for line in found if '"rule"' in line]
    assert findings
    assert {row["certainty"] for row in findings} == {"possible"}


def test_redis_servers_and_sentinels_in_one_file_are_read_apart(
    local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    nodes = dict(logs_of(corpora / "redis-sentinel/kill-master"))
    for name in ("apart", "joined", "merged"):
        (tmp_path / name).mkdir()
    for node, path in nodes.items():
        shutil.copy(path, tmp_path / "apart" / f"{node}.log")
    texts = [path.read_text() for path in nodes.values()]
    (tmp_path / "joined/redis.log").write_text("".join(texts))
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    (tmp_path / "merged/redis.log").write_text("".join(sorted(lines, key=lambda line: line.split(" ", 5)[1:5])))
    wanted = told(local, tmp_path / "apart", tmp_path / "w0")[1]
    looked, found = told(local, tmp_path / "joined", tmp_path / "w1")
    assert [line for line in found if "IDENTITY" not in line] == wanted
    assert [how for _, how in looked.read_otherwise] == [OF_REDIS.format(6)]
    merged = told(local, tmp_path / "merged", tmp_path / "w2")[1]
    assert [json.loads(line)["rule"] for line in merged if '"rule"' in line] == ["LEADERLESS"]


def test_redis_nodes_joined_in_one_file_lose_no_data(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    nodes = dict(logs_of(corpora / "redis-cluster/kill-a-master"))
    (tmp_path / "redis.log").write_text("".join(path.read_text() for path in nodes.values()))
    found = told(local, tmp_path / "redis.log", tmp_path / "w")[1]
    assert [json.loads(line)["rule"] for line in found if '"rule"' in line] == ["LEADERLESS"]


def test_copies_by_windows_are_called_by_their_log_and_number(corpora: Path, tmp_path: Path) -> None:
    run = corpora / "rocketmq-acting-master/zombie-master-pause/nodes"
    for number, node in enumerate(("broker-a-0", "broker-a-1"), 1):
        shutil.copy(run / node / "logs/rocketmqlogs/broker.log", tmp_path / f"broker ({number}).log")
    assumed = infer_layout(str(tmp_path), "c", Config()).assumed
    assert [each.node for each in assumed] == ["broker-1", "broker-2"]


def test_a_master_beside_another_is_said_to_be_still_one(corpora: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["look", str(corpora / "redis-sentinel/isolate-master-writer")]) == 0
    answer = " ".join(capsys.readouterr().out.split())
    assert "redis-1 was still master, until 12:16:25.414" in answer
    assert "was then, the logs do not say" not in answer


def test_masters_of_unknown_shards_are_no_split_brain(local: LocalEngine, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "m1.log").write_text(
        f"32249:M 17 Nov 2026 21:08:46.752 # Failover auth granted to {'1e86' * 10} for epoch 6\n"
        f"32249:M 17 Nov 2026 21:09:13.254 * Clear FAIL state for node {'b754' * 10}: slave is reachable again.\n"
    )
    (folder / "s2.log").write_text(
        "2345:S 17 Nov 2026 21:08:46.750 # Starting a failover election for epoch 6.\n"
        "2345:S 17 Nov 2026 21:08:46.800 # Failover election won: I'm the new master.\n"
        f"2345:M 17 Nov 2026 21:09:13.244 * Clear FAIL state for node {'b754' * 10}: slave is reachable again.\n"
    )
    found = told(local, folder, tmp_path / "w")[1]
    assert not [line for line in found if '"rule"' in line]
    assert {json.loads(line)["replica_group"] for line in found} == {"shard-m1", "shard-s2"}


def test_a_sentinel_is_heard_where_no_line_tells_a_role_of_its_group(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "issue.md").write_text(
        "and sentinel log on `node-2`\n```\n"
        "1:X 26 Jan 2022 12:52:35.030 # Executing user requested FAILOVER of 'mymaster'\n"
        "1:X 26 Jan 2022 12:52:35.030 # +try-failover master mymaster node-0 6379\n"
        f"1:X 26 Jan 2022 12:52:35.051 # +vote-for-leader {'1c72' * 10} 1\n"
        "1:X 26 Jan 2022 12:53:35.200 # -failover-abort-slave-timeout master mymaster node-0 6379\n"
        "```\nredis log on `node-0`\n```\n"
        "1:M 26 Jan 2022 12:52:37.022 * Replica 10.42.0.82:6379 asks for synchronization\n```\n"
    )
    assert main(["look", str(tmp_path / "issue.md")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "node-2: an operator asks it to replace the master of mymaster." in printed
    assert f"node-2: votes for the sentinel {'1c72' * 10} in epoch 1." in printed
    assert "node-0 serves as master" in printed


def test_logs_of_one_process_under_numbers_are_one_member(local: LocalEngine, corpora: Path, tmp_path: Path) -> None:
    run = corpora / "kafka-kraft/kill-active"
    logs = [(node, path) for node, path in logs_of(run) if path.name in ("server.log", "controller.log")]
    for number, (node, path) in enumerate(logs, 1):
        for target in (tmp_path / "named" / node / path.name, tmp_path / "numbered" / f"{number}.txt"):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    wanted = told(local, tmp_path / "named", tmp_path / "w0")[1]
    looked, found = told(local, tmp_path / "numbered", tmp_path / "w1")
    assert found == wanted
    assert {how for _, how in looked.read_otherwise} == {TOGETHER.format(node) for node in ("4", "6", "8")}


def test_rolled_files_with_numbers_before_their_ending_are_one_log(
    local: LocalEngine, corpora: Path, tmp_path: Path
) -> None:
    for node, path in logs_of(corpora / "zookeeper/kill-leader-384"):
        lines = path.read_text().splitlines(keepends=True)
        third = len(lines) // 3
        parts = lines[:third], lines[third : 2 * third], lines[2 * third :]
        for name, part in zip(("zookeeper-2.log", "zookeeper-1.log", "zookeeper.log"), parts, strict=True):
            (tmp_path / "rolled" / node).mkdir(parents=True, exist_ok=True)
            (tmp_path / "rolled" / node / name).write_text("".join(part))
        (tmp_path / "whole" / node).mkdir(parents=True)
        shutil.copy(path, tmp_path / "whole" / node / "zookeeper.log")
    wanted = told(local, tmp_path / "whole", tmp_path / "w0")[1]
    assert told(local, tmp_path / "rolled", tmp_path / "w1")[1] == wanted


def test_a_server_outside_of_its_peer_list_looks_for_no_leader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by = "[myid:4] - {} [main:{}@114] - {}\n"
    (tmp_path / "zk4.log").write_text(
        f"2026-03-11 09:15:20,140 {by.format('INFO ', 'QuorumPeerMain', 'Starting quorum peer, myid=4')}"
        f"2026-03-11 09:15:20,301 {by.format('ERROR', 'QuorumPeerMain', 'Unexpected exception, exiting abnormally')}"
        "java.lang.RuntimeException: My id 4 not in the peer list\n"
        f"2026-03-11 09:15:20,305 {by.format('INFO ', 'ServiceUtils', 'Exiting JVM with code 1')}"
    )
    assert main(["look", str(tmp_path / "zk4.log")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "the process ends by its own decision: java.lang.RuntimeException: My id 4 not in the peer list." in printed
    assert "candidate" not in printed


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("",), "give a folder, a log or an archive"),
        (("nowhere",), "nowhere is not there"),
        (("/dev/null",), "/dev/null is neither a folder, nor a log"),
        ((".", "--fail-on", "bogus > x"), "--fail-on cannot read"),
    ],
)
def test_what_cannot_be_looked_into_is_refused_before_the_work(
    arguments: tuple[str, ...],
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["look", *arguments]) == 1
    assert capsys.readouterr().err.startswith(f"error: {reason}")


def test_a_leader_that_told_its_end_is_no_riddle(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voters = "voters=[0, 1, 2], electionTimeoutMs=1598"
    state = (
        "2025-01-28 05:00:19,{}] INFO [RaftManager id=0] Completed transition to {} (org.apache.kafka.raft.QuorumState)"
    )
    unattached, led = f"Unattached(epoch=4535, {voters})", "Leader(localId=0, epoch=4534, epochStartOffset=38654548)"
    followed = f"FollowerState(fetchTimeoutMs=2000, epoch=4535, leaderId=2, {voters})"
    lines = state.format(103, f"{unattached} from {led}"), state.format(163, f"{followed} from {unattached}")
    (tmp_path / "kafka-0.log").write_text("".join(f"[{line}\n" for line in lines))
    assert main(["look", str(tmp_path / "kafka-0.log")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "its lead ends here: it heard of a larger epoch" in printed
    assert "2 becomes leader (epoch 4535)" in printed
    assert "the logs do not say" not in printed


def test_a_kafka_node_that_fails_does_not_lead_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change = "INFO [RaftManager id=0] Completed transition to {} (org.apache.kafka.raft.QuorumState)"
    leader = "Leader(localId=0, epoch=1, epochStartOffset=0, highWatermark=Optional.empty, voterStates={})"
    (tmp_path / "kafka.log").write_text(
        f"[2023-11-28 19:55:20,312] {change.format(leader)}\n"
        "[2023-11-28 19:55:21,100] ERROR [BrokerServer id=0] Fatal error during broker startup. Prepare to shutdown "
        "(kafka.server.BrokerServer)\n"
    )
    assert main(["look", str(tmp_path / "kafka.log")]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "the process cannot start, or fails, and ends" in printed
    assert "At the end of the logs (19:55:21.100) no line says who leads" in printed


def test_the_winner_of_an_election_is_told_beside_a_member_with_a_role(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by = "[QuorumPeer[myid={}](plain=0.0.0.0:2181)(secure=disabled):{}"
    follower = f"[myid:2] - WARN  {by.format(2, 'Follower@131')}] - Exception when following the leader\n"
    winner = f"[myid:3] - INFO  {by.format(3, 'Leader@584')}] - LEADING - LEADER ELECTION TOOK - 433 MS\n"
    (tmp_path / "zk").mkdir()
    looking = (
        f"[myid:2] - INFO  {by.format(2, 'FastLeaderElection@945')}] - New election. My id = 2, proposed zxid=0x5\n"
    )
    (tmp_path / "zk/zk-1.log").write_text(f"2026-03-11 03:02:10,118 {follower}2026-03-11 03:02:10,126 {looking}")
    (tmp_path / "zk/zk-2.log").write_text(f"2026-03-11 03:02:10,830 {winner}")
    assert main(["look", str(tmp_path / "zk")]) == 0
    assert "3 (zk-2): wins an election, and is not established yet." in " ".join(capsys.readouterr().out.split())
