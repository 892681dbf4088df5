"""The next steps of findings, for display; stored commands lack only the warehouse."""

from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from election_replay.jobs.reading.words import Row
from election_replay.jobs.runbook.filling import at, filled
from election_replay.jobs.runbook.steps import ANY, CAUSES, NextSteps, all_steps

HEADINGS = ("Check first", "Check then", "Check last", "Do not", "Addresses")


class Step(NamedTuple):
    """One next step: a heading, a sentence, and a command, if there is one."""

    heading: str
    text: str
    command: str | None


def steps_of(finding: Row) -> Iterator[Step]:
    """Yield the next steps of a finding, if it has any."""
    for heading, step in zip(HEADINGS, finding["next_steps"] or (), strict=False):
        if step["kind"] == "do_not":
            yield Step(heading, f"{step['text'].removeprefix('Do not ')} ({step['source']})", None)
        else:
            yield Step(heading, step["text"], step["command"])


def urgent_steps(finding: Row) -> Iterator[Step]:
    """Yield the next steps of a finding of severity warning or critical; none for info."""
    if finding["severity"] != "info":
        yield from steps_of(finding)


def with_warehouse(finding: Row, warehouse: str) -> Row:
    """Return a finding with the warehouse, and its time where the judge left that open, filled into its commands."""
    if not finding.get("next_steps"):
        return finding
    known = {"WAREHOUSE": quote(warehouse)} | (at(finding["start_time"]) if finding["start_time"] else {})
    steps = [step | {"command": filled(step["command"], known)} for step in finding["next_steps"]]
    return finding | {"next_steps": steps}


def steps_of_rule(rule: str) -> Iterator[tuple[str, NextSteps]]:
    """Yield (heading with system and cause, next steps) of a rule."""
    for steps in all_steps():
        if steps.rule == rule:
            where = "any system" if steps.system == ANY else steps.system
            cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
            yield f"What to do ({where}{cause})", steps
