"""The row of ``gold.runs`` that a publishing commit carries as metadata, so that one commit publishes a run."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

RUN_PROPERTY = "electionReplay.run"
"""The metadata key of the row in a commit to the pointer."""


def run_property(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the commit metadata that holds ``row``."""
    return {RUN_PROPERTY: json.dumps(row, default=str)}


def parse_run_row(text: str) -> dict[str, Any]:
    """Parse the row that :func:`run_property` wrote."""
    row = json.loads(text)
    moments = {name: datetime.fromisoformat(row[name]) for name in ("started_at", "published_at")}
    pairs = {name: [*map(tuple, row[name])] for name in ("versions", "counts")}
    return {**row, **moments, **pairs, "nights": [*map(date.fromisoformat, row["nights"])]}
