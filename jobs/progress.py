"""Progress on long work: a line a stage, and on a terminal a bar while the stage runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

from pyspark.sql import SparkSession
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

POLL_SECONDS = 0.3

Report = Callable[[str], None]
"""Takes what the stage did; it is printed with the seconds it took."""


@contextmanager
def stage(console: Console, title: str, spark: SparkSession | None = None) -> Iterator[Report]:
    """Run a stage and print what it reports, with the time it took."""
    started = time.monotonic()
    said: list[str] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=None)
        done = Event()
        watch = Thread(target=follow, args=(bar, task, spark, done), daemon=True)
        if spark is not None and console.is_terminal:
            watch.start()
        try:
            yield said.append
        finally:
            done.set()
            if watch.is_alive():
                watch.join()
    seconds = time.monotonic() - started
    console.print(f"{title:<8} {'; '.join(said) or 'done'} ({seconds:.1f} s)", highlight=False, soft_wrap=True)


def follow(bar: Progress, task: int, spark: SparkSession, done: Event) -> None:
    """Show how many tasks of the running Spark stages are done."""
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(POLL_SECONDS):
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        running = [one for one in stages if one is not None]
        if running:
            bar.update(
                task,  # type: ignore[arg-type]
                completed=sum(one.numCompletedTasks for one in running),
                total=sum(one.numTasks for one in running),
            )


def rate(count: int, seconds: float, what: str) -> str:
    """``count`` with how many a second."""
    return f"{count:,} {what}" + (f", {count / seconds:,.0f} a second" if seconds > 0 else "")
