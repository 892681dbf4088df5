"""The selection of a replay, and the check whether anything is new: most nights of a quiet fleet end here.

The module imports and opens so little that the check takes less than a second.
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
    """Return True if everything landed is published, under the current rules and with this inventory.

    Raises :class:`~jobs.JobError` if nothing is landed.
    """
    if nothing_landed(warehouse):
        raise JobError(f"nothing is landed in {warehouse.root}: run `election-replay land` first")
    published = warehouse.published()
    return batch_published(warehouse, published, inventory) == warehouse.last_batch() and not held_by(published)


def nothing_landed(warehouse: Warehouse) -> bool:
    """Return True if no landed file is recorded: nothing was landed, or everything was erased."""
    return warehouse.version("landed_files") is None or not warehouse.count("landed_files")


def held_by(published: Mapping[str, Any] | None) -> list[str]:
    """Return the sorted clusters with newer events than the published run shows."""
    return sorted(published["held"] or ()) if published else []


def batch_published(warehouse: Warehouse, published: Mapping[str, Any] | None, inventory: Inventory) -> int:
    """Return the number of the last landing whose verdicts are valid; 0 if everything must be judged anew.

    That is the case under new rules, with facts of another version, with another inventory, and after a replay that was
    killed when it had written some tables.
    """
    if published is None or published["rules_version"] != RULES_VERSION:
        return 0
    if published["facts_version"] != FACTS_VERSION:
        return 0
    if published["inventory_version"] != inventory_version(inventory):
        return 0
    return int(published["batch"]) if unchanged_since(warehouse, published) else 0


def inventory_version(inventory: Inventory) -> str:
    """Return a hash (16 hex digits) of an inventory's members and timings."""
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
    """The clusters to judge: those named that have events on the days ``since`` to ``until`` (UTC, both included).

    ``None`` is no limit. A selected cluster is judged whole and anew, even if nothing is new; ``from_events``: from its
    first event, not from checkpoints.
    """

    clusters: tuple[str, ...] | None = None
    since: date | None = None
    until: date | None = None
    from_events: bool = False


EVERYTHING = Selection()
