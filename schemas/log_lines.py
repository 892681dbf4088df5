"""``bronze.log_lines``: the lines of interest, as written."""

from election_replay.schemas.common import (
    BATCH,
    CLUSTER,
    EVENT_ID,
    FINGERPRINT,
    LINE_NO,
    PATH,
    SOURCE_NODE,
    STREAM,
    key,
)
from election_replay.schemas.model import STRING, Column, Expectation, Table

TABLE = Table(
    name="log_lines",
    layer="bronze",
    comment="The text behind every event: the evidence that findings point to.",
    partitioned_by=("batch",),
    columns=(
        key(EVENT_ID),
        CLUSTER,
        SOURCE_NODE,
        STREAM,
        FINGERPRINT,
        PATH,
        LINE_NO,
        Column(
            name="text",
            type=STRING,
            comment="The line and up to 20 continuation lines, each cut to 2,000 characters.",
            nullable=False,
        ),
        BATCH,
    ),
    expectations=(
        Expectation(
            name="one_event_a_line",
            says="Every line that is kept became an event.",
            failing="SELECT * FROM log_lines ANTI JOIN events USING (cluster, event_id)",
        ),
    ),
)
