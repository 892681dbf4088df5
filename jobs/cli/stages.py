"""The stages of a night, each with a line about it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jobs import WrongCommand
from jobs.cli.extras import needing
from jobs.cli.log import known, tell

if TYPE_CHECKING:
    from jobs.engines.engine import Engine
    from jobs.engines.spark_engine import SparkEngine
    from jobs.land import Landing
    from jobs.landing.landing_zone import Skipped
    from jobs.landing.listing import LogFile
    from jobs.replay import Replay
    from jobs.replaying.selection import Selection
    from jobs.settings.config import Config
    from jobs.settings.in_force import InForce


def started(config: "Config", master: str | None, debug: bool, more: Mapping[str, str] | None = None) -> "SparkEngine":
    """Spark, with a line about it; ``more`` are settings of the command alone."""
    from jobs.cli.progress import stage

    with needing("spark", ", or take --engine local where there is one"):
        from jobs.engines.spark_engine import SparkEngine
        from jobs.engines.spark_session import spark_session

    with stage("spark") as report:
        session = spark_session(
            "election-replay",
            master=master,
            shuffle_partitions=config.shuffle_partitions,
            quiet=not debug,
            more=more,
        )
        engine = SparkEngine(session)
        report(engine.title, spark=session.version)
    return engine


PRELOAD = ("jobs.landing.one_file", "jobs.replaying.judging")
"""What the processes of the local engine need."""


@contextmanager
def engine_of(name: str, config: "Config", master: str | None, debug: bool) -> "Iterator[Engine]":
    """The engine of this name, ``spark`` or ``local``, with a line about it; it ends with the context.

    Raises :class:`~jobs.WrongCommand` for a Spark master without Spark.
    """
    if name == "spark":
        yield started(config, master, debug)
        return
    if master is not None:
        raise WrongCommand("--master is for Spark: leave it out, or take --engine spark")
    from jobs.engines.local_engine import LocalEngine

    with closing(LocalEngine(preload=PRELOAD)) as engine:
        tell(f"{'local':<8} {engine.title}", engine=name)
        yield engine


def of_clusters(files: Sequence["LogFile"], clusters: Sequence[str]) -> list["LogFile"]:
    """The files of these clusters; all, if none is named."""
    return [file for file in files if not clusters or file.cluster in clusters]


def land_stage(
    engine: "Engine", landing: str, tables: Any, config: "Config", clusters: Sequence[str] = ()
) -> "tuple[Landing, list[Skipped]]":
    """Land, with a line about it. What was landed, and what had to be passed over."""
    from jobs.cli.progress import rate, stage
    from jobs.land import land as land_job
    from jobs.land import new_files

    passed_over: list[Skipped] = []
    with stage("land", engine) as report:
        began = time.monotonic()
        files = of_clusters(new_files(landing, tables, config, passed_over.append), clusters)
        done = land_job(engine, files, landing, tables, config)
        if done.batch is None:
            report("no new log file, and none has grown")
            return done, passed_over
        known(batch=done.batch)
        report(f"{done.files:,} new or grown files, {done.bytes_read / 1e6:,.1f} MB")
        report(rate(done.lines_total, time.monotonic() - began, "lines"))
        became = (
            f"{done.lines_event:,} events, {done.lines_ignored:,} ignored, {done.lines_quarantined:,} in quarantine"
        )
        report(became, **{name: value for name, value in asdict(done).items() if name != "unread"})
    return done, passed_over


def replay_stage(
    engine: "Engine",
    tables: Any,
    settings: "InForce",
    selection: "Selection | None" = None,
    *,
    publishing: bool = True,
) -> "Replay":
    """Replay, with a line about it."""
    from jobs.cli.progress import rate, stage
    from jobs.publishing.runs import newest_run
    from jobs.replay import replay as replay_job
    from jobs.replaying.selection import EVERYTHING

    with stage("replay", engine) as report:
        began = time.monotonic()
        done = replay_job(
            engine,
            tables,
            settings.config.listed(),
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
