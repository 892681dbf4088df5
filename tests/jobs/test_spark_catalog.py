"""Hive's metastore knows the tables: a plain Spark session reads by names what is published, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.engines.spark_session import ON_ONE_MACHINE, SHORT_LIVED, SHORT_LIVED_JVM
from election_replay.jobs.reading.published import Published
from election_replay.jobs.replay import replay
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from election_replay.schemas.views import VIEWS
from tests.conftest import Landing
from tests.jobs.nights import land_only, night
from tests.jobs.zone import election

pytestmark = pytest.mark.slow

HIVE = """
spark.sql.catalogImplementation hive
spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={folder}/metastore;create=true
spark.hadoop.datanucleus.schema.autoCreateAll true
spark.hadoop.hive.metastore.schema.verification false
spark.hadoop.hive.hmshandler.retry.attempts 1
spark.hadoop.hive.hmshandler.retry.interval 1ms
spark.sql.warehouse.dir {folder}/hive
"""
"""Derby refuses one view, as it is too long: ten tries of that would wait for two seconds each."""

LITTLE_WORK = ON_ONE_MACHINE | SHORT_LIVED | {"spark.sql.shuffle.partitions": "1"}
QUICK_DERBY = "-Dderby.system.durability=test"
"""The metastore of a test need not survive the machine: nothing waits for the disk."""

PLAIN = """
import json, sys
from delta import configure_spark_with_delta_pip
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
builder = builder.config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
spark = configure_spark_with_delta_pip(builder).getOrCreate()
spark.sql("USE spark_catalog.elections")
answers = {sql: [row.asDict() for row in spark.sql(sql).collect()] for sql in json.loads(sys.argv[1])}
print(json.dumps(answers, default=str))
"""


def in_process(folder: Path, *arguments: str) -> str:
    """What a process prints whose Spark knows the metastore in this folder."""
    java = f"{SHORT_LIVED_JVM} {QUICK_DERBY}"
    settings = os.environ | {"SPARK_CONF_DIR": str(folder), "SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": java}
    done = subprocess.run(arguments, env=settings, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout + done.stderr * ("-c" not in arguments)


def test_a_plain_session_reads_by_names_what_is_published(local: LocalEngine, landing: Landing, tmp_path: Path) -> None:
    zone = landing(["rocketmq-dledger/kill-leader-533", "rocketmq-dledger/old-copy-497"])
    warehouse = Warehouse(str(tmp_path / "a warehouse"))
    night(local, zone, warehouse)
    log = zone / "third" / "nodes" / "n1" / "logs" / "broker_default.log"
    log.parent.mkdir(parents=True)
    log.write_text(election(0, 9))
    land_only(local, zone, warehouse)
    replay(local, warehouse, publishing=False)
    defaults = "".join(f"{key} {value}\n" for key, value in LITTLE_WORK.items())
    (tmp_path / "spark-defaults.conf").write_text(HIVE.format(folder=tmp_path) + defaults)
    command = (sys.executable, "-m", "election_replay.jobs.cli", "export", "catalog", "--schema", "elections")
    said = in_process(tmp_path, *command, "--warehouse", warehouse.root, "--config", "none")
    print(said)
    assert f"spark_catalog.elections: {len(TABLES)} tables" in said

    both = [
        "SELECT finding_id, summary FROM findings ORDER BY finding_id",
        "SELECT cluster, replica_group, count(*) AS n FROM role_intervals GROUP BY ALL ORDER BY ALL",
        "SELECT count(*) AS n FROM current",
        "SELECT count(*) AS n FROM findings_changed",
        "SELECT count(*) AS n FROM facts WHERE cluster <> 'third'",
    ]
    asked = [*both, "SHOW TABLES", "SELECT count(*) AS n FROM terms_of_all_runs", "DESCRIBE TABLE findings"]
    found = json.loads(in_process(tmp_path, sys.executable, "-c", PLAIN, json.dumps(asked)))
    for sql in both:
        assert found[sql] == json.loads(json.dumps(Published(warehouse).rows(sql), default=str)), sql
    print({sql: len(rows) for sql, rows in found.items()})
    [waiting], published = (
        found["SELECT count(*) AS n FROM terms_of_all_runs"],
        Published(warehouse).rows("SELECT * FROM terms"),
    )
    assert waiting["n"] > len(published), "a replay waits"
    functions = {view.name for view in VIEWS.values() if view.parameters or view.given}
    judged = {table.name for table in TABLES.values() if table.by_run}
    assert "does not take keys" in said
    assert "does not take the view rules" in said, "Derby, as it is too long for it"
    names = {row["tableName"] for row in found["SHOW TABLES"]}
    assert names == {f"{name}_of_all_runs" for name in judged} | {*TABLES} | {*VIEWS}.difference(functions)
    remarks = {column.name: column.remark for column in TABLES["findings"].columns}
    assert {row["col_name"]: row["comment"] for row in found["DESCRIBE TABLE findings"]} == remarks
