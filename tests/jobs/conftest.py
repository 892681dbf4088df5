"""An empty landing zone for each test, and the engine of this machine."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from election_replay.jobs.cli.app import main
from election_replay.jobs.engines.local_engine import LocalEngine
from tests.jobs.zone import Zone


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    """An empty landing zone."""
    return Zone(tmp_path / "landing")


@pytest.fixture(scope="module")
def local() -> Iterator[LocalEngine]:
    """The engine of this machine, with one process."""
    with closing(LocalEngine(cores=1)) as engine:
        yield engine


@pytest.fixture(scope="session")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A warehouse of one real cluster whose master was cut off from the others."""
    warehouse = str(tmp_path_factory.mktemp("cut-off") / "warehouse")
    example = Path(__file__).parents[2] / "examples" / "landing" / "master-cut-off"
    assert main(["look", str(example), "--keep", warehouse]) == 0
    return warehouse
