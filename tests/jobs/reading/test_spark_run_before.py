"""Spark reads a run of before as ``diff`` does; here, since its tests share one session."""

import pytest

from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.reading.published import run_named
from election_replay.jobs.spark_views import as_published, of_run
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES
from tests.jobs.cli.test_diff import log_gone, two_runs, warehouse  # noqa: F401 - fixtures

pytestmark = pytest.mark.slow


def test_spark_knows_the_run_before_too_and_tells_where_it_is_kept_no_longer(
    spark: SparkEngine,
    warehouse: str,  # noqa: F811 - the fixture
) -> None:
    """tests/jobs/reading/test_queries.py has it compare them."""
    tables = Warehouse(warehouse)
    r1, findings = run_named(tables, "r1"), TABLES["findings"]
    before = of_run(spark.session, tables, findings, r1).select("finding_id")
    assert sorted(row.finding_id for row in before.collect()) == ["aaa", "bbb", "ccc"]
    log_gone(tables)
    assert as_published(spark.session, Warehouse(warehouse), findings, tables.last_run()).count() == 3
    with pytest.raises(Exception, match="run r1 is kept no longer"):
        of_run(spark.session, Warehouse(warehouse), findings, r1).collect()
