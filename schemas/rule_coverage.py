"""``gold.rule_coverage``: how much a clean verdict is worth."""

from election_replay.schemas.common import CLUSTER, PROTOCOL, REPLICA_GROUP, key
from election_replay.schemas.model import BIGINT, STRING, Column, Table

TABLE = Table(
    name="rule_coverage",
    layer="gold",
    comment="How often each rule could be judged in each group, and why it could not where it could not.",
    replaced_by=("cluster", "replica_group"),
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="rule", type=STRING, comment="Catalogue id.", nullable=False, key=True),
        Column(name="conforms", type=BIGINT, comment="Times that the rule was kept.", nullable=False, at_least=0),
        Column(name="violates", type=BIGINT, comment="Times that the rule was broken.", nullable=False, at_least=0),
        Column(
            name="undecidable",
            type=BIGINT,
            comment="Times that the log does not say enough.",
            nullable=False,
            at_least=0,
        ),
        Column(name="why_undecidable", type=STRING, comment="What the log does not say."),
    ),
)
