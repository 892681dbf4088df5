"""``gold.elections``: each request for a term, with its candidate and outcome."""

from election_replay.schemas.common import (
    CLUSTER,
    END_EVENT_ID,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    START_EVENT_ID,
    as_logged,
    end_time,
    key,
    start_time,
)
from election_replay.schemas.model import BIGINT, STRING, STRINGS, Column, Table
from election_replay.schemas.proofs import in_order, proofs_exist

TABLE = Table(
    name="elections",
    layer="gold",
    comment="The rounds in which a candidate asked for a term, or one decision of a controller.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(
            name="term",
            type=BIGINT,
            comment="Term or epoch asked for, of which 0 is one like others; null: the log does not say.",
            key=True,
        ),
        Column(name="candidate", type=STRING, comment="Who asked for it; null: the log does not say.", key=True),
        start_time("First round or the decision.", is_key=True),
        end_time("Last round or the decision.", nullable=False),
        Column(name="outcome", type=STRING, comment="What came of it.", nullable=False),
        Column(name="rounds", type=BIGINT, comment="Rounds of voting.", nullable=False),
        Column(name="votes_granted", type=BIGINT, comment="Votes granted in the last round."),
        Column(name="votes_needed", type=BIGINT, comment="Votes needed to win."),
        Column(name="voters", type=STRINGS, comment="Members that granted their vote.", nullable=False),
        Column(name="decided_by", type=STRING, comment="The controller that decided; null: the voters did."),
        key(START_EVENT_ID),
        END_EVENT_ID,
        *as_logged(),
        RUN_ID,
    ),
    expectations=(
        in_order("elections", ("start_time", "end_time")),
        proofs_exist("elections", "start_event_id", "end_event_id"),
    ),
)
