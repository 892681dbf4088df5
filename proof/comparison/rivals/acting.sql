-- Two brokers of one set ran its scheduled services at once for 4 s or more: an acting master, and a master that never
-- gave up. The set is the folder's name without its number.
WITH turns AS (
    SELECT cluster, source_node, event_time, flag AS begins FROM events WHERE kind = 'BRK_SCHEDULE'
    UNION ALL
    SELECT cluster, source_node, before, false FROM (
        SELECT cluster, source_node, kind,
               lag(event_time) OVER (PARTITION BY cluster, source_node ORDER BY event_time) AS before
        FROM events WHERE kind NOT LIKE 'META_SNAPSHOT%' AND kind <> 'TICK'
    ) WHERE kind IN ('BRK_BOOT', 'CFG_ITEM', 'STORE_LAST_SHUTDOWN') AND before IS NOT NULL
), ends AS (
    SELECT cluster, source_node, max(event_time) AS last FROM events WHERE kind NOT LIKE 'META_SNAPSHOT%' GROUP BY ALL
), serving AS (
    SELECT *, regexp_replace(source_node, '-\d+$', '') AS brokers,
           lead(event_time) OVER (PARTITION BY cluster, source_node ORDER BY event_time) AS until
    FROM turns JOIN ends USING (cluster, source_node)
)
SELECT DISTINCT a.cluster, 'SPLIT_BRAIN_OVERLAP' AS rule
FROM serving AS a JOIN serving AS b
  ON a.cluster = b.cluster AND a.brokers = b.brokers AND a.source_node < b.source_node AND a.begins AND b.begins
WHERE epoch_ms(least(coalesce(a.until, a.last), coalesce(b.until, b.last)))
      - epoch_ms(greatest(a.event_time, b.event_time)) >= 4000
