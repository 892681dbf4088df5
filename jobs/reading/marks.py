"""The reviewers' marks of findings, for pages that show them."""

from collections.abc import Iterable

from election_replay.jobs.reading.published import Published
from election_replay.jobs.reading.words import Row, spoken

MARKS = """
    SELECT finding_id, state, ticket, note, reviewer, reviewed_at FROM reviewed
    WHERE finding_id IN (SELECT unnest(?))
"""


def marks_of(published: Published, finding_ids: Iterable[str]) -> dict[str, Row]:
    """Return the current marks by finding id, without findings that have none."""
    ids = list(finding_ids)
    return {row["finding_id"]: row for row in published.rows(MARKS, [ids])} if ids else {}


def in_short(mark: Row | None) -> str | None:
    """Return a mark in a word or two; ``None`` if there is none."""
    if mark is None:
        return None
    return f"ticket {mark['ticket']}" if mark["state"] == "ticket" else spoken(mark["state"])


def in_full(mark: Row) -> str:
    """Return a mark with its reviewer, time and note."""
    note = f": {mark['note']}" if mark["note"] else ""
    return f"{in_short(mark)}, by {mark['reviewer']} at {mark['reviewed_at']:%Y-%m-%d %H:%M:%S} UTC{note}"
