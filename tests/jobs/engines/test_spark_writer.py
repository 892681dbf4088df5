"""Under Spark judged tables are written by Delta's own writer, with the rows of the local engine. Its plans skip files."""

from pathlib import Path

import pytest
from deltalake import DeltaTable

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.engines.spark_tables import read
from election_replay.jobs.warehouse import replacing
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


NIGHTS = 8


def test_the_plan_of_a_query_by_cluster_or_time_reads_few_files(
    spark: SparkEngine, local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "LEAST_ROWS", 4)
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "w"))
    for number in range(NIGHTS):
        log = zone / f"cluster-{number}" / "nodes" / "n1" / "logs" / "broker_default.log"
        log.parent.mkdir(parents=True)
        log.write_text(election(1800 * number, 1) + election(1800 * number + 100, 2))
        night(spark if number == 5 else local, zone, warehouse)
    [(middle,)] = (
        read(spark.session, warehouse, "events").where("cluster = 'cluster-4'").selectExpr("max(event_time)").collect()
    )
    asked = {
        "events": f"event_time BETWEEN '{middle}' - INTERVAL 15 MINUTES AND '{middle}' + INTERVAL 15 MINUTES",
        "log_lines": "cluster = 'cluster-4'",
        "facts": "cluster = 'cluster-4'",
        "role_intervals": f"start_time BETWEEN '{middle}' - INTERVAL 15 MINUTES AND '{middle}' + INTERVAL 15 MINUTES",
        "rule_coverage": "cluster = 'cluster-4'",
    }
    read_of = {}
    for table, where in asked.items():
        found = read(spark.session, warehouse, table).where(where)
        assert {row["cluster"] for row in found.select("cluster").collect()} == {"cluster-4"}
        read_of[table] = len(found.inputFiles()), len(warehouse.opened(table).file_uris())
    print(read_of)
    assert all(few <= 2 and every >= NIGHTS for few, every in read_of.values()), read_of
