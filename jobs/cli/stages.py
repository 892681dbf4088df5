"""The stages of a night, each with a line of progress."""

import logging
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from election_replay.jobs import WrongCommand
from election_replay.jobs.cli.extras import requiring_extra
from election_replay.jobs.cli.log import known, log_event

if TYPE_CHECKING:
    from election_replay.jobs.engines.engine import Engine
    from election_replay.jobs.engines.spark_engine import SparkEngine
    from election_replay.jobs.land import Landing
    from election_replay.jobs.landing.listing import LogFile
    from election_replay.jobs.replay import Replay
    from election_replay.jobs.replaying.nothing_new import Selection
    from election_replay.jobs.settings.config import Config
    from election_replay.jobs.settings.in_force import InForce
    from election_replay.jobs.warehouse.warehouse import Warehouse


SHORT_BYTES, SHORT_EVENTS = 64 << 20, 500_000
"""With fewer bytes to land and fewer landed events, a Spark session counts as short-lived."""


def is_little(tables: "Warehouse", files: "Sequence[LogFile]") -> bool:
    """Return True if landing ``files`` and judging everything is so little work that Spark's start dominates."""
    judged = tables.count("events") if tables.version("events") is not None else 0
    return sum(file.size for file in files) < SHORT_BYTES and judged < SHORT_EVENTS


def started_spark(
    config: "Config",
    master: str | None,
    debug: bool,
    more: Mapping[str, str] | None = None,
    *,
    short_lived: bool = False,
) -> "SparkEngine":
    """Start Spark with a line of progress; ``more`` are Spark settings of the command alone."""
    from election_replay.jobs.cli.progress import stage

    with requiring_extra("spark", ", or take --engine local where there is one"):
        from election_replay.jobs.engines.spark_engine import SparkEngine
        from election_replay.jobs.engines.spark_session import spark_session

    interrupted = signal.getsignal(signal.SIGINT)
    with stage("spark") as report:
        session = spark_session(
            "election-replay",
            master=master,
            shuffle_partitions=config.shuffle_partitions,
            quiet=not debug,
            short_lived=short_lived,
            more=more,
        )
        if signal.getsignal(signal.SIGINT) is not interrupted:
            signal.signal(
                signal.SIGINT, interrupted
            )  # undo Spark's handler, which only cancels jobs: they end with its JVM
        engine = SparkEngine(session)
        report(engine.title, spark=session.version)
    return engine


PRELOAD = ("election_replay.jobs.cli.preloaded",)
"""Modules that the local engine's processes import before they fork."""


LOCAL_BYTES = 4 << 30
"""Above this many bytes of new logs the local engine advises Spark: two cores land and judge 10 MB a second of logs
dense with elections, which takes seven minutes (``python -m benchmarks.engines``, docs/performance.md)."""


def advise(engine: "Engine", size: int) -> None:
    """Log a warning if Spark is better for ``size`` bytes of new logs than a one-machine ``engine``."""
    if engine.one_machine and size > LOCAL_BYTES:
        log_event(
            f"{size / 1e9:,.1f} GB of new logs are more than the {LOCAL_BYTES / 1e9:.1f} GB that one machine takes in "
            "seven minutes where they are dense: --engine spark deals them to several",
            logging.WARNING,
            bytes=size,
        )


@contextmanager
def engine_of(
    name: str, config: "Config", master: str | None, debug: bool, *, short_lived: bool = False
) -> "Iterator[Engine]":
    """Yield the engine ``spark`` or ``local`` after a line of progress; the local one is closed with the context.

    ``short_lived``: there is little to do. Raises :class:`~jobs.WrongCommand` for a Spark master with ``local``.
    """
    if name == "spark":
        yield started_spark(config, master, debug, short_lived=short_lived)
        return
    if master is not None:
        raise WrongCommand("--master is for Spark: leave it out, or take --engine spark")
    from election_replay.jobs.engines.local_engine import LocalEngine

    with closing(LocalEngine(preload=PRELOAD)) as engine:
        log_event(f"{'local':<8} {engine.title}", engine=name)
        yield engine


def catalog_stage(engine: Any, warehouse: str, catalog: str, schema: str) -> None:
    """Register the tables in a Spark catalogue, with lines of progress."""
    from election_replay.jobs.cli.progress import stage
    from election_replay.jobs.spark_catalog import register_in

    with stage("catalog") as report:
        done = register_in(engine.session, warehouse, catalog, schema)
        text = f"{catalog}.{schema}: {len(done.tables)} tables, {len(done.views)} views"
        report(text, tables=len(done.tables), views=len(done.views))
    for name, reason in done.refused.items():
        log_event(f"{catalog} does not take {name}: {reason}", logging.WARNING)


def of_clusters(files: Sequence["LogFile"], clusters: Sequence[str]) -> list["LogFile"]:
    """Return the files of ``clusters``; all if none is named."""
    return [file for file in files if not clusters or file.cluster in clusters]


def land_stage(engine: "Engine", files: "list[LogFile]", landing: str, tables: Any, config: "Config") -> "Landing":
    """Land ``files``, with a line of progress."""
    size = sum(file.size for file in files)
    engine.prewarm(size)  # before the imports below, which take a quarter of a second
    from election_replay.jobs.land import land as land_job

    def work() -> "Landing":
        advise(engine, size)
        return land_job(engine, files, landing, tables, config)

    return landed_by(engine, work, "{:,} new or grown files", "no new log file, and none has grown")


def land_table_stage(engine: "Engine", name: str, tables: Any, config: "Config") -> "Landing":
    """Land the new rows of a table of raw lines, with a line of progress."""
    from election_replay.jobs.land import land_table

    work = partial(land_table, engine, name, tables, config)
    return landed_by(engine, work, "new rows of {:,} logs", f"no new row in {name}")


def landed_by(engine: "Engine", work: "Callable[[], Landing]", files: str, nothing: str) -> "Landing":
    """Run a landing with a line of progress, and return its result.

    ``files`` is the text about the number of files, ``nothing`` the text if there was nothing new.
    """
    from election_replay.jobs.cli.progress import rate, stage

    with stage("land", engine) as report:
        began = time.monotonic()
        done = work()
        if done.batch is None:
            report(nothing)
            return done
        known(batch=done.batch)
        report(f"{files.format(done.files)}, {done.bytes_read / 1e6:,.1f} MB")
        report(rate(done.lines_total, time.monotonic() - began, "lines"))
        became = (
            f"{done.lines_event:,} events, {done.lines_ignored:,} ignored, {done.lines_quarantined:,} in quarantine"
        )
        if done.lines_repeated:
            became += f"; {done.lines_repeated:,} lines stand twice and were read once"
        report(became, **{name: value for name, value in asdict(done).items() if name != "unread"})
    return done


def replay_stage(
    engine: "Engine",
    tables: Any,
    settings: "InForce",
    selection: "Selection | None" = None,
    *,
    publishing: bool = True,
) -> "Replay":
    """Replay, with a line of progress."""
    from election_replay.jobs.cli.progress import rate, stage
    from election_replay.jobs.publishing.runs import newest_run
    from election_replay.jobs.replay import replay as replay_job
    from election_replay.jobs.replaying.nothing_new import EVERYTHING

    with stage("replay", engine) as report:
        began = time.monotonic()
        done = replay_job(
            engine,
            tables,
            settings.config.inventoried(),
            selection or EVERYTHING,
            publishing=publishing,
            settings=settings.source,
        )
        if not done.clusters:
            report("nothing to judge")
        else:
            report(f"{len(done.clusters):,} clusters", clusters=done.clusters)
            report(rate(done.events, time.monotonic() - began, "events"), events=done.events)
        known(run_id=(newest_run(tables) or {}).get("run_id"))
        report(f"published as run {done.run_id}" if done.run_id else "nothing published")
    return done
