"""``gold.metadata_versions``: the DataVersion of every metadata file that was read."""

from election_replay.schemas.common import CLUSTER, EVENT_ID, PROTOCOL, REPLICA_GROUP, RUN_ID, SOURCE_NODE, key
from election_replay.schemas.model import BIGINT, STRING, TIMESTAMP, Column, Table
from election_replay.schemas.proofs import proofs_exist

TABLE = Table(
    name="metadata_versions",
    layer="gold",
    comment="The version that each metadata file of each broker bore, each time it was looked at.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        PROTOCOL,
        Column(name="node", type=STRING, comment="Stable name of the member.", nullable=False),
        key(SOURCE_NODE),
        Column(
            name="kind",
            type=STRING,
            comment="consumer_offset, delay_offset, topic_config, subscription_group or timer_checkpoint.",
            nullable=False,
            one_of=("consumer_offset", "delay_offset", "topic_config", "subscription_group", "timer_checkpoint"),
            key=True,
        ),
        Column(
            name="observed_time",
            type=TIMESTAMP,
            comment="When the file was copied, by its folder's name.",
            nullable=False,
            key=True,
            unit="UTC",
        ),
        Column(
            name="state_version",
            type=BIGINT,
            comment="Master epoch at the last change of the version; 0 without a controller.",
        ),
        Column(name="timestamp", type=TIMESTAMP, comment="When the version last changed.", unit="UTC"),
        Column(
            name="counter",
            type=BIGINT,
            comment="Number of the version. It moves every 500 commits or 200 deliveries by default, so equal versions "
            "may stand for different offsets.",
        ),
        key(EVENT_ID),
        RUN_ID,
    ),
    expectations=(proofs_exist("metadata_versions", "event_id"),),
)
