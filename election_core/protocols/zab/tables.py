"""What a ZooKeeper server decides: which vote is better, whether a vote has its quorum, whether a log is ahead.

Source: apache/zookeeper ``FastLeaderElection#totalOrderPredicate``, ``Leader#waitForEpochAck``. The machine runs on
these rules, and a broken world bends one; the judge orders votes by the same one.
"""

from dataclasses import dataclass

from election_replay.election_core.model.timing import Timeout

TICK_MS = Timeout.ZK_TICK.value.ms
INIT_LIMIT, SYNC_LIMIT = 10, 5
"""In ticks: how long discovery and synchronisation may take, and how long a server stands silence; zoo.cfg's."""

COUNTER_BITS = 32


@dataclass(frozen=True, slots=True, order=True)
class Vote:
    """A vote for ``leader``: its epoch (before 3.4 unknown) and last zxid. Better votes are larger."""

    epoch: int
    zxid: int
    leader: int


def is_better(new: Vote, held: Vote) -> bool:
    """Whether a server takes a vote over: the epoch first, then the zxid, then the id."""
    return new > held


def zxid_of(epoch: int, counter: int) -> int:
    """A zxid: the epoch above, a counter below."""
    return (epoch << COUNTER_BITS) + counter


def is_ahead(follower: tuple[int, int], leader: tuple[int, int]) -> bool:
    """Whether a follower's current epoch and last zxid show entries that the winner does not have."""
    return follower > leader
