"""Replay: what is new since the last published run, judged and published.

One row in ``runs`` publishes it: it names the version of every table; see :mod:`jobs.publish`. What is done to the
tables stands in :mod:`jobs.replaying.judging`. All clusters are judged whole when the rules or the inventory have
changed; else the groups that new events speak of.
"""

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from election_core import RULES_VERSION
from election_core.replay import arrow_passes as core
from election_core.replay.fact_rows import FACTS_VERSION
from jobs import JobError
from jobs.publish import Judged, hold_back, publish, stands, waits, write_run
from jobs.replaying.checkpoints import states_of
from jobs.replaying.judging import judge_all
from jobs.replaying.news import extent, known_sources, new_sources, nights, pieces
from jobs.replaying.work import NO_INVENTORY, Work
from jobs.validate import LANDED, Check, check, record, stopped
from jobs.warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clusters to judge: those named, and of them those with events of the nights (days UTC, both included).

    ``None`` is no limit. A cluster is always judged whole. What is selected is judged anew, whether it is new or not;
    with ``from_events`` from its first event on, not from the states of former nights.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None
    from_events: bool = False


EVERYTHING = Selection()
NOTHING_SELECTED = "no event is landed of the clusters and nights that were asked for"


@dataclass(frozen=True, slots=True)
class Replay:
    """What one replay did; ``run_id`` is ``None`` when it published nothing.

    ``held`` are the clusters whose newest events are not published, ``checks`` what the gates found.
    """

    run_id: str | None
    clusters: tuple[str, ...] = ()
    events: int = 0
    held: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()


def nothing_new(warehouse: Warehouse, inventory: core.Inventory = NO_INVENTORY) -> bool:
    """Whether what is published is all that there is to say, with this inventory.

    Raises :class:`~jobs.JobError` when nothing was ever landed.
    """
    if not (last_batch := warehouse.last_batch()):
        raise JobError(f"nothing is landed in {warehouse.root}: run `election-replay land` first")
    published = warehouse.published()
    return batch_published(warehouse, published, inventory) == last_batch and not held_by(published)


def replay(
    spark: SparkSession,
    warehouse: Warehouse,
    inventory: core.Inventory = NO_INVENTORY,
    selection: Selection = EVERYTHING,
    *,
    publishing: bool = True,
) -> Replay:
    """Replay what is new, or what is selected, and publish it as far as its gates hold.

    With ``publishing`` false the tables are written and their run is noted as judged; readers see nothing of it.
    """
    if selection == EVERYTHING and nothing_new(warehouse, inventory):
        return Replay(None)
    started, last_batch, before = datetime.now(UTC), warehouse.last_batch(), warehouse.published()
    since = batch_published(warehouse, before, inventory)
    if selection != EVERYTHING and waits(warehouse):
        raise JobError("a replay of everything waits to be published: publish it first, then judge a part anew")
    warehouse.create()
    versions = warehouse.versions()
    landed, held_before = warehouse.landed(spark, "events", last_batch), held_by(before)
    states = states_of(spark, warehouse)
    known = known_sources(states)
    news = new_sources(landed, since, min((one.batch for one in known), default=0))
    pending = {*(one.cluster for one in news), *held_before}
    asked = pending if selection == EVERYTHING else set(selected(landed, selection))
    looked_at = since if selection == EVERYTHING and not held_before else 0
    checks = check(warehouse, LANDED, asked, since=looked_at)
    record(warehouse, checks)
    clusters = sorted(asked - stopped(checks, asked))
    held = sorted((pending | asked).difference(clusters))
    if not clusters and since == last_batch and held == held_before:
        return Replay(None, held=tuple(held), checks=tuple(checks))
    run_id = f"{started:%Y%m%dT%H%M%S.%fZ}-{last_batch}"
    own = [one for one in news if one.cluster in clusters]
    everything = not since and not held
    if clusters or everything:
        doubtful = clusters if selection.from_events else held_before if since else []
        part = bool(since) and selection == EVERYTHING
        reads = extent(own, known, clusters, doubtful, part=part)
        tasks = int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
        dealt = pieces(own, [one for one in known if one.cluster in clusters], tasks)
        work = Work(spark, warehouse, run_id, inventory, landed, last_batch, reads, everything, versions, dealt)
        judge_all(work, states)
    if not since:
        hold_back(warehouse, held, run_id)
    judged = Judged(
        run_id, started, last_batch, nights(own), tuple(clusters), inventory_version(inventory), versions, tuple(held)
    )
    events = sum(one.events for one in own)
    if not publishing:
        write_run(warehouse, judged, "judged", held)
        return Replay(None, judged.clusters, events, judged.held, tuple(checks))
    done = publish(warehouse, judged)
    return Replay(done.run_id, judged.clusters, events, done.held, (*checks, *done.checks))


def held_by(published: Mapping[str, Any] | None) -> list[str]:
    """The clusters that have newer events than a run shows."""
    return sorted(published["held"] or ()) if published else []


def clusters_in(events: DataFrame) -> list[str]:
    """The clusters that events are of."""
    return sorted(row["cluster"] for row in events.select("cluster").distinct().collect())


def selected(events: DataFrame, selection: Selection) -> list[str]:
    """The clusters that a selection names, of those that have events. Raises :class:`JobError` if there are none."""
    if selection.clusters is not None:
        events = events.where(F.col("cluster").isin(list(selection.clusters)))
    if selection.since is not None:
        events = events.where(F.to_date("event_time") >= F.lit(selection.since))
    if selection.until is not None:
        events = events.where(F.to_date("event_time") <= F.lit(selection.until))
    found = clusters_in(events)
    if not found:
        raise JobError(NOTHING_SELECTED)
    return found


def batch_published(warehouse: Warehouse, published: Mapping[str, Any] | None, inventory: core.Inventory) -> int:
    """The last landing whose verdicts stand; 0 when everything must be judged anew.

    That is so under new rules, with facts of another version, with another inventory, and when a replay was killed
    after it had written some tables.
    """
    if published is None or published["rules_version"] != RULES_VERSION:
        return 0
    if published["facts_version"] != FACTS_VERSION:
        return 0
    if published["inventory_version"] != inventory_version(inventory):
        return 0
    return int(published["batch"]) if stands(warehouse, published) else 0


def inventory_version(inventory: core.Inventory) -> str:
    """A name for what an inventory says."""
    said = sorted((*source, listed.replica_group, listed.member or "") for source, listed in inventory.items())
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


def main() -> None:
    """Run as a job of its own: ``spark-submit jobs/replay.py --warehouse DIR``."""
    from jobs.cli.app import main as command_line

    sys.exit(command_line(["replay", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
