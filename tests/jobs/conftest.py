"""One Spark session for all tests, and an empty landing zone for each."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from jobs.session import spark_session
from tests.jobs.zone import Zone


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A small session; the JVM compiles only as much as a short life needs."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
    session = spark_session("tests", master="local[2]", shuffle_partitions=3, quiet=True)
    yield session
    session.stop()


@pytest.fixture
def zone(tmp_path: Path) -> Zone:
    """An empty landing zone."""
    return Zone(tmp_path / "landing")
