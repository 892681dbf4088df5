"""``gold.clock_offsets``: the offset of each wrong clock between two steps of it."""

from dataclasses import replace

from election_replay.schemas.common import (
    CLUSTER,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    as_logged,
    end_time,
    key,
    start_time,
)
from election_replay.schemas.model import BIGINT, STRING, Column, Table
from election_replay.schemas.proofs import in_order

TABLE = Table(
    name="clock_offsets",
    layer="gold",
    comment="The clocks that were wrong: how far ahead or behind, one row from each time that one was set to the next. "
    "Between the end of a row and the start of the next one it was set.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(
            name="source_node",
            type=STRING,
            comment="The node folder whose clock it is; with /metadata, the clock of whoever copied its files.",
            nullable=False,
            key=True,
        ),
        Column(name="node", type=STRING, comment="The member; null: the machine runs as none, or as several."),
        Column(
            name="position",
            type=BIGINT,
            comment="From 1, in the order of its log.",
            nullable=False,
            key=True,
            at_least=1,
        ),
        start_time("From when; the first from the first line on."),
        end_time("To when; the last to the last line.", nullable=False),
        *(replace(column, nullable=False, comment="What the clock showed then.") for column in as_logged()),
        Column(
            name="clock_least_ms",
            type=BIGINT,
            comment="How far it was ahead of true time at least; negative: behind; null: not known.",
            unit="ms",
        ),
        Column(
            name="clock_most_ms",
            type=BIGINT,
            comment="How far it was ahead of true time at most; negative: behind; null: not known.",
            unit="ms",
        ),
        Column(
            name="moved_ms",
            type=BIGINT,
            comment="What was added to what it showed, for the times of all gold tables. Where little is known of it "
            "these are as early as they may be.",
            unit="ms",
            nullable=False,
        ),
        Column(
            name="set_by_least_ms",
            type=BIGINT,
            comment="By how much it was set at the start, at least; negative: back; null: not known, or it was not.",
            unit="ms",
        ),
        Column(
            name="set_by_most_ms",
            type=BIGINT,
            comment="By how much it was set at the start, at most; negative: back; null: not known, or it was not.",
            unit="ms",
        ),
        Column(name="finding_id", type=STRING, comment="The finding that tells of this clock.", nullable=False),
        RUN_ID,
    ),
    expectations=(
        in_order(
            "clock_offsets",
            ("start_time", "end_time"),
            ("clock_least_ms", "clock_most_ms"),
            ("set_by_least_ms", "set_by_most_ms"),
        ),
    ),
)
