"""Replay: what is new since the last published run, judged and published.

One row in ``runs`` publishes it: it names the version of every table; see :mod:`jobs.publish`. What is done to the
tables stands in :mod:`jobs.replaying.judging`. All clusters are judged whole when the rules or the inventory have
changed; else the groups that new events speak of.
"""

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace

from election_replay.election_core.model.inventory import NO_INVENTORY, Inventory
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.gates.checks import Check, check, record, stopped
from election_replay.jobs.publish import publish
from election_replay.jobs.publishing.runs import Judged, has_unpublished_run, note_judged, revert_clusters
from election_replay.jobs.replaying.judging import judge_all
from election_replay.jobs.replaying.nothing_new import EVERYTHING, Selection, inventory_version, nothing_new
from election_replay.jobs.replaying.plan import ReplayPlan, plan_replay, work_of
from election_replay.jobs.replaying.source_delta import nights
from election_replay.jobs.warehouse.table_sets import LANDED
from election_replay.jobs.warehouse.warehouse import Warehouse


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


def replay(
    engine: Engine,
    warehouse: Warehouse,
    inventory: Inventory = NO_INVENTORY,
    selection: Selection = EVERYTHING,
    *,
    publishing: bool = True,
    settings: str | None = None,
) -> Replay:
    """Replay what is new, or what is selected, and publish it as far as its gates hold.

    With ``publishing`` false the tables are written and their run is noted as judged; readers see nothing of it.
    ``settings`` is what the run says of where its settings came from. Raises :class:`~jobs.JobError` when nothing was
    ever landed, or is landed of what is selected, and when another replay is in the way.
    """
    if selection == EVERYTHING and nothing_new(warehouse, inventory):
        return Replay(None)
    if selection != EVERYTHING and has_unpublished_run(warehouse):
        raise JobError("a replay of everything waits to be published: publish it first, then judge a part anew")
    with warehouse.pinned_snapshot():
        plan = plan_replay(engine, warehouse, inventory, selection)
        clusters, checks = through_gates(warehouse, plan)
        held = plan.held(clusters)
        if not clusters and plan.since == plan.last_batch and held == plan.held_before:
            return Replay(None, held=tuple(held), checks=checks)
        work = work_of(engine, warehouse, inventory, plan, clusters)
        written = judge_all(work) if clusters or work.everything else {}
        if not plan.since:
            revert_clusters(warehouse, held, plan.run_id)
        judged = replace(judged_by(plan, clusters, inventory, settings), written=written)
    events = sum(source.events for source in plan.updated_in(clusters))
    if not publishing:
        note_judged(warehouse, judged)
        return Replay(None, judged.clusters, events, judged.held, checks)
    done = publish(warehouse, judged)
    return Replay(done.run_id, judged.clusters, events, done.held, (*checks, *done.checks))


def through_gates(warehouse: Warehouse, plan: ReplayPlan) -> tuple[list[str], tuple[Check, ...]]:
    """The clusters that are asked for and pass the gates of what is landed, and what the gates found."""
    checks = check(warehouse, LANDED, plan.asked, since=plan.unchecked_since)
    record(warehouse, checks)
    return sorted(plan.asked - stopped(checks, plan.asked)), tuple(checks)


def judged_by(plan: ReplayPlan, clusters: Collection[str], inventory: Inventory, settings: str | None) -> Judged:
    """What a replay of ``clusters`` says of itself when it is published."""
    return Judged(
        run_id=plan.run_id,
        started_at=plan.started_at,
        batch=plan.last_batch,
        nights=nights(plan.updated_in(clusters)),
        clusters=tuple(clusters),
        inventory_version=inventory_version(inventory),
        before=plan.versions,
        held=tuple(plan.held(clusters)),
        settings=settings,
    )


if __name__ == "__main__":
    from election_replay.jobs.cli.app import main

    sys.exit(main(["replay", *sys.argv[1:]]))
