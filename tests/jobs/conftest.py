"""An empty landing zone for each test."""

from pathlib import Path

import pytest

from tests.jobs.zone import Zone


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    """An empty landing zone."""
    return Zone(tmp_path / "landing")
