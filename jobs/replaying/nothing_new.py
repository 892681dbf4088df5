"""What is asked of a replay, and whether there is anything to judge: most nights of a quiet fleet end here.

So little is imported and opened for it that the answer comes in less than a second.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from election_replay.election_core import FACTS_VERSION, RULES_VERSION
from election_replay.election_core.model.inventory import NO_INVENTORY, Inventory
from election_replay.jobs import JobError
from election_replay.jobs.warehouse.table_sets import unchanged_since
from election_replay.jobs.warehouse.warehouse import Warehouse


def nothing_new(warehouse: Warehouse, inventory: Inventory = NO_INVENTORY) -> bool:
    """Whether what is published is all that there is to say, with this inventory.

    Raises :class:`~jobs.JobError` when nothing was ever landed.
    """
    if nothing_landed(warehouse):
        raise JobError(f"nothing is landed in {warehouse.root}: run `election-replay land` first")
    published = warehouse.published()
    return batch_published(warehouse, published, inventory) == warehouse.last_batch() and not held_by(published)


def nothing_landed(warehouse: Warehouse) -> bool:
    """Whether no landing stands here: there was none, or all that was landed is erased."""
    return warehouse.version("landed_files") is None or not warehouse.count("landed_files")


def held_by(published: Mapping[str, Any] | None) -> list[str]:
    """The clusters that have newer events than a run shows."""
    return sorted(published["held"] or ()) if published else []


def batch_published(warehouse: Warehouse, published: Mapping[str, Any] | None, inventory: Inventory) -> int:
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
    return int(published["batch"]) if unchanged_since(warehouse, published) else 0


def inventory_version(inventory: Inventory) -> str:
    """A name for what an inventory says."""
    entries = sorted(
        (*source, member.replica_group, member.member or "") for source, member in inventory.listed.items()
    )
    times = [
        (rule.cluster, rule.replica_group, *((timeout.name, ms) for timeout, ms in rule.timeouts))
        for rule in inventory.timing
    ]
    return hashlib.sha256(repr([*entries, *times]).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Selection:
    """Which clusters to judge: those named, and of them those with events of the nights (days UTC, both included).

    ``None`` is no limit. A cluster is always judged whole. What is selected is judged anew, whether it is new or not;
    with ``from_events`` from its first event on, not from the checkpoints of former nights.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None
    from_events: bool = False


EVERYTHING = Selection()
