"""The tables of a warehouse as Spark reads them."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

WORD_FOR_WORD = {"__globPaths__": "false"}
"""Spark's own option for paths that are no patterns: ``a{b}`` is a name, and Hadoop's patterns know no ``a:b``."""


def read(spark: SparkSession, warehouse: Warehouse, table: str, version: int | None = None) -> DataFrame:
    """The rows of ``table``, the newest by default. A column that an older release did not write is null."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    found = reader.load(warehouse.location(table))
    newer = [column for column in TABLES[table].columns if column.name not in found.columns]
    nulls = {column.name: F.lit(None).cast(column.type.sql) for column in newer}
    return found.withColumns(nulls) if nulls else found


def read_files(spark: SparkSession, warehouse: Warehouse, table: str, paths: Sequence[str]) -> DataFrame:
    """The rows of data files of ``table`` that no commit names yet."""
    spark.conf.set("spark.databricks.delta.formatCheck.enabled", "false")
    location = warehouse.location(table)
    return (
        spark.read.options(**WORD_FOR_WORD)
        .schema(TABLES[table].ddl())
        .parquet(*(f"{location}/{path}" for path in paths))
    )
