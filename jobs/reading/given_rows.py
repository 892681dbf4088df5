"""Views whose rows come from the software itself: the catalogue of rules with next steps."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.runbook.steps import all_steps
from election_replay.schemas.model import View


def rule_rows() -> Iterator[tuple[str, ...]]:
    """Yield the rows of the view ``rules``."""
    for steps in all_steps():
        rule = catalogue()[steps.rule]
        yield (
            *(rule.rule, rule.severity, rule.meaning, rule.needs, rule.refuted_by, rule.source),
            *(steps.system, steps.cause, *map(str, steps.checks), steps.do_not, steps.source),
        )


ROWS = {"rules": rule_rows}
"""The functions that yield the rows of each such view, by its name."""


def with_rows(view: View, quoted: Callable[[str], str]) -> View:
    """Return ``view``; if its rows are given, with a query that holds them. ``quoted`` writes a SQL literal."""
    if not view.given:
        return view
    rows = ", ".join(f"({', '.join(map(quoted, row))})" for row in ROWS[view.name]())
    names = ", ".join(view.names)
    return replace(view, sql=f"SELECT {names} FROM (VALUES {rows}) AS given ({names})")
