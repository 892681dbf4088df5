"""The tables: one file a table, the only place where a column is defined."""

from election_replay.schemas import (
    calm_groups,
    clock_offsets,
    elections,
    events,
    evidence_lines,
    facts,
    findings,
    judged,
    landed_files,
    lock_holds,
    log_lines,
    metadata_versions,
    open_lives,
    published,
    quarantine,
    replay_states,
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
        open_lives,
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
        calm_groups,
        replay_states,
        source_watermarks,
        runs,
        validations,
        reviews,
    )
}
"""Every table by name, from bronze to gold."""

__all__ = ["TABLES", "Column", "Expectation", "Table"]
