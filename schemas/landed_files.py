"""``bronze.landed_files``: what was read of every log file, landing by landing."""

from schemas.common import BATCH, CLUSTER, FINGERPRINT, PATH, SOURCE_NODE, STREAM, key
from schemas.model import BIGINT, STRING, TIMESTAMP, Column, Table

TABLE = Table(
    name="landed_files",
    layer="bronze",
    comment="One row for each file and landing that read it; written last, so it is the landing's commit.",
    partitioned_by=("batch",),
    columns=(
        key(BATCH),
        key(CLUSTER),
        key(SOURCE_NODE),
        STREAM,
        key(PATH),
        FINGERPRINT,
        Column(
            name="head",
            type=STRING,
            comment="Hash of the file's beginning alone; differs from fingerprint only where two files begin alike.",
            nullable=False,
        ),
        Column(
            name="status",
            type=STRING,
            comment="landed: new file; grown: its new tail; seen_before: known content, nothing to land; "
            "older_copy: shorter than what is landed already, with the same beginning.",
            nullable=False,
        ),
        Column(
            name="file_bytes",
            type=BIGINT,
            comment="Size of the file as it lies in the landing zone.",
            nullable=False,
            unit="bytes",
        ),
        Column(
            name="modified_at",
            type=TIMESTAMP,
            comment="Last change of the file as the file system has it.",
            unit="UTC",
        ),
        Column(
            name="file_time",
            type=TIMESTAMP,
            comment="Time of the first dated line; null where no line is dated.",
            unit="UTC",
        ),
        Column(
            name="lines_total",
            type=BIGINT,
            comment="Lines read by this landing: the sum of the next three. The lines of a metadata snapshot are its "
            "records: its version and the entries of its table; a broken one, or one of no interest, is one line.",
            nullable=False,
        ),
        Column(
            name="lines_event",
            type=BIGINT,
            comment="Of these, lines that became a row of silver.events.",
            nullable=False,
        ),
        Column(
            name="lines_ignored",
            type=BIGINT,
            comment="Of these, lines of no interest and continuation lines; a line that an earlier landing ignored "
            "and this one made an event counts here as minus one.",
            nullable=False,
        ),
        Column(
            name="lines_quarantined",
            type=BIGINT,
            comment="Of these, lines that could not be read: the rows of bronze.quarantine.",
            nullable=False,
        ),
        Column(
            name="bytes_landed",
            type=BIGINT,
            comment="Decompressed bytes landed so far, by this and earlier landings.",
            nullable=False,
            unit="bytes",
        ),
        Column(
            name="bytes_waiting",
            type=BIGINT,
            comment="Bytes of a last line without end; the next landing takes it, grown or not.",
            nullable=False,
            unit="bytes",
        ),
        Column(
            name="lines_landed",
            type=BIGINT,
            comment="Lines landed so far, by this and earlier landings.",
            nullable=False,
        ),
        Column(
            name="content_hash",
            type=STRING,
            comment="SHA-256 of the landed bytes; shows that a grown file still begins as it did.",
            nullable=False,
        ),
        Column(
            name="tick_bucket",
            type=BIGINT,
            comment="Latest ten seconds that a line was logged in, as written: yyyymmddhhmms.",
        ),
        Column(name="last_line_no", type=BIGINT, comment="Number of the last dated line."),
        Column(
            name="last_line_time",
            type=TIMESTAMP,
            comment="Time of the last dated line of this landing.",
            unit="UTC",
        ),
        Column(
            name="last_line",
            type=STRING,
            comment="Text of the last dated line while it is no event; it becomes one if the log then falls silent.",
        ),
        Column(
            name="zone_state",
            type=STRING,
            comment="Where a zone changes its clocks: latest local second, and which pass through the hour it is of.",
        ),
        Column(
            name="flood",
            type=STRING,
            comment="Latest ten seconds with an event of a kind that floods, and what such events said; JSON.",
        ),
        Column(name="problem", type=STRING, comment="Why the file could not be read to its end; null if it was."),
    ),
)
