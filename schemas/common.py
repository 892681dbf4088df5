"""Columns that several tables share."""

from dataclasses import replace

from election_replay.schemas.model import BIGINT, STRING, TIMESTAMP, Column

CLUSTER = Column(
    name="cluster",
    type=STRING,
    comment="The cluster's folder in the landing zone.",
    nullable=False,
)
REPLICA_GROUP = Column(
    name="replica_group",
    type=STRING,
    comment="The group that elects: broker name, DLedger group, controller group or ensemble.",
    nullable=False,
)
PROTOCOL = Column(
    name="protocol",
    type=STRING,
    comment="The election protocol, for example dledger or controller.",
    nullable=False,
)
SOURCE_NODE = Column(
    name="source_node",
    type=STRING,
    comment="The node folder whose logs say it.",
    nullable=False,
)
STREAM = Column(
    name="stream",
    type=STRING,
    comment="File name without roll and compression suffixes, for example broker.log; of a metadata snapshot its time "
    "and name, for example 20261121T103148Z/topics.json.",
    nullable=False,
)
FINGERPRINT = Column(
    name="fingerprint",
    type=STRING,
    comment="Identity of the file: hash of its beginning, the same after rolling, renaming or compressing.",
    nullable=False,
)
PATH = Column(
    name="path",
    type=STRING,
    comment="Path of the file below the landing zone when it was read.",
    nullable=False,
)
LINE_NO = Column(
    name="line_no",
    type=BIGINT,
    comment="Number of the line in its decompressed file, from 1; of a metadata snapshot, number of the record.",
    nullable=False,
    at_least=1,
)
EVENT_ID = Column(
    name="event_id",
    type=STRING,
    comment="Hash of cluster, source node, stream, fingerprint and line number.",
    nullable=False,
)
BATCH = Column(
    name="batch",
    type=BIGINT,
    comment="Number of the landing that wrote the row; the landing counts once landed_files has it.",
    nullable=False,
    at_least=1,
)
RUN_ID = Column(
    name="run_id",
    type=STRING,
    comment="The run that judged it. The rows of a group are those of the run that gold.published names.",
    nullable=False,
)
START_EVENT_ID = Column(name="start_event_id", type=STRING, comment="Event that proves the start.")
END_EVENT_ID = Column(name="end_event_id", type=STRING, comment="Event that proves the end.")


def key(column: Column) -> Column:
    """Return ``column`` as part of the table's key."""
    return replace(column, key=True)


def optional(column: Column, comment: str | None = None) -> Column:
    """Return ``column`` as nullable; ``comment`` should say when it is null."""
    return replace(column, nullable=True, comment=comment or column.comment)


def start_time(comment: str, *, is_key: bool = False) -> Column:
    """Return the column of the time at which the subject of the row began."""
    return Column(name="start_time", type=TIMESTAMP, comment=comment, nullable=False, key=is_key, unit="UTC")


def end_time(comment: str, *, nullable: bool = True) -> Column:
    """Return the column of the time at which the subject of the row ended."""
    return Column(name="end_time", type=TIMESTAMP, comment=comment, nullable=nullable, unit="UTC")


def as_logged() -> tuple[Column, Column]:
    """Return the columns of start and end time as shown by the node's own clock."""
    comment = "What the clock of the node showed at {}; null: the same, or not known."
    return (
        Column(name="start_time_logged", type=TIMESTAMP, comment=comment.format("start_time"), unit="UTC"),
        Column(name="end_time_logged", type=TIMESTAMP, comment=comment.format("end_time"), unit="UTC"),
    )
