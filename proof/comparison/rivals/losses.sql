-- A broker that was master cut its log back later, when it came back as a slave, to where its own log went beyond.
WITH cuts AS (
    SELECT cut.cluster, cut.source_node, cut.start_offset, max(known.max_offset) AS reached
    FROM events AS cut JOIN events AS known USING (cluster, source_node)
    WHERE cut.kind IN ('HA_CLIENT_CUT', 'HA_CLIENT_CUT_AT') AND cut.start_offset >= 0
      AND known.max_offset IS NOT NULL AND known.event_time <= cut.event_time
    GROUP BY ALL
)
SELECT DISTINCT cuts.cluster, 'COMMITTED_ENTRY_LOST' AS rule
FROM cuts JOIN events AS master USING (cluster, source_node)
WHERE master.kind = 'BRK_MASTER_BEGIN' AND reached > cuts.start_offset
