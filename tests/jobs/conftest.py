"""An empty landing zone for each test, and the engine of this machine."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

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
