"""The tables of a warehouse as Spark reads and writes them."""

from collections import defaultdict
from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.warehouse.data_files import DataFile
from jobs.warehouse.warehouse import NOTE, Warehouse
from schemas import TABLES, Table


def read(spark: SparkSession, warehouse: Warehouse, table: str, version: int | None = None) -> DataFrame:
    """The rows of ``table``, the newest by default. A column that an older release did not write is null."""
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    found = reader.load(warehouse.location(table))
    newer = [column for column in TABLES[table].columns if column.name not in found.columns]
    nulls = {column.name: F.lit(None).cast(column.type.sql) for column in newer}
    return found.withColumns(nulls) if nulls else found


def landed(spark: SparkSession, warehouse: Warehouse, table: str, last_batch: int) -> DataFrame:
    """The rows of a bronze or silver table that finished landings wrote."""
    return read(spark, warehouse, table).where(F.col("batch") <= last_batch)


def replace_where(
    spark: SparkSession, warehouse: Warehouse, files: Iterable[DataFile], table: str, where: str, note: str
) -> None:
    """What :meth:`Warehouse.replace` does, in place of rows that need not fill partitions: those that ``where`` names.

    Spark writes the rows of ``files`` anew.
    """
    writer = written(spark, warehouse, files, TABLES[table]).write.format("delta").mode("overwrite")
    writer.option("replaceWhere", where).option(NOTE, note).save(warehouse.location(table))


def written(spark: SparkSession, warehouse: Warehouse, files: Iterable[DataFile], table: Table) -> DataFrame:
    """The rows of those of ``files`` that are the table's own, though no commit has named them."""
    partitions: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.table == table.name:
            partitions[file.partition].append(f"{warehouse.location(table.name)}/{file.path}")
    in_files = ", ".join(column.ddl for column in table.columns if column.name not in table.partitioned_by)
    rows = spark.createDataFrame([], table.ddl())
    for partition, paths in partitions.items():
        found = spark.read.schema(in_files).parquet(*paths)
        rows = rows.unionByName(found.withColumn(table.partitioned_by[0], F.lit(partition)))
    return rows
