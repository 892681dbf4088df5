"""``gold.sync_state_sets``: the replicas that were in sync with the master, by interval."""

from election_replay.schemas.common import (
    CLUSTER,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    START_EVENT_ID,
    end_time,
    key,
    start_time,
)
from election_replay.schemas.model import BIGINT, STRING, STRINGS, Column, Table
from election_replay.schemas.proofs import in_order, proofs_exist

TABLE = Table(
    name="sync_state_sets",
    layer="gold",
    comment="Every value of a broker set's SyncStateSet, from the decision that made it to the next.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(
            name="master_epoch",
            type=BIGINT,
            comment="Epoch of the master; 0: not known, epochs begin with 1.",
            nullable=False,
            key=True,
        ),
        Column(
            name="sync_state_set_epoch",
            type=BIGINT,
            comment="Version of the set.",
            nullable=False,
            key=True,
        ),
        Column(name="master", type=STRING, comment="The master; null: none."),
        Column(name="members", type=STRINGS, comment="Members of the set, sorted.", nullable=False, key=True),
        start_time("When the set was decided.", is_key=True),
        end_time("When the next one was; null: it still holds."),
        START_EVENT_ID,
        RUN_ID,
    ),
    expectations=(
        in_order("sync_state_sets", ("start_time", "end_time")),
        proofs_exist("sync_state_sets", "start_event_id"),
    ),
)
