"""The tables of a warehouse as Spark reads them."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.warehouse.warehouse import Warehouse
from schemas import TABLES


def read(spark: SparkSession, warehouse: Warehouse, table: str, version: int | None = None) -> DataFrame:
    """The rows of ``table``, the newest by default. A column that an older release did not write is null."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    found = reader.load(warehouse.location(table))
    newer = [column for column in TABLES[table].columns if column.name not in found.columns]
    nulls = {column.name: F.lit(None).cast(column.type.sql) for column in newer}
    return found.withColumns(nulls) if nulls else found
