"""Landing by itself, without Spark: dense logs, and one big file.

Prints one line of JSON for each. ``dense_us_per_event``: CPU microseconds an event, in one process, of logs of which
every line is of interest, and of the bundled real runs, whose files are small. ``big_file_two_vs_one_cores``: one file
on one core over the same file on two, a whole landing by the local engine. Its ratio is that of the best times, where
all processes have landed another file before; for ``ratio_cold`` those of two cores start meanwhile. ``ratio_by_cpu``
is what other work on the machine does not change: the CPU seconds on one core over half of those on two.

    python -m benchmarks.landing_alone
    python -m benchmarks.landing_alone --megabytes 1000 --rounds 10
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.landing import cpu_seconds, make_zone
from benchmarks.printed import say
from benchmarks.sizes import real_runs
from election_replay.jobs.cli.stages import PRELOAD
from election_replay.jobs.engines.local_engine import LocalEngine
from election_replay.jobs.land import land
from election_replay.jobs.landing.ledger import NOTHING_LANDED
from election_replay.jobs.landing.listing import log_files
from election_replay.jobs.landing.new_files import new_files
from election_replay.jobs.landing.one_file import land_tasks
from election_replay.jobs.landing.plan import tasks_of
from election_replay.jobs.settings.config import Config
from election_replay.jobs.warehouse.warehouse import Warehouse

DENSE_MEGABYTES = 50

BEFORE_MEGABYTES = 150
"""So much is landed before, where processes are to be warm: some stretches for each."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a landing cost: seconds, CPU seconds of all processes, and its events."""

    wall: float
    cpu: float
    events: int


def in_this_process(zone: str) -> Cost:
    """Land a zone into a warehouse of its own, on one core."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    config = Config()
    with tempfile.TemporaryDirectory(prefix="bench-landing-") as folder:
        Warehouse(folder).create()
        tasks = tasks_of(log_files(zone, config.layout), NOTHING_LANDED, zone, config, 1)
        wall, cpu = time.perf_counter(), time.process_time()
        events = land_tasks(tasks, zone, folder).sums["lines_event"]
        return Cost(time.perf_counter() - wall, time.process_time() - cpu, events)


def by_local_engine(zone: str, cores: int, before: str | None = None) -> Cost:
    """A whole landing of a zone on so many cores, in processes that have landed the one ``before``, if any.

    Without it those of more than one core start meanwhile.
    """
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    with closing(LocalEngine(preload=PRELOAD)) as engine:
        if before:
            if cores > 1:
                engine.ready()
            land_all(engine, before)
        return land_all(engine, zone)


def land_all(engine: LocalEngine, zone: str) -> Cost:
    """Land a zone into a warehouse of its own."""
    config = Config()
    with tempfile.TemporaryDirectory(prefix="bench-landing-") as folder:
        tables = Warehouse(folder)
        cpu, wall = cpu_seconds(), time.perf_counter()
        events = land(engine, new_files(zone, tables, config), zone, tables, config).lines_event
        return Cost(time.perf_counter() - wall, cpu_seconds() - cpu, events)


def best_of(rounds: int, *landings: Callable[[], Cost]) -> list[Cost]:
    """The best of some landings, turn by turn, each in a process of its own."""
    found: list[list[Cost]] = [[] for _ in landings]
    for _ in range(rounds):
        for costs, landing in zip(found, landings, strict=True):
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                costs.append(process.submit(landing).result())
    return [
        Cost(*(min(values) for values in zip(*((it.wall, it.cpu, it.events) for it in costs), strict=True)))
        for costs in found
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=500, help="size of the big file")
    parser.add_argument("--rounds", type=int, default=6)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-zone-") as folder:
        dense, real, big, before = (str(Path(folder) / name) for name in ("dense", "real", "big", "before"))
        make_zone(Path(dense), DENSE_MEGABYTES, of_interest=1)
        real_runs(Path(real))
        for zone, megabytes in ((big, arguments.megabytes), (before, BEFORE_MEGABYTES)):
            make_zone(Path(zone), megabytes, file_bytes=megabytes * 1_000_000)
        of_dense, of_real = best_of(arguments.rounds, partial(in_this_process, dense), partial(in_this_process, real))
        alone, together, cold = best_of(
            arguments.rounds,
            partial(by_local_engine, big, 1, before),
            partial(by_local_engine, big, 2, before),
            partial(by_local_engine, big, 2),
        )
    say(
        "dense_us_per_event",
        us=round(1e6 * of_dense.cpu / of_dense.events, 1),
        us_real_runs=round(1e6 * of_real.cpu / of_real.events, 1),
    )
    say(
        "big_file_two_vs_one_cores",
        ratio=round(alone.wall / together.wall, 2),
        ratio_cold=round(alone.wall / cold.wall, 2),
        ratio_by_cpu=round(2 * alone.cpu / together.cpu, 2),
        megabytes_a_second=[round(arguments.megabytes / cost.wall) for cost in (alone, together)],
    )


if __name__ == "__main__":
    main()
