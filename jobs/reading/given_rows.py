"""Views whose rows come from the software itself: the catalogue of rules, with what to do about their findings."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.runbook.steps import all_steps
from election_replay.schemas.model import View


def rule_rows() -> Iterator[tuple[str, ...]]:
    """The rows of the view ``rules``."""
    for steps in all_steps():
        rule = catalogue()[steps.rule]
        yield (
            *(rule.rule, rule.severity, rule.meaning, rule.needs, rule.refuted_by, rule.source),
            *(steps.system, steps.cause, *map(str, steps.checks), steps.do_not, steps.source),
        )


ROWS = {"rules": rule_rows}
"""The rows of each such view, by its name."""


def with_rows(view: View, quoted: Callable[[str], str]) -> View:
    """``view`` with the query that gives its rows, if they are given; ``quoted`` writes a literal for the engine."""
    if not view.given:
        return view
    rows = ", ".join(f"({', '.join(map(quoted, row))})" for row in ROWS[view.name]())
    names = ", ".join(view.names)
    return replace(view, sql=f"SELECT {names} FROM (VALUES {rows}) AS given ({names})")
