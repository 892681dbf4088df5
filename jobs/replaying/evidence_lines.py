"""Looks up the log lines that prove findings, and adds them to ``evidence_lines``.

The judge's rows of ``evidence_lines`` name the event of a proof and lack the line. They are joined with new lines, and
with lines that former nights looked up for the same groups. An old line that only now became a proof is in neither: the
joining tasks look it up in former landings, among rows of its time first, so that the number of landings matters
little. The cost of a night follows its new lines, and no line goes through the driver. A line that was erased
(:mod:`jobs.upkeep`) stays null.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial, reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.replay.proofs import Proof
from election_replay.jobs.engines.engine import Adding, After, Among, NamedBy, OneOf, Partitioning, Rows, UpTo
from election_replay.jobs.replaying.first_seen import of_groups
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.warehouse.data_files import DataFile, Row
from election_replay.jobs.warehouse.table_sets import EVIDENCE_LINES
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LINES = TABLES[EVIDENCE_LINES]
EVENT = ("cluster", "event_id")
LINE = ("source_node", "event_time", "path", "line_no", "text")
"""The columns that are looked up for an event."""

IS_PROOF = "is_proof"
LOGGED_ABOUT = "about"
"""The key of the time at which a proof's line was logged, as far as a fact says; UTC."""
LOOKED_UP_BEFORE = "quoted before"
"""The key that marks an event that a former night looked up: it is not looked up again, even if nothing was found."""

DAY, MANY_DAYS = timedelta(days=1), 50
"""The length of a day, and the maximum number of days that are searched one by one; later ones are one interval."""

LOOKED_UP_AT_ONCE = 10_000
"""Events that are looked up in former landings together."""

Line = dict[str, Any]


def proof_row(proof: Proof) -> tuple[Any, ...]:
    """Return a row of ``evidence_lines`` without the line; its ``event_time`` says where to look for it."""
    of = proof.finding
    place = (of.finding_id, of.cluster, of.replica_group, of.protocol, of.rule, proof.position, proof.event_id)
    return (*place, proof.node, proof.source_node, proof.about, proof.common, *([None] * (len(LINE) - 2)))


def resolve_evidence(work: Work, proof_files: Sequence[DataFile], groups: Among | None) -> None:
    """Add the proofs in ``proof_files`` to ``evidence_lines`` with their lines, and discard those files.

    ``groups`` are those judged in clusters that are not judged whole.
    """
    if not proof_files:
        return
    proofs = Rows(EVIDENCE_LINES, files=tuple(file.path for file in proof_files))
    clusters = OneOf("cluster", work.clusters)
    updated = (clusters, After("batch", work.plan.since), UpTo("batch", work.plan.last_batch), NamedBy(EVENT, proofs))
    log_lines = Rows("log_lines", work.plan.versions["log_lines"], updated)
    events = Rows("events", work.plan.versions["events"], updated)
    parts = [
        in_columns(proofs, LINES.names, is_proof=True),
        in_columns(log_lines, (*EVENT, "source_node", "path", "line_no", "text")),
        in_columns(events, (*EVENT, "source_node", "line_no", "event_time"), {"path": "source_file"}),
        *(in_columns(rows, LINES.names) for rows in resolved_before(work, groups)),
    ]
    partitioning = Partitioning(EVENT, ("substr(md5(cluster), 1, 4)", *EVENT, IS_PROOF), work.splits_by_cluster)
    looked_up = partial(
        with_lines,
        root=work.warehouse.root,
        since=work.plan.since,
        versions={name: work.plan.versions[name] for name in ("log_lines", "events")},
    )
    adding = Adding((EVIDENCE_LINES,), work.plan.run_id)
    work.engine.map_partitions(work.warehouse, parts, partitioning, looked_up, adding)
    work.warehouse.discard(EVIDENCE_LINES, proofs.files)


def resolved_before(work: Work, groups: Among | None) -> Iterator[Rows]:
    """Yield the published evidence lines of the judged groups; none if everything is judged anew."""
    every = work.published_rows(EVIDENCE_LINES)
    if work.plan.since and every is not None:
        yield from of_groups(every, groups, work)


def in_columns(
    rows: Rows, names: Collection[str], renamed: Mapping[str, str] | None = None, *, is_proof: bool = False
) -> Rows:
    """Return ``rows`` with the columns of the join; those that they lack are null."""
    also = dict(renamed or {})
    for column in LINES.columns:
        if column.name not in names and column.name not in also:
            also[column.name] = f"CAST(NULL AS {column.type.sql})"
    return rows.select(names, also | {IS_PROOF: "true" if is_proof else "false"})


@dataclass(frozen=True, slots=True)
class FormerLandings:
    """The landings up to ``since`` of the warehouse ``root``, read at ``versions``."""

    root: str
    since: int
    versions: Mapping[str, int]

    def lines(self, wanted: Mapping[tuple[str, str], datetime | None]) -> Iterator[tuple[tuple[str, str], Line]]:
        """Yield (event, columns) of the events ``wanted``: (cluster, event_id) -> time logged, if known.

        An event may come twice: from ``events`` and from ``log_lines``.
        """
        warehouse = Warehouse(self.root)
        batches = sorted(self._landings(warehouse, wanted))
        if not batches:
            return
        of = self._rows_of(wanted) & pc.field("batch").isin(batches)
        for table, names in (("events", ("source_node", "event_time", "line_no", "source_file")), ("log_lines", LINE)):
            rows = warehouse.dataset(table, self.versions[table])
            found = [name for name in names if name in rows.schema.names]
            for row in rows.to_table([*EVENT, *found], filter=of).to_pylist():
                if "source_file" in row:
                    row["path"] = row.pop("source_file")
                yield (row.pop("cluster"), row.pop("event_id")), row

    def _landings(self, warehouse: Warehouse, wanted: Mapping[tuple[str, str], datetime | None]) -> set[int]:
        """Return the numbers of the landings that hold the events ``wanted``.

        Rows of the expected days are searched first, as few files hold any; then all rows for what is missing.
        """
        events = warehouse.dataset("events", self.versions["events"])
        batches, missing, times = set[int](), {*wanted}, {time for time in wanted.values() if time is not None}
        for where in (logged_about(times), pc.scalar(value=True)):
            if missing:
                rows = events.to_table([*EVENT, "batch"], filter=self._rows_of(missing) & where)
                batches.update(rows["batch"].to_pylist())
                missing.difference_update(zip(rows["cluster"].to_pylist(), rows["event_id"].to_pylist(), strict=True))
        return batches

    def _rows_of(self, wanted: Collection[tuple[str, str]]) -> pc.Expression:
        """Return the filter of rows of ``wanted`` in former landings; it may match others of the same clusters."""
        of = pc.field("cluster").isin(sorted({cluster for cluster, _ in wanted}))
        of &= pc.field("event_id").isin(sorted({event_id for _, event_id in wanted}))
        return of & (pc.field("batch") <= self.since)


def logged_about(times: Iterable[datetime]) -> pc.Expression:
    """Return the filter of events logged on the days of ``times``, so that Arrow skips other days."""
    days: list[tuple[datetime, datetime]] = []
    for time in sorted(times):
        if days and (time - days[-1][0] < DAY or len(days) == MANY_DAYS):
            days[-1] = days[-1][0], time
        else:
            days.append((time, time))
    at = pc.field("event_time")
    return reduce(or_, ((at >= first) & (at <= last) for first, last in days), pc.scalar(value=False))


def with_lines(batches: Iterator[pa.RecordBatch], root: str, since: int, versions: Mapping[str, int]) -> Iterator[Row]:
    """Yield rows of ``evidence_lines`` with their lines; for each event the batches hold lines first, then proofs."""
    former = FormerLandings(root, since, versions)
    open_proofs: dict[tuple[str, str], list[Line]] = defaultdict(list)
    event, line = ("", ""), Line()
    for batch in batches:
        for row in batch.to_pylist():
            row[LOGGED_ABOUT], row["event_time"] = row["event_time"], None if row[IS_PROOF] else row["event_time"]
            if (row["cluster"], row["event_id"]) != event:
                event, line = (row["cluster"], row["event_id"]), {}
            if not row[IS_PROOF]:
                line |= line_columns(row) | ({LOOKED_UP_BEFORE: True} if row["finding_id"] else {})
            elif LOOKED_UP_BEFORE in line or {"text", "event_time"} <= line.keys() or not since:
                yield EVIDENCE_LINES, values(row | line)
            else:
                open_proofs[event].append(row | line)
                if len(open_proofs) == LOOKED_UP_AT_ONCE:
                    yield from with_former_lines(former, open_proofs)
                    open_proofs.clear()
    yield from with_former_lines(former, open_proofs)


def with_former_lines(former: FormerLandings, proofs: Mapping[tuple[str, str], list[Line]]) -> Iterator[Row]:
    """Yield rows of ``evidence_lines`` with the lines that former landings hold."""
    lines: dict[tuple[str, str], Line] = defaultdict(dict)
    if proofs:
        for event, line in former.lines({event: rows[0][LOGGED_ABOUT] for event, rows in proofs.items()}):
            lines[event] |= line_columns(line)
    for event, rows in proofs.items():
        for row in rows:
            yield EVIDENCE_LINES, values(row | lines[event])


def line_columns(row: Line) -> Line:
    """Return the columns of a row that describe the line and are not null."""
    return {name: row[name] for name in LINE if row.get(name) is not None}


def values(row: Line) -> tuple[Any, ...]:
    """Return a row of ``evidence_lines`` in the order of its columns."""
    return tuple(row[name] for name in LINES.names)
