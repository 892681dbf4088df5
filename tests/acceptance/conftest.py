"""One replay of all runs that this version must get right, shared by the whole session."""

from pathlib import Path

import pytest

from tests.acceptance.published import Warehouse, replay_here
from tests.conftest import Landing

ELECTING = ("rocketmq-dledger", "rocketmq-controller", "etcd", "zookeeper")
SYSTEMS = (*ELECTING, "rocketmq-acting-master")


@pytest.fixture(scope="session")
def runs(corpora: Path) -> dict[str, Path]:
    """Every run of all systems by its name, which is the name of its cluster too."""
    return {run.parent.name: run.parent for system in SYSTEMS for run in sorted((corpora / system).glob("*/run.json"))}


@pytest.fixture(scope="session")
def elections(runs: dict[str, Path]) -> dict[str, Path]:
    """Those of the systems that elect; the observer of the others asked other questions."""
    return {name: path for name, path in runs.items() if path.parent.name in ELECTING}


@pytest.fixture(scope="session")
def gold(runs: dict[str, Path], landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """All these runs, replayed together."""
    zone = landing(f"{path.parent.name}/{name}" for name, path in runs.items())
    return replay_here(zone, tmp_path_factory.mktemp("warehouse") / "all")


@pytest.fixture(scope="session")
def compound(corpora: Path, landing: Landing, tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The clusters that were hurt in several ways at once, in one warehouse."""
    zone = landing(f"compound-clusters/{run.parent.name}" for run in (corpora / "compound-clusters").glob("*/run.json"))
    return replay_here(zone, tmp_path_factory.mktemp("warehouse") / "compound")
