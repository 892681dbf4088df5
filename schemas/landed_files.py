"""``bronze.landed_files``: what was read of every log file, landing by landing."""

from election_replay.schemas.common import BATCH, CLUSTER, FINGERPRINT, PATH, SOURCE_NODE, STREAM, key
from election_replay.schemas.model import BIGINT, BOOLEAN, STRING, TIMESTAMP, Column, Expectation, Table

_FILE = "cluster, source_node, stream, fingerprint"
_NEW = "batch > coalesce(getvariable('since'), 0)"
"""The SQL condition of the landings to check: those after the variable ``since``, by default all."""

_KEPT = "batch > coalesce(getvariable('forgotten'), 0)"
"""The SQL condition of the landings whose lines were not erased."""

LANDED_STATES = ("landed", "grown")
"""The statuses of rows that say how far a file is landed."""

OLDER = "older_copy"
"""The status of a file that is shorter than what is landed of it."""

NOT_READ = "not_read"
"""The status of a file of which this landing could read nothing."""

PART = "part"
"""The status of a row about one node of a file that several nodes share."""

NOT_UNDERSTOOD = "not understood: "
"""The prefix of ``problem`` for a file that was read but whose lines were not understood."""


def _counted(name: str, count: str, table: str) -> Expectation:
    """Expect that ``table`` has as many rows of each file and landing as the column ``count`` says.

    They are joined by path: rows have the node that an envelope names, while counts have the node of the file's folder.
    """
    at = "cluster, path, batch"
    new, there = (_NEW, "true") if table == "events" else (f"{_NEW} AND {_KEPT}", _KEPT)
    path = "source_file AS path" if table == "events" else "path"
    return Expectation(
        name=name,
        says=f"Of each file and landing, {table} holds as many rows as {count} says.",
        failing=f"SELECT {at}, coalesce(told, 0) AS {count}, coalesce(found, 0) AS rows_of_{table} FROM "
        f"(SELECT {at}, sum({count})::BIGINT AS told FROM landed_files WHERE {new} GROUP BY {at}) FULL JOIN "
        f"(SELECT {at}, count(*) AS found FROM (SELECT cluster, {path}, batch FROM {table} WHERE {there}) "
        f"GROUP BY {at}) "
        f"USING ({at}) "
        "WHERE coalesce(told, 0) <> coalesce(found, 0)",
    )


TABLE = Table(
    name="landed_files",
    layer="bronze",
    comment="One row for each file and landing that read it; written last, so it is the landing's commit.",
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
            "older_copy: shorter than what is landed already, with the same beginning; not_read: nothing new could be "
            "read, and fingerprint, head and what is landed so far are empty; part: lines of a node that the file's "
            "envelopes name (its source_node), counted in the file's own row.",
            nullable=False,
            one_of=("landed", "grown", "seen_before", "older_copy", "not_read", "part"),
        ),
        Column(
            name="file_bytes",
            type=BIGINT,
            comment="Size of the file as it lies in the landing zone.",
            nullable=False,
            at_least=0,
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
            at_least=0,
        ),
        Column(
            name="lines_event",
            type=BIGINT,
            comment="Of these, lines that became a row of silver.events.",
            nullable=False,
            at_least=0,
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
            at_least=0,
        ),
        Column(
            name="lines_repeated",
            type=BIGINT,
            comment="Of the ignored lines, those that stand in the file already: a shipper delivered them again, or "
            "two appenders wrote them; null: an older release did not look.",
            at_least=0,
        ),
        Column(
            name="bytes_landed",
            type=BIGINT,
            comment="Decompressed bytes landed so far, by this and earlier landings.",
            nullable=False,
            at_least=0,
            unit="bytes",
        ),
        Column(
            name="bytes_waiting",
            type=BIGINT,
            comment="Bytes of a last line without end, or of an older_copy that may be under way; the next landing "
            "takes them, grown or not.",
            nullable=False,
            at_least=0,
            unit="bytes",
        ),
        Column(
            name="lines_landed",
            type=BIGINT,
            comment="Lines landed so far, by this and earlier landings.",
            nullable=False,
            at_least=0,
        ),
        Column(
            name="content_hash",
            type=STRING,
            comment="SHA-256 of the landed bytes; shows that a grown file still begins as it did.",
            nullable=False,
        ),
        Column(
            name="lines_shared",
            type=BIGINT,
            comment="Of these, lines at its beginning that are landed as those of another file: this one went back to "
            "them and goes on differently, as on a machine that was restored; null: none.",
        ),
        Column(
            name="marks",
            type=STRING,
            comment="Ends of some lines that this landing read, each as bytes:lines:hash of all up to there; shows how "
            "far a file that went back is known.",
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
        Column(
            name="envelope",
            type=STRING,
            comment="What the lines came in, from the outside in, such as filebeat > docker; null for plain lines.",
        ),
        Column(
            name="envelope_state",
            type=STRING,
            comment="Of a file in envelopes: how far each of its sources is landed, and what stands open; JSON.",
        ),
        Column(
            name="read_as",
            type=STRING,
            comment="The dialect that its lines are read as, and behind it their layout unless it is the system's "
            "own; null: the log of another program.",
        ),
        Column(
            name="put_right",
            type=STRING,
            comment="How its lines are read that do not stand as they were written, such as with the newest first; "
            "null: as they stand.",
        ),
        Column(
            name="order_lost",
            type=BOOLEAN,
            comment="Whether the order of its lines within one time is a guess: they were sorted as texts.",
        ),
        Column(
            name="problem",
            type=STRING,
            comment="Why the file could not be read to its end, or why its lines were not understood (not "
            "understood: ...); null if all was well.",
        ),
        Column(
            name="unread",
            type=BOOLEAN,
            comment="Whether its file system or object store failed to give it; then the next landing tries again. "
            "Content that is damaged is in quarantine instead.",
        ),
        Column(
            name="hashed",
            type=STRING,
            comment="What is hashed in all that is kept of it, and by which key: a hash of that; null for nothing.",
        ),
        Column(
            name="table_id",
            type=STRING,
            comment="Id of the Delta table whose rows its lines are (`land --from-table`); null: a file.",
        ),
        Column(
            name="table_version",
            type=BIGINT,
            comment="Version of that table up to which rows are landed.",
        ),
    ),
    expectations=(
        Expectation(
            name="counts_add_up",
            says="The lines of a file are its events, its ignored lines and its quarantined lines.",
            failing="SELECT * FROM landed_files WHERE lines_total <> lines_event + lines_ignored + lines_quarantined",
        ),
        _counted("events_are_there", "lines_event", "events"),
        _counted("lines_are_there", "lines_event", "log_lines"),
        _counted("quarantined_are_there", "lines_quarantined", "quarantine"),
        Expectation(
            name="no_landing_is_missing",
            says="The lines that all landings of a file read are the lines landed of it, with those that it shares; "
            "damaged files aside.",
            failing=f"SELECT {_FILE}, min(path) AS path, sum(lines_total)::BIGINT AS lines_read, "
            f"max(lines_landed) AS lines_landed FROM landed_files GROUP BY {_FILE} "
            f"HAVING bool_and(problem IS NULL OR problem LIKE '{NOT_UNDERSTOOD}%') AND bool_or({_NEW}) "
            "AND sum(lines_total) + coalesce(max(lines_shared), 0) <> max(lines_landed)",
        ),
        Expectation(
            name="understood",
            says="The lines of every file are read as those of a system, or are of no interest; none is misunderstood.",
            failing="SELECT cluster, source_node, path, problem FROM landed_files AS now "
            f"WHERE problem LIKE '{NOT_UNDERSTOOD}%' AND batch = (SELECT max(batch) FROM landed_files AS other "
            "WHERE other.cluster = now.cluster AND other.path = now.path)",
            severity="warning",
        ),
        Expectation(
            name="fresh",
            says="No source is more than 26 hours behind: its last line against the last of its cluster, or against "
            "the time that --as-of gives.",
            failing="SELECT cluster, source_node, last_line, wanted FROM (SELECT *, "
            "coalesce(getvariable('as_of')::TIMESTAMPTZ, max(last_line) OVER (PARTITION BY cluster)) AS wanted FROM ("
            "SELECT cluster, source_node, max(coalesce(last_line_time, file_time)) AS last_line FROM landed_files "
            "GROUP BY cluster, source_node)) WHERE last_line < wanted - INTERVAL 26 HOURS",
            severity="warning",
        ),
        Expectation(
            name="usual_volume",
            says="The newest landing of a source read neither ten times more lines than its earlier ones nor ten "
            "times fewer (median; from the sixth landing on).",
            failing="SELECT cluster, source_node, batch, lines, usual FROM (SELECT *, median(lines) OVER earlier "
            "AS usual, count(*) OVER earlier AS landings, max(batch) OVER (PARTITION BY cluster, source_node) AS "
            "newest FROM (SELECT cluster, source_node, batch, sum(lines_total)::BIGINT AS lines FROM landed_files "
            "GROUP BY cluster, source_node, batch) WINDOW earlier AS (PARTITION BY cluster, source_node ORDER BY "
            "batch ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) WHERE batch = newest AND landings >= 5 "
            "AND (lines > 10 * usual OR lines * 10 < usual)",
            severity="warning",
        ),
    ),
)
