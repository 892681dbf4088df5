"""The end of a command: messages about failed checks and unread files, the summary, and the exit code."""

import logging
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from election_replay.jobs.cli.extras import data_docs_wanted
from election_replay.jobs.cli.log import for_machines, log_event
from election_replay.jobs.cli.output import first, print_line, print_lines

if TYPE_CHECKING:
    from election_replay.jobs.gates.checks import Check
    from election_replay.jobs.land import Landing
    from election_replay.jobs.landing.landing_zone import Skipped
    from election_replay.jobs.publish import Outcome
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.replay import Replay
    from election_replay.jobs.warehouse.warehouse import Warehouse


GATE_FAILED = 3
"""Exit code if a gate fails; clusters that pass are published."""


NOT_READ = 4
"""Exit code if something in the landing zone could not be read; all else is landed, judged and published."""


FOUND = 5
"""Exit code of a look that found something that `--fail-on` names."""


STOPPED = 128
"""Added to a signal's number, it is the exit code of a command that the signal ended, as in shells."""


_signals: list[int] = []
"""The signals received that end this process."""


INTERRUPT_SECONDS = 0.2
"""Seconds between repeated interrupts of a process that is to end."""


def install_signal_handlers() -> None:
    """Make SIGTERM, which schedulers send on a timeout, end this process as Ctrl-C does, so that it removes its
    temporary files."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # some senders repeat it, and the second would interrupt the clean-up
    _signals.append(number)
    logging.getLogger().handlers = [logging.NullHandler()]  # interrupted libraries would log stack traces
    signal.signal(signal.SIGALRM, _interrupt_again)
    signal.setitimer(signal.ITIMER_REAL, INTERRUPT_SECONDS, INTERRUPT_SECONDS)
    raise KeyboardInterrupt


def _interrupt_again(*_: object) -> None:
    """Raise the interrupt again unless one is being handled: Python drops it in forks and garbage collection."""
    if sys.exc_info()[0] is None:
        raise KeyboardInterrupt


def stop_interrupting() -> None:
    """Stop the repeated interrupts, as the process is ending."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def ending_signal(error: BaseException) -> int | None:
    """Return the signal that ended a command; ``None`` if ``error`` has another cause.

    Libraries may have turned the interrupt into an error of their own.
    """
    if _signals:
        stop_interrupting()
        return _signals[0]
    return signal.SIGINT if isinstance(error, click.Abort | KeyboardInterrupt) else None


def leave(*, failed: bool = False, unread: bool = False, found: bool = False) -> None:
    """Exit with the code of failed gates, else of findings that ``--fail-on`` names, else of unread files, if any."""
    for holds, code in ((failed, GATE_FAILED), (found, FOUND), (unread, NOT_READ)):
        if holds:
            click.get_current_context().exit(code)


def not_read(landed: "Landing | None", passed_over: "Sequence[Skipped]") -> bool:
    """Log what could not be read or was passed over in the landing zone; return True if that may miss something."""
    unread = landed.unread if landed else ()
    missed = [file for file in passed_over if not file.harmless]
    if unread:
        log_event(
            f"Not read, and tried again by the next landing: {len(unread):,} files", logging.WARNING, unread=unread
        )
        print_lines(first(f"  {path}  {problem}" for path, problem in unread))
    if passed_over:
        rows = [asdict(file) for file in passed_over]
        log_event(f"Passed over in the landing zone: {len(passed_over):,}", logging.WARNING, passed_over=rows)
        print_lines(
            first(
                f"  {file.path}  {file.reason}" for file in [*missed, *(file for file in passed_over if file.harmless)]
            )
        )
    return bool(unread or missed)


def gates(tables: Any, done: "Replay | Outcome | None") -> bool:
    """Log failed checks and the clusters held back; return True if a critical check failed."""
    if done is None:
        return False
    log_failed_checks(done.checks)
    if done.held:
        log_event(f"Not published: the newest events of {', '.join(done.held)}", logging.WARNING, held=done.held)
    stops = any(check.stops for check in done.checks)
    if stops and data_docs_wanted():
        from election_replay.jobs.gates.data_docs import data_docs

        if pages := data_docs(tables, done.checks):
            log_event(f"Data docs: {pages.first}")
    return stops


def log_failed_checks(checks: "Iterable[Check]") -> None:
    """Log each failed check."""
    from election_replay.jobs.gates.checks import failure_text

    for check in checks:
        for cluster, failed in check.failed.items():
            level = logging.ERROR if check.stops else logging.WARNING
            names = {"table": check.table, "expectation": check.expectation.name, "cluster": cluster}
            log_event(failure_text(check, cluster), level, rows_failed=failed, **names)


def published(warehouse: str, run_id: str | None = None, before: str | None = None) -> "Published":
    """Open the published tables of a warehouse, as of the last run or of ``run_id``, compared with ``before``."""
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.warehouse.warehouse import Warehouse

    return Published(Warehouse(warehouse), run_id, before)


def summary(tables: "Warehouse", warehouse: str, database: str | None = None) -> None:
    """Print the summary of the published run and the next commands, or log it for machines.

    ``warehouse`` is the path of ``tables`` as it was typed. ``database`` is a DuckDB file to write too.
    """
    from election_replay.jobs.cli.summary import summary as text
    from election_replay.jobs.reading.published import Published

    found = Published(tables)
    if database:
        from pathlib import Path

        from election_replay.jobs.reading.database_file import write_database

        size = write_database(found, Path(database))
        log_event(f"Wrote {database}: {size:,} bytes", database=database, bytes=size)
    if for_machines():
        shown = ("run_id", "published_at", "batch", "clusters", "held", "counts", "code_version", "rules_version")
        log_event("published", **{name: found.run[name] for name in shown})
        return
    for line in text(found, warehouse):
        print_line(line)
