"""``gold.role_intervals``: the intervals in which each node held each role."""

from election_replay.schemas.common import (
    CLUSTER,
    END_EVENT_ID,
    PROTOCOL,
    REPLICA_GROUP,
    RUN_ID,
    SOURCE_NODE,
    START_EVENT_ID,
    as_logged,
    end_time,
    key,
    optional,
    start_time,
)
from election_replay.schemas.model import BIGINT, STRING, Column, Expectation, Table
from election_replay.schemas.proofs import in_order, proofs_exist

_NODE = "cluster, replica_group, protocol, node, source_node"
_DOUBTED = (
    "ANTI JOIN (SELECT * FROM findings WHERE rule IN ('CLOCK_SKEW', 'IDENTITY_CONTRADICTION')) AS doubted "
    "ON doubted.cluster = turn.cluster"
)
"""An anti join that leaves out clusters whose times have no order: a clock was set back, or a folder mixes members."""
_IN_TURN = f"(PARTITION BY {_NODE} ORDER BY start_time, end_time NULLS LAST, term)"

_UNFENCED = "('bully', 'token_ring')"
"""Protocols without terms: an election's number fences no former leader, and a member may return to a leader that is
older than the one it leaves."""

TABLE = Table(
    name="role_intervals",
    layer="gold",
    comment="Each member of each group in each of its roles.",
    by_run=True,
    columns=(
        key(CLUSTER),
        key(REPLICA_GROUP),
        key(PROTOCOL),
        Column(name="node", type=STRING, comment="Stable name of the member.", nullable=False, key=True),
        key(optional(SOURCE_NODE, "The node folder whose logs say it; null: only others speak of the member.")),
        Column(
            name="role",
            type=STRING,
            comment="leader, acting_leader, follower, candidate, observer, down or unknown.",
            nullable=False,
            one_of=("leader", "acting_leader", "follower", "candidate", "observer", "down", "unknown"),
            key=True,
        ),
        Column(name="term", type=BIGINT, comment="Term or master epoch; null: not known.", key=True),
        Column(name="leader", type=STRING, comment="Whom the node took for leader."),
        start_time("Earliest start of the role.", is_key=True),
        end_time("Earliest end of the role; null: still so at the end of the log."),
        Column(
            name="start_uncertainty_ms",
            type=BIGINT,
            comment="How much later than start_time the role may have begun.",
            nullable=False,
            unit="ms",
            at_least=0,
        ),
        Column(
            name="end_uncertainty_ms",
            type=BIGINT,
            comment="How much later than end_time the role may have ended.",
            unit="ms",
            at_least=0,
        ),
        Column(name="start_cause", type=STRING, comment="Why the role began, and whether it is seen or assumed."),
        Column(name="end_cause", type=STRING, comment="Why the role ended, and whether it is seen or assumed."),
        key(START_EVENT_ID),
        END_EVENT_ID,
        *as_logged(),
        RUN_ID,
    ),
    expectations=(
        in_order("role_intervals", ("start_time", "end_time")),
        proofs_exist("role_intervals", "start_event_id", "end_event_id"),
        Expectation(
            name="one_open_interval",
            says="A node's own log leaves at most one of its roles open.",
            failing=f"SELECT * FROM (SELECT {_NODE}, list(role) AS roles, list(start_event_id) AS start_events "
            "FROM role_intervals WHERE end_time IS NULL AND source_node IS NOT NULL "
            f"GROUP BY {_NODE} HAVING count(*) > 1) AS turn {_DOUBTED}",
        ),
        Expectation(
            name="no_overlap",
            says="The roles of a node, by its own log, follow one another: none begins before the last has ended.",
            failing=f"SELECT * FROM (SELECT *, lead(start_time) OVER {_IN_TURN} AS next_start, "
            f"lead(role) OVER {_IN_TURN} AS next_role FROM role_intervals WHERE source_node IS NOT NULL) "
            f"AS turn {_DOUBTED} WHERE coalesce(end_time, 'infinity') > next_start",
        ),
        Expectation(
            name="terms_never_fall",
            says="From one role of a node to the next in the same life, by its own log, the term does not fall, "
            "unless a finding says that it did. Bully and the ring have no terms: nothing there forbids it.",
            failing=f"SELECT * FROM (SELECT *, lag(term) OVER {_IN_TURN} AS term_before, "
            f"lag(start_time) OVER {_IN_TURN} AS start_before, lag(role) OVER {_IN_TURN} AS role_before, "
            f"lag(end_cause) OVER {_IN_TURN} AS cause_before FROM role_intervals WHERE source_node IS NOT NULL) "
            f"AS turn {_DOUBTED} "
            "ANTI JOIN (SELECT * FROM findings WHERE rule IN ('TERM_REGRESSION', 'EPOCH_REGRESSION')) AS told "
            "ON told.cluster = turn.cluster AND told.replica_group = turn.replica_group "
            f"WHERE protocol NOT IN {_UNFENCED} AND term < term_before AND start_before < start_time "
            "AND role_before NOT IN ('down', 'unknown') AND coalesce(cause_before, '') NOT IN ('died', 'stopped')",
        ),
    ),
)
