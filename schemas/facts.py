"""``silver.facts``: what one node's own log proves; see ``election_core.model.facts``."""

from schemas.common import CLUSTER, PROTOCOL, REPLICA_GROUP, SOURCE_NODE
from schemas.model import BIGINT, BOOLEAN, STRING, STRINGS, TIMESTAMP, Column, Table
from schemas.proofs import in_order, proofs_exist

TABLE = Table(
    name="facts",
    layer="silver",
    comment="What the fold of each node's log proved; all columns together name a row.",
    partitioned_by=("cluster",),
    columns=(
        CLUSTER,
        REPLICA_GROUP,
        PROTOCOL,
        Column(name="kind", type=STRING, comment="What kind of fact.", nullable=False),
        Column(name="node", type=STRING, comment="The member that the fact is about."),
        SOURCE_NODE,
        Column(name="since", type=TIMESTAMP, comment="Earliest beginning.", nullable=False, unit="UTC"),
        Column(name="since_by", type=TIMESTAMP, comment="Latest beginning.", nullable=False, unit="UTC"),
        Column(name="since_event", type=STRING, comment="Event that proves the beginning."),
        Column(
            name="until", type=TIMESTAMP, comment="Earliest end; null where it lasts no time or goes on.", unit="UTC"
        ),
        Column(name="until_by", type=TIMESTAMP, comment="Latest end.", unit="UTC"),
        Column(name="until_event", type=STRING, comment="Event that proves the end."),
        Column(
            name="bound_ms",
            type=BIGINT,
            comment="How far the clock behind these times may be off.",
            nullable=False,
            unit="ms",
        ),
        Column(name="role", type=STRING, comment="Role held or taken."),
        Column(name="term", type=BIGINT, comment="Term or epoch."),
        Column(name="peer", type=STRING, comment="The counterparty."),
        Column(name="address", type=STRING, comment="Address of the member."),
        Column(name="result", type=STRING, comment="Result of what was tried."),
        Column(name="cause", type=STRING, comment="Why it began or ended."),
        Column(name="members", type=STRINGS, comment="Members of the set concerned."),
        Column(name="granted", type=BIGINT, comment="Votes granted."),
        Column(name="needed", type=BIGINT, comment="Votes needed."),
        Column(name="set_epoch", type=BIGINT, comment="Version of the SyncStateSet."),
        Column(name="raft_index", type=BIGINT, comment="Index of an entry in a consensus log."),
        Column(name="start_offset", type=BIGINT, comment="Offset at which it begins.", unit="bytes"),
        Column(name="end_offset", type=BIGINT, comment="Offset at which it ends.", unit="bytes"),
        Column(name="count", type=BIGINT, comment="A number that the kind explains."),
        Column(name="flag", type=BOOLEAN, comment="A yes or no that the kind explains."),
        Column(name="value", type=STRING, comment="A text that the kind explains."),
        Column(
            name="ordinal",
            type=BIGINT,
            comment="Place among the facts that one log noted one after the other.",
            nullable=False,
        ),
        Column(name="consumer_group", type=STRING, comment="Consumer group."),
        Column(name="topic", type=STRING, comment="Topic."),
        Column(name="queue_id", type=BIGINT, comment="Queue of the topic."),
        Column(
            name="sure_until",
            type=TIMESTAMP,
            comment="It surely lasted until then; null: not known, or the same as its end.",
            unit="UTC",
        ),
        Column(name="state_version", type=BIGINT, comment="State version of a DataVersion."),
        Column(name="version_timestamp", type=BIGINT, comment="Timestamp of a DataVersion.", unit="ms since 1970"),
        Column(name="counter", type=BIGINT, comment="Counter of a DataVersion."),
        Column(name="evidence", type=STRINGS, comment="Events that prove the fact.", nullable=False),
    ),
    expectations=(
        in_order("facts", ("since", "since_by"), ("until", "until_by")),
        proofs_exist("facts", "since_event", "until_event"),
    ),
)
