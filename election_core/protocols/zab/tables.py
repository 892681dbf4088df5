"""What a ZooKeeper server decides: which vote is better, whether a vote has its quorum, whether a log is ahead.

Source: apache/zookeeper ``FastLeaderElection#totalOrderPredicate``, ``Leader#waitForEpochAck``. The simulated server
runs on these rules, and faulty ones have one changed; the judge orders votes by the same rules.
"""

from dataclasses import dataclass

from election_replay.election_core.model.timing import Timeout

TICK_MS = Timeout.ZK_TICK.value.ms
INIT_LIMIT, SYNC_LIMIT = 10, 5
"""``initLimit`` and ``syncLimit`` of ``zoo_sample.cfg`` in ticks: the limits of synchronisation and of silence."""

COUNTER_BITS = 32


@dataclass(frozen=True, slots=True, order=True)
class Vote:
    """A vote for ``leader``, with its epoch (before 3.4 unknown) and last zxid; better votes are larger."""

    epoch: int
    zxid: int
    leader: int


def is_better(new: Vote, held: Vote) -> bool:
    """Return True when a server adopts the new vote: by epoch, then zxid, then id."""
    return new > held


def zxid_of(epoch: int, counter: int) -> int:
    """Return the zxid with the epoch in its upper and the counter in its lower 32 bits."""
    return (epoch << COUNTER_BITS) + counter


def is_ahead(follower: tuple[int, int], leader: tuple[int, int]) -> bool:
    """Return True when a follower's (epoch, last zxid) shows entries that the winner lacks."""
    return follower > leader
