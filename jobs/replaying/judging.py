"""The work of a replay: events -> facts of every node -> verdicts of every group -> gold tables.

Two passes go through the core, both by :func:`~jobs.engines.map_partitions.map_partitions`. The fold sees the log of
one node,
in program order: the state of the nights before and what is new. The judge sees the facts of one replica group. Of a
cluster that is not done whole, only the nodes with new events are folded, and only the groups of which they speak are
judged; of all others no row is touched (:mod:`jobs.warehouse.replacing`).
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from functools import partial
from hashlib import sha256
from itertools import chain
from operator import attrgetter
from typing import Any

import pyarrow as pa

from election_replay.election_core import RULES_VERSION
from election_replay.election_core.model.facts import Fact
from election_replay.election_core.model.inventory import Inventory
from election_replay.election_core.model.next_steps import ANY, SYSTEMS, steps_for
from election_replay.election_core.model.next_steps.causes import causes
from election_replay.election_core.model.next_steps.of_finding import KnownOfGroup, steps_of_finding
from election_replay.election_core.model.next_steps.steps import StepRow
from election_replay.election_core.model.rows import TABLE_OF, Finding
from election_replay.election_core.replay import arrow_passes as core
from election_replay.election_core.replay.checkpoint import SourceEnds
from election_replay.election_core.replay.fact_rows import rows_of as rows_of_facts
from election_replay.election_core.replay.group_judge import Judged
from election_replay.election_core.replay.proofs import proofs
from election_replay.jobs.engines.engine import Adding, Among, Partitioning, Rows
from election_replay.jobs.replaying.checkpoints import CHECKPOINTS, to_fold
from election_replay.jobs.replaying.evidence_lines import proof_row, resolve_evidence
from election_replay.jobs.replaying.first_seen import Before, facts_alone, with_first_seen
from election_replay.jobs.replaying.idle_sources import OPEN_LIVES, QUIESCENT_GROUPS, SOURCE_ENDS
from election_replay.jobs.replaying.source_delta import SOURCE
from election_replay.jobs.replaying.work import Work
from election_replay.jobs.warehouse.data_files import ROW_GROUP, DataFile, Row, write_data_files
from election_replay.jobs.warehouse.data_files import Rows as Batch
from election_replay.jobs.warehouse.pointer import CANDIDATE, PUBLISHED, moved, point, pointer_rows
from election_replay.jobs.warehouse.replacing import DeletedKeys, rewrite, rewrite_plan
from election_replay.jobs.warehouse.table_sets import EVIDENCE_LINES, OF_SOURCES
from election_replay.schemas import TABLES

FACTS = TABLES["facts"]
FEW_SOURCES = 1_000
"""Where no more sources speak of the groups that are judged, only files are read that may hold some of their rows."""

GROUP = ("cluster", "replica_group")
NONE: frozenset[tuple[str, str]] = frozenset()
PROGRAM_ORDER = (*SOURCE, "contains(stream, '/')", "stream", "file_time", "fingerprint", "line_no")
"""The order in which a node wrote its rows, its snapshots last."""


def judge_all(work: Work, checkpoints: Sequence[Rows]) -> Mapping[str, DeletedKeys]:
    """Fold, judge, and write facts, checkpoints and gold tables: what of each judged table is told anew.

    All other rows have passed their gates. The open facts are written first and the ends of sources last. The former
    are published: where they are of another version than the published one, a replay was killed meanwhile. The latter
    say of which checkpoints they hold.
    """
    files, extent = advance_idle_sources(work), work.extent
    tables = {OPEN_LIVES.name: work.moved}
    if extent.whole or extent.touched or work.everything:
        folding = to_fold(work, checkpoints)
        dealing = Partitioning(SOURCE, PROGRAM_ORDER, work.splits_by_cluster)
        to_facts = partial(fold, inventory=work.inventory, batch=work.last_batch)
        files += work.engine.map_partitions(work.warehouse, folding, dealing, to_facts)
        tables |= dict.fromkeys((FACTS.name, CHECKPOINTS.name), work.folded)
    write(files, tables | {SOURCE_ENDS.name: work.moved}, work)
    write_gold(work)
    return {FACTS.name: work.folded, OPEN_LIVES.name: work.moved}


def advance_idle_sources(work: Work) -> list[DataFile]:
    """What is told anew of the idle sources."""
    idle = work.idle
    if idle.rows is None:
        return []
    facts = chain.from_iterable(idle.sources.values())
    return write_data_files([(SOURCE_ENDS.name, idle.rows), *in_tables(facts)], work.warehouse.root)


def write_gold(work: Work) -> None:
    """Judge the facts, add the verdicts to the gold tables, and let ``gold.judged`` name them."""
    partly, whole = work.extent.partly, work.extent.whole
    parts, spoken, groups = (
        [work.newest(table, whole) for table in OF_SOURCES] if whole or not partly else [],
        None,
        NONE,
    )
    if partly:
        groups, sources = groups_to_judge(work)
        spoken = Among(GROUP, groups)
        by_sources = [Among(SOURCE, sources)] if len(sources) <= FEW_SOURCES else []
        parts += [work.newest(table, partly).where(spoken, *by_sources) for table in OF_SOURCES if groups]
    files = judged_files(work, parts, spoken) if parts else []
    judged = DeletedKeys(frozenset(whole), groups)
    write(files, {QUIESCENT_GROUPS.name: judged} if parts else {}, work)
    name_judged(work, judged, [file.path for file in files if file.table == CANDIDATE])


def judged_files(work: Work, parts: Sequence[Rows], spoken: Among | None) -> list[DataFile]:
    """Add what the judge says of all groups of which ``parts`` hold the facts; the files of what it says besides."""
    facts = with_first_seen(parts, spoken, work)
    dealing = Partitioning(GROUP, GROUP, work.splits_by_cluster)
    judging = partial(judge, run_id=work.run_id, started_at=work.started_at)
    adding = Adding(tuple(TABLE_OF.values()), work.run_id)
    files = work.engine.map_partitions(work.warehouse, facts, dealing, judging, adding)
    proofs_of = [file for file in files if file.table == EVIDENCE_LINES]
    resolve_evidence(work, proofs_of, spoken)
    return [file for file in files if file.table != EVIDENCE_LINES]


def name_judged(work: Work, judged: DeletedKeys, paths: Sequence[str]) -> None:
    """Let ``gold.judged`` name whose rows are those of each group: of all that was not judged what is published."""
    warehouse = work.warehouse
    former = pointer_rows(
        warehouse, PUBLISHED, None if work.everything or work.pointer is None else work.pointer.version
    )
    found = former.slice(0, 0)
    if paths:
        found = warehouse.written(CANDIDATE, paths).to_table(former.schema.names)
    point(warehouse, CANDIDATE, moved(former, judged, found), work.run_id)
    warehouse.discard(CANDIDATE, paths)


def groups_to_judge(work: Work) -> tuple[frozenset[tuple[str, str]], frozenset[tuple[str, str]]]:
    """The groups that are judged, of the clusters ``partly``, and all sources that speak of them.

    They are those of which the sources touched speak, now or when the work began, and those shaken.
    """
    touched, groups = {*work.extent.touched}, {*work.idle.groups_to_rejudge}
    if not touched and not groups:
        return frozenset(), frozenset()
    sql = "SELECT DISTINCT cluster, replica_group, source_node FROM {rows}"
    columns = (*GROUP, "source_node")
    now = rows_of(work, sql, (work.newest(table, work.extent.partly).select(columns) for table in OF_SOURCES))
    if touched:
        old = rows_of(work, sql, (work.old(table).where(work.of_sources()).select(columns) for table in OF_SOURCES))
        groups |= {(cluster, group) for cluster, group, source in [*now, *old] if (cluster, source) in touched}
    sources = {(cluster, source) for cluster, group, source in now if (cluster, group) in groups}
    return frozenset(groups), frozenset(sources)


def rows_of(work: Work, sql: str, tables: Iterable[Rows]) -> list[tuple[str, ...]]:
    """The rows of the answers that tables give to a question."""
    answers = (work.engine.answer(work.warehouse, sql, rows) for rows in tables)
    return [tuple(row.values()) for answer in answers for row in answer.to_pylist()]


def write(files: list[DataFile], tables: Mapping[str, DeletedKeys], work: Work) -> None:
    """Write some tables: new rows in place of those that are gone, or of all where everything is judged."""
    warehouse = work.warehouse
    if work.everything:
        for table in tables:
            warehouse.replace(files, table, None, work.run_id)
        return
    plans = [rewrite_plan(warehouse, table, deleted, files) for table, deleted in tables.items()]
    merged = {file.path for plan in plans for file in plan.merged}
    coming = [*(file for file in files if file.path not in merged), *rewrite(work.engine.each, plans)]
    for plan in plans:
        deleted = {file.path: file.size for file in plan.files}
        warehouse.commit_rewrite(coming, deleted, plan.table, work.run_id, plan.version)
        warehouse.discard(plan.table, (file.path for file in plan.merged))


FINDINGS = TABLES["findings"]
AT_FINDING_ID = FINDINGS.names.index("finding_id")
AT_CAUSE = FINDINGS.names.index("first_seen_run")
"""Where a row of a finding goes on with its cause, as long as no run has said when it was seen."""

row_values = {kind: attrgetter(*(field.name for field in fields(kind))) for kind in TABLE_OF}


def fold(batches: Iterator[pa.RecordBatch], inventory: Inventory, batch: int) -> Iterator[Batch]:
    """The core's fold, its facts and checkpoints as rows."""
    facts: list[Fact] = []
    for output in core.fold(batches, inventory):
        if isinstance(output, Fact):
            facts.append(output)
            if len(facts) == ROW_GROUP:
                yield from in_tables(facts)
                facts = []
        elif isinstance(output, SourceEnds):
            yield SOURCE_ENDS.name, stamped(output.rows, batch, may_rest=output.may_rest, nights=0, folded=batch)
        else:
            yield CHECKPOINTS.name, stamped(output, batch)
    yield from in_tables(facts)


def in_tables(facts: Iterable[Fact]) -> Iterator[Batch]:
    """Facts as rows of their tables: those that the next line of a log may change are kept apart."""
    apart: dict[bool, list[Fact]] = {}
    for fact in facts:
        apart.setdefault(fact.is_open, []).append(fact)
    for is_open, of_table in apart.items():
        table = OPEN_LIVES if is_open else FACTS
        for rows in rows_of_facts(of_table, table.arrow_schema()):
            yield table.name, rows


def stamped(rows: pa.RecordBatch, batch: int, **more: int) -> pa.RecordBatch:
    """Rows of checkpoints, with what they hold for."""
    values = {"batch": batch, "rules_version": RULES_VERSION, **more}
    stamps = {name: pa.repeat(value, rows.num_rows) for name, value in values.items()}
    return pa.RecordBatch.from_arrays([*rows.columns, *stamps.values()], names=[*rows.schema.names, *stamps])


def judge(batches: Iterator[pa.RecordBatch], run_id: str, started_at: datetime) -> Iterator[Row]:
    """The core's judge, its verdicts as rows, and of each group a row of ``gold.judged``.

    A finding bears the run that found it first, and when; and what to do about it. Its proofs lack their lines. A group
    of which the same is published has no rows but the last one, which names the run that wrote them.
    """
    before = Before()
    for group in core.judge_groups(facts_alone(batches, before)):
        of_group, judged = (group.cluster, group.replica_group), group.judged
        rows = [*verdicts_of(judged)]
        found = hash_of(rows)
        former, of_run = before.verdicts.get(of_group, ("", ""))
        if found != former:
            of_run = run_id
            for table, values in rows:
                yield table, in_run(table, values, before, run_id, started_at)
        counts = [*Counter(table for table, _ in rows).items()]
        ends = [fact.until if fact.until is not None else fact.since for fact in judged.facts]
        yield CANDIDATE, (*of_group, of_run, started_at, found, max(ends, default=None), counts)
        if judged.quiescent is not None:
            yield QUIESCENT_GROUPS.name, (*of_group, judged.quiescent.since, judged.quiescent.going_on)


def verdicts_of(judged: Judged) -> Iterator[Row]:
    """All that is said of a group, but for what runs say of it."""
    because, known_of_group = causes(judged.rows), KnownOfGroup.of(judged.facts, judged.rows)
    for row in judged.rows:
        values = row_values[type(row)](row)
        if isinstance(row, Finding):
            cause = because[row.finding_id]
            values = (*values, cause, next_steps(row, cause, known_of_group))
        yield TABLE_OF[type(row)], values
    for proof in proofs(judged.facts, judged.rows, judged.times):
        yield EVIDENCE_LINES, proof_row(proof)


def in_run(table: str, values: tuple[Any, ...], before: Before, run_id: str, started_at: datetime) -> tuple[Any, ...]:
    """A row of a judged table, as a run says it."""
    if table == FINDINGS.name:
        first_run, first_at = before.first_seen.get(values[AT_FINDING_ID], (run_id, started_at))
        return (*values[:AT_CAUSE], first_run, first_at, started_at, *values[AT_CAUSE:], run_id)
    return (*values, run_id)


def hash_of(rows: Iterable[Row]) -> str:
    """A name for all that is said of a group: the same rows have the same one."""
    found = sha256()
    for row in rows:
        found.update(repr(row).encode())
    return found.hexdigest()


def next_steps(finding: Finding, cause: str, group: KnownOfGroup) -> tuple[StepRow, ...] | None:
    """What to do about a finding, in the columns of a step."""
    steps = steps_for(finding.rule, SYSTEMS.get(finding.protocol, ANY), cause)
    return steps_of_finding(steps, finding, group) if steps else None
