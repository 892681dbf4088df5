"""Under Spark judged tables are written by Delta's own writer, with the rows of the local engine, and can be skipped."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.engines.spark_tables import read
from election_replay.jobs.warehouse.table_sets import VERDICTS
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.conftest import Landing
from tests.jobs.nights import content, night
from tests.jobs.zone import election

pytestmark = pytest.mark.slow


def test_delta_for_spark_writes_what_is_judged(
    spark: SparkEngine, local: LocalEngine, landing: Landing, tmp_path: Path
) -> None:
    zone = landing(["rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497"])
    by_spark, by_local = (Warehouse(str(tmp_path / name)) for name in ("spark writes", "local"))
    for turn in range(2):
        night(spark, zone, by_spark)
        night(local, zone, by_local)
        assert content(by_spark) == content(by_local)
        log = zone / "second" / "nodes" / "n1" / "logs" / "broker_default.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(election(0, 1) + election(100 * turn, 2))
    for name in VERDICTS:
        table = DeltaTable(by_spark.location(name))
        writers = {commit.get("engineInfo") for commit in table.history() if commit["operation"] == "WRITE"}
        assert all(writer.startswith("Apache-Spark") for writer in writers), name
    files = DeltaTable(by_spark.location("role_intervals")).file_uris()
    of_one = read(spark.session, by_spark, "role_intervals").where("cluster = 'second'")
    assert len(of_one.inputFiles()) < len(files), "Spark skips files by their statistics"
    assert of_one.count() > 0
