"""What is published as an OpenMetrics text, for a scrape of files (the textfile collector of node_exporter, say)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from election_replay.jobs.reading.misunderstood import misunderstood
from election_replay.jobs.reading.published import Published

Sample = tuple[Mapping[str, Any], float]

LAST_LINES = """SELECT cluster, source_node, max(coalesce(last_line_time, file_time)) AS last_line
FROM landed_files GROUP BY ALL HAVING last_line IS NOT NULL ORDER BY ALL"""

NEW = "SELECT cluster, severity, count(*) AS n FROM findings WHERE first_seen_run = ? GROUP BY ALL ORDER BY ALL"
OPEN = """SELECT found.cluster, found.severity, count(*) AS n FROM findings AS found
ANTI JOIN reviewed AS mark ON mark.finding_id = found.finding_id WHERE found.implied_by IS NULL
GROUP BY ALL ORDER BY ALL"""
LEADERLESS = """SELECT cluster, replica_group, sum(leaderless_least_ms) / 1000 AS lost FROM availability
GROUP BY ALL ORDER BY ALL"""
OBSERVED = (
    """SELECT cluster, replica_group, sum(observed_ms) / 1000 AS seen FROM availability GROUP BY ALL ORDER BY ALL"""
)

UNREAD = """SELECT cluster, count(*) AS n FROM (
  SELECT cluster, path, max_by(unread, batch) AS unread FROM landed_files GROUP BY cluster, path)
WHERE unread GROUP BY cluster ORDER BY cluster"""
"""Files whose last landing could not read them to their ends."""

FAILED = """SELECT layer, table_name, expectation, severity, cluster, rows_failed FROM validations
WHERE NOT success AND validated_at = (SELECT max(latest.validated_at) FROM validations AS latest
  WHERE latest.table_name = validations.table_name) ORDER BY ALL"""


def metrics(published: Published) -> Iterator[str]:
    """The lines of the text."""
    run = published.run
    yield from gauge("published_timestamp_seconds", "When the published run was published.", [({}, seconds(run))])
    yield from gauge(
        "held_clusters", "Clusters that have newer events than are published.", [({}, len(run["held"] or ()))]
    )
    rows = [({"table": name}, count) for name, count in sorted(run["counts"].items())]
    yield from gauge("rows", "Rows of the published tables.", rows)
    yield from gauge("lines", "Lines that were landed, by what became of them.", lines(published))
    yield from gauge(
        "unread_files",
        "Files that could not be read to their ends when they were last tried.",
        labelled(unread(published), "n"),
    )
    puzzles = Counter(row["cluster"] for row in misunderstood(published))
    yield from gauge(
        "files_not_understood",
        "Files whose lines were read and not understood.",
        [({"cluster": cluster}, count) for cluster, count in sorted(puzzles.items())] or [({}, 0)],
    )
    found = published.rows("SELECT cluster, severity, count(*) AS n FROM findings GROUP BY ALL ORDER BY ALL")
    yield from gauge("findings", "Published findings.", labelled(found, "n"))
    new = published.rows(NEW, [run["run_id"]])
    yield from gauge("findings_new", "Findings that the published run found first.", labelled(new, "n") or [({}, 0)])
    open_ones = published.rows(OPEN)
    yield from gauge("findings_open", "Findings that nobody has marked.", labelled(open_ones, "n") or [({}, 0)])
    leaderless = published.rows(LEADERLESS)
    yield from gauge(
        "leaderless_seconds",
        "Time without a leader, at least, of all days that were observed.",
        labelled(leaderless, "lost"),
    )
    yield from gauge(
        "observed_seconds", "Time of which the logs of a group tell.", labelled(published.rows(OBSERVED), "seen")
    )
    yield from gauge(
        "source_last_line_timestamp_seconds",
        "Time of the last line of a source.",
        [(label(row, "last_line"), row["last_line"].timestamp()) for row in published.rows(LAST_LINES)],
    )
    yield from gauge(
        "failing_rows",
        "Rows that broke an expectation when their table was last checked.",
        labelled(published.rows(FAILED), "rows_failed"),
    )
    yield "# EOF"


def seconds(run: Mapping[str, Any]) -> float:
    """When a run was published, seconds since 1970."""
    return float(run["published_at"].timestamp())


def lines(published: Published) -> list[Sample]:
    """How many lines became what."""
    names = ("event", "ignored", "quarantined")
    sums = ", ".join(f"coalesce(sum(lines_{name}), 0)::BIGINT AS {name}" for name in names)
    [row] = published.rows(f"SELECT {sums} FROM landed_files")
    return [({"became": name}, row[name]) for name in names]


def unread(published: Published) -> list[dict[str, Any]]:
    """How many files of each cluster could not be read; what an older release published does not tell."""
    columns = {row["column_name"] for row in published.rows("DESCRIBE landed_files")}
    return published.rows(UNREAD) if "unread" in columns else []


def labelled(rows: Iterable[Mapping[str, Any]], value: str) -> list[Sample]:
    """Rows as samples: one column is the value, the others are labels."""
    return [(label(row, value), row[value]) for row in rows]


def label(row: Mapping[str, Any], value: str) -> dict[str, Any]:
    """The labels of a row."""
    return {name: text for name, text in row.items() if name != value and text is not None}


def gauge(name: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    """One metric and its samples."""
    full = f"election_replay_{name}"
    yield f"# TYPE {full} gauge"
    yield f"# HELP {full} {help_text}"
    for labels, value in samples:
        inner = ",".join(f'{label_name}="{escaped(str(text))}"' for label_name, text in labels.items())
        yield f"{full}{{{inner}}} {value}" if inner else f"{full} {value}"


def escaped(text: str) -> str:
    """A label's value as the format wants it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
