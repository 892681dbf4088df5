"""``gold.validations``: the results of gates and validations, with examples of failing rows."""

from election_replay.schemas.model import BIGINT, BOOLEAN, STRING, STRINGS, TIMESTAMP, Column, Table

TABLE = Table(
    name="validations",
    layer="gold",
    comment="One row for each expectation that was checked and held, and one for each cluster in which it failed.",
    columns=(
        Column(name="validation_id", type=STRING, comment="Name of the validation.", nullable=False, key=True),
        Column(name="validated_at", type=TIMESTAMP, comment="When it was made.", nullable=False, unit="UTC"),
        Column(name="layer", type=STRING, comment="bronze, silver or gold.", nullable=False),
        Column(name="table_name", type=STRING, comment="The table that was checked.", nullable=False, key=True),
        Column(
            name="table_version",
            type=BIGINT,
            comment="Its Delta version; null: the table is not there yet.",
        ),
        Column(name="expectation", type=STRING, comment="Name of the expectation.", nullable=False, key=True),
        Column(name="says", type=STRING, comment="What must hold.", nullable=False),
        Column(
            name="severity",
            type=STRING,
            comment="critical: a cluster in which it fails is not published; warning: it is only said.",
            nullable=False,
            one_of=("critical", "warning"),
        ),
        Column(
            name="cluster",
            type=STRING,
            comment="The cluster whose rows fail; null: it holds for every cluster that was checked, or the failing "
            "rows name none.",
            key=True,
        ),
        Column(name="success", type=BOOLEAN, comment="Whether it holds.", nullable=False),
        Column(name="rows_checked", type=BIGINT, comment="Rows of the table that were looked at.", nullable=False),
        Column(name="rows_failed", type=BIGINT, comment="Rows that make it false.", nullable=False, at_least=0),
        Column(
            name="examples",
            type=STRINGS,
            comment="Up to five of these rows as JSON, without their nulls.",
            nullable=False,
        ),
        Column(
            name="query",
            type=STRING,
            comment="The SELECT that finds the failing rows in the newest versions of the tables.",
            nullable=False,
        ),
    ),
)
