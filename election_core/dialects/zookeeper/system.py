"""ZooKeeper as one row."""

from election_replay.election_core.dialects.system import Spoken, System
from election_replay.election_core.dialects.zookeeper.dialect import STREAMS, TABLE, ZOOKEEPER

SYSTEM = System(
    title="ZooKeeper",
    dialect=ZOOKEEPER,
    table=TABLE,
    streams=STREAMS,
    stream="zookeeper.log",
    protocols=(Spoken("zab", clock="epoch"),),
    releases=((3, 4), (3, 9)),
    member="server id",
    processes={"zookeeper": "zookeeper"},
    roles_stand_in="the whole server log of each ZooKeeper server (zookeeper.log, or what it prints), at level INFO",
    says_farewell=False,
    keeps_names=True,
)
