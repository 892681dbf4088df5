"""docs/rules.md says what the catalogue says."""

from pathlib import Path

from election_core.model.catalogue import CATALOGUE, NEEDS, PROVEN_BY, REFUTED_BY, RULES
from jobs.showing.rules_page import Example, page, plain

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"


def test_the_page_is_up_to_date() -> None:
    """Everything but the examples, which come from a warehouse of all real runs."""
    written = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if not line.startswith("- Example")]
    expected = [line for line in page({}) if not line.startswith("- Example")]
    assert written == expected, "run `election-replay rules --markdown --warehouse W > docs/rules.md`"


def test_every_rule_says_what_it_needs() -> None:
    assert {rule.rule for rule in CATALOGUE} == set(NEEDS)


def test_every_rule_says_what_would_refute_it() -> None:
    assert set(REFUTED_BY) == set(RULES)
    assert all(text.endswith(".") for text in REFUTED_BY.values())
    assert set(PROVEN_BY) <= set(RULES)


def test_an_example_is_shown_in_both_forms() -> None:
    example = {"LEADERLESS": Example("c", "g", "warning", "definite", "No leader for 8 s.")}
    assert "- Example (`c` / `g`, warning, definite): No leader for 8 s." in list(page(example))
    assert "  example: No leader for 8 s. (c / g)" in list(plain(example))
