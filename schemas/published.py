"""``gold.published``: the pointer to the current rows of each group. Publishing is one commit to this table alone."""

from election_replay.schemas.common import CLUSTER, REPLICA_GROUP, key
from election_replay.schemas.model import COUNTS, STRING, TIMESTAMP, Column, Table

TABLE = Table(
    name="published",
    layer="gold",
    comment="Of each group the run whose rows are published. Join each judged table with it by cluster, replica_group "
    "and run_id: those rows are what readers are to see, and all others are of former runs or wait for their gates.",
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        Column(
            name="run_id",
            type=STRING,
            comment="The run whose rows of the judged tables are those of the group. A run that comes to the same "
            "verdicts adds no rows, and leaves it as it is.",
            nullable=False,
        ),
        Column(
            name="judged_at",
            type=TIMESTAMP,
            comment="When the last replay that judged the group began.",
            nullable=False,
            unit="UTC",
        ),
        Column(
            name="verdicts_hash",
            type=STRING,
            comment="Hash of all rows of the group: while it is the same, no verdict has changed.",
            nullable=False,
        ),
        Column(
            name="log_end_time",
            type=TIMESTAMP,
            comment="Up to when its logs were looked at; null: no fact has a time.",
            unit="UTC",
        ),
        Column(name="counts", type=COUNTS, comment="Judged table to its number of rows of the group.", nullable=False),
    ),
)
