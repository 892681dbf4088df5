"""The tables: one file a table, the only place where a column is defined."""

from election_replay.schemas import (
    clock_offsets,
    elections,
    events,
    evidence_lines,
    facts,
    findings,
    fold_checkpoints,
    judged,
    landed_files,
    lock_holds,
    log_lines,
    metadata_versions,
    open_facts,
    published,
    quarantine,
    quiescent_groups,
    reviews,
    role_intervals,
    rule_coverage,
    runs,
    source_watermarks,
    sync_state_sets,
    terms,
    validations,
)
from election_replay.schemas.model import Column, Expectation, Table

TABLES: dict[str, Table] = {
    module.TABLE.name: module.TABLE
    for module in (
        landed_files,
        log_lines,
        quarantine,
        events,
        facts,
        open_facts,
        terms,
        elections,
        role_intervals,
        sync_state_sets,
        lock_holds,
        metadata_versions,
        findings,
        clock_offsets,
        evidence_lines,
        rule_coverage,
        published,
        judged,
        quiescent_groups,
        fold_checkpoints,
        source_watermarks,
        runs,
        validations,
        reviews,
    )
}
"""Every table by name, from bronze to gold."""

__all__ = ["TABLES", "Column", "Expectation", "Table"]
