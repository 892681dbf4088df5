"""The check of analyzed plans by itself: it holds whatever statement a plan came from, and whoever let that pass."""

from typing import TYPE_CHECKING

import pytest

from election_replay.jobs.serving.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from election_replay.jobs.engines.spark_engine import SparkEngine

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def rows(spark: "SparkEngine", tmp_path_factory: pytest.TempPathFactory) -> "DataFrame":
    """A published table, which the session calls ``published``; ``other`` is a file beside it."""
    folder = tmp_path_factory.mktemp("gate")
    for name in ("other", "published"):
        spark.session.range(3).write.parquet(str(folder / name))
        rows = spark.session.read.parquet(str(folder / name))
        rows.createOrReplaceTempView(name)
    return rows


@pytest.fixture(scope="module")
def gate(spark: "SparkEngine", rows: "DataFrame") -> Gate:
    """The one gate of this JVM: py4j would take the class of a second one for that of the first."""
    made = Gate(spark.session)
    made.publish("r1", {"findings": rows})
    return made


def test_a_plan_that_reads_what_is_published_passes(gate: Gate, rows: "DataFrame", spark: "SparkEngine") -> None:
    for plan in (
        rows.groupBy("id").count().orderBy("id").limit(2),
        rows.alias("l").join(rows.alias("r"), "id").union(spark.session.range(1)),
        spark.session.sql("SELECT explode(sequence(1, 3)), row_number() OVER (ORDER BY 1)"),
    ):
        assert gate.refusal(plan) == ""


ELSEWHERE = """
    SELECT * FROM other
    SELECT (SELECT max(id) FROM other)
    SELECT * FROM published WHERE EXISTS (SELECT 1 FROM other WHERE other.id = published.id)
    SELECT * FROM published JOIN LATERAL (SELECT id FROM other)
    WITH a AS (SELECT * FROM other) SELECT 1 FROM published, a
"""


@pytest.mark.parametrize("query", [line.strip() for line in ELSEWHERE.strip().splitlines()])
def test_a_plan_that_reads_anything_else_is_refused_however_deep_it_lies(
    query: str, gate: Gate, spark: "SparkEngine"
) -> None:
    assert gate.refusal(spark.session.sql(query)) == "refused: only the published tables and views are read here"


def test_a_plan_of_something_else_than_a_query_is_refused(gate: Gate, spark: "SparkEngine") -> None:
    transformed = spark.session.sql("SELECT TRANSFORM(id) USING 'cat' AS (a STRING) FROM published")
    assert "ScriptTransformation" in gate.refusal(transformed)
    mapped = spark.session.table("published").mapInPandas(lambda rows: rows, "id BIGINT")
    assert "MapInPandas" in gate.refusal(mapped)
