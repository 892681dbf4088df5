"""All systems, each described by a row: a new one is its folder and a line here."""

from election_replay.election_core.dialects.described.dialect import SYSTEM as DESCRIBED
from election_replay.election_core.dialects.etcd.system import SYSTEM as ETCD
from election_replay.election_core.dialects.hashicorp.system import SYSTEM as HASHICORP
from election_replay.election_core.dialects.kafka.system import SYSTEM as KAFKA
from election_replay.election_core.dialects.redis.system import SYSTEM as REDIS
from election_replay.election_core.dialects.rocketmq.system import SYSTEM as ROCKETMQ
from election_replay.election_core.dialects.system import System
from election_replay.election_core.dialects.zookeeper.system import SYSTEM as ZOOKEEPER
from election_replay.election_core.model.deeds import Deed

SYSTEMS: tuple[System, ...] = (ROCKETMQ, ZOOKEEPER, ETCD, KAFKA, REDIS, HASHICORP, DESCRIBED)
"""In the order in which they are tried on a line that several may have written."""


def kinds_that(deed: Deed) -> frozenset[str]:
    """Return the kinds of events, of all systems, that have an effect."""
    return frozenset[str]().union(*(system.does[deed] for system in SYSTEMS))
