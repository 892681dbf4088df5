"""How much landing costs over Spark alone reading the same files.

Makes a landing zone of realistic logs (lines of the bundled real runs, one in a hundred of interest, times that go
on), then lands it and lets Spark alone read the same files, filter them by one substring and write the hits to
Delta, turn by turn in one session. Prints one line of JSON: the ratio of the best times, and that of the fewest CPU
seconds of all processes, which other work on the machine changes less.

    make bench-landing            # 200 MB
    python -m benchmarks.landing --megabytes 600 --rounds 5
"""

import argparse
import itertools
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.printed import say
from election_replay.election_core.dialects import dialect_for
from election_replay.jobs.engines.spark_engine import SparkEngine
from election_replay.jobs.engines.spark_session import spark_session
from election_replay.jobs.land import land
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

EXAMPLES = Path(__file__).parents[1] / "examples" / "landing"
STREAM = "broker.log"
FILES_PER_NODE = 2
FILE_BYTES = 25_000_000
OF_INTEREST = 0.01
STAMP = "%Y-%m-%d %H:%M:%S"
LEVEL = re.compile(" (INFO|WARN|ERROR) ")
"""What comes after it in a broker's log."""


def real_lines() -> tuple[list[str], list[str]]:
    """Texts of real dated lines without their time: those of interest, and the others.

    A broker writes its watermarks, which bear no level, into a log of their own: in another one they would look as if
    nobody understood it.
    """
    dialect = dialect_for(STREAM)
    assert dialect is not None  # noqa: S101 - the name of the stream is ours
    wanted: list[str] = []
    others: list[str] = []
    for file in sorted(EXAMPLES.rglob("*.log")):
        for line in file.read_text(errors="replace").splitlines():
            if line[:2] == "20" and len(line) > len("2026-01-01 00:00:00 "):
                of_interest = any(needle in line for needle in dialect.needles)
                if of_interest or LEVEL.match(line, 19):
                    (wanted if of_interest else others).append(line[19:])
    return wanted, others


def written(
    wanted: list[str], others: list[str], source: random.Random, of_interest: float = OF_INTEREST
) -> Iterator[str]:
    """Lines without end, about twenty a second of log time; so many of them are ``of_interest``, of 1."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    while True:
        now += timedelta(seconds=1)
        stamp = now.strftime(STAMP)
        for _ in range(20):
            text = source.choice(wanted if source.random() < of_interest else others)
            yield f"{stamp}{text}\n"


def make_zone(zone: Path, megabytes: int, of_interest: float = OF_INTEREST, file_bytes: int = FILE_BYTES) -> None:
    """Fill a landing zone with ``megabytes`` of logs, in files of ``file_bytes``."""
    wanted, others = real_lines()
    source = random.Random(7)  # noqa: S311 - the same logs every time
    left = megabytes * 1_000_000
    for number in itertools.count():
        node = (
            zone / "bench" / "nodes" / f"node-{number // FILES_PER_NODE}" / "logs" / f"part-{number % FILES_PER_NODE}"
        )
        node.mkdir(parents=True)
        size = min(file_bytes, left)
        with (node / STREAM).open("w") as out:
            lines = written(wanted, others, source, of_interest)
            while size > 0:
                size -= out.write(next(lines))
        left -= file_bytes
        if left <= 0:
            return


def spark_alone(spark: SparkSession, zone: Path, target: Path) -> DataFrame:
    """What Spark needs to read the same files and keep the lines with one substring."""
    lines = spark.read.text(f"{zone}/bench/nodes/*/logs/*/{STREAM}")
    hits = lines.where(F.col("value").contains("change"))
    hits.write.format("delta").mode("overwrite").save(str(target))
    return hits


def cpu_seconds() -> float:
    """The CPU seconds so far of this process and all below it, the JVM and its Python workers, as Linux counts them."""
    parents, ticks = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended since
            fields = place.read_text().rpartition(")")[2].split()
            pid = int(place.parent.name)
            parents[pid], ticks[pid] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while below := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= below
    return sum(ticks.get(pid, 0) for pid in ours) / os.sysconf("SC_CLK_TCK")


def cost(work: Callable[[], object]) -> tuple[float, float]:
    """How long ``work`` takes, and how much CPU."""
    began, before = time.perf_counter(), cpu_seconds()
    work()
    return time.perf_counter() - began, cpu_seconds() - before


def seconds(work: Callable[[], object]) -> float:
    """How long ``work`` takes."""
    return cost(work)[0]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-landing-"))
    config = Config()
    try:
        zone = folder / "zone"
        make_zone(zone, arguments.megabytes)
        spark = spark_session("bench-landing", master="local[2]", shuffle_partitions=4)
        spark_alone(spark, zone, folder / "warm")
        ours, theirs = [], []
        for number in range(arguments.rounds):
            theirs.append(cost(lambda target=folder / f"spark-{number}": spark_alone(spark, zone, target)))
            tables = Warehouse(str(folder / f"warehouse-{number}"))
            ours.append(
                cost(
                    lambda tables=tables: land(
                        SparkEngine(spark), new_files(str(zone), tables, config), str(zone), tables, config
                    )
                )
            )
        spark.stop()
    finally:
        shutil.rmtree(folder)
    [landing_s, landing_cpu_s], [spark_s, spark_cpu_s] = zip(*ours, strict=True), zip(*theirs, strict=True)
    say(
        "landing_vs_spark",
        ratio=round(min(landing_s) / min(spark_s), 2),
        ratio_by_cpu=round(min(landing_cpu_s) / min(spark_cpu_s), 2),
        landing_s=[round(one, 1) for one in landing_s],
        spark_s=[round(one, 1) for one in spark_s],
        landing_cpu_s=round(min(landing_cpu_s), 1),
        spark_cpu_s=round(min(spark_cpu_s), 1),
        megabytes=arguments.megabytes,
    )


if __name__ == "__main__":
    main()
