"""The lines that prove findings, word for word: what the judge names, looked up in what landings kept.

The judge says which event proves what; its rows of ``evidence_lines`` hold everything but the line itself. They are
joined with the lines that are new, and with those that former nights have quoted for the same groups. What is in
neither, since an old line has only now become a proof, is looked for in former landings, by those who join. So a night
costs its news, and nothing of it goes through the driver. A line that is kept no longer
(:mod:`jobs.upkeep`) stays empty: the finding stands without it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from election_replay.election_core.replay.proofs import Proof
from election_replay.jobs.engines.engine import After, Among, Dealing, NamedBy, OneOf, Rows, UpTo
from election_replay.jobs.replaying.work import Work
from election_replay.jobs.warehouse.data_files import DataFile, Row
from election_replay.jobs.warehouse.table_sets import QUOTED
from election_replay.jobs.warehouse.warehouse import Warehouse
from election_replay.schemas import TABLES

LINES = TABLES[QUOTED]
EVENT = ("cluster", "event_id")
LINE = ("source_node", "event_time", "path", "line_no", "text")
"""What is looked up of an event."""

IS_PROOF = "is_proof"
BEFORE = "quoted before"
"""What a former night looked up is not looked for again, though it may have found nothing."""

LOOKED_UP_AT_ONCE = 10_000
"""So many events are looked for in former landings together."""

Line = dict[str, Any]


def unquoted(proof: Proof) -> tuple[Any, ...]:
    """A row of ``evidence_lines`` without the line itself."""
    of = proof.finding
    place = (of.finding_id, of.cluster, of.replica_group, of.protocol, of.rule, proof.position, proof.event_id)
    return (*place, proof.node, proof.source_node, *([None] * (len(LINE) - 1)))


def quoted(work: Work, unquoted_files: Sequence[DataFile], groups: Among | None) -> list[DataFile]:
    """The files of ``evidence_lines``, in place of those without lines; of ``groups``, and of whole clusters."""
    if not unquoted_files:
        return []
    proofs = Rows(QUOTED, files=tuple(file.path for file in unquoted_files))
    clusters = OneOf("cluster", work.clusters)
    news = (clusters, After("batch", work.since), UpTo("batch", work.last_batch), NamedBy(EVENT, proofs))
    log_lines = Rows("log_lines", work.before["log_lines"], news)
    events = Rows("events", work.before["events"], news)
    parts = [
        in_columns(proofs, LINES.names, is_proof=True),
        in_columns(log_lines, (*EVENT, "source_node", "path", "line_no", "text")),
        in_columns(events, (*EVENT, "source_node", "line_no", "event_time"), {"path": "source_file"}),
        *(in_columns(rows, LINES.names) for rows in quoted_before(work, groups)),
    ]
    dealing = Dealing(EVENT, ("substr(md5(cluster), 1, 4)", *EVENT, IS_PROOF), work.pieces)
    looked_up = partial(
        with_lines,
        root=work.warehouse.root,
        since=work.since,
        versions={name: work.before[name] for name in ("log_lines", "events")},
    )
    files = work.engine.map_partitions(work.warehouse, parts, dealing, looked_up)
    work.warehouse.discard(QUOTED, proofs.files)
    return files


def quoted_before(work: Work, groups: Among | None) -> Iterator[Rows]:
    """What is quoted already of the groups that are judged; nothing where everything is looked up anew."""
    if not work.since or not work.warehouse.count(QUOTED):
        return
    every = Rows(QUOTED, work.before[QUOTED])
    if work.extent.whole:
        yield every.where(OneOf("cluster", work.extent.whole))
    if groups is not None:
        yield every.where(OneOf("cluster", work.extent.partly), groups)


def in_columns(
    rows: Rows, names: Collection[str], renamed: Mapping[str, str] | None = None, *, is_proof: bool = False
) -> Rows:
    """Rows in the columns that are joined; those that they do not have are null."""
    also = dict(renamed or {})
    for column in LINES.columns:
        if column.name not in names and column.name not in also:
            also[column.name] = f"CAST(NULL AS {column.type.sql})"
    return rows.select(names, also | {IS_PROOF: "true" if is_proof else "false"})


@dataclass(frozen=True, slots=True)
class Former:
    """The landings of former nights: where they stand, up to which they are former, and the tables' versions."""

    root: str
    since: int
    versions: Mapping[str, int]

    def lines(self, wanted: Collection[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], Line]]:
        """What is known of events, which are given by cluster and id."""
        warehouse = Warehouse(self.root)
        of = pc.field("cluster").isin(sorted({cluster for cluster, _ in wanted}))
        of &= pc.field("event_id").isin(sorted({event_id for _, event_id in wanted}))
        of &= pc.field("batch") <= self.since
        for table, names in (("events", ("source_node", "event_time", "line_no", "source_file")), ("log_lines", LINE)):
            rows = warehouse.dataset(table, self.versions[table])
            found = [name for name in names if name in rows.schema.names]
            batches = self._batches(rows, of)
            if batches:
                lines = rows.to_table([*EVENT, *found], filter=of & pc.field("batch").isin(batches))
                for row in lines.to_pylist():
                    if "source_file" in row:
                        row["path"] = row.pop("source_file")
                    yield (row.pop("cluster"), row.pop("event_id")), row

    @staticmethod
    def _batches(rows: Any, of: pc.Expression) -> list[int]:
        """The landings that hold them: their short columns are read first."""
        found: list[int] = rows.to_table(["batch"], filter=of)["batch"].unique().to_pylist()
        return found


def with_lines(batches: Iterator[pa.RecordBatch], root: str, since: int, versions: Mapping[str, int]) -> Iterator[Row]:
    """Proofs with their lines. What is known of an event comes before the proofs that name it."""
    former = Former(root, since, versions)
    open_proofs: dict[tuple[str, str], list[Line]] = defaultdict(list)
    event, line = ("", ""), Line()
    for batch in batches:
        for row in batch.to_pylist():
            if (row["cluster"], row["event_id"]) != event:
                event, line = (row["cluster"], row["event_id"]), {}
            if not row[IS_PROOF]:
                line |= told_of(row) | ({BEFORE: True} if row["finding_id"] else {})
            elif BEFORE in line or {"text", "event_time"} <= line.keys() or not since:
                yield QUOTED, values(row | line)
            else:
                open_proofs[event].append(row | line)
                if len(open_proofs) == LOOKED_UP_AT_ONCE:
                    yield from found_in(former, open_proofs)
                    open_proofs.clear()
    yield from found_in(former, open_proofs)


def found_in(former: Former, proofs: Mapping[tuple[str, str], list[Line]]) -> Iterator[Row]:
    """Proofs with what former landings know of them."""
    lines: dict[tuple[str, str], Line] = defaultdict(dict)
    if proofs:
        for event, line in former.lines(proofs.keys()):
            lines[event] |= told_of(line)
    for event, rows in proofs.items():
        for row in rows:
            yield QUOTED, values(row | lines[event])


def told_of(row: Line) -> Line:
    """What a row says of the line itself."""
    return {name: row[name] for name in LINE if row.get(name) is not None}


def values(row: Line) -> tuple[Any, ...]:
    """A row of ``evidence_lines``."""
    return tuple(row[name] for name in LINES.names)
