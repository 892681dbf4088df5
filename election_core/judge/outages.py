"""What every finding of an outage says in columns: who led before it and after it, and when somebody served."""

from typing import Any

from election_replay.election_core.fold.roles import DIED, ENDED_ITSELF, PREFERRED, REMOVED, STOPPED, TRANSFER
from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.model.measures import Fate

_FATES = {
    DIED: Fate.DIED,
    STOPPED: Fate.STOPPED,
    TRANSFER: Fate.STOPPED,
    PREFERRED: Fate.STOPPED,
    REMOVED: Fate.REMOVED,
    ENDED_ITSELF: Fate.ENDED_ITSELF,
}
"""What became of a leader, by the end of its role, where that alone says it."""


def change_of(group: Group, before: Tenure, after: Tenure | None, begin: Moment, served: Moment) -> dict[str, Any]:
    """Who led before an outage that began at ``begin``, and ``after`` it, and when that one ``served``."""
    return {
        "former_leader": before.node,
        "former_leader_fate": fate_of(group, before, begin, served),
        "next_leader": None if after is None else after.node,
        "served_time": None if after is None else served.at,
    }


def fate_of(group: Group, before: Tenure, begin: Moment, served: Moment) -> Fate:
    """What had become of a leader in an outage."""
    elapsed = group.clocks.elapsed
    asleep = (
        hole for hole in before.silences if elapsed(hole.begin, served)[0] > 0 and elapsed(begin, hole.end)[0] > 0
    )
    if any(asleep):
        return Fate.FROZEN
    return _FATES.get(before.end_cause or "", Fate.UNKNOWN)
