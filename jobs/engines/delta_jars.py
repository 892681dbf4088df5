"""Delta's jars where Spark has brought them at an earlier start."""

from importlib.metadata import version
from pathlib import Path

from pyspark.conf import SparkConf


def brought(configured: SparkConf) -> list[str]:
    """Their paths; none where it is not sure that all are there.

    What Delta depends on stays behind: on the class path of a JVM it would come before the versions that Spark brings.
    """
    try:
        folder = Path(configured.get("spark.jars.ivy", "") or Path.home() / ".ivy2.5.2", "jars")
    except RuntimeError:  # nobody's home
        return []
    jars = sorted(folder.glob(f"io.delta_*-{version('delta-spark')}.jar"))
    of_spark, of_storage = (
        sum(jar.name.startswith(f"io.delta_delta-{part}") for jar in jars) for part in ("spark_", "storage-")
    )
    return [str(jar) for jar in jars] if of_spark == of_storage == 1 else []
