-- A member was elected whose log ends below what was committed before (COMMITTED_ENTRY_LOST).
-- A committed entry is in the log of each leader of a later term (leader completeness: Raft, section 5.4). DLedger prints
-- the end of a log and its committed index every three seconds: what counts is the first such line of the leader, and what
-- it appended until then hides a loss. etcd prints the end of a log with each vote that a candidate asks for.
-- A cut that the leader fills again with the same entries is no loss: the leader has them.
WITH known AS (
    SELECT cluster, source_node, stream, event_time, term, committed
    FROM events WHERE kind IN ('DL_STATUS', 'DL_STATUS_FSM') AND committed >= 0
), elected AS (
    SELECT cluster, source_node, stream, event_time, term
    FROM events WHERE kind = 'DL_TO_LEADER'
), logs AS (
    SELECT elected.*, status.ledger_end
    FROM elected ASOF JOIN (FROM events WHERE kind IN ('DL_STATUS', 'DL_STATUS_FSM') AND role = 'LEADER') AS status
      ON elected.cluster = status.cluster AND elected.source_node = status.source_node
     AND elected.stream = status.stream AND elected.term = status.term AND elected.event_time <= status.event_time
    UNION ALL
    SELECT cluster, source_node, stream, event_time, term, max(ledger_end)
    FROM events WHERE kind = 'RAFT_VOTE_SENT' AND request = 'MsgVote' AND ledger_end IS NOT NULL GROUP BY ALL
)
SELECT DISTINCT logs.cluster, 'COMMITTED_ENTRY_LOST' AS rule, logs.term, [logs.source_node] AS nodes
FROM logs JOIN known
  ON logs.cluster = known.cluster AND logs.stream = known.stream AND known.term < logs.term
 AND known.event_time < logs.event_time AND logs.ledger_end < known.committed
