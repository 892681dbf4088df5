"""A night on a standalone cluster of two workers, one of which dies in the middle, is a night on one machine."""

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError
from urllib.request import urlopen

import pyspark
import pytest

from election_replay.jobs.engines.spark_engine import LITTLE_SETTING
from tests.acceptance.published import Warehouse, ordered, replay_in
from tests.conftest import Landing
from tests.daemons import Daemon, free_ports, started, wait_until
from tests.proving import only_when_proving

if TYPE_CHECKING:
    from election_replay.jobs.engines.spark_engine import SparkEngine

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
RUNS = ("rocketmq-dledger/old-copy-497",)
GOLD = ("terms", "elections", "role_intervals", "findings", "rule_coverage")


@dataclass(frozen=True)
class Cluster:
    """A master and its workers."""

    address: str
    page: str
    workers: list[Daemon]

    def state(self) -> dict[str, Any]:
        """What the master knows."""
        try:
            with urlopen(self.page + "/json/", timeout=5) as answer:  # noqa: S310 - our own master
                return dict(json.load(answer))
        except (URLError, ConnectionError):
            return {"aliveworkers": 0}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """Two workers of one core each; the code comes to them by Spark."""
    ports = free_ports(4)
    page, address = f"http://127.0.0.1:{ports[1]}", f"spark://127.0.0.1:{ports[0]}"
    start = [SPARK / "bin/spark-class", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1"]
    bare = bare_environment()
    master = started([*start, "--port", ports[0], "--webui-port", ports[1]], tmp_path / "master.log", bare)
    workers = [
        started(
            [
                *(SPARK / "bin/spark-class", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1"),
                *("--webui-port", port, "--cores", "1", "--memory", "1g", "--work-dir", tmp_path / str(port)),
                address,
            ],
            tmp_path / f"{port}.log",
            bare,
        )
        for port in ports[2:]
    ]
    made = Cluster(address, page, workers)
    try:
        wait_until(lambda: made.state()["aliveworkers"] == len(workers))
        yield made
    finally:
        for daemon in (*workers, master):
            daemon.kill()


@only_when_proving("a minute and a half")
def test_a_night_outlives_one_of_two_workers(
    cluster: Cluster, spark: "SparkEngine", landing: Landing, tmp_path: Path
) -> None:
    logs, events = landing(RUNS), tmp_path / "events"
    events.mkdir()
    job = subprocess.Popen(
        [
            *(SPARK / "bin/spark-submit", "--properties-file", ROOT / "conf/spark/standalone.conf"),
            *("--master", cluster.address, "--py-files", packed(tmp_path), "--driver-memory", "1g"),
            *("--executor-memory", "512m", "--executor-cores", "1", "--conf", "spark.driver.host=127.0.0.1"),
            *("--conf", f"{LITTLE_SETTING}=0"),
            *("--conf", f"spark.eventLog.dir={events.as_uri()}"),
            # The packages come as a zip, and Python is this one: the archive takes minutes to make.
            *("--conf", "spark.archives=", "--conf", f"spark.pyspark.python={sys.executable}"),
            *("--conf", f"spark.pyspark.driver.python={sys.executable}"),
            *(ROOT / "jobs/run.py", "--landing", logs, "--warehouse", tmp_path / "cluster"),
            *("--config", ROOT / "conf/pipeline.yaml"),
        ],
        env=bare_environment(),
        stdout=subprocess.PIPE,
        stderr=(tmp_path / "stderr").open("w"),
        text=True,
    )
    assert job.stdout
    said = [next(line for line in job.stdout if line.startswith("land"))]
    assert cluster.state()["activeapps"][0]["cores"] == 2
    cluster.workers[0].kill()
    said += job.stdout.readlines()
    assert job.wait() == 0, "".join(said) + (tmp_path / "stderr").read_text()[-3000:]
    assert cluster.state()["aliveworkers"] == 1
    assert list(events.iterdir()), "the event log, for a history server"

    here, there = replay_in(spark, logs, tmp_path / "local"), Warehouse(tmp_path / "cluster")
    for table in GOLD:
        assert ordered(there.rows(f"gold/{table}")) == ordered(here.rows(f"gold/{table}")) != []


def packed(folder: Path) -> Path:
    """The packages as the zip that executors get."""
    path = folder / "election_replay.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(ROOT / "election_replay/__init__.py", "election_replay/__init__.py")
        for package in ("election_core", "schemas", "jobs"):
            for file in (ROOT / package).rglob("*"):
                if file.suffix in {".py", ".css", ".j2"}:
                    archive.write(file, "election_replay" / file.relative_to(ROOT))
    return path


def bare_environment() -> dict[str, str]:
    """An environment that does not lead to this checkout: the code has to come by Spark."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "SPARK_HOME"}}
    return kept | {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
