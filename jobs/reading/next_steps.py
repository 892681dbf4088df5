"""What to do about findings, for whoever shows them."""

from collections.abc import Iterable, Iterator

from election_core.model.next_steps import ANY, CAUSES, NEXT_STEPS
from jobs.reading.published import Published
from jobs.reading.words import Row

CHECKS = ("first_check", "second_check", "third_check")
STEPS = f"""
    SELECT finding_id, system, cause, {", ".join(CHECKS)}, do_not, steps_source FROM next_steps
    WHERE cluster = ? AND finding_id IN (SELECT unnest(?))
"""


def next_steps(published: Published, cluster: str, finding_ids: Iterable[str]) -> dict[str, Row]:
    """Of findings of a cluster a row each of the view ``next_steps``: three checks, what not to do, and its source."""
    ids = list(finding_ids)
    return {row["finding_id"]: row for row in published.rows(STEPS, [cluster, ids])} if ids else {}


def lines_of(steps: Row | None) -> Iterator[tuple[str, str]]:
    """Steps as pairs of a heading and a sentence, in their order; nothing where there are none."""
    if steps:
        for heading, name in zip(("Check first", "Check then", "Check last"), CHECKS, strict=True):
            yield heading, steps[name]
        yield "Do not", f"{steps['do_not'].removeprefix('Do not ')} ({steps['steps_source']})"


def steps_of_rule(rule: str) -> Iterator[tuple[str, str]]:
    """What to do about findings of a rule: for which system and cause, and the steps in one text."""
    for steps in NEXT_STEPS:
        if steps.rule == rule:
            where = "any system" if steps.system == ANY else steps.system
            cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
            checks = " ".join(f"{number}. {check}." for number, check in enumerate(steps.checks, 1))
            yield f"What to do ({where}{cause})", f"{checks} {steps.do_not}"
