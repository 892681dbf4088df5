"""etcd as one row."""

from election_replay.election_core.dialects.etcd.dialect import ETCD, STREAMS, TABLE
from election_replay.election_core.dialects.system import Spoken, System

SYSTEM = System(
    title="etcd",
    dialect=ETCD,
    table=TABLE,
    streams=STREAMS,
    stream="etcd.log",
    protocols=(Spoken("raft"),),
    releases=((3, 3), (3, 7)),
    member="member id",
    processes={"etcd": "etcd"},
    roles_stand_in="the whole log of each etcd member, from before its start or the trouble (journalctl -u etcd, or "
    "kubectl logs and kubectl logs --previous of each pod)",
    keeps_names=True,
)
