"""The plan of a replay: what there is to judge when it begins."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from election_replay.election_core.model.inventory import Inventory
from election_replay.jobs import JobError
from election_replay.jobs.engines.engine import Among, Engine, NamedBy, OneOf, Rows, UpTo
from election_replay.jobs.replaying.introducing import introduced_clusters, with_introductions, with_lost_order
from election_replay.jobs.replaying.nothing_new import EVERYTHING, Selection, batch_published, held_by
from election_replay.jobs.replaying.source_delta import (
    CHECKPOINTS,
    OF_RULES,
    SOURCE,
    WATERMARKS,
    CheckpointedSource,
    Extent,
    UpdatedSource,
    extent,
    known_sources,
    splits_by_cluster,
    updated_sources,
    with_last_files,
)
from election_replay.jobs.warehouse.pointer import OF_GROUP, PUBLISHED
from election_replay.jobs.warehouse.replacing import DeletedKeys
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

NOTHING_SELECTED = "no event is landed of the clusters and nights that were asked for"


FACTS = TABLES["facts"]


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """The state of a warehouse when a replay begins.

    ``pointer`` are the rows of ``gold.published``; ``None`` if nothing is published. ``landed`` are the events up to
    the landing ``last_batch``; ``since`` is the last landing whose verdicts are valid (0: judge everything anew);
    ``versions`` are those of the tables. ``published_batch`` is the last landing of the published run. ``known`` are
    the sources with a checkpoint, ``updated`` those with events after ``since``. Clusters are ``pending`` if they have
    such events or were held back before (``held_before``); ``asked`` are those to judge.
    """

    selection: Selection
    started_at: datetime
    last_batch: int
    since: int
    held_before: list[str]
    published_batch: int
    versions: dict[str, int]
    pointer: Rows | None
    landed: Rows
    checkpoints: Rows
    known: list[CheckpointedSource]
    updated: list[UpdatedSource]
    pending: set[str]
    asked: set[str]

    @property
    def run_id(self) -> str:
        """Return the id of the run: its start and the last landing."""
        return f"{self.started_at:%Y%m%dT%H%M%S.%fZ}-{self.last_batch}"

    @property
    def unchecked_since(self) -> int:
        """Return the last landing whose rows have passed the gates; 0 if all must be checked."""
        return self.since if self.selection == EVERYTHING and not self.held_before else 0

    @property
    def doubtful(self) -> set[str]:
        """Return the clusters whose checkpoints may be newer than their published verdicts.

        These are clusters that were held back, and those with checkpoints of an unpublished replay.
        """
        ahead = {source.cluster for source in self.known if source.batch > self.published_batch}
        return ahead | {*self.held_before} if self.since else ahead

    def updated_in(self, clusters: Collection[str]) -> list[UpdatedSource]:
        """Return the sources of ``clusters`` with new events."""
        return [source for source in self.updated if source.cluster in clusters]

    def held(self, clusters: Collection[str]) -> list[str]:
        """Return the clusters whose newest events stay unpublished if only ``clusters`` are judged."""
        return sorted((self.pending | self.asked).difference(clusters))


def plan_replay(engine: Engine, warehouse: Warehouse, inventory: Inventory, selection: Selection) -> ReplayPlan:
    """Create missing tables, and return what there is to judge.

    Raises :class:`JobError` if no cluster of the selection has events.
    """
    last_batch, published = warehouse.last_batch(), warehouse.published()
    started_at = warehouse.next_timestamp("runs", "started_at", "published_at")
    since = batch_published(warehouse, published, inventory)
    warehouse.create()
    versions = warehouse.versions()
    landed, held_before = Rows("events", versions["events"]).where(UpTo("batch", last_batch)), held_by(published)
    checkpoints = Rows(CHECKPOINTS.name, versions[CHECKPOINTS.name]).where(OF_RULES)
    # After a replay that was killed, watermarks may not match the checkpoints.
    ends = Rows(WATERMARKS.name, versions[WATERMARKS.name]).where(OF_RULES) if since else checkpoints
    known = known_sources(engine, warehouse, ends) if warehouse.count(ends.table) else []
    updated = updated_sources(engine, warehouse, landed, since, min((source.batch for source in known), default=0))
    known = with_last_files(engine, warehouse, ends, known, updated)
    pending = {*(source.cluster for source in updated), *held_before}
    asked = pending if selection == EVERYTHING else set(selected_clusters(engine, warehouse, landed, selection))
    return ReplayPlan(
        selection=selection,
        started_at=started_at,
        last_batch=last_batch,
        since=since,
        held_before=held_before,
        published_batch=int(published["batch"]) if published else 0,
        versions=versions,
        pointer=pointer_of(published),
        landed=landed,
        checkpoints=checkpoints,
        known=known,
        updated=updated,
        pending=pending,
        asked=asked,
    )


def pointer_of(published: Mapping[str, Any] | None) -> Rows | None:
    """Return the pointer rows of the published run; ``None`` if nothing is published."""
    return Rows(PUBLISHED, published["versions"][PUBLISHED]) if published else None


@dataclass(frozen=True, slots=True)
class Work:
    """The task of one replay, a part of its ``plan``.

    ``facts_hashes`` are the hashes of the closed facts of sources with a checkpoint. ``everything``: no cluster is left
    out, so the tables are written whole. ``splits_by_cluster`` is the number of tasks for each cluster, one if not
    named.
    """

    engine: Engine
    warehouse: Warehouse
    plan: ReplayPlan
    inventory: Inventory
    extent: Extent
    facts_hashes: Mapping[tuple[str, str], str | None]
    everything: bool
    splits_by_cluster: Mapping[str, int]

    @property
    def clusters(self) -> tuple[str, ...]:
        """Return the sorted clusters to judge."""
        return tuple(sorted({*self.extent.whole, *self.extent.partly}))

    @property
    def folded(self) -> DeletedKeys:
        """Return the keys of the open facts and checkpoints that are rewritten."""
        return DeletedKeys(frozenset(self.extent.whole), frozenset(self.extent.touched))

    def of_sources(self, *, wanted: bool = True) -> Among:
        """Return the condition of rows of the touched sources, or of all others if not ``wanted``."""
        return Among(SOURCE, frozenset(self.extent.touched), wanted)

    def published_rows(self, table: str) -> Rows | None:
        """Return the published rows of a judged table; ``None`` if nothing is published."""
        if self.plan.pointer is None:
            return None
        return Rows(table, self.plan.versions[table]).where(NamedBy(OF_GROUP, self.plan.pointer))

    def newest(self, table: str, clusters: tuple[str, ...]) -> Rows:
        """Return the rows of ``clusters`` in the newest version of ``table``."""
        return Rows(table, self.warehouse.version(table)).where(OneOf("cluster", clusters))

    def old(self, table: str) -> Rows:
        """Return the rows of partly judged clusters, as they were when the work began."""
        return Rows(table, self.plan.versions[table]).where(OneOf("cluster", self.extent.partly))


def work_of(
    engine: Engine, warehouse: Warehouse, inventory: Inventory, plan: ReplayPlan, clusters: Collection[str]
) -> Work:
    """Return the work that judges ``clusters``, a part of the plan."""
    updated, known = plan.updated_in(clusters), [source for source in plan.known if source.cluster in clusters]
    facts = Rows(FACTS.name, plan.versions[FACTS.name])
    introduced = introduced_clusters(engine, warehouse, facts, updated, clusters)
    doubtful = clusters if plan.selection.from_events else plan.doubtful | introduced
    part = bool(plan.since) and plan.selection == EVERYTHING
    files = Rows("landed_files", plan.versions["landed_files"])
    inventory = with_lost_order(inventory, engine, warehouse, files, clusters)
    return Work(
        engine=engine,
        warehouse=warehouse,
        plan=plan,
        inventory=with_introductions(inventory, engine, warehouse, plan.landed, introduced),
        extent=extent(updated, plan.known, clusters, doubtful, part=part),
        facts_hashes={source.source: source.facts_hash for source in known},
        everything=not plan.since and not plan.held(clusters),
        splits_by_cluster=splits_by_cluster(updated, known, engine.tasks),
    )


def selected_clusters(engine: Engine, warehouse: Warehouse, events: Rows, selection: Selection) -> list[str]:
    """Return the sorted clusters with events in the selection. Raises :class:`JobError` if there are none."""
    if selection.clusters is not None:
        events = events.where(OneOf("cluster", selection.clusters))
    first, last = selection.since or date.min, selection.until or date.max
    sql = (
        f"SELECT DISTINCT cluster FROM {{rows}} WHERE CAST(event_time AS DATE) BETWEEN DATE '{first}' AND DATE '{last}'"
    )
    found = engine.answer(warehouse, sql, events.select(("cluster", "event_time"))).column("cluster").to_pylist()
    if not found:
        raise JobError(NOTHING_SELECTED)
    return sorted(found)
