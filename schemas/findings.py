"""``gold.findings``: what a reviewer must know, with the evidence."""

from election_replay.schemas.common import CLUSTER, PROTOCOL, REPLICA_GROUP, end_time, start_time
from election_replay.schemas.model import BIGINT, BIGINTS, STEPS, STRING, STRINGS, TIMESTAMP, Column, Expectation, Table
from election_replay.schemas.proofs import in_order, listed_proofs_exist

SIGHTINGS = (
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
"""What the runs say of a finding, not the logs: the only columns of a verdict that depend on when it was replayed."""

OF_RUNS = tuple(column.name for column in SIGHTINGS)
"""The names of these columns, for whoever compares verdicts of two runs."""

ADVICE = (
    Column(
        name="cause",
        type=STRING,
        comment="What decides about the next steps besides the rule. died, frozen, cut_off or reachable: what had "
        "become of the old leader; was_set: the clock was set; lost: messages were cut off; any: nothing of that, or "
        "not known; null: an earlier release found it.",
        one_of=("any", "died", "frozen", "cut_off", "reachable", "was_set", "lost"),
    ),
    Column(
        name="next_steps",
        type=STEPS,
        comment="What to do next, in this order: three of the kind check, each a text and the command that shows it, "
        "one of the kind do_not, a text with its source, and one of the kind known where addresses that a command asks "
        "for are known; words in capitals are to be filled in; null: an earlier release found it.",
    ),
)
"""What to do about a finding; it follows from its rule, its system and its cause."""

TABLE = Table(
    name="findings",
    layer="gold",
    comment="Split brain, lost writes, broken rules, lost availability: one row each, with its evidence.",
    replaced_by=("cluster", "replica_group"),
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
        *SIGHTINGS,
        *ADVICE,
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
            name="causes_exist",
            says="The finding that another one follows from is there.",
            failing="SELECT echo.* FROM findings AS echo ANTI JOIN findings AS root "
            "ON root.cluster = echo.cluster AND root.finding_id = echo.implied_by WHERE echo.implied_by IS NOT NULL",
        ),
    ),
)
