"""What to do about findings, for whoever shows them."""

from collections.abc import Iterable, Iterator

from jobs.reading.published import Published
from jobs.reading.words import Row

CHECKS = ("first_check", "second_check", "third_check")
STEPS = f"SELECT finding_id, system, cause, {', '.join(CHECKS)}, do_not, steps_source FROM next_steps "
OF_SOME = STEPS + "WHERE finding_id IN (SELECT unnest(?))"


def next_steps(published: Published, finding_ids: Iterable[str]) -> dict[str, Row]:
    """Of each finding a row of the view ``next_steps``: three checks, what not to do, and where that is written."""
    ids = list(finding_ids)
    return {row["finding_id"]: row for row in published.rows(OF_SOME, [ids])} if ids else {}


def lines_of(steps: Row) -> Iterator[tuple[str, str]]:
    """Steps as pairs of a heading and a sentence, in their order."""
    for heading, name in zip(("First", "Then", "Last"), CHECKS, strict=True):
        yield heading, steps[name]
    yield "Not", steps["do_not"]
    yield "Source", steps["steps_source"]
