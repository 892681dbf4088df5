"""What replaying costs: over the same work without Python, over rows, night after night, with growth, with executors.

Prints one line of JSON for each measurement; each ratio is of times of one run, the best of some rounds.

    make bench                                    # all of them
    python -m benchmarks.replay growth --groups 400
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.storagelevel import StorageLevel

from benchmarks.landing import seconds
from benchmarks.load import Load, as_they_are, nights
from benchmarks.load import land_night as land
from benchmarks.many_files import megabytes
from benchmarks.printed import say
from election_replay.election_core.model.inventory import NO_INVENTORY
from election_replay.jobs.engines.duckdb_rows import without_null_columns
from election_replay.jobs.engines.engine import Partitioning, Rows
from election_replay.jobs.engines.spark_engine import LITTLE_SETTING, SparkEngine, partitioned_and_sorted, read, written
from election_replay.jobs.engines.spark_session import spark_session
from election_replay.jobs.replay import replay
from election_replay.jobs.replaying.checkpoints import NEEDED as NEEDED_TO_FOLD
from election_replay.jobs.replaying.checkpoints import in_fold_columns
from election_replay.jobs.replaying.first_seen import NEEDED as NEEDED_TO_JUDGE
from election_replay.jobs.replaying.first_seen import in_fact_columns
from election_replay.jobs.replaying.judging import GROUP, PROGRAM_ORDER, fold, judge
from election_replay.jobs.replaying.source_delta import SOURCE
from election_replay.jobs.warehouse.data_files import with_all_columns
from election_replay.jobs.warehouse.table_sets import FACT_TABLES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

ROUNDS = 3


def best(work: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """The shortest of some times, after one that does not count."""
    return min([seconds(partial(work, number)) for number in range(rounds + 1)][1:])


def by_turns(*works: Callable[[int], object]) -> list[float]:
    """The shortest time of each, in rounds in which each has its turn: the JVM gets faster from round to round.

    As many rounds come before those that count.
    """
    rounds = [[seconds(partial(work, number)) for work in works] for number in range(2 * ROUNDS)]
    return [min(times) for times in zip(*rounds[ROUNDS:], strict=True)]


EVENTS = in_fold_columns(Rows("events"), old=False)
"""All that is landed, in the columns that the fold reads."""

BY_SOURCE, BY_GROUP = Partitioning(SOURCE, PROGRAM_ORDER), Partitioning(GROUP, GROUP)


GOLD = ("terms", "elections", "role_intervals", "findings", "rule_coverage")
"""The gold tables that these groups fill."""


def floor(engine: SparkEngine, model: Warehouse, copied: Callable[[str], DataFrame]) -> None:
    """A replay whose core does nothing: the same scans, shuffles, sorts, rows handed to Python, and Delta writes.

    ``copied`` writes one of the tables that a replay told before, and gives what it wrote.
    """
    hand_over(engine.frame(model, without_null_columns(model, [EVENTS], NEEDED_TO_FOLD)), BY_SOURCE)
    copied("fold_checkpoints")
    copied("open_facts")
    hand_over(copied("facts"), BY_GROUP)
    for table in GOLD:
        copied(table)


def hand_over(rows: DataFrame, partitioning: Partitioning) -> None:
    """Deal and sort rows, and hand them to Python, which makes nothing of them."""
    written(partitioned_and_sorted(rows, partitioning), nothing, "")


def nothing(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """No rows at all, once all batches are there."""
    for _ in batches:
        pass
    return iter(())


def by_spark(engine: SparkEngine, model: Warehouse, target: str, table: str) -> DataFrame:
    """A copy of a table that Spark's own Delta writer makes."""
    write(read(engine.session, model, table), f"{target}-{table}")
    return engine.session.read.format("delta").load(f"{target}-{table}")


def by_executors(engine: SparkEngine, model: Warehouse, target: Warehouse, table: str) -> DataFrame:
    """One as a replay reads and writes its tables: no columns without values, and Arrow from executors into Parquet
    files, which are one commit."""
    every = [Rows(table, columns=TABLES[table].names)]
    rows = engine.frame(model, without_null_columns(model, every, ()))
    files = written(rows, partial(as_they_are, table), target.root)
    target.replace(files, table, None, "benchmark")
    return engine.frame(target, without_null_columns(target, every, ()))


def fold_tables(spark: SparkSession, warehouse: Warehouse) -> None:
    """Fold, and write states and facts."""
    events = without_null_columns(warehouse, [EVENTS], NEEDED_TO_FOLD)
    told = SparkEngine(spark).map_partitions(
        warehouse, events, BY_SOURCE, partial(fold, inventory=NO_INVENTORY, batch=1)
    )
    for table in ("fold_checkpoints", *FACT_TABLES):
        warehouse.replace(told, table, None, "benchmark")


def whole(spark: SparkSession, warehouse: Warehouse) -> None:
    """Fold and judge, and write states, facts and findings."""
    fold_tables(spark, warehouse)
    facts = without_null_columns(warehouse, [in_fact_columns(Rows(table)) for table in FACT_TABLES], NEEDED_TO_JUDGE)
    judging = partial(judge, run_id="benchmark", started_at=datetime.now(UTC))
    verdicts = SparkEngine(spark).map_partitions(warehouse, facts, BY_GROUP, judging)
    for table in GOLD:
        warehouse.replace(verdicts, table, None, "benchmark")


def write(rows: DataFrame, target: str) -> None:
    """A Delta table of these rows."""
    rows.write.format("delta").partitionBy(*TABLES[target.rpartition("-")[2]].partitioned_by).mode("overwrite").save(
        target
    )


def by_rows(spark: SparkSession, warehouse: Warehouse, target: str) -> None:
    """The same fold behind ``rdd.mapPartitions``, with rows in and rows out, into the same tables."""
    rows = SparkEngine(spark).frame(warehouse, [EVENTS])
    schema = rows.limit(0).toArrow().schema

    def work(partition: Iterable[Row]) -> Iterator[tuple[str, dict[str, Any]]]:
        batch: list[dict[str, Any]] = []

        def batches() -> Iterator[pa.RecordBatch]:
            for row in partition:
                batch.append(row.asDict(recursive=True))
                if len(batch) == 10_000:
                    yield pa.RecordBatch.from_pylist(batch, schema)
                    batch.clear()
            if batch:
                yield pa.RecordBatch.from_pylist(batch, schema)

        for table, told in fold(batches(), NO_INVENTORY, 1):
            yield from ((table, row) for row in with_all_columns(TABLES[table], told).to_pylist())

    told = partitioned_and_sorted(rows, BY_SOURCE).rdd.mapPartitions(work).persist(StorageLevel.DISK_ONLY)
    for table in ("fold_checkpoints", *FACT_TABLES):
        own = told.filter(partial(is_of, table)).map(second)
        write(spark.createDataFrame(own, TABLES[table].ddl()), f"{target}-{table}")
    told.unpersist()


def is_of(table: str, told: tuple[str, object]) -> bool:
    """Whether a row is one of ``table``."""
    return told[0] == table


def second(told: tuple[str, object]) -> object:
    """The row itself."""
    return told[1]


def replay_vs_floor(spark: SparkSession, folder: Path, load: Load) -> None:
    """A replay from scratch over the same work with a core that does nothing; and over the same fold with rows.

    The floor copies tables that nobody writes meanwhile: Spark would read the log of each anew.
    """
    warehouse = Warehouse(str(folder / "floor"))
    count = land(spark, warehouse, load, 1)
    whole(spark, warehouse)
    shutil.copytree(warehouse.root, folder / "model")
    engine, model, honest = SparkEngine(spark), Warehouse(str(folder / "model")), Warehouse(str(folder / "honest"))
    honest.create()
    floors: dict[str, Callable[[int], object]] = {
        "replay_vs_honest_floor": lambda _: floor(engine, model, partial(by_executors, engine, model, honest)),
        "replay_vs_spark_writer_floor": lambda n: floor(
            engine, model, partial(by_spark, engine, model, f"{folder}/least-{n}")
        ),
    }
    for name, floor_of in floors.items():  # one after the other: each is slower beside Spark's own writes
        ours, least = by_turns(lambda _: whole(spark, warehouse), floor_of)
        both = {"replay_s": round(ours, 1), "floor_s": round(least, 1)}
        say(name, ratio=round(ours / least, 2), events=count, **both)
    fast = best(lambda _: fold_tables(spark, warehouse), 1)
    slow = best(lambda number: by_rows(spark, warehouse, str(folder / f"rows-{number}")), 1)
    say("rdd_vs_replay", ratio=round(slow / fast, 2), events=count, rdd_s=round(slow, 1), fold_s=round(fast, 1))


def night30_vs_night1(spark: SparkSession, folder: Path, load: Load, count: int) -> None:
    """The last of many nights over the second one, which is the first that goes on from a state."""
    warehouse, times = Warehouse(str(folder / "nights")), []
    for night in range(1, count + 1):
        land(spark, warehouse, load, night)
        times.append(seconds(lambda: replay(SparkEngine(spark), warehouse)))
    first, last = min(times[1:4]), min(times[-3:])
    rounded = [round(one, 1) for one in times]
    say(
        "night30_vs_night1",
        ratio=round(last / first, 2),
        nights=count,
        electing=load.electing,
        seconds=rounded,
    )


def growth(spark: SparkSession, folder: Path, load: Load) -> None:
    """The time for 4 and 16 times as many groups, for each group more, over that for one time as many, by turns."""
    works: dict[int, Callable[[int], object]] = {}
    for factor in (1, 4, 16):
        warehouse = Warehouse(str(folder / f"growth-{factor}"))
        land(spark, warehouse, Load(load.groups * factor, load.events_a_node), 1)
        works[factor] = lambda _, warehouse=warehouse: whole(spark, warehouse)
    times = dict(zip(works, by_turns(*works.values()), strict=True))
    marginal = (times[16] - times[4]) / (times[4] - times[1]) / 4
    say("growth_1x_4x_16x", ratio=round(marginal, 2), seconds={str(k): round(v, 1) for k, v in times.items()})


class Workers(Thread):
    """Watches Spark's Python workers on this machine (Linux), which come and go: the most memory that one ever held."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most_mb = 0
        self._done = Event()

    def __enter__(self) -> "Workers":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        """Look every second."""
        while not self._done.wait(1):
            self.most_mb = max([self.most_mb, *map(held_megabytes, Path("/proc").glob("[0-9]*"))])


def held_megabytes(process: Path) -> int:
    """The most memory that a worker held; 0 for what is no worker, or is gone."""
    try:
        if b"pyspark.daemon" not in (process / "cmdline").read_bytes():
            return 0
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) >> 10 for line in lines if line.startswith("VmHWM")), 0)


def hot_group(spark: SparkSession, folder: Path, hot: int) -> None:
    """The memory of a worker that folds a node of one busy group, and of the one that judges the group."""
    warehouse = Warehouse(str(folder / "hot"))
    count = land(spark, warehouse, Load(1, 60, hot), 1)
    with Workers() as workers:
        took = seconds(lambda: replay(SparkEngine(spark), warehouse))
    more = {"events": count, "driver_mb": megabytes(), "seconds": round(took, 1)}
    say("hot_group_peak_mb", value=workers.most_mb, unit="MB", **more)


def executors(folder: Path, load: Load) -> None:
    """One executor on one core of the machine over two on two, in sessions of their own, the driver beside them.

    Executors are processes of their own, which find this package by the path that they are given.
    """
    places = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, places))}
    sizes = ["--groups", str(load.groups), "--events", str(load.events_a_node), "--folder", str(folder)]
    times = {}
    for number in (1, 2):
        command = [sys.executable, "-m", "benchmarks.replay", "once", "--master", f"local-cluster[{number},1,1500]"]
        command += ["--cores", str(number)]
        done = subprocess.run([*command, *sizes], env=environment, stdout=subprocess.PIPE, text=True, check=True)
        times[number] = json.loads(done.stdout.splitlines()[-1])["value"]
    rounded = {number: round(took, 1) for number, took in times.items()}
    say("two_vs_one_executors", ratio=round(times[1] / times[2], 2), seconds=rounded)


def once(spark: SparkSession, folder: Path, load: Load) -> None:
    """A replay from scratch in this session."""
    warehouse = Warehouse(str(folder / "once"))
    if warehouse.version("events") is None:
        land(spark, warehouse, load, 1)
    took = best(lambda _: whole(spark, warehouse), 2)
    say("once", value=took, unit="s")


def many(spark: SparkSession, folder: Path, load: Load) -> None:
    """Very many groups, one of them hot, in one run with all gates."""
    warehouse = Warehouse(str(folder / "many"))
    count = nights(spark, warehouse, load, 1)
    with Workers() as workers:
        took = seconds(lambda: replay(SparkEngine(spark), warehouse))
    counts = dict((warehouse.published() or {})["counts"])
    say("many_groups", value=round(took, 1), unit="s", events=count, groups=load.groups + 1, hot_events=load.hot_events,
        worker_mb=workers.most_mb, driver_mb=megabytes(), rows=counts)  # fmt: skip


MEASUREMENTS = ("floor", "nights", "growth", "hot", "executors", "many")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("which", nargs="*", choices=[*MEASUREMENTS, "once", "all"], default="all")
    parser.add_argument("--groups", type=int, default=2000, help="groups of three nodes")
    parser.add_argument("--events", type=int, default=80, help="events of a node in a night")
    parser.add_argument("--nights", type=int, default=30)
    parser.add_argument("--electing", type=int, default=20, help="of how many groups one elects in a night of nights")
    parser.add_argument("--hot", type=int, default=1_000_000, help="events of the hot group")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--cores", type=int, default=0, help="use so many cores of the machine; 0: all (Linux)")
    parser.add_argument("--folder", type=Path, default=None)
    chosen = parser.parse_args()
    folder = chosen.folder or Path(tempfile.mkdtemp(prefix="bench-replay-"))
    load = Load(chosen.groups, chosen.events)
    if chosen.cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: chosen.cores])
    try:
        for which in MEASUREMENTS if "all" in chosen.which else chosen.which:
            if which == "executors":
                executors(folder, load)
                continue
            spark = spark_session("bench-replay", master=chosen.master, quiet=True, more={LITTLE_SETTING: "0"})
            measure(spark, folder, which, load, chosen)
            spark.stop()
    finally:
        if chosen.folder is None:
            shutil.rmtree(folder)


def measure(spark: SparkSession, folder: Path, which: str, load: Load, chosen: argparse.Namespace) -> None:
    """One measurement."""
    if which == "floor":
        replay_vs_floor(spark, folder, load)
    elif which == "nights":
        quiet = Load(load.groups // 4, load.events_a_node, electing=chosen.electing)
        night30_vs_night1(spark, folder, quiet, chosen.nights)
    elif which == "growth":
        growth(spark, folder, Load(load.groups // 4, load.events_a_node))
    elif which == "hot":
        hot_group(spark, folder, chosen.hot)
    elif which == "once":
        once(spark, folder, load)
    else:
        many(spark, folder, Load(load.groups * 10, load.events_a_node - 10, chosen.hot))


if __name__ == "__main__":
    main()
