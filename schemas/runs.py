"""``gold.runs``: one row for each judged and each published run, with the versions of all tables."""

from election_replay.schemas.model import BIGINT, COUNTS, DATES, STRING, STRINGS, TIMESTAMP, Column, Table

TABLE = Table(
    name="runs",
    layer="gold",
    comment="One row for each run that was judged or published: which version of every table belongs together.",
    columns=(
        Column(name="run_id", type=STRING, comment="Name of the run.", nullable=False, key=True),
        Column(name="started_at", type=TIMESTAMP, comment="When the replay began.", nullable=False, unit="UTC"),
        Column(
            name="published_at",
            type=TIMESTAMP,
            comment="When it was published; null: it is only judged.",
            unit="UTC",
        ),
        Column(
            name="status",
            type=STRING,
            comment="published: what readers see; judged: it waits for its gates.",
            nullable=False,
            key=True,
            one_of=("published", "judged"),
        ),
        Column(
            name="batch",
            type=BIGINT,
            comment="The last landing that is part of it; also the order of the runs that share it.",
            nullable=False,
        ),
        Column(name="nights", type=DATES, comment="Days, UTC, of the events that were new to it.", nullable=False),
        Column(
            name="clusters",
            type=BIGINT,
            comment="Clusters that were replayed; the others kept their rows.",
            nullable=False,
        ),
        Column(
            name="held",
            type=STRINGS,
            comment="Clusters that have newer events than it shows: a gate held them back, or they were not asked for; "
            "null: none.",
        ),
        Column(
            name="versions",
            type=COUNTS,
            comment="Table to Delta version: read the tables at these versions.",
            nullable=False,
        ),
        Column(name="counts", type=COUNTS, comment="Table to number of rows.", nullable=False),
        Column(name="code_version", type=STRING, comment="Version of this software.", nullable=False),
        Column(name="rules_version", type=STRING, comment="Version of the rules.", nullable=False),
        Column(
            name="facts_version",
            type=STRING,
            comment="Version of the facts; others are made anew from the events; null: before facts had versions.",
        ),
        Column(
            name="inventory_version",
            type=STRING,
            comment="Hash of the inventory in the settings; another one is judged anew.",
            nullable=False,
        ),
        Column(
            name="settings",
            type=STRING,
            comment="Where the settings of the replay came from: the file and a hash of what was in force, or "
            "defaults; null: an earlier release judged it.",
        ),
    ),
)
