-- The offset that a broker has stored for a consumer group fell between two of its snapshots (LAG), by more than 5.
WITH offsets AS (
    SELECT cluster, queue_offset, lag(queue_offset) OVER (
        PARTITION BY cluster, source_node, consumer_group, topic, queue_id ORDER BY event_time
    ) AS before
    FROM events WHERE kind = 'META_SNAPSHOT_OFFSET'
)
SELECT DISTINCT cluster, 'METADATA_ROLLBACK' AS rule FROM offsets WHERE queue_offset < before - 5
