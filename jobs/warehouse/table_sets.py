"""Which tables which job writes."""

from collections.abc import Mapping
from typing import Any

from election_replay.election_core.model.rows import TABLE_OF
from election_replay.jobs.warehouse.warehouse import Warehouse

LANDED = ("landed_files", "log_lines", "quarantine", "events")
"""What a landing writes: checked before it is replayed."""

EVIDENCE_LINES = "evidence_lines"
"""The lines that prove findings, which a replay finds once it has judged."""

VERDICTS = (*TABLE_OF.values(), EVIDENCE_LINES)
"""What a replay says of groups."""

OF_SOURCES = ("facts", "open_facts")
"""What the logs of a source prove: facts that stay, and those that its next line changes."""

JUDGED = (*OF_SOURCES, *VERDICTS)
"""What a replay writes: checked before it is published."""

CARRIED = ("judged", "quiescent_groups", "fold_checkpoints", "source_watermarks")
"""What one replay leaves to the next; nobody else reads it."""

WRITTEN = (*JUDGED, *CARRIED)
"""All that a replay writes."""

STANDING = (*OF_SOURCES, "judged", "published")
"""Tables of which a version belongs to a run. To the others of the judged ones rows are only added."""


def unchanged_since(warehouse: Warehouse, run: Mapping[str, Any]) -> bool:
    """Whether the judged tables still are what a run says."""
    return all(warehouse.holds_rows_of(name, run["versions"].get(name)) for name in STANDING)


def clusters_of(warehouse: Warehouse) -> list[str]:
    """Every cluster of which something is landed."""
    return warehouse.distinct("landed_files", "cluster")
