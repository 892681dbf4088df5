"""What the settings say where logs do not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from election_replay.election_core.model.introductions import Introduced
from election_replay.election_core.model.timing import TimingRule


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """Whom the inventory says that a source speaks for; it counts only where the log does not say."""

    replica_group: str | None = None
    member: str | None = None


NO_ENTRY = InventoryRow()


@dataclass(frozen=True, slots=True)
class Inventory:
    """What the settings say where logs do not: whom a source speaks for, by cluster and node; times of groups.

    ``introduced`` is what all logs of a cluster say together of each of them, by cluster and node, and by stream.
    """

    listed: Mapping[tuple[str, str], InventoryRow] = field(default_factory=dict)
    timing: tuple[TimingRule, ...] = ()
    introduced: Mapping[tuple[str, str], Mapping[str, Introduced]] = field(default_factory=dict)


NO_INVENTORY = Inventory()
"""The settings say nothing."""
