"""A row of ``gold.runs`` as the commit says it that publishes the run: readers see a run by that one commit."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

RUN_PROPERTY = "electionReplay.run"
"""Under which name the commit to the pointer says the row."""


def saying(row: Mapping[str, Any]) -> dict[str, str]:
    """What a commit says of the run that it publishes."""
    return {RUN_PROPERTY: json.dumps(row, default=str)}


def row_said(text: str) -> dict[str, Any]:
    """The row that a commit says."""
    row = json.loads(text)
    moments = {name: datetime.fromisoformat(row[name]) for name in ("started_at", "published_at")}
    pairs = {name: [*map(tuple, row[name])] for name in ("versions", "counts")}
    return {**row, **moments, **pairs, "nights": [*map(date.fromisoformat, row["nights"])]}
