"""A landing zone for one test."""

from pathlib import Path

import pytest

from tests.jobs.zone import Zone


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    """A landing zone of one node."""
    return Zone(tmp_path / "zone")
