"""Delta's jars where Spark has cached_jars them at an earlier start."""

from importlib.metadata import version
from pathlib import Path

from pyspark.conf import SparkConf

from election_replay.jobs.engines.spark_session import cached_jars


def test_jars_count_only_where_all_of_this_delta_are_there(tmp_path: Path) -> None:
    delta = version("delta-spark")
    configured = SparkConf(loadDefaults=False).set("spark.jars.ivy", str(tmp_path))
    (tmp_path / "jars").mkdir()

    def found(*more: str) -> list[str]:
        for name in more:
            (tmp_path / "jars" / name).touch()
        return [Path(jar).name for jar in cached_jars(configured)]

    spark, storage = f"io.delta_delta-spark_4.1_2.13-{delta}.jar", f"io.delta_delta-storage-{delta}.jar"
    assert found() == found(spark) == found("io.delta_delta-spark_4.1_2.13-0.0.1.jar", "other.jar") == []
    assert found(storage) == [spark, storage]
    assert found(f"io.delta_delta-spark_4.0_2.13-{delta}.jar") == []
