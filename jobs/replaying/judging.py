"""The work of a replay: events -> facts of every node -> verdicts of every group -> gold tables.

Two passes go through the core, both by :meth:`~jobs.engines.engine.Engine.map_partitions`. The fold reads the log of
one node in program order: its checkpoint and newer events. The judge reads the facts of one replica group. In a cluster
that is not judged whole, only nodes with new events are folded, and a node whose closed facts have the same hash as
before keeps its rows. Judged are the groups of which nodes with changed facts have facts, and the groups of other
folded nodes that are not quiescent. No other row is touched (:mod:`jobs.warehouse.replacing`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any

import pyarrow as pa

from election_replay.election_core import RULES_VERSION
from election_replay.election_core.judge.quiescent import Quiescent
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.inventory import Inventory
from election_replay.election_core.model.rows import TABLE_OF, Finding
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import SourceEnds
from election_replay.election_core.replay.fact_rows import facts_in
from election_replay.election_core.replay.fact_rows import rows_of as rows_of_facts
from election_replay.election_core.replay.group_judge import Judged
from election_replay.election_core.replay.proofs import proofs
from election_replay.jobs.engines.engine import Adding, Among, Partitioning, Rows
from election_replay.jobs.replaying.checkpoints import rows_to_fold
from election_replay.jobs.replaying.evidence_lines import proof_row, resolve_evidence
from election_replay.jobs.replaying.first_seen import PublishedBefore, facts_alone, with_first_seen
from election_replay.jobs.replaying.plan import Work
from election_replay.jobs.replaying.source_delta import CHECKPOINTS, SOURCE, WATERMARKS
from election_replay.jobs.runbook.causes import causes
from election_replay.jobs.runbook.of_finding import KnownOfGroup, next_steps
from election_replay.jobs.warehouse.data_files import ROW_GROUP, DataFile, Row
from election_replay.jobs.warehouse.data_files import Rows as Batch
from election_replay.jobs.warehouse.pointer import CANDIDATE, PUBLISHED, advanced_pointer, commit_pointer, pointer_rows
from election_replay.jobs.warehouse.replacing import DeletedKeys, rewrite, rewrite_plan
from election_replay.jobs.warehouse.table_sets import EVIDENCE_LINES, FACT_TABLES
from election_replay.schemas import TABLES, Table

FACTS, OPEN_FACTS, QUIESCENT_GROUPS = TABLES["facts"], TABLES["open_facts"], TABLES["quiescent_groups"]
FEW_SOURCES = 1_000
"""If at most so many sources have facts of the judged groups, only files that may hold their rows are read."""

GROUP = ("cluster", "replica_group")
Keys = frozenset[tuple[str, str]]
"""Sources or groups, as (cluster, name) pairs."""
NONE: Keys = frozenset()
EPOCH, MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
PROGRAM_ORDER = (*SOURCE, "contains(stream, '/')", "stream", "file_time", "fingerprint", "line_no")
"""The order in which a node wrote its rows, with its snapshots last."""


def judge_all(work: Work) -> Mapping[str, DeletedKeys]:
    """Fold, judge, and write facts, checkpoints and gold tables; return the keys of rewritten rows by table of facts.

    All other rows have passed the gates before. Open facts are written first: a run names their version, so another
    version shows that a replay was killed meanwhile. Watermarks are written last: they describe the checkpoints and
    the facts.
    """
    extent, changed = work.extent, NONE
    facts = DeletedKeys(frozenset(extent.whole))
    if extent.whole or extent.touched or work.everything:
        partitioning = Partitioning(SOURCE, PROGRAM_ORDER, work.splits_by_cluster)
        known = {source: work.facts_hashes.get(source) for source in extent.touched}
        to_facts = partial(fold, inventory=work.inventory, batch=work.plan.last_batch, known=known)
        files = work.engine.map_partitions(work.warehouse, rows_to_fold(work), partitioning, to_facts)
        changed = changed_sources(work, files)
        facts = DeletedKeys(facts.clusters, changed)
        tables = {OPEN_FACTS.name: work.folded, FACTS.name: facts, CHECKPOINTS.name: work.folded}
        write(files, tables | {WATERMARKS.name: work.folded}, work)
    write_gold(work, changed)
    return {FACTS.name: facts, OPEN_FACTS.name: work.folded}


def changed_sources(work: Work, files: Iterable[DataFile]) -> Keys:
    """Return the touched sources whose closed facts changed, by the hashes in the watermarks that the fold wrote."""
    paths = [file.path for file in files if file.table == WATERMARKS.name]
    found: dict[tuple[str, str], str] = {}
    if paths and work.extent.touched:
        rows = work.warehouse.uncommitted(WATERMARKS.name, paths).to_table([*SOURCE, "facts_hash"])
        found = {(row["cluster"], row["source_node"]): row["facts_hash"] for row in rows.to_pylist()}
    same = {source for source, facts in found.items() if facts == work.facts_hashes.get(source)}
    return frozenset(work.extent.touched) - same


def write_gold(work: Work, changed: Keys) -> None:
    """Judge the facts, add the verdicts to the gold tables, and name them in ``gold.judged``.

    ``changed`` are the touched sources whose closed facts changed.
    """
    partly, whole = work.extent.partly, work.extent.whole
    parts = [work.newest(table, whole) for table in FACT_TABLES] if whole or not partly else []
    spoken, groups = None, NONE
    if partly:
        groups, sources = groups_to_judge(work, changed)
        spoken = Among(GROUP, groups)
        by_sources = [Among(SOURCE, sources)] if len(sources) <= FEW_SOURCES else []
        parts += [work.newest(table, partly).where(spoken, *by_sources) for table in FACT_TABLES if groups]
    files = judged_files(work, parts, spoken) if parts else []
    judged = DeletedKeys(frozenset(whole), groups)
    write(files, {QUIESCENT_GROUPS.name: judged} if parts else {}, work)
    name_judged(work, judged, [file.path for file in files if file.table == CANDIDATE])


def judged_files(work: Work, parts: Sequence[Rows], spoken: Among | None) -> list[DataFile]:
    """Judge the groups whose facts are in ``parts``, and commit verdicts and evidence lines; return all other files."""
    facts = with_first_seen(parts, spoken, work)
    partitioning = Partitioning(GROUP, GROUP, work.splits_by_cluster)
    judging = partial(judge, run_id=work.plan.run_id, started_at=work.plan.started_at)
    adding = Adding(tuple(TABLE_OF.values()), work.plan.run_id)
    files = work.engine.map_partitions(work.warehouse, facts, partitioning, judging, adding)
    proofs_of = [file for file in files if file.table == EVIDENCE_LINES]
    resolve_evidence(work, proofs_of, spoken)
    return [file for file in files if file.table != EVIDENCE_LINES]


def name_judged(work: Work, judged: DeletedKeys, paths: Sequence[str]) -> None:
    """Write ``gold.judged``: new rows, from the files ``paths``, for judged groups, published ones for all others."""
    warehouse = work.warehouse
    former = pointer_rows(
        warehouse, PUBLISHED, None if work.everything or work.plan.pointer is None else work.plan.pointer.version
    )
    found = former.slice(0, 0)
    if paths:
        found = warehouse.uncommitted(CANDIDATE, paths).to_table(former.schema.names)
    commit_pointer(warehouse, CANDIDATE, advanced_pointer(former, judged, found), work.plan.run_id)
    warehouse.discard(CANDIDATE, paths)


def groups_to_judge(work: Work, changed: Keys) -> tuple[Keys, Keys]:
    """Return the groups to judge in clusters that are judged partly, and all sources with facts of these groups.

    To judge are the groups of which ``changed`` sources have facts, now or when the work began, and the groups of other
    touched sources that are not quiescent.
    """
    if not work.extent.touched:
        return NONE, NONE
    sql = "SELECT DISTINCT cluster, replica_group, source_node FROM {rows}"
    columns = (*GROUP, "source_node")
    now = rows_of(work, sql, (work.newest(table, work.extent.partly).select(columns) for table in FACT_TABLES))
    old = (work.old(table).where(Among(SOURCE, changed)).select(columns) for table in FACT_TABLES if changed)
    groups = {
        (cluster, group) for cluster, group, source in [*now, *rows_of(work, sql, old)] if (cluster, source) in changed
    }
    touched = {*work.extent.touched}
    going_on = {(cluster, group) for cluster, group, source in now if (cluster, source) in touched} - groups
    groups |= going_on - quiescent(work, {cluster for cluster, _ in going_on})
    sources = {(cluster, source) for cluster, group, source in now if (cluster, group) in groups}
    return frozenset(groups), frozenset(sources)


def quiescent(work: Work, clusters: Iterable[str]) -> Keys:
    """Return the groups of ``clusters`` whose verdicts, given their open facts, do not depend on where logs end."""
    named = tuple(sorted(clusters))
    known = {
        (row["cluster"], row["replica_group"]): Quiescent(
            (row["quiescent_since"] - EPOCH) // MICROSECOND, row["open_facts_hash"]
        )
        for row in newest_rows(work, QUIESCENT_GROUPS, named).to_pylist()
    }
    open_facts = newest_rows(work, OPEN_FACTS, named).sort_by([(name, "ascending") for name in GROUP])
    by_group = groupby(facts_in(open_facts.to_batches()), key=attrgetter(*GROUP))
    return frozenset(group for group, facts in by_group if group in known and known[group].holds([*facts]))


def newest_rows(work: Work, table: Table, clusters: tuple[str, ...]) -> pa.Table:
    """Return the newest rows of ``clusters`` in a small table."""
    if not clusters:
        return table.arrow_schema().empty_table()
    rows = work.newest(table.name, clusters).select(table.names)
    return work.engine.answer(work.warehouse, "SELECT * FROM {rows}", rows)


def rows_of(work: Work, sql: str, tables: Iterable[Rows]) -> list[tuple[str, ...]]:
    """Return the rows of the results of ``sql`` for each of ``tables``."""
    answers = (work.engine.answer(work.warehouse, sql, rows) for rows in tables)
    return [tuple(row.values()) for answer in answers for row in answer.to_pylist()]


def write(files: list[DataFile], tables: Mapping[str, DeletedKeys], work: Work) -> None:
    """Write ``files`` to ``tables``, in place of the keys given for each, or of all rows if everything is judged."""
    warehouse = work.warehouse
    if work.everything:
        for table in tables:
            warehouse.replace(files, table, None, work.plan.run_id)
        return
    plans = [rewrite_plan(warehouse, table, deleted, files) for table, deleted in tables.items()]
    merged = {file.path for plan in plans for file in plan.merged}
    coming = [*(file for file in files if file.path not in merged), *rewrite(work.engine.each, plans)]
    for plan in plans:
        deleted = {file.path: file.size for file in plan.files}
        warehouse.commit_rewrite(coming, deleted, plan.table, work.plan.run_id, plan.version)
        warehouse.discard(plan.table, (file.path for file in plan.merged))


FINDINGS = TABLES["findings"]
AT_FINDING_ID = FINDINGS.names.index("finding_id")
AT_CAUSE = FINDINGS.names.index("first_seen_run")
"""The position of the cause in a row of a finding before :func:`with_run` inserts the columns of runs there."""

row_values = {kind: attrgetter(*(field.name for field in fields(kind))) for kind in TABLE_OF}


def fold(
    batches: Iterator[pa.RecordBatch], inventory: Inventory, batch: int, known: Mapping[tuple[str, str], str | None]
) -> Iterator[Batch]:
    """Run the core's fold, and yield its facts, checkpoints and watermarks as rows.

    Closed facts of a source are left out if their hash is the ``known`` one: the table has them.
    """
    pending: list[Fact] = []
    hashes: dict[tuple[str, str], str] = {}
    for source, outputs in groupby(core.fold(batches, inventory), key=source_of):
        if source is None:
            yield from (as_rows(output, batch, hashes) for output in outputs)
            continue
        facts = [output for output in outputs if isinstance(output, Fact)]
        closed = [fact for fact in facts if not fact.is_open]
        hashes[source] = found = hash_of(closed)
        pending += [fact for fact in facts if fact.is_open or found != known.get(source)]
        if len(pending) >= ROW_GROUP:
            yield from rows_by_table(pending)
            pending = []
    yield from rows_by_table(pending)


def source_of(output: core.Output) -> tuple[str, str] | None:
    """Return the (cluster, node) key of a fact; ``None`` for other output."""
    return (output.cluster, output.source_node) if isinstance(output, Fact) else None


def as_rows(output: core.Output, batch: int, hashes: Mapping[tuple[str, str], str]) -> Batch:
    """Return checkpoints as rows, or watermarks as rows with the ``hashes`` of their sources' closed facts."""
    if not isinstance(output, SourceEnds):
        return CHECKPOINTS.name, with_versions(output, batch)
    sources = zip(*(output.rows.column(name).to_pylist() for name in SOURCE), strict=True)
    of_rows = pa.array([hashes.get(source, NO_FACTS) for source in sources], pa.string())
    return WATERMARKS.name, with_versions(output.rows, batch).append_column("facts_hash", of_rows)


def rows_by_table(facts: Iterable[Fact]) -> Iterator[Batch]:
    """Yield facts as batches of ``facts`` and, for those that the next line of a log may change, ``open_facts``."""
    apart: dict[bool, list[Fact]] = {}
    for fact in facts:
        apart.setdefault(fact.is_open, []).append(fact)
    for is_open, of_table in apart.items():
        table = OPEN_FACTS if is_open else FACTS
        for rows in rows_of_facts(of_table, table.arrow_schema()):
            yield table.name, rows


def with_versions(rows: pa.RecordBatch, batch: int) -> pa.RecordBatch:
    """Return rows with the columns of the landing and of the rules version for which they are valid."""
    for name, value in (("batch", batch), ("rules_version", RULES_VERSION)):
        rows = rows.append_column(name, pa.repeat(value, rows.num_rows))
    return rows


def judge(batches: Iterator[pa.RecordBatch], run_id: str, started_at: datetime) -> Iterator[Row]:
    """Run the core's judge, and yield its verdicts as rows and a row of ``gold.judged`` for each group.

    Findings have their first run, its time, and next steps; proofs lack their lines. A group with the same verdicts as
    published yields only its row of ``gold.judged``, which names the run that wrote them.
    """
    before = PublishedBefore()
    for group in core.judge_groups(facts_alone(batches, before)):
        of_group, judged = (group.cluster, group.replica_group), group.judged
        rows = [*verdicts_of(judged)]
        found = hash_of(rows)
        former, of_run = before.verdicts.get(of_group, ("", ""))
        if found != former:
            of_run = run_id
            for table, values in rows:
                yield table, with_run(table, values, before, run_id, started_at)
        counts = [*Counter(table for table, _ in rows).items()]
        ends = [fact.until if fact.until is not None else fact.since for fact in judged.facts]
        yield CANDIDATE, (*of_group, of_run, started_at, found, max(ends, default=None), counts)
        if judged.quiescent is not None:
            yield QUIESCENT_GROUPS.name, (*of_group, judged.quiescent.since, judged.quiescent.open_facts_hash)


def verdicts_of(judged: Judged) -> Iterator[Row]:
    """Yield the verdicts of a group as rows without the columns of runs."""
    because, known_of_group = causes(judged.rows), KnownOfGroup.of(judged.facts, judged.rows)
    for row in judged.rows:
        values = row_values[type(row)](row)
        if isinstance(row, Finding):
            cause = because[row.finding_id]
            values = (*values, cause, next_steps(row, cause, known_of_group))
        yield TABLE_OF[type(row)], values
    for proof in proofs(judged.facts, judged.rows, judged.times):
        yield EVIDENCE_LINES, proof_row(proof)


def with_run(
    table: str, values: tuple[Any, ...], before: PublishedBefore, run_id: str, started_at: datetime
) -> tuple[Any, ...]:
    """Return a row of a judged table with the columns of its run."""
    if table == FINDINGS.name:
        first_run, first_at = before.first_seen.get(values[AT_FINDING_ID], (run_id, started_at))
        return (*values[:AT_CAUSE], first_run, first_at, started_at, *values[AT_CAUSE:], run_id)
    return (*values, run_id)


def hash_of(rows: Iterable[object]) -> str:
    """Return a hash of rows that does not depend on their order."""
    return sha256("\n".join(sorted(map(repr, rows))).encode()).hexdigest()


NO_FACTS = hash_of(())
"""The hash of a source without facts."""
