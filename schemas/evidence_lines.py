"""``gold.evidence_lines``: the log lines that prove findings, verbatim."""

from dataclasses import replace

from election_replay.schemas.common import (
    CLUSTER,
    EVENT_ID,
    LINE_NO,
    PATH,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    SOURCE_NODE,
    key,
    optional,
)
from election_replay.schemas.model import BIGINT, STRING, TIMESTAMP, Column, Expectation, Table

TABLE = Table(
    name="evidence_lines",
    layer="gold",
    comment="Which line of which file proves each finding, word for word: readers of findings need no other table.",
    by_run=True,
    columns=(
        Column(name="finding_id", type=STRING, comment="The finding that it proves.", nullable=False, key=True),
        key(CLUSTER),
        REPLICA_GROUP,
        PROTOCOL,
        Column(name="rule", type=STRING, comment="The rule of the finding.", nullable=False),
        Column(
            name="position",
            type=BIGINT,
            comment="Place of the line in the finding's evidence, from 1.",
            nullable=False,
            key=True,
            at_least=1,
        ),
        replace(EVENT_ID, comment="The event that the line became, as evidence of findings names it."),
        Column(
            name="node",
            type=STRING,
            comment="Member of the group that wrote the line; null: the log of somebody else, such as a controller.",
        ),
        optional(SOURCE_NODE, "The node folder whose log holds the line; null: the line was forgotten."),
        Column(
            name="event_time",
            type=TIMESTAMP,
            comment="Start of the logged unit of time, by the clock of the machine that wrote it.",
            unit="UTC",
        ),
        Column(
            name="common_time",
            type=TIMESTAMP,
            comment="The same in common time, as all other times here; null: the same as event_time, or not known.",
            unit="UTC",
        ),
        optional(PATH, "File that holds the line, below the landing zone, when it was read; null as before."),
        optional(LINE_NO, "Number of the line in that file, from 1; of a metadata snapshot, number of the record."),
        Column(
            name="text",
            type=STRING,
            comment="The line and up to 20 continuation lines, each cut to 2,000 characters; null: it was forgotten "
            "(upkeep --forget-bronze-after) before a finding named it.",
        ),
        RUN_ID,
    ),
    expectations=(
        Expectation(
            name="every_proof_is_quoted",
            says="Every event that a finding names as evidence has its line.",
            failing="SELECT proof.* FROM (SELECT cluster, finding_id, unnest(evidence) AS event_id FROM findings) "
            "AS proof ANTI JOIN evidence_lines USING (cluster, finding_id, event_id)",
        ),
        Expectation(
            name="finding_exists",
            says="The finding that a line proves is there, and names the line as evidence.",
            failing="SELECT * FROM evidence_lines ANTI JOIN (SELECT cluster, finding_id, unnest(evidence) AS event_id "
            "FROM findings) AS proof USING (cluster, finding_id, event_id)",
        ),
    ),
)
