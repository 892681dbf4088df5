"""What to do about findings, for whoever shows them."""

from collections.abc import Iterable, Iterator

from election_replay.election_core.model.next_steps import ANY, CAUSES, NEXT_STEPS
from election_replay.jobs.reading.words import Row

HEADINGS = ("Check first", "Check then", "Check last", "Do not")


def lines_of(steps: Iterable[Row] | None) -> Iterator[tuple[str, str]]:
    """The column ``next_steps`` of a finding as pairs of a heading and a sentence; nothing where it is null."""
    for heading, step in zip(HEADINGS, steps or (), strict=False):
        if step["kind"] == "check":
            yield heading, f"{step['text']}: `{step['command']}`"
        else:
            yield heading, f"{step['text'].removeprefix('Do not ')} ({step['source']})"


def urgent_steps(finding: Row) -> Iterator[tuple[str, str]]:
    """The same of a finding that somebody should act on: nothing where it is only worth knowing."""
    if finding["severity"] != "info":
        yield from lines_of(finding["next_steps"])


def steps_of_rule(rule: str) -> Iterator[tuple[str, str]]:
    """What to do about findings of a rule: for which system and cause, and the steps in one text."""
    for steps in NEXT_STEPS:
        if steps.rule == rule:
            where = "any system" if steps.system == ANY else steps.system
            cause = "" if steps.cause == ANY else f", where {CAUSES[steps.cause]}"
            checks = " ".join(f"{number}. {check}." for number, check in enumerate(steps.checks, 1))
            yield f"What to do ({where}{cause})", f"{checks} {steps.do_not}"
