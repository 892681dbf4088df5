"""docs/rules.md says what the catalogue says."""

import re
from collections.abc import Iterable
from pathlib import Path

from election_replay.election_core.model.catalogue import RuleId
from election_replay.jobs.runbook.rules import catalogue
from election_replay.jobs.showing.rules_page import judged_in, page, plain

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "rules.md"


def without_examples(lines: Iterable[str]) -> str:
    """A page without the entries of its lists that are examples."""
    return re.sub(r"(?m)^- Example.*\n(?:  .*\n)*", "", "\n".join([*lines, ""]))


def test_the_page_is_up_to_date() -> None:
    """Everything but the examples, which come from a warehouse of all real runs."""
    written = without_examples(PAGE.read_text(encoding="utf-8").splitlines())
    assert written == without_examples(page({})), "run `election-replay rules --markdown --warehouse W > docs/rules.md`"


def test_every_rule_says_what_it_needs_and_what_would_refute_it() -> None:
    for rule in catalogue().values():
        assert rule.needs, rule.rule
        assert rule.refuted_by.endswith("."), rule.rule


def test_every_rule_is_in_the_catalogue_once() -> None:
    assert list(catalogue()) == list(RuleId)


def test_each_rule_is_judged_somewhere() -> None:
    for rule in catalogue().values():
        assert judged_in(rule), rule.rule
    assert judged_in(catalogue()["DOUBLE_VOTE"]) == [
        f"election_core/protocols/{room}.py" for room in ("raft_family/rules", "raft_family/votes", "redis/rules")
    ]


def test_an_example_is_shown_in_both_forms() -> None:
    where = {"cluster": "c", "replica_group": "g", "severity": "warning", "certainty": "definite"}
    example = {"LEADERLESS": where | {"summary": "No leader for 8 s."}}
    assert "- Example (`c` / `g`, warning, definite): No leader for 8 s." in list(page(example))
    assert "  example: No leader for 8 s. (c / g)" in list(plain(example))
