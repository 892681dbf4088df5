"""Sets of tables by the job that writes them."""

from collections.abc import Mapping
from typing import Any

from election_replay.election_core.model.rows import TABLE_OF
from election_replay.jobs.warehouse.warehouse import Warehouse

LANDED = ("landed_files", "log_lines", "quarantine", "events")
"""Tables that a landing writes; the gates check them before a replay."""

EVIDENCE_LINES = "evidence_lines"
"""The table of lines that prove findings, filled after judging."""

VERDICTS = (*TABLE_OF.values(), EVIDENCE_LINES)
"""Tables of what a replay says of groups."""

FACT_TABLES = ("facts", "open_facts")
"""Tables of what a source's log proves: final facts, and those that its next line may change."""

JUDGED = (*FACT_TABLES, *VERDICTS)
"""Tables that a replay writes and the gates check before publication."""

CARRIED = ("judged", "quiescent_groups", "fold_checkpoints", "source_watermarks")
"""Tables that one replay leaves to the next."""

VERSIONED_BY_RUN = (*FACT_TABLES, "judged", "published")
"""Tables of which a run names a version. Rows of the other judged tables are only added, and name their run."""


def unchanged_since(warehouse: Warehouse, run: Mapping[str, Any]) -> bool:
    """Return True if the tables still have the rows of the versions that ``run`` names."""
    return all(warehouse.holds_rows_of(name, run["versions"].get(name)) for name in VERSIONED_BY_RUN)


def clusters_of(warehouse: Warehouse) -> list[str]:
    """Return the sorted names of all clusters with landed files."""
    return warehouse.distinct("landed_files", "cluster")
