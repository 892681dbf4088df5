"""Which sources with new events are idle, and which groups stay quiescent although their logs went on.

An idle source (:mod:`election_core.replay.rest`) is not folded: its rows of ``source_ends`` and its open facts move
on. A group is judged if something is new of one of its sources, or if it is not quiescent any more
(:mod:`election_core.judge.quiescent`). Both are told by few rows a source and a group, however long their history.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core import RULES_VERSION
from election_replay.election_core.fold.process_runs import SILENCE, Segment
from election_replay.election_core.judge.quiescent import Quiescent
from election_replay.election_core.model.facts import Committed, Fact, Growth, KnownCommitted, Written
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import LIVED, as_rows, lived_row
from election_replay.election_core.replay.fact_rows import facts_in
from election_replay.election_core.replay.registry import PERIODIC, PERIODIC_FIELDS
from election_replay.election_core.replay.rest import (
    LAST_LINES,
    Ended,
    LastLine,
    Lines,
    goes_on,
    last_growth,
    signs_of_life,
)
from election_replay.election_core.replay.source_fold import INTERESTING
from election_replay.jobs.engines.engine import After, Among, Engine, OneOf, Rows
from election_replay.jobs.replaying.source_delta import FILE, SOURCE, UNDATED, CheckpointedSource
from election_replay.jobs.warehouse.data_files import in_shape
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

SOURCE_ENDS, OPEN_LIVES, QUIESCENT_GROUPS = TABLES["source_ends"], TABLES["open_lives"], TABLES["calm_groups"]
OF_RULES = OneOf("rules_version", (RULES_VERSION,))
"""Of rows that one replay leaves to the next, those that hold under these rules."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_CANDIDATES = 20_000
"""Of so many sources the driver looks whether they are idle; where more have news, it is left to the folds."""

Source = tuple[str, str]
Group = tuple[str, str]

_COUNTS = {kind: periodic.counts for kind, periodic in PERIODIC.items() if periodic.counts is not None}
_COUNTED = sorted({*_COUNTS.values()})
_READ = [name for name in PERIODIC_FIELDS if name not in _COUNTED]


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"'{kind}'" for kind in sorted(kinds))


_LINES = f"""
    SELECT cluster, source_node, stream, file_time, fingerprint, line_no, event_id, event_time, time_resolution_ms,
        clock_bound_ms,
        CASE WHEN kind IN ({_listed(INTERESTING)}) THEN kind END AS kind,
        CASE {" ".join(f"WHEN kind = '{kind}' THEN {count}" for kind, count in sorted(_COUNTS.items()))} END AS counted,
        {", ".join(f"CASE WHEN kind IN ({_listed(PERIODIC)}) THEN {name} END AS {name}" for name in PERIODIC_FIELDS)}
    FROM {{rows}}"""  # noqa: S608 - our own names

_KINDS_OF_LINES = f"""
    WITH lines AS ({_LINES}), in_turn AS (
        SELECT *,
            lag(event_time) OVER (PARTITION BY cluster, source_node, stream, file_time, fingerprint ORDER BY line_no)
                AS before_in_file,
            lag(event_time) OVER (PARTITION BY cluster, source_node ORDER BY event_time) AS before,
            lag(counted) OVER (PARTITION BY cluster, source_node, stream, kind
                ORDER BY file_time NULLS FIRST, fingerprint, line_no) AS counted_before
        FROM lines)
    SELECT cluster, source_node, stream, file_time, fingerprint, kind, {", ".join(_READ)},
        {", ".join(f"min({name}) AS least_{name}, max({name}) AS most_{name}" for name in _COUNTED)},
        min(line_no) AS first_line, min(event_time) AS first, max(event_time) AS last,
        min_by(event_id, event_time) AS first_event,
        min(coalesce(time_resolution_ms, 0)) AS least_width, max(coalesce(time_resolution_ms, 0)) AS most_width,
        min(coalesce(clock_bound_ms, 0)) AS least_bound, max(coalesce(clock_bound_ms, 0)) AS most_bound,
        max(CASE WHEN event_time < before_in_file OR event_time >= before + INTERVAL '{SILENCE // 1_000_000}' SECOND
            OR counted < counted_before THEN 1 ELSE 0 END) AS jumps
    FROM in_turn
    GROUP BY cluster, source_node, stream, file_time, fingerprint, kind, {", ".join(_READ)},
        {", ".join(f"{name} IS NULL" for name in _COUNTED)}"""  # noqa: S608 - our own names
"""What new lines say, source by source: a few rows for each, however many lines they are."""

_LAST_LINES = f"""
    WITH lines AS ({_LINES}), in_turn AS (
        SELECT cluster, source_node, stream, kind, event_id, event_time, time_resolution_ms, counted,
            row_number() OVER of_kind AS number, lag(counted) OVER of_kind AS counted_before,
            count(*) OVER (PARTITION BY cluster, source_node, stream, kind) AS numbers,
            max(event_time) OVER (PARTITION BY cluster, source_node) AS ended
        FROM lines WINDOW of_kind AS (PARTITION BY cluster, source_node, stream, kind
            ORDER BY file_time NULLS FIRST, fingerprint, line_no)), growing AS (
        SELECT *, max(CASE WHEN counted > counted_before THEN number END)
            OVER (PARTITION BY cluster, source_node, stream, kind) AS grew
        FROM in_turn), chosen AS (
        SELECT *, event_time >= ended - INTERVAL '{LAST_LINES // 1_000_000}' SECOND AS is_late,
            number = numbers OR (counted IS NOT NULL AND (number = 1 OR number = grew OR number = grew - 1)) AS is_kept
        FROM growing)
    SELECT cluster, source_node, event_id, event_time, coalesce(time_resolution_ms, 0) AS width,
        coalesce(is_kept, false) AS is_kept, is_late
    FROM chosen WHERE is_kept OR is_late"""  # noqa: S608 - our own names
"""The last lines of each stream and kind, those between which a count may have grown last, and those of the last
seconds."""


@dataclass(frozen=True, slots=True)
class IdleSources:
    """What goes on as it was: the sources ``sources`` with their open facts as they stand now, and their new ``rows``.

    ``groups_to_rejudge`` are judged although nothing else is new of them: they are not quiescent.
    """

    sources: Mapping[Source, Sequence[Fact]] = field(default_factory=dict)
    rows: pa.RecordBatch | None = None
    groups_to_rejudge: frozenset[Group] = frozenset()

    def within(self, clusters: Collection[str]) -> "IdleSources":
        """What of it is in ``clusters``; all others are folded and judged whole."""
        if self.rows is None:
            return self
        rows = self.rows.filter(pc.is_in(self.rows.column("cluster"), pa.array(sorted(clusters), pa.string())))
        sources = {source: facts for source, facts in self.sources.items() if source[0] in clusters}
        groups_to_rejudge = frozenset(group for group in self.groups_to_rejudge if group[0] in clusters)
        return IdleSources(sources, rows, groups_to_rejudge) if sources else NO_IDLE_SOURCES


NO_IDLE_SOURCES = IdleSources()


def source_ends(version: int | None) -> Rows:
    """Where all sources with a checkpoint ended. It holds where no replay was killed since the published run: its
    tables stand then as that run left them."""
    return Rows(SOURCE_ENDS.name, version).where(OF_RULES)


def idle_sources(
    engine: Engine,
    warehouse: Warehouse,
    landed: Rows,
    since: int,
    last_batch: int,
    asked: Collection[Source],
    known: Iterable[CheckpointedSource],
) -> IdleSources:
    """Of the sources ``asked``, which have events of landings after ``since``, those that are idle.

    ``known`` are the checkpoints; the clusters asked for have one for each source that is idle.
    """
    if not 0 < len(asked) <= MAX_CANDIDATES or not warehouse.count(SOURCE_ENDS.name):
        return NO_IDLE_SOURCES
    clusters = tuple(sorted({cluster for cluster, _ in asked}))
    old = source_ends(warehouse.version(SOURCE_ENDS.name)).where(OneOf("cluster", clusters))
    rows_before = engine.answer(warehouse, "SELECT * FROM {rows} WHERE may_rest", old.select(SOURCE_ENDS.names))
    ended = _ended_before(rows_before, known)
    candidates = frozenset({*asked} & ended.keys())
    if not candidates:
        return NO_IDLE_SOURCES
    new = landed.where(After("batch", since), Among(SOURCE, candidates))
    narrow = new.select((*_OF_LINES,))
    found = _by_source(engine.answer(warehouse, _KINDS_OF_LINES, narrow, SOURCE).to_pylist())
    lines = {source: [_lines(row) for row in rows] for source, rows in found.items()}
    open_facts = _open_facts(engine, warehouse, clusters)
    growing = _growing(ended, open_facts)
    still = {
        source
        for source in candidates
        if source in lines and goes_on(ended[source], lines[source], may_grow=source in growing)
    }
    if not still:
        return NO_IDLE_SOURCES
    narrow = narrow.where(Among(SOURCE, frozenset(still)))
    last = engine.answer(warehouse, _LAST_LINES, narrow, SOURCE)
    lived = _lived(ended, lines, _by_source(last.filter(last["is_late"]).to_pylist()))
    ids = last.filter(last["is_kept"]).select(("cluster", "event_id")).to_pylist()
    wanted = Among(("cluster", "event_id"), frozenset((row["cluster"], row["event_id"]) for row in ids))
    whole = engine.answer(warehouse, "SELECT * FROM {rows}", new.where(wanted).select(core.FOLD_COLUMNS))
    rows, growths = _advanced_ends(rows_before, whole, lived, ended, last_batch)
    moved = {
        source: [_advanced(fact, lived[source][-1], growths.get(source), lines[source]) for fact in open_facts[source]]
        for source in still
    }
    return IdleSources(moved, rows, _groups_to_rejudge(engine, warehouse, open_facts, moved))


_OF_LINES = (
    *SOURCE,
    *(*FILE, "line_no", "event_id", "event_time", "time_resolution_ms"),
    *("clock_bound_ms", "kind", *PERIODIC_FIELDS),
)


_OF_ENDS = [
    *(*SOURCE, *FILE, "line_no", "event_id", "event_time", "time_resolution_ms", "clock_bound_ms", "kind"),
    *(*PERIODIC_FIELDS, "until", "until_by", "until_event", "nights", "folded"),
]


def _by_source(rows: Iterable[dict[str, Any]]) -> dict[Source, list[dict[str, Any]]]:
    found: dict[Source, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["cluster"], row["source_node"]].append(row)
    return found


def _us(time: datetime) -> int:
    return (time - EPOCH) // timedelta(microseconds=1)


def _place(row: Mapping[str, Any]) -> tuple[datetime, str]:
    return row["file_time"] or UNDATED, row["fingerprint"] or ""


def _ended_before(rows: pa.Table, known: Iterable[CheckpointedSource]) -> dict[Source, Ended]:
    """Where sources ended, by the rows of ``source_ends`` that go on from their checkpoints."""
    folded = {source.source: source.folded for source in known if not source.torn}
    return {
        source: _ended(of_source)
        for source, of_source in _by_source(rows.select(_OF_ENDS).to_pylist()).items()
        if {row["folded"] for row in of_source} == {folded.get(source)}
    }


def _lived(
    ended: Mapping[Source, Ended], lines: Mapping[Source, Sequence[Lines]], late: Mapping[Source, list[dict[str, Any]]]
) -> dict[Source, list[Segment]]:
    """The signs of life of each source since its fold; ``late`` are the new lines of its last seconds."""
    return {
        source: signs_of_life(
            ended[source],
            lines[source],
            ((at := _us(row["event_time"]), at + row["width"] * US_PER_MS, row["event_id"]) for row in rows),
        )
        for source, rows in late.items()
    }


def _ended(rows: Sequence[Mapping[str, Any]]) -> Ended:
    """Where a source ended, by its rows of ``source_ends``."""
    lived = [(_segment(row), row["nights"]) for row in rows if row["kind"] == LIVED]
    return Ended(
        lines=tuple(
            LastLine(row["stream"], row["kind"], _place(row), row["line_no"], _us(row["event_time"]), row)
            for row in rows
            if row["kind"] != LIVED
        ),
        until=max((segment for segment, _ in lived), key=lambda segment: segment.last),
        since_fold=tuple(sorted(segment for segment, nights in lived if nights)),
        bound_ms=max(row["clock_bound_ms"] or 0 for row in rows),
    )


def _segment(row: Mapping[str, Any]) -> Segment:
    first = _us(row["event_time"])
    by = first + (row["time_resolution_ms"] or 0) * US_PER_MS
    return Segment(
        first, by, _us(row["until"]), _us(row["until_by"]), row["event_id"] or None, row["until_event"] or None
    )


def _lines(row: Mapping[str, Any]) -> Lines:
    values = {name: row[name] for name in _READ}
    return Lines(
        stream=row["stream"],
        place=_place(row),
        kind=row["kind"],
        least=values | {name: row[f"least_{name}"] for name in _COUNTED},
        most=values | {name: row[f"most_{name}"] for name in _COUNTED},
        first_line=row["first_line"],
        first=_us(row["first"]),
        last=_us(row["last"]),
        first_event=row["first_event"],
        widths=(row["least_width"], row["most_width"]),
        bounds=(row["least_bound"], row["most_bound"]),
        jumps=bool(row["jumps"]),
    )


def _advanced_ends(
    known: pa.Table,
    whole: pa.Table,
    lived: Mapping[Source, Sequence[Segment]],
    ended: Mapping[Source, Ended],
    batch: int,
) -> tuple[pa.RecordBatch, dict[Source, Growth]]:
    """The rows of idle sources after their new lines, and where a count grew last.

    Of each kind and stream they are the last line and those of the last growth; and the signs of life.
    """
    known = known.filter(_of_sources(known, lived))
    last = sorted(known.select(_STAMPS).to_pylist(), key=itemgetter("nights"))
    stamps = {(row["cluster"], row["source_node"]): row for row in last}
    lines = [
        (row, number)
        for number, row in enumerate(pa.concat_tables([known.select(_OF_PLACES), whole.select(_OF_PLACES)]).to_pylist())
        if row["kind"] != LIVED
    ]
    kept, growths = _lines_kept(lines)
    former = known.take(pa.array([number for number in kept if number < len(known)], pa.int64()))
    new = whole.take(pa.array([number - len(known) for number in kept if number >= len(known)], pa.int64()))
    signs = [
        lived_row(source, ended[source].lines[0].stream, segment, None, 0, ended[source].bound_ms)
        for source, segments in lived.items()
        for segment in segments
    ]
    moving = as_rows(signs)
    parts = [in_shape(SOURCE_ENDS, part) for part in (*new.to_batches(), moving, *former.to_batches())]
    rows = pa.Table.from_batches(parts).combine_chunks()
    sources = [*zip(rows["cluster"].to_pylist(), rows["source_node"].to_pylist(), strict=True)]
    of_new = [stamps[source]["nights"] + 1 for source in sources[: len(new) + moving.num_rows]]
    for name, values in (
        ("batch", pa.repeat(batch, len(rows))),
        ("rules_version", pa.repeat(RULES_VERSION, len(rows))),
        ("may_rest", pa.repeat(True, len(rows))),
        ("nights", pa.array([*of_new, *former["nights"].to_pylist()], pa.int64())),
        ("folded", pa.array([stamps[source]["folded"] for source in sources], pa.int64())),
    ):
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    [found] = rows.to_batches()
    return found, growths


def _of_sources(rows: pa.Table, sources: Collection[Source]) -> pa.Array:
    """Which rows are of these sources."""
    places = zip(rows["cluster"].to_pylist(), rows["source_node"].to_pylist(), strict=True)
    return pa.array([place in sources for place in places], pa.bool_())


def _lines_kept(lines: Iterable[tuple[Mapping[str, Any], int]]) -> tuple[list[int], dict[Source, Growth]]:
    """Of numbered lines those that an idle source goes on from, and where its count grew last."""
    of_kinds: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], int]]] = defaultdict(list)
    for line in lines:
        of_kinds[_kind_of(line[0])].append(line)
    kept: list[int] = []
    growths: dict[Source, Growth] = {}
    for of_kind in of_kinds.values():
        of_kind.sort(key=lambda line: (_place(line[0]), line[0]["line_no"]))
        grew = last_growth([_count_in(row) for row, _ in of_kind])
        chosen = {len(of_kind) - 1}
        if grew is not None:
            (before, _), (row, _) = of_kind[grew - 1 : grew + 1]
            growths[row["cluster"], row["source_node"]] = _growth(before, row)
            chosen |= {grew - 1, grew}
        kept += [of_kind[number][1] for number in sorted(chosen)]
    return kept, growths


_STAMPS = (*SOURCE, "nights", "folded")
_OF_PLACES = (*SOURCE, *FILE, "line_no", "kind", "event_time", "time_resolution_ms", "event_id", *_COUNTED)


def _kind_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Of which lines a later one takes the place."""
    kind = row["kind"]
    return row["cluster"], row["source_node"], row["stream"], kind if kind in INTERESTING else None


def _count_in(row: Mapping[str, Any]) -> int | None:
    count = _COUNTS.get(row["kind"])
    return None if count is None else row[count]


def _growth(before: Mapping[str, Any], line: Mapping[str, Any]) -> Growth:
    at = _us(line["event_time"])
    by = at + (line["time_resolution_ms"] or 0) * US_PER_MS
    return Growth(
        _us(before["event_time"]),
        before[_COUNTS[before["kind"]]],
        at,
        by,
        line["event_id"],
        line[_COUNTS[line["kind"]]],
    )


def _open_facts(engine: Engine, warehouse: Warehouse, clusters: tuple[str, ...]) -> Mapping[Source, list[Fact]]:
    """The facts of clusters that another line of a log moves."""
    rows = Rows(OPEN_LIVES.name, warehouse.version(OPEN_LIVES.name)).where(OneOf("cluster", clusters))
    found = engine.answer(warehouse, "SELECT * FROM {rows}", rows.select(OPEN_LIVES.names))
    facts: dict[Source, list[Fact]] = defaultdict(list)
    for fact in facts_in(found.to_batches()):
        facts[fact.cluster, fact.source_node].append(fact)
    return facts


def _growing(ended: Mapping[Source, Ended], open_facts: Mapping[Source, Sequence[Fact]]) -> set[Source]:
    """The sources of which a count may grow: it stands in one kind of lines, and one open fact tells of it."""
    return {
        source
        for source, where in ended.items()
        if len({(line.stream, line.kind) for line in where.lines if line.kind in _COUNTS}) == 1
        and sum(fact.grows for fact in open_facts.get(source, ())) == 1
    }


def _advanced(fact: Fact, last: Segment, growth: Growth | None, lines: Sequence[Lines]) -> Fact:
    """An open fact after new ``lines`` that say nothing new."""
    if isinstance(fact, Written):
        of_stream = max((of.last for of in lines if of.stream == fact.stream), default=None)
        return (
            fact if of_stream is None else replace(fact, until=of_stream, until_by=of_stream + last.last_by - last.last)
        )
    if growth is not None and isinstance(fact, Committed | KnownCommitted) and fact.grows:
        return fact.grown(growth)
    return replace(fact, until=last.last, until_by=last.last_by) if fact.moves else fact


def _groups_to_rejudge(
    engine: Engine,
    warehouse: Warehouse,
    open_facts: Mapping[Source, Sequence[Fact]],
    moved: Mapping[Source, Sequence[Fact]],
) -> frozenset[Group]:
    """The groups of which idle sources speak that are not quiescent, as their open facts stand now."""
    going_on: dict[Group, list[Fact]] = defaultdict(list)
    for facts in {**open_facts, **moved}.values():
        for fact in facts:
            going_on[fact.cluster, fact.replica_group].append(fact)
    of_moved = {(fact.cluster, fact.replica_group) for facts in moved.values() for fact in facts}
    clusters = tuple(sorted({cluster for cluster, _ in of_moved}))
    rows = Rows(QUIESCENT_GROUPS.name, warehouse.version(QUIESCENT_GROUPS.name)).where(OneOf("cluster", clusters))
    quiescent = {
        (row["cluster"], row["replica_group"]): Quiescent(_us(row["calm_since"]), row["going_on"])
        for row in engine.answer(warehouse, "SELECT * FROM {rows}", rows.select(QUIESCENT_GROUPS.names)).to_pylist()
    }
    return frozenset(
        group for group in of_moved if group not in quiescent or not quiescent[group].holds(going_on[group])
    )
