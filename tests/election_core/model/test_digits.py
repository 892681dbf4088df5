"""What counts as a whole number in a log."""

import re
from pathlib import Path

import pytest

from election_replay.election_core.model import digits
from tests.election_core.story import facts_of, parse

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CORE = Path(digits.__file__).parents[1]


@pytest.mark.parametrize("printed", ["²", "1²", "٣", "①", "", "-1", "+1", " 1", "1_000", "9" * 19, "1" * 20, None])
def test_what_is_no_number_is_none(printed: str | None) -> None:
    assert digits.number(printed) is None


@pytest.mark.parametrize("printed", ["0", "007", "1772330410500", str(2**63 - 1)])
def test_a_number_is_read(printed: str) -> None:
    assert digits.number(printed) == int(printed)


def test_nobody_else_asks_whether_a_text_is_digits() -> None:
    asks = re.compile(r"\.is(?:digit|decimal|numeric)\(")
    found = [path.name for path in sorted(CORE.rglob("*.py")) if asks.search(path.read_text())]
    assert found == ["digits.py"]


def test_a_raised_digit_in_a_register_code_costs_that_fact_alone() -> None:
    text = (SCENARIOS / "controller" / "cut_off_master_never_rejoins.txt").read_text()
    whole, odd = (
        {(fact.kind, fact.since, fact.node) for fact in facts_of(parse(lines))}
        for lines in (text, text.replace("10.0.0.1:10911;1772330410500", "10.0.0.1:10911;²"))
    )
    assert {kind for kind, _, _ in whole - odd} <= {"REGISTER_CODE"}
    assert not odd - whole
