"""The views: queries that answer readers' questions from the published tables, each defined once for Spark and DuckDB.

A view reads tables and earlier views by their bare names; ``jobs.spark_views`` and ``jobs.reading`` create them over
the tables as published. Queries use only SQL that both engines share, with Spark's function names;
:data:`DUCKDB_MACROS` defines those that DuckDB names differently.

Times of different nodes are compared here only if a difference of clocks cannot mislead, or if a finding of the core,
which knows the clocks' bounds, decides.
"""

from dataclasses import replace

from election_replay.schemas import TABLES
from election_replay.schemas.findings import ADVICE, OF_RUNS
from election_replay.schemas.model import BIGINT, STRING, STRINGS, TIMESTAMP, Column, Parameter, View

DUCKDB_MACROS = (
    "CREATE MACRO explode(list) AS unnest(list)",
    "CREATE MACRO size(list) AS len(list)",
    "CREATE MACRO sequence(first, last) AS generate_series(first, last)",
    "CREATE MACRO get(list, place) AS list[place + 1]",
    "CREATE MACRO collect_set(value) AS coalesce(list(DISTINCT value) FILTER (WHERE value IS NOT NULL), [])",
    "CREATE MACRO array_join(list, separator) AS array_to_string(list, separator)",
    "CREATE MACRO unix_millis(time) AS epoch_ms(time)",
    "CREATE MACRO timestamp_millis(ms) AS make_timestamptz(CAST(ms * 1000 AS BIGINT))",
    "CREATE TYPE timestamp_ltz AS TIMESTAMPTZ",
)
"""DuckDB definitions of functions under Spark's names."""

WATCHED_WITHIN_MS = 600_000
"""A log that continues in another file within this time counts as observed in between."""

DAY_MS = 86_400_000

NEAR_MS = 1000
"""By how much a time logged in whole seconds may be too early, in ms."""

STARVED_WITHIN = "30"
"""Seconds before a change within which a silent log counts as its cause."""

RULES_OF = {
    "split_brains": ("SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "ACTING_MASTER_OVERLAP"),
    "lock_violations": ("LOCK_DOUBLE_HOLD", "LOCK_WITHOUT_QUORUM", "LOCK_NON_STRICT_RISK", "LOCK_USED_AFTER_EXPIRY"),
    "metadata_rollbacks": ("METADATA_ROLLBACK", "PRE_ONLINE_SKIPPED", "STALE_REVERSE_SYNC"),
    "unclean_elections": ("UNCLEAN_ELECTION", "MASTER_NOT_IN_SYNC_STATE_SET"),
    "leaderless": ("LEADERLESS", "SPECIAL_SERVICE_GAP"),
}
"""Views with the findings of the given rules."""


def of(table: str, *names: str) -> tuple[Column, ...]:
    """Return columns of a table for a view, none of them a key."""
    known = {column.name: column for column in TABLES[table].columns}
    return tuple(replace(known[name], key=False) for name in names)


def text(name: str, comment: str, *, nullable: bool = True) -> Column:
    """Return a column of text."""
    return Column(name=name, type=STRING, comment=comment, nullable=nullable)


def number(name: str, comment: str, unit: str | None = None, *, nullable: bool = True) -> Column:
    """Return a column of whole numbers."""
    return Column(name=name, type=BIGINT, comment=comment, unit=unit, nullable=nullable)


def names(name: str, comment: str) -> Column:
    """Return a column of names."""
    return Column(name=name, type=STRINGS, comment=comment, nullable=False)


def time(name: str, comment: str, *, nullable: bool = False) -> Column:
    """Return a column of times."""
    return Column(name=name, type=TIMESTAMP, comment=comment, unit="UTC", nullable=nullable)


GROUP = of("terms", "cluster", "replica_group", "protocol")
PLACE = (
    text("path", "File that holds the line, below the landing zone."),
    number("line_no", "Number of the line in that file, from 1."),
)

LOG_ENDS = View(
    name="log_ends",
    comment="The last sign of each node in its logs: what came after it is not known.",
    columns=(
        *of("landed_files", "cluster", "source_node"),
        time("log_end", "Time of the last dated line of any log of the node, in common time.", nullable=True),
        time("log_end_logged", "The latest time in any log of the node, on its own clock.", nullable=True),
    ),
    sql="""
        SELECT landed.cluster, landed.source_node, coalesce(min(put_right.log_end), max(landed.log_end)) AS log_end,
               max(landed.log_end) AS log_end_logged
        FROM (
            SELECT cluster, source_node, max(last_line_time) AS log_end FROM landed_files GROUP BY cluster, source_node
        ) AS landed
        LEFT JOIN (
            SELECT cluster, replica_group, source_node, max(end_time) AS log_end FROM clock_offsets
            GROUP BY cluster, replica_group, source_node
        ) AS put_right ON put_right.cluster = landed.cluster AND put_right.source_node = landed.source_node
        GROUP BY landed.cluster, landed.source_node
    """,
)

CURRENT = View(
    name="current",
    comment="Who leads each group at the end of its logs: one row for each leader, or one without a leader.",
    columns=(
        *GROUP,
        text("leader", "Member that leads at the end of its log; null: nobody is seen to lead."),
        text("role", "leader, or acting_leader (read only)."),
        number("term", "Its term or epoch."),
        time("since", "Since when it leads.", nullable=True),
        time("as_of", "Last line of its log, or of its group's logs where nobody leads.", nullable=True),
        names("followers", "Members that follow at the end of their logs, sorted."),
        names("others", "Members that are down, candidates or in an unknown role there, sorted."),
    ),
    sql="""
        WITH last_roles AS (
            SELECT one.cluster, one.replica_group, one.protocol, one.node, one.role, one.term, one.start_time,
                   ends.log_end
            FROM role_intervals AS one
            LEFT JOIN log_ends AS ends ON ends.cluster = one.cluster AND ends.source_node = one.source_node
            WHERE one.end_time IS NULL
        ),
        ruling AS (SELECT * FROM last_roles WHERE role IN ('leader', 'acting_leader')),
        members AS (
            SELECT role.cluster, role.replica_group, role.protocol, max(ends.log_end) AS log_end
            FROM role_intervals AS role
            LEFT JOIN log_ends AS ends ON ends.cluster = role.cluster AND ends.source_node = role.source_node
            GROUP BY role.cluster, role.replica_group, role.protocol
        ),
        others AS (
            SELECT cluster, replica_group, protocol,
                   array_sort(collect_set(CASE WHEN role = 'follower' THEN node END)) AS followers,
                   array_sort(collect_set(CASE WHEN role NOT IN ('leader', 'acting_leader', 'follower') THEN node END))
                       AS others
            FROM (
                SELECT members.cluster, members.replica_group, members.protocol, one.node, one.role
                FROM members
                LEFT JOIN last_roles AS one ON one.cluster = members.cluster
                    AND one.replica_group = members.replica_group AND one.protocol = members.protocol
            ) AS seen
            GROUP BY cluster, replica_group, protocol
        )
        SELECT members.cluster, members.replica_group, members.protocol, ruling.node AS leader, ruling.role,
               ruling.term, ruling.start_time AS since, coalesce(ruling.log_end, members.log_end) AS as_of,
               others.followers, others.others
        FROM members
        LEFT JOIN ruling ON ruling.cluster = members.cluster AND ruling.replica_group = members.replica_group
            AND ruling.protocol = members.protocol
        JOIN others ON others.cluster = members.cluster AND others.replica_group = members.replica_group
            AND others.protocol = members.protocol
    """,
)

LEADERSHIP_AT = View(
    name="leadership_at",
    comment="Who led each group from moment to moment: one row for each stretch in which that stays the same. A "
    "moment is in it where start_time <= moment and moment < end_time, or end_time is null.",
    columns=(
        *GROUP,
        time("start_time", "Begin of the stretch: a leader began or ended, by its own clock."),
        time("end_time", "Its end; null: to the end of the logs.", nullable=True),
        names("leaders", "Members that led, sorted; more than one: they led at once by their own clocks."),
        names("acting_leaders", "Members that acted as leader, read only, sorted."),
    ),
    sql="""
        WITH ruling AS (
            SELECT cluster, replica_group, protocol, node, role, start_time, end_time FROM role_intervals
            WHERE role IN ('leader', 'acting_leader') AND (end_time IS NULL OR end_time > start_time)
        ),
        edges AS (
            SELECT cluster, replica_group, protocol, start_time AS edge FROM ruling
            UNION
            SELECT cluster, replica_group, protocol, end_time AS edge FROM ruling WHERE end_time IS NOT NULL
        ),
        stretches AS (
            SELECT cluster, replica_group, protocol, edge,
                   lead(edge) OVER (PARTITION BY cluster, replica_group, protocol ORDER BY edge) AS next_edge
            FROM edges
        )
        SELECT one.cluster, one.replica_group, one.protocol, one.edge AS start_time, one.next_edge AS end_time,
               array_sort(collect_set(CASE WHEN ruling.role = 'leader' THEN ruling.node END)) AS leaders,
               array_sort(collect_set(CASE WHEN ruling.role = 'acting_leader' THEN ruling.node END)) AS acting_leaders
        FROM stretches AS one
        LEFT JOIN ruling ON ruling.cluster = one.cluster AND ruling.replica_group = one.replica_group
            AND ruling.protocol = one.protocol AND ruling.start_time <= one.edge
            AND (ruling.end_time IS NULL OR ruling.end_time > one.edge)
        GROUP BY one.cluster, one.replica_group, one.protocol, one.edge, one.next_edge
    """,
)

LEADERSHIP_CHANGES = View(
    name="leadership_changes",
    comment="Each change of leadership: who led before and after, why, and what had become of the old leader.",
    columns=(
        *GROUP,
        time("changed_at", "When the new leader began."),
        number("old_term", "Term or epoch before.", nullable=False),
        text("old_leader", "Leader before.", nullable=False),
        number("new_term", "Term or epoch after.", nullable=False),
        text("new_leader", "Leader after; the old one again where it was elected again.", nullable=False),
        text("cause", "Why the election began; as in terms."),
        text("old_leader_state", "What the old leader was at the change; as in terms.", nullable=False),
        time("old_leader_end", "When the old leader's role ended.", nullable=True),
        *of("terms", "start_event_id"),
    ),
    sql="""
        WITH led AS (
            SELECT cluster, replica_group, protocol, term, leader, start_time, cause, start_event_id,
                   former_leader_state,
                   lag(term) OVER (PARTITION BY cluster, replica_group, protocol ORDER BY term, start_time) AS old_term,
                   lag(leader) OVER (PARTITION BY cluster, replica_group, protocol ORDER BY term, start_time)
                       AS old_leader
            FROM terms WHERE leader IS NOT NULL
        ),
        tenures AS (
            SELECT cluster, replica_group, protocol, node, term, end_time,
                   row_number() OVER (
                       PARTITION BY cluster, replica_group, protocol, node, term ORDER BY start_time DESC
                   ) AS from_last
            FROM role_intervals WHERE role = 'leader'
        )
        SELECT led.cluster, led.replica_group, led.protocol, led.start_time AS changed_at, led.old_term,
               led.old_leader, led.term AS new_term, led.leader AS new_leader, led.cause,
               coalesce(led.former_leader_state, 'unknown') AS old_leader_state,
               old.end_time AS old_leader_end, led.start_event_id
        FROM led
        LEFT JOIN tenures AS old ON old.cluster = led.cluster AND old.replica_group = led.replica_group
            AND old.protocol = led.protocol AND old.node = led.old_leader AND old.term = led.old_term
            AND old.from_last = 1
        WHERE led.old_leader IS NOT NULL
    """,
)

NEEDLESS_ELECTIONS = View(
    name="needless_elections",
    comment="Changes of leadership whose old leader was alive and could be reached, with what brought them about.",
    columns=(
        *GROUP,
        time("changed_at", "When the new leader began, by its own clock."),
        number("old_term", "Term or epoch before.", nullable=False),
        text("old_leader", "Leader before.", nullable=False),
        number("new_term", "Term or epoch after.", nullable=False),
        text("new_leader", "Leader after; the old one again where it was elected again.", nullable=False),
        text(
            "why",
            "thread_starvation (a log of the group was silent in the 30 s before: frozen, or too busy to work), "
            "controller_heartbeat_loss (the controllers took the master for dead), heartbeat_loss (a member missed the "
            "leader's heartbeats), fail_back (handed over to the preferred leader), operator (handed over or asked "
            "for, and no line says that the software did it by itself) or unknown (the logs do not say).",
            nullable=False,
        ),
        *of("terms", "start_event_id"),
    ),
    sql=f"""
        WITH starved AS (
            SELECT change.cluster, change.replica_group, change.protocol, change.new_term, change.changed_at,
                   count(*) AS holes
            FROM leadership_changes AS change
            JOIN findings AS found ON found.cluster = change.cluster AND found.replica_group = change.replica_group
                AND found.rule = 'LOG_GAP' AND found.start_time <= change.changed_at
                AND (found.end_time IS NULL
                     OR found.end_time >= change.changed_at - INTERVAL '{STARVED_WITHIN}' SECOND)
            GROUP BY change.cluster, change.replica_group, change.protocol, change.new_term, change.changed_at
        )
        SELECT change.cluster, change.replica_group, change.protocol, change.changed_at, change.old_term,
               change.old_leader, change.new_term, change.new_leader,
               CASE
                   WHEN change.cause = 'preferred_leader' THEN 'fail_back'
                   WHEN change.cause IN ('requested', 'leadership_transfer') THEN 'operator'
                   WHEN starved.holes > 0 THEN 'thread_starvation'
                   WHEN change.cause IN ('master_inactive', 'elected_again') THEN 'controller_heartbeat_loss'
                   WHEN change.cause IN ('heartbeat_timeout', 'election_timeout') THEN 'heartbeat_loss'
                   ELSE 'unknown'
               END AS why,
               change.start_event_id
        FROM leadership_changes AS change
        LEFT JOIN starved ON starved.cluster = change.cluster AND starved.replica_group = change.replica_group
            AND starved.protocol = change.protocol AND starved.new_term = change.new_term
            AND starved.changed_at = change.changed_at
        WHERE change.old_leader_state = 'reachable'
    """,
)

SHOWN_OF_A_FINDING = (
    *of("findings", "finding_id", "cluster", "replica_group", "protocol", "rule", "severity", "certainty", "nodes"),
    *of("findings", "terms", "start_time", "end_time", "summary"),
)
MEASURES = {
    "split_brains": ("overlap_min_ms", "overlap_max_ms", "messages_lost", "bytes_lost"),
    "lock_violations": ("overlap_min_ms", "overlap_max_ms"),
    "metadata_rollbacks": ("offset_before", "offset_after", "messages_repeated"),
    "unclean_elections": ("messages_lost", "bytes_lost"),
    "leaderless": ("duration_min_ms", "duration_max_ms", "rounds"),
}
COMMENTS = {
    "split_brains": "Two leaders at once: who, how long, and what was lost by it.",
    "lock_violations": "Order locks that two clients held at once, or that protected less than they should.",
    "metadata_rollbacks": "Offsets, topics or groups that went back: what is consumed or delivered again.",
    "unclean_elections": "Masters that were elected outside of the SyncStateSet, and what was lost by it.",
    "leaderless": "Times in which members were up and nobody led, or nobody served.",
}


def findings_of(name: str) -> View:
    """Return the view of the findings of ``RULES_OF[name]``, each with its first line of evidence."""
    columns = (*SHOWN_OF_A_FINDING, *of("findings", *MEASURES[name], "implied_by"))
    rules = ", ".join(f"'{rule}'" for rule in RULES_OF[name])
    shown = ", ".join(f"found.{column.name}" for column in columns)
    return View(
        name=name,
        comment=COMMENTS[name],
        columns=(*columns, *PLACE),
        sql=f"""
        SELECT {shown}, proof.path, proof.line_no
        FROM findings AS found
        LEFT JOIN evidence_lines AS proof ON proof.finding_id = found.finding_id AND proof.position = 1
        WHERE found.rule IN ({rules})
    """,
    )


CLOCKS = View(
    name="clocks",
    comment="Clocks that were wrong: one row from each time that one was set to the next, in which it was off by as "
    "much; by how much it was set, and what proves it.",
    columns=(
        *SHOWN_OF_A_FINDING,
        *of("findings", "clock_set_by_ms", "implied_by"),
        text("node", "The member whose clock it is; with several nodes, one of them: messages do not tell whose."),
        number("position", "From 1, in the order of its log; null: when it was wrong is not known.", None),
        *of("clock_offsets", "start_time_logged", "end_time_logged", "clock_least_ms", "clock_most_ms"),
        text(
            "reads",
            "ahead or behind: of true time; right: within its bounds; set: only that it was set is proven; apart: only "
            "that it differs from another one is.",
            nullable=False,
        ),
        number("least_ms", "How far ahead or behind, at least; null: not proven.", "ms"),
        number("most_ms", "How far ahead or behind, at most; null: no bound is proven.", "ms"),
        *of("clock_offsets", "set_by_least_ms", "set_by_most_ms", "moved_ms"),
        number(
            "adjust_ms",
            "What is still to be added to its times in gold tables to put them beside those of others: 0, they are "
            "common time.",
            "ms",
            nullable=False,
        ),
        *PLACE,
    ),
    sql=f"""
        SELECT {", ".join(f"told.{column.name}" for column in SHOWN_OF_A_FINDING)},
               told.clock_set_by_ms, told.implied_by, told.node, told.position, told.start_time_logged,
               told.end_time_logged, told.clock_least_ms, told.clock_most_ms, told.reads,
               CASE told.reads WHEN 'ahead' THEN told.clock_least_ms WHEN 'behind' THEN -told.clock_most_ms END
                   AS least_ms,
               CASE told.reads WHEN 'ahead' THEN told.clock_most_ms WHEN 'behind' THEN -told.clock_least_ms END
                   AS most_ms,
               told.set_by_least_ms, told.set_by_most_ms, told.moved_ms, CAST(0 AS BIGINT) AS adjust_ms,
               proof.path, proof.line_no
        FROM (
            SELECT *, CASE WHEN size(nodes) <> 1 THEN 'apart' WHEN clock_least_ms > 0 THEN 'ahead'
                           WHEN clock_most_ms < 0 THEN 'behind' WHEN moved_ms = 0 THEN 'right'
                           WHEN clock_set_by_ms IS NOT NULL OR position > 1 THEN 'set' ELSE 'apart' END AS reads
            FROM (
                SELECT found.finding_id, found.cluster, found.replica_group, found.protocol, found.rule,
                       found.severity, found.certainty, found.nodes, found.terms,
                       coalesce(off.start_time, found.start_time) AS start_time,
                       CASE WHEN off.position IS NULL THEN found.end_time ELSE off.end_time END AS end_time,
                       found.summary, found.clock_set_by_ms, found.implied_by, off.position, off.start_time_logged,
                       off.end_time_logged, off.set_by_least_ms, off.set_by_most_ms, off.moved_ms,
                       CASE WHEN off.position IS NULL THEN found.clock_least_ms ELSE off.clock_least_ms END
                           AS clock_least_ms,
                       CASE WHEN off.position IS NULL THEN found.clock_most_ms ELSE off.clock_most_ms END
                           AS clock_most_ms,
                       CASE WHEN size(found.nodes) > 0 THEN get(found.nodes, 0) END AS node
                FROM findings AS found
                LEFT JOIN clock_offsets AS off ON off.cluster = found.cluster AND off.finding_id = found.finding_id
                WHERE found.rule = 'CLOCK_SKEW'
            ) AS one
        ) AS told
        LEFT JOIN evidence_lines AS proof ON proof.finding_id = told.finding_id AND proof.position = 1
    """,
)

LOSSES = View(
    name="losses",
    comment="What was lost: one row for each cut, told by the finding that says most of it. What follows from another "
    "finding that tells of a loss, or tells of the same offsets, is the same cut.",
    columns=(
        *SHOWN_OF_A_FINDING,
        *of("findings", "messages_lost", "bytes_lost", "entries_lost", "offset_after", "offset_before"),
        *of("findings", "cut_node", "cut_epoch", "cut_from", "cut_to", "unit", "lost_from"),
        number("told_by", "Findings that tell of this cut.", nullable=False),
        number(
            "damage",
            "How much of it no other row tells, in bytes, messages or entries: what two cuts of one epoch share counts "
            "once. The sum is the damage; where what is in no queue is information, its member never led afterwards.",
            nullable=False,
        ),
        *PLACE,
    ),
    sql=f"""
        WITH losing AS (
            SELECT * FROM findings
            WHERE coalesce(bytes_lost, 0) > 0 OR coalesce(messages_lost, 0) > 0 OR coalesce(entries_lost, 0) > 0
        ),
        rooted AS (
            SELECT one.*, coalesce(grand.finding_id, root.finding_id, one.finding_id) AS root_id
            FROM losing AS one
            LEFT JOIN findings AS step ON step.finding_id = one.implied_by
            LEFT JOIN losing AS root ON root.finding_id = one.implied_by
            LEFT JOIN losing AS grand ON grand.finding_id = step.implied_by
        ),
        cuts AS (
            SELECT *, CASE WHEN root_id <> finding_id THEN root_id
                           WHEN offset_after IS NULL OR offset_before IS NULL THEN finding_id
                           ELSE cluster || '/' || replica_group || '/' || kind || '/'
                               || coalesce(CAST(cut_epoch AS STRING), '') || '/' || offset_after || '/' || offset_before
                      END AS told_of
            FROM (SELECT *, coalesce(lost_from, 'log') AS kind FROM rooted) AS kinds
        ),
        named AS (
            SELECT cuts.*, coalesce(root.told_of, cuts.told_of) AS cut
            FROM cuts LEFT JOIN cuts AS root ON root.finding_id = cuts.root_id
        ),
        ranked AS (
            SELECT *, count(*) OVER (PARTITION BY cut) AS told_by, row_number() OVER (
                PARTITION BY cut
                ORDER BY CASE severity WHEN 'critical' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, start_time, finding_id
            ) AS place
            FROM named
        ),
        reached AS (
            SELECT *, coalesce(entries_lost, messages_lost, bytes_lost) AS amount, max(cut_to) OVER (
                PARTITION BY cluster, replica_group, kind, cut_epoch, unit ORDER BY cut_from, cut_to, finding_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS told_to
            FROM ranked WHERE place = 1
        )
        SELECT {", ".join(f"told.{column.name}" for column in SHOWN_OF_A_FINDING)},
               told.messages_lost, told.bytes_lost, told.entries_lost, told.offset_after, told.offset_before,
               told.cut_node, told.cut_epoch, told.cut_from, told.cut_to, told.unit,
               told.kind AS lost_from, told.told_by,
               CASE WHEN told.told_to IS NULL OR told.cut_from IS NULL
                        OR coalesce(told.entries_lost, told.messages_lost) IS NOT NULL THEN told.amount
                    ELSE greatest(told.cut_to - greatest(told.cut_from, told.told_to), CAST(0 AS BIGINT))
               END AS damage,
               proof.path, proof.line_no
        FROM reached AS told
        LEFT JOIN evidence_lines AS proof ON proof.finding_id = told.finding_id AND proof.position = 1
    """,
)

IDENTITIES = View(
    name="identities",
    comment="Which machine was which member, and when: one row for each stretch in which the logs of a folder speak "
    "as one member of a group.",
    columns=(
        *GROUP,
        *of("role_intervals", "node", "source_node"),
        time("since", "First role in which its logs show it."),
        time("until", "Last sign of it: the end of its last role, or of its logs; null: not known.", nullable=True),
        names("addresses", "Addresses under which the member is known in the group, sorted."),
    ),
    sql="""
        WITH turns AS (
            SELECT cluster, replica_group, protocol, node, source_node, start_time, end_time,
                   CASE WHEN lag(node) OVER (
                       PARTITION BY cluster, replica_group, protocol, source_node,
                                    CASE WHEN source_node IS NULL THEN node END
                       ORDER BY start_time, node
                   ) = node THEN 0 ELSE 1 END AS begins
            FROM role_intervals
        ),
        stretches AS (
            SELECT *, sum(begins) OVER (
                PARTITION BY cluster, replica_group, protocol, source_node,
                             CASE WHEN source_node IS NULL THEN node END
                ORDER BY start_time, node ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS stretch
            FROM turns
        ),
        known AS (
            SELECT DISTINCT cluster, replica_group, node, address FROM facts
            WHERE kind = 'MEMBER_ADDRESS' AND node IS NOT NULL
        ),
        lasted AS (
            SELECT cluster, replica_group, protocol, node, source_node, stretch, min(start_time) AS since,
                   max(end_time) AS ended, count(*) FILTER (WHERE end_time IS NULL) AS lasting
            FROM stretches GROUP BY cluster, replica_group, protocol, node, source_node, stretch
        )
        SELECT one.cluster, one.replica_group, one.protocol, one.node, one.source_node, one.since,
               max(CASE WHEN one.lasting > 0 THEN ends.log_end ELSE one.ended END) AS until,
               array_sort(collect_set(known.address)) AS addresses
        FROM lasted AS one
        LEFT JOIN log_ends AS ends ON ends.cluster = one.cluster AND ends.source_node = one.source_node
        LEFT JOIN known ON known.cluster = one.cluster AND known.replica_group = one.replica_group
            AND known.node = one.node
        GROUP BY one.cluster, one.replica_group, one.protocol, one.node, one.source_node, one.since
    """,
)

RECOVERIES = View(
    name="recoveries",
    comment="Each time without a leader, from the loss to the one who served again, and why the election began. The "
    "moments are told by the clocks of different nodes; how long it took is what holds for all of them.",
    columns=(
        *of("findings", "finding_id", "cluster", "replica_group", "protocol", "severity", "certainty"),
        text("cause", "Why the next leader's election began, as in terms; null: nobody was elected."),
        text("old_leader", "Who had led."),
        text("old_leader_state", "What had become of it, as in leadership_changes."),
        text("new_leader", "Who led next; null: nobody is seen to."),
        number("new_term", "Its term or epoch."),
        time("lost_at", "When nobody led any more."),
        time("detected_at", "When the election that it won, or its first round, began.", nullable=True),
        time("elected_at", "When it began to lead.", nullable=True),
        time("serving_at", "When writes went on; null: not to the end of the logs.", nullable=True),
        number("election_ms", "How long the election took, by one node's clock.", "ms"),
        *of("findings", "duration_min_ms", "duration_max_ms"),
    ),
    sql=f"""
        WITH lost AS (
            SELECT * FROM findings WHERE rule = 'LEADERLESS' AND implied_by IS NULL
        ),
        matched AS (
            SELECT lost.finding_id, change.*, row_number() OVER (
                PARTITION BY lost.cluster, lost.finding_id ORDER BY change.changed_at DESC, change.new_term DESC
            ) AS from_last
            FROM lost
            JOIN leadership_changes AS change ON change.cluster = lost.cluster
                AND change.replica_group = lost.replica_group
                AND unix_millis(change.changed_at) >= unix_millis(lost.start_time) - {NEAR_MS}
                AND (lost.end_time IS NULL
                     OR unix_millis(change.changed_at) <= unix_millis(lost.end_time) + {NEAR_MS})
        ),
        won AS (
            SELECT cluster, replica_group, term, candidate, min(start_time) AS start_time,
                   max(unix_millis(end_time) - unix_millis(start_time)) AS election_ms
            FROM elections WHERE outcome = 'won' GROUP BY cluster, replica_group, term, candidate
        )
        SELECT lost.finding_id, lost.cluster, lost.replica_group, lost.protocol, lost.severity, lost.certainty,
               change.cause, change.old_leader, change.old_leader_state, change.new_leader, change.new_term,
               lost.start_time AS lost_at, won.start_time AS detected_at, change.changed_at AS elected_at,
               lost.end_time AS serving_at, won.election_ms, lost.duration_min_ms, lost.duration_max_ms
        FROM lost
        LEFT JOIN matched AS change ON change.finding_id = lost.finding_id AND change.cluster = lost.cluster
            AND change.from_last = 1
        LEFT JOIN won ON won.cluster = lost.cluster AND won.replica_group = lost.replica_group
            AND won.term = change.new_term AND won.candidate = change.new_leader
    """,
)

AVAILABILITY = View(
    name="availability",
    comment="How much of each day the logs of a group tell of, and how much of that nobody led it: a day of which "
    "little could be observed says little.",
    columns=(
        *GROUP,
        time("day", "Midnight, UTC, at which the day begins."),
        number("observed_ms", "Time of which the logs of at least one member tell.", "ms", nullable=False),
        number("leaderless_least_ms", "Of that, time without a leader, at least.", "ms", nullable=False),
        number("leaderless_most_ms", "Of that, time without a leader, at most.", "ms", nullable=False),
        number("outages", "Times without a leader that touch the day.", nullable=False),
        number("planned", "Of these, those that are only worth knowing.", nullable=False),
    ),
    sql=f"""
        WITH members AS (
            SELECT DISTINCT cluster, replica_group, protocol, source_node FROM role_intervals
            WHERE source_node IS NOT NULL
        ),
        files AS (
            SELECT members.cluster, members.replica_group, members.protocol,
                   unix_millis(file.file_time) AS begins, unix_millis(file.last_line_time) AS ends
            FROM members
            JOIN landed_files AS file ON file.cluster = members.cluster AND file.source_node = members.source_node
            WHERE file.file_time IS NOT NULL AND file.last_line_time >= file.file_time
        ),
        reach AS (
            SELECT *, max(ends) OVER (
                PARTITION BY cluster, replica_group, protocol ORDER BY begins, ends
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS reached
            FROM files
        ),
        numbered AS (
            SELECT *, sum(CASE WHEN begins <= reached + {WATCHED_WITHIN_MS} THEN 0 ELSE 1 END) OVER (
                PARTITION BY cluster, replica_group, protocol ORDER BY begins, ends
                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
            ) AS watch
            FROM reach
        ),
        watches AS (
            SELECT cluster, replica_group, protocol, watch, min(begins) AS begins, max(ends) AS ends
            FROM numbered GROUP BY cluster, replica_group, protocol, watch
        ),
        days AS (
            SELECT cluster, replica_group, protocol, begins, ends, explode(sequence(
                CAST(floor(begins / {DAY_MS}.0) AS BIGINT), CAST(floor(ends / {DAY_MS}.0) AS BIGINT)
            )) AS number
            FROM watches
        ),
        observed AS (
            SELECT cluster, replica_group, protocol, number * {DAY_MS} AS day_ms, max(ends) AS watched_to,
                   CAST(sum(least(ends, (number + 1) * {DAY_MS}) - greatest(begins, number * {DAY_MS})) AS BIGINT)
                       AS observed_ms
            FROM days GROUP BY cluster, replica_group, protocol, number
        ),
        leaderless AS (
            SELECT * FROM findings WHERE rule = 'LEADERLESS' AND implied_by IS NULL
        ),
        outages AS (
            SELECT one.* FROM leaderless AS one
            LEFT JOIN leaderless AS longer ON longer.cluster = one.cluster
                AND longer.replica_group = one.replica_group AND longer.protocol = one.protocol
                AND unix_millis(longer.start_time) <= unix_millis(one.start_time) + {NEAR_MS}
                AND (longer.end_time IS NULL OR longer.end_time >= one.end_time)
                AND (longer.duration_min_ms > one.duration_min_ms
                     OR (longer.duration_min_ms = one.duration_min_ms AND longer.finding_id < one.finding_id))
            WHERE longer.finding_id IS NULL
        ),
        lost AS (
            SELECT day.cluster, day.replica_group, day.protocol, day.day_ms, found.severity,
                   least(coalesce(unix_millis(found.end_time), day.watched_to), day.day_ms + {DAY_MS})
                       - greatest(unix_millis(found.start_time), day.day_ms) AS within_ms,
                   found.duration_min_ms, found.duration_max_ms,
                   found.end_time IS NOT NULL AND unix_millis(found.start_time) >= day.day_ms
                       AND unix_millis(found.end_time) <= day.day_ms + {DAY_MS} AS inside
            FROM observed AS day
            JOIN outages AS found ON found.cluster = day.cluster AND found.replica_group = day.replica_group
                AND found.protocol = day.protocol
                AND unix_millis(found.start_time) < day.day_ms + {DAY_MS}
                AND coalesce(unix_millis(found.end_time), day.watched_to) >= day.day_ms
        ),
        summed AS (
            SELECT cluster, replica_group, protocol, day_ms, count(*) AS outages,
                   count(*) FILTER (WHERE severity = 'info') AS planned,
                   sum(CASE WHEN inside THEN coalesce(duration_min_ms, 0)
                            ELSE least(coalesce(duration_min_ms, 0), greatest(within_ms, 0)) END) AS least_ms,
                   sum(CASE WHEN inside THEN coalesce(duration_max_ms, within_ms)
                            ELSE greatest(within_ms, 0) END) AS most_ms
            FROM lost GROUP BY cluster, replica_group, protocol, day_ms
        )
        SELECT day.cluster, day.replica_group, day.protocol, timestamp_millis(day.day_ms) AS day, day.observed_ms,
               CAST(least(coalesce(sum_of.least_ms, 0), day.observed_ms) AS BIGINT) AS leaderless_least_ms,
               CAST(least(coalesce(sum_of.most_ms, 0), day.observed_ms) AS BIGINT) AS leaderless_most_ms,
               coalesce(sum_of.outages, 0) AS outages, coalesce(sum_of.planned, 0) AS planned
        FROM observed AS day
        LEFT JOIN summed AS sum_of ON sum_of.cluster = day.cluster AND sum_of.replica_group = day.replica_group
            AND sum_of.protocol = day.protocol AND sum_of.day_ms = day.day_ms
    """,
)

CHECKS = (
    text("first_check", "What to look at first, and the command that shows it.", nullable=False),
    text("second_check", "What to look at then.", nullable=False),
    text("third_check", "What to look at last.", nullable=False),
    text("do_not", "What makes it worse, and why.", nullable=False),
    text("steps_source", "Where that is written.", nullable=False),
)
OF_SYSTEM = text(
    "system",
    "rocketmq, etcd, zookeeper, kafka, or any: the system whose logs told of it, or whose commands they are.",
    nullable=False,
)
OF_CAUSE = text(
    "cause",
    "died, frozen, cut_off or reachable: what had become of the old leader; was_set: the clock was set; lost: messages "
    "were cut off; any: whatever the cause.",
    nullable=False,
)

RULES = View(
    name="rules",
    comment="The catalogue of rules, with what to do about their findings: one row for each rule, system and cause.",
    columns=(
        text("rule", "Catalogue id.", nullable=False),
        text("policy", "How severe a finding of it is, in words.", nullable=False),
        text("meaning", "What was found.", nullable=False),
        text("needs", "Which lines a log must hold for it to be judged.", nullable=False),
        text("refuted_by", "What would show that a finding is wrong.", nullable=False),
        text("source", "Where the rule is written.", nullable=False),
        OF_SYSTEM,
        OF_CAUSE,
        *CHECKS,
    ),
    sql="",
    given=True,
)

SYSTEM_OF = """CASE WHEN found.protocol = 'raft' AND found.replica_group = 'controller' THEN 'rocketmq'
                        WHEN found.protocol = 'raft' THEN 'etcd' WHEN found.protocol = 'zab' THEN 'zookeeper'
                        WHEN found.protocol = 'redis' THEN 'redis'
                        WHEN found.protocol = 'hashicorp_raft' THEN 'hashicorp'
                        WHEN found.protocol IN ('kraft', 'partition') THEN 'kafka'
                        WHEN found.protocol IN ('dledger', 'controller', 'acting_master', 'broker_identity',
                                                'order_lock', 'metadata', 'writes') THEN 'rocketmq' ELSE 'any' END"""


def check_at(place: int) -> str:
    """Return the SQL of one step of ``next_steps`` as a sentence with its command."""
    step = f"(get(next_steps, {place}))"
    return f"{step}.text || ': `' || {step}.command || '`'"


NEXT_STEPS = View(
    name="next_steps",
    comment="What to do about each finding, one column a step: three checks, and one thing not to do, with the "
    "commands of its system. They name what is known of the finding; words in capitals are to be filled in: WAREHOUSE "
    "always, since the reader knows where it lies.",
    columns=(
        *of("findings", "finding_id", "cluster", "replica_group", "rule", "severity", "summary"),
        OF_SYSTEM,
        OF_CAUSE,
        *CHECKS,
        text("addresses", "Which member has which address, where a command asks for one; null: none does."),
    ),
    sql=f"""
        SELECT finding_id, cluster, replica_group, rule, severity, summary, {SYSTEM_OF} AS system, cause,
               {check_at(0)} AS first_check, {check_at(1)} AS second_check, {check_at(2)} AS third_check,
               (get(next_steps, 3)).text AS do_not, (get(next_steps, 3)).source AS steps_source,
               (get(next_steps, 4)).text AS addresses
        FROM findings AS found WHERE size(next_steps) >= 4
    """,
)

REVIEWED = View(
    name="reviewed",
    comment="What people say of findings: the latest mark of each, whether it is still found or not.",
    columns=(
        *of("reviews", "finding_id", "cluster", "replica_group", "rule", "state", "ticket", "note", "reviewer"),
        *of("reviews", "reviewed_at"),
        number("found", "1: the finding is published; 0: it is found no more.", nullable=False),
    ),
    sql="""
        SELECT mark.finding_id, mark.cluster, mark.replica_group, mark.rule, mark.state, mark.ticket, mark.note,
               mark.reviewer, mark.reviewed_at,
               CAST(CASE WHEN found.finding_id IS NULL THEN 0 ELSE 1 END AS BIGINT) AS found
        FROM (
            SELECT *, row_number() OVER (
                PARTITION BY finding_id ORDER BY reviewed_at DESC, state, reviewer
            ) AS from_last
            FROM reviews
        ) AS mark
        LEFT JOIN findings AS found ON found.finding_id = mark.finding_id
        WHERE mark.from_last = 1 AND mark.state <> 'open'
    """,
)

BLIND_SPOTS = View(
    name="blind_spots",
    comment="What could not be judged: rules for which the logs of a group do not say enough, how often, and why.",
    columns=of("rule_coverage", *(name for name in TABLES["rule_coverage"].names if name not in OF_RUNS)),
    sql="""
        SELECT cluster, replica_group, protocol, rule, conforms, violates, undecidable, why_undecidable,
               times_printed, times_configured, times_assumed
        FROM rule_coverage WHERE undecidable > 0
    """,
)

GROUPS = View(
    name="groups",
    comment="All groups, with their worst finding and how restless they are.",
    columns=(
        *of("terms", "cluster", "replica_group"),
        text("worst", "Gravest severity of its findings; null: no finding."),
        number("critical", "Critical findings.", nullable=False),
        number("warning", "Warnings.", nullable=False),
        number("info", "Findings that are only worth knowing.", nullable=False),
        number("changes", "Changes of leadership.", nullable=False),
        number("needless", "Changes whose old leader was alive and could be reached.", nullable=False),
        number("leaderless_ms", "Time without a leader, at least.", "ms", nullable=False),
    ),
    sql="""
        WITH known AS (
            SELECT cluster, replica_group FROM role_intervals
            UNION SELECT cluster, replica_group FROM terms
            UNION SELECT cluster, replica_group FROM findings
        ),
        found AS (
            SELECT cluster, replica_group, count(*) FILTER (WHERE severity = 'critical') AS critical,
                   count(*) FILTER (WHERE severity = 'warning') AS warning,
                   count(*) FILTER (WHERE severity = 'info') AS info,
                   sum(CASE WHEN rule = 'LEADERLESS' THEN duration_min_ms END) AS leaderless_ms
            FROM findings GROUP BY cluster, replica_group
        ),
        changed AS (
            SELECT cluster, replica_group, count(*) AS changes FROM leadership_changes GROUP BY cluster, replica_group
        ),
        needless AS (
            SELECT cluster, replica_group, count(*) AS needless FROM needless_elections GROUP BY cluster, replica_group
        )
        SELECT known.cluster, known.replica_group,
               CASE WHEN found.critical > 0 THEN 'critical' WHEN found.warning > 0 THEN 'warning'
                    WHEN found.info > 0 THEN 'info' END AS worst,
               coalesce(found.critical, 0) AS critical, coalesce(found.warning, 0) AS warning,
               coalesce(found.info, 0) AS info, coalesce(changed.changes, 0) AS changes,
               coalesce(needless.needless, 0) AS needless,
               CAST(coalesce(found.leaderless_ms, 0) AS BIGINT) AS leaderless_ms
        FROM known
        LEFT JOIN found ON found.cluster = known.cluster AND found.replica_group = known.replica_group
        LEFT JOIN changed ON changed.cluster = known.cluster AND changed.replica_group = known.replica_group
        LEFT JOIN needless ON needless.cluster = known.cluster AND needless.replica_group = known.replica_group
    """,
)

TIMELINE = View(
    name="timeline",
    comment="Everything that begins or ends in a group, in words, with the line that says so.",
    columns=(
        *of("terms", "cluster", "replica_group"),
        time("happened_at", "When, by the clock of the node that logged it."),
        text("kind", "term, election, role, sync_state_set, lock or finding.", nullable=False),
        text("node", "The member it is about; null: the group."),
        text("what", "What happened.", nullable=False),
        text("event_id", "The event that says so; null: none does by itself."),
        *PLACE,
    ),
    sql="""
        WITH moments AS (
            SELECT cluster, replica_group, start_time AS happened_at, 'term' AS kind, CAST(NULL AS STRING) AS node,
                   'TERM ' || term || ': ' || coalesce('led by ' || leader, 'nobody leads') || ' (' || certainty
                       || coalesce(', because: ' || replace(cause, '_', ' '), '') || ')' AS what,
                   start_event_id AS event_id
            FROM terms
            UNION ALL
            SELECT cluster, replica_group, end_time, 'term', NULL,
                   'TERM ' || term || ': ' || leader || ' leads no more', end_event_id
            FROM terms WHERE end_time IS NOT NULL AND leader IS NOT NULL
            UNION ALL
            SELECT cluster, replica_group, start_time, 'election', candidate,
                   'election' || coalesce(' for term ' || term, '') || ': ' || replace(outcome, '_', ' ')
                       || coalesce(', ' || votes_granted || CASE WHEN votes_granted = 1 THEN ' vote' ELSE ' votes' END,
                                   '')
                       || coalesce(' of ' || votes_needed || ' needed', '')
                       || coalesce(', decided by ' || decided_by, ''),
                   start_event_id
            FROM elections
            UNION ALL
            SELECT cluster, replica_group, start_time, 'role', node,
                   replace(role, '_', ' ')
                       || CASE WHEN role = 'follower' THEN coalesce(' of ' || leader, '') ELSE '' END
                       || coalesce(' in term ' || term, '')
                       || coalesce(' (' || replace(start_cause, '_', ' ') || ')', ''),
                   start_event_id
            FROM role_intervals
            UNION ALL
            SELECT cluster, replica_group, start_time, 'sync_state_set', NULL,
                   'SyncStateSet ' || sync_state_set_epoch || ' of epoch ' || master_epoch || ': '
                       || array_join(members, ', '),
                   start_event_id
            FROM sync_state_sets
            UNION ALL
            SELECT cluster, replica_group, start_time, 'lock', broker_node,
                   client_id || ' takes queue ' || queue_id || ' of ' || topic || ' for ' || consumer_group || ' ('
                       || replace(start_cause, '_', ' ') || ')',
                   start_event_id
            FROM lock_holds
            UNION ALL
            SELECT cluster, replica_group, end_time, 'lock', broker_node,
                   client_id || ' holds queue ' || queue_id || ' of ' || topic || ' for ' || consumer_group
                       || ' no more' || coalesce(' (' || replace(end_cause, '_', ' ') || ')', ''),
                   end_event_id
            FROM lock_holds WHERE end_time IS NOT NULL
            UNION ALL
            SELECT cluster, replica_group, start_time, 'finding', NULL,
                   upper(severity) || ' ' || rule || ': ' || summary,
                   CASE WHEN size(evidence) > 0 THEN get(evidence, 0) END
            FROM findings
        )
        SELECT moment.cluster, moment.replica_group, moment.happened_at, moment.kind, moment.node, moment.what,
               moment.event_id, line.source_file AS path, line.line_no
        FROM moments AS moment
        LEFT JOIN events AS line ON line.event_id = moment.event_id AND line.cluster = moment.cluster
    """,
)

STORY = View(
    name="story",
    comment="What happened in a group, one row a sentence, in order of time: who led, what ended and came back, what "
    "was found, and how it stands at the end of the logs.",
    columns=(
        *of("terms", "cluster", "replica_group"),
        number("position", "Place of the sentence in the story of its group, from 1.", nullable=False),
        time("time", "When: of a finding its begin, of the last sentences the end of the logs."),
        Column(
            name="kind",
            type=STRING,
            comment="leads: a member becomes leader; ends: its process ends; back: it starts again; finding; now: the "
            "end of the logs.",
            nullable=False,
            one_of=("leads", "ends", "back", "finding", "now"),
        ),
        names("nodes", "Members concerned."),
        number("term", "Term or epoch; null: none, or not known."),
        *of("findings", "severity"),
        text("finding_id", "The finding that the sentence tells; null: none."),
        text("text", "The sentence.", nullable=False),
    ),
    sql="""
        WITH told AS (
            SELECT cluster, replica_group, start_time AS time, 1 AS rank, 'leads' AS kind,
                   array_sort(collect_set(node)) AS nodes, term, CAST(NULL AS STRING) AS severity,
                   CAST(NULL AS STRING) AS finding_id,
                   node || CASE role WHEN 'leader' THEN ' becomes leader' ELSE ' begins to act as master' END
                       || coalesce(' (term ' || term || ')', '') || '.' AS text
            FROM role_intervals WHERE role IN ('leader', 'acting_leader')
            GROUP BY cluster, replica_group, start_time, node, role, term
            UNION ALL
            SELECT cluster, replica_group, start_time, 2, 'ends', array_sort(collect_set(node)), NULL, NULL, NULL,
                   node || CASE start_cause WHEN 'stopped' THEN ' is stopped.' WHEN 'died' THEN ' dies.'
                           ELSE ' ends.' END
            FROM role_intervals WHERE role = 'down' GROUP BY cluster, replica_group, start_time, node, start_cause
            UNION ALL
            SELECT cluster, replica_group, end_time, 3, 'back', array_sort(collect_set(node)), NULL, NULL, NULL,
                   node || ' starts again.'
            FROM role_intervals WHERE role = 'down' AND end_time IS NOT NULL
            GROUP BY cluster, replica_group, end_time, node
            UNION ALL
            SELECT cluster, replica_group, start_time, 4, 'finding', nodes,
                   CASE WHEN size(terms) > 0 THEN get(terms, 0) END, severity, finding_id, summary
            FROM findings
            UNION ALL
            SELECT cluster, replica_group, as_of, 5, 'now', followers, term, NULL, NULL,
                   'At the end of the logs ' || coalesce(leader || ' leads', 'nobody leads')
                       || CASE WHEN size(followers) > 0
                          THEN ', followed by ' || array_join(followers, ', ') ELSE '' END || '.'
            FROM current WHERE as_of IS NOT NULL
        )
        SELECT cluster, replica_group,
               row_number() OVER (PARTITION BY cluster, replica_group ORDER BY rank = 5, time, rank, text) AS position,
               time, kind, nodes, term, severity, finding_id, text
        FROM told
    """,
)

OF_CLUSTER = Parameter(name="of_cluster", type=STRING, comment="The cluster.")
OF_GROUP = Parameter(name="of_group", type=STRING, comment="The replica group.")
SINCE = Parameter(name="since", type=TIMESTAMP, comment="Only from this time on.", default="'0001-01-02T00:00:00Z'")
UNTIL = Parameter(name="until", type=TIMESTAMP, comment="Only up to this time.", default="'9999-12-30T00:00:00Z'")

INCIDENT_TIMELINE = View(
    name="incident_timeline",
    comment="What happened in one group, in order of time; clocks of different nodes may disagree.",
    parameters=(OF_CLUSTER, OF_GROUP, SINCE, UNTIL),
    columns=tuple(column for column in TIMELINE.columns if column.name not in {"cluster", "replica_group"}),
    sql="""
        SELECT happened_at, kind, node, what, event_id, path, line_no FROM timeline
        WHERE cluster = of_cluster AND replica_group = of_group
            AND happened_at >= CAST(since AS TIMESTAMP_LTZ) AND happened_at <= CAST(until AS TIMESTAMP_LTZ)
        ORDER BY happened_at, kind, node, what, event_id
    """,
)

LEADER_AT = View(
    name="leader_at",
    comment="Who led a group at a moment, and where the line is that says so. No row: nobody is known to have led.",
    parameters=(
        OF_CLUSTER,
        OF_GROUP,
        Parameter(name="moment", type=TIMESTAMP, comment="The moment."),
    ),
    columns=(
        *of("role_intervals", "protocol", "node", "source_node", "role", "term"),
        text(
            "certainty",
            "definite: inside the role by the node's own clock; possible: within the uncertainty of its start or end, "
            "or after the node's last line.",
            nullable=False,
        ),
        *of("role_intervals", "start_time", "end_time", "start_event_id"),
        *PLACE,
    ),
    sql="""
        SELECT one.protocol, one.node, one.source_node, one.role, one.term,
               CASE WHEN unix_millis(CAST(moment AS TIMESTAMP_LTZ))
                        >= unix_millis(one.start_time) + one.start_uncertainty_ms
                    AND CAST(moment AS TIMESTAMP_LTZ) < coalesce(one.end_time, ends.log_end) THEN 'definite'
                    ELSE 'possible' END AS certainty,
               one.start_time, one.end_time, one.start_event_id, line.source_file AS path, line.line_no
        FROM role_intervals AS one
        LEFT JOIN log_ends AS ends ON ends.cluster = one.cluster AND ends.source_node = one.source_node
        LEFT JOIN events AS line ON line.event_id = one.start_event_id AND line.cluster = one.cluster
        WHERE one.cluster = of_cluster AND one.replica_group = of_group AND one.role IN ('leader', 'acting_leader')
            AND one.start_time <= CAST(moment AS TIMESTAMP_LTZ)
            AND (one.end_time IS NULL OR unix_millis(one.end_time) + one.end_uncertainty_ms
                 >= unix_millis(CAST(moment AS TIMESTAMP_LTZ)))
        ORDER BY one.role DESC, one.term DESC, one.node
    """,
)

FINDINGS_BETWEEN = View(
    name="findings_between",
    comment="Findings of all groups that lie, in part at least, between two times.",
    parameters=(replace(SINCE, default=None), replace(UNTIL, default=None)),
    columns=SHOWN_OF_A_FINDING,
    sql=f"""
        SELECT {", ".join(column.name for column in SHOWN_OF_A_FINDING)} FROM findings
        WHERE start_time <= CAST(until AS TIMESTAMP_LTZ)
            AND (end_time IS NULL OR end_time >= CAST(since AS TIMESTAMP_LTZ))
        ORDER BY start_time, finding_id
    """,
)

EVENTS_AROUND = View(
    name="events_around",
    comment="What all nodes of a cluster logged around a moment, line by line, in common time. A reading that a clock "
    "showed twice, since it was put back, is taken for the later. Order between nodes holds as far as clocks do.",
    parameters=(
        OF_CLUSTER,
        Parameter(name="moment", type=TIMESTAMP, comment="The moment."),
        Parameter(name="within_seconds", type=BIGINT, comment="So long before and after it.", default="30"),
    ),
    columns=(
        time("happened_at", "When, shifted where the clock is proven wrong."),
        number("shifted_ms", "By how much its own time was shifted; 0: its clock is not proven wrong.", "ms"),
        *of("events", "source_node"),
        names("members", "What the node was in its groups, each as group/member, sorted."),
        *of("events", "kind"),
        text(
            "text", "The line, with the undated lines after it; null: it is forgotten (upkeep --forget-bronze-after)."
        ),
        time("logged_at", "When, by the node's own clock."),
        *PLACE,
        *of("events", "event_id"),
    ),
    sql="""
        WITH speakers AS (
            SELECT ends.source_node, array_sort(collect_set(role.replica_group || '/' || role.node)) AS members
            FROM log_ends AS ends
            LEFT JOIN role_intervals AS role ON role.cluster = ends.cluster AND role.source_node = ends.source_node
            WHERE ends.cluster = of_cluster GROUP BY ends.source_node
        ),
        said AS (
            SELECT event.*, coalesce(shifted.moved_ms, 0) AS shifted_ms, row_number() OVER (
                PARTITION BY event.event_id ORDER BY shifted.position DESC, shifted.replica_group
            ) AS place
            FROM events AS event
            LEFT JOIN clock_offsets AS shifted ON shifted.cluster = event.cluster
                AND shifted.source_node = event.source_node
                AND (shifted.position = 1 OR event.event_time >= shifted.start_time_logged)
                AND event.event_time <= shifted.end_time_logged
            WHERE event.cluster = of_cluster
        )
        SELECT timestamp_millis(unix_millis(said.event_time) + said.shifted_ms) AS happened_at, said.shifted_ms,
               said.source_node, speakers.members, said.kind, line.text, said.event_time AS logged_at,
               said.source_file AS path, said.line_no, said.event_id
        FROM said
        JOIN speakers ON speakers.source_node = said.source_node
        LEFT JOIN log_lines AS line ON line.event_id = said.event_id AND line.cluster = said.cluster
        WHERE said.place = 1 AND unix_millis(said.event_time) + said.shifted_ms
                  >= unix_millis(CAST(moment AS TIMESTAMP_LTZ)) - within_seconds * 1000
            AND unix_millis(said.event_time) + said.shifted_ms
                  <= unix_millis(CAST(moment AS TIMESTAMP_LTZ)) + within_seconds * 1000
        ORDER BY happened_at, said.source_node, said.source_file, said.line_no, said.event_id
    """,
)

FINDINGS_BEFORE = View(
    name="findings_before",
    comment="The findings as the run before this one published them, or the run that `sql --before` names; none before "
    "the first run.",
    columns=tuple(replace(column, key=False) for column in TABLES["findings"].columns),
    sql="",
)

APPEARED, VANISHED, CHANGED = "appeared", "vanished", "changed"

NOT_COMPARED = {"finding_id", *OF_RUNS, *(column.name for column in ADVICE)}
COMPARED = tuple(name for name in TABLES["findings"].names if name not in NOT_COMPARED)
"""The columns of findings that a comparison of runs looks at: not ids, columns of runs, or next steps."""

SHOWN_OF_BOTH = (
    "finding_id",
    "cluster",
    "replica_group",
    "rule",
    "severity",
    "certainty",
    "start_time",
    "end_time",
    "summary",
)
"""The columns shown of a differing finding: from the later run, or from the former one if it vanished."""


def differing() -> str:
    """Return the SQL of the names of the columns that differ."""
    parts = (f"CASE WHEN later.{name} IS DISTINCT FROM sooner.{name} THEN '{name}' END" for name in COMPARED)
    return f"concat_ws(', ', {', '.join(parts)})"


def of_either(name: str) -> str:
    """Return the SQL of a column from the later run, or from the former one if only that has the finding."""
    return f"coalesce(later.{name}, sooner.{name}) AS {name}"


FINDINGS_CHANGED = View(
    name="findings_changed",
    comment="What this run says otherwise than the one before: findings that appeared, vanished or changed. What to do "
    "next, and when a finding was seen, is not compared.",
    columns=(
        text("change", "appeared, vanished or changed.", nullable=False),
        *of("findings", *SHOWN_OF_BOTH),
        text("columns_changed", "Names of the columns that say something else; null unless it changed."),
        text("summary_before", "The former sentence, where it is another."),
        text("severity_before", "The former severity, where it is another."),
    ),
    sql=f"""
        WITH compared AS (
            SELECT CASE WHEN sooner.finding_id IS NULL THEN '{APPEARED}' WHEN later.finding_id IS NULL THEN '{VANISHED}'
                        ELSE '{CHANGED}' END AS change,
                   {", ".join(map(of_either, SHOWN_OF_BOTH))}, {differing()} AS differing,
                   CASE WHEN later.summary <> sooner.summary THEN sooner.summary END AS summary_before,
                   CASE WHEN later.severity <> sooner.severity THEN sooner.severity END AS severity_before
            FROM findings_before AS sooner FULL JOIN findings AS later ON later.finding_id = sooner.finding_id
        )
        SELECT change, {", ".join(SHOWN_OF_BOTH)},
               CASE WHEN change = '{CHANGED}' THEN differing END AS columns_changed, summary_before, severity_before
        FROM compared
        WHERE change <> '{CHANGED}' OR differing <> ''
        ORDER BY change, cluster, replica_group, start_time, finding_id
    """,
)

TOLD_AT = time("told_at", "When the run that found it first was published, or began where that run is forgotten.")

FINDINGS_NEW = View(
    name="findings_new",
    comment="Findings that were told for the first time after a moment: what is new since a night, or an alert. What "
    "an earlier release had found is not new. The latest told_at is the moment to ask from next time.",
    parameters=(replace(SINCE, comment="Only what was published after this time.", default=None),),
    columns=(TOLD_AT, *SHOWN_OF_A_FINDING, *of("findings", "implied_by", "first_seen_run")),
    sql=f"""
        WITH told AS (
            SELECT run_id, max(published_at) AS published_at FROM runs WHERE status = 'published' GROUP BY run_id
        )
        SELECT coalesce(told.published_at, found.first_seen_at) AS told_at,
               {", ".join(f"found.{column.name}" for column in SHOWN_OF_A_FINDING)},
               found.implied_by, found.first_seen_run
        FROM findings AS found
        LEFT JOIN told ON told.run_id = found.first_seen_run
        WHERE coalesce(told.published_at, found.first_seen_at) > CAST(since AS TIMESTAMP_LTZ)
        ORDER BY told_at, start_time, finding_id
    """,
)

BEFORE = {FINDINGS_BEFORE.name: "findings"}
"""View name -> table that it shows as of the run before."""

VIEWS: dict[str, View] = {
    view.name: view
    for view in (
        RULES,
        LOG_ENDS,
        CURRENT,
        LEADERSHIP_AT,
        LEADERSHIP_CHANGES,
        NEEDLESS_ELECTIONS,
        *(findings_of(name) for name in RULES_OF),
        CLOCKS,
        LOSSES,
        IDENTITIES,
        RECOVERIES,
        AVAILABILITY,
        NEXT_STEPS,
        REVIEWED,
        BLIND_SPOTS,
        GROUPS,
        TIMELINE,
        STORY,
        INCIDENT_TIMELINE,
        LEADER_AT,
        FINDINGS_BETWEEN,
        FINDINGS_NEW,
        FINDINGS_BEFORE,
        FINDINGS_CHANGED,
        EVENTS_AROUND,
    )
}
"""Every view and table function by name; each reads only tables and earlier entries."""
