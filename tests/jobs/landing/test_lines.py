"""What is told of each line of a block by itself."""

import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from election_replay.election_core.dialects import DIALECTS, Dialect, dialect_for
from election_replay.jobs.landing.blocks import Block
from election_replay.jobs.landing.lines import lines_of, marked
from election_replay.jobs.landing.literals import containing

EXAMPLES = Path(__file__).parents[3] / "examples" / "landing"
LOGS = sorted(path for path in EXAMPLES.glob("*/nodes/*/logs/**/*.log") if dialect_for(path.name))
PART_OF_A_TIME = re.compile(r"\d|[-/:T ]\d")
"""What begins so may begin within a time."""


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_no_needle_has_a_part_of_a_time_but_for_any_digit(dialect: Dialect) -> None:
    """Needles are sought behind the first digits of a time; one more digit of it is left."""
    within = {needle for needle in dialect.needles if PART_OF_A_TIME.match(needle)}
    assert within in (set(), set("0123456789"))


@pytest.mark.parametrize("log", LOGS, ids=lambda log: str(log.relative_to(EXAMPLES)))
def test_the_lines_of_real_logs_that_are_wanted_have_a_needle_anywhere(log: Path) -> None:
    dialect = dialect_for(log.name)
    assert dialect is not None
    data = log.read_bytes()
    lines = marked(lines_of(Block(data, len(data)), 1), dialect)
    anywhere = pl.Series(lines["begins"]) & containing(lines["text"], dialect.needles)
    assert lines["wanted"].to_list() == anywhere.to_list()


def test_a_needle_is_found_where_a_line_does_not_begin_with_its_time() -> None:
    dialect = dialect_for("broker.log")
    assert dialect is not None
    data = b" - load x\n2026-03-01 10:00:00 INFO thread - load x\nnothing of interest\n"
    lines = marked(lines_of(Block(data, len(data)), 1), replace(dialect, record_start=""))
    assert lines["wanted"].to_list() == [True, True, False]
