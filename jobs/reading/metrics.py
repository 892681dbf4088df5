"""Metrics of published tables as OpenMetrics text, for example for node_exporter's textfile collector."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from election_replay.jobs.reading.landed_files import misunderstood
from election_replay.jobs.reading.published import Published

Sample = tuple[Mapping[str, Any], float]

UNREAD = """SELECT cluster, count(*) AS value FROM (
  SELECT cluster, path, max_by(unread, batch) AS unread FROM landed_files GROUP BY cluster, path)
WHERE unread GROUP BY cluster ORDER BY cluster"""
"""SELECT of the number of files by cluster that their last landing could not read to their ends."""

OF_FINDINGS = "SELECT cluster, severity, count(*) AS value FROM findings AS found {which} GROUP BY ALL ORDER BY ALL"
OF_GROUPS = "SELECT cluster, replica_group, sum({column}) / 1000 AS value FROM availability GROUP BY ALL ORDER BY ALL"
UNMARKED = "ANTI JOIN reviewed AS mark ON mark.finding_id = found.finding_id WHERE found.implied_by IS NULL"
LAST_LINES = """SELECT cluster, source_node, epoch(max(coalesce(last_line_time, file_time))) AS value
FROM landed_files GROUP BY ALL HAVING value IS NOT NULL ORDER BY ALL"""
FAILED = """SELECT layer, table_name, expectation, severity, cluster, rows_failed AS value FROM validations
WHERE NOT success AND validated_at = (SELECT max(latest.validated_at) FROM validations AS latest
  WHERE latest.table_name = validations.table_name) ORDER BY ALL"""


def metrics(published: Published) -> Iterator[str]:
    """Yield the lines of the text."""
    run, puzzles = published.run, Counter(row["cluster"] for row in misunderstood(published))
    none: list[Sample] = [({}, 0)]
    held, at = len(run["held"] or ()), run["published_at"].timestamp()
    of_tables = [({"table": name}, count) for name, count in sorted(run["counts"].items())]
    of_clusters = [({"cluster": cluster}, count) for cluster, count in sorted(puzzles.items())]
    new = labelled(published.rows(OF_FINDINGS.format(which="WHERE first_seen_run = ?"), [run["run_id"]]))

    def asked(sql: str, **named: str) -> list[Sample]:
        return labelled(published.rows(sql.format(**named)))

    for name, help_text, samples in (
        ("published_timestamp_seconds", "When the published run was published.", [({}, at)]),
        ("held_clusters", "Clusters that have newer events than are published.", [({}, held)]),
        ("rows", "Rows of the published tables.", of_tables),
        ("lines", "Lines that were landed, by what became of them.", lines(published)),
        ("unread_files", "Files that could not be read to their ends when they were last tried.", unread(published)),
        ("files_not_understood", "Files whose lines were read and not understood.", of_clusters or none),
        ("findings", "Published findings.", asked(OF_FINDINGS, which="")),
        ("findings_new", "Findings that the published run found first.", new or none),
        ("findings_open", "Findings that nobody has marked.", asked(OF_FINDINGS, which=UNMARKED) or none),
        (
            "leaderless_seconds",
            "Time without a leader, at least, of all days that were observed.",
            asked(OF_GROUPS, column="leaderless_least_ms"),
        ),
        ("observed_seconds", "Time of which the logs of a group tell.", asked(OF_GROUPS, column="observed_ms")),
        ("source_last_line_timestamp_seconds", "Time of the last line of a source.", asked(LAST_LINES)),
        ("failing_rows", "Rows that broke an expectation when their table was last checked.", asked(FAILED)),
    ):
        yield from gauge(name, help_text, samples)
    yield "# EOF"


def lines(published: Published) -> list[Sample]:
    """Return the number of landed lines by outcome."""
    names = ("event", "ignored", "quarantined")
    sums = ", ".join(f"coalesce(sum(lines_{name}), 0)::BIGINT AS {name}" for name in names)
    [row] = published.rows(f"SELECT {sums} FROM landed_files")
    return [({"became": name}, row[name]) for name in names]


def unread(published: Published) -> list[Sample]:
    """Return the number of unread files by cluster; none if an older release published the table."""
    columns = {row["column_name"] for row in published.rows("DESCRIBE landed_files")}
    return labelled(published.rows(UNREAD)) if "unread" in columns else []


def labelled(rows: Iterable[Mapping[str, Any]]) -> list[Sample]:
    """Rows as samples: the column ``value``, and the others as labels where they are not null."""
    return [
        ({name: text for name, text in row.items() if name != "value" and text is not None}, row["value"])
        for row in rows
    ]


def gauge(name: str, help_text: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of one metric."""
    full = f"election_replay_{name}"
    yield f"# TYPE {full} gauge"
    yield f"# HELP {full} {help_text}"
    for labels, value in samples:
        inner = ",".join(f'{label_name}="{escaped(str(text))}"' for label_name, text in labels.items())
        yield f"{full}{{{inner}}} {value}" if inner else f"{full} {value}"


def escaped(text: str) -> str:
    """Return a label's value, escaped."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
