"""The tables of a warehouse as Spark reads them."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

PATTERN = re.compile(r"[*?{}\[\]\\]")
"""What makes Hadoop take a path for a pattern; of a file it cannot be told otherwise, ``a:b`` stands in no pattern."""

WORD_FOR_WORD = {"__globPaths__": "false", "recursiveFileLookup": "true"}
"""Options of Spark by which a single path is none. Of several such paths it would read each several times."""


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
    location, reader = warehouse.location(table), spark.read.schema(TABLES[table].ddl())
    if not PATTERN.search(location):
        return reader.parquet(*(f"{location}/{path}" for path in paths))
    every = reader.options(**WORD_FOR_WORD).parquet(location)
    return every.where(F.col("_metadata.file_name").isin([PurePosixPath(path).name for path in paths]))
