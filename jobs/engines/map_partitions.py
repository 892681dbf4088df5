"""The one place where Spark hands rows to Python.

Spark carries record batches of a partition to a plain generator; what the generator tells, rows of one or several
tables, goes from its executor into data files (:mod:`jobs.warehouse.data_files`), and only their names go on to the
driver.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

import pyarrow as pa
from pyspark.sql import DataFrame

from jobs.engines.python_worker import prepare_worker
from jobs.warehouse.data_files import DataFile, Row, Rows, write_data_files

Work = Callable[[Iterator[pa.RecordBatch]], Iterable[Row | Rows]]
"""A generator over the record batches of one partition, in their order."""

DATA_FILE = "`table` STRING, `partition` STRING, `path` STRING, `size` BIGINT, `rows` BIGINT"


def map_partitions(frame: DataFrame, work: Work, root: str) -> list[DataFile]:
    """``work`` over each partition of ``frame``: the files below the warehouse ``root`` that hold what it told."""

    def on_executor(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        written = write_data_files(work(iter(batches)), root)
        if written:
            yield pa.RecordBatch.from_pylist([asdict(file) for file in written])

    return [DataFile(**row) for row in frame.mapInArrow(on_executor, DATA_FILE).toArrow().to_pylist()]
