"""What every finding of an outage says: how grave it is, who led before it and after it, and when somebody served."""

from typing import Any

from election_replay.election_core.judge.clock import Moment
from election_replay.election_core.judge.fates import Fates, following_of
from election_replay.election_core.judge.group import Group, Tenure
from election_replay.election_core.model.catalogue import INFO, WARNING
from election_replay.election_core.model.timing import Timeout


def severity_of(least: int, *, planned: bool = False) -> str:
    """How grave it is that nobody could write for so long at least, in microseconds: by the length, not by the office.

    What was ``planned``, or ends with all of a group, is worth knowing and no alarm, unless it is long.
    """
    tolerated = Timeout.LONG_OUTAGE if planned else Timeout.MAX_INFO_GAP
    return INFO if least < tolerated.us else WARNING


def change_of(group: Group, before: Tenure, after: Tenure | None, served: Moment) -> dict[str, Any]:
    """Who led before an outage, and ``after`` it, and when that one ``served``."""
    fate = group.once(Fates).fate(before, following_of(after))
    return {
        "former_leader": before.node,
        "former_leader_fate": fate,
        "next_leader": None if after is None else after.node,
        "served_time": None if after is None else served.at,
    }
