"""What to do about findings, for whoever shows them: their commands come filled, all but the warehouse."""

from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from election_replay.jobs.reading.words import Row
from election_replay.jobs.runbook.filling import at, filled
from election_replay.jobs.runbook.steps import ANY, CAUSES, NextSteps, all_steps

HEADINGS = ("Check first", "Check then", "Check last", "Do not", "Addresses")


class Step(NamedTuple):
    """One of the things to do: a heading, a sentence, and the command that shows it, if there is one."""

    heading: str
    text: str
    command: str | None


def steps_of(finding: Row) -> Iterator[Step]:
    """What to do about a finding; nothing where nobody knows."""
    for heading, step in zip(HEADINGS, finding["next_steps"] or (), strict=False):
        if step["kind"] == "do_not":
            yield Step(heading, f"{step['text'].removeprefix('Do not ')} ({step['source']})", None)
        else:
            yield Step(heading, step["text"], step["command"])


def urgent_steps(finding: Row) -> Iterator[Step]:
    """The same of a finding that somebody should act on: nothing where it is only worth knowing."""
    if finding["severity"] != "info":
        yield from steps_of(finding)


def with_warehouse(finding: Row, warehouse: str) -> Row:
    """A finding whose commands name the warehouse, and the time as it is shown here where the judge left that open."""
    if not finding.get("next_steps"):
        return finding
    known = {"WAREHOUSE": quote(warehouse)} | (at(finding["start_time"]) if finding["start_time"] else {})
    steps = [step | {"command": filled(step["command"], known)} for step in finding["next_steps"]]
    return finding | {"next_steps": steps}


def steps_of_rule(rule: str) -> Iterator[tuple[str, NextSteps]]:
    """What to do about findings of a rule: for which system and cause, and the steps."""
    for steps in all_steps():
        if steps.rule == rule:
            where = "any system" if steps.system == ANY else steps.system
            cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
            yield f"What to do ({where}{cause})", steps
