"""``gold.quiescent_groups``: groups whose verdicts stay the same while their logs only grow in quiet; see
``election_core.judge.quiescent``."""

from election_replay.schemas.common import CLUSTER, REPLICA_GROUP, key
from election_replay.schemas.model import STRING, TIMESTAMP, Column, Table

TABLE = Table(
    name="quiescent_groups",
    layer="gold",
    comment="Groups in which nothing happened for so long that their verdicts owe nothing to where their logs end. A "
    "group without a row is judged every night in which its logs go on.",
    replaced_by=("cluster", "replica_group"),
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        Column(
            name="quiescent_since",
            type=TIMESTAMP,
            comment="The last moment of which its facts tell, but for those in gold.open_facts.",
            unit="UTC",
            nullable=False,
        ),
        Column(
            name="open_facts_hash",
            type=STRING,
            comment="A hash of its rows of gold.open_facts, as they are if its logs end soon after that. While it is "
            "the same, and nothing else is new, the verdicts stand.",
            nullable=False,
        ),
    ),
)
