"""Which sources with new events are at rest, and which verdicts stand although their logs went on.

A source at rest (:mod:`election_core.replay.rest`) is not folded: its rows of ``resting_sources`` and the ends of its
lives move on. A group is judged if something is new of one of its sources, or if its verdicts may owe something to
where the logs ended (:mod:`election_core.judge.open_ends`). Both are told by few rows a source and a group, however
long their history.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core import RULES_VERSION
from election_replay.election_core.fold.process_runs import SILENCE, Segment
from election_replay.election_core.judge.open_ends import EndOfLog, Standing
from election_replay.election_core.model.timing import US_PER_MS
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import LIVED, LIVED_ROWS, lived_row
from election_replay.election_core.replay.registry import PERIODIC, PERIODIC_FIELDS
from election_replay.election_core.replay.rest import LAST_LINES, Ended, LastLine, Lines, goes_on, signs_of_life
from election_replay.election_core.replay.source_fold import INTERESTING
from election_replay.jobs.engines.engine import After, Among, Engine, OneOf, Rows
from election_replay.jobs.replaying.news import FILE, SOURCE, UNDATED, Known
from election_replay.jobs.warehouse.data_files import in_shape
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

RESTING, OPEN_LIVES, ENDS = TABLES["resting_sources"], TABLES["open_lives"], TABLES["judged_ends"]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MOST_ASKED = 20_000
"""Of so many sources the driver looks whether they are at rest; where more have news, it is left to the folds."""

Source = tuple[str, str]
Group = tuple[str, str]

_COUNTED = sorted({periodic.counts for periodic in PERIODIC.values() if periodic.counts is not None})
_READ = [name for name in PERIODIC_FIELDS if name not in _COUNTED]


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(f"'{kind}'" for kind in sorted(kinds))


_LINES = f"""
    SELECT cluster, source_node, stream, file_time, fingerprint, line_no, event_id, event_time, time_resolution_ms,
        clock_bound_ms,
        CASE WHEN kind IN ({_listed(INTERESTING)}) THEN kind END AS kind,
        {", ".join(f"CASE WHEN kind IN ({_listed(PERIODIC)}) THEN {name} END AS {name}" for name in PERIODIC_FIELDS)}
    FROM {{rows}}"""  # noqa: S608 - our own names

_KINDS_OF_LINES = f"""
    WITH lines AS ({_LINES}), in_turn AS (
        SELECT *,
            lag(event_time) OVER (PARTITION BY cluster, source_node, stream, file_time, fingerprint ORDER BY line_no)
                AS before_in_file,
            lag(event_time) OVER (PARTITION BY cluster, source_node ORDER BY event_time) AS before
        FROM lines)
    SELECT cluster, source_node, stream, file_time, fingerprint, kind, {", ".join(_READ)},
        {", ".join(f"min({name}) AS least_{name}, max({name}) AS most_{name}" for name in _COUNTED)},
        min(line_no) AS first_line, min(event_time) AS first, max(event_time) AS last,
        min_by(event_id, event_time) AS first_event,
        min(coalesce(time_resolution_ms, 0)) AS least_width, max(coalesce(time_resolution_ms, 0)) AS most_width,
        min(coalesce(clock_bound_ms, 0)) AS least_bound, max(coalesce(clock_bound_ms, 0)) AS most_bound,
        max(CASE WHEN event_time < before_in_file OR event_time >= before + INTERVAL '{SILENCE // 1_000_000}' SECOND
            THEN 1 ELSE 0 END) AS jumps
    FROM in_turn
    GROUP BY cluster, source_node, stream, file_time, fingerprint, kind, {", ".join(_READ)},
        {", ".join(f"{name} IS NULL" for name in _COUNTED)}"""  # noqa: S608 - our own names
"""What new lines say, source by source: a few rows for each, however many lines they are."""

_LAST_LINES = f"""
    WITH lines AS ({_LINES}), in_turn AS (
        SELECT cluster, source_node, event_id, event_time, time_resolution_ms,
            row_number() OVER (PARTITION BY cluster, source_node, stream, kind
                ORDER BY file_time DESC NULLS LAST, fingerprint DESC, line_no DESC) AS from_end,
            max(event_time) OVER (PARTITION BY cluster, source_node) AS ended
        FROM lines)
    SELECT cluster, source_node, event_id, event_time, coalesce(time_resolution_ms, 0) AS width,
        from_end = 1 AS is_last, event_time >= ended - INTERVAL '{LAST_LINES // 1_000_000}' SECOND AS is_late
    FROM in_turn WHERE from_end = 1 OR event_time >= ended - INTERVAL '{LAST_LINES // 1_000_000}' SECOND"""  # noqa: S608 - our own names
"""The last lines of each stream and kind, and those of the last seconds."""


@dataclass(frozen=True, slots=True)
class Resting:
    """What goes on as it was: the sources ``at_rest`` with where they end now, and their new ``rows``.

    ``shaken`` are the groups that are judged although nothing happened in them, and what their verdicts rested upon.
    """

    at_rest: Mapping[Source, EndOfLog] = field(default_factory=dict)
    rows: pa.RecordBatch | None = None
    shaken: Mapping[Group, Standing | None] = field(default_factory=dict)

    def within(self, clusters: Collection[str]) -> "Resting":
        """What of it is in ``clusters``; all others are folded and judged whole."""
        if self.rows is None:
            return self
        rows = self.rows.filter(pc.is_in(self.rows.column("cluster"), pa.array(sorted(clusters), pa.string())))
        at_rest = {source: end for source, end in self.at_rest.items() if source[0] in clusters}
        shaken = {group: standing for group, standing in self.shaken.items() if group[0] in clusters}
        return Resting(at_rest, rows, shaken) if at_rest else NOTHING_RESTS


NOTHING_RESTS = Resting()


def resting(
    engine: Engine,
    warehouse: Warehouse,
    landed: Rows,
    since: int,
    last_batch: int,
    asked: Collection[Source],
    known: Iterable[Known],
) -> Resting:
    """Of the sources ``asked``, which have events of landings after ``since``, those that are at rest.

    ``known`` are the checkpoints; the clusters asked for have one for each source that is at rest.
    """
    if not 0 < len(asked) <= MOST_ASKED or not warehouse.count(RESTING.name):
        return NOTHING_RESTS
    folded = {source.source: source.folded for source in known if not source.torn}
    clusters = tuple(sorted({cluster for cluster, _ in asked}))
    old = Rows(RESTING.name, warehouse.version(RESTING.name)).where(
        OneOf("rules_version", (RULES_VERSION,)), OneOf("cluster", clusters)
    )
    rows_before = engine.answer(warehouse, "SELECT * FROM {rows}", old.select(RESTING.names))
    ended = {
        source: _ended(rows)
        for source, rows in _by_source(rows_before.select(_OF_ENDS).to_pylist()).items()
        if {row["folded"] for row in rows} == {folded.get(source)}
    }
    candidates = frozenset({*asked} & ended.keys())
    if not candidates:
        return NOTHING_RESTS
    new = landed.where(After("batch", since), Among(SOURCE, candidates))
    narrow = new.select((*_OF_LINES,))
    found = _by_source(engine.answer(warehouse, _KINDS_OF_LINES, narrow).to_pylist())
    lines = {source: [_lines(row) for row in rows] for source, rows in found.items()}
    still = {source for source in candidates if source in lines and goes_on(ended[source], lines[source])}
    if not still:
        return NOTHING_RESTS
    narrow = narrow.where(Among(SOURCE, frozenset(still)))
    last = engine.answer(warehouse, _LAST_LINES, narrow)
    of_source = _by_source(last.filter(last["is_late"]).to_pylist())
    lived = {
        source: signs_of_life(
            ended[source],
            lines[source],
            ((at := _us(row["event_time"]), at + row["width"] * US_PER_MS, row["event_id"]) for row in rows),
        )
        for source, rows in of_source.items()
    }
    ids = last.filter(last["is_last"]).select(("cluster", "event_id")).to_pylist()
    wanted = Among(("cluster", "event_id"), frozenset((row["cluster"], row["event_id"]) for row in ids))
    whole = engine.answer(warehouse, "SELECT * FROM {rows}", new.where(wanted).select(core.FOLD_COLUMNS))
    at_rest = {source: (pieces[-1].last, pieces[-1].last_by) for source, pieces in lived.items()}
    rows = _moved_on(rows_before, whole, lived, ended, last_batch)
    return Resting(at_rest, rows, dict(_shaken(engine, warehouse, at_rest, ended)))


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


def _ended(rows: Sequence[Mapping[str, Any]]) -> Ended:
    """Where a source ended, by its rows of ``resting_sources``."""
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


def _moved_on(
    known: pa.Table,
    whole: pa.Table,
    lived: Mapping[Source, Sequence[Segment]],
    ended: Mapping[Source, Ended],
    batch: int,
) -> pa.RecordBatch:
    """The rows of sources at rest after their new lines: the last one of each kind and stream, and signs of life."""
    newer, keep = {_kind_of(row) for row in whole.select(_KEY).to_pylist()}, []
    nights, folded = dict.fromkeys(lived, 0), dict.fromkeys(lived, 0)
    for number, row in enumerate(known.select((*_KEY, "nights", "folded")).to_pylist()):
        source = row["cluster"], row["source_node"]
        if source in nights:
            nights[source] = max(nights[source], row["nights"])
            folded[source] = row["folded"]
            if row["kind"] != LIVED and _kind_of(row) not in newer:
                keep.append(number)
    signs = [
        lived_row(source, ended[source].lines[0].stream, segment, None, ended[source].bound_ms)
        for source, segments in lived.items()
        for segment in segments
    ]
    columns = zip(zip(*signs, strict=True), LIVED_ROWS, strict=True)
    moving = pa.Table.from_arrays([pa.array(values, column.type) for values, column in columns], schema=LIVED_ROWS)
    former = known.take(pa.array(keep, pa.int64()))
    parts = [in_shape(RESTING, part) for rows in (whole, moving, former) for part in rows.to_batches()]
    rows = pa.Table.from_batches(parts).combine_chunks()
    sources = [*zip(rows["cluster"].to_pylist(), rows["source_node"].to_pylist(), strict=True)]
    of_new = [nights[source] + 1 for source in sources[: len(whole) + len(moving)]]
    for name, values in (
        ("batch", pa.repeat(batch, len(rows))),
        ("rules_version", pa.repeat(RULES_VERSION, len(rows))),
        ("nights", pa.array([*of_new, *former["nights"].to_pylist()], pa.int64())),
        ("folded", pa.array([folded[source] for source in sources], pa.int64())),
    ):
        rows = rows.set_column(rows.schema.get_field_index(name), name, values)
    [found] = rows.to_batches()
    return found


_KEY = ("cluster", "source_node", "stream", "kind")


def _kind_of(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a later line of the same kind takes the place of."""
    kind = row["kind"]
    return row["cluster"], row["source_node"], row["stream"], kind if kind in INTERESTING else None


def _shaken(
    engine: Engine, warehouse: Warehouse, at_rest: Mapping[Source, EndOfLog], ended: Mapping[Source, Ended]
) -> Iterator[tuple[Group, Standing | None]]:
    """The groups whose verdicts may be others now that logs end elsewhere, and what those rested upon."""
    clusters = tuple(sorted({cluster for cluster, _ in at_rest}))
    rows = Rows(ENDS.name, warehouse.version(ENDS.name)).where(OneOf("cluster", clusters))
    moving = Rows(OPEN_LIVES.name, warehouse.version(OPEN_LIVES.name)).where(Among(SOURCE, frozenset(at_rest)))
    spoken = "SELECT DISTINCT cluster, replica_group FROM {rows}"
    moved = engine.answer(warehouse, spoken, moving.select(ENDS.names[:2]))
    of_moved = {(row["cluster"], row["replica_group"]) for row in moved.to_pylist()}
    for row in engine.answer(warehouse, "SELECT * FROM {rows}", rows.select(ENDS.names)).to_pylist():
        group = row["cluster"], row["replica_group"]
        if group not in of_moved:
            continue
        of_moved.discard(group)
        if row["comparisons"] is None:
            yield group, None
            continue
        standing = Standing.from_text(row["comparisons"])
        now = {node: _end_now((group[0], node), end, at_rest, ended) for node, end in standing.ends.items()}
        if not standing.hold(now):
            yield group, standing
    yield from ((group, None) for group in of_moved)


def _end_now(
    source: Source, end: EndOfLog, at_rest: Mapping[Source, EndOfLog], ended: Mapping[Source, Ended]
) -> EndOfLog:
    """Where the log of a source ends, that ended there when its group was judged."""
    if source in at_rest:
        return at_rest[source]
    if source in ended and ended[source].since_fold:
        return ended[source].until.last, ended[source].until.last_by
    return end


def moved_lives(engine: Engine, warehouse: Warehouse, at_rest: Mapping[Source, EndOfLog]) -> list[pa.RecordBatch]:
    """The rows of ``open_lives`` of sources at rest, with their new ends."""
    moving = Rows(OPEN_LIVES.name, warehouse.version(OPEN_LIVES.name)).where(Among(SOURCE, frozenset(at_rest)))
    rows = engine.answer(warehouse, "SELECT * FROM {rows}", moving.select(OPEN_LIVES.names))
    sources = [*zip(rows["cluster"].to_pylist(), rows["source_node"].to_pylist(), strict=True)]
    for which, name in enumerate(("until", "until_by")):
        ends = pa.array([at_rest[source][which] for source in sources], pa.int64())
        rows = rows.set_column(rows.schema.get_field_index(name), name, ends)
    return [in_shape(OPEN_LIVES, batch) for batch in rows.to_batches()]
