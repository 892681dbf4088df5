"""Progress of long work: a line for each stage, and on a terminal a bar while it runs."""

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
    """A callable that takes the results of a stage, as text and as fields, for the line at its end."""

    def __call__(self, text: str, **fields: Any) -> None:
        """Keep text and fields for that line."""


@contextmanager
def stage(title: str, engine: Engine | None = None) -> Iterator[Report]:
    """Run a stage, and log its reports and its duration at the end."""
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
    """Update the bar with the engine's progress until ``done``."""
    while not done.wait(POLL_SECONDS):
        if (tasks := engine.progress()) is not None:
            bar.update(task, completed=tasks[0], total=tasks[1])  # type: ignore[arg-type]


def rate(count: int, seconds: float, noun: str) -> str:
    """Return ``count`` with the rate a second."""
    return f"{count:,} {noun}" + (f", {count / seconds:,.0f} a second" if seconds > 0 else "")
