"""Spark reads tables with plans that skip files: those that this machine wrote; in `make prove`, both engines."""

from pathlib import Path

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_engine import SparkEngine, read
from election_replay.jobs.warehouse import replacing
from election_replay.jobs.warehouse.warehouse import Warehouse
from tests.jobs.nights import night
from tests.jobs.zone import election
from tests.proving import amount

pytestmark = pytest.mark.slow


NIGHTS = 5
BY_SPARK = amount((), (3,))


def test_the_plan_of_a_query_by_cluster_or_time_reads_few_files(
    spark: SparkEngine, local: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "LEAST_ROWS", 4)
    zone, warehouse = tmp_path / "zone", Warehouse(str(tmp_path / "w"))
    for number in range(NIGHTS):
        log = zone / f"cluster-{number}" / "nodes" / "n1" / "logs" / "broker_default.log"
        log.parent.mkdir(parents=True)
        log.write_text(election(1800 * number, 1) + election(1800 * number + 100, 2))
        night(spark if number in BY_SPARK else local, zone, warehouse)
    [(middle,)] = (
        read(spark.session, warehouse, "events").where("cluster = 'cluster-2'").selectExpr("max(event_time)").collect()
    )
    asked = {
        "events": f"event_time BETWEEN '{middle}' - INTERVAL 15 MINUTES AND '{middle}' + INTERVAL 15 MINUTES",
        "log_lines": "cluster = 'cluster-2'",
        "facts": "cluster = 'cluster-2'",
        "role_intervals": f"start_time BETWEEN '{middle}' - INTERVAL 15 MINUTES AND '{middle}' + INTERVAL 15 MINUTES",
        "rule_coverage": "cluster = 'cluster-2'",
    }
    read_of = {}
    for table, where in asked.items():
        found = read(spark.session, warehouse, table).where(where)
        assert {row["cluster"] for row in found.select("cluster").collect()} == {"cluster-2"}
        read_of[table] = len(found.inputFiles()), len(warehouse.opened(table).file_uris())
    print(read_of)
    assert all(few <= 2 and every >= NIGHTS for few, every in read_of.values()), read_of
