"""Rows that cannot all be true: each check sees its breach, real verdicts have none, and a breach is told as ours."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from election_replay.election_core.judge import consistency
from election_replay.election_core.judge.clock import Clocks
from election_replay.election_core.judge.consistency import (
    CHECKS,
    CONTRADICTS,
    FAR,
    UNDECIDABLE,
    consistent,
    contradictions,
)
from election_replay.election_core.model.facts import Fact, OrderLost
from election_replay.election_core.model.measures import Fate
from election_replay.election_core.model.rows import Election, Finding, RoleInterval, Row, RuleCoverage, Term
from election_replay.election_core.model.timing import SECOND
from election_replay.election_core.replay import group_judge
from tests.election_core.story import run_facts

KILLED, CUT, CHANGED = (
    "etcd/kill-leader-35",
    "rocketmq-controller/master-cut-off",
    "rocketmq-controller/unclean-election",
)
"""Runs with a leader that died, with two masters at once, and with an unclean election; one group of each."""

Change = Callable[[list[Row], list[Fact]], tuple[list[Row], list[Fact]]]


@cache
def of_group(run: Path) -> tuple[tuple[Row, ...], tuple[Fact, ...]]:
    """The rows and facts of the group of a run that has most facts."""
    facts = sorted(run_facts(run), key=lambda fact: fact.replica_group)
    groups = [list(group) for _, group in groupby(facts, key=lambda fact: fact.replica_group)]
    judged = group_judge.judged(max(groups, key=len))
    return tuple(judged.rows), tuple(judged.facts)


def clocks_of(facts: Iterable[Fact]) -> Clocks:
    return Clocks({fact.source_node: fact.bound_ms * 1000 for fact in facts}, [])


def finding(rows: Iterable[Row], rule: str) -> Finding:
    return next(row for row in rows if isinstance(row, Finding) and row.rule == rule)


def findings(rule: str, **values: object) -> Change:
    """Every finding of a rule says something else."""
    return changed(lambda row: isinstance(row, Finding) and row.rule == rule, **values)


def changed(chosen: Callable[[Row], bool], **values: object) -> Change:
    """Rows of a kind say something else; what is a function is asked for the new value."""

    def change(rows: list[Row], facts: list[Fact]) -> tuple[list[Row], list[Fact]]:
        assert any(map(chosen, rows))
        return [_with(row, values) if chosen(row) else row for row in rows], facts

    return change


def _with(row: Row, values: dict[str, object]) -> Row:
    return replace(row, **{name: value(row) if callable(value) else value for name, value in values.items()})  # type: ignore[arg-type]


def leads(term: int) -> Callable[[Row], bool]:
    return lambda row: isinstance(row, RoleInterval) and row.role == "leader" and row.term == term


def led(term: int) -> Callable[[Row], bool]:
    return lambda row: isinstance(row, Term) and row.leader is not None and row.term == term


def without(rule: str) -> Change:
    def change(rows: list[Row], facts: list[Fact]) -> tuple[list[Row], list[Fact]]:
        return [row for row in rows if not (isinstance(row, Finding) and row.rule == rule)], facts

    return change


def told_twice(rows: list[Row], facts: list[Fact]) -> tuple[list[Row], list[Fact]]:
    """A cut has two roots."""
    again = replace(finding(rows, "SPLIT_BRAIN_OVERLAP"), finding_id="again", rule="POSSIBLE_DATA_LOSS")
    return [*rows, again], facts


def test_the_same_bytes_may_be_cut_at_two_starts(corpora: Path) -> None:
    """They had come again, and another line says so."""
    rows, facts = of_group(corpora / CUT)
    once = finding(rows, "SPLIT_BRAIN_OVERLAP")
    again = replace(once, finding_id="again", evidence=("a line of another start",))
    assert contradictions([*rows, again], facts, clocks_of(facts)) == []


def long_ago(rows: list[Row], facts: list[Fact]) -> tuple[list[Row], list[Fact]]:
    """What proves a finding is a line of another term, and of long before."""
    proofs = finding(rows, "LEADERLESS").evidence
    rows, _ = findings("LEADERLESS", terms=(77, 78))(rows, facts)
    of_old = {fact.since_event for fact in facts} | {fact.until_event for fact in facts}
    assert of_old.intersection(proofs)
    return rows, [
        replace(fact, since=fact.since - 2 * FAR, until=fact.until and fact.until - 2 * FAR)
        if {fact.since_event, fact.until_event}.intersection(proofs)
        else fact
        for fact in facts
    ]


def hour_before(row: Row) -> int:
    assert isinstance(row, Finding | Term | RoleInterval | Election)
    return row.start_time - 3600 * SECOND


def end_of(row: Row) -> int:
    assert isinstance(row, RoleInterval)
    return (row.end_time or 0) + 20 * SECOND


MUTATIONS: dict[str, tuple[str, Change, str]] = {
    "roles_at_once": (KILLED, changed(leads(2), end_time=end_of), "etcd1 is leader and"),
    "leaders_at_once": (CUT, without("SPLIT_BRAIN_OVERLAP"), "lead at once, and no finding says so"),
    "two at the end": (CHANGED, changed(leads(1), end_time=None), "lead at once, and no finding says so"),
    "a term before a smaller one": (KILLED, changed(led(3), start_time=hour_before), "term 3 begins before term 2"),
    "a term that never ends": (
        KILLED,
        changed(led(2), end_time=None),
        "term 2 goes on, and 30c3c2aa47460bb0 leads it no more",
    ),
    "a finding before the run": (KILLED, findings("LEADERLESS", start_time=hour_before), "before the first line"),
    "a role after the run": (
        KILLED,
        changed(leads(3), end_time=lambda row: row.start_time + 3600 * SECOND),  # type: ignore[union-attr]
        "after the last line",
    ),
    "an election before the run": (
        KILLED,
        changed(lambda row: isinstance(row, Election), start_time=hour_before),
        "before the first line",
    ),
    "dead, and leads on": (
        CUT,
        changed(
            lambda row: isinstance(row, Finding) and row.rule == "SPLIT_BRAIN_OVERLAP",
            rule="LEADERLESS",
            former_leader_fate=Fate.DIED,
            duration_max_ms=99_000,
        ),
        "had died",
    ),
    "least and most": (KILLED, findings("LEADERLESS", duration_min_ms=5_000), "are at most"),
    "least and interval": (KILLED, findings("LEADERLESS", duration_min_ms=90_000, duration_max_ms=None), "lie in"),
    "a part of a whole": (
        KILLED,
        findings("LEADERLESS", summary="No leader for 2.2 s to 4.1 s. Its change of role took 1 min 54 s of that."),
        "are part of at most",
    ),
    "a cut that no line tells": (CUT, findings("SPLIT_BRAIN_OVERLAP", cut_to=98_633), "no line says"),
    "one cut, two roots": (CUT, told_twice, "neither follows from the other"),
    "a line of another time": (KILLED, long_ago, "another time and another term"),
}
"""What is made of sound rows, and what is said of it; the first ones are named like their checks."""


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_breach_is_seen(corpora: Path, name: str) -> None:
    run, change, words = MUTATIONS[name]
    rows, facts = of_group(corpora / run)
    assert contradictions(rows, facts, clocks_of(facts)) == []
    found = contradictions(*change(list(rows), list(facts)), clocks_of(facts))
    assert any(words in one.says for one in found), [one.says for one in found]


@pytest.mark.parametrize("number", range(len(CHECKS)))
def test_no_check_is_idle(corpora: Path, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it one of the breaches is not seen."""
    monkeypatch.setattr(consistency, "CHECKS", (*CHECKS[:number], *CHECKS[number + 1 :]))
    unseen = [name for name, mutation in MUTATIONS.items() if not _seen(corpora, *mutation)]
    assert unseen, CHECKS[number].__name__


def _seen(corpora: Path, run: str, change: Change, words: str) -> bool:
    rows, facts = of_group(corpora / run)
    return any(words in one.says for one in contradictions(*change(list(rows), list(facts)), clocks_of(facts)))


def test_a_finding_that_contradicts_itself_is_doubted_and_told(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that measures wrongly: what it finds is undecidable, and all else stays as it was."""
    rows, facts = of_group(corpora / CUT)
    sound = group_judge.JUDGES["controller"]

    def wrong(of_protocol: list[Fact], clocks: Clocks) -> Iterator[Row]:
        for row in sound(of_protocol, clocks):
            split = isinstance(row, Finding) and row.rule == "SPLIT_BRAIN_OVERLAP"
            yield replace(row, overlap_min_ms=99_000) if split else row  # type: ignore[call-arg]

    monkeypatch.setitem(group_judge.JUDGES, "controller", wrong)
    judged = [*group_judge.rows_of_group(facts)]
    before, doubted = finding(rows, "SPLIT_BRAIN_OVERLAP"), finding(judged, "SPLIT_BRAIN_OVERLAP")
    assert (before.severity, before.certainty) == ("critical", "definite")
    assert (doubted.severity, doubted.certainty, doubted.overlap_min_ms) == ("warning", "possible", 0)
    assert doubted.summary.startswith(f"Undecidable, as {UNDECIDABLE} (at least 99 s are at most")
    assert doubted.summary.endswith(before.summary)
    told = finding(judged, "NOT_JUDGED")
    assert told.summary.startswith(f"{CONTRADICTS}: SPLIT_BRAIN_OVERLAP: at least 99 s")
    assert (told.nodes, told.terms, told.evidence) == (before.nodes, before.terms, before.evidence)
    counts = {row.rule: row for row in judged if isinstance(row, RuleCoverage) and row.protocol == "controller"}
    was = {row.rule: row for row in rows if isinstance(row, RuleCoverage) and row.protocol == "controller"}
    split = counts["SPLIT_BRAIN_OVERLAP"]
    assert split.why_undecidable is not None
    assert UNDECIDABLE in split.why_undecidable
    assert split.violates == was["SPLIT_BRAIN_OVERLAP"].violates - 1
    assert split.undecidable == was["SPLIT_BRAIN_OVERLAP"].undecidable + 1
    changed_rows = [row for row in judged if row not in rows]
    assert changed_rows == [doubted, split, told]


def test_nothing_is_sure_where_the_order_of_a_log_is_lost(corpora: Path) -> None:
    """As of ``sort -u``: what is found is said as possible, and coverage counts it as undecidable."""
    rows, facts = of_group(corpora / CUT)
    first = facts[0]
    lost = OrderLost(*_header(first))
    judged = [*group_judge.rows_of_group([*facts, lost])]
    of_rows, of_judged = ([row for row in each if isinstance(row, Finding)] for each in (rows, judged))
    assert len(of_rows) == len(of_judged)
    assert {row.certainty for row in of_judged if row.rule != "NOT_JUDGED"} == {"possible"}
    assert all(not row.overlap_min_ms and row.severity != "critical" for row in of_judged)
    before, doubted = finding(rows, "SPLIT_BRAIN_OVERLAP"), finding(judged, "SPLIT_BRAIN_OVERLAP")
    assert doubted.summary == f"Undecidable, as lines of {first.source_node} do not stand as they were written: " + (
        before.summary
    )
    sure = [row for row in of_rows if row.certainty != "possible"]
    for row in judged:
        if isinstance(row, RuleCoverage):
            assert row.violates == 0 or (row.protocol, row.rule) not in {(each.protocol, each.rule) for each in sure}


def _header(fact: Fact) -> tuple[Any, ...]:
    """The fields that all facts have, of a time without an end."""
    names = [field.name for field in fields(OrderLost)]
    return tuple(getattr(fact, name) if name not in ("until", "until_by", "until_event") else None for name in names)


def test_what_no_finding_says_is_told_and_doubts_none(corpora: Path) -> None:
    rows, facts = of_group(corpora / KILLED)
    spoiled, _ = changed(led(2), end_time=None)(list(rows), list(facts))
    found = consistent(spoiled, facts, clocks_of(facts))
    assert found[: len(spoiled)] == spoiled
    assert {row.summary.partition(":")[0] for row in found[len(spoiled) :] if isinstance(row, Finding)} == {CONTRADICTS}
