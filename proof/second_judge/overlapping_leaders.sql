-- Two members led one group at once, in different terms (SPLIT_BRAIN_OVERLAP).
-- A leader's time begins with the line of its election. It ends with the member's next line of another role, whenever it
-- came to write that, or with the last line before the first one of its next process. Clocks are taken as printed: a
-- second more or less is nothing.
WITH starts AS (
    SELECT cluster, source_node, event_time FROM events
    WHERE kind IN ('STORE_LAST_SHUTDOWN', 'CFG_ITEM', 'ETCD_BOOT', 'ETCD_VERSION', 'RAFT_START', 'ZK_BOOT', 'CTL_BOOT',
                   'DL_LISTEN')
), elected AS (
    SELECT cluster, CASE WHEN stream LIKE '%broker_default%' THEN 'brokers' ELSE 'controllers' END AS replica_group,
           source_node, event_time, time_resolution_ms, file_order, line_no, term, kind = 'DL_TO_LEADER' AS leads
    FROM events WHERE kind IN ('DL_TO_LEADER', 'DL_TO_FOLLOWER', 'DL_TO_CANDIDATE')
    UNION ALL
    SELECT cluster, 'raft', source_node, event_time, time_resolution_ms, file_order, line_no, term,
           kind = 'RAFT_TO_LEADER'
    FROM events WHERE kind IN ('RAFT_TO_LEADER', 'RAFT_TO_FOLLOWER', 'RAFT_TO_CANDIDATE', 'RAFT_TO_PRE_CANDIDATE')
    UNION ALL
    SELECT cluster, 'zookeeper', source_node, event_time, time_resolution_ms, file_order, line_no, term,
           kind = 'ZK_ESTABLISHED'
    FROM events WHERE kind IN ('ZK_ESTABLISHED', 'ZK_LOOKING', 'ZK_FOLLOWING', 'ZK_LEADER_SHUTDOWN', 'ZK_LEADER_STOPPING')
    UNION ALL
    SELECT cluster, replica_group, source_node, event_time, time_resolution_ms, file_order, line_no, term,
           kind = 'BRK_MASTER_BEGIN'
    FROM events WHERE kind IN ('BRK_MASTER_BEGIN', 'BRK_SLAVE_BEGIN')
), roles AS (
    SELECT *, false AS starts FROM elected
    UNION ALL
    SELECT DISTINCT cluster, replica_group, source_node, starts.event_time, 0, 0, 0, NULL::BIGINT, false, true
    FROM starts JOIN (SELECT DISTINCT cluster, replica_group, source_node FROM elected) USING (cluster, source_node)
), tenures AS (
    SELECT *, lead(event_time) OVER turn AS until, lead(starts) OVER turn AS until_start
    FROM roles
    WINDOW turn AS (PARTITION BY cluster, replica_group, source_node ORDER BY event_time, file_order, line_no)
), leaders AS (
    SELECT tenures.*, CASE WHEN until_start THEN line.event_time ELSE coalesce(until, line.event_time) END AS ends
    FROM tenures ASOF JOIN (
        SELECT cluster, source_node, event_time FROM events WHERE kind NOT LIKE 'META_SNAPSHOT%' AND kind <> 'TICK'
    ) AS line
      ON tenures.cluster = line.cluster AND tenures.source_node = line.source_node
     AND coalesce(until, TIMESTAMPTZ '9999-01-01 00:00:00Z') > line.event_time
    WHERE leads
)
SELECT a.cluster, 'SPLIT_BRAIN_OVERLAP' AS rule, NULL::BIGINT AS term, list_sort([a.source_node, b.source_node]) AS nodes
FROM leaders AS a JOIN leaders AS b
  ON a.cluster = b.cluster AND a.replica_group = b.replica_group AND a.source_node < b.source_node
 AND (a.term IS NULL OR a.term <> b.term)
WHERE epoch_ms(least(a.ends, b.ends)) - epoch_ms(greatest(a.event_time, b.event_time))
      > 1000 + greatest(a.time_resolution_ms, b.time_resolution_ms)
GROUP BY ALL
