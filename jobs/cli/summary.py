"""The summary of a published run, for people."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from shlex import quote
from types import MappingProxyType

from election_replay.election_core.judge.wording import number_of
from election_replay.jobs.cli.output import more
from election_replay.jobs.reading.hosts import by_host
from election_replay.jobs.reading.landed_files import files_put_right
from election_replay.jobs.reading.landed_files import misunderstood as not_understood
from election_replay.jobs.reading.next_steps import steps_of, with_warehouse
from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import SEVERITIES, Row, clock, listed, paragraph, surely
from election_replay.schemas.landed_files import NOT_UNDERSTOOD

ALL_FINDINGS = "SELECT cluster, replica_group, severity, rule, summary FROM findings ORDER BY start_time"
SHOWN = 10
"""The maximum number of listed findings and of listed unreadable files; the rest is counted."""

SOURCES_SHOWN, LINES_SHOWN = 4, 40
"""The maximum number of shown sources without a role, and of shown lines of each."""


def summary(published: Published, warehouse: str) -> Iterator[str]:
    """Yield the lines of the summary."""
    yield ""
    yield f"Published: run {published.run['run_id']}"
    yield from numbers(published)
    yield from findings(published, worst(published))
    yield from put_right(published)
    yield from misunderstood(published)
    yield from unreadable(published)
    if not published.rows("SELECT 1 FROM role_intervals UNION ALL SELECT 1 FROM terms LIMIT 1"):
        yield from without_role(published)
    yield from next_commands(published, warehouse)


def numbers(published: Published) -> Iterator[str]:
    """Yield lines with the numbers of files, lines, clusters, groups and terms."""
    files = published.rows(
        # A file that holds lines of several clusters is landed once for each, and counts once.
        "WITH file AS (SELECT min(cluster) AS cluster, source_node, stream, fingerprint, max(lines_total) AS lines, "
        "bool_and(status IN ('not_read', 'part')) AS unread, sum(lines_event) AS events, "
        "max(lines_quarantined) AS quarantined, max(lines_repeated) AS repeated FROM landed_files "
        "GROUP BY batch, path, source_node, stream, fingerprint) "
        "SELECT count(DISTINCT (cluster, source_node, stream, fingerprint)) FILTER (WHERE NOT unread) AS files, "
        "coalesce(sum(lines), 0) AS lines, coalesce(sum(events), 0) AS events, coalesce(sum(quarantined), 0) AS "
        "quarantined, coalesce(sum(repeated), 0) AS repeated FROM file"
    )[0]
    ignored = files["lines"] - files["events"] - files["quarantined"]
    found = published.rows(
        "SELECT count(DISTINCT cluster) AS clusters, count(DISTINCT (cluster, replica_group)) AS groups FROM ("
        "SELECT cluster, replica_group FROM terms UNION SELECT cluster, replica_group FROM role_intervals)"
    )[0]
    terms = published.rows("SELECT count(*) AS terms, count(leader) AS led FROM terms")[0]
    yield (
        f"  {number_of(files['files'], 'file')}, {number_of(files['lines'], 'line')} = {files['events']:,} events "
        f"+ {ignored:,} ignored + {files['quarantined']:,} in quarantine"
    )
    if files["repeated"]:
        yield f"  {number_of(files['repeated'], 'line')} ignored because a shipper delivered them again"
    yield f"  {number_of(found['clusters'], 'cluster')}, {number_of(found['groups'], 'replica group')}"
    yield f"  {number_of(terms['terms'], 'term')}, {terms['led']:,} of them with a leader"


def following(grave: list[str], count: int) -> str:
    """Return text about the ``count`` findings implied by one: critical ones by rule, others by number."""
    names = list(dict.fromkeys(grave))
    others = f"{count - len(grave):,} more" if names and count > len(grave) else ""
    if names:
        return f"  (from it follow{'s' if count == 1 else ''} {listed([*names, *filter(None, [others])])})"
    return f"  (+{count} that follow{'s' if count == 1 else ''} from it)" if count else ""


def worst(published: Published, *, lesser: bool = False) -> list[Row]:
    """Return the findings to list, critical ones first, without implied ones.

    ``lesser``: return findings of severity info if there are no others.
    """
    return published.rows(
        "WITH RECURSIVE following AS (SELECT implied_by AS root_id, finding_id FROM findings "
        "WHERE implied_by IS NOT NULL UNION SELECT following.root_id, echo.finding_id "
        "FROM findings AS echo JOIN following ON echo.implied_by = following.finding_id) "
        "SELECT finding_id, severity, certainty, rule, cluster, replica_group, protocol, summary, next_steps, nodes, "
        "start_time, "
        "strftime(start_time, '%Y-%m-%d %H:%M:%SZ') AS began, "
        "(SELECT count(*) FROM following WHERE root_id = root.finding_id) AS echoes, "
        "(SELECT list(rule ORDER BY start_time, rule) FROM following JOIN findings USING (finding_id) "
        "WHERE root_id = root.finding_id AND severity = 'critical') AS grave_echoes "
        "FROM findings AS root WHERE implied_by IS NULL "
        "AND (severity <> 'info' OR (? AND NOT EXISTS (FROM findings WHERE severity <> 'info'))) "
        "ORDER BY severity = 'critical' DESC, cluster, replica_group, start_time, finding_id",
        [lesser],
    )


def findings(
    published: Published, listed_first: list[Row], members: Mapping[tuple[str, str], list[Row]] = MappingProxyType({})
) -> Iterator[str]:
    """Yield a line with the number of findings by severity, then lines about those of ``listed_first``.

    ``members`` are those of each (cluster, group) that are named by their hosts, without their ids.
    """
    counts = {
        row["severity"]: row["n"]
        for row in published.rows("SELECT severity, count(*) AS n FROM findings GROUP BY severity")
    }
    yield "  findings: " + ", ".join(f"{counts.get(severity, 0):,} {severity}" for severity in SEVERITIES)
    advised = set[tuple[str, ...]]()
    for row in listed_first[:SHOWN]:
        follow = following(row["grave_echoes"] or [], row["echoes"])
        began = f"  {row['began']}" if row["began"] else ""
        yield f"    {surely(row)} {row['rule']}  {row['cluster']} / {row['replica_group']}{began}{follow}"
        of_group = members.get((row["cluster"], row["replica_group"]), [])
        yield from paragraph(by_host(row["summary"], of_group, finding=True), " " * 13)
        for step in islice(steps_of(with_warehouse(row, published.place)), 1):
            advice = row["cluster"], row["replica_group"], step.text
            if advice not in advised:
                yield f"             {step.heading}: {step.text}: {step.command}"
            advised.add(advice)
    if len(listed_first) > SHOWN:
        yield f"    and {len(listed_first) - SHOWN:,} more"


def put_right(published: Published) -> Iterator[str]:
    """Yield lines about files whose lines are not read as they stand."""
    files = files_put_right(published)
    if files:
        yield "  not read as they stand (table landed_files, column put_right):"
    yield from first_of([f"    {path}  {how}" for path, how in files])


def first_of(lines: Sequence[str]) -> Iterator[str]:
    """Yield the first :data:`SHOWN` lines of a list, and how many more there are."""
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"    and {len(lines) - SHOWN:,} more"


def misunderstood(published: Published) -> Iterator[str]:
    """Yield lines about files that were read but not understood."""
    rows = not_understood(published)
    if rows:
        files = number_of(len(rows), "file")
        yield f"  not understood: {files}, whose lines nobody judged (table landed_files, column problem):"
    yield from first_of([f"    {row['path']}  {row['problem'].removeprefix(NOT_UNDERSTOOD)}" for row in rows])


def unreadable(published: Published) -> Iterator[str]:
    """Yield lines about quarantined lines, by file and reason."""
    rows = published.rows(
        "SELECT path, reason, count(*) AS n, min(line_no) AS line_no FROM quarantine "
        "GROUP BY path, reason ORDER BY path, line_no"
    )
    if rows:
        yield "  not readable (table quarantine):"
    yield from first_of(
        [
            f"    {row['path']}:{row['line_no']}  {row['reason']}" + (f" ({row['n']:,} lines)" if row["n"] > 1 else "")
            for row in rows
        ]
    )


def without_role(published: "Published") -> Iterator[str]:
    """Yield the lines of sources that show no role, and the files to ask for."""
    from election_replay.jobs.reading.scraps import scraps  # slow to import, and not needed on a usual night

    every = list(scraps(published))
    asked: dict[str, None] = {}
    for scrap in every[:SOURCES_SHOWN]:
        yield ""
        yield f"{scrap.cluster} / {scrap.source_node}: no line tells a role ({', '.join(scrap.streams)})"
        lines = list(scrap.lines())
        for at, sentence in lines[:LINES_SHOWN]:
            moment = f"  {at:%Y-%m-%d} {clock(at)}  " if at else "  "
            yield from paragraph(sentence, moment, " " * len(moment) if at else "    ")
        yield from more(len(lines) - LINES_SHOWN, "lines of this sort")
        asked |= dict.fromkeys(scrap.ask_for)
    yield from more(len(every) - SOURCES_SHOWN, "sources without a role")
    for files in asked:
        yield from paragraph(f"To tell who leads, ask for {files}.", "  ", "    ")


def next_commands(published: Published, warehouse: str) -> Iterator[str]:
    """Yield the commands to type next."""
    worst = published.rows(
        "SELECT cluster, replica_group FROM findings "
        "ORDER BY severity = 'critical' DESC, severity = 'warning' DESC, cluster, replica_group, start_time LIMIT 1"
    ) or published.rows("SELECT cluster, replica_group FROM terms ORDER BY ALL LIMIT 1")
    base = f"--warehouse {quote(warehouse)}"
    yield "Next:"
    yield f'  election-replay sql {base} "{ALL_FINDINGS}"'
    for row in worst:
        yield (
            f"  election-replay incident {base} --cluster {quote(row['cluster'])} --group {quote(row['replica_group'])}"
        )
