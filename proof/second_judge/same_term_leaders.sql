-- Two members won the same term of one group (SPLIT_BRAIN_SAME_TERM).
-- A leader is elected by a majority of the votes of its term and a member votes once a term, so a term has one leader:
-- Raft, section 5.2; DLedger: DLedgerLeaderElector.handleVote; ZAB: an epoch is proposed by one leader; controllers: an
-- epoch of a broker set is given to one master (ReplicasInfoManager.electMaster).
WITH wins AS (
    SELECT cluster, CASE WHEN stream LIKE '%broker_default%' THEN 'brokers' ELSE 'controllers' END AS replica_group,
           term, node, source_node
    FROM events WHERE kind = 'DL_ELECTED'
    UNION ALL
    SELECT cluster, protocol, term, node, source_node
    FROM events WHERE kind IN ('RAFT_TO_LEADER', 'JR_BECOME_LEADER', 'ZK_ESTABLISHED')
    UNION ALL
    SELECT cluster, replica_group, term, source_node, source_node FROM events WHERE kind = 'BRK_MASTER_BEGIN'
)
SELECT cluster, 'SPLIT_BRAIN_SAME_TERM' AS rule, term, list_sort(list(DISTINCT source_node)) AS nodes
FROM wins GROUP BY cluster, replica_group, term HAVING count(DISTINCT source_node) > 1
