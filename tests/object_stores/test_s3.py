"""Nights from and into a real S3 server, over TLS and with limited rights, on machines that share nothing."""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from deltalake import DeltaTable

from election_replay.jobs import JobError
from election_replay.jobs.engines.spark_engine import LITTLE_SETTING
from election_replay.jobs.warehouse.pointer import OF_GROUP
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.acceptance.published import OF_THE_RUN, Row, election_replay, ordered
from tests.conftest import Landing
from tests.daemons import Daemon, free_ports, started
from tests.object_stores.store import Store, running
from tests.printed import section

LITTLE = f"--conf {LITTLE_SETTING}=0"
"""Executors judge, however little there is."""

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SPARK = Path(pyspark.__file__).parent
RUNS = ("etcd/kill-leader-34-text", "rocketmq-dledger/isolate-leader-497", "zookeeper/kill-leader-384")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The server; this process finds it too, as the user."""
    began = time.monotonic()
    with running(tmp_path_factory.mktemp("store")) as made:
        kept = dict(os.environ)
        os.environ.update(made.environment())
        print(f"  {time.monotonic() - began:6.1f} s  started: an S3 server at {made.address}")
        yield made
        os.environ.clear()
        os.environ.update(kept)


@pytest.fixture(scope="module")
def zone(store: Store, landing: Landing) -> Path:
    """The logs here; the same are in the store."""
    here = landing(RUNS)
    for path in sorted(here.rglob("*")):
        if path.is_file():
            store.put(f"/logs/zone/{path.relative_to(here)}", path.read_bytes())
    return here


@pytest.fixture(scope="module")
def local(zone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the same logs come to on one machine."""
    folder = tmp_path_factory.mktemp("local") / "w"
    election_replay("run", "--landing", zone, "--warehouse", folder, "--engine", "local", *settings())
    return folder


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[str]:
    """A master and two workers that know neither the store nor this checkout; the master's address."""
    port, page = free_ports(2)
    bare = {"PATH": os.environ["PATH"], "SPARK_LOCAL_IP": "127.0.0.1"}
    start = [SPARK / "bin/spark-class", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1"]
    words = ("--port", port, "--webui-port", page)
    daemons: list[Daemon] = [started([*start, *words], tmp_path / "master.log", bare)]
    for name in ("one", "two"):
        home = tmp_path / name
        home.mkdir()
        start = [SPARK / "bin/spark-class", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1"]
        words = ("--webui-port", 0, "--cores", 2, "--memory", "4g", "--work-dir", home, f"spark://127.0.0.1:{port}")
        daemons.append(started([*start, *words], home / "worker.log", bare | {"HOME": str(home)}))
    yield f"spark://127.0.0.1:{port}"
    for daemon in daemons:
        daemon.kill()


def test_executors_that_share_nothing_with_the_driver_land_and_judge(local: Path, workers: str, tmp_path: Path) -> None:
    command = printed()
    began = time.monotonic()
    places = (SPARK / "bin", Path(sys.executable).parent, os.environ["PATH"])
    (tmp_path / "events").mkdir()
    here = f"--conf spark.driver.host=127.0.0.1 --conf spark.eventLog.dir={(tmp_path / 'events').as_uri()} {LITTLE}"
    command = command.replace("spark://HOST:7077", workers).replace("jobs/run.py", f"{here} jobs/run.py")
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=ROOT,
        env=os.environ | {"PATH": os.pathsep.join(map(str, places))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    print(done.stdout)
    print(f"  {time.monotonic() - began:6.1f} s  a night on two executors that share nothing")
    assert list(tmp_path.glob("one/app-*/*/environment")), "Python's packages came by Spark"
    assert_same("s3a://tables/warehouse", local)
    validated = election_replay("validate", "--warehouse", "s3a://tables/warehouse")
    assert re.search(r"(\d+) of \1 expectations of \d+ tables hold", validated), validated


def test_two_runs_at_once_and_an_upkeep_lose_and_mix_nothing(zone: Path, local: Path) -> None:
    assert zone.is_dir()
    run = ("run", "--landing", "s3://logs/zone", "--warehouse", "s3://tables/both", "--engine", "local", *settings())
    first, second = beside(run), beside(run)
    ends = [(one.wait(300), str(one.communicate())) for one in (first, second)]
    for code, said in ends:
        assert code == 0 or "error: another job has written" in said, said
    election_replay(*run)
    with_upkeep = beside(run), beside(("upkeep", "--warehouse", "s3://tables/both"))
    assert all(one.wait(300) == 0 or "another" in str(one.communicate()) for one in with_upkeep)
    election_replay(*run)
    assert_same("s3://tables/both", local)


@pytest.mark.usefixtures("store")
def test_of_two_commits_on_one_version_the_store_takes_one() -> None:
    tables = Warehouse("s3://tables/commits")
    tables.create()
    version = tables.version("events")
    tables.replace([], "events", ["1"], "first", version)
    with pytest.raises(JobError, match="another job has written"):
        tables.replace([], "events", ["1"], "second", version)


def test_a_file_is_read_from_its_middle_on(zone: Path) -> None:
    """As the stretches of a large one are; by a process that knows the store's certificate from its start."""
    path = max(zone.rglob("*.log"), key=lambda path: path.stat().st_size)
    data, name = path.read_bytes(), str(path.relative_to(zone))
    for position in (0, 1, len(data) // 2, len(data) - 1, len(data)):
        read = (
            "import sys; from election_replay.jobs.landing.blocks import read_at; "
            "from election_replay.jobs.landing.landing_zone import open_landing; "
            f"sys.stdout.buffer.write(read_at(open_landing('s3://logs/zone'), {name!r}, {position}, {len(data)}))"
        )
        done = subprocess.run([sys.executable, "-c", read], capture_output=True, check=True)
        assert done.stdout == data[position:]


@pytest.mark.usefixtures("zone")
def test_who_may_only_read_is_told_so() -> None:
    done = subprocess.run(
        words("run", "--landing", "s3://logs/zone", "--warehouse", "s3://logs/w", "--engine", "local", *settings()),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "error: permission is denied: " in done.stderr


def assert_same(warehouse: str, local: Path) -> None:
    """All tables, row by row, as they are published."""
    for table in [name for name in TABLES if name not in OF_THE_RUN]:
        assert ordered(rows(warehouse, table)) == ordered(rows(str(local), table)), table
    assert rows(warehouse, "findings")


def rows(warehouse: str, table: str) -> list[Row]:
    """All published rows of a table, as Delta's own reader gives them."""
    runs = DeltaTable(f"{warehouse}/{TABLES['runs'].path}").to_pyarrow_table().to_pylist()
    run = max((one for one in runs if one["status"] == "published"), key=lambda one: str(one["published_at"]))
    versions = dict(run["versions"])

    def stored(name: str) -> list[Row]:
        location = f"{warehouse}/{TABLES[name].path}"
        return list(DeltaTable(location, version=versions[name]).to_pyarrow_table().to_pylist())

    if not TABLES[table].by_run:
        return stored(table)
    pointer = {tuple(map(row.get, OF_GROUP)) for row in stored("published")}
    return [row for row in stored(table) if tuple(map(row.get, OF_GROUP)) in pointer]


def settings() -> tuple[str, str]:
    """The settings of every run here."""
    return "--config", str(ROOT / "conf/pipeline.yaml")


def words(*arguments: str) -> list[str]:
    """A command of ours."""
    return [
        sys.executable,
        "-c",
        "import sys; import election_replay.jobs.cli.app; sys.exit(election_replay.jobs.cli.app.main())",
        *arguments,
    ]


def beside(arguments: tuple[str, ...]) -> "subprocess.Popen[str]":
    """A command that runs beside others."""
    return subprocess.Popen(words(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def printed() -> str:
    """The command of the page for a store, with what it says for certificates of one's own."""
    command, more = section("Object stores")
    assert "--config" in shlex.split(command)
    return command.replace("jobs/run.py", f"{more} jobs/run.py")
