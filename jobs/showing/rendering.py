"""Renders the HTML templates of this package."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from election_replay.election_core.judge.wording import number_of
from election_replay.jobs.reading.marks import in_full, in_short
from election_replay.jobs.reading.next_steps import steps_of_rule, urgent_steps
from election_replay.jobs.reading.repetitions import folded
from election_replay.jobs.reading.words import (
    cell,
    certainty,
    clock,
    harmless,
    lasting,
    listed,
    lost,
    measures,
    seconds,
    spoken,
    when,
)
from election_replay.jobs.templates import templates_of


def stamp(at: datetime | None) -> str:
    """Return a time to the second; empty for ``None``."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def exactly(at: datetime) -> str:
    """Return a date and time, with milliseconds unless they are zero."""
    return f"{at:%Y-%m-%d} {clock(at)}"


def in_cell(value: Any) -> str:
    """Return a table's value as text for people; empty for ``None``."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return exactly(value)
    return f"{value:,}" if isinstance(value, int | Decimal) else cell(value)


TEMPLATES = templates_of("election_replay.jobs.showing")
TEMPLATES.globals |= {
    word.__name__: word
    for word in (
        *(certainty, clock, exactly, in_cell, lasting, listed, lost, measures, seconds, spoken, stamp, when, number_of),
        *(folded, in_full, in_short, steps_of_rule, urgent_steps),
    )
}


def render(template: str, **values: Any) -> str:
    """Return a rendered template with control characters escaped, except line ends and tabs."""
    return harmless(TEMPLATES.get_template(template).render(values), keep="\n\t")
