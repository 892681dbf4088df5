"""Progress on long work: a line a stage, and on a terminal a bar while the stage runs."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from election_replay.jobs.cli.log import OUT, for_machines, log_event
from election_replay.jobs.engines.engine import Engine

POLL_SECONDS = 0.3


class Report(Protocol):
    """Takes what the stage did, as words and as numbers; they are told with the seconds it took."""

    def __call__(self, text: str, **fields: Any) -> None:
        """Remember it."""


@contextmanager
def stage(title: str, engine: Engine | None = None) -> Iterator[Report]:
    """Run a stage and tell what it reports, with the time it took."""
    started = time.monotonic()
    texts: list[str] = []
    numbers: dict[str, Any] = {}

    def report(text: str, **fields: Any) -> None:
        texts.append(text)
        numbers.update(fields)

    watched = OUT.is_terminal and not for_machines()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=OUT, transient=True, disable=not watched) as bar:
        task = bar.add_task(title, total=None)
        done = Event()
        watch = Thread(target=follow, args=(bar, task, engine, done), daemon=True)
        if engine is not None and watched:
            watch.start()
        try:
            yield report
        finally:
            done.set()
            if watch.is_alive():
                watch.join()
    seconds = time.monotonic() - started
    words = "; ".join(texts) or "done"
    log_event(f"{title:<8} {words} ({seconds:.1f} s)", stage=title, seconds=round(seconds, 1), **numbers)


def follow(bar: Progress, task: int, engine: Engine, done: Event) -> None:
    """Show how many tasks of the engine are done."""
    while not done.wait(POLL_SECONDS):
        if (tasks := engine.progress()) is not None:
            bar.update(task, completed=tasks[0], total=tasks[1])  # type: ignore[arg-type]


def rate(count: int, seconds: float, noun: str) -> str:
    """``count`` with how many a second."""
    return f"{count:,} {noun}" + (f", {count / seconds:,.0f} a second" if seconds > 0 else "")
