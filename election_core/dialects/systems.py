"""The systems that are described by a row: a new one is its folder and a line here."""

from election_replay.election_core.dialects.described.dialect import SYSTEM as DESCRIBED
from election_replay.election_core.dialects.hashicorp.system import SYSTEM as HASHICORP
from election_replay.election_core.dialects.kafka.system import SYSTEM as KAFKA
from election_replay.election_core.dialects.redis.system import SYSTEM as REDIS
from election_replay.election_core.dialects.system import System
from election_replay.election_core.model.deeds import Deed

SYSTEMS: tuple[System, ...] = (KAFKA, REDIS, HASHICORP, DESCRIBED)
"""RocketMQ, ZooKeeper and etcd have no row yet: the packages that read them name them."""


def kinds_that(deed: Deed) -> frozenset[str]:
    """Return the kinds of events, of all systems, that have an effect."""
    return frozenset[str]().union(*(system.does[deed] for system in SYSTEMS))
