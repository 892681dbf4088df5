"""The second judge on real runs: it finds what the core finds, and nothing in a healthy cluster."""

import tomllib
from pathlib import Path

import pytest

from benchmarks.in_process import events_of
from proof.second_judge.__main__ import HERE, RULES, Difference, Verdict, by_core, by_sql, differences, stale


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", ["rocketmq-dledger/old-copy-497", "rocketmq-controller/master-cut-off", "etcd/healthy-35"]
)
def test_both_judges_say_the_same(run: str, corpora: Path) -> None:
    events = events_of(corpora / run)
    assert by_sql(events, run) == by_core(events, run)


@pytest.mark.slow
def test_the_old_copy_breaks_four_rules_by_sql_alone(corpora: Path) -> None:
    run = "rocketmq-dledger/old-copy-497"
    rules = {"SPLIT_BRAIN_SAME_TERM", "SPLIT_BRAIN_OVERLAP", "DOUBLE_VOTE", "TERM_REGRESSION"}
    assert by_sql(events_of(corpora / run), run) == {Verdict(run, rule) for rule in rules}


def test_a_difference_without_a_reason_and_a_reason_without_a_difference_are_told() -> None:
    one, other = Verdict("a/b", "DOUBLE_VOTE"), Verdict("a/c", "DOUBLE_VOTE")
    found = list(differences({one}, {other}, {"a/c": {"DOUBLE_VOTE": "because"}, "a/d": {"DOUBLE_VOTE": "gone"}}))
    assert found == [Difference(one, False, None), Difference(other, True, "because")]
    assert stale(found, {"a/c": {"DOUBLE_VOTE": "because"}, "a/d": {"DOUBLE_VOTE": "gone"}}) == [
        Verdict("a/d", "DOUBLE_VOTE")
    ]


def test_reasons_are_given_for_rules_that_the_queries_judge() -> None:
    reasons = tomllib.loads((HERE / "differences.toml").read_text())
    assert {rule for rules in reasons.values() for rule in rules} <= set(RULES)
