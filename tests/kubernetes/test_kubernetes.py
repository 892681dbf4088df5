"""The image, built and used; and a night on Kubernetes, whose pods are containers of that image."""

import os
import resource
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from election_replay.jobs.engines.spark_engine import LITTLE_SETTING
from election_replay.schemas import TABLES
from tests.acceptance.published import OF_THE_RUN, Warehouse, election_replay, ordered
from tests.conftest import Landing
from tests.daemons import wait_until
from tests.kubernetes.cluster import SERVERS, TOKEN_FOLDER, Answer, Cluster, Node, running
from tests.printed import ROOT, section, sections

pytestmark = pytest.mark.slow

OPERATIONS = ROOT / "docs/operations.md"
CONTAINER = "In a container"
BASE = "localhost/debian-with-python"
SPARK = Path(pyspark.__file__).parent
RUNS = ("etcd/kill-leader-34-text", "rocketmq-dledger/isolate-leader-497", "zookeeper/kill-leader-384")
NAMESPACE = CLAIM = "election-replay"
USER = 1000
"""The image's user."""


@pytest.fixture(scope="module")
def podman(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of podman: images of its own, containers without a network, no more rights than we have."""
    folder = tmp_path_factory.mktemp("podman")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    (folder / "containers.conf").write_text(
        f'[containers]\nnetns = "none"\ndefault_ulimits = ["nofile={files}:{files}", "nproc=4096:4096"]\n'
        '[engine]\nruntime = "runc"\n'
    )
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "overlay"\nrunroot = "{folder}/run"\ngraphroot = "{SERVERS.absolute()}/images"\n'
    )
    return os.environ | {
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        "BUILDAH_ISOLATION": "chroot",
    }


@pytest.fixture(scope="module")
def image(podman: dict[str, str]) -> str:
    """The image with the connectors, built as the pages say but for what it begins with, and the network it needs."""
    began = time.monotonic()
    run(f"podman import {SERVERS.absolute()}/base.tar {BASE}", podman)
    build, connectors = sections(OPERATIONS)[CONTAINER][0], section("Kubernetes")[0]
    ours = f"podman build --network=host --build-arg BASE={BASE} {connectors}"
    run(build.replace("podman build", ours), podman)
    tell(began, "built: the image with the connectors for S3")
    return "localhost/election-replay"


@pytest.fixture(scope="module")
def zone(landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo and one run of each other system."""
    folder = tmp_path_factory.mktemp("zone") / "logs"
    for source in (landing(RUNS), ROOT / "examples/landing"):
        shutil.copytree(source, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """An API server, prepared as the page says."""
    began = time.monotonic()
    with running(tmp_path_factory.mktemp("kubernetes")) as made:
        tell(began, f"started: etcd and kube-apiserver at {made.address}")
        for command in section("Kubernetes")[1:-1]:
            run(command, os.environ | made.environment())
        yield made


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    """A shared volume that the image's user may write."""
    folder = tmp_path / "volume"
    folder.mkdir()
    os.chown(folder, USER, USER)
    return folder


@pytest.fixture
def node(cluster: Cluster, podman: dict[str, str], image: str, volume: Path) -> Iterator[Node]:
    """Who runs pods."""
    assert image
    made = Node(cluster, NAMESPACE, podman, {CLAIM: volume})
    made.start()
    yield made
    made.stop()


def test_the_image_has_the_connectors_and_settings_of_its_own(image: str, podman: dict[str, str]) -> None:
    listed = run(f"podman run --rm --entrypoint ls {image} /opt/spark/jars", podman)
    for jar in (
        "io.delta_delta-spark_4.1_2.13-4.4.0.jar",
        "org.apache.hadoop_hadoop-aws-3.4.2.jar",
        "software.amazon.awssdk_s3-2.29.52.jar",
    ):
        assert jar in listed.split()
    assert "bundle" not in listed
    assert run(f"podman run --rm {image} airflow dag-path", podman).strip().endswith("/election_replay.py")
    refused = ended(f"podman run --rm {image} run --landing logs --warehouse warehouse", podman, ROOT)
    assert refused.returncode == 2
    assert "no settings are named" in refused.stderr


def test_the_commands_of_the_page_run_in_a_container_without_a_network(
    image: str, podman: dict[str, str], tmp_path: Path
) -> None:
    began = time.monotonic()
    assert image
    _, *others = sections(OPERATIONS)[CONTAINER]
    shutil.copytree(ROOT / "examples/landing", tmp_path / "logs")
    shutil.copytree(ROOT / "conf", tmp_path / "conf")
    *_, report = [run(command, podman, tmp_path) for command in others]
    assert "n1 becomes leader" in report
    tell(began, "used: the image without a network")
    by_spark = f"{others[1]} --engine spark".replace("--warehouse warehouse", "--warehouse warehouse/spark")
    run(by_spark, podman, tmp_path)
    tell(began, "the same by Spark, whose jars are in the image")
    for table in ("findings", "terms"):
        rows = [Warehouse(tmp_path / folder).rows(TABLES[table].path) for folder in ("warehouse", "warehouse/spark")]
        assert ordered(rows[0]) == ordered(rows[1]) != []


def test_a_night_of_pods_has_the_tables_of_a_local_run(
    cluster: Cluster, node: Node, zone: Path, volume: Path, tmp_path: Path
) -> None:
    began = time.monotonic()
    shutil.copytree(zone, volume / "logs")
    submit = subprocess.Popen(
        shlex.split(submitted(cluster)),
        cwd=ROOT,
        env=environment(cluster),
        stdout=(tmp_path / "submit.log").open("w"),
        stderr=subprocess.STDOUT,
    )
    wait_until(lambda: submit.poll() is not None or executors(node), 300)
    assert executors(node), (tmp_path / "submit.log").read_text()[-3000:] + driver_said(node)
    tell(began, "the first executor's pod is made")
    assert submit.wait(600) == 0, (tmp_path / "submit.log").read_text()[-3000:] + driver_said(node)
    assert '"message": "published"' in driver_said(node), driver_said(node)[-4000:]
    print(driver_said(node))
    tell(began, f"published; {len(executors(node))} pods of executors were made")
    for name in [driver(node), *executors(node)]:
        assert_made_as_told(node.pods[name])
    assert node.failed is None
    election_replay("run", "--landing", zone, "--warehouse", tmp_path / "w", "--engine", "local", *settings())
    assert_same(volume / "warehouse", tmp_path / "w")


def test_without_settings_the_pod_of_the_driver_ends_with_a_line_that_says_so(cluster: Cluster, node: Node) -> None:
    command, _, _ = submitted(cluster).rpartition(" --config ")
    done = subprocess.run(
        shlex.split(command), cwd=ROOT, env=environment(cluster), capture_output=True, timeout=300, check=False
    )
    assert done.returncode == 0, "spark-submit tells nothing of how it ended"
    assert node.running[driver(node)].returncode == 2
    assert "no settings are named, and" in driver_said(node)
    assert not executors(node)


def assert_made_as_told(pod: Answer) -> None:
    """A pod has the image, the account, the memory and the volume of the profile and the command."""
    [container] = pod["spec"]["containers"]
    assert container["image"] == "localhost/election-replay"
    assert container["resources"]["limits"]["memory"] == "6Gi", "half as much again for Python"
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    [claim] = [one for one in pod["spec"]["volumes"] if one["name"] == mounts["/data"]]
    assert claim["persistentVolumeClaim"]["claimName"] == CLAIM
    if pod["metadata"]["labels"]["spark-role"] == "driver":
        assert pod["spec"]["serviceAccountName"] == NAMESPACE
        assert {"/etc/election-replay", TOKEN_FOLDER} <= mounts.keys()


def driver(node: Node) -> str:
    """The name of the driver's pod."""
    [name] = named(node, "driver")
    return name


def executors(node: Node) -> list[str]:
    """The names of all pods of executors that were made."""
    return named(node, "executor")


def named(node: Node, role: str) -> list[str]:
    """The pods of one of Spark's roles; those of an earlier test are over."""
    return [name for name, pod in [*node.pods.items()] if pod["metadata"]["labels"]["spark-role"] == role]


def driver_said(node: Node) -> str:
    """The driver's log."""
    return "".join(node.said(name) for name in named(node, "driver"))


def submitted(cluster: Cluster) -> str:
    """The command of the page that submits a night, with our hosts.

    Two executors at most, for the sake of this machine; no name server says where the API is.
    """
    more = f"--conf {LITTLE_SETTING}=0 --conf spark.kubernetes.driver.master={cluster.address}"
    command = section("Kubernetes")[-1].replace("https://HOST:6443", cluster.address).replace("REGISTRY", "localhost")
    return command.replace("local:///", f"{more} --conf spark.dynamicAllocation.maxExecutors=2 local:///")


def environment(cluster: Cluster) -> dict[str, str]:
    """Where a night is submitted."""
    found = cluster.environment()
    path = os.pathsep.join([str(SPARK / "bin"), str(Path(sys.executable).parent), found["PATH"]])
    return os.environ | found | {"PATH": path}


def assert_same(warehouse: Path, local: Path) -> None:
    """All tables of two warehouses, row by row, as they are published."""
    for table in [name for name in TABLES if name not in OF_THE_RUN]:
        path = TABLES[table].path
        assert ordered(Warehouse(warehouse).rows(path)) == ordered(Warehouse(local).rows(path)), table
    assert Warehouse(warehouse).rows(TABLES["findings"].path)


def settings() -> tuple[str, str]:
    """The settings of every run here."""
    return "--config", str(ROOT / "conf/pipeline.yaml")


def run(command: str, environment: dict[str, str], folder: Path = ROOT) -> str:
    """Run a command as it is printed. It must succeed."""
    done = ended(command, environment, folder)
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def ended(command: str, environment: dict[str, str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """A command as a user types it into a shell, when it is over."""
    words = ["sh", "-c", command]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def tell(began: float, what: str) -> None:
    """Say what was done, and after how many seconds."""
    print(f"  {time.monotonic() - began:6.1f} s  {what}", flush=True)
