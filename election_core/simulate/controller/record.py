"""The real decisions of a world's controller, and those that its kept lines show."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from election_replay.election_core.protocols.controller.tables import Recorded
from election_replay.election_core.simulate.world import Line, World

ELECTED, NOBODY, CHANGED, APPLIED, MOVED, CLEANED = "elected", "nobody", "changed", "applied", "moved", "cleaned"
_EVENTS = {
    "AlterSyncStateSetEvent": CHANGED,
    "ApplyBrokerIdEvent": APPLIED,
    "UpdateBrokerAddressEvent": MOVED,
    "CleanBrokerDataEvent": CLEANED,
}


@dataclass(frozen=True, slots=True)
class Decision:
    """One event, with the record after it; ``shown``: both the decision and its commit are in the log. ``broken``: the
    record does not follow from the one before, because an old copy of it was restored in between."""

    line: Line
    outcome: str
    event: dict[str, Any]
    recorded: Recorded
    shown: bool

    @property
    def winner(self) -> str | None:
        """The elected broker, as findings name it; None without one."""
        return str(self.recorded.master) if self.outcome == ELECTED else None

    @property
    def members(self) -> tuple[str, ...]:
        """The recorded set, as findings name its members."""
        return tuple(str(broker_id) for broker_id in self.recorded.members)


def decisions(world: World) -> list[Decision]:
    """Return all decisions of the controllers, in order."""
    return list(_decisions(world))


def _decisions(world: World) -> Iterator[Decision]:
    lines = [line for line in world.lines if line.kind in ("CTL_EVENT", "CTL_APPLIED")]
    for line, following in zip_longest(lines, lines[1:]):
        shown = line.kept and following is not None and following.kind == "CTL_APPLIED" and following.kept
        for name, *of in line.value("events") or ():
            event = dict(of)
            outcome = _EVENTS.get(name) or (ELECTED if event["newMasterElected"] else NOBODY)
            yield Decision(line, outcome, event, line.value("recorded"), shown)


def elections(world: World) -> list[Decision]:
    """Return all elections, with a winner or without."""
    return [decision for decision in decisions(world) if decision.outcome in (ELECTED, NOBODY)]


def sets(world: World) -> list[Decision]:
    """Return all values of the SyncStateSet."""
    return [decision for decision in decisions(world) if decision.outcome in (ELECTED, CHANGED)]
