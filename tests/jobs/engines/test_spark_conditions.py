"""A plan of Spark stays flat, however many clusters it names: nested, its planner's stack would overflow."""

from collections.abc import Mapping

import pyarrow as pa
import pytest

from election_replay.jobs.engines.duckdb_rows import fits as fits_by_arrow
from election_replay.jobs.engines.engine import AfterOwn, Partitioning
from election_replay.jobs.engines.spark_engine import SparkEngine, fits, partitioned_and_sorted

MANY, FEW = 3_000, 50


def sources(clusters: int) -> pa.Table:
    names = [f"c{number}" for number in range(clusters) for _ in range(5)]
    nodes = [f"n{number % 5}" for number in range(len(names))]
    return pa.table({"cluster": names, "source_node": nodes, "batch": [*range(len(names))]})


@pytest.mark.parametrize(
    "splits_by_cluster", [{f"c{number}": 2 for number in range(600)}, {f"c{n}": 1 + n for n in range(600)}]
)
def test_hundreds_of_busy_clusters_are_dealt(spark: SparkEngine, splits_by_cluster: Mapping[str, int]) -> None:
    rows = sources(700)
    partitioning = Partitioning(("cluster", "source_node"), ("cluster", "source_node"), splits_by_cluster)
    found = partitioned_and_sorted(spark.session.createDataFrame(rows), partitioning).toArrow()
    assert sorted(found.to_pylist(), key=str) == sorted(rows.to_pylist(), key=str)


def test_a_number_for_each_of_thousands_of_clusters(spark: SparkEngine) -> None:
    """One row of five is after its cluster's own number."""
    rows = sources(MANY)
    condition = AfterOwn("batch", "cluster", {f"c{number}": 5 * number + 3 for number in range(MANY - 1)})
    wanted = [5 * number + 4 for number in range(MANY - 1)]
    assert rows.filter(fits_by_arrow(condition))["batch"].to_pylist() == wanted
    few = rows.slice(0, 5 * FEW)  # it is the plan that must bear thousands of clusters
    by_spark = spark.session.createDataFrame(few).where(fits(condition)).toArrow()
    assert sorted(by_spark["batch"].to_pylist()) == wanted[:FEW]
