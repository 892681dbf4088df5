"""Landing by itself, in one process and without Spark: dense logs, and one big file.

Prints one line of JSON for each. ``dense_us_per_event``: CPU microseconds an event of logs of which every line is of
interest, and of the bundled real runs, whose files are small. ``big_file_two_vs_one_cores``: one file on one core over
the same file on two. Its ratio is that of the best times; ``ratio_by_cpu`` is what other work on the machine does not
change: the CPU seconds of the one core over half of those on two, or over the main thread's where these are more.

    python -m benchmarks.landing_alone
    python -m benchmarks.landing_alone --megabytes 500 --rounds 5
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from benchmarks.landing import make_zone
from benchmarks.printed import say
from benchmarks.sizes import real_runs
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.one_file import land_tasks
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

DENSE_MEGABYTES = 50


@dataclass(frozen=True, slots=True)
class Cost:
    """What a landing cost: seconds, CPU seconds of all threads and of the main one, and its events."""

    wall: float
    cpu: float
    main: float
    events: int


def landed(zone: str, cores: int) -> Cost:
    """Land a zone into a warehouse of its own, on so many cores; in a process that has no threads yet."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    config = Config()
    with tempfile.TemporaryDirectory(prefix="bench-landing-") as folder:
        Warehouse(folder).create()
        tasks = tasks_of(log_files(zone, config.layout), NOTHING_LANDED, zone, config, 1)
        wall, cpu, main = time.perf_counter(), time.process_time(), time.thread_time()
        events = land_tasks(tasks, zone, folder).sums["lines_event"]
        return Cost(time.perf_counter() - wall, time.process_time() - cpu, time.thread_time() - main, events)


def best_of(rounds: int, zone: Path, *cores: int) -> list[Cost]:
    """The best landings of a zone on each number of cores, turn by turn, each in a process of its own."""
    found: list[list[Cost]] = [[] for _ in cores]
    for _ in range(rounds):
        for costs, count in zip(found, cores, strict=True):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                costs.append(process.submit(landed, str(zone), count).result())
    return [
        Cost(*(min(values) for values in zip(*((it.wall, it.cpu, it.main, it.events) for it in costs), strict=True)))
        for costs in found
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500, help="size of the big file")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-zone-") as folder:
        dense, real, big = (Path(folder) / name for name in ("dense", "real", "big"))
        make_zone(dense, DENSE_MEGABYTES, of_interest=1)
        real_runs(real)
        make_zone(big, arguments.megabytes, file_bytes=arguments.megabytes * 1_000_000)
        [of_dense], [of_real] = best_of(arguments.rounds, dense, 1), best_of(arguments.rounds, real, 1)
        alone, together = best_of(arguments.rounds, big, 1, 2)
    say(
        "dense_us_per_event",
        us=round(1e6 * of_dense.cpu / of_dense.events, 1),
        us_real_runs=round(1e6 * of_real.cpu / of_real.events, 1),
    )
    say(
        "big_file_two_vs_one_cores",
        ratio=round(alone.wall / together.wall, 2),
        ratio_by_cpu=round(alone.cpu / max(together.main, together.cpu / 2), 2),
        megabytes_a_second=[round(arguments.megabytes / cost.wall) for cost in (alone, together)],
    )


if __name__ == "__main__":
    main()
