-- A member gave its vote of one term to two candidates (DOUBLE_VOTE).
-- DLedger: a candidate prints each answer; ACCEPT is a vote (DLedgerLeaderElector.handleVote returns REJECT_ALREADY_VOTED
-- to a second candidate). etcd: a voter prints each vote that it casts, a candidate votes for itself (Raft, section 5.2);
-- a pre-vote binds nobody. The same text at the same time comes again where a request is sent again: candidates count.
WITH votes AS (
    SELECT cluster, CASE WHEN stream LIKE '%broker_default%' THEN 'brokers' ELSE 'controllers' END AS replica_group,
           term, peer AS voter, node AS candidate
    FROM events WHERE kind = 'DL_VOTE_REPLY' AND result = 'ACCEPT' AND peer IS NOT NULL
    UNION ALL
    SELECT cluster, 'raft', term, node, peer FROM events WHERE kind = 'RAFT_VOTE_CAST' AND request = 'MsgVote'
    UNION ALL
    SELECT cluster, 'raft', term, node, node FROM events WHERE kind = 'RAFT_TO_CANDIDATE'
)
SELECT cluster, 'DOUBLE_VOTE' AS rule, term, [voter] AS nodes
FROM votes GROUP BY cluster, replica_group, term, voter HAVING count(DISTINCT candidate) > 1
