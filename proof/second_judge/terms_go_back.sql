-- A member's own term or epoch fell (TERM_REGRESSION, EPOCH_REGRESSION).
-- Terms only grow, and are stored before a member answers (Raft, figure 2; DLedger: MemberState.persistTerm; controllers:
-- AutoSwitchHAService.changeToMaster). LAG compares each line of a stream with the largest term above it. A vote for
-- another server of ZooKeeper bears that one's epoch: what counts is the vote of a server for itself.
WITH terms AS (
    SELECT cluster, source_node, stream, node AS member, term, file_order, line_no, 'TERM_REGRESSION' AS rule
    FROM events
    WHERE kind IN ('DL_TO_LEADER', 'DL_TO_FOLLOWER', 'DL_TO_CANDIDATE', 'DL_STATUS', 'DL_STATUS_FSM', 'RAFT_TO_LEADER',
                   'RAFT_TO_FOLLOWER', 'RAFT_TO_CANDIDATE', 'RAFT_START')
    UNION ALL
    SELECT cluster, source_node, stream, node, term, file_order, line_no, 'TERM_REGRESSION'
    FROM events WHERE kind = 'ZK_VOTE' AND peer = node AND value = node AND term IS NOT NULL
    UNION ALL
    SELECT cluster, source_node, stream, replica_group, term, file_order, line_no, 'EPOCH_REGRESSION'
    FROM events WHERE kind IN ('BRK_MASTER_BEGIN', 'BRK_SLAVE_BEGIN')
), before AS (
    SELECT *, max(term) OVER (PARTITION BY cluster, source_node, stream, member ORDER BY file_order, line_no
                              ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS largest
    FROM terms
)
SELECT cluster, rule, NULL::BIGINT AS term, [source_node] AS nodes
FROM before WHERE term < largest GROUP BY cluster, rule, source_node
