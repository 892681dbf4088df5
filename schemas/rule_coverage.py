"""``gold.rule_coverage``: how often each rule could be checked, so how much a clean verdict is worth."""

from election_replay.schemas.common import CLUSTER, PROTOCOL, REPLICA_GROUP, RUN_ID, key
from election_replay.schemas.model import BIGINT, STRING, Column, Table

TABLE = Table(
    name="rule_coverage",
    layer="gold",
    comment="How often each rule could be judged in each group, and why it could not where it could not.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="rule", type=STRING, comment="Catalogue id.", nullable=False, key=True),
        Column(
            name="conforms",
            type=BIGINT,
            comment="Times that the rule was kept, as far as logs show it.",
            nullable=False,
            at_least=0,
        ),
        Column(
            name="violates",
            type=BIGINT,
            comment="Times that a finding tells of for sure, also as information: the rule was broken.",
            nullable=False,
            at_least=0,
        ),
        Column(
            name="undecidable",
            type=BIGINT,
            comment="Times that the log does not say enough, those of findings that are possible among them.",
            nullable=False,
            at_least=0,
        ),
        Column(name="why_undecidable", type=STRING, comment="What the log does not say."),
        Column(
            name="times_printed",
            type=BIGINT,
            comment="So many of the times that a cluster can change, and that the rules of the protocol count with, "
            "its logs print (docs/timing.md).",
            at_least=0,
        ),
        Column(
            name="times_configured",
            type=BIGINT,
            comment="So many of them the settings of the pipeline give, and no log.",
            at_least=0,
        ),
        Column(
            name="times_assumed",
            type=BIGINT,
            comment="So many of them nobody says: the rules count with the defaults of the system.",
            at_least=0,
        ),
        RUN_ID,
    ),
)
