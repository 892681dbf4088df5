-- Two clients held the order lock of one queue at once (LOCK_DOUBLE_HOLD).
-- A lock is given at a broker until it is released there, given to somebody else, or not renewed for 60 s
-- (RebalanceLockManager.REBALANCE_LOCK_MAX_LIVE_TIME). Renewals are silent, so a hold counts for 60 s from its line only.
-- Under lockInStrictMode a client holds a lock only where more than half of the brokers of the set gave it
-- (AdminBrokerProcessor.lockBatchMQ), within the few seconds of one request.
WITH strict AS (
    SELECT boot.cluster, boot.replica_group, count(DISTINCT boot.source_node) AS brokers
    FROM events AS boot JOIN events AS mode USING (cluster, source_node)
    WHERE boot.kind = 'BRK_BOOT' AND mode.kind = 'CFG_ITEM' AND mode.setting = 'lockInStrictMode' AND mode.value = 'true'
    GROUP BY ALL
), locks AS (
    SELECT * FROM events WHERE kind IN ('LOCK_NEW', 'LOCK_TAKEN_EXPIRED', 'LOCK_RELEASED')
), given AS (
    SELECT locks.*, (
        SELECT count(DISTINCT other.source_node) FROM locks AS other
        WHERE other.cluster = locks.cluster AND other.replica_group = locks.replica_group
          AND other.consumer_group = locks.consumer_group AND other.topic = locks.topic
          AND other.queue_id = locks.queue_id AND other.client_id = locks.client_id AND other.kind <> 'LOCK_RELEASED'
          AND abs(epoch_ms(other.event_time) - epoch_ms(locks.event_time)) <= 5000
    ) AS givers
    FROM locks
), taken AS (
    SELECT *, lead(event_time) OVER (PARTITION BY cluster, replica_group, source_node, consumer_group, topic, queue_id
                                     ORDER BY event_time, line_no) AS next_time
    FROM given
), holds AS (
    SELECT taken.*, least(coalesce(next_time, event_time + INTERVAL 60 SECOND), event_time + INTERVAL 60 SECOND) AS until
    FROM taken LEFT JOIN strict USING (cluster, replica_group)
    WHERE kind <> 'LOCK_RELEASED' AND (strict.brokers IS NULL OR 2 * givers > strict.brokers)
)
SELECT a.cluster, 'LOCK_DOUBLE_HOLD' AS rule, NULL::BIGINT AS term, list_sort([a.source_node, b.source_node]) AS nodes
FROM holds AS a JOIN holds AS b
  ON a.cluster = b.cluster AND a.replica_group = b.replica_group AND a.consumer_group = b.consumer_group
 AND a.topic = b.topic AND a.queue_id = b.queue_id AND a.source_node < b.source_node AND a.client_id <> b.client_id
 AND epoch_ms(least(a.until, b.until)) - epoch_ms(greatest(a.event_time, b.event_time)) > 2000
GROUP BY ALL
