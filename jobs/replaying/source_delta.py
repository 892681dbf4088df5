"""New events by source, compared with checkpoints: which sources, and how much of their logs, a replay must read."""

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
"""The condition of checkpoints and watermarks that are valid under the current rules."""
INTRODUCING = frozenset[str]().union(*(protocol.introducing for protocol in PROTOCOLS))
"""The kinds of lines that introduce sources (:mod:`.introducing`)."""
FILE = ("stream", "file_time", "fingerprint")
UNDATED = datetime.min.replace(tzinfo=UTC)
MAX_REREAD_SOURCES = 500
"""The maximum number of sources that are reread one by one; if there are more, whole clusters are reread."""


@dataclass(frozen=True, slots=True, order=True)
class File:
    """A line's position in its stream: its file, by the time at which that begins (undated first), and its number."""

    begun: datetime
    fingerprint: str
    line_no: int


Files = Mapping[str, File]
"""Stream -> position of a line in it."""


@dataclass(frozen=True, slots=True)
class CheckpointedSource:
    """A source with a checkpoint: the last landing in it, and the time until which its lines are known (UTC).

    ``last_files`` are the last lines of its streams, for sources with new events. ``facts_hash`` is the hash of its
    closed facts; ``None`` if unknown. ``was_set``: its clock was set back.
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
        """Return the (cluster, node) key."""
        return self.cluster, self.source_node


@dataclass(frozen=True, slots=True)
class UpdatedSource:
    """A source with new events: their number and days (UTC).

    ``first_start`` is the time of the first that shows a process start, ``first_line`` that of the first in a log (not
    in a snapshot). ``first_files`` are the first new lines of its streams; ``introductions`` is the number of lines
    that introduce a source.
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
    """Return the sources with a checkpoint, from the rows ``ends``: watermarks, or all rows of checkpoints."""
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
    """Return the sources with events of landings after ``since``.

    ``first_start`` and ``first_line`` are of landings after ``unknown_since`` only.
    """
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
    """Return ``known``, with ``last_files`` read from ``ends`` for the sources with new events."""
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
    """Return the first or the last line (``end``: min or max) of each stream in ``rows``."""
    files: dict[str, list[File]] = defaultdict(list)
    for row in rows:
        files[row["stream"]].append(File(row["file_time"] or UNDATED, row["fingerprint"] or "", row["line_no"] or 0))
    return {stream: end(of_stream) for stream, of_stream in files.items()}


def late_sources(updated: Iterable[UpdatedSource], known: Iterable[CheckpointedSource]) -> set[tuple[str, str]]:
    """Return the sources whose new events are too old to be folded onto their checkpoints.

    A new event shows a process start long before the checkpoint's end, is in a file before the last one of its stream,
    or, for a source with snapshots, was logged long before the checkpoint's end; or the source's clock was set back.
    """
    before = {source.source: source for source in known}
    return {
        (source.cluster, source.source_node)
        for source in updated
        if (last := before.get((source.cluster, source.source_node))) is not None and is_late(source, last)
    }


def is_late(updated: UpdatedSource, known: CheckpointedSource) -> bool:
    """Return True if new events of a source belong, or may belong, before the end of its checkpoint."""
    if known.was_set or is_before(updated.first_start, known.until, LATE):
        return True
    if any(map(is_snapshot, known.last_files)) and is_before(updated.first_line, known.until, SETTLES):
        return True
    return any(
        stream in known.last_files and first < known.last_files[stream] for stream, first in updated.first_files.items()
    )


def first_line_of(days: Iterable[Mapping[str, Any]]) -> datetime | None:
    """Return the time (UTC) of the first line of all streams but snapshots; ``None`` if there is none."""
    times = (day["first_line"] for day in days if not is_snapshot(day["stream"]))
    return min((time for time in times if time is not None), default=None)


def is_before(time: datetime | None, until: datetime | None, by_us: int) -> bool:
    """Return True if ``time`` is more than ``by_us`` microseconds before ``until``; False if either is unknown."""
    return time is not None and until is not None and (until - time) // timedelta(microseconds=1) > by_us


def splits_by_cluster(
    updated: Collection[UpdatedSource], known: Collection[CheckpointedSource], tasks: int
) -> dict[str, int]:
    """Return the number of tasks for each busy cluster: by its share of the new events, or of all sources if greater.

    A cluster with few new events may have a long history. Twice as many splits as ``tasks`` keep tasks about equal; a
    cluster whose share is at most one split is not named.
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
    """Return the sorted days (UTC) of the new events."""
    return tuple(sorted({day for source in updated for day in source.days}))


@dataclass(frozen=True, slots=True)
class Extent:
    """What a replay reads: all of the clusters ``whole``, and only ``touched`` sources of the clusters ``partly``.

    ``touched`` are the (cluster, node) keys of sources with new events. ``folded`` is, by cluster, the last landing
    whose events are in its checkpoints; a cluster without one and the sources ``reread`` are read from their first
    event.
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
    """Return what to read of ``clusters``.

    Checkpoints of the clusters ``doubtful`` are not used. ``part``: a cluster need not be judged whole.
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
