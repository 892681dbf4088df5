"""Replay: judges and publishes what is new since the last published run.

:mod:`jobs.replaying.judging` writes the tables and :mod:`jobs.publish` publishes them. If the rules or the inventory
have changed, all clusters are judged whole; otherwise only groups that new events concern.
"""

import sys
from collections.abc import Collection
from dataclasses import dataclass, replace

from election_replay.election_core.model.inventory import NO_INVENTORY, Inventory
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Engine
from election_replay.jobs.gates.checks import Check, blocked_clusters, check, record
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
    """The result of one replay; ``run_id`` is ``None`` if it published nothing.

    ``held`` are the clusters whose newest events are not published, ``checks`` the results of the gates.
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
    """Judge what is new, or what is selected, and publish the clusters that pass the gates.

    With ``publishing`` false the tables are written and the run is recorded as judged, and readers do not see it.
    ``settings`` names the source of the settings in the run's row. Raises :class:`~jobs.JobError` if nothing is landed,
    if nothing selected has events, or if another replay is in the way.
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
        judged = replace(judged_run(plan, clusters, inventory, settings), written=written)
    events = sum(source.events for source in plan.updated_in(clusters))
    if not publishing:
        note_judged(warehouse, judged)
        return Replay(None, judged.clusters, events, judged.held, checks)
    done = publish(warehouse, judged)
    return Replay(done.run_id, judged.clusters, events, done.held, (*checks, *done.checks))


def through_gates(warehouse: Warehouse, plan: ReplayPlan) -> tuple[list[str], tuple[Check, ...]]:
    """Return the clusters to judge whose landed rows pass the gates, sorted, and the results of the gates."""
    checks = check(warehouse, LANDED, plan.asked, since=plan.unchecked_since)
    record(warehouse, checks)
    return sorted(plan.asked - blocked_clusters(checks, plan.asked)), tuple(checks)


def judged_run(plan: ReplayPlan, clusters: Collection[str], inventory: Inventory, settings: str | None) -> Judged:
    """Return the description of a replay of ``clusters``, for publishing it."""
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
