"""The stages of a night, each with a line about it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jobs.cli.log import known

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jobs.land import Landing
    from jobs.landing.landing_zone import Skipped
    from jobs.landing.listing import LogFile
    from jobs.replay import Replay
    from jobs.replaying.selection import Selection
    from jobs.settings.config import Config
    from jobs.settings.in_force import InForce


def started(config: "Config", master: str | None, debug: bool, more: Mapping[str, str] | None = None) -> "SparkSession":
    """The Spark session, with a line about it; ``more`` are settings of the command alone."""
    from jobs.cli.progress import stage
    from jobs.engines.spark_session import spark_session

    with stage("spark") as report:
        spark = spark_session(
            "election-replay",
            master=master,
            shuffle_partitions=config.shuffle_partitions,
            quiet=not debug,
            more=more,
        )
        report(f"{spark.version} on {spark.sparkContext.master}", spark=spark.version)
    return spark


def of_clusters(files: Sequence["LogFile"], clusters: Sequence[str]) -> list["LogFile"]:
    """The files of these clusters; all, if none is named."""
    return [file for file in files if not clusters or file.cluster in clusters]


def land_stage(
    spark: "SparkSession", landing: str, tables: Any, config: "Config", clusters: Sequence[str] = ()
) -> "tuple[Landing, list[Skipped]]":
    """Land, with a line about it. What was landed, and what had to be passed over."""
    from jobs.cli.progress import rate, stage
    from jobs.land import land as land_job
    from jobs.land import new_files

    passed_over: list[Skipped] = []
    with stage("land", spark) as report:
        began = time.monotonic()
        files = of_clusters(new_files(landing, tables, config, passed_over.append), clusters)
        done = land_job(spark, files, landing, tables, config)
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
    spark: "SparkSession",
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

    with stage("replay", spark) as report:
        began = time.monotonic()
        done = replay_job(
            spark,
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
