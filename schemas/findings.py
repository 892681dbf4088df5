"""``gold.findings``: what a reviewer must know, with the evidence."""

from election_replay.schemas.common import CLUSTER, PROTOCOL, REPLICA_GROUP, RUN_ID, end_time, start_time
from election_replay.schemas.model import BIGINT, BIGINTS, STEPS, STRING, STRINGS, TIMESTAMP, Column, Expectation, Table
from election_replay.schemas.proofs import in_order, listed_proofs_exist

FIRST_SEEN = (
    Column(
        name="first_seen_run",
        type=STRING,
        comment="The run that found it first; null: a release that did not note it.",
    ),
    Column(
        name="first_seen_at",
        type=TIMESTAMP,
        comment="When the replay of that run began; null as before.",
        unit="UTC",
    ),
    Column(
        name="last_seen_at",
        type=TIMESTAMP,
        comment="When the last replay that judged its group, and found it, began; null: an earlier release did.",
        unit="UTC",
    ),
)
"""The columns that depend on runs, not on logs: only these change with the time of a replay."""

OF_RUNS = (*(column.name for column in FIRST_SEEN), RUN_ID.name)
"""The names of these columns, which a comparison of two runs leaves out."""

ADVICE = (
    Column(
        name="cause",
        type=STRING,
        comment="What decides about the next steps besides the rule. died, frozen, cut_off, overloaded or reachable: "
        "what had become of the old leader; members_died: too many of the others had ended; larger_term: a member came "
        "with one; was_set: the clock was set; lost: messages were cut off; any: nothing of that, or not known; null: "
        "an earlier release found it.",
        one_of=(
            *("any", "died", "members_died", "frozen", "cut_off", "overloaded", "larger_term", "reachable"),
            *("was_set", "lost"),
        ),
    ),
    Column(
        name="next_steps",
        type=STEPS,
        comment="What to do next, in this order: three of the kind check, each a text and the command that shows it, "
        "one of the kind do_not, a text with its source, and one of the kind known where addresses that a command asks "
        "for are known; words in capitals are to be filled in; null: an earlier release found it.",
    ),
)
"""The columns of cause and next steps; the steps follow from a finding's rule, system and cause."""

CHANGE = (
    Column(
        name="scope",
        type=STRING,
        comment="For whom there was no leader, in a time without one. no_leader: nobody served anybody; no_majority: a "
        "leader led on without the majority that it needs; reads_only: another member answered reads, and nobody took "
        "writes; unreachable: a leader ran on, and whoever could not reach it had none; unrecorded: a leader ran on, "
        "and those who decide had none on record.",
        one_of=("no_leader", "no_majority", "reads_only", "unreachable", "unrecorded"),
    ),
    Column(name="former_leader", type=STRING, comment="Who led before, where a change of the leader is told."),
    Column(
        name="former_leader_fate",
        type=STRING,
        comment="What had become of it. frozen: its process did not run; died: it ended without a word; stopped: "
        "somebody stopped it or asked it to hand over; ended_itself: it ended for a reason that it prints; removed: "
        "from its group; cut_off: it ran, and the others did not hear from it; overloaded: it ran too slowly; "
        "unknown: the logs do not say.",
        one_of=("frozen", "died", "stopped", "ended_itself", "removed", "cut_off", "overloaded", "unknown"),
    ),
    Column(name="next_leader", type=STRING, comment="Who led next; null: nobody to the end of the logs."),
    Column(
        name="served_time",
        type=TIMESTAMP,
        comment="When the next leader served clients; null: nobody did to the end of the logs.",
        unit="UTC",
    ),
)
"""The columns of the leaders before and after, for findings about a change of leader."""

CUT = (
    Column(name="cut_node", type=STRING, comment="Whose log was cut, where a finding tells of one cut."),
    Column(name="cut_epoch", type=BIGINT, comment="The epoch or term in which what was cut off had been written."),
    Column(name="cut_from", type=BIGINT, comment="The first position that was cut off, in `unit`."),
    Column(name="cut_to", type=BIGINT, comment="Where the log ended before the cut, in `unit`."),
    Column(
        name="unit",
        type=STRING,
        comment="In what cut_from and cut_to are counted: bytes of a commit log, entries of a replicated log, "
        "transactions (zxids), revisions, or messages of a queue.",
        one_of=("bytes", "entries", "transactions", "revisions", "messages"),
    ),
    Column(
        name="lost_from",
        type=STRING,
        comment="Where what a finding counts is missing. log: it was cut off a log; queues: it is in the log, and in "
        "no queue; one_side: it is in one log, which could not be cut, and in no other; null: none of these.",
        one_of=("log", "queues", "one_side"),
    ),
)
"""The columns of the removed part of a log, for findings about a truncation."""

TABLE = Table(
    name="findings",
    layer="gold",
    comment="Split brain, lost writes, broken rules, lost availability: one row each, with its evidence.",
    by_run=True,
    columns=(
        Column(
            name="finding_id",
            type=STRING,
            comment="Stable name: a rerun finds the same finding.",
            nullable=False,
            key=True,
        ),
        CLUSTER,
        REPLICA_GROUP,
        PROTOCOL,
        Column(name="rule", type=STRING, comment="Catalogue id; `election-replay rules` explains it.", nullable=False),
        Column(
            name="severity",
            type=STRING,
            comment="info, warning or critical.",
            nullable=False,
            one_of=("info", "warning", "critical"),
        ),
        Column(
            name="certainty",
            type=STRING,
            comment="proven: whatever the clocks were; definite: for every clock reading inside the bounds; possible.",
            nullable=False,
            one_of=("proven", "definite", "possible"),
        ),
        Column(name="nodes", type=STRINGS, comment="Members concerned, sorted.", nullable=False),
        Column(name="terms", type=BIGINTS, comment="Terms or epochs concerned, sorted.", nullable=False),
        start_time("When it began."),
        end_time("When it ended; null: it still lasts."),
        Column(name="summary", type=STRING, comment="One sentence with the numbers in it.", nullable=False),
        Column(name="evidence", type=STRINGS, comment="Event ids that prove it.", nullable=False),
        Column(name="implied_by", type=STRING, comment="The finding that this one follows from."),
        Column(
            name="root_finding_id",
            type=STRING,
            comment="The first of all findings that this one follows from; null: it is a root.",
        ),
        *CHANGE,
        *CUT,
        Column(name="overlap_min_ms", type=BIGINT, comment="Smallest overlap of two leaders.", unit="ms"),
        Column(name="overlap_max_ms", type=BIGINT, comment="Largest overlap of two leaders.", unit="ms"),
        Column(name="duration_min_ms", type=BIGINT, comment="Shortest duration.", unit="ms"),
        Column(name="duration_max_ms", type=BIGINT, comment="Longest duration.", unit="ms"),
        Column(name="messages_lost", type=BIGINT, comment="Messages that were cut off."),
        Column(
            name="messages_repeated",
            type=BIGINT,
            comment="Messages that are consumed or delivered again, at most, since an offset went back.",
        ),
        Column(name="bytes_lost", type=BIGINT, comment="Bytes that were cut off.", unit="bytes"),
        Column(name="entries_lost", type=BIGINT, comment="Committed entries that were lost, at least."),
        Column(name="offset_before", type=BIGINT, comment="Offset before."),
        Column(name="offset_after", type=BIGINT, comment="Offset after."),
        Column(name="rounds", type=BIGINT, comment="Rounds of voting."),
        Column(
            name="clock_least_ms",
            type=BIGINT,
            comment="How far the clock was ahead of true time at least, where it was wrong; negative: behind.",
            unit="ms",
        ),
        Column(
            name="clock_most_ms",
            type=BIGINT,
            comment="How far the clock was ahead of true time at most, where it was wrong; negative: behind.",
            unit="ms",
        ),
        Column(
            name="clock_set_by_ms",
            type=BIGINT,
            comment="By how much the clock was set at once, by the lines of one log; negative: back.",
            unit="ms",
        ),
        *FIRST_SEEN,
        *ADVICE,
        RUN_ID,
    ),
    expectations=(
        in_order(
            "findings",
            ("start_time", "end_time"),
            ("overlap_min_ms", "overlap_max_ms"),
            ("duration_min_ms", "duration_max_ms"),
            ("clock_least_ms", "clock_most_ms"),
        ),
        listed_proofs_exist("findings"),
        Expectation(
            name="no_contradictions",
            says="No verdict contradicts itself: what does is a fault of this software, and is told as one.",
            failing="SELECT * FROM findings WHERE rule = 'NOT_JUDGED' "
            "AND starts_with(summary, 'This verdict contradicts itself')",
            severity="warning",
        ),
        Expectation(
            name="one_root_a_cut",
            says="What was cut off a log has one finding from which the others follow.",
            failing="SELECT cluster, replica_group, cut_node, cut_epoch, cut_from, cut_to, unit, "
            "list(rule) AS rules, list(finding_id) AS finding_ids FROM findings "
            "WHERE cut_node IS NOT NULL AND root_finding_id IS NULL GROUP BY ALL HAVING count(*) > 1",
            severity="warning",
        ),
        Expectation(
            name="causes_exist",
            says="The finding that another one follows from is there.",
            failing="SELECT echo.* FROM findings AS echo ANTI JOIN findings AS root "
            "ON root.cluster = echo.cluster AND root.finding_id = echo.implied_by WHERE echo.implied_by IS NOT NULL",
        ),
    ),
)
