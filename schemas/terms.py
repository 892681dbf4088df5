"""``gold.terms``: every term or epoch of a replica group, and its leader."""

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
from election_replay.schemas.model import BIGINT, STRING, Column, Expectation, Table
from election_replay.schemas.proofs import in_order, proofs_exist

TABLE = Table(
    name="terms",
    layer="gold",
    comment="Who led each replica group, term by term.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="term", type=BIGINT, comment="Term or master epoch.", nullable=False, key=True),
        Column(name="leader", type=STRING, comment="Who led; null: nobody won.", key=True),
        start_time("Earliest moment at which the leader was seen, or the first election of the term.", is_key=True),
        end_time("Latest moment of the term; null: it still lasts."),
        Column(name="cause", type=STRING, comment="Why an election began."),
        Column(
            name="certainty",
            type=STRING,
            comment="proven, definite or possible.",
            nullable=False,
            one_of=("proven", "definite", "possible"),
        ),
        START_EVENT_ID,
        END_EVENT_ID,
        Column(name="former_leader", type=STRING, comment="Who led before; null: nobody is known to have."),
        Column(
            name="former_leader_state",
            type=STRING,
            comment="What the former leader was when this one began. died, stopped, removed (from the group), "
            "ended_itself (for a reason that it prints); silent: its log just stops; frozen: its process did not run; "
            "overloaded: it ran too slowly; members_died: it ran, and too many of the others had ended; toppled: it "
            "ran, and gave up because a member came with a larger term; cut_off: it ran, the others reached each "
            "other, and not it; not_told: it ran, an operator had another one lead, and it heard of that later; "
            "without_quorum: it lost its quorum, and the logs do not say why; reachable: it ran, "
            "and heard of the change at once; unknown: the logs do not say.",
            one_of=(
                *("died", "stopped", "ended_itself", "removed", "silent", "frozen", "overloaded", "members_died"),
                *("toppled", "cut_off", "not_told", "without_quorum", "reachable", "unknown"),
            ),
        ),
        *as_logged(),
        RUN_ID,
    ),
    expectations=(
        in_order("terms", ("start_time", "end_time")),
        proofs_exist("terms", "start_event_id", "end_event_id"),
        Expectation(
            name="terms_never_fall",
            says="A term begins after all smaller ones, unless a finding says that terms went back; a log that begins "
            "late may show a term late.",
            failing="SELECT * FROM (SELECT *, max(term) OVER (PARTITION BY cluster, replica_group, protocol "
            "ORDER BY start_time RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 1 MINUTE PRECEDING) AS larger_before "
            "FROM terms WHERE replica_group <> 'unidentified') AS turn ANTI JOIN (SELECT * FROM findings WHERE rule "
            "IN ('TERM_REGRESSION', 'EPOCH_REGRESSION')) AS told ON told.cluster = turn.cluster "
            "AND told.replica_group = turn.replica_group WHERE term < larger_before",
            severity="warning",
        ),
    ),
)
