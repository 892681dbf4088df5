"""A landing zone of very many small files lands, adds up, and is soon recognised."""

import time
from pathlib import Path

import pytest

from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.landing.privacy_mark import NOTHING, recorded_mark
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.zone import leads, noise

FILES = 2_000
SOON_SECONDS = 20.0
"""For a second look at all of them: a tenth of a second at rest, the rest for a machine that is busy."""


def fill(root: Path) -> None:
    """Each file has three lines, one of them of interest."""
    for number in range(FILES):
        logs = root / f"c{number % 8}" / "nodes" / f"n{number // 8 % 10}" / "logs" / f"day-{number // 80}"
        logs.mkdir(parents=True, exist_ok=True)
        second = number % 800 * 30  # within one day
        (logs / "broker.log").write_text(noise(second) + leads(second + 1, number) + noise(second + 2))


@pytest.mark.slow
def test_thousands_of_small_files_land_once(spark: SparkEngine, tmp_path: Path) -> None:
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "warehouse"))
    fill(zone)
    done = land(spark, new_files(str(zone), warehouse, Config()), str(zone), warehouse, Config())
    assert (done.files, done.lines_total) == (FILES, 3 * FILES)
    assert done.lines_total == done.lines_event + done.lines_ignored + done.lines_quarantined
    terms = [row["term"] for row in warehouse.rows("events", ["kind", "term"]) if row["kind"] != "TICK"]
    assert sorted(terms) == list(range(FILES))
    began = time.process_time()
    assert new_files(str(zone), warehouse, Config()) == []
    assert recorded_mark(warehouse) == NOTHING, "what was hashed is remembered, not only written into rows"
    assert time.process_time() - began < SOON_SECONDS


def test_a_worker_keeps_no_jar_on_its_path(spark: SparkEngine) -> None:
    """Every task would read the directories of all of them anew."""

    def jars(_: int) -> list[str]:
        import sys

        from election_replay.jobs.engines.python_worker import prepare_worker

        prepare_worker()
        return [place for place in (*sys.path, *sys.path_importer_cache) if place.endswith(".jar")]

    assert spark.session.sparkContext.parallelize([0], 1).map(jars).collect() == [[]]
