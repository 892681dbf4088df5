"""What is new to a warehouse: one row for each source with events that no published run has judged."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from math import ceil
from typing import Any

from election_replay.election_core import RULES_VERSION
from election_replay.election_core.fold.identity import is_snapshot
from election_replay.election_core.fold.process_runs import LATE, START_KINDS
from election_replay.election_core.protocols.metadata.log import SETTLES
from election_replay.election_core.replay.checkpoint import LIVED
from election_replay.election_core.replay.registry import PROTOCOLS
from election_replay.jobs.engines.engine import After, Among, Engine, OneOf, Rows, null_of
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

SOURCE = ("cluster", "source_node")
CHECKPOINTS, WATERMARKS = TABLES["fold_checkpoints"], TABLES["source_watermarks"]
OF_RULES = OneOf("rules_version", (RULES_VERSION,))
"""Of rows that one replay leaves to the next, those that hold under these rules."""
INTRODUCING = frozenset[str]().union(*(protocol.introducing for protocol in PROTOCOLS))
"""The kinds of lines in which sources are introduced (:mod:`.introducing`)."""
FILE = ("stream", "file_time", "fingerprint")
UNDATED = datetime.min.replace(tzinfo=UTC)
MAX_REREAD_SOURCES = 500
"""So many sources are read anew one by one; where there are more, their clusters are."""


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A line's place in its stream: its file, of which one whose beginning bears no time comes first, and its number.

    Rows of a table may come behind later ones of the same file.
    """

    begun: datetime
    fingerprint: str
    line_no: int


Files = Mapping[str, File]
"""Stream -> a line of it."""


@dataclass(frozen=True, slots=True)
class CheckpointedSource:
    """A source whose checkpoint is kept: the last landing in it, the last sign of life, and, where it is asked for, the
    last file of each stream.

    ``facts_hash`` names its closed facts; ``None``: nobody knows them. ``was_set``: its clock was put back.
    """

    cluster: str
    source_node: str
    batch: int
    until: datetime | None
    last_files: Files = field(default_factory=dict)
    facts_hash: str | None = None
    was_set: bool = False

    @property
    def source(self) -> tuple[str, str]:
        """Its cluster and node."""
        return self.cluster, self.source_node


@dataclass(frozen=True, slots=True)
class UpdatedSource:
    """A source with new events: how many, of which days (UTC), the first of its logs, the first that shows a process
    start, the first file of each stream that has some of them, and how many introduce a source.
    """

    cluster: str
    source_node: str
    events: int
    days: tuple[date, ...]
    first_start: datetime | None
    first_line: datetime | None = None
    first_files: Files = field(default_factory=dict)
    introductions: int = 0


def known_sources(engine: Engine, warehouse: Warehouse, ends: Rows) -> list[CheckpointedSource]:
    """The sources that have a checkpoint, as their watermarks tell of them, or all rows of the checkpoints."""
    columns = (*SOURCE, "batch", "until", "kind", "count")
    hashed = ends.table == WATERMARKS.name
    rows = ends.select((*columns, "facts_hash")) if hashed else ends.select(columns, {"facts_hash": null_of("STRING")})
    sql = (
        "SELECT cluster, source_node, max(batch) AS batch, max(until) AS until, max(facts_hash) AS facts_hash, "
        f"coalesce(max(count) FILTER (WHERE kind = '{LIVED}'), 0) > 0 AS was_set FROM {{rows}} "
        "GROUP BY cluster, source_node"
    )
    return [CheckpointedSource(**row) for row in engine.answer(warehouse, sql, rows).to_pylist()]


def updated_sources(
    engine: Engine, warehouse: Warehouse, events: Rows, since: int, unknown_since: int
) -> list[UpdatedSource]:
    """The sources with events of landings after ``since``. A first one is sought after ``unknown_since``."""
    kinds = ", ".join(f"'{kind}'" for kind in sorted(START_KINDS))
    introducing = ", ".join(f"'{kind}'" for kind in sorted(INTRODUCING))
    sql = (
        "SELECT cluster, source_node, stream, file_time, fingerprint, CAST(event_time AS DATE) AS day, "
        "count(*) AS events, "
        f"min(CASE WHEN kind IN ({kinds}) AND batch > {unknown_since} THEN event_time END) AS first_start, "
        f"min(CASE WHEN batch > {unknown_since} THEN event_time END) AS first_line, min(line_no) AS line_no, "
        f"count(CASE WHEN kind IN ({introducing}) THEN 1 END) AS introductions "
        "FROM {rows} GROUP BY cluster, source_node, stream, file_time, fingerprint, CAST(event_time AS DATE)"
    )
    by_source: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    rows = events.where(After("batch", since)).select((*SOURCE, *FILE, "line_no", "batch", "kind", "event_time"))
    for row in engine.answer(warehouse, sql, rows).to_pylist():
        by_source[row["cluster"], row["source_node"]].append(row)
    return [
        UpdatedSource(
            cluster=cluster,
            source_node=source_node,
            events=sum(day["events"] for day in days),
            days=tuple(sorted({day["day"] for day in days})),
            first_start=min((day["first_start"] for day in days if day["first_start"]), default=None),
            first_line=first_line_of(days),
            first_files=end_of_streams(days, min),
            introductions=sum(day["introductions"] for day in days),
        )
        for (cluster, source_node), days in by_source.items()
    ]


def with_last_files(
    engine: Engine,
    warehouse: Warehouse,
    ends: Rows,
    known: list[CheckpointedSource],
    updated: Iterable[UpdatedSource],
) -> list[CheckpointedSource]:
    """``known``, those with new events with the last file of each stream, of which ``ends`` or checkpoints tell."""
    touched = {(source.cluster, source.source_node) for source in updated} & {source.source for source in known}
    if not touched:
        return known
    sql = (
        "SELECT cluster, source_node, stream, file_time, fingerprint, max(line_no) AS line_no FROM {rows} "
        "GROUP BY cluster, source_node, stream, file_time, fingerprint"
    )
    clusters = tuple(sorted({cluster for cluster, _ in touched}))
    by_source: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    of_touched = ends.where(OneOf("cluster", clusters), Among(SOURCE, frozenset(touched)))
    for row in engine.answer(warehouse, sql, of_touched.select((*SOURCE, *FILE, "line_no"))).to_pylist():
        by_source[row["cluster"], row["source_node"]].append(row)
    return [
        replace(entry, last_files=end_of_streams(by_source[entry.source], max)) if entry.source in touched else entry
        for entry in known
    ]


def end_of_streams(rows: Iterable[Mapping[str, Any]], end: Callable[[Iterable[File]], File]) -> Files:
    """The first or the last line of each stream, of rows that name stream, file_time, fingerprint and line_no."""
    files: dict[str, list[File]] = defaultdict(list)
    for row in rows:
        files[row["stream"]].append(File(row["file_time"] or UNDATED, row["fingerprint"] or "", row["line_no"] or 0))
    return {stream: end(of_stream) for stream, of_stream in files.items()}


def late_sources(updated: Iterable[UpdatedSource], known: Iterable[CheckpointedSource]) -> set[tuple[str, str]]:
    """The sources of whose former nights new events tell more than their checkpoints can take in.

    They show a start long before the last sign of life, or stand in a file that belongs before the last one of its
    stream, or long before the last sign of life of a source with snapshots; or the clock was put back.
    """
    before = {source.source: source for source in known}
    return {
        (source.cluster, source.source_node)
        for source in updated
        if (last := before.get((source.cluster, source.source_node))) is not None and is_late(source, last)
    }


def is_late(updated: UpdatedSource, known: CheckpointedSource) -> bool:
    """Whether new events of a source belong before the end of its checkpoint, or may."""
    if known.was_set or is_before(updated.first_start, known.until, LATE):
        return True
    if any(map(is_snapshot, known.last_files)) and is_before(updated.first_line, known.until, SETTLES):
        return True
    return any(
        stream in known.last_files and first < known.last_files[stream] for stream, first in updated.first_files.items()
    )


def first_line_of(days: Iterable[Mapping[str, Any]]) -> datetime | None:
    """When the first line of all logs was written, of rows that name stream and first_line."""
    times = (day["first_line"] for day in days if not is_snapshot(day["stream"]))
    return min((time for time in times if time is not None), default=None)


def is_before(time: datetime | None, until: datetime | None, by_us: int) -> bool:
    """Whether a time lies before the end of a checkpoint by more than so many microseconds."""
    return time is not None and until is not None and (until - time) // timedelta(microseconds=1) > by_us


def splits_by_cluster(
    updated: Collection[UpdatedSource], known: Collection[CheckpointedSource], tasks: int
) -> dict[str, int]:
    """Over how many of ``tasks`` each busy cluster is best dealt: by its share of the new events, or of all sources.

    A cluster without news, or with little, may have a long history. Twice as many pieces as tasks keep tasks about
    equal; a cluster that is not even one piece is not named.
    """
    events: Counter[str] = Counter()
    for source in updated:
        events[source.cluster] += source.events
    touched = {(source.cluster, source.source_node) for source in updated}
    sources = Counter(cluster for cluster, _ in touched | {source.source for source in known})
    shares = {
        cluster: 2 * tasks * max(events[cluster] / max(events.total(), 1), count / sources.total())
        for cluster, count in sources.items()
    }
    return {cluster: min(ceil(share), tasks) for cluster, share in shares.items() if share > 1}


def nights(updated: Iterable[UpdatedSource]) -> tuple[date, ...]:
    """The days of the events, UTC."""
    return tuple(sorted({day for source in updated for day in source.days}))


@dataclass(frozen=True, slots=True)
class Extent:
    """What a replay reads: the clusters ``whole``, and of the clusters ``partly`` only what is ``touched``.

    ``touched`` are the sources (cluster and node) of the clusters ``partly`` that have new events. ``folded`` is the
    last landing whose events are in the checkpoints of a cluster; a cluster without one and the sources ``reread`` are
    read from their first event.
    """

    whole: tuple[str, ...]
    partly: tuple[str, ...]
    touched: tuple[tuple[str, str], ...]
    folded: dict[str, int]
    reread: tuple[tuple[str, str], ...]


def extent(
    updated: Collection[UpdatedSource],
    known: Collection[CheckpointedSource],
    clusters: Collection[str],
    doubtful: Collection[str],
    *,
    part: bool,
) -> Extent:
    """What to read of ``clusters``.

    The clusters ``doubtful`` have events of former landings that their checkpoints have not seen. ``part``: a cluster
    need not be judged whole.
    """
    folded: dict[str, int] = {}
    for source in known:
        if source.cluster not in doubtful:
            folded[source.cluster] = max(folded.get(source.cluster, 0), source.batch)
    partly = {*clusters} & folded.keys() if part else set()
    reread = {source for source in late_sources(updated, known) if source[0] in folded}
    if len(reread) > MAX_REREAD_SOURCES:
        folded = {
            cluster: batch for cluster, batch in folded.items() if cluster not in {source[0] for source in reread}
        }
        reread = set()
    return Extent(
        whole=tuple(sorted({*clusters} - partly)),
        partly=tuple(sorted(partly)),
        touched=tuple(sorted((source.cluster, source.source_node) for source in updated if source.cluster in partly)),
        folded=folded,
        reread=tuple(sorted(reread)),
    )
