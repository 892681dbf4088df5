"""The inventory: what the settings define where logs do not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from election_replay.election_core.model.introductions import Introduced
from election_replay.election_core.model.timing import TimingRule


@dataclass(frozen=True, slots=True)
class InventoryRow:
    """The group and member of a source by the inventory; they count only where the log does not show them.
    ``order_lost``: its lines do not stand as they were written."""

    replica_group: str | None = None
    member: str | None = None
    order_lost: bool = False


NO_ENTRY = InventoryRow()


@dataclass(frozen=True, slots=True)
class Inventory:
    """Members of sources, by (cluster, node), and time-outs of groups. ``introduced`` maps (cluster, node) and stream
    to what all logs of the cluster reveal about that log."""

    listed: Mapping[tuple[str, str], InventoryRow] = field(default_factory=dict)
    timing: tuple[TimingRule, ...] = ()
    introduced: Mapping[tuple[str, str], Mapping[str, Introduced]] = field(default_factory=dict)


NO_INVENTORY = Inventory()
"""An empty inventory."""
