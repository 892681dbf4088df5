"""RocketMQ as one row."""

from election_replay.election_core.dialects.rocketmq.dialect import ROCKETMQ, STREAMS, TABLE
from election_replay.election_core.dialects.system import Spoken, System

SYSTEM = System(
    title="RocketMQ",
    dialect=ROCKETMQ,
    table=TABLE,
    streams=tuple(sorted(STREAMS)),
    stream=None,
    protocols=(
        *(Spoken("acting_master", leader="master"), Spoken("broker_identity"), Spoken("dledger"), Spoken("metadata")),
        *(Spoken("controller", clock="epoch", leader="master"), Spoken("order_lock"), Spoken("writes")),
    ),
    releases=((4, 5), (5, 5)),
    member="DLedger member",
    process="broker",
    processes={"namesrv": "nameserver", "controller": "controller", "dledger": "controller", "jraft": "controller"},
    roles_stand_in="all of ~/logs/rocketmqlogs of each broker: broker.log names its set and id, broker_default.log holds "
    "DLedger's elections, store.log the replication; and controller.log where there are controllers",
    roles_beside={
        "nameserver": "broker.log, broker_default.log and store.log of each broker, and controller.log where there are "
        "controllers: a name server does not know who leads",
        "controller": "controller.log and jraft.log or controller_default.log of each controller, from its start on",
    },
    places=("dledger",),
    keeps_names=True,
)
"""A broker writes all files that no other process, and no other system, claims."""
