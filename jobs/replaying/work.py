"""What one replay is to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_core.replay.arrow_passes import Inventory
from jobs.engines.spark_tables import read
from jobs.replaying.news import Extent
from jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Work:
    """What one replay is to do.

    ``landed`` are all events up to the landing ``last_batch``. ``everything``: no cluster is left out, so that the
    tables are written whole. ``before`` are the versions of the tables when the work began. ``pieces``: over how
    many tasks a cluster is dealt; one that is not named stays together.
    """

    spark: SparkSession
    warehouse: Warehouse
    run_id: str
    inventory: Inventory
    landed: DataFrame
    last_batch: int
    extent: Extent
    everything: bool
    before: Mapping[str, int]
    pieces: Mapping[str, int]

    @property
    def clusters(self) -> tuple[str, ...]:
        """All clusters that are judged."""
        return tuple(sorted({*self.extent.whole, *self.extent.partly}))

    @property
    def partitions(self) -> tuple[str, ...] | None:
        """The partitions of judged tables that are written; ``None``: all."""
        return None if self.everything else self.clusters

    def named(self, sources: Iterable[tuple[str, str]]) -> DataFrame:
        """Sources as a small frame to join with."""
        return F.broadcast(self.spark.createDataFrame(sorted(sources), "cluster STRING, source_node STRING"))

    def newest(self, table: str) -> DataFrame:
        """The rows of all clusters that are judged, as they are now."""
        rows = read(self.spark, self.warehouse, table, self.warehouse.version(table))
        return rows.where(F.col("cluster").isin(list(self.clusters)))

    def old(self, table: str) -> DataFrame:
        """The rows of the clusters ``partly``, as they were when the work began."""
        rows = read(self.spark, self.warehouse, table, self.before[table])
        return rows.where(F.col("cluster").isin(list(self.extent.partly)))
