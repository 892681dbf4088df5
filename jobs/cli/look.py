"""``look``: the verdict on a folder of logs, in seconds."""

import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

import click

from election_replay.jobs import JobError
from election_replay.jobs.cli.ending import leave
from election_replay.jobs.cli.log import log_event
from election_replay.jobs.cli.options import config_option, day
from election_replay.jobs.cli.output import as_json, more, print_line, write_file
from election_replay.jobs.cli.stages import PRELOAD

if TYPE_CHECKING:
    from datetime import date as Day

    from election_replay.jobs.engines.engine import Engine
    from election_replay.jobs.landing.landing_zone import Skipped
    from election_replay.jobs.look import Looked
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.reading.verdict_files import Clause
    from election_replay.jobs.reading.words import Row
    from election_replay.jobs.settings.config import Config
    from election_replay.jobs.warehouse.warehouse import Warehouse

SHOWN = 12
"""The most files, quarantined places and the like that are listed; the rest is counted."""

NODES_SHOWN = 60
GROUPS_SHOWN = 4
"""The most groups that are listed of one node: a broker of Kafka may have thousands of partitions."""
KEPT = "DIR"
"""The placeholder in hints for a warehouse's folder where ``--keep`` is not given."""

PASTED = "pasted"
"""The folder of pasted text, and so the name of its cluster."""

PASTED_FROM = "the text on standard input"

STORIES = 4
"""The most groups whose story is told; the others are counted."""


@click.command()
@click.argument("folder")
@click.option("--keep", metavar="DIR", help="Keep the warehouse in DIR, for incident, report, dashboard and sql.")
@click.option("--junit", metavar="FILE", help="Write the verdict as JUnit XML, for build servers.")
@click.option("--sarif", metavar="FILE", help="Write the findings as SARIF, with the lines that prove them.")
@click.option(
    "--fail-on",
    metavar="CONDITION",
    help="End with exit code 5 if a finding matches: severities or rules, each with an optional minimum duration.",
)
@click.option("--date", metavar="DAY", help="Day of the last line, for logs whose times have no year or no day.")
@click.option("--share", metavar="DIR", help="Write the smallest redacted folder with the same verdict to DIR.")
@config_option()
def look(
    folder: str,
    keep: str | None,
    junit: str | None,
    sarif: str | None,
    fail_on: str | None,
    date: str | None,
    share: str | None,
    config: str | None,
) -> None:
    """Judge a folder of logs in any layout. It prints assumptions, findings, and the story of each group.

    Archives in the folder (.zip, .tar.gz and the like) are unpacked. A single log is enough, and - reads text from
    standard input, pasted from anywhere. The command needs no settings, no Spark and no Java. It names what it could
    not read or understand; exit code 4 means that a file could not be read.

    \b
    Examples
      election-replay look ~/Downloads/broker-logs
      election-replay look logs.zip --keep incident-4711
      xclip -o | election-replay look -
      election-replay look zookeeper.out --date 2026-11-25
      election-replay look logs --junit verdict.xml --fail-on "critical or LEADERLESS > 5 s"
    """
    from election_replay.jobs.engines.local_engine import LocalEngine
    from election_replay.jobs.reading.published import Published
    from election_replay.jobs.reading.verdict_files import DEFAULT, condition
    from election_replay.jobs.settings.config import Config
    from election_replay.jobs.settings.in_force import in_force
    from election_replay.jobs.share import free
    from election_replay.jobs.share import share as shared
    from election_replay.jobs.warehouse.warehouse import Warehouse

    began = time.monotonic()
    last = day(date)
    when = condition(fail_on or DEFAULT)
    settings = in_force(config, None).config if config else Config()
    out = free(Path(share)) if share else None
    with (
        tempfile.TemporaryDirectory(prefix="election-replay-look-") as scratch,
        closing(LocalEngine(preload=PRELOAD)) as engine,
    ):
        tables = Warehouse(kept_in(keep) if keep else f"{scratch}/warehouse")
        with tables.pinned_snapshot():  # nobody else writes to a warehouse that is being made
            done = looked_into(engine, folder, tables, settings, Path(scratch), last)
        published = done.published or Published(tables)
        published.place = keep or KEPT
        try:
            printed(done, published, keep, f"Looked into {folder} in", began)
            if out:
                print_line(shared(engine, done, tables, out, settings, Path(scratch)))
        finally:  # whoever reads what is printed, like head, may be gone before its end
            write_verdicts(published, junit, sarif, when)
        found = bool(fail_on) and fails(published, str(fail_on), when)
    leave(failed=bool(done.replay.held), unread=bool(done.unread), found=found)


def looked_into(
    engine: "Engine", folder: str, tables: "Warehouse", settings: "Config", scratch: Path, last: "Day | None" = None
) -> "Looked":
    """Return the result of a look at a folder, or at the text on the standard input if ``folder`` is ``-``."""
    from election_replay.jobs.landing.pasted import write_pasted
    from election_replay.jobs.look import look as look_job

    pasted = folder == "-"
    place = str(write_pasted(standard_input(), scratch / PASTED)) if pasted else folder
    try:
        return look_job(engine, place, tables, settings, scratch, last)
    except JobError as error:
        lines = (str(line).replace(place, PASTED_FROM) if pasted else line for line in error.args)
        raise JobError(*lines) from None


def printed(done: "Looked", published: "Published", keep: str | None, title: str, began: float) -> None:
    """Print the verdict, what was not understood, and what was assumed."""
    parts = verdict(published, done.skipped), assumptions(done, published), further(published, keep)
    for line in chain(*parts):
        print_line(line)
    seconds = time.monotonic() - began
    log_event(f"{title} {seconds:.1f} s", seconds=round(seconds, 1))
    for line in contradictions(done, keep):
        print_line(line)


def standard_input() -> str:
    """Return all text on the standard input; bytes that are no UTF-8 are kept as surrogates."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")


def write_verdicts(published: "Published", junit: str | None, sarif: str | None, when: "tuple[Clause, ...]") -> None:
    """Write the files that build servers read."""
    from election_replay.jobs.reading import verdict_files as files

    if junit:
        write_file(junit, files.junit(published, when))
    if sarif:
        write_file(sarif, as_json(files.sarif(published)))


def fails(published: "Published", fail_on: str, when: "tuple[Clause, ...]") -> bool:
    """Return True if a finding fails the build; print which rules do."""
    from election_replay.jobs.reading.verdict_files import failing

    bad = failing(published, when)
    if bad:
        findings = "1 finding" if len(bad) == 1 else f"{len(bad):,} findings"
        log_event(f"{findings} of the kind `{fail_on}`: {', '.join(sorted({row['rule'] for row in bad}))}")
    return bool(bad)


def contradictions(done: "Looked", keep: str | None) -> Iterator[str]:
    """Yield the lines that name clusters whose verdict is not shown because its rows contradict one another: a fault of
    this software."""
    from election_replay.jobs.reading.words import paragraph

    kept = f"`election-replay validate --warehouse {quote(keep)}` shows them" if keep else "--keep DIR keeps them"
    for cluster in done.replay.held:
        broken = {f"{check.table}: {check.expectation.name}" for check in done.replay.checks if check.stops}
        yield from paragraph(
            f"{cluster}: its verdict is not shown: its rows contradict one another ({'; '.join(sorted(broken))}). "
            f"That is a fault of election-replay: please report it; {kept}.",
            "",
            "  ",
        )


def kept_in(folder: str) -> str:
    """Return ``folder`` if it may hold a new warehouse. Raises :class:`~jobs.JobError` if it is a file or not empty."""
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise JobError(f"{folder} is there already: give a new or an empty folder to --keep")
    return folder


def assumptions(done: "Looked", published: "Published") -> Iterator[str]:
    """Yield the lines that say which files were taken for which node's, and what their logs say to that."""
    from election_replay.jobs.reading.words import some

    heard: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in published.rows(
        "SELECT cluster, source_node, node, list(DISTINCT replica_group ORDER BY replica_group) AS of FROM "
        "role_intervals WHERE source_node IS NOT NULL GROUP BY ALL ORDER BY ALL"
    ):
        heard[row["cluster"], row["source_node"]].append(f"member {row['node']} of {some(row['of'], GROUPS_SHOWN)}")
    inside = inside_envelopes(published)
    yield ""
    yield "Assumed"
    cluster = None
    for node in done.assumed[:NODES_SHOWN]:
        if node.cluster != cluster:
            yield f"  {node.cluster}"
        cluster = node.cluster
        files = f"{node.files:,} file{'s' if node.files > 1 else ''}"
        signs = ", ".join(heard[node.cluster, node.node])
        named = inside[node.cluster, node.node]
        of_others = [f"{name} is {' and '.join(roles)}" for name in named if (roles := heard[node.cluster, name])]
        nodes = "1 node" if len(named) == 1 else f"{len(named)} nodes"
        says = f"by its lines {signs}" if signs else f"its lines name {nodes}: {'; '.join(of_others)}"
        yield f"    {node.node}: {files}, by {node.by}; {says if signs or of_others else 'no role in its logs'}"
    yield from more(len(done.assumed) - NODES_SHOWN, "nodes")
    yield from otherwise(done, published)
    yield from same_members(published)
    zones = zones_of(published)
    if zones:
        yield f"  Times: {', '.join(zones)}, as these systems write them unless they are told otherwise (--config)"
    yield from other_zones(published)
    if harmless := sum(file.harmless for file in done.skipped):
        are = "other file is no log" if harmless == 1 else "other files are not logs"
        yield f"  {harmless:,} {are} of interest, by {'its name' if harmless == 1 else 'their names'}"


def same_members(published: "Published") -> Iterator[str]:
    """Yield the lines that name nodes which claim to be the same member, and sentinels that watch a master of one name
    without knowing each other: both may be two clusters."""
    from election_replay.jobs.reading.kinship import namesakes, sentinels_apart
    from election_replay.jobs.reading.words import some

    for members in namesakes(published).values():
        alike = {tuple(nodes): f"{node} of {group}" for (group, node), nodes in members.items()}
        for nodes, sign in sorted(alike.items())[:NODES_SHOWN]:
            yield f"  {some(list(nodes))} say that they are {sign}: {_BY_ITSELF}"
    for (_, group), sets in sentinels_apart(published).items():
        names = "; ".join(some(sources) for sources in sets)
        yield f"  Sentinels that do not know each other watch a master named {group} ({names}): {_BY_ITSELF}"


_BY_ITSELF = "if they are of two clusters, look at each by itself"


def otherwise(done: "Looked", published: "Published") -> Iterator[str]:
    """Yield the lines that name files which are not read as they stand, and how they are read. Files without a line of
    interest are left out."""
    from election_replay.jobs.reading.words import some

    counted = "SELECT path FROM landed_files GROUP BY path HAVING sum(lines_event + lines_quarantined) = 0"
    idle = {row["path"] for row in published.rows(counted)}
    alike: dict[str, list[str]] = defaultdict(list)
    for path, how in done.read_otherwise:
        if path not in idle:
            alike[how].append(path)
    yield from (f"  {some(sorted(paths))}: {how}" for how, paths in alike.items())


def inside_envelopes(published: "Published") -> dict[tuple[str, str], list[str]]:
    """Return, by the (cluster, node) that was assumed, the nodes that envelopes name in its files."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in published.rows(
        "SELECT DISTINCT whole.cluster, whole.source_node, part.source_node AS named FROM landed_files AS whole "
        "JOIN landed_files AS part ON part.cluster = whole.cluster AND part.path = whole.path "
        "AND part.status = 'part' AND whole.status <> 'part' ORDER BY ALL"
    ):
        found[row["cluster"], row["source_node"]].append(row["named"])
    return found


def zones_of(published: "Published") -> list[str]:
    """Return, as text, the systems whose logs gave events, each with the zone of its times."""
    from election_replay.election_core.dialects import named

    rows = published.rows("SELECT DISTINCT read_as FROM landed_files WHERE read_as IS NOT NULL AND lines_event > 0")
    found = {(read.system, read.utc_offset_minutes) for row in rows if (read := named(row["read_as"])) is not None}
    return sorted(f"{system} in UTC{minutes // 60:+03d}:{minutes % 60:02d}" for system, minutes in found)


def other_zones(published: "Published") -> Iterator[str]:
    """Yield the lines that name nodes whose clock differs from the others' by whole quarters of an hour."""
    for row in published.rows(
        "SELECT DISTINCT source_node, moved_ms FROM clock_offsets WHERE moved_ms IS NOT NULL ORDER BY ALL"
    ):
        quarters = round(row["moved_ms"] / QUARTER_MS)
        if quarters and abs(row["moved_ms"] - quarters * QUARTER_MS) < NEARLY_MS:
            hours = f"{abs(quarters) / 4:g} h {'behind' if quarters > 0 else 'ahead of'}"
            yield f"  {row['source_node']}: its times are {hours} the others': in another time zone, perhaps (--config)"


QUARTER_MS = 15 * 60_000
"""Time zones differ by whole quarters of an hour."""
NEARLY_MS = 5_000


def not_understood(skipped: "Iterable[Skipped]") -> Iterator[str]:
    """Yield the lines that name files which were not read or not understood, and may be missed."""
    missed = [file for file in skipped if not file.harmless]
    if missed:
        yield "Not read or not understood"
        yield from (f"  {file.path}  {file.reason}" for file in missed[:SHOWN])
        yield from more(len(missed) - SHOWN, "files")


def verdict(published: "Published", skipped: "Iterable[Skipped]") -> Iterator[str]:
    """Yield the lines of the findings, each with the next step, of what was not read, and of the story of the groups
    that have the gravest findings."""
    from election_replay.jobs.cli import summary
    from election_replay.jobs.reading.incident import incident
    from election_replay.jobs.showing.incident_text import story_lines

    listed = summary.worst(published, lesser=True)
    above = {row["finding_id"] for row in listed[: summary.SHOWN]}
    yield "Found"
    members = members_of(published)
    yield from summary.findings(published, listed, members)
    yield from summary.numbers(published)
    yield from summary.misunderstood(published)
    yield from summary.unreadable(published)
    yield from not_understood(skipped)
    groups = groups_by_gravity(published)
    shown = [group for group in groups if group.grave][:STORIES] or groups[:STORIES]
    for concerned in shown:
        yield ""
        yield f"{concerned.cluster} / {concerned.group}"
        found = incident(published, concerned.cluster, concerned.group, story_alone=True)
        yield from story_lines(found, by_host=(found.cluster, found.group) in members, above=above)
    left = len(groups) - len(shown)
    yield from more(left, f"group{'s' if left > 1 else ''}; `incident` tells the story of each")
    yield from summary.without_role(published)


def members_of(published: "Published") -> "dict[tuple[str, str], list[Row]]":
    """Return the members of each group whose logs come from several hosts, by cluster and group: they are named by
    these, whose ids :func:`assumptions` lists. A scrap's single file has a name that tells nothing."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in published.rows("SELECT DISTINCT cluster, replica_group, node, source_node FROM role_intervals"):
        found[row["cluster"], row["replica_group"]].append(row)
    return {group: rows for group, rows in found.items() if len({row["source_node"] for row in rows} - {None}) > 1}


class Group(NamedTuple):
    """A replica group; ``grave``: it has a critical finding or a warning."""

    cluster: str
    group: str
    grave: bool


def groups_by_gravity(published: "Published") -> list[Group]:
    """Return all groups of which roles or leaders are known, those with the gravest findings first."""
    rows = published.rows(
        "SELECT cluster, replica_group, coalesce(bool_or(severity <> 'info'), FALSE) AS grave FROM ("
        "SELECT cluster, replica_group, NULL AS severity FROM role_intervals "
        "UNION ALL SELECT cluster, replica_group, NULL FROM terms WHERE leader IS NOT NULL "
        "UNION ALL SELECT cluster, replica_group, severity "
        "FROM findings SEMI JOIN role_intervals USING (cluster, replica_group)) "
        "GROUP BY ALL ORDER BY count(*) FILTER (severity = 'critical') DESC, "
        "count(*) FILTER (severity = 'warning') DESC, count(severity) DESC, cluster, replica_group"
    )
    return [Group(row["cluster"], row["replica_group"], row["grave"]) for row in rows]


def further(published: "Published", keep: str | None) -> Iterator[str]:
    """Yield the lines that say what to do next."""
    yield ""
    if keep is None:
        yield f"Nothing is kept: with --keep {KEPT}, `incident`, `report`, `dashboard`, `explain` and `sql` work on it."
        return
    for group in groups_by_gravity(published)[:1]:
        named = f"--warehouse {quote(keep)} --cluster {quote(group.cluster)} --group {quote(group.group)}"
        yield "Next:"
        yield f"  election-replay incident {named}"
        yield f"  election-replay report {named} -o incident.html"
        yield f"  election-replay dashboard --warehouse {quote(keep)}"
