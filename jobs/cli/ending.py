"""How a command ends: what failed or could not be read, the summary, and the exit code."""

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
"""Exit code when what must hold for the tables does not; what holds is published."""


NOT_READ = 4
"""Exit code when something of the landing zone could not be read; all else is landed, judged and published."""


FOUND = 5
"""Exit code of a look that found what `--fail-on` names."""


STOPPED = 128
"""Exit code of a command that a signal ended, less the number of the signal, as shells know it."""


_signals: list[int] = []
"""The signals by which this process was told to end."""


AGAIN_S = 0.2
"""So often a process looks whether it is ending."""


def end_when_told() -> None:
    """Let SIGTERM, by which schedulers stop what takes too long, end this process as Ctrl-C does: then nothing that it
    keeps on disk for a while stays there."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(number: int, _: object) -> None:
    signal.signal(number, signal.SIG_IGN)  # some send it twice, and the second one would end the tidying up
    _signals.append(number)
    logging.getLogger().handlers = [logging.NullHandler()]  # libraries that are disturbed would show stack traces
    signal.signal(signal.SIGALRM, _end_again)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S, AGAIN_S)
    raise KeyboardInterrupt


def _end_again(*_: object) -> None:
    """Python drops what is raised while it forks or collects garbage: where nothing is tidied up, nothing has ended."""
    if sys.exc_info()[0] is None:
        raise KeyboardInterrupt


def stop_reminding() -> None:
    """Say that this process is ending, so that it need not be told again."""
    signal.setitimer(signal.ITIMER_REAL, 0)


def stopped_by(error: BaseException) -> int | None:
    """The signal that ended a command with this error, which libraries may have made of it, or none."""
    if _signals:
        stop_reminding()
        return _signals[0]
    return signal.SIGINT if isinstance(error, click.Abort | KeyboardInterrupt) else None


def leave(*, failed: bool = False, unread: bool = False, found: bool = False) -> None:
    """End the command with the exit code of failed gates, else of what was not to be found, else of unread files."""
    for holds, code in ((failed, GATE_FAILED), (found, FOUND), (unread, NOT_READ)):
        if holds:
            click.get_current_context().exit(code)


def not_read(landed: "Landing | None", passed_over: "Sequence[Skipped]") -> bool:
    """Say what of the landing zone could not be read or had to be passed over; whether anything is missed by it."""
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
    """Say what failed at the gates and which clusters are held back; whether a gate holds one back."""
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
    """Say what fails at the gates."""
    from election_replay.jobs.gates.checks import failure_text

    for check in checks:
        for cluster, failed in check.failed.items():
            level = logging.ERROR if check.stops else logging.WARNING
            names = {"table": check.table, "expectation": check.expectation.name, "cluster": cluster}
            log_event(failure_text(check, cluster), level, rows_failed=failed, **names)


def published(warehouse: str, run_id: str | None = None, before: str | None = None) -> "Published":
    """What is published in a warehouse folder, by the last run or a former one, and the run it is compared with."""
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.warehouse.warehouse import Warehouse

    return Published(Warehouse(warehouse), run_id, before)


def summary(tables: "Warehouse", warehouse: str, database: str | None = None) -> None:
    """What a person wants to know after a run, and what to type next; ``database`` is a file to write what it is.

    ``warehouse`` is where ``tables`` are, as it was typed.
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
