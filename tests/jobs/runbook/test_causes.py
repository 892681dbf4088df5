"""Which cause decides about the next steps, by rows of small made-up groups."""

from dataclasses import replace
from typing import Any

import pytest

from election_replay.election_core.model.measures import Fate, Scope, Standing
from election_replay.election_core.model.rows import Finding, Row, Term
from election_replay.jobs.runbook.causes import CAUSE_OF_STATE, causes
from election_replay.jobs.runbook.steps import CAUSES

S = 1_000_000
GROUP: dict[str, Any] = {"cluster": "c1", "replica_group": "g1", "protocol": "dledger"}
NO_EVENTS: dict[str, Any] = {"start_event_id": None, "end_event_id": None}


def led(term: int, leader: str, start: int, end: int | None, was: Standing | None = None) -> Term:
    """A term; times in seconds. The leader before it ``was`` so when it began."""
    ends = None if end is None else end * S
    more: dict[str, Any] = {"leader": leader, "start_time": start * S, "end_time": ends, "cause": None}
    return Term(**GROUP, **NO_EVENTS, **more, term=term, certainty="proven", former_leader_state=was)


def found(rule: str, start: int, end: int | None, **more: Any) -> Finding:
    """A finding, called after its rule."""
    said: dict[str, Any] = {"severity": "warning", "certainty": "definite", "nodes": (), "terms": (), "evidence": ()}
    when = {"start_time": start * S, "end_time": None if end is None else end * S}
    return Finding(**GROUP, **(said | when | more), finding_id=rule, rule=rule, summary="")


def change(was: Standing | None) -> list[Row]:
    """n1 led term 1 until 30, n2 leads term 2 since 42; ``was`` is what n1 was then."""
    return [led(1, "n1", 0, 30), led(2, "n2", 42, None, was)]


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        (Standing.DIED, "died"),
        (Standing.STOPPED, "died"),
        (Standing.MEMBERS_DIED, "members_died"),
        (Standing.WITHOUT_QUORUM, "any"),
        (Standing.CUT_OFF, "cut_off"),
        (Standing.FROZEN, "frozen"),
        (Standing.OVERLOADED, "overloaded"),
        (Standing.TOPPLED, "larger_term"),
        (Standing.REACHABLE, "reachable"),
        (Standing.UNKNOWN, "any"),
        (None, "any"),
    ],
)
def test_a_time_without_a_leader_comes_of_what_became_of_the_old_one(was: Standing | None, expected: str) -> None:
    rows = [*change(was), found("LEADERLESS", 30, 42)]
    assert causes(rows)["LEADERLESS"] == expected
    assert causes(reversed(rows))["LEADERLESS"] == expected


def test_a_leader_that_nobody_could_find_was_not_ended_by_the_change_that_came_near() -> None:
    alone = found("LEADERLESS", 30, 42, scope=Scope.UNREACHABLE, terms=(1,))
    assert causes([*change(Standing.CUT_OFF), alone])["LEADERLESS"] == "any"
    assert causes([*change(Standing.CUT_OFF), replace(alone, terms=(1, 2))])["LEADERLESS"] == "cut_off"


def test_what_a_finding_says_of_the_old_leader_counts_before_what_changes_say() -> None:
    of_finding = found("LEADERLESS", 30, None, former_leader_fate=Fate.FROZEN)
    assert causes([*change(Standing.DIED), of_finding])["LEADERLESS"] == "frozen"
    assert causes([replace(of_finding, former_leader_fate=Fate.UNKNOWN)])["LEADERLESS"] == "any"


def test_what_follows_from_another_finding_and_what_is_far_from_a_change_have_no_cause() -> None:
    rows = change(Standing.DIED)
    assert causes([*rows, found("LEADERLESS", 30, 42, implied_by="f")])["LEADERLESS"] == "any"
    assert causes([*rows, found("LEADERLESS", 30, 40)])["LEADERLESS"] == "any"
    assert causes([*rows, found("LEADERLESS", 30, 41)])["LEADERLESS"] == "died", "whole seconds do not tell"
    assert causes([*rows, found("ELECTION_STORM", 30, 42)])["ELECTION_STORM"] == "any"


def test_leaders_of_another_protocol_are_no_predecessors() -> None:
    other = [replace(row, protocol="controller") for row in change(Standing.DIED)[:1]]
    assert causes([*other, *change(Standing.DIED)[1:], found("LEADERLESS", 30, 42)])["LEADERLESS"] == "any"


def test_what_was_lost_counts_before_anything_else() -> None:
    lost = found("SPLIT_BRAIN_OVERLAP", 42, 50, terms=(1, 2), messages_lost=3)
    assert causes([*change(Standing.DIED), lost])[lost.finding_id] == "lost"
    assert causes([*change(Standing.DIED), replace(lost, messages_lost=0)])[lost.finding_id] == "died"


def test_a_clock_that_was_only_set_asks_for_other_steps() -> None:
    skew = found("CLOCK_SKEW", 0, 1, clock_set_by_ms=-9000)
    assert causes([skew])["CLOCK_SKEW"] == "was_set"
    assert causes([replace(skew, clock_least_ms=5000, clock_most_ms=6000)])["CLOCK_SKEW"] == "any"
    assert causes([replace(skew, clock_set_by_ms=None)])["CLOCK_SKEW"] == "any"
    assert {"was_set", "lost", "any", *CAUSE_OF_STATE.values()} == {*CAUSES}
