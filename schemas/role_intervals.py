"""``gold.role_intervals``: each node in each role, from when to when."""

from schemas.common import (
    CLUSTER,
    END_EVENT_ID,
    PROTOCOL,
    REPLICA_GROUP,
    SOURCE_NODE,
    START_EVENT_ID,
    end_time,
    key,
    optional,
    start_time,
)
from schemas.model import BIGINT, STRING, Column, Table

TABLE = Table(
    name="role_intervals",
    layer="gold",
    comment="Each member of each group in each of its roles, on the clock of the node that logged it.",
    partitioned_by=("cluster",),
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="node", type=STRING, comment="Stable name of the member.", nullable=False, key=True),
        optional(SOURCE_NODE, "The node folder whose logs say it; null: only others speak of the member."),
        Column(
            name="role",
            type=STRING,
            comment="leader, acting_leader, follower, candidate, observer, down or unknown.",
            nullable=False,
            key=True,
        ),
        Column(name="term", type=BIGINT, comment="Term or master epoch; null: not known.", key=True),
        Column(name="leader", type=STRING, comment="Whom the node took for leader."),
        start_time("Earliest start of the role.", is_key=True),
        end_time("Earliest end of the role; null: still so at the end of the log."),
        Column(
            name="start_uncertainty_ms",
            type=BIGINT,
            comment="How much later than start_time the role may have begun.",
            nullable=False,
            unit="ms",
        ),
        Column(
            name="end_uncertainty_ms",
            type=BIGINT,
            comment="How much later than end_time the role may have ended.",
            unit="ms",
        ),
        Column(name="start_cause", type=STRING, comment="Why the role began, and whether it is seen or assumed."),
        Column(name="end_cause", type=STRING, comment="Why the role ended, and whether it is seen or assumed."),
        START_EVENT_ID,
        END_EVENT_ID,
    ),
)
