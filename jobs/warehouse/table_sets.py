"""Which tables which job writes."""

from collections.abc import Mapping
from typing import Any

from election_replay.election_core.model.rows import TABLE_OF
from election_replay.jobs.warehouse.warehouse import Warehouse

LANDED = ("landed_files", "log_lines", "quarantine", "events")
"""What a landing writes: checked before it is replayed."""

QUOTED = "evidence_lines"
"""The lines that prove findings, which a replay finds once it has judged."""

VERDICTS = (*TABLE_OF.values(), QUOTED)
"""What a replay says of groups."""

JUDGED = ("facts", *VERDICTS)
"""What a replay writes: checked before it is published."""

WRITTEN = (*JUDGED, "replay_states")
"""All that a replay writes: what is checked, and the checkpoints."""


def stands(warehouse: Warehouse, run: Mapping[str, Any]) -> bool:
    """Whether the judged tables still are what a run says."""
    return all(warehouse.version(name) == run["versions"].get(name) for name in JUDGED)


def clusters_of(warehouse: Warehouse) -> list[str]:
    """Every cluster of which something is landed."""
    return warehouse.distinct("landed_files", "cluster")
