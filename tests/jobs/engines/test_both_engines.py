"""Both engines write the same tables of real runs, row by row; under Spark Delta's own writer writes the verdicts."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from deltalake import DeltaTable

from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.warehouse.table_sets import VERDICTS
from election_replay.schemas import TABLES
from tests.acceptance.conftest import SYSTEMS
from tests.acceptance.published import OF_THE_RUN, WITHOUT_JAVA, ordered, replay, replay_in
from tests.conftest import Landing
from tests.proving import amount


@pytest.mark.slow
def test_the_local_engine_without_java_writes_what_spark_writes(
    spark: SparkEngine,
    corpora: Path,
    landing: Landing,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    runs = chain.from_iterable(sorted((corpora / system).glob("*/run.json")) for system in SYSTEMS)
    chosen = [run.parent.relative_to(corpora).as_posix() for run in runs][:: amount(24, 1)]
    zone = landing(chosen)
    here, there = replay(zone, tmp_path / "local", *WITHOUT_JAVA), replay_in(spark, zone, tmp_path / "spark")
    assert len(here.rows(TABLES["findings"].path)) > len(chosen)
    for path in [TABLES[name].path for name in TABLES if name not in OF_THE_RUN]:
        found = ordered(there.rows(path))
        assert found == ordered(here.rows(path)), path
        record_property("rows alike of two engines", len(found))
    for name in VERDICTS:
        history = DeltaTable(str(there.path / TABLES[name].path)).history()
        writers = {commit["engineInfo"] for commit in history if commit["operation"] == "WRITE"}
        assert writers, name
        assert all(writer.startswith("Apache-Spark") for writer in writers), name
