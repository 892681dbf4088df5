-- A time of 4 s or more between the end of one leader of a group and the begin of the next.
WITH elected AS (
    SELECT cluster, CASE WHEN stream LIKE '%broker_default%' THEN 'brokers' ELSE 'controllers' END AS replica_group,
           source_node, event_time, kind = 'DL_TO_LEADER' AS leads
    FROM events WHERE kind IN ('DL_TO_LEADER', 'DL_TO_FOLLOWER', 'DL_TO_CANDIDATE')
    UNION ALL
    SELECT cluster, 'raft', source_node, event_time, kind = 'RAFT_TO_LEADER'
    FROM events WHERE kind IN ('RAFT_TO_LEADER', 'RAFT_TO_FOLLOWER', 'RAFT_TO_CANDIDATE', 'RAFT_TO_PRE_CANDIDATE')
    UNION ALL
    SELECT cluster, 'zookeeper', source_node, event_time, kind = 'ZK_ESTABLISHED'
    FROM events WHERE kind IN ('ZK_ESTABLISHED', 'ZK_LOOKING', 'ZK_FOLLOWING', 'ZK_LEADER_SHUTDOWN', 'ZK_LEADER_STOPPING')
    UNION ALL
    SELECT cluster, replica_group, source_node, event_time, kind = 'BRK_MASTER_BEGIN'
    FROM events WHERE kind IN ('BRK_MASTER_BEGIN', 'BRK_SLAVE_BEGIN')
), lines AS (
    SELECT cluster, source_node, event_time, lag(event_time) OVER (PARTITION BY cluster, source_node ORDER BY event_time) AS before
    FROM events WHERE kind NOT LIKE 'META_SNAPSHOT%' AND kind <> 'TICK'
), starts AS (
    SELECT cluster, source_node, event_time FROM events
    WHERE kind IN ('STORE_LAST_SHUTDOWN', 'CFG_ITEM', 'ETCD_BOOT', 'ETCD_VERSION', 'RAFT_START', 'ZK_BOOT', 'CTL_BOOT', 'DL_LISTEN')
), roles AS (
    FROM elected
    UNION ALL
    SELECT DISTINCT elected.cluster, replica_group, elected.source_node, lines.before, false
    FROM starts JOIN lines USING (cluster, source_node, event_time) JOIN elected USING (cluster, source_node)
    WHERE lines.before IS NOT NULL
), tenures AS (
    SELECT *, lead(event_time) OVER (PARTITION BY cluster, replica_group, source_node ORDER BY event_time) AS until FROM roles
), gaps AS (
    SELECT cluster, event_time, max(coalesce(until, TIMESTAMPTZ '9999-01-01 00:00:00Z')) OVER (
        PARTITION BY cluster, replica_group ORDER BY event_time ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS former_end
    FROM tenures WHERE leads
)
SELECT DISTINCT cluster, 'LEADERLESS' AS rule FROM gaps WHERE epoch_ms(event_time) - epoch_ms(former_end) >= 4000
