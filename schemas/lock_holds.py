"""``gold.lock_holds``: the intervals in which clients held queue locks at brokers."""

from election_replay.schemas.common import (
    CLUSTER,
    END_EVENT_ID,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    SOURCE_NODE,
    START_EVENT_ID,
    end_time,
    key,
    start_time,
)
from election_replay.schemas.model import BIGINT, STRING, TIMESTAMP, Column, Table
from election_replay.schemas.proofs import in_order, proofs_exist

TABLE = Table(
    name="lock_holds",
    layer="gold",
    comment="Every entry of every broker's table of order locks, on the clock of the broker that logged it.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(
            name="broker_node",
            type=STRING,
            comment="Broker id of the broker that granted the lock; its node folder where no log says the id.",
            nullable=False,
            key=True,
        ),
        key(SOURCE_NODE),
        Column(name="consumer_group", type=STRING, comment="Consumer group.", nullable=False, key=True),
        Column(name="topic", type=STRING, comment="Topic.", nullable=False, key=True),
        Column(name="queue_id", type=BIGINT, comment="Queue of the topic.", nullable=False, key=True),
        Column(name="client_id", type=STRING, comment="The client that held the lock.", nullable=False, key=True),
        Column(
            name="lock_mode",
            type=STRING,
            comment="strict (a quorum of the broker set must grant) or non_strict; null: no log says it.",
            one_of=("strict", "non_strict"),
        ),
        Column(
            name="granted",
            type=BIGINT,
            comment="How many brokers of the set had an entry of this client at its start, as far as logs show.",
            nullable=False,
        ),
        Column(name="needed", type=BIGINT, comment="How many must have one; null: not known."),
        start_time("When the entry was made.", is_key=True),
        end_time("Earliest end of the entry; null: it stood at the end of the log."),
        Column(
            name="certain_until",
            type=TIMESTAMP,
            comment="Until when the lock surely lived; renewals print nothing, so it may have lived on to the end.",
            nullable=False,
            unit="UTC",
        ),
        Column(
            name="start_uncertainty_ms",
            type=BIGINT,
            comment="How much later than start_time the entry may have been made.",
            nullable=False,
            unit="ms",
            at_least=0,
        ),
        Column(
            name="end_uncertainty_ms",
            type=BIGINT,
            comment="How much later than end_time the entry may have ended.",
            unit="ms",
            at_least=0,
        ),
        Column(
            name="start_cause",
            type=STRING,
            comment="new, taken_expired, or seen (the log shows a holder whose start it does not have).",
            nullable=False,
            one_of=("new", "taken_expired", "seen"),
        ),
        Column(
            name="end_cause",
            type=STRING,
            comment="released, expired, process_ended, unseen (its end is not in the log); null: it still stood.",
            one_of=("released", "expired", "process_ended", "unseen"),
        ),
        START_EVENT_ID,
        END_EVENT_ID,
        RUN_ID,
    ),
    expectations=(
        in_order("lock_holds", ("start_time", "end_time"), ("start_time", "certain_until")),
        proofs_exist("lock_holds", "start_event_id", "end_event_id"),
    ),
)
