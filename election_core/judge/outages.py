"""What every finding of an outage says in columns: who led before it and after it, and when somebody served."""

from typing import Any

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.fates import Fates, following_of
from election_replay.election_core.judge.group import Group, Tenure


def change_of(group: Group, before: Tenure, after: Tenure | None, served: Moment) -> dict[str, Any]:
    """Who led before an outage, and ``after`` it, and when that one ``served``."""
    fate = group.once(Fates).fate(before, following_of(after))
    return {
        "former_leader": before.node,
        "former_leader_fate": fate,
        "next_leader": None if after is None else after.node,
        "served_time": None if after is None else served.at,
    }
