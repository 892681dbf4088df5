"""``bronze.quarantine``: lines of interest that could not be read, and why."""

from dataclasses import replace

from election_replay.schemas.common import BATCH, CLUSTER, FINGERPRINT, LINE_NO, PATH, SOURCE_NODE, STREAM, key
from election_replay.schemas.model import BIGINT, STRING, Column, Table

TABLE = Table(
    name="quarantine",
    layer="bronze",
    comment="What could not be read: one row for each such line, and one where a damaged file breaks off.",
    partitioned_by=("batch",),
    columns=(
        key(CLUSTER),
        key(SOURCE_NODE),
        STREAM,
        key(FINGERPRINT),
        key(PATH),
        replace(
            LINE_NO,
            key=True,
            comment="Number of the line, from 1; of a damaged file, the line in which it breaks off.",
        ),
        Column(name="reason", type=STRING, comment="Why it could not be read.", nullable=False),
        Column(name="text", type=STRING, comment="The line, cut to 2,000 characters.", nullable=False),
        Column(
            name="text_length",
            type=BIGINT,
            comment="Full length of the line.",
            nullable=False,
            at_least=0,
            unit="bytes",
        ),
        BATCH,
    ),
)
