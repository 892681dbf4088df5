"""How a landing zone of very many small files lands: time, and memory at its peak.

Makes files of some hundred bytes to some kilobytes, of many nodes and clusters, out of lines of the bundled real
runs, lands them, and looks once more, when there is nothing new. Prints one line of JSON.

    make bench-many-files         # 10,000 files
    python -m benchmarks.many_files --files 40000
"""

import argparse
import random
import resource
import shutil
import tempfile
from itertools import islice
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.landing import STREAM, real_lines, seconds, written
from benchmarks.printed import say
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.engines.spark_session import spark_session
from election_replay.jobs.land import Landing, land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

CLUSTERS = 40
NODES = 10
LINES = (3, 10, 40)
"""How many lines a file has, one as often as the other."""


def make_zone(zone: Path, files: int) -> None:
    """Fill a landing zone with ``files`` small logs."""
    wanted, others = real_lines()
    source = random.Random(7)  # noqa: S311 - the same logs every time
    for number in range(files):
        node = zone / f"cluster-{number % CLUSTERS}" / "nodes" / f"node-{number // CLUSTERS % NODES}"
        logs = node / "logs" / f"part-{number // CLUSTERS // NODES}"
        logs.mkdir(parents=True)
        lines = islice(written(wanted, others, source), source.randrange(20), None)
        (logs / STREAM).write_text("".join(islice(lines, source.choice(LINES))))


def megabytes() -> int:
    """The most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def worker_megabytes(spark: SparkSession) -> int:
    """The same of the largest of Spark's Python workers, which are still there."""
    cores = spark.sparkContext.defaultParallelism
    return max(spark.sparkContext.parallelize(range(cores), cores).map(lambda _: megabytes()).collect())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=10_000)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-many-files-"))
    config, zone, tables = Config(), folder / "zone", Warehouse(str(folder / "warehouse"))
    done: list[Landing] = []
    try:
        make_zone(zone, arguments.files)
        spark = spark_session("bench-many-files", master="local[2]", shuffle_partitions=4)
        first = seconds(
            lambda: done.append(
                land(SparkEngine(spark), new_files(str(zone), tables, config), str(zone), tables, config)
            )
        )
        again = seconds(lambda: new_files(str(zone), tables, config))
        worker = worker_megabytes(spark)
        spark.stop()
    finally:
        shutil.rmtree(folder)
    say(
        "landing_many_files",
        files=done[0].files,
        lines=done[0].lines_total,
        megabytes=round(done[0].bytes_read / 1e6),
        landing_s=round(first, 1),
        nothing_new_s=round(again, 1),
        driver_peak_mb=megabytes(),
        worker_peak_mb=worker,
    )


if __name__ == "__main__":
    main()
