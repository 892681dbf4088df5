"""``gold.judged_ends``: what the verdicts of a group owe to the ends of its logs; see
``election_core.judge.open_ends``."""

from election_replay.schemas.common import CLUSTER, REPLICA_GROUP, key
from election_replay.schemas.model import STRING, Column, Table

TABLE = Table(
    name="judged_ends",
    layer="gold",
    comment="With what the ends of logs were compared when a group was judged: while all comparisons come out the "
    "same, its verdicts stand.",
    replaced_by=("cluster", "replica_group"),
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        Column(
            name="comparisons",
            type=STRING,
            comment="A hash of the verdicts, and of each order in which the logs ended the ends, and the range of each "
            "sum of them that was compared, as JSON; null: another end may change the verdicts in any way.",
        ),
    ),
)
