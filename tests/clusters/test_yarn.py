"""A night on YARN and HDFS, of which a machine of each dies in the middle, is a night on one machine."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyspark
import pytest
from hdfs_native import Client

from election_replay.jobs import JobError
from election_replay.jobs.engines.spark_engine import LITTLE_SETTING
from election_replay.jobs.landing.blocks import bytes_at, read_at
from election_replay.jobs.landing.landing_zone import open_landing
from election_replay.jobs.reading.published import Published
from election_replay.jobs.warehouse.hdfs import HdfsHandler
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.acceptance.published import OF_THE_RUN, Row, ordered
from tests.clusters.hadoop import Hadoop
from tests.conftest import Landing
from tests.daemons import wait_until
from tests.printed import section

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
RUNS = (
    "etcd/kill-leader-34-text",
    "rocketmq-acting-master/delay-escape",
    "rocketmq-controller/master-killed-5.2.0",
    "rocketmq-dledger/isolate-leader-497",
    "zookeeper/kill-leader-384",
)
"""One of each system, besides the demo."""

NODES = 3
"""NodeManagers. None has room for a driver and an executor: the driver's, one that dies, and one for who comes after.
"""

LITTLE = f"--conf {LITTLE_SETTING}=0"
"""Executors judge, however little there is."""

SAME = "--config conf/pipeline.yaml"


@pytest.fixture(scope="module")
def hadoop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hadoop]:
    """The machines of HDFS and YARN."""
    began = time.monotonic()
    cluster = Hadoop(tmp_path_factory.mktemp("hadoop"))
    try:
        cluster.start(datanodes=2, nodemanagers=NODES)
        tell(began, f"started: 1 NameNode, 2 DataNodes, 1 ResourceManager, {NODES} NodeManagers")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def prepared(hadoop: Hadoop) -> Hadoop:
    """What is done once."""
    began = time.monotonic()
    for command in (*section("What comes to the machines"), *once()):
        run(command, hadoop, "hdfs")
    folders = admin(hadoop)
    for folder, owner, rights in (
        ("/spark-events", "hdfs", 0o1777),
        ("/user", "hdfs", 0o755),
        ("/user/lander", "lander", 0o700),
        ("/logs", "lander", 0o755),
        ("/warehouse", "lander", 0o755),
    ):
        folders.mkdirs(folder, rights, True)
        folders.set_permission(folder, rights)
        folders.set_owner(folder, owner)
    tell(began, "prepared: Spark's jars and Python's packages are on HDFS")
    return hadoop


def test_a_night_outlives_a_machine_of_yarn_and_one_of_hdfs(prepared: Hadoop, landing: Landing, tmp_path: Path) -> None:
    zone = landing(RUNS)
    demo = ROOT / "examples/landing"
    files = put(prepared, zone, "/logs") + put(prepared, demo, "/logs")
    began = time.monotonic()
    command, read = nightly()
    command = command.replace("jobs/run.py", f"{LITTLE} jobs/run.py")
    job = Job.submitted(command, prepared, "lander", tmp_path / "submit.log")
    job.wait_until(lambda: job.driver is not None)
    driver = job.driver
    assert driver is not None
    tell(began, f"the driver of {job.application} runs on NodeManager {driver}")
    job.wait_until(lambda: working(prepared, driver))
    [victim, *others] = working(prepared, driver)
    prepared.kill_machine(victim)
    tell(began, f"killed NodeManager {victim} and its executor while it landed; executors left: {len(others)}")
    assert "\nland " not in job.said
    job.wait_until(lambda: "\nland " in job.said)
    prepared.datanodes[0].kill()
    tell(began, "killed DataNode 0")
    job.ends()
    print(job.said)
    tell(began, f"done: {files} files")
    assert "Published: run" in job.said
    here = tmp_path / "logs"
    for source in (zone, demo):
        shutil.copytree(source, here, dirs_exist_ok=True)
    run(f"election-replay run --landing {here} --warehouse {tmp_path / 'w'} {SAME} --engine local", prepared, "lander")
    admin(prepared)
    there, local = Warehouse("hdfs:///warehouse"), Warehouse(str(tmp_path / "w"))
    for table in [name for name in TABLES if name not in OF_THE_RUN]:
        assert ordered(rows(there, table)) == ordered(rows(local, table)), table
    assert len(rows(there, "findings")) > 10
    assert "LEADERLESS" in run(read, prepared, "reader")


def working(cluster: Hadoop, driver: int) -> list[int]:
    """The NodeManagers on which an executor has Python at work, not that of the driver."""
    return [number for number in range(NODES) if number != driver and cluster.processes_on(number, "pyspark.daemon")]


@dataclass
class Job:
    """A command that runs on YARN, and what its client writes."""

    process: "subprocess.Popen[bytes]"
    log: Path
    cluster: Hadoop

    @classmethod
    def submitted(cls, command: str, cluster: Hadoop, user: str, log: Path) -> "Job":
        """Start a command as it is printed."""
        words, where = shlex.split(command), environment(cluster, user)
        with log.open("w") as out:
            return cls(subprocess.Popen(words, cwd=ROOT, env=where, stdout=out, stderr=out), log, cluster)

    @property
    def application(self) -> str:
        """How YARN calls it; nothing before it is submitted."""
        found = re.search(r"Submitted application (\S+)", self.log.read_text())
        return found[1] if found else ""

    @property
    def driver(self) -> int | None:
        """On which NodeManager its driver runs."""
        return self.cluster.driver_of(self.application) if self.application else None

    @property
    def said(self) -> str:
        """What its drivers have said."""
        return "\n" + self.cluster.said(self.application)

    def wait_until(self, done: Callable[[], object]) -> None:
        """Wait for something that it does."""
        wait_until(lambda: self.process.poll() is not None or done(), 400)
        assert self.process.poll() is None, self.all

    def ends(self) -> None:
        """Wait for its end, which must be a good one."""
        assert self.process.wait(600) == 0, self.all

    @property
    def all(self) -> str:
        """All that is known of it."""
        return self.said + self.cluster.said(self.application, "stderr")[-3000:] + self.log.read_text()[-3000:]


def test_three_users_have_the_rights_that_they_need_and_no_others(hadoop: Hadoop, landing: Landing) -> None:
    *folders, land, judge, read = section("Rights")
    run(" && ".join(folders), hadoop, "hdfs")
    put(hadoop, landing(["etcd/kill-leader-34-text"]), "/payments/logs", "hdfs")
    refused(land, hadoop, "reader", "/payments/warehouse")
    run(land, hadoop, "lander")
    refused(judge, hadoop, "lander", "/payments/warehouse/silver/facts")
    refused(judge, hadoop, "reader", "/payments/warehouse/silver/facts")
    assert "Published: run" in run(judge, hadoop, "judge")
    assert "LEADERLESS" in run(read, hadoop, "reader")
    put(hadoop, landing(["etcd/kill-leader-33"]), "/payments/logs", "hdfs")
    refused(land, hadoop, "judge", "/payments/warehouse/bronze/landed_files")
    assert "Published" not in run(land, hadoop, "lander")
    run(judge, hadoop, "judge")
    assert "kill-leader-33" in run(read, hadoop, "reader")


def test_of_two_commits_on_one_version_hdfs_takes_one(hadoop: Hadoop) -> None:
    admin(hadoop)
    tables = Warehouse("hdfs:///commits")
    tables.create()
    version = tables.version("events")
    tables.replace([], "events", ["1"], "first", version)
    with pytest.raises(JobError, match="another job has written"):
        tables.replace([], "events", ["1"], "second", version)


def test_a_file_is_read_from_its_middle_on(hadoop: Hadoop, landing: Landing, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the stretches of a large one are; never is it fetched whole for that."""
    zone = landing(["etcd/kill-leader-34-text"])
    put(hadoop, zone, "/middle", "hdfs")
    path = max(zone.rglob("*.log"), key=lambda path: path.stat().st_size)
    data, name = path.read_bytes(), str(path.relative_to(zone))
    monkeypatch.delattr(HdfsHandler, "open_input_file")
    stored = open_landing("hdfs:///middle")
    for position in (0, 1, len(data) // 2, len(data) - 1, len(data)):
        assert read_at(stored, name, position, len(data)) == data[position:]
    assert b"".join(bytes_at(stored, name, 1000, 5000)) == data[1000:5000]


def ended(command: str, cluster: Hadoop, user: str) -> "subprocess.CompletedProcess[str]":
    """A command as a user types it into a shell, when it is over."""
    words, where = ["sh", "-c", command], environment(cluster, user)
    return subprocess.run(words, cwd=ROOT, env=where, capture_output=True, text=True, check=False)


def refused(command: str, cluster: Hadoop, user: str, below: str) -> None:
    """A command must not succeed, and says so in one line alone: who may not write, and where, below a folder.

    All tables stay as they are.
    """
    admin(cluster)
    before = Warehouse("hdfs:///payments/warehouse").versions()
    done = ended(command, cluster, user)
    assert Warehouse("hdfs:///payments/warehouse").versions() == before
    assert done.returncode == 1, f"{command}\n{done.stdout}\n{done.stderr}"
    [line] = done.stderr.splitlines()
    assert line.startswith("error: permission is denied: "), line
    assert f'Permission denied: user={user}, access=WRITE, inode="{below}' in line, line


def rows(warehouse: Warehouse, table: str) -> list[Row]:
    """All published rows of a table."""
    return Published(warehouse).rows(f"SELECT * FROM {table}")  # noqa: S608 - our own names


def once() -> list[str]:
    """The commands of the page that nights do not repeat."""
    return section("YARN and HDFS")[:-2]


def nightly() -> tuple[str, str]:
    """Its other commands: the night, and a question about it."""
    night, read = section("YARN and HDFS")[-2:]
    assert night.startswith("spark-submit ")
    return night, read


def run(command: str, cluster: Hadoop, user: str) -> str:
    """Run a command as it is printed. It must succeed."""
    done = ended(command, cluster, user)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment(cluster: Hadoop, user: str) -> dict[str, str]:
    """Where a user types commands."""
    kept = cluster.environment(user)
    path = os.pathsep.join([str(SPARK / "bin"), str(Path(sys.executable).parent), kept["PATH"]])
    return kept | {"SPARK_HOME": str(SPARK), "PATH": path}


def admin(cluster: Hadoop) -> Client:
    """HDFS as its superuser sees it."""
    return client(cluster, "hdfs")


def client(cluster: Hadoop, user: str) -> Client:
    """HDFS as a user sees it."""
    os.environ["HADOOP_CONF_DIR"] = str(cluster.root / "client")
    os.environ["HADOOP_USER_NAME"] = user
    return Client(f"hdfs://127.0.0.1:{cluster.ports[0]}")


def put(cluster: Hadoop, folder: Path, target: str, user: str = "lander") -> int:
    """Copy a folder to HDFS; how many files."""
    there = client(cluster, user)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    for path in files:
        with there.create(f"{target}/{path.relative_to(folder)}") as out:
            out.write(path.read_bytes())
    return len(files)


def tell(began: float, what: str) -> None:
    """Say what was done, and after how many seconds."""
    print(f"  {time.monotonic() - began:6.1f} s  {what}", flush=True)
