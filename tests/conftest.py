"""The real logs, unpacked once a session, and landing zones of chosen runs."""

import gc
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.archives import unpack_all
from tests.proving import PROVING, amount

if TYPE_CHECKING:
    from election_replay.jobs.engines.engine import Engine
    from election_replay.jobs.engines.spark_engine import SparkEngine

if find_spec("hypothesis"):  # Airflow's environment has none
    from hypothesis import HealthCheck, settings

    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")  # how long an example takes says more of the machine than of the code

ARCHIVES = Path(__file__).parent / "corpora"

collect_ignore = [
    *([] if find_spec("airflow") else ["airflow_dags"]),
    *([] if "HADOOP_JARS" in os.environ else ["clusters"]),
    *([] if "S3_SERVER" in os.environ else ["object_stores"]),
]
"""What needs an environment of its own: ``make airflow-test``, ``make cluster-test``, ``make object-store-test``."""


def pytest_collection_finish() -> None:
    """What is collected stays to the end: the garbage collector need not walk it again and again."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_unconfigure() -> None:
    """Libraries that look for leaks when Python ends find none."""
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite", action="store_true", help="write what scenario files are told to say; read the diff")


Landing = Callable[[Iterable[str]], Path]
"""``landing(runs)``: a fresh landing zone that holds the ``nodes/`` of each run."""


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree ``<system>/<run>/...`` of all real runs, as ``make test`` unpacked it; see ``tests/corpora/README.md``."""
    if "CORPORA" in os.environ:
        return Path(os.environ["CORPORA"])
    root = tmp_path_factory.mktemp("corpora")
    unpack_all(ARCHIVES, root)
    return root


@pytest.fixture(scope="session")
def landing(corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Landing:
    """Makes landing zones out of runs, each named like ``rocketmq-dledger/healthy-497``.

    Files are hard links, not symbolic ones: the landing never follows a link out of its zone.
    """

    def make(runs: Iterable[str]) -> Path:
        zone = tmp_path_factory.mktemp("landing")
        for run in runs:
            source = corpora / run
            shutil.copytree(source / "nodes", zone / source.name / "nodes", copy_function=os.link)
        return zone

    return make


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkEngine]":
    """The one small session of the suite: it and its JVM compile only as much as a short life needs.

    Its driver leaves all work to executors, however little there is. ``make prove`` has queries compiled.
    """
    from election_replay.jobs.engines.spark_engine import LITTLE_SETTING, SparkEngine
    from election_replay.jobs.engines.spark_session import SHORT_LIVED, SHORT_LIVED_JVM, spark_session

    os.environ.setdefault("JDK_JAVA_OPTIONS", f"{SHORT_LIVED_JVM} -XX:ReservedCodeCacheSize=256m")
    more = {LITTLE_SETTING: "0"} | amount(SHORT_LIVED, {})
    session = spark_session("tests", master="local[2]", shuffle_partitions=3, quiet=True, more=more)
    yield SparkEngine(session)
    session.stop()


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> "Iterator[Engine]":
    """What replays nights where any engine would do: the local one, and Spark in ``make prove``."""
    if PROVING:
        yield request.getfixturevalue("spark")
        return
    from election_replay.jobs.engines.local_engine import LocalEngine

    with closing(LocalEngine(cores=1)) as local:
        yield local
