"""Redis and Valkey as one row."""

from election_replay.election_core.dialects.redis.dialect import REDIS, STREAMS, TABLE
from election_replay.election_core.dialects.system import Spoken, System

SYSTEM = System(
    title="Redis",
    dialect=REDIS,
    table=TABLE,
    streams=STREAMS,
    stream="redis.log",
    protocols=(Spoken("redis", clock="epoch", leader="master"),),
    releases=((6, 2), (9, 1)),
    member="node id",
    roles_stand_in="the whole log of each server and of each sentinel (redis-server.log, redis-sentinel.log, or what "
    "they print), from before the trouble: a server says when it becomes master, a sentinel whom it replaces",
    places=("redis-server", "sentinel", "redis-sentinel", "redis-cluster", "valkey"),
)
"""Each file has a process of its own: a machine mostly runs a server and a sentinel."""
